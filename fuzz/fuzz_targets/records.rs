//! Any bytes are finite records or one diagnostic within the text:
//! `cargo +nightly fuzz run records fuzz/corpus/records fuzz/seeds/records`.
#![no_main]

// The file itself, so that the targets need no solver.
#[path = "../../crates/conveil-models/src/records.rs"]
#[allow(dead_code)]
mod records;

use libfuzzer_sys::fuzz_target;
use records::Records;

fuzz_target!(|bytes: &[u8]| match Records::read("fuzz", bytes) {
    Ok(records) => {
        assert!(records.len() > 0 && !records.names().is_empty());
        assert!(records.rows().flatten().all(|number| number.is_finite()));
    }
    Err(error) => {
        let text = String::from_utf8_lossy(bytes);
        let lines: Vec<&str> = text.split('\n').collect();
        assert!((1..=lines.len()).contains(&error.line));
        let characters = lines[error.line - 1].chars().count();
        assert!((1..=characters + 1).contains(&error.column));
    }
});
