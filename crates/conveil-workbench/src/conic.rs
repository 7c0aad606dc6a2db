//! Model `conic`: the spec and the problem file as the public map θ ↦ program, and apart from it the private θ.
//!
//! The number of the program at a private place *is* Σ (offset + coef·θ) over the parameters that enter there: the
//! file's own number is replaced, so that the map holds nothing private.

use conveil::program::{
    self, AffineMap, Location, NewVariables, Parameter, Program, SavedConstraint,
};
use conveil_read::spec::{self, Entry, Holds, Place, Stage};
use conveil_text::problem::{SavedCone, SavedProblem};
use conveil_text::{Located, ReadError};

use crate::failure::Failure;
use crate::inputs::Inputs;

/// The public map. No private number is part of it.
pub(crate) fn map(inputs: &Inputs, saved: &SavedProblem) -> Result<AffineMap, Failure> {
    let template = public_problem(inputs, saved)?;
    let variables = variables(inputs, saved)?;
    let program = Program::from_saved(template, variables, constraints(inputs, saved)?)
        .map_err(|e| Failure::engine(&inputs.problem_name, &e))?;
    let parameters = inputs
        .spec
        .private
        .parameters
        .iter()
        .map(|parameter| {
            let locations = parameter
                .at
                .iter()
                .map(|entry| Location::new(place(entry.value.place), entry.value.coef))
                .collect();
            let named = Parameter::new(parameter.name.value.as_str()).at_all(locations);
            let bounded = match parameter.bounds {
                None => named,
                Some((low, high)) => named.clipped(low, high),
            };
            match parameter.nominal {
                None => bounded,
                Some(nominal) => bounded.nominal(nominal),
            }
        })
        .collect();
    AffineMap::new(program, parameters).map_err(|e| Failure::engine(&inputs.spec_name, &e))
}

/// The private θ: each parameter's `value`, or what the file's number at its first place stands for.
pub(crate) fn dataset(inputs: &Inputs, saved: &SavedProblem) -> Result<Vec<f64>, Failure> {
    inputs
        .spec
        .private
        .parameters
        .iter()
        .map(|parameter| {
            if let Some(value) = parameter.value {
                return Ok(value);
            }
            let Some(first) = parameter.at.first() else {
                return Err(Failure::from(parameter.name.error(
                    &inputs.spec_name,
                    "a parameter without `value` needs a place to take it from",
                )));
            };
            let Entry {
                place,
                coef,
                offset,
            } = first.value;
            let number = number_at(saved, place)
                .map_err(|why| missing(inputs, first, why))?;
            let value = (number - offset) / coef;
            if value.is_finite() {
                return Ok(value);
            }
            Err(Failure::from(first.error(
                &inputs.spec_name,
                format!(
                    "({number} − {offset})/{coef} at {place} is not a finite number: give `{}` a `value`",
                    parameter.name.value
                ),
            )))
        })
        .collect()
}

/// The saved problem with its private numbers replaced by the sum of their offsets.
fn public_problem(inputs: &Inputs, saved: &SavedProblem) -> Result<SavedProblem, Failure> {
    let mut problem = saved.clone();
    let entries = || {
        inputs
            .spec
            .private
            .parameters
            .iter()
            .flat_map(|parameter| &parameter.at)
    };
    for entry in entries() {
        let slot =
            slot(&mut problem, entry.value.place).map_err(|why| missing(inputs, entry, why))?;
        *slot = 0.0;
    }
    for entry in entries() {
        let slot =
            slot(&mut problem, entry.value.place).map_err(|why| missing(inputs, entry, why))?;
        *slot += entry.value.offset;
    }
    Ok(problem)
}

