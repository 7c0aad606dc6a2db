//! The files that a spec names, beside the spec itself: on disk, relative to its directory, or texts in memory. None of them
//! is longer than is sensible.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use conveil_text::spelling::quoted;
use conveil_text::{Located, ReadError};

use crate::failure::Failure;

/// Where the files of a spec are: the public ones, which a model is made of, and the private ones, its data.
///
/// # Guarantee
/// Of [`Files::in_memory`] no path is opened, whatever the spec names; and a public file is never looked for among the
/// private ones. Tests: `files_in_memory_open_no_path`, `no_public_file_is_looked_for_among_the_private_ones`.
#[derive(Debug, Clone)]
pub struct Files {
    /// How messages call the spec.
    spec_name: String,
    public: Place,
    private: Place,
    /// The folder that no file may lie outside of, where there is one.
    within: Option<PathBuf>,
}

/// Where files are.
#[derive(Debug, Clone)]
enum Place {
    /// In this directory.
    Folder(PathBuf),
    /// In memory, by name.
    Memory(Arc<BTreeMap<String, String>>),
}

/// A text, and how the spec and messages call it.
#[derive(Debug, Clone, Copy)]
pub struct Text<'t> {
    /// The name.
    pub name: &'t str,
    /// The text.
    pub text: &'t str,
}

/// A file that a spec names: its place in the spec, what messages call it, and the key that names it.
#[derive(Clone, Copy)]
pub struct Named<'n> {
    /// The path, as written.
    pub file: &'n Located<String>,
    /// What it holds.
    pub what: &'n str,
    /// The key of the spec.
    pub key: &'n str,
}

/// Longer files are refused.
const MOST_BYTES: u64 = 1 << 30;

impl Files {
    /// Of a spec in this directory.
    pub fn in_folder(spec_name: &str, folder: &Path) -> Self {
        Files {
            spec_name: spec_name.into(),
            public: Place::Folder(folder.into()),
            private: Place::Folder(folder.into()),
            within: None,
        }
    }

    /// The same, where no file outside of this folder is opened, whatever the spec names: not by `..`, not by an absolute path,
    /// not through a link. Test: `no_file_outside_of_the_folder_is_opened`.
    pub fn within(self, folder: &Path) -> Result<Self, Failure> {
        let unknown = |why| Failure::Input(format!("cannot use {}: {why}", folder.display()));
        let folder = folder.canonicalize().map_err(unknown)?;
        Ok(Files {
            within: Some(folder),
            ..self
        })
    }

    /// Why a file that the spec names must not be opened, where it lies outside of the folder.
    pub fn refused(&self, written: &str) -> Option<String> {
        let (Some(within), Place::Folder(folder)) = (&self.within, &self.public) else {
            return None;
        };
        // What does not exist is said by whoever opens it; its folder must be inside all the same.
        let path = folder.join(written);
        let found = path.canonicalize().or_else(|_| {
            let parent = path.parent().unwrap_or(Path::new(""));
            parent.canonicalize()
        });
        let is_inside = found.is_ok_and(|found| found.starts_with(within));
        (!is_inside).then(|| "it is not inside the folder that was opened".into())
    }

