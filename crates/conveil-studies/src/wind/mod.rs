//! Table 4: private power curves of wind turbines that must increase.
//!
//! Turbines × variations × ways, each as a distribution over seeds: the disturbance of the records, the points of the
//! conditions, the sampled pairs and the noise all change with the seed. *Paper mode* is the paper's: Laplace noise for the
//! movement of the weights without noise when all powers shift together around the private ones (M14). *Certified mode*
//! stands beside it: one record of range 1, strong convexity, noise shaped by the curvature (M8c).

mod cell;
mod figure;
mod printed;
mod table;

pub use crate::regression::Way;
pub use printed::table_4;

use conveil::solve::Batch;
use conveil::{Error, Result};
use conveil_models::wind::PowerCurve;
use serde::Serialize;

use crate::regression::{CurveFan, Spread};
use crate::sense::{self, positive};

/// ε of the paper.
const EPSILON: f64 = 1.0;

/// η of the paper.
const ETA: f64 = 0.03;

/// The variations of Table 4, in percent.
pub const VARIATIONS: [f64; 3] = [1.0, 1.75, 2.5];

/// How the powers of a turbine vary within a universe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variation {
    /// All by one factor, as in the paper's code.
    Together,
    /// Each for itself, as in the paper's text.
    Apart,
}

/// What to compute.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// How far powers vary, in percent of themselves.
    pub variations_percent: Vec<f64>,
    /// Whether they vary together.
    pub variation: Variation,
    /// ε, in both modes.
    pub epsilon: f64,
    /// δ of the certified mode.
    pub delta: f64,
    /// η: how often the conditions may break.
    pub eta: f64,
    /// λ.
    pub ridge: f64,
    /// How many speeds between 3 and 10 m/s the curve must increase at.
    pub conditions: usize,
    /// How many seeds.
    pub seeds: u64,
    /// The first one.
    pub seed: u64,
    /// Draws of the noise for each seed.
    pub draws: u64,
    /// Whether the minimised loss is the norm, as the paper prints it, instead of its square.
    pub norm_loss: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            variations_percent: VARIATIONS.to_vec(),
            variation: Variation::Together,
            epsilon: EPSILON,
            delta: 1e-5,
            eta: ETA,
            ridge: 1e-4,
            conditions: 10,
            seeds: 20,
            seed: 1,
            draws: 1000,
            norm_loss: false,
        }
    }
}

impl Settings {
    fn validate(&self) -> Result<()> {
        positive("ε", self.epsilon)?;
        positive("the ridge", self.ridge)?;
        for percent in &self.variations_percent {
            positive("a variation", *percent)?;
            if *percent >= 100.0 {
                return Err(Error::Input(format!(
                    "a variation must lie below 100 percent, found {percent}"
                )));
            }
        }
        sense::eta(self.eta)?;
        if self.seeds == 0 || self.draws == 0 || self.conditions == 0 {
            return Err(Error::Input(
                "at least one seed, one draw and one condition are needed".into(),
            ));
        }
        Ok(())
    }
}

/// One turbine, one variation, one way: over all seeds.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The turbine.
    pub turbine: String,
    /// How far the powers vary, in percent; none in certified mode.
    pub variation_percent: Option<f64>,
    /// output, projected output, program.
    pub strategy: &'static str,
    /// How the conditions are kept, or how the noise is shaped.
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
    /// How many conditions hold the weights back, mean over seeds.
    pub active_conditions: Option<f64>,
    /// Δ, mean over seeds.
    pub sensitivity: Option<f64>,
    /// Draws for each seed.
    pub draws: u64,
    /// ε as claimed.
    pub claimed_epsilon: f64,
    /// The ε that an audit of the released map found at the first seed; only where one is run.
    pub audited_epsilon: Option<f64>,
    /// The paper's turbine of the same or a neighbouring type.
    pub paper_turbine: Option<&'static str>,
    /// Its loss.
    pub paper_loss: Option<f64>,
    /// Its infeasibility.
    pub paper_infeasible_percent: Option<f64>,
}

/// The table.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// `wind`.
    pub study: &'static str,
    /// What was computed.
    pub settings: Settings,
    /// Whether some curves are the user's own, so that the table tells of them.
    pub has_own_curves: bool,
    /// Turbines, then variations, then ways.
    pub rows: Vec<Row>,
    /// The first turbine at the largest variation and the first seed.
    #[serde(skip)]
    pub(crate) fans: Vec<CurveFan>,
}

impl Table {
    /// The row of a cell: `variation_percent` is none in certified mode; `name` is as in [`Way::name`].
    pub fn row(&self, turbine: &str, variation_percent: Option<f64>, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| {
            let own = match row.method {
                None => row.strategy.to_string(),
                Some(method) => format!("{}, {method}", row.strategy),
            };
            row.turbine == turbine && row.variation_percent == variation_percent && own == name
        })
    }
}

/// Runs the study: turbines and seeds in parallel; the batch's progress counts both.
pub fn run(curves: &[PowerCurve], settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    settings.validate()?;
    let jobs: Vec<(&PowerCurve, u64)> = curves
        .iter()
        .flat_map(|curve| (0..settings.seeds).map(move |k| (curve, k)))
        .collect();
    let inner = Batch::new().cancel(batch.cancel_flag().clone());
    let found = batch.run(jobs.len(), |i| {
        let (curve, k) = jobs[i];
        cell::Cell::new(
            curve,
            settings,
            settings.seed.wrapping_add(k),
            k == 0,
            &inner,
        )?
        .entries()
    })?;
    let found = found.into_iter().collect::<Result<Vec<_>>>()?;
    let seeds = settings.seeds as usize;
    let rows = curves
        .iter()
        .zip(found.chunks(seeds.max(1)))
        .flat_map(|(curve, seeds)| table::rows(curve, seeds, settings))
        .collect();
    let fans = match curves.first() {
        None => Vec::new(),
        Some(curve) => cell::Cell::new(curve, settings, settings.seed, false, &inner)?.fans()?,
    };
    Ok(Table {
        study: "wind",
        settings: settings.clone(),
        has_own_curves: !curves.iter().all(PowerCurve::is_builtin),
        rows,
        fans,
    })
}
