//! Table 3: which demands a power network can meet, told by a support vector machine with private training records.
//!
//! Three class balances of each network, or a user's own files. *Paper* mode: the classic Gaussian scale, for the map
//! without noise over ±1% of every private feature. *Calibrated* mode: the analytic scale, for the map that is released,
//! around public records. *Certified* mode: one record is replaced (M8d). The rate of the majority class stands beside
//! every accuracy.

mod cell;
mod data;
mod figure;
mod table;

use conveil::solve::Batch;
use conveil::{Error, Result};
use conveil_grid::Network;
use serde::Serialize;

pub use crate::hyperplane::{Audited, Examples};
pub use crate::machine::Mode;
use crate::sense::below;

/// Where records come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Demands around nominal, labelled by the network, at every class balance.
    Network(Network),
    /// Records of the user.
    Own {
        /// What messages call them.
        name: String,
        /// Names of the features.
        features: Vec<String>,
        /// Their public bounds. Without them there is paper mode alone, which scales by the records' own range.
        bounds: Option<Vec<(f64, f64)>>,
        /// Training records.
        training: Examples,
        /// Test records.
        test: Examples,
    },
}

/// What to compute.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// Shares of infeasible demands, a dataset for each; the largest is the balanced one.
    pub infeasible_shares: Vec<f64>,
    /// Training records of a generated dataset.
    pub records: usize,
    /// Its test records.
    pub test_records: usize,
    /// λ, fixed without looking at the data; paper mode takes the first alone, certified mode the last.
    pub lambdas: Vec<f64>,
    /// ε.
    pub epsilon: f64,
    /// δ; 1/N where none is given.
    pub delta: Option<f64>,
    /// η of each margin by itself.
    pub etas: Vec<f64>,
    /// The universe: this share of each feature.
    pub spread: f64,
    /// The share of pairs that a sampled sensitivity may miss.
    pub gamma: f64,
    /// The risk that it misses more.
    pub beta: f64,
    /// Draws of the noise.
    pub draws: u64,
    /// Fresh pairs of the audit.
    pub pairs: u64,
    /// Solves of its adversarial search, for program perturbation in calibrated mode.
    pub search: usize,
    /// Calibrated and certified mode on every dataset with every η and λ, not on the balanced ones with the first η alone.
    pub full: bool,
    /// The seed of all that is drawn.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            infeasible_shares: vec![0.05, 0.25, 0.5],
            records: 4500,
            test_records: 500,
            lambdas: vec![1e-5, 1e-3],
            epsilon: 1.0,
            delta: None,
            etas: vec![0.05, 0.01, 1e-4],
            spread: 0.01,
            gamma: 0.1,
            beta: 0.1,
            draws: 1000,
            pairs: 30,
            search: 20,
            full: false,
            seed: 1,
        }
    }
}

impl Settings {
    fn validate(&self) -> Result<()> {
        for share in &self.infeasible_shares {
            below("a share of infeasible demands", *share, 1.0)?;
        }
        self.etas.iter().try_for_each(|e| below("η", *e, 0.5))?;
        below("γ", self.gamma, 1.0)?;
        below("β", self.beta, 1.0)?;
        below("the spread of the features", self.spread, 1.0)?;
        self.delta.map_or(Ok(()), |d| below("δ", d, 1.0))?;
        below("ε", self.epsilon, f64::INFINITY)?;
        for lambda in &self.lambdas {
            below("λ", *lambda, f64::INFINITY)?;
        }
        if self.lambdas.is_empty() || self.etas.is_empty() {
            return Err(Error::Input("the study needs a λ and an η".into()));
        }
        if self.records < 2 || self.test_records < 2 || self.draws == 0 || self.pairs == 0 {
            return Err(Error::Input(
                "the study needs at least two records to train and to test, a draw and a pair"
                    .into(),
            ));
        }
        Ok(())
    }
}

/// One strategy in one mode on one dataset.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The network, or the name of the user's records.
    pub dataset: String,
    /// Percent of the training records with label −1: infeasible demands.
    pub infeasible_percent: f64,
    /// Whether it is the balanced dataset of its source.
    pub balanced: bool,
    /// Features.
    pub features: usize,
    /// Training records.
    pub records: usize,
    /// The mode.
    pub mode: Mode,
    /// `non-private`, `output` or `program`.
    pub strategy: &'static str,
    /// λ.
    pub lambda: f64,
    /// η of each margin, for program perturbation.
    pub eta: Option<f64>,
    /// `ok`, or why there is no number.
    pub status: String,
    /// Mean accuracy on the test records over the draws, in percent.
    pub accuracy_mean: Option<f64>,
    /// Its standard deviation.
    pub accuracy_std: Option<f64>,
    /// What always answering the larger class scores on the test records, in percent.
    pub majority: f64,
    /// Δ₂ that the noise is for.
    pub sensitivity: Option<f64>,
    /// σ.
    pub scale: Option<f64>,
    /// Root of the expected squared noise over the length of the hyperplane.
    pub noise_ratio: Option<f64>,
    /// The claimed ε.
    pub claimed_epsilon: Option<f64>,
    /// The claimed δ.
    pub claimed_delta: Option<f64>,
    /// What fresh pairs say of the claim.
    #[serde(flatten)]
    pub audited: Option<Audited>,
    /// What the paper prints for its own dataset of this network and balance: mean and standard deviation.
    pub paper_accuracy: Option<(f64, f64)>,
}

/// The study.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// `classifier`.
    pub study: &'static str,
    /// What was computed.
    pub settings: Settings,
    /// Datasets, then modes, then strategies.
    pub rows: Vec<Row>,
    /// What the rows do not say.
    pub notes: Vec<String>,
}

/// What no row on a file of the user's may be taken for.
const WITHOUT_BOUNDS: &str = "no calibrated and certified rows: they scale features by public bounds, and a file's own range is not public; add --bound NAME=LOW:HIGH,… for every feature. Paper rows scale by that range and move around the records themselves: their ε is no guarantee for this file";

/// The same, with bounds.
const WITH_BOUNDS: &str = "paper and calibrated rows move around your records, and take their labels as public: their ε shows how much noise there would be, and is no guarantee for this file; that of certified rows holds if the bounds, λ and the number of records were fixed without looking at the records. Nothing is released here: `model = \"svm\"` does that";

/// Runs the study: makes the datasets, then all of them in parallel; the batch's progress counts datasets.
pub fn run(sources: &[Source], settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    settings.validate()?;
    let inner = Batch::new().cancel(batch.cancel_flag().clone());
    let mut datasets = Vec::new();
    for source in sources {
        datasets.extend(data::of(source, settings, &inner)?);
    }
    let found = batch.run(datasets.len(), |i| {
        cell::rows(&datasets[i], settings, &inner)
    })?;
    let mut rows = Vec::new();
    for dataset in found {
        rows.extend(dataset?);
    }
    Ok(Table {
        study: "classifier",
        settings: settings.clone(),
        rows,
        notes: sources.iter().filter_map(note).collect(),
    })
}

/// What the rows of a source do not say.
fn note(source: &Source) -> Option<String> {
    match source {
        Source::Network(_) => None,
        Source::Own { bounds: None, .. } => Some(WITHOUT_BOUNDS.into()),
        Source::Own { .. } => Some(WITH_BOUNDS.into()),
    }
}
