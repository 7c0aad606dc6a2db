//! Damaged inputs by the thousand: a reader returns, and what it complains about is in the text.
//!
//! `CONVEIL_MUTATION_SECONDS` (2) is the time that the project's tests spend in such loops; each of
//! the four here takes a sixth of it.

#[path = "../../conveil-text/tests/damage/mod.rs"]
mod damage;
#[path = "../../conveil-text/tests/seeded/mod.rs"]
mod seeded;

use std::time::{Duration, Instant};

use conveil_grid::{Network, ReadError, bounds, compact, demand, matpower};
use damage::{assert_in_text, damaged};
use seeded::Seeded;

const CASES: &[&str] = &[
    include_str!("../../../fuzz/seeds/matpower/five-buses.m"),
    include_str!("../../../fuzz/seeds/matpower/continued.m"),
];

const DEMANDS: &[&str] = &[
    include_str!("../../../fuzz/seeds/demand/by-bus.csv"),
    include_str!("../../../fuzz/seeds/demand/series.csv"),
];

const BOUNDS: &[&str] = &[include_str!("../../../fuzz/seeds/demand/bounds.csv")];

const COMPACT: &[&str] = &[
    include_str!("../networks/3_lmbd.txt"),
    include_str!("../networks/5_pjm.txt"),
];

fn seconds_per_reader() -> Duration {
    let seconds = std::env::var("CONVEIL_MUTATION_SECONDS")
        .ok()
        .and_then(|text| text.parse::<f64>().ok())
        .filter(|seconds| (0.0..=1e6).contains(seconds))
        .unwrap_or(2.0);
    Duration::from_secs_f64(seconds / 6.0)
}

/// Reads damaged texts until the time is over.
fn run(seed: u64, seeds: &[&str], read: impl Fn(&str) -> Result<(), ReadError>) {
    let (mut random, mut tried, mut accepted) = (Seeded(seed), 0_u64, 0_u64);
    let end = Instant::now() + seconds_per_reader();
    while Instant::now() < end {
        let text = damaged(&mut random, seeds);
        tried += 1;
        match read(&text) {
            Ok(()) => accepted += 1,
            Err(error) => assert_in_text(&error, &text),
        }
    }
    println!("{tried} damaged texts, {accepted} of them still good");
}

/// A network outlives its way through the compact format.
fn assert_written(network: &Network) {
    let text = compact::to_text(network, &[]);
    let again = compact::read("n.txt", &text);
    assert_eq!(again.as_ref(), Ok(network), "{text}");
}

#[test]
fn damaged_cases_are_read_or_refused_in_place() {
    run(3, CASES, |text| {
        matpower::read("case.m", text).map(|network| assert_written(&network))
    });
}

#[test]
fn damaged_demands_are_read_or_refused_in_place() {
    let network = matpower::read("case.m", CASES[0]).unwrap();
    run(4, DEMANDS, |text| {
        let demand = demand::read("d.csv", text, &network)?;
        let finite = |mw: &Vec<f64>| mw.iter().all(|d| d.is_finite());
        assert!(demand.datasets_mw().iter().all(finite));
        Ok(())
    });
}

#[test]
fn damaged_bounds_are_read_or_refused_in_place() {
    let network = matpower::read("case.m", CASES[0]).unwrap();
    let private = [1, 0, 2];
    assert!(bounds::read("b.csv", BOUNDS[0], &network, &private).is_ok());
    run(6, BOUNDS, |text| {
        let bounds = bounds::read("b.csv", text, &network, &private)?;
        let sound = |&(low, high): &(f64, f64)| low < high && high.is_finite() && low.is_finite();
        assert!(bounds.len() == private.len() && bounds.iter().all(sound));
        Ok(())
    });
}

#[test]
fn damaged_compact_networks_are_read_or_refused_in_place() {
    run(5, COMPACT, |text| {
        compact::read("n.txt", text).map(|network| assert_written(&network))
    });
}
