//! `[private]`: which numbers are private, and how neighbouring datasets differ.

use std::collections::HashSet;
use std::fmt;

use super::ellipsoid::{self, OffsetsSource};
use super::grid::{self, Demands};
use super::problem::Model;
use super::regression::{self, Responses};
use super::svm::{self, SvmRecords};
use conveil_text::spelling::counted;
use conveil_text::tables::Names;
use conveil_text::tables::Table;
use conveil_text::tables::{Item, MAX_COUNT};
use conveil_text::{Located, ReadError};

/// The private data.
#[derive(Debug, Clone, PartialEq)]
pub struct Private {
    /// `adjacency`: which datasets must be hard to tell apart.
    pub adjacency: Located<Adjacency>,
    /// `unit` of the adjacency: that of the private numbers and of α, where one is stated.
    pub unit: Option<Located<String>>,
    /// `[[private.parameter]]` of model `conic`: the private numbers θ, in order; at least one.
    pub parameters: Vec<Parameter>,
    /// `[private.universe]`: the public set of possible θ.
    pub universe: Option<Located<Universe>>,
    /// The private demands of model `opf`.
    pub demands: Option<Demands>,
    /// The private responses of model `regression`.
    pub responses: Option<Responses>,
    /// The private offsets of model `ellipsoid`.
    pub offsets: Option<OffsetsSource>,
    /// The private records of model `svm`.
    pub records: Option<SvmRecords>,
}

/// Which datasets are neighbours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Adjacency {
    /// `one-entry`: one entry differs, by at most α > 0.
    OneEntry {
        /// The largest difference.
        alpha: f64,
    },
    /// `l1`: the ℓ₁ distance is at most α > 0.
    L1 {
        /// The largest distance.
        alpha: f64,
    },
    /// `l2`: the ℓ₂ distance is at most α > 0.
    L2 {
        /// The largest distance.
        alpha: f64,
    },
    /// `one-record`: one block of consecutive parameters differs, arbitrarily.
    OneRecord {
        /// How many parameters make a record; the number of parameters is a multiple of it. Models of records know it
        /// themselves, and have 0 here.
        record: usize,
    },
    /// `universe`: any two datasets of the universe.
    Universe,
}

impl Adjacency {
    /// The α of the adjacencies that have one.
    pub fn alpha(&self) -> Option<f64> {
        match *self {
            Adjacency::OneEntry { alpha } | Adjacency::L1 { alpha } | Adjacency::L2 { alpha } => {
                Some(alpha)
            }
            Adjacency::OneRecord { .. } | Adjacency::Universe => None,
        }
    }
}

/// A private number and where it enters the problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// `name`: unique.
    pub name: Located<String>,
    /// `value`: if absent, the one that the file's number at the first entry stands for.
    pub value: Option<f64>,
    /// `at`: the numbers of the problem that it enters, all different; at least one.
    pub at: Vec<Located<Entry>>,
    /// `bounds`: public bounds lo < hi that the value is clipped to.
    pub bounds: Option<(f64, f64)>,
    /// `nominal`: a public value that stands for the private one where no data may be used; within the bounds.
    pub nominal: Option<f64>,
}

/// A number of the problem that reads coef·θ + offset, whatever the file says there; where several
/// parameters enter one number, theirs add up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Which number.
    pub place: Place,
    /// `coef` (1): finite and not 0.
    pub coef: f64,
    /// `offset` (0): finite.
    pub offset: f64,
}

/// A number of the problem; rows and columns count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// An entry of b.
    B {
        /// Its row.
        row: usize,
    },
    /// An entry of q.
    Q {
        /// Its column.
        column: usize,
    },
    /// An entry of A.
    A {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Place::B { row } => write!(f, "b[{row}]"),
            Place::Q { column } => write!(f, "q[{column}]"),
            Place::A { row, column } => write!(f, "A[{row}, {column}]"),
        }
    }
}

/// The public set of possible θ.
#[derive(Debug, Clone, PartialEq)]
pub enum Universe {
    /// `box`: |θᵢ − centerᵢ| ≤ half_widthᵢ; written `relative`, a half-width is that share of |centerᵢ|.
    Box {
        /// One number per parameter.
        center: Vec<f64>,
        /// One number ≥ 0 per parameter.
        half_width: Vec<f64>,
    },
    /// `discs`: each group of consecutive coordinates lies in a ball.
    Discs {
        /// One number per parameter.
        center: Vec<f64>,
        /// One number ≥ 0 per disc.
        radius: Vec<f64>,
        /// How many coordinates a disc has; the number of parameters is a multiple of it.
        dimension: usize,
    },
}

impl Universe {
    /// The center, one number per parameter.
    pub fn center(&self) -> &[f64] {
        match self {
            Universe::Box { center, .. } | Universe::Discs { center, .. } => center,
        }
    }
}

