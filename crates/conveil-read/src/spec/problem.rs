//! `[problem]`: the program and the names of its blocks.

use super::ellipsoid::{self, Ellipsoid};
use super::grid::{self, Grid};
use super::regression::{self, Regression};
use super::svm::{self, Svm};
use conveil_text::spelling::quoted;
use conveil_text::tables::Table;
use conveil_text::tables::{Item, MAX_COUNT, Names};
use conveil_text::{Located, ReadError};

/// The program to solve.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// `model`: the kind of program, and where it comes from.
    pub model: Model,
    /// `[[problem.variable]]` of `conic`: blocks in the order of the columns, each with the word for what it is.
    pub variables: Vec<VariableBlock>,
    /// `[[problem.constraint]]` of `conic`: one block per cone of the file, in order; empty means that the
    /// blocks have no names and hold with noise.
    pub constraints: Vec<ConstraintBlock>,
}

/// The kind of program.
#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// `conic`: any problem saved by Clarabel.
    Conic {
        /// `file`: the path of the saved problem, as written.
        file: Located<String>,
    },
    /// `opf`: an optimal power flow.
    Opf(Grid),
    /// `regression`: private responses, public regressors.
    Regression(Box<Regression>),
    /// `ellipsoid`: the largest ellipsoid inside a polytope.
    Ellipsoid(Ellipsoid),
    /// `svm`: a support vector machine.
    Svm(Svm),
}

impl Model {
    /// The word that `model` has for it.
    pub fn name(&self) -> &'static str {
        match self {
            Model::Conic { .. } => "conic",
            Model::Opf(_) => "opf",
            Model::Regression(_) => "regression",
            Model::Ellipsoid(_) => "ellipsoid",
            Model::Svm(_) => "svm",
        }
    }
}

/// A block of consecutive columns.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableBlock {
    /// `name`: unique, without brackets.
    pub name: Located<String>,
    /// `size` (1): how many columns, at least 1.
    pub size: usize,
    /// `stage`: said by whoever wrote the spec, never assumed.
    pub stage: Stage,
}

/// What a variable is (M2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// `decision`: a real quantity that somebody carries out. It alone may carry the noise of a query.
    Decision,
    /// `here-and-now`: decided before the noise.
    HereAndNow,
    /// `witness`: some values of it exist.
    Witness,
    /// `epigraph`: bounds a convex cost from above, for an at-most query.
    Epigraph,
}

/// What the word for a block of variables may be, and what each says.
const STAGES: &str = "`decision` for a real quantity that somebody carries out, `here-and-now` for one that is decided before the noise, `witness` for a slack or another variable of which only the existence is claimed, `epigraph` for one that bounds a convex cost from above";

/// The rows of one cone.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstraintBlock {
    /// `name`: unique.
    pub name: Located<String>,
    /// `holds` (`with-noise`).
    pub holds: Holds,
    /// `rows`: names of the rows, unique within the block; empty if not given.
    pub rows: Vec<Located<String>>,
}

/// In which sense a constraint holds (M2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Holds {
    /// `with-noise`: in the chance constraint.
    #[default]
    WithNoise,
    /// `always`: whatever the noise.
    Always,
    /// `at-the-mean`: for the mean decision only.
    AtTheMean,
}

#[derive(Clone, Copy)]
enum Kind {
    Conic,
    Opf,
    Regression,
    Ellipsoid,
    Svm,
}

/// Reads `[problem]`.
pub(super) fn read(mut table: Table) -> Result<Problem, ReadError> {
    table.known(&[
        "model",
        "file",
        "variable",
        "constraint",
        "network",
        "form",
        "susceptance",
        "angle_limits",
        "costs",
        "normals",
        "determinant",
        "curvature",
        "records",
        "features",
        "label",
        "lambda",
        "intercept",
        "regressors",
        "response",
        "basis",
        "condition",
        "ridge",
        "loss",
        "units",
    ])?;
    let word = table.required("model", "model = \"conic\"")?;
    let kind = word.choice(&[
        ("conic", Kind::Conic),
        ("opf", Kind::Opf),
        ("svm", Kind::Svm),
        ("regression", Kind::Regression),
        ("ellipsoid", Kind::Ellipsoid),
    ])?;
    let model = match kind {
        Kind::Conic => Model::Conic {
            file: table.required("file", "file = \"problem.json\"")?.words()?,
        },
        Kind::Opf => {
            let grid = grid::read(&mut table)?;
            table.finish("with model `opf`")?;
            Model::Opf(grid)
        }
        Kind::Regression => {
            let regression = regression::read(&mut table)?;
            table.finish("with model `regression`")?;
            Model::Regression(Box::new(regression))
        }
        Kind::Ellipsoid => {
            let ellipsoid = ellipsoid::read(&mut table)?;
            table.finish("with model `ellipsoid`")?;
            Model::Ellipsoid(ellipsoid)
        }
        Kind::Svm => {
            let svm = svm::read(&mut table)?;
            table.finish("with model `svm`")?;
            Model::Svm(svm)
        }
    };
    let variables = match table.optional("variable") {
        None => Vec::new(),
        Some(item) => read_variables(item)?,
    };
    let constraints = match table.optional("constraint") {
        None => Vec::new(),
        Some(item) => read_constraints(item)?,
    };
    table.finish(&format!("with model `{}`", model.name()))?;
    Ok(Problem {
        model,
        variables,
        constraints,
    })
}

fn read_variables(item: Item) -> Result<Vec<VariableBlock>, ReadError> {
    let mut names = Names::default();
    let mut blocks = Vec::new();
    let mut tables = item.tables("problem.variable")?.into_iter();
    while let Some(mut table) = tables.next() {
        table.known(&["name", "size", "stage"])?;
        let name = table.required("name", "name = \"x\"")?;
        if table.peek("stage").is_none() {
            return Err(without_stage(&name, tables.as_slice()));
        }
        let block = VariableBlock {
            name: names.add(&name)?,
            size: match table.optional("size") {
                None => 1,
                Some(size) => size.count(1, MAX_COUNT)?,
            },
            stage: read_stage(&mut table, &name)?,
        };
        if block.name.value.contains(['[', ']']) {
            return Err(name.error(format!(
                "the variable name {} must not contain brackets",
                quoted(&block.name.value)
            )));
        }
        blocks.push(block);
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
    stage.choice(&[
        ("decision", Stage::Decision),
        ("here-and-now", Stage::HereAndNow),
        ("witness", Stage::Witness),
        ("epigraph", Stage::Epigraph),
    ])
}

fn read_constraints(item: Item) -> Result<Vec<ConstraintBlock>, ReadError> {
    let mut names = Names::default();
    let mut blocks = Vec::new();
    for mut table in item.tables("problem.constraint")? {
        table.known(&["name", "holds", "rows"])?;
        let name = names.add(&table.required("name", "name = \"limits\"")?)?;
        let holds = match table.optional("holds") {
            None => Holds::default(),
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
        blocks.push(ConstraintBlock { name, holds, rows });
    }
    Ok(blocks)
}
