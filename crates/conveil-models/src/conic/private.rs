//! The private numbers of a saved problem: in the spec and the file, or in a CSV of their own. Private, all of it.
//!
//! The CSV has one of two forms. A table has the header `parameter,value` and a line for each parameter:
//!
//! ```text
//! parameter,value
//! d1,97
//! d2,108
//! ```
//!
//! A series has the names of the parameters for a header, in any order, and every further line is a dataset:
//!
//! ```text
//! d2,d1
//! 108,97
//! 92,104.5
//! ```
//!
//! Where the spec states a `label`, one further column of a series has a label for each dataset.
//!
//! Every parameter has a value, and nothing else has: a file that fits by half is a mistake.

use std::collections::{HashMap, HashSet};

use conveil_text::Labels;
use conveil_text::spelling::{nearest, quoted};

use super::public::SavedModel;
use super::stated::Parameter;
use crate::failure::Failure;
use crate::files::{Files, Named};
use crate::model::{Datasets, nth_row};
use crate::records::{Code, Records};

/// The datasets of a saved problem.
#[derive(Debug)]
pub(super) enum SavedData<'m> {
    /// The numbers in the spec and its problem file, looked up when they are asked for.
    InTheProblem(&'m SavedModel),
    /// The rows of a CSV.
    Rows(Rows),
}

/// Datasets, and what they are called.
#[derive(Debug)]
pub(super) struct Rows {
    each: Vec<Vec<f64>>,
    labels: Option<Labels>,
}

impl<'m> SavedData<'m> {
    pub(super) fn open(of: &'m SavedModel, files: &Files) -> Result<Self, Failure> {
        let Some(file) = &of.stated.data else {
            return Ok(SavedData::InTheProblem(of));
        };
        let (name, text) = files.private_text(Named {
            file,
            what: "private values",
            key: "data",
        })?;
        Ok(SavedData::Rows(rows(&name, &text, of)?))
    }
}

impl Datasets for SavedData<'_> {
    fn count(&self) -> usize {
        match self {
            SavedData::InTheProblem(_) => 1,
            SavedData::Rows(rows) => rows.each.len(),
        }
    }

    fn rows_hold(&self) -> &'static str {
        "private values"
    }

    fn labels(&self) -> Option<&Labels> {
        match self {
            SavedData::InTheProblem(_) => None,
            SavedData::Rows(rows) => rows.labels.as_ref(),
        }
    }

    fn row(&self, row: usize) -> Result<Vec<f64>, Failure> {
        match self {
            SavedData::InTheProblem(of) => Ok(of.values()?),
            SavedData::Rows(rows) => nth_row(rows.each.iter(), row),
        }
    }
}

/// The header of a table, in capitals or not.
const TABLE: [&str; 2] = ["parameter", "value"];

/// The datasets in a CSV, each in the order of the parameters.
fn rows(name: &str, text: &str, of: &SavedModel) -> Result<Rows, Failure> {
    let header = Records::header(name, text.as_bytes())?;
    let is_table = header.len() == TABLE.len()
        && (header.iter().zip(TABLE)).all(|(found, word)| found.eq_ignore_ascii_case(word));
    let (parameters, label) = (&of.stated.parameters, of.label.as_deref());
    match (is_table, label) {
        (true, None) => Ok(Rows {
            each: table(name, text, &header, parameters)?,
            labels: None,
        }),
        (true, Some(label)) => Err(Failure::Input(format!(
            "{name}:1: `label` says that the column {} names the rows of a series, and this is a table of one dataset\n  help: leave out `label`; or write a line with the names of the parameters and a line for each dataset",
            quoted(label)
        ))),
        (false, label) => series(name, text, &header, parameters, label),
    }
}

/// One dataset: a line for each parameter.
fn table(
    name: &str,
    text: &str,
    header: &[String],
    parameters: &[Parameter],
) -> Result<Vec<Vec<f64>>, Failure> {
    let names = parameters.iter().map(|p| p.name.value.as_str());
    let places: HashMap<&str, usize> = names.clone().zip(0..).collect();
    let code = Code {
        column: &header[0],
        number: &|word| match places.get(word) {
            Some(&place) => Ok(place as f64),
            None => Err(unknown(word, names.clone())),
        },
    };
    let columns: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut values = vec![None; parameters.len()];
    let mut twice = None;
    Records::each_coded(name, text.as_bytes(), &columns, &code, |line, record| {
        // The code is a place.
        let place = record[0] as usize;
        if values[place].replace(record[1]).is_some() {
            twice.get_or_insert((line, place));
        }
    })?;
    if let Some((line, place)) = twice {
        let parameter = quoted(&parameters[place].name.value);
        return Err(Failure::Input(format!(
            "{name}:{line}: the parameter {parameter} is there twice"
        )));
    }
    let each = values
        .into_iter()
        .zip(parameters)
        .map(|(value, parameter)| {
            value.ok_or_else(|| {
                Failure::Input(format!(
                    "{name}: there is no line for the parameter {}",
                    quoted(&parameter.name.value)
                ))
            })
        });
    Ok(vec![each.collect::<Result<_, _>>()?])
}

/// A dataset in each line.
fn series(
    name: &str,
    text: &str,
    header: &[String],
    parameters: &[Parameter],
    label: Option<&str>,
) -> Result<Rows, Failure> {
    let names: Vec<&str> = parameters.iter().map(|p| p.name.value.as_str()).collect();
    let (records, labels) = match label {
        None => {
            let records = Records::read_columns(name, text.as_bytes(), &names);
            (records?, None)
        }
        Some(label) => {
            let (records, labels) = Records::read_labelled(name, text.as_bytes(), &names, label)?;
            (records, Some(labels))
        }
    };
    let known: HashSet<&str> = names.iter().copied().chain(label).collect();
    if let Some(odd) = header
        .iter()
        .find(|column| !known.contains(column.as_str()))
    {
        let (message, mut help) = unknown(odd, names.iter().copied());
        if label.is_none() {
            help = format!(
                "{help}\n  help: if the column names the rows, write label = {odd:?} in [private]: labels are public, and stand on the cards"
            );
        }
        return Err(Failure::Input(format!("{name}: {message}\n  help: {help}")));
    }
    Ok(Rows {
        each: records.rows().map(<[f64]>::to_vec).collect(),
        labels,
    })
}

/// A name that is none of a parameter, and what would be right.
fn unknown<'p>(word: &str, names: impl Iterator<Item = &'p str>) -> (String, String) {
    let help = match nearest(word, names) {
        Some(near) => format!("did you mean {}?", quoted(near)),
        None => "the [[private.parameter]] blocks of the spec name the parameters".into(),
    };
    (format!("there is no parameter {}", quoted(word)), help)
}
