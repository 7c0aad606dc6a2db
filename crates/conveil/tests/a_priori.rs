//! M11 before any data: the mass box against public polyhedral sets, by closed forms and by the program itself.

use conveil::ask::{Adjacency, Ask, Privacy, Query};
use conveil::chance::{Choice, Feasibility};
use conveil::curator::{Fit, explain, fit};
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder};

const ETA: f64 = 0.05;

fn ask(query: Query, sensitivity: f64) -> Ask {
    Ask::new(query)
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(sensitivity, "a test")
        .lattice(1e-9)
        .feasibility(Feasibility::eta(ETA).method(Choice::MASS_BOX))
}

fn found(model: &AffineMap, query: Query, sensitivity: f64) -> Fit {
    let plan = Plan::new(model, ask(query, sensitivity)).expect("a plan");
    fit(&plan).expect("an answer")
}

fn largest(model: &AffineMap, query: Query, sensitivity: f64) -> (bool, f64) {
    match found(model, query, sensitivity) {
        Fit::Public {
            fits,
            largest_scale: Some(largest),
            ..
        } => (fits, largest),
        other => panic!("{other:?}"),
    }
}

/// 3 ≤ x ≤ 10 with a private price.
fn interval() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let price = m.parameter("price");
    m.minimize(price * x.at(0));
    m.between("limits", 3.0, x.at(0), 10.0);
    m.build_map().unwrap()
}

/// The symmetric interval of Laplace(s) with mass 1−η is 2s·ln(1/η) long.
#[test]
fn an_interval_holds_noise_up_to_its_length() {
    let x = || Query::Variables(vec!["x".into()]);
    let right = 7.0 / (2.0 * (1.0 / ETA).ln());
    for scale in [0.5 * right, 0.999 * right, 1.001 * right, 3.0 * right] {
        let (fits, found) = largest(&interval(), x(), scale);
        assert!((found - right).abs() < 1e-5 * right, "{found} {right}");
        assert_eq!(fits, scale < right);
    }
}

/// A sum is carried by both variables: the set of sums is what must hold the box, not each variable's own range.
#[test]
fn free_recourse_shares_the_noise() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let price = m.parameter("price");
    m.minimize(price * x.at(0) + x.at(1));
    m.between("first", 0.0, x.at(0), 1.0);
    m.between("second", 0.0, x.at(1), 3.0);
    let model = m.build_map().unwrap();
    let right = 4.0 / (2.0 * (1.0 / ETA).ln());
    let (_, found) = largest(&model, Query::Sum(vec!["x".into()]), 0.1);
    assert!((found - right).abs() < 1e-5 * right, "{found} {right}");
}

/// Where the mass box is the only method, the largest scale is where the program itself ends.
#[test]
fn the_largest_scale_is_the_edge_of_the_program() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let y = m.variable("y", 1);
    let price = m.parameter("price");
    m.minimize(price * x.at(0) + 2.0 * x.at(1) + y.at(0));
    m.between("first", 0.0, x.at(0), 4.0);
    m.between("second", -1.0, x.at(1), 6.0);
    m.at_most("cut", x.at(0) + x.at(1) + y.at(0), 6.5);
    m.at_most("slope", x.at(0) - 2.0 * x.at(1) - y.at(0), 3.0);
    m.between("third", -1.0, y.at(0), 1.0);
    let model = m.build_map().unwrap();
    let query = || Query::Variables(vec!["x".into()]);
    let (fits, scale) = largest(&model, query(), 0.1);
    assert!(fits);
    let explained = explain(&model, &ask(query(), 0.1), &[1.0]).unwrap();
    let edge = explained
        .thresholds
        .iter()
        .find(|t| t.what == "sensitivity");
    let edge = edge.and_then(|t| t.edge).unwrap();
    assert!((scale - edge).abs() < 1e-3 * edge, "{scale} {edge}");
}

