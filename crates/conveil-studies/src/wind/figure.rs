//! The table as a figure, in the paper's manner: valid curves green, others red.

use super::Table;
use crate::plot::{Axis, Figure, Panel};
use crate::regression::fan_panel;

impl Table {
    /// Noisy curves of the first turbine at the largest variation, a panel for each way.
    pub fn figure(&self) -> Figure {
        let turbine = self.rows.first().map_or("", |row| &row.turbine);
        let mut figure = Figure::new(format!(
            "Private power curves of {turbine}, ε = {}",
            self.settings.epsilon
        ))
        .columns(2)
        .panel_size(360.0, 210.0);
        for fan in &self.fans {
            let x = Axis::linear("wind speed in m/s");
            let y = Axis::linear("power").range(-0.4, 1.6);
            let panel = Panel::new(fan.title.clone(), x, y);
            figure = figure.panel(fan_panel(panel, &fan.curves, &fan.baseline));
        }
        figure
    }
}
