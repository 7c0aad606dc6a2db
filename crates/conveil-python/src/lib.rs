//! `conveil._core`: the extension module of the Python package `conveil`, over the workbench.
//!
//! Texts in, texts out: a spec and the files that it names come as Python strings, results leave as JSON and as text for
//! people. Nothing is decided here: which requests are right, what is charged and when is the workbench's. What this crate
//! adds is what Python needs: threads of its own for every call, an answer to Ctrl-C, and exceptions.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod bench;
mod call;
mod cells;
mod errors;
mod ledger;
mod observer;
mod study;

use pyo3::prelude::*;

/// The engine of `conveil`. Private: use the functions of `conveil`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::bench::{Bench, card_page};
    #[pymodule_export]
    use crate::cells::{
        audit_blocks, audit_of, audit_sample, audit_search, frontier_cell, frontier_of,
        frontier_values, sensitivity_of,
    };
    #[pymodule_export]
    use crate::ledger::{
        ledger_adopt, ledger_export, ledger_init, ledger_show, ledger_spend, ledger_verify,
    };
    #[pymodule_export]
    use crate::study::{study_cell, study_names, study_of, study_parts};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
