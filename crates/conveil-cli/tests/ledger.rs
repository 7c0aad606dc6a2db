//! `conveil ledger` through the real binary: what it says, and how it ends.

#[path = "../../conveil-release/tests/format_1/mod.rs"]
mod format_1;
mod running;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use running::{command, directory, ended};

/// A directory whose path is the one that messages show.
fn place(name: &str) -> PathBuf {
    let path = directory(name);
    path.canonicalize().unwrap_or(path)
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// `{between}` in a line stands for the flags of one neighbourhood.
const BETWEEN: &str = "--adjacency one-entry --alpha 10 --numbers 17 --called demand --unit MW";

fn ledger(place: &Path, line: &str) -> (i32, String, String) {
    let line = line.replace("{between}", BETWEEN);
    ended(place, &words(&format!("ledger {line}")))
}

/// What is said of a name that was typed.
const TYPED: &str = "warning: a release counts between these datasets only if the `neighbourhood` on its card has the same names, count and unit: called \"demand\"; --spec SPEC.toml takes them from its spec\n";

/// A line that must succeed, in silence on standard error but for a typed name; its output.
fn done(place: &Path, line: &str) -> String {
    let (code, stdout, stderr) = ledger(place, line);
    let said = if line.contains("{between}") {
        TYPED
    } else {
        ""
    };
    assert_eq!((code, stderr.as_str()), (0, said), "{line}");
    stdout
}

/// A line that must be refused with exit code 2 and these words.
fn refused(place: &Path, line: &str, message: &str) {
    let found = ledger(place, line);
    let expected = (2, String::new(), format!("error: {message}\n"));
    assert_eq!(found, expected, "{line}");
}

fn head(account: &str) -> String {
    let line = account.lines().find(|line| line.starts_with("head"));
    let head = line.and_then(|line| line.split_whitespace().last());
    head.unwrap_or_default().into()
}

#[test]
fn a_budget_is_kept_from_init_to_export() {
    let place = place("ledger-road");
    let made = done(&place, "init l.db --dataset loads --epsilon 1 {between}");
    assert!(made.contains("budget   ε = 1, δ = 0 by basic composition\n"));
    let start = head(&made);
    let spent = done(
        &place,
        "spend l.db --dataset loads --epsilon 0.3 --basis declared --like-budget",
    );
    assert!(spent.starts_with("recorded as charge 1\n"), "{spent}");
    assert!(spent.contains("spent    ε = 0.3, δ = 0 by basic composition, basis: declared\n"));
    assert!(spent.contains("left     a pure charge of ε = 0.7\n"));
    let shown = done(&place, "show l.db");
    assert!(spent.ends_with(&shown), "{shown}");
    assert_eq!(shown, done(&place, "show l.db --dataset loads"));
    let json = done(&place, "show l.db --json");
    assert!(json.contains("\"fits\": 0.7"), "{json}");
    let now = head(&shown);
    let sound = format!("  loads: 1 charge, head {now}\n");
    let verified = done(&place, "verify l.db");
    assert_eq!(verified, format!("sound: every chain holds\n{sound}"));
    for known in [&start, &now] {
        let verified = done(
            &place,
            &format!("verify l.db --dataset loads --head {known}"),
        );
        let found = "sound: every chain holds\nthe history holds the given head\n";
        assert_eq!(verified, format!("{found}{sound}"));
    }
    let lines = done(&place, "export l.db --dataset loads");
    assert_eq!(lines, done(&place, "export l.db"));
    assert_eq!(lines.lines().count(), 2);
    assert!(lines.contains(&start) && lines.contains(&now), "{lines}");
}

#[test]
fn a_spend_over_budget_is_recorded_and_said() {
    let place = place("ledger-over");
    done(&place, "init l.db --dataset loads --epsilon 1 {between}");
    let line = "spend l.db --dataset loads --epsilon 1.5 --basis declared --like-budget";
    let (code, stdout, stderr) = ledger(&place, line);
    assert_eq!(code, 5);
    assert!(stdout.starts_with("recorded as charge 1\n"), "{stdout}");
    assert_eq!(
        stderr,
        "error: over budget: the spend is recorded as charge 1, and dataset \"loads\" has now spent more than its budget, or what cannot be bounded\n  help: every later charge against it is refused; `conveil ledger show` has the totals\n"
    );
    let shown = done(&place, "show l.db");
    assert!(shown.contains("spent    ε = 1.5,"), "{shown}");
}

#[test]
fn mistakes_are_told_and_record_nothing() {
    let place = place("ledger-mistakes");
    done(
        &place,
        "init l.db --dataset loads --epsilon 1 --delta 1e-6 --basic {between}",
    );
    let before = done(&place, "export l.db");
    let file = place.join("l.db").display().to_string();
    let spend = |rest: &str| format!("spend l.db --basis declared --like-budget {rest}");
    for (line, message) in [
        (
            spend("--dataset laods --epsilon 1"),
            format!("{file} has no dataset \"laods\"; did you mean \"loads\"?"),
        ),
        (
            spend("--dataset loads --epsilon -1"),
            "ε is a finite number above 0, found -1".into(),
        ),
        (
            spend("--dataset loads --epsilon NaN"),
            "ε is a finite number above 0, found NaN".into(),
        ),
        (
            spend("--dataset loads --epsilon 1 --delta 1"),
            "δ is at least 0 and below 1, found 1".into(),
        ),
        (
            spend("--dataset loads --epsilon 1 --rho 0"),
            "ρ is a finite number above 0, found 0".into(),
        ),
        (
            "init m.db --dataset loads --epsilon 0 {between}".into(),
            "the budget's ε is a finite number above 0, found 0".into(),
        ),
        (
            "init l.db --dataset loads --epsilon 2 {between}".into(),
            format!(
                "{file} already has a budget for \"loads\", fixed when it was initialised: ε = 1, δ = 1e-6 by basic composition"
            ),
        ),
        (
            "init m.db --dataset loads --epsilon 1".into(),
            "between which datasets? An ε without that says nothing\n  help: --spec SPEC.toml takes it from the spec of a release; by flags, --adjacency, --numbers and --called must be as on its card".into(),
        ),
        (
            "init m.db --dataset loads --epsilon 1 --adjacency l3 --alpha 1 --numbers 2 --called d".into(),
            "an adjacency is one-entry, l1, l2, one-record or universe, found \"l3\"".into(),
        ),
        (
            "init m.db --dataset loads --epsilon 1 --adjacency one-record --numbers 2 --called d".into(),
            "adjacency one-record needs `--record N`, how many numbers make a record, and has no α".into(),
        ),
        (
            "adopt l.db --dataset loads --budget {between}".into(),
            "dataset \"loads\": the budget was made with its neighbourhood, and that stays".into(),
        ),
        (
            "adopt l.db --dataset loads {between}".into(),
            "every charge of dataset \"loads\" and its budget say between which datasets they hold: nothing is open".into(),
        ),
        (
            "show none.db".into(),
            "there is no ledger none.db; `init` makes one".into(),
        ),
        (
            "verify l.db --dataset loads --head 12".into(),
            "a head is 64 hexadecimal digits, found \"12\"".into(),
        ),
    ] {
        refused(&place, &line, &message);
    }
    let wrong = "0".repeat(64);
    refused(
        &place,
        &format!("verify l.db --dataset loads --head {wrong}"),
        &format!(
            "{file} was tampered with: dataset \"loads\", after charge 0: no charge has the card's head {wrong}: charges were cut off the end, an old copy was put back, or the history was rewritten"
        ),
    );
    for line in ["verify l.db --dataset loads", "spend l.db", "show"] {
        assert_eq!(ledger(&place, line).0, 2, "{line}");
    }
    assert_eq!(done(&place, "export l.db"), before);
    assert!(!place.join("m.db").exists());
}

#[test]
fn a_tampered_file_is_named() {
    let place = place("ledger-tampered");
    done(&place, "init l.db --dataset loads --epsilon 1 {between}");
    done(
        &place,
        "spend l.db --dataset loads --epsilon 0.5 --basis declared --like-budget",
    );
    let path = place.join("l.db");
    let file = rusqlite::Connection::open(&path).unwrap();
    let trigger: String = file
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE name = 'charges_stay_updated'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    file.execute_batch(&format!(
        "DROP TRIGGER charges_stay_updated; UPDATE charges SET epsilon = '1e-1'; {trigger}"
    ))
    .unwrap();
    drop(file);
    let message = format!(
        "{} was tampered with: dataset \"loads\", charge 1: its head does not follow from its fields and the row before: changed, inserted or moved",
        path.display()
    );
    for line in [
        "verify l.db",
        "show l.db",
        "export l.db",
        "spend l.db --dataset loads --epsilon 0.1 --basis declared --like-budget",
    ] {
        refused(&place, line, &message);
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let place = place("ledger-pipe");
    done(&place, "init l.db --dataset loads --epsilon 1 {between}");
    for line in ["ledger show l.db", "ledger export l.db"] {
        let mut child = command(&place, &words(line))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{e}"));
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn the_examples_in_the_help_run_in_turn() {
    let place = place("ledger-help");
    running::charged::specs(&place, "ledger.db");
    let help = ended(&place, &["ledger", "--help"]).1;
    let example = help.lines().find(|line| line.starts_with("  conveil "));
    assert!(
        example
            .unwrap_or_default()
            .ends_with("--epsilon 1 --spec spec.toml")
    );
    for verb in ["init", "show", "spend", "verify", "export"] {
        let help = done(&place, &format!("{verb} --help"));
        let line = help.lines().find(|line| line.starts_with("  conveil "));
        let example = line.unwrap_or_default();
        let (code, _, stderr) = ended(&place, &words(example)[1..]);
        assert_eq!(code, 0, "{example}: {stderr}");
        let says = help.contains("chosen after seeing earlier answers need");
        assert_eq!(says, ["init", "spend"].contains(&verb), "{help}");
    }
}

/// What is stated beside --like-budget would be ignored, and a universe without a name could be charged by nobody.
#[test]
fn flags_that_say_nothing_are_refused() {
    let place = place("ledger-flags");
    done(&place, "init l.db --dataset loads --epsilon 1 {between}");
    for (line, words) in [
        (
            "spend l.db --dataset loads --epsilon 0.1 --basis declared --like-budget --alpha 7",
            "--alpha",
        ),
        (
            "init l.db --dataset other --epsilon 1 --adjacency universe --numbers 3 --called d",
            "needs --universe NAME",
        ),
    ] {
        let (code, _, stderr) = ledger(&place, line);
        assert_eq!(code, 2, "{line}");
        assert!(stderr.contains(words), "{stderr}");
    }
}

/// What format 1 left open stops every charge, `adopt` states it, and every head that was noted down stays in the history.
#[test]
fn a_ledger_of_format_1_is_adopted_and_goes_on() {
    let place = place("ledger-format-1");
    let heads = format_1::of_format_1(&place.join("l.db"), ["certificate", "declared"]);
    let line = |verb: &str, rest: &str| format!("{verb} l.db --dataset {} {rest}", format_1::NAME);
    let spend = line("spend", "--epsilon 0.5 --basis declared --like-budget");

    let shown = done(&place, "show l.db");
    assert!(
        shown.contains("between  not stated: `conveil ledger adopt` states it"),
        "{shown}"
    );
    let (code, _, stderr) = ledger(&place, &spend);
    assert_eq!(code, 2);
    let budget = line(
        "the budget: conveil ledger adopt",
        "--budget --spec SPEC.toml\n",
    );
    assert!(stderr.contains(&budget), "{stderr}");
    assert_eq!(done(&place, "export l.db").lines().count(), 3);

    // One charge first: the budget and the other stay open.
    let one = done(&place, &line("adopt", "--charges 1 {between}"));
    assert!(one.contains("between  not stated"), "{one}");
    let all = done(&place, &line("adopt", "--everywhere {between}"));
    let between = "between  one entry differs by at most 10 MW (17 private numbers: demand)\n";
    assert!(all.contains(between), "{all}");
    assert!(
        all.contains("spent    ε = 0.75, δ = 0 by basic composition, basis: declared\n"),
        "{all}"
    );
    let again = "every charge of dataset \"loads-2025\" and its budget say between which datasets they hold: nothing is open; to correct an earlier statement, name what it was about: `--charges N,N`, `--budget`";
    refused(&place, &line("adopt", "{between}"), again);

    let spent = done(&place, &spend);
    // Statements stand in the history too.
    assert!(spent.starts_with("recorded as charge 5\n"), "{spent}");
    assert!(
        spent.contains("left     a pure charge of ε = 1.75\n"),
        "{spent}"
    );
    let exported = done(&place, "export l.db");
    for head in &heads {
        done(&place, &line("verify", &format!("--head {head}")));
        assert!(exported.contains(head), "{exported}");
    }
}
