//! What goes wrong says so, names the file, and changes nothing.

mod neighbours;
mod scratch;

use conveil_release::ledger::{
    Basis, Budget, Charge, Charges, Error, Ledger, NotDurable, Receipt, Result, Settings,
};
use neighbours::{claim, demands};
use rusqlite::Connection;
use scratch::Scratch;
use std::path::Path;
use std::time::Duration;

const NAME: &str = "loads-2026";

fn budget() -> Budget {
    Budget::new(100.0, 0.0, &demands()).unwrap()
}

fn charge(ledger: &mut Ledger) -> Result<Receipt> {
    ledger.charge(
        NAME,
        &Charge::laplace(0.1, &claim(Basis::Certificate)).unwrap(),
    )
}

fn impatient(largest_bytes: Option<u64>) -> Settings {
    Settings {
        patience: Duration::from_millis(50),
        largest_bytes,
        ..Settings::default()
    }
}

fn names_the_file(error: &Error) {
    assert!(error.to_string().contains("b.sqlite"), "{error}");
}

#[test]
fn amounts_out_of_range_are_refused_with_a_reason() {
    let basis = Basis::Declared;
    for epsilon in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let message = Charge::laplace(epsilon, &claim(basis))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("ε is a finite number above 0"),
            "{message}"
        );
        assert!(Budget::new(epsilon, 0.0, &demands()).is_err());
    }
    for delta in [-1e-300, 1.0, 1.5, f64::NAN, f64::INFINITY] {
        let message = Charge::gaussian(1.0, delta, 0.1, &claim(basis))
            .unwrap_err()
            .to_string();
        assert!(message.contains("δ is at least 0 and below 1"), "{message}");
        assert!(Budget::new(1.0, delta, &demands()).is_err());
    }
    for rho in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Charge::gaussian(1.0, 1e-6, rho, &claim(basis)).is_err());
    }
    assert!(Charge::gaussian(1.0, 0.0, 0.1, &claim(basis)).is_err());
    assert!(Charge::truncated_laplace(1.0, 0.0, &claim(basis)).is_err());
    let scratch = Scratch::fast();
    let ledger = Ledger::init(scratch.file("b.sqlite"), NAME, &budget()).unwrap();
    assert!(Charge::elsewhere(f64::NAN, 0.0, None, &claim(basis)).is_err());
    assert_eq!(ledger.account(NAME).unwrap().charges, 0);
}

#[test]
fn names_that_cannot_be_read_aloud_are_refused() {
    let scratch = Scratch::fast();
    for name in ["", "a\nb", "a\0b", "\u{7f}", " a", "a ", &"x".repeat(201)] {
        let error = Ledger::init(scratch.file("b.sqlite"), name, &budget()).unwrap_err();
        assert!(
            error.to_string().starts_with("a dataset name cannot be"),
            "{error}"
        );
        assert!(!scratch.file("b.sqlite").exists());
        assert!(NotDurable::default().init(name, &budget()).is_err());
    }
    Ledger::init(
        scratch.file("b.sqlite"),
        "Lasten 2026 · 'Nord'; --",
        &budget(),
    )
    .unwrap();
}

#[test]
fn a_budget_is_fixed_once() {
    let scratch = Scratch::fast();
    let path = scratch.file("b.sqlite");
    charge(&mut Ledger::init(&path, NAME, &budget()).unwrap()).unwrap();
    let error = Ledger::init(&path, NAME, &Budget::new(1e9, 0.5, &demands()).unwrap()).unwrap_err();
    assert!(matches!(error, Error::AlreadyInitialised { .. }));
    assert!(
        error
            .to_string()
            .contains("ε = 100, δ = 0 by basic composition"),
        "{error}"
    );
    let account = Ledger::open(&path).unwrap().account(NAME).unwrap();
    assert_eq!((account.budget, account.charges), (budget(), 1));
}

#[test]
fn an_unknown_dataset_is_met_with_the_nearest_name() {
    let scratch = Scratch::fast();
    let mut ledger = Ledger::init(scratch.file("b.sqlite"), "load-2026", &budget()).unwrap();
    let error = charge(&mut ledger).unwrap_err();
    names_the_file(&error);
    assert!(
        error.to_string().ends_with("did you mean \"load-2026\"?"),
        "{error}"
    );
    let error = ledger.account("wind").unwrap_err().to_string();
    assert!(error.ends_with("it has load-2026"), "{error}");
    assert!(matches!(
        ledger.export(Some("wind")),
        Err(Error::UnknownDataset { .. })
    ));
}

