//! A saved problem as the public map θ ↦ program, and apart from it the private θ.
//!
//! The number of the program at a private place *is* Σ (offset + coef·θ) over the parameters that enter there: the
//! file's own number is replaced, so that the map holds nothing private.

use std::sync::Arc;

use conveil::ask::Query;
use conveil::program::{
    AffineMap, DataMap, Holds, Location, NewVariables, Objective, Parameter, Parameters, Place,
    Program, SavedConstraint,
};
use conveil_text::problem::{self, SavedCone, SavedMatrix, SavedProblem};
use conveil_text::spelling::counted;
use conveil_text::{Located, ReadError};

use super::private::SavedData;
use super::stated::{Conic, Entry};
use crate::failure::Failure;
use crate::files::{Files, Named};
use crate::model::{Datasets, Model};
use crate::spec::Spec;
use crate::spec::private::label_of;
use crate::words::row_name;

/// A saved problem with named blocks.
#[derive(Debug)]
pub(super) struct SavedModel {
    names: Names,
    pub(super) stated: Conic,
    /// The column that names the rows of a series.
    pub(super) label: Option<String>,
    map: Arc<SavedMap>,
    /// The file as it is, where its private numbers are the data: they are for [`Datasets`] alone.
    saved: Option<SavedProblem>,
}

/// How messages call the two files.
#[derive(Debug)]
struct Names {
    spec: String,
    problem: String,
}

impl SavedModel {
    pub(super) fn open(stated: &Conic, spec: &Spec, files: &Files) -> Result<Self, Failure> {
        let (name, text) = files.public_text(Named {
            file: &stated.file,
            what: "problem",
            key: "file",
        })?;
        let saved = problem::read(&name, &text)?;
        let names = Names {
            spec: spec.name.clone(),
            problem: name,
        };
        let map = map(&names, stated, &saved)?;
        check_epigraph(&names, stated, spec, &map)?;
        let objective = stated.objective.as_ref().map(|stated| stated.value);
        Ok(SavedModel {
            label: label_of(spec),
            map: Arc::new(SavedMap {
                map,
                constant: objective.map_or(0.0, |objective| objective.constant_of_cost()),
            }),
            names,
            stated: stated.clone(),
            saved: stated.data.is_none().then_some(saved),
        })
    }

    /// The private θ in the spec and the problem file: each parameter's `value`, or what the file's number at its first
    /// place stands for.
    pub(super) fn values(&self) -> Result<Vec<f64>, ReadError> {
        let parameters = self.stated.parameters.iter();
        parameters.map(|parameter| self.value(parameter)).collect()
    }

    fn value(&self, parameter: &super::Parameter) -> Result<f64, ReadError> {
        if let Some(value) = parameter.value {
            return Ok(value);
        }
        let (Some(first), Some(saved)) = (parameter.at.first(), &self.saved) else {
            return Err(parameter.name.error(
                &self.names.spec,
                "a parameter without `value` needs a place to take it from",
            ));
        };
        let Entry {
            place,
            coef,
            offset,
        } = first.value;
        let number = number_at(saved, place).map_err(|why| missing(&self.names, first, why))?;
        let value = (number - offset) / coef;
        if value.is_finite() {
            return Ok(value);
        }
        Err(first.error(
            &self.names.spec,
            format!(
                "({number} − {offset})/{coef} at {place} is not a finite number: give `{}` a `value`",
                parameter.name.value
            ),
        ))
    }
}

/// The map of the file, with the constant that its objective leaves out.
#[derive(Debug)]
struct SavedMap {
    map: AffineMap,
    constant: f64,
}

impl DataMap for SavedMap {
    fn parameters(&self) -> &Parameters {
        self.map.parameters()
    }

    fn template(&self) -> &Program {
        self.map.template()
    }

    fn affine(&self) -> Option<&AffineMap> {
        Some(&self.map)
    }

    fn objective_constant(&self, _theta: &[f64]) -> f64 {
        self.constant
    }
}

/// A released epigraph is the modeller's objective only where it is all that the file minimises.
fn check_epigraph(
    names: &Names,
    stated: &Conic,
    spec: &Spec,
    map: &AffineMap,
) -> Result<(), Failure> {
    let (Some(objective), Some(Query::AtMost { epigraph, .. })) =
        (&stated.objective, &spec.query.query)
    else {
        return Ok(());
    };
    let program = map.template();
    let columns = program
        .find_variables(epigraph)
        .map_err(|e| Failure::engine(&names.spec, e))?;
    let of_epigraph = |j: usize| f64::from(u8::from(columns.contains(&j)));
    let mut costs = program.q().iter().enumerate();
    let is_all = columns.len() == 1
        && costs.all(|(j, &q)| q == of_epigraph(j))
        && program.p().nnz() == 0
        && !map.private_costs().contains(&true);
    match is_all {
        true => Ok(()),
        false => Err(objective
            .error(
                &names.spec,
                format!(
                    "`objective` is that of the file, and the released `{epigraph}` is not: {} minimises something else than `{epigraph}` alone",
                    names.problem
                ),
            )
            .with_help("pose the whole cost as one epigraph, with 1 in q and 0 elsewhere; or leave out `objective`")
            .into()),
    }
}

