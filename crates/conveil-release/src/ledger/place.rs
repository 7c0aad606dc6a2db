//! Where a ledger lives: its file, how that is opened, and what its failures mean to a user.

use super::identity::Identity;
use super::{Error, Result};
use conveil::solve::Cancel;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, ffi};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How a ledger file is opened.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long to wait for another process to let go of the file.
    pub patience: Duration,
    /// The largest size that the file may grow to, in bytes; unlimited where none.
    pub largest_bytes: Option<u64>,
    /// Ends the wait, and with it the charge, when it is raised.
    pub cancel: Cancel,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            patience: Duration::from_secs(10),
            largest_bytes: None,
            cancel: Cancel::default(),
        }
    }
}

/// What a ledger is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Accounts, exports and verification. The file is still opened for writing where that is allowed: what a process
    /// left unfinished must be undone before anything can be read.
    Read,
    /// Charges too.
    Write,
}

/// A ledger's file, and how long to wait for it.
///
/// # Guarantee
/// `file` is a path without links, the file has no other name, and it is not mounted by itself. So every process that
/// opened it this way keeps its journal at the same place, and the charge of a process that died is undone or kept for all
/// of them. What cannot be seen from here is in the threat model. Tests: `a_second_name_is_refused`,
/// `a_file_mounted_by_itself_is_refused`.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: PathBuf,
    identity: Identity,
    patience: Duration,
    cancel: Cancel,
}

impl Place {
    /// Makes an empty file that only its owner may read; false where there is a file already.
    pub(super) fn make(path: &Path) -> Result<bool> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(unreachable_file(path, &error)),
        }
    }

    /// A connection to an existing file whose commits are flushed to the disk.
    pub(super) fn connect(
        path: &Path,
        access: Access,
        settings: &Settings,
    ) -> Result<(Place, Connection)> {
        // SQLite gives some names a meaning of their own (":memory:"); a resolved path has none.
        let file = fs::canonicalize(path).map_err(|error| unreachable_file(path, &error))?;
        let place = Place {
            identity: Identity::of(&file)?,
            patience: settings.patience,
            cancel: settings.cancel.clone(),
            file,
        };
        let (connection, mode, flush) = place
            .open(access, settings)
            .map_err(|error| place.failed(&error))?;
        // The name may have come to mean another file while SQLite opened it.
        place.still_one_name()?;
        const EXTRA: i64 = 3;
        if mode != "delete" || flush != EXTRA {
            let why = format!("cannot be made durable: journal {mode}, synchronous {flush}");
            let file = place.file;
            return Err(Error::Storage { file, why });
        }
        Ok((place, connection))
    }

    /// Takes the write lock at once, so that nothing read under it can change; dropped, the transaction is undone.
    pub(super) fn lock<'c>(&self, connection: &'c Connection) -> Result<Transaction<'c>> {
        let start = Instant::now();
        // In short steps, so that an interruption does not have to wait.
        let step = Duration::from_millis(50).min(self.patience);
        let locked = loop {
            if self.cancel.is_raised() {
                let file = self.file.clone();
                return Err(Error::Interrupted { file });
            }
            let begun = connection
                .busy_timeout(step)
                .and_then(|()| {
                    Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
                })
                .map_err(|error| self.failed(&error));
            match begun {
                Err(Error::Locked { .. }) if start.elapsed() < self.patience => {}
                done => break done?,
            }
        };
        // A commit waits for readers.
        connection
            .busy_timeout(self.patience)
            .map_err(|error| self.failed(&error))?;
        self.still_one_name()?;
        Ok(locked)
    }

    /// Checks again that the path leads to the file that was opened and that nothing else does: what was true when it was
    /// opened may have changed before the write lock was taken.
    pub(super) fn still_one_name(&self) -> Result<()> {
        match Identity::of(&self.file) {
            Ok(found) if found == self.identity => Ok(()),
            Err(error @ Error::TwoPaths { .. }) => Err(error),
            _ => Err(self.moved()),
        }
    }

    fn moved(&self) -> Error {
        self.read_only("it was moved or deleted while it was open; open it again")
    }

    fn read_only(&self, why: &str) -> Error {
        Error::ReadOnly {
            file: self.file.clone(),
            why: why.into(),
        }
    }

    /// The connection, its journal mode and its flush level as SQLite reports them.
    fn open(
        &self,
        access: Access,
        settings: &Settings,
    ) -> rusqlite::Result<(Connection, String, i64)> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.file, flags)?;
        connection.busy_timeout(self.patience)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.pragma_update(None, "fullfsync", true)?;
        connection.pragma_update(None, "synchronous", "EXTRA")?;
        if let Some(bytes) = settings.largest_bytes {
            let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
            let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
            connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
        }
        let mode = if access == Access::Read || connection.is_readonly("main")? {
            connection.pragma_update(None, "query_only", true)?;
            connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?
        } else {
            // One file, not three: a copy of the file is a copy of the ledger.
            connection.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))?
        };
        let flush = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
        Ok((connection, mode, flush))
    }

    pub(super) fn not_a_ledger(&self, why: String) -> Error {
        let file = self.file.clone();
        Error::NotALedger { file, why }
    }

    pub(super) fn tampered(&self, dataset: &str, row: String, what: String) -> Error {
        Error::Tampered {
            file: self.file.clone(),
            dataset: dataset.into(),
            row,
            what,
        }
    }

    /// What SQLite's error means to a user of the ledger.
    pub(super) fn failed(&self, error: &rusqlite::Error) -> Error {
        let (file, waited) = (self.file.clone(), self.patience);
        let why = error.to_string();
        let Some(code) = error.sqlite_error() else {
            return Error::Storage { file, why };
        };
        let read_only = |why| self.read_only(why);
        match (code.code, code.extended_code) {
            (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => {
                Error::Locked { file, waited }
            }
            (ErrorCode::DiskFull, _) => Error::Full { file },
            (ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt, _) => {
                Error::NotALedger { file, why }
            }
            (_, ffi::SQLITE_READONLY_DBMOVED) => self.moved(),
            (
                _,
                ffi::SQLITE_READONLY_ROLLBACK
                | ffi::SQLITE_READONLY_RECOVERY
                | ffi::SQLITE_IOERR_DELETE,
            ) => Error::Unfinished { file },
            (ErrorCode::ReadOnly | ErrorCode::PermissionDenied, _) => read_only("it is read-only"),
            (ErrorCode::CannotOpen, _) => {
                read_only("it or the journal beside it cannot be opened; is the folder writable?")
            }
            _ => Error::Storage { file, why },
        }
    }
}

/// Why a path leads to no file.
fn unreachable_file(path: &Path, error: &io::Error) -> Error {
    let file = path.to_path_buf();
    let why = error.to_string();
    match error.kind() {
        ErrorKind::NotFound if !path.parent().is_some_and(is_missing) => Error::Missing { file },
        ErrorKind::NotFound => {
            let why = "its folder does not exist".into();
            Error::Storage { file, why }
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Error::ReadOnly { file, why }
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full { file },
        _ => Error::Storage { file, why },
    }
}

fn is_missing(folder: &Path) -> bool {
    folder != Path::new("") && !folder.exists()
}