#[test]
fn what_the_public_cannot_know_is_left_to_explain() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let limit = m.parameter("limit");
    m.minimize(x.at(0));
    m.between("limits", limit, x.at(0), 10.0);
    let private = m.build_map().unwrap();
    let x_query = || Query::Variables(vec!["x".into()]);
    assert_eq!(found(&private, x_query(), 0.1), Fit::Private);

    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let price = m.parameter("price");
    m.minimize(price * x.at(0));
    m.norm_at_most("disc", x.entries(), 3.0);
    let disc = m.build_map().unwrap();
    assert_eq!(found(&disc, x_query(), 0.1), Fit::NotPolyhedral);
    assert!(Fit::Private.to_string().contains("`explain`"));
    assert_eq!(
        Fit::NotPolyhedral.to_string(),
        "the feasible set is not polyhedral: no a-priori check; `explain` says whether the noise fits the data"
    );
}

#[test]
fn sets_without_an_end_or_without_a_point_are_told_apart() {
    let half_line = |empty: bool| {
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        let y = m.variable("y", 1);
        let price = m.parameter("price");
        m.minimize(price * x.at(0));
        m.at_most("start", 3.0, x.at(0));
        m.between("other", 2.0, y.at(0), if empty { 1.0 } else { 5.0 });
        m.build_map().unwrap()
    };
    let x = || Query::Variables(vec!["x".into()]);
    match found(&half_line(false), x(), 0.1) {
        Fit::Public {
            fits: true,
            largest_scale: None,
            ..
        } => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(found(&half_line(true), x(), 0.1), Fit::Empty);
    let text = found(&interval(), x(), 0.5).to_string();
    assert_eq!(
        text,
        "the mass box that holds 0.95 of the noise fits into the feasible set; the largest noise scale that does is 1.16833, now 0.5"
    );
}

/// Bounded noise is feasible with probability one (M5g): the check is about all of it. A box that holds 1−η would fit
/// where the support does not.
#[test]
fn bounded_noise_must_fit_as_a_whole() {
    let x = || Query::Variables(vec!["x".into()]);
    let (epsilon, delta) = (1.0f64, 0.01);
    // B = s·ln(1 + (e^ε − 1)/(2δ)), and the interval is 7 long.
    let per_scale = (1.0 + (epsilon.exp() - 1.0) / (2.0 * delta)).ln();
    let right = 3.5 / per_scale;
    for scale in [0.9 * right, 1.1 * right] {
        let model = interval();
        let ask = Ask::new(x())
            .adjacency(Adjacency::one_entry(1.0))
            .privacy(Privacy::truncated_laplace(epsilon, delta))
            .declared(scale, "a test")
            .lattice(1e-9)
            .feasible(1.0 - ETA);
        let plan = Plan::new(&model, ask).unwrap();
        let found = fit(&plan).unwrap();
        let Fit::Public {
            fits,
            largest_scale: Some(largest),
            eta,
            other_method: None,
            ..
        } = &found
        else {
            panic!("{found:?}");
        };
        assert_eq!(*fits, scale < right);
        assert_eq!(*eta, 0.0);
        assert!((largest - right).abs() < 1e-4 * right, "{largest} {right}");
        let start = match fits {
            true => "the whole support of the noise fits into the feasible set; ",
            false => "the whole support of the noise does not fit into the feasible set; ",
        };
        assert!(found.to_string().starts_with(start), "{found}");
        // The plan itself agrees.
        assert_eq!(plan.released().at(&[1.0]).is_ok(), *fits);
    }
}

/// Another method than the box that is checked is named.
#[test]
fn what_is_not_checked_is_said() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let price = m.parameter("price");
    m.minimize(price * x.at(0));
    for j in 0..2 {
        m.between(&format!("limits {j}"), 3.0, x.at(j), 10.0);
    }
    let model = m.build_map().unwrap();
    let ask = ask(Query::Variables(vec!["x".into()]), 0.3).feasibility(Feasibility::eta(ETA));
    let plan = Plan::new(&model, ask).unwrap();
    let text = fit(&plan).unwrap().to_string();
    assert!(
        text.ends_with(
            " (only this box is checked; the plan's own method, fixed recourse, may admit more or less)"
        ),
        "{text}"
    );
}
