//! The files that a spec names, beside the spec itself: opened where they stand, none of them longer than is sensible.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};

use conveil_text::{Located, ReadError};

/// Where the files of a spec are.
#[derive(Debug, Clone)]
pub struct Files {
    /// How messages call the spec.
    spec_name: String,
    /// The directory that paths in the spec are relative to.
    folder: PathBuf,
    /// The name and text of the public file, where it was handed over.
    public: Option<(String, String)>,
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
            folder: folder.into(),
            public: None,
        }
    }

    /// Of a spec whose public file, if it names one, is this text.
    pub fn of_text(spec_name: &str, name: &str, text: &str) -> Self {
        Files {
            public: Some((name.into(), text.into())),
            ..Self::in_folder(spec_name, Path::new(""))
        }
    }

    /// How messages call the spec.
    pub fn spec_name(&self) -> &str {
        &self.spec_name
    }

    /// The directory that paths in the spec are relative to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What messages call a public file, and its text.
    pub fn public_text(&self, named: Named<'_>) -> Result<(String, String), ReadError> {
        match &self.public {
            Some(given) => Ok(given.clone()),
            None => self.text(named, MOST_BYTES),
        }
    }

    /// What messages call a file, and its text.
    pub fn text(&self, named: Named<'_>, limit: u64) -> Result<(String, String), ReadError> {
        let (path, name) = self.place(named);
        let text = text_of(&path, limit).map_err(|why| self.error(named, &name, &why))?;
        Ok((name, text))
    }

    /// What messages call a public file of records, and the file, to be read line by line.
    pub fn public_records(
        &self,
        named: Named<'_>,
    ) -> Result<(String, Box<dyn BufRead>), ReadError> {
        match &self.public {
            Some((name, text)) => Ok((name.clone(), Box::new(Cursor::new(text.clone())))),
            None => self.records(named),
        }
    }

    /// What messages call a file of records, and the file, to be read line by line.
    pub fn records(&self, named: Named<'_>) -> Result<(String, Box<dyn BufRead>), ReadError> {
        let (path, name) = self.place(named);
        let input = records_of(&path).map_err(|why| self.error(named, &name, &why))?;
        Ok((name, Box::new(input)))
    }

    fn place(&self, named: Named<'_>) -> (PathBuf, String) {
        let path = self.folder.join(named.file.value.as_str());
        let name = path.display().to_string();
        (path, name)
    }

    fn error(&self, named: Named<'_>, name: &str, why: &str) -> ReadError {
        let Named { file, what, key } = named;
        file.error(
            &self.spec_name,
            format!("cannot read the {what} {name}: {why}"),
        )
        .with_help(format!(
            "`{key}` is a path relative to the spec's directory"
        ))
    }
}

/// A file of records, to be read line by line, or why it cannot be.
pub fn records_of(path: &Path) -> Result<BufReader<Limited>, String> {
    let file = File::open(path).map_err(plain)?;
    if file.metadata().is_ok_and(|of| of.len() > MOST_BYTES) {
        return Err(too_long(MOST_BYTES));
    }
    let rest = MOST_BYTES;
    let mut input = BufReader::new(Limited { file, rest });
    if input.fill_buf().map_err(plain)?.is_empty() {
        return Err(String::from("the file is empty"));
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
        return Err(String::from("the file is empty"));
    }
    Ok(text)
}
