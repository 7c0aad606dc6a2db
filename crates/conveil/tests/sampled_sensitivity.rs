//! Sensitivity (M8): declared texts, sampled estimates, the calibrated fixed point, paper mode.

mod structure_common;

use conveil::ask::{
    Adjacency, Ask, Bound, MapKind, Norm, Privacy, Query, Request, SampleSize, Sampled, Universe,
};
use conveil::chance::{Feasibility, Split};
use conveil::noise::{binomial_upper_pvalue, pair_samples_exact, pair_samples_paper};
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder, DataMap};
use conveil::sensitivity::{Certificate, Declared, Estimate, Pairs, estimate};
use conveil::solve::{Batch, Settings, solve_checked};
use conveil::{Error, Result};
use proptest::prelude::*;
use structure_common::{interval_lp, message};

#[test]
fn declared_bounds_are_printed_as_the_users_own() {
    let one = Adjacency::one_entry(2.5);
    let total = Declared::new(Bound::Total(3.0), " prices are capped ", Norm::L1, &one).unwrap();
    assert_eq!(
        total.statement(),
        "the user states that adjacent datasets move the answer by at most 3 in the ℓ₁ norm, because: prices are capped"
    );
    assert!(total.is_declared() && !total.admits_optimised_split() && !total.defined_everywhere());
    let per_alpha = Declared::new(Bound::PerAlpha(2.0), "r", Norm::L2, &one).unwrap();
    assert_eq!((per_alpha.bound(), per_alpha.norm()), (5.0, Norm::L2));
    let bad = |bound, reason: &str, adjacency| {
        message(Declared::new(bound, reason, Norm::L1, &adjacency))
    };
    assert_eq!(
        bad(Bound::PerAlpha(1.0), "r", Adjacency::Universe),
        "a bound per α needs an adjacency with an α: one-entry, l1 or l2"
    );
    assert_eq!(
        bad(Bound::Total(0.0), "r", one),
        "a declared sensitivity must be positive and finite, found 0"
    );
    assert_eq!(
        bad(Bound::Total(1.0), "  ", one),
        "a declared sensitivity needs its reason: it is printed with the guarantee"
    );
    let map = interval_lp(1.0, 20.0);
    let ask = Ask::cost()
        .adjacency(one)
        .privacy(Privacy::laplace(1.0))
        .declared(3.0, "prices are capped");
    let text = Plan::new(&map, ask).unwrap().guarantee().to_string();
    assert!(
        text.contains("datasets in which one entry differs by at most 2.5"),
        "{text}"
    );
    assert!(
        text.contains("basis: declared: the user states that"),
        "{text}"
    );
}

fn adjacencies() -> impl Strategy<Value = Adjacency> {
    let alpha = 0.01..5.0f64;
    prop_oneof![
        alpha.clone().prop_map(Adjacency::one_entry),
        alpha.clone().prop_map(|alpha| Adjacency::L1 { alpha }),
        alpha.prop_map(|alpha| Adjacency::L2 { alpha }),
        prop_oneof![Just(1usize), Just(2), Just(3), Just(6)]
            .prop_map(|len| Adjacency::OneRecord { len }),
        Just(Adjacency::Universe),
    ]
}

fn universes() -> impl Strategy<Value = Universe> {
    let numbers = |range: std::ops::Range<f64>| prop::collection::vec(range, 6);
    (
        numbers(-5.0..5.0),
        numbers(0.0..3.0),
        prop_oneof![Just(1usize), Just(2), Just(3)],
    )
        .prop_map(|(centre, mut radius, dimension)| {
            radius.truncate(6 / dimension);
            match dimension {
                1 => Universe::around(centre, radius).unwrap(),
                _ => Universe::discs(centre, radius, dimension).unwrap(),
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(12), ..Default::default() })]

    #[test]
    fn pairs_are_adjacent_members_of_the_universe(adjacency in adjacencies(), universe in universes(), seed in any::<u64>(), index in 0..1000u64) {
        let pairs = Pairs::new(universe.clone(), adjacency, seed);
        let (a, b) = pairs.pair(index);
        prop_assert_eq!(&(a.clone(), b.clone()), &pairs.pair(index), "pair {} depends on its number alone", index);
        prop_assert!(universe.contains(&a) && universe.contains(&b));
        let change: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        let moved: Vec<usize> = (0..6).filter(|&i| change[i] != 0.0).collect();
        let slack = 1.0 + 1e-12;
        match adjacency {
            Adjacency::OneEntry { alpha } => prop_assert!(moved.len() <= 1 && Norm::L1.of(&change) <= alpha * slack),
            Adjacency::L1 { alpha } => prop_assert!(Norm::L1.of(&change) <= alpha * slack),
            Adjacency::L2 { alpha } => prop_assert!(Norm::L2.of(&change) <= alpha * slack),
            Adjacency::OneRecord { len } => {
                let records: std::collections::BTreeSet<usize> = moved.iter().map(|i| i / len).collect();
                prop_assert!(records.len() <= 1, "{:?}", moved);
            }
            Adjacency::Universe => {}
        }
        let (l1, l2) = universe.diameter();
        prop_assert!(Norm::L1.of(&change) <= l1 * slack + 1e-9 && Norm::L2.of(&change) <= l2 * slack + 1e-9);
    }
}

/// min ½‖w‖² − θ'w on |w_j| ≤ 1: a projection onto a box, w_j = clamp(θ_j).
fn projection() -> AffineMap {
    let mut m = Builder::new();
    let w = m.variable("w", 2);
    for j in 0..2 {
        let target = m.parameter(&format!("target {j}"));
        m.quadratic(j, j, 1.0);
        m.minimize(-1.0 * (target * w.at(j)));
        m.between(&format!("w{j}"), -1.0, w.at(j), 1.0);
    }
    m.build_map().unwrap()
}

