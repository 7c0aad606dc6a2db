//! Example 1 of the paper: a cost with a private limit, released so that the decision stays feasible.
//!
//! Run with `cargo run -p conveil --example scalar_lp`.

use conveil::ask::{Adjacency, Ask, Privacy};
use conveil::curator::compare;
use conveil::plan::Plan;
use conveil::program::Builder;
use conveil::solve::Batch;

pub(crate) fn main() -> conveil::Result<()> {
    // min 2x  s.t.  l ≤ x ≤ 20. The lower limit l is the private datum.
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let l = m.parameter("l");
    m.minimize(2.0 * x.at(0));
    m.between("limits", l, x.at(0), 20.0);
    let model = m.build_map()?;

    // Everything is planned before any data is seen.
    let plan = Plan::new(
        &model,
        Ask::cost()
            .adjacency(Adjacency::one_entry(1.0))
            .privacy(Privacy::laplace(1.0))
            .declared(2.0, "x* = l, so the cost moves twice as much as l does")
            .feasible(0.95),
    )?;
    println!("{}\n", plan.guarantee());

    let private_limit = [5.0];
    let curated = plan.curate(&private_limit)?;
    let report = curated.report();
    println!("The cheapest decision costs {:.3}.", report.optimum);
    println!(
        "Ready for noise, it costs {:.3}: privacy costs {:.3}.",
        report.objective, report.loss
    );

    // The price of privacy is the lower half of the noise's 95% box, no more.
    let set = plan.released().design().boxes()[0];
    assert!((report.loss + set.lower).abs() < 1e-6 * report.objective);
    assert!(report.empirical.probability() <= 0.05);

    // Adding noise to the answer instead breaks the limit every second time.
    let comparison = compare(&plan, &private_limit, 10_000, 1, &Batch::new())?;
    println!("\n{comparison}");
    let infeasible = |name: &str| {
        let row = comparison.rows.iter().find(|r| r.strategy == name);
        row.and_then(|r| r.infeasible_percent).unwrap_or(f64::NAN)
    };
    assert!(infeasible("output") > 49.99);
    assert!(infeasible("program") <= 5.0);
    Ok(())
}
