//! What every front end of Conveil sits on: a spec file in, plain values out. No printing, no terminal.
//!
//! One straight road: [`inputs`] reads the spec and its problem or network, [`model`] turns them into the public map θ ↦ program
//! and, separately, the private datasets, [`wishes`] into what is asked of the engine. [`check`] takes the public half of that
//! road only.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod audit;
pub mod check;
mod conic;
mod data;
mod ellipsoid;
pub mod failure;
pub mod grid;
mod grid_report;
pub mod inputs;
pub mod ledger;
pub mod model;
mod observer;
pub mod outside;
mod recipient;
mod regression;
mod regression_report;
mod release;
mod svm;
pub mod svm_compare;
pub mod wishes;
mod workbench;

pub use audit::{Findings, Judged, Probe, read_witness};
pub use failure::{Failure, Kind};
pub use model::Report;
pub use observer::{Observer, Silent, Stage};
pub use recipient::{Answer, Delivery, Recipient, Spent};
pub use release::{Account, Releasing, Unreleased};
pub use workbench::{Comparing, Comparison, Sweep, Text, Workbench};
