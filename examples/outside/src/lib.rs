//! The largest eigenvalue of a private matrix, released through a semidefinite program.
//!
//! One function for Rust, [`largest_eigenvalue`], and one for C.

use conveil::ask::{Adjacency, Ask, Privacy};
use conveil::plan::Plan;
use conveil::program::Builder;

/// λ of a symmetric 2 × 2 matrix with rows (a, b) and (b, c): min t with tI − A ⪰ 0, where a, b and c are private and
/// neighbours differ by `alpha` in one of them. The exact optimum, before noise: for the curator's eyes.
pub fn largest_eigenvalue(entries: [f64; 3], alpha: f64) -> conveil::Result<f64> {
    let mut m = Builder::new();
    let t = m.variable("t", 1);
    let [a, b, c] = ["a", "b", "c"].map(|name| m.parameter_within(name, -10.0, 10.0));
    m.minimize(t.at(0));
    m.semidefinite("t I - A", 2, vec![t.at(0) - a, -1.0 * b, t.at(0) - c]);
    let model = m.build_map()?;

    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(alpha))
        .privacy(Privacy::laplace(1.0))
        .declared(
            alpha,
            "an eigenvalue moves by at most the spectral norm of the change, which is α here",
        )
        .feasible(0.95);
    let plan = Plan::new(&model, ask)?;
    Ok(plan.curate(&entries)?.report().optimum)
}

/// The same for C, with α = 0.1; not a number where there is no answer.
#[allow(unsafe_code)] // the name by which C calls it
#[unsafe(no_mangle)]
pub extern "C" fn outside_largest_eigenvalue(a: f64, b: f64, c: f64) -> f64 {
    largest_eigenvalue([a, b, c], 0.1).unwrap_or(f64::NAN)
}
