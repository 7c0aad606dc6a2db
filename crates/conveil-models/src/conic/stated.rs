//! What a spec says of a saved problem: the names of its blocks, and where the private numbers enter it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use conveil::ask::Query;
use conveil::program::{Holds, NewVariables, Objective, Place, SavedConstraint, Sense, Stage};
use conveil_text::spelling::quoted;
use conveil_text::tables::{Item, MAX_COUNT, Names, Table};
use conveil_text::{Located, ReadError};

use super::{KIND, agreement, public, variables};
use crate::failure::Failure;
use crate::files::Files;
use crate::model::{Kind, Missing, Model, StandIn, Stated};
use crate::spec::{QuerySection, Spec, VariableRef};

/// Any problem saved by Clarabel.
#[derive(Debug, Clone, PartialEq)]
pub struct Conic {
    /// `file`: the path of the saved problem, as written.
    pub file: Located<String>,
    /// `[[problem.variable]]`: blocks in the order of the columns, each with the word for what it is.
    pub variables: Vec<Located<NewVariables>>,
    /// `bounds` of those blocks: public bounds that the program is held to, by the name of the block.
    pub bounds: Vec<(String, (f64, f64))>,
    /// `names` of those blocks: where each name stands.
    pub entries: HashMap<String, VariableRef>,
    /// `[[problem.constraint]]`: one block per cone of the file, in order; empty means that the blocks have no names and
    /// hold with noise.
    pub constraints: Vec<ConstraintBlock>,
    /// `objective`: how the modeller's own objective reads from that of the file.
    pub objective: Option<Located<Objective>>,
    /// `data` of `[private]`: the path of a CSV with the values of all parameters, as written.
    pub data: Option<Located<String>>,
    /// `[[private.parameter]]`: the private numbers θ, in order; at least one.
    pub parameters: Vec<Parameter>,
}

/// The rows of one cone.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstraintBlock {
    /// `name`: unique.
    pub name: Located<String>,
    /// The block as the engine takes it: `name`, `holds` (`with-noise`) and `rows`.
    pub saved: SavedConstraint,
    /// `rows`: names of the rows, unique within the block; empty if not given.
    pub rows: Vec<Located<String>>,
}

/// A private number and where it enters the problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// `name`: unique.
    pub name: Located<String>,
    /// `value`: if absent, and there is no `data`, the one that the file's number at the first entry stands for.
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
    /// Which number; rows and columns count from 0.
    pub place: Place,
    /// `coef` (1): finite and not 0.
    pub coef: f64,
    /// `offset` (0): finite.
    pub offset: f64,
}

impl Conic {
    /// Reads the keys of `[problem]` beside `model`.
    pub(super) fn read(table: &mut Table) -> Result<Self, ReadError> {
        let file = table.required("file", "file = \"problem.json\"")?.words()?;
        let (variables, bounds) = match table.optional("variable") {
            None => (Vec::new(), Vec::new()),
            Some(item) => variables::read(item)?,
        };
        Ok(Conic {
            file,
            entries: variables::entries(&variables),
            variables,
            bounds,
            constraints: match table.optional("constraint") {
                None => Vec::new(),
                Some(item) => read_constraints(item)?,
            },
            objective: table
                .optional("objective")
                .map(read_objective)
                .transpose()?,
            data: None,
            parameters: Vec::new(),
        })
    }

    /// The sizes of the variable blocks, by name.
    pub(super) fn sizes(&self) -> HashMap<&str, usize> {
        let blocks = self.variables.iter();
        blocks
            .map(|block| (block.value.name.as_str(), block.value.len))
            .collect()
    }
}

impl Stated for Conic {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn read_private(&mut self, table: &mut Table<'_>) -> Result<(), ReadError> {
        let example = "[[private.parameter]] with name = \"d3\", at = [{ in = \"b\", row = 3 }]";
        let data = table.optional("data").map(|data| data.words());
        self.data = data.transpose()?;
        let parameters = table.required("parameter", example)?;
        self.parameters = read_parameters(parameters, self.data.as_ref())?;
        Ok(())
    }

    fn entry(&self, name: &str) -> Option<VariableRef> {
        self.entries.get(name).cloned()
    }

    fn answer_len(&self, query: &QuerySection) -> Option<usize> {
        match query.query.as_ref()? {
            Query::Identity if self.variables.is_empty() => None,
            // Neither a witness nor an epigraph is part of it.
            Query::Identity => self
                .variables
                .iter()
                .filter(|block| !matches!(block.value.stage, Stage::Witness | Stage::Epigraph))
                .try_fold(0_usize, |sum, block| sum.checked_add(block.value.len)),
            Query::Variables(_) => {
                let sizes = self.sizes();
                let mut variables = query.variables.iter();
                variables.try_fold(0_usize, |sum, variable| {
                    let VariableRef { block, index } = &variable.value;
                    match index {
                        Some(_) => sum.checked_add(1),
                        None => sum.checked_add(*sizes.get(block.as_str())?),
                    }
                })
            }
            _ => query.answer_len(),
        }
    }

    fn check(&self, spec: &Spec) -> Result<(), ReadError> {
        agreement::check(self, spec)
    }

    fn private_files(&self) -> Vec<&Located<String>> {
        self.data.iter().collect()
    }

