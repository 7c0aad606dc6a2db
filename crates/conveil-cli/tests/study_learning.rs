//! `conveil study svm` and `conveil study classifier`: documents, files, and what they say to bad records.

mod running;

use running::{directory, ended, write};

#[test]
fn the_svm_study_is_one_document_with_plain_names() {
    let place = directory("study-svm");
    let words = [
        "study", "svm", "--json", "-q", "--mode", "paper", "--lambda", "1e-5", "--draws", "50",
        "--pairs", "30", "--search", "10", "--figure", "fan.svg",
    ];
    let (code, stdout, stderr) = ended(&place, &words);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["study"], "svm");
    let program = &json["rows"][2];
    assert_eq!(program["strategy"], "program");
    assert_eq!(program["claimed_epsilon"], 1.0);
    assert!(program["audited_epsilon"].as_f64().unwrap() > 3.0);
    assert!(place.join("fan.svg").exists());
}

fn records(rows: &[(f64, f64, u8)]) -> String {
    let lines = rows.iter().map(|(a, b, y)| format!("{a},{b},{y}\n"));
    format!("a,b,good\n{}", lines.collect::<String>())
}

/// Two classes on either side of a + b = 10.
fn plane(count: u32) -> Vec<(f64, f64, u8)> {
    let point = |i: u32| {
        let (a, b) = (f64::from(i * 7 % 23) / 2.3, f64::from(i * 5 % 19) / 1.9);
        (a, b, u8::from(a + b > 10.0))
    };
    (0..count).map(point).collect()
}

#[test]
fn your_own_records_run_through_the_classifier_study() {
    let place = directory("study-own");
    write(&place.join("train.csv"), records(&plane(120)));
    write(&place.join("test.csv"), records(&plane(60)));
    let words = [
        "study",
        "classifier",
        "--json",
        "-q",
        "--train",
        "train.csv",
        "--test",
        "test.csv",
        "--draws",
        "50",
        "--pairs",
        "3",
        "--search",
        "0",
        "--lambda",
        "1e-3",
    ];
    let (code, stdout, stderr) = ended(&place, &words);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows[0]["dataset"], "train");
    // Bounds and labels of the user's own file are no public facts: no row may pass for a guarantee.
    let note = json["notes"][0].as_str().unwrap();
    assert!(note.contains("is no guarantee for this file"), "{note}");
    assert_eq!(rows[0]["features"], 2);
    assert!(rows.iter().all(|r| r["majority"].as_f64().unwrap() > 50.0));
    let modes: Vec<&str> = rows.iter().filter_map(|r| r["mode"].as_str()).collect();
    assert_eq!(modes.iter().filter(|m| **m == "paper").count(), 5);
    assert_eq!(modes.iter().filter(|m| **m == "calibrated").count(), 3);
}

#[test]
fn bad_records_of_a_study_are_named() {
    let place = directory("study-bad");
    let good = records(&plane(30));
    write(&place.join("good.csv"), &good);
    let refused = |train: &str, more: &[&str]| {
        write(&place.join("train.csv"), train);
        let mut words = vec![
            "study",
            "classifier",
            "-q",
            "--train",
            "train.csv",
            "--test",
            "good.csv",
        ];
        words.extend(more);
        let (code, _, stderr) = ended(&place, &words);
        assert_eq!(code, 2, "{stderr}");
        stderr
    };
    let three = good.replacen(",0\n", ",2\n", 1);
    assert!(
        refused(&three, &[]).contains("train.csv: the label `good` has 3 values, expected two"),
    );
    let one = records(&[(1.0, 2.0, 1), (3.0, 4.0, 1)]);
    assert!(refused(&one, &[]).contains(
        "train.csv: the label `good` is 1 in every record: there is nothing to tell apart"
    ));
    assert!(refused(&good, &["--label", "bad"]).contains("train.csv: there is no column `bad`"),);
    let other = good.replacen("a,b,good", "a,c,good", 1);
    assert!(refused(&other, &[]).contains("there is no column"));
}
