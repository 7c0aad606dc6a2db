//! Accounting through the real binary: neighbourhoods, parts, declared series, and a ledger that was rolled back.

mod running;

use std::path::{Path, PathBuf};

use running::charged::{charges, head, place};
use running::{directory, ended, examples, text, write};
use serde_json::Value;

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// A line that must succeed; its output.
fn done(place: &Path, line: &str) -> String {
    let (code, stdout, stderr) = ended(place, &words(line));
    assert_eq!(code, 0, "{line}: {stderr}");
    stdout
}

/// One dataset, three charges of ε = 1: no ε = 3 between datasets that are 1000 apart.
#[test]
fn no_sum_is_told_across_neighbourhoods() {
    let place = directory("accounting-mixed");
    let of = |kind: &str, alpha: &str| {
        format!("--adjacency {kind} --alpha {alpha} --numbers 17 --called demand --everywhere")
    };
    for (file, budget, spent) in [
        (
            "wide.db",
            "1000",
            "spent    ε = 2000001, δ = 0 by basic composition",
        ),
        (
            "narrow.db",
            "0.001",
            "spent    ε = 3, δ = 0 by basic composition",
        ),
    ] {
        done(
            &place,
            &format!(
                "ledger init {file} --dataset d --epsilon 1e9 --adjacency one-entry --alpha {budget} --numbers 17 --called demand"
            ),
        );
        for (kind, alpha) in [
            ("one-entry", "1000"),
            ("one-entry", "0.001"),
            ("l2", "0.001"),
        ] {
            let line = format!(
                "ledger spend {file} --dataset d --epsilon 1 --basis certificate {}",
                of(kind, alpha)
            );
            done(&place, &line);
        }
        let shown = done(&place, &format!("ledger show {file}"));
        assert!(shown.contains(spent), "{shown}");
        assert!(
            shown.contains(&format!(
                "between  one entry differs by at most {budget} (17 private numbers: demand)\n"
            )),
            "{shown}"
        );
        let export = done(&place, &format!("ledger export {file}"));
        let last: Value = serde_json::from_str(export.lines().last().unwrap()).unwrap();
        assert_eq!(last["charge"]["neighbourhood"]["kind"], "l2");
        assert_eq!(last["charge"]["neighbourhood"]["alpha"], 0.001);
        assert_eq!(last["charge"]["neighbourhood"]["numbers"], 17);
        assert_eq!(last["charge"]["holds"], "everywhere");
        assert_eq!(last["charge"]["nonce"].as_str().unwrap().len(), 32);
    }
    // Other numbers: not bounded, recorded all the same, and nothing more is charged.
    let other = "ledger spend narrow.db --dataset d --epsilon 1 --basis declared --adjacency l2 --alpha 1 --numbers 3 --called price";
    let (code, stdout, _) = ended(&place, &words(other));
    assert_eq!(code, 5);
    assert!(
        stdout.contains("spent    not bounded; charge 4: it is about other private numbers"),
        "{stdout}"
    );
    let json: Value = serde_json::from_str(&done(&place, "ledger show narrow.db --json")).unwrap();
    assert_eq!(json[0]["spent"], Value::Null);
    assert_eq!(json[0]["not_bounded"]["charge"], 4);
    assert_eq!(json[0]["budget"]["neighbourhood"]["alpha"], 0.001);
}

