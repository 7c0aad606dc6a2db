//! Any text is a spec or one diagnostic within the text:
//! `cargo +nightly fuzz run spec fuzz/corpus/spec fuzz/seeds/spec`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = conveil_models::spec::read("fuzz", text) {
        let lines: Vec<&str> = text.split('\n').collect();
        assert!((1..=lines.len()).contains(&error.line));
        let characters = lines[error.line - 1].chars().count();
        assert!((1..=characters + 1).contains(&error.column));
    }
});
