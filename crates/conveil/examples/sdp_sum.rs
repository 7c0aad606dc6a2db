//! A small semidefinite program: the nearest correlation matrix to private estimates, of which a sum is released.
//!
//! Run with `cargo run -p conveil --example sdp_sum`.

use conveil::ask::{Adjacency, Ask, Privacy, Query};
use conveil::plan::Plan;
use conveil::program::{Affine, Builder};

pub(crate) fn main() -> conveil::Result<()> {
    // min ½‖c − ĉ‖² over c with [1 c₀ c₁; c₀ 1 c₂; c₁ c₂ 1] ⪰ 0: the estimates ĉ are private.
    let mut m = Builder::new();
    let c = m.variable("c", 3);
    m.minimize_half_square(1.0, &c.entries());
    for j in 0..3 {
        let estimate = m.parameter(&format!("estimate {j}"));
        m.minimize(-1.0 * (estimate * c.at(j)));
    }
    let one = || Affine::constant(1.0);
    m.semidefinite(
        "correlation",
        3,
        vec![one(), c.at(0), one(), c.at(1), c.at(2), one()],
    );
    let model = m.build_map()?;

    let plan = Plan::new(
        &model,
        Ask::new(Query::Sum(vec!["c".into()]))
            .adjacency(Adjacency::one_entry(0.05))
            .privacy(Privacy::laplace(1.0))
            .declared(
                0.1,
                "a projection onto a public convex set does not stretch: √3 · 0.05",
            )
            .feasible(0.95),
    )?;
    println!("{}\n", plan.guarantee());

    let curated = plan.curate(&[0.9, 0.8, -0.3])?;
    let report = curated.report();
    println!("{report}");

    // At both ends of the noise's box the matrix is a correlation matrix: 1 + 2abc ≥ a² + b² + c².
    let decided = curated.decided();
    let set = plan.released().design().boxes()[0];
    for zeta in [set.lower, set.upper] {
        let shift = decided.recourse.apply(&[zeta]);
        let [a, b, c] = [0, 1, 2].map(|j| decided.mean[j] + shift[j]);
        println!("at ζ = {zeta:+.3} the correlations are {a:.3}, {b:.3}, {c:.3}");
        assert!(1.0 + 2.0 * a * b * c - a * a - b * b - c * c >= -1e-6);
    }
    assert!(report.empirical.probability() <= 0.05);
    Ok(())
}