/// Copy the ledger, release, put the copy back, release again: the first card's head is in no history any more.
#[test]
fn a_ledger_that_was_rolled_back_does_not_hold_the_first_card() {
    let place = place("accounting-rollback", "5");
    let cards = [0, 1].map(|round| {
        let (ledger, copy) = (place.join("ledger.db"), place.join("copy.db"));
        match round {
            0 => std::fs::copy(&ledger, &copy),
            _ => std::fs::copy(&copy, &ledger),
        }
        .unwrap();
        done(&place, "release spec.toml -q")
    });
    let heads = cards.each_ref().map(|card| head(card).unwrap());
    assert!(cards.iter().all(|card| card.contains("charge 1, head ")));
    assert_ne!(heads[0], heads[1]);
    let verify = |head: &str| {
        let line = format!("ledger verify ledger.db --dataset limits-2026 --head {head}");
        ended(&place, &words(&line))
    };
    assert_eq!(verify(&heads[1]).0, 0);
    let (code, stdout, stderr) = verify(&heads[0]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("no charge has the card's head"), "{stderr}");
    assert!(stderr.contains("an old copy was put back"), "{stderr}");
    assert_eq!(charges(&place).len(), 1);
}

/// A power flow with three hours of private demands, ε = 0.2 each, and this in its `[ledger]`.
fn hours(name: &str, budget: &str, section: &str) -> PathBuf {
    let place = directory(name);
    let spec = format!(
        r#"[problem]
model = "opf"
network = "5_pjm"
[private]
demand = "hours.csv"
adjacency = {{ kind = "one-entry", alpha = 1.0 }}
[query]
release = "cost"
[privacy]
mechanism = "laplace"
epsilon = 0.2
sensitivity = {{ by = "declared", per_alpha = "largest-cost" }}
[feasibility]
eta = 0.05
[ledger]
file = "ledger.db"
dataset = "hours"
{section}
"#
    );
    write(&place.join("spec.toml"), spec);
    write(
        &place.join("hours.csv"),
        "2,3,4\n300,290,410\n295,300,400\n305,310,395\n",
    );
    done(
        &place,
        &format!("ledger init ledger.db --dataset hours {budget} --spec spec.toml"),
    );
    place
}

fn shown(place: &Path) -> Value {
    let shown: Value = serde_json::from_str(&done(place, "ledger show ledger.db --json")).unwrap();
    shown[0].clone()
}

/// Hour by hour the ε's add up; where each hour's demands are a part of their own, the day costs one hour.
#[test]
fn hours_of_their_own_cost_one_hour() {
    let plain = hours("accounting-hours", "--epsilon 0.6", "");
    done(&plain, "release spec.toml -q");
    assert_eq!(shown(&plain)["spent"]["epsilon"], 0.6);
    assert_eq!(shown(&plain)["budget"]["neighbourhood"]["unit"], "MW");

    let parts = hours(
        "accounting-parts",
        "--epsilon 0.2",
        "part = \"day 1, hour {row}\"",
    );
    let cards = done(&parts, "release spec.toml -q");
    assert!(
        cards.contains("part: day 1, hour 3, which shares no private number"),
        "{cards}"
    );
    let account = shown(&parts);
    assert_eq!(account["spent"]["epsilon"], 0.2);
    assert_eq!(
        (&account["charges"], &account["by_parts"]),
        (&Value::from(3), &Value::from(true))
    );
    // The same hour once more is over; another day's is not.
    let (code, _, stderr) = ended(&parts, &words("release spec.toml -q --row 2"));
    assert_eq!(code, 5, "{stderr}");
    assert!(
        stderr.contains("instead: nothing more can be released from part `day 1, hour 2` under its budget; in a part that has not spent, a pure charge of at most ε = 0.2 fits"),
        "{stderr}"
    );
    let table = done(&parts, "ledger show ledger.db");
    assert!(
        table.contains(
            "left     a pure charge of ε = 0 about all of it, of ε = 0.2 about a part that has not spent\n"
        ),
        "{table}"
    );
    assert_eq!(account["fits_in_new_part"], 0.2);
    let spec = text(&parts.join("spec.toml")).replace("day 1", "day 2");
    write(&parts.join("spec.toml"), spec);
    done(&parts, "release spec.toml -q --row 2");
}

