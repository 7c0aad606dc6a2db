//! Small models whose answers are known by hand.
#![allow(dead_code)] // each test file uses its part

use conveil::ask::{Adjacency, Ask, Privacy, Query, Request};
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder};

/// A shape that is neither diagonal nor symmetric.
pub const T: [[f64; 2]; 2] = [[2.0, 0.5], [-1.0, 0.25]];

/// The noisy shapes that the tests go through.
pub fn shape(rows: [[f64; 2]; 2]) -> Vec<Vec<f64>> {
    rows.iter().map(|row| row.to_vec()).collect()
}

/// min ½‖x‖² − a'x within wide limits, a private: x̄ = a.
pub fn follower(numbers: usize) -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", numbers);
    let a: Vec<_> = (0..numbers)
        .map(|i| m.parameter(&format!("a{i}")))
        .collect();
    m.minimize_half_square(1.0, &x.entries());
    for (i, parameter) in a.into_iter().enumerate() {
        m.minimize(-(parameter * x.at(i)));
        m.between(&format!("limit {i}"), -500.0, x.at(i), 500.0);
    }
    m.build_map().unwrap()
}

/// min x subject to l ≤ x ≤ 60, l private: a linear program whose cost is l and what the noise needs.
pub fn limit() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let l = m.parameter("l");
    m.minimize(x.at(0));
    m.between("limits", l, x.at(0), 60.0);
    m.build_map().unwrap()
}

/// max x under a private capacity in public bounds.
pub fn capped() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let capacity = m.parameter_within("capacity", -10.0, 60.0);
    m.minimize(-1.0 * x.at(0));
    m.at_most("capacity", x.at(0), capacity);
    m.between("range", -50.0, x.at(0), 100.0);
    m.build_map().unwrap()
}

/// Two sources and a private need in public bounds: above 40 the plain program is infeasible, its envelope never.
pub fn supply() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let need = m.parameter_within("need", -10.0, 60.0);
    m.minimize(x.dot(&[1.0, 3.0]));
    m.equal("balance", x.sum(), need);
    for j in 0..2 {
        m.between(&format!("source {j}"), -20.0, x.at(j), 20.0);
    }
    m.build_map().unwrap()
}

/// The cost of [`supply`] at a price of 2.5 for deviating from the need: Δ₁ = 2.5.
pub fn enveloped(privacy: Privacy) -> Ask {
    Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(privacy)
        .sensitivity(Request::envelope(2.5))
        .feasible(0.9)
}

/// max x₀ + 2x₁ − ½‖x‖² within a private radius.
pub fn ball() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let radius = m.parameter("radius");
    m.minimize(-1.0 * x.dot(&[1.0, 2.0]));
    m.minimize_half_square(1.0, &x.entries());
    m.norm_at_most("ball", x.entries(), radius);
    m.build_map().unwrap()
}

/// The answer of [`follower`], with this sensitivity of T⁻¹ times it.
pub fn ask(privacy: Privacy, sensitivity: f64, shape: Option<Vec<Vec<f64>>>) -> Ask {
    let ask = Ask::new(Query::Variables(vec!["x".into()]))
        .adjacency(Adjacency::L2 { alpha: 100.0 })
        .privacy(privacy)
        .declared(sensitivity, "the test moves it by no more")
        .feasible(0.9);
    match shape {
        None => ask,
        Some(rows) => ask.shape(rows),
    }
}

/// The plan of an ask for [`follower`].
pub fn plan(map: &AffineMap, ask: Ask) -> Plan<'_> {
    Plan::new(map, ask).unwrap()
}
