//! `[query]`: what is released.

use conveil::ask::{NoiseShape, Query};
use conveil_text::naming::fault;
use conveil_text::spelling::{counted, quoted};
use conveil_text::tables::{Item, Table};
use conveil_text::{Located, ReadError};

use super::keys_of;
use super::reference::{self, VariableRef};
use crate::model::Stated;

/// The query Qx and the shape T of its noise.
#[derive(Debug, Clone, PartialEq)]
pub struct QuerySection {
    /// `release`.
    pub release: Located<&'static str>,
    /// The query, where `release` is a word that any model may have; for words of its own, the model knows it.
    pub query: Option<Query>,
    /// The variables that it names, in the order of the text; of `at-most` the epigraph first.
    pub variables: Vec<Located<VariableRef>>,
    /// `shape`: the matrix T; if absent as the model has it.
    pub shape: Option<Located<NoiseShape>>,
}

impl QuerySection {
    /// How many numbers are released, if the section alone tells.
    pub fn answer_len(&self) -> Option<usize> {
        match self.query.as_ref()? {
            Query::Cost
            | Query::Value
            | Query::Sum(_)
            | Query::Weighted(_)
            | Query::AtMost { .. } => Some(1),
            Query::Rows(rows) => Some(rows.len()),
            Query::Named(rows) => Some(rows.len()),
            Query::Identity | Query::Variables(_) => None,
        }
    }
}

/// Words of `release` that are not one model's own.
const WORDS: [&str; 7] = [
    "identity", "cost", "value", "sum", "weighted", "rows", "at-most",
];

/// Reads `[query]`, the model its own words.
pub(super) fn read(mut table: Table, model: &mut dyn Stated) -> Result<QuerySection, ReadError> {
    let common = [
        "release",
        "variables",
        "weights",
        "rows",
        "epigraph",
        "slope",
    ];
    table.known(&keys_of(&common, |kind| kind.query, &["shape"]))?;
    let item = table.required("release", "release = \"cost\"")?;
    let words = keys_of(&WORDS, |kind| kind.releases, &[]);
    let words: Vec<_> = words.into_iter().map(|word| (word, word)).collect();
    let release = item.choice(&words)?;
    let kind = model.kind();
    if !kind.releases.contains(&release) {
        let message = format!(
            "release `{release}` makes no sense with model `{}`",
            kind.word
        );
        return Err(item.error(message).with_help(kind.releases_help));
    }
    let mut variables = Vec::new();
    let query = read_query(&mut table, release, &*model, &mut variables)?;
    if query.is_none() {
        model.read_query(release, &mut table)?;
    }
    let shape = match table.optional("shape") {
        None => None,
        Some(item) => Some(item.locate(read_shape(item)?)),
    };
    table.finish(format!("with release `{release}`"))?;
    Ok(QuerySection {
        release: item.locate(release),
        query,
        variables,
        shape,
    })
}

/// The query of a common word, and the variables that it names.
fn read_query(
    table: &mut Table,
    word: &str,
    model: &dyn Stated,
    named: &mut Vec<Located<VariableRef>>,
) -> Result<Option<Query>, ReadError> {
    let listed = |table: &mut Table, named: &mut Vec<Located<VariableRef>>| {
        let Some(item) = table.optional("variables") else {
            return Ok(None);
        };
        *named = reference::read_list(&item, model)?;
        Ok(Some(reference::names(named)))
    };
    Ok(Some(match word {
        "identity" => listed(table, named)?.map_or(Query::Identity, Query::Variables),
        "cost" => Query::Cost,
        "value" => Query::Value,
        "sum" => Query::Sum(listed(table, named)?.unwrap_or_default()),
        "weighted" => {
            let item = table.required("weights", "weights = { \"x[0]\" = 1.0, y = 2.0 }")?;
            Query::Weighted(reference::read_weights(&item, model, named)?)
        }
        "rows" => {
            let rows = table.required("rows", "rows = [{ \"x[0]\" = 1.0 }, { y = 1.0 }]")?;
            match named_rows(&rows)? {
                Some(rows) => {
                    let weighted = |(name, row): &(String, Item)| {
                        Ok((name.clone(), reference::read_weights(row, model, named)?))
                    };
                    Query::Named(rows.iter().map(weighted).collect::<Result<_, _>>()?)
                }
                None => {
                    let rows = rows.filled_array()?;
                    let rows = rows
                        .iter()
                        .map(|row| reference::read_weights(row, model, named));
                    Query::Rows(rows.collect::<Result<_, _>>()?)
                }
            }
        }
        "at-most" => {
            let epigraph =
                reference::read(&table.required("epigraph", "epigraph = \"t\"")?, model)?;
            let name = epigraph.value.to_string();
            named.push(epigraph);
            let slope = table.required("slope", "slope = { \"x[0]\" = 1.0 }")?;
            Query::AtMost {
                epigraph: name,
                slope: reference::read_weights(&slope, model, named)?,
            }
        }
        _ => return Ok(None),
    }))
}

/// The rows of a table by their names, which go on the card; none where they are listed without.
fn named_rows<'d>(item: &Item<'d>) -> Result<Option<Vec<(String, Item<'d>)>>, ReadError> {
    let Ok(table) = item.table("`rows`") else {
        return Ok(None);
    };
    let entries = table.entries();
    // `{ x = 1.0 }` is one row that lacks its list.
    if entries.iter().all(|(_, _, row)| row.is_number()) {
        return Ok(None);
    }
    for (name, offset, _) in &entries {
        if let Some(fault) = fault(name) {
            let message = format!("the name of the row {} {fault}", quoted(name));
            let error = item.source().error(*offset, message);
            return Err(error.with_help(fault.help()));
        }
    }
    let rows = entries.into_iter();
    Ok(Some(
        rows.map(|(name, _, row)| (name.into(), row)).collect(),
    ))
}

fn read_shape(item: Item) -> Result<NoiseShape, ReadError> {
    if item.is_text() {
        return match item.choice(&[("curvature", true), ("isotropic", false)]) {
            Ok(true) => Ok(NoiseShape::Curvature),
            Ok(false) => Ok(NoiseShape::Identity),
            Err(error) if error.help.is_some() => Err(error),
            Err(error) => {
                Err(error.with_help("or give the matrix by rows: [[2.0, 0.0], [0.5, 1.0]]"))
            }
        };
    }
    let rows = item.filled_array()?;
    let mut shape = Vec::new();
    for (index, row_item) in rows.iter().enumerate() {
        let row = row_item.numbers()?;
        if row.len() != rows.len() {
            return Err(row_item.error(format!(
                "`shape` must be square: it has {}, but row {index} has {}",
                counted(rows.len(), "row", "rows"),
                counted(row.len(), "number", "numbers")
            )));
        }
        shape.push(row);
    }
    Ok(NoiseShape::Rows(shape))
}
