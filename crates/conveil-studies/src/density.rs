//! Figure 3: the density of the released cost on three adjacent sets of demands.
//!
//! The largest demand is lowered by α, left as it is, or raised by α. At a large ε the three can be told apart; at
//! ε = 1 they cannot, and the cost is larger.

use std::fmt::Write;

use clap::Args;
use conveil::ask::{Adjacency, Ask, Bound, Privacy, Request};
use conveil::plan::Plan;
use conveil::solve::{self, Batch};
use conveil::{Error, Result};
use conveil_grid::Network;
use conveil_models::grid::Opf;
use serde::Serialize;

use crate::input;
use crate::paper;
use crate::parts;
use crate::plot::{Axis, Colour, Figure, Panel, Series};
use crate::settings::{below_half, count, defaults, positive};
use crate::study::{
    self, Column, Failure, Study, apart, each, left, percent_of, product, right, rounded,
};
use crate::tolerance::retry_looser;

/// The curves end this many scales beyond the outermost centre: e^{−10} of the mass is left out.
const REACH: f64 = 10.0;

/// The figure shows less of the tails.
const SHOWN: f64 = 6.0;

/// The three datasets.
pub const DATASETS: [&str; 3] = ["lowered", "intact", "raised"];

/// What to compute.
#[derive(Clone, Debug, Args, Serialize)]
pub struct Settings {
    /// The network: a built-in name, or a MATPOWER file that ends in .m
    #[arg(long, value_name = "NAME|FILE.m", default_value = "24_ieee_rts")]
    #[serde(skip)]
    pub network: String,
    /// How many MWh the largest demand is lowered and raised by
    #[arg(long, value_name = "V", allow_hyphen_values = true, value_parser = positive, default_value = "10")]
    pub alpha: f64,
    /// The values of ε, a panel for each
    #[arg(long = "epsilon", value_name = "E,E,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = positive, default_value = "10,1")]
    pub epsilons: Vec<f64>,
    /// The probability of an infeasible answer, below 0.5
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value_t = paper::ETA)]
    pub eta: f64,
    /// Points of each curve
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = count::<usize>(2..=1_000_000))]
    pub points: usize,
}

impl Default for Settings {
    fn default() -> Self {
        defaults()
    }
}

/// The density of the released cost for one ε and one dataset: Laplace around the mean cost.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The network.
    pub network: String,
    /// ε.
    pub epsilon: f64,
    /// lowered, intact, raised.
    pub dataset: &'static str,
    /// `paper`: the sensitivity α·c_max is declared.
    pub mode: &'static str,
    /// ok, or infeasible.
    pub status: String,
    /// The cost without privacy.
    pub optimum: f64,
    /// The centre of the density: the mean cost of the private dispatch.
    pub mean_cost: Option<f64>,
    /// The scale of the noise.
    pub scale: f64,
    /// The largest logarithm of the ratio to the intact dataset's density, either way: at most ε if the declared
    /// sensitivity is right.
    pub privacy_loss: Option<f64>,
    /// (cost, density).
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
}

/// The curves: by ε, then dataset.
pub type Table = study::Table<Settings>;

/// Laplace's density.
pub fn laplace(at: f64, centre: f64, scale: f64) -> f64 {
    (-(at - centre).abs() / scale).exp() / (2.0 * scale)
}

/// Runs the study on this network, whatever the settings name.
pub fn run(network: &Network, settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    if !(2..=1_000_000).contains(&settings.points) {
        return Err(Error::Input(format!(
            "a curve takes between 2 and 1000000 points, found {}",
            settings.points
        )));
    }
    let model = Opf::of(network.clone()).build()?;
    let nominal = model.nominal();
    let Some(largest) = (0..nominal.len()).max_by(|&a, &b| nominal[a].total_cmp(&nominal[b]))
    else {
        return Err(Error::Input("the network has no demand".into()));
    };
    let theta = |dataset: usize| {
        let mut theta = nominal.clone();
        theta[largest] += settings.alpha * (dataset as f64 - 1.0);
        theta
    };
    let cells = product(&settings.epsilons, &[0, 1, 2]);
    let mut rows = each(&cells, batch, |&(epsilon, dataset), inner| {
        retry_looser(inner.cancel_flag(), |solver| {
            row(&model, *epsilon, dataset, &theta(dataset), settings, solver)
        })
    })?;
    for panel in rows.chunks_mut(DATASETS.len()) {
        compare(panel, settings.points);
    }
    Ok(Table::new(settings, rows))
}

fn row(
    model: &Opf,
    epsilon: f64,
    dataset: usize,
    theta: &[f64],
    settings: &Settings,
    solver: &solve::Settings,
) -> Result<Row> {
    let ask = Ask::new(model.cost_query())
        .adjacency(Adjacency::one_entry(settings.alpha))
        .privacy(Privacy::laplace(epsilon))
        .sensitivity(Request::Declared {
            bound: Bound::PerAlpha(model.largest_cost()),
            reason: "one more MWh costs at most as much as at the most expensive unit".into(),
        })
        .feasible(1.0 - settings.eta)
        .settings(solver.clone());
    let plan = Plan::paper_mode(model, ask, theta)?;
    let program = conveil::program::DataMap::at(model, theta)?;
    let optimum = solve::solve_checked(&program, solver)?.objective;
    let mean_cost = match plan.released().at(theta) {
        Ok(decided) => Some(decided.answer[0]),
        Err(Error::NoiseDoesNotFit(_)) => None,
        Err(other) => return Err(other),
    };
    Ok(Row {
        network: model.network().name().to_string(),
        epsilon,
        dataset: DATASETS[dataset],
        mode: "paper",
        status: mean_cost.map_or("infeasible", |_| "ok").into(),
        optimum,
        mean_cost,
        scale: plan.law().scale(),
        privacy_loss: None,
        curve: Vec::new(),
    })
}

