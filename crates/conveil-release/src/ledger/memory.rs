//! A ledger in memory, for tests and audits.

use super::history::History;
use super::names::{check_name, unknown};
use super::nonce::Nonce;
use super::{Account, Budget, Charge, Charges, Error, Receipt, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// A ledger that forgets: the rules of [`Ledger`](super::Ledger) without its file.
///
/// # Guarantee
/// Admits and refuses exactly what a file would, and every receipt says that it is not durable. Never for a release: what
/// is charged here is forgotten with the process. Test: `memory_and_file_agree_on_every_charge`.
#[derive(Clone, Debug, Default)]
pub struct NotDurable {
    histories: BTreeMap<String, History>,
}

impl NotDurable {
    /// Gives a dataset its budget, once.
    pub fn init(&mut self, dataset: &str, budget: &Budget) -> Result<()> {
        check_name(dataset)?;
        if let Some(history) = self.histories.get(dataset) {
            return Err(Error::AlreadyInitialised {
                file: name().into(),
                dataset: dataset.into(),
                budget: Box::new(history.budget()),
            });
        }
        let history = History::new(dataset, budget);
        self.histories.insert(dataset.into(), history);
        Ok(())
    }

    fn unknown(&self, dataset: &str) -> Error {
        let known: Vec<String> = self.histories.keys().cloned().collect();
        unknown(name(), dataset, &known)
    }
}

impl Charges for NotDurable {
    fn charge(&mut self, dataset: &str, charge: &Charge) -> Result<Receipt> {
        let Some(history) = self.histories.get_mut(dataset) else {
            return Err(self.unknown(dataset));
        };
        let entry = history.admit(charge, Nonce::draw()?)?;
        let receipt = Receipt::new(history, &entry, false);
        history.push(entry);
        Ok(receipt)
    }

    fn rehearse(&self, dataset: &str, charges: &[Charge]) -> Result<Account> {
        let history = self.histories.get(dataset);
        let history = history.ok_or_else(|| self.unknown(dataset))?;
        history.clone().rehearse(charges)
    }

    fn account(&self, dataset: &str) -> Result<Account> {
        let history = self.histories.get(dataset);
        let history = history.ok_or_else(|| self.unknown(dataset))?;
        Ok(Account::of(history))
    }
}

/// What error messages call the place.
fn name() -> &'static Path {
    Path::new("the ledger in memory")
}
