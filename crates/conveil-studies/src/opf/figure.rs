//! The table as a figure: losses on a logarithmic scale above, infeasibility below.

use super::{Row, Table};
use crate::percent_of;
use crate::plot::{Axis, Colour, Figure, Mark, Panel, Series, Shape};

impl Table {
    /// Losses and infeasibilities, a column for each α.
    pub fn figure(&self) -> Figure {
        let alphas = &self.settings.alphas;
        let mut networks: Vec<String> = Vec::new();
        for row in &self.rows {
            if !networks.contains(&row.network) {
                networks.push(row.network.clone());
            }
        }
        let width = (58.0 * networks.len() as f64).clamp(180.0, 600.0);
        let mut figure = Figure::new(format!(
            "Private cost of the optimal power flow, ε = {}, η = {}%",
            self.settings.epsilon,
            percent_of(self.settings.eta)
        ))
        .columns(alphas.len())
        .panel_size(width, 210.0);
        let names: Vec<String> = networks.iter().map(|n| short(n)).collect();
        let program = || self.rows.iter().filter(|r| r.strategy == "program");
        let all = program().flat_map(|r| {
            [r.loss_percent, r.limit_percent, r.paper_loss_percent]
                .into_iter()
                .flatten()
                // An envelope can release less than the optimum, which has no place on a logarithmic axis.
                .filter(|loss| *loss > 0.0)
        });
        let (low, high) = all.fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
        // Without any such loss the axis is empty, but still an axis.
        let (low, high) = if high > 0.0 { (low, high) } else { (0.1, 10.0) };
        for alpha in alphas {
            figure = figure.panel(self.losses(*alpha, &networks, &names, (low, high)));
        }
        for alpha in alphas {
            figure = figure.panel(self.infeasibilities(*alpha, &networks, &names));
        }
        figure
    }

    /// One value for each network that has one, at its place moved aside.
    fn values(
        &self,
        (alpha, strategy): (f64, &str),
        networks: &[String],
        aside: f64,
        value: impl Fn(&Row) -> Option<f64>,
    ) -> Vec<(f64, f64)> {
        let places = networks.iter().enumerate();
        places
            .filter_map(|(i, n)| {
                let row = self.row(n, alpha, strategy)?;
                Some((i as f64 + aside, value(row)?))
            })
            .collect()
    }

    fn losses(
        &self,
        alpha: f64,
        networks: &[String],
        names: &[String],
        (low, high): (f64, f64),
    ) -> Panel {
        let at = (alpha, "program");
        let y = Axis::log("loss in %").range(low / 1.4, high * 1.4);
        let points = |points, shape| Mark::Points { points, shape };
        let mut panel = Panel::new(
            format!("α = {alpha} MWh"),
            Axis::categories("", names.to_vec()),
            y,
        )
        .with(
            Series::new(
                Colour::Grey,
                points(
                    self.values(at, networks, 0.0, |r| r.limit_percent),
                    Shape::Dash,
                ),
            )
            .label("limit of any method"),
        );
        let spread = self.values(at, networks, 0.0, |r| {
            r.sampled_boxes.as_ref()?.mean_loss_percent
        });
        if !spread.is_empty() {
            let intervals = networks.iter().enumerate().filter_map(|(i, n)| {
                let boxes = self.row(n, alpha, "program")?.sampled_boxes.as_ref()?;
                let (mean, std) = (boxes.mean_loss_percent?, boxes.std_loss_percent?);
                Some((
                    i as f64,
                    (mean - 2.0 * std).max(0.1 * mean),
                    mean + 2.0 * std,
                ))
            });
            let intervals = Mark::Intervals {
                points: intervals.collect(),
            };
            panel = panel
                .with(Series::new(Colour::Purple, intervals).label("sampled boxes ± 2 deviations"));
        }
        let infeasible = self.values(at, networks, 0.0, |r| {
            r.limit_percent
                .filter(|_| r.status == "infeasible")
                .map(|limit| limit / 1.25)
        });
        if !infeasible.is_empty() {
            let mark = points(infeasible, Shape::Cross);
            panel = panel.with(Series::new(Colour::Vermilion, mark).label("infeasible"));
        }
        panel
            .with(
                Series::new(
                    Colour::Blue,
                    points(
                        self.values(at, networks, -0.12, |r| r.loss_percent),
                        Shape::Disc,
                    ),
                )
                .label("loss of program perturbation"),
            )
            .with(
                Series::new(
                    Colour::Orange,
                    points(
                        self.values(at, networks, 0.12, |r| r.paper_loss_percent),
                        Shape::Ring,
                    ),
                )
                .label("the paper's"),
            )
    }

    fn infeasibilities(&self, alpha: f64, networks: &[String], names: &[String]) -> Panel {
        let all = self.rows.iter();
        let all = all.filter_map(|r| r.infeasible_percent.or(r.sampled_infeasible_percent));
        let top = 1.1 * all.fold(60.0, f64::max);
        let bars = |strategy: &str, aside: f64| Mark::Bars {
            points: self.values((alpha, strategy), networks, aside, |r| {
                r.infeasible_percent.or(r.sampled_infeasible_percent)
            }),
            width: 0.24,
        };
        Panel::new(
            String::new(),
            Axis::categories("", names.to_vec()),
            Axis::linear("infeasible in %").range(0.0, top),
        )
        .with(Series::new(Colour::Sky, bars("input", -0.26)).label("input"))
        .with(Series::new(Colour::Green, bars("output", 0.0)).label("output"))
        .with(Series::new(Colour::Vermilion, bars("program", 0.26)).label("program"))
    }
}

/// `24_ieee_rts` as `24_ieee`: a column is narrow.
fn short(network: &str) -> String {
    let parts: Vec<&str> = network.split('_').take(2).collect();
    parts.join("_")
}
