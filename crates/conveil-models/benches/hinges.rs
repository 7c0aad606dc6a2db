//! Support vector machines under noise: the cone program, the noise-aware hinge in the same solver, and the hinge
//! backend, in one run; then a hundred solves of a sensitivity estimate against the obvious script in CVXPY.
//!
//! The script runs with the interpreter that `CONVEIL_PYTHON` names, with cvxpy and clarabel installed.

use conveil::ask::{Ask, Privacy, Request};
use conveil::chance::{Choice, Feasibility};
use conveil::noise::{Sampler, safe_multiplier};
use conveil::plan::Plan;
use conveil::program::{Builder, DataMap, Program};
use conveil::solve::{Batch, Outcome, Settings, solve_by_cones};
use conveil_models::svm::{Feature, Svm};
use std::time::Instant;

const RECORDS: usize = 4500;
const ETA: f64 = 0.05;
const LAMBDA: f64 = 1e-3;

type Data = (Vec<Vec<f64>>, Vec<bool>);

fn data(features: usize, seed: u64) -> Data {
    let mut sampler = Sampler::new(seed, 0);
    let labels: Vec<bool> = (0..RECORDS).map(|i| i % 2 == 0).collect();
    let values = labels.iter().map(|&label| {
        let shift = if label { 0.15 } else { -0.15 };
        (0..features)
            .map(|_| shift + 2.0 * sampler.uniform() - 1.0)
            .collect()
    });
    (values.collect(), labels)
}

fn svm(features: usize) -> Svm {
    let features = (0..features).map(|j| Feature::within(format!("x{j}"), -2.0, 2.0));
    let builder = Svm::of(RECORDS, features.collect()).lambda(LAMBDA);
    builder.build().expect("a classifier")
}

fn plan(svm: &Svm) -> Plan<'_> {
    let ask = Ask::new(svm.query())
        .adjacency(svm.adjacency())
        .privacy(Privacy::gaussian(1.0, 1e-4))
        .sensitivity(Request::regularised_erm())
        // The method that the cone program can be written out for.
        .feasibility(Feasibility::each(ETA).method(Choice::ROW_BY_ROW));
    Plan::new(svm, ask).expect("a plan")
}

fn main() {
    // Under `cargo test` a bench target only has to start.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    three_roads(35);
    sensitivity(11);
}

/// The noise-aware hinge as a program of its own, margins as variables: s ≥ 0, s ≥ (κ − μ)/2, s ≥ −μ.
fn hinges_as_a_program(plan: &Plan<'_>, program: &Program, weights: usize) -> Program {
    let noises = plan.released().rule().noises();
    let multiplier = safe_multiplier(plan.law(), noises, ETA).expect("a factor")
        + 1.5 * plan.released().step() * (noises as f64).sqrt();
    let by_rows = program.a().by_rows();
    let mut m = Builder::new();
    let w = m.variable("w", weights);
    let margin = m.variable("margin", RECORDS);
    let s = m.auxiliary("s", RECORDS);
    m.minimize((1.0 / RECORDS as f64) * s.sum());
    (0..weights).for_each(|j| m.quadratic(j, j, 2.0 * LAMBDA));
    for i in 0..RECORDS {
        let row: Vec<f64> = (by_rows.row(i).iter())
            .filter(|e| e.0 < weights)
            .map(|e| -e.1)
            .collect();
        let room = multiplier * row.iter().map(|v| v * v).sum::<f64>().sqrt();
        m.equal(&format!("margin {i}"), margin.at(i), w.dot(&row) - 1.0);
        m.at_most(&format!("sign {i}"), 0.0, s.at(i));
        let half = 0.5 * margin.at(i) + s.at(i);
        m.at_most(&format!("near {i}"), 0.5 * room, half);
        m.at_most(&format!("far {i}"), 0.0, s.at(i) + margin.at(i));
    }
    m.build().expect("a program")
}

fn objective(outcome: Outcome) -> f64 {
    match outcome {
        Outcome::Optimal(solution) | Outcome::Inaccurate(solution) => solution.objective,
        other => panic!("no answer: {other:?}"),
    }
}

fn three_roads(features: usize) {
    let svm = svm(features);
    let plan = plan(&svm);
    let (values, labels) = data(features, 1);
    let theta = svm.dataset(&values, &labels).expect("data");
    let program = svm.at(&theta).expect("a program");
    let settings = Settings::default();
    let timed = |work: &mut dyn FnMut() -> f64| {
        let start = Instant::now();
        let value = work();
        (value, start.elapsed().as_secs_f64())
    };
    let lifted = plan
        .released()
        .lifted(&program, 0)
        .expect("a lifted program");
    let constant = lifted.program().constant();
    let (cones, by_cones) =
        timed(&mut || objective(solve_by_cones(lifted.program(), &settings)) - constant);
    let hinges = hinges_as_a_program(&plan, &program, features + 1);
    let (hinge, by_hinge) = timed(&mut || objective(solve_by_cones(&hinges, &settings)));
    let (own, by_backend) = timed(&mut || {
        let decided = plan.released().at(&theta).expect("an answer");
        decided.objective - constant
    });
    println!(
        "{RECORDS} records, {features} features, relative objective differences {:.0e} and {:.0e}",
        (hinge - cones).abs() / cones,
        (own - cones).abs() / cones
    );
    println!("  cone program, conic solver    {by_cones:>9.3} s");
    println!(
        "  noise-aware hinge, the same   {by_hinge:>9.3} s   {:>6.1} times faster",
        by_cones / by_hinge
    );
    println!(
        "  noise-aware hinge, backend    {by_backend:>9.3} s   {:>6.1} times faster (data map and check included)",
        by_cones / by_backend
    );
}

fn sensitivity(features: usize) {
    let svm = svm(features);
    let plan = plan(&svm);
    let solves = 100;
    let datasets: Vec<Vec<f64>> = (0..solves)
        .map(|k| {
            let (values, labels) = data(features, 1 + k as u64);
            svm.dataset(&values, &labels).expect("data")
        })
        .collect();
    let start = Instant::now();
    let answers = Batch::new()
        .run(solves, |k| {
            plan.released().at(&datasets[k]).expect("an answer").answer
        })
        .expect("a batch");
    let own = start.elapsed().as_secs_f64();
    assert_eq!(answers.len(), solves);
    println!("{solves} solves of {RECORDS} records, {features} features: {own:.3} s");
    let Some(python) = std::env::var_os("CONVEIL_PYTHON") else {
        println!("  the obvious script is left out: CONVEIL_PYTHON names no interpreter");
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/obvious_svm.py");
    let output = std::process::Command::new(python)
        .arg(script)
        .args([
            RECORDS.to_string(),
            features.to_string(),
            solves.to_string(),
        ])
        .output()
        .expect("the interpreter starts");
    let text = String::from_utf8_lossy(&output.stdout);
    match text.trim().parse::<f64>() {
        Ok(seconds) => println!(
            "  the obvious script            {seconds:>9.3} s   {:>6.1} times slower",
            seconds / own
        ),
        Err(_) => println!(
            "  the script failed: {}",
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}
