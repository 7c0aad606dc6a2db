//! A private document on its way to a file of its own.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::failure::Failure;

/// A new file that only its owner may read; gone again if nothing is written to it.
pub(crate) struct PrivateFile {
    path: PathBuf,
    file: File,
    written: bool,
}

impl PrivateFile {
    /// Makes the file. One that is there already is never overwritten: it may be the decision of an earlier answer.
    pub(crate) fn new(path: &Path) -> Result<Self, Failure> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| {
            let shown = path.display();
            Failure::input(match error.kind() {
                ErrorKind::AlreadyExists => format!(
                    "{shown} is there already, and a private document overwrites nothing\n  help: name another file, or move this one away; nothing was charged"
                ),
                _ => format!("cannot make {shown}: {error}\n  help: nothing was charged"),
            })
        })?;
        Ok(PrivateFile {
            path: path.into(),
            file,
            written: false,
        })
    }

    /// Writes the document, to the disk: JSON if the name ends in .json, else text.
    pub(crate) fn write<D: Serialize + fmt::Display>(
        mut self,
        document: &D,
    ) -> Result<(), Failure> {
        let json = self.path.extension().is_some_and(|end| end == "json");
        let text = if json {
            serde_json::to_string_pretty(document)
                .map_err(|error| Failure::document(&self.path, &error.into()))?
        } else {
            document.to_string()
        };
        let line = if text.ends_with('\n') { "" } else { "\n" };
        let written = self
            .file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.write_all(line.as_bytes()))
            .and_then(|()| self.file.sync_all());
        written.map_err(|error| Failure::document(&self.path, &error))?;
        self.written = true;
        Ok(())
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        if !self.written {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
