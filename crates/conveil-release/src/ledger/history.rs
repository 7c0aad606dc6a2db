//! One dataset's budget and charges, and the rules by which a charge joins them.

use super::{Account, Basis, Budget, Charge, Error, Head, Mechanism, Result, Total};
use conveil_read::naming::fault;
use conveil_read::spelling::quoted;
use serde::Serialize;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Proof that a charge was recorded: what a release needs before it may touch private data.
///
/// # Guarantee
/// Exists only once the charge is in the ledger; where `durable()`, it is on the disk, and neither a crash nor a power
/// cut takes it back (as far as the disk honours a flush). Test: `killed_processes_leave_no_receipt_without_a_charge`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Receipt {
    dataset: String,
    id: u64,
    head: Head,
    durable: bool,
    over_budget: bool,
}

impl Receipt {
    pub(super) fn new(history: &History, entry: &Entry, durable: bool) -> Receipt {
        Receipt {
            dataset: history.dataset.clone(),
            id: entry.id,
            head: entry.head,
            durable,
            over_budget: !history.total().with(&entry.charge).fits(&history.budget),
        }
    }

    /// The dataset that was charged.
    pub fn dataset(&self) -> &str {
        &self.dataset
    }

    /// The charge's number in its dataset's history, from 1.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The chain's head at this charge: for the card.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Whether the charge outlives this process.
    pub fn durable(&self) -> bool {
        self.durable
    }

    /// Whether a spend made elsewhere has taken the total over the budget; never true for a charge.
    pub fn over_budget(&self) -> bool {
        self.over_budget
    }
}

/// A charge in its place in the history.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Entry {
    pub(super) id: u64,
    /// UTC day of the charge. No finer: with a time of day, two heads would tell how long the work between them took, and
    /// that depends on the data.
    pub(super) day: String,
    #[serde(flatten)]
    pub(super) charge: Charge,
    pub(super) head: Head,
}

/// A charge as the file holds it.
pub(super) struct Stored {
    pub(super) id: i64,
    pub(super) day: String,
    pub(super) mechanism: String,
    pub(super) epsilon: String,
    pub(super) delta: String,
    pub(super) rho: Option<String>,
    pub(super) basis: String,
    pub(super) head: String,
}

/// A dataset's budget and charges, the chain intact.
#[derive(Clone, Debug)]
pub(super) struct History {
    dataset: String,
    budget: Budget,
    genesis: Head,
    entries: Vec<Entry>,
}

impl History {
    pub(super) fn new(dataset: &str, budget: &Budget) -> History {
        History {
            dataset: dataset.into(),
            budget: budget.clone(),
            genesis: Head::genesis(dataset, budget),
            entries: Vec::new(),
        }
    }

