//! Section 4.2.1: a support vector machine on two Gaussian classes, its hyperplane released with Laplace noise.
//!
//! The same classifier in three modes. *Paper*: noise for the map without noise over discs around the private points, as
//! published. *Calibrated*: noise for the map that is released, over discs around public points. *Certified*: one record
//! is replaced, and the regulariser bounds what that can do (M8d). Every mode shows output perturbation beside program
//! perturbation, at the same λ and at the best λ of a public grid (M13).

mod cell;
mod figure;
mod points;

use clap::Args;
use conveil::solve::Batch;
use conveil::{Error, Result};
use serde::Serialize;

pub use crate::learning::{Audited, Mode};
use crate::plot::Figure;
use crate::settings::{below_half, check_below, check_positive, count, defaults, positive, share};
use crate::study::{self, Column, Failure, Study, apart, each, percent_of, right, rounded};

/// What to compute.
#[derive(Clone, Debug, Args, Serialize)]
pub struct Settings {
    /// What the claims rest on
    #[arg(
        long = "mode",
        value_name = "MODE,…",
        value_delimiter = ',',
        value_enum,
        default_value = "paper,calibrated,certified"
    )]
    pub modes: Vec<Mode>,
    /// The weight λ of the regulariser; output perturbation is shown at its best public λ too
    #[arg(long = "lambda", value_name = "L,L,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = positive, default_value = "1e-5,1e-3,1e-1")]
    pub lambdas: Vec<f64>,
    /// The public grid from which output perturbation takes its best λ, judged on other data of the same law.
    #[arg(skip = (-10..=2).map(|k| 10f64.powf(0.5 * f64::from(k))).collect::<Vec<f64>>())]
    pub lambda_grid: Vec<f64>,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value = "1")]
    pub epsilon: f64,
    /// The probability that a margin fails, below 0.5: of each in paper mode, else of any
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value = "0.05")]
    pub eta: f64,
    /// Training records, half of each class
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = count::<usize>(2..=100_000))]
    pub records: usize,
    /// Test records.
    #[arg(skip = 1000_usize)]
    pub test_records: usize,
    /// The standard deviation of each coordinate of a class; the paper's text calls 0.5 a variance
    // Its numbers agree with a standard deviation.
    #[arg(long, value_name = "V", allow_hyphen_values = true, value_parser = positive, default_value = "0.5")]
    pub deviation: f64,
    /// The radius of the disc of each record, as a share of the features' range
    #[arg(long, value_name = "V", allow_hyphen_values = true, value_parser = positive, default_value = "0.05")]
    pub radius: f64,
    /// The share of pairs that a sampled sensitivity may miss
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = share, default_value = "0.1")]
    pub gamma: f64,
    /// The risk that it misses more
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = share, default_value = "0.1")]
    pub beta: f64,
    /// How many draws of the noise
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = count::<u64>(1..=10_000_000))]
    pub draws: u64,
    /// Fresh pairs of the audit
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = count::<u64>(1..=1_000_000))]
    pub pairs: u64,
    /// Solves of its adversarial search
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = count::<usize>(1..=1_000_000))]
    pub search: usize,
    /// The seed of records, pairs and noise
    #[arg(long, value_name = "N", default_value_t = 1, display_order = 9)]
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        defaults()
    }
}

impl Settings {
    fn validate(&self) -> Result<()> {
        for lambda in self.lambdas.iter().chain(&self.lambda_grid) {
            check_positive("λ", *lambda)?;
        }
        check_positive("ε", self.epsilon)?;
        check_positive("the classes' standard deviation", self.deviation)?;
        check_positive("the radius of the discs", self.radius)?;
        check_below("η", self.eta, 0.5)?;
        check_below("γ", self.gamma, 1.0)?;
        check_below("β", self.beta, 1.0)?;
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
#[derive(Clone, Debug, Default, Serialize)]
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
    /// The Δ₁ that the paper prints.
    pub paper_sensitivity: Option<f64>,
    /// The first weight before noise that the paper prints.
    pub paper_weight: Option<f64>,
}

/// The table: modes, then λ, then strategies; the best public λ of output perturbation last in each mode.
pub type Table = study::Table<Settings>;

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

/// Runs the study.
pub fn run(settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    settings.validate()?;
    // A cell is a mode and a λ; without λ, the best of the grid.
    let lambdas = settings.lambdas.iter().map(|l| Some(*l)).chain([None]);
    let lambdas: Vec<Option<f64>> = lambdas.collect();
    let cells = study::product(&settings.modes, &lambdas);
    let found = each(&cells, batch, |&(mode, lambda), inner| match lambda {
        Some(lambda) => cell::Cell::new(settings, *mode, lambda, 0, inner)?.rows(),
        None => cell::best_output(settings, *mode, inner),
    })?;
    Ok(Table::new(settings, found.concat()))
}

impl Study for Settings {
    const NAME: &'static str = "svm";
    const ABOUT: &'static str =
        "Section 4.2.1: the hyperplane of a support vector machine, on synthetic classes";
    const EXAMPLES: &'static str =
        "Example:\n  conveil study svm --lambda 1e-5,1e-3 --figure hyperplanes.svg";
    type Row = Row;
    type Pictures = ();

