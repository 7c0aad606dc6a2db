//! How models write numbers and places in messages and reports.

use conveil::curator::About;
use conveil::plan::{BasisKind, Plan};
use conveil::program::{Place, Program};

/// A row by its name, where that says more than its number.
pub(crate) fn row_name(program: &Program, place: &Place) -> String {
    match place {
        Place::B(i) if *i < program.rows() => format!("`{}`", program.row_name(*i)),
        other => other.to_string(),
    }
}

/// All digits of a number; in powers of ten where nobody counts the places.
pub fn exact(value: f64) -> String {
    match value.abs() < 1e9 {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}

/// Six significant digits, whatever the size.
pub(crate) fn significant(value: f64) -> String {
    significant_to(value, 6)
}

/// So many significant digits, whatever the size.
pub(crate) fn significant_to(value: f64, digits: usize) -> String {
    let rounded = rounded_to(value, digits);
    match rounded.abs() {
        size if size != 0.0 && !(1e-4..1e9).contains(&size) => format!("{rounded:e}"),
        _ => rounded.to_string(),
    }
}

/// The nearest number with so many significant digits.
pub(crate) fn rounded_to(value: f64, digits: usize) -> f64 {
    let written = format!("{value:.*e}", digits.saturating_sub(1));
    written.parse().unwrap_or(value)
}

/// A number with this many decimals; in powers of ten where nobody counts the places.
pub(crate) fn written(value: f64, places: usize) -> String {
    match value.abs() < 1e9 {
        true => format!("{value:.places$}"),
        false => format!("{value:.2e}"),
    }
}

/// Four significant digits or so, never in powers of ten while a person can count the places.
pub fn digits(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if (1e-4..1e7).contains(&value.abs()) => {
            let places = (3 - value.abs().log10().floor() as i32).clamp(0, 8) as usize;
            format!("{value:.places$}")
        }
        value => format!("{value:.3e}"),
    }
}

/// What sets the noise where no certificate does: then it does not follow from the number of records.
pub(crate) fn advice_without_certificate(plan: &Plan<'_>, about: About) -> Option<String> {
    match plan.guarantee().basis().kind() {
        BasisKind::Certificate => None,
        BasisKind::Declared => Some(format!(
            "The declared sensitivity sets the noise, whatever the number of records: a smaller one needs a reason of its own, and a larger ε lowers the noise{}",
            choosing("either", about)
        )),
        BasisKind::Sampled | BasisKind::PaperMode => Some(format!(
            "The sampled sensitivity sets the noise: what more records would make of it, only sampling again can tell, and a larger ε lowers the noise{}",
            choosing("them", about)
        )),
    }
}

/// What follows advice on settings: those chosen by private data are not covered.
pub(crate) fn choosing(what: &str, about: About) -> String {
    match about.is_private() {
        true => {
            format!(". Choosing {what} by looking at these data is not covered by the guarantee")
        }
        false => String::new(),
    }
}
