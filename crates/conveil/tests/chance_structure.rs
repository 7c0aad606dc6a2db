//! What the lifted program is made of: no variables for constants, no cones where none is needed, prices that are
//! derivatives, and no share for what no noise reaches.

mod common;

use common::{Noise, ask};
use conveil::ask::Query;
use conveil::chance::{Choice, Feasibility};
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder, Cone, DataMap};

/// min c'x over a box with a private total; `curved` adds ½‖x‖².
fn dispatch(n: usize, curved: bool) -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", n);
    let demand = m.parameter("demand");
    let cost: Vec<f64> = (0..n).map(|j| 1.0 + j as f64).collect();
    m.minimize(x.dot(&cost));
    if curved {
        m.minimize_half_square(1.0, &x.entries());
    }
    for j in 0..n {
        let rows = m.parameter(&format!("limit {j}"));
        m.between(&format!("range {j}"), 0.0, x.at(j), 1.0 * rows + 2.0);
    }
    m.at_most("demand", 1.0 * demand + 1.0 - x.sum(), 0.0);
    m.build_map().unwrap()
}

/// The kinds of cones in the lifted program, its columns, and whether it has a quadratic term.
fn lifted(map: &AffineMap, query: Query, wish: Feasibility) -> (Vec<Cone>, usize, bool) {
    let plan = Plan::new(map, ask(query, Noise::Laplace, wish)).unwrap();
    let program = map.at(&vec![0.0; map.len()]).unwrap();
    let lifted = plan.released().lifted(&program, 0).unwrap();
    let program = lifted.program();
    let cones = program.constraints().iter().map(|c| c.cone().clone());
    (cones.collect(), program.columns(), program.p().nnz() > 0)
}

#[test]
fn an_lp_stays_an_lp_under_mass_box_and_fixed_recourse() {
    let n = 4;
    let map = dispatch(n, false);
    let first = |k: usize| Query::Variables((0..k).map(|j| format!("x[{j}]")).collect());
    let mass_box = Feasibility::eta(0.1).method(Choice::MASS_BOX);
    for (query, wish) in [
        (
            Query::Identity,
            Feasibility::eta(0.1).method(Choice::FIXED_RECOURSE),
        ),
        (Query::Identity, mass_box.clone()),
        (Query::Sum(vec!["x".into()]), mass_box.clone()),
        (first(2), mass_box),
    ] {
        let (cones, _, quadratic) = lifted(&map, query, wish);
        assert!(cones.iter().all(Cone::is_linear), "{cones:?}");
        assert!(!quadratic);
    }
    // Row by row on free noise is what adds a cone.
    let rows = Feasibility::eta(0.1).method(Choice::ROW_BY_ROW);
    let (cones, _, _) = lifted(&map, first(2), rows);
    assert!(cones.contains(&Cone::SecondOrder(3)));
}

#[test]
fn an_identity_query_on_all_variables_has_no_variables_for_the_recourse() {
    for n in [1, 3, 12] {
        let map = dispatch(n, false);
        let methods = [
            Choice::AUTO,
            Choice::MASS_BOX,
            Choice::FIXED_RECOURSE,
            Choice::SCENARIO,
        ];
        for method in methods.into_iter().chain([Choice::ROW_BY_ROW]) {
            let wish = Feasibility::eta(0.1).method(method);
            let (_, columns, _) = lifted(&map, Query::Identity, wish);
            assert_eq!(columns, n, "{method:?}");
        }
    }
}

#[test]
fn a_witness_keeps_its_free_recourse() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let slack = m.auxiliary("slack", 1);
    let theta = m.parameter("theta");
    m.minimize(x.sum());
    m.at_most("covered", 1.0 * theta + 1.0, x.sum() + slack.at(0));
    m.between("range", 0.0, x.at(0) - x.at(1), 3.0);
    m.between("small", 0.0, slack.at(0), 0.5);
    let map = m.build_map().unwrap();
    let wish = Feasibility::eta(0.1).method(Choice::ROW_BY_ROW);
    let (_, columns, _) = lifted(&map, Query::Identity, wish);
    assert_eq!(columns, 3 + 2); // x̄, slack, and one free row of X for two noises
}

/// The price of a row is −∂objective/∂b, whatever rows and cones the method writes for it.
#[test]
fn prices_are_derivatives_of_the_objective() {
    let map = dispatch(3, true);
    let two = Query::Variables(vec!["x[0]".into(), "x[1]".into()]);
    for (query, method) in [
        (two.clone(), Choice::ROW_BY_ROW),
        (two.clone(), Choice::MASS_BOX),
        (two.clone(), Choice::SCENARIO),
        (two, Choice::SAMPLED_BOX),
        (Query::Identity, Choice::FIXED_RECOURSE),
        (Query::Sum(vec!["x".into()]), Choice::MASS_BOX),
    ] {
        let wish = Feasibility::eta(0.1).method(method);
        let plan = Plan::new(&map, ask(query, Noise::Laplace, wish)).unwrap();
        let at = |theta: [f64; 4]| plan.released().at(&theta).unwrap();
        let step = 1e-3;
        let mut found = at([2.0, -0.9, 0.0, 0.0]);
        // θ₀ raises the demand: b = −(1 + θ₀). θ₁ raises the first upper limit.
        let moved = |place: usize, by: f64| {
            let mut theta = [2.0, -0.9, 0.0, 0.0];
            theta[place] += by;
            at(theta).objective
        };
        let slope = |place: usize| (moved(place, step) - moved(place, -step)) / (2.0 * step);
        let row = |name: &str| {
            let rows = 0..found.program.rows();
            rows.into_iter()
                .find(|i| found.program.row_name(*i) == name)
                .unwrap()
        };
        let (demand, limit) = (row("demand"), row("range 0 upper"));
        let prices = std::mem::take(&mut found.prices);
        assert!(prices[demand] > 0.1 && prices[limit] > 0.1, "{method:?}");
        for (price, slope) in [(prices[demand], slope(0)), (prices[limit], -slope(1))] {
            assert!((price - slope).abs() < 1e-4, "{method:?}: {price} {slope}");
        }
    }
}

#[test]
fn what_no_noise_reaches_takes_no_share_and_always_rows_do_not_move() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let y = m.here_and_now("y", 1);
    let theta = m.parameter("theta");
    m.minimize(x.sum() + y.at(0));
    m.at_most("noisy", 1.0 * theta, x.at(0));
    m.at_most("always", 0.0, x.at(1) - x.at(0)).always();
    m.between("here", 0.0, y.at(0), 1.0);
    let map = m.build_map().unwrap();
    let wish = Feasibility::eta(0.1).method(Choice::FIXED_RECOURSE);
    let query = Query::Variables(vec!["x[0]".into()]);
    let plan = Plan::new(&map, ask(query, Noise::Laplace, wish)).unwrap();
    let lines = plan.guarantee().budget().lines();
    assert_eq!(lines.len(), 1);
    assert_eq!((lines[0].rows, lines[0].serves.as_str()), (1, "`noisy`"));
    assert_eq!(lines[0].share, 0.1);
    let decided = plan.released().at(&[1.0]).unwrap();
    assert_eq!(decided.recourse.row(0), decided.recourse.row(1));
    assert!(decided.recourse.row(2).is_empty());
}
