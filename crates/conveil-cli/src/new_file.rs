//! Files that a study or an audit makes: new ones, never over another file, and for their owner's eyes.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use conveil_workbench::{Failure, Kind};

/// Refuses a file that is there already, a symbolic link included: found out before the work, not after it.
pub(crate) fn refuse_existing(file: &Path, what: &str) -> Result<(), Failure> {
    match file.symlink_metadata() {
        Ok(_) => Err(exists(file, what)),
        Err(_) => Ok(()),
    }
}

/// Writes a new file; `what` it is.
pub(crate) fn write_new(file: &Path, what: &str, bytes: &[u8]) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let made = options.open(file).map_err(|why| match why.kind() {
        ErrorKind::AlreadyExists => exists(file, what),
        _ => not_written(file, &why),
    });
    made?
        .write_all(bytes)
        .map_err(|why| not_written(file, &why))
}

pub(crate) fn not_written(file: &Path, why: &std::io::Error) -> Failure {
    let message = format!("cannot write {}: {why}", file.display());
    Failure::new(Kind::NotWritten, message)
}

fn exists(file: &Path, what: &str) -> Failure {
    Failure::input(format!(
        "{} exists already\n  help: name a new file for the {what}, or remove that one",
        file.display()
    ))
}
