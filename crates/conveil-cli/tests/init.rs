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
        assert_eq!(verbs, ["check", "compare", "report", "ledger", "release"]);
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

/// What a terminal shows, and how the command ends, when these answers are typed, each at a question.
fn typed(place: &Path, words: &[&str], answers: &[&str]) -> (i32, String) {
    // Python has a pseudo-terminal; a test may need it, the command does not.
    const TERMINAL: &str = r#"
import os, pty, select, sys, time
words, answers = sys.argv[1].split("\x1f"), [a for a in sys.argv[2].split("\x1f")]
pid, fd = pty.fork()
if pid == 0:
    os.execv(words[0], words)
shown, end = b"", time.time() + 60
asked = 0
while time.time() < end:
    if select.select([fd], [], [], 0.1)[0]:
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    elif shown.endswith(b": ") and len(shown) > asked and answers:
        asked = len(shown)
        os.write(fd, answers.pop(0).encode())
else:
    os.kill(pid, 9)
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;
    let mut all = vec![env!("CARGO_BIN_EXE_conveil")];
    all.extend(words);
    let output = std::process::Command::new("python3")
        .args(["-c", TERMINAL, &all.join("\u{1f}"), &answers.join("\u{1f}")])
        .current_dir(place)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code().unwrap_or(-1), shown)
}

#[test]
fn on_a_terminal_init_asks_and_writes_what_flags_would() {
    let place = directory("init-asked");
    let answers = ["2\n", "\n", "asked\n", "0\n", "0.5\n", "\n", "0.02\n"];
    let (code, shown) = typed(&place, &["init"], &answers);
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains("epsilon` must be a number above 0"),
        "{shown}"
    );
    assert!(shown.contains("wrote asked/opf.toml"), "{shown}");
    let flags = "init opf --dir said --epsilon 0.5 --eta 0.02";
    done(&place, &flags.split(' ').collect::<Vec<_>>());
    for file in ["opf.toml", "opf.csv"] {
        let both = ["asked", "said"].map(|folder| text(&place.join(folder).join(file)));
        assert_eq!(both[0], both[1]);
    }
}

#[test]
fn the_end_of_the_input_and_ctrl_c_write_nothing() {
    let place = directory("init-ended");
    // Ctrl-D, then Ctrl-C, at the second question.
    let (code, shown) = typed(&place, &["init"], &["opf\n", "\u{4}"]);
    assert_eq!(code, 2, "{shown}");
    assert!(shown.contains("nothing was written"), "{shown}");
    let (code, shown) = typed(&place, &["init"], &["opf\n", "\u{3}"]);
    assert_eq!(code, 6, "{shown}");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
}

#[test]
fn flags_fill_in_all_blanks() {
    let place = directory("init-set");
    write(
        &place.join("loads.csv"),
        "bus,demand\n2,310\n3,290\n4,395\n",
    );
    let words = "init --from loads.csv --epsilon 1 --alpha 1 --eta 0.01 --set network=5_pjm --set price=100 --set dataset=mine";
    let mut words: Vec<&str> = words.split(' ').collect();
    words.extend(["--set", "bounds={ relative = 0.3 }"]);
    let begun = done(&place, &words);
    assert!(!begun.contains("fill in"), "{begun}");
    for line in begun
        .lines()
        .filter_map(|line| line.strip_prefix("  conveil "))
    {
        done(&place, &line.split(' ').collect::<Vec<_>>());
    }
    // What is misspelled, or no value, writes nothing.
    for (bad, said) in [
        ("epsilom=1", "did you mean `epsilon`?"),
        ("epsilon=0", "must be a number above 0"),
        ("epsilon", "must be KEY=VALUE"),
    ] {
        let words = ["init", "opf", "--dir", "new", "--set", bad];
        let (code, _, stderr) = ended(&place, &words);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(said), "{stderr}");
        assert!(!place.join("new").exists());
    }
}