    /// Of a spec whose files are these texts and no others; they are found by their names, as the spec writes them.
    pub fn in_memory(spec_name: &str, files: &[Text<'_>]) -> Result<Self, Failure> {
        Ok(Files {
            spec_name: spec_name.into(),
            public: Place::Memory(Arc::new(by_name(files)?)),
            private: Place::Memory(Arc::default()),
            within: None,
        })
    }

    /// The same, with private files that are these texts and no others.
    pub fn with_private(&self, files: &[Text<'_>]) -> Result<Self, Failure> {
        let private = by_name(files)?;
        if let Place::Memory(public) = &self.public
            && let Some(twice) = private.keys().find(|name| public.contains_key(*name))
        {
            return Err(Failure::Input(format!(
                "{} is among the public files and among the private ones: a file is one or the other",
                quoted(twice)
            )));
        }
        Ok(Files {
            private: Place::Memory(Arc::new(private)),
            ..self.clone()
        })
    }

    /// The same without its private files: of files in memory the public ones are left, in a folder nothing changes.
    pub fn without_private(&self) -> Self {
        let private = match &self.private {
            Place::Folder(folder) => Place::Folder(folder.clone()),
            Place::Memory(_) => Place::Memory(Arc::default()),
        };
        Files {
            private,
            ..self.clone()
        }
    }

    /// How messages call the spec.
    pub fn spec_name(&self) -> &str {
        &self.spec_name
    }

    /// Whether two names, as a spec writes them, are of one file.
    pub fn is_same(&self, one: &str, other: &str) -> bool {
        let on_disk = |name: &str| match &self.public {
            Place::Folder(folder) => folder.join(name).canonicalize().ok(),
            Place::Memory(_) => None,
        };
        let (first, second) = (on_disk(one), on_disk(other));
        let is_one_file = match (&first, &second) {
            (Some(first), Some(second)) => first == second || is_one_inode(first, second),
            _ => false,
        };
        one == other || is_one_file
    }

    /// The directory that paths in the spec are relative to; that of the process where the files are in memory.
    pub fn folder(&self) -> &Path {
        match &self.public {
            Place::Folder(folder) => folder,
            Place::Memory(_) => Path::new(""),
        }
    }

    /// What messages call a public file, and its text.
    pub fn public_text(&self, named: Named<'_>) -> Result<(String, String), ReadError> {
        self.text(named, &self.public)
    }

    /// What messages call a private file, and its text.
    pub fn private_text(&self, named: Named<'_>) -> Result<(String, String), ReadError> {
        self.text(named, self.place_of_private(named))
    }

    /// What messages call a public file of records, and the file, to be read line by line.
    pub fn public_records(&self, named: Named<'_>) -> Result<NamedRecords<'_>, ReadError> {
        self.records(named, &self.public)
    }

    /// What messages call a private file of records, and the file, to be read line by line.
    pub fn private_records(&self, named: Named<'_>) -> Result<NamedRecords<'_>, ReadError> {
        self.records(named, self.place_of_private(named))
    }

    /// Private numbers may stand in a public file of the spec: they are looked up only when the data are.
    fn place_of_private(&self, named: Named<'_>) -> &Place {
        match (&self.private, &self.public) {
            (Place::Memory(private), Place::Memory(public))
                if !private.contains_key(&named.file.value)
                    && public.contains_key(&named.file.value) =>
            {
                &self.public
            }
            _ => &self.private,
        }
    }

    fn text(&self, named: Named<'_>, place: &Place) -> Result<(String, String), ReadError> {
        let written = &named.file.value;
        let (name, text) = match place {
            Place::Folder(folder) => on_disk(folder, written, |path| {
                self.refused(written)
                    .map_or_else(|| text_of(path, MOST_BYTES), Err)
            }),
            Place::Memory(files) => {
                let text = in_memory(files, written);
                (written.clone(), text.map(String::from))
            }
        };
        let text = text.map_err(|why| self.error(named, &name, &why, place))?;
        Ok((name, text))
    }

    fn records<'f>(
        &self,
        named: Named<'_>,
        place: &'f Place,
    ) -> Result<NamedRecords<'f>, ReadError> {
        let written = &named.file.value;
        let (name, input): (_, Result<Box<dyn BufRead>, String>) = match place {
            Place::Folder(folder) => on_disk(folder, written, |path| {
                let input = self.refused(written).map_or_else(|| records_of(path), Err);
                input.map(|input| Box::new(input) as _)
            }),
            Place::Memory(files) => {
                let text = in_memory(files, written);
                (written.clone(), text.map(|t| Box::new(t.as_bytes()) as _))
            }
        };
        let input = input.map_err(|why| self.error(named, &name, &why, place))?;
        Ok((name, input))
    }

    fn error(&self, named: Named<'_>, name: &str, why: &str, place: &Place) -> ReadError {
        let Named { file, what, key } = named;
        let help = match place {
            Place::Folder(_) => format!("`{key}` is a path relative to the spec's directory"),
            Place::Memory(_) => format!(
                "`{key}` is the name of a file in memory; nothing is read from disk beside such a spec"
            ),
        };
        let message = format!("cannot read the {what} {name}: {why}");
        file.error(&self.spec_name, message).with_help(help)
    }
}

/// What messages call a file of records, and the file.
pub type NamedRecords<'f> = (String, Box<dyn BufRead + 'f>);

fn by_name(files: &[Text<'_>]) -> Result<BTreeMap<String, String>, Failure> {
    let mut named = BTreeMap::new();
    for file in files {
        if named.insert(file.name.into(), file.text.into()).is_some() {
            return Err(Failure::Input(format!(
                "the file {} is handed over twice",
                quoted(file.name)
            )));
        }
    }
    Ok(named)
}

/// What messages call a file of this directory, and what is read from it.
fn on_disk<T>(folder: &Path, written: &str, read: impl FnOnce(&Path) -> T) -> (String, T) {
    let path = folder.join(written);
    (path.display().to_string(), read(&path))
}

/// Names of files that a message lists.
const LISTED: usize = 8;

/// The text of a file in memory, or why there is none.
fn in_memory<'f>(files: &'f BTreeMap<String, String>, name: &str) -> Result<&'f str, String> {
    let Some(text) = files.get(name) else {
        let mut known: Vec<String> = files.keys().take(LISTED).map(|name| quoted(name)).collect();
        if files.len() > LISTED {
            known.push(format!("{} more", files.len() - LISTED));
        }
        return Err(match known.is_empty() {
            true => "no such file among those in memory: there are none".into(),
            false => format!("no such file among those in memory: {}", known.join(", ")),
        });
    };
    if text.len() as u64 > MOST_BYTES {
        return Err(too_long(MOST_BYTES));
    }
    match text.trim().is_empty() {
        true => Err(EMPTY.into()),
        false => Ok(text),
    }
}