    fn with_public(&self, _spec: &Spec, data: StandIn<'_>) -> Result<Arc<dyn Stated>, Missing> {
        let mut stated = self.clone();
        match data {
            StandIn::Twin(file) => {
                stated.data = Some(file.clone());
                for parameter in &mut stated.parameters {
                    parameter.value = None;
                }
            }
            StandIn::Nominal => {
                stated.data = None;
                let without = self.parameters.iter().filter(|p| p.nominal.is_none());
                let without: Vec<String> = without.map(|p| quoted(&p.name.value)).collect();
                if let Some(first) = without.first() {
                    let what = match without.len() {
                        1 => format!("the parameter {first} has no `nominal`"),
                        more => format!("{more} parameters have no `nominal`, first {first}"),
                    };
                    let help = "give each [[private.parameter]] a public value, such as nominal = 80.0; or name a public dataset: twin = \"twin.csv\" in [private], and `--at twin`".into();
                    return Err(Missing { what, help });
                }
                for parameter in &mut stated.parameters {
                    parameter.value = parameter.nominal;
                }
            }
        }
        Ok(Arc::new(stated))
    }

    fn open(&self, spec: &Spec, files: &Files) -> Result<Box<dyn Model>, Failure> {
        Ok(Box::new(public::SavedModel::open(self, spec, files)?))
    }
}

fn read_constraints(item: Item) -> Result<Vec<ConstraintBlock>, ReadError> {
    let mut names = Names::default();
    let mut blocks = Vec::new();
    for mut table in item.tables("problem.constraint")? {
        table.known(&["name", "holds", "rows"])?;
        let name = names.add(&table.required("name", "name = \"limits\"")?)?;
        let holds = match table.optional("holds") {
            None => Holds::WithNoise,
            Some(holds) => holds.choice(&[
                ("with-noise", Holds::WithNoise),
                ("always", Holds::Always),
                ("at-the-mean", Holds::AtTheMean),
            ])?,
        };
        let mut rows = Vec::new();
        if let Some(list) = table.optional("rows") {
            let mut row_names = Names::default();
            for row in list.filled_array()? {
                rows.push(row_names.add(&row)?);
            }
        }
        let saved = SavedConstraint {
            name: name.value.clone(),
            holds,
            rows: rows.iter().map(|row| row.value.clone()).collect(),
        };
        blocks.push(ConstraintBlock { name, saved, rows });
    }
    Ok(blocks)
}

fn read_objective(item: Item) -> Result<Located<Objective>, ReadError> {
    let mut table = item.table("`objective`")?;
    table.known(&["sense", "constant"])?;
    let mut objective = Objective::default();
    if let Some(sense) = table.optional("sense") {
        let words = [("minimize", Sense::Minimize), ("maximize", Sense::Maximize)];
        objective.sense = sense.choice(&words)?;
    }
    if let Some(constant) = table.optional("constant") {
        objective.constant = constant.number()?;
    }
    Ok(item.locate(objective))
}

fn read_parameters(
    item: Item,
    data: Option<&Located<String>>,
) -> Result<Vec<Parameter>, ReadError> {
    let mut names = Names::default();
    let mut parameters = Vec::new();
    for mut table in item.tables("private.parameter")? {
        table.known(&["name", "value", "at", "bounds", "nominal"])?;
        let name = names.add(&table.required("name", "name = \"d3\"")?)?;
        let value = match table.optional("value") {
            None => None,
            Some(value) if data.is_some() => {
                return Err(value
                    .error("`value` makes no sense with `data` in [private]")
                    .with_help("the file of `data` has the values of all parameters"));
            }
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
    let items = item.filled_array()?;
    // Most enter one place only.
    let mut places = HashSet::new();
    let mut entries = Vec::with_capacity(items.len());
    let are_many = items.len() > 1;
    for entry_item in items {
        let entry = read_entry(entry_item)?;
        if are_many && !places.insert(entry.place) {
            return Err(entry_item.error(format!("{} is listed twice", entry.place)));
        }
        entries.push(entry_item.locate(entry));
    }
    Ok(entries)
}

fn read_entry(item: Item) -> Result<Entry, ReadError> {
    let mut table = item.own_table()?;
    table.known(&["in", "row", "column", "coef", "offset"])?;
    let part = table.required("in", "in = \"b\"")?;
    let letter = part.choice(&[("b", 'b'), ("q", 'q'), ("A", 'A'), ("P", 'P')])?;
    let row = |table: &mut Table| table.required("row", "row = 3")?.count(0, MAX_COUNT);
    let column = |table: &mut Table| table.required("column", "column = 0")?.count(0, MAX_COUNT);
    let place = match letter {
        'b' => Place::B(row(&mut table)?),
        'q' => Place::Q(column(&mut table)?),
        'P' => {
            let (row, column) = (row(&mut table)?, column(&mut table)?);
            Place::P(row.min(column), row.max(column))
        }
        _ => Place::A(row(&mut table)?, column(&mut table)?),
    };
    let coef = match table.optional("coef") {
        None => 1.0,
        Some(coef) => coef.number_that("differ from 0", |x| x != 0.0)?,
    };
    let offset = match table.optional("offset") {
        None => 0.0,
        Some(offset) => offset.number()?,
    };
    table.finish(format_args!("in {letter}"))?;
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
