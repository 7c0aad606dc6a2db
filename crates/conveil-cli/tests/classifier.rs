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
    assert!(score["before_noise"]["accuracy"].as_f64().unwrap() >= 90.0);
    assert_eq!(score["before_noise"]["majority"], 50.0);
    let compared = json(&place, &["compare", "spec.toml", "--draws", "50"]);
    let rows = compared["rows"].as_array().unwrap();
    assert_eq!(rows[0]["strategy"], "program");
    // One definition with the studies': percent, and n − 1.
    assert_eq!(compared["majority"], 50.0);
    assert!(
        rows.iter()
            .all(|row| row["accuracy_mean"].as_f64().unwrap() > 1.0)
    );
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
            "train.csv:2:6: the label `class` must be `positive` (1) or `negative` (0), found `2`\n  help: [problem] says what the two labels are, in numbers or in words: label = { column = \"class\", positive = \"yes\", negative = \"no\" }"),
        ("words", records(40).replace(",0\n", ",no\n").replace(",1\n", ",yes\n"),
            "train.csv:2:6: the label `class` must be `positive` (1) or `negative` (0), found `no`\n  help: [problem] says what the two labels are, in numbers or in words: label = { column = \"class\", positive = \"yes\", negative = \"no\" }"),
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

/// Values outside their bounds count as clipped, and the curator is told in the file's own units, whatever the label: on
/// standard error and in the report. A value at a bound is not.
#[test]
fn features_outside_their_bounds_are_counted_in_their_own_units() {
    // Lines 2 to 5: classes 0, 1, 0, 1.
    let csv = records(40)
        .replacen(
            "6,40,0\n19,47,1\n8,54,0\n",
            "60,40,0\n25,150,1\n8,-70.5,0\n",
            1,
        )
        .replacen("\n21,61,1\n", "\n-0.25,150.00000001,1\n", 1);
    let place = place("svm-clipped", SPEC, &csv);
    let wind = "`wind`: 1 value below and 1 above the public bounds [0, 25], clipped to them; the first is 60 in line 2";
    let load = "`load`: 1 value below the public bounds [-50, 150], clipped to them; the first is -70.5 in line 4";
    for verb in [
        &["solve", "spec.toml", "--quiet"][..],
        &["release", "spec.toml", "--no-ledger", "-q"],
    ] {
        let (code, stdout, stderr) = ended(&place, verb);
        assert_eq!(code, 0, "{stderr}");
        for told in [wind, load] {
            let line = format!("warning: {told} of train.csv");
            assert!(stderr.lines().any(|l| l == line), "{line} in {stderr}");
        }
        assert!(
            !stderr.contains("[-1, 1]") && !stdout.contains("in line"),
            "{stderr}"
        );
    }
    let report = json(&place, &["solve", "spec.toml"]);
    let clipped: Vec<_> = (report["clipped"].as_array().unwrap().iter())
        .map(|c| {
            (
                c["name"].as_str().unwrap(),
                c["datum"].as_f64(),
                c["counted_as"].as_f64(),
            )
        })
        .collect();
    assert_eq!(
        clipped,
        [
            ("record 1 wind", Some(60.0), Some(25.0)),
            ("record 3 load", Some(-70.5), Some(-50.0)),
            ("record 4 wind", Some(-0.25), Some(0.0)),
        ]
    );
    let outside = &report["outside_bounds"];
    assert_eq!(
        (outside[0]["below"].as_u64(), outside[0]["above"].as_u64()),
        (Some(1), Some(1))
    );
    assert_eq!(outside[1]["line"], 4);
    // Losses give way at any data.
    assert!(report["infeasible_at_the_data"].is_null());
    let (_, text, _) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert!(text.contains("60.000000 counts as 25.000000"), "{text}");
}

