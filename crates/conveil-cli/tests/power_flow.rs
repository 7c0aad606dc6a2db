//! Power flows from the command line: spec, demands and budget in, cards and reports out.

mod running;

use std::path::Path;

use running::{directory, ended, text, write};
use serde_json::Value;

/// A spec of this network at this α.
fn spec(network: &str, alpha: f64, private: &str, sensitivity: &str) -> String {
    format!(
        "[problem]
model = \"opf\"
{network}
[private]
{private}
adjacency = {{ kind = \"one-entry\", alpha = {alpha:?} }}
[query]
release = \"cost\"
[privacy]
mechanism = \"laplace\"
epsilon = 1.0
sensitivity = {sensitivity}
[feasibility]
eta = 0.01
"
    )
}

const LARGEST: &str = "{ by = \"declared\", per_alpha = \"largest-cost\" }";
const BOUNDS: &str = "bounds = { relative = 0.3 }";

fn envelope(price: f64) -> String {
    format!("{{ by = \"envelope\", price = {price:?} }}")
}

fn json(place: &Path, words: &[&str]) -> Value {
    let mut all = words.to_vec();
    all.extend(["--json", "--quiet"]);
    let (code, stdout, stderr) = ended(place, &all);
    assert_eq!(code, 0, "{words:?}: {stderr}");
    serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{words:?}: {e}\n{stdout}"))
}

fn number(document: &Value, key: &str) -> f64 {
    document[key].as_f64().unwrap_or(f64::NAN)
}

/// The loss of the symmetric box is s·ln(1/η) whatever the network: α·c_max·ln(100).
#[test]
fn check_solve_and_release_agree_on_the_printed_losses() {
    let place = directory("opf-losses");
    for (network, alpha, percent) in [("5_pjm", 1.0, 1.05), ("14_ieee", 3.0, 15.67)] {
        let text = spec(&format!("network = \"{network}\""), alpha, "", LARGEST);
        write(&place.join("spec.toml"), text);
        let check = json(&place, &["check", "spec.toml"]);
        let buses: f64 = network.split('_').next().unwrap().parse().unwrap();
        assert_eq!(number(&check["network"], "buses"), buses);
        let report = json(&place, &["solve", "spec.toml"]);
        let loss = number(&report, "loss_percent");
        assert!(
            (loss - percent).abs() < 0.005 * percent,
            "{network}: {loss}"
        );
        let prices = report["load_prices"].as_array().unwrap();
        assert_eq!(prices.len(), check["parameters"].as_array().unwrap().len());
        assert!(report["cost_gap"].is_null());
        let (code, card, stderr) = ended(&place, &["release", "spec.toml", "--no-ledger"]);
        assert_eq!(code, 0, "{stderr}");
        assert!(card.contains("the paper's α·c_max"), "{card}");
        assert!(!stderr.contains("warning"), "{stderr}");
    }
}

#[test]
fn check_counts_the_network_and_names_its_rows() {
    let place = directory("opf-check");
    write(
        &place.join("spec.toml"),
        spec("network = \"24_ieee\"", 10.0, BOUNDS, LARGEST),
    );
    let (code, shown, stderr) = ended(&place, &["check", "spec.toml"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    for line in [
        "problem: 24_ieee_rts: 56 variables and 165 constraint rows, linear cost",
        "network: 24 buses, 33 units, 38 lines",
        "  lines             non-negative, 76 rows    with-noise  from `line 1-2 upper`",
        "private, 17 loads:",
        "  load 1            enters `balance 1`, clipped to [75.6, 140.4], nominal 108",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
    assert!(shown.lines().count() < 40, "{shown}");
}

#[test]
fn noise_that_does_not_fit_is_infeasible_with_and_without_the_envelope() {
    let place = directory("opf-infeasible");
    // c_max of 14_ieee is about 23.3.
    for (private, sensitivity) in [("", LARGEST.into()), (BOUNDS, envelope(23.27))] {
        let text = spec("network = \"14_ieee\"", 10.0, private, &sensitivity);
        write(&place.join("spec.toml"), text);
        let (code, stdout, stderr) = ended(&place, &["solve", "spec.toml"]);
        assert_eq!((code, stdout.as_str()), (4, ""), "{stderr}");
        assert!(
            stderr.contains("feasible without noise, but not with this noise"),
            "{stderr}"
        );
        assert!(stderr.contains("conveil explain spec.toml"), "{stderr}");
    }
}

/// As an epigraph the noise fits no better: the slope makes the dispatch carry it.
#[test]
fn a_full_cost_is_an_upper_bound_and_the_gap_is_told() {
    let place = directory("opf-full");
    let network = "network = \"24_ieee_rts\"\ncosts = \"full\"";
    write(
        &place.join("spec.toml"),
        spec(network, 1.0, BOUNDS, &envelope(130.0)),
    );
    let (code, shown, stderr) = ended(&place, &["solve", "spec.toml"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(shown.contains("\ncost: at most "), "{shown}");
    let report = json(&place, &["solve", "spec.toml"]);
    let gap = &report["cost_gap"];
    let (most, cost) = (
        number(gap, "at_most"),
        number(gap, "cost_of_the_mean_decision"),
    );
    assert!((number(gap, "gap") - (most - cost)).abs() < 1e-9 * most);
    assert!(most >= cost - 1e-6 * most, "{gap}");
    assert_eq!(report["answer"][0][1].as_f64(), Some(most));
    let (code, card, stderr) = ended(&place, &["release", "spec.toml", "--no-ledger"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        card.contains("cost (the cost is at most this) = "),
        "{card}"
    );
}

/// At `load 3` of 3_lmbd congestion makes one more MWh dearer than any unit; a finite difference says so too.
#[test]
fn a_price_above_the_largest_cost_is_told_to_the_curator() {
    let place = directory("opf-congested");
    let network = "network = \"3_lmbd\"";
    write(
        &place.join("spec.toml"),
        spec(network, 1.0, "demand = \"d.csv\"", LARGEST),
    );
    write(&place.join("d.csv"), "1,2,3\n110,110,95\n110,110,95.5\n");
    let warning = "warning: the price of one more MWh at `load 3` is ";
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.starts_with(warning), "{stderr}");
    assert!(
        stderr.contains("beyond the largest cost coefficient 5:"),
        "{stderr}"
    );
    let optimum = |row| {
        number(
            &json(&place, &["solve", "spec.toml", "--row", row]),
            "optimum",
        )
    };
    let price = (optimum("2") - optimum("1")) / 0.5;
    assert!(price > 5.0 * 1.2, "{price}");
    // After the solve, and never on the card.
    let (code, card, stderr) = ended(&place, &["release", "spec.toml", "--no-ledger", "-q"]);
    assert_eq!(code, 0, "{stderr}");
    let warned = "the price of one more MWh at `load 3`";
    assert!(
        stderr
            .lines()
            .any(|l| l.starts_with("warning: row 1: ") && l.contains(warned))
    );
    assert!(
        stderr
            .lines()
            .any(|l| l.starts_with("warning: row 2: ") && l.contains(warned))
    );
    assert!(!card.contains("price of one more"), "{card}");
    // The envelope claims nothing of the kind.
    write(
        &place.join("spec.toml"),
        spec(network, 1.0, BOUNDS, &envelope(10.0)),
    );
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
}

const SERIES: &str = "2,3,4\n300,290,410\n295,300,400\n305,310,395\n";

fn series(place: &Path, epsilon: &str) {
    let mut text = spec(
        "network = \"5_pjm\"",
        1.0,
        "demand = \"hours.csv\"",
        LARGEST,
    );
    text += "[ledger]\nfile = \"ledger.db\"\ndataset = \"hours\"\n";
    write(&place.join("spec.toml"), text);
    write(&place.join("hours.csv"), SERIES);
    let words = [
        "ledger",
        "init",
        "ledger.db",
        "--dataset",
        "hours",
        "--epsilon",
        epsilon,
    ];
    assert_eq!(ended(place, &words).0, 0);
}

#[test]
fn a_series_is_released_row_by_row_until_the_budget_ends() {
    let place = directory("opf-series");
    series(&place, "2");
    let words = ["release", "spec.toml", "--decision", "dispatch.json"];
    let (code, stdout, stderr) = ended(&place, &words);
    assert_eq!(code, 5, "{stderr}");
    assert_eq!(stdout.matches("RELEASE CARD").count(), 2);
    assert!(
        stdout.contains("charge 1,") && stdout.contains("charge 2,"),
        "{stdout}"
    );
    assert!(
        stderr.contains(
            "error: row 3 of the series (2 answers were released before it): over budget"
        ),
        "{stderr}"
    );
    let there = |row: usize| place.join(format!("dispatch-{row}.json")).exists();
    assert_eq!([1, 2, 3].map(there), [true, true, false]);
    // The decisions serve their own hours: generation is the sum of the demands.
    for (row, total) in [(1, 1000.0), (2, 995.0)] {
        let decision = text(&place.join(format!("dispatch-{row}.json")));
        let decision: Value = serde_json::from_str(&decision).unwrap_or_else(|e| panic!("{e}"));
        let values = decision["decision"].as_array().unwrap();
        let units = values
            .iter()
            .filter(|v| v["name"].as_str().unwrap().starts_with("generator"));
        let sum: f64 = units.map(|v| number(v, "value")).sum();
        assert!((sum - total).abs() < 1e-5 * total, "row {row}: {sum}");
    }
    // Nothing is left for a single row either.
    let (code, stdout, _) = ended(&place, &["release", "spec.toml", "--row", "3"]);
    assert_eq!((code, stdout.as_str()), (5, ""));
}

#[test]
fn one_row_of_a_series_is_one_release() {
    let place = directory("opf-row");
    series(&place, "1");
    let words = [
        "release",
        "spec.toml",
        "--row",
        "3",
        "--decision",
        "hour.json",
    ];
    let (code, stdout, stderr) = ended(&place, &words);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(stdout.matches("RELEASE CARD").count(), 1);
    assert!(place.join("hour.json").exists());
    for (words, said) in [
        (
            &["solve", "spec.toml", "--row", "4"][..],
            "error: there is no row 4: there are 3 rows of demands\n",
        ),
        (
            &["release", "spec.toml", "--row", "9"],
            "error: there is no row 9: there are 3 rows of demands\n",
        ),
    ] {
        let (code, _, stderr) = ended(&place, words);
        assert_eq!((code, stderr.as_str()), (2, said));
    }
    let first = json(&place, &["solve", "spec.toml"]);
    let same = json(&place, &["solve", "spec.toml", "--row", "1"]);
    let other = json(&place, &["solve", "spec.toml", "--row", "2"]);
    assert_eq!(first["optimum"], same["optimum"]);
    assert_ne!(first["optimum"], other["optimum"]);
}

/// A card tells its answer and its place in the ledger, not how many rows there are.
#[test]
fn cards_of_a_series_are_those_of_single_releases() {
    let place = directory("opf-cards");
    series(&place, "5");
    let plain = |card: &str| {
        let kept = card
            .lines()
            .filter(|line| !line.starts_with("  cost = ") && !line.starts_with("ledger: "));
        kept.map(|line| format!("{line}\n")).collect::<String>()
    };
    let (code, three, stderr) = ended(&place, &["release", "spec.toml"]);
    assert_eq!(code, 0, "{stderr}");
    let (code, one, stderr) = ended(&place, &["release", "spec.toml", "--row", "2"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(plain(&three), plain(&one).repeat(3));
    // Another number of rows, the same cards.
    write(&place.join("hours.csv"), "2,3,4\n300,290,410\n");
    let (code, single, stderr) = ended(&place, &["release", "spec.toml"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(plain(&single), plain(&one));
}

#[test]
fn all_verbs_take_a_network_from_a_file() {
    let place = directory("opf-file");
    let case = include_str!("../../../fuzz/seeds/matpower/five-buses.m");
    write(&place.join("case.m"), case);
    let network = "file = \"case.m\"\ncosts = \"full\"\nform = \"ptdf\"\nsusceptance = \"full\"\nangle_limits = true";
    write(
        &place.join("spec.toml"),
        spec(network, 0.1, "bounds = { within = 5.0 }", &envelope(60.0)),
    );
    for words in [
        &["check"][..],
        &["solve"],
        &["compare", "--draws", "20"],
        &["frontier", "--values", "0.5,1"],
        &["sensitivity", "--pairs", "5", "--climbs", "0"],
        &["audit", "--pairs", "5", "--climbs", "0"],
        &["explain"],
    ] {
        let mut all = words.to_vec();
        all.extend(["spec.toml", "-q"]);
        let (code, stdout, stderr) = ended(&place, &all);
        assert_eq!(code, 0, "{words:?}: {stderr}");
        assert!(stdout.lines().count() > 3, "{words:?}: {stdout}");
    }
}

#[test]
#[rustfmt::skip] // one case, two lines
fn bad_inputs_are_refused_in_place() {
    let place = directory("opf-refused");
    let rts = "network = \"24_ieee_rts\"";
    let generation = |units: &str| spec(rts, 1.0, BOUNDS, "{ by = \"declared\", value = 1.0, reason = \"r\" }")
        .replace("release = \"cost\"", &format!("release = \"generation\"\n{units}"));
    let demand = "demand = \"d.csv\"";
    let cases: &[(String, &str, &str)] = &[
        (spec("network = \"24_iee_rts\"", 1.0, "", LARGEST), "",
            "error: spec.toml:3:11: there is no built-in network `24_iee_rts`; did you mean `24_ieee_rts`? (built in: 3_lmbd, 5_pjm, 14_ieee, 24_ieee_rts, 30_ieee, 39_epri, 57_ieee, 73_ieee_rts, 89_pegase, 118_ieee)\n"),
        (spec("file = \"none.m\"", 1.0, "", LARGEST), "",
            "error: spec.toml:3:8: cannot read the network none.m: no such file\n  help: `file` is a path relative to the spec's directory\n"),
        (spec("file = \"d.csv\"", 1.0, "", LARGEST), "mpc.bus = [1 2 3];\n",
            "error: d.csv:1:1: expected `function`, found `mpc.bus`\n  help: a case file starts with `function mpc = NAME`\n"),
        (spec(rts, 1.0, "demand = \"none.csv\"", LARGEST), "",
            "error: spec.toml:5:10: cannot read the demands none.csv: no such file\n  help: `demand` is a path relative to the spec's directory\n"),
        (spec(rts, 1.0, demand, LARGEST), "bus,demand\n1,108\n2,ninety\n",
            "error: d.csv:3:3: the demand of bus 2 must be a number, found `ninety`\n"),
        (spec(rts, 1.0, demand, LARGEST), "1,2,99\n1,2,3\n",
            "error: d.csv:1:5: the network 24_ieee_rts has no bus 99\n"),
        (spec(rts, 1.0, demand, LARGEST), "1,2\n1,2\n1,nan\n",
            "error: d.csv:3:3: the demand of bus 2 must be finite, found `nan`\n"),
        (spec(rts, 1.0, demand, LARGEST), "1,2\n1,2\n1\n",
            "error: d.csv:3:1: this line has 1 field, the header has 2\n"),
        (spec(rts, 1.0, demand, LARGEST), "1,11\n1,2\n",
            "error: d.csv: bus 11 is listed, but its load is not private\n  help: `loads` in [private] says which are: \"all\", or a list with 11 in it\n"),
        (spec(rts, 1.0, "loads = [3, 99]", LARGEST), "",
            "error: spec.toml:5:13: the network 24_ieee_rts has no bus 99\n"),
        (generation("units = [\"bus 7\", \"generator 99\"]"), "",
            "error: spec.toml:9:19: no unit `generator 99`: units are `generator 1` …, or `bus 1` for all at a bus\n"),
        (generation("groups = [[\"bus 7\"], [\"bus 5\"]]"), "",
            "error: spec.toml:9:23: no unit `bus 5`: units are `generator 1` …, or `bus 1` for all at a bus\n"),
        (generation("groups = [[\"bus 1\", \"bus 2\", \"bus 7\", \"bus 13\", \"bus 14\", \"bus 15\"], [\"bus 16\", \"bus 18\", \"bus 21\", \"bus 22\", \"bus 23\"]]"), "",
            "error: spec.toml:9:10: refused: the generation of all units\n  because the balance fixes it: it is the sum of the demands, and noise on it fits no dispatch\n  instead: groups that leave out at least one unit with room to move\n"),
        (spec(rts, 1.0, "", LARGEST) + "[[feasibility.block]]\nname = \"line\"\n", "",
            "error: spec.toml:16:8: no constraint `line`\n  help: there are: `balances`, `fixed generators`, `generators`, `lines`\n"),
        (spec(rts, 1.0, "", LARGEST) + "split = \"optimise\"\n", "",
            "error: spec.toml: refused: split = optimise on this basis\n  because the winning split depends on the data, and only a certificate that envelopes the value of every split keeps its bound under that choice\n  instead: split = symmetric, or a lower tail share fixed in advance\n"),
    ];
    for (spec, csv, expected) in cases {
        write(&place.join("spec.toml"), spec);
        write(&place.join("d.csv"), csv);
        let (code, stdout, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
        assert_eq!((stderr.as_str(), code, stdout.as_str()), (*expected, 2, ""), "{spec}");
    }
    // An audit needs to know which demands there can be.
    write(&place.join("spec.toml"), spec(rts, 1.0, "", LARGEST));
    let (code, _, stderr) = ended(&place, &["audit", "spec.toml", "-q"]);
    assert_eq!((code, stderr.as_str()), (2,
        "error: spec.toml: an audit needs a public set of datasets to draw pairs from, and `load 1` has no public bounds\n  help: add `bounds` to [private]: { relative = 0.3 }, or { within = 50.0 } in MW\n"));
}

#[test]
fn infeasible_demands_are_told_before_any_noise() {
    let place = directory("opf-too-much");
    write(
        &place.join("spec.toml"),
        spec("network = \"5_pjm\"", 1.0, "demand = \"d.csv\"", LARGEST),
    );
    write(&place.join("d.csv"), "bus,demand\n2,30000\n");
    let (code, stdout, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
    assert!(
        stderr.contains("contradict each other before any noise is added"),
        "{stderr}"
    );
}

/// Each group has its number on the card, and the decision carries all of them.
#[test]
fn groups_of_units_are_released_by_name() {
    let place = directory("opf-groups");
    let declared = "{ by = \"declared\", value = 0.5, reason = \"for the test\" }";
    let groups = "release = \"generation\"\ngroups = { city = [\"bus 7\"], hills = [\"generator 12\", \"generator 13\"] }";
    let text_of_spec = spec("network = \"24_ieee\"", 1.0, "", declared);
    write(
        &place.join("spec.toml"),
        text_of_spec.replace("release = \"cost\"", groups),
    );
    let words = [
        "release",
        "spec.toml",
        "--no-ledger",
        "--json",
        "--decision",
        "d.json",
        "--report",
        "r.json",
    ];
    let (code, card, stderr) = ended(&place, &words);
    assert_eq!(code, 0, "{stderr}");
    let parsed = |text: &str| -> Value {
        serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
    };
    let (card, decision) = (parsed(&card), parsed(&text(&place.join("d.json"))));
    let values = decision["decision"].as_array().unwrap();
    let sum = |numbers: &[usize]| -> f64 {
        let named = numbers.iter().map(|n| format!("generator {n}"));
        named
            .map(|name| values.iter().find(|v| v["name"] == name.as_str()).unwrap())
            .map(|value| number(value, "value"))
            .sum()
    };
    for (index, name, units) in [(0, "city", &[9, 10, 11][..]), (1, "hills", &[12, 13])] {
        let answer = &card["answer"][index];
        assert_eq!(answer["name"], name);
        assert!(
            (number(answer, "value") - sum(units)).abs() < 1e-6,
            "{answer}"
        );
    }
    let report = parsed(&text(&place.join("r.json")));
    assert_eq!(report["load_prices"].as_array().unwrap().len(), 17);
    assert!(report["cost_gap"].is_null());
}

/// A study of a series draws other noise for every row, and repeats.
#[test]
fn a_seeded_series_repeats() {
    let place = directory("opf-seeded");
    write(
        &place.join("spec.toml"),
        spec(
            "network = \"5_pjm\"",
            1.0,
            "demand = \"hours.csv\"",
            LARGEST,
        ),
    );
    write(
        &place.join("hours.csv"),
        "2,3,4\n300,290,410\n300,290,410\n",
    );
    let words = ["release", "spec.toml", "--not-private", "--seed", "7", "-q"];
    let (code, first, stderr) = ended(&place, &words);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(ended(&place, &words).1, first);
    let answers: Vec<&str> = first
        .lines()
        .filter(|l| l.starts_with("  cost = "))
        .collect();
    assert_eq!(answers.len(), 2);
    assert_ne!(answers[0], answers[1]);
}

/// The envelope serves corrected demands where the noise leaves no room for the real ones: no draw meets those.
#[test]
fn a_correction_of_demands_is_never_feasible_for_the_demands_themselves() {
    let place = directory("opf-corrected");
    write(
        &place.join("spec.toml"),
        spec("network = \"30_ieee\"", 3.0, BOUNDS, &envelope(60.0)),
    );
    let report = json(&place, &["solve", "spec.toml"]);
    assert!(number(&report["correction"], "distance") > 1.0);
    let measured = &report["infeasible_at_the_data"];
    assert_eq!(number(&measured["exact"], "probability"), 1.0, "{measured}");
    assert!(number(&report, "certified") <= 0.01 * (1.0 + 1e-9));
}
