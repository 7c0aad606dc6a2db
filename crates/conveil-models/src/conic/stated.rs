//! What a spec says of a saved problem: the names of its blocks, and where the private numbers enter it.

use std::collections::{HashMap, HashSet};

use conveil::ask::{Adjacency, Query};
use conveil::chance::BlockEta;
use conveil::program::{Holds, NewVariables, Place, SavedConstraint, Stage};
use conveil_text::spelling::{counted, nearest, quoted};
use conveil_text::tables::{Item, MAX_COUNT, Names, Table};
use conveil_text::{Located, ReadError};

use super::{KIND, public};
use crate::failure::Failure;
use crate::files::Files;
use crate::model::{Kind, Model, Stated};
use crate::spec::private::check_universe;
use crate::spec::{QuerySection, Spec, VariableRef};

/// Any problem saved by Clarabel.
#[derive(Debug, Clone, PartialEq)]
pub struct Conic {
    /// `file`: the path of the saved problem, as written.
    pub file: Located<String>,
    /// `[[problem.variable]]`: blocks in the order of the columns, each with the word for what it is.
    pub variables: Vec<Located<NewVariables>>,
    /// `[[problem.constraint]]`: one block per cone of the file, in order; empty means that the blocks have no names and
    /// hold with noise.
    pub constraints: Vec<ConstraintBlock>,
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
        Ok(Conic {
            file,
            variables: match table.optional("variable") {
                None => Vec::new(),
                Some(item) => read_variables(item)?,
            },
            constraints: match table.optional("constraint") {
                None => Vec::new(),
                Some(item) => read_constraints(item)?,
            },
            parameters: Vec::new(),
        })
    }

    /// The sizes of the variable blocks, by name.
    fn sizes(&self) -> HashMap<&str, usize> {
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
        self.parameters = read_parameters(table.required("parameter", example)?)?;
        Ok(())
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
        check_parameters(self, spec)?;
        check_universe(spec, Some(self.parameters.len()), "parameters")?;
        check_variables(self, spec)?;
        check_private_places(self, spec)?;
        check_blocks(self, spec)
    }

    fn open(&self, spec: &Spec, files: &Files) -> Result<Box<dyn Model>, Failure> {
        Ok(Box::new(public::SavedModel::open(self, spec, files)?))
    }
}

/// What the word for a block of variables may be, and what each says.
const STAGES: &str = "`decision` for a real quantity that somebody carries out, `here-and-now` for one that is decided before the noise, `witness` for a slack or another variable of which only the existence is claimed, `epigraph` for one that bounds a convex cost from above";

fn read_variables(item: Item) -> Result<Vec<Located<NewVariables>>, ReadError> {
    let mut names = Names::default();
    let mut blocks = Vec::new();
    let mut tables = item.tables("problem.variable")?.into_iter();
    while let Some(mut table) = tables.next() {
        table.known(&["name", "size", "stage"])?;
        let name = table.required("name", "name = \"x\"")?;
        if table.peek("stage").is_none() {
            return Err(without_stage(&name, tables.as_slice()));
        }
        let block = NewVariables {
            name: names.add(&name)?.value,
            len: match table.optional("size") {
                None => 1,
                Some(size) => size.count(1, MAX_COUNT)?,
            },
            stage: read_stage(&mut table, &name)?,
        };
        if block.name.contains(['[', ']']) {
            return Err(name.error(format!(
                "the variable name {} must not contain brackets",
                quoted(&block.name)
            )));
        }
        blocks.push(name.locate(block));
    }
    Ok(blocks)
}

