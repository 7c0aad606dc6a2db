//! What a spec for a saved problem must agree on: parameters with records and places, names with blocks.

use std::collections::HashMap;

use conveil::ask::{Adjacency, Query};
use conveil::chance::BlockEta;
use conveil::program::Place;
use conveil_text::spelling::{counted, nearest, quoted};
use conveil_text::{Located, ReadError};

use super::stated::Conic;
use crate::spec::private::{check_label, check_universe};
use crate::spec::{Spec, VariableRef};

/// Refuses common sections that contradict the saved problem.
pub(super) fn check(stated: &Conic, spec: &Spec) -> Result<(), ReadError> {
    check_parameters(stated, spec)?;
    check_label(spec, stated.data.as_ref(), "data", |label| {
        stated.parameters.iter().any(|p| p.name.value == label)
    })?;
    check_universe(spec, Some(stated.parameters.len()), "parameters")?;
    check_variables(stated, spec)?;
    check_private_places(stated, spec)?;
    check_blocks(stated, spec)
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
    if stated.data.is_some() {
        return Ok(());
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
    let blocks = stated.variables.iter().map(|v| &v.value);
    let names = blocks.flat_map(|block| std::iter::once(&block.name).chain(&block.entries));
    match nearest(block, names.map(String::as_str)) {
        Some(word) => error.with_help(format!("did you mean `{word}`?")),
        None => error,
    }
}

/// A certificate is a theorem about one part of the problem: only that part may be private.
fn check_private_places(stated: &Conic, spec: &Spec) -> Result<(), ReadError> {
    let sensitivity = &spec.privacy.sensitivity.value;
    let Some(kind) = sensitivity.certificate() else {
        return Ok(());
    };
    let by = kind.word();
    let part = kind.private_part();
    let covered = |place: Place| match place {
        Place::B(_) => part == Some("b"),
        Place::Q(_) => part == Some("q"),
        Place::A(..) | Place::P(..) => false,
    };
    let mut entries = stated.parameters.iter().flat_map(|p| &p.at);
    if let (Some(part), Some(entry)) = (part, entries.find(|e| !covered(e.value.place))) {
        return Err(entry.error(
            &spec.name,
            format!(
                "sensitivity by `{by}` is proven for private numbers in {part} only, found {}",
                entry.value.place
            ),
        ));
    }
    if kind.needs_bounds()
        && let Some(parameter) = stated.parameters.iter().find(|p| p.bounds.is_none())
    {
        return Err(parameter
            .name
            .error(
                &spec.name,
                format!(
                    "sensitivity by `{by}` needs `bounds` on every parameter, and {} has none",
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
