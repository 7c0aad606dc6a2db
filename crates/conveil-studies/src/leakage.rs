//! Figure 1: how exact answers give a private datum away, in a linear program, a regression and a classifier.
//!
//! In each an observer knows everything but one datum and sees the exact answer. The study finds the datum from these
//! alone: by the price of the linear program, by the weights of the regression, which are linear in every response, and by
//! training the machine with either label.

use clap::Args;
use conveil::program::{AffineMap, Builder, DataMap, Program};
use conveil::solve::{self, Batch};
use conveil::{Error, Result};
use conveil_models::records::Records;
use conveil_models::regression::{Basis, Regression};
use conveil_models::svm::{Feature, Intercept, Svm};
use serde::Serialize;

use crate::plot::{Axis, Colour, Figure, Panel, Series, Shape};
use crate::settings::{check_positive, defaults, positive};
use crate::study::{self, Column, Failure, Study, left, right};

/// Costs of the two resources.
const COSTS: [f64; 2] = [1.0, 2.0];

/// The most of each resource.
const LIMITS: [f64; 2] = [6.0, 8.0];

/// The private demand.
const DEMAND: f64 = 9.0;

/// Where the responses stand, and what they are.
const RESPONSES: [(f64, f64); 8] = [
    (1.0, 1.4),
    (2.0, 1.9),
    (3.0, 3.3),
    (4.0, 3.8),
    (5.0, 5.4),
    (6.0, 5.7),
    (7.0, 7.2),
    (8.0, 7.9),
];

/// The private response.
const RESPONSE: usize = 7;

/// The ridge of the regression: next to none.
const RIDGE: f64 = 1e-6;

/// Two classes; the label of the last record is private.
const RECORDS: [(f64, f64, bool); 9] = [
    (1.0, 4.0, true),
    (1.6, 5.2, true),
    (2.4, 5.6, true),
    (2.0, 4.4, true),
    (4.6, 1.2, false),
    (5.2, 2.4, false),
    (5.8, 1.6, false),
    (5.4, 3.2, false),
    (3.4, 3.6, true),
];

/// What either coordinate of a record lies within.
const RANGE: (f64, f64) = (0.0, 7.0);

/// λ of the machine.
const LAMBDA: f64 = 1e-3;

/// What to compute.
#[derive(Clone, Debug, Args, Serialize)]
pub struct Settings {
    /// How far the demand and the response lie from their neighbours'
    #[arg(long, value_name = "V", allow_hyphen_values = true, value_parser = positive, default_value = "2")]
    pub shift: f64,
}

impl Default for Settings {
    fn default() -> Self {
        defaults()
    }
}

/// One datum.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// allocation, regression or classifier.
    pub problem: &'static str,
    /// What is private.
    pub datum: &'static str,
    /// What an observer sees.
    pub answer: &'static str,
    /// The datum.
    pub value: f64,
    /// The exact answer.
    pub exact: Vec<f64>,
    /// The datum of the neighbouring dataset.
    pub neighbour: f64,
    /// The exact answer there.
    pub neighbour_exact: Vec<f64>,
    /// The datum as an observer finds it from the answer and all other data.
    pub found: f64,
}

/// The table: one row for each problem.
pub type Table = study::Table<Settings>;

/// Runs the study.
pub fn run(settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    check_positive("the shift", settings.shift)?;
    if DEMAND + settings.shift > LIMITS.iter().sum() {
        return Err(Error::Input(format!(
            "the shift must be at most {}: the two resources have no more",
            LIMITS.iter().sum::<f64>() - DEMAND
        )));
    }
    let solver = solve::Settings::default().with_cancel(batch.cancel_flag().clone());
    let (allocation, places) = allocation(settings.shift, &solver)?;
    let rows = vec![
        allocation,
        regression(settings.shift, &solver)?,
        classifier(&solver)?,
    ];
    Ok(Table {
        pictures: Pictures { places },
        ..Table::new(settings, rows)
    })
}

/// The cheapest way to meet the demand: min c'x, x₁ + x₂ ≥ d, 0 ≤ x ≤ limits.
fn allocation_map() -> Result<AffineMap> {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let demand = m.parameter("demand");
    m.minimize(COSTS[0] * x.at(0) + COSTS[1] * x.at(1));
    m.at_most("demand", demand, x.at(0) + x.at(1));
    for (i, limit) in LIMITS.into_iter().enumerate() {
        m.between(["first", "second"][i], 0.0, x.at(i), limit);
    }
    m.build_map()
}

