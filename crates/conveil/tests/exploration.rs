//! explain, frontier and compare (M11, M13), on programs whose edges have closed forms.

mod structure_common;

use conveil::ask::{Adjacency, Ask, Bound, Privacy, Query, Request};
use conveil::curator::{Axis, Comparison, Explanation, StrategyRow, compare, explain, frontier};
use conveil::noise::clopper_pearson;
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder};
use conveil::solve::Batch;
use structure_common::{interval_lp, message};

const LOWER: f64 = 5.0;
const UPPER: f64 = 20.0;
const ETA: f64 = 0.05;

fn per_alpha(epsilon: f64, alpha: f64) -> Ask {
    Ask::cost()
        .adjacency(Adjacency::one_entry(alpha))
        .privacy(Privacy::laplace(epsilon))
        .sensitivity(Request::Declared {
            bound: Bound::PerAlpha(1.0),
            reason: "x* = l".into(),
        })
        .feasible(1.0 - ETA)
}

fn edge(explanation: &Explanation, what: &str) -> f64 {
    let t = explanation.thresholds.iter().find(|t| t.what == what);
    t.unwrap_or_else(|| panic!("no threshold on {what}"))
        .edge
        .unwrap()
}

fn near(found: f64, closed: f64) {
    assert!((found / closed - 1.0).abs() < 1e-3, "{found} {closed}");
}

#[test]
fn the_edges_of_example_one_are_the_closed_forms() {
    let map = interval_lp(1.0, UPPER);
    let length = UPPER - LOWER;
    // Feasible iff 2·(αΔ/ε)·ln(1/η) ≤ u − l. Asked from both sides of the edge.
    for (epsilon, alpha) in [(0.1, 1.0), (1.0, 1.0), (1.0, 30.0)] {
        let found = explain(&map, &per_alpha(epsilon, alpha), &[LOWER]).unwrap();
        let reach = 2.0 * alpha * (1.0 / ETA).ln();
        assert_eq!(found.feasible, reach / epsilon <= length);
        near(edge(&found, "ε"), reach / length);
        near(
            edge(&found, "α"),
            length * epsilon / (2.0 * (1.0 / ETA).ln()),
        );
        near(
            edge(&found, "sensitivity"),
            length * epsilon / (2.0 * (1.0 / ETA).ln()),
        );
        // η = exp(−(u − l)ε/(2αΔ)), where that lies below ½.
        let eta = (-length * epsilon / (2.0 * alpha)).exp();
        let threshold = found.thresholds.iter().find(|t| t.what == "η").unwrap();
        match threshold.edge {
            Some(found) => near(found, eta),
            None => assert!(eta > 0.5, "{eta}"),
        }
    }
}

#[test]
fn the_obstacle_and_the_price_bear_the_users_names() {
    let map = interval_lp(1.0, UPPER);
    let stuck = explain(&map, &per_alpha(0.1, 1.0), &[LOWER]).unwrap();
    let mut names: Vec<String> = stuck
        .obstacle
        .as_ref()
        .unwrap()
        .rows
        .iter()
        .map(|r| r.0.clone())
        .collect();
    names.sort();
    assert_eq!(names, ["limits lower", "limits upper"]);
    let text = stuck.to_string();
    assert!(text.starts_with("EXPLANATION: PRIVATE"), "{text}");
    assert!(
        text.contains("smallest feasible ε") && text.contains("largest feasible  α"),
        "{text}"
    );
    let free = explain(&map, &per_alpha(1.0, 1.0), &[LOWER]).unwrap();
    assert_eq!(free.binding.len(), 1);
    assert_eq!(free.binding[0].0, "limits lower");
    assert!(
        (free.binding[0].1 - 1.0).abs() < 1e-5,
        "the price of the limit is the cost"
    );
    let why = message(explain(&map, &per_alpha(1.0, 1.0), &[25.0]));
    assert!(why.starts_with("the program itself is infeasible"), "{why}");
}

#[test]
fn a_frontier_falls_in_epsilon_and_rises_in_alpha_and_confidence() {
    let map = interval_lp(1.0, UPPER);
    let ask = per_alpha(1.0, 1.0);
    let run =
        |axis, values: &[f64]| frontier(&map, &ask, &[LOWER], axis, values, &Batch::new()).unwrap();
    let epsilons = [0.1, 0.3, 0.5, 1.0, 2.0, 10.0];
    let table = run(Axis::Epsilon, &epsilons);
    let losses: Vec<Option<f64>> = table.rows.iter().map(|r| r.loss).collect();
    let smallest = 2.0 * (1.0 / ETA).ln() / (UPPER - LOWER);
    for (row, epsilon) in table.rows.iter().zip(epsilons) {
        assert_eq!(row.status == "infeasible", epsilon < smallest, "{epsilon}");
        if let Some(loss) = row.loss {
            near(loss, (1.0 / ETA).ln() / epsilon);
        }
        // P(|ζ| > h) = e^(−hε) = 1/20, where the program has room or not.
        near(row.error_bar.unwrap(), 20f64.ln() / epsilon);
    }
    let known: Vec<f64> = losses.into_iter().flatten().collect();
    assert!(
        known.windows(2).all(|w| w[1] < w[0]) && known.len() == 4,
        "{known:?}"
    );
    let rising = |axis, values: &[f64]| {
        let losses: Vec<f64> = run(axis, values)
            .rows
            .iter()
            .map(|r| r.loss.unwrap())
            .collect();
        assert!(losses.windows(2).all(|w| w[1] > w[0]), "{losses:?}");
    };
    rising(Axis::Alpha, &[0.1, 0.5, 1.0, 2.0]);
    rising(Axis::Eta, &[0.4, 0.1, 0.05, 0.01]);
    let fixed = per_alpha(1.0, 1.0).declared(1.0, "not per α");
    let why = message(frontier(
        &map,
        &fixed,
        &[LOWER],
        Axis::Alpha,
        &[1.0],
        &Batch::new(),
    ));
    assert_eq!(
        why,
        "a frontier over α needs a sensitivity declared per α (`per_alpha`), or an envelope"
    );
}

