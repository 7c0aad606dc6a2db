//! The card on its way out. Standard output is looked at before anything is charged; a card that cannot be written there
//! after the charge is kept in a private file, because its budget is spent.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use conveil_workbench::{Failure, Kind};
use serde::Serialize;

use crate::private_file::PrivateFile;
use crate::terminal::Terminal;

/// Names tried for a document that must be kept.
const NAMES: usize = 1000;

/// Refuses to go on where standard output is seen to lead nowhere.
pub(crate) fn require_output() -> Result<(), Failure> {
    let Some(why) = output::trouble() else {
        return Ok(());
    };
    Err(Failure::input(format!(
        "{why}, so the card would be lost\n  help: nothing was charged; send the card to a file (`> card.txt`), or to a program that reads all of it"
    )))
}

/// Where a document goes that cannot be delivered: folders in the order in which they are tried, and a name.
pub(crate) struct Keep {
    folders: Vec<PathBuf>,
    charge: String,
}

impl Keep {
    /// Beside the ledger, or beside the spec where there is none; failing that, in the working and the temporary folder.
    pub(crate) fn new(folder: &Path, charge: Option<u64>) -> Keep {
        let charge = charge.map_or("without-ledger".into(), |id| format!("of-charge-{id}"));
        let folders = vec![folder.into(), PathBuf::from("."), std::env::temp_dir()];
        Keep { folders, charge }
    }

    /// Writes a document to a new private file, and says where.
    pub(crate) fn document<D: Serialize + fmt::Display>(
        &self,
        what: &str,
        end: &str,
        document: &D,
    ) -> Option<PathBuf> {
        let mut folders = self.folders.iter();
        folders.find_map(|folder| {
            let names = (1..=NAMES).map(|number| match number {
                1 => format!("{what}-{}.{end}", self.charge),
                _ => format!("{what}-{}-{number}.{end}", self.charge),
            });
            for path in names.map(|name| folder.join(name)) {
                match PrivateFile::create(&path) {
                    Ok(file) => return file.write(document).ok().map(|()| path),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(_) => return None,
                }
            }
            None
        })
    }

    /// Prints the card, after what joins it to the one before; or keeps it.
    pub(crate) fn deliver<C: Serialize + fmt::Display>(
        &self,
        card: &C,
        joined: &str,
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        let text = format!("{joined}{}", terminal.text(card)?);
        let why = match output::write(&text) {
            Ok(()) => return Ok(()),
            Err(error) => format!("cannot write the card to standard output: {error}"),
        };
        Err(self.undelivered(card, &why, terminal))
    }

    /// Keeps a card that was not printed.
    pub(crate) fn undelivered<C: Serialize + fmt::Display>(
        &self,
        card: &C,
        why: &str,
        terminal: &Terminal,
    ) -> Failure {
        let kept = match self.document("card", terminal.ending(), card) {
            Some(path) => format!(
                "the card is kept in {}, which only you may read: publish that, and nothing that was cut off before",
                path.display()
            ),
            None => format!("no folder takes the card, so here it is:\n{card}"),
        };
        Failure::new(Kind::Undelivered, format!("{why}\n  help: {kept}"))
    }
}

#[cfg(unix)]
mod output {
    use super::{File, Write, io};
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::fs;
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;

    /// Standard output itself: the library's own passes over some errors in silence.
    fn file() -> io::Result<File> {
        Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
    }

    /// Why a card would not arrive, as far as that can be seen before it is written.
    pub(super) fn trouble() -> Option<String> {
        let file = match file() {
            Ok(file) => file,
            Err(error) => return Some(format!("standard output cannot be used: {error}")),
        };
        let flags = match fcntl(&file, FcntlArg::F_GETFL) {
            Ok(flags) => OFlag::from_bits_truncate(flags) & OFlag::O_ACCMODE,
            Err(error) => return Some(format!("standard output cannot be used: {error}")),
        };
        if flags == OFlag::O_RDONLY {
            return Some("standard output is open for reading only".into());
        }
        // A closed standard output is opened by Rust's runtime as /dev/null, for reading and writing; a shell's
        // `> /dev/null` is for writing only.
        if flags == OFlag::O_RDWR && is_null(&file) {
            return Some("standard output is closed".into());
        }
        let mut polled = [PollFd::new(file.as_fd(), PollFlags::POLLOUT)];
        let gone = PollFlags::POLLERR | PollFlags::POLLHUP;
        let found = poll(&mut polled, PollTimeout::ZERO).ok()?;
        let [polled] = polled;
        let is_gone = found > 0 && polled.revents().is_some_and(|found| found.intersects(gone));
        is_gone.then(|| "nobody reads standard output any more (a broken pipe)".into())
    }

    fn is_null(file: &File) -> bool {
        let (found, null) = (file.metadata(), fs::metadata("/dev/null"));
        found.is_ok_and(|found| null.is_ok_and(|null| found.rdev() == null.rdev()))
    }

    /// Writes all of the text, to the disk where it goes to a file.
    pub(super) fn write(text: &str) -> io::Result<()> {
        let mut file = file()?;
        file.write_all(text.as_bytes())?;
        if file.metadata()?.is_file() {
            file.sync_all()?;
        }
        Ok(())
    }
}

#[cfg(not(unix))]
mod output {
    use super::{Write, io};

    /// Nothing can be seen beforehand here.
    pub(super) fn trouble() -> Option<String> {
        None
    }

    /// Writes all of the text.
    pub(super) fn write(text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    }
}