/// The row, and the two optima.
fn allocation(shift: f64, solver: &solve::Settings) -> Result<(Row, Vec<(f64, f64)>)> {
    let map = allocation_map()?;
    let at = |demand: f64| solve::solve_checked(&map.at(&[demand])?, solver);
    let (one, other) = (at(DEMAND)?, at(DEMAND + shift)?);
    // The observer asks what a trial demand costs, and what one unit more costs: the cost is piecewise linear.
    let trial = at(LIMITS[0])?.objective;
    let price = at(LIMITS[0] + 1.0)?.objective - trial;
    let row = Row {
        problem: "allocation",
        datum: "demand",
        answer: "cost",
        value: DEMAND,
        exact: vec![one.objective],
        neighbour: DEMAND + shift,
        neighbour_exact: vec![other.objective],
        found: LIMITS[0] + (one.objective - trial) / price,
    };
    let places = [one, other].map(|s| (s.x[0], s.x[1]));
    Ok((row, places.to_vec()))
}

/// The weights of a line through these responses.
fn line(y: &[f64], solver: &solve::Settings) -> Result<Vec<f64>> {
    let x: Vec<f64> = RESPONSES.iter().map(|r| r.0).collect();
    let records = Records::from_column("x", &x).map_err(Error::Input)?;
    let model = Regression::of(records, "y")
        .basis(Basis::Constant)
        .basis(Basis::linear("x"))
        .ridge(RIDGE)
        .build()?;
    let mut weights = solve::solve_checked(&model.at(y)?, solver)?.x;
    weights.truncate(model.weights().len());
    Ok(weights)
}

fn regression(shift: f64, solver: &solve::Settings) -> Result<Row> {
    let mut y: Vec<f64> = RESPONSES.iter().map(|r| r.1).collect();
    let value = y[RESPONSE];
    let exact = line(&y, solver)?;
    y[RESPONSE] = value - shift;
    let neighbour_exact = line(&y, solver)?;
    // Weights are linear in each response: two trial values say how the slope moves with it.
    y[RESPONSE] = 0.0;
    let at_zero = line(&y, solver)?[1];
    y[RESPONSE] = 1.0;
    let moved = line(&y, solver)?[1] - at_zero;
    Ok(Row {
        problem: "regression",
        datum: "last response",
        answer: "weights",
        value,
        found: (exact[1] - at_zero) / moved,
        exact,
        neighbour: value - shift,
        neighbour_exact,
    })
}

/// The hyperplane for this label of the last record, in the records' own units: w₁, w₂ and b of w'x = b.
fn hyperplane(last: bool, solver: &solve::Settings) -> Result<Vec<f64>> {
    let features = ["x1", "x2"].map(|name| Feature::within(name, RANGE.0, RANGE.1));
    let machine = Svm::of(RECORDS.len(), features.to_vec())
        .lambda(LAMBDA)
        .intercept(Intercept::Light)
        .build()?;
    let places: Vec<Vec<f64>> = RECORDS.iter().map(|r| vec![r.0, r.1]).collect();
    let mut labels: Vec<bool> = RECORDS.iter().map(|r| r.2).collect();
    if let Some(label) = labels.last_mut() {
        *label = last;
    }
    let program: Program = machine.at(&machine.dataset(&places, &labels)?)?;
    let solution = solve::solve_checked(&program, solver)?;
    let answer = solution.x.get(..3).unwrap_or(&solution.x);
    let (mut weights, intercept) = machine.in_own_units(answer);
    weights.push(intercept);
    Ok(weights)
}

fn classifier(solver: &solve::Settings) -> Result<Row> {
    let both = [hyperplane(true, solver)?, hyperplane(false, solver)?];
    let exact = both[0].clone();
    let distance = |other: &[f64]| -> f64 {
        let each = exact.iter().zip(other);
        each.map(|(a, b)| (a - b).powi(2)).sum()
    };
    let found = match distance(&both[0]) < distance(&both[1]) {
        true => 1.0,
        false => -1.0,
    };
    let [_, neighbour_exact] = both;
    Ok(Row {
        problem: "classifier",
        datum: "last label",
        answer: "hyperplane",
        value: 1.0,
        exact,
        neighbour: -1.0,
        neighbour_exact,
        found,
    })
}

/// What the rows do not say.
#[derive(Clone, Debug, Default)]
pub struct Pictures {
    /// The two optima of the linear program.
    places: Vec<(f64, f64)>,
}

fn numbers(values: &[f64]) -> String {
    let values: Vec<String> = values.iter().map(|v| format!("{v:.3}")).collect();
    values.join(" ")
}

impl Study for Settings {
    const NAME: &'static str = "leakage";
    const ABOUT: &'static str = "Figure 1: how exact answers give a private datum away";
    const EXAMPLES: &'static str = "Example:\n  conveil study leakage --figure leakage.svg";
    type Row = Row;
    type Pictures = Pictures;

    fn run(&self, batch: &Batch<'_>) -> std::result::Result<Table, Failure> {
        Ok(run(self, batch)?)
    }

    fn headline(_: &Table) -> String {
        "what an observer finds who knows all data but one, and sees the exact answer".into()
    }

