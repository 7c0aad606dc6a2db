//! One dataset's budget and charges, and the rules by which a charge joins them.

use super::account::Account;
use super::chain::Link;
use super::nonce::Nonce;
use super::planner::largest_alike;
use super::stored::Stored;
use super::{
    About, Adoption, Basis, Budget, Charge, Claim, Error, Head, Holds, Neighbourhood, Result,
    Statement, Total, left, statement,
};
use serde::Serialize;
use std::collections::HashMap;
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
        let fits = match (&entry.record, history.budget().neighbourhood()) {
            (Record::Charge(charge), Some(asked)) => history
                .total_with(asked, charge)
                .is_ok_and(|total| total.fits(&history.budget())),
            _ => false,
        };
        Receipt {
            dataset: history.dataset.clone(),
            id: entry.id,
            head: entry.head,
            durable,
            over_budget: !fits,
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

    /// Whether a spend made elsewhere has taken the total over the budget, or out of what can be bounded; never true for a
    /// charge.
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
    /// None in entries of format 1.
    pub(super) nonce: Option<Nonce>,
    #[serde(flatten)]
    pub(super) record: Record,
    pub(super) head: Head,
}

/// What an entry records.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Record {
    /// A charge.
    Charge(Charge),
    /// What the curator states about entries of format 1.
    Adoption {
        /// The statement.
        adopts: Adoption,
    },
}

/// A charge that cannot be counted in a total.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NotBounded {
    /// Which charge; none for the one that was asked for.
    pub charge: Option<u64>,
    /// Why.
    pub why: String,
}

