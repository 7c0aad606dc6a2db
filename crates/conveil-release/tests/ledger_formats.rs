//! Ledgers of format 1 stay readable, their heads verify, and the curator can state what they left open; a restored copy
//! never grows the same head again.

mod format_1;
mod neighbours;
mod scratch;

use conveil_release::ledger::{
    Basis, Budget, Charge, Charges, Claim, Error, Head, Holds, Ledger, Neighbourhood, Relation,
    Scope, Statement,
};
use format_1::{NAME, of_format_1};
use neighbours::{between, everywhere};
use rusqlite::Connection;
use scratch::Scratch;
use std::path::Path;

/// A proof and a word.
const BASES: [&str; 2] = ["certificate", "declared"];

fn scope() -> Scope {
    Scope {
        neighbourhood: between(Relation::OneEntry { alpha: 10.0 }),
        holds: Holds::Everywhere,
    }
}

fn release(epsilon: f64) -> Charge {
    let neighbourhood = scope().neighbourhood;
    Charge::laplace(epsilon, &everywhere(neighbourhood)).unwrap()
}

#[test]
fn heads_of_format_1_still_verify() {
    let scratch = Scratch::fast();
    let path = scratch.file("old.sqlite");
    let heads = of_format_1(&path, BASES);
    let before = std::fs::read(&path).unwrap();
    let ledger = Ledger::open_read_only(&path).unwrap();
    for head in &heads {
        let head: Head = head.parse().unwrap();
        ledger.verify(Some((NAME, &head))).unwrap();
    }
    let account = ledger.account(NAME).unwrap();
    assert_eq!((account.charges, account.fits), (2, 0.0));
    assert!(account.spent.is_none());
    let shown = account.to_string();
    assert!(
        shown.contains("between  not stated: `conveil ledger adopt` states it"),
        "{shown}"
    );
    assert!(
        shown.contains("spent    not bounded; the budget does not say between which datasets"),
        "{shown}"
    );
    assert!(
        shown.contains("     1 2025-12-31 laplace           certificate        0.5  not stated\n"),
        "{shown}"
    );
    let lines = account.to_state(Path::new("my old.db"));
    let command = "conveil ledger adopt 'my old.db' --dataset loads-2025";
    assert_eq!(
        lines[0],
        format!("the budget: {command} --budget --spec SPEC.toml")
    );
    assert!(
        lines[1].starts_with(&format!(
            "charges 1,2: {command} --charges 1,2 --spec SPEC.toml; add `--everywhere` if"
        )),
        "{lines:?}"
    );
    assert_eq!(ledger.export(None).unwrap().lines().count(), 3);
    drop(ledger);
    assert!(
        std::fs::read(&path).unwrap() == before,
        "reading changes nothing"
    );
}

#[test]
fn adopting_states_the_neighbourhood_of_old_charges_and_rewrites_nothing() {
    let scratch = Scratch::fast();
    let path = scratch.file("old.sqlite");
    let heads = of_format_1(&path, BASES);
    let mut ledger = Ledger::open(&path).unwrap();
    let old = ledger.export(None).unwrap();
    // Until it is stated nothing can be charged, and the line to write is told.
    let error = ledger.charge(NAME, &release(0.1)).unwrap_err();
    assert!(matches!(error, Error::NotStated { .. }), "{error}");
    let line = format!(
        "`conveil ledger adopt {} --dataset loads-2025 --adjacency one-entry --alpha 10 --unit 'MW' --numbers 17 --called 'demand'`; add `--everywhere` if",
        ledger.file().display()
    );
    assert!(error.to_string().contains(&line), "{error}");
    // One charge first: the budget and the other charge stay open.
    let these = |charges: &[u64], budget| Statement::of_these(&scope(), charges, budget);
    let account = ledger.adopt(NAME, &these(&[1], false)).unwrap();
    assert!(account.budget.neighbourhood().is_none(), "nobody asked");
    let account = ledger.adopt(NAME, &these(&[], true)).unwrap();
    assert_eq!(account.not_bounded.as_ref().unwrap().charge, Some(2));
    let error = ledger.charge(NAME, &release(0.1)).unwrap_err();
    assert!(error.to_string().contains("--charges 2"), "{error}");
    assert!(
        error
            .to_string()
            .contains(&ledger.file().display().to_string())
            && error
                .to_string()
                .contains("if they are those of this release"),
        "{error}"
    );
    let account = ledger.adopt(NAME, &Statement::of_all(&scope())).unwrap();
    assert_eq!(account.charges, 2, "statements are no charges");
    assert_eq!(account.spent.unwrap().epsilon.up(), 0.75);
    assert_eq!(
        account.basis,
        Some(Basis::Declared),
        "a certificate no more"
    );
    assert!(
        ledger.adopt(NAME, &Statement::of_all(&scope())).is_err(),
        "nothing is open"
    );
    ledger.charge(NAME, &release(2.25)).unwrap();
    assert!(
        ledger
            .charge(NAME, &release(1e-9))
            .unwrap_err()
            .is_over_budget()
    );
    // What stood there stands there still, and every old head is in the history.
    let (now, all) = (ledger.export(None).unwrap(), Ledger::open(&path).unwrap());
    let json = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
    for (then, now) in old.lines().zip(now.lines()) {
        assert_eq!(json(then)["head"], json(now)["head"]);
        assert_eq!(json(then)["charge"], json(now)["charge"]);
    }
    assert_eq!(now.lines().count(), 7);
    assert!(
        now.contains("\"statement\"") && now.contains("\"adopts\""),
        "{now}"
    );
    for head in &heads {
        all.verify(Some((NAME, &head.parse().unwrap()))).unwrap();
    }
    // A new dataset beside it.
    let budget = Budget::new(1.0, 0.0, &scope().neighbourhood).unwrap();
    Ledger::init(&path, "loads-2026", &budget).unwrap();
    assert_eq!(Ledger::open(&path).unwrap().accounts().unwrap().len(), 2);
}