    fn columns() -> Vec<Column<Row>> {
        vec![
            left("problem", 11, |r| r.problem.into()),
            left("private", 14, |r| r.datum.into()),
            left("answer", 11, |r| r.answer.into()),
            right("it is", 7, |r| format!("{:.2}", r.value)),
            right("found", 7, |r| format!("{:.2}", r.found)),
            right("exact answer", 22, |r| numbers(&r.exact)),
            right("neighbour", 10, |r| format!("{:.2}", r.neighbour)),
            right("exact answer", 22, |r| numbers(&r.neighbour_exact)),
        ]
    }

    fn legend(_: &Table) -> String {
        "found: from the exact answer and all other data. The demand follows from the price, the response from the slope, which\nis linear in it, the label from training with either one.\n".into()
    }

    /// One panel for each problem: the dataset and its answer in blue, the neighbour's in vermilion.
    fn figure(table: &Table) -> Figure {
        let figure = Figure::new("An exact answer gives a private datum away")
            .columns(3)
            .panel_size(260.0, 260.0);
        match table.rows.as_slice() {
            [allocation, regression, classifier] => figure
                .panel(drawn_allocation(allocation, &table.pictures.places))
                .panel(drawn_regression(regression))
                .panel(drawn_classifier(classifier)),
            _ => figure,
        }
    }
}

const ONE: &str = "dataset";
const OTHER: &str = "neighbour";

/// The set of feasible allocations above the line of the demand.
fn region(demand: f64) -> Vec<(f64, f64, f64)> {
    let corner = (demand - LIMITS[1]).max(0.0);
    let at = |x: f64| (x, (demand - x).max(0.0), LIMITS[1]);
    [corner, LIMITS[0].min(demand), LIMITS[0]].map(at).to_vec()
}

fn drawn_allocation(row: &Row, places: &[(f64, f64)]) -> Panel {
    let title = format!(
        "allocation: cost {:.1} or {:.1}",
        row.exact[0], row.neighbour_exact[0]
    );
    let axis = |name: &str| Axis::linear(name).range(0.0, 10.0);
    let mut panel = Panel::new(title, axis("first resource"), axis("second resource"));
    let both = [
        (Colour::Blue, row.value, ONE),
        (Colour::Vermilion, row.neighbour, OTHER),
    ];
    for (i, (colour, demand, name)) in both.into_iter().enumerate() {
        let border = vec![(0.0, demand), (demand, 0.0)];
        panel = panel
            .with(Series::band(colour, region(demand)))
            .with(Series::line(colour, border).label(name));
        let place = places.get(i).copied().into_iter().collect();
        panel = panel.with(Series::points(colour, Shape::Disc, place).label(name));
    }
    panel
}

fn drawn_regression(row: &Row) -> Panel {
    let slopes = (row.exact[1], row.neighbour_exact[1]);
    let title = format!("regression: slope {:.2} or {:.2}", slopes.0, slopes.1);
    let axis = |name: &str| Axis::linear(name).range(0.0, 9.0);
    let known = RESPONSES[..RESPONSE].to_vec();
    let mut panel = Panel::new(title, axis("x"), axis("y"))
        .with(Series::points(Colour::Grey, Shape::Disc, known).label("known to the observer"));
    for (colour, weights, y, name) in [
        (Colour::Blue, &row.exact, row.value, ONE),
        (
            Colour::Vermilion,
            &row.neighbour_exact,
            row.neighbour,
            OTHER,
        ),
    ] {
        let ends = [0.0, 9.0].map(|x| (x, weights[0] + weights[1] * x));
        let datum = vec![(RESPONSES[RESPONSE].0, y)];
        panel = panel
            .with(Series::line(colour, ends.to_vec()).label(name))
            .with(Series::points(colour, Shape::Disc, datum).label(name));
    }
    panel
}

fn drawn_classifier(row: &Row) -> Panel {
    let axis = |name: &str| Axis::linear(name).range(RANGE.0, RANGE.1);
    let mut panel = Panel::new(
        "classifier: the label of one record",
        axis("x1"),
        axis("x2"),
    );
    let (last, known) = match RECORDS.split_last() {
        Some((last, known)) => ((last.0, last.1), known),
        None => return panel,
    };
    for (label, shape) in [(true, Shape::Ring), (false, Shape::Cross)] {
        let places = known.iter().filter(|r| r.2 == label).map(|r| (r.0, r.1));
        let points = Series::points(Colour::Grey, shape, places.collect());
        panel = panel.with(points.label("known to the observer"));
    }
    for (colour, shape, w, name) in [
        (Colour::Vermilion, Shape::Cross, &row.neighbour_exact, OTHER),
        (Colour::Blue, Shape::Ring, &row.exact, ONE),
    ] {
        // w₁x + w₂y = b.
        let ends = [RANGE.0, RANGE.1].map(|x| (x, (w[2] - w[0] * x) / w[1]));
        panel = panel
            .with(Series::line(colour, ends.to_vec()).label(name))
            .with(Series::points(colour, shape, vec![last]).label(name));
    }
    panel
}
