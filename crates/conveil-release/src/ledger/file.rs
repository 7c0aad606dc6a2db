//! The ledger in its file: SQLite, one file, one transaction per charge.

use super::history::{Entry, History, Record};
use super::names::{check_name, unknown};
use super::nonce::Nonce;
use super::place::{Access, Place, Settings};
use super::{
    Account, Budget, Charge, Charges, Error, Head, Receipt, Result, Statement, rows, schema,
};
use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// A ledger file.
///
/// # Guarantee
/// - A receipt is returned only after the charge is flushed to the disk: rollback journal, `synchronous = EXTRA` (file,
///   journal and folder are flushed), read back when the file is opened.
/// - Of processes that race for the same budget, no two get it: each charge reads, decides and writes under one lock.
/// - An error leaves the history as it was. (Where the disk fails in the midst of a commit, the charge may count without
///   a receipt; never the reverse.)
/// - Every charge first checks, under its lock, what [`Ledger::verify`] checks: pages, tables, all chains, no charge
///   without a budget. So a damaged or tampered file is refused rather than added to.
/// - The file is refused where more than one path is seen to lead to it, when it is opened and again under each lock.
///
/// Assumes a file system whose locks and flushes work. Tests: `two_processes_never_both_get_the_last_budget`,
/// `killed_processes_leave_no_receipt_without_a_charge`, `tampered_rows_are_named`,
/// `no_flipped_bit_lets_a_charge_over_budget`, `a_second_name_is_refused`.
#[derive(Debug)]
pub struct Ledger {
    connection: Connection,
    place: Place,
}

impl Ledger {
    /// Gives a dataset its budget, once, and makes the file (mode 0600) where there is none.
    pub fn init(path: impl AsRef<Path>, dataset: &str, budget: &Budget) -> Result<Ledger> {
        Ledger::init_with(path, dataset, budget, &Settings::default())
    }

    /// [`Ledger::init`] with settings.
    pub fn init_with(
        path: impl AsRef<Path>,
        dataset: &str,
        budget: &Budget,
        settings: &Settings,
    ) -> Result<Ledger> {
        let path = path.as_ref();
        check_name(dataset)?;
        let made = Place::make(path)?;
        let outcome = Ledger::connect(path, Access::Write, settings)
            .and_then(|ledger| ledger.with_budget(dataset, budget));
        // A file that holds nothing may go again; a process that has it open meanwhile is told by SQLite that it moved.
        if made && outcome.is_err() && fs::metadata(path).is_ok_and(|file| file.len() == 0) {
            let _ = fs::remove_file(path);
        }
        outcome
    }

    /// Opens an existing ledger.
    pub fn open(path: impl AsRef<Path>) -> Result<Ledger> {
        Ledger::open_with(path, &Settings::default())
    }

    /// [`Ledger::open`] with settings.
    pub fn open_with(path: impl AsRef<Path>, settings: &Settings) -> Result<Ledger> {
        Ledger::connect(path.as_ref(), Access::Write, settings)?.checked()
    }

