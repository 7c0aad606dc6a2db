//! What the curator of a regression is told, and nobody else: residuals, clipped responses, responses beyond solving.

mod running;

use running::regression::{RECORDS, SPEC, json, placed};
use running::{directory, ended, examples, text, write};
use serde_json::Value;
use std::path::Path;

/// The fit by hand, (Φ'Φ + λI)w = Φ'y, and its residuals; then noise on it.
#[test]
fn solve_shows_the_residuals_without_and_under_noise() {
    // No condition: the mean weights are those of the fit without noise.
    let (before, after) = SPEC.split_once("[[problem.condition]]").unwrap();
    let spec = format!("{before}{}", &after[after.find("[private]").unwrap()..]);
    let place = placed("residuals", &spec, RECORDS);
    let report = json(&place, &["solve", "spec.toml", "--json", "-q"]);
    let (x, y) = ([3.0, 5.0, 7.0, 9.0, 11.0f64], [0.1, 0.3, 0.4, 0.8, 0.95]);
    // P = [5.1 35; 35 285.1], Φ'y = (2.55, 22.25).
    let det = 5.1 * 285.1 - 35.0 * 35.0;
    let (a, b) = (
        (2.55 * 285.1 - 35.0 * 22.25) / det,
        (5.1 * 22.25 - 35.0 * 2.55) / det,
    );
    let squares: f64 = x.iter().zip(&y).map(|(x, y)| (y - a - b * x).powi(2)).sum();
    let rmse = |key: &str| report["rmse"][key].as_f64().unwrap();
    let expected = (squares / 5.0).sqrt();
    for key in ["without_noise", "of_the_mean"] {
        assert!(
            (rmse(key) - expected).abs() < 1e-7,
            "{key} {} {expected}",
            rmse(key)
        );
    }
    // T = P^-½: σ²·tr(P⁻¹Φ'Φ)/N = σ²·(2 − λ·tr P⁻¹)/N.
    let check = json(&place, &["check", "spec.toml", "--json"]);
    let sigma = check["guarantee"]["scale"].as_f64().unwrap();
    let spread = sigma * sigma * (2.0 - 0.1 * (5.1 + 285.1) / det) / 5.0;
    let expected = (squares / 5.0 + spread).sqrt();
    let under = rmse("under_noise");
    assert!(
        (under - expected).abs() < 1e-7 * expected,
        "{under} {expected}"
    );
    let (_, stdout, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    for line in [
        "root mean square of the residuals of power:\n",
        "  fit without noise ",
        "  expected under the noise ",
    ] {
        assert!(stdout.contains(line), "{stdout}");
    }
    // Five records: the noise dominates, and it is said with what would help.
    let said = "warning: privacy brings the root mean square of the residuals from 0.06134 to 0.9941, more than the double. About 47 records of the same kind would";
    assert!(stderr.contains(said), "{stderr}");
    let ways = "More records, a larger ε, fewer basis functions or a stronger ridge (now 0.1) lower the noise";
    assert!(stderr.contains(ways), "{stderr}");
    assert!(
        report["advice"]
            .as_str()
            .unwrap()
            .starts_with("privacy brings")
    );
}

#[test]
fn a_warning_names_what_most_is_lost_to_and_is_silent_where_little_is() {
    // A condition against which the data lean: the mean leaves room for the noise.
    let leaning = SPEC.replace("\"increasing\"", "\"decreasing\"");
    let flat = RECORDS
        .replace("0.3,", "0.11,")
        .replace("0.4,", "0.1,")
        .replace("0.8,", "0.1,")
        .replace("0.95,", "0.1,");
    let place = placed("room", &leaning, &flat);
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!(code, 0, "{stderr}");
    let room = "most of it is lost by the mean weights (";
    let way = "strategy = \"projected\" in [feasibility] needs none";
    assert!(stderr.contains(room) && stderr.contains(way), "{stderr}");
    // There the room is none, and the noise alone is told.
    let projected = leaning.replace("eta = 0.05", "strategy = \"projected\"");
    let place = placed("projected", &projected, &flat);
    let (code, stdout, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(!stderr.contains(room), "{stderr}");
    assert!(stdout.contains("before the projection"), "{stdout}");
    // 2000 records pay little.
    let many = (0..2000).map(|i| {
        let (x, e) = (3 + i % 9, if i % 2 == 0 { 0.2 } else { -0.2 });
        format!("{x},{},x\n", 0.5 + 0.02 * (f64::from(x) - 7.0) + e)
    });
    let many: String = std::iter::once("speed,power,remark\n".into())
        .chain(many)
        .collect();
    let place = placed("many", SPEC, &many);
    let report = json(&place, &["solve", "spec.toml", "--json", "-q"]);
    assert_eq!(report["advice"], Value::Null);
    let (_, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert!(!stderr.contains("privacy brings"), "{stderr}");
    // Noise on predictions alone: no weight carries it.
    let rows = SPEC
        .replace(
            "release = \"identity\"",
            "release = \"rows\"\nrows = [{ constant = 1.0, speed = 9.0 }]",
        )
        .replace("eta = 0.05", "strategy = \"output\"");
    let place = placed("carried", &rows, RECORDS);
    let (_, stdout, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert!(
        stdout.contains("  under the noise             no weight carries it\n"),
        "{stdout}{stderr}"
    );
}

#[test]
fn clipped_responses_are_counted_for_the_curator_only() {
    let records = RECORDS.replace("0.95", "1.7").replace("0.1,", "-3,");
    let place = placed("clipped", SPEC, &records);
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!(code, 0, "{stderr}");
    let said = "warning: `power`: 1 value below and 1 above the public bounds [0, 1], clipped to them; the first is -3 in line 2 of records.csv\n";
    assert!(stderr.contains(said), "{stderr}");
    assert_eq!(stderr.matches("clipped").count(), 1, "{stderr}");
    let (_, _, stderr) = ended(&place, &["check", "spec.toml", "-q"]);
    assert!(!stderr.contains("clipped"), "{stderr}");
    // Many are one line.
    let many: Vec<String> = (0..40).map(|i| format!("{},5,x", 3 + i % 7)).collect();
    let place = placed(
        "clipped-many",
        SPEC,
        &format!("speed,power,remark\n{}\n", many.join("\n")),
    );
    let (_, stdout, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    let said = "warning: `power`: 40 values above the public bounds [0, 1], clipped to them; the first is 5 in line 2 of records.csv\n";
    assert!(stderr.contains(said), "{stderr}");
    assert_eq!(stderr.matches("clipped").count(), 1, "{stderr}");
    // The list is cut, and says so.
    let cut = "  power 20                             5.000000 counts as 1.000000\n  … and 20 more (see --json)\n";
    assert!(stdout.contains(cut), "{stdout}");
}

#[test]
fn responses_without_bounds_or_with_too_wide_ones() {
    // Clipped, they would do no harm; unclipped, one of them is beyond what a solve can prove.
    let records = RECORDS.replace("0.4,", "1e15,");
    let unbounded = SPEC.replace("bounds = [0.0, 1.0]\n", "");
    let place = placed("unbounded", &unbounded, &records);
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!(code, 6, "{stderr}");
    assert!(
        !stderr.contains("without limit along") && !stderr.contains("unbounded"),
        "{stderr}"
    );
    let help = "\n  help: the largest response is that of record 3, 1e15 in size, and nothing bounds it: `bounds = [low, high]` in [private], from what is known about the response, clips every one to them\n";
    assert!(stderr.ends_with(help), "{stderr}");
    let first = "error: spec.toml: the responses are beyond what can be solved, and they have no public bounds";
    assert_eq!(stderr.lines().find(|l| l.starts_with("error")), Some(first));
    let wide = SPEC.replace("[0.0, 1.0]", "[-1e15, 1e15]");
    let place = placed("wide", &wide, &records);
    // Within bounds the noise makes up for what cannot be proven closer, and says so.
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!(code, 0, "{stderr}");
    let warning = "100% of the noise is for the solver's tolerance, not for the data";
    assert!(stderr.contains(warning), "{stderr}");
    for (adjacency, bounds) in [("", "[-1e308, 1e308]"), ("one-record", "[0.0, 1e101]")] {
        let spec = SPEC.replace("[0.0, 1.0]", bounds);
        let spec = match adjacency {
            "" => spec,
            _ => spec.replace("kind = \"one-entry\", alpha = 0.5", "kind = \"one-record\""),
        };
        let place = placed("too-wide", &spec, RECORDS);
        let (code, _, stderr) = ended(&place, &["check", "spec.toml", "-q"]);
        assert_eq!(code, 2, "{stderr}");
        let said = "error: spec.toml: the bounds of the response `power` must be in order and at most 1e100 in size, found [";
        assert!(stderr.starts_with(said), "{stderr}");
        assert!(!stderr.contains("inf"), "{stderr}");
    }
}

/// A card without its answer and its place in a ledger.
fn public(card: &str) -> Value {
    let mut card: Value = serde_json::from_str(card).unwrap_or_else(|e| panic!("{e}\n{card}"));
    for private in ["answer", "ledger"] {
        card.as_object_mut().unwrap().remove(private);
    }
    card
}

/// What a ledger says, without its head, and whether its file has any of these words.
fn account(place: &Path, words: &[&str]) -> (Value, bool) {
    let mut shown = json(place, &["ledger", "show", "budget.sqlite", "--json", "-q"]);
    shown[0].as_object_mut().unwrap().remove("head");
    let file = std::fs::read(place.join("budget.sqlite")).unwrap();
    let has = |word: &&str| file.windows(word.len()).any(|w| w == word.as_bytes());
    (shown, words.iter().any(has))
}

/// Released with a ledger of its own: exit code, card, what the ledger says, what the curator is told.
fn released(
    name: &str,
    spec: &str,
    records: &str,
    words: &[&str],
) -> (i32, String, (Value, bool), String) {
    let spec = format!("{spec}\n[ledger]\nfile = \"budget.sqlite\"\ndataset = \"d\"\n");
    let place = directory(&format!("curator-{name}"));
    write(&place.join("spec.toml"), spec);
    write(&place.join("records.csv"), records);
    let test = "svm-machines-test.csv";
    write(&place.join(test), text(&examples().join(test)));
    let init = [
        "ledger",
        "init",
        "budget.sqlite",
        "--dataset",
        "d",
        "--epsilon",
        "5",
        "--delta",
        "1e-3",
        "--spec",
        "spec.toml",
    ];
    assert_eq!(ended(&place, &init).0, 0);
    let (code, card, stderr) = ended(&place, &["release", "spec.toml", "--json", "-q"]);
    (code, card, account(&place, words), stderr)
}

#[test]
fn what_the_curator_is_told_of_a_failure_stays_out_of_card_ledger_and_exit_code() {
    let unbounded = SPEC.replace("bounds = [0.0, 1.0]\n", "");
    let words = [
        "largest response",
        "beyond what can be solved",
        "1e15",
        "record 3",
    ];
    let of = |name: &str, records: &str| released(name, &unbounded, records, &words);
    let one = of("one", &RECORDS.replace("0.4,", "1e15,"));
    let other = of("other", &RECORDS.replace("0.8,", "-3e16,"));
    assert!(one.3.contains("record 3, 1e15 in size"), "{}", one.3);
    assert!(other.3.contains("record 4, 3e16 in size"), "{}", other.3);
    for failed in [&one, &other] {
        // The engine's exit code for a solve that fails, no card, and the same spent budget without a word.
        assert_eq!((failed.0, failed.1.as_str()), (6, ""), "{}", failed.3);
        assert_eq!(failed.2, (one.2.0.clone(), false));
        assert!(
            failed
                .3
                .contains("the budget stays spent (charge 1 of dataset \"d\"), but: ")
        );
    }
    // A release that succeeds is charged as one that fails.
    let fine = of("fine", RECORDS);
    assert_eq!((fine.0, &fine.2), (0, &one.2), "{}", fine.3);
}

#[test]
fn warnings_for_the_curator_leave_no_trace_on_a_card() {
    let told = ["privacy brings", "root mean square"];
    let few = released("little", SPEC, RECORDS, &told);
    // All responses 0.5: exactly fitted but for the ridge, so that another warning is given.
    let level = RECORDS
        .replace("0.1,", "0.5,")
        .replace("0.3,", "0.5,")
        .replace("0.4,", "0.5,");
    let level = released(
        "level",
        SPEC,
        &level.replace("0.8,", "0.5,").replace("0.95,", "0.5,"),
        &told,
    );
    assert!(few.3.contains("privacy brings") && level.3.contains("privacy brings"));
    assert_ne!(few.3, level.3);
    let machines =
        text(&examples().join("svm-machines.toml")).replace("svm-machines.csv", "records.csv");
    let records = text(&examples().join("svm-machines.csv"));
    let one_class = records.replace(",1\n", ",0\n");
    let told = ["the noise is", "nothing to tell apart"];
    let both = released("machines", &machines, &records, &told);
    let one = released("one-class", &machines, &one_class, &told);
    assert!(one.3.contains("nothing to tell apart"), "{}", one.3);
    assert!(!both.3.contains("nothing to tell apart"), "{}", both.3);
    for (here, there) in [(few, level), (both, one)] {
        assert_eq!((here.0, there.0), (0, 0), "{}{}", here.3, there.3);
        assert_eq!(public(&here.1), public(&there.1));
        assert_eq!(here.2, there.2);
        assert!(!here.2.1, "the ledger's file holds a warning");
    }
}
