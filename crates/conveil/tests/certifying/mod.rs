//! Small programs, one for each certificate, and how far their answers move: pairs are structured (corners of the bounds,
//! one entry up or down, a group up and another down), not only random, and the audit's search climbs from the worst.
#![allow(dead_code)] // every test crate uses its own part

pub mod random;

use crate::common::between;
use conveil::ask::{Adjacency, Ask, Privacy, Query, Request};
use conveil::audit::Audit;
use conveil::chance::Feasibility;
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{Affine, AffineMap, Builder, DataMap};
use conveil::solve::Batch;

/// The largest movement in the metric of the noise over structured and random neighbours.
pub fn largest_movement(plan: &Plan<'_>, map: &AffineMap, starts: usize, seed: u64) -> f64 {
    let adjacency = *plan_adjacency(plan);
    let mut sampler = Sampler::new(seed, 0);
    let bounds: Vec<(f64, f64)> = map
        .parameters()
        .iter()
        .map(|p| p.bounds().unwrap_or((-2.0, 2.0)))
        .collect();
    let p = bounds.len();
    let answer = |theta: &[f64]| {
        let decided = plan.released().at(theta).unwrap();
        plan.released().shape().unshape(&decided.answer)
    };
    let norm = plan.guarantee().privacy().norm();
    let mut largest = 0.0f64;
    for start in 0..starts {
        let theta: Vec<f64> = bounds
            .iter()
            .map(|&(low, high)| match start % 4 {
                0 => between(&mut sampler, low, high),
                1 => low,
                2 => high,
                _ => [low, 0.5 * (low + high), high][(3.0 * sampler.uniform()) as usize % 3],
            })
            .collect();
        let here = answer(&theta);
        for other in neighbours(&theta, &bounds, &adjacency, &mut sampler) {
            assert_eq!(other.len(), p);
            let there = answer(&other);
            let change: Vec<f64> = here.iter().zip(&there).map(|(a, b)| a - b).collect();
            largest = largest.max(norm.of(&change));
        }
    }
    largest
}

pub fn plan_adjacency<'p>(plan: &'p Plan<'_>) -> &'p Adjacency {
    plan.guarantee().adjacency()
}

pub fn neighbours(
    theta: &[f64],
    bounds: &[(f64, f64)],
    adjacency: &Adjacency,
    sampler: &mut Sampler,
) -> Vec<Vec<f64>> {
    let p = theta.len();
    let mut others = Vec::new();
    match *adjacency {
        Adjacency::OneEntry { alpha } => {
            for i in 0..p {
                for sign in [1.0, -1.0] {
                    let mut other = theta.to_vec();
                    other[i] += sign * alpha;
                    others.push(other);
                }
            }
        }
        Adjacency::L1 { alpha } | Adjacency::L2 { alpha } => {
            let is_l1 = matches!(adjacency, Adjacency::L1 { .. });
            for kind in 0..p + 3 {
                let direction: Vec<f64> = (0..p)
                    .map(|i| match kind {
                        k if k == p => 1.0,
                        k if k == p + 1 => [1.0, -1.0][i % 2],
                        k if k == p + 2 => between(sampler, -1.0, 1.0),
                        k => f64::from(u8::from(i == k)),
                    })
                    .collect();
                let size: f64 = if is_l1 {
                    direction.iter().map(|v| v.abs()).sum()
                } else {
                    direction.iter().map(|v| v * v).sum::<f64>().sqrt()
                };
                for sign in [1.0, -1.0] {
                    let step = sign * alpha / size;
                    let moved = theta.iter().zip(&direction).map(|(t, d)| t + step * d);
                    others.push(moved.collect());
                }
            }
        }
        Adjacency::OneRecord { len } => {
            for record in 0..p / len {
                for corner in 0..(1usize << len.min(4)) {
                    let mut other = theta.to_vec();
                    for i in 0..len {
                        let (low, high) = bounds[record * len + i];
                        let up = corner >> (i % 4) & 1 == 1;
                        other[record * len + i] = if up { high } else { low };
                    }
                    others.push(other);
                }
            }
        }
        Adjacency::Universe => {
            others.push(bounds.iter().map(|b| b.0).collect());
            others.push(bounds.iter().map(|b| b.1).collect());
        }
    }
    others
}

/// No pair above Δ; the tightness is printed.
pub fn holds(what: &str, plan: &Plan<'_>, map: &AffineMap, starts: usize, seed: u64) -> f64 {
    let bound = plan.guarantee().sensitivity();
    let moved = largest_movement(plan, map, starts, seed);
    let audit = Audit::new().pairs(20).climbs(2).solves(200).seed(seed);
    let audit = audit.run(plan, &Batch::new()).unwrap();
    assert!(!audit.is_flagged(), "{what}: {audit}");
    let searched = audit.tightness * bound;
    let moved = moved.max(searched);
    println!(
        "{what}: moved {moved:.6} of Δ = {bound:.6}, tightness {:.3}",
        moved / bound
    );
    assert!(moved <= bound, "{what}: {moved} > {bound}");
    moved / bound
}

