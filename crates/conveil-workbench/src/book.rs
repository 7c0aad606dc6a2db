//! Where a release is charged: the ledger of the spec, or nowhere.

use std::path::PathBuf;

use conveil::plan::Plan;
use conveil::solve::Cancel;
use conveil_models::spec::Ledger as LedgerAccount;
use conveil_release::ledger::{
    self, Budget, Charges, Ledger, Neighbourhood, NotDurable, Receipt, Settings,
};

use crate::failure::{Cause, Failure};
use crate::inputs::Inputs;
use crate::recipient::Spent;
use crate::release::{Account, Releasing};

/// Where the release is charged.
pub(crate) enum Book {
    /// The spec's `[ledger]`.
    File { ledger: Ledger, dataset: String },
    /// Nowhere.
    None(NotDurable),
}

impl Book {
    pub(crate) fn open(
        releasing: &Releasing,
        inputs: &Inputs,
        cancel: &Cancel,
    ) -> Result<Book, Failure> {
        let name = &inputs.spec.name;
        let without_ledger = releasing.account == Account::WithoutLedger;
        let Some(section) = &inputs.spec.ledger else {
            if without_ledger {
                return Ok(Book::None(NotDurable::default()));
            }
            return Err(Failure::input(format!(
                "{name}: a release is charged to a ledger, and the spec has none\n  help: `conveil ledger init ledger.db --dataset NAME --epsilon E --spec {name}` makes one; then add\n    [ledger]\n    file = \"ledger.db\"\n    dataset = \"NAME\"\n  or state `--no-ledger`, and the card will say that nothing keeps count"
            )));
        };
        if without_ledger {
            let error = section.file.error(
                &section.source,
                "the spec has a ledger, and `--no-ledger` passes it by",
            );
            return Err(error.with_help("leave out one of the two").into());
        }
        let file = file(inputs, section)?;
        let settings = Settings {
            cancel: cancel.clone(),
            ..Settings::default()
        };
        let failed = |error: ledger::Error| section_failure(inputs, &error);
        let ledger = Ledger::open_with(file, &settings).map_err(failed)?;
        let dataset = section.dataset.value.to_string();
        // Said before the plan is made, which may take long.
        ledger.account(&dataset).map_err(failed)?;
        Ok(Book::File { ledger, dataset })
    }

    /// The dataset to charge; without a ledger, one with just this budget.
    pub(crate) fn dataset(&mut self, plan: &Plan<'_>) -> Result<String, Failure> {
        const NAMELESS: &str = "without a ledger";
        match self {
            Book::File { dataset, .. } => Ok(dataset.clone()),
            Book::None(memory) => {
                *memory = NotDurable::default();
                let privacy = plan.guarantee().privacy();
                let (epsilon, delta) = (privacy.epsilon(), privacy.delta());
                Neighbourhood::of(plan)
                    .and_then(|between| Budget::new(epsilon, delta, &between))
                    .and_then(|budget| memory.init(NAMELESS, &budget))
                    .map_err(|error| Failure::ledger(&error))?;
                Ok(NAMELESS.into())
            }
        }
    }

    pub(crate) fn spent(&self, receipt: &Receipt) -> Spent {
        match self {
            Book::File { ledger, .. } => Spent::Charge {
                ledger: ledger.file().into(),
                dataset: receipt.dataset().into(),
                charge: receipt.id(),
            },
            Book::None(_) => Spent::WithoutLedger,
        }
    }

    /// The ledger, where there is one.
    pub(crate) fn ledger(&self) -> Option<(&Ledger, &str)> {
        match self {
            Book::File { ledger, dataset } => Some((ledger, dataset)),
            Book::None(_) => None,
        }
    }

    pub(crate) fn charges(&mut self) -> &mut dyn Charges {
        match self {
            Book::File { ledger, .. } => ledger,
            Book::None(memory) => memory,
        }
    }
}

/// The file of a ledger, which lies inside the folder that was opened, where one was.
pub(crate) fn file(inputs: &Inputs, section: &LedgerAccount) -> Result<PathBuf, Failure> {
    let written = section.file.value.as_str();
    match inputs.files.refused(written) {
        None => Ok(inputs.files.folder().join(written)),
        Some(why) => {
            let message = format!("cannot use the ledger {written}: {why}");
            Err(section.file.error(&section.source, message).into())
        }
    }
}

/// What the ledger of the spec says, and the way out.
fn section_failure(inputs: &Inputs, error: &ledger::Error) -> Failure {
    let Some(section) = &inputs.spec.ledger else {
        return Failure::ledger(error);
    };
    let (file, dataset) = (&section.file.value, &section.dataset.value);
    let init = format!(
        "`conveil ledger init {file} --dataset {dataset} --epsilon E --spec {}` gives the dataset its budget, once",
        inputs.spec.name
    );
    let (place, found) = match error {
        ledger::Error::Missing { .. } => (&section.file, error.to_string()),
        ledger::Error::UnknownDataset { .. } => (&section.dataset, error.to_string()),
        _ => return Failure::ledger(error),
    };
    let failure = Failure::from(place.error(&section.source, found).with_help(init));
    failure.because(Cause::Ledger)
}
