//! The texts that a user hands over: the spec, and the problem file or the network that it names.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use conveil_grid::{Network, matpower};
use conveil_models::records::Records;
use conveil_read::spec::{self, Model, NetworkSource, NormalsSource, Spec};
use conveil_text::numbers;
use conveil_text::problem::{self, SavedProblem};

use crate::failure::Failure;
use crate::regression;

/// A spec and its problem, both read and consistent in themselves.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// How messages call the spec.
    pub spec_name: String,
    /// The spec.
    pub spec: Spec,
    /// The directory that paths in the spec are relative to.
    pub folder: PathBuf,
    /// How messages call the problem file, or the network.
    pub problem_name: String,
    /// What the spec is about.
    pub source: Source,
}

/// What a spec is about.
#[derive(Debug, Clone)]
pub enum Source {
    /// A saved problem, with the private numbers that the file holds.
    Saved(SavedProblem),
    /// A public network.
    Network(Network),
    /// The public regressors of a regression.
    Regressors(Records),
    /// Nothing beside the spec: the private records have a file of their own.
    Records,
    /// The public normals of a polytope.
    Normals(Vec<Vec<f64>>),
}

/// Longer specs are not read to their end; the reader refuses them.
const SPEC_BYTES: u64 = 16 << 20;

/// Longer problems are refused.
const PROBLEM_BYTES: u64 = 1 << 30;

impl Inputs {
    /// Reads the spec at `path`, and the problem file relative to the spec's directory.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let spec_name = path.display().to_string();
        let spec_text = text_of(path, SPEC_BYTES).map_err(|why| {
            Failure::input(format!(
                "{spec_name}: {why}\n  help: give the path of a spec file; `conveil check --help` shows how"
            ))
        })?;
        let spec = spec::read(&spec_name, &spec_text)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let (file, what) = match &spec.problem.model {
            Model::Conic { file } => (file, "problem"),
            Model::Regression(wish) => {
                // Records are read line by line, never as one text.
                let (problem_name, records) = regression::open(&spec_name, &folder, wish)?;
                return Ok(Inputs {
                    source: Source::Regressors(records),
                    spec_name,
                    spec,
                    folder,
                    problem_name,
                });
            }
            Model::Opf(grid) => match &grid.network {
                NetworkSource::File(file) => (file, "network"),
                NetworkSource::Builtin(_) => {
                    return Self::with_text(spec_name, spec, folder, ("", ""));
                }
            },
            Model::Svm(_) => return Self::with_text(spec_name, spec, folder, ("", "")),
            Model::Ellipsoid(ellipsoid) => match &ellipsoid.normals {
                NormalsSource::File(file) => (file, "normals"),
                NormalsSource::Rows(_) => {
                    return Self::with_text(spec_name, spec, folder, ("", ""));
                }
            },
        };
        let problem_path = folder.join(file.value.as_str());
        let problem_name = problem_path.display().to_string();
        let problem_text = text_of(&problem_path, PROBLEM_BYTES).map_err(|why| {
            file.error(
                &spec_name,
                format!("cannot read the {what} {problem_name}: {why}"),
            )
            .with_help("`file` is a path relative to the spec's directory")
        })?;
        Self::with_text(spec_name, spec, folder, (&problem_name, &problem_text))
    }

    /// The same from texts: the name and text of the spec, the name and text of the problem or the network's file.
    pub fn from_texts(spec: (&str, &str), problem: (&str, &str)) -> Result<Self, Failure> {
        let read = spec::read(spec.0, spec.1)?;
        Self::with_text(spec.0.into(), read, PathBuf::new(), problem)
    }

    fn with_text(
        spec_name: String,
        spec: Spec,
        folder: PathBuf,
        (name, text): (&str, &str),
    ) -> Result<Self, Failure> {
        let (problem_name, source) = match &spec.problem.model {
            Model::Conic { .. } => (name.into(), Source::Saved(problem::read(name, text)?)),
            Model::Regression(wish) => {
                let records = regression::regressors(name, text.as_bytes(), wish)?;
                (name.into(), Source::Regressors(records))
            }
            Model::Opf(grid) => match &grid.network {
                NetworkSource::File(_) => {
                    (name.into(), Source::Network(matpower::read(name, text)?))
                }
                NetworkSource::Builtin(wanted) => {
                    let network = Network::builtin(&wanted.value)
                        .map_err(|error| wanted.error(&spec_name, error.to_string()))?;
                    (network.name().into(), Source::Network(network))
                }
            },
            Model::Svm(_) => ("support vector machine".into(), Source::Records),
            Model::Ellipsoid(ellipsoid) => match &ellipsoid.normals {
                NormalsSource::File(_) => {
                    (name.into(), Source::Normals(numbers::read(name, text)?))
                }
                NormalsSource::Rows(rows) => (
                    "largest ellipsoid".into(),
                    Source::Normals(rows.value.clone()),
                ),
            },
        };
        Ok(Inputs {
            spec_name,
            spec,
            folder,
            problem_name,
            source,
        })
    }
}

/// Longer files of records are refused.
const RECORD_BYTES: u64 = 1 << 30;

/// A file of records, to be read line by line, or why it cannot be.
pub fn records_of(path: &Path) -> Result<BufReader<Limited>, String> {
    let file = File::open(path).map_err(plain)?;
    if file.metadata().is_ok_and(|of| of.len() > RECORD_BYTES) {
        return Err(too_long(RECORD_BYTES));
    }
    let rest = RECORD_BYTES;
    let mut input = BufReader::new(Limited { file, rest });
    if input.fill_buf().map_err(plain)?.is_empty() {
        return Err(String::from("the file is empty"));
    }
    Ok(input)
}

/// A file that ends with an error where it is too long: the size of a pipe is not known beforehand.
pub struct Limited {
    file: File,
    rest: u64,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        match self.rest.checked_sub(count as u64) {
            Some(rest) => self.rest = rest,
            None => return Err(std::io::Error::other(too_long(RECORD_BYTES))),
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
