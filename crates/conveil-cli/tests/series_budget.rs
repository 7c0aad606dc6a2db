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

/// The ε after `ε = ` in front of these words.
fn epsilon_before(said: &str, words: &str) -> String {
    let end = said.find(words).unwrap_or_else(|| panic!("{said}"));
    let start = said[..end].rfind("ε = ").unwrap() + "ε = ".len();
    said[start..end].to_string()
}

/// Whether it is declared or not, pure or Gaussian: what would fit is said, and fits.
#[test]
fn a_series_over_budget_says_which_epsilon_would_fit() {
    let gaussian = "mechanism = \"gaussian\"\ndelta = 1e-8";
    for (name, ledger, noise, words) in [
        (
            "pure",
            "series = { count = 24, delta = 1e-5 }",
            None,
            " for each of its 24 releases fits",
        ),
        (
            "added",
            "series = { count = 24 }",
            None,
            " for each of its 24 releases fits",
        ),
        (
            "declared",
            "series = { count = 24 }",
            Some(gaussian),
            " for each of its 24 releases fits",
        ),
        ("one-by-one", "", Some(gaussian), " for each of them fits"),
    ] {
        let place = |folder: &str, epsilon: &str| {
            let folder = day(&format!("fitting-{name}-{folder}"), epsilon, ledger);
            if let Some(noise) = noise {
                let spec = text(&folder.join("day.toml"));
                let spec = spec.replace("mechanism = \"laplace\"", noise);
                write(&folder.join("day.toml"), spec);
            }
            init(&folder, "1e-5");
            folder
        };
        let over = place("over", "1.0");
        let (code, cards, said) = ended(&over, &["release", "day.toml", "--decision", "d.json"]);
        assert_eq!((code, cards.as_str()), (5, ""), "{name}: {said}");
        assert!(said.contains("nothing was charged"), "{name}: {said}");
        assert_eq!(charges(&over), 0, "{name}");
        let fitting = epsilon_before(&said, words);
        let under = place("under", &fitting);
        let (code, _, said) = ended(&under, &["release", "day.toml", "--quiet"]);
        assert_eq!(code, 0, "{name}: {said}");
    }
}

/// All files of a folder with their contents.
fn everything(folder: &std::path::Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap());
    let mut files: Vec<_> = files
        .map(|file| (file.file_name(), std::fs::read(file.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn a_dry_run_leaves_no_trace_and_fails_as_the_release_does() {
    let folder = day("dry-run", "0.05", "");
    init(&folder, "0");
    let before = everything(&folder);
    let words = ["release", "day.toml", "--dry-run", "--decision", "d.json"];
    let (code, shown, said) = ended(&folder, &words);
    assert_eq!(code, 0, "{said}");
    for line in [
        "DRY RUN: nothing was charged, solved or written",
        "would release: 24 answers, each with Laplace noise, ε = 0.05",
        "would charge: 24 charges to dataset demand",
        "spent now: nothing; left: a pure charge of ε = 2",
        "spent after: ε = 1.2, δ = 0 by basic composition; left: a pure charge of ε = 0.8",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    assert_eq!(everything(&folder), before);
    // What it foretells comes true.
    let (code, shown, said) = ended(&folder, &["release", "day.toml", "--dry-run", "--json"]);
    assert_eq!(code, 0, "{said}");
    let foretold: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(ended(&folder, &["release", "day.toml", "--quiet"]).0, 0);
    let account = &account(&folder)[0];
    assert_eq!(account["spent"], foretold["charged"]["after"]["spent"]);
    assert_eq!(account["fits"], foretold["charged"]["after"]["left"]);
    // Each of these stops the release before its charge, and the dry run in the same words.
    write(&folder.join("taken-3.json"), "");
    let spec = text(&folder.join("day.toml"));
    write(
        &folder.join("unknown.toml"),
        spec.replace("dataset = \"demand\"", "dataset = \"load\""),
    );
    write(
        &folder.join("declared.toml"),
        format!("{spec}series = {{ count = 23 }}\n"),
    );
    for (words, code) in [
        ("day.toml", 5),
        ("unknown.toml", 2),
        ("declared.toml", 2),
        ("day.toml --row 25", 2),
        ("day.toml --row 1 --decision budget.sqlite-journal", 2),
        ("day.toml --row 1 --decision taken-3.json", 2),
        ("day.toml --row 1 --report nowhere/r.txt", 2),
    ] {
        let release: Vec<&str> = ["release"].into_iter().chain(words.split(' ')).collect();
        let dry: Vec<&str> = release.iter().copied().chain(["--dry-run"]).collect();
        let (real, dry) = (ended(&folder, &release), ended(&folder, &dry));
        assert_eq!(dry.0, code, "{words}: {}", dry.2);
        assert_eq!((dry.0, &dry.1), (real.0, &real.1), "{words}: {}", real.2);
        let error = |said: &str| said[said.find("error").unwrap()..].to_string();
        assert_eq!(error(&dry.2), error(&real.2), "{words}");
    }
}

/// What a release refuses about parts, `check` refuses in the same words.
#[test]
fn check_refuses_the_parts_that_a_release_refuses() {
    let folder = day("parts-refused", "0.01", "part = \"hour {row}\"");
    init(&folder, "0");
    let spec = text(&folder.join("day.toml"));
    let adjacency = "adjacency = { kind = \"one-entry\", alpha = 0.001 }";
    assert!(spec.contains(adjacency));
    let sampled = "sensitivity = { by = \"sampled\", gamma = 0.1, beta = 0.1 }";
    let declared = spec
        .lines()
        .find(|line| line.starts_with("sensitivity"))
        .unwrap();
    let universe =
        "\n[private.universe]\nkind = \"box\"\ncenter = [9.0]\nhalf_width = 1.0\n\n[query]";
    let whole = adjacency.replace("one-entry", "l1");
    let people = "protects = { who = \"a household\", entries = 3, each = 0.001 }";
    for (changed, said) in [
        (
            spec.replace(adjacency, &whole),
            "`part` does not go with adjacency `l1`",
        ),
        (
            spec.replace(adjacency, people),
            "one of them, a household, changes 3 private numbers",
        ),
        (
            spec.replace(declared, sampled).replace("[query]", universe),
            "`part` does not go with a sampled sensitivity",
        ),
        (spec.replace("hour {row}", "hour {hour}"), "{hour}"),
    ] {
        write(&folder.join("refused.toml"), &changed);
        let check = ended(&folder, &["check", "refused.toml"]);
        let release = ended(&folder, &["release", "refused.toml"]);
        assert_eq!((check.0, release.0), (2, 2), "{}{}", check.2, release.2);
        assert!(check.2.contains(said), "{said}: {}", check.2);
        assert_eq!(check.2, release.2);
    }
}
