//! Answers first: `check` is short unasked, and keeps every warning; `solve`, `compare` and `explain` open with the answer
//! below their stamp. `--details` has the rest.

mod running;

use running::{ended, examples};
use serde_json::Value;

/// Lines and columns of a small terminal.
const LINES: usize = 25;
const COLUMNS: usize = 100;

#[test]
fn every_example_has_a_short_check_that_opens_with_the_answer_and_keeps_each_warning() {
    let (mut count, mut unprotected) = (0, 0);
    for file in std::fs::read_dir(examples()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".toml") {
            continue;
        }
        count += 1;
        let (code, short, stderr) = ended(&examples(), &["check", &name, "-q"]);
        assert_eq!(code, 0, "{name}: {stderr}");
        let (_, long, _) = ended(&examples(), &["check", &name, "-q", "--details"]);
        let (_, document, _) = ended(&examples(), &["check", &name, "-q", "--json"]);
        let document: Value = serde_json::from_str(&document).unwrap();
        assert!(short.lines().count() <= LINES, "{name}:\n{short}");
        assert!(
            short.lines().all(|line| line.chars().count() <= COLUMNS),
            "{name}:\n{short}"
        );
        let opening = short.split("\n\n").next().unwrap();
        assert!(opening.starts_with("released: "), "{name}:\n{short}");
        opens(&name, opening.lines());
        // What is not protected is never cut.
        let protects = document["protects"].as_str().unwrap_or_default();
        if let Some((before, "")) = protects.rsplit_once("are public and not protected") {
            let public = before.rsplit("; ").next().unwrap();
            let joined = short.split_whitespace().collect::<Vec<_>>().join(" ");
            let said = format!("{public}are public and not protected");
            assert!(joined.contains(&said), "{name}: {said}\n{short}");
            unprotected += 1;
        }
        // Nor is what is promised of a decision.
        let text = document["text"].as_str().unwrap();
        let promise = text
            .lines()
            .find(|l| l.starts_with("feasibility: "))
            .unwrap();
        let joined = short.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(promise), "{name}: {promise}\n{short}");
        let warnings = |text: &str| text.lines().filter(|l| l.starts_with("warning: ")).count();
        assert_eq!(warnings(&short), warnings(&long), "{name}:\n{short}");
        assert!(long.starts_with("CHECK: public"), "{name}");
        assert!(long.contains(document["text"].as_str().unwrap()), "{name}");
    }
    assert!(count > 20 && unprotected > 4, "{count}, {unprotected}");
}

/// Three to five lines of at most 100 columns, in this order.
fn opens<'t>(name: &str, lines: impl Iterator<Item = &'t str>) {
    let lines: Vec<&str> = lines.collect();
    let text = lines.join("\n");
    assert!((3..=5).contains(&lines.len()), "{name}:\n{text}");
    let labels: Vec<&str> = (lines.iter().filter(|line| !line.starts_with("  ")))
        .map(|line| line.split_once(": ").unwrap().0)
        .collect();
    assert_eq!(
        labels,
        ["released", "guaranteed", "costs", "next"],
        "{name}:\n{text}"
    );
    assert!(!text.contains("(see --details)"), "{name}:\n{text}");
}

#[test]
fn the_curators_verbs_open_with_the_stamp_and_the_answer() {
    let specs = [
        "scalar-lp",
        "two-generators",
        "portfolio",
        "mean-variance",
        "heat-demand",
        "svm-machines",
        "sampled-dispatch",
        "hospital-staffing",
    ];
    for (verb, title) in [
        ("solve", "CURATOR REPORT"),
        ("compare", "COMPARISON"),
        ("explain", "EXPLANATION"),
    ] {
        for name in specs {
            let spec = format!("{name}.toml");
            let words = [verb, &spec, "-q"];
            let ran = |more: &[&str]| {
                let (code, stdout, stderr) = ended(&examples(), &[&words, more].concat());
                assert_eq!(code, 0, "{verb} {name}: {stderr}");
                stdout
            };
            let name = format!("{verb} {name}");
            for (more, stamp) in [
                (&[][..], "PRIVATE, "),
                (&["--at", "nominal"], "PUBLIC, at "),
            ] {
                if stamp != "PRIVATE, " && !is_nominal(&spec) {
                    continue;
                }
                let shown = ran(more);
                let mut opening = shown.split("\n\n").next().unwrap().lines();
                let first = opening.next().unwrap();
                assert!(
                    first.starts_with(&format!("{title}: {stamp}")),
                    "{name}:\n{shown}"
                );
                // A long stamp goes on in a second line.
                opens(&name, opening.skip_while(|line| line.starts_with("  ")));
                let is_wide = |line: &str| line.chars().count() > COLUMNS;
                assert!(!shown.lines().any(is_wide), "{name}:\n{shown}");
            }
            // With details it has the guarantee in full.
            if verb == "solve" {
                let whole = ran(&["--details"]);
                assert!(whole.contains("\nassumes: "), "{name}:\n{whole}");
                assert!(!ran(&[]).contains("\nassumes: "), "{name}");
            }
        }
    }
}

/// Whether the spec has nominal values for every private number.
fn is_nominal(spec: &str) -> bool {
    let (_, document, _) = ended(&examples(), &["check", spec, "-q", "--json"]);
    let document: Value = serde_json::from_str(&document).unwrap();
    let parameters = document["parameters"].as_array().unwrap();
    parameters.iter().all(|one| !one["nominal"].is_null())
}

#[test]
fn the_documents_are_the_same_with_and_without_details() {
    for verb in ["compare", "explain"] {
        let words = [verb, "scalar-lp.toml", "-q", "--json"];
        let plain = ended(&examples(), &words);
        let detailed = ended(&examples(), &[&words[..], &["--details"]].concat());
        assert_eq!(plain, detailed);
        let document: Value = serde_json::from_str(&plain.1).unwrap();
        assert_eq!(document["private"], true);
    }
}
