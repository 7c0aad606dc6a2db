//! A workbench makes its plan once, and every call stops it by a flag of its own; the rule that a plan decides.

mod places;

use std::sync::atomic::{AtomicUsize, Ordering};

use conveil::solve::Cancel;
use conveil_workbench::{
    Account, Answer, Comparing, Kind, Observer, Releasing, Silent, Text, Workbench,
};
use places::{FEASIBLE, INFEASIBLE, PROBLEM, spec};

/// Counts the solves of a plan, which report how far they are.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Observer for Counting {
    fn progress(&self, _: usize, _: usize) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn hears_notes(&self) -> bool {
        false
    }
}

fn opened(text: &str) -> Workbench {
    let files = [Text {
        name: "scalar-lp.json",
        text: PROBLEM,
    }];
    let name = "spec.toml";
    Workbench::from_files(Text { name, text }, &files).unwrap()
}

/// A sensitivity that is sampled: planning solves many pairs.
fn sampled() -> Workbench {
    let stated = spec(FEASIBLE);
    let line = (stated.lines().find(|line| line.starts_with("sensitivity"))).unwrap();
    let sampled = "sensitivity = { by = \"sampled\", gamma = 0.2, beta = 0.2 }";
    let universe = "\n[private.universe]\nkind = \"box\"\ncenter = [100.0]\nhalf_width = [10.0]\n";
    opened(&(stated.replace(line, sampled) + universe))
}

#[test]
fn a_plan_is_made_once_for_all_verbs_and_clones() {
    let bench = sampled();
    let first = Counting::default();
    bench.solve(None, &first).unwrap();
    assert!(first.0.into_inner() > 10);
    let later = Counting::default();
    bench.clone().solve(None, &later).unwrap();
    let releasing = Releasing {
        account: Account::WithoutLedger,
        ..Releasing::default()
    };
    let mut answers: Vec<Answer> = Vec::new();
    bench.release(&releasing, &mut answers, &later).unwrap();
    assert_eq!(later.0.into_inner(), 0);
    let plans = [(); 2].map(|()| bench.plan(&Silent).unwrap());
    assert_eq!(
        plans[0].guarantee().to_string(),
        plans[1].guarantee().to_string()
    );
}

#[test]
fn a_kept_plan_is_stopped_by_the_call_that_is_interrupted_and_by_no_other() {
    let (bench, raised) = (sampled(), Cancel::default());
    raised.raise();
    // Interrupted while it is made: nothing is kept, and the next call plans.
    let stopped = bench.solve(None, &raised).unwrap_err();
    assert_eq!(stopped.kind(), Kind::Interrupted);
    bench.solve(None, &Silent).unwrap();
    // Kept: the flag of this call stops its solve, and not that of the next.
    let stopped = bench.solve(None, &raised).unwrap_err();
    assert_eq!(stopped.kind(), Kind::Interrupted);
    let stopped = bench.compare(&Comparing::default(), &raised).unwrap_err();
    assert_eq!(stopped.kind(), Kind::Interrupted);
    bench.solve(None, &Silent).unwrap();
    bench.compare(&Comparing::default(), &Silent).unwrap();
}

#[test]
fn the_decision_of_a_release_lies_on_the_rule() {
    let bench = opened(&spec(FEASIBLE));
    let rule = bench.rule(None, &Silent).unwrap();
    let releasing = Releasing {
        decision: true,
        account: Account::NotPrivate { seed: Some(7) },
        ..Releasing::default()
    };
    let mut answers: Vec<Answer> = Vec::new();
    bench.release(&releasing, &mut answers, &Silent).unwrap();
    let decision = answers[0].decision.as_ref().unwrap();
    let at = rule.at(decision.noise());
    assert_ne!(at[0], rule.mean()[0].1);
    for (value, found) in decision.values().iter().zip(at) {
        assert!(
            (value.value - found).abs() <= 1e-12 * found.abs(),
            "{found}"
        );
    }
    let json = serde_json::to_value(&rule).unwrap();
    assert_eq!(
        (&json["private"], &json["noises"]),
        (&true.into(), &1.into())
    );
}

#[test]
fn a_failure_without_a_ledger_is_not_recorded() {
    let releasing = Releasing {
        account: Account::WithoutLedger,
        ..Releasing::default()
    };
    let mut answers: Vec<Answer> = Vec::new();
    let failed = opened(&spec(INFEASIBLE)).release(&releasing, &mut answers, &Silent);
    let failure = failed.unwrap_err().failure;
    assert!(!failure.is_recorded());
    let said = failure.to_string();
    assert!(
        said.starts_with("the attempt counts as a release, but: "),
        "{said}"
    );
}
