//! Methods and certificates: words that are found again, and that the guide names.

use conveil::certify::certificates;
use conveil::chance::{Choice, methods};

const GUIDE: &str = include_str!("../../../docs/guide.md");

#[test]
fn every_method_is_found_by_its_word_and_stands_in_the_guide() {
    for kind in methods() {
        let found = Choice::named(kind.word()).and_then(|choice| choice.kind());
        assert_eq!(found.map(|kind| kind.name()), Some(kind.name()));
        assert!(!kind.summary().is_empty());
        assert!(
            GUIDE.contains(&format!("`{}`", kind.word())),
            "{}",
            kind.word()
        );
    }
    assert_eq!(Choice::named("auto"), Some(Choice::AUTO));
    assert_eq!(Choice::named("mass box"), None);
}

#[test]
fn every_certificate_stands_in_the_guide() {
    for kind in certificates() {
        assert!(!kind.covers().is_empty());
        assert!(
            GUIDE.contains(&format!("`{}`", kind.word())),
            "{}",
            kind.word()
        );
    }
}
