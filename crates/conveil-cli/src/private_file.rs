//! A private document on its way to a file of its own.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use conveil_workbench::Failure;
use serde::Serialize;

use crate::new_file::not_written;

/// The files of this process that wait for their document.
static UNWRITTEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the files that have no document yet: for a process that ends at once.
pub(crate) fn discard_unwritten() {
    for path in unwritten().drain(..) {
        let _ = std::fs::remove_file(path);
    }
}

fn unwritten() -> MutexGuard<'static, Vec<PathBuf>> {
    UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new file that only its owner may read; gone again if nothing is written to it.
pub(crate) struct PrivateFile {
    path: PathBuf,
    file: File,
    written: bool,
}

impl PrivateFile {
    /// Makes the file. One that is there already is never overwritten: it may be the decision of an earlier answer. Nor is
    /// it made where a database would take it for its own.
    pub(crate) fn new(path: &Path) -> Result<Self, Failure> {
        refuse_database(path)?;
        PrivateFile::create(path).map_err(|error| refused(path, &error))
    }

    /// Whether the file could be made, as far as that can be seen without making it.
    pub(crate) fn rehearse(path: &Path) -> Result<(), Failure> {
        refuse_database(path)?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let trouble = match (path.symlink_metadata(), std::fs::metadata(folder)) {
            (Ok(_), _) => ErrorKind::AlreadyExists.into(),
            (Err(_), Err(error)) => error,
            (Err(_), Ok(folder)) if !folder.is_dir() => ErrorKind::NotADirectory.into(),
            (Err(_), Ok(folder)) if folder.permissions().readonly() => {
                ErrorKind::PermissionDenied.into()
            }
            _ => return Ok(()),
        };
        Err(refused(path, &trouble))
    }

    /// Makes the file if there is none of this name.
    pub(crate) fn create(path: &Path) -> std::io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // Held while the file is made: an end of the process at this moment must know of it.
        let mut unwritten = unwritten();
        let file = options.open(path)?;
        unwritten.push(path.into());
        Ok(PrivateFile {
            path: path.into(),
            file,
            written: false,
        })
    }

    /// An end of the process is no longer to remove the file.
    fn hold(&self) {
        unwritten().retain(|path| *path != self.path);
    }

    /// Writes the document, to the disk: JSON if the name ends in .json, else text.
    pub(crate) fn write<D: Serialize + fmt::Display>(
        mut self,
        document: &D,
    ) -> Result<(), Failure> {
        // From here on not even an end of the process takes it away: it may be all that is left of a paid answer.
        self.hold();
        let json = self.path.extension().is_some_and(|end| end == "json");
        let text = if json {
            serde_json::to_string_pretty(document)
                .map_err(|error| not_written(&self.path, &error.into()))?
        } else {
            document.to_string()
        };
        let line = if text.ends_with('\n') { "" } else { "\n" };
        let written = self
            .file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.write_all(line.as_bytes()))
            .and_then(|()| self.file.sync_all());
        written.map_err(|error| not_written(&self.path, &error))?;
        self.written = true;
        Ok(())
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        self.hold();
        if !self.written {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Why a private file cannot be made.
fn refused(path: &Path, error: &std::io::Error) -> Failure {
    let shown = path.display();
    Failure::input(match error.kind() {
        ErrorKind::AlreadyExists => format!(
            "{shown} is there already, and a private document overwrites nothing\n  help: name another file, or move this one away; nothing was charged"
        ),
        _ => format!("cannot make {shown}: {error}\n  help: nothing was charged"),
    })
}

fn refuse_database(path: &Path) -> Result<(), Failure> {
    match database_of(path) {
        None => Ok(()),
        Some(database) => Err(Failure::input(format!(
            "{} is the name of a file that the database {} keeps beside it, and a document there would damage it\n  help: name another file; nothing was charged",
            path.display(),
            database.display()
        ))),
    }
}

/// The database beside this path whose journal, or other file of its own, the path would be. SQLite deletes such a file, or
/// takes it for what an interrupted process left.
fn database_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let own = ["-journal", "-wal", "-shm"];
    let stem = own.iter().find_map(|end| {
        let (stem, found) = name.split_at_checked(name.len().checked_sub(end.len())?)?;
        // Some file systems do not tell upper case from lower case.
        found.eq_ignore_ascii_case(end).then_some(stem)
    })?;
    let database = path.with_file_name(stem);
    (!stem.is_empty() && database.is_file()).then_some(database)
}
