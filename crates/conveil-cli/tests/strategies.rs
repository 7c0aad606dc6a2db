//! `strategy` in [feasibility]: noise on the answer through every verb, and what is said where it does not go.

mod running;

use running::{directory, ended, examples, text, write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// An example with another [feasibility], its files beside it.
fn placed(name: &str, files: &[&str], feasibility: &str) -> PathBuf {
    // Tests run beside each other: each has a place of its own.
    static PLACES: AtomicUsize = AtomicUsize::new(0);
    let number = PLACES.fetch_add(1, Ordering::Relaxed);
    let place = directory(&format!("strategy-{name}-{number}"));
    for file in files {
        write(&place.join(file), text(&examples().join(file)));
    }
    let spec = text(&examples().join(format!("{name}.toml")));
    let (head, rest) = spec.split_once("[feasibility]").unwrap();
    let tail = rest.find("\n[").map_or("", |end| &rest[end..]);
    write(
        &place.join("spec.toml"),
        format!("{head}[feasibility]\n{feasibility}\n{tail}"),
    );
    place
}

fn ok(place: &Path, words: &[&str]) -> String {
    let (code, stdout, stderr) = ended(place, words);
    assert_eq!(code, 0, "{words:?}: {stderr}");
    stdout
}

#[test]
fn a_projected_curve_is_released_and_keeps_its_conditions() {
    let place = placed(
        "wind-curve",
        &["wind-curve.csv"],
        "strategy = \"projected\"",
    );
    let check = ok(&place, &["check", "spec.toml"]);
    assert!(
        check.contains("strategy: projected output perturbation\n"),
        "{check}"
    );
    for _ in 0..20 {
        let card = ok(
            &place,
            &["release", "spec.toml", "--no-ledger", "--json", "-q"],
        );
        let card: serde_json::Value = serde_json::from_str(&card).unwrap();
        assert_eq!(card["strategy"], "projected");
        assert_eq!(card["differentially_private"], true);
        assert_eq!(card["before_projection"].as_array().unwrap().len(), 4);
        let weights: Vec<f64> = (card["answer"].as_array().unwrap().iter())
            .map(|w| w["value"].as_f64().unwrap())
            .collect();
        // The slope of Σ w√(1 + (s − k)²) at the points of the spec's condition.
        for speed in [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0] {
            let slope: f64 = (weights.iter().zip([3.0, 7.0, 11.0, 15.0]))
                .map(|(w, k)| w * (speed - k) / (1.0f64 + (speed - k) * (speed - k)).sqrt())
                .sum();
            assert!(slope > -1e-6, "{speed}: {slope}");
        }
    }
    let audit = ok(&place, &["audit", "spec.toml", "-q"]);
    assert!(!audit.contains("FLAGGED"), "{audit}");
}

#[test]
fn plain_noise_on_a_classifier_is_released_with_its_certificate() {
    let files = ["svm-machines.csv", "svm-machines-test.csv"];
    let place = placed("svm-machines", &files, "strategy = \"output\"");
    let card = ok(&place, &["release", "spec.toml", "--no-ledger", "-q"]);
    assert!(
        card.contains("strategy: output perturbation\nfeasibility: nothing has to be feasible"),
        "{card}"
    );
    assert!(
        card.contains("  basis: certificate: regularised empirical risk"),
        "{card}"
    );
    let report = ok(&place, &["solve", "spec.toml", "-q"]);
    assert!(
        report.contains("infeasible             nothing is promised"),
        "{report}"
    );
    assert!(report.contains("accuracy on "), "{report}");
    // What the noise costs a classifier is its accuracy; an objective with slacks that stay behind is not.
    assert!(
        report.contains("cost of privacy        not measured"),
        "{report}"
    );
    assert!(
        report.contains("losses give way, and every answer is admissible"),
        "{report}"
    );
}

/// The map without noise is the released one: sampling it is no paper mode, and what is released can be audited.
#[test]
fn a_sampled_map_without_noise_is_audited_as_it_is_released() {
    let files = ["sampled-dispatch.json"];
    let place = placed("sampled-dispatch", &files, "strategy = \"output\"");
    let spec = text(&place.join("spec.toml"));
    let spec = spec.replace(
        "by = \"sampled\"",
        "by = \"sampled\", on = \"deterministic\"",
    );
    assert!(spec.contains("deterministic"), "{spec}");
    write(&place.join("spec.toml"), spec);
    let card = ok(&place, &["release", "spec.toml", "--no-ledger", "-q"]);
    assert!(card.contains("basis: sampled"), "{card}");
    let (code, stdout, stderr) = ended(&place, &["audit", "spec.toml", "-q"]);
    assert!(code == 0 || code == 4, "{stderr}");
    assert!(stdout.contains("AUDIT"), "{stdout}");
}

/// Where program perturbation is not to be had, a comparison says so, and `check` claims nothing of the constraints.
#[test]
fn constraints_that_no_noise_respects_are_said_to_hold_at_the_mean() {
    let place = placed("wind-curve", &["wind-curve.csv"], "strategy = \"output\"");
    let check = ok(&place, &["check", "spec.toml", "--json"]);
    let check: serde_json::Value = serde_json::from_str(&check).unwrap();
    assert_eq!(check["strategy"], "output");
    let lines = check["constraints"].as_array().unwrap();
    assert!(
        lines.iter().all(|c| c["holds"] == "at-the-mean"),
        "{lines:?}"
    );
    assert_eq!(check["guarantee"]["certified"], 1.0);
}

/// A text whose lines are folded at 100 columns, as one.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_cost_of_a_dispatch_with_plain_noise() {
    let place = placed("opf-24", &["opf-24.csv"], "strategy = \"output\"");
    let card = ok(&place, &["release", "spec.toml", "--no-ledger", "-q"]);
    assert!(card.contains("strategy: output perturbation\n"), "{card}");
    let report = in_one_line(&ok(&place, &["solve", "spec.toml", "-q"]));
    assert!(
        report.contains("nothing is promised: no decision carries the noise; `compare` shows how often there is one"),
        "{report}"
    );
}

