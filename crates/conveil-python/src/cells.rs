//! Cells: pieces of an audit, a measurement, a frontier or a study, as texts that go to other processes and come back.
//! Nothing here is a release.

use conveil::audit::{Probed, Witness};
use conveil_workbench::{Cells, Failure, Sweep};
use pyo3::prelude::*;

use crate::bench::{
    Audited, Bench, Document, Files, JudgedDocument, axis, document, judged, probe,
};
use crate::call;
use crate::errors::raised;

/// "released", or "without noise".
fn probed(map: &str) -> Result<Probed, Failure> {
    match map {
        "released" => Ok(Probed::Released),
        "without noise" => Ok(Probed::WithoutNoise),
        other => Err(Failure::input(format!(
            "the map is \"released\" or \"without noise\", found {other:?}"
        ))),
    }
}

/// The blocks of an audit with so many pairs: the first pair, and the one behind the last.
#[pyfunction]
#[pyo3(signature = (bench, pairs=None))]
pub(crate) fn audit_blocks(bench: &Bound<'_, Bench>, pairs: Option<u64>) -> Vec<(u64, u64)> {
    let probe = probe(pairs, None, None, None);
    bench.get().workbench().blocks(&probe)
}

/// Solves a block of pairs, on so many threads.
#[pyfunction]
#[pyo3(signature = (bench, map, block, *, pairs=None, seed=None, threads=None, observer=None))]
#[allow(
    clippy::too_many_arguments,
    reason = "each is an argument with a name in Python"
)]
pub(crate) fn audit_sample(
    py: Python<'_>,
    bench: Bound<'_, Bench>,
    map: &str,
    block: (u64, u64),
    pairs: Option<u64>,
    seed: Option<u64>,
    threads: Option<usize>,
    observer: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (bench, probe) = (bench.get(), probe(pairs, seed, None, None));
    call::run_on(py, threads, observer, |heard| {
        let map = probed(map)?;
        bench.workbench().sampled_cell(&probe, map, block, heard)
    })
}

/// Searches for the worst pair from those of all blocks.
#[pyfunction]
#[pyo3(signature = (bench, map, blocks, *, pairs=None, seed=None, climbs=None, solves=None, threads=None, observer=None))]
#[allow(
    clippy::too_many_arguments,
    reason = "each is an argument with a name in Python"
)]
pub(crate) fn audit_search(
    py: Python<'_>,
    bench: Bound<'_, Bench>,
    map: &str,
    blocks: Vec<String>,
    pairs: Option<u64>,
    seed: Option<u64>,
    climbs: Option<u64>,
    solves: Option<u64>,
    threads: Option<usize>,
    observer: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (bench, probe) = (bench.get(), probe(pairs, seed, climbs, solves));
    call::run_on(py, threads, observer, |heard| {
        let map = probed(map)?;
        bench.workbench().search_cell(&probe, map, &blocks, heard)
    })
}

/// The audit that these cells make, as `Bench.audit` gives it. Answers are drawn here, for the worst pair alone.
#[pyfunction]
#[pyo3(signature = (bench, blocks, search, *, pairs=None, seed=None, climbs=None, solves=None, draws=None, observer=None))]
#[allow(
    clippy::too_many_arguments,
    reason = "each is an argument with a name in Python"
)]
pub(crate) fn audit_of(
    py: Python<'_>,
    bench: Bound<'_, Bench>,
    blocks: Vec<String>,
    search: &str,
    pairs: Option<u64>,
    seed: Option<u64>,
    climbs: Option<u64>,
    solves: Option<u64>,
    draws: Option<u64>,
    observer: Option<Bound<'_, PyAny>>,
) -> PyResult<Audited> {
    let (bench, probe) = (bench.get(), probe(pairs, seed, climbs, solves));
    let found = call::run(py, observer, |heard| {
        let blocks = &blocks;
        let cells = Cells { blocks, search };
        bench.workbench().audit_of(&probe, cells, draws, heard)
    })?;
    let witness = found.report.white_box.witness().map(Witness::to_json);
    let (json, text, verdict) = judged(py, &found)?;
    Ok((json, text, verdict, witness))
}

/// Blocks and search of one map.
type Probing = (Vec<String>, String);

/// The measurement that these cells make, as `Bench.sensitivity` gives it.
#[pyfunction]
#[pyo3(signature = (bench, released, without_noise, *, pairs=None, seed=None, climbs=None, solves=None, observer=None))]
#[allow(
    clippy::too_many_arguments,
    reason = "each is an argument with a name in Python"
)]
pub(crate) fn sensitivity_of(
    py: Python<'_>,
    bench: Bound<'_, Bench>,
    released: Probing,
    without_noise: Probing,
    pairs: Option<u64>,
    seed: Option<u64>,
    climbs: Option<u64>,
    solves: Option<u64>,
    observer: Option<Bound<'_, PyAny>>,
) -> PyResult<JudgedDocument> {
    let (bench, probe) = (bench.get(), probe(pairs, seed, climbs, solves));
    let found = call::run(py, observer, |heard| {
        let [released, without_noise] =
            [&released, &without_noise].map(|(blocks, search)| Cells { blocks, search });
        let bench = bench.workbench();
        bench.sensitivity_of(&probe, released, without_noise, heard)
    })?;
    judged(py, &found)
}

/// The values of a frontier: those named, or some around the plan's own.
#[pyfunction]
#[pyo3(signature = (bench, over, values=None))]
pub(crate) fn frontier_values(
    py: Python<'_>,
    bench: Bound<'_, Bench>,
    over: &str,
    values: Option<Vec<f64>>,
) -> PyResult<Vec<f64>> {
    let sweep = |over| Sweep {
        row: None,
        over,
        values,
    };
    let found = axis(over).and_then(|over| bench.get().workbench().frontier_values(&sweep(over)));
    found.map_err(|failure| raised(py, &failure))
}

/// The part of a frontier that has these values. Private, unless `at` names public data.
#[pyfunction]
#[pyo3(signature = (bench, data, over, values, row=None, *, at=None, threads=None, observer=None))]
#[allow(
    clippy::too_many_arguments,
    reason = "each is an argument with a name in Python"
)]
pub(crate) fn frontier_cell(
    py: Python<'_>,
    bench: Bound<'_, Bench>,
    data: Files,
    over: &str,
    values: Vec<f64>,
    row: Option<usize>,
    at: Option<&str>,
    threads: Option<usize>,
    observer: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let bench = bench.get();
    call::run_on(py, threads, observer, |heard| {
        let sweep = Sweep {
            row,
            over: axis(over)?,
            values: Some(values),
        };
        bench.on(&data, at)?.frontier_cell(&sweep, heard)
    })
}

/// The frontier that these parts make, in their order, as `Bench.frontier` gives it. As private as they are.
#[pyfunction]
pub(crate) fn frontier_of(
    py: Python<'_>,
    bench: Bound<'_, Bench>,
    parts: Vec<String>,
) -> PyResult<Document> {
    let bench = bench.get();
    call::run(py, None, |_| {
        document(&bench.workbench().frontier_of(&parts)?)
    })
}
