//! Small models and readings that the structure tests share.
#![allow(dead_code)]

use conveil::Error;
use conveil::ask::{
    Adjacency, Ask, MapKind, Privacy, Query, Request, SampleSize, Sampled, Universe,
};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{Builder, DataMap};

/// One Laplace answer with a declared sensitivity of 1: the scale is 1/ε, the 99% box ±4.605/ε.
pub fn laplace(query: Query, epsilon: f64) -> Ask {
    Ask::new(query)
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(epsilon))
        .declared(1.0, "for the test")
        .feasible(0.99)
}

/// What becomes of an ask on a model.
#[derive(Debug)]
pub enum Fate {
    /// Refused, with the message.
    Refused(String),
    /// The noise does not fit.
    DoesNotFit,
    /// Optimal, with the objective and the plan's warnings.
    Optimal(f64, Vec<String>),
    /// Anything else.
    Other(Error),
}

/// Plans and solves at θ.
pub fn fate(map: &dyn DataMap, ask: Ask, theta: &[f64]) -> Fate {
    match Plan::new(map, ask) {
        Err(e @ Error::Refused { .. }) => Fate::Refused(e.to_string()),
        Err(e) => Fate::Other(e),
        Ok(plan) => match plan.released().at(theta) {
            Ok(decided) => Fate::Optimal(decided.objective, plan.warnings().to_vec()),
            Err(Error::NoiseDoesNotFit(_)) => Fate::DoesNotFit,
            Err(e) => Fate::Other(e),
        },
    }
}

/// The message of an error that must be there.
pub fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("an error was expected"),
        Err(e) => e.to_string(),
    }
}

/// min x, l ≤ x ≤ 20, the lower limit private: Example 1 with c = 1.
pub fn interval_lp(cost: f64, upper: f64) -> conveil::program::AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let l = m.parameter("l");
    m.minimize(cost * x.at(0));
    m.between("limits", l, x.at(0), upper);
    m.build_map().unwrap()
}

/// Uniform on [low, high].
pub fn uniform(sampler: &mut Sampler, low: f64, high: f64) -> f64 {
    low + (high - low) * sampler.uniform()
}

/// min ½‖w‖² − θ'w on |w_j| ≤ 1: a projection onto a box, w_j = clamp(θ_j).
pub fn projection() -> conveil::program::AffineMap {
    let mut m = Builder::new();
    let w = m.variable("w", 2);
    for j in 0..2 {
        let target = m.parameter(&format!("target {j}"));
        m.quadratic(j, j, 1.0);
        m.minimize(-1.0 * (target * w.at(j)));
        m.between(&format!("w{j}"), -1.0, w.at(j), 1.0);
    }
    m.build_map().unwrap()
}

/// A sampled sensitivity with the exact number of pairs.
pub fn sampled(universe: Universe, gamma: f64, beta: f64, on: MapKind) -> Request {
    Request::Sampled(Sampled {
        universe,
        gamma,
        beta,
        seed: 77,
        size: SampleSize::Exact,
        on,
    })
}
