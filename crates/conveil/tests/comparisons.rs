//! Comparisons with several noises and shapes, and what exploration says where a strategy, a bound or a value does not apply.

mod structure_common;

use conveil::ask::{Adjacency, Ask, Calibration, MapKind, Privacy, Query, Universe};
use conveil::curator::{Axis, Comparison, StrategyRow, compare, explain, frontier};
use conveil::plan::Plan;
use conveil::program::{Builder, DataMap};
use conveil::risk::{Cvar, Risk, VarianceLimit, VarianceTerm};
use conveil::solve::Batch;
use structure_common::{message, projection, sampled};

const INSIDE: [f64; 2] = [0.2, 0.3];

fn row<'a>(comparison: &'a Comparison, name: &str) -> &'a StrategyRow {
    comparison.rows.iter().find(|r| r.strategy == name).unwrap()
}

fn loss(comparison: &Comparison, name: &str) -> f64 {
    row(comparison, name).sampled_loss_percent.unwrap()
}

fn notes(comparison: &Comparison, start: &str) -> usize {
    let notes = comparison.advice.iter();
    notes.filter(|a| a.starts_with(start)).count()
}

/// Identity least squares; noise far smaller than the way to the limits.
fn identity() -> Ask {
    Ask::new(Query::Identity)
        .adjacency(Adjacency::one_entry(0.02))
        .privacy(Privacy::laplace(1.0))
        .declared(0.02, "a projection does not stretch")
        .feasible(0.9)
}

fn compared(map: &dyn DataMap, ask: Ask, theta: &[f64], draws: u64) -> (Comparison, f64) {
    let plan = Plan::new(map, ask).unwrap();
    let found = compare(&plan, theta, draws, 3, &Batch::new()).unwrap();
    (found, plan.law().variance())
}

#[test]
fn noise_on_data_and_on_answers_agree_where_the_answer_is_the_data() {
    // w(θ + n) = θ + n: the same law and draws, so the same decisions. E½‖n‖² = σ².
    let (found, variance) = compared(&projection(), identity(), &INSIDE, 1000);
    let (input, output) = (row(&found, "input"), row(&found, "output"));
    assert_eq!((input.status.as_str(), input.draws), ("ok", 1000));
    assert!((loss(&found, "input") / loss(&found, "output") - 1.0).abs() < 1e-3);
    assert!((output.loss.unwrap() / variance - 1.0).abs() < 1e-9);
    for r in [input, output] {
        assert_eq!(r.sampled_infeasible_percent, Some(0.0));
    }
    let advised = |found: &Comparison| notes(found, "the noise can be put on the private numbers");
    assert_eq!(advised(&found), 0, "a tie is no advice: {found}");
    // Where the answer needs twice the noise, noise on the data loses a quarter of it.
    let twice = identity().declared(0.04, "for the test");
    let (found, _) = compared(&projection(), twice, &INSIDE, 500);
    assert!(loss(&found, "input") < 0.3 * loss(&found, "output"));
    assert_eq!(advised(&found), 1, "{found}");
}

#[test]
fn a_shape_multiplies_the_noise_of_output_and_projected_output() {
    let shape = vec![vec![2.0, 0.0], vec![1.0, 1.0]];
    let ask = identity().shape(shape);
    // E½‖Tζ‖² = ½σ²‖T‖²_F = 3σ²; over 20000 draws 10% are 7 standard errors.
    let (found, variance) = compared(&projection(), ask.clone(), &INSIDE, 20_000);
    let output = row(&found, "output");
    assert!((output.loss.unwrap() / (3.0 * variance) - 1.0).abs() < 1e-9);
    assert!((loss(&found, "output") / output.loss_percent.unwrap() - 1.0).abs() < 0.1);
    // Nothing to project: the same draws lose the same, and a tie is no advice.
    let (found, _) = compared(&projection(), ask.clone(), &INSIDE, 500);
    assert!((loss(&found, "projected output") / loss(&found, "output") - 1.0).abs() < 1e-3);
    assert_eq!(notes(&found, "the feasible set is public"), 0, "{found}");
    // At a corner the projection saves what the program pays for.
    let (found, _) = compared(&projection(), ask, &[1.5, 1.5], 500);
    assert!(loss(&found, "projected output") < 0.9 * loss(&found, "program"));
    assert_eq!(notes(&found, "the feasible set is public"), 1, "{found}");
}

/// min t, t ≥ 3x, d ≤ x ≤ 50.
fn epigraph() -> conveil::program::AffineMap {
    let mut m = Builder::new();
    let t = m.epigraph("t");
    let x = m.variable("x", 1);
    let d = m.parameter("d");
    m.minimize(t.at(0));
    m.at_most("cost", 3.0 * x.at(0), t.at(0));
    m.between("range", d, x.at(0), 50.0);
    m.build_map().unwrap()
}

fn cost(query: Query) -> Ask {
    Ask::new(query)
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(1.0, "for the test")
        .feasible(0.95)
}