/// A part needs a claim about all pairs, and neighbours that differ in one part: said where it stands, before any plan.
#[test]
fn parts_are_refused_where_they_mean_nothing() {
    let place = hours(
        "accounting-no-parts",
        "--epsilon 1",
        "part = \"hour {row}\"",
    );
    let spec = text(&place.join("spec.toml"));
    let spec = spec.replace("\n[query]", "\nbounds = { relative = 0.3 }\n[query]");
    let bound = "per_alpha = \"largest-cost\"";
    let spec = spec.replace(bound, "per_alpha = 40.0, reason = \"a price cap\"");
    for (piece, other, said) in [
        (
            "one-entry",
            "l2",
            "spec.toml:19:8: `part` does not go with adjacency `l2`, whose neighbours differ in several parts at once",
        ),
        (
            "by = \"declared\", per_alpha = 40.0, reason = \"a price cap\"",
            "by = \"sampled\", gamma = 0.2, beta = 0.2",
            "spec.toml:19:8: `part` does not go with a sampled sensitivity, whose claim leaves out pairs\n  help: remove `part`, or use a certificate or a declared bound",
        ),
    ] {
        assert!(spec.contains(piece));
        write(&place.join("spec.toml"), spec.replace(piece, other));
        let (code, _, stderr) = ended(&place, &words("release spec.toml -q --row 1"));
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(said), "{stderr}");
    }
    assert_eq!(shown(&place)["charges"], 0);
}

/// A declared series is one charge for all, made before the first answer; its cards say so, also where it ends early.
#[test]
fn a_declared_series_is_charged_whole_and_stays_so() {
    let section = "series = { count = 3, delta = 1e-3 }";
    let place = hours("accounting-series", "--epsilon 0.6 --delta 1e-3", section);
    let cards = done(&place, "release spec.toml -q");
    for row in 1..=3 {
        assert!(
            cards.contains(&format!("series: release {row} of 3, declared in advance")),
            "{cards}"
        );
    }
    let account = shown(&place);
    assert_eq!(account["charges"], 1);
    assert!(account["spent"]["epsilon"].as_f64().unwrap() <= 0.6);
    let export = done(&place, "ledger export ledger.db");
    let last: Value = serde_json::from_str(export.lines().last().unwrap()).unwrap();
    assert_eq!(last["charge"]["mechanism"], "series");
    assert_eq!(last["charge"]["series"]["releases"][0]["count"], 3);
    done(&place, "ledger verify ledger.db");

    // Hour 2 cannot be served: one card came out, and all three stay charged.
    let place = hours(
        "accounting-stopped",
        "--epsilon 1",
        "series = { count = 3 }",
    );
    write(
        &place.join("hours.csv"),
        "2,3,4\n300,290,410\n9000,300,400\n305,310,395\n",
    );
    let (code, stdout, stderr) = ended(&place, &words("release spec.toml -q"));
    assert_ne!(code, 0);
    assert_eq!(stdout.matches("RELEASE CARD").count(), 1);
    assert!(
        stdout.contains("its charge is for all 3 together"),
        "{stdout}"
    );
    assert!(
        stderr.contains("the budget stays spent (charge 1"),
        "{stderr}"
    );
    assert_eq!(shown(&place)["spent"]["epsilon"], 0.6);

    // What was declared is released whole or not at all.
    let (code, _, stderr) = ended(&place, &words("release spec.toml -q --row 1"));
    assert_eq!(code, 2);
    assert!(
        stderr.contains("spec.toml:18:10: `--row` does not go with `series`"),
        "{stderr}"
    );
}

