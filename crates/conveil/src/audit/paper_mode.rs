//! The paper's own calibration, with what a short audit finds of it beside the claim.

use super::quick;
use crate::ask::{Ask, Request};
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::program::DataMap;

impl<'m> Plan<'m> {
    /// The paper's way: the noise is calibrated to the deterministic map over a universe around the *private* data.
    /// The guarantee says what that is worth, with the ε that a short audit found beside the claimed one; nothing that
    /// this plan makes may be called private.
    pub fn paper_mode(map: &'m dyn DataMap, ask: Ask, theta: &[f64]) -> Result<Self> {
        let is_sampled = matches!(ask.sensitivity, Some(Request::Sampled(_)));
        let plan = Self::paper_mode_unaudited(map, ask, theta)?;
        if !is_sampled {
            return Ok(plan);
        }
        let found = match quick(&plan, &plan.ask().batch()) {
            Ok(report) => report.beside(),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(other) => format!("an audit found no answer: {other}"),
        };
        Ok(plan.with_audit(&found))
    }
}
