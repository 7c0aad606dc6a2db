//! Table 1: the cost of the optimal power flow, released under every strategy.
//!
//! Networks × α × {input, output, shifted output, program}: exact loss and infeasibility where they are known, seeded
//! draws beside them, and for program perturbation what the best split (M5a) and any method at all could reach.

mod cell;
mod figure;
mod table;

use conveil::chance::{Choice, Feasibility, Split};
use conveil::solve::Batch;
use conveil::{Error, Result};
use conveil_grid::{Cost, Network};
use conveil_models::grid::{Costs, LoadBounds, Opf};
use serde::Serialize;

use crate::paper;
use crate::sense::{self, positive};

/// The public bounds of the loads under an envelope: this share around the network's own demand.
const BOUNDS: f64 = 0.5;

/// How the box of noise values is found that the decision must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// From the law itself (M5a).
    MassBox,
    /// The hull of seeded samples, as many as the paper takes (M5b).
    SampledBox,
}

/// Where the mass outside a mass box lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoxSplit {
    /// Half below, half above.
    Symmetric,
    /// The best of a fixed grid.
    Optimise,
}

/// The price at which an envelope lets the demands deviate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Price {
    /// So much per MWh.
    PerMwh(f64),
    /// The largest cost of a unit of the network.
    LargestCost,
}

/// What to compute.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// α, in MWh.
    pub alphas: Vec<f64>,
    /// ε.
    pub epsilon: f64,
    /// η.
    pub eta: f64,
    /// The box.
    pub method: Method,
    /// Its split.
    pub split: BoxSplit,
    /// Draws behind the sampled columns; input perturbation solves one program for each, of at most 1000.
    pub draws: u64,
    /// Their seed, and the first seed of sampled boxes.
    pub seed: u64,
    /// Sampled boxes behind their mean and standard deviation.
    pub vertex_draws: u64,
    /// Quadratic and piecewise-linear costs as they are, instead of the linear coefficients alone.
    pub full_costs: bool,
    /// Whether limits on angle differences count.
    pub angle_limits: bool,
    /// The envelope's price; without one the sensitivity is declared as α·c_max.
    pub envelope: Option<Price>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            alphas: paper::TABLE_1_ALPHAS.to_vec(),
            epsilon: paper::EPSILON,
            eta: paper::ETA,
            method: Method::MassBox,
            split: BoxSplit::Symmetric,
            draws: 1000,
            seed: 1,
            vertex_draws: 50,
            full_costs: false,
            angle_limits: false,
            envelope: None,
        }
    }
}

impl Settings {
    /// Whether the paper's numbers are about the same thing.
    fn is_the_papers(&self) -> bool {
        self.epsilon == paper::EPSILON
            && self.eta == paper::ETA
            && !self.full_costs
            && !self.angle_limits
            // At c_max an envelope's noise is as wide as the paper's; at another price it is not.
            && !matches!(self.envelope, Some(Price::PerMwh(_)))
    }

    fn validate(&self) -> Result<()> {
        self.alphas.iter().try_for_each(|a| positive("α", *a))?;
        positive("ε", self.epsilon)?;
        if let Some(Price::PerMwh(price)) = self.envelope {
            positive("the envelope's price", price)?;
        }
        sense::eta(self.eta)?;
        if self.method == Method::SampledBox && self.split == BoxSplit::Optimise {
            return Err(Error::Input(
                "a sampled box has no split to optimise: use the mass box".into(),
            ));
        }
        if self.method == Method::SampledBox && self.vertex_draws == 0 {
            return Err(Error::Input(
                "a sampled box needs at least one vertex draw".into(),
            ));
        }
        Ok(())
    }

    /// The chance constraint; a sampled box is drawn from this seed.
    fn feasibility(&self, seed: u64) -> Feasibility {
        let wish = Feasibility::eta(self.eta);
        match self.method {
            Method::MassBox => wish.method(Choice::MASS_BOX).split(match self.split {
                BoxSplit::Symmetric => Split::Symmetric,
                BoxSplit::Optimise => Split::Optimise,
            }),
            Method::SampledBox => wish.method(Choice::SAMPLED_BOX).sampling(
                conveil::ask::SampleSize::Paper,
                paper::BETA,
                seed,
            ),
        }
    }
}

