//! A second-order cone program: place an amount within a private radius, and release the total.
//!
//! Run with `cargo run -p conveil --example socp_sum`.

use conveil::ask::{Adjacency, Ask, Privacy, Query};
use conveil::plan::Plan;
use conveil::program::Builder;

pub(crate) fn main() -> conveil::Result<()> {
    // max x₀ + 2x₁ − ½‖x‖²  s.t.  ‖x‖ ≤ r: the radius is private.
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let radius = m.parameter("radius");
    m.minimize(-1.0 * x.dot(&[1.0, 2.0]));
    m.minimize_half_square(1.0, &x.entries());
    m.norm_at_most("ball", x.entries(), radius);
    let model = m.build_map()?;

    let plan = Plan::new(
        &model,
        Ask::new(Query::Sum(vec!["x".into()]))
            .adjacency(Adjacency::one_entry(0.1))
            .privacy(Privacy::laplace(1.0))
            .declared(0.15, "the sum moves at most √2 times the radius")
            .feasible(0.99),
    )?;
    println!("{}\n", plan.guarantee());

    let curated = plan.curate(&[1.5])?;
    let report = curated.report();
    let decided = curated.decided();
    println!(
        "Without noise the objective is {:.4}, with room for noise {:.4}.",
        report.optimum, report.objective
    );
    println!("The decision is {:.4?} + X·ζ with X:", decided.mean);
    for j in 0..2 {
        println!("  {:?}", decided.recourse.row(j));
    }

    // The noise of the sum is shared out over both entries as the cone likes it, and adds up to one.
    let carried: f64 = (0..2)
        .flat_map(|j| decided.recourse.row(j).into_owned())
        .map(|e| e.1)
        .sum();
    assert!((carried - 1.0).abs() < 1e-9);
    // The ball holds at both ends of the box, so in between.
    let set = plan.released().design().boxes()[0];
    for zeta in [set.lower, set.upper] {
        let shift = decided.recourse.apply(&[zeta]);
        let length = decided
            .mean
            .iter()
            .zip(&shift)
            .map(|(m, s)| (m + s) * (m + s))
            .sum::<f64>();
        assert!(length.sqrt() <= 1.5 + 1e-6);
    }
    assert!(report.empirical.probability() <= 0.01);
    Ok(())
}
