//! Section 4.2.1: a support vector machine on two Gaussian classes, its hyperplane released with Laplace noise.
//!
//! The same classifier in three modes. *Paper*: noise for the map without noise over discs around the private points, as
//! published. *Calibrated*: noise for the map that is released, over discs around public points. *Certified*: one record
//! is replaced, and the regulariser bounds what that can do (M8d). Every mode shows output perturbation beside program
//! perturbation, at the same λ and at the best λ of a public grid (M13).

mod cell;
mod figure;
mod points;
mod table;

use conveil::solve::Batch;
use conveil::{Error, Result};
use serde::Serialize;

pub use crate::hyperplane::Audited;
pub use crate::machine::Mode;
use crate::sense::{below, positive};
use cell::Cell;

/// What to compute.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// The modes.
    pub modes: Vec<Mode>,
    /// λ of the regulariser.
    pub lambdas: Vec<f64>,
    /// The public grid from which output perturbation takes its best λ, judged on other data of the same law.
    pub lambda_grid: Vec<f64>,
    /// ε.
    pub epsilon: f64,
    /// η: in paper mode of each margin by itself, else of all together.
    pub eta: f64,
    /// Training records, half of each class.
    pub records: usize,
    /// Test records.
    pub test_records: usize,
    /// The standard deviation of each coordinate. The paper's text calls 0.5 a variance; its numbers agree with a
    /// standard deviation.
    pub deviation: f64,
    /// The radius of the discs, as a share of the features' range.
    pub radius: f64,
    /// The share of pairs that a sampled sensitivity may miss.
    pub gamma: f64,
    /// The risk that it misses more.
    pub beta: f64,
    /// Draws of the noise.
    pub draws: u64,
    /// Fresh pairs of the audit.
    pub pairs: u64,
    /// Solves of its adversarial search.
    pub search: usize,
    /// The seed of all that is drawn.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            modes: vec![Mode::Paper, Mode::Calibrated, Mode::Certified],
            lambdas: vec![1e-5, 1e-3, 1e-1],
            lambda_grid: (-10..=2).map(|k| 10f64.powf(0.5 * f64::from(k))).collect(),
            epsilon: 1.0,
            eta: 0.05,
            records: 100,
            test_records: 1000,
            deviation: 0.5,
            radius: 0.05,
            gamma: 0.1,
            beta: 0.1,
            draws: 1000,
            pairs: 200,
            search: 400,
            seed: 1,
        }
    }
}

impl Settings {
    fn validate(&self) -> Result<()> {
        for lambda in self.lambdas.iter().chain(&self.lambda_grid) {
            positive("λ", *lambda)?;
        }
        positive("ε", self.epsilon)?;
        positive("the classes' standard deviation", self.deviation)?;
        positive("the radius of the discs", self.radius)?;
        below("η", self.eta, 0.5)?;
        below("γ", self.gamma, 1.0)?;
        below("β", self.beta, 1.0)?;
        if self.records < 2 || self.test_records < 2 || self.draws == 0 || self.pairs == 0 {
            return Err(Error::Input(
                "the study needs at least two records to train and to test, a draw and a pair"
                    .into(),
            ));
        }
        Ok(())
    }
}

/// One strategy in one mode at one λ.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The mode.
    pub mode: Mode,
    /// `non-private`, `output`, `output at its best public λ` or `program`.
    pub strategy: &'static str,
    /// λ.
    pub lambda: f64,
    /// `ok`, or why there is no number.
    pub status: String,
    /// Mean accuracy on the test records over the draws, in percent.
    pub accuracy_mean: Option<f64>,
    /// Its standard deviation.
    pub accuracy_std: Option<f64>,
    /// What always answering the larger class scores, in percent.
    pub majority: f64,
    /// The hyperplane before noise: the two weights and the intercept, in the units of the normalised features.
    pub weights: Option<Vec<f64>>,
    /// Δ₁ that the noise is for.
    pub sensitivity: Option<f64>,
    /// The scale of the noise.
    pub scale: Option<f64>,
    /// Root of the expected squared noise over the length of the hyperplane.
    pub noise_ratio: Option<f64>,
    /// The claimed ε.
    pub claimed_epsilon: Option<f64>,
    /// What fresh pairs and a search say of it.
    #[serde(flatten)]
    pub audited: Option<Audited>,
    /// The accuracy that the paper prints, mean and standard deviation in percent.
    pub paper_accuracy: Option<(f64, f64)>,
}

/// The study.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// `svm`.
    pub study: &'static str,
    /// What was computed.
    pub settings: Settings,
    /// Modes, then λ, then strategies; the best public λ of output perturbation last in each mode.
    pub rows: Vec<Row>,
}

impl Table {
    /// The row of a mode, λ and strategy.
    pub fn row(&self, mode: Mode, lambda: f64, strategy: &str) -> Option<&Row> {
        let same = |r: &&Row| r.mode == mode && r.lambda == lambda && r.strategy == strategy;
        self.rows.iter().find(same)
    }

    /// Output perturbation at its best public λ, in this mode.
    pub fn best_output(&self, mode: Mode) -> Option<&Row> {
        let same = |r: &&Row| r.mode == mode && r.strategy == BEST_OUTPUT;
        self.rows.iter().find(same)
    }
}

/// The honest baseline (M13).
pub const BEST_OUTPUT: &str = "output at its best public λ";

/// Runs the study; the batch's progress counts cells.
pub fn run(settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    settings.validate()?;
    let inner = Batch::new().cancel(batch.cancel_flag().clone());
    // A cell is a mode and a λ; without λ, the best of the grid.
    let cells: Vec<(Mode, Option<f64>)> = (settings.modes.iter())
        .flat_map(|mode| {
            let each = settings.lambdas.iter().map(|l| (*mode, Some(*l)));
            each.chain([(*mode, None)])
        })
        .collect();
    let found = batch.run(cells.len(), |i| {
        let (mode, lambda) = cells[i];
        match lambda {
            Some(lambda) => Cell::new(settings, mode, lambda, 0, &inner)?.rows(),
            None => cell::best_output(settings, mode, &inner),
        }
    })?;
    let mut rows = Vec::new();
    for cell in found {
        rows.extend(cell?);
    }
    Ok(Table {
        study: "svm",
        settings: settings.clone(),
        rows,
    })
}
