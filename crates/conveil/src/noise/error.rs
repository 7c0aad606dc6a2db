//! What can go wrong when noise is described or asked about.

use crate::digits::short;
use std::ops::Range;
use thiserror::Error;

/// A request about noise that has no answer, with what was found and what would be right.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// A number lies outside the range in which the formula holds.
    #[error("the {what} must lie in {range}, found {}", short(*found, 17))]
    OutOfRange {
        /// The quantity, in words.
        what: &'static str,
        /// The value that was given.
        found: f64,
        /// The range in which it would be right.
        range: &'static str,
    },
    /// A count lies outside the range in which the formula holds.
    #[error("the {what} must lie in {range}, found {found}")]
    CountOutOfRange {
        /// The quantity, in words.
        what: &'static str,
        /// The count that was given.
        found: u64,
        /// The range in which it would be right.
        range: &'static str,
    },
    /// A weight of a weighted sum is not a finite number.
    #[error("weight {index} is {found}; every weight must be a finite number")]
    Weight {
        /// The weight's place, counted from 0.
        index: usize,
        /// The weight that was given.
        found: f64,
    },
    /// More successes than trials.
    #[error("found {successes} successes in {trials} trials; there can be at most one per trial")]
    Successes {
        /// The successes that were given.
        successes: u64,
        /// The trials that were given.
        trials: u64,
    },
    /// A safety factor was named that is not proven for the noise at hand.
    #[error(
        "the {factor} factor is not proven for {terms} term(s) of {law} noise; proven are: {proven}"
    )]
    Unproven {
        /// The factor that was named.
        factor: &'static str,
        /// The law of the noise.
        law: &'static str,
        /// The number of noise terms in the sum.
        terms: usize,
        /// The factors that are proven there.
        proven: String,
    },
    /// More samples would be needed than can be counted on.
    #[error("{what} needs more than {limit} samples; a larger η, γ or β needs fewer")]
    TooManySamples {
        /// What the samples are for.
        what: &'static str,
        /// The largest number supported.
        limit: u64,
    },
    /// The result is not a finite number although the inputs are.
    #[error("the {what} is too large for a 64-bit number; rescale the data")]
    Overflow {
        /// The result, in words.
        what: &'static str,
    },
}

/// `found`, if it lies strictly within (which also refuses NaN).
pub(super) fn strictly_between(
    what: &'static str,
    found: f64,
    within: Range<f64>,
    range: &'static str,
) -> Result<f64, NoiseError> {
    if within.start < found && found < within.end {
        Ok(found)
    } else {
        Err(NoiseError::OutOfRange { what, found, range })
    }
}

/// A probability strictly inside (0, 1).
pub(super) fn open_probability(what: &'static str, found: f64) -> Result<f64, NoiseError> {
    strictly_between(what, found, 0.0..1.0, "(0, 1)")
}

/// A tail share strictly inside (0, 1/2): M5d and M5e.
pub(super) fn tail_share(found: f64) -> Result<f64, NoiseError> {
    strictly_between("tail share η", found, 0.0..0.5, "(0, 1/2)")
}

/// A length (scale, sensitivity, bound) whose square is still an ordinary number.
pub(super) fn length(what: &'static str, found: f64) -> Result<f64, NoiseError> {
    const RANGE: &str = "[1e-150, 1e150] (positive and finite, so that its square is, too)";
    if (1e-150..=1e150).contains(&found) {
        Ok(found)
    } else {
        let range = RANGE;
        Err(NoiseError::OutOfRange { what, found, range })
    }
}

/// `value`, if it is finite.
pub(super) fn finite(what: &'static str, value: f64) -> Result<f64, NoiseError> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(NoiseError::Overflow { what })
    }
}