/// min x, l ≤ x at the mean only, x ≤ 12.
fn mean_only() -> conveil::program::AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let l = m.parameter("l");
    m.minimize(x.at(0));
    m.at_most("lower", l, x.at(0));
    m.at_the_mean();
    m.at_most("upper", x.at(0), 12.0);
    m.build_map().unwrap()
}

#[test]
fn shifted_output_applies_to_the_expected_cost_only() {
    let slope = Query::AtMost {
        epigraph: "t".into(),
        slope: vec![("x".into(), 3.0)],
    };
    let dearer = cost(Query::Cost).risk(Risk::mix(0.5, Cvar::exact(0.1)));
    let cases: [(conveil::program::AffineMap, Ask, f64, &str); 3] = [
        (
            epigraph(),
            cost(slope),
            2.0,
            "the decision carries the noise of a slope too",
        ),
        (
            structure_common::interval_lp(1.0, 20.0),
            dearer,
            5.0,
            "more than the expectation is asked for",
        ),
        (
            mean_only(),
            cost(Query::Cost),
            5.0,
            "some constraints hold at the mean only",
        ),
    ];
    for (map, ask, theta, why) in cases {
        let (found, _) = compared(&map, ask, &[theta], 100);
        assert_eq!(
            row(&found, "shifted output").status,
            format!("does not apply: {why}")
        );
        assert_eq!(notes(&found, "shifted output"), 0, "{found}");
    }
}

#[test]
fn every_strategy_is_judged_without_the_blocks_that_hold_at_the_mean() {
    let (found, _) = compared(&mean_only(), cost(Query::Cost), &[5.0], 2000);
    // What holds is x ≤ 12, and every strategy starts at 5: Pr[ζ > 7] = ½e⁻⁷.
    let share = 50.0 * (-7.0f64).exp();
    for name in ["output", "program"] {
        let found = row(&found, name).infeasible_percent.unwrap();
        assert!((found / share - 1.0).abs() < 1e-3, "{name} {found} {share}");
    }
    let drawn = |name: &str| row(&found, name).sampled_infeasible_percent.unwrap();
    assert_eq!(drawn("output"), drawn("program"));
    assert!(drawn("input") < 1.0, "{found}");
}

#[test]
fn a_record_is_as_wide_as_its_own_entries() {
    let near = |a: (f64, f64), b: (f64, f64)| {
        assert!((a.0 - b.0).abs() + (a.1 - b.1).abs() < 1e-12, "{a:?} {b:?}");
    };
    let cuboid = Universe::around(vec![0.0; 4], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    near(cuboid.record_diameter(1), (8.0, 8.0));
    near(cuboid.record_diameter(2), (14.0, 10.0));
    near(cuboid.record_diameter(4), cuboid.diameter());
    // Records of two cut balls of three: the middle one has an entry of each.
    let balls = Universe::discs(vec![0.0; 6], vec![1.0, 2.0], 3).unwrap();
    near(balls.record_diameter(2), (6.0, 2.0 * 5f64.sqrt()));
    near(balls.record_diameter(3), (4.0 * 3f64.sqrt(), 4.0));
    near(balls.record_diameter(6), balls.diameter());
}

#[test]
fn noise_on_data_covers_one_record_not_the_universe() {
    let universe = Universe::around(vec![0.0; 2], vec![0.1; 2]).unwrap();
    let ask = Ask::new(Query::Identity)
        .adjacency(Adjacency::OneRecord { len: 1 })
        .privacy(Privacy::laplace(10.0))
        .sensitivity(sampled(universe, 0.1, 0.1, MapKind::Released))
        .feasible(0.9);
    let theta = [0.08, 0.06];
    let (found, _) = compared(&projection(), ask, &theta, 1000);
    // σ² = 2(0.2/10)² against the optimum ½·0.01; 30% are six standard errors.
    let closed = 100.0 * 2.0 * 0.02f64.powi(2) / 0.005;
    assert!(
        (loss(&found, "input") / closed - 1.0).abs() < 0.3,
        "{found}"
    );
}

#[test]
fn bounds_on_risk_are_named_when_they_are_the_obstacle() {
    let term = VarianceTerm {
        variables: vec!["w[0]".into()],
        limit: VarianceLimit::AtMost(1e-5),
    };
    let ask = identity().risk(Risk::expectation().with_variance(term));
    let found = explain(&projection(), &ask, &INSIDE).unwrap();
    let rows = found.obstacle.unwrap().rows;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0].0, "the bound on variance");
    let limited = Risk::expectation().with_cvar_at_most(Cvar::exact(0.1), 8.0);
    let map = structure_common::interval_lp(1.0, 20.0);
    let found = explain(&map, &cost(Query::Cost).risk(limited), &[5.0]).unwrap();
    let mut names: Vec<String> = found
        .obstacle
        .unwrap()
        .rows
        .into_iter()
        .map(|r| r.0)
        .collect();
    names.sort();
    assert_eq!(names, ["limits lower", "the bound on CVaR"]);
}

