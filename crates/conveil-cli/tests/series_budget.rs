//! A series of releases against a budget: planned, refused whole, or released until it is spent; cards as one document.

mod running;

use running::{directory, ended, examples, text, write};
use serde_json::Value;
use std::path::PathBuf;

/// A day of demands for two generators, at this ε and with these further lines of `[ledger]`.
fn day(name: &str, epsilon: &str, ledger: &str) -> PathBuf {
    let folder = directory(name);
    let spec = text(&examples().join("two-generators.toml"))
        .replace("epsilon = 1.0", &format!("epsilon = {epsilon}"))
        .replace("alpha = 0.05", "alpha = 0.001")
        .replace("[private]", "[private]\ndata = \"day.csv\"");
    let spec =
        format!("{spec}\n[ledger]\nfile = \"budget.sqlite\"\ndataset = \"demand\"\n{ledger}\n");
    write(&folder.join("day.toml"), spec);
    let problem = text(&examples().join("two-generators.json"));
    write(&folder.join("two-generators.json"), problem);
    let hours = (0..24).map(|hour| format!("{}\n", 9.0 + 0.05 * f64::from(hour)));
    write(
        &folder.join("day.csv"),
        format!("demand\n{}", hours.collect::<String>()),
    );
    folder
}

fn init(folder: &std::path::Path, delta: &str) {
    let words = "ledger init budget.sqlite --dataset demand --epsilon 2 --spec day.toml --delta";
    let words: Vec<&str> = words.split(' ').chain([delta]).collect();
    let (code, _, said) = ended(folder, &words);
    assert_eq!(code, 0, "{said}");
}

fn account(folder: &std::path::Path) -> Value {
    let (code, shown, said) = ended(folder, &["ledger", "show", "budget.sqlite", "--json"]);
    assert_eq!(code, 0, "{said}");
    serde_json::from_str(&shown).unwrap()
}

fn charges(folder: &std::path::Path) -> usize {
    account(folder)[0]["charges"].as_u64().unwrap() as usize
}

#[test]
fn a_day_is_planned_and_released_in_three_commands_and_costs_what_was_planned() {
    let plan = "ledger plan --releases 24 --budget 2 --delta 1e-5 --json";
    let words: Vec<&str> = plan.split(' ').collect();
    let (code, shown, said) = ended(&directory("a-plan"), &words);
    assert_eq!(code, 0, "{said}");
    let plan: Value = serde_json::from_str(&shown).unwrap();
    let ways = plan["ways"].as_array().unwrap();
    let named = |name: &str| ways.iter().find(|way| way["name"] == name).unwrap();
    let way = named("one declared series");
    let epsilon = way["epsilon"][0].as_f64().unwrap();
    let folder = day(
        "planned-day",
        &epsilon.to_string(),
        "series = { count = 24, delta = 1e-5 }",
    );
    init(&folder, "1e-5");
    let (code, cards, said) = ended(&folder, &["release", "day.toml", "--json", "--quiet"]);
    assert_eq!(code, 0, "{said}");
    // One document.
    let cards: Value = serde_json::from_str(&cards).unwrap();
    assert_eq!(cards["cards"].as_array().unwrap().len(), 24);
    let spent = &account(&folder)[0]["spent"];
    assert_eq!(spent["epsilon"], way["total"]["epsilon"], "{spent}");
}

#[test]
fn a_series_over_budget_is_refused_before_its_first_charge() {
    let folder = day("day-over-budget", "1.0", "");
    init(&folder, "0");
    let (code, cards, said) = ended(&folder, &["release", "day.toml"]);
    assert_eq!((code, cards.as_str()), (5, ""), "{said}");
    assert!(
        said.contains("24 releases of ε = 1 each") && said.contains("ε = 0.08333 for each"),
        "{said}"
    );
    assert!(said.contains("--until-spent") && said.contains("nothing was charged"));
    assert_eq!(charges(&folder), 0);
    // What fits is released where that is asked for, and the document of its cards is whole.
    let until = ["release", "day.toml", "--until-spent", "--json"];
    let (code, cards, said) = ended(&folder, &until);
    assert_eq!(code, 5, "{said}");
    let cards: Value = serde_json::from_str(&cards).unwrap();
    assert_eq!(cards["cards"].as_array().unwrap().len(), 2);
    assert_eq!(charges(&folder), 2);
}

/// Parts share no private number: a day of them costs as much as its dearest hour.
#[test]
fn hours_that_are_parts_fit_one_by_one() {
    let folder = day("day-of-parts", "1.0", "part = \"hour {row}\"");
    init(&folder, "0");
    let (code, _, said) = ended(&folder, &["release", "day.toml", "--quiet"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(charges(&folder), 24);
    assert_eq!(account(&folder)[0]["spent"]["epsilon"], 1.0);
}
