//! What can go wrong with a ledger. Nothing has been recorded when one of these is returned.

use super::neighbourhood::in_shell;
use super::{Budget, Neighbourhood, NotBounded, Pair};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The ledger's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a ledger did not do what was asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number, name or word out of range.
    #[error("{0}")]
    Input(String),
    /// The charge does not fit what is left.
    #[error(
        "over budget: with this charge dataset {dataset:?} would have spent ε = {epsilon}, δ = {delta} by {composition} composition, but its budget is {budget}\n  instead: {instead}", epsilon = would.epsilon, delta = would.delta, composition = in_words(composition)
    )]
    OverBudget {
        /// The dataset.
        dataset: String,
        /// The total with the refused charge.
        would: Box<Pair>,
        /// The composition of that total.
        composition: &'static str,
        /// What the dataset may spend.
        budget: Box<Budget>,
        /// What would still fit.
        instead: String,
    },
    /// The charges of several releases do not fit together; nothing was charged.
    #[error(
        "over budget: {releases} releases of ε = {epsilon} each do not fit what dataset {dataset:?} has left of its budget, {budget}; the first {fit} would\n  instead: {instead}"
    )]
    SeriesOverBudget {
        /// The dataset.
        dataset: String,
        /// How many releases there are.
        releases: u64,
        /// The ε of the largest of them.
        epsilon: f64,
        /// How many of them fit.
        fit: u64,
        /// What the dataset may spend.
        budget: Box<Budget>,
        /// What would fit.
        instead: String,
    },
    /// A charge with δ > 0 against a budget with δ = 0.
    #[error(
        "over budget: dataset {dataset:?} has a pure budget (δ = 0), and this charge has δ = {delta}\n  instead: charge a mechanism with pure ε, such as Laplace"
    )]
    PureOnly {
        /// The dataset.
        dataset: String,
        /// The charge's δ.
        delta: f64,
    },
    /// A charge that cannot be counted between the neighbours of the budget.
    #[error(
        "not charged: between the datasets of its budget ({asked}) what dataset {dataset:?} would have spent is not bounded\n  {found}\n  instead: {instead}"
    )]
    NotBounded {
        /// The dataset.
        dataset: String,
        /// The charge that cannot be counted.
        found: Box<NotBounded>,
        /// What the budget is about.
        asked: Box<Neighbourhood>,
        /// What to do.
        instead: String,
    },
    /// A budget of ledger format 1, which does not say between which datasets it holds.
    #[error(
        "the budget of dataset {dataset:?} does not say between which datasets it holds: it was made by an earlier version\n  instead: state it for the budget and its charges, if it is so for all of them: `{line}`; {more}"
    )]
    NotStated {
        /// The dataset.
        dataset: String,
        /// The command that states the neighbourhood of the refused charge.
        line: String,
        /// What more can be stated.
        more: &'static str,
    },
    /// The operating system gave no randomness.
    #[error("the operating system gives no random numbers: {why}; nothing was charged")]
    Random {
        /// What it said.
        why: String,
    },
    /// No budget under this name.
    #[error("{} has no dataset {dataset:?}{near}", file.display())]
    UnknownDataset {
        /// The ledger.
        file: PathBuf,
        /// The name asked for.
        dataset: String,
        /// What may have been meant.
        near: String,
    },
    /// A budget is fixed once.
    #[error("{} already has a budget for {dataset:?}, fixed when it was initialised: {budget}", file.display())]
    AlreadyInitialised {
        /// The ledger.
        file: PathBuf,
        /// The dataset.
        dataset: String,
        /// Its budget.
        budget: Box<Budget>,
    },
    /// Another process holds the file.
    #[error("{} is locked by another process (waited {} s); try again when it is done", file.display(), waited.as_secs_f64())]
    Locked {
        /// The ledger.
        file: PathBuf,
        /// How long this process waited.
        waited: Duration,
    },
    /// The work was interrupted before anything was charged.
    #[error("interrupted while waiting for {}; nothing was charged", file.display())]
    Interrupted {
        /// The ledger.
        file: PathBuf,
    },
    /// The file, or its folder, cannot be written.
    #[error("{} cannot be written: {why}", file.display())]
    ReadOnly {
        /// The ledger.
        file: PathBuf,
        /// What stands in the way.
        why: String,
    },
    /// More than one path leads to the file.
    #[error("{} can be reached by more than one path: {why}\n  because the journal of an unfinished charge lies beside the path that was used, and a process on another path would not find it\n  instead: {instead}", file.display())]
    TwoPaths {
        /// The ledger.
        file: PathBuf,
        /// The other path, as far as it can be seen.
        why: String,
        /// What would leave one path.
        instead: String,
    },
    /// A process ended while it wrote, and this one may not undo what it left.
    #[error("a process ended while it wrote to {file}, and undoing its unfinished charge takes writing the file and its folder, which this user may not do\n  instead: run `conveil ledger verify {file}` as a user who may; that charge was never made, and no card was printed for it", file = file.display())]
    Unfinished {
        /// The ledger.
        file: PathBuf,
    },
    /// There is no room for another row.
    #[error("no room to write {}: the disk or the file's limit is full; nothing was charged", file.display())]
    Full {
        /// The ledger.
        file: PathBuf,
    },
    /// No such file.
    #[error("there is no ledger {}; `init` makes one", file.display())]
    Missing {
        /// The ledger.
        file: PathBuf,
    },
    /// The file is something else, or damaged.
    #[error("{} is not a sound ledger: {why}", file.display())]
    NotALedger {
        /// The file.
        file: PathBuf,
        /// What was found.
        why: String,
    },
    /// The file has a format of another version.
    #[error("{} has ledger format {found}; this version reads formats 1 to {supported}", file.display())]
    Version {
        /// The ledger.
        file: PathBuf,
        /// The file's format.
        found: i64,
        /// The newest format that this version reads.
        supported: i64,
    },
    /// The history is not what was written.
    #[error("{} was tampered with: dataset {dataset:?}, {row}: {what}", file.display())]
    Tampered {
        /// The ledger.
        file: PathBuf,
        /// The dataset.
        dataset: String,
        /// The first row that is wrong: the budget, or a charge by its number.
        row: String,
        /// What is wrong with it.
        what: String,
    },
    /// The storage failed in another way.
    #[error("{}: {why}", file.display())]
    Storage {
        /// The ledger.
        file: PathBuf,
        /// What the storage said.
        why: String,
    },
}

/// A composition by the name that people use for it.
pub(super) fn in_words(composition: &str) -> &str {
    match composition {
        "zcdp" => "zCDP",
        other => other,
    }
}

impl Error {
    pub(super) fn input(message: String) -> Error {
        Error::Input(message)
    }

    /// The same with the ledger's path in the commands that it tells.
    pub(super) fn at(mut self, file: &Path) -> Error {
        if let Error::NotBounded { instead: told, .. } | Error::NotStated { line: told, .. } =
            &mut self
        {
            let file = in_shell(&file.display().to_string());
            *told = told.replace(" LEDGER ", &format!(" {file} "));
        }
        self
    }

    /// Whether the budget, and nothing else, stands in the way.
    pub fn is_over_budget(&self) -> bool {
        matches!(
            self,
            Error::OverBudget { .. }
                | Error::SeriesOverBudget { .. }
                | Error::PureOnly { .. }
                | Error::NotBounded { .. }
        )
    }
}
