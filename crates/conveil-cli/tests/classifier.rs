//! Classifiers from the command line: records in, weights out, and what is said about bad files.

mod running;

use std::path::Path;

use running::{directory, ended, examples, text, write};
use serde_json::Value;

const SPEC: &str = r#"
[problem]
model = "svm"
records = 40
label = { column = "class", positive = 1, negative = 0 }
lambda = 0.05
[problem.features]
wind = [0.0, 25.0]
load = [-50.0, 150.0]
[private]
data = "train.csv"
adjacency = { kind = "one-record" }
[query]
release = "weights"
[privacy]
mechanism = "laplace"
epsilon = 20.0
[feasibility]
eta = 0.05
rows = "each"
"#;

/// Windy hours are of class 1, with two exceptions.
fn records(count: usize) -> String {
    let mut csv = String::from("wind,load,class\n");
    for i in 0..count {
        let class = i % 2;
        let odd = i == 6 || i == 9;
        let wind = if (class == 1) != odd { 18.0 } else { 6.0 } + (i % 5) as f64;
        csv += &format!("{wind},{},{class}\n", 40 + (7 * i) % 30);
    }
    csv
}

fn place(name: &str, spec: &str, csv: &str) -> std::path::PathBuf {
    let place = directory(name);
    write(&place.join("spec.toml"), spec);
    write(&place.join("train.csv"), csv);
    place
}

fn json(place: &Path, words: &[&str]) -> Value {
    let (code, stdout, stderr) = ended(place, &[words, &["--json"]].concat());
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn a_classifier_is_checked_trained_compared_and_released() {
    let place = place("svm-road", SPEC, &records(40));
    let check = json(&place, &["check", "spec.toml"]);
    assert_eq!(check["private"], false);
    assert_eq!(check["parameters"].as_array().unwrap().len(), 120);
    // Δ₁ = √3·√3/(λN), the solver's share on top.
    let sensitivity = check["guarantee"]["sensitivity"].as_f64().unwrap();
    assert!((sensitivity / 1.5 - 1.0).abs() < 0.02, "{sensitivity}");
    let report = json(&place, &["solve", "spec.toml"]);
    assert_eq!(report["private"], true);
    let score = &report["scores"][0];
    assert!(score["before_noise"]["accuracy"].as_f64().unwrap() >= 0.9);
    assert_eq!(score["before_noise"]["majority"], 0.5);
    let compared = json(&place, &["compare", "spec.toml", "--draws", "50"]);
    let rows = compared["rows"].as_array().unwrap();
    assert_eq!(rows[0]["strategy"], "program");
    assert!(rows.iter().skip(1).all(|row| row["strategy"] == "output"));
    let (code, card, stderr) = ended(&place, &["release", "spec.toml", "--no-ledger"]);
    assert_eq!(code, 0, "{stderr}");
    for name in ["weight of wind", "weight of load", "intercept"] {
        assert!(card.contains(name), "{card}");
    }
    // Nothing about the records is on the card but the noisy weights.
    assert!(
        !card.contains("accuracy") && !card.contains("train.csv"),
        "{card}"
    );
}

#[test]
fn noise_that_decides_is_warned_about() {
    let spec = SPEC.replace("epsilon = 20.0", "epsilon = 0.05");
    let place = place("svm-noise", &spec, &records(40));
    let (code, stdout, stderr) = ended(&place, &["solve", "spec.toml"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.contains("times as long as the hyperplane"),
        "{stderr}"
    );
    assert!(
        stderr.contains("records of the same kind, or ε of about"),
        "{stderr}"
    );
    assert!(stdout.contains("above 1: the noise decides"), "{stdout}");
}

#[test]
#[rustfmt::skip] // one case, two lines
fn bad_records_are_named() {
    for (name, csv, expected) in [
        ("count", records(39),
            "spec.toml:4:11: `records` is 40, but train.csv has 39 records\n  help: the number of records is public, and the noise follows from it"),
        ("label", records(40).replacen(",0\n", ",2\n", 1),
            "train.csv: record 1 has the label 2 in column `class`, which is neither `positive` (1) nor `negative` (0)\n  help: label = { column = \"class\", positive = …, negative = … } in [problem] says what the two labels are"),
        ("column", records(40).replace("wind", "breeze"),
            "train.csv:1:1: there is no column `wind`\n  help: the columns are `breeze`, `load` and `class`"),
        ("number", records(40).replacen("6,40,0", "calm,40,0", 1),
            "train.csv:2:1: `wind` must be a number, found `calm`"),
        ("nan", records(40).replacen("6,40,0", "nan,40,0", 1),
            "train.csv:2:1: `wind` must be finite, found `nan`"),
        ("ragged", records(40).replacen("6,40,0", "6,40", 1),
            "train.csv:2:1: this line has 2 fields, the header has 3"),
        ("empty", String::new(),
            "spec.toml:11:8: cannot read the records train.csv: the file is empty\n  help: `data` is a path relative to the spec's directory"),
    ] {
        let place = place(&format!("svm-bad-{name}"), SPEC, &csv);
        for verb in [&["solve", "spec.toml"][..], &["release", "spec.toml", "--no-ledger"]] {
            let (code, stdout, stderr) = ended(&place, verb);
            assert_eq!((code, stdout.as_str()), (2, ""), "{name}: {stderr}");
            assert!(stderr.trim_end().ends_with(expected), "{name}: {stderr}");
        }
    }
}

#[test]
fn the_example_runs_and_its_audit_finds_nothing() {
    let spec = text(&examples().join("svm-machines.toml"));
    let place = place("svm-example", &spec, "");
    for file in ["svm-machines.csv", "svm-machines-test.csv"] {
        write(&place.join(file), text(&examples().join(file)));
    }
    let report = json(&place, &["solve", "spec.toml"]);
    assert_eq!(report["scores"].as_array().unwrap().len(), 2);
    let (code, stdout, stderr) = ended(&place, &["audit", "spec.toml", "--pairs", "10"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("no pair found above the claim"), "{stdout}");
}

/// A value outside its bounds counts as clipped, and the curator is told, on standard error and in the report.
#[test]
fn features_outside_their_bounds_are_counted() {
    let csv = records(40).replacen("6,40,0", "60,40,0", 1);
    let place = place("svm-clipped", SPEC, &csv);
    let report = json(&place, &["solve", "spec.toml"]);
    let clipped = report["clipped"].as_array().unwrap();
    assert_eq!(clipped.len(), 1, "{clipped:?}");
    assert_eq!(clipped[0]["name"], "record 1 wind");
    assert_eq!(clipped[0]["counted_as"], -1.0);
    assert!(report["infeasible_at_the_data"].is_object());
    let (_, _, stderr) = ended(&place, &["solve", "spec.toml", "--quiet"]);
    assert!(stderr.contains("`record 1 wind` lies outside"), "{stderr}");
}
