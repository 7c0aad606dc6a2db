//! Conveil releases answers from convex optimization models without giving away the data behind them.
//!
//! A curator solves a convex program on private data. Conveil makes the decision a linear function of privacy noise,
//! x(ζ) = x̄ + Xζ, optimises that function under a chance constraint, and so finds an answer that is differentially
//! private **and** feasible. This crate is the engine: it describes programs, plans, solves and checks, and releases nothing.
//!
//! ```
//! use conveil::ask::{Adjacency, Ask, Privacy};
//! use conveil::plan::Plan;
//! use conveil::program::Builder;
//!
//! // min x  s.t.  l ≤ x ≤ 20, the lower limit l is private.
//! let mut m = Builder::new();
//! let x = m.variable("x", 1);
//! let l = m.parameter("l");
//! m.minimize(x.at(0));
//! m.between("limits", l, x.at(0), 20.0);
//! let model = m.build_map()?;
//!
//! let plan = Plan::new(
//!     &model,
//!     Ask::cost()
//!         .adjacency(Adjacency::one_entry(1.0))
//!         .privacy(Privacy::laplace(1.0))
//!         .declared(1.0, "x* = l, so the cost moves as much as l does")
//!         .feasible(0.95),
//! )?; // no data yet; plan.guarantee() is final
//! let curated = plan.curate(&[5.0])?;
//! assert!(curated.report().empirical.probability() <= 0.05);
//! # Ok::<(), conveil::Error>(())
//! ```
#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod ask;
pub mod audit;
pub mod certify;
pub mod chance;
pub mod curator;
mod digits;
pub mod error;
pub mod memory;
pub mod noise;
pub mod plan;
pub mod program;
mod proof;
mod rewrite;
pub mod risk;
pub mod rule;
pub mod solve;

pub use error::{Error, Result};

/// The Rust in the documents compiles and runs.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/guide.md")]
    struct Guide;
    #[doc = include_str!("../../../docs/mathematics.md")]
    struct Mathematics;
    #[doc = include_str!("../../../docs/threat-model.md")]
    struct ThreatModel;
    #[doc = include_str!("../../../docs/writing-rust.md")]
    struct WritingRust;
}
