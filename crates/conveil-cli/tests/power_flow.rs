//! Power flows from the command line: spec, demands and budget in, cards and reports out.

mod running;

use std::path::Path;

use running::grid::{BOUNDS, LARGEST, envelope, json, nominal, number, spec};
use running::{directory, ended, text, write};
use serde_json::Value;

/// The loss of the symmetric box is s·ln(1/η) whatever the network: α·c_max·ln(100).
#[test]
fn check_solve_and_release_agree_on_the_printed_losses() {
    let place = directory("opf-losses");
    for (network, alpha, percent) in [("5_pjm", 1.0, 1.05), ("14_ieee", 3.0, 15.67)] {
        let network_line = format!("network = \"{network}\"");
        let demand = "demand = \"d.csv\"";
        write(
            &place.join("spec.toml"),
            spec(&network_line, alpha, demand, LARGEST),
        );
        write(&place.join("d.csv"), nominal(network));
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
    let (code, shown, stderr) = ended(&place, &["check", "spec.toml", "--details"]);
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
    let (_, short, _) = ended(&place, &["check", "spec.toml"]);
    assert!(short.contains("private: 17 loads"), "{short}");
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
    let private = format!("demand = \"d.csv\"\n{BOUNDS}");
    write(&place.join("d.csv"), nominal("24_ieee_rts"));
    // 20 is below the price of a load: there the envelope corrects the demands, at that price.
    for (price, is_corrected) in [(20.0, true), (130.0, false)] {
        write(
            &place.join("spec.toml"),
            spec(network, 1.0, &private, &envelope(price)),
        );
        let (code, shown, stderr) = ended(&place, &["solve", "spec.toml"]);
        assert_eq!(code, 0, "{stderr}");
        assert!(shown.contains("\ncost: at most "), "{shown}");
        let report = json(&place, &["solve", "spec.toml"]);
        let gap = &report["cost_gap"];
        let most = number(gap, "at_most");
        let parts = [
            "cost_of_the_mean_decision",
            "epigraph_gap",
            "correction_price",
        ];
        let [cost, epigraph, correction] = parts.map(|key| number(gap, key));
        assert!((cost + epigraph + correction - most).abs() < 1e-9 * most);
        let distance = number(&report["correction"], "distance");
        assert_eq!(distance > 1.0, is_corrected, "{distance}");
        assert!((correction - price * distance).abs() < 1e-9 * most, "{gap}");
        // The epigraph is all that is left between: the correction is not part of it.
        assert!(epigraph >= -1e-6 * most && epigraph < 0.05 * most, "{gap}");
        assert_eq!(report["answer"][0][1].as_f64(), Some(most));
    }
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
        "--spec",
        "spec.toml",
    ];
    assert_eq!(ended(place, &words).0, 0);
}

#[test]
fn a_series_is_released_row_by_row_until_the_budget_ends() {
    let place = directory("opf-series");
    series(&place, "2");
    let words = "release spec.toml --until-spent --decision dispatch.json";
    let words: Vec<&str> = words.split(' ').collect();
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

/// Each group has its number on the card, and the decision carries all of them.
#[test]
fn groups_of_units_are_released_by_name() {
    let place = directory("opf-groups");
    let declared = "{ by = \"declared\", value = 0.5, reason = \"for the test\" }";
    let groups = "release = \"generation\"\ngroups = { city = [\"bus 7\"], hills = [\"generator 12\", \"generator 13\"] }";
    let text_of_spec = spec("network = \"24_ieee\"", 1.0, "demand = \"n.csv\"", declared);
    write(&place.join("n.csv"), nominal("24_ieee_rts"));
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