#[test]
fn a_full_disk_charges_nothing() {
    let scratch = Scratch::fast();
    let path = scratch.file("b.sqlite");
    let none = Ledger::init_with(&path, NAME, &budget(), &impatient(Some(4096)));
    assert!(matches!(none, Err(Error::Full { .. })), "{none:?}");
    assert!(!path.exists(), "nothing is left behind");

    Ledger::init(&path, NAME, &budget()).unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    let mut ledger = Ledger::open_with(&path, &impatient(Some(size + 8192))).unwrap();
    let mut receipts = 0;
    let error = loop {
        match charge(&mut ledger) {
            Ok(_) => receipts += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Full { .. }), "{error}");
    names_the_file(&error);
    assert!(receipts > 10);
    for _ in 0..3 {
        assert!(matches!(charge(&mut ledger), Err(Error::Full { .. })));
    }
    assert_eq!(ledger.verify(None).unwrap()[0].charges, receipts);
    drop(ledger);
    let mut roomy = Ledger::open(&path).unwrap();
    assert_eq!(charge(&mut roomy).unwrap().id(), receipts + 1);
}

#[test]
fn a_locked_file_is_named_and_free_again_later() {
    let scratch = Scratch::fast();
    let path = scratch.file("b.sqlite");
    Ledger::init(&path, NAME, &budget()).unwrap();
    let mut ledger = Ledger::open_with(&path, &impatient(None)).unwrap();
    let holder = Connection::open(&path).unwrap();
    for lock in ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"] {
        holder.execute_batch(lock).unwrap();
        let error = charge(&mut ledger).unwrap_err();
        assert!(matches!(error, Error::Locked { .. }), "{error}");
        assert!(
            error
                .to_string()
                .contains("is locked by another process (waited 0.05 s)")
        );
        names_the_file(&error);
        holder.execute_batch("ROLLBACK").unwrap();
    }
    // A reader lets a charge in but holds up its commit.
    holder
        .execute_batch("BEGIN; SELECT * FROM budgets")
        .unwrap();
    let _ = holder.query_row("SELECT count(*) FROM charges", [], |row| {
        row.get::<_, i64>(0)
    });
    assert!(matches!(charge(&mut ledger), Err(Error::Locked { .. })));
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(charge(&mut ledger).unwrap().id(), 1);
}

#[test]
fn what_is_not_a_ledger_is_refused_and_left_alone() {
    let scratch = Scratch::fast();
    let path = scratch.file("b.sqlite");
    let refused = |expected: &str| {
        let before = std::fs::read(&path).ok();
        for error in [
            Ledger::open(&path).unwrap_err(),
            Ledger::open_read_only(&path).unwrap_err(),
        ] {
            names_the_file(&error);
            assert!(error.to_string().contains(expected), "{error}");
        }
        assert_eq!(std::fs::read(&path).ok(), before);
    };
    refused("there is no ledger");
    std::fs::write(&path, "epsilon = 1.0\n".repeat(100)).unwrap();
    refused("is not a sound ledger: file is not a database");
    assert!(Ledger::init(&path, NAME, &budget()).is_err());
    refused("is not a sound ledger: file is not a database");
    std::fs::write(&path, "").unwrap();
    refused("it is empty; `init` fills it");
    std::fs::remove_file(&path).unwrap();
    Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE budgets (a)")
        .unwrap();
    refused("a database of something else");
    assert!(Ledger::init(&path, NAME, &budget()).is_err());
    refused("a database of something else");
    std::fs::remove_file(&path).unwrap();
    Ledger::init(&path, NAME, &budget()).unwrap();
    let file = Connection::open(&path).unwrap();
    file.execute_batch("PRAGMA user_version = 3").unwrap();
    refused("has ledger format 3; this version reads formats 1 to 2");
    file.execute_batch("PRAGMA user_version = 2; CREATE TABLE extra (a)")
        .unwrap();
    refused("it has something that is not ours: `extra`");
    drop(file);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let error = Ledger::open(&path).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    let nowhere = Ledger::init(scratch.file("no/b.sqlite"), NAME, &budget()).unwrap_err();
    assert!(
        nowhere.to_string().contains("its folder does not exist"),
        "{nowhere}"
    );
}

