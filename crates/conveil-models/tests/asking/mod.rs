//! What the tests ask of the power flow: its cost, one load hidden, 99% feasible.
#![allow(dead_code)] // each test file uses a part of it

use conveil::Result;
use conveil::ask::{Adjacency, Ask, Bound, Privacy, Request};
use conveil::plan::Plan;
use conveil_grid::Network;
use conveil_models::grid::{LoadBounds, Opf};

/// The networks of the paper's Table 1.
pub const OF_THE_PAPER: [&str; 5] = ["5_pjm", "14_ieee", "24_ieee_rts", "57_ieee", "89_pegase"];

/// Its α, in MWh.
pub const ALPHAS: [f64; 3] = [1.0, 3.0, 10.0];

/// Loads within ±30% of a built-in network's.
pub fn bounded(name: &str) -> Opf {
    let network = Network::builtin(name).unwrap();
    Opf::of(network)
        .bounds(LoadBounds::Relative(0.3))
        .build()
        .unwrap()
}

fn cost(alpha: f64, epsilon: f64) -> Ask {
    Ask::cost()
        .adjacency(Adjacency::one_entry(alpha))
        .privacy(Privacy::laplace(epsilon))
        .feasible(0.99)
}

/// The paper's α·c_max.
pub fn declared(opf: &Opf, alpha: f64) -> Ask {
    cost(alpha, 1.0).sensitivity(Request::Declared {
        bound: Bound::PerAlpha(opf.largest_cost()),
        reason: "the largest cost of a unit".into(),
    })
}

/// An envelope at the price c_max.
pub fn enveloped(opf: &Opf, alpha: f64, epsilon: f64) -> Result<Plan<'_>> {
    enveloped_at(opf, alpha, epsilon, opf.largest_cost())
}

/// An envelope at this price.
pub fn enveloped_at(opf: &Opf, alpha: f64, epsilon: f64, price: f64) -> Result<Plan<'_>> {
    Plan::new(
        opf,
        cost(alpha, epsilon).sensitivity(Request::envelope(price)),
    )
}