/// The curves of one ε over common costs, and how far they are apart.
fn compare(panel: &mut [Row], points: usize) {
    let centres: Vec<f64> = panel.iter().filter_map(|r| r.mean_cost).collect();
    let intact = panel
        .iter()
        .find(|r| r.dataset == DATASETS[1])
        .and_then(|r| r.mean_cost);
    let (Some(low), Some(high), Some(scale)) = (
        centres.iter().copied().reduce(f64::min),
        centres.iter().copied().reduce(f64::max),
        panel.first().map(|r| r.scale),
    ) else {
        return;
    };
    let (start, end) = (low - REACH * scale, high + REACH * scale);
    let step = (end - start) / (points - 1) as f64;
    let mut costs: Vec<f64> = (0..points).map(|i| start + i as f64 * step).collect();
    // The peaks are sharp: a grid would miss them.
    costs.extend(&centres);
    costs.sort_by(f64::total_cmp);
    for row in panel {
        let Some(centre) = row.mean_cost else {
            continue;
        };
        let density = |at: &f64| (*at, laplace(*at, centre, row.scale));
        row.curve = costs.iter().map(density).collect();
        row.privacy_loss = intact.map(|other| (centre - other).abs() / row.scale);
    }
}

impl Study for Settings {
    const NAME: &'static str = "density";
    const ABOUT: &'static str =
        "Figure 3: densities of the released cost for three adjacent demands";
    const EXAMPLES: &'static str =
        "Example:\n  conveil study density --csv densities.csv --figure densities.svg";
    const HAS_CSV: bool = true;
    type Row = Row;
    type Pictures = ();

    fn run(&self, batch: &Batch<'_>) -> std::result::Result<Table, Failure> {
        Ok(run(&input::network(&self.network)?, self, batch)?)
    }

    fn files(&self) -> Vec<String> {
        parts::case_files([&self.network])
    }

    fn headline(table: &Table) -> String {
        let (alpha, eta) = (table.settings.alpha, percent_of(table.settings.eta));
        format!(
            "the released cost for three adjacent demands; α = {alpha} MWh, η = {eta}%, sensitivity declared as α·c_max"
        )
    }

    fn columns() -> Vec<Column<Row>> {
        vec![
            left("network", 12, |r| r.network.clone()),
            right("ε", 6, |r| r.epsilon.to_string()),
            left("demand", 8, |r| r.dataset.into()),
            right("optimum", 12, |r| format!("{:.2}", r.optimum)),
            right("mean cost", 12, |r| rounded(r.mean_cost, 2)),
            right("scale", 11, |r| format!("{:.2}", r.scale)),
            right("privacy loss", 13, |r| rounded(r.privacy_loss, 4)),
            apart("status", 0, |r| r.status.clone()),
        ]
    }

    fn legend(_: &Table) -> String {
        "privacy loss: the largest |ln| of the ratio to the density of the intact demand; the noise is meant for ε\n".into()
    }

    /// One panel for each ε.
    fn figure(table: &Table) -> Figure {
        let alpha = table.settings.alpha;
        let network = table.rows.first().map_or("", |r| r.network.as_str());
        let title =
            format!("Released cost of {network} for three adjacent demands, α = {alpha} MWh");
        let figure = Figure::new(title).panel_size(640.0, 230.0);
        let kinds = [
            (Colour::Green, format!("largest demand − {alpha} MWh")),
            (Colour::Blue, "demand as it is".into()),
            (Colour::Vermilion, format!("largest demand + {alpha} MWh")),
        ];
        let panels = table.rows.chunks(DATASETS.len()).map(|rows| {
            let centres = || rows.iter().filter_map(|r| r.mean_cost);
            let (scale, optimum) = (rows[0].scale, rows[1].optimum / 1e3);
            let low = centres().fold(f64::INFINITY, f64::min) - SHOWN * scale;
            let high = centres().fold(f64::NEG_INFINITY, f64::max) + SHOWN * scale;
            let mut panel = Panel::new(
                format!("ε = {}", rows[0].epsilon),
                Axis::linear("released cost in thousands").range(low / 1e3, high / 1e3),
                Axis::linear("density per thousand"),
            );
            let curves: Vec<Vec<(f64, f64)>> = rows
                .iter()
                .map(|row| row.curve.iter().map(|(c, d)| (c / 1e3, d * 1e3)).collect())
                .collect();
            for (curve, (colour, _)) in curves.iter().zip(&kinds) {
                let points = curve.iter().map(|p| (p.0, 0.0, p.1)).collect();
                panel = panel.with(Series::band(*colour, points));
            }
            for (curve, (colour, label)) in curves.into_iter().zip(&kinds) {
                panel = panel.with(Series::line(*colour, curve).label(label));
            }
            let points = vec![(optimum, 0.0), (optimum, 1e3 / (2.0 * rows[1].scale))];
            panel.with(Series::dashed(Colour::Grey, points).label("optimum without privacy"))
        });
        panels.fold(figure, Figure::panel)
    }

    /// One line for each point: network, ε, dataset, cost, density.
    fn csv(table: &Table) -> String {
        let mut text = String::from("network,epsilon,dataset,cost,density\n");
        for row in &table.rows {
            for (cost, density) in &row.curve {
                let _ = writeln!(
                    text,
                    "{},{},{},{cost:.6},{density:.9e}",
                    row.network, row.epsilon, row.dataset
                );
            }
        }
        text
    }
}
