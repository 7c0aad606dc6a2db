//! Any text is a problem, which is written and read back to the last bit, or one diagnostic
//! within the text: `cargo +nightly fuzz run problem fuzz/corpus/problem fuzz/seeds/problem`.
#![no_main]

use conveil_text::problem::{read, to_json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match read("fuzz", text) {
    Ok(problem) => {
        let written = to_json(&problem);
        let again = read("fuzz", &written).expect("what was written is a problem");
        assert_eq!(written, to_json(&again));
    }
    Err(error) => {
        let lines: Vec<&str> = text.split('\n').collect();
        assert!((1..=lines.len()).contains(&error.line));
        let characters = lines[error.line - 1].chars().count();
        assert!((1..=characters + 1).contains(&error.column));
    }
});
