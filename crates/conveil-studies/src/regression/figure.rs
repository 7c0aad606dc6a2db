//! The study as a figure, in the paper's manner: valid models green, others red.

use super::Table;
use crate::plot::{Axis, Colour, Figure, Mark, Panel, Series, Shape};

/// A noisy curve of the figure.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) is_valid: bool,
}

/// Curves of one way.
#[derive(Clone, Debug)]
pub(crate) struct CurveFan {
    pub(crate) title: String,
    pub(crate) curves: Vec<Curve>,
    pub(crate) baseline: Vec<(f64, f64)>,
}

impl Table {
    /// The records with the model without noise, then noisy models.
    pub fn figure(&self) -> Figure {
        let axes = || {
            (
                Axis::linear("x").range(0.0, 10.0),
                Axis::linear("y").range(-120.0, 120.0),
            )
        };
        let mut figure = Figure::new(format!(
            "Private regression that must increase, ε = {}, η = {}%",
            self.settings.epsilon,
            crate::percent_of(self.settings.eta)
        ))
        .columns(2)
        .panel_size(360.0, 230.0);
        let (x, y) = axes();
        let points = Mark::Points {
            points: self.records.clone(),
            shape: Shape::Disc,
        };
        let mut panel = Panel::new("records and the model without noise", x, y)
            .with(Series::new(Colour::Sky, points).label("records"));
        if let Some(fan) = self.fans.first() {
            panel = fan_panel(panel, &[], &fan.baseline);
        }
        figure = figure.panel(panel);
        for fan in &self.fans {
            let (x, y) = axes();
            let panel = Panel::new(fan.title.clone(), x, y);
            figure = figure.panel(fan_panel(panel, &fan.curves, &fan.baseline));
        }
        figure
    }
}

/// Valid curves below, broken ones over them, the model without noise over all.
pub(crate) fn fan_panel(mut panel: Panel, curves: &[Curve], baseline: &[(f64, f64)]) -> Panel {
    for valid in [true, false] {
        let (colour, label) = match valid {
            true => (Colour::Green, "keeps the conditions"),
            false => (Colour::Vermilion, "breaks a condition"),
        };
        for curve in curves.iter().filter(|c| c.is_valid == valid) {
            let line = Mark::Line {
                points: curve.points.clone(),
                dashed: false,
            };
            panel = panel.with(Series::new(colour, line).label(label));
        }
    }
    let line = Mark::Line {
        points: baseline.to_vec(),
        dashed: true,
    };
    panel.with(Series::new(Colour::Grey, line).label("without noise"))
}