/// The note on a divided η stands in `check` too, and the suggestion of a missing section is what the paper does.
#[test]
fn a_joint_promise_over_many_records_is_told_and_none_is_suggested() {
    let spec = SPEC.replace("eta = 0.05\nrows = \"each\"", "eta = 0.001");
    let place = place("svm-joint", &spec, &records(40));
    let told = "η = 0.001 is for all 80 rows together, so that each has 1.25e-5 of it";
    let (_, stdout, _) = ended(&place, &["check", "spec.toml", "--details"]);
    assert!(stdout.contains(told), "{stdout}");
    let (_, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert!(stderr.contains(told), "{stderr}");
    let missing = SPEC.replace("[feasibility]\neta = 0.05\nrows = \"each\"\n", "");
    write(&place.join("spec.toml"), &missing);
    let (code, _, stderr) = ended(&place, &["check", "spec.toml"]);
    assert_eq!(code, 2);
    let help = "help: for example: [feasibility] with eta = 0.05, rows = \"each\"";
    assert!(stderr.contains(help), "{stderr}");
}

/// Losses give way: what `explain` says of ε is not where the solver gives up.
#[test]
fn an_explanation_names_no_smallest_epsilon() {
    let place = place("svm-explain", SPEC, &records(40));
    let (code, stdout, stderr) = ended(&place, &["explain", "spec.toml", "-q"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.contains("feasible at any ε and η: losses give way to the noise"),
        "{stdout}"
    );
    assert!(!stdout.contains("smallest feasible"), "{stdout}");
}

/// The same records with words for labels give the same hyperplane, and the card calls the classes by them.
#[test]
fn labels_may_be_words_and_stand_on_the_card() {
    let words = SPEC.replace(
        "positive = 1, negative = 0",
        "positive = \"windy\", negative = \"calm\"",
    );
    let csv = records(40)
        .replace(",0\n", ",calm\n")
        .replace(",1\n", ", \"windy\"\n");
    let said = place("svm-words", &words, &csv);
    let counted = place("svm-numbers", SPEC, &records(40));
    let answer = |place: &Path| json(place, &["solve", "spec.toml"])["answer"].clone();
    assert_eq!(answer(&said), answer(&counted));
    let card = json(&said, &["release", "spec.toml", "--no-ledger"]);
    let reading = &card["reading"];
    assert_eq!(reading["inputs"][0]["name"], "wind");
    assert_eq!(
        reading["inputs"][0]["bounds"],
        serde_json::json!([0.0, 25.0])
    );
    let rule = serde_json::json!({ "label": "class", "positive": "windy", "negative": "calm" });
    assert_eq!(reading["decision"], rule);
    let (_, text, _) = ended(&said, &["release", "spec.toml", "--no-ledger", "-q"]);
    for line in [
        "  weight of wind: (wind − 12.5)/12.5, with wind clipped to [0, 25]",
        "  intercept: −1",
        "  class is windy where score > 0, and calm where score < 0",
        "protects: one record, its features and its label, whatever it is within its public bounds; the number of records and the names and bounds of the features are public and not protected",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} in {text}");
    }
}

/// The card alone suffices to classify: its functions times its weights have the sign of the library's own score.
#[test]
fn the_card_scores_as_the_model_does() {
    use conveil_models::svm::{Feature, Svm};
    let place = place("svm-card", SPEC, &records(40));
    let card = json(&place, &["release", "spec.toml", "--no-ledger"]);
    let bounds = [("wind", 0.0, 25.0), ("load", -50.0, 150.0)];
    let features = bounds.map(|(name, low, high)| Feature::within(name, low, high));
    let svm = Svm::of(40, features.to_vec()).lambda(0.05).build().unwrap();
    let answer = card["answer"].as_array().unwrap();
    let weights: Vec<f64> = answer
        .iter()
        .map(|w| w["value"].as_f64().unwrap())
        .collect();
    for record in [[3.0f64, 20.0], [30.0, 140.0], [18.0, -70.0], [12.0, 50.0]] {
        let mut score = 0.0;
        for (term, weight) in card["reading"]["terms"]
            .as_array()
            .unwrap()
            .iter()
            .zip(&weights)
        {
            let number = |key: &str| term[key].as_f64().unwrap();
            let input = bounds.iter().position(|b| term["input"] == b.0);
            score += weight
                * match input {
                    None => number("value"),
                    Some(j) => {
                        let value = record[j].clamp(bounds[j].1, bounds[j].2);
                        (value - number("center")) / number("scale")
                    }
                };
        }
        let own = svm.decision_value(&weights, &record).unwrap();
        assert!(
            (score - own).abs() <= 1e-12 * (1.0 + own.abs()),
            "{score} and {own}"
        );
    }
}

/// Records that teach nothing are told to the curator, on standard error and in the report, and never on the card.
#[test]
fn the_curator_is_told_of_one_class_and_of_constant_features() {
    let one = records(40).replace(",0\n", ",1\n");
    let constant = {
        let mut csv = String::from("wind,load,class\n");
        (0..40).for_each(|i| csv += &format!("{},{},{}\n", 30 + i, 7, i % 2));
        csv
    };
    let only =
        "the label `class` is `1` in every record of train.csv: there is nothing to tell apart";
    let clipped = "`wind` is 25 in every record of train.csv once clipped to its bounds: it tells nothing apart, and its weight costs noise";
    let same = "`load` is 7 in every record of train.csv: it tells nothing apart, and its weight costs noise";
    for (name, csv, expected) in [
        ("one-class", one, vec![only]),
        ("constant", constant, vec![clipped, same]),
        ("good", records(40), vec![]),
    ] {
        let place = place(&format!("svm-{name}"), SPEC, &csv);
        let report = json(&place, &["solve", "spec.toml"]);
        assert_eq!(report["remarks"], serde_json::json!(expected), "{name}");
        let (code, card, stderr) = ended(&place, &["release", "spec.toml", "--no-ledger", "-q"]);
        assert_eq!(code, 0, "{stderr}");
        for text in [only, clipped, same] {
            assert_eq!(
                stderr.contains(text),
                expected.contains(&text),
                "{name}: {stderr}"
            );
            assert!(!card.contains(text), "{card}");
        }
    }
}

/// Where every weight is 0 there is no ratio to print: two records that cancel.
#[test]
fn a_hyperplane_of_nothing_gets_no_infinite_advice() {
    let mut csv = String::from("wind,load,class\n");
    (0..40).for_each(|i| csv += &format!("18,60,{}\n", i % 2));
    let place = place("svm-zero", SPEC, &csv);
    let report = json(&place, &["solve", "spec.toml"]);
    assert!(report["noise_over_weights"].is_null(), "{report}");
    let (_, stdout, stderr) = ended(&place, &["solve", "spec.toml"]);
    assert!(
        stdout.contains("the weights are 0: noise alone"),
        "{stdout}"
    );
    assert!(stderr.contains("its release is noise alone"), "{stderr}");
    assert!(
        !stdout.contains("inf\n") && !stderr.contains("inf records"),
        "{stderr}"
    );
}

/// Labels of drawn pairs are labels: the pair that an audit saves has none between −1 and 1, and a flip is found.
#[test]
fn an_audit_of_a_sampled_classifier_flips_labels_and_draws_no_others() {
    let spec = SPEC.replace(
        "epsilon = 20.0",
        "epsilon = 20.0\nsensitivity = { by = \"sampled\", gamma = 0.1, beta = 0.1 }",
    );
    let place = place("svm-sampled", &spec, &records(40));
    let words = [
        "audit",
        "spec.toml",
        "--pairs",
        "20",
        "--solves",
        "60",
        "--witness",
        "w.json",
    ];
    let (code, stdout, stderr) = ended(&place, &words);
    // A sampled basis speaks of a share of pairs: one beyond it is no contradiction.
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.contains("40 of them at one of two values"),
        "{stdout}"
    );
    assert!(stdout.contains("verdict: "), "{stdout}");
    let witness: Value = serde_json::from_str(&text(&place.join("w.json"))).unwrap();
    let side = |name: &str| -> Vec<f64> {
        let labels = witness[name].as_array().unwrap().iter().skip(2).step_by(3);
        labels.map(|v| v.as_f64().unwrap()).collect()
    };
    let (first, second) = (side("first"), side("second"));
    assert_eq!(first.len(), 40);
    assert!(first.iter().chain(&second).all(|y| y.abs() == 1.0));
    assert!(first != second, "the worst pair flips a label");
}
