//! Budgets and charges as rows of the file.

use super::chain::number;
use super::history::{Entry, History, Stored, stored_number, unknown};
use super::place::Place;
use super::{Budget, Composition, Head, Result};
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
    let select = "SELECT id, day, mechanism, epsilon, delta, rho, basis, head FROM charges WHERE dataset = ? ORDER BY id";
    let mut statement = connection.prepare(select).map_err(failed)?;
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
    let select = "SELECT epsilon, delta, composition, genesis FROM budgets WHERE dataset = ?";
    let fields = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let row: Option<(String, String, String, String)> = connection
        .query_row(select, [dataset], fields)
        .optional()
        .map_err(|error| place.failed(&error))?;
    let Some((epsilon, delta, composition, genesis)) = row else {
        return Ok(None);
    };
    let tampered = |what: String| place.tampered(dataset, "budget".into(), what);
    let read = || {
        let budget = Budget::new(stored_number(&epsilon)?, stored_number(&delta)?)?;
        Ok(match composition.parse()? {
            Composition::Basic => budget.basic(),
            Composition::Smaller => budget,
        })
    };
    let budget: Result<Budget> = read();
    let budget = budget.map_err(|error| tampered(format!("not a budget: {error}")))?;
    let history = History::new(dataset, &budget);
    if history.genesis().to_string() != genesis || budget.composition().name() != composition {
        return Err(tampered("its head does not follow from its fields".into()));
    }
    Ok(Some(history))
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
    })
}

/// Writes a new budget.
pub(super) fn insert_budget(
    connection: &Connection,
    dataset: &str,
    budget: &Budget,
) -> rusqlite::Result<usize> {
    connection.execute(
        "INSERT INTO budgets (dataset, epsilon, delta, composition, genesis) VALUES (?, ?, ?, ?, ?)",
        (
            dataset,
            number(budget.epsilon()),
            number(budget.delta()),
            budget.composition().name(),
            Head::genesis(dataset, budget).to_string(),
        ),
    )
}

/// Appends a charge.
pub(super) fn insert_charge(
    connection: &Connection,
    dataset: &str,
    entry: &Entry,
) -> rusqlite::Result<usize> {
    let charge = &entry.charge;
    connection.execute(
        "INSERT INTO charges (dataset, id, day, mechanism, epsilon, delta, rho, basis, head) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            dataset,
            i64::try_from(entry.id).unwrap_or(i64::MAX),
            &entry.day,
            charge.mechanism().name(),
            number(charge.epsilon()),
            number(charge.delta()),
            charge.rho().map(number),
            charge.basis().name(),
            entry.head.to_string(),
        ),
    )
}
