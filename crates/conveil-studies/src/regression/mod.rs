//! Section 4.3.1: a private regression with a linear and a cubic function that must increase.
//!
//! *Paper mode*: every record moves in an ellipse around its private place, x and y alike; Gaussian noise with the
//! classic scale for the largest movement of the weights without noise. *Certified mode* stands beside it: x public, one
//! response moves by as much as its ellipse is high, strong convexity, noise shaped by the curvature (M8c). Everything
//! is a distribution over seeds: the paper's figures hang on single draws (M14).

mod cell;
mod entry;
mod fan;
mod figure;
mod spread;
mod synthetic;
mod table;
mod task;
mod way;

pub use spread::Spread;
pub use way::Way;

pub(crate) use entry::{Entry, Seeds};
pub(crate) use fan::{Fan, Judged, Metric, Noise};
pub(crate) use figure::{Curve, CurveFan, fan_panel};
pub(crate) use task::{Given, Task};

use conveil::solve::Batch;
use conveil::{Error, Result};
use serde::Serialize;

use crate::sense::{self, positive};

/// γ of the paper's sampled pairs: its 0.5 is a slip, as S = 199 shows (M14).
pub(crate) const GAMMA: f64 = 0.05;

/// β of its sampled pairs and boxes.
pub(crate) const BETA: f64 = 0.1;

/// What to compute.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// Records.
    pub records: usize,
    /// The standard deviation of the disturbance.
    pub disturbance: f64,
    /// ε, in both modes.
    pub epsilon: f64,
    /// δ of paper mode.
    pub delta: f64,
    /// δ of certified mode.
    pub certified_delta: f64,
    /// η: how often a condition may break.
    pub eta: f64,
    /// λ.
    pub ridge: f64,
    /// How many seeds.
    pub seeds: u64,
    /// The first one.
    pub seed: u64,
    /// Draws of the noise for each seed.
    pub draws: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            records: 100,
            disturbance: 15.0,
            epsilon: 1.0,
            delta: 0.01,
            certified_delta: 1e-5,
            eta: 0.03,
            ridge: 1e-3,
            seeds: 20,
            seed: 1,
            draws: 500,
        }
    }
}

impl Settings {
    fn validate(&self) -> Result<()> {
        positive("ε", self.epsilon)?;
        positive("the ridge", self.ridge)?;
        positive("the disturbance", self.disturbance)?;
        sense::eta(self.eta)?;
        if self.records < 2 || self.seeds == 0 || self.draws == 0 {
            return Err(Error::Input(
                "at least two records, one seed and one draw are needed".into(),
            ));
        }
        Ok(())
    }
}

/// One way, over all seeds.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// output, projected output, program.
    pub strategy: &'static str,
    /// How the condition is kept, or how the noise is shaped.
    pub method: Option<&'static str>,
    /// `paper` or `certified`.
    pub mode: &'static str,
    /// ok, or what went wrong in how many seeds.
    pub status: String,
    /// ‖y − Φw‖ + λ‖w‖ of the weights without noise, mean over seeds.
    pub non_private_loss: f64,
    /// The same with noise: means over draws, as a distribution over seeds.
    pub loss: Option<Spread>,
    /// √E‖y − Φw‖², exact by seed.
    pub root_mean_square_loss: Option<Spread>,
    /// The share of draws that break a condition, in percent.
    pub infeasible_percent: Option<Spread>,
    /// Δ over seeds.
    pub sensitivity: Option<Spread>,
    /// Draws for each seed.
    pub draws: u64,
    /// ε as claimed.
    pub claimed_epsilon: f64,
    /// The ε that an audit of the released map found, over seeds; only where one is run.
    pub audited_epsilon: Option<Spread>,
    /// The paper's Δ.
    pub paper_sensitivity: Option<f64>,
    /// The paper's infeasibility.
    pub paper_infeasible_percent: Option<f64>,
}

/// The table.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// `regression`.
    pub study: &'static str,
    /// What was computed.
    pub settings: Settings,
    /// Paper mode, then certified mode.
    pub rows: Vec<Row>,
    /// The records of the first seed.
    #[serde(skip)]
    pub(crate) records: Vec<(f64, f64)>,
    /// Its fans.
    #[serde(skip)]
    pub(crate) fans: Vec<CurveFan>,
}

impl Table {
    /// The row of a mode, strategy and method.
    pub fn row(&self, mode: &str, strategy: &str, method: Option<&str>) -> Option<&Row> {
        self.rows
            .iter()
            .find(|r| r.mode == mode && r.strategy == strategy && r.method == method)
    }
}

/// Runs the study: seeds in parallel; the batch's progress counts them.
pub fn run(settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    settings.validate()?;
    let inner = Batch::new().cancel(batch.cancel_flag().clone());
    let seeds = batch.run(settings.seeds as usize, |k| {
        cell::Cell::new(settings, settings.seed.wrapping_add(k as u64), &inner)?.entries()
    })?;
    let seeds = seeds.into_iter().collect::<Result<Vec<_>>>()?;
    let first = cell::Cell::new(settings, settings.seed, &inner)?;
    Ok(Table {
        study: "regression",
        settings: settings.clone(),
        rows: table::rows(&seeds, settings),
        records: first.records(),
        fans: first.fans()?,
    })
}