    fn run(&self, batch: &Batch<'_>) -> std::result::Result<Table, Failure> {
        Ok(run(self, batch)?)
    }

    fn headline(table: &Table) -> String {
        let settings = &table.settings;
        format!(
            "two Gaussian classes of standard deviation {}, {} records; ε = {}, η = {}%, γ = {}%",
            settings.deviation,
            settings.records,
            settings.epsilon,
            percent_of(settings.eta),
            percent_of(settings.gamma)
        )
    }

    fn columns() -> Vec<Column<Row>> {
        vec![
            right("λ", 7, |r| format!("{:.0e}", r.lambda)),
            apart("strategy", 28, |r| r.strategy.into()),
            right("mean %", 7, |r| rounded(r.accuracy_mean, 1)),
            right("std", 6, |r| rounded(r.accuracy_std, 1)),
            right("paper", 6, |r| rounded(r.paper_accuracy.map(|p| p.0), 1)),
            right("weights, intercept", 26, |r| {
                let weights = r.weights.iter().flatten();
                let weights: Vec<String> = weights.map(|w| significant(*w)).collect();
                weights.join(" ")
            }),
            right("paper", 6, |r| {
                r.paper_weight.map_or("–".into(), significant)
            }),
            right("Δ₁", 9, |r| {
                r.sensitivity.map_or("–".into(), significant)
            }),
            right("paper", 6, |r| rounded(r.paper_sensitivity, 1)),
            right("noise", 7, |r| {
                r.noise_ratio.map_or("–".into(), significant)
            }),
            right("ε", 8, |r| rounded(r.claimed_epsilon, 2)),
            right("audited", 8, |r| {
                rounded(r.audited.map(|a| a.audited_epsilon), 2)
            }),
            right("worst", 8, |r| {
                rounded(r.audited.and_then(|a| a.worst_epsilon), 2)
            }),
            right("within", 7, |r| {
                rounded(r.audited.map(|a| 100.0 * a.share_within), 1)
            }),
            apart("status", 0, |r| r.status.clone()),
        ]
    }

    fn sections(table: &Table) -> Vec<(&'static str, Vec<&Row>)> {
        let modes = table.settings.modes.iter();
        let rows = |mode| table.rows.iter().filter(move |r| r.mode == mode);
        modes
            .map(|mode| (heading(*mode), rows(*mode).collect()))
            .collect()
    }

    fn legend(table: &Table) -> String {
        format!(
            "audited: the ε that {} fresh pairs keep, calibrated a share {} of them; worst: the largest ε of any pair, a search\nincluded; within: percent of fresh pairs within ε; noise: its length over that of the weights;\npaper: printed, of the mean accuracy, of the first weight and of Δ₁\n",
            table.settings.pairs,
            1.0 - table.settings.gamma
        )
    }

    fn figure(table: &Table) -> Figure {
        figure::figure(table)
    }
}

fn heading(mode: Mode) -> &'static str {
    match mode {
        Mode::Paper => {
            "paper: noise for the map without noise, discs around the private points; Cantelli's factor, η for each margin"
        }
        Mode::Calibrated => {
            "calibrated: noise for the released map, discs around public points; exact quantiles, η for all margins"
        }
        Mode::Certified => {
            "certified: one record is replaced, bounded by the regulariser; exact quantiles, η for all margins"
        }
    }
}

/// About three digits; rounding errors are nothing.
fn significant(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        size if size >= 0.001 => format!("{value:.3}"),
        size if size >= 1e-9 => format!("{value:.1e}"),
        _ => "0".into(),
    }
}
