//! A history that was changed behind the ledger's back is refused, and the first wrong row is named.

mod neighbours;
mod scratch;

use conveil_release::ledger::{Basis, Budget, Charge, Charges, Error, Head, Ledger, Receipt};
use neighbours::{claim, demands};
use rusqlite::Connection;
use scratch::Scratch;
use std::path::Path;

const NAME: &str = "loads-2026";

/// A ledger with six charges of 0.1, 0.2 … 0.6, and a second dataset with one.
fn filled(path: &Path) -> Vec<Receipt> {
    let budget = Budget::new(9.0, 0.0, &demands()).unwrap();
    let charge = |i: u32| Charge::laplace(f64::from(i) / 10.0, &claim(Basis::Certificate)).unwrap();
    let mut other = Ledger::init(path, "other", &budget).unwrap();
    other.charge("other", &charge(1)).unwrap();
    let mut ledger = Ledger::init(path, NAME, &budget).unwrap();
    (1..=6)
        .map(|i| ledger.charge(NAME, &charge(i)).unwrap())
        .collect()
}

/// Runs statements as someone would who knows how to lift the triggers and puts them back.
fn tamper(path: &Path, statements: &str) {
    let file = Connection::open(path).unwrap();
    let triggers: Vec<(String, String)> = file
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for (name, _) in &triggers {
        file.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    file.execute_batch(statements).unwrap();
    for (_, sql) in &triggers {
        file.execute_batch(sql).unwrap();
    }
}

fn first_wrong_row(path: &Path, card: Option<&Head>) -> (String, String) {
    let error = match Ledger::open(path)
        .unwrap()
        .verify(card.map(|head| (NAME, head)))
    {
        Err(error) => error,
        Ok(_) => panic!("the tampering went unnoticed"),
    };
    assert!(error.to_string().contains("was tampered with"), "{error}");
    match error {
        Error::Tampered { dataset, row, .. } => (dataset, row),
        other => panic!("{other}"),
    }
}

#[test]
fn tampered_rows_are_named() {
    let copy = format!(
        "INSERT INTO charges SELECT dataset, 7, day, mechanism, epsilon, delta, rho, basis, head, nonce, terms FROM charges WHERE dataset = '{NAME}' AND id = 6"
    );
    let swap = "UPDATE charges SET id = 103 WHERE id = 3 AND dataset = 'loads-2026'; UPDATE charges SET id = 3 WHERE id = 4 AND dataset = 'loads-2026'; UPDATE charges SET id = 4 WHERE id = 103";
    let shift = "UPDATE charges SET id = id + 100 WHERE dataset = 'loads-2026' AND id > 2; INSERT INTO charges SELECT dataset, 3, day, mechanism, epsilon, delta, rho, basis, head, nonce, terms FROM charges WHERE dataset = 'loads-2026' AND id = 1; UPDATE charges SET id = id - 99 WHERE id > 100";
    for (statements, row) in [
        (
            "UPDATE charges SET epsilon = '1e-3' WHERE id = 4",
            "charge 4",
        ),
        (
            "UPDATE charges SET epsilon = '0.4' WHERE id = 4",
            "charge 4",
        ),
        (
            "UPDATE charges SET epsilon = 'NaN' WHERE id = 2",
            "charge 2",
        ),
        ("UPDATE charges SET delta = '1e-9' WHERE id = 5", "charge 5"),
        ("UPDATE charges SET rho = '1e-9' WHERE id = 5", "charge 5"),
        (
            "UPDATE charges SET basis = 'declared' WHERE id = 6",
            "charge 6",
        ),
        (
            "UPDATE charges SET mechanism = 'elsewhere' WHERE id = 3",
            "charge 3",
        ),
        (
            "UPDATE charges SET mechanism = 'none' WHERE id = 3",
            "charge 3",
        ),
        (
            "UPDATE charges SET day = '1999-12-31' WHERE id = 3",
            "charge 3",
        ),
        (
            "UPDATE charges SET head = upper(head) WHERE id = 2",
            "charge 2",
        ),
        (
            "UPDATE charges SET nonce = substr(nonce, 2) || substr(nonce, 1, 1) WHERE id = 3 AND dataset = 'loads-2026'; UPDATE charges SET nonce = '00000000000000000000000000000000' WHERE id = 3",
            "charge 3",
        ),
        (
            "UPDATE charges SET nonce = NULL, terms = NULL WHERE id = 2",
            "charge 2",
        ),
        (
            "UPDATE charges SET terms = replace(terms, '1e1', '1e0') WHERE id = 4",
            "charge 4",
        ),
        (
            "UPDATE charges SET terms = terms || ' ' WHERE id = 5",
            "charge 5",
        ),
        (
            "UPDATE budgets SET terms = replace(terms, '1e1', '1e0') WHERE dataset = 'loads-2026'",
            "budget",
        ),
        (
            "UPDATE budgets SET terms = NULL WHERE dataset = 'loads-2026'",
            "budget",
        ),
        ("DELETE FROM charges WHERE id = 3", "charge 3"),
        (
            "DELETE FROM charges WHERE id = 1 AND dataset = 'loads-2026'",
            "charge 1",
        ),
        (copy.as_str(), "charge 7"),
        (swap, "charge 3"),
        (shift, "charge 3"),
        (
            "UPDATE charges SET id = id - 1 WHERE dataset = 'loads-2026'",
            "charge 1",
        ),
        (
            "UPDATE budgets SET epsilon = '1e1' WHERE dataset = 'loads-2026'",
            "budget",
        ),
        (
            "UPDATE budgets SET delta = '1e-1' WHERE dataset = 'loads-2026'",
            "budget",
        ),
        (
            "UPDATE budgets SET composition = 'smaller' WHERE dataset = 'loads-2026'",
            "budget",
        ),
        ("DELETE FROM budgets WHERE dataset = 'loads-2026'", "budget"),
    ] {
        let scratch = Scratch::fast();
        let path = scratch.file("b.sqlite");
        filled(&path);
        Ledger::open(&path).unwrap().verify(None).unwrap();
        tamper(&path, statements);
        assert_eq!(
            first_wrong_row(&path, None),
            (NAME.into(), row.into()),
            "{statements}"
        );
        let size = || std::fs::read(&path).unwrap();
        let before = size();
        let charge = Charge::laplace(0.1, &claim(Basis::Certificate)).unwrap();
        let charged = Ledger::open(&path).unwrap().charge(NAME, &charge);
        assert!(charged.is_err(), "a tampered history takes no charge");
        assert!(size() == before);
    }
}

/// The budget raised with a matching head of its own: the first charge no longer follows from it.
#[test]
fn a_budget_rewritten_with_its_head_breaks_the_first_charge() {
    let scratch = Scratch::fast();
    let path = scratch.file("b.sqlite");
    filled(&path);
    let raised = Ledger::init(
        scratch.file("c.sqlite"),
        NAME,
        &Budget::new(99.0, 0.0, &demands()).unwrap(),
    );
    let genesis = raised.unwrap().account(NAME).unwrap().head;
    let raise = format!(
        "UPDATE budgets SET epsilon = '9.9e1', genesis = '{genesis}' WHERE dataset = '{NAME}'"
    );
    tamper(&path, &raise);
    assert_eq!(
        first_wrong_row(&path, None),
        (NAME.into(), "charge 1".into())
    );
}

#[test]
fn a_cut_tail_is_found_with_the_head_of_a_card() {
    let scratch = Scratch::fast();
    let path = scratch.file("b.sqlite");
    let receipts = filled(&path);
    tamper(&path, "DELETE FROM charges WHERE id > 4");
    let ledger = Ledger::open(&path).unwrap();
    ledger.verify(None).unwrap(); // without a card the shorter history is a history
    ledger.verify(Some((NAME, receipts[3].head()))).unwrap();
    ledger.verify(Some((NAME, receipts[0].head()))).unwrap();
    for cut in &receipts[4..] {
        let row = first_wrong_row(&path, Some(cut.head()));
        assert_eq!(row, (NAME.into(), "after charge 4".into()));
    }
    let other = ledger.verify(Some(("loads-2025", receipts[0].head())));
    assert!(
        other
            .unwrap_err()
            .to_string()
            .contains("did you mean \"loads-2026\"?")
    );
}

#[test]
fn triggers_refuse_to_rewrite_history_and_are_missed() {
    let scratch = Scratch::fast();
    let path = scratch.file("b.sqlite");
    filled(&path);
    let file = Connection::open(&path).unwrap();
    for statement in [
        "UPDATE charges SET epsilon = '1e-9'",
        "DELETE FROM charges",
        "INSERT OR REPLACE INTO charges SELECT * FROM charges WHERE id = 2",
        "UPDATE budgets SET epsilon = '1e9'",
        "DELETE FROM budgets",
        "INSERT OR REPLACE INTO budgets SELECT * FROM budgets",
    ] {
        let error = file.execute_batch(statement).unwrap_err().to_string();
        assert!(
            error.contains("only appended") || error.contains("fixed once"),
            "{error}"
        );
    }
    Ledger::open(&path).unwrap().verify(None).unwrap();
    file.execute_batch("DROP TRIGGER charges_stay_deleted")
        .unwrap();
    let error = Ledger::open(&path).unwrap_err().to_string();
    assert!(
        error.contains("`charges_stay_deleted` is missing or changed"),
        "{error}"
    );
}

/// Bytes flipped anywhere: an error, or the same history; never a panic, never another total.
#[test]
fn damaged_files_are_refused_or_read_the_same() {
    let scratch = Scratch::fast();
    let path = scratch.file("b.sqlite");
    filled(&path);
    let sound = std::fs::read(&path).unwrap();
    let export = Ledger::open(&path).unwrap().export(None).unwrap();
    let mut state = 20_260_101u64;
    let mut next = move |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let mut refused = 0;
    for _ in 0..400 {
        let mut damaged = sound.clone();
        for _ in 0..=next(3) {
            let at = next(damaged.len());
            damaged[at] ^= 1 << next(8);
        }
        if next(8) == 0 {
            damaged.truncate(next(sound.len()));
        }
        std::fs::write(&path, &damaged).unwrap();
        let read = Ledger::open(&path).and_then(|ledger| {
            ledger.verify(None)?;
            ledger.export(None)
        });
        match read {
            Ok(text) => assert_eq!(text, export),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 100, "{refused}");
}
