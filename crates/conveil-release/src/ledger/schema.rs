//! The tables of a ledger file, and how a file is recognised as one.

use super::place::Place;
use super::{Error, Result};
use rusqlite::Connection;

/// Marks the file as a ledger ("CnvL").
const APPLICATION_ID: i64 = 0x436e_764c;
/// The format that this version writes; it reads 1 too.
pub(super) const VERSION: i64 = 2;

/// The tables of format 1, which have no terms: a file of that format is brought to the present one by its next entry.
const TABLES_1: [(&str, &str); 2] = [
    (
        "budgets",
        "CREATE TABLE budgets (dataset TEXT NOT NULL PRIMARY KEY, epsilon TEXT NOT NULL, delta TEXT NOT NULL, composition TEXT NOT NULL, genesis TEXT NOT NULL) STRICT, WITHOUT ROWID",
    ),
    (
        "charges",
        "CREATE TABLE charges (dataset TEXT NOT NULL, id INTEGER NOT NULL, day TEXT NOT NULL, mechanism TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, rho TEXT, basis TEXT NOT NULL, head TEXT NOT NULL, PRIMARY KEY (dataset, id)) STRICT, WITHOUT ROWID",
    ),
];

/// Every object of the schema: its name, and the statement that makes it, which SQLite keeps word for word.
/// The triggers are a second line of defence: an honest tool with a mistake cannot rewrite history.
const OBJECTS: [(&str, &str); 8] = [
    (
        "budgets",
        "CREATE TABLE budgets (dataset TEXT NOT NULL PRIMARY KEY, epsilon TEXT NOT NULL, delta TEXT NOT NULL, composition TEXT NOT NULL, genesis TEXT NOT NULL, terms TEXT) STRICT, WITHOUT ROWID",
    ),
    (
        "charges",
        "CREATE TABLE charges (dataset TEXT NOT NULL, id INTEGER NOT NULL, day TEXT NOT NULL, mechanism TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, rho TEXT, basis TEXT NOT NULL, head TEXT NOT NULL, nonce TEXT, terms TEXT, PRIMARY KEY (dataset, id)) STRICT, WITHOUT ROWID",
    ),
    (
        "budgets_stay_once",
        "CREATE TRIGGER budgets_stay_once BEFORE INSERT ON budgets WHEN EXISTS (SELECT 1 FROM budgets WHERE dataset = new.dataset) BEGIN SELECT RAISE(ABORT, 'a budget is fixed once'); END",
    ),
    (
        "budgets_stay_updated",
        "CREATE TRIGGER budgets_stay_updated BEFORE UPDATE ON budgets BEGIN SELECT RAISE(ABORT, 'a budget is fixed once'); END",
    ),
    (
        "budgets_stay_deleted",
        "CREATE TRIGGER budgets_stay_deleted BEFORE DELETE ON budgets BEGIN SELECT RAISE(ABORT, 'a budget is fixed once'); END",
    ),
    (
        "charges_append",
        "CREATE TRIGGER charges_append BEFORE INSERT ON charges WHEN new.id <> 1 + (SELECT count(*) FROM charges WHERE dataset = new.dataset) BEGIN SELECT RAISE(ABORT, 'charges are only appended'); END",
    ),
    (
        "charges_stay_updated",
        "CREATE TRIGGER charges_stay_updated BEFORE UPDATE ON charges BEGIN SELECT RAISE(ABORT, 'charges are only appended'); END",
    ),
    (
        "charges_stay_deleted",
        "CREATE TRIGGER charges_stay_deleted BEFORE DELETE ON charges BEGIN SELECT RAISE(ABORT, 'charges are only appended'); END",
    ),
];

/// Whether the database has nothing in it at all.
pub(super) fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let objects: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let marks = pragma(connection, "application_id")? | pragma(connection, "user_version")?;
    Ok(objects == 0 && marks == 0)
}

/// Makes the tables, inside the caller's transaction.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    for (_, statement) in OBJECTS {
        connection.execute(statement, [])?;
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", VERSION)
}

/// Adds the columns of this format to a file of an older one, inside the caller's transaction. Rows stay as they are.
pub(super) fn upgrade(connection: &Connection) -> rusqlite::Result<()> {
    if version(connection)? == VERSION {
        return Ok(());
    }
    for statement in [
        "ALTER TABLE budgets ADD COLUMN terms TEXT",
        "ALTER TABLE charges ADD COLUMN nonce TEXT",
        "ALTER TABLE charges ADD COLUMN terms TEXT",
    ] {
        connection.execute(statement, [])?;
    }
    connection.pragma_update(None, "user_version", VERSION)
}

/// The file's format.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    pragma(connection, "user_version")
}

/// Refuses a file that is not a ledger of a format that this version reads, tables and triggers word for word.
pub(super) fn check(connection: &Connection, place: &Place) -> Result<()> {
    let not = |why: String| place.not_a_ledger(why);
    let read = |error| place.failed(&error);
    if is_empty(connection).map_err(read)? {
        return Err(not("it is empty; `init` fills it".into()));
    }
    if pragma(connection, "application_id").map_err(read)? != APPLICATION_ID {
        return Err(not("it is a database of something else".into()));
    }
    let found = version(connection).map_err(read)?;
    if !(1..=VERSION).contains(&found) {
        return Err(Error::Version {
            file: place.file.clone(),
            found,
            supported: VERSION,
        });
    }
    let of_format = |(name, now): (&str, &str)| -> (String, String) {
        let old = TABLES_1
            .iter()
            .find(|(table, _)| found == 1 && *table == name);
        (name.into(), old.map_or(now, |(_, then)| then).into())
    };
    let mut expected: Vec<(String, String)> = OBJECTS.map(of_format).into();
    let mut objects = objects(connection).map_err(read)?;
    expected.sort();
    objects.sort();
    if let Some((name, _)) = expected.iter().find(|one| !objects.contains(one)) {
        return Err(not(format!(
            "its table or trigger `{name}` is missing or changed"
        )));
    }
    if let Some((name, _)) = objects.iter().find(|one| !expected.contains(one)) {
        return Err(not(format!("it has something that is not ours: `{name}`")));
    }
    Ok(())
}

fn objects(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement =
        connection.prepare("SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}
