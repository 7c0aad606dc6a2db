//! Where the pairs of an audit come from: a public set of datasets.

use crate::ask::{Request, Universe};
use crate::error::{Error, Result};
use crate::plan::Plan;

/// The stated universe; else the one that the plan's sensitivity was sampled from; else the box of the public bounds.
pub(super) fn universe(plan: &Plan<'_>, stated: Option<&Universe>) -> Result<Universe> {
    let parameters = plan.released().map().parameters();
    let found = match (stated, plan.sensitivity()) {
        (Some(universe), _) => universe.clone(),
        (None, Request::Sampled(sampled)) => sampled.universe.clone(),
        _ => {
            if let Some(open) = parameters.iter().find(|p| p.bounds().is_none()) {
                return Err(Error::input(format!(
                    "an audit needs a public set of datasets to draw pairs from: state a universe, or public bounds for every private parameter (`{}` has none)",
                    open.name()
                )));
            }
            Universe::between_bounds(parameters)?
        }
    };
    if found.len() != parameters.len() {
        return Err(Error::input(format!(
            "the universe has {} entries, but the model has {} private parameters",
            found.len(),
            parameters.len()
        )));
    }
    Ok(found)
}
