//! The documents show what the command prints, and call it by one name.

mod running;

use std::path::{Path, PathBuf};

use running::{directory, ended, text, write};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README.md and all that is in `docs`, by path.
fn documents() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = docs
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    all.push(root().join("README.md"));
    all
}

/// A fenced block: what stands behind the fence, and its lines.
struct Block {
    fence: String,
    lines: Vec<String>,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in document.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(fence), false) => blocks.push(Block {
                fence: fence.into(),
                lines: Vec::new(),
            }),
            (None, true) => blocks.last_mut().unwrap().lines.push(line.into()),
            _ => {}
        }
        open ^= line.starts_with("```");
    }
    assert!(!open, "a fence is not closed");
    blocks
}

/// The words of a command behind its name, without a comment.
fn words_of(line: &str) -> Vec<&str> {
    let line = line.split(" #").next().unwrap_or_default();
    line.split_whitespace().skip(1).collect()
}

/// After the install step the command has one name; only the first one of the README runs on a machine without it.
#[test]
fn documents_call_the_command_by_one_name() {
    let first = "cargo run -- compare examples/specs/scalar-lp.toml";
    for path in documents() {
        let document = text(&path);
        let found: Vec<&str> = document
            .lines()
            .filter(|line| line.contains("cargo run -- "))
            .collect();
        match path.ends_with("README.md") {
            true => assert!(found.len() == 1 && found[0].starts_with(first), "{found:?}"),
            false => assert!(found.is_empty(), "{}: {found:?}", path.display()),
        }
        for other in [
            "target/debug/conveil",
            "./conveil ",
            "cargo run --bin",
            "cargo run -p conveil-cli",
        ] {
            assert!(!document.contains(other), "{}: {other}", path.display());
        }
    }
}

/// Every command of a document is one that there is.
#[test]
fn documents_name_verbs_that_there_are() {
    let (_, help, _) = ended(&root(), &["--help"]);
    let mut commands = 0;
    for path in documents() {
        let blocks = blocks(&text(&path));
        let lines = blocks
            .iter()
            .filter(|block| block.fence == "sh")
            .flat_map(|block| &block.lines);
        for line in lines.filter(|line| line.starts_with("conveil ")) {
            let verb = words_of(line)[0];
            assert!(
                help.contains(&format!("\n  {verb} ")),
                "{}: {line}",
                path.display()
            );
            commands += 1;
        }
    }
    // A fence that is no longer recognised must not pass unseen.
    assert!(commands > 20, "{commands}");
}

/// All of it, to the letter.
#[test]
fn the_readme_shows_what_its_first_command_prints() {
    let readme = text(&root().join("README.md"));
    let blocks = blocks(&readme);
    let at = blocks.iter().position(|block| {
        block
            .lines
            .iter()
            .any(|line| line.starts_with("cargo run -- "))
    });
    let at = at.unwrap();
    let words: Vec<&str> = words_of(&blocks[at].lines[0]).split_off(2);
    let (code, stdout, stderr) = ended(&root(), &words);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(blocks[at + 1].fence, "text");
    assert_eq!(stdout.lines().collect::<Vec<_>>(), blocks[at + 1].lines);
}

/// A line without its numbers and hashes.
fn without_numbers(line: &str) -> String {
    let mut words = Vec::new();
    for word in line.split(' ') {
        let hash = word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit());
        words.push(if hash {
            "<hash>".into()
        } else {
            word.replace(|c: char| c.is_ascii_digit(), "")
        });
    }
    words.join(" ")
}

/// Whether the lines are those shown, where `…` stands for any lines.
fn shows(shown: &[String], printed: &[String]) -> bool {
    match (shown, printed) {
        ([], []) => true,
        ([dots, rest @ ..], _) if dots == "…" => {
            (0..=printed.len()).any(|skipped| shows(rest, &printed[skipped..]))
        }
        ([first, shown @ ..], [line, printed @ ..]) => first == line && shows(shown, printed),
        _ => false,
    }
}

/// The first result in five minutes: every command is run, in order, and prints what the page shows below it. In a block
/// fenced as `text drawn` numbers may differ; where a command fails, its complaint is shown.
#[test]
fn the_first_page_is_what_happens() {
    let place = directory("first-page");
    let page = text(&root().join("docs/start.md"));
    let (mut printed, mut compared) = (String::new(), 0);
    for block in blocks(&page) {
        match block.fence.split_once(' ').unwrap_or((&block.fence, "")) {
            ("csv", name) => write(&place.join(name), block.lines.join("\n") + "\n"),
            ("sh", "") => {
                for line in block
                    .lines
                    .iter()
                    .filter(|line| !line.starts_with("cargo install "))
                {
                    assert!(line.starts_with("conveil "), "{line}");
                    let (code, stdout, stderr) = ended(&place, &words_of(line));
                    printed = if code == 0 { stdout } else { stderr };
                }
            }
            ("text", how) => {
                let mask = |line: &str| match how {
                    "drawn" => without_numbers(line),
                    _ => line.into(),
                };
                let shown: Vec<String> = block.lines.iter().map(|line| mask(line)).collect();
                let lines: Vec<String> = printed.lines().map(mask).collect();
                assert!(
                    shows(&shown, &lines),
                    "shown:\n{}\nprinted:\n{printed}",
                    block.lines.join("\n")
                );
                compared += 1;
            }
            ("toml", "spec") => {
                // What the blanks become; `check` takes it.
                write(&place.join("filled.toml"), block.lines.join("\n"));
                let (code, _, stderr) = ended(&place, &["check", "filled.toml"]);
                assert_eq!(code, 0, "{stderr}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(compared, 8);
    assert!(page.contains("cargo install --path crates/conveil-cli "));
}
