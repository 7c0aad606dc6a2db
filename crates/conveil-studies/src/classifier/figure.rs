//! The table as a figure: accuracies of the balanced datasets, a panel for each mode and λ.

use super::{Row, Table};
use crate::plot::{Axis, Colour, Figure, Panel, Series, Shape, distinct, short};
use crate::study::percent_of;

/// Colours of program perturbation, by η.
const PROGRAM: [Colour; 3] = [Colour::Blue, Colour::Sky, Colour::Purple];

/// Mean accuracies with one standard deviation, balanced datasets only.
pub(super) fn figure(table: &Table) -> Figure {
    let balanced: Vec<&Row> = table.rows.iter().filter(|r| r.balanced).collect();
    let datasets = distinct(balanced.iter().map(|r| r.dataset.as_str()));
    let panels = distinct(balanced.iter().map(|r| (r.mode, r.lambda)));
    let epsilon = table.settings.epsilon;
    let width = (90.0 * datasets.len() as f64).clamp(200.0, 560.0);
    let figure = Figure::new(format!(
        "Which demands can be met: private classifiers, ε = {epsilon}"
    ))
    .columns(2)
    .panel_size(width, 190.0);
    let panels = panels.into_iter().map(|place| {
        let rows = balanced.iter().filter(|r| (r.mode, r.lambda) == place);
        let title = format!("{}, λ = {:.0e}", place.0.name(), place.1);
        panel(
            title,
            rows.copied().collect(),
            &datasets,
            &table.settings.etas,
        )
    });
    panels.fold(figure, Figure::panel)
}

fn panel(title: String, rows: Vec<&Row>, datasets: &[&str], etas: &[f64]) -> Panel {
    let places = |strategy: &str, eta: Option<f64>, aside: f64| -> Vec<(f64, &Row)> {
        let of = |dataset: &str| {
            let is_it = |r: &&&Row| (r.strategy, r.eta) == (strategy, eta) && r.dataset == dataset;
            rows.iter().find(is_it).copied()
        };
        let each = datasets.iter().enumerate();
        each.filter_map(|(i, d)| Some((i as f64 + aside, of(d)?)))
            .collect()
    };
    let dashes = |colour, value: fn(&Row) -> Option<f64>| {
        let exact = places("non-private", None, 0.0).into_iter();
        let points = exact.filter_map(|(x, r)| Some((x, value(r)?)));
        Series::points(colour, Shape::Dash, points.collect())
    };
    let names = Axis::categories("", datasets.iter().map(|d| short(d)).collect());
    let y = Axis::linear("accuracy in %").range(40.0, 104.0);
    let panel = Panel::new(title, names, y)
        .with(dashes(Colour::Green, |r| r.accuracy_mean).label("non-private"))
        .with(dashes(Colour::Grey, |r| Some(r.majority)).label("majority class"));
    let programs = etas.iter().enumerate().map(|(k, eta)| {
        let label = format!("program, η = {}%", percent_of(*eta));
        let places = places("program", Some(*eta), -0.12 + 0.16 * k as f64);
        (label, PROGRAM[k % PROGRAM.len()], places)
    });
    let output = (
        String::from("output ± 1 deviation"),
        Colour::Vermilion,
        places("output", None, -0.3),
    );
    [output]
        .into_iter()
        .chain(programs)
        .fold(panel, |panel, (label, colour, rows)| {
            let rows = rows.iter();
            let points = rows.filter_map(|(x, r)| Some((*x, r.accuracy_mean?, r.accuracy_std?)));
            let points: Vec<(f64, f64, f64)> = points.collect();
            let spread = points
                .iter()
                .map(|(x, m, s)| (*x, m - s, (m + s).min(100.0)));
            let means = points.iter().map(|(x, m, _)| (*x, *m)).collect();
            panel
                .with(Series::intervals(colour, spread.collect()))
                .with(Series::points(colour, Shape::Disc, means).label(label))
        })
}
