//! Where the documents of a release go.

use std::cell::OnceCell;
use std::fmt;
use std::path::PathBuf;

use conveil_release::{Card, Decision, Released};
use conveil_text::Label;
use serde::Serialize;

use crate::failure::Failure;
use crate::report::Report;

/// Takes the documents of a release: the public card, and the private decision and report where they were asked for.
///
/// The workbench calls [`prepare`](Recipient::prepare) once and [`ready`](Recipient::ready) before each charge; an error
/// there means that nothing is charged. After the charge, the solve and the draw it calls
/// [`deliver`](Recipient::deliver) once for each row.
pub trait Recipient {
    /// Makes room for the documents of these rows, before anything is charged. More than one is a series.
    fn prepare(&mut self, rows: &[Row]) -> Result<(), Failure> {
        let _ = rows;
        Ok(())
    }

    /// Whether there would be room for the documents of these rows. Nothing is made: it is the [`prepare`](Recipient::prepare)
    /// of a dry run.
    fn rehearse(&mut self, rows: &[Row]) -> Result<(), Failure> {
        let _ = rows;
        Ok(())
    }

    /// The last look before a charge: whether a card would still arrive.
    fn ready(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Takes the documents of one row. Its budget is spent: what cannot reach its place should be kept elsewhere. Take the
    /// decision first, then the report, then the card: an answer without its decision helps nobody.
    ///
    /// After an error the caller of the release gets the documents back, and further rows are not released.
    fn deliver(&mut self, delivery: &Delivery<'_>) -> Result<(), Failure>;
}

/// A row of a series, or the only one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Counted from 1.
    pub number: usize,
    /// What the curator calls it, where the rows are labelled. Public: it stands on the card.
    pub label: Option<Label>,
}

/// `row 3`, or `row 3 (08:00)`.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.label {
            None => write!(f, "row {}", self.number),
            Some(label) => write!(f, "row {} ({label})", self.number),
        }
    }
}

/// Keeps the answers.
impl Recipient for Vec<Answer> {
    fn deliver(&mut self, delivery: &Delivery<'_>) -> Result<(), Failure> {
        self.push(delivery.to_answer());
        Ok(())
    }
}

/// The documents of one row, as plain values. All but the card are private.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// The row, counted from 1; the card has its label.
    pub row: usize,
    /// The public card.
    pub card: Card,
    /// What carries the released number out, where it was asked for: private.
    pub decision: Option<Decision>,
    /// The curator's report, where it was asked for and made: private.
    pub report: Option<Report>,
}

/// What a row has cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spent {
    /// A charge to a ledger.
    Charge {
        /// The ledger's file.
        ledger: PathBuf,
        /// The charged dataset.
        dataset: String,
        /// The number of the charge.
        charge: u64,
    },
    /// Released without a ledger: the attempt counts, and nothing keeps count.
    WithoutLedger,
    /// Nothing: the run is not private.
    Nothing,
}

impl Spent {
    /// What fails after it.
    pub(crate) fn before(&self, failure: Failure) -> Failure {
        match self {
            Spent::Charge { .. } => failure.after(&self.to_string()),
            Spent::WithoutLedger => failure.after_unrecorded(&self.to_string()),
            Spent::Nothing => failure,
        }
    }
}

/// What a charge says of itself where something fails after it; empty where nothing is charged.
impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Spent::Charge {
                dataset, charge, ..
            } => write!(
                f,
                "the budget stays spent (charge {charge} of dataset {dataset:?})"
            ),
            Spent::WithoutLedger => write!(f, "the attempt counts as a release"),
            Spent::Nothing => Ok(()),
        }
    }
}

/// The documents of one row on their way to the recipient.
pub struct Delivery<'d> {
    pub(crate) row: &'d Row,
    pub(crate) spent: Spent,
    pub(crate) released: &'d Released,
    pub(crate) with_decision: bool,
    pub(crate) make_report: &'d dyn Fn() -> Option<Report>,
    pub(crate) report: OnceCell<Option<Report>>,
}

impl Delivery<'_> {
    /// The row.
    pub fn row(&self) -> &Row {
        self.row
    }

    /// What it has cost.
    pub fn spent(&self) -> &Spent {
        &self.spent
    }

    /// The public card.
    pub fn card(&self) -> &Card {
        self.released.card()
    }

    /// The private decision that carries the answer out, where it was asked for.
    pub fn decision(&self) -> Option<&Decision> {
        self.released.decision().filter(|_| self.with_decision)
    }

    /// The private report, where it was asked for and can be made. It is made at the first call, and the observer is warned
    /// of what the curator should know.
    pub fn report(&self) -> Option<&Report> {
        self.report.get_or_init(|| (self.make_report)()).as_ref()
    }

    /// All documents as plain values.
    pub fn to_answer(&self) -> Answer {
        Answer {
            row: self.row.number,
            card: self.card().clone(),
            decision: self.decision().cloned(),
            report: self.report().cloned(),
        }
    }

    /// The same, with the report only if it was made.
    pub(crate) fn into_answer(self) -> Answer {
        Answer {
            row: self.row.number,
            card: self.card().clone(),
            decision: self.decision().cloned(),
            report: self.report.into_inner().flatten(),
        }
    }
}
