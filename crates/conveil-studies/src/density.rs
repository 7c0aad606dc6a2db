//! Figure 3: the density of the released cost on three adjacent sets of demands.
//!
//! The largest demand is lowered by α, left as it is, or raised by α. At a large ε the three can be told apart; at
//! ε = 1 they cannot, and the cost is larger.

use std::fmt::{self, Write};

use conveil::ask::{Adjacency, Ask, Bound, Privacy, Request};
use conveil::plan::Plan;
use conveil::solve::{self, Batch};
use conveil::{Error, Result};
use conveil_grid::Network;
use conveil_models::grid::Opf;
use serde::Serialize;

use crate::paper;
use crate::patience::settle;
use crate::plot::{Axis, Colour, Figure, Mark, Panel, Series};
use crate::{SEEDED, percent_of, rounded};

/// The curves end this many scales beyond the outermost centre: e^{−10} of the mass is left out.
const REACH: f64 = 10.0;

/// The figure shows less of the tails.
const SHOWN: f64 = 6.0;

/// The three datasets.
pub const DATASETS: [&str; 3] = ["lowered", "intact", "raised"];

/// What to compute.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// α, in MWh.
    pub alpha: f64,
    /// The values of ε, one panel each.
    pub epsilons: Vec<f64>,
    /// η.
    pub eta: f64,
    /// Points of each curve, the centres aside.
    pub points: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            alpha: 10.0,
            epsilons: vec![10.0, 1.0],
            eta: paper::ETA,
            points: 400,
        }
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

/// The curves.
#[derive(Clone, Debug, Serialize)]
pub struct Densities {
    /// `density`.
    pub study: &'static str,
    /// What was computed.
    pub settings: Settings,
    /// By ε, then dataset.
    pub rows: Vec<Row>,
}

/// Laplace's density.
pub fn laplace(at: f64, centre: f64, scale: f64) -> f64 {
    (-(at - centre).abs() / scale).exp() / (2.0 * scale)
}

/// Runs the study.
pub fn run(network: &Network, settings: &Settings, batch: &Batch<'_>) -> Result<Densities> {
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
    let jobs: Vec<(f64, usize)> = settings
        .epsilons
        .iter()
        .flat_map(|e| (0..DATASETS.len()).map(move |d| (*e, d)))
        .collect();
    let found = batch.run(jobs.len(), |i| {
        let (epsilon, dataset) = jobs[i];
        settle(batch.cancel_flag(), |solver| {
            row(&model, epsilon, dataset, &theta(dataset), settings, solver)
        })
    })?;
    let mut rows = found.into_iter().collect::<Result<Vec<Row>>>()?;
    for panel in rows.chunks_mut(DATASETS.len()) {
        compare(panel, settings.points);
    }
    Ok(Densities {
        study: "density",
        settings: settings.clone(),
        rows,
    })
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

impl Densities {
    /// One line for each point: network, ε, dataset, cost, density.
    pub fn to_csv(&self) -> String {
        let mut text = String::from("network,epsilon,dataset,cost,density\n");
        for row in &self.rows {
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

    /// One panel for each ε.
    pub fn figure(&self) -> Figure {
        let alpha = self.settings.alpha;
        let network = self.rows.first().map_or("", |r| r.network.as_str());
        let mut figure = Figure::new(format!(
            "Released cost of {network} for three adjacent demands, α = {alpha} MWh"
        ))
        .panel_size(640.0, 230.0);
        let labels = [
            format!("largest demand − {alpha} MWh"),
            "demand as it is".into(),
            format!("largest demand + {alpha} MWh"),
        ];
        let colours = [Colour::Green, Colour::Blue, Colour::Vermilion];
        for rows in self.rows.chunks(DATASETS.len()) {
            let Some(first) = rows.first() else { continue };
            let centres = || rows.iter().filter_map(|r| r.mean_cost);
            let low = centres().fold(f64::INFINITY, f64::min) - SHOWN * first.scale;
            let high = centres().fold(f64::NEG_INFINITY, f64::max) + SHOWN * first.scale;
            let mut panel = Panel::new(
                format!("ε = {}", first.epsilon),
                Axis::linear("released cost in thousands").range(low / 1e3, high / 1e3),
                Axis::linear("density per thousand"),
            );
            let thousands = |row: &Row| {
                let curve = row.curve.iter();
                curve.map(|(c, d)| (c / 1e3, d * 1e3)).collect::<Vec<_>>()
            };
            for (row, colour) in rows.iter().zip(colours) {
                let points = thousands(row).iter().map(|p| (p.0, 0.0, p.1)).collect();
                panel = panel.with(Series::new(colour, Mark::Band { points }));
            }
            for ((row, colour), label) in rows.iter().zip(colours).zip(&labels) {
                let points = thousands(row);
                let mark = Mark::Line {
                    points,
                    dashed: false,
                };
                panel = panel.with(Series::new(colour, mark).label(label));
            }
            if let Some(intact) = rows.iter().find(|r| r.dataset == DATASETS[1]) {
                let top = 1e3 / (2.0 * intact.scale);
                let points = vec![(intact.optimum / 1e3, 0.0), (intact.optimum / 1e3, top)];
                let mark = Mark::Line {
                    points,
                    dashed: true,
                };
                panel =
                    panel.with(Series::new(Colour::Grey, mark).label("optimum without privacy"));
            }
            figure = figure.panel(panel);
        }
        figure
    }
}

impl fmt::Display for Densities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &self.settings;
        writeln!(
            f,
            "STUDY density: the released cost for three adjacent demands; α = {} MWh, η = {}%, sensitivity declared as α·c_max",
            settings.alpha,
            percent_of(settings.eta)
        )?;
        writeln!(f, "{SEEDED}\n")?;
        writeln!(
            f,
            "  {:<12} {:>6} {:<8} {:>12} {:>12} {:>11} {:>13}  status",
            "network", "ε", "demand", "optimum", "mean cost", "scale", "privacy loss"
        )?;
        for row in &self.rows {
            writeln!(
                f,
                "  {:<12} {:>6} {:<8} {:>12.2} {:>12} {:>11.2} {:>13}  {}",
                row.network,
                row.epsilon,
                row.dataset,
                row.optimum,
                rounded(row.mean_cost, 2),
                row.scale,
                rounded(row.privacy_loss, 4),
                row.status
            )?;
        }
        writeln!(
            f,
            "\nprivacy loss: the largest |ln| of the ratio to the density of the intact demand; the noise is meant for ε"
        )
    }
}
