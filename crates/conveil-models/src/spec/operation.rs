//! `[lattice]`, `[solver]`, `[study]` and `[ledger]`: how the work is carried out.

use conveil_text::spelling::quoted;
use conveil_text::tables::Item;
use conveil_text::tables::Table;
use conveil_text::{Located, ReadError};

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
    /// How messages call the text that it stands in: the spec, or one of its own.
    pub source: String,
    /// `file`: the path of the ledger, as written.
    pub file: Located<String>,
    /// `dataset`: the name of the account.
    pub dataset: Located<String>,
    /// `part`: the part of the dataset that the release is about; `{row}` in it is the row of a series.
    pub part: Option<Located<String>>,
    /// `part_moves` (false): a replaced record may leave the part for another.
    pub part_moves: bool,
    /// `series`: releases that are declared in advance and charged whole.
    pub series: Option<Located<Series>>,
    /// `planned` (false): the release was fixed before any answer about the dataset was seen.
    pub planned: bool,
}

/// `series`: how many releases are declared, and how they are composed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Series {
    /// `count`: how many; as many as there are rows.
    pub count: usize,
    /// `delta`: the δ of the optimal composition; without it the ε's add up.
    pub delta: Option<f64>,
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
pub(super) fn read_ledger(source: &str, mut table: Table) -> Result<Ledger, ReadError> {
    table.known(&["file", "dataset", "part", "part_moves", "series", "planned"])?;
    let file = table
        .required("file", "file = \"budget.sqlite\"")?
        .words()?;
    let dataset = table
        .required("dataset", "dataset = \"loads-2026\"")?
        .name()?;
    let part = table.optional("part").map(read_part).transpose()?;
    let part_moves = match table.optional("part_moves") {
        None => false,
        Some(item) if part.is_none() => {
            return Err(item.error("`part_moves` makes no sense without `part`"));
        }
        Some(item) => item.boolean()?,
    };
    let series = match table.optional("series") {
        None => None,
        Some(item) => Some(item.locate(read_series(item.table("`series`")?)?)),
    };
    let planned = table.optional("planned").map(|planned| planned.boolean());
    Ok(Ledger {
        source: source.into(),
        file,
        dataset,
        part,
        part_moves,
        series,
        planned: planned.transpose()?.unwrap_or(false),
    })
}

/// The name of a part. Braces hold `{row}` and nothing else: any other word would stay as it is in every row.
fn read_part(item: Item) -> Result<Located<String>, ReadError> {
    let part = item.name()?;
    match part.value.replace("{row}", "").contains(['{', '}']) {
        false => Ok(part),
        true => Err(item
            .error(format!(
                "{item}: in braces only `{{row}}` is known, found {}",
                quoted(&part.value)
            ))
            .with_help("`{row}` is the number of the row: part = \"day 1, hour {row}\"")),
    }
}

/// A series has as many releases as minutes in two months, at most.
const MAX_SERIES: usize = 100_000;

fn read_series(mut table: Table) -> Result<Series, ReadError> {
    table.known(&["count", "delta"])?;
    let count = table
        .required("count", "count = 24")?
        .count(1, MAX_SERIES)?;
    let delta = table.optional("delta").map(|delta| delta.proper_fraction());
    Ok(Series {
        count,
        delta: delta.transpose()?,
    })
}
