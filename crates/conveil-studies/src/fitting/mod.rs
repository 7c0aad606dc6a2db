//! Private regressions over seeds: what the studies of Section 4.3 share.
//!
//! A [`Way`] leads to private weights; a [`Trial`] is one seed, a [`Task`] its paper mode; a fan is the noise around weights,
//! and what it costs; [`Seeds`] are one way as a distribution.

mod fan;
mod seeds;
mod task;
mod trial;
mod way;

pub use fan::CurveFan;
pub(crate) use fan::{Metric, Noise};
pub(crate) use seeds::{Entry, Head, Seeds};
pub use seeds::{Fit, Spread};
pub(crate) use task::{Given, Task};
pub(crate) use trial::{ISOTROPIC, Trial};
pub use way::Way;

/// γ of the paper's sampled pairs: its 0.5 is a slip, as S = 199 shows (M14).
pub(crate) const GAMMA: f64 = 0.05;

/// β of its sampled pairs and boxes.
pub(crate) const BETA: f64 = 0.1;
