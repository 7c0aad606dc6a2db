//! Sensitivity (M8): declared texts, adjacent pairs, sampled estimates.

mod structure_common;

use conveil::Result;
use conveil::ask::{Adjacency, Ask, Bound, MapKind, Norm, Privacy, Query, Universe};
use conveil::certify::{Declared, Estimate, Pairs, estimate};
use conveil::noise::{pair_samples_exact, pair_samples_paper};
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Batch, Settings, solve_checked};
use proptest::prelude::*;
use structure_common::{interval_lp, message, projection, sampled};

#[test]
fn declared_bounds_are_printed_as_the_users_own() {
    let one = Adjacency::one_entry(2.5);
    let total = Declared::new(Bound::Total(3.0), " prices are capped ", Norm::L1, &one).unwrap();
    assert_eq!(
        total.statement(),
        "the user states that adjacent datasets move the answer by at most 3 in the ℓ₁ norm, because: prices are capped"
    );
    let per_alpha = Declared::new(Bound::PerAlpha(2.0), "r", Norm::L2, &one).unwrap();
    assert_eq!(per_alpha.bound(), 5.0);
    assert!(per_alpha.statement().contains(" in the ℓ₂ norm, because: "));
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
