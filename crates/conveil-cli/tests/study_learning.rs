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

/// Without public bounds there is paper mode alone, and a line that says why; with them all modes run.
#[test]
fn your_own_records_need_public_bounds_for_more_than_paper_mode() {
    let place = directory("study-own");
    write(&place.join("train.csv"), records(&plane(120)));
    write(&place.join("test.csv"), records(&plane(60)));
    let words = "study classifier --json -q --train train.csv --test test.csv --draws 50 --pairs 3 --search 0 --lambda 1e-3";
    let run = |more: &[&str]| -> serde_json::Value {
        let words: Vec<&str> = words.split(' ').chain(more.iter().copied()).collect();
        let (code, stdout, stderr) = ended(&place, &words);
        assert_eq!((code, stderr.as_str()), (0, ""));
        serde_json::from_str(&stdout).unwrap()
    };
    let count = |json: &serde_json::Value, mode: &str| {
        let rows = json["rows"].as_array().unwrap();
        rows.iter().filter(|r| r["mode"] == mode).count()
    };
    let json = run(&[]);
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows[0]["dataset"], "train");
    assert_eq!(rows[0]["features"], 2);
    assert!(rows.iter().all(|r| r["majority"].as_f64().unwrap() > 50.0));
    assert_eq!((count(&json, "paper"), rows.len()), (5, 5));
    let note = json["notes"][0].as_str().unwrap();
    for part in [
        "no calibrated and certified rows",
        "add --bound",
        "no guarantee for this file",
    ] {
        assert!(note.contains(part), "{note}");
    }
    let json = run(&["--bound", "a=0:10,b=-1:11"]);
    assert_eq!(count(&json, "paper"), 5);
    assert_eq!(
        (count(&json, "calibrated"), count(&json, "certified")),
        (3, 3)
    );
    let rows = json["rows"].as_array().unwrap();
    let certified = rows
        .iter()
        .find(|r| r["mode"] == "certified" && r["strategy"] == "program");
    // Δ₂ = √3/(λN) by the bounds alone, the solver's share on top.
    let sensitivity = certified.unwrap()["sensitivity"].as_f64().unwrap();
    let proven = 3f64.sqrt() / (1e-3 * 120.0);
    assert!((sensitivity / proven - 1.0).abs() < 0.02, "{sensitivity}");
    let note = json["notes"][0].as_str().unwrap();
    assert!(note.contains("holds if the bounds"), "{note}");
    // Features are scaled by the bounds, so that wider ones change the hyperplane, not Δ.
    let wider = run(&["--bound", "a=-10:20", "--bound", "b=-1:11"]);
    let rows = wider["rows"].as_array().unwrap();
    let other = rows
        .iter()
        .find(|r| r["mode"] == "certified" && r["strategy"] == "program");
    assert_eq!(other.unwrap()["sensitivity"].as_f64().unwrap(), sensitivity);
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
    for (bound, expected) in [
        (
            "a=0:10",
            "train.csv: `b` has no public bounds\n  help: --bound b=LOW:HIGH, for every feature or for none",
        ),
        (
            "c=0:10",
            "train.csv: --bound names `c`, which is no feature\n  help: the features are all columns but the label's: a, b",
        ),
        ("a=0:1,b=0:1,a=0:2", "--bound names `a` twice"),
        (
            "a=10:0",
            "must be NAME=LOW:HIGH with LOW below HIGH, for example wind=0:25",
        ),
        (
            "a=-1e308:1e308",
            "must be NAME=LOW:HIGH with LOW below HIGH, for example wind=0:25",
        ),
        (
            "a",
            "must be NAME=LOW:HIGH with LOW below HIGH, for example wind=0:25",
        ),
    ] {
        let said = refused(&good, &["--bound", bound]);
        assert!(said.contains(expected), "{said}");
    }
    // A column of words is no feature, and no flag makes it one.
    let named = good
        .replace("a,b,good", "a,b,name,good")
        .replace(",0\n", ",x,0\n")
        .replace(",1\n", ",y,1\n");
    let said = refused(&named, &[]);
    let expected = "train.csv:2:5: `name` must be a number, found `x`\n  help: all columns but the label's are features: leave it out of the file\n";
    assert!(said.ends_with(expected), "{said}");
    assert!(refused(&good, &["--label", "bad"]).contains("train.csv: there is no column `bad`"),);
    let other = good.replacen("a,b,good", "a,c,good", 1);
    assert!(refused(&other, &[]).contains("there is no column"));
}

