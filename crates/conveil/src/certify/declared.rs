//! M8e. Declared: a bound that the user states, with its reason; printed as the user's statement.

use crate::ask::{Adjacency, Bound, Norm};
use crate::error::{Error, Result};

/// A declared bound.
///
/// # Guarantee
/// None of its own: the privacy claim holds if the user's statement does.
#[derive(Clone, Debug)]
pub struct Declared {
    bound: f64,
    norm: Norm,
    reason: String,
    shaped: bool,
}

impl Declared {
    /// Checks that the number is one and that there is a reason.
    pub fn new(bound: Bound, reason: &str, norm: Norm, adjacency: &Adjacency) -> Result<Self> {
        let value = match bound {
            Bound::Total(value) => value,
            Bound::PerAlpha(value) => match adjacency.alpha() {
                Some(alpha) => value * alpha,
                None => {
                    return Err(Error::input(
                        "a bound per α needs an adjacency with an α: one-entry, l1 or l2",
                    ));
                }
            },
        };
        if !(value.is_finite() && value > 0.0) {
            return Err(Error::input(format!(
                "a declared sensitivity must be positive and finite, found {value}"
            )));
        }
        if reason.trim().is_empty() {
            return Err(Error::input(
                "a declared sensitivity needs its reason: it is printed with the guarantee",
            ));
        }
        Ok(Declared {
            bound: value,
            norm,
            reason: reason.trim().into(),
            shaped: false,
        })
    }

    /// Under a shape T the bound is on T⁻¹ times the answer, and the statement says so.
    pub(crate) fn measured_in(mut self, shape: &crate::rule::Shape) -> Self {
        self.shaped = !shape.is_identity();
        self
    }
}

impl Declared {
    /// The user's statement, for the guarantee's text.
    pub fn statement(&self) -> String {
        format!(
            "{} by at most {} in the {} norm, because: {}",
            if self.shaped {
                "the noise is shaped by T; the user states that adjacent datasets move T⁻¹ times the answer"
            } else {
                "the user states that adjacent datasets move the answer"
            },
            crate::digits::short(self.bound, 9),
            self.norm.symbol(),
            self.reason
        )
    }

    /// The bound.
    pub fn bound(&self) -> f64 {
        self.bound
    }
}
