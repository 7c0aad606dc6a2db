//! What every front end of Conveil sits on: a spec file in, plain values out. No printing, no terminal.
//!
//! One straight road: [`inputs`] reads the spec and its problem or network, [`model`] turns them into the public map θ ↦ program
//! and, separately, the private datasets, [`wishes`] into what is asked of the engine. [`check`] takes the public half of that
//! road only.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod check;
mod conic;
mod ellipsoid;
pub mod failure;
pub mod grid;
mod grid_report;
pub mod inputs;
pub mod model;
pub mod outside;
mod regression;
mod regression_report;
mod svm;
pub mod svm_compare;
pub mod wishes;
