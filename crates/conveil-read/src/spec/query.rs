//! `[query]`: what is released.

use std::collections::HashSet;

use super::problem::Model;
use super::reference::{self, VariableRef, Weight};
use conveil_text::naming::fault;
use conveil_text::spelling::{counted, quoted};
use conveil_text::tables::Item;
use conveil_text::tables::Table;
use conveil_text::{Located, ReadError};

/// The query Qx and the shape T of its noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// `release` and the keys that go with it.
    pub release: Release,
    /// Where `release` stands.
    pub place: Located<()>,
    /// `shape`: the matrix T; if absent the identity, and for a certified regression the curvature.
    pub shape: Option<Located<Shape>>,
}

/// The shape T of the noise: the answer is Qx̄ + Tζ.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// T by rows: square, finite.
    Rows(Vec<Vec<f64>>),
    /// `curvature`: T = (QP⁻¹Q')^½ of a quadratic cost.
    Curvature,
    /// `isotropic`: T = I.
    Isotropic,
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
    /// `weights` of model `svm`: the hyperplane.
    Weights,
    /// `generation` of model `opf`: what groups of units generate, one number for each group.
    Generation {
        /// `units`, one group, or `groups`; at least one.
        groups: Located<Vec<UnitGroup>>,
    },
}

/// A group of generating units.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitGroup {
    /// Its name, where `groups` is a table.
    pub name: Option<String>,
    /// Units as `generator 7`, or `bus 23` for all that stand there; all different, at least one.
    pub units: Vec<Located<String>>,
}

impl Release {
    /// The word that `release` has for it.
    pub fn name(&self) -> &'static str {
        match self {
            Release::Identity { .. } => "identity",
            Release::Cost => "cost",
            Release::Sum { .. } => "sum",
            Release::Weighted { .. } => "weighted",
            Release::Rows { .. } => "rows",
            Release::AtMost { .. } => "at-most",
            Release::Generation { .. } => "generation",
            Release::Weights => "weights",
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Identity,
    Cost,
    Sum,
    Weighted,
    Rows,
    AtMost,
    Generation,
    Weights,
}

/// Reads `[query]`.
pub(super) fn read(mut table: Table, model: &Model) -> Result<Query, ReadError> {
    table.known(&[
        "release",
        "variables",
        "weights",
        "rows",
        "epigraph",
        "slope",
        "units",
        "groups",
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
        ("generation", Kind::Generation),
        ("weights", Kind::Weights),
    ])? {
        Kind::Weights => Release::Weights,
        Kind::Generation => Release::Generation {
            groups: read_groups(&mut table)?,
        },
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
    check_model(&kind, &release, model)?;
    let shape = match table.optional("shape") {
        None => None,
        Some(item) => Some(item.locate(read_shape(item)?)),
    };
    table.finish(&format!("with release `{}`", kind.text()?))?;
    Ok(Query {
        release,
        place: kind.locate(()),
        shape,
    })
}

/// Models have queries of their own.
fn check_model(kind: &Item, release: &Release, model: &Model) -> Result<(), ReadError> {
    let (fits, help) = match model {
        Model::Conic { .. } => (
            !matches!(release, Release::Generation { .. } | Release::Weights),
            "`sum`, `weighted` and `rows` release sums of variables",
        ),
        Model::Opf(_) => (
            matches!(release, Release::Cost | Release::Generation { .. }),
            "a power flow releases its `cost`, or the `generation` of some of its units",
        ),
        Model::Regression(_) => (
            !matches!(
                release,
                Release::Cost | Release::Generation { .. } | Release::AtMost { .. }
            ),
            "a regression releases its `weights`; or predictions: `weighted` and `rows`",
        ),
        Model::Ellipsoid(_) => (
            !matches!(
                release,
                Release::Cost
                    | Release::Generation { .. }
                    | Release::AtMost { .. }
                    | Release::Weights
            ),
            "`identity` releases the whole ellipsoid; its size alone is the value of the objective, which carries no noise",
        ),
        Model::Svm(_) => (
            matches!(release, Release::Weights),
            "a classifier releases its `weights`",
        ),
    };
    if fits {
        return Ok(());
    }
    Err(kind
        .error(format!(
            "release `{}` makes no sense with model `{}`",
            release.name(),
            model.name()
        ))
        .with_help(help))
}

fn read_groups(table: &mut Table) -> Result<Located<Vec<UnitGroup>>, ReadError> {
    let nameless = |item: &Item| {
        Ok(UnitGroup {
            name: None,
            units: read_units(item)?,
        })
    };
    match (table.optional("units"), table.optional("groups")) {
        (Some(units), None) => Ok(units.locate(vec![nameless(&units)?])),
        (None, Some(groups)) if groups.is_array() => {
            let each = groups.filled_array()?;
            let each = each.iter().map(nameless).collect::<Result<_, _>>()?;
            Ok(groups.locate(each))
        }
        (None, Some(groups)) => {
            let mut each = Vec::new();
            for (name, offset, item) in groups.table("`groups`")?.entries() {
                if let Some(fault) = fault(name) {
                    let message = format!("the name of the group {} {fault}", quoted(name));
                    let error = groups.source().error(offset, message);
                    return Err(error.with_help(fault.help()));
                }
                each.push(UnitGroup {
                    name: Some(name.into()),
                    units: read_units(&item)?,
                });
            }
            match each.is_empty() {
                true => Err(groups.error("`groups` must not be empty")),
                false => Ok(groups.locate(each)),
            }
        }
        (Some(_), Some(groups)) => Err(groups.error("give `units` or `groups`, not both")),
        (None, None) => Err(table
            .error("release `generation` needs `units` or `groups`")
            .with_help("for example: units = [\"generator 7\", \"bus 23\"]")),
    }
}

fn read_units(item: &Item) -> Result<Vec<Located<String>>, ReadError> {
    let mut names = HashSet::new();
    let mut units = Vec::new();
    for entry in item.filled_array()? {
        let unit = entry.name()?;
        if !names.insert(unit.value.clone()) {
            return Err(entry.error(format!("{} is named twice", quoted(&unit.value))));
        }
        units.push(unit);
    }
    Ok(units)
}

fn read_variables(table: &mut Table) -> Result<Option<Vec<Located<VariableRef>>>, ReadError> {
    match table.optional("variables") {
        None => Ok(None),
        Some(item) => reference::read_list(&item).map(Some),
    }
}

fn read_shape(item: Item) -> Result<Shape, ReadError> {
    if item.is_text() {
        return match item.choice(&[("curvature", true), ("isotropic", false)]) {
            Ok(true) => Ok(Shape::Curvature),
            Ok(false) => Ok(Shape::Isotropic),
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
