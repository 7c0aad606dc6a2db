//! Private responses, public regressors: weights that respect public sign and order constraints after noise.
//!
//! Run with `cargo run -p conveil --example least_squares`.

use conveil::ask::{Adjacency, Ask, Privacy, Query};
use conveil::plan::Plan;
use conveil::program::Builder;

/// Regressors (1, hour, hour²) at ten hours, scaled.
fn regressor(i: usize) -> [f64; 3] {
    let t = i as f64 / 9.0;
    [1.0, t, t * t]
}

pub(crate) fn main() -> conveil::Result<()> {
    // min ½ Σ (φᵢ'w − yᵢ)² + ½‖w‖²  s.t.  w ≥ 0: the responses y are private.
    let mut m = Builder::new();
    let w = m.variable("w", 3);
    m.minimize_half_square(1.0, &w.entries());
    for i in 0..10 {
        let y = m.parameter(&format!("y{i}"));
        let fit = w.dot(&regressor(i));
        m.minimize_half_square(1.0, std::slice::from_ref(&fit));
        m.minimize(-1.0 * (y * fit));
    }
    for j in 0..3 {
        m.at_most(&format!("sign {j}"), 0.0, w.at(j));
    }
    let model = m.build_map()?;

    // One response changes by at most 0.1. P ⪰ I makes the weights move at most ‖φ‖·0.1 ≤ √3·0.1 in ℓ₂, 0.3 in ℓ₁.
    let plan = Plan::new(
        &model,
        Ask::new(Query::Identity)
            .adjacency(Adjacency::one_entry(0.1))
            .privacy(Privacy::laplace(2.0))
            .declared(0.3, "strong convexity with P ⪰ I, and ‖φ‖₂ ≤ √3")
            .feasible(0.9),
    )?;
    println!("{}\n", plan.guarantee());

    let y: Vec<f64> = (0..10).map(|i| 2.0 + 3.0 * i as f64 / 9.0).collect();
    let curated = plan.curate(&y)?;
    let report = curated.report();
    println!("{report}");

    // The identity query leaves nothing to choose: every weight carries its own noise.
    for j in 0..3 {
        assert_eq!(*curated.decided().recourse.row(j), [(j, 1.0)]);
    }
    assert!(report.loss > 0.0);
    assert!(report.empirical.probability() <= 0.1);
    Ok(())
}