/// Reads `[private]`.
pub(super) fn read(mut table: Table, model: &Model) -> Result<Private, ReadError> {
    table.known(&[
        "adjacency",
        "parameter",
        "universe",
        "demand",
        "loads",
        "bounds",
        "offsets",
        "data",
        "test",
    ])?;
    let adjacency = table.required(
        "adjacency",
        "adjacency = { kind = \"one-entry\", alpha = 10.0 }",
    )?;
    let knows_records = matches!(model, Model::Svm(_) | Model::Regression(_));
    let (unit, relation) = read_adjacency(adjacency, knows_records)?;
    let adjacency = adjacency.locate(relation);
    let context = format!("with model `{}`", model.name());
    let mut private = Private {
        adjacency,
        unit,
        parameters: Vec::new(),
        universe: None,
        demands: None,
        records: None,
        responses: None,
        offsets: None,
    };
    match model {
        Model::Conic { .. } => {}
        Model::Opf(_) => {
            private.demands = Some(grid::read_demands(&mut table)?);
            table.finish(&context)?;
            return Ok(private);
        }
        Model::Svm(_) => {
            private.records = Some(svm::read_records(&mut table)?);
            table.finish(&context)?;
            return Ok(private);
        }
        Model::Regression(_) => {
            private.responses = Some(regression::read_responses(&mut table)?);
            table.finish(&context)?;
            return Ok(private);
        }
        Model::Ellipsoid(_) => {
            private.offsets = Some(ellipsoid::read_offsets(&mut table)?);
            private.universe = optional_universe(&mut table)?;
            table.finish(&context)?;
            return Ok(private);
        }
    }
    let example = "[[private.parameter]] with name = \"d3\", at = [{ in = \"b\", row = 3 }]";
    private.parameters = read_parameters(table.required("parameter", example)?)?;
    private.universe = optional_universe(&mut table)?;
    table.finish(&context)?;
    Ok(private)
}

fn optional_universe(table: &mut Table) -> Result<Option<Located<Universe>>, ReadError> {
    match table.optional("universe") {
        None => Ok(None),
        Some(item) => read_universe(item.table("[private.universe]")?).map(Some),
    }
}

#[derive(Clone, Copy)]
enum Kind {
    OneEntry,
    L1,
    L2,
    OneRecord,
    Universe,
}

/// The unit, if one is stated, and the relation.
fn read_adjacency(
    item: Item,
    knows_records: bool,
) -> Result<(Option<Located<String>>, Adjacency), ReadError> {
    let mut table = item.table("`adjacency`")?;
    table.known(&["kind", "alpha", "record", "unit"])?;
    let unit = table.optional("unit").map(|unit| unit.name()).transpose()?;
    let kind_item = table.required("kind", "kind = \"one-entry\"")?;
    let kind = kind_item.choice(&[
        ("one-entry", Kind::OneEntry),
        ("l1", Kind::L1),
        ("l2", Kind::L2),
        ("one-record", Kind::OneRecord),
        ("universe", Kind::Universe),
    ])?;
    let adjacency = match kind {
        Kind::OneRecord if knows_records => Adjacency::OneRecord { record: 0 },
        Kind::OneRecord => Adjacency::OneRecord {
            record: table
                .required("record", "record = 3")?
                .count(1, MAX_COUNT)?,
        },
        Kind::Universe => Adjacency::Universe,
        Kind::OneEntry | Kind::L1 | Kind::L2 => {
            let alpha = table.required("alpha", "alpha = 10.0")?.positive()?;
            match kind {
                Kind::L1 => Adjacency::L1 { alpha },
                Kind::L2 => Adjacency::L2 { alpha },
                _ => Adjacency::OneEntry { alpha },
            }
        }
    };
    table.finish(&format!("with kind `{}`", kind_item.text()?))?;
    Ok((unit, adjacency))
}

fn read_parameters(item: Item) -> Result<Vec<Parameter>, ReadError> {
    let mut names = Names::default();
    let mut parameters = Vec::new();
    for mut table in item.tables("private.parameter")? {
        table.known(&["name", "value", "at", "bounds", "nominal"])?;
        let name = names.add(&table.required("name", "name = \"d3\"")?)?;
        let value = match table.optional("value") {
            None => None,
            Some(value) => Some(value.number()?),
        };
        let at = read_entries(table.required("at", "at = [{ in = \"b\", row = 3 }]")?)?;
        let bounds = match table.optional("bounds") {
            None => None,
            Some(bounds) => Some(read_bounds(bounds)?),
        };
        let nominal = match table.optional("nominal") {
            None => None,
            Some(nominal) => Some(read_nominal(nominal, bounds)?),
        };
        parameters.push(Parameter {
            name,
            value,
            at,
            bounds,
            nominal,
        });
    }
    if parameters.is_empty() {
        return Err(item.error("[private] needs at least one [[private.parameter]]"));
    }
    Ok(parameters)
}

fn read_entries(item: Item) -> Result<Vec<Located<Entry>>, ReadError> {
    let mut places = HashSet::new();
    let mut entries = Vec::new();
    for entry_item in item.filled_array()? {
        let entry = read_entry(entry_item)?;
        if !places.insert(entry.place) {
            return Err(entry_item.error(format!("{} is listed twice", entry.place)));
        }
        entries.push(entry_item.locate(entry));
    }
    Ok(entries)
}