impl Model for SavedModel {
    fn map(&self) -> &dyn DataMap {
        &*self.map
    }

    fn shared(&self) -> Arc<dyn DataMap> {
        self.map.clone()
    }

    fn name(&self) -> &str {
        &self.names.problem
    }

    fn query(&self, spec: &Spec) -> Result<Query, Failure> {
        Ok(spec.query.query.clone().unwrap_or(Query::Cost))
    }

    fn objective(&self) -> Option<Objective> {
        self.stated.objective.as_ref().map(|stated| stated.value)
    }

    fn place_name(&self, place: &Place) -> String {
        row_name(self.map().template(), place)
    }

    fn states_places(&self) -> bool {
        true
    }

    fn how_to_bound(&self) -> &'static str {
        "add `[private.universe]`, or `bounds` to every [[private.parameter]]"
    }

    fn datasets(&self, files: &Files) -> Result<Box<dyn Datasets + '_>, Failure> {
        Ok(Box::new(SavedData::open(self, files)?))
    }
}

fn map(names: &Names, stated: &Conic, saved: &SavedProblem) -> Result<AffineMap, Failure> {
    let template = public_problem(names, stated, saved)?;
    let variables = variables(names, stated, saved)?;
    let mut program = Program::from_saved(template, variables, constraints(names, stated, saved)?)
        .map_err(|e| Failure::engine(&names.problem, e))?;
    for (block, (low, high)) in &stated.bounds {
        let bounded = program.within(block, *low, *high);
        program = bounded.map_err(|e| Failure::engine(&names.spec, e))?;
    }
    let parameters = stated.parameters.iter().map(|parameter| {
        let at = parameter.at.iter();
        let locations = at.map(|entry| Location::new(entry.value.place, entry.value.coef));
        let named = Parameter::new(parameter.name.value.as_str()).at_all(locations.collect());
        let bounded = match parameter.bounds {
            None => named,
            Some((low, high)) => named.clipped(low, high),
        };
        match parameter.nominal {
            None => bounded,
            Some(nominal) => bounded.nominal(nominal),
        }
    });
    AffineMap::new(program, parameters.collect::<Vec<_>>())
        .map_err(|e| Failure::engine(&names.spec, e))
}

/// The saved problem with its private numbers replaced by the sum of their offsets.
fn public_problem(
    names: &Names,
    stated: &Conic,
    saved: &SavedProblem,
) -> Result<SavedProblem, ReadError> {
    let mut problem = saved.clone();
    let entries = || stated.parameters.iter().flat_map(|p| &p.at);
    for entry in entries() {
        let slot =
            slot(&mut problem, entry.value.place).map_err(|why| missing(names, entry, why))?;
        *slot = 0.0;
    }
    for entry in entries() {
        let slot =
            slot(&mut problem, entry.value.place).map_err(|why| missing(names, entry, why))?;
        *slot += entry.value.offset;
    }
    Ok(problem)
}

