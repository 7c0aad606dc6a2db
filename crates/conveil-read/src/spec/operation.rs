//! `[lattice]`, `[solver]`, `[study]` and `[ledger]`: how the work is carried out.

use super::table::Table;
use crate::{Located, ReadError};

/// `[lattice]`: released numbers are multiples of a public step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lattice {
    /// `step`: h > 0; the plan decides if absent.
    pub step: Option<f64>,
}

/// `[solver]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Solver {
    /// `tolerance` (1e-7): in [1e-12, 1e-3].
    pub tolerance: f64,
    /// `threads`: 1 to 1024; as many as there are cores if absent.
    pub threads: Option<usize>,
}

impl Default for Solver {
    fn default() -> Self {
        Solver {
            tolerance: 1e-7,
            threads: None,
        }
    }
}

/// `[study]`: simulated draws of the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// `draws` (1000): 1 to 10 000 000.
    pub draws: usize,
    /// `seed` (1).
    pub seed: u64,
}

impl Default for Study {
    fn default() -> Self {
        Study {
            draws: 1000,
            seed: 1,
        }
    }
}

/// `[ledger]`: where releases are charged.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    /// `file`: the path of the ledger, as written.
    pub file: Located<String>,
    /// `dataset`: the name of the account.
    pub dataset: Located<String>,
}

const MAX_THREADS: usize = 1024;
const MAX_DRAWS: usize = 10_000_000;

/// Reads `[lattice]`.
pub(super) fn read_lattice(table: Option<Table>) -> Result<Lattice, ReadError> {
    let mut lattice = Lattice::default();
    if let Some(mut table) = table {
        table.known(&["step"])?;
        if let Some(step) = table.optional("step") {
            lattice.step = Some(step.positive()?);
        }
    }
    Ok(lattice)
}

/// Reads `[solver]`.
pub(super) fn read_solver(table: Option<Table>) -> Result<Solver, ReadError> {
    let mut solver = Solver::default();
    if let Some(mut table) = table {
        table.known(&["tolerance", "threads"])?;
        if let Some(tolerance) = table.optional("tolerance") {
            solver.tolerance = tolerance.number_that("lie between 1e-12 and 1e-3", |x| {
                (1e-12..=1e-3).contains(&x)
            })?;
        }
        if let Some(threads) = table.optional("threads") {
            solver.threads = Some(threads.count(1, MAX_THREADS)?);
        }
    }
    Ok(solver)
}

/// Reads `[study]`.
pub(super) fn read_study(table: Option<Table>) -> Result<Study, ReadError> {
    let mut study = Study::default();
    if let Some(mut table) = table {
        table.known(&["draws", "seed"])?;
        if let Some(draws) = table.optional("draws") {
            study.draws = draws.count(1, MAX_DRAWS)?;
        }
        if let Some(seed) = table.optional("seed") {
            study.seed = seed.whole()?;
        }
    }
    Ok(study)
}

/// Reads `[ledger]`.
pub(super) fn read_ledger(table: Option<Table>) -> Result<Option<Ledger>, ReadError> {
    let Some(mut table) = table else {
        return Ok(None);
    };
    table.known(&["file", "dataset"])?;
    Ok(Some(Ledger {
        file: table
            .required("file", "file = \"budget.sqlite\"")?
            .words()?,
        dataset: table
            .required("dataset", "dataset = \"loads-2026\"")?
            .name()?,
    }))
}