/// Why a place has no number: the message, and the way out.
struct NoNumber(String, Option<&'static str>);

fn missing(inputs: &Inputs, entry: &Located<Entry>, why: NoNumber) -> Failure {
    let message = format!(
        "{} is not in {}: {}",
        entry.value.place, inputs.problem_name, why.0
    );
    let error = entry.error(&inputs.spec_name, message);
    Failure::from(match why.1 {
        None => error,
        Some(help) => error.with_help(help),
    })
}

fn slot(problem: &mut SavedProblem, place: Place) -> Result<&mut f64, NoNumber> {
    let index = index_of(problem, place)?;
    Ok(match place {
        Place::B { .. } => &mut problem.b[index],
        Place::Q { .. } => &mut problem.q[index],
        Place::A { .. } => &mut problem.a.nzval[index],
    })
}

fn number_at(problem: &SavedProblem, place: Place) -> Result<f64, NoNumber> {
    let index = index_of(problem, place)?;
    Ok(match place {
        Place::B { .. } => problem.b[index],
        Place::Q { .. } => problem.q[index],
        Place::A { .. } => problem.a.nzval[index],
    })
}

/// Where the number stands in b, q or the stored entries of A.
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
        Place::B { row } => in_range(row, problem.b.len(), "row"),
        Place::Q { column } => in_range(column, problem.q.len(), "column"),
        Place::A { row, column } => {
            in_range(row, problem.b.len(), "row")?;
            in_range(column, problem.q.len(), "column")?;
            let (start, end) = (problem.a.colptr[column], problem.a.colptr[column + 1]);
            let found = problem.a.rowval[start..end].binary_search(&row);
            found.map(|offset| start + offset).map_err(|_| {
                NoNumber(
                    "the matrix stores no entry there".into(),
                    Some("which entries exist is public: store an explicit 0 in the file"),
                )
            })
        }
    }
}

fn place(place: Place) -> program::Place {
    match place {
        Place::B { row } => program::Place::B(row),
        Place::Q { column } => program::Place::Q(column),
        Place::A { row, column } => program::Place::A(row, column),
    }
}

/// The named columns, with what each is.
fn variables(inputs: &Inputs, saved: &SavedProblem) -> Result<Vec<NewVariables>, ReadError> {
    let blocks = &inputs.spec.problem.variables;
    let columns = saved.q.len();
    if let (true, spec::Model::Conic { file }) = (blocks.is_empty(), &inputs.spec.problem.model) {
        let message = "the spec does not say what the variables of the problem are";
        return Err(file.error(&inputs.spec_name, message).with_help(format!(
            "if each is a real quantity that somebody carries out, write below [problem]:\n\n    [[problem.variable]]\n    name = \"x\"\n    size = {columns}\n    stage = \"decision\"\n\n  else one block for each run of columns, with stage = \"decision\", \"here-and-now\", \"witness\" or \"epigraph\""
        )));
    }
    let named = blocks
        .iter()
        .fold(0usize, |sum, block| sum.saturating_add(block.size));
    if let Some(last) = blocks.last()
        && named != columns
    {
        return Err(last
            .name
            .error(
                &inputs.spec_name,
                format!(
                    "the variable blocks have {} in all, but {} has {}",
                    counted(named, "entry", "entries"),
                    inputs.problem_name,
                    counted(columns, "column", "columns")
                ),
            )
            .with_help("name every column, in order; `size` says how many a block takes"));
    }
    Ok(blocks
        .iter()
        .map(|block| NewVariables {
            name: block.name.value.clone(),
            len: block.size,
            stage: match block.stage {
                Stage::Decision => program::Stage::Decision,
                Stage::HereAndNow => program::Stage::HereAndNow,
                Stage::Witness => program::Stage::Witness,
                Stage::Epigraph => program::Stage::Epigraph,
            },
        })
        .collect())
}

/// The named cones; none for `c0`, `c1`, ….
fn constraints(inputs: &Inputs, saved: &SavedProblem) -> Result<Vec<SavedConstraint>, ReadError> {
    let (name, cones) = (&inputs.spec_name, &saved.cones);
    let blocks = &inputs.spec.problem.constraints;
    // The first block too many, or the last of too few.
    if let Some(odd) = blocks.get(cones.len()).or(blocks.last())
        && blocks.len() != cones.len()
    {
        let message = format!(
            "{} named, but {} has {}",
            counted(blocks.len(), "constraint block is", "constraint blocks are"),
            inputs.problem_name,
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
        if block.holds == Holds::AtTheMean && matches!(cone, SavedCone::Zero(_)) {
            return Err(block.name.error(
                name,
                format!(
                    "`{}` is an equality and cannot hold at the mean only",
                    block.name.value
                ),
            ));
        }
    }
    Ok(blocks
        .iter()
        .map(|block| SavedConstraint {
            name: block.name.value.clone(),
            holds: match block.holds {
                Holds::WithNoise => program::Holds::WithNoise,
                Holds::Always => program::Holds::Always,
                Holds::AtTheMean => program::Holds::AtTheMean,
            },
            rows: block.rows.iter().map(|row| row.value.clone()).collect(),
        })
        .collect())
}

/// "1 row", "2 rows".
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
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
