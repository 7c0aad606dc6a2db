//! `objective` of `[problem]`: every verb speaks of the modeller's own number, constant + cost or constant − cost.

mod places;

use conveil::curator::Axis;
use conveil_workbench::{
    Account, Answer, Comparing, Failure, Probe, Releasing, Silent, Sweep, Text, Workbench,
};
use places::{FEASIBLE, PROBLEM, spec};
use serde_json::Value;

const PROFIT: &str = "objective = { sense = \"maximize\", constant = 500.0 }";
const SHIFTED: &str = "objective = { constant = -40.0 }";

fn text<'t>(name: &'t str, text: &'t str) -> Text<'t> {
    Text { name, text }
}

/// min 1.5 x, 100 ≤ x ≤ 160, with this line in `[problem]` and this mechanism.
fn stated(objective: &str, mechanism: &str) -> Result<Workbench, Failure> {
    let spec = spec(FEASIBLE)
        .replace(
            "model = \"conic\"",
            &format!("{objective}\nmodel = \"conic\""),
        )
        .replace(
            "mechanism = \"laplace\"",
            &format!("mechanism = {mechanism}"),
        );
    assert!(spec.contains(mechanism), "{spec}");
    Workbench::from_files(text("spec.toml", &spec), &[text("scalar-lp.json", PROBLEM)])
}

fn bench(objective: &str) -> Workbench {
    stated(objective, "\"laplace\"").unwrap()
}

fn json(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[track_caller]
fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "{a} {b}");
}

fn released(bench: &Workbench) -> Answer {
    let account = Account::NotPrivate { seed: Some(11) };
    let releasing = Releasing {
        account,
        decision: true,
        report: true,
        ..Releasing::default()
    };
    let mut answers: Vec<Answer> = Vec::new();
    bench.release(&releasing, &mut answers, &Silent).unwrap();
    answers.remove(0)
}

/// The same noise, from the same seed, whatever the law: on card, decision and report.
#[test]
fn a_release_is_in_the_terms_of_the_modeller() {
    for mechanism in [
        "\"laplace\"",
        "\"gaussian\"\ndelta = 1e-5",
        "\"truncated-laplace\"\ndelta = 0.01",
    ] {
        let plain = released(&stated("", mechanism).unwrap());
        let cost = plain.card.answer()[0].value;
        for (objective, sign, constant) in [(PROFIT, -1.0, 500.0), (SHIFTED, 1.0, -40.0)] {
            let own = released(&stated(objective, mechanism).unwrap());
            let answer = &own.card.answer()[0];
            assert_eq!(
                (answer.name.as_str(), answer.value),
                ("objective", constant + sign * cost)
            );
            let (decision, before) = (own.decision.unwrap(), plain.decision.as_ref().unwrap());
            assert_eq!(decision.values(), before.values());
            near(
                constant + sign * 1.5 * decision.values()[0].value,
                answer.value,
            );
            let decision = json(&decision);
            assert_eq!(number(&decision["answer"][0]["value"]), answer.value);
            assert_eq!(number(&decision["objective"]["constant"]), constant);
            let (report, before) = (json(own.report), json(plain.report.as_ref()));
            near(
                number(&report["answer"][0][1]),
                constant + sign * number(&before["answer"][0][1]),
            );
            assert_eq!(report["scale"], before["scale"]);
            let (card, before) = (json(&own.card), json(&plain.card));
            for same in [
                "scale",
                "lattice_step",
                "sensitivity",
                "bound",
                "privacy",
                "basis_statement",
                "feasibility",
            ] {
                assert_eq!(card[same], before[same], "{same}");
            }
            assert!(before["objective"].is_null());
        }
    }
}