/// Whatever the spec has chosen, all strategies are compared, at its η.
#[test]
fn a_comparison_does_not_depend_on_the_choice() {
    let compared = |strategy: &str| {
        let feasibility = format!("{strategy}eta = 0.03");
        let place = placed("wind-curve", &["wind-curve.csv"], &feasibility);
        ok(&place, &["compare", "spec.toml", "-q", "--draws", "50"])
    };
    // What would be released, in the opening, is the strategy's own; the table is not.
    let table = |text: &str| {
        let start = text.find("\noptimum without noise ").unwrap();
        in_one_line(&text[start..])
    };
    let program = table(&compared(""));
    assert_eq!(program, table(&compared("strategy = \"projected\"\n")));
    assert!(
        program.contains("strategy = \"projected\" in [feasibility] releases that"),
        "{program}"
    );
}

#[test]
fn what_does_not_go_with_it_is_said_before_anything_is_charged() {
    let place = placed(
        "wind-curve",
        &["wind-curve.csv"],
        "strategy = \"projected\"",
    );
    let refused = |words: &[&str]| {
        let (code, stdout, stderr) = ended(&place, words);
        assert_eq!((code, stdout.as_str()), (2, ""), "{words:?}");
        stderr
    };
    let line = text(&place.join("spec.toml"))
        .lines()
        .position(|line| line.starts_with("strategy"))
        .unwrap()
        + 1;
    assert_eq!(
        refused(&[
            "release",
            "spec.toml",
            "--no-ledger",
            "--decision",
            "d.json",
            "-q"
        ]),
        format!(
            "error: spec.toml:{line}:12: `--decision` needs strategy `program`: here the noise is on the answer, and no decision carries it\n  help: the card has the whole answer\n"
        )
    );
    assert!(!place.join("d.json").exists());
    let compared = in_one_line(&ok(
        &place,
        &["compare", "spec.toml", "-q", "--draws", "20"],
    ));
    assert!(
        compared.contains("does not apply: no η is stated"),
        "{compared}"
    );
    assert_eq!(
        refused(&["explain", "spec.toml", "-q"]),
        "error: spec.toml: refused: an explanation of projected output perturbation\n  because it is about the room that the program makes for the noise, and here the noise is on its answer\n  instead: strategy = program\n"
    );
    let files = ["svm-machines.csv", "svm-machines-test.csv"];
    let place = placed("svm-machines", &files, "strategy = \"projected\"");
    let (code, _, stderr) = ended(&place, &["check", "spec.toml", "-q"]);
    assert_eq!(code, 2, "{stderr}");
    assert_eq!(
        stderr,
        "error: spec.toml: refused: strategy = projected\n  because the feasible set is itself private\n  instead: strategy = program; or strategy = output, which promises nothing of feasibility\n"
    );
}
