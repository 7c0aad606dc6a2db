//! The private datasets on their way to the engine, with what the curator should know of them.

use conveil::program::Parameter;

use crate::failure::Failure;
use crate::grid;
use crate::inputs::Inputs;
use crate::model::{Datasets, Model};
use crate::observer::Observer;
use crate::outside::{exact, is_clipped};
use crate::wishes;

/// Values outside their bounds that are named one by one.
const CLIPPED_SHOWN: usize = 12;

/// The private θ of this row, or of the first, with remarks on it for the curator.
pub(crate) fn dataset(
    inputs: &Inputs,
    model: &Model,
    row: Option<usize>,
    observer: &dyn Observer,
) -> Result<Vec<f64>, Failure> {
    let datasets = Datasets::open(inputs, model)?;
    note(inputs, model, &datasets, observer);
    if row.is_none() && datasets.count() > 1 {
        let count = datasets.count();
        observer.note(&format!(
            "the first of {count} rows of demands; --row N takes another"
        ));
    }
    row_of(&datasets, row.unwrap_or(1), inputs, model, observer)
}

/// The private θ of this row, with remarks on it for the curator.
pub(crate) fn row_of(
    datasets: &Datasets,
    row: usize,
    inputs: &Inputs,
    model: &Model,
    observer: &dyn Observer,
) -> Result<Vec<f64>, Failure> {
    let theta = datasets.row(row)?;
    let own = remarks(inputs, model, &theta);
    for warning in datasets.remarks().iter().chain(&own) {
        observer.warning(&match datasets.count() {
            1 => warning.clone(),
            _ => format!("row {row}: {warning}"),
        });
    }
    Ok(theta)
}

/// What the curator should know about the network and the list of demands.
pub(crate) fn note(inputs: &Inputs, model: &Model, datasets: &Datasets, observer: &dyn Observer) {
    for note in grid::notes(inputs, model).iter().chain(datasets.note()) {
        observer.note(note);
    }
}

/// What the curator should know about the private values.
fn remarks(inputs: &Inputs, model: &Model, theta: &[f64]) -> Vec<String> {
    let mut remarks = Vec::new();
    // Files of records have remarks of their own, in their units and by their lines.
    let parameters: &[Parameter] = match model {
        Model::Svm(_) | Model::Regression(_) => &[],
        other => other.map().parameters(),
    };
    let universe = wishes::claimed_universe(&inputs.spec).filter(|u| u.len() == theta.len());
    let nearest = (universe.as_ref()).map_or(theta.to_vec(), |u| u.nearest(theta.to_vec()));
    for (parameter, (&value, &counted)) in parameters.iter().zip(theta.iter().zip(&nearest)) {
        let name = parameter.name();
        match parameter.bounds() {
            _ if is_clipped(value, (counted, counted)) => remarks.push(format!(
                "the value of `{name}` lies outside the stated universe and counts as {}, that of its nearest member",
                exact(counted)
            )),
            Some((low, high)) if is_clipped(value, (low, high)) => remarks.push(format!(
                "the value of `{name}` lies outside its public bounds and is clipped to [{}, {}]",
                exact(low),
                exact(high)
            )),
            _ => {}
        }
    }
    // Loads come by the thousand.
    if let Some(more) = remarks
        .len()
        .checked_sub(CLIPPED_SHOWN)
        .filter(|more| *more > 0)
    {
        remarks.truncate(CLIPPED_SHOWN);
        let values = parameters.len();
        remarks.push(format!(
            "{} of {values} values in all lie outside and are clipped",
            more + CLIPPED_SHOWN
        ));
    }
    if universe.is_some_and(|universe| universe.centre() == theta) {
        remarks.push(
            "the centre of the universe is the private dataset itself: a universe must be public, so its centre must be chosen without looking at the data".into(),
        );
    }
    remarks
}
