//! Any problem that Clarabel has saved, with private numbers in it.

mod agreement;
mod private;
mod public;
mod starter;
mod stated;
mod variables;

use crate::model::Kind;
use crate::spec::private::{LABEL, UNIVERSE};

pub use stated::{Conic, ConstraintBlock, Entry, Parameter};

/// `model = "conic"`.
pub(crate) static KIND: Kind = Kind {
    word: "conic",
    problem: &["file", "variable", "constraint", "objective"],
    private: &["parameter", "data", LABEL, UNIVERSE],
    query: &[],
    releases: &[
        "identity", "cost", "value", "sum", "weighted", "rows", "at-most",
    ],
    releases_help: "`sum`, `weighted` and `rows` release sums of variables",
    per_alpha: &[],
    facts: &[],
    eta: "eta = 0.01",
    read: |table| Ok(Box::new(Conic::read(table)?)),
    starter: &starter::STARTER,
};