fn row<'a>(comparison: &'a Comparison, name: &str) -> &'a StrategyRow {
    comparison.rows.iter().find(|r| r.strategy == name).unwrap()
}

/// x₁ + x₂ = demand with two prices: a cost query on an LP.
fn dispatch() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let demand = m.parameter("demand");
    m.minimize(x.dot(&[1.0, 3.0]));
    m.equal("balance", x.sum(), demand);
    m.between("first", 0.0, x.at(0), 10.0);
    m.between("second", 0.0, x.at(1), 2.0);
    m.build_map().unwrap()
}

#[test]
fn shifted_output_has_the_loss_and_feasibility_of_program_perturbation() {
    let map = dispatch();
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(3.0))
        .declared(1.0, "for the test")
        .feasible(0.99);
    let plan = Plan::new(&map, ask).unwrap();
    let draws = 50_000;
    let found = compare(&plan, &[10.0], draws, 3, &Batch::new()).unwrap();
    let (shifted, program) = (row(&found, "shifted output"), row(&found, "program"));
    assert!((shifted.loss.unwrap() - program.loss.unwrap()).abs() < 1e-5);
    assert!(
        (shifted.infeasible_percent.unwrap() - program.infeasible_percent.unwrap()).abs() < 1e-4
    );
    assert!(program.infeasible_percent.unwrap() <= 1.0);
    // Same draws: the same sampled loss, too.
    assert!(
        (shifted.sampled_loss_percent.unwrap() - program.sampled_loss_percent.unwrap()).abs()
            < 1e-3
    );
    assert!(
        found
            .advice
            .iter()
            .any(|a| a.starts_with("shifted output releases the same number"))
    );
    // Output: exactly Pr[ζ < 0] + Pr[ζ > 4], and free of expected loss.
    let output = row(&found, "output");
    let exact = 50.0 + 50.0 * (-4.0 / plan.law().scale()).exp();
    assert!((output.infeasible_percent.unwrap() - exact).abs() < 1e-3);
    assert_eq!(output.loss, Some(0.0));
    // Input: a noisy demand is met at the wrong cost below the optimum half of the time. False alarm 1e-6.
    let input = row(&found, "input");
    let bad =
        (input.sampled_infeasible_percent.unwrap() / 100.0 * input.draws as f64).round() as u64;
    let (low, _) = clopper_pearson(bad, input.draws, 2e-6).unwrap();
    assert!(
        clopper_pearson(bad, input.draws, 2e-6).unwrap().1 >= 0.5,
        "{bad} of {}",
        input.draws
    );
    assert!(low > 0.4);
}

#[test]
fn shifted_output_is_infeasible_where_the_program_is() {
    let map = dispatch();
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(1.0, "for the test")
        .feasible(0.99);
    let plan = Plan::new(&map, ask).unwrap();
    let found = compare(&plan, &[10.0], 100, 3, &Batch::new()).unwrap();
    assert_eq!(row(&found, "shifted output").status, "infeasible");
    assert_eq!(row(&found, "program").status, "infeasible");
}

#[test]
fn projected_output_is_never_infeasible_and_applies_to_public_sets_only() {
    // min ½‖w‖² − y'w, 0 ≤ w₀ ≤ w₁ ≤ 3: public set, private responses.
    let mut m = Builder::new();
    let w = m.variable("w", 2);
    for j in 0..2 {
        let y = m.parameter(&format!("y{j}"));
        m.quadratic(j, j, 1.0);
        m.minimize(-1.0 * (y * w.at(j)));
    }
    m.at_most("sign", 0.0, w.at(0));
    m.at_most("order", w.at(0), w.at(1));
    m.at_most("top", w.at(1), 3.0);
    let map = m.build_map().unwrap();
    let ask = Ask::new(Query::Identity)
        .adjacency(Adjacency::one_entry(0.1))
        .privacy(Privacy::laplace(1.0))
        .declared(0.1, "a projection does not stretch")
        .feasible(0.9);
    let plan = Plan::new(&map, ask).unwrap();
    let found = compare(&plan, &[0.2, 0.3], 400, 3, &Batch::new()).unwrap();
    let projected = row(&found, "projected output");
    assert_eq!(projected.status, "ok");
    assert_eq!(projected.infeasible_percent, Some(0.0));
    assert_eq!(projected.sampled_infeasible_percent, Some(0.0));
    assert!(projected.sampled_loss_percent.unwrap() >= 0.0);
    // Not at all like plain output, whose draws do leave the set.
    let share_of = |name: &str| {
        let row = row(&found, name);
        let bad = (row.sampled_infeasible_percent.unwrap() / 100.0 * row.draws as f64).round();
        clopper_pearson(bad as u64, row.draws, 1e-6).unwrap()
    };
    assert!(share_of("output").0 > 0.1, "{found}");
    assert!(share_of("program").0 <= 0.1, "{found}");
    let private = Plan::new(&interval_lp(1.0, UPPER), per_alpha(1.0, 1.0)).map(|plan| {
        let found = compare(&plan, &[LOWER], 10, 3, &Batch::new()).unwrap();
        row(&found, "projected output").status.clone()
    });
    assert_eq!(
        private.unwrap(),
        "does not apply: the feasible set is itself private"
    );
}
