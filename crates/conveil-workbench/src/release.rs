//! The release: the only verb that lets anything out, and that is the card.
//!
//! The order is that of M7: everything public first (spec, plan, recipient, ledger), then the charge, and only then the
//! private values. What fails after the charge leaves it spent, and says so. Files of demands and records are read before
//! the charge, because their rows are counted: one that cannot be read is no dataset. A series is one release after the
//! other; one that the spec declares is charged whole before the first.

mod charging;
mod rehearsal;
mod road;
mod series;

use std::fmt;

use conveil::ask::Strategy;
use conveil::curator::About;

use crate::dry_run::DryRun;
use crate::failure::Failure;
use crate::observer::Observer;
use crate::recipient::{Answer, Recipient};
use crate::workbench::Workbench;

use road::Road;

/// What [`Workbench::release`] does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Releasing {
    /// One dataset of a series, counted from 1; all where none is named, one answer and one charge each.
    pub row: Option<usize>,
    /// Hand over the private decision beside the card.
    pub decision: bool,
    /// Hand over the private report beside the card; it costs a second solve.
    pub report: bool,
    /// Who keeps count.
    pub account: Account,
    /// Release as many rows of a series as the budget takes; without it, a series that does not fit whole is refused before
    /// its first charge.
    pub until_spent: bool,
    /// Refuse a release that public data show to be poor, before it is charged.
    pub strict: bool,
}

/// Who keeps count of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Account {
    /// The ledger that the spec names.
    #[default]
    Ledger,
    /// Nobody, and the card says so. The spec must name no ledger.
    WithoutLedger,
    /// Nobody, because the run is **not private** (paper mode, or noise from a seed), and the card says so.
    NotPrivate {
        /// The seed of the noise, for a study that must repeat.
        seed: Option<u64>,
    },
}

/// Why a release failed, and what was drawn and charged but did not reach its recipient.
#[derive(Debug)]
pub struct Unreleased {
    /// Why.
    pub failure: Failure,
    /// The documents of the failed row, where its noise was drawn: its budget is spent, so deliver them in another way. What
    /// the recipient took of them before it failed, it knows.
    pub answer: Option<Box<Answer>>,
}

impl Unreleased {
    fn told(self, tell: impl FnOnce(Failure) -> Failure) -> Self {
        Unreleased {
            failure: tell(self.failure),
            ..self
        }
    }
}

impl From<Failure> for Unreleased {
    fn from(failure: Failure) -> Self {
        Unreleased {
            failure,
            answer: None,
        }
    }
}

impl From<Unreleased> for Failure {
    fn from(unreleased: Unreleased) -> Self {
        unreleased.failure
    }
}

impl fmt::Display for Unreleased {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.failure.fmt(f)
    }
}

impl std::error::Error for Unreleased {}

impl Workbench {
    /// Charges the ledger, solves on the private data, draws the noise once and hands the documents to the recipient, row
    /// by row. Only the card is public.
    ///
    /// # Guarantee
    /// Nothing is charged before the spec, the plan, the data files and the recipient are known to be in order, and no
    /// private value reaches the solver before the charge. What was charged stays charged whatever happens then. Tests:
    /// `a_recipient_that_is_not_ready_costs_nothing`, `a_failed_solve_stays_charged`,
    /// `what_cannot_be_delivered_stays_charged_and_comes_back`.
    pub fn release(
        &self,
        releasing: &Releasing,
        recipient: &mut dyn Recipient,
        observer: &dyn Observer,
    ) -> Result<(), Unreleased> {
        self.refuse_public_data()?;
        self.refuse_decision(releasing)?;
        let road = Road {
            bench: self,
            releasing,
            observer,
        };
        match releasing.account {
            Account::NotPrivate { seed } => road.study(seed, recipient),
            Account::Ledger | Account::WithoutLedger => road.release(recipient),
        }
    }

    /// All that [`Workbench::release`] does before its charge, and nothing more: the spec, the plan, the data files, the
    /// recipient and the ledger are looked at, and the whole series is held against the budget.
    ///
    /// # Guarantee
    /// Nothing is charged, nothing is solved on private data, and no file is made. Where it fails, a release would fail in the
    /// same way. Test: `a_dry_run_leaves_no_trace_and_fails_as_the_release_does`.
    pub fn dry_run(
        &self,
        releasing: &Releasing,
        recipient: &mut dyn Recipient,
        observer: &dyn Observer,
    ) -> Result<DryRun, Failure> {
        self.refuse_public_data()?;
        self.refuse_decision(releasing)?;
        if let Account::NotPrivate { .. } = releasing.account {
            return Err(Failure::input(format!(
                "{}: a dry run is of a release, and a run that is not private charges nothing\n  help: make the run itself",
                self.name()
            )));
        }
        let road = Road {
            bench: self,
            releasing,
            observer,
        };
        road.dry_run(recipient)
    }

    /// Public data need no release, and a card about them would pass for one about private data.
    fn refuse_public_data(&self) -> Result<(), Failure> {
        match self.about {
            About::Private => Ok(()),
            About::Nominal | About::Twin => Err(Failure::input(format!(
                "{}: a release is of the private data, and these are public",
                self.name()
            ))),
        }
    }

    /// Noise on the answer has no decision to write.
    fn refuse_decision(&self, releasing: &Releasing) -> Result<(), Failure> {
        let strategy = &self.inputs.spec.feasibility.strategy;
        if releasing.decision {
            self.refuse_grid("`--decision`")?;
        }
        if !releasing.decision || strategy.value == Strategy::Program {
            return Ok(());
        }
        let error = strategy.error(
            self.name(),
            "`--decision` needs strategy `program`: here the noise is on the answer, and no decision carries it",
        );
        Err(error.with_help("the card has the whole answer").into())
    }
}
