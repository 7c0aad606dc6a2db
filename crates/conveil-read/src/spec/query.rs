//! `[query]`: what is released.

use super::item::Item;
use super::reference::{self, VariableRef, Weight};
use super::table::Table;
use crate::spelling::counted;
use crate::{Located, ReadError};

/// The query Qx and the shape T of its noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// `release` and the keys that go with it.
    pub release: Release,
    /// `shape`: the matrix T; the identity if absent.
    pub shape: Option<Located<Shape>>,
}

/// The shape T of the noise: the answer is Qx̄ + Tζ.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// T by rows: square, finite.
    Rows(Vec<Vec<f64>>),
    /// `curvature`: T = (QP⁻¹Q')^½ of a quadratic cost.
    Curvature,
}

/// What is released.
#[derive(Debug, Clone, PartialEq)]
pub enum Release {
    /// `identity`: variables, one by one.
    Identity {
        /// Which; none means all.
        variables: Option<Vec<Located<VariableRef>>>,
    },
    /// `cost`: the linear cost q'x.
    Cost,
    /// `sum`: the sum of variables.
    Sum {
        /// Which; none means all.
        variables: Option<Vec<Located<VariableRef>>>,
    },
    /// `weighted`: a weighted sum.
    Weighted {
        /// The weights, not all 0.
        weights: Vec<Weight>,
    },
    /// `rows`: several weighted sums, the rows of Q.
    Rows {
        /// At least one row, none of them all 0.
        rows: Vec<Vec<Weight>>,
    },
    /// `at-most`: an upper bound on a convex cost, through its epigraph variable.
    AtMost {
        /// The epigraph variable, a single coordinate.
        epigraph: Located<VariableRef>,
        /// The public slope c̃ that ties the decision to the noise.
        slope: Vec<Weight>,
    },
}

#[derive(Clone, Copy)]
enum Kind {
    Identity,
    Cost,
    Sum,
    Weighted,
    Rows,
    AtMost,
}

/// Reads `[query]`.
pub(super) fn read(mut table: Table) -> Result<Query, ReadError> {
    table.known(&[
        "release",
        "variables",
        "weights",
        "rows",
        "epigraph",
        "slope",
        "shape",
    ])?;
    let kind = table.required("release", "release = \"cost\"")?;
    let release = match kind.choice(&[
        ("identity", Kind::Identity),
        ("cost", Kind::Cost),
        ("sum", Kind::Sum),
        ("weighted", Kind::Weighted),
        ("rows", Kind::Rows),
        ("at-most", Kind::AtMost),
    ])? {
        Kind::Cost => Release::Cost,
        Kind::Identity => Release::Identity {
            variables: read_variables(&mut table)?,
        },
        Kind::Sum => Release::Sum {
            variables: read_variables(&mut table)?,
        },
        Kind::Weighted => Release::Weighted {
            weights: reference::read_weights(
                &table.required("weights", "weights = { \"x[0]\" = 1.0, y = 2.0 }")?,
            )?,
        },
        Kind::Rows => Release::Rows {
            rows: table
                .required("rows", "rows = [{ \"x[0]\" = 1.0 }, { y = 1.0 }]")?
                .filled_array()?
                .iter()
                .map(reference::read_weights)
                .collect::<Result<_, _>>()?,
        },
        Kind::AtMost => Release::AtMost {
            epigraph: reference::read(&table.required("epigraph", "epigraph = \"t\"")?)?,
            slope: reference::read_weights(
                &table.required("slope", "slope = { \"x[0]\" = 1.0 }")?,
            )?,
        },
    };
    let shape = match table.optional("shape") {
        None => None,
        Some(item) => Some(item.locate(read_shape(item)?)),
    };
    table.finish(&format!("with release `{}`", kind.text()?))?;
    Ok(Query { release, shape })
}

fn read_variables(table: &mut Table) -> Result<Option<Vec<Located<VariableRef>>>, ReadError> {
    match table.optional("variables") {
        None => Ok(None),
        Some(item) => reference::read_list(&item).map(Some),
    }
}

fn read_shape(item: Item) -> Result<Shape, ReadError> {
    if item.is_text() {
        return match item.choice(&[("curvature", ())]) {
            Ok(()) => Ok(Shape::Curvature),
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
    Ok(Shape::Rows(shape))
}