/// Why a file without a word in it is no file of ours.
const EMPTY: &str = "the file is empty";

/// A file of records, to be read line by line, or why it cannot be.
pub fn records_of(path: &Path) -> Result<BufReader<Limited>, String> {
    let file = File::open(path).map_err(plain)?;
    if file.metadata().is_ok_and(|of| of.len() > MOST_BYTES) {
        return Err(too_long(MOST_BYTES));
    }
    let rest = MOST_BYTES;
    let mut input = BufReader::new(Limited { file, rest });
    if input.fill_buf().map_err(plain)?.is_empty() {
        return Err(EMPTY.into());
    }
    Ok(input)
}

/// A file that ends with an error where it is too long: the size of a pipe is not known beforehand.
#[derive(Debug)]
pub struct Limited {
    file: File,
    rest: u64,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        match self.rest.checked_sub(count as u64) {
            Some(rest) => self.rest = rest,
            None => return Err(std::io::Error::other(too_long(MOST_BYTES))),
        }
        Ok(count)
    }
}

fn too_long(limit: u64) -> String {
    format!("the file has more than {limit} bytes")
}

fn plain(error: std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => String::from("no such file"),
        ErrorKind::PermissionDenied => {
            String::from("permission denied: you may not read this file")
        }
        ErrorKind::IsADirectory => String::from("this is a directory, not a file"),
        _ => error.to_string(),
    }
}

/// The text of a file, or why there is none.
pub fn text_of(path: &Path, limit: u64) -> Result<String, String> {
    let file = File::open(path).map_err(plain)?;
    let mut bytes = Vec::new();
    // One byte more than the limit tells a file that is too long from one that just fits.
    let mut limited = file.take(limit + 1);
    limited.read_to_end(&mut bytes).map_err(plain)?;
    if bytes.len() as u64 > limit {
        return Err(too_long(limit));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        format!(
            "not a text file: byte {} is not UTF-8",
            error.utf8_error().valid_up_to() + 1
        )
    })?;
    if text.trim().is_empty() {
        return Err(EMPTY.into());
    }
    Ok(text)
}

/// Whether two paths are links to one file.
#[cfg(unix)]
fn is_one_inode(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |path: &Path| path.metadata().ok().map(|data| (data.dev(), data.ino()));
    place(one).is_some_and(|found| place(other) == Some(found))
}

#[cfg(not(unix))]
fn is_one_inode(_one: &Path, _other: &Path) -> bool {
    false
}
