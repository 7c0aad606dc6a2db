//! Labels of the rows of a series: stated, public, on every card, and in what is said of a row.

mod running;

use std::path::{Path, PathBuf};

use running::{directory, ended, examples, text, write};
use serde_json::Value;

/// Two generators with a series of demands in this file, and a budget for it.
fn place(name: &str, private: &str, series: &str) -> PathBuf {
    let folder = directory(name);
    let spec = text(&examples().join("two-generators.toml")).replace(
        "[private]",
        &format!("[private]\ndata = \"day.csv\"\n{private}"),
    );
    let ledger = "[ledger]\nfile = \"budget.sqlite\"\ndataset = \"demand\"";
    write(&folder.join("day.toml"), format!("{spec}\n{ledger}\n"));
    let problem = text(&examples().join("two-generators.json"));
    write(&folder.join("two-generators.json"), problem);
    write(&folder.join("day.csv"), series);
    let words = "ledger init budget.sqlite --dataset demand --epsilon 9 --spec day.toml";
    let (code, _, said) = ended(&folder, &words.split(' ').collect::<Vec<_>>());
    assert_eq!(code, 0, "{said}");
    folder
}

fn charges(folder: &Path) -> u64 {
    let (_, shown, said) = ended(folder, &["ledger", "show", "budget.sqlite", "--json"]);
    let account: Value = serde_json::from_str(&shown).expect(&said);
    account[0]["charges"].as_u64().unwrap()
}

const LABEL: &str = "label = \"hour\"";
const HOURS: &str = "hour,demand\n08:00,9.0\n09:00,9.1\n";

#[test]
fn a_label_stands_on_its_card_in_file_names_and_in_what_is_said_of_its_row() {
    let folder = place("labels", LABEL, HOURS);
    let (code, checked, said) = ended(&folder, &["check", "day.toml", "--details"]);
    assert_eq!(code, 0, "{said}");
    assert!(
        checked
            .contains("labels: the column `hour` of the private file names its rows; it is public"),
        "{checked}"
    );
    let release = ["release", "day.toml", "--json", "--decision", "d.json"];
    let (code, cards, said) = ended(&folder, &release);
    assert_eq!(code, 0, "{said}");
    let cards: Value = serde_json::from_str(&cards).unwrap();
    let labels = cards["cards"].as_array().unwrap().iter();
    let labels: Vec<&Value> = labels.map(|card| &card["label"]).collect();
    assert_eq!(labels, ["08:00", "09:00"]);
    for name in ["d-1-08_00.json", "d-2-09_00.json"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    let (code, card, said) = ended(&folder, &["release", "day.toml", "--row", "2"]);
    assert_eq!(code, 0, "{said}");
    assert!(card.starts_with("RELEASE CARD\nlabel: 09:00\n"), "{card}");
    // A row that fails is called by its label.
    write(
        &folder.join("day.csv"),
        "hour,demand\n08:00,9.0\n09:00,900\n",
    );
    let (_, _, said) = ended(&folder, &["release", "day.toml"]);
    assert!(said.contains("row 2 (09:00)"), "{said}");
}

#[test]
fn labels_that_cannot_be_read_or_are_the_same_cost_nothing() {
    for (name, private, series, said) in [
        (
            "twice",
            LABEL,
            "hour,demand\n8,9\n8,9.1\n",
            "day.csv:3:1: rows 1 and 2 have the same label `8`",
        ),
        (
            "empty",
            LABEL,
            "hour,demand\n8,9\n,9.1\n",
            "day.csv:3:1: the label of row 2 is empty",
        ),
        (
            "hidden",
            LABEL,
            "hour,demand\n8,9\na\u{202e}b,9.1\n",
            "of row 2 holds U+202E",
        ),
        (
            "missing",
            LABEL,
            "demand\n9\n9.1\n",
            "there is no column `hour`",
        ),
        (
            "unstated",
            "",
            HOURS,
            "write label = \"hour\" in [private]: labels are public",
        ),
        (
            "table",
            LABEL,
            "parameter,value\ndemand,9\n",
            "this is a table of one dataset",
        ),
    ] {
        let folder = place(&format!("labels-{name}"), private, series);
        let (code, cards, error) = ended(&folder, &["release", "day.toml"]);
        assert_eq!((code, cards.as_str()), (2, ""), "{name}: {error}");
        assert!(error.contains(said), "{name}: {error}");
        assert_eq!(charges(&folder), 0, "{name}");
    }
}

/// A column of private numbers can be labelled neither by mistake nor on purpose.
#[test]
fn private_numbers_are_no_labels() {
    let folder = directory("labels-private");
    for (example, from, to, file) in [
        (
            "two-generators.toml",
            "[private]",
            "[private]\ndata = \"day.csv\"\nlabel = \"demand\"",
            "two-generators.json",
        ),
        (
            "opf-24.toml",
            "[private]",
            "[private]\nlabel = \"14\"",
            "opf-24.csv",
        ),
        (
            "mean-variance.toml",
            "[private]",
            "[private]\nlabel = \"stocks\"",
            "mean-variance.csv",
        ),
    ] {
        write(
            &folder.join(example),
            text(&examples().join(example)).replace(from, to),
        );
        write(&folder.join(file), text(&examples().join(file)));
        let (code, _, said) = ended(&folder, &["check", example]);
        assert_eq!(code, 2, "{example}: {said}");
        assert!(
            said.contains("has private numbers, and labels are public"),
            "{said}"
        );
    }
}

/// Every model that has a series reads labels.
#[test]
fn power_flows_and_portfolios_have_labels_too() {
    let folder = directory("labels-of-models");
    for (example, series, label) in [
        (
            "opf-24.toml",
            "hour,1,2\nnoon,100,90\nnight,80,70\n",
            "hour",
        ),
        (
            "mean-variance.toml",
            "day,ASSETS\nmon,RETURNS\ntue,RETURNS\n",
            "day",
        ),
    ] {
        let spec = text(&examples().join(example));
        let data = example.replace(".toml", ".csv");
        let own = text(&examples().join(&data));
        let mut lines = own.lines();
        let (header, first) = (lines.next().unwrap(), lines.next().unwrap());
        let series = series.replace("ASSETS", header).replace("RETURNS", first);
        write(&folder.join(&data), series.clone());
        let spec = spec.replace("[private]", &format!("[private]\nlabel = \"{label}\""));
        write(&folder.join(example), spec);
        let (code, cards, said) = ended(&folder, &["release", example, "--no-ledger", "--json"]);
        assert_eq!(code, 0, "{example}: {said}");
        let cards: Value = serde_json::from_str(&cards).unwrap();
        let labels = cards["cards"].as_array().unwrap().iter();
        let labels: Vec<&str> = labels.map(|card| card["label"].as_str().unwrap()).collect();
        let expected: Vec<&str> = series
            .lines()
            .skip(1)
            .map(|l| l.split(',').next().unwrap())
            .collect();
        assert_eq!(labels, expected);
    }
}
