//! A card and a check are read by people who do not know the mathematics: no sentence in them is long.

mod running;

use running::{
    CLASSIFIER_EXAMPLES, ELLIPSOID_EXAMPLES, EXAMPLES, GRID_EXAMPLES, PORTFOLIO_EXAMPLES,
    RECORD_EXAMPLES, directory, ended, examples, text, write,
};
use std::path::Path;

/// A sentence has fewer words than this.
const LONG: usize = 25;

/// The sentences of a card: they end at a full stop, a semicolon, a colon or a line. The items of a list count one by one:
/// names in backticks, numbers, terms of a sum.
fn sentences(card: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Names that the curator gave, one after the other.
    let is_a_list = |line: &&str| line.trim_start().starts_with("private numbers:");
    for line in card.lines().filter(|line| !is_a_list(line)) {
        let mut sentence = String::new();
        let mut rest = line;
        while let Some(character) = rest.chars().next() {
            rest = &rest[character.len_utf8()..];
            let next = rest.trim_start().chars().next();
            let is_blank = rest.is_empty() || rest.starts_with(' ');
            let ends = match character {
                ';' => true,
                '.' | ':' => is_blank,
                ',' => is_blank && next.is_some_and(|c| c == '`' || c.is_ascii_digit()),
                '+' => is_blank,
                _ => false,
            };
            match ends {
                true => found.push(std::mem::take(&mut sentence)),
                false => sentence.push(character),
            }
        }
        found.push(sentence);
    }
    found
}

fn words(sentence: &str) -> usize {
    let words = sentence.split_whitespace();
    words
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .count()
}

fn long_sentences(card: &str) -> Vec<String> {
    let all = sentences(card).into_iter();
    all.filter(|sentence| words(sentence) >= LONG).collect()
}

#[test]
fn sentences_are_counted_as_a_reader_does() {
    let words: Vec<usize> = sentences("basis: one two, `a`, `b`, and three; 1.5 four. five\nsix")
        .iter()
        .map(|sentence| words(sentence))
        .collect();
    assert_eq!(words, [1, 2, 1, 3, 2, 1, 1]);
    assert_eq!(long_sentences(&"word ".repeat(25)).len(), 1);
    assert!(long_sentences(&"word ".repeat(24)).is_empty());
}

/// What is said in the golden files: every card, and every text of `check`.
struct Said {
    cards: usize,
    checks: usize,
    lines: Vec<String>,
}

fn said_in_the_golden_files() -> Said {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let (mut cards, mut checks, mut lines) = (0, 0, Vec::new());
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let golden = text(&path);
        let (mut is_card, mut is_check) = (false, false);
        for line in golden.lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                is_check = command.starts_with("check ") && !command.contains("--json");
                checks += usize::from(is_check);
            }
            let said = line.strip_prefix('|').map(str::trim_start);
            match said {
                Some("RELEASE CARD") => (is_card, cards) = (true, cards + 1),
                None => is_card = false,
                _ => {}
            }
            if let (true, Some(said)) = (is_card || is_check, said) {
                lines.push(said.into());
            }
            is_card &= !said.is_some_and(|said| said.starts_with("made by"));
        }
    }
    Said {
        cards,
        checks,
        lines,
    }
}

/// They have every basis, and the certificates but `radius` and `range`.
#[test]
fn no_card_and_no_check_in_the_golden_files_has_a_long_sentence() {
    let Said {
        cards,
        checks,
        lines,
    } = said_in_the_golden_files();
    let mut long: Vec<String> = lines.iter().flat_map(|line| long_sentences(line)).collect();
    long.sort();
    long.dedup();
    assert!(cards > 50, "{cards}");
    assert!(checks > 50, "{checks}");
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// The examples under every strategy and mechanism that they admit.
#[test]
fn no_card_and_no_check_of_an_example_has_a_long_sentence() {
    let folder = directory("card-sentences");
    for file in std::fs::read_dir(examples()).unwrap() {
        let path = file.unwrap().path();
        write(&folder.join(path.file_name().unwrap()), text(&path));
    }
    let groups = [
        EXAMPLES,
        GRID_EXAMPLES,
        RECORD_EXAMPLES,
        CLASSIFIER_EXAMPLES,
        ELLIPSOID_EXAMPLES,
        PORTFOLIO_EXAMPLES,
    ];
    for name in groups.concat() {
        let own = text(&examples().join(format!("{name}.toml")));
        let unstated: String = (own.lines())
            .filter(|line| !line.starts_with("strategy"))
            .map(|line| format!("{line}\n"))
            .collect();
        let stated = |strategy: &str| {
            let section = format!("[feasibility]\nstrategy = \"{strategy}\"");
            unstated.replace("[feasibility]", &section)
        };
        let gaussian = "mechanism = \"gaussian\"\ndelta = 1e-6";
        let mut cards = 0;
        for spec in [
            own.clone(),
            stated("program"),
            stated("output"),
            stated("projected"),
        ] {
            for spec in [spec.replace("mechanism = \"laplace\"", gaussian), spec] {
                write(&folder.join("spec.toml"), spec);
                let (code, card, _) =
                    ended(&folder, &["release", "spec.toml", "--no-ledger", "-q"]);
                let (_, check, _) = ended(&folder, &["check", "spec.toml", "-q", "--details"]);
                let long = long_sentences(&format!("{card}\n{check}"));
                assert!(long.is_empty(), "{name}: {}", long.join("\n"));
                cards += usize::from(code == 0);
            }
        }
        assert!(cards > 0, "{name} has no card");
    }
}
