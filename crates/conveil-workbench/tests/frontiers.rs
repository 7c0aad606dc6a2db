//! Frontiers of specs whose settings follow from ε by a rule, and what stands in their rows.

use conveil::curator::{About, Axis, Frontier};
use conveil_workbench::{Silent, Sweep, Text, Workbench};

const SPEC: &str = include_str!("../../../examples/specs/readmissions.toml");
const RECORDS: &str = include_str!("../../../examples/specs/readmissions.csv");
const TWIN: &str = include_str!("../../../examples/specs/readmissions-twin.csv");

fn bench(spec: &str) -> Workbench {
    let file = |name, text| Text { name, text };
    let files = [file("readmissions-twin.csv", TWIN)];
    let opened = Workbench::from_files(file("plan", spec), &files).unwrap();
    let private = [file("readmissions.csv", RECORDS)];
    opened.with_private(&private).unwrap()
}

fn over(axis: Axis, values: &[f64]) -> Sweep {
    Sweep {
        row: None,
        over: axis,
        values: Some(values.to_vec()),
    }
}

fn frontier(spec: &str, axis: Axis, values: &[f64]) -> Frontier {
    bench(spec).frontier(&over(axis, values), &Silent).unwrap()
}

/// λ follows ε by the rule, and so does the noise: a frontier that kept the λ of the spec would be of specs that nobody writes.
#[test]
fn each_row_of_a_frontier_is_the_spec_with_that_epsilon() {
    let values = [0.25, 1.0, 4.0];
    let found = frontier(SPEC, Axis::Epsilon, &values);
    let mut lambdas = Vec::new();
    for (row, epsilon) in found.rows.iter().zip(values) {
        let spec = SPEC.replace("epsilon = 1.0", &format!("epsilon = {epsilon:?}"));
        let bench = bench(&spec);
        let check = bench.check(&Silent).unwrap();
        assert_eq!(row.settings, check.settings);
        let guarantee = bench.plan(&Silent).unwrap().guarantee().clone();
        assert_eq!(row.scale, Some(guarantee.scale()));
        assert_eq!(row.error_bar, guarantee.uncertainty().half_width(0));
        // The report of that spec has the same share of records on the wrong side.
        let report = serde_json::to_value(bench.solve(None, &Silent).unwrap()).unwrap();
        let right = report["scores"][0]["accuracy_mean"].as_f64().unwrap();
        assert!((row.error.unwrap() - (1.0 - right / 100.0)).abs() < 1e-12);
        // Each λ has an objective of its own, and they do not compare.
        assert_eq!((row.objective, row.loss), (None, None));
        lambdas.push(row.settings[0].value);
    }
    // 2·p·√p·√(2 ln(1.25/δ))·¾/(Nε): in proportion to 1/ε.
    assert!((lambdas[0] / lambdas[1] - 4.0).abs() < 1e-12);
    assert!((lambdas[1] / lambdas[2] - 4.0).abs() < 1e-12);
    let text = found.to_string();
    assert!(
        text.contains("lambda") && text.contains("± (95%)") && text.contains("error: the share")
    );
    assert!(!text.contains("loss %"), "{text}");
}

/// A stated λ is kept, and so is the rule's over another axis than ε.
#[test]
fn a_stated_lambda_stays_on_a_frontier() {
    let stated = SPEC.replace("records = 800", "lambda = 0.05\nrecords = 800");
    for found in [
        frontier(&stated, Axis::Epsilon, &[0.5, 2.0]),
        frontier(SPEC, Axis::Eta, &[0.01, 0.1]),
    ] {
        assert!(found.rows.iter().all(|row| row.settings.is_empty()));
        assert!(found.rows.iter().all(|row| row.error.is_some()));
    }
    let found = frontier(&stated, Axis::Epsilon, &[0.5, 1.0]);
    let bar = |row: usize| found.rows[row].error_bar.unwrap();
    assert!(bar(0) > 1.7 * bar(1), "{} {}", bar(0), bar(1));
}

/// Cells that were computed at public data make a public frontier, the same as in one go.
#[test]
fn a_frontier_of_a_twin_in_cells_is_public_and_the_same() {
    let (bench, values) = (bench(SPEC), [0.5, 2.0]);
    let twin = bench.at(About::Twin).unwrap();
    let whole = twin
        .frontier(&over(Axis::Epsilon, &values), &Silent)
        .unwrap();
    let cells = values.map(|v| {
        let cell = twin.frontier_cell(&over(Axis::Epsilon, &[v]), &Silent);
        cell.unwrap()
    });
    let joined = bench.frontier_of(&cells).unwrap();
    assert!(!joined.private && !whole.private);
    assert_eq!(joined.to_string(), whole.to_string());
    let private = bench.frontier_cell(&over(Axis::Epsilon, &values), &Silent);
    let mixed = [cells[0].clone(), private.unwrap()];
    assert!(
        bench.frontier_of(&mixed).is_err(),
        "public and private parts"
    );
}
