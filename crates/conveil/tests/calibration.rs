//! The fixed point of M8: a scale at which the released map moves no more than the noise covers, or none; paper mode.

mod structure_common;

use conveil::Error;
use conveil::ask::{Adjacency, Ask, MapKind, Norm, Privacy, Query, Universe};
use conveil::certify::{Estimate, Pairs, estimate};
use conveil::chance::{Feasibility, Split};
use conveil::noise::binomial_upper_pvalue;
use conveil::plan::Plan;
use conveil::program::Builder;
use conveil::solve::Batch;
use structure_common::{interval_lp, message, projection, sampled};

fn projection_ask(gamma: f64, beta: f64, on: MapKind) -> Ask {
    let universe = Universe::around(vec![0.0; 2], vec![2.0; 2]).unwrap();
    Ask::new(Query::Variables(vec!["w".into()]))
        .adjacency(Adjacency::OneRecord { len: 1 })
        .privacy(Privacy::laplace(20.0))
        .sensitivity(sampled(universe, gamma, beta, on))
        .feasible(0.9)
}

#[test]
fn a_calibrated_plan_keeps_its_share_of_fresh_pairs_within_epsilon() {
    let map = projection();
    let gamma = 0.2;
    let plan = Plan::new(&map, projection_ask(gamma, 1e-6, MapKind::Released)).unwrap();
    let text = plan.guarantee().privacy_text();
    assert!(
        text.contains(
            "basis: sampled: holds for a share 0.8 of adjacent pairs, with confidence 0.999999"
        ),
        "{text}"
    );
    // Fresh pairs: another seed than the plan's.
    let universe = Universe::around(vec![0.0; 2], vec![2.0; 2]).unwrap();
    let pairs = Pairs::new(universe, Adjacency::OneRecord { len: 1 }, 4242);
    let answer = |theta: &[f64]| Ok(plan.released().at(theta)?.answer);
    let trials = 400;
    let found = estimate(
        Estimate::default(),
        &pairs,
        trials,
        Norm::L1,
        &answer,
        &Batch::new(),
    )
    .unwrap();
    let beyond = found
        .movements
        .iter()
        .filter(|m| **m / plan.law().scale() > 20.0)
        .count() as u64;
    // β = 1e-6 that calibration failed, plus 1e-6 for this test.
    let p = binomial_upper_pvalue(beyond, trials, gamma).unwrap();
    assert!(p > 1e-6, "{beyond} of {trials} pairs beyond ε");
    // A mutant: half the scale is caught by the same pairs.
    let half = found
        .movements
        .iter()
        .filter(|m| **m / (0.5 * plan.law().scale()) > 20.0)
        .count() as u64;
    assert!(
        binomial_upper_pvalue(half, trials, gamma).unwrap() <= 1e-6,
        "{half} of {trials} at half the noise"
    );
}

#[test]
fn noise_that_fits_nowhere_is_not_attainable() {
    // Walls 2 apart: the scale that ε = 0.5 needs does not fit between them for any pair.
    let map = projection();
    let ask = projection_ask(0.3, 0.1, MapKind::Released).privacy(Privacy::laplace(0.5));
    let error = Plan::new(&map, ask).unwrap_err();
    assert!(matches!(error, Error::NotAttainable(_)), "{error}");
    let why = error.to_string();
    let start =
        "not attainable: no noise scale gives ε = 0.5 for the released map: at this noise pair";
    assert!(why.starts_with(start), "{why}");
    assert!(
        why.ends_with("no tried scale had an answer for every pair"),
        "{why}"
    );
}

#[test]
fn a_map_that_only_shifts_with_the_noise_has_a_fixed_point() {
    let mut m = Builder::new();
    let w = m.variable("w", 1);
    let t = m.parameter("target");
    m.quadratic(0, 0, 1.0);
    m.minimize(-1.0 * (t * w.at(0)));
    m.at_most("private floor", 100.0 * t, w.at(0));
    let map = m.build_map().unwrap();
    let universe = Universe::around(vec![0.0], vec![1.0]).unwrap();
    let ask = Ask::new(Query::Identity)
        .adjacency(Adjacency::one_entry(0.5))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(sampled(universe, 0.3, 0.1, MapKind::Released));
    let plan = Plan::new(&map, ask).unwrap();
    // The floor moves by 50; each candidate is at most 5% (or a tenth of itself) above what was seen.
    let found = plan.guarantee().sensitivity();
    assert!((50.0..=55.0 * 1.05).contains(&found), "{found}");
}

