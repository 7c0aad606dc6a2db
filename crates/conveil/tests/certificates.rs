//! Every certificate on small programs: no pair of neighbours moves the released map by more than Δ, and how near the
//! worst pair comes to it is printed. Pairs are structured (corners of the bounds, one entry up or down, everything up
//! in one group and down in another), not only random, and the adversarial search of the audit climbs from the worst.

mod common;

use common::between;
use conveil::ask::{Adjacency, Ask, Privacy, Query, Request};
use conveil::audit::Audit;
use conveil::chance::{Feasibility, Split};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{Affine, AffineMap, Builder, DataMap};
use conveil::solve::Batch;

/// The largest movement in the metric of the noise over structured and random neighbours.
fn largest_movement(plan: &Plan<'_>, map: &AffineMap, starts: usize, seed: u64) -> f64 {
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

fn plan_adjacency<'p>(plan: &'p Plan<'_>) -> &'p Adjacency {
    plan.ask().stated_adjacency().unwrap()
}

fn neighbours(
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
fn holds(what: &str, plan: &Plan<'_>, map: &AffineMap, starts: usize, seed: u64) -> f64 {
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
fn grid() -> AffineMap {
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

fn cost_ask(price: f64) -> Ask {
    Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::Envelope { price })
        .feasibility(Feasibility::eta(0.05))
}

#[test]
fn envelope_values_move_by_at_most_the_price() {
    let map = grid();
    for price in [15.0, 30.0, 100.0] {
        for split in [Split::Symmetric, Split::Optimise] {
            let ask = cost_ask(price).feasibility(Feasibility::eta(0.05).split(split));
            let plan = Plan::new(&map, ask).unwrap();
            let tight = holds(
                &format!("envelope, price {price}, {split:?}"),
                &plan,
                &map,
                12,
                1,
            );
            assert!(tight > 0.2, "an envelope at its price moves by it");
        }
    }
    for (adjacency, privacy) in [
        (
            Adjacency::L1 { alpha: 2.0 },
            Privacy::truncated_laplace(1.0, 0.01),
        ),
        (Adjacency::L2 { alpha: 2.0 }, Privacy::gaussian(1.0, 0.01)),
        (Adjacency::OneRecord { len: 1 }, Privacy::laplace(200.0)),
    ] {
        let ask = cost_ask(30.0).adjacency(adjacency).privacy(privacy);
        let plan = Plan::new(&map, ask).unwrap();
        let tight = holds(&format!("envelope, {adjacency}"), &plan, &map, 12, 2);
        assert!(tight > 0.2);
    }
}

#[test]
fn an_enveloped_value_exists_for_every_dataset() {
    let map = grid();
    let plan = Plan::new(&map, cost_ask(30.0)).unwrap();
    assert!(!plan.guarantee().privacy_text().contains("given that"));
    // The line and the generator at the second bus bring 65 at most.
    let plain = cost_ask(30.0).declared(30.0, "a test");
    let plain = Plan::new(&map, plain).unwrap();
    assert!(plain.released().at(&[60.0, 70.0]).is_err());
    let decided = plan.released().at(&[60.0, 70.0]).unwrap();
    let correction = decided.correction.unwrap();
    assert!(
        !correction.at_the_data && correction.distance > 1.0,
        "{correction:?}"
    );
    let report = plan.curate(&[60.0, 70.0]).unwrap();
    let text = report.report().to_string();
    assert!(text.contains("the price caps what they cost"), "{text}");
    assert!(text.contains("infeasible at the data"), "{text}");
    // Data far outside their bounds are clipped: the same answer, not an error.
    let clipped = plan.released().at(&[1e6, 1e6]).unwrap();
    assert_eq!(clipped.answer, decided.answer);
}

#[test]
fn a_price_that_ties_leaves_the_decision_at_the_data() {
    // Between generator 0 and 2 the marginal price is 25: an envelope at 25 may deviate for nothing.
    let map = grid();
    for theta in [[20.0, 30.0], [10.0, 35.0], [30.0, 33.0]] {
        let plan = Plan::new(&map, cost_ask(25.0)).unwrap();
        let decided = plan.released().at(&theta).unwrap();
        let correction = decided.correction.clone().unwrap();
        assert!(correction.at_the_data, "{theta:?}: {correction:?}");
        assert_eq!(correction.distance, 0.0);
        // Its mean carries the released value to within the proven gaps.
        let own = plan.released().query().apply(&decided.mean)[0];
        let gap = (own - decided.answer[0]).abs();
        assert!(gap <= 4.0 * decided.proven_error.unwrap() + 1e-9, "{gap}");
    }
}

#[test]
fn a_cheap_price_under_reports_and_a_dear_one_costs_nothing() {
    let map = grid();
    let theta = [20.0, 30.0];
    let value = |price: f64| {
        let plan = Plan::new(&map, cost_ask(price)).unwrap();
        // The same noise for both: compare the deterministic part.
        let program = plan.released().map().at(&theta).unwrap();
        conveil::solve::solve_checked(&program, &Default::default())
            .unwrap()
            .objective
    };
    // 25 units over the line at 10, 20 locally at 10, 5 at 25.
    let plain = 45.0 * 10.0 + 5.0 * 25.0;
    assert!((value(100.0) - plain).abs() < 1e-5);
    assert!(value(8.0) < plain - 50.0);
}

#[test]
fn a_grid_of_splits_is_the_best_of_its_enveloped_splits() {
    let map = grid();
    let theta = [20.0, 30.0];
    let symmetric = Plan::new(&map, cost_ask(40.0)).unwrap();
    let wish = Feasibility::eta(0.05).split(Split::Optimise);
    let optimised = Plan::new(&map, cost_ask(40.0).feasibility(wish)).unwrap();
    let value = |plan: &Plan<'_>| plan.released().at(&theta).unwrap().objective;
    assert!(value(&optimised) < value(&symmetric) - 1.0);
    // Anywhere else the same wish is refused.
    let wish = Feasibility::eta(0.05).split(Split::Optimise);
    let declared = cost_ask(40.0).declared(40.0, "a test").feasibility(wish);
    let refusal = Plan::new(&map, declared).unwrap_err().to_string();
    assert!(refusal.contains("split = optimise"), "{refusal}");
}

/// Least squares with public regressors, private responses, coefficients in a box and rising.
fn regression(points: usize, width: f64) -> AffineMap {
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

fn regression_ask(privacy: Privacy, adjacency: Adjacency, shaped: bool) -> Ask {
    let ask = Ask::new(Query::Identity)
        .adjacency(adjacency)
        .privacy(privacy)
        .sensitivity(Request::StrongConvexity)
        .feasible(0.9);
    if shaped {
        ask.shaped_by_curvature()
    } else {
        ask
    }
}

#[test]
fn strongly_convex_answers_move_by_at_most_their_bound() {
    let map = regression(12, 60.0);
    for (privacy, name) in [
        (Privacy::gaussian(2.0, 0.05), "Gaussian"),
        (Privacy::laplace(2.0), "Laplace"),
    ] {
        for adjacency in [
            Adjacency::one_entry(0.3),
            Adjacency::L1 { alpha: 0.3 },
            Adjacency::L2 { alpha: 0.3 },
            Adjacency::OneRecord { len: 1 },
        ] {
            for shaped in [false, true] {
                let small = match adjacency {
                    Adjacency::OneRecord { .. } => privacy.with_epsilon(20.0),
                    _ => privacy,
                };
                let plan = Plan::new(&map, regression_ask(small, adjacency, shaped)).unwrap();
                let what = format!("strong convexity, {name}, {adjacency}, shaped {shaped}");
                let tight = holds(&what, &plan, &map, 8, 3);
                assert!(tight > 0.05, "{what}");
            }
        }
    }
}

#[test]
fn leverage_and_shape_are_as_in_the_formula() {
    let map = regression(12, 60.0);
    let alpha = 0.3;
    let plan = |shaped: bool| {
        let ask = regression_ask(
            Privacy::gaussian(2.0, 0.05),
            Adjacency::one_entry(alpha),
            shaped,
        );
        Plan::new(&map, ask).unwrap().guarantee().sensitivity()
    };
    // max √(φ'P⁻¹φ) by Gauss elimination of P v = φ.
    let mut gram = [[0.0f64; 3]; 3];
    let phi = |i: usize| {
        let t = i as f64 / 11.0;
        [1.0, t, t * t]
    };
    for i in 0..12 {
        let f = phi(i);
        for a in 0..3 {
            for b in 0..3 {
                gram[a][b] += f[a] * f[b];
            }
        }
    }
    (0..3).for_each(|a| gram[a][a] += 0.05);
    let solve = |f: [f64; 3]| {
        let mut m = gram;
        let mut v = f;
        for c in 0..3 {
            for r in c + 1..3 {
                let k = m[r][c] / m[c][c];
                (0..3).for_each(|j| m[r][j] -= k * m[c][j]);
                v[r] -= k * v[c];
            }
        }
        for c in (0..3).rev() {
            let rest: f64 = (c + 1..3).map(|j| m[c][j] * v[j]).sum();
            v[c] = (v[c] - rest) / m[c][c];
        }
        v
    };
    let leverage = (0..12)
        .map(|i| {
            phi(i)
                .iter()
                .zip(solve(phi(i)))
                .map(|(a, b)| a * b)
                .sum::<f64>()
        })
        .fold(0.0, f64::max);
    let shaped = plan(true);
    let right = alpha * leverage.sqrt();
    assert!(
        shaped > right && shaped < 1.02 * right,
        "{shaped} against {right}"
    );
    // Without the shape the worst direction of P pays.
    assert!(plan(false) > 1.5 * shaped);
}

/// A support vector machine on bounded features: rows of the hinge and of its sign for every record.
fn classifier(records: usize, lambda: f64) -> AffineMap {
    let mut m = Builder::new();
    let w = m.variable("w", 2);
    let b = m.variable("intercept", 1);
    let z = m.witness("slack", records);
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

#[test]
fn replacing_a_record_moves_the_weights_by_at_most_their_bound() {
    let (records, lambda) = (6, 0.5);
    let map = classifier(records, lambda);
    for (privacy, right) in [
        (Privacy::gaussian(1.0, 0.1), 1.0),
        (Privacy::laplace(1.0), 3f64.sqrt()),
    ] {
        let ask = Ask::new(Query::Variables(vec!["w".into(), "intercept".into()]))
            .adjacency(Adjacency::OneRecord { len: 3 })
            .privacy(privacy)
            .sensitivity(Request::RegularisedErm)
            .feasible(0.9);
        let plan = Plan::new(&map, ask).unwrap();
        // L/(λN) with L = ‖(1, 1, 1)‖, times √3 for ℓ₁.
        let formula = right * 3f64.sqrt() / (lambda * records as f64);
        let bound = plan.guarantee().sensitivity();
        assert!(
            bound >= formula && bound < 1.02 * formula,
            "{bound} against {formula}"
        );
        let tight = holds("regularised risk", &plan, &map, 8, 4);
        assert!(tight > 0.3);
    }
}

#[test]
fn the_bound_of_regularised_risk_is_attained() {
    // Everyone agrees, then one record turns round: with λ so large that every hinge is active the movement is L/(λN).
    let (records, lambda) = (4, 4.0);
    let map = classifier(records, lambda);
    let ask = Ask::new(Query::Variables(vec!["w".into(), "intercept".into()]))
        .adjacency(Adjacency::OneRecord { len: 3 })
        .privacy(Privacy::gaussian(1.0, 0.1))
        .sensitivity(Request::RegularisedErm)
        .feasible(0.9);
    // Without noise in the way: a generous budget makes the noise-aware hinge the plain one.
    let plan = Plan::new(&map, ask.privacy(Privacy::gaussian(50.0, 0.1))).unwrap();
    let theta = vec![1.0; 3 * records];
    let mut other = theta.clone();
    other[..3].fill(-1.0);
    let at = |theta: &[f64]| plan.released().at(theta).unwrap().answer;
    let (a, b) = (at(&theta), at(&other));
    let moved: f64 = a
        .iter()
        .zip(&b)
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>()
        .sqrt();
    let bound = plan.guarantee().sensitivity();
    println!("attained: {moved:.6} of {bound:.6}");
    assert!(
        moved <= bound && moved > 0.98 * bound,
        "{moved} against {bound}"
    );
}

/// A blend at private prices from a public bounded set.
fn blend() -> AffineMap {
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

#[test]
fn values_at_private_prices_move_by_at_most_the_radius() {
    let map = blend();
    for adjacency in [
        Adjacency::one_entry(0.2),
        Adjacency::L1 { alpha: 0.2 },
        Adjacency::L2 { alpha: 0.2 },
    ] {
        let ask = Ask::cost()
            .adjacency(adjacency)
            .privacy(Privacy::laplace(1.0))
            .sensitivity(Request::Radius)
            .feasible(0.9);
        let plan = Plan::new(&map, ask).unwrap();
        // One entry: at most 6 units of a stock, of the first 3.
        if let Adjacency::OneEntry { alpha } = adjacency {
            let bound = plan.guarantee().sensitivity();
            assert!(bound >= 6.0 * alpha && bound < 6.02 * alpha, "{bound}");
        }
        assert!(plan.guarantee().privacy_text().contains("given that"));
        let tight = holds(&format!("radius, {adjacency}"), &plan, &map, 12, 5);
        assert!(tight > 0.3);
    }
}

#[test]
fn a_released_cost_at_private_prices_is_the_value_plus_a_constant() {
    let map = blend();
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(0.2))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::Radius)
        .feasible(0.9);
    let plan = Plan::new(&map, ask).unwrap();
    let mut constants = Vec::new();
    for theta in [[2.0, 3.0, 5.0], [8.0, 2.5, 2.0], [4.0, 4.0, 4.5]] {
        let decided = plan.released().at(&theta).unwrap();
        let value = conveil::solve::solve_checked(&map.at(&theta).unwrap(), &Default::default())
            .unwrap()
            .objective;
        constants.push(decided.answer[0] - value);
        // The decision costs what is released: its own cost row carries the noise.
        let cost =
            |x: &[f64]| -> f64 { (theta[0] + 2.0) * x[0] + theta[1] * x[1] + theta[2] * x[2] };
        assert!((cost(&decided.mean) - decided.answer[0]).abs() < 1e-6);
        let x: Vec<f64> = (0..3)
            .map(|j| decided.recourse.row(j).iter().map(|e| e.1).sum())
            .collect();
        assert!((cost(&x) - 1.0).abs() < 1e-6, "{x:?}");
    }
    assert!(
        constants.iter().all(|c| (c - constants[0]).abs() < 1e-4),
        "{constants:?}"
    );
}

#[test]
fn what_a_certificate_does_not_cover_is_refused() {
    let refusal = |map: &AffineMap, ask: Ask| Plan::new(map, ask).unwrap_err().to_string();
    let says = |text: String, right: &str| assert!(text.contains(right), "{right}: {text}");
    let map = grid();
    // The envelope: only values, only right-hand sides, only bounded data.
    says(
        refusal(
            &map,
            Ask::new(Query::Sum(vec!["g[0]".into()]))
                .adjacency(Adjacency::one_entry(1.0))
                .privacy(Privacy::laplace(1.0))
                .sensitivity(Request::Envelope { price: 30.0 }),
        ),
        "not the optimal value",
    );
    says(refusal(&map, cost_ask(0.0)), "price must be positive");
    let variance = conveil::risk::Risk::expectation().with_variance(conveil::risk::VarianceTerm {
        variables: vec!["g".into()],
        limit: conveil::risk::VarianceLimit::Weight(1.0),
    });
    says(
        refusal(&map, cost_ask(30.0).risk(variance)),
        "variance weight",
    );
    says(
        refusal(&map, cost_ask(30.0).sensitivity(Request::StrongConvexity)),
        "`load 0` enters at b[0]",
    );
    says(
        refusal(&map, cost_ask(30.0).sensitivity(Request::Radius)),
        "`load 0` enters at b[0]",
    );
    says(
        refusal(&map, cost_ask(30.0).sensitivity(Request::RegularisedErm)),
        "replacement of one record",
    );
    let fit = regression(5, 60.0);
    let identity = |request: Request| {
        Ask::new(Query::Identity)
            .adjacency(Adjacency::one_entry(0.1))
            .privacy(Privacy::laplace(1.0))
            .sensitivity(request)
    };
    says(
        refusal(&fit, identity(Request::Envelope { price: 1.0 })),
        "`y0` enters at q[0]",
    );
    says(
        refusal(&fit, identity(Request::Radius)),
        "not the optimal value",
    );
    // A load without bounds, and bounds that leave out the nominal value of a negative one.
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let d = m.parameter("load");
    m.minimize(x.at(0));
    m.between("limits", d, x.at(0), 10.0);
    says(
        refusal(&m.build_map().unwrap(), cost_ask(1.0)),
        "`load` has no public bounds",
    );
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let d = m.parameter_within("load", 0.0, 5.0);
    m.nominal(d, -1.0);
    m.minimize(x.at(0));
    m.between("limits", d, x.at(0), 10.0);
    let outside = m.build_map().unwrap_err().to_string();
    says(
        outside,
        "-1 of parameter `load` lies outside its public bounds",
    );
    // A linear cost has no strong convexity.
    says(
        refusal(&blend(), identity(Request::StrongConvexity)),
        "not positive definite",
    );
    // Noise that fits for no dataset is a public fact.
    let never = refusal(&grid(), cost_ask(1e5).privacy(Privacy::laplace(0.01)));
    says(never, "not with this noise");
}

#[test]
fn records_that_share_a_row_or_a_slack_are_refused() {
    let build = |shared_row: bool, shared_slack: bool, paid: f64, slack: f64| {
        let mut m = Builder::new();
        let w = m.variable("w", 1);
        let z = m.witness("slack", 2);
        m.minimize(paid * z.sum());
        m.quadratic(0, 0, 1.0);
        let a = m.parameter_within("a", -1.0, 1.0);
        let b = m.parameter_within("b", -1.0, 1.0);
        let first = if shared_row {
            a * w.at(0) + b * w.at(0)
        } else {
            a * w.at(0)
        };
        m.at_most("first", 1.0, first + slack * z.at(0));
        let other = z.at(if shared_slack { 0 } else { 1 });
        m.at_most("second", 1.0, b * w.at(0) + other);
        m.at_most("signs", 0.0, z.at(0));
        m.at_most("sign", 0.0, z.at(1));
        m.build_map().unwrap()
    };
    let ask = || {
        Ask::new(Query::Variables(vec!["w".into()]))
            .adjacency(Adjacency::OneRecord { len: 1 })
            .privacy(Privacy::laplace(1.0))
            .sensitivity(Request::RegularisedErm)
    };
    let refusal = |map: AffineMap| Plan::new(&map, ask()).unwrap_err().to_string();
    assert!(refusal(build(true, false, 1.0, 1.0)).contains("`first` holds data of two records"));
    assert!(refusal(build(false, true, 1.0, 1.0)).contains("stands in rows of two records"));
    assert!(refusal(build(false, false, 1.0, -1.0)).contains("tightens `first`"));
    assert!(refusal(build(false, false, 1.0, 0.0)).contains("no slack variable"));
    assert!(Plan::new(&build(false, false, 1.0, 1.0), ask()).is_ok());
}

#[test]
fn envelopes_cover_cones_epigraphs_and_tails() {
    // A cone: minimise a'x with x in a ball whose centre and radius the data move.
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let (c, r) = (
        m.parameter_within("centre", -3.0, 3.0),
        m.parameter_within("radius", 1.0, 4.0),
    );
    m.minimize(x.dot(&[2.0, 1.0]));
    m.norm_at_most("ball", vec![x.at(0) - c, x.at(1)], r);
    m.between("box", -20.0, x.at(0), 20.0);
    m.between("strip", -20.0, x.at(1), 20.0);
    let cone = m.build_map().unwrap();
    let ask = cost_ask(1.5).adjacency(Adjacency::one_entry(0.05));
    let plan = Plan::new(&cone, ask).unwrap();
    assert!(holds("envelope of a cone", &plan, &cone, 8, 6) > 0.5);
    // A quadratic cost through its epigraph, released as at most.
    let mut m = Builder::new();
    let g = m.variable("g", 2);
    let t = m.variable("t", 1);
    let d = m.parameter_within("load", 1.0, 9.0);
    m.minimize(t.at(0));
    m.equal("balance", g.sum(), d);
    // t ≥ g₀ + 2g₁ + ½‖g‖²/4 as ‖(g₀, g₁, s − 2)‖ ≤ s + 2 with s = t − g₀ − 2g₁.
    let s = || t.at(0) - g.at(0) - 2.0 * g.at(1);
    m.norm_at_most("cost", vec![g.at(0), g.at(1), s() - 2.0], s() + 2.0);
    for j in 0..2 {
        m.between(&format!("generator {j}"), -2.0, g.at(j), 12.0);
    }
    m.between("cost range", -100.0, t.at(0), 100.0);
    let curve = m.build_map().unwrap();
    let query = Query::AtMost {
        epigraph: "t".into(),
        slope: vec![("g[0]".into(), 1.0), ("g[1]".into(), 2.0)],
    };
    let ask = Ask::new(query)
        .adjacency(Adjacency::one_entry(0.1))
        .privacy(Privacy::laplace(2.0))
        .sensitivity(Request::Envelope { price: 2.5 })
        .feasible(0.9);
    let plan = Plan::new(&curve, ask).unwrap();
    assert!(holds("envelope of an epigraph", &plan, &curve, 8, 7) > 0.3);
    // The tail of the cost: the released number plus a constant.
    let map = grid();
    let tail = conveil::risk::Risk::cvar(conveil::risk::Cvar {
        tail: 0.1,
        form: conveil::risk::CvarForm::Exact,
    });
    let plan = Plan::new(&map, cost_ask(30.0).risk(tail)).unwrap();
    assert!(holds("envelope of a tail", &plan, &map, 8, 8) > 0.9);
}

/// A random transport problem: sources with costs and limits, sinks with private needs, lines with limits.
fn transport(index: u64) -> AffineMap {
    let mut sampler = Sampler::new(77, index);
    let mut draw = |low: f64, high: f64| between(&mut sampler, low, high);
    let (sources, sinks) = (3 + index as usize % 3, 2 + index as usize % 4);
    let mut m = Builder::new();
    let x = m.variable("x", sources * sinks);
    let mut cost = Affine::default();
    for i in 0..sources {
        let sent = (0..sinks).fold(Affine::default(), |sum, j| sum + x.at(i * sinks + j));
        m.at_most(&format!("source {i}"), sent, draw(20.0, 40.0));
        for j in 0..sinks {
            cost += draw(1.0, 9.0) * x.at(i * sinks + j);
            m.between(
                &format!("line {i}-{j}"),
                0.0,
                x.at(i * sinks + j),
                draw(4.0, 15.0),
            );
        }
    }
    m.minimize(cost);
    for j in 0..sinks {
        let need = draw(3.0, 9.0);
        let d = m.parameter_within(&format!("need {j}"), 0.0, 3.0 * need);
        let sent = (0..sources).fold(Affine::default(), |sum, i| sum + x.at(i * sinks + j));
        m.equal(&format!("sink {j}"), sent, d);
    }
    m.build_map().unwrap()
}

#[test]
fn random_envelopes_hold_and_are_proven() {
    let mut tightest = 0.0f64;
    for index in 0..12 {
        let map = transport(index);
        let price = [3.0, 8.0, 20.0][index as usize % 3];
        let ask = cost_ask(price).adjacency(Adjacency::one_entry(0.2));
        let plan = Plan::new(&map, ask).unwrap();
        let tight = holds(
            &format!("transport {index}, price {price}"),
            &plan,
            &map,
            8,
            index,
        );
        tightest = tightest.max(tight);
    }
    assert!(tightest > 0.9);
}

#[test]
fn half_a_bound_is_contradicted() {
    // The same search finds pairs above half of Δ wherever the tightness says so: it can fail.
    let map = grid();
    let plan = Plan::new(&map, cost_ask(30.0)).unwrap();
    let half = 0.5 * plan.guarantee().sensitivity();
    assert!(largest_movement(&plan, &map, 12, 1) > half);
    let declared = cost_ask(30.0).declared(half, "half of what the plain program moves");
    let plan = Plan::new(&map, declared).unwrap();
    // Without the envelope prices up to 40 move the cost: the audit of the declared half flags it.
    let audit = Audit::new()
        .pairs(20)
        .climbs(2)
        .solves(300)
        .run(&plan, &Batch::new());
    assert!(audit.unwrap().is_flagged());
}

#[test]
fn paper_mode_has_no_certificates() {
    let map = regression(12, 60.0);
    let ask = regression_ask(Privacy::laplace(2.0), Adjacency::one_entry(0.3), true);
    let refusal = Plan::paper_mode(&map, ask, &[0.5; 12])
        .unwrap_err()
        .to_string();
    assert!(refusal.contains("a certificate in paper mode"), "{refusal}");
}

#[test]
fn a_private_cost_through_an_epigraph_or_a_witness_is_refused() {
    // x₁ + x₂ = 10, x₂ ≤ 2: the cost through a free epigraph t would swallow the noise.
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let t = m.variable("t", 1);
    let price = m.parameter_within("price of t", 0.5, 2.0);
    m.minimize(price * t.at(0));
    m.equal("balance", x.sum(), 10.0);
    m.between("first", 0.0, x.at(0), 10.0);
    m.between("second", 0.0, x.at(1), 2.0);
    m.at_most("epigraph", x.at(0) + 3.0 * x.at(1), t.at(0));
    m.at_most("top", t.at(0), 1000.0);
    let hollow = m.build_map().unwrap();
    let ask = || {
        Ask::cost()
            .adjacency(Adjacency::one_entry(0.01))
            .privacy(Privacy::laplace(1.0))
            .sensitivity(Request::Radius)
            .feasible(0.99)
    };
    let refusal = Plan::new(&hollow, ask()).unwrap_err().to_string();
    assert!(refusal.contains("looks like an epigraph"), "{refusal}");
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let s = m.witness("s", 1);
    let price = m.parameter_within("price", 1.0, 2.0);
    m.minimize(price * x.at(0) + 4.0 * s.at(0));
    m.at_most("need", 3.0, x.at(0) + s.at(0));
    m.between("x", 0.0, x.at(0), 20.0);
    m.between("s", 0.0, s.at(0), 20.0);
    let refusal = Plan::new(&m.build_map().unwrap(), ask()).unwrap_err();
    assert!(refusal.to_string().contains("it is a witness"), "{refusal}");
}

/// Says that it is affine, and solves something else.
struct Impostor(AffineMap);

impl DataMap for Impostor {
    fn parameters(&self) -> &[conveil::program::Parameter] {
        self.0.parameters()
    }
    fn template(&self) -> &conveil::program::Program {
        self.0.template()
    }
    fn private_parts(&self) -> conveil::program::PrivateParts {
        self.0.private_parts()
    }
    fn private_rows(&self) -> Vec<bool> {
        self.0.private_rows()
    }
    fn private_costs(&self) -> Vec<bool> {
        self.0.private_costs()
    }
    fn at(&self, theta: &[f64]) -> conveil::Result<conveil::program::Program> {
        let thousand: Vec<f64> = theta.iter().map(|v| 1000.0 * v).collect();
        self.0.at(&thousand)
    }
    fn affine(&self) -> Option<&AffineMap> {
        Some(&self.0)
    }
}

#[test]
fn what_a_certificate_inspects_is_what_is_solved() {
    let map = Impostor(regression(12, 60.0));
    let ask = regression_ask(
        Privacy::gaussian(2.0, 0.05),
        Adjacency::one_entry(0.3),
        true,
    );
    let plan = Plan::new(&map, ask).unwrap();
    let mut theta = [0.2; 12];
    let at = |theta: &[f64]| {
        let decided = plan.released().at(theta).unwrap();
        plan.released().shape().unshape(&decided.answer)
    };
    let here = at(&theta);
    theta[0] += 0.3;
    let there = at(&theta);
    let moved: f64 = here
        .iter()
        .zip(&there)
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>()
        .sqrt();
    assert!(moved <= plan.guarantee().sensitivity(), "{moved}");
}

#[test]
fn an_answer_for_all_data_or_a_claim_that_says_otherwise() {
    // Envelopes claim an answer for every dataset: a thousand of them, near and far, have one.
    let map = grid();
    let wish = Feasibility::eta(0.05).split(Split::LowerShare(0.7));
    let plan = Plan::new(&map, cost_ask(30.0).feasibility(wish)).unwrap();
    assert!(plan.guarantee().basis().is_defined_everywhere());
    let mut sampler = Sampler::new(5, 0);
    for index in 0..1000 {
        let size = 10f64.powi(index % 7);
        let theta = [size * sampler.unit_normal(), size * sampler.unit_normal()];
        if let Err(e) = plan.released().at(&theta) {
            panic!("{theta:?}: {e}");
        }
    }
    // A risk measure by samples adds variables that nothing bounds: no proof, no plan.
    let sampled = conveil::risk::Risk::cvar(conveil::risk::Cvar {
        tail: 0.1,
        form: conveil::risk::CvarForm::Sampled {
            samples: 50,
            seed: 3,
        },
    });
    match Plan::new(&map, cost_ask(30.0).risk(sampled)) {
        Ok(plan) => assert!(!plan.guarantee().basis().is_defined_everywhere()),
        Err(e) => assert!(e.to_string().contains("cannot be bounded"), "{e}"),
    }
    // Strong convexity makes no such claim, and solves data a thousand times larger than alpha.
    let map = regression(12, 4000.0);
    let ask = regression_ask(
        Privacy::gaussian(2.0, 0.05),
        Adjacency::one_entry(0.3),
        true,
    );
    let plan = Plan::new(&map, ask).unwrap();
    assert!(
        plan.guarantee()
            .privacy_text()
            .contains("given that an answer was produced")
    );
}