#[test]
fn names_with_a_meaning_to_sqlite_are_files_like_any_other() {
    let scratch = Scratch::fast();
    for name in [
        ":memory:",
        "file:b?mode=memory",
        "b.sqlite?mode=memory",
        "a b'ü",
    ] {
        let path = scratch.file(name);
        charge(&mut Ledger::init(&path, NAME, &budget()).unwrap()).unwrap();
        assert_eq!(
            Ledger::open(&path).unwrap().account(NAME).unwrap().charges,
            1
        );
    }
    assert!(matches!(
        Ledger::open(":memory:"),
        Err(Error::Missing { .. })
    ));
    assert!(matches!(Ledger::open(""), Err(Error::Missing { .. })));
}

#[test]
fn a_file_that_was_moved_or_replaced_takes_no_more_charges() {
    let scratch = Scratch::fast();
    let path = scratch.file("b.sqlite");
    let mut ledger = Ledger::init(&path, NAME, &budget()).unwrap();
    charge(&mut ledger).unwrap();
    std::fs::rename(&path, scratch.file("c.sqlite")).unwrap();
    let error = charge(&mut ledger).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("moved or deleted while it was open"),
        "{error}"
    );
    Ledger::init(&path, NAME, &budget()).unwrap();
    assert!(charge(&mut ledger).is_err());
    let moved = Ledger::open(scratch.file("c.sqlite")).unwrap();
    assert_eq!(moved.verify(None).unwrap()[0].charges, 1);
}

#[test]
fn a_ledger_opened_to_read_takes_no_charge() {
    let scratch = Scratch::fast();
    let path = scratch.file("b.sqlite");
    Ledger::init(&path, NAME, &budget()).unwrap();
    let mut ledger = Ledger::open_read_only(&path).unwrap();
    let error = charge(&mut ledger).unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    assert!(
        error
            .to_string()
            .ends_with("b.sqlite cannot be written: it is read-only"),
        "{error}"
    );
    assert_eq!(ledger.verify(None).unwrap()[0].charges, 0);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    const FILE: &str = "CONVEIL_TEST_READ_ONLY";

    #[test]
    fn a_new_ledger_is_its_owners_alone() {
        let scratch = Scratch::new();
        let path = scratch.file("b.sqlite");
        Ledger::init(&path, NAME, &budget()).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        let holder = Connection::open(&path).unwrap();
        holder
            .execute_batch(
                "BEGIN IMMEDIATE; INSERT INTO budgets (dataset, epsilon, delta, composition, genesis) VALUES ('a', '1e0', '0e0', 'basic', '')",
            )
            .unwrap();
        assert_eq!(mode(&scratch.file("b.sqlite-journal")), 0o600);
    }

    /// Mode bits do not bind root, so root asks another user to try.
    #[test]
    fn a_read_only_file_or_folder_takes_no_charge() {
        for (file_mode, folder_mode) in [(0o444, 0o777), (0o666, 0o555)] {
            let scratch = Scratch::new();
            let path = scratch.file("b.sqlite");
            charge(&mut Ledger::init(&path, NAME, &budget()).unwrap()).unwrap();
            let copy = scratch.file("test-binary");
            std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(file_mode)).unwrap();
            std::fs::set_permissions(scratch.path(), Permissions::from_mode(folder_mode)).unwrap();
            let before = std::fs::read(&path).unwrap();
            let mut other = Command::new(&copy);
            other
                .args(["--exact", "unix::tries_a_read_only_file"])
                .env(FILE, &path);
            if std::fs::metadata(scratch.path()).unwrap().uid() == 0 {
                const NOBODY: u32 = 65_534;
                other.uid(NOBODY).gid(NOBODY).current_dir("/");
            }
            let output = other.output().unwrap();
            std::fs::set_permissions(scratch.path(), Permissions::from_mode(0o755)).unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success() && text.contains("1 passed"),
                "{text}"
            );
            assert_eq!(std::fs::read(&path).unwrap(), before);
        }
    }

    /// The other user's part; alone it has nothing to do.
    #[test]
    fn tries_a_read_only_file() {
        let Some(path) = std::env::var_os(FILE) else {
            return;
        };
        let mut ledger = Ledger::open(&path).unwrap();
        let error = charge(&mut ledger).unwrap_err();
        assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
        names_the_file(&error);
        assert_eq!(ledger.verify(None).unwrap()[0].charges, 1);
        let error = Ledger::init(&path, "another", &budget()).unwrap_err();
        assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    }
}