/// The refusal of a block without a stage, which names those after it that have none either: one reading finds them all.
fn without_stage(name: &Item, later: &[Table]) -> ReadError {
    let block = match name.words() {
        Ok(word) => quoted(&word.value),
        Err(error) => return error,
    };
    let open = later.iter().filter(|table| table.peek("stage").is_none());
    let open = open.filter_map(|table| table.peek("name")?.words().ok());
    let open: Vec<String> = open.map(|word| quoted(&word.value)).collect();
    let others = match open.len() {
        0 => String::new(),
        more @ 1..=NAMED => format!("; nor {} {}", verb(more), open.join(", ")),
        more => format!(
            "; nor {} {} and {} more",
            verb(more),
            open[..NAMED].join(", "),
            more - NAMED
        ),
    };
    let message = format!("the variable {block} does not say what it is{others}");
    name.error(message).with_help(line_to_write(&block))
}

/// Blocks that a refusal names.
const NAMED: usize = 8;

fn verb(count: usize) -> &'static str {
    match count {
        1 => "does",
        _ => "do",
    }
}

fn line_to_write(block: &str) -> String {
    format!("for {block} write one line: stage = \"decision\" ({STAGES})")
}

/// The word for what a block is. Specs of former releases could leave it out, or say `recourse`, which left open whether
/// somebody carries it out: both are refused with the line to write.
fn read_stage(table: &mut Table, name: &Item) -> Result<Stage, ReadError> {
    let word = name.words()?.value;
    let block = quoted(&word);
    let Some(stage) = table.optional("stage") else {
        return Err(without_stage(name, &[]));
    };
    if stage.text()? == "recourse" {
        let message =
            format!("`recourse` does not say whether somebody carries out the variable {block}");
        return Err(stage.error(message).with_help(line_to_write(&block)));
    }
    let words = [
        Stage::Decision,
        Stage::HereAndNow,
        Stage::Witness,
        Stage::Epigraph,
    ];
    stage.choice(&words.map(|stage| (stage.word(), stage)))
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
        'b' => Place::B(row(&mut table)?),
        'q' => Place::Q(column(&mut table)?),
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

fn check_parameters(stated: &Conic, spec: &Spec) -> Result<(), ReadError> {
    let (private, name) = (&spec.private, &spec.name);
    let count = stated.parameters.len();
    if let Adjacency::OneRecord { len: record } = private.adjacency.value
        && !count.is_multiple_of(record)
    {
        return Err(private.adjacency.error(
            name,
            format!(
                "{} cannot be split into records of {record}",
                counted(count, "parameter", "parameters")
            ),
        ));
    }
    // A shared entry is the sum of its parameters: the file's number cannot tell them apart.
    let mut users: HashMap<Place, usize> = HashMap::new();
    for entry in stated.parameters.iter().flat_map(|p| &p.at) {
        *users.entry(entry.value.place).or_default() += 1;
    }
    for parameter in stated.parameters.iter().filter(|p| p.value.is_none()) {
        if let Some(first) = parameter.at.first()
            && users
                .get(&first.value.place)
                .is_some_and(|&count| count > 1)
        {
            return Err(first
                .error(
                    name,
                    format!(
                        "parameter {} has no `value`, and shares {} with another parameter",
                        quoted(&parameter.name.value),
                        first.value.place
                    ),
                )
                .with_help("the file holds one number for both: give each a `value`"));
        }
    }
    Ok(())
}

/// Every variable that the spec names must be one that it has.
fn check_variables(stated: &Conic, spec: &Spec) -> Result<(), ReadError> {
    let name = &spec.name;
    let blocks: HashMap<&str, usize> = stated.sizes();
    for variable in spec.query.variables.iter().chain(&spec.risk.variables) {
        let VariableRef { block, index } = &variable.value;
        let size = if blocks.is_empty() && block == UNNAMED {
            // All columns of the file: how many, the file knows.
            None
        } else if let Some(&size) = blocks.get(block.as_str()) {
            Some(size)
        } else {
            return Err(no_variable(stated, variable, name));
        };
        if let (Some(index), Some(size)) = (index, size)
            && *index >= size
        {
            return Err(variable.error(
                name,
                format!(
                    "{} has indexes 0 to {}, found {index}",
                    quoted(block),
                    size - 1
                ),
            ));
        }
    }
    if let (Some(Query::AtMost { .. }), Some(epigraph)) =
        (&spec.query.query, spec.query.variables.first())
        && epigraph.value.index.is_none()
        && let Some(&size) = blocks.get(epigraph.value.block.as_str())
        && size != 1
    {
        return Err(epigraph.error(
            name,
            format!(
                "the epigraph must be one variable, but {} has {size}",
                quoted(&epigraph.value.block)
            ),
        ));
    }
    Ok(())
}

/// The block of a spec that names none.
const UNNAMED: &str = "x";

fn no_variable(stated: &Conic, variable: &Located<VariableRef>, name: &str) -> ReadError {
    let block = &variable.value.block;
    let error = variable.error(name, format!("no variable {}", quoted(block)));
    if stated.variables.is_empty() {
        return error.with_help(
            "without [[problem.variable]] there is one block, `x`, of all columns of the file",
        );
    }
    let names = stated.variables.iter().map(|v| v.value.name.as_str());
    match nearest(block, names) {
        Some(word) => error.with_help(format!("did you mean `{word}`?")),
        None => error,
    }
}

/// A certificate is a theorem about one part of the problem: only that part may be private.
fn check_private_places(stated: &Conic, spec: &Spec) -> Result<(), ReadError> {
    let sensitivity = &spec.privacy.sensitivity.value;
    let part = match sensitivity.certificate() {
        Some("envelope") => "b",
        Some("radius" | "strong-convexity") => "q",
        _ => return Ok(()),
    };
    let covered = |place: Place| match place {
        Place::B(_) => part == "b",
        Place::Q(_) => part == "q",
        Place::A(..) => false,
    };
    let mut entries = stated.parameters.iter().flat_map(|p| &p.at);
    match entries.find(|entry| !covered(entry.value.place)) {
        None => {}
        Some(entry) => {
            return Err(entry.error(
                &spec.name,
                format!(
                    "sensitivity by `{}` is proven for private numbers in {part} only, found {}",
                    sensitivity.by(),
                    entry.value.place
                ),
            ));
        }
    }
    // The envelope looks for data within public bounds (M8a).
    if sensitivity.certificate() == Some("envelope")
        && let Some(parameter) = stated.parameters.iter().find(|p| p.bounds.is_none())
    {
        return Err(parameter
            .name
            .error(
                &spec.name,
                format!(
                    "sensitivity by `envelope` needs `bounds` on every parameter, and {} has none",
                    quoted(&parameter.name.value)
                ),
            )
            .with_help("the bounds must hold every admissible value, of either sign"));
    }
    Ok(())
}

/// Constraint blocks must exist, and have as many rows as their shares of η.
fn check_blocks(stated: &Conic, spec: &Spec) -> Result<(), ReadError> {
    if stated.constraints.is_empty() {
        return Ok(());
    }
    let names = || stated.constraints.iter().map(|c| c.name.value.as_str());
    for block in &spec.feasibility.blocks {
        let shown = quoted(&block.name.value);
        let mut constraints = stated.constraints.iter();
        let Some(constraint) = constraints.find(|c| c.name.value == block.name.value) else {
            let error = block
                .name
                .error(&spec.name, format!("no constraint {shown}"));
            return Err(match nearest(&block.name.value, names()) {
                Some(word) => error.with_help(format!("did you mean `{word}`?")),
                None => error,
            });
        };
        if let (Some(place), Some(BlockEta::Rows(shares))) = (&block.eta, &block.choice.eta)
            && !constraint.rows.is_empty()
            && constraint.rows.len() != shares.len()
        {
            return Err(place.error(
                &spec.name,
                format!(
                    "`eta` has {}, but {shown} has {}",
                    counted(shares.len(), "number", "numbers"),
                    counted(constraint.rows.len(), "row", "rows")
                ),
            ));
        }
    }
    Ok(())
}
