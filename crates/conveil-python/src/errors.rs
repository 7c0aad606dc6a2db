//! Failures of the workbench as the exceptions of `conveil._errors`.

use conveil_text::naming::printable;
use conveil_workbench::{Cause, Failure, Kind};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Lines of messages are cut after this many characters.
const LONGEST_LINE: usize = 2000;

/// The exception of a failure.
pub(crate) fn raised(py: Python<'_>, failure: &Failure) -> PyErr {
    match instance(py, failure) {
        Ok(exception) => PyErr::from_value(exception),
        Err(_) => PyRuntimeError::new_err(failure.to_string()),
    }
}

/// The same as a value, for a report that stands beside its verdict.
pub(crate) fn verdict(
    py: Python<'_>,
    verdict: &Result<(), Failure>,
) -> PyResult<Option<Py<PyAny>>> {
    let failure = verdict.as_ref().err();
    let exception = failure.map(|failure| instance(py, failure).map(Bound::unbind));
    exception.transpose()
}

fn instance<'py>(py: Python<'py>, failure: &Failure) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("conveil._errors")?.getattr(class(failure))?;
    let more = PyDict::new(py);
    if let Some(Cause::Refused { what, why, instead }) = failure.cause() {
        let shown = |text: &str| printable(text, LONGEST_LINE);
        more.set_item("what", shown(what))?;
        more.set_item("why", shown(why))?;
        more.set_item("instead", shown(instead))?;
    }
    more.set_item("recorded", failure.is_recorded())?;
    class.call(
        (printable(&failure.to_string(), LONGEST_LINE),),
        Some(&more),
    )
}

/// The name of its class: that of its cause, where there is one.
fn class(failure: &Failure) -> &'static str {
    match failure.cause() {
        Some(Cause::Refused { .. }) => return "Refused",
        Some(Cause::Infeasible) => return "Infeasible",
        Some(Cause::Unbounded) => return "Unbounded",
        Some(Cause::NoiseDoesNotFit) => return "NoiseDoesNotFit",
        Some(Cause::NotAttainable) => return "NotAttainable",
        Some(Cause::Ledger) => return "LedgerError",
        // A cause that is told by its kind.
        _ => {}
    }
    match failure.kind() {
        Kind::Input => "InputError",
        Kind::NoSolution => "Infeasible",
        Kind::NotWithThisNoise => "NoiseDoesNotFit",
        Kind::NotWithTheseData => "NotWithTheseData",
        Kind::Flagged => "Flagged",
        Kind::OverBudget => "OverBudget",
        Kind::Interrupted => "Interrupted",
        Kind::NothingTested => "NothingTested",
        Kind::NotWritten | Kind::Undelivered => "NotWritten",
        _ => "SolverError",
    }
}
