//! The verbs of a ledger.

use std::path::PathBuf;

use conveil_workbench::Failure;
use conveil_workbench::ledger::{
    Adoption, Basis, Between, LedgerFile, Neighbours, NewBudget, Pairs, Spend,
};
use pyo3::prelude::*;

use crate::bench::{Bench, Document, JudgedDocument, document, judged};
use crate::call;
use crate::errors::raised;

/// A neighbourhood as a card states it: a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Stated {
    adjacency: String,
    #[pyo3(default)]
    alpha: Option<f64>,
    #[pyo3(default)]
    record: Option<u64>,
    #[pyo3(default)]
    unit: Option<String>,
    numbers: u64,
    called: String,
    #[pyo3(default)]
    universe: Option<String>,
}

/// Between which datasets: those of a plan, or as stated.
fn between(bench: Option<&Bench>, neighbours: Option<Stated>) -> Result<Option<Between>, Failure> {
    match (bench, neighbours) {
        (None, None) => Ok(None),
        (Some(bench), None) => Ok(Some(Between::Bench(Box::new(bench.workbench().clone())))),
        (None, Some(stated)) => Ok(Some(Between::Stated(Neighbours {
            adjacency: stated.adjacency,
            alpha: stated.alpha,
            record: stated.record,
            unit: stated.unit,
            numbers: stated.numbers,
            called: stated.called,
            universe: stated.universe,
        }))),
        (Some(_), Some(_)) => Err(Failure::input(
            "between which datasets: take those of a plan, or state them, not both",
        )),
    }
}

/// Gives a dataset its budget, once; makes the file where there is none.
#[pyfunction]
#[pyo3(signature = (file, dataset, epsilon, delta=0.0, *, basic=false, bench=None, neighbours=None, observer=None))]
#[allow(
    clippy::too_many_arguments,
    reason = "each is an argument with a name in Python"
)]
pub(crate) fn ledger_init(
    py: Python<'_>,
    file: PathBuf,
    dataset: String,
    epsilon: f64,
    delta: f64,
    basic: bool,
    bench: Option<Bound<'_, Bench>>,
    neighbours: Option<Stated>,
    observer: Option<Bound<'_, PyAny>>,
) -> PyResult<Document> {
    let bench = bench.as_ref().map(Bound::get);
    call::run(py, observer, |heard| {
        let new = NewBudget {
            dataset,
            epsilon,
            delta,
            basic,
            between: between(bench, neighbours)?,
        };
        document(&LedgerFile::at(&file).init(&new, heard)?)
    })
}

/// What each dataset, or this one, may spend and has spent.
#[pyfunction]
#[pyo3(signature = (file, dataset=None))]
pub(crate) fn ledger_show(
    py: Python<'_>,
    file: PathBuf,
    dataset: Option<String>,
) -> PyResult<Document> {
    call::run(py, None, |_| {
        document(&LedgerFile::at(&file).show(dataset.as_deref())?)
    })
}

/// Records a spend that was made elsewhere, even over budget: then the last value is the exception that says so.
#[pyfunction]
#[pyo3(signature = (file, dataset, epsilon, delta=0.0, *, basis, rho=None, like_budget=false, bench=None, neighbours=None,
    everywhere=false, gamma=None, beta=None, part=None, planned=false, observer=None))]
#[allow(
    clippy::too_many_arguments,
    reason = "each is an argument with a name in Python"
)]
pub(crate) fn ledger_spend(
    py: Python<'_>,
    file: PathBuf,
    dataset: String,
    epsilon: f64,
    delta: f64,
    basis: &str,
    rho: Option<f64>,
    like_budget: bool,
    bench: Option<Bound<'_, Bench>>,
    neighbours: Option<Stated>,
    everywhere: bool,
    gamma: Option<f64>,
    beta: Option<f64>,
    part: Option<String>,
    planned: bool,
    observer: Option<Bound<'_, PyAny>>,
) -> PyResult<JudgedDocument> {
    let basis = match basis {
        "certificate" => Basis::Certificate,
        "declared" => Basis::Declared,
        "sampled" => Basis::Sampled,
        "paper-mode" => Basis::PaperMode,
        other => {
            let message = format!(
                "`basis` is \"certificate\", \"declared\", \"sampled\" or \"paper-mode\", found {other:?}"
            );
            return Err(raised(py, &Failure::input(message)));
        }
    };
    let bench = bench.as_ref().map(Bound::get);
    let spent = call::run(py, observer, |heard| {
        let spend = Spend {
            dataset,
            epsilon,
            delta,
            rho,
            basis,
            like_budget,
            between: between(bench, neighbours)?,
            pairs: Pairs {
                everywhere,
                gamma,
                beta,
            },
            part,
            planned,
        };
        LedgerFile::at(&file).spend(&spend, heard)
    })?;
    judged(py, &spent)
}

/// States between which datasets the budget and charges of an earlier version hold; nothing written before changes.
#[pyfunction]
#[pyo3(signature = (file, dataset, *, charges=None, budget=false, bench=None, neighbours=None, everywhere=false, gamma=None,
    beta=None, planned=false, observer=None))]
#[allow(
    clippy::too_many_arguments,
    reason = "each is an argument with a name in Python"
)]
pub(crate) fn ledger_adopt(
    py: Python<'_>,
    file: PathBuf,
    dataset: String,
    charges: Option<Vec<u64>>,
    budget: bool,
    bench: Option<Bound<'_, Bench>>,
    neighbours: Option<Stated>,
    everywhere: bool,
    gamma: Option<f64>,
    beta: Option<f64>,
    planned: bool,
    observer: Option<Bound<'_, PyAny>>,
) -> PyResult<Document> {
    let bench = bench.as_ref().map(Bound::get);
    call::run(py, observer, |heard| {
        let adoption = Adoption {
            dataset,
            charges,
            budget,
            between: between(bench, neighbours)?,
            pairs: Pairs {
                everywhere,
                gamma,
                beta,
            },
            planned,
        };
        document(&LedgerFile::at(&file).adopt(&adoption, heard)?)
    })
}

/// Checks the file and every hash chain; with a dataset and its head kept elsewhere, also that nothing was cut off.
#[pyfunction]
#[pyo3(signature = (file, dataset=None, head=None))]
pub(crate) fn ledger_verify(
    py: Python<'_>,
    file: PathBuf,
    dataset: Option<String>,
    head: Option<String>,
) -> PyResult<Document> {
    call::run(py, None, |_| {
        document(&LedgerFile::at(&file).verify(dataset.as_deref(), head.as_deref())?)
    })
}

/// Budgets and charges as JSON lines.
#[pyfunction]
#[pyo3(signature = (file, dataset=None))]
pub(crate) fn ledger_export(
    py: Python<'_>,
    file: PathBuf,
    dataset: Option<String>,
) -> PyResult<String> {
    call::run(py, None, |_| {
        LedgerFile::at(&file).export(dataset.as_deref())
    })
}
