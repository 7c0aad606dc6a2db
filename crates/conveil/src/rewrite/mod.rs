//! Closed forms as rewrites of the lifted program, each with its way back: local recourse, and the two ends of a box.

mod endpoints;
mod local;

pub(crate) use endpoints::Endpoints;
pub(crate) use local::{LocalRecourse, Solved};