    pub(super) fn dataset(&self) -> &str {
        &self.dataset
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    pub(super) fn genesis(&self) -> &Head {
        &self.genesis
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn head(&self) -> &Head {
        self.entries
            .last()
            .map_or(&self.genesis, |entry| &entry.head)
    }

    pub(super) fn total(&self) -> Total {
        Total::of(self.entries.iter().map(|entry| &entry.charge))
    }

    /// The entry that a charge would become, or why it does not fit.
    pub(super) fn admit(&self, charge: &Charge) -> Result<Entry> {
        if self.budget.delta() == 0.0 && charge.delta() > 0.0 {
            return Err(Error::PureOnly {
                dataset: self.dataset.clone(),
                delta: charge.delta(),
            });
        }
        let total = self.total();
        let with = total.with(charge);
        if with.fits(&self.budget) {
            return Ok(self.next(charge));
        }
        let (would, composition) = with.against(&self.budget);
        let left = Account::largest_pure_charge(&total, &self.budget);
        let instead = if left > 0.0 {
            format!("a pure charge of at most ε = {left} fits")
        } else {
            "nothing more can be released from this dataset under its budget".into()
        };
        Err(Error::OverBudget {
            dataset: self.dataset.clone(),
            would: Box::new(would),
            composition,
            budget: self.budget.clone(),
            instead,
        })
    }

    /// The entry that a spend made elsewhere becomes. It happened, so it is recorded even over budget; from then on every
    /// charge is refused.
    pub(super) fn next(&self, charge: &Charge) -> Entry {
        let id = self.entries.len() as u64 + 1;
        let day = utc_day(SystemTime::now());
        let head = self.head().after(&self.dataset, id, &day, charge);
        let charge = charge.clone();
        Entry {
            id,
            day,
            charge,
            head,
        }
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Appends a row of the file if it is the row that was written there; otherwise says what is wrong with it.
    pub(super) fn append(&mut self, row: Stored) -> std::result::Result<(), String> {
        let id = self.entries.len() as u64 + 1;
        if u64::try_from(row.id) != Ok(id) {
            return Err(format!("missing: the next row has number {}", row.id));
        }
        let charge = row
            .charge()
            .map_err(|error| format!("not a charge: {error}"))?;
        let head = self.head().after(&self.dataset, id, &row.day, &charge);
        if row.head != head.to_string() {
            return Err(
                "its head does not follow from its fields and the row before: changed, inserted or moved"
                    .into(),
            );
        }
        self.entries.push(Entry {
            id,
            day: row.day,
            charge,
            head,
        });
        Ok(())
    }
}

impl Stored {
    fn charge(&self) -> Result<Charge> {
        let rho = self.rho.as_deref().map(stored_number).transpose()?;
        Charge::new(
            self.mechanism.parse::<Mechanism>()?,
            stored_number(&self.epsilon)?,
            stored_number(&self.delta)?,
            rho,
            self.basis.parse::<Basis>()?,
        )
    }
}

/// Reads an amount as [`super::chain::number`] wrote it, and no other spelling.
pub(super) fn stored_number(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(x) if super::chain::number(x) == text => Ok(x),
        _ => Err(Error::input(format!("{text:?} is not an amount"))),
    }
}

/// A dataset's name: something to read aloud.
pub(super) fn check_name(dataset: &str) -> Result<()> {
    if let Some(fault) = fault(dataset) {
        let name = quoted(dataset);
        return Err(Error::input(format!(
            "a dataset name cannot be {name}: it {fault}; {}",
            fault.help()
        )));
    }
    if dataset.trim() != dataset {
        let message = format!("a dataset name cannot be with spaces around it: {dataset:?}");
        return Err(Error::input(message));
    }
    Ok(())
}

/// The error for a name that has no budget, with the known name that is nearest.
pub(super) fn unknown(file: &Path, dataset: &str, known: &[String]) -> Error {
    let nearest = known.iter().min_by_key(|name| distance(name, dataset));
    let near = match nearest {
        Some(name) if distance(name, dataset) <= 2.max(dataset.chars().count() / 3) => {
            format!("; did you mean {name:?}?")
        }
        Some(_) => format!("; it has {}", known.join(", ")),
        None => "; `init` gives it a budget".into(),
    };
    Error::UnknownDataset {
        file: file.into(),
        dataset: dataset.into(),
        near,
    }
}

/// Edits (insert, delete, replace) between two words.
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.chars().count()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = i;
        let mut before = i + 1;
        for (b, cell) in right.chars().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(a != b);
            diagonal = *cell;
            before = replaced.min(before + 1).min(diagonal + 1);
            *cell = before;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// Year-month-day in UTC (days to civil date after Howard Hinnant); a clock before 1970 counts as 1970.
fn utc_day(now: SystemTime) -> String {
    let seconds = now
        .duration_since(UNIX_EPOCH)
        .map_or(0, |past| past.as_secs());
    let z = seconds / 86_400 + 719_468; // days since 0000-03-01
    let era = z / 146_097;
    let day_of_era = z % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_735_689_599, "2024-12-31"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(utc_day(UNIX_EPOCH + Duration::from_secs(seconds)), day);
        }
        assert_eq!(utc_day(UNIX_EPOCH - Duration::from_secs(9)), "1970-01-01");
    }

    #[test]
    fn distances_are_those_counted_by_hand() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("loads", "loads"), 0);
    }

    #[test]
    fn only_the_spelling_that_is_written_reads_back() {
        assert_eq!(stored_number("1e-1").unwrap(), 0.1);
        for text in ["0.1", "1.0e-1", "+1e-1", "1E-1", "", "nan"] {
            assert!(stored_number(text).is_err(), "{text}");
        }
    }
}
