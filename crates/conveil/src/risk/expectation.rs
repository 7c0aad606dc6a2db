//! M3: E[½x'Px + q'x] = ½x̄'Px̄ + q'x̄ + ½Σ_j σ² X_j'PX_j.

use crate::noise::Law;
use crate::rule::{Lift, RowRule};

/// Adds weight times the expected linear objective (its constant aside).
pub(super) fn add_linear(lift: &mut Lift<'_>, weight: f64) {
    for (j, q) in lift.program().q().iter().enumerate() {
        if *q != 0.0 && weight > 0.0 {
            lift.add_cost(j, weight * q);
        }
    }
}

/// Adds weight times the expected quadratic objective.
pub(super) fn add_quadratic(lift: &mut Lift<'_>, law: &Law, weight: f64) {
    if !(weight > 0.0) {
        return;
    }
    let program = lift.program();
    let rule = lift.rule();
    let variance = weight * law.variance();
    for (a, b, p) in program.p().entries() {
        lift.add_quadratic(a, b, weight * p);
        if p == 0.0 {
            continue;
        }
        // ½σ²·(p X_a'X_b + p X_b'X_a) off the diagonal, ½σ²·p X_a'X_a on it.
        let twice = if a == b { 1.0 } else { 2.0 };
        match (rule.row(a), rule.row(b)) {
            (RowRule::Fixed(x), RowRule::Fixed(y)) => {
                lift.add_constant(0.5 * twice * variance * p * dot(x, y));
            }
            (RowRule::Free(f), RowRule::Fixed(y)) | (RowRule::Fixed(y), RowRule::Free(f)) => {
                for &(noise, value) in y {
                    let column = lift.recourse(*f, noise);
                    lift.add_cost(column, 0.5 * twice * variance * p * value);
                }
            }
            (RowRule::Free(f), RowRule::Free(g)) => {
                for noise in 0..lift.noises() {
                    let (x, y) = (lift.recourse(*f, noise), lift.recourse(*g, noise));
                    // P's own convention: an off-diagonal entry stands for both triangles.
                    lift.add_quadratic(x, y, variance * p);
                }
            }
        }
    }
}

fn dot(x: &[(usize, f64)], y: &[(usize, f64)]) -> f64 {
    x.iter()
        .flat_map(|a| y.iter().filter(move |b| a.0 == b.0).map(move |b| a.1 * b.1))
        .sum()
}
