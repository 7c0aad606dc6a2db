//! Any text is a network, which is written in the compact format and read back the same, or one
//! diagnostic within the text: `cargo +nightly fuzz run matpower fuzz/corpus/matpower fuzz/seeds/matpower`.
#![no_main]

use conveil_grid::{compact, matpower};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match matpower::read("fuzz", text) {
    Ok(network) => {
        let written = compact::to_text(&network, &[]);
        assert_eq!(compact::read("fuzz", &written).as_ref(), Ok(&network));
    }
    Err(error) => {
        let lines: Vec<&str> = text.split('\n').collect();
        assert!((1..=lines.len()).contains(&error.line));
        let characters = lines[error.line - 1].chars().count();
        assert!((1..=characters + 1).contains(&error.column));
    }
});
