//! Shifted output (M13, M17a): noise on the optimal value, plus a public room for it.
//!
//! v − l + ζ with a public box [l, u] of the noise. Where the values of feasible decisions reach u − l beyond the optimum, a
//! decision has the released value for every ζ in the box.

use crate::ask::{Ask, ResolvedQuery};
use crate::chance::{BoxSet, Split};
use crate::digits::short;
use crate::error::{Error, Result};
use crate::noise::LatticeLaw;
use crate::rule::Shape;

/// The public room that a noisy optimal value is moved by.
///
/// # Guarantee
/// A function of η, the split and the noise law alone: moving an answer by it is post-processing. The noise lies in the box
/// with probability at least 1 − η, so where the values of feasible decisions reach `reach` beyond the optimum, some feasible
/// decision has the released value with at least that probability; whether they do is private. Tests:
/// `a_shifted_value_is_that_of_a_decision_as_often_as_promised`, `the_shift_is_public`.
#[derive(Clone, Debug)]
pub(crate) struct Shift {
    /// What is added to the noisy answer: of the sign that makes it worse.
    pub(crate) amount: f64,
    /// u − l in the unit of the answer.
    pub(crate) reach: f64,
    pub(crate) eta: f64,
}

impl Shift {
    /// Refuses a query that is no optimal value, and a split that depends on the data.
    pub(crate) fn new(
        ask: &Ask,
        query: &ResolvedQuery,
        shape: &Shape,
        noise: &LatticeLaw,
    ) -> Result<Self> {
        let refuse = |why: &str, instead: &str| {
            let instead = format!("{instead}; or strategy = output");
            Err(Error::refused("strategy = shifted", why, instead))
        };
        let feasibility = &ask.feasibility;
        feasibility.validate()?;
        let Some(factor) = query.value_factor.filter(|_| query.slope.is_none()) else {
            return refuse(
                "it makes room on one side of an optimal value, and the query is none",
                "a query of the cost or of the value",
            );
        };
        if feasibility.each {
            return refuse(
                "η is for each row by itself, and one released value has one event",
                "rows = \"joint\"",
            );
        }
        let share = match feasibility.split {
            Split::Symmetric => 0.5,
            Split::LowerShare(share) => share,
            Split::Optimise => {
                return refuse(
                    "the best split depends on how far the feasible values reach, which is private",
                    "split = symmetric, or a lower tail share fixed in advance",
                );
            }
        };
        // A number that is maximised has its room below: its lower end is ours seen from above.
        let set = BoxSet::holding(noise, feasibility.eta, share)?;
        let t = shape.row(0)[0];
        let ends = [set.lower * t, set.upper * t];
        let (down, up) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        Ok(Shift {
            amount: if factor > 0.0 { -down } else { -up },
            reach: up - down,
            eta: feasibility.eta,
        })
    }

    /// What is promised, in words.
    pub(super) fn text(&self) -> String {
        format!(
            "with probability at least {} a feasible decision has the released value, to the tolerance of the solver, wherever feasible decisions have all values from the one before the noise to {} beyond it; whether they have is private, and no decision is carried out",
            short(1.0 - self.eta, 9),
            short(self.reach, 6)
        )
    }
}
