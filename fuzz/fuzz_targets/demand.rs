//! Any text is finite demands for a network or one diagnostic within the text:
//! `cargo +nightly fuzz run demand fuzz/corpus/demand fuzz/seeds/demand`.
#![no_main]

use std::sync::LazyLock;

use conveil_grid::{Network, demand};
use libfuzzer_sys::fuzz_target;

static NETWORK: LazyLock<Network> =
    LazyLock::new(|| Network::builtin("5_pjm").expect("a built-in network"));

fuzz_target!(|text: &str| match demand::read("fuzz", text, &NETWORK) {
    Ok(demand) => {
        let mut demands = demand.datasets_mw().iter().flatten();
        assert!(demands.all(|demand| demand.is_finite()));
    }
    Err(error) => {
        let lines: Vec<&str> = text.split('\n').collect();
        assert!((1..=lines.len()).contains(&error.line));
        let characters = lines[error.line - 1].chars().count();
        assert!((1..=characters + 1).contains(&error.column));
    }
});
