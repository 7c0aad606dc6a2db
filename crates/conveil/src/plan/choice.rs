//! Which strategy suits a program, by public structure alone: what is private, what is released, whether somebody carries
//! the decision out. The rule looks at no number of the data, so what it chooses is covered by the guarantee (M1).

use super::Projection;
use super::linear_term::LinearTerm;
use crate::ask::value::beyond_a_cost;
use crate::ask::{Ask, Query, Strategy};
use crate::error::{Error, Result};
use crate::program::DataMap;

/// A strategy and why it was chosen, in public words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The strategy.
    pub strategy: Strategy,
    /// Why.
    pub why: String,
}

impl Choice {
    /// A strategy with its reason.
    pub fn new(strategy: Strategy, why: impl Into<String>) -> Self {
        Choice {
            strategy,
            why: why.into(),
        }
    }

    /// The rule, for an ask whose strategy is open. `carry_out`: somebody carries out the decision behind the answer. It may
    /// solve the public program once, which the flag of the ask's settings stops: then there is no choice.
    pub fn by_rule(map: &dyn DataMap, ask: &Ask, carry_out: bool) -> Result<Self> {
        if !carry_out && ask.query == Query::Value && matches!(beyond_a_cost(map), Ok(Some(_))) {
            return Ok(Choice::new(
                Strategy::Output,
                "what is released is the optimal value, which is no sum of decisions",
            ));
        }
        let parts = map.private_parts();
        if parts.a || parts.b {
            return Ok(Choice::new(
                Strategy::Program,
                "the constraints are private, and only a decision that leaves room for the noise keeps them",
            ));
        }
        if carry_out {
            return Ok(Choice::new(
                Strategy::Program,
                "the decision is to be carried out, so that it must move with the noise",
            ));
        }
        match LinearTerm::new(map, ask) {
            Ok(_) => {
                return Ok(Choice::new(
                    Strategy::LinearTerm,
                    "only linear costs are private, beside a public quadratic cost and public constraints",
                ));
            }
            // Not a reason for another strategy.
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(_) => {}
        }
        let projects = (ask.query)
            .resolve(map, Strategy::Projected)
            .is_ok_and(|query| Projection::new(map, &query, &ask.settings).is_ok());
        Ok(match projects {
            true => Choice::new(
                Strategy::Projected,
                "the constraints are public, so that the noisy answer can be moved back onto them",
            ),
            false => Choice::new(
                Strategy::Output,
                "the constraints are public, and no decision is to be carried out",
            ),
        })
    }
}
