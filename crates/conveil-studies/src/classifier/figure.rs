//! The table as a figure: accuracies of the balanced datasets, a panel for each mode and λ.

use super::{Mode, Row, Table};
use crate::percent_of;
use crate::plot::{Axis, Colour, Figure, Mark, Panel, Series, Shape};

/// Colours of program perturbation, by η.
const PROGRAM: [Colour; 3] = [Colour::Blue, Colour::Sky, Colour::Purple];

impl Table {
    /// Mean accuracies with one standard deviation, balanced datasets only.
    pub fn figure(&self) -> Figure {
        let balanced = || self.rows.iter().filter(|r| r.balanced);
        let mut datasets: Vec<String> = Vec::new();
        for row in balanced() {
            if !datasets.contains(&row.dataset) {
                datasets.push(row.dataset.clone());
            }
        }
        let mut panels: Vec<(Mode, f64)> = Vec::new();
        for row in balanced() {
            if !panels.contains(&(row.mode, row.lambda)) {
                panels.push((row.mode, row.lambda));
            }
        }
        let width = (90.0 * datasets.len() as f64).clamp(200.0, 560.0);
        let mut figure = Figure::new(format!(
            "Which demands can be met: private classifiers, ε = {}",
            self.settings.epsilon
        ))
        .columns(2)
        .panel_size(width, 190.0);
        for (mode, lambda) in panels {
            figure = figure.panel(self.panel(mode, lambda, &datasets));
        }
        figure
    }

    fn panel(&self, mode: Mode, lambda: f64, datasets: &[String]) -> Panel {
        let names = datasets.iter().map(|d| short(d)).collect();
        let mut panel = Panel::new(
            format!("{}, λ = {lambda:.0e}", mode.name()),
            Axis::categories("", names),
            Axis::linear("accuracy in %").range(40.0, 104.0),
        );
        let of = |strategy: &str, eta: Option<f64>, dataset: &str| -> Option<&Row> {
            self.rows.iter().find(|r| {
                r.balanced
                    && (r.mode, r.lambda, r.eta) == (mode, lambda, eta)
                    && r.strategy == strategy
                    && r.dataset == dataset
            })
        };
        let places = |strategy: &str, eta: Option<f64>, aside: f64| -> Vec<(f64, &Row)> {
            let each = datasets.iter().enumerate();
            each.filter_map(|(i, d)| Some((i as f64 + aside, of(strategy, eta, d)?)))
                .collect()
        };
        let dashes = |value: &dyn Fn(&Row) -> Option<f64>| Mark::Points {
            points: places("non-private", None, 0.0)
                .into_iter()
                .filter_map(|(x, r)| Some((x, value(r)?)))
                .collect(),
            shape: Shape::Dash,
        };
        panel = panel
            .with(Series::new(Colour::Green, dashes(&|r| r.accuracy_mean)).label("non-private"))
            .with(Series::new(Colour::Grey, dashes(&|r| Some(r.majority))).label("majority class"));
        let mut add = |label: String, colour: Colour, rows: Vec<(f64, &Row)>| {
            let points: Vec<(f64, f64, f64)> = rows
                .iter()
                .filter_map(|(x, r)| Some((*x, r.accuracy_mean?, r.accuracy_std?)))
                .collect();
            let spread = points
                .iter()
                .map(|(x, m, s)| (*x, m - s, (m + s).min(100.0)));
            let spread = Mark::Intervals {
                points: spread.collect(),
            };
            let means = Mark::Points {
                points: points.iter().map(|(x, m, _)| (*x, *m)).collect(),
                shape: Shape::Disc,
            };
            panel = panel
                .clone()
                .with(Series::new(colour, spread))
                .with(Series::new(colour, means).label(label));
        };
        add(
            "output ± 1 deviation".into(),
            Colour::Vermilion,
            places("output", None, -0.3),
        );
        for (k, eta) in self.settings.etas.iter().enumerate() {
            let aside = -0.12 + 0.16 * k as f64;
            add(
                format!("program, η = {}%", percent_of(*eta)),
                PROGRAM[k % PROGRAM.len()],
                places("program", Some(*eta), aside),
            );
        }
        panel
    }
}

/// `24_ieee_rts` as `24_ieee`: a column is narrow.
fn short(dataset: &str) -> String {
    let parts: Vec<&str> = dataset.split('_').take(2).collect();
    parts.join("_")
}
