//! A ledger whose file was damaged, has a second name, or was left by a process that died.

mod neighbours;
mod scratch;

use conveil::solve::Cancel;
use conveil_release::ledger::{Basis, Budget, Charge, Charges, Error, Ledger, Result, Settings};
use neighbours::{claim, demands};
use rusqlite::Connection;
use scratch::Scratch;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const NAME: &str = "loads-2026";

fn budget() -> Budget {
    Budget::new(1.0, 0.0, &demands()).unwrap()
}

fn charge(ledger: &mut Ledger, epsilon: f64) -> Result<u64> {
    let charge = Charge::laplace(epsilon, &claim(Basis::Certificate)).unwrap();
    ledger.charge(NAME, &charge).map(|receipt| receipt.id())
}

/// Budget 1, of which two charges have spent 0.8, beside a dataset with a name one bit away.
fn spent(path: &Path) {
    let mut ledger = Ledger::init(path, NAME, &budget()).unwrap();
    for _ in 0..2 {
        charge(&mut ledger, 0.4).unwrap();
    }
    Ledger::init(path, "loads-2027", &budget()).unwrap();
}

/// The page that holds the charges.
fn charges_page(bytes: &[u8]) -> std::ops::Range<usize> {
    const PAGE: usize = 4096;
    let page = bytes
        .windows(NAME.len())
        .enumerate()
        .filter(|(_, window)| *window == NAME.as_bytes())
        .map(|(at, _)| at / PAGE)
        .max()
        .unwrap();
    page * PAGE..(page + 1) * PAGE
}

/// Every bit of the charges' page that holds anything is flipped in turn: no charge comes through that the sound file
/// refuses, and one that comes through leaves a file that verifies, with every charge in it.
#[test]
fn no_flipped_bit_lets_a_charge_over_budget() {
    let scratch = Scratch::fast();
    let path = scratch.file("b.sqlite");
    spent(&path);
    let sound = fs::read(&path).unwrap();
    let page = charges_page(&sound);
    let used = page.filter(|at| sound[*at] != 0);
    let (mut refused, mut over, mut unchanged) = (0, 0, 0);
    for at in used {
        for bit in 0..8 {
            let mut flipped = sound.clone();
            flipped[at] ^= 1 << bit;
            fs::write(&path, &flipped).unwrap();
            match Ledger::open(&path).and_then(|mut ledger| charge(&mut ledger, 0.4)) {
                Ok(id) => panic!("byte {at}, bit {bit}: over budget, as charge {id}"),
                Err(error) if error.is_over_budget() => over += 1,
                Err(_) => refused += 1,
            }
            let fits = Ledger::open(&path).and_then(|mut ledger| charge(&mut ledger, 0.1));
            if let Ok(id) = fits {
                assert_eq!(id, 3, "byte {at}, bit {bit}");
                let accounts = Ledger::open(&path).unwrap().verify(None).unwrap();
                assert_eq!(accounts[0].charges, 3, "byte {at}, bit {bit}");
                unchanged += 1;
            }
        }
    }
    println!(
        "{refused} damaged files refused, {over} over budget as before, {unchanged} still sound"
    );
    assert!(refused > 1000, "{refused}");
}

#[cfg(unix)]
#[test]
fn a_second_name_is_refused() {
    let scratch = Scratch::fast();
    let (path, other) = (scratch.file("b.sqlite"), scratch.file("other"));
    let mut open = Ledger::init(&path, NAME, &budget()).unwrap();
    charge(&mut open, 0.1).unwrap();
    fs::hard_link(&path, &other).unwrap();
    for path in [&path, &other] {
        for error in [
            Ledger::open(path).unwrap_err(),
            Ledger::open_read_only(path).unwrap_err(),
            Ledger::init(path, "another", &budget()).unwrap_err(),
        ] {
            assert!(matches!(error, Error::TwoPaths { .. }), "{error}");
            let said = format!(
                "{} can be reached by more than one path: it has 2 names",
                path.display()
            );
            assert!(error.to_string().starts_with(&said), "{error}");
        }
    }
    // A ledger that was opened before looks again under its lock.
    let error = charge(&mut open, 0.1).unwrap_err();
    assert!(matches!(error, Error::TwoPaths { .. }), "{error}");
    fs::remove_file(&other).unwrap();
    assert_eq!(charge(&mut open, 0.1).unwrap(), 2);
    // A link that is only a name for a path leads to the one file, and its journal.
    std::os::unix::fs::symlink(&path, &other).unwrap();
    assert_eq!(charge(&mut Ledger::open(&other).unwrap(), 0.1).unwrap(), 3);
    assert_eq!(
        Ledger::open(&other).unwrap().file(),
        path.canonicalize().unwrap()
    );
}

/// The file and journal of a process that died in the midst of a charge: half of it is in the file already.
fn unfinished(scratch: &Scratch, path: &Path) {
    let mut ledger = Ledger::init(path, NAME, &budget()).unwrap();
    charge(&mut ledger, 0.4).unwrap();
    drop(ledger);
    let writer = Connection::open(path).unwrap();
    writer
        .execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE")
        .unwrap();
    let columns: Vec<String> = {
        let select = "SELECT name FROM pragma_table_info('budgets') WHERE name <> 'dataset'";
        let mut statement = writer.prepare(select).unwrap();
        let names = statement.query_map([], |row| row.get(0)).unwrap();
        names.map(|name| name.unwrap()).collect()
    };
    let columns = columns.join(", ");
    for number in 0..1000 {
        let row = format!(
            "INSERT INTO budgets (dataset, {columns}) SELECT '{number}', {columns} FROM budgets WHERE dataset = '{NAME}'"
        );
        writer.execute_batch(&row).unwrap();
    }
    let copies = ["b.sqlite", "b.sqlite-journal"].map(|name| fs::read(scratch.file(name)).unwrap());
    writer.execute_batch("ROLLBACK").unwrap();
    drop(writer);
    let sound = fs::read(path).unwrap();
    assert!(copies[0] != sound && !copies[1].is_empty());
    fs::write(path, &copies[0]).unwrap();
    fs::write(scratch.file("b.sqlite-journal"), &copies[1]).unwrap();
}

#[test]
fn a_reader_undoes_what_a_dead_process_left() {
    for read in [
        |ledger: &Ledger| ledger.accounts().map(|accounts| accounts.len()),
        |ledger: &Ledger| ledger.verify(None).map(|accounts| accounts.len()),
        |ledger: &Ledger| ledger.export(None).map(|lines| lines.lines().count() - 1),
    ] {
        let scratch = Scratch::fast();
        let path = scratch.file("b.sqlite");
        unfinished(&scratch, &path);
        let ledger = Ledger::open_read_only(&path).unwrap();
        assert_eq!(read(&ledger).unwrap(), 1);
        assert!(!scratch.file("b.sqlite-journal").exists());
        assert_eq!(ledger.verify(None).unwrap()[0].charges, 1);
    }
}

#[test]
fn an_interruption_ends_the_wait_for_a_lock() {
    let scratch = Scratch::fast();
    let path = scratch.file("b.sqlite");
    Ledger::init(&path, NAME, &budget()).unwrap();
    let settings = Settings {
        patience: Duration::from_secs(600),
        ..Settings::default()
    };
    let cancel: Cancel = settings.cancel.clone();
    let mut ledger = Ledger::open_with(&path, &settings).unwrap();
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting = std::thread::spawn(move || charge(&mut ledger, 0.1));
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    cancel.raise();
    let error = waiting.join().unwrap().unwrap_err();
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(300));
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(
        Ledger::open(&path).unwrap().verify(None).unwrap()[0].charges,
        0
    );
}