/// A table of the user's own records tells of them: it must not be called harmless.
#[test]
fn tables_of_your_own_records_are_not_to_be_published() {
    let place = directory("study-told");
    write(&place.join("train.csv"), records(&plane(40)));
    write(
        &place.join("curve.csv"),
        "speed,power\n3,0\n5,100\n9,700\n12,1000\n20,1000\n",
    );
    let own = "seeded noise: nothing is released, but the table depends on your records and has no guarantee: it is not to be published\n";
    let public = "nothing here is private";
    let wind = "study wind -q --variation 10 --seeds 1 --draws 20";
    for (words, is_own) in [
        ("study classifier -q --train train.csv --test train.csv --draws 20 --pairs 2 --search 0 --lambda 1e-2 --eta 0.05".to_string(), true),
        (format!("{wind} --curve curve.csv"), true),
        (format!("{wind} --turbines N100/2500"), false),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let (code, stdout, stderr) = ended(&place, &words);
        assert_eq!(code, 0, "{stderr}");
        assert_eq!(stdout.contains(own), is_own, "{stdout}");
        assert_eq!(stdout.contains(public), !is_own, "{stdout}");
    }
}

/// The same records with words for labels give the same table; what a label is not is told in its place.
#[test]
fn labels_of_a_study_may_be_words() {
    let place = directory("study-words");
    let spoken = |rows: &[(f64, f64, u8)]| {
        records(rows)
            .replace(",0\n", ",stayed\n")
            .replace(",1\n", ", \"left, early\"\n")
    };
    for (name, count) in [("train", 60), ("test", 40)] {
        write(&place.join(format!("{name}.csv")), records(&plane(count)));
        write(
            &place.join(format!("{name}-words.csv")),
            spoken(&plane(count)),
        );
    }
    let run = |train: &str, test: &str, more: &[&str]| {
        let words = [
            "study",
            "classifier",
            "-q",
            "--json",
            "--draws",
            "20",
            "--pairs",
            "2",
            "--search",
            "0",
            "--lambda",
            "1e-2",
            "--eta",
            "0.05",
            "--train",
            train,
            "--test",
            test,
        ];
        ended(&place, &[&words, more].concat())
    };
    let both = ["--positive", "left, early", "--negative", "stayed"];
    let rows = |ended: (i32, String, String)| {
        assert_eq!((ended.0, ended.2.as_str()), (0, ""));
        let json: serde_json::Value = serde_json::from_str(&ended.1).unwrap();
        let rows = json["rows"].as_array().unwrap().iter();
        rows.map(|r| {
            (
                r["strategy"].clone(),
                r["accuracy_mean"].clone(),
                r["sensitivity"].clone(),
            )
        })
        .collect::<Vec<_>>()
    };
    let said = rows(run("train-words.csv", "test-words.csv", &both));
    assert_eq!(said, rows(run("train.csv", "test.csv", &[])));
    // Numbers are told as numbers: 1.0 is 1.
    let points = records(&plane(60))
        .replace(",0\n", ",0.0\n")
        .replace(",1\n", ",1.0\n");
    write(&place.join("train-points.csv"), points);
    let numbers = ["--positive", "1", "--negative", "0"];
    assert_eq!(said, rows(run("train-points.csv", "test.csv", &numbers)));
    for (train, test, more, expected) in [
        (
            "train-words.csv",
            "test-words.csv",
            &[][..],
            "the label `good` must be a number, found `stayed`\n  help: for labels in words: --positive WORD --negative WORD, both of them",
        ),
        (
            "train-words.csv",
            "test.csv",
            &both[..],
            "test.csv:2:5: the label `good` must be `left, early` or `stayed`, found `0`\n  help: --positive WORD and --negative WORD say what the two labels are, to the letter",
        ),
        (
            "train-words.csv",
            "test-words.csv",
            &["--positive", "stayed", "--negative", "stayed"],
            "--positive and --negative must differ, found `stayed` for both",
        ),
        (
            "train.csv",
            "test.csv",
            &["--positive", "1", "--negative", "1.0"],
            "--positive and --negative must differ, found `1` for both",
        ),
        (
            "train-words.csv",
            "test-words.csv",
            &["--positive", "stayed"],
            "the following required arguments were not provided:\n  --negative <WORD>",
        ),
    ] {
        let (code, _, stderr) = run(train, test, more);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn flags_for_your_own_records_conflict_with_networks() {
    let place = directory("study-conflict");
    for (flag, value, shown) in [
        ("--label", "x", "'--label <COLUMN>'"),
        ("--bound", "x=1:2", "'--bound <NAME=LOW:HIGH,…>'"),
        ("--positive", "yes", "'--positive <WORD>'"),
        ("--negative", "no", "'--negative <WORD>'"),
    ] {
        let words = ["study", "classifier", "--networks", "5_pjm", flag, value];
        let (code, _, stderr) = ended(&place, &words);
        assert_eq!(code, 2, "{stderr}");
        let expected =
            format!("the argument '--networks <NAME,FILE.m,…>' cannot be used with {shown}");
        assert!(stderr.contains(&expected), "{stderr}");
    }
}
