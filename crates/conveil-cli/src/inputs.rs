//! The two texts that a user hands over: the spec, and the problem file that it names.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use conveil_read::problem::{self, SavedProblem};
use conveil_read::spec::{self, Spec};

use crate::failure::Failure;

/// A spec and its problem, both read and consistent in themselves.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// How messages call the spec.
    pub spec_name: String,
    /// The spec.
    pub spec: Spec,
    /// How messages call the problem file.
    pub problem_name: String,
    /// The problem, with the private numbers that the file holds.
    pub saved: SavedProblem,
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
        let file = &spec.problem.file;
        let problem_path = path
            .parent()
            .unwrap_or(Path::new(""))
            .join(file.value.as_str());
        let problem_name = problem_path.display().to_string();
        let problem_text = text_of(&problem_path, PROBLEM_BYTES).map_err(|why| {
            file.error(
                &spec_name,
                format!("cannot read the problem {problem_name}: {why}"),
            )
            .with_help("`file` is a path relative to the spec's directory")
        })?;
        Self::with_problem(spec_name, spec, problem_name, &problem_text)
    }

    /// The same from texts: the name and text of the spec, the name and text of the problem.
    pub fn from_texts(spec: (&str, &str), problem: (&str, &str)) -> Result<Self, Failure> {
        let read = spec::read(spec.0, spec.1)?;
        Self::with_problem(spec.0.into(), read, problem.0.into(), problem.1)
    }

    fn with_problem(
        spec_name: String,
        spec: Spec,
        problem_name: String,
        problem_text: &str,
    ) -> Result<Self, Failure> {
        let saved = problem::read(&problem_name, problem_text)?;
        Ok(Inputs {
            spec_name,
            spec,
            problem_name,
            saved,
        })
    }
}

/// The text of a file, or why there is none.
pub(crate) fn text_of(path: &Path, limit: u64) -> Result<String, String> {
    let plain = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => String::from("no such file"),
        ErrorKind::PermissionDenied => {
            String::from("permission denied: you may not read this file")
        }
        ErrorKind::IsADirectory => String::from("this is a directory, not a file"),
        _ => error.to_string(),
    };
    let file = File::open(path).map_err(plain)?;
    let mut bytes = Vec::new();
    // One byte more than the limit tells a file that is too long from one that just fits.
    let mut limited = file.take(limit + 1);
    limited.read_to_end(&mut bytes).map_err(plain)?;
    if bytes.len() as u64 > limit {
        return Err(format!("the file has more than {limit} bytes"));
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
