//! From nothing to a card: `init`, the commands that it prints, and the blanks that a user fills in.

mod running;

use std::path::Path;

use running::{directory, ended, examples, text, write};
use serde_json::Value;

const MODELS: &[&str] = &[
    "conic",
    "opf",
    "svm",
    "logistic",
    "regression",
    "ellipsoid",
    "portfolio",
];

/// Runs a command and returns what it printed.
fn done(place: &Path, words: &[&str]) -> String {
    let (code, stdout, stderr) = ended(place, words);
    assert_eq!(code, 0, "{words:?}: {stderr}");
    stdout
}

/// The words of a command that a document prints; `conveil` comes first.
fn words_of(command: &str) -> Vec<&str> {
    let mut words = command.split(' ');
    assert_eq!(words.next(), Some("conveil"), "{command}");
    words.collect()
}

#[test]
fn the_commands_that_init_prints_lead_to_a_card() {
    for model in MODELS {
        let place = directory(&format!("init-{model}"));
        let begun: Value = serde_json::from_str(&done(&place, &["init", model, "--json"])).unwrap();
        assert_eq!(begun["private"], Value::Bool(false));
        let steps = begun["next"].as_array().cloned().unwrap_or_default();
        let commands = steps.iter().filter_map(|step| step["command"].as_str());
        let verbs: Vec<&str> = commands.clone().map(|c| words_of(c)[0]).collect();
        assert_eq!(verbs, ["check", "compare", "solve", "ledger", "release"]);
        let printed: Vec<String> = commands.map(|c| done(&place, &words_of(c))).collect();
        assert!(
            printed[1].contains("no private value was used"),
            "{}",
            printed[1]
        );
        assert!(
            printed[4].starts_with("RELEASE CARD\n"),
            "{model}: {}",
            printed[4]
        );
        assert!(
            printed[4].contains("ledger: sample, charge 1"),
            "{}",
            printed[4]
        );
        // The budget is for three releases, but for one of a sampled sensitivity; more fit where Gaussian noise is composed.
        let spec = format!("{model}.toml");
        let more: &[i32] = match *model {
            "ellipsoid" => &[5],
            "svm" | "logistic" | "regression" => &[0, 0, 0],
            _ => &[0, 0, 5],
        };
        for expected in more {
            let (code, _, stderr) = ended(&place, &["release", &spec]);
            assert_eq!(code, *expected, "{model}: {stderr}");
        }
    }
}

#[test]
fn the_commands_work_in_another_directory() {
    let place = directory("init-dir");
    let begun = done(&place, &["init", "conic", "--dir", "new/first"]);
    assert!(
        begun
            .starts_with("wrote new/first/conic.toml, new/first/conic.json, new/first/conic.csv\n")
    );
    for line in begun
        .lines()
        .filter_map(|line| line.strip_prefix("  conveil "))
    {
        done(&place, &line.split(' ').collect::<Vec<_>>());
    }
    assert!(place.join("new/first/budget.sqlite").exists());
}

