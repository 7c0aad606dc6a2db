//! What is said of a released number before there are data: its error bar, and where it is the same for all data, its bias.

mod common;

use common::{Noise, between};
use conveil::ask::{Adjacency, Ask, Privacy, Query, Request};
use conveil::chance::{Choice, Feasibility};
use conveil::noise::{Sampler, binomial_upper_pvalue};
use conveil::plan::Plan;
use conveil::program::{Affine, AffineMap, Builder};
use conveil::solve::{Settings, solve_checked};

const DRAWS: u64 = 40_000;
/// A test that is right fails this rarely.
const FALSE_ALARM: f64 = 1e-6;

/// Three variables in a box, all of them released.
fn boxed() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 3);
    let shift = m.parameter("shift");
    m.minimize(x.dot(&[1.0, 2.0, -1.0]));
    for j in 0..3 {
        m.between(&format!("x{j}"), 1.0 * shift - 90.0, x.at(j), 90.0);
    }
    m.build_map().unwrap()
}

#[test]
fn error_bars_hold_the_noise_as_often_as_they_say() {
    let map = boxed();
    let shapes = [
        None,
        Some(vec![
            vec![1.0, 0.0, 0.0],
            vec![0.5, 2.0, -1.0],
            vec![0.2, 0.2, 0.2],
        ]),
    ];
    for noise in Noise::ALL {
        for shape in &shapes {
            let ask = common::ask(Query::Identity, noise, Feasibility::eta(0.1));
            let ask = match shape {
                None => ask,
                Some(rows) => ask.shape(rows.clone()),
            };
            let plan = Plan::new(&map, ask).unwrap();
            let uncertainty = plan.guarantee().uncertainty();
            let (law, shape) = (plan.law(), plan.released().shape());
            let mut outside = [0_u64; 3];
            let mut sampler = Sampler::new(77, 0);
            let mut zeta = vec![0.0; shape.noises()];
            for _ in 0..DRAWS {
                sampler.fill(law, &mut zeta);
                for (i, moved) in shape.apply(&zeta).iter().enumerate() {
                    let half = uncertainty.half_width(i).unwrap();
                    outside[i] += u64::from(moved.abs() > half);
                }
            }
            for found in outside {
                let most = 1.0 - uncertainty.share;
                let p = binomial_upper_pvalue(found, DRAWS, most).unwrap();
                assert!(
                    p > FALSE_ALARM,
                    "{noise:?}: {found} of {DRAWS} outside, p = {p}"
                );
                // Not wider than it need be, but for sums of bounded noise, whose quantile is that of unbounded ones.
                let least = match noise {
                    Noise::Truncated => 0.0,
                    _ => 0.9 * most,
                };
                assert!(found as f64 >= least * DRAWS as f64, "{noise:?}: {found}");
            }
        }
    }
}

/// A random program around a feasible point with a linear cost; with a ball among its constraints, or without.
fn random(index: u64, ball: bool, here_and_now: bool) -> AffineMap {
    let mut s = Sampler::new(4711, index);
    let n = 3 + (index % 3) as usize;
    let mut m = Builder::new();
    let x = m.variable("x", n);
    let start = here_and_now.then(|| m.here_and_now("start", 1));
    let d = m.parameter_within("d", -0.2, 0.2);
    let cost: Vec<f64> = (0..n).map(|_| between(&mut s, 0.5, 3.0)).collect();
    let mut total: Affine = x.dot(&vec![1.0; n]);
    if let Some(start) = start {
        m.minimize(x.dot(&cost) + 1.5 * start.at(0));
        m.between("start", 0.0, start.at(0), 1.0);
        total += 1.0 * start.at(0);
    } else {
        m.minimize(x.dot(&cost));
    }
    m.at_most("cover", 1.0 * d + 1.0, total);
    if ball {
        let each: Vec<Affine> = (0..n).map(|j| x.at(j)).collect();
        m.norm_at_most("ball", each, 2.0);
    }
    for j in 0..n {
        m.between(&format!("x{j}"), 0.0, x.at(j), between(&mut s, 0.8, 2.0));
    }
    m.build_map().unwrap()
}

fn cost_ask() -> Ask {
    Ask::cost()
        .adjacency(Adjacency::one_entry(0.01))
        .privacy(Privacy::laplace(1.0))
        .settings(Settings::default().with_tolerance(1e-9).unwrap())
        .feasible(0.95)
}

#[test]
fn the_stated_bias_is_that_of_every_dataset() {
    for index in 0..40 {
        let map = random(index, index % 2 == 0, false);
        let ask = cost_ask().declared(0.05, "for the test");
        let ask = ask.feasibility(Feasibility::eta(0.05).method(Choice::MASS_BOX));
        let plan = Plan::new(&map, ask).unwrap();
        let bias = plan
            .guarantee()
            .uncertainty()
            .bias
            .expect("one box, one cost");
        // Its data have public bounds, and are within them.
        assert!(bias.at_most);
        let mut sampler = Sampler::new(9, index);
        for _ in 0..4 {
            let theta = [between(&mut sampler, -0.2, 0.2)];
            let optimum = solve_checked(
                &conveil::program::DataMap::at(&map, &theta).unwrap(),
                &Settings::default().with_tolerance(1e-9).unwrap(),
            );
            let loss = plan.released().at(&theta).unwrap().objective - optimum.unwrap().objective;
            assert!(
                (loss - bias.amount).abs() < 1e-6 * bias.amount.max(1.0),
                "program {index}: {loss} is lost, {} is said",
                bias.amount
            );
        }
    }
}

#[test]
fn an_envelope_says_at_most() {
    for index in 0..10 {
        let map = random(index, false, false);
        let ask = cost_ask().sensitivity(Request::envelope(8.0));
        let plan = Plan::new(&map, ask).unwrap();
        let bias = plan.guarantee().uncertainty().bias.unwrap();
        assert!(bias.at_most);
        let text = plan.guarantee().to_string();
        assert!(
            text.contains("unless data are clipped or corrected"),
            "{text}"
        );
    }
}

/// What is decided before the noise cannot follow it, and the loss then depends on the data.
#[test]
fn no_bias_is_stated_where_it_depends_on_the_data() {
    for index in 0..6 {
        let map = random(index, false, true);
        let plan = Plan::new(&map, cost_ask().declared(0.05, "for the test")).unwrap();
        assert_eq!(plan.guarantee().uncertainty().bias, None);
    }
    let map = boxed();
    let identity = common::ask(Query::Identity, Noise::Laplace, Feasibility::eta(0.1));
    let plan = Plan::new(&map, identity).unwrap();
    assert_eq!(plan.guarantee().uncertainty().bias, None);
}

/// A head that leaves out a condition would claim more than is proven.
#[test]
fn the_short_claim_keeps_every_condition_of_the_long_one() {
    let map = boxed();
    let declared = common::ask(Query::Identity, Noise::Laplace, Feasibility::eta(0.1));
    let plan = Plan::new(&map, declared).unwrap();
    let guarantee = plan.guarantee();
    assert!(guarantee.is_given_an_answer());
    let claim = guarantee.claim_in_short(Some("MW"));
    for part in [
        "differential privacy with ε = ",
        "(in MW)",
        ", given an answer",
        "not proven: the user declares the bound",
    ] {
        assert!(claim.contains(part), "{part}: {claim}");
    }
    assert!(!guarantee.claim_in_short(None).contains("(in"));
    assert_eq!(guarantee.not_protected(), None);
    let bar = guarantee.error_bar_in_short();
    assert!(
        bar.starts_with("± ") && bar.ends_with(" in 95% of draws"),
        "{bar}"
    );
}