/// Why a place has no number: the message, and the way out.
struct NoNumber(String, Option<&'static str>);

fn missing(names: &Names, entry: &Located<Entry>, why: NoNumber) -> ReadError {
    let message = format!(
        "{} is not in {}: {}",
        entry.value.place, names.problem, why.0
    );
    let error = entry.error(&names.spec, message);
    match why.1 {
        None => error,
        Some(help) => error.with_help(help),
    }
}

fn slot(problem: &mut SavedProblem, place: Place) -> Result<&mut f64, NoNumber> {
    let index = index_of(problem, place)?;
    Ok(match place {
        Place::B(_) => &mut problem.b[index],
        Place::Q(_) => &mut problem.q[index],
        Place::A(..) => &mut problem.a.nzval[index],
        Place::P(..) => &mut problem.p.nzval[index],
    })
}

fn number_at(problem: &SavedProblem, place: Place) -> Result<f64, NoNumber> {
    let index = index_of(problem, place)?;
    Ok(match place {
        Place::B(_) => problem.b[index],
        Place::Q(_) => problem.q[index],
        Place::A(..) => problem.a.nzval[index],
        Place::P(..) => problem.p.nzval[index],
    })
}

/// Where the number stands in b, q or the stored entries of A and P.
fn index_of(problem: &SavedProblem, place: Place) -> Result<usize, NoNumber> {
    let in_range = |found: usize, count: usize, what: &str| {
        if found < count {
            return Ok(found);
        }
        let numbers = match count {
            0 => format!("no {what}s"),
            1 => format!("{what} 0 only"),
            _ => format!("{what}s 0 to {}", count - 1),
        };
        Err(NoNumber(format!("the problem has {numbers}"), None))
    };
    match place {
        Place::B(row) => in_range(row, problem.b.len(), "row"),
        Place::Q(column) => in_range(column, problem.q.len(), "column"),
        Place::A(row, column) => {
            in_range(row, problem.b.len(), "row")?;
            in_range(column, problem.q.len(), "column")?;
            stored(&problem.a, row, column)
        }
        Place::P(row, column) => {
            in_range(row, problem.q.len(), "column")?;
            in_range(column, problem.q.len(), "column")?;
            stored(&problem.p, row, column)
        }
    }
}

fn stored(matrix: &SavedMatrix, row: usize, column: usize) -> Result<usize, NoNumber> {
    let (start, end) = (matrix.colptr[column], matrix.colptr[column + 1]);
    let found = matrix.rowval[start..end].binary_search(&row);
    found.map(|offset| start + offset).map_err(|_| {
        NoNumber(
            "the matrix stores no entry there".into(),
            Some("which entries exist is public: store an explicit 0 in the file"),
        )
    })
}

/// The named columns, with what each is.
fn variables(
    names: &Names,
    stated: &Conic,
    saved: &SavedProblem,
) -> Result<Vec<NewVariables>, ReadError> {
    let blocks = &stated.variables;
    let columns = saved.q.len();
    if blocks.is_empty() {
        let message = "the spec does not say what the variables of the problem are";
        return Err(stated.file.error(&names.spec, message).with_help(format!(
            "if each is a real quantity that somebody carries out, write below [problem]:\n\n    [[problem.variable]]\n    name = \"x\"\n    size = {columns}\n    stage = \"decision\"\n\n  else one block for each run of columns, with stage = \"decision\", \"here-and-now\", \"witness\" or \"epigraph\""
        )));
    }
    let named = blocks
        .iter()
        .fold(0usize, |sum, block| sum.saturating_add(block.value.len));
    if let Some(last) = blocks.last()
        && named != columns
    {
        return Err(last
            .error(
                &names.spec,
                format!(
                    "the variable blocks have {} in all, but {} has {}",
                    counted(named, "entry", "entries"),
                    names.problem,
                    counted(columns, "column", "columns")
                ),
            )
            .with_help("name every column, in order; `size` says how many a block takes"));
    }
    Ok(blocks.iter().map(|block| block.value.clone()).collect())
}

/// The named cones; none for `c0`, `c1`, ….
fn constraints(
    names: &Names,
    stated: &Conic,
    saved: &SavedProblem,
) -> Result<Vec<SavedConstraint>, ReadError> {
    let (name, cones) = (&names.spec, &saved.cones);
    let blocks = &stated.constraints;
    // The first block too many, or the last of too few.
    if let Some(odd) = blocks.get(cones.len()).or(blocks.last())
        && blocks.len() != cones.len()
    {
        let message = format!(
            "{} named, but {} has {}",
            counted(blocks.len(), "constraint block is", "constraint blocks are"),
            names.problem,
            counted(cones.len(), "cone", "cones")
        );
        let list: Vec<String> = cones.iter().take(8).map(describe).collect();
        let more = if cones.len() > 8 { ", …" } else { "" };
        return Err(odd.name.error(name, message).with_help(format!(
            "name one block for each cone, in order: {}{more}",
            list.join(", ")
        )));
    }
    for (block, cone) in blocks.iter().zip(cones) {
        let rows = cone.rows().unwrap_or(usize::MAX);
        if let Some(odd) = block.rows.get(rows).or(block.rows.last())
            && block.rows.len() != rows
        {
            return Err(odd.error(
                name,
                format!(
                    "`{}` has {}, but its cone has {}",
                    block.name.value,
                    counted(block.rows.len(), "row name", "row names"),
                    counted(rows, "row", "rows")
                ),
            ));
        }
        if block.saved.holds == Holds::AtTheMean && matches!(cone, SavedCone::Zero(_)) {
            return Err(block.name.error(
                name,
                format!(
                    "`{}` is an equality and cannot hold at the mean only",
                    block.name.value
                ),
            ));
        }
    }
    Ok(blocks.iter().map(|block| block.saved.clone()).collect())
}

fn describe(cone: &SavedCone) -> String {
    let kind = match cone {
        SavedCone::Zero(_) => "zero",
        SavedCone::Nonnegative(_) => "non-negative",
        SavedCone::SecondOrder(_) => "second-order",
        SavedCone::Exponential => "exponential",
        SavedCone::Power(_) => "power",
        SavedCone::GeneralisedPower { .. } => "generalised power",
        SavedCone::PsdTriangle(_) => "semidefinite",
    };
    match cone.rows() {
        Some(rows) => format!("{kind} ({rows})"),
        None => kind.into(),
    }
}