/// One network, one α, one strategy.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The network.
    pub network: String,
    /// α, in MWh.
    pub alpha: f64,
    /// input, output, shifted output, program.
    pub strategy: &'static str,
    /// What the noise is calibrated to. `paper`: as published, α·c_max (or α times the envelope's price) declared for
    /// the optimum, α itself for the data. `certified`: the envelope's proven bound on what is released.
    pub mode: &'static str,
    /// ok, infeasible, or why there is no number.
    pub status: String,
    /// 100(Qx̄ − v*)/v*, exact.
    pub loss_percent: Option<f64>,
    /// The same over the draws; input draws without a solution leave the mean.
    pub sampled_loss_percent: Option<f64>,
    /// 100·Pr(infeasible), exact.
    pub infeasible_percent: Option<f64>,
    /// The same over the draws.
    pub sampled_infeasible_percent: Option<f64>,
    /// The draws.
    pub draws: u64,
    /// With an envelope, how far the demands that program perturbation's promise is for are from the network's own, in
    /// MWh over all loads; zero where they are the same.
    pub correction_mwh: Option<f64>,
    /// The solver's relative tolerance at which the cell was accepted.
    pub tolerance: f64,
    /// s·ln(1/(2η)) in percent of the optimum: what no decision for the network's own demands can beat; none where an
    /// envelope corrected them.
    pub limit_percent: Option<f64>,
    /// L* of M5a in percent of the optimum: the best split; none where no split is feasible, or where an envelope
    /// corrected the demands.
    pub best_split_percent: Option<f64>,
    /// The loss over sampled boxes of several seeds.
    pub sampled_boxes: Option<SampledBoxes>,
    /// The paper's loss.
    pub paper_loss_percent: Option<f64>,
    /// The paper's infeasibility.
    pub paper_infeasible_percent: Option<f64>,
}

impl Row {
    /// Whether the promise is for other demands than the network's own.
    pub fn is_corrected(&self) -> bool {
        self.correction_mwh.is_some_and(|distance| distance > 0.0)
    }
}

/// Program perturbation with the sampled boxes of several seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampledBoxes {
    /// Seeds.
    pub draws: u64,
    /// Seeds whose box fits.
    pub feasible: u64,
    /// Seeds whose box is refused: it misses more than η of the noise, as the law tells.
    pub refused: u64,
    /// Mean loss over the boxes that fit.
    pub mean_loss_percent: Option<f64>,
    /// Its standard deviation.
    pub std_loss_percent: Option<f64>,
}

/// The table.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// `opf`.
    pub study: &'static str,
    /// What was computed.
    pub settings: Settings,
    /// Networks, then α, then strategies.
    pub rows: Vec<Row>,
}

impl Table {
    /// The row of a cell.
    pub fn row(&self, network: &str, alpha: f64, strategy: &str) -> Option<&Row> {
        self.rows
            .iter()
            .find(|r| r.network == network && r.alpha == alpha && r.strategy == strategy)
    }
}

/// Runs the study: all cells in parallel; the batch's progress counts cells.
pub fn run(networks: &[Network], settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    settings.validate()?;
    let models = networks
        .iter()
        .map(|network| model(network, settings))
        .collect::<Result<Vec<Opf>>>()?;
    let cells: Vec<(&Opf, f64)> = models
        .iter()
        .flat_map(|model| settings.alphas.iter().map(move |alpha| (model, *alpha)))
        .collect();
    // The big networks first, so that no core waits for one at the end.
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(cells[i].0.network().buses().len()));
    let inner = Batch::new().cancel(batch.cancel_flag().clone());
    let found = batch.run(cells.len(), |i| {
        let (model, alpha) = cells[order[i]];
        cell::rows(model, alpha, settings, &inner)
    })?;
    let mut by_cell: Vec<Vec<Row>> = vec![Vec::new(); cells.len()];
    for (i, rows) in order.into_iter().zip(found) {
        by_cell[i] = rows?;
    }
    Ok(Table {
        study: "opf",
        settings: settings.clone(),
        rows: by_cell.into_iter().flatten().collect(),
    })
}

fn model(network: &Network, settings: &Settings) -> Result<Opf> {
    let builder = Opf::of(network.clone())
        .angle_limits(settings.angle_limits)
        .costs(match settings.full_costs {
            true => Costs::Full,
            false => Costs::Linear,
        });
    match settings.envelope {
        None => builder.build(),
        Some(_) => builder.bounds(LoadBounds::Relative(BOUNDS)).build(),
    }
}

/// c_max: the largest linear coefficient, or with full costs the largest marginal cost within the units' limits.
fn largest_cost(model: &Opf, settings: &Settings) -> f64 {
    if !settings.full_costs {
        return model.largest_cost();
    }
    let units = model.network().units().iter();
    units
        .map(|unit| match &unit.cost {
            Cost::Linear { c1, .. } => *c1,
            Cost::Quadratic { c2, c1, .. } => c1 + 2.0 * c2 * unit.pmax_mw,
            Cost::Piecewise { points } => points
                .windows(2)
                .map(|ends| (ends[1].1 - ends[0].1) / (ends[1].0 - ends[0].0))
                .fold(f64::NEG_INFINITY, f64::max),
        })
        .fold(f64::NEG_INFINITY, f64::max)
}