#[test]
fn a_range_ends_where_values_are_refused() {
    let classic = |epsilon| Privacy::Gaussian {
        epsilon,
        delta: 1e-5,
        calibration: Calibration::Classic,
    };
    // Scale 0.02/ε·√(2 ln(1.25e5)): feasible at 0.5, and at 0.05 only the ε beyond, up to 1, help.
    for epsilon in [0.5, 0.05] {
        let ask = identity().privacy(classic(epsilon));
        let found = explain(&projection(), &ask, &INSIDE).unwrap();
        let edge = found.thresholds.iter().find(|t| t.what == "ε").unwrap();
        let last = edge.edge.unwrap();
        assert!(last < 1.0 && !edge.everything_tried, "{found}");
        assert_eq!(found.feasible, epsilon >= last, "{found}");
    }
    // Not even ε just below 1 helps.
    let ask = identity()
        .privacy(classic(0.5))
        .declared(10.0, "for the test");
    let found = explain(&projection(), &ask, &INSIDE).unwrap();
    assert_eq!(found.thresholds[0].edge, None, "{found}");
    // A lattice coarser than the noise.
    let ask = identity().lattice(0.015);
    let table = |values: &[f64]| {
        frontier(
            &projection(),
            &ask,
            &INSIDE,
            Axis::Epsilon,
            values,
            &Batch::new(),
        )
    };
    let found = table(&[0.5, 1.0, 2.0]).unwrap();
    assert_eq!(
        (found.rows[0].status.as_str(), found.rows[1].status.as_str()),
        ("ok", "ok")
    );
    let status = &found.rows[2].status;
    assert!(
        status.starts_with("the lattice step must be positive"),
        "{status}"
    );
    assert!(explain(&projection(), &ask, &INSIDE).unwrap().feasible);
    let found = frontier(
        &projection(),
        &identity().privacy(classic(0.5)),
        &INSIDE,
        Axis::Epsilon,
        &[0.5, 2.0],
        &Batch::new(),
    );
    let status = found.unwrap().rows[1].status.clone();
    assert!(!status.contains('\n') && status.contains('1'), "{status}");
    // The ask's own fault, and a value without meaning, stay errors.
    let why = message(explain(&projection(), &identity().lattice(0.5), &INSIDE));
    assert!(why.starts_with("the lattice step must be"), "{why}");
    let own = identity().lattice(0.5);
    let batch = Batch::new();
    let why = message(frontier(
        &projection(),
        &own,
        &INSIDE,
        Axis::Epsilon,
        &[1.0, 2.0],
        &batch,
    ));
    assert!(why.starts_with("the lattice step must be"), "{why}");
    assert!(table(&[1.0, -1.0]).is_err());
}

#[test]
fn nothing_binds_and_everything_fits_where_noise_is_tiny() {
    let ask = identity().declared(1e-6, "tiny");
    let found = explain(&projection(), &ask, &INSIDE).unwrap();
    assert!(found.binding.is_empty(), "{found}");
    let eta = found.thresholds.iter().find(|t| t.what == "η").unwrap();
    assert!(eta.everything_tried && eta.edge == Some(1e-12), "{found}");
    let text = found.to_string();
    assert!(
        text.contains("≤ 1e-12   (everything tried is feasible"),
        "{text}"
    );
}

/// An optimum of 10⁻⁸ beside losses of about 5: no percentage of it says anything.
#[test]
fn losses_are_absolute_where_the_optimum_is_nothing() {
    let map = structure_common::interval_lp(1.0, 20.0);
    let plan = Plan::new(&map, structure_common::laplace(Query::Cost, 1.0)).unwrap();
    let compared = compare(&plan, &[1e-8], 200, 1, &Batch::new()).unwrap();
    for row in &compared.rows {
        assert_eq!((row.loss_percent, row.sampled_loss_percent), (None, None));
    }
    let program = row(&compared, "program");
    assert!((program.loss.unwrap() - 4.605).abs() < 0.01, "{compared}");
    assert!(program.sampled_loss.is_some());
    let text = compared.to_string();
    assert!(
        text.contains("note: the optimum is 0 beside the losses"),
        "{text}"
    );
    assert!(text.contains("costs 4.605"), "{text}");
    assert!(text.contains("in the objective's unit"), "{text}");
    assert!(!text.contains("loss in %"), "{text}");
    let curated = plan.curate(&[1e-8]).unwrap();
    assert_eq!(curated.report().loss_percent, None);
    // Beside an optimum that is one, they are in percent.
    let compared = compare(&plan, &[2.0], 200, 1, &Batch::new()).unwrap();
    assert!((row(&compared, "program").loss_percent.unwrap() - 230.0).abs() < 1.0);
    assert!(compared.to_string().contains("loss in %"));
}
