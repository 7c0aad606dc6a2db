//! Model `ellipsoid`: the keys of `[problem]` and `[private]` that the largest ellipsoid inside a polytope has.

use conveil_text::spelling::counted;
use conveil_text::tables::Item;
use conveil_text::tables::Table;
use conveil_text::{Located, ReadError};

/// The largest ellipsoid inside {x : aᵢ'x ≤ bᵢ}.
#[derive(Debug, Clone, PartialEq)]
pub struct Ellipsoid {
    /// `normals` or `file`.
    pub normals: NormalsSource,
    /// `determinant` (`at-the-mean`).
    pub determinant: EllipsoidDeterminant,
}

/// Where the public normals aᵢ come from.
#[derive(Debug, Clone, PartialEq)]
pub enum NormalsSource {
    /// `normals`: a row for each facet, all of one length; at least one.
    Rows(Located<Vec<Vec<f64>>>),
    /// `file`: a CSV file with a line for each facet, its path as written.
    File(Located<String>),
}

/// When the determinant, which is the objective, holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EllipsoidDeterminant {
    /// `at-the-mean`: the largest mean ellipsoid.
    #[default]
    AtTheMean,
    /// `with-noise`: in the chance constraint, as in the paper.
    WithNoise,
}

/// Where the private offsets bᵢ come from.
#[derive(Debug, Clone, PartialEq)]
pub enum OffsetsSource {
    /// Numbers, one for each facet; at least one.
    Numbers(Located<Vec<f64>>),
    /// A CSV file with a line for each facet, its path as written.
    File(Located<String>),
}

/// Reads the keys of `[problem]` beside `model`.
pub(super) fn read(table: &mut Table) -> Result<Ellipsoid, ReadError> {
    let normals = match (table.optional("normals"), table.optional("file")) {
        (Some(rows), None) => NormalsSource::Rows(rows.locate(read_rows(&rows)?)),
        (None, Some(file)) => NormalsSource::File(file.words()?),
        (Some(_), Some(file)) => return Err(file.error("give `normals` or `file`, not both")),
        (None, None) => {
            return Err(table
                .error("[problem] needs `normals` or `file`")
                .with_help("for example: normals = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], or file = \"normals.csv\""));
        }
    };
    Ok(Ellipsoid {
        normals,
        determinant: match table.optional("determinant") {
            None => EllipsoidDeterminant::default(),
            Some(item) => item.choice(&[
                ("at-the-mean", EllipsoidDeterminant::AtTheMean),
                ("with-noise", EllipsoidDeterminant::WithNoise),
            ])?,
        },
    })
}

fn read_rows(item: &Item) -> Result<Vec<Vec<f64>>, ReadError> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (index, entry) in item.filled_array()?.iter().enumerate() {
        let row = entry.numbers()?;
        if let Some(first) = rows.first()
            && first.len() != row.len()
        {
            return Err(entry.error(format!(
                "the normal of facet {index} has {}, that of facet 0 has {}",
                counted(row.len(), "number", "numbers"),
                first.len()
            )));
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Reads `offsets` of `[private]`.
pub(super) fn read_offsets(table: &mut Table) -> Result<OffsetsSource, ReadError> {
    let item = table.required(
        "offsets",
        "offsets = [1.0, 1.0, 2.0, 2.0], or \"offsets.csv\"",
    )?;
    if item.is_text() {
        return Ok(OffsetsSource::File(item.words()?));
    }
    if !item.is_array() {
        return Err(item
            .must("be numbers, one for each facet, or the name of a file")
            .with_help("for example: offsets = [1.0, 1.0, 2.0, 2.0], or \"offsets.csv\""));
    }
    item.filled_array()?;
    Ok(OffsetsSource::Numbers(item.locate(item.numbers()?)))
}