/// Two buses, three generators, a line that congests; loads within public bounds, one of them of either sign.
pub fn grid() -> AffineMap {
    let mut m = Builder::new();
    let g = m.variable("g", 3);
    let f = m.variable("flow", 1);
    let d0 = m.parameter_within("load 0", -5.0, 60.0);
    let d1 = m.parameter_within("load 1", 0.0, 70.0);
    m.nominal(d0, 20.0);
    m.nominal(d1, 30.0);
    m.minimize(g.dot(&[10.0, 40.0, 25.0]));
    m.equal("balance 0", g.at(0) + g.at(1) - f.at(0), d0);
    m.equal("balance 1", g.at(2) + f.at(0), d1);
    for (i, limit) in [50.0, 80.0, 40.0].into_iter().enumerate() {
        m.between(&format!("generator {i}"), 0.0, g.at(i), limit);
    }
    m.between("line", -25.0, f.at(0), 25.0);
    m.build_map().unwrap()
}

pub fn cost_ask(price: f64) -> Ask {
    Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::envelope(price))
        .feasibility(Feasibility::eta(0.05))
}

/// Least squares with public regressors, private responses, coefficients in a box and rising.
pub fn regression(points: usize, width: f64) -> AffineMap {
    let mut m = Builder::new();
    let w = m.variable("w", 3);
    let mut gram = [[0.0; 3]; 3];
    let mut linear = Affine::default();
    for i in 0..points {
        let t = i as f64 / (points - 1) as f64;
        let phi = [1.0, t, t * t];
        let y = m.parameter_within(&format!("y{i}"), -1.0, 2.0);
        for a in 0..3 {
            linear += -phi[a] * (y * w.at(a));
            for b in 0..3 {
                gram[a][b] += phi[a] * phi[b];
            }
        }
    }
    m.minimize(linear);
    for a in 0..3 {
        for b in a..3 {
            let ridge = if a == b { 0.05 } else { 0.0 };
            m.quadratic(a, b, gram[a][b] + ridge);
        }
        m.between(&format!("range of w{a}"), -width, w.at(a), width);
    }
    m.at_most("rising", 0.0, w.at(1) + w.at(2));
    m.build_map().unwrap()
}

pub fn regression_ask(privacy: Privacy, adjacency: Adjacency, shaped: bool) -> Ask {
    let ask = Ask::new(Query::Identity)
        .adjacency(adjacency)
        .privacy(privacy)
        .sensitivity(Request::strong_convexity())
        .feasible(0.9);
    if shaped {
        ask.shaped_by_curvature()
    } else {
        ask
    }
}

/// A blend at private prices from a public bounded set.
pub fn blend() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 3);
    let prices: Vec<_> = (0..3)
        .map(|j| m.parameter_within(&format!("price {j}"), 1.0, 9.0))
        .collect();
    let cost = prices
        .iter()
        .enumerate()
        .fold(Affine::default(), |sum, (j, p)| sum + *p * x.at(j));
    m.minimize(cost + 2.0 * x.at(0));
    m.at_most("need", 4.0, x.sum());
    for j in 0..3 {
        m.between(&format!("stock {j}"), 0.0, x.at(j), 6.0);
    }
    m.at_most("mix", x.at(0), 3.0);
    m.build_map().unwrap()
}

/// A support vector machine on bounded features: rows of the hinge and of its sign for every record.
pub fn classifier(records: usize, lambda: f64) -> AffineMap {
    let mut m = Builder::new();
    let w = m.variable("w", 2);
    let b = m.variable("intercept", 1);
    let z = m.auxiliary("slack", records);
    m.minimize((1.0 / records as f64) * z.sum());
    for j in 0..3 {
        m.quadratic(j, j, 2.0 * lambda);
    }
    for i in 0..records {
        // θ = label times (feature, 1): what the hinge sees.
        let x = m.parameter_within(&format!("x{i}"), -1.0, 1.0);
        let y = m.parameter_within(&format!("y{i}"), -1.0, 1.0);
        let l = m.parameter_within(&format!("label{i}"), -1.0, 1.0);
        let margin = x * w.at(0) + y * w.at(1) + l * b.at(0);
        m.at_most(&format!("hinge {i}"), 1.0, margin + z.at(i));
        m.at_most(&format!("sign {i}"), 0.0, z.at(i));
    }
    m.build_map().unwrap()
}

pub fn classifier_ask(privacy: Privacy) -> Ask {
    Ask::new(Query::Variables(vec!["w".into(), "intercept".into()]))
        .adjacency(Adjacency::OneRecord { len: 3 })
        .privacy(privacy)
        .sensitivity(Request::regularised_erm())
        .feasible(0.9)
}

pub fn blend_ask(adjacency: Adjacency) -> Ask {
    Ask::cost()
        .adjacency(adjacency)
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::radius())
        .feasible(0.9)
}