#[test]
fn an_estimate_is_the_brute_force_maximum_resumable_and_free_of_threads() {
    let map = projection();
    let universe = Universe::around(vec![0.0; 2], vec![1.5; 2]).unwrap();
    let pairs = Pairs::new(universe, Adjacency::L2 { alpha: 0.7 }, 41);
    let answer = |theta: &[f64]| -> Result<Vec<f64>> {
        Ok(solve_checked(&map.at(theta)?, &Settings::default())?.x)
    };
    let run = |start: Estimate, more, threads| {
        estimate(
            start,
            &pairs,
            more,
            Norm::L2,
            &answer,
            &Batch::new().threads(threads),
        )
        .unwrap()
    };
    let whole = run(Estimate::default(), 30, 1);
    assert_eq!(whole, run(run(Estimate::default(), 10, 2), 20, 3));
    let clamp = |t: &[f64]| t.iter().map(|v| v.clamp(-1.0, 1.0)).collect::<Vec<f64>>();
    let moved: Vec<f64> = (0..30)
        .map(|i| {
            let (a, b) = pairs.pair(i);
            let change: Vec<f64> = clamp(&a)
                .iter()
                .zip(clamp(&b))
                .map(|(a, b)| a - b)
                .collect();
            Norm::L2.of(&change)
        })
        .collect();
    let largest = moved.iter().copied().fold(0.0, f64::max);
    assert!(
        (whole.largest - largest).abs() < 1e-6,
        "{} {largest}",
        whole.largest
    );
    assert!(
        whole
            .movements
            .iter()
            .zip(&moved)
            .all(|(a, b)| (a - b).abs() < 1e-6)
    );
    assert_eq!(
        whole.movements[whole.worst.unwrap() as usize],
        whole.largest
    );
    assert_eq!((whole.done, whole.failures.len()), (30, 0));
}

#[test]
fn a_pair_without_an_answer_is_a_failure_and_is_kept() {
    let map = interval_lp(1.0, 1.0);
    let universe = Universe::around(vec![0.5], vec![1.0]).unwrap();
    let pairs = Pairs::new(universe, Adjacency::one_entry(0.3), 2);
    let answer = |theta: &[f64]| -> Result<Vec<f64>> {
        Ok(solve_checked(&map.at(theta)?, &Settings::default())?.x)
    };
    let found = estimate(
        Estimate::default(),
        &pairs,
        40,
        Norm::L1,
        &answer,
        &Batch::new(),
    )
    .unwrap();
    let infeasible = (0..40)
        .filter(|&i| {
            let (a, b) = pairs.pair(i);
            a[0].max(b[0]) > 1.0
        })
        .count();
    assert!(infeasible > 0);
    assert_eq!(found.failures.len(), infeasible);
    assert_eq!(
        found.movements.iter().filter(|m| m.is_infinite()).count(),
        infeasible
    );
    assert!(
        found.failures[0]
            .1
            .contains("the program itself is infeasible")
    );
}

#[test]
fn the_number_of_pairs_is_the_exact_one_or_the_papers() {
    assert_eq!(pair_samples_exact(0.1, 0.1).unwrap(), 22);
    assert_eq!(pair_samples_paper(0.1, 0.1).unwrap(), 99);
    // Exact: the smallest S with (1−γ)^S ≤ β.
    for (gamma, beta) in [(0.05, 0.01), (0.2, 1e-6), (0.5, 0.3)] {
        let s = pair_samples_exact(gamma, beta).unwrap() as i32;
        assert!((1.0f64 - gamma).powi(s) <= beta && (1.0f64 - gamma).powi(s - 1) > beta);
    }
}

fn sampled(universe: Universe, gamma: f64, beta: f64, on: MapKind) -> Request {
    Request::Sampled(Sampled {
        universe,
        gamma,
        beta,
        seed: 77,
        size: SampleSize::Exact,
        on,
    })
}

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

#[test]
fn universes_and_adjacencies_are_checked() {
    let bad = [
        (
            message(Universe::around(vec![], vec![])),
            "a universe of 0 entries cannot be split into discs of dimension 1",
        ),
        (
            message(Universe::discs(vec![0.0; 3], vec![1.0], 2)),
            "a universe of 3 entries cannot be split into discs of dimension 2",
        ),
        (
            message(Universe::around(vec![0.0], vec![1.0, 2.0])),
            "the universe has 1 parts, but 2 sizes are given",
        ),
        (
            message(Universe::around(vec![f64::NAN], vec![1.0])),
            "the universe's centre holds NaN: it must be finite",
        ),
        (
            message(Universe::around(vec![0.0], vec![-1.0])),
            "the universe's sizes must be finite and not negative, found -1",
        ),
    ];
    for (found, expected) in bad {
        assert_eq!(found, expected);
    }
    let map = interval_lp(1.0, 20.0);
    let with = |adjacency| {
        message(Plan::new(
            &map,
            structure_common::laplace(Query::Cost, 1.0).adjacency(adjacency),
        ))
    };
    assert_eq!(
        with(Adjacency::one_entry(0.0)),
        "the adjacency's α must be positive and finite, found 0"
    );
    assert_eq!(
        with(Adjacency::OneRecord { len: 2 }),
        "records of 2 entries do not divide 1 private parameters"
    );
    let wrong = Universe::around(vec![0.0; 2], vec![1.0; 2]).unwrap();
    let ask = Ask::cost()
        .adjacency(Adjacency::Universe)
        .privacy(Privacy::laplace(1.0))
        .sensitivity(sampled(wrong, 0.1, 0.1, MapKind::Released));
    assert_eq!(
        message(Plan::new(&map, ask)),
        "the universe has 2 entries, but the model has 1 private parameters"
    );
}
