//! Ready-made private models: programs whose private numbers have names that a practitioner knows.
//!
//! ```
//! use conveil::ask::{Adjacency, Ask, Privacy, Request};
//! use conveil::plan::Plan;
//! use conveil_grid::Network;
//! use conveil_models::grid::{LoadBounds, Opf};
//!
//! let network = Network::builtin("5_pjm").unwrap();
//! let opf = Opf::of(network).bounds(LoadBounds::Relative(0.5)).build()?;
//! let plan = Plan::new(
//!     &opf,
//!     Ask::cost()
//!         .adjacency(Adjacency::one_entry(1.0))
//!         .privacy(Privacy::laplace(1.0))
//!         .sensitivity(Request::envelope(100.0))
//!         .feasible(0.99),
//! )?; // no private demand yet
//! let curated = plan.curate(&opf.nominal())?;
//! assert!(curated.report().loss > 0.0);
//! # Ok::<(), conveil::Error>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod classifier;
pub mod conic;
pub mod document;
pub mod ellipsoid;
mod failure;
pub mod files;
pub mod grid;
mod lines;
pub mod logistic;
pub mod model;
pub mod outlook;
mod outside;
pub mod picture;
pub mod portfolio;
pub mod records;
pub mod regression;
pub mod spec;
pub mod starter;
pub mod svm;
pub mod wind;
mod words;

pub use failure::Failure;
pub use model::KINDS;
pub use outside::is_clipped;
pub use words::{digits, exact};

/// The Rust in the documents compiles and runs.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/regression.md")]
    struct Regression;
}