/// A budget about something else refuses before anything private is used, and says what to write.
#[test]
fn a_release_between_other_neighbours_is_refused_with_the_line_to_write() {
    let place = hours("accounting-other", "--epsilon 1", "");
    let spec = text(&place.join("spec.toml"));
    write(
        &place.join("wide.toml"),
        spec.replace("alpha = 1.0", "alpha = 2.0"),
    );
    write(
        &place.join("narrow.toml"),
        spec.replace("alpha = 1.0", "alpha = 0.1"),
    );
    // Farther neighbours are covered by themselves.
    done(&place, "release wide.toml -q --row 1");
    assert_eq!(shown(&place)["spent"]["epsilon"], 0.2);
    // Nearer ones would need a map that has an answer everywhere.
    let (code, stdout, stderr) = ended(&place, &words("release narrow.toml -q --row 1"));
    assert_eq!((code, stdout.as_str()), (5, ""));
    assert!(
        stderr.contains("is not bounded") && stderr.contains("--alpha 0.1 --unit 'MW' --numbers 3"),
        "{stderr}"
    );
    // And a ledger without this dataset names the line that makes the budget.
    write(
        &place.join("none.toml"),
        spec.replace("dataset = \"hours\"", "dataset = \"days\""),
    );
    let (code, _, stderr) = ended(&place, &words("release none.toml -q"));
    assert_eq!(code, 2);
    assert!(stderr.contains("--epsilon E --spec none.toml"), "{stderr}");
}

/// γ and β of a sampled spend are those of its spec; a second one counts only where it is stated to have been planned.
#[test]
fn a_sampled_spend_takes_its_pairs_from_its_spec() {
    let place = directory("accounting-sampled");
    let spec = examples().join("sampled-dispatch.toml");
    let spec = spec.to_str().unwrap();
    let run = |line: &str| {
        let mut words = words(line);
        words.extend(["--spec", spec]);
        ended(&place, &words)
    };
    let spend = "ledger spend ledger.db --dataset d --epsilon 0.5 --basis sampled";
    let planned = format!("{spend} --planned");
    for line in [
        "ledger init ledger.db --dataset d --epsilon 3",
        spend,
        &planned,
    ] {
        let (code, _, stderr) = run(line);
        assert_eq!((code, stderr.as_str()), (0, ""), "{line}");
    }
    let account = shown(&place);
    assert_eq!(account["spent"]["epsilon"], 1.0);
    assert_eq!(account["left_out"]["gamma"], 0.1);
    assert_eq!(account["left_out"]["beta"], 0.02);
    let export = done(&place, "ledger export ledger.db");
    let last: Value = serde_json::from_str(export.lines().last().unwrap()).unwrap();
    assert_eq!(last["charge"]["planned"], true);
    assert_eq!(run(spend).0, 5);
    let told = done(&place, "ledger show ledger.db");
    assert!(
        told.contains("spent    not bounded; charge 3: it is sampled"),
        "{told}"
    );
    assert!(told.contains("\ncharge day        mechanism "), "{told}");
}

/// A second sampled release says what would count, not that its neighbours are others.
#[test]
fn a_second_sampled_release_asks_whether_it_was_planned() {
    let place = directory("accounting-sampled-twice");
    let name = |end: &str| format!("sampled-dispatch.{end}");
    let spec = text(&examples().join(name("toml")));
    let problem = text(&examples().join(name("json")));
    write(&place.join("sampled-dispatch.json"), problem);
    let section = "\n[ledger]\nfile = \"ledger.db\"\ndataset = \"loads\"\n";
    write(&place.join("spec.toml"), format!("{spec}{section}"));
    write(
        &place.join("planned.toml"),
        format!("{spec}{section}planned = true\n"),
    );
    done(
        &place,
        "ledger init ledger.db --dataset loads --epsilon 5 --spec spec.toml",
    );
    done(&place, "release spec.toml -q");
    let (code, _, stderr) = ended(&place, &words("release spec.toml -q"));
    assert_eq!(code, 5);
    assert!(stderr.contains("not charged: "), "{stderr}");
    assert!(
        stderr.contains("instead: if this release was fixed before any answer was seen, write `planned = true` in [ledger]; otherwise no further sampled charge can be counted, and a certificate or a declared bound can"),
        "{stderr}"
    );
    done(&place, "release planned.toml -q");
    assert_eq!(shown(&place)["charges"], 2);
}
