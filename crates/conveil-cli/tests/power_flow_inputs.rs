//! What goes into a power flow on the command line: networks, demands, bounds, costs; and what is said about bad ones.

mod running;

use running::grid::{BOUNDS, FIVE, LARGEST, envelope, json, number, spec};
use running::{directory, ended, write};

#[test]
fn all_verbs_take_a_network_from_a_file() {
    let place = directory("opf-file");
    write(&place.join("case.m"), FIVE);
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
        stderr.ends_with(
            "\n  help: the data and the limits contradict each other before any noise is added\n  help: the demands add up to 30700.0 MW, shunts included, and the units in service generate 0.0 to 1530.0 MW: 29170.0 MW are missing\n"
        ),
        "{stderr}"
    );
    // Within what the units can do, but line 4-5 and its like cannot carry it.
    write(&place.join("d.csv"), "bus,demand\n2,0\n3,0\n4,1500\n");
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!(code, 3, "{stderr}");
    let told = "help: the demands add up to 1500.0 MW, shunts included, and the units in service generate 0.0 to 1530.0 MW: the limits of lines or angles are in the way; bus 4 draws 1500.0 MW and generates at most 200.0 MW, and its lines (branches 2, 5, 6) carry 1092.0 MW together: 208.0 MW too little\n";
    assert!(stderr.ends_with(told), "{stderr}");
    // Bus 2 has no unit, and two lines of 400 and 426 MW.
    write(&place.join("d.csv"), "bus,demand\n2,1200\n3,0\n4,0\n");
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!(code, 3, "{stderr}");
    let cut_off = "are in the way; bus 2 draws 1200.0 MW and generates at most 0.0 MW, and its lines (branches 1, 4) carry 826.0 MW together: 374.0 MW too little\n";
    assert!(stderr.ends_with(cut_off), "{stderr}");
    write(&place.join("d.csv"), "bus,demand\n2,0\n3,0\n4,1500\n");
    // A release tells its curator too, and nobody else.
    let (code, stdout, stderr) = ended(&place, &["release", "spec.toml", "--no-ledger", "-q"]);
    assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
    assert!(stderr.ends_with(told), "{stderr}");
}

/// The network's own demands are public: there is nothing to release, only something to try.
#[test]
fn a_release_needs_a_demand_file() {
    let place = directory("opf-public");
    write(
        &place.join("spec.toml"),
        spec("network = \"5_pjm\"", 1.0, "", LARGEST),
    );
    let (code, stdout, stderr) = ended(&place, &["release", "spec.toml", "--no-ledger"]);
    let said = "error: spec.toml: no `demand` file is named, and the network's own demands are public: there is nothing private to release\n  help: in [private]: demand = \"loads.csv\"; `--not-private` runs with the network's own demands\n";
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (2, "", said));
    let words = ["release", "spec.toml", "--not-private", "--seed", "7", "-q"];
    let (code, card, stderr) = ended(&place, &words);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(card.contains("NOT PRIVATE"), "{card}");
}

#[test]
fn private_loads_that_the_file_leaves_out_are_counted() {
    let place = directory("opf-unlisted");
    write(
        &place.join("spec.toml"),
        spec("network = \"5_pjm\"", 1.0, "demand = \"d.csv\"", LARGEST),
    );
    for (csv, said) in [
        (
            "Bus,Demand\n\"2\",\"290\"\n",
            "note: d.csv does not list 2 of 3 private loads, first that of bus 3, and the network's public demand stands in\n",
        ),
        (
            "2,4\n290,400\n",
            "note: d.csv does not list one of 3 private loads, that of bus 3, and the network's public demand stands in\n",
        ),
        ("2,3,4\n290,300,400\n", ""),
    ] {
        write(&place.join("d.csv"), csv);
        for words in [
            &["solve", "spec.toml"][..],
            &["release", "spec.toml", "--no-ledger"],
        ] {
            let (code, stdout, stderr) = ended(&place, words);
            assert_eq!(code, 0, "{stderr}");
            let notes: String = stderr
                .lines()
                .filter(|l| l.starts_with("note: d.csv"))
                .map(|l| format!("{l}\n"))
                .collect();
            assert_eq!(notes, said);
            assert!(!stdout.contains("does not list"), "{stdout}");
        }
    }
}

/// Bounds load by load: those of `relative` written out give the same plan, and others another.
#[test]
fn bounds_by_load_are_those_of_the_file() {
    let place = directory("opf-each");
    let network = "network = \"5_pjm\"";
    let checked = |private: &str| {
        write(
            &place.join("spec.toml"),
            spec(network, 1.0, private, &envelope(60.0)),
        );
        ended(&place, &["check", "spec.toml", "-q", "--details"])
    };
    let (code, relative, stderr) = checked("bounds = { relative = 0.5 }");
    assert_eq!(code, 0, "{stderr}");
    write(
        &place.join("b.csv"),
        "bus,low,high\n4,200,600\n3,150,450\n2,150,450\n",
    );
    let each = "bounds = { each = \"b.csv\" }";
    assert_eq!(checked(each), (0, relative, String::new()));
    write(
        &place.join("b.csv"),
        "bus,low,high\n4,200,600\n3,150,450\n2,-10,310\n",
    );
    let (code, other, stderr) = checked(each);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        other.contains("clipped to [-10, 310], nominal 300"),
        "{other}"
    );
    write(&place.join("b.csv"), "bus,low,high\n4,200,600\n3,150,450\n");
    assert_eq!(checked(each), (2, String::new(), "error: b.csv:3:10: 1 private load has no bounds, first that of bus 2\n  help: the first line is `bus,low,high`, and every private load has a line, in MW\n".into()));
    let said = "error: spec.toml:5:19: cannot read the bounds none.csv: no such file\n  help: `each` is a path relative to the spec's directory\n";
    assert_eq!(
        checked("bounds = { each = \"none.csv\" }"),
        (2, String::new(), said.into())
    );
}

