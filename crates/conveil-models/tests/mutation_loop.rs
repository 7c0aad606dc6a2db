//! Damaged inputs by the thousand: a reader returns, and what it complains about is in the text.
//!
//! `CONVEIL_MUTATION_SECONDS` (2) is the time to spend, half of it on each reader.

#[path = "../../conveil-text/tests/damage/mod.rs"]
mod damage;
#[path = "../../conveil-text/tests/seeded/mod.rs"]
mod seeded;

use std::time::{Duration, Instant};

use conveil_models::spec;
use conveil_text::problem;
use damage::{assert_in_text, damaged};
use seeded::Seeded;

const SPECS: &[&str] = &[
    include_str!("../../../fuzz/seeds/spec/smallest.toml"),
    include_str!("../../../fuzz/seeds/spec/every-key.toml"),
    include_str!("../../../fuzz/seeds/spec/discs-at-most.toml"),
    include_str!("../../../fuzz/seeds/spec/records-identity.toml"),
    include_str!("../../../fuzz/seeds/spec/envelope.toml"),
    include_str!("../../../fuzz/seeds/spec/curvature.toml"),
    include_str!("../../../fuzz/seeds/spec/opf.toml"),
    include_str!("../../../fuzz/seeds/spec/regression.toml"),
    include_str!("../../../fuzz/seeds/spec/generation.toml"),
];

const PROBLEMS: &[&str] = &[
    include_str!("../../../fuzz/seeds/problem/quadratic.json"),
    include_str!("../../../fuzz/seeds/problem/every-cone.json"),
    include_str!("../../../fuzz/seeds/problem/spaced.json"),
];

fn seconds_per_reader() -> Duration {
    let seconds = std::env::var("CONVEIL_MUTATION_SECONDS")
        .ok()
        .and_then(|text| text.parse::<f64>().ok())
        .filter(|seconds| (0.0..=1e6).contains(seconds))
        .unwrap_or(2.0);
    Duration::from_secs_f64(seconds / 2.0)
}

#[test]
fn damaged_specs_are_read_or_refused_in_place() {
    let (mut random, mut tried, mut accepted) = (Seeded(1), 0_u64, 0_u64);
    let end = Instant::now() + seconds_per_reader();
    while Instant::now() < end {
        let text = damaged(&mut random, SPECS);
        tried += 1;
        match spec::read("spec.toml", &text) {
            Ok(_) => accepted += 1,
            Err(error) => assert_in_text(&error, &text),
        }
    }
    println!("{tried} damaged specs, {accepted} of them still good");
}

#[test]
fn damaged_problems_are_read_or_refused_in_place() {
    let (mut random, mut tried, mut accepted) = (Seeded(2), 0_u64, 0_u64);
    let end = Instant::now() + seconds_per_reader();
    while Instant::now() < end {
        let text = damaged(&mut random, PROBLEMS);
        tried += 1;
        match problem::read("p.json", &text) {
            Ok(saved) => {
                accepted += 1;
                let written = problem::to_json(&saved);
                let again = problem::read("p.json", &written).map(|p| problem::to_json(&p));
                assert_eq!(again, Ok(written));
            }
            Err(error) => assert_in_text(&error, &text),
        }
    }
    println!("{tried} damaged problems, {accepted} of them still good");
}