    /// Opens an existing ledger for accounts, exports and verification only. What a process left unfinished is undone
    /// first, where the file may be written.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Ledger> {
        Ledger::connect(path.as_ref(), Access::Read, &Settings::default())?.checked()
    }

    fn connect(path: &Path, access: Access, settings: &Settings) -> Result<Ledger> {
        let (place, connection) = Place::connect(path, access, settings)?;
        Ok(Ledger { connection, place })
    }

    fn checked(self) -> Result<Ledger> {
        schema::check(&self.connection, &self.place)?;
        Ok(self)
    }

    fn with_budget(self, dataset: &str, budget: &Budget) -> Result<Ledger> {
        let place = &self.place;
        let failed = |error| place.failed(&error);
        let writing = place.lock(&self.connection)?;
        if schema::is_empty(&writing).map_err(failed)? {
            schema::create(&writing).map_err(failed)?;
        }
        let histories = sound(&writing, place)?;
        schema::upgrade(&writing).map_err(failed)?;
        if let Some(history) = histories.iter().find(|h| h.dataset() == dataset) {
            return Err(Error::AlreadyInitialised {
                file: place.file.clone(),
                dataset: dataset.into(),
                budget: Box::new(history.budget()),
            });
        }
        rows::insert_budget(&writing, dataset, budget).map_err(failed)?;
        writing.commit().map_err(failed)?;
        Ok(self)
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.place.file
    }

    /// The datasets that have a budget, by name.
    pub fn datasets(&self) -> Result<Vec<String>> {
        self.reading(|connection| {
            rows::names(connection).map_err(|error| self.place.failed(&error))
        })
    }

    /// Records a spend that was made elsewhere ([`Charge::elsewhere`]), with the claim that the user states. It happened: it
    /// is recorded even where it takes the total over the budget (the receipt says so), and then every later charge is
    /// refused.
    pub fn spend(&mut self, dataset: &str, charge: &Charge) -> Result<Receipt> {
        self.record(dataset, |history, nonce| Ok(history.next(charge, nonce)))
    }

    /// Records what the curator states about entries of ledger format 1 ([`Statement`]): between which datasets they hold.
    /// Nothing that was written before changes; a later statement counts instead of an earlier one.
    pub fn adopt(&mut self, dataset: &str, statement: &Statement) -> Result<Account> {
        self.record(dataset, |history, nonce| history.adopt(statement, nonce))?;
        self.account(dataset)
    }

    /// The accounts of all datasets, by name.
    pub fn accounts(&self) -> Result<Vec<Account>> {
        let histories = self.histories()?;
        Ok(histories.iter().map(Account::of).collect())
    }

    /// Checks file, schema and every chain, and names the first row that is wrong. With a dataset and the head on one of
    /// its cards, also checks that the history still holds that charge: rows cut off its end, or an old copy in the file's
    /// place, are found in no other way. A history that holds the head is the one that the card was charged to, up to that
    /// charge: its nonce makes every other head differ.
    pub fn verify(&self, card: Option<(&str, &Head)>) -> Result<Vec<Account>> {
        let histories = self.reading(|connection| sound(connection, &self.place))?;
        if let Some((dataset, head)) = card {
            let history = find(&histories, dataset, &self.place)?;
            let mut heads = history.entries().iter().map(|entry| &entry.head);
            if history.genesis() != head && !heads.any(|known| known == head) {
                let row = format!("after charge {}", history.entries().len());
                let what = format!(
                    "no charge has the card's head {head}: charges were cut off the end, an old copy was put back, or the history was rewritten"
                );
                return Err(self.place.tampered(dataset, row, what));
            }
        }
        Ok(histories.iter().map(Account::of).collect())
    }

    /// The budgets and charges of all datasets, or of one, as JSON lines: a budget with the head before its first charge,
    /// then its charges, each with the head after it.
    pub fn export(&self, dataset: Option<&str>) -> Result<String> {
        let histories = match dataset {
            Some(dataset) => vec![self.history(dataset)?],
            None => self.histories()?,
        };
        let mut lines = String::new();
        for history in &histories {
            let name = history.dataset();
            let (budget, genesis) = (history.budget(), history.genesis());
            let budget = serde_json::json!({"dataset": name, "budget": budget, "head": genesis});
            let entries = history.entries().iter().map(|entry| {
                let kind = match entry.record {
                    Record::Charge(_) => "charge",
                    Record::Adoption { .. } => "statement",
                };
                serde_json::json!({"dataset": name, kind: entry})
            });
            for line in std::iter::once(budget).chain(entries) {
                lines.push_str(&line.to_string());
                lines.push('\n');
            }
        }
        Ok(lines)
    }

    fn history(&self, dataset: &str) -> Result<History> {
        self.reading(|connection| rows::history(connection, &self.place, dataset))
    }

    fn histories(&self) -> Result<Vec<History>> {
        self.reading(|connection| rows::histories(connection, &self.place))
    }

    /// Reads everything from one state of the file.
    fn reading<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let snapshot = self
            .connection
            .unchecked_transaction()
            .map_err(|error| self.place.failed(&error))?;
        schema::check(&snapshot, &self.place)?;
        read(&snapshot)
    }

    /// One charge, from the lock to the flush.
    fn record(
        &mut self,
        dataset: &str,
        admit: impl FnOnce(&History, Nonce) -> Result<Entry>,
    ) -> Result<Receipt> {
        let nonce = Nonce::draw()?;
        let place = &self.place;
        let failed = |error| place.failed(&error);
        let writing = place.lock(&self.connection)?;
        let histories = sound(&writing, place)?;
        let history = find(&histories, dataset, place)?;
        let entry = admit(history, nonce).map_err(|error| error.at(&place.file))?;
        schema::upgrade(&writing).map_err(failed)?;
        rows::insert_charge(&writing, dataset, &entry).map_err(failed)?;
        writing.commit().map_err(failed)?;
        Ok(Receipt::new(history, &entry, true))
    }
}

impl Charges for Ledger {
    fn charge(&mut self, dataset: &str, charge: &Charge) -> Result<Receipt> {
        self.record(dataset, |history, nonce| history.admit(charge, nonce))
    }

    fn rehearse(&self, dataset: &str, charges: &[Charge]) -> Result<Account> {
        let rehearsed = self.history(dataset)?.rehearse(charges);
        rehearsed.map_err(|error| error.at(&self.place.file))
    }

    fn account(&self, dataset: &str) -> Result<Account> {
        Ok(Account::of(&self.history(dataset)?))
    }
}

/// Every dataset's history, once the pages of the file, its tables, every chain and every charge's budget are in order.
/// A damaged page can hide a charge of this dataset or show it under another name, so all of the file is looked at.
fn sound(connection: &Connection, place: &Place) -> Result<Vec<History>> {
    let found: String = connection
        .pragma_query_value(None, "integrity_check", |row| row.get(0))
        .map_err(|error| place.failed(&error))?;
    if found != "ok" {
        return Err(place.not_a_ledger(format!("damaged: {found}")));
    }
    schema::check(connection, place)?;
    rows::histories(connection, place)
}

/// The history of one dataset.
fn find<'h>(histories: &'h [History], dataset: &str, place: &Place) -> Result<&'h History> {
    let found = histories.iter().find(|h| h.dataset() == dataset);
    found.ok_or_else(|| {
        let known: Vec<String> = histories.iter().map(|h| h.dataset().into()).collect();
        unknown(&place.file, dataset, &known)
    })
}
