//! The private datasets on their way to the engine, with what the curator should know of them.

use conveil::ask::Strategy;
use conveil_models::model::{Datasets, Model};
use conveil_models::{exact, is_clipped};

use crate::ask::claimed_universe;
use crate::failure::Failure;
use crate::observer::Observer;
use crate::recipient::Row;
use crate::workbench::Workbench;

/// Values outside their bounds that are named one by one.
const CLIPPED_SHOWN: usize = 12;

/// The datasets as those who say in the model's words what a plan has decided; none where what gets noise is the data
/// themselves, which are no decision of the model.
pub(crate) fn in_own_words<'d>(
    datasets: &'d (dyn Datasets + 'd),
    strategy: Strategy,
) -> Option<&'d (dyn Datasets + 'd)> {
    (!strategy.is_on_the_data()).then_some(datasets)
}

/// The private datasets, and the θ of one of them.
#[derive(Debug)]
pub(crate) struct Opened<'w> {
    pub(crate) datasets: Box<dyn Datasets + 'w>,
    pub(crate) theta: Vec<f64>,
}

impl<'w> Opened<'w> {
    /// Opens this row, or the first, with remarks on it for the curator.
    pub(crate) fn new(
        bench: &'w Workbench,
        row: Option<usize>,
        observer: &dyn Observer,
    ) -> Result<Self, Failure> {
        let datasets = bench.model.datasets(&bench.inputs.files)?;
        note(&*bench.model, &*datasets, observer);
        if row.is_none() && datasets.count() > 1 {
            let label = datasets.labels().and_then(|labels| labels.of(1));
            let label = label.map_or(String::new(), |label| format!(" ({label})"));
            observer.note(&format!(
                "the first of {} rows of {}{label}; --row N takes another",
                datasets.count(),
                datasets.rows_hold()
            ));
        }
        let theta = row_of(bench, &*datasets, row.unwrap_or(1), observer)?;
        Ok(Opened { datasets, theta })
    }
}

/// The row of this number, with its label.
pub(crate) fn row_called(datasets: &dyn Datasets, number: usize) -> Row {
    let labels = datasets.labels();
    Row {
        number,
        label: labels.and_then(|labels| labels.of(number)).cloned(),
    }
}

/// Refuses a row that there is not.
pub(crate) fn require(datasets: &dyn Datasets, row: usize) -> Result<(), Failure> {
    let there = match datasets.count() {
        count if (1..=count).contains(&row) => return Ok(()),
        1 => "there is one dataset".into(),
        count => format!("there are {count} rows of {}", datasets.rows_hold()),
    };
    Err(Failure::input(format!("there is no row {row}: {there}")))
}

/// The private θ of this row, with remarks on it for the curator.
pub(crate) fn row_of(
    bench: &Workbench,
    datasets: &dyn Datasets,
    row: usize,
    observer: &dyn Observer,
) -> Result<Vec<f64>, Failure> {
    require(datasets, row)?;
    let theta = datasets.row(row)?;
    let of_values = remarks(bench, datasets, &theta);
    for warning in datasets.remarks().iter().chain(&of_values) {
        observer.warning(&match datasets.count() {
            1 => warning.clone(),
            _ => format!("{}: {warning}", row_called(datasets, row)),
        });
    }
    Ok(theta)
}

/// What the curator should know about the model and how the data are listed.
pub(crate) fn note(model: &dyn Model, datasets: &dyn Datasets, observer: &dyn Observer) {
    for note in model.notes() {
        observer.note(&note);
    }
    if let Some(note) = datasets.note() {
        observer.note(note);
    }
}

/// What the curator should know about the private values.
fn remarks(bench: &Workbench, datasets: &dyn Datasets, theta: &[f64]) -> Vec<String> {
    let mut remarks = Vec::new();
    if datasets.counts_outside() {
        return remarks;
    }
    let parameters = bench.model.map().parameters();
    let universe = claimed_universe(&bench.inputs.spec).filter(|u| u.len() == theta.len());
    let nearest = universe.map_or(theta.to_vec(), |u| u.nearest(theta.to_vec()));
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
    let is_centre = universe.is_some_and(|universe| universe.centre() == theta);
    if is_centre && bench.about.is_private() {
        remarks.push(
            "the centre of the universe is the private dataset itself: a universe must be public, so its centre must be chosen without looking at the data".into(),
        );
    }
    remarks
}