/// Pr[ζ₁ + θζ₂ > t] = η for unit Laplace noise: M5e's sum, inverted by bisection.
fn quantile(theta: f64, eta: f64) -> f64 {
    let square = theta * theta;
    let tail = |t: f64| 0.5 * (square * (-t / theta).exp() - (-t).exp()) / (square - 1.0);
    let (mut low, mut high) = (0.0, 1e3);
    for _ in 0..200 {
        let mid = 0.5 * (low + high);
        if tail(mid) > eta {
            low = mid;
        } else {
            high = mid;
        }
    }
    high
}

#[test]
fn a_map_that_stretches_with_the_noise_has_no_scale_and_tells_its_smallest_epsilon() {
    // max x/10⁴ − 5000w² − ½(v − θ)², x + θw ≤ 100, identity query: w̄ ≈ 0 and v̄ = θ, but x̄ = 100 − κ(1, θ)·s moves
    // in proportion to the noise itself: ε(s) = κ' + 1/s.
    let mut m = Builder::new();
    let x = m.variable("x", 3);
    let t = m.parameter("θ");
    m.minimize(-1e-4 * x.at(0) - t * x.at(2));
    m.quadratic(1, 1, 1e4);
    m.quadratic(2, 2, 1.0);
    m.at_most("mixed", x.at(0) + t * x.at(1), 100.0);
    let map = m.build_map().unwrap();
    let universe = Universe::around(vec![4.0], vec![2.0]).unwrap();
    let ask = Ask::new(Query::Identity)
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(sampled(universe, 0.3, 0.1, MapKind::Released));
    let why = message(Plan::new(&map, ask.clone()));
    assert!(
        why.starts_with("not attainable: no noise scale gives ε = 1 for the released map"),
        "{why}"
    );
    let told: f64 = why
        .rsplit("at any tried scale is ")
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let steepest = (0..=300)
        .map(|i| 2.0 + 0.01 * f64::from(i))
        .map(|theta| quantile(theta + 1.0, 0.01) - quantile(theta, 0.01))
        .fold(0.0, f64::max);
    assert!(
        told <= steepest * 1.01 && told >= 0.9 * steepest,
        "{told} {steepest}"
    );
    // Above that ε there is one: covered = 1 + κ'·covered/ε, so 1/(1 − 1/1.2) = 6 for the steepest pair. The search
    // starts at 1 and must climb; most pairs are nearly that steep.
    let epsilon = 1.2 * steepest;
    let plan = Plan::new(&map, ask.with_epsilon(epsilon)).unwrap();
    let covered = plan.guarantee().sensitivity();
    assert!((4.0..=6.0 * 1.1 * 1.05).contains(&covered), "{covered}");
    let moved = |theta: f64| plan.released().at(&[theta]).unwrap().answer;
    let (a, b) = (moved(3.0), moved(4.0));
    let change: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
    assert!(Norm::L1.of(&change) / plan.law().scale() <= epsilon);
}

#[test]
fn the_deterministic_map_and_an_optimised_split_need_paper_mode() {
    let map = projection();
    let ask = projection_ask(0.3, 0.1, MapKind::Deterministic);
    let why = message(Plan::new(&map, ask.clone()));
    assert!(
        why.contains("noise calibrated to the deterministic map")
            && why.contains("another map is released"),
        "{why}"
    );
    let lp = interval_lp(1.0, 20.0);
    let optimise = structure_common::laplace(Query::Cost, 1.0)
        .feasibility(Feasibility::eta(0.05).split(Split::Optimise));
    let why = message(Plan::new(&lp, optimise.clone()));
    assert!(
        why.starts_with("refused: split = optimise on this basis"),
        "{why}"
    );
    for plan in [
        Plan::paper_mode(&map, ask, &[0.1, 0.2]).unwrap(),
        Plan::paper_mode(&lp, optimise, &[5.0]).unwrap(),
    ] {
        assert!(!plan.guarantee().basis().is_private());
        let text = plan.guarantee().to_string();
        assert!(
            text.contains("privacy: NO privacy guarantee (aimed at"),
            "{text}"
        );
        assert!(
            text.contains("the real ε can be many times larger"),
            "{text}"
        );
    }
}
