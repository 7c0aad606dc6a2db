//! What settings may be: as flags on a command line, and as values from Rust.

use clap::builder::RangedU64ValueParser;
use conveil::{Error, Result};

/// The settings of a command line without flags.
///
/// # Panics
/// If a default is refused by its flag: a test reads them all.
pub(crate) fn defaults<S: clap::Args>() -> S {
    let command = S::augment_args(clap::Command::new("defaults").no_binary_name(true));
    let read = command.try_get_matches_from([""; 0]);
    match read.and_then(|flags| S::from_arg_matches(&flags)) {
        Ok(settings) => settings,
        Err(error) => panic!("a default is refused: {error}"),
    }
}

/// A whole number in a range.
pub(crate) fn count<T>(range: std::ops::RangeInclusive<u64>) -> RangedU64ValueParser<T>
where
    T: TryFrom<u64> + Clone + Send + Sync,
{
    RangedU64ValueParser::new().range(range)
}

fn number(
    text: &str,
    is_right: impl Fn(f64) -> bool,
    what: &str,
) -> std::result::Result<f64, String> {
    let value = text.trim().parse::<f64>().ok();
    let value = value.filter(|value| is_right(*value));
    value.ok_or_else(|| format!("must {what}"))
}

pub(crate) fn positive(text: &str) -> std::result::Result<f64, String> {
    number(text, |v| v.is_finite() && v > 0.0, "be a positive number")
}

pub(crate) fn share(text: &str) -> std::result::Result<f64, String> {
    number(text, |v| v > 0.0 && v < 1.0, "lie strictly between 0 and 1")
}

pub(crate) fn below_half(text: &str) -> std::result::Result<f64, String> {
    number(
        text,
        |v| v > 0.0 && v < 0.5,
        "lie strictly between 0 and 0.5",
    )
}

pub(crate) fn percent(text: &str) -> std::result::Result<f64, String> {
    number(
        text,
        |v| v > 0.0 && v < 100.0,
        "lie strictly between 0 and 100",
    )
}

pub(crate) fn check_positive(name: &str, value: f64) -> Result<()> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => Err(Error::Input(format!(
            "{name} must be positive and finite, found {value}"
        ))),
    }
}

/// Strictly between 0 and `most`.
pub(crate) fn check_below(name: &str, value: f64, most: f64) -> Result<()> {
    match value > 0.0 && value < most {
        true => Ok(()),
        false => Err(Error::Input(format!(
            "{name} must lie strictly between 0 and {most}, found {value}"
        ))),
    }
}

/// η of a chance constraint.
pub(crate) fn check_eta(value: f64) -> Result<()> {
    match value > 0.0 && value < 0.5 {
        true => Ok(()),
        false => Err(Error::Input(format!(
            "η must lie strictly between 0 and 1/2, found {value}"
        ))),
    }
}
