//! What makes sense in a study's settings.

use conveil::{Error, Result};

pub(crate) fn positive(name: &str, value: f64) -> Result<()> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => Err(Error::Input(format!(
            "{name} must be positive and finite, found {value}"
        ))),
    }
}

/// Strictly between 0 and `most`.
pub(crate) fn below(name: &str, value: f64, most: f64) -> Result<()> {
    match value > 0.0 && value < most {
        true => Ok(()),
        false => Err(Error::Input(format!(
            "{name} must lie strictly between 0 and {most}, found {value}"
        ))),
    }
}

/// η of a chance constraint.
pub(crate) fn eta(value: f64) -> Result<()> {
    match value > 0.0 && value < 0.5 {
        true => Ok(()),
        false => Err(Error::Input(format!(
            "η must lie strictly between 0 and 1/2, found {value}"
        ))),
    }
}
