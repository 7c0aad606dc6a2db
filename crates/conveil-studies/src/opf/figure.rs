//! The table as a figure: losses on a logarithmic scale above, infeasibility below.

use super::{Row, Table};
use crate::plot::{Axis, Colour, Figure, Panel, Series, Shape, distinct, short};
use crate::study::percent_of;

/// Losses and infeasibilities, a column for each α.
pub(super) fn figure(table: &Table) -> Figure {
    let networks = distinct(table.rows.iter().map(|row| row.network.clone()));
    let (settings, alphas) = (&table.settings, &table.settings.alphas);
    let title = format!(
        "Private cost of the optimal power flow, ε = {}, η = {}%",
        settings.epsilon,
        percent_of(settings.eta)
    );
    let width = (58.0 * networks.len() as f64).clamp(180.0, 600.0);
    let figure = Figure::new(title)
        .columns(alphas.len())
        .panel_size(width, 210.0);
    let at = |alpha: &f64| Place {
        table,
        alpha: *alpha,
        networks: &networks,
    };
    let losses = alphas.iter().map(|alpha| at(alpha).losses());
    let infeasibilities = alphas.iter().map(|alpha| at(alpha).infeasibilities());
    losses.chain(infeasibilities).fold(figure, Figure::panel)
}

/// One α.
struct Place<'t> {
    table: &'t Table,
    alpha: f64,
    networks: &'t [String],
}

impl Place<'_> {
    /// One value for each network that has one, at its place moved aside.
    fn values<T>(
        &self,
        strategy: &str,
        aside: f64,
        value: impl Fn(f64, &Row) -> Option<T>,
    ) -> Vec<T> {
        let places = self.networks.iter().enumerate();
        let values = places
            .filter_map(|(i, n)| value(i as f64 + aside, self.table.row(n, self.alpha, strategy)?));
        values.collect()
    }

    fn names(&self) -> Axis {
        Axis::categories("", self.networks.iter().map(|n| short(n)).collect())
    }

    fn losses(&self) -> Panel {
        let programs = self.table.rows.iter().filter(|r| r.strategy == "program");
        let all = programs.flat_map(|r| [r.loss_percent, r.limit_percent, r.paper_loss_percent]);
        // An envelope can release less than the optimum, which has no place on a logarithmic axis.
        let all = all.flatten().filter(|loss| *loss > 0.0);
        let (low, high) = all.fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
        // Without any such loss the axis is empty, but still an axis.
        let (low, high) = if high > 0.0 { (low, high) } else { (0.1, 10.0) };
        let points = |colour, shape, aside: f64, value: fn(&Row) -> Option<f64>| {
            let values = self.values("program", aside, |x, r| Some((x, value(r)?)));
            Series::points(colour, shape, values)
        };
        let title = format!("α = {} MWh", self.alpha);
        let y = Axis::log("loss in %").range(low / 1.4, high * 1.4);
        let limits = points(Colour::Grey, Shape::Dash, 0.0, |r| r.limit_percent);
        let mut panel =
            Panel::new(title, self.names(), y).with(limits.label("limit of any method"));
        let spreads = self.values("program", 0.0, |x, r| {
            let boxes = r.sampled_boxes.as_ref()?;
            let (mean, std) = (boxes.mean_loss_percent?, boxes.std_loss_percent?);
            Some((x, (mean - 2.0 * std).max(0.1 * mean), mean + 2.0 * std))
        });
        if !spreads.is_empty() {
            let spreads = Series::intervals(Colour::Purple, spreads);
            panel = panel.with(spreads.label("sampled boxes ± 2 deviations"));
        }
        let infeasible = self.values("program", 0.0, |x, r| {
            let limit = r.limit_percent.filter(|_| r.status == "infeasible")?;
            Some((x, limit / 1.25))
        });
        if !infeasible.is_empty() {
            let crosses = Series::points(Colour::Vermilion, Shape::Cross, infeasible);
            panel = panel.with(crosses.label("infeasible"));
        }
        let ours = points(Colour::Blue, Shape::Disc, -0.12, |r| r.loss_percent);
        let printed = points(Colour::Orange, Shape::Ring, 0.12, |r| r.paper_loss_percent);
        panel
            .with(ours.label("loss of program perturbation"))
            .with(printed.label("the paper's"))
    }

    fn infeasibilities(&self) -> Panel {
        let share = |r: &Row| r.infeasible_percent.or(r.sampled_infeasible_percent);
        let all = self.table.rows.iter().filter_map(share);
        let y = Axis::linear("infeasible in %").range(0.0, 1.1 * all.fold(60.0, f64::max));
        let strategies = [
            ("input", Colour::Sky, -0.26),
            ("output", Colour::Green, 0.0),
            ("program", Colour::Vermilion, 0.26),
        ];
        let bars = strategies.map(|(strategy, colour, aside)| {
            let values = self.values(strategy, aside, |x, r| Some((x, share(r)?)));
            Series::bars(colour, 0.24, values).label(strategy)
        });
        bars.into_iter()
            .fold(Panel::new("", self.names(), y), Panel::with)
    }
}