/// A name that no release has can be corrected; what a release recorded cannot, nor the budget that it was charged to.
#[test]
fn a_later_statement_corrects_an_earlier_one_and_nothing_else() {
    let scratch = Scratch::fast();
    let path = scratch.file("old.sqlite");
    of_format_1(&path, BASES);
    let mut ledger = Ledger::open(&path).unwrap();
    let typed = Scope {
        neighbourhood: Neighbourhood::new(Relation::OneEntry { alpha: 10.0 }, 17, "load").unwrap(),
        holds: Holds::Everywhere,
    };
    ledger.adopt(NAME, &Statement::of_all(&typed)).unwrap();
    let error = ledger.charge(NAME, &release(0.1)).unwrap_err();
    assert!(error.is_over_budget(), "{error}");
    let told = error.to_string();
    assert!(
        told.contains("--dataset loads-2025 --budget --adjacency one-entry"),
        "{told}"
    );
    // Not by itself: what is corrected is named.
    let error = ledger
        .adopt(NAME, &Statement::of_all(&scope()))
        .unwrap_err()
        .to_string();
    assert!(error.contains("`--charges N,N`, `--budget`"), "{error}");
    let all = Statement::of_these(&scope(), &[2, 1], true);
    let account = ledger.adopt(NAME, &all).unwrap();
    assert_eq!(account.spent.unwrap().epsilon.up(), 0.75);
    assert_eq!(account.basis, Some(Basis::Declared));
    // A fifth entry, with the neighbourhood of its own plan.
    ledger.charge(NAME, &release(0.25)).unwrap();
    for (charges, budget, why) in [
        (
            &[5][..],
            false,
            "charge 5 was recorded with its neighbourhood",
        ),
        (&[3], false, "there is no charge 3"),
        (&[9], false, "there is no charge 9"),
        (
            &[],
            true,
            "charge 5 was made after the budget's neighbourhood was stated",
        ),
    ] {
        let asked = Statement::of_these(&scope(), charges, budget);
        let error = ledger.adopt(NAME, &asked).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    // An old charge for neighbours half as far apart counts twice: the later statement is counted, up or down.
    let half = Scope {
        neighbourhood: between(Relation::OneEntry { alpha: 5.0 }),
        holds: Holds::Everywhere,
    };
    let half = Statement::of_these(&half, &[1], false);
    let account = ledger.adopt(NAME, &half).unwrap();
    assert_eq!(account.spent.unwrap().epsilon.up(), 1.5);
    // Read again from the file, every statement in its place.
    let account = Ledger::open_read_only(&path).unwrap().verify(None).unwrap();
    assert_eq!(account[0].spent.as_ref().unwrap().epsilon.up(), 1.5);
}

/// That sampled charges were planned is in the entry that is hashed, and only then are two of them counted.
#[test]
fn sampled_charges_count_together_only_where_they_are_stated_to_be_planned() {
    let scratch = Scratch::fast();
    let path = scratch.file("old.sqlite");
    of_format_1(&path, ["sampled", "sampled"]);
    let mut ledger = Ledger::open(&path).unwrap();
    let neighbourhood = scope().neighbourhood.inside("box").unwrap();
    let error = ledger
        .adopt(NAME, &Statement::of_all(&scope()))
        .unwrap_err();
    assert!(error.to_string().contains("needs γ and β"), "{error}");
    let sampled = Scope {
        neighbourhood: neighbourhood.clone(),
        holds: Holds::sampled(0.1, 0.01).unwrap(),
    };
    let like = Claim::stated(Basis::Sampled, sampled.clone()).unwrap();
    let like = Charge::laplace(0.1, &like).unwrap();
    let error = ledger.charge(NAME, &like).unwrap_err().to_string();
    assert!(
        error.contains("--universe 'box' --gamma 0.1 --beta 0.01`; add `--planned` if"),
        "{error}"
    );
    let account = ledger.adopt(NAME, &Statement::of_all(&sampled)).unwrap();
    assert_eq!(account.not_bounded.unwrap().charge, Some(2));
    let error = ledger.charge(NAME, &like).unwrap_err().to_string();
    assert!(
        error.contains("--charges 2 --spec SPEC.toml`, and `--planned` if it is sampled"),
        "{error}"
    );
    let planned = Statement::of_these(&sampled, &[1, 2], false).planned();
    let account = ledger.adopt(NAME, &planned).unwrap();
    assert_eq!(account.spent.unwrap().epsilon.up(), 0.75);
    assert_eq!(account.basis, Some(Basis::Sampled));
    let left_out = account.left_out.unwrap();
    assert!(left_out.gamma.up() >= 0.2 && left_out.beta.up() >= 0.02);
    let export = ledger.export(None).unwrap();
    assert!(export.lines().last().unwrap().contains("\"planned\":true"));
    drop(ledger);
    // The word is hashed: without it the chain does not hold.
    let file = Connection::open(&path).unwrap();
    file.execute_batch("DROP TRIGGER charges_stay_updated")
        .unwrap();
    let changed = file.execute(
        "UPDATE charges SET terms = replace(terms, '\"budget\":true', '\"budget\":true,\"planned\":true') WHERE id = 3",
        [],
    );
    assert_eq!(changed.unwrap(), 1);
    file.execute_batch("CREATE TRIGGER charges_stay_updated BEFORE UPDATE ON charges BEGIN SELECT RAISE(ABORT, 'charges are only appended'); END").unwrap();
    drop(file);
    let error = Ledger::open_read_only(&path)
        .unwrap()
        .verify(None)
        .unwrap_err();
    assert!(matches!(error, Error::Tampered { .. }), "{error}");
}

/// The tables of a ledger that was brought to the present format are, word for word, those of a new one.
#[test]
fn an_upgraded_file_has_the_schema_of_a_new_one() {
    let scratch = Scratch::fast();
    let (old, new) = (scratch.file("old.sqlite"), scratch.file("new.sqlite"));
    of_format_1(&old, BASES);
    let budget = Budget::new(1.0, 0.0, &scope().neighbourhood).unwrap();
    Ledger::init(&old, "loads-2026", &budget).unwrap();
    Ledger::init(&new, "loads-2026", &budget).unwrap();
    let [old, new] = [old, new].map(|path| {
        let file = Connection::open(path).unwrap();
        let mut rows = file
            .prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")
            .unwrap();
        let rows = rows
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        rows.collect::<Result<Vec<(String, Option<String>)>, _>>()
            .unwrap()
    });
    assert_eq!(old, new);
}

/// Copy the file, charge, put the copy back, charge again: the first head is in no history any more, and is missed.
#[test]
fn a_restored_copy_never_grows_the_same_head() {
    let scratch = Scratch::fast();
    let (path, copy) = (scratch.file("b.sqlite"), scratch.file("copy.sqlite"));
    let budget = Budget::new(1.0, 0.0, &scope().neighbourhood).unwrap();
    let mut ledger = Ledger::init(&path, NAME, &budget).unwrap();
    let kept = ledger.charge(NAME, &release(0.1)).unwrap();
    drop(ledger);
    std::fs::copy(&path, &copy).unwrap();
    let first = Ledger::open(&path)
        .unwrap()
        .charge(NAME, &release(0.5))
        .unwrap();
    std::fs::copy(&copy, &path).unwrap();
    let second = Ledger::open(&path)
        .unwrap()
        .charge(NAME, &release(0.5))
        .unwrap();
    assert_eq!(first.id(), second.id());
    assert_ne!(first.head(), second.head());
    let ledger = Ledger::open(&path).unwrap();
    ledger.verify(Some((NAME, second.head()))).unwrap();
    ledger.verify(Some((NAME, kept.head()))).unwrap();
    let missed = ledger.verify(Some((NAME, first.head()))).unwrap_err();
    assert!(
        missed.to_string().contains("an old copy was put back"),
        "{missed}"
    );
}