fn read_entry(item: Item) -> Result<Entry, ReadError> {
    let mut table = item.table(item.to_string())?;
    table.known(&["in", "row", "column", "coef", "offset"])?;
    let part = table.required("in", "in = \"b\"")?;
    let letter = part.choice(&[("b", 'b'), ("q", 'q'), ("A", 'A')])?;
    let row = |table: &mut Table| table.required("row", "row = 3")?.count(0, MAX_COUNT);
    let column = |table: &mut Table| table.required("column", "column = 0")?.count(0, MAX_COUNT);
    let place = match letter {
        'b' => Place::B {
            row: row(&mut table)?,
        },
        'q' => Place::Q {
            column: column(&mut table)?,
        },
        _ => Place::A {
            row: row(&mut table)?,
            column: column(&mut table)?,
        },
    };
    let coef = match table.optional("coef") {
        None => 1.0,
        Some(coef) => coef.number_that("differ from 0", |x| x != 0.0)?,
    };
    let offset = match table.optional("offset") {
        None => 0.0,
        Some(offset) => offset.number()?,
    };
    table.finish(&format!("in {letter}"))?;
    Ok(Entry {
        place,
        coef,
        offset,
    })
}

fn read_bounds(item: Item) -> Result<(f64, f64), ReadError> {
    match item.numbers()?[..] {
        [low, high] if low < high => Ok((low, high)),
        [low, high] => Err(item.error(format!("{item} must increase, found [{low:?}, {high:?}]"))),
        ref other => Err(item.error(format!("{item} must be two numbers, found {}", other.len()))),
    }
}

fn read_nominal(item: Item, bounds: Option<(f64, f64)>) -> Result<f64, ReadError> {
    let nominal = item.number()?;
    match bounds {
        Some((low, high)) if !(low..=high).contains(&nominal) => Err(item
            .error(format!(
                "{item} must lie within `bounds`, [{low:?}, {high:?}], found {nominal:?}"
            ))
            .with_help("the bounds must hold every admissible value, of either sign")),
        _ => Ok(nominal),
    }
}

#[derive(Clone, Copy)]
enum Shape {
    Box,
    Discs,
}

fn read_universe(mut table: Table) -> Result<Located<Universe>, ReadError> {
    table.known(&[
        "kind",
        "center",
        "half_width",
        "relative",
        "radius",
        "dimension",
    ])?;
    let shape = table
        .required("kind", "kind = \"box\"")?
        .choice(&[("box", Shape::Box), ("discs", Shape::Discs)])?;
    let center_item = table.required("center", "center = [1.0, 2.0]")?;
    let center = center_item.numbers()?;
    let universe = match shape {
        Shape::Box => {
            let half_width = read_half_width(&mut table, &center)?;
            table.finish("with kind `box`")?;
            Universe::Box { center, half_width }
        }
        Shape::Discs => {
            let item = table.required("dimension", "dimension = 2")?;
            let dimension = item.count(1, MAX_COUNT)?;
            if !center.len().is_multiple_of(dimension) {
                return Err(item.error(format!(
                    "{} in `center` cannot be split into discs of dimension {dimension}",
                    counted(center.len(), "number", "numbers")
                )));
            }
            let discs = center.len() / dimension;
            let radius = one_or_each(table.required("radius", "radius = 0.1")?, discs, "discs")?;
            table.finish("with kind `discs`")?;
            Universe::Discs {
                center,
                radius,
                dimension,
            }
        }
    };
    Ok(table.locate(universe))
}

/// `half_width`, or `relative`: a share of every coordinate of the center.
fn read_half_width(table: &mut Table, center: &[f64]) -> Result<Vec<f64>, ReadError> {
    let of = "coordinates of `center`";
    match (table.optional("relative"), table.optional("half_width")) {
        (Some(_), Some(item)) => Err(item.error("give `half_width` or `relative`, not both")),
        (Some(item), None) => {
            let shares = one_or_each(item, center.len(), of)?;
            let pairs = center.iter().zip(shares);
            Ok(pairs.map(|(center, share)| share * center.abs()).collect())
        }
        (None, Some(item)) => one_or_each(item, center.len(), of),
        (None, None) => table
            .required("half_width", "half_width = 0.5")
            .and_then(|item| one_or_each(item, center.len(), of)),
    }
}

/// A number ≥ 0 for all, or an array with one for each.
fn one_or_each(item: Item, count: usize, of: &str) -> Result<Vec<f64>, ReadError> {
    if !item.is_array() {
        return Ok(vec![item.nonnegative()?; count]);
    }
    let numbers = item
        .array()?
        .iter()
        .map(Item::nonnegative)
        .collect::<Result<Vec<f64>, _>>()?;
    if numbers.len() == count {
        Ok(numbers)
    } else {
        Err(item.error(format!(
            "{item} has {}, but there are {count} {of}",
            counted(numbers.len(), "number", "numbers")
        )))
    }
}
