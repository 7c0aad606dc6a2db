//! Budgets and charges as rows of the file.

use super::chain::number;
use super::history::{Entry, History, Record};
use super::names::unknown;
use super::place::Place;
use super::stored::{STATEMENT, Stored, stored_number};
use super::{Basis, Budget, Composition, Head, Result, schema, terms};
use rusqlite::{Connection, OptionalExtension, Row};

/// The datasets that have a budget, by name.
pub(super) fn names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT dataset FROM budgets ORDER BY dataset")?;
    let rows = statement.query_map([], |row| row.get(0))?;
    rows.collect()
}

/// Every dataset's history, its chain checked; charges that belong to no budget are a sign of tampering.
pub(super) fn histories(connection: &Connection, place: &Place) -> Result<Vec<History>> {
    let orphan = "SELECT dataset FROM charges WHERE dataset NOT IN (SELECT dataset FROM budgets)";
    let orphan: Option<String> = connection
        .query_row(orphan, [], |row| row.get(0))
        .optional()
        .map_err(|error| place.failed(&error))?;
    if let Some(dataset) = orphan {
        let what = "missing, though there are charges against it".into();
        return Err(place.tampered(&dataset, "budget".into(), what));
    }
    let names = names(connection).map_err(|error| place.failed(&error))?;
    let load = |name: &String| history(connection, place, name);
    names.iter().map(load).collect()
}

/// A dataset's history, its chain checked.
pub(super) fn history(connection: &Connection, place: &Place, dataset: &str) -> Result<History> {
    let failed = |error| place.failed(&error);
    let Some(mut history) = budget(connection, place, dataset)? else {
        let known = names(connection).map_err(failed)?;
        return Err(unknown(&place.file, dataset, &known));
    };
    let more = match schema::version(connection).map_err(failed)? {
        1 => "NULL, NULL",
        _ => "nonce, terms",
    };
    let select = format!(
        "SELECT id, day, mechanism, epsilon, delta, rho, basis, head, {more} FROM charges WHERE dataset = ? ORDER BY id"
    );
    let mut statement = connection.prepare(&select).map_err(failed)?;
    let rows = statement.query_map([dataset], stored).map_err(failed)?;
    for row in rows {
        let row = row.map_err(failed)?;
        let id = history.entries().len() + 1;
        let appended = history.append(row);
        appended.map_err(|what| place.tampered(dataset, format!("charge {id}"), what))?;
    }
    Ok(history)
}

/// A dataset's budget with no charges yet; none where it has no budget.
pub(super) fn budget(
    connection: &Connection,
    place: &Place,
    dataset: &str,
) -> Result<Option<History>> {
    let failed = |error| place.failed(&error);
    let more = match schema::version(connection).map_err(failed)? {
        1 => "NULL",
        _ => "terms",
    };
    let select = format!(
        "SELECT epsilon, delta, composition, genesis, {more} FROM budgets WHERE dataset = ?"
    );
    let row: Option<StoredBudget> = connection
        .query_row(&select, [dataset], StoredBudget::of)
        .optional()
        .map_err(failed)?;
    let Some(row) = row else {
        return Ok(None);
    };
    let tampered = |what: String| place.tampered(dataset, "budget".into(), what);
    let budget = row
        .budget()
        .map_err(|error| tampered(format!("not a budget: {error}")))?;
    let history = History::new(dataset, &budget);
    if history.genesis().to_string() != row.genesis
        || budget.composition().name() != row.composition
    {
        return Err(tampered("its head does not follow from its fields".into()));
    }
    Ok(Some(history))
}

/// A budget as the file holds it.
struct StoredBudget {
    epsilon: String,
    delta: String,
    composition: String,
    genesis: String,
    terms: Option<String>,
}

impl StoredBudget {
    fn of(row: &Row<'_>) -> rusqlite::Result<StoredBudget> {
        Ok(StoredBudget {
            epsilon: row.get(0)?,
            delta: row.get(1)?,
            composition: row.get(2)?,
            genesis: row.get(3)?,
            terms: row.get(4)?,
        })
    }

    fn budget(&self) -> Result<Budget> {
        let (epsilon, delta) = (stored_number(&self.epsilon)?, stored_number(&self.delta)?);
        let budget = match &self.terms {
            Some(terms) => Budget::new(epsilon, delta, &terms::budget(terms)?)?,
            None => Budget::not_stated(epsilon, delta)?,
        };
        Ok(match self.composition.parse()? {
            Composition::Basic => budget.basic(),
            Composition::Smaller => budget,
        })
    }
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        id: row.get(0)?,
        day: row.get(1)?,
        mechanism: row.get(2)?,
        epsilon: row.get(3)?,
        delta: row.get(4)?,
        rho: row.get(5)?,
        basis: row.get(6)?,
        head: row.get(7)?,
        nonce: row.get(8)?,
        terms: row.get(9)?,
    })
}

/// Writes a new budget.
pub(super) fn insert_budget(
    connection: &Connection,
    dataset: &str,
    budget: &Budget,
) -> rusqlite::Result<usize> {
    connection.execute(
        "INSERT INTO budgets (dataset, epsilon, delta, composition, genesis, terms) VALUES (?, ?, ?, ?, ?, ?)",
        (
            dataset,
            number(budget.epsilon()),
            number(budget.delta()),
            budget.composition().name(),
            Head::genesis(dataset, budget).to_string(),
            budget.neighbourhood().map(terms::of_budget),
        ),
    )
}

/// Appends a charge or a statement.
pub(super) fn insert_charge(
    connection: &Connection,
    dataset: &str,
    entry: &Entry,
) -> rusqlite::Result<usize> {
    let nothing = number(0.0);
    let (mechanism, epsilon, delta, rho, basis, terms) = match &entry.record {
        Record::Charge(charge) => (
            charge.mechanism().name(),
            number(charge.epsilon()),
            number(charge.delta()),
            charge.rho().map(number),
            charge.basis(),
            terms::of_charge(charge),
        ),
        Record::Adoption { adopts } => (
            STATEMENT,
            nothing.clone(),
            nothing,
            None,
            Basis::Declared,
            Some(terms::of_adoption(adopts)),
        ),
    };
    connection.execute(
        "INSERT INTO charges (dataset, id, day, mechanism, epsilon, delta, rho, basis, head, nonce, terms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            dataset,
            i64::try_from(entry.id).unwrap_or(i64::MAX),
            &entry.day,
            mechanism,
            epsilon,
            delta,
            rho,
            basis.name(),
            entry.head.to_string(),
            entry.nonce.map(|nonce| nonce.to_string()),
            terms,
        ),
    )
}