/// l = 100 and 1.5 a unit: the least cost is 150, the most profit 350.
#[test]
fn the_verbs_agree_on_the_optimum_and_the_loss() {
    let (plain, own) = (bench(""), bench(PROFIT));
    let (before, report) = (
        json(plain.solve(None, &Silent).unwrap()),
        json(own.solve(None, &Silent).unwrap()),
    );
    near(number(&before["optimum"]), 150.0);
    near(number(&report["optimum"]), 350.0);
    let loss = number(&report["loss"]);
    assert!(loss > 0.0);
    near(loss, number(&before["loss"]));
    near(number(&report["objective"]), 350.0 - loss);
    near(number(&report["loss_percent"]), 100.0 * loss / 350.0);
    assert_eq!(report["answer"][0][0], "objective");
    near(number(&report["answer"][0][1]), 350.0 - loss);

    let comparing = Comparing {
        draws: Some(50),
        ..Comparing::default()
    };
    let comparison = json(own.compare(&comparing, &Silent).unwrap());
    near(number(&comparison["optimum"]), 350.0);
    let rows = comparison["rows"].as_array().unwrap();
    let program = rows
        .iter()
        .find(|row| row["strategy"] == "program")
        .unwrap();
    near(number(&program["loss"]), loss);
    near(number(&program["loss_percent"]), 100.0 * loss / 350.0);

    let sweep = Sweep {
        row: None,
        over: Axis::Epsilon,
        values: Some(vec![1.0]),
    };
    let frontier = json(own.frontier(&sweep, &Silent).unwrap());
    near(number(&frontier["optimum"]), 350.0);
    near(number(&frontier["rows"][0]["objective"]), 350.0 - loss);
    near(number(&frontier["rows"][0]["loss"]), loss);

    let explained = |bench: &Workbench| json(bench.explain(None, &Silent).unwrap());
    assert_eq!(explained(&own), explained(&plain));
    let probe = Probe {
        pairs: 5,
        solves: 20,
        ..Probe::default()
    };
    let bounded = |objective: &str| {
        let text_of = spec(FEASIBLE)
            .replace("value = 100.0", "bounds = [90.0, 110.0]\nvalue = 100.0")
            .replace(
                "model = \"conic\"",
                &format!("{objective}\nmodel = \"conic\""),
            );
        let files = [text("scalar-lp.json", PROBLEM)];
        let bench = Workbench::from_files(text("spec.toml", &text_of), &files).unwrap();
        let audited = bench.audit(&probe, None, &Silent).unwrap();
        assert!(audited.verdict.is_ok());
        let audited = json(&audited.report);
        audited["audited_epsilon"].clone()
    };
    assert_eq!(bounded(PROFIT), bounded(""));
}

#[test]
fn a_check_says_what_the_number_is() {
    let (plain, own) = (
        bench("").check(&Silent).unwrap(),
        bench(PROFIT).check(&Silent).unwrap(),
    );
    assert_eq!(
        (plain.released.as_slice(), own.released.as_slice()),
        (&["cost".to_string()][..], &["objective".to_string()][..])
    );
    // A share of the optimum is one of the modeller's own.
    let without_shares = |check: &dyn std::fmt::Display| {
        let text = check.to_string();
        let lines = text.lines().filter(|line| !line.starts_with("outlook:"));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    let (before, after) = (without_shares(&plain), without_shares(&own));
    let line = "objective: 500 − cost, the cost being what the program minimises; the released number is stated so, with the same noise\n";
    assert_eq!(after.replace(line, ""), before);
    assert!(after.contains(line), "{after}");
    assert_eq!(
        json(&own)["objective"],
        serde_json::json!({ "sense": "maximize", "constant": 500.0 })
    );
    assert!(json(&plain).get("objective").is_none());
}

/// min t subject to t ≥ x, t ≥ 2x − 10, l ≤ x ≤ 50: an epigraph, at most.
const EPIGRAPH: &str = r#"{
    "P": {"m": 2, "n": 2, "colptr": [0, 0, 0], "rowval": [], "nzval": []},
    "q": [0.0, 1.0],
    "A": {"m": 4, "n": 2, "colptr": [0, 4, 6], "rowval": [0, 1, 2, 3, 0, 1], "nzval": [1.0, 2.0, -1.0, 1.0, -1.0, -1.0]},
    "b": [0.0, 10.0, -5.0, 50.0],
    "cones": [{"NonnegativeConeT": 4}]
}"#;

