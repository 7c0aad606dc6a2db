//! What the verbs return: plain values that serialise and display, and failures with a kind.

mod places;

use std::sync::Mutex;

use conveil::curator::Axis;
use conveil::solve::Cancel;
use conveil_workbench::ledger::{Basis, Pairs, Spend};
use conveil_workbench::{
    Cause, Comparing, Kind, Observer, Probe, Silent, Stage, Sweep, Text, Workbench,
};
use places::{FEASIBLE, INFEASIBLE, PROBLEM, Place, spec};
use serde::Serialize;

fn bench(limit: f64) -> Workbench {
    let spec = Text {
        name: "spec.toml",
        text: &spec(limit),
    };
    let problem = Text {
        name: "scalar-lp.json",
        text: PROBLEM,
    };
    Workbench::from_files(spec, &[problem]).unwrap()
}

/// Both forms of a result, neither empty.
fn shown(value: &(impl Serialize + std::fmt::Display)) -> (serde_json::Value, String) {
    let (json, text) = (serde_json::to_value(value).unwrap(), value.to_string());
    assert!(json.is_object() && !text.is_empty(), "{json} {text}");
    (json, text)
}

#[test]
fn every_verb_has_a_result_without_files_and_without_a_terminal() {
    let bench = bench(FEASIBLE);
    let (check, text) = shown(&bench.check(&Silent).unwrap());
    assert_eq!(check["private"], false);
    assert!(text.starts_with("CHECK: public"));
    let (report, _) = shown(&bench.solve(None, &Silent).unwrap());
    assert_eq!(report["private"], true);
    let comparing = Comparing {
        draws: Some(20),
        ..Comparing::default()
    };
    shown(&bench.compare(&comparing, &Silent).unwrap());
    shown(&bench.explain(None, &Silent).unwrap());
    let sweep = Sweep {
        row: None,
        over: Axis::Epsilon,
        values: Some(vec![0.5, 1.0]),
    };
    let (frontier, _) = shown(&bench.frontier(&sweep, &Silent).unwrap());
    assert_eq!(frontier["rows"].as_array().map(Vec::len), Some(2));
}

#[test]
fn failures_tell_their_kinds_to_programs() {
    let infeasible = bench(INFEASIBLE).solve(None, &Silent).unwrap_err();
    let json = serde_json::to_value(&infeasible).unwrap();
    assert_eq!(json["kind"], "no-solution");
    assert_eq!(json["recorded"], false);
    assert_eq!(json["message"], infeasible.to_string());
    assert_eq!(json["cause"], "infeasible");
    assert_eq!(infeasible.cause(), Some(&Cause::Infeasible));
    assert_eq!(
        infeasible.after("charged").cause(),
        Some(&Cause::Infeasible)
    );
    let bench = bench(FEASIBLE);
    let kind_of = |row| bench.solve(Some(row), &Silent).unwrap_err().kind();
    assert_eq!((kind_of(0), kind_of(2)), (Kind::Input, Kind::Input));
    let none = Comparing {
        draws: Some(0),
        ..Comparing::default()
    };
    let refused = bench.compare(&none, &Silent).unwrap_err();
    assert_eq!(refused.kind(), Kind::Input);
    let raised = Cancel::default();
    raised.raise();
    let stopped = bench.solve(None, &raised).unwrap_err();
    assert_eq!(stopped.kind(), Kind::Interrupted);
    // The flag is the observer's, not the workbench's.
    assert!(bench.solve(None, &Cancel::default()).is_ok());
}

#[test]
fn an_observer_hears_stages_warnings_and_progress() {
    #[derive(Default)]
    struct Heard {
        stages: Mutex<Vec<Stage>>,
        progress: Mutex<usize>,
        warnings: Mutex<Vec<String>>,
    }
    impl Observer for Heard {
        fn begin(&self, stage: Stage) {
            self.stages.lock().unwrap().push(stage);
        }

        fn progress(&self, done: usize, total: usize) {
            assert!(done <= total);
            *self.progress.lock().unwrap() += 1;
        }

        fn warning(&self, text: &str) {
            self.warnings.lock().unwrap().push(text.into());
        }
    }
    let heard = Heard::default();
    let sweep = Sweep {
        row: None,
        over: Axis::Epsilon,
        values: Some(vec![0.5, 1.0, 2.0]),
    };
    let bench = bench(FEASIBLE);
    bench.frontier(&sweep, &heard).unwrap();
    bench.solve(None, &heard).unwrap();
    let stages = [Stage::Frontier, Stage::Plan, Stage::Solve];
    assert_eq!(*heard.stages.lock().unwrap(), stages);
    assert_eq!(*heard.progress.lock().unwrap(), 3);
    let plan = bench.plan(&Silent).unwrap();
    assert_eq!(*heard.warnings.lock().unwrap(), plan.warnings());
}

#[test]
fn an_audit_that_finds_a_contradiction_reports_it_and_says_so() {
    // The cost moves by 1.5 with l, and 0.1 is declared.
    let text = spec(FEASIBLE)
        .replace("per_alpha = 1.5", "per_alpha = 0.1")
        .replace("value = 100.0", "bounds = [90.0, 110.0]\nvalue = 100.0");
    let spec = Text {
        name: "spec.toml",
        text: &text,
    };
    let problem = Text {
        name: "scalar-lp.json",
        text: PROBLEM,
    };
    let bench = Workbench::from_files(spec, &[problem]).unwrap();
    let probe = Probe {
        pairs: 5,
        solves: 20,
        ..Probe::default()
    };
    let audited = bench.audit(&probe, None, &Silent).unwrap();
    shown(&audited.report);
    assert_eq!(audited.verdict.unwrap_err().kind(), Kind::Flagged);
    let witness = audited.report.white_box.witness().unwrap();
    let replayed = bench.replay(&probe, witness, &Silent).unwrap();
    assert_eq!(replayed.verdict.unwrap_err().kind(), Kind::Flagged);
    let measured = bench.sensitivity(&probe, &Silent).unwrap();
    shown(&measured.report);
    assert!(measured.verdict.is_ok());
}

#[test]
fn a_spend_over_budget_is_recorded_and_judged() {
    let place = Place::with_ledger("over-budget", FEASIBLE);
    let spend = |epsilon| Spend {
        dataset: "limits".into(),
        epsilon,
        delta: 0.0,
        rho: None,
        basis: Basis::Declared,
        like_budget: true,
        between: None,
        pairs: Pairs::default(),
        part: None,
        planned: false,
    };
    let within = place.ledger().spend(&spend(4.0), &Silent).unwrap();
    assert!(within.verdict.is_ok());
    let over = place.ledger().spend(&spend(7.0), &Silent).unwrap();
    shown(&over.report);
    let verdict = over.verdict.unwrap_err();
    assert_eq!(verdict.kind(), Kind::OverBudget);
    assert!(verdict.is_recorded());
    assert_eq!(place.charges(), 2);
    assert!(place.ledger().verify(None, None).unwrap().sound);
    // Nothing says between which datasets: refused before anything is recorded.
    let unstated = Spend {
        like_budget: false,
        ..spend(1.0)
    };
    let refused = place.ledger().spend(&unstated, &Silent).unwrap_err();
    assert_eq!(refused.kind(), Kind::Input);
    assert_eq!(place.charges(), 2);
}
