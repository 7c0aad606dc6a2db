//! Any text is finite demands (or bounds in order) for a network or one diagnostic within the text:
//! `cargo +nightly fuzz run demand fuzz/corpus/demand fuzz/seeds/demand`.
#![no_main]

use std::sync::LazyLock;

use conveil_grid::{Network, ReadError, bounds, demand};
use libfuzzer_sys::fuzz_target;

static NETWORK: LazyLock<Network> =
    LazyLock::new(|| Network::builtin("5_pjm").expect("a built-in network"));

fuzz_target!(|text: &str| {
    match demand::read("fuzz", text, &NETWORK) {
        Ok(demand) => {
            let mut demands = demand.datasets_mw().iter().flatten();
            assert!(demands.all(|demand| demand.is_finite()));
        }
        Err(error) => assert_within(&error, text),
    }
    match bounds::read("fuzz", text, &NETWORK, &[0, 1]) {
        Ok(bounds) => assert!(bounds.iter().all(|(low, high)| low < high)),
        Err(error) => assert_within(&error, text),
    }
});

fn assert_within(error: &ReadError, text: &str) {
    let lines: Vec<&str> = text.split('\n').collect();
    assert!((1..=lines.len()).contains(&error.line));
    let characters = lines[error.line - 1].chars().count();
    assert!((1..=characters + 1).contains(&error.column));
}