fn epigraph(objective: &str, problem: &str) -> Result<Workbench, Failure> {
    let spec = format!(
        r#"version = 1
[problem]
model = "conic"
file = "problem.json"
{objective}
[[problem.variable]]
name = "x"
stage = "decision"
[[problem.variable]]
name = "t"
stage = "epigraph"
[private]
adjacency = {{ kind = "one-entry", alpha = 0.1 }}
[[private.parameter]]
name = "l"
at = [{{ in = "b", row = 2, coef = -1.0 }}]
[query]
release = "at-most"
epigraph = "t"
slope = {{ x = 1.0 }}
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = {{ by = "declared", per_alpha = 2.0, reason = "the slope is at most 2" }}
[feasibility]
eta = 0.05
"#
    );
    Workbench::from_files(text("spec.toml", &spec), &[text("problem.json", problem)])
}

/// What bounds the cost from above bounds the profit from below.
#[test]
fn at_most_becomes_at_least() {
    let answer = |objective: &str| {
        let answer = released(&epigraph(objective, EPIGRAPH).unwrap());
        let named = answer.card.answer()[0].clone();
        (named.name, named.value)
    };
    let (name, cost) = answer("");
    assert_eq!(name, "t (the cost is at most this)");
    assert_eq!(
        answer(PROFIT),
        ("objective (at least this)".into(), 500.0 - cost)
    );
    assert_eq!(
        answer(SHIFTED),
        ("objective (at most this)".into(), cost - 40.0)
    );
    // 2t + x is not t.
    for odd in [
        EPIGRAPH.replace("[0.0, 1.0]", "[0.0, 2.0]"),
        EPIGRAPH.replace("[0.0, 1.0]", "[1.0, 1.0]"),
    ] {
        assert!(epigraph("", &odd).is_ok());
        let error = epigraph(PROFIT, &odd).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "spec.toml:5:13: `objective` is that of the file, and the released `t` is not"
            ),
            "{error}"
        );
    }
}

/// A decision that is released is not restated; what it costs is.
#[test]
fn released_variables_stay_as_they_are() {
    let with = |objective: &str| {
        let text_of = spec(FEASIBLE)
            .replace("release = \"cost\"", "release = \"identity\"")
            .replace(
                "model = \"conic\"",
                &format!("{objective}\nmodel = \"conic\""),
            );
        let bench = Workbench::from_files(
            text("spec.toml", &text_of),
            &[text("scalar-lp.json", PROBLEM)],
        );
        released(&bench.unwrap())
    };
    let (plain, own) = (with(""), with(PROFIT));
    assert_eq!(json(&own.card), json(&plain.card));
    assert_eq!(json(&own.decision), json(&plain.decision));
    let optimum = |answer: &Answer| number(&json(answer.report.as_ref())["optimum"]);
    near(optimum(&own), 500.0 - optimum(&plain));
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_an_objective() {
    for (objective, expected) in [
        ("objective = \"maximize\"", "`objective` must be a table"),
        ("objective = { sense = \"max\" }", "`sense` must be `minimize` or `maximize`, found `max`"),
        ("objective = { constant = \"12\" }", "`constant` must be a number"),
        ("objective = { constant = inf }", "`constant` must be finite"),
        ("objective = { offset = 1.0 }", "unknown key `offset`"),
    ] {
        match stated(objective, "\"laplace\"") {
            Ok(_) => panic!("{objective} was accepted"),
            Err(error) => assert!(error.to_string().contains(expected), "{error}"),
        }
    }
}
