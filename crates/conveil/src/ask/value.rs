//! The optimal value as a query (M8a, M8b): the whole objective, which is one number whatever the optimum is.

use super::{ResolvedQuery, Strategy};
use crate::error::{Error, Result};
use crate::program::DataMap;

/// What the released number is called.
pub(crate) const LABEL: &str = "value";

/// Why the value of this model is more than a public linear cost; none where it is one, so that decisions can carry noise
/// in it as in any cost.
pub(crate) fn beyond_a_cost(map: &dyn DataMap) -> Result<Option<&'static str>> {
    let (program, parts) = (map.template(), map.private_parts());
    let why = match () {
        _ if map.affine().is_none() => "how the objective depends on the data cannot be inspected",
        _ if parts.p || program.p().nnz() > 0 => "the objective is quadratic",
        _ if parts.q => "the cost coefficients are private",
        _ if program.q().iter().all(|q| *q == 0.0) => {
            return Err(Error::input(
                "there is no value to release: the objective is zero",
            ));
        }
        _ if program.constant() != 0.0 => "the objective has a constant",
        _ => return Ok(None),
    };
    Ok(Some(why))
}

/// The query of the objective itself, for noise on the answer.
pub(super) fn of_the_objective(strategy: Strategy, why: &str) -> Result<ResolvedQuery> {
    let has_decision = |strategy| {
        matches!(
            strategy,
            Strategy::Program | Strategy::Projected | Strategy::LinearTerm
        )
    };
    if has_decision(strategy) {
        return Err(Error::refused(
            format!("a query of the value with strategy = {}", strategy.key()),
            format!(
                "{why}, so that the value is no linear combination of the variables, and no decision can carry noise in it"
            ),
            "strategy = output, which releases the number alone; or write the cost through an epigraph variable and release it as `at-most` with a public slope",
        ));
    }
    Ok(objective())
}

/// The objective of whatever program is solved.
pub(crate) fn objective() -> ResolvedQuery {
    ResolvedQuery {
        rows: vec![Vec::new()],
        labels: vec![LABEL.into()],
        slope: None,
        value_factor: Some(1.0),
        is_objective: true,
    }
}
