//! Studies: the paper's tables. Seeded and not private; no study can make a release.

use clap::ArgMatches;
use clap::error::ErrorKind;
use conveil::solve::Batch;
use conveil_studies::parts;
use conveil_studies::study::{self, Entry, STUDIES};
use conveil_text::naming::{printable, printable_json};
use conveil_workbench::{Failure, Kind, Observer};
use pyo3::prelude::*;

use crate::bench::Document;
use crate::call;
use crate::errors::raised;

/// The names of the studies, and what each is.
#[pyfunction]
pub(crate) fn study_names() -> Vec<(&'static str, &'static str)> {
    STUDIES.iter().map(|s| (s.name, s.about)).collect()
}

/// How many parts a study with these flags has, and which files of the user's it reads.
#[pyfunction]
pub(crate) fn study_parts(
    py: Python<'_>,
    name: &str,
    flags: Vec<String>,
) -> PyResult<(usize, Vec<String>)> {
    let found = read(name, &flags).and_then(|(study, flags)| {
        let count = study.parts(&flags).map_err(|e| failure(name, e))?;
        Ok((count, study.files(&flags).map_err(|e| failure(name, e))?))
    });
    found.map_err(|failure| raised(py, &failure))
}

/// Runs one part, counted from 0, on so many threads: JSON and text.
#[pyfunction]
#[pyo3(signature = (name, flags, part, *, threads=None, observer=None))]
pub(crate) fn study_cell(
    py: Python<'_>,
    name: &str,
    flags: Vec<String>,
    part: usize,
    threads: Option<usize>,
    observer: Option<Bound<'_, PyAny>>,
) -> PyResult<Document> {
    call::run_on(py, threads, observer, |heard| {
        let (study, flags) = read(name, &flags)?;
        let batch = Batch::new()
            .cancel(heard.cancel())
            .progress(|done, total| heard.progress(done, total));
        let table = study.run_part(&flags, part, &batch);
        let table = table.map_err(|e| failure(name, e))?;
        let json = table.json();
        let json = json.map_err(|e| Failure::new(Kind::NotWritten, e.to_string()))?;
        let text = table.to_string();
        Ok((printable_json(&json), printable(&text, usize::MAX)))
    })
}

/// The study that these parts make, in their order.
#[pyfunction]
pub(crate) fn study_of(py: Python<'_>, parts: Vec<Document>) -> PyResult<Document> {
    parts::joined(&parts).map_err(|e| raised(py, &failure("study", e)))
}

fn read(name: &str, flags: &[String]) -> Result<(&'static Entry, ArgMatches), Failure> {
    let Some(study) = STUDIES.iter().find(|study| study.name == name) else {
        let known: Vec<&str> = STUDIES.iter().map(|study| study.name).collect();
        return Err(Failure::input(format!(
            "there is no study {name:?}; there are: {}",
            known.join(", ")
        )));
    };
    let command = study.command().no_binary_name(true).disable_help_flag(true);
    let known: Vec<String> = (command.get_arguments())
        .filter_map(|argument| Some(format!("--{}", argument.get_long()?)))
        .collect();
    let read = command.try_get_matches_from(flags);
    let flags = read.map_err(|error| {
        let said = error.to_string();
        let first = said.lines().next().unwrap_or_default();
        let message = first.trim_start_matches("error: ");
        Failure::input(match error.kind() {
            ErrorKind::UnknownArgument => {
                format!(
                    "study {name}: {message}; its settings are: {}",
                    known.join(", ")
                )
            }
            _ => format!("study {name}: {message}"),
        })
    })?;
    Ok((study, flags))
}

fn failure(name: &str, failure: study::Failure) -> Failure {
    match failure {
        study::Failure::Engine(error) => Failure::engine(&format!("study {name}"), &error),
        study::Failure::Input(message) => Failure::input(message),
    }
}