impl std::fmt::Display for NotBounded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.charge {
            Some(id) => write!(f, "charge {id}: {}", self.why),
            None => write!(f, "this charge: {}", self.why),
        }
    }
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

    /// The budget, about the neighbourhood that it was given or that was stated since.
    pub(super) fn budget(&self) -> Budget {
        let adopted = self.adoptions().filter(|adoption| adoption.budget).last();
        match adopted {
            Some(adoption) => self.budget.adopted(&adoption.scope.neighbourhood),
            None => self.budget.clone(),
        }
    }

    pub(super) fn genesis(&self) -> &Head {
        &self.genesis
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry with this number.
    pub(super) fn numbered(&self, id: u64) -> Option<&Entry> {
        let place = usize::try_from(id.checked_sub(1)?).ok()?;
        self.entries.get(place)
    }

    pub(super) fn head(&self) -> &Head {
        self.entries
            .last()
            .map_or(&self.genesis, |entry| &entry.head)
    }

    fn adoptions(&self) -> impl Iterator<Item = &Adoption> {
        self.entries.iter().filter_map(|entry| match &entry.record {
            Record::Adoption { adopts } => Some(adopts),
            Record::Charge(_) => None,
        })
    }

    /// The charges by number, those of format 1 between the neighbours that were stated since.
    pub(super) fn charges(&self) -> Vec<(u64, Charge)> {
        let mut stated = HashMap::new();
        for adoption in self.adoptions() {
            let each = adoption.charges.iter();
            stated.extend(each.map(|id| (*id, adoption)));
        }
        let charges = self.entries.iter().filter_map(|entry| match &entry.record {
            Record::Charge(charge) => Some((entry.id, charge)),
            Record::Adoption { .. } => None,
        });
        let effective = charges.map(|(id, charge)| match stated.get(&id) {
            Some(adoption) => {
                let adopted = charge.adopted(charge.claim().adopted(&adoption.scope));
                match adoption.planned {
                    true => (id, adopted.planned()),
                    false => (id, adopted),
                }
            }
            None => (id, charge.clone()),
        });
        effective.collect()
    }

    /// What the charges spend together between these neighbours, or the first of them that cannot be counted.
    pub(super) fn total(&self, asked: &Neighbourhood) -> std::result::Result<Total, NotBounded> {
        total_of(
            asked,
            self.charges()
                .iter()
                .map(|(id, charge)| (Some(*id), charge)),
        )
    }

    /// The same with one more charge.
    pub(super) fn total_with(
        &self,
        asked: &Neighbourhood,
        charge: &Charge,
    ) -> std::result::Result<Total, NotBounded> {
        let charges = self.charges();
        let own = charges.iter().map(|(id, charge)| (Some(*id), charge));
        total_of(asked, own.chain([(None, charge)]))
    }

    /// The entry that a charge would become, or why it does not fit.
    pub(super) fn admit(&self, charge: &Charge, nonce: Nonce) -> Result<Entry> {
        let budget = self.budget();
        let Some(asked) = budget.neighbourhood() else {
            let is_sampled = self
                .charges()
                .iter()
                .any(|(_, c)| c.basis() == Basis::Sampled);
            let (command, flags) = (
                statement::command("LEDGER", &self.dataset),
                statement::flags(charge, is_sampled),
            );
            return Err(Error::NotStated {
                dataset: self.dataset.clone(),
                line: format!("{command} {flags}"),
                more: statement::if_it_is_so(is_sampled),
            });
        };
        if budget.delta() == 0.0 && charge.delta() > 0.0 {
            return Err(Error::PureOnly {
                dataset: self.dataset.clone(),
                delta: charge.delta(),
            });
        }
        let not_bounded = |found: NotBounded| Error::NotBounded {
            dataset: self.dataset.clone(),
            instead: self.way_out(&found, charge, asked),
            found: Box::new(found),
            asked: Box::new(asked.clone()),
        };
        let total = self.total(asked).map_err(not_bounded)?;
        let with = self.total_with(asked, charge).map_err(not_bounded)?;
        if with.fits(&budget) {
            return Ok(self.next(charge, nonce));
        }
        let (would, composition) = with.against(&budget);
        let instead = left::instead(&total, &budget, charge);
        Err(Error::OverBudget {
            dataset: self.dataset.clone(),
            would: Box::new(would),
            composition,
            budget: Box::new(budget),
            instead,
        })
    }

    /// The account after these charges, each by the rules of [`History::admit`], or why they do not fit together; the history
    /// is used up.
    pub(super) fn rehearse(mut self, charges: &[Charge]) -> Result<Account> {
        let before = self.clone();
        for (fit, charge) in charges.iter().enumerate() {
            match self.admit(charge, Nonce::draw()?) {
                Ok(entry) => self.push(entry),
                Err(Error::OverBudget { .. }) if charges.len() > 1 => {
                    return Err(before.series_over_budget(charges, fit as u64));
                }
                Err(other) => return Err(other),
            }
        }
        Ok(Account::of(&self))
    }

    /// The refusal of a series of which only the first `fit` releases fit, with the ε that would do for all.
    fn series_over_budget(&self, charges: &[Charge], fit: u64) -> Error {
        let budget = self.budget();
        let most = charges.iter().fold(0.0f64, |m, c| m.max(c.epsilon()));
        let total = budget
            .neighbourhood()
            .and_then(|asked| self.total(asked).ok());
        let largest = total.map_or(0.0, |total| largest_alike(&total, &budget, charges));
        Error::SeriesOverBudget {
            dataset: self.dataset.clone(),
            releases: charges.len() as u64,
            epsilon: most,
            fit,
            budget: Box::new(budget),
            instead: match largest > 0.0 {
                true => format!("ε = {largest} for each of them fits the budget"),
                false => "no ε was found at which all of them fit the budget".into(),
            },
        }
    }

    /// What to do about a charge that cannot be counted.
    fn way_out(&self, found: &NotBounded, charge: &Charge, asked: &Neighbourhood) -> String {
        let is_stated = |id: u64| {
            let charges = self.charges();
            let own = charges.iter().find(|(own, _)| *own == id);
            own.is_some_and(|(_, charge)| charge.claim().scope().is_some())
        };
        let scope = charge.claim().scope();
        let flags = scope.map_or(String::new(), |scope| scope.neighbourhood.flags());
        match found.charge {
            Some(id) if !is_stated(id) => {
                let charges = self.charges();
                let mut own = charges.iter().filter(|(own, _)| *own == id);
                let is_sampled = own.any(|(_, own)| own.basis() == Basis::Sampled);
                format!(
                    "state between which datasets it holds; if they are those of this release: `{} --charges {id} {}`, otherwise `--spec` with the spec of its own release; {}",
                    statement::command("LEDGER", &self.dataset),
                    statement::flags(charge, is_sampled),
                    statement::if_it_is_so(is_sampled)
                )
            }
            Some(id) if self.cannot_state(&[id], false).is_none() => format!(
                "what was stated about charge {id} can be stated again, if it was wrong or incomplete: `{} --charges {id} --spec SPEC.toml`, and `--planned` if it is sampled and was fixed before any answer was seen",
                statement::command("LEDGER", &self.dataset)
            ),
            Some(_) => "no more can be released under this budget: what was charged still leaks, and nothing bounds the sum; a dataset that shares no private number with this one has a budget of its own".into(),
            None if may_follow_an_answer(charge) && scope.is_some_and(|s| s.neighbourhood == *asked) => "if this release was fixed before any answer was seen, write `planned = true` in [ledger]; otherwise no further sampled charge can be counted, and a certificate or a declared bound can".into(),
            None if self.cannot_state(&[], true).is_none() => format!(
                "release between the neighbours of the budget; if what was stated about the budget is wrong, state it again, and its charges with `--charges N,N`: `{} --budget {flags}`",
                statement::command("LEDGER", &self.dataset)
            ),
            None if scope.is_some_and(|s| !s.neighbourhood.is_about_the_numbers_of(asked)) => format!(
                "if these are the numbers of the budget, give them its names and unit in the spec ({}); if they are others, `conveil ledger init LEDGER --dataset NAME --epsilon E {flags}` makes a budget for them",
                asked.whose()
            ),
            None => format!(
                "release between the neighbours of the budget; for data that share no private number with these, `conveil ledger init LEDGER --dataset NAME --epsilon E {flags}` makes a budget about this neighbourhood"
            ),
        }
    }

    /// The entry that a spend made elsewhere becomes. It happened, so it is recorded even over budget; from then on every
    /// charge is refused.
    pub(super) fn next(&self, charge: &Charge, nonce: Nonce) -> Entry {
        self.entry(Record::Charge(charge.clone()), nonce)
    }

    /// The entry that a statement becomes.
    pub(super) fn adopt(&self, statement: &Statement, nonce: Nonce) -> Result<Entry> {
        let own = self.charges();
        let (charges, budget) = match &statement.about {
            About::These { charges, budget } => (charges.clone(), *budget),
            About::AllThatIsOpen => {
                let open = own.iter().filter(|(_, c)| c.claim().scope().is_none());
                let open = open.map(|(id, _)| *id).collect();
                (open, self.budget().neighbourhood().is_none())
            }
        };
        if charges.is_empty() && !budget {
            let correct = match self.adoptions().next() {
                Some(_) => {
                    "; to correct an earlier statement, name what it was about: `--charges N,N`, `--budget`"
                }
                None => "",
            };
            return Err(Error::input(format!(
                "every charge of dataset {:?} and its budget say between which datasets they hold: nothing is open{correct}",
                self.dataset
            )));
        }
        if let Some(fault) = self.cannot_state(&charges, budget) {
            return Err(Error::input(format!("dataset {:?}: {fault}", self.dataset)));
        }
        for (id, charge) in &own {
            if charges.contains(id) {
                Claim::stated(charge.basis().max(Basis::Declared), statement.scope.clone())
                    .map_err(|why| {
                        Error::input(format!(
                            "charge {id}: {why}\n  help: `--charges N,N` states it for some charges alone"
                        ))
                    })?;
            }
        }
        let adopts = Adoption {
            scope: statement.scope.clone(),
            charges,
            budget,
            planned: statement.planned,
        };
        Ok(self.entry(Record::Adoption { adopts }, nonce))
    }

    /// Why no statement can be about these: they were recorded with a neighbourhood, or what came later rests on them.
    fn cannot_state(&self, charges: &[u64], budget: bool) -> Option<String> {
        for id in charges {
            match self.numbered(*id).map(|entry| &entry.record) {
                Some(Record::Charge(charge)) if charge.claim().scope().is_none() => {}
                Some(Record::Charge(_)) => {
                    return Some(format!(
                        "charge {id} was recorded with its neighbourhood, and that stays"
                    ));
                }
                _ => return Some(format!("there is no charge {id}")),
            }
        }
        if !budget {
            return None;
        }
        if self.budget.neighbourhood().is_some() {
            return Some("the budget was made with its neighbourhood, and that stays".into());
        }
        let is_about_it =
            |entry: &&Entry| matches!(&entry.record, Record::Adoption { adopts } if adopts.budget);
        let first = self.entries.iter().find(is_about_it)?.id;
        let mut later = self.entries.iter().filter(|entry| entry.id > first);
        let charge = later.find(|entry| matches!(entry.record, Record::Charge(_)))?;
        Some(format!(
            "charge {} was made after the budget's neighbourhood was stated, and that stays",
            charge.id
        ))
    }

    fn entry(&self, record: Record, nonce: Nonce) -> Entry {
        let id = self.entries.len() as u64 + 1;
        let day = utc_day(SystemTime::now());
        let head = self.head_after(
            &Link {
                dataset: &self.dataset,
                id,
                day: &day,
                nonce: Some(&nonce),
            },
            &record,
        );
        Entry {
            id,
            day,
            nonce: Some(nonce),
            record,
            head,
        }
    }

    fn head_after(&self, link: &Link<'_>, record: &Record) -> Head {
        match record {
            Record::Charge(charge) => self.head().after(link, charge),
            Record::Adoption { adopts } => self.head().after_statement(link, adopts),
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
        let (nonce, record) = row
            .record()
            .map_err(|error| format!("not a charge: {error}"))?;
        let is_new = self.budget.neighbourhood().is_some()
            || self
                .entries
                .last()
                .is_some_and(|entry| entry.nonce.is_some());
        if is_new && nonce.is_none() {
            return Err("of format 1, though what stands before it is of format 2".into());
        }
        if let Record::Adoption { adopts } = &record
            && self.cannot_state(&adopts.charges, adopts.budget).is_some()
        {
            return Err("it states a neighbourhood of what has one".into());
        }
        let link = Link {
            dataset: &self.dataset,
            id,
            day: &row.day,
            nonce: nonce.as_ref(),
        };
        let head = self.head_after(&link, &record);
        if row.head != head.to_string() {
            return Err(
                "its head does not follow from its fields and the row before: changed, inserted or moved"
                    .into(),
            );
        }
        self.entries.push(Entry {
            id,
            day: row.day,
            nonce,
            record,
            head,
        });
        Ok(())
    }
}

/// What charges spend together between these neighbours, or the first that cannot be counted.
fn total_of<'c>(
    asked: &Neighbourhood,
    charges: impl Iterator<Item = (Option<u64>, &'c Charge)>,
) -> std::result::Result<Total, NotBounded> {
    let mut total = Total::nothing(asked);
    for (place, (charge, own)) in charges.enumerate() {
        let not = |why: String| NotBounded { charge, why };
        total.add(own).map_err(not)?;
        if place > 0 && may_follow_an_answer(own) {
            return Err(not("it is sampled, and may have been chosen after an answer was seen: a share of random pairs says nothing of pairs that follow an answer (`planned = true` in [ledger] states that it was not)".into()));
        }
    }
    Ok(total)
}

/// Whether a charge is sampled, and nobody states that it was fixed before the first answer.
fn may_follow_an_answer(charge: &Charge) -> bool {
    let holds = charge.claim().scope().map(|scope| &scope.holds);
    matches!(holds, Some(Holds::Sampled { .. })) && !charge.is_planned()
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
}
