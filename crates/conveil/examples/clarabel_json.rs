//! A problem that Clarabel saved as JSON becomes a private model: say which numbers are private, and ask.
//!
//! Run with `cargo run -p conveil --example clarabel_json`.

use conveil::ask::{Adjacency, Ask, Privacy};
use conveil::plan::Plan;
use conveil::program::{AffineMap, Location, Parameter, Place, Program};
use conveil::solve::{Settings, solve_checked};

/// min x₀ + 3x₁, x₀ + x₁ = 10, 0 ≤ x₀ ≤ 10, 0 ≤ x₁ ≤ 2.
const SAVED: &str = include_str!("data/dispatch.json");

pub(crate) fn main() -> conveil::Result<()> {
    let program = Program::from_json("dispatch.json", SAVED)?;
    let optimum = solve_checked(&program, &Settings::default())?.objective;
    println!("The saved problem has the optimal cost {optimum:.4}.");
    assert!((optimum - 10.0).abs() < 1e-6);

    // The demand, right-hand side of row 0, is private: what the file holds there is θ's value, not structure.
    let demand = Parameter::new("demand").at_all(vec![Location::new(Place::B(0), 1.0)]);
    let mut template: serde_json::Value =
        serde_json::from_str(SAVED).map_err(|e| conveil::Error::Input(e.to_string()))?;
    template["b"][0] = 0.0.into();
    let template = Program::from_json("dispatch.json", &template.to_string())?;
    let model = AffineMap::new(template, vec![demand])?;

    let ask = |epsilon: f64| {
        Ask::cost()
            .adjacency(Adjacency::one_entry(0.1))
            .privacy(Privacy::laplace(epsilon))
            .declared(0.3, "no unit costs more than 3")
            .feasible(0.99)
    };
    let plan = Plan::new(&model, ask(1.0))?;
    let report = plan.curate(&[10.0])?.report().clone();
    println!("{report}");
    let set = plan.released().design().boxes()[0];
    assert!((report.loss + set.lower).abs() < 1e-5);

    // The cost can be anything from 10 to 14: a box longer than 4 does not fit, and the error says what is in the way.
    let too_private = Plan::new(&model, ask(0.5))?.curate(&[10.0]);
    let Err(refusal) = too_private else {
        panic!("a box of length 5.5 in an interval of length 4");
    };
    println!("\nAt ε = 0.5: {refusal}");
    assert!(matches!(refusal, conveil::Error::NoiseDoesNotFit(_)));
    Ok(())
}