#[test]
fn without_a_model_the_models_are_listed() {
    let place = directory("init-list");
    let (code, stdout, stderr) = ended(&place, &["init"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    for model in MODELS {
        assert!(stderr.contains(&format!("\n  {model} ")), "{stderr}");
    }
    let (code, _, stderr) = ended(&place, &["init", "regresion"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("did you mean `regression`?"), "{stderr}");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
}

/// What a user writes for the blanks of a spec, one after the other: the key of each, in order, and its value. Where the
/// value is empty, the line is deleted. `check` must name the key each time.
fn fill_in(place: &Path, spec: &str, answers: &[(&str, &str)]) {
    for (key, answer) in answers {
        let (code, _, stderr) = ended(place, &["check", spec]);
        assert_eq!(code, 2, "{key}: {stderr}");
        let place_of_blank = stderr.strip_prefix(&format!("error: {spec}:"));
        let line = place_of_blank.and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
        let line = line.unwrap_or_else(|| panic!("{key}: {stderr}"));
        assert!(
            stderr.contains(&format!("`{key}` is still to be filled in: ")),
            "{key}: {stderr}"
        );
        let before = text(&place.join(spec));
        let mut lines: Vec<String> = before.lines().map(String::from).collect();
        let blank = &lines[line - 1];
        let start = blank.find("\"FILL IN").unwrap_or_else(|| panic!("{blank}"));
        let end = closing_quote(&blank[start..]) + start;
        let filled = format!("{}{answer}{}", &blank[..start], &blank[end..]);
        match answer.is_empty() {
            true => drop(lines.remove(line - 1)),
            false => lines[line - 1] = filled,
        }
        write(&place.join(spec), lines.join("\n") + "\n");
    }
}

/// Behind the quote that closes the string at the beginning of a text.
fn closing_quote(text: &str) -> usize {
    let mut escaped = false;
    for (k, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return k + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    panic!("{text}");
}

/// A budget for the data, and a card.
fn released(place: &Path, spec: &str, delta: &str) -> String {
    done(place, &["check", spec]);
    let begin = [
        "ledger",
        "init",
        "budget.sqlite",
        "--dataset",
        "mine",
        "--epsilon",
        "2",
        "--delta",
        delta,
        "--spec",
        spec,
    ];
    done(place, &begin);
    let card = done(place, &["release", spec]);
    assert!(card.starts_with("RELEASE CARD\nanswer:\n"), "{card}");
    assert!(card.contains("ledger: mine, charge 1"), "{card}");
    card
}

/// A raw file of records, as an export writes it: an index, the columns, the label.
#[test]
fn from_raw_records_to_the_card_of_a_classifier() {
    let place = directory("job-svm");
    let mut raw = String::from("ward,age,stay,back\n");
    for k in 0..300 {
        let back = k % 2;
        raw += &format!(
            "{},{},{},{}\n",
            ["A", "B"][k % 2],
            40 + 25 * back + k % 17,
            2 + 3 * back + k % 5,
            ["no", "yes"][back]
        );
    }
    write(&place.join("patients.csv"), raw);
    done(
        &place,
        &["init", "--from", "patients.csv", "--model", "svm"],
    );
    fill_in(
        &place,
        "patients.toml",
        &[
            ("records", "300"),
            ("column", "\"back\""),
            ("positive", "\"yes\""),
            ("negative", "\"no\""),
            ("ward", ""),
            ("age", "[0.0, 100.0]"),
            ("stay", "[0.0, 20.0]"),
            ("back", ""),
            ("epsilon", "1.0"),
            ("delta", "1e-5"),
            ("eta", "0.05"),
            ("dataset", "\"mine\""),
        ],
    );
    let card = released(&place, "patients.toml", "1e-4");
    assert!(
        card.contains("weight of stay = ") && card.contains("back is yes where score > 0"),
        "{card}"
    );
}

#[test]
fn from_raw_records_to_the_card_of_a_regression() {
    let place = directory("job-regression");
    let mut raw = String::from("flat,size,distance,rent\n");
    for k in 0..200 {
        let (size, distance) = (30 + (7 * k) % 80, 1 + k % 9);
        raw += &format!(
            "{k},{size},{distance},{}\n",
            250 + 9 * size - 20 * distance + (13 * k) % 60
        );
    }
    write(&place.join("rents.csv"), raw);
    done(
        &place,
        &["init", "--from", "rents.csv", "--model", "regression"],
    );
    fill_in(
        &place,
        "rents.toml",
        &[
            ("response", "\"rent\""),
            ("features", "[\"size\", \"distance\"]"),
            ("bounds", "[0.0, 1500.0]"),
            ("epsilon", "1.0"),
            ("delta", "1e-5"),
            ("eta", "0.05"),
            ("dataset", "\"mine\""),
        ],
    );
    let card = released(&place, "rents.toml", "1e-4");
    assert!(
        card.contains("distance = ") && card.contains("rent is fitted by"),
        "{card}"
    );
}

#[test]
fn from_raw_demands_to_the_card_of_a_grid() {
    let place = directory("job-opf");
    // The names of the columns tell the model.
    write(
        &place.join("loads.csv"),
        "bus,demand\n2,310\n3,290\n4,395\n",
    );
    done(&place, &["init", "--from", "loads.csv"]);
    fill_in(
        &place,
        "loads.toml",
        &[
            ("network", "\"5_pjm\""),
            ("bounds", "{ relative = 0.3 }"),
            ("alpha", "1.0"),
            ("epsilon", "1.0"),
            ("price", "100.0"),
            ("eta", "0.01"),
            ("dataset", "\"mine\""),
        ],
    );
    // Before anything is released: on the network's own demands, which are public.
    let compared = done(&place, &["compare", "loads.toml", "--at", "nominal"]);
    assert!(compared.contains("no private value was used"), "{compared}");
    let card = released(&place, "loads.toml", "0");
    assert!(card.contains("\n  cost = "), "{card}");
}

#[test]
fn from_raw_numbers_to_the_card_of_a_saved_problem() {
    let place = directory("job-conic");
    let file = "two-generators.json";
    write(&place.join(file), text(&examples().join(file)));
    write(&place.join("demand.csv"), "demand\n9.4\n");
    done(
        &place,
        &["init", "--from", "demand.csv", "--model", "conic"],
    );
    fill_in(
        &place,
        "demand.toml",
        &[
            ("file", "\"two-generators.json\""),
            ("name", "\"generators\""),
            ("size", "2"),
            ("stage", "\"decision\""),
            ("alpha", "0.05"),
            ("at", "[{ in = \"b\", row = 0 }]"),
            ("bounds", "[6.0, 11.0]"),
            ("nominal", "9.0"),
            ("epsilon", "1.0"),
            ("price", "4.0"),
            ("eta", "0.05"),
            ("dataset", "\"mine\""),
        ],
    );
    done(&place, &["compare", "demand.toml", "--at", "nominal"]);
    let card = released(&place, "demand.toml", "0");
    assert!(card.contains("\n  cost = "), "{card}");
}

#[test]
fn a_spec_beside_the_data_is_not_overwritten() {
    let place = directory("init-beside");
    write(&place.join("loads.csv"), "bus,demand\n2,310\n");
    write(&place.join("loads.toml"), "mine");
    let (code, _, stderr) = ended(&place, &["init", "--from", "loads.csv"]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("loads.toml: there already; nothing was written"),
        "{stderr}"
    );
    assert_eq!(text(&place.join("loads.toml")), "mine");
}
