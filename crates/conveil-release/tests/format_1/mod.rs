//! A ledger as format 1 wrote it.

use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::path::Path;

/// The dataset.
pub const NAME: &str = "loads-2025";

fn hash(fields: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for field in fields {
        hasher.update((field.len() as u64).to_be_bytes());
        hasher.update(field);
    }
    hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A budget of 3, and charges of 0.5 and 0.25 on these bases. Its heads.
pub fn of_format_1(path: &Path, bases: [&str; 2]) -> Vec<String> {
    let file = Connection::open(path).unwrap();
    for statement in [
        "CREATE TABLE budgets (dataset TEXT NOT NULL PRIMARY KEY, epsilon TEXT NOT NULL, delta TEXT NOT NULL, composition TEXT NOT NULL, genesis TEXT NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE TABLE charges (dataset TEXT NOT NULL, id INTEGER NOT NULL, day TEXT NOT NULL, mechanism TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, rho TEXT, basis TEXT NOT NULL, head TEXT NOT NULL, PRIMARY KEY (dataset, id)) STRICT, WITHOUT ROWID",
        "CREATE TRIGGER budgets_stay_once BEFORE INSERT ON budgets WHEN EXISTS (SELECT 1 FROM budgets WHERE dataset = new.dataset) BEGIN SELECT RAISE(ABORT, 'a budget is fixed once'); END",
        "CREATE TRIGGER budgets_stay_updated BEFORE UPDATE ON budgets BEGIN SELECT RAISE(ABORT, 'a budget is fixed once'); END",
        "CREATE TRIGGER budgets_stay_deleted BEFORE DELETE ON budgets BEGIN SELECT RAISE(ABORT, 'a budget is fixed once'); END",
        "CREATE TRIGGER charges_append BEFORE INSERT ON charges WHEN new.id <> 1 + (SELECT count(*) FROM charges WHERE dataset = new.dataset) BEGIN SELECT RAISE(ABORT, 'charges are only appended'); END",
        "CREATE TRIGGER charges_stay_updated BEFORE UPDATE ON charges BEGIN SELECT RAISE(ABORT, 'charges are only appended'); END",
        "CREATE TRIGGER charges_stay_deleted BEFORE DELETE ON charges BEGIN SELECT RAISE(ABORT, 'charges are only appended'); END",
    ] {
        file.execute(statement, []).unwrap();
    }
    file.execute_batch("PRAGMA application_id = 1131312716; PRAGMA user_version = 1")
        .unwrap();
    let mut heads = vec![hash(&[
        "conveil ledger 1 budget",
        NAME,
        "3e0",
        "0e0",
        "basic",
    ])];
    let budget = "INSERT INTO budgets VALUES (?, '3e0', '0e0', 'basic', ?)";
    file.execute(budget, (NAME, &heads[0])).unwrap();
    for (i, (epsilon, basis)) in [("5e-1", bases[0]), ("2.5e-1", bases[1])]
        .iter()
        .enumerate()
    {
        let (id, before) = ((i + 1).to_string(), heads[i].clone());
        let day = "2025-12-31";
        let kind = "conveil ledger 1 charge";
        let head = hash(&[
            kind, &before, NAME, &id, day, "laplace", epsilon, "0e0", "", basis,
        ]);
        let row = "INSERT INTO charges VALUES (?, ?, ?, 'laplace', ?, '0e0', NULL, ?, ?)";
        file.execute(row, (NAME, i as i64 + 1, day, epsilon, basis, &head))
            .unwrap();
        heads.push(head);
    }
    heads
}