/// Complaints about costs stand at the key that asks for them.
#[test]
fn costs_that_cannot_be_released_are_refused_in_place() {
    let place = directory("opf-no-cost");
    let costs = |rows: &str| {
        let start = FIVE.find("mpc.gencost = [").unwrap();
        let end = start + FIVE[start..].find("];").unwrap();
        format!(
            "{}mpc.gencost = [{}{}",
            &FIVE[..start],
            rows.repeat(5),
            &FIVE[end..]
        )
    };
    let network = "file = \"case.m\"";
    let full = "file = \"case.m\"\ncosts = \"full\"";
    for (network, rows, said) in [
        (
            network,
            "2 0 0 2 0 0;\n",
            "error: spec.toml:8:11: there is no cost to query: q is zero\n",
        ),
        (
            full,
            "2 0 0 2 0 9;\n",
            "error: spec.toml:9:11: refused: an at-most query on `cost`\n  because its slope names no other variable, so the decision would carry none of the noise\n  instead: state a public slope over the decision variables: the linear part of the cost, or its marginal cost at a public point\n",
        ),
        (
            network,
            "2 0 0 2 -5 0;\n",
            "error: spec.toml:12:15: the largest linear cost coefficient of five_buses is -5, and a sensitivity must be positive\n  help: declare a number and its reason: per_alpha = 40.0, reason = \"…\"\n",
        ),
    ] {
        write(&place.join("case.m"), costs(rows));
        let (bounds, sensitivity) = match network == full {
            true => (BOUNDS, envelope(10.0)),
            false => ("", LARGEST.into()),
        };
        write(
            &place.join("spec.toml"),
            spec(network, 1.0, bounds, &sensitivity),
        );
        let (code, stdout, stderr) = ended(&place, &["check", "spec.toml", "-q", "--details"]);
        assert_eq!((stderr.as_str(), code, stdout.as_str()), (said, 2, ""));
    }
    // Costs of p² alone have a slope all the same.
    write(&place.join("case.m"), costs("2 0 0 3 0.02 0 0;\n"));
    write(
        &place.join("spec.toml"),
        spec(full, 0.1, BOUNDS, &envelope(10.0)),
    );
    let report = json(&place, &["solve", "spec.toml"]);
    assert!(number(&report, "loss") > 0.0);
}

/// Without curvature the plan warns and the notes name the key; with it the answer is a function of the demands.
#[test]
fn curvature_makes_a_generation_query_single_valued() {
    let place = directory("opf-curvature");
    let declared = "{ by = \"declared\", per_alpha = 1.0, reason = \"for the test\" }";
    let text_of = |problem: &str| {
        spec(
            &format!("network = \"24_ieee\"\n{problem}"),
            1.0,
            "",
            declared,
        )
        .replace(
            "release = \"cost\"",
            "release = \"generation\"\nunits = [\"bus 7\"]",
        )
    };
    write(&place.join("spec.toml"), text_of(""));
    let check = json(&place, &["check", "spec.toml"]);
    assert!(
        check["warnings"][0]
            .as_str()
            .unwrap()
            .contains("not strongly convex")
    );
    let notes = check["notes"].as_array().unwrap();
    assert!(
        notes
            .iter()
            .any(|n| n.as_str().unwrap().starts_with("`curvature` in [problem]"))
    );
    let answer = |problem: &str| {
        write(&place.join("spec.toml"), text_of(problem));
        let check = json(&place, &["check", "spec.toml"]);
        assert_eq!(check["warnings"].as_array().unwrap().len(), 0, "{check}");
        let report = json(&place, &["solve", "spec.toml"]);
        let mean = report["mean"].as_array().unwrap();
        let outputs = mean
            .iter()
            .filter(|v| v[0].as_str().unwrap().starts_with("generator"));
        let squares: f64 = outputs.map(|v| v[1].as_f64().unwrap().powi(2)).sum();
        let added = number(&report, "curvature_cost");
        assert!((added - 0.005 * squares).abs() < 1e-9 * added, "{added}");
        report["answer"][0][1].as_f64().unwrap()
    };
    let (angles, ptdf) = (
        answer("curvature = 0.01"),
        answer("curvature = 0.01\nform = \"ptdf\""),
    );
    assert!((angles - ptdf).abs() < 1e-3, "{angles} {ptdf}");
}

/// Isolated buses are left out, and said to be.
#[test]
fn isolated_buses_are_noted() {
    let place = directory("opf-isolated");
    write(&place.join("case.m"), FIVE);
    let private = "loads = [1, 50]";
    write(
        &place.join("spec.toml"),
        spec(
            "file = \"case.m\"\ncosts = \"full\"",
            0.1,
            BOUNDS,
            &envelope(60.0),
        ),
    );
    let (code, shown, stderr) = ended(&place, &["check", "spec.toml", "--details"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        shown.contains("note: bus 50 is isolated and left out of the network\n"),
        "{shown}"
    );
    write(
        &place.join("spec.toml"),
        spec("file = \"case.m\"", 0.1, private, LARGEST),
    );
    let (code, _, stderr) = ended(&place, &["check", "spec.toml"]);
    assert_eq!(
        (code, stderr.as_str()),
        (
            2,
            "error: spec.toml:5:13: bus 50 of the network five_buses is isolated\n"
        )
    );
}
