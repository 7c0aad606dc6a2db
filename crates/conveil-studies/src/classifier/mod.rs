//! Table 3: which demands a power network can meet, told by a support vector machine with private training records.
//!
//! Three class balances of each network, or a user's own files. *Paper* mode: the classic Gaussian scale, for the map
//! without noise over ±1% of every private feature. *Calibrated* mode: the analytic scale, for the map that is released,
//! around public records. *Certified* mode: one record is replaced (M8d). The rate of the majority class stands beside
//! every accuracy.

mod cell;
mod data;
mod figure;
mod records;

use std::path::PathBuf;

use clap::Args;
use conveil::solve::Batch;
use conveil::{Error, Result};
use conveil_grid::Network;
use serde::Serialize;

pub use crate::learning::{Audited, Examples, Mode};
use crate::plot::Figure;
use crate::settings::{below_half, check_below, count, defaults, positive, share};
use crate::study::{self, Column, Failure, Study, apart, each, left, percent_of, right, rounded};
use crate::{input, paper, parts};
pub use records::Bound;
use records::bound;

/// Where records come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Demands around nominal, labelled by the network, at every class balance.
    Network(Network),
    /// Records of the user.
    Records {
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
#[derive(Clone, Debug, Args, Serialize)]
pub struct Settings {
    /// Networks: built-in names and MATPOWER files that end in .m [default: 5_pjm, 14_ieee and 24_ieee_rts, about two minutes
    /// of processor time; with --full the paper's five]
    #[arg(long, value_name = "NAME,FILE.m,…", value_delimiter = ',', conflicts_with_all = ["train", "test"])]
    #[serde(skip)]
    pub networks: Option<Vec<String>>,
    /// Training records of your own instead, as CSV with named columns
    #[arg(long, value_name = "FILE.csv", requires = "test")]
    #[serde(skip)]
    pub train: Option<PathBuf>,
    /// Test records with the same columns
    #[arg(long, value_name = "FILE.csv", requires = "train")]
    #[serde(skip)]
    pub test: Option<PathBuf>,
    /// The column of the label in your files, with two values of which the larger is +1 [default: the last column]
    #[arg(
        long,
        value_name = "COLUMN",
        requires = "train",
        conflicts_with = "networks"
    )]
    #[serde(skip)]
    pub label: Option<String>,
    /// The label that counts as +1, for labels in words
    #[arg(long, value_name = "WORD", requires_all = ["train", "negative"], conflicts_with = "networks")]
    #[serde(skip)]
    pub positive: Option<String>,
    /// The label that counts as −1
    #[arg(long, value_name = "WORD", requires_all = ["train", "positive"], conflicts_with = "networks")]
    #[serde(skip)]
    pub negative: Option<String>,
    /// Public bounds of every feature of your files; without them there is paper mode alone
    #[arg(long = "bound", value_name = "NAME=LOW:HIGH,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = bound, requires = "train", conflicts_with = "networks")]
    #[serde(skip)]
    pub bounds: Vec<Bound>,
    /// Shares of infeasible demands, a dataset for each; the largest is the balanced one
    #[arg(long = "infeasible", value_name = "P,P,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = share, default_value = "0.05,0.25,0.5")]
    pub infeasible_shares: Vec<f64>,
    /// Training records of a network
    #[arg(long, value_name = "N", default_value_t = 4500, value_parser = count::<usize>(20..=1_000_000))]
    pub records: usize,
    /// Its test records
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = count::<usize>(20..=1_000_000))]
    pub test_records: usize,
    /// The weights λ of the regulariser; paper mode takes the first, certified mode the last
    #[arg(long = "lambda", value_name = "L,L,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = positive, default_value = "1e-5,1e-3")]
    pub lambdas: Vec<f64>,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value = "1")]
    pub epsilon: f64,
    /// The privacy parameter δ [default: one over the number of training records]
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = share)]
    pub delta: Option<f64>,
    /// The probabilities that a margin fails, each below 0.5
    #[arg(long = "eta", value_name = "P,P,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = below_half, default_value = "0.05,0.01,0.0001")]
    pub etas: Vec<f64>,
    /// How far each feature may lie from where it is, as a share of it
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = share, default_value = "0.01")]
    pub spread: f64,
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
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = count::<u64>(1..=1_000_000))]
    pub pairs: u64,
    /// Solves of its adversarial search, in calibrated mode; 0 for none
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = count::<usize>(0..=1_000_000))]
    pub search: usize,
    /// All five networks of the paper, calibrated and certified mode on every dataset, at every η and λ
    #[arg(long)]
    pub full: bool,
    /// The seed of records, pairs and noise
    #[arg(long, value_name = "N", default_value_t = 1, display_order = 17)]
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        defaults()
    }
}

/// So many of the paper's networks are taken by default: the others take most of the time.
const QUICK: usize = 3;

impl Settings {
    /// The networks that are taken where none is named.
    fn usual_networks(&self) -> &'static [&'static str] {
        match self.full {
            true => &paper::TABLE_3_NETWORKS,
            false => &paper::TABLE_3_NETWORKS[..QUICK],
        }
    }

    fn validate(&self) -> Result<()> {
        for share in &self.infeasible_shares {
            check_below("a share of infeasible demands", *share, 1.0)?;
        }
        self.etas
            .iter()
            .try_for_each(|e| check_below("η", *e, 0.5))?;
        check_below("γ", self.gamma, 1.0)?;
        check_below("β", self.beta, 1.0)?;
        check_below("the spread of the features", self.spread, 1.0)?;
        self.delta.map_or(Ok(()), |d| check_below("δ", d, 1.0))?;
        check_below("ε", self.epsilon, f64::INFINITY)?;
        for lambda in &self.lambdas {
            check_below("λ", *lambda, f64::INFINITY)?;
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
#[derive(Clone, Debug, Default, Serialize)]
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

/// The table: datasets, then modes, then strategies.
pub type Table = study::Table<Settings>;

/// What no row on a file of the user's may be taken for.
const WITHOUT_BOUNDS: &str = "no calibrated and certified rows: they scale features by public bounds, and a file's own range is not public; add --bound NAME=LOW:HIGH,… for every feature. Paper rows scale by that range and move around the records themselves: their ε is no guarantee for this file";

/// The same, with bounds.
const WITH_BOUNDS: &str = "paper and calibrated rows move around your records, and take their labels as public: their ε shows how much noise there would be, and is no guarantee for this file; that of certified rows holds if the bounds, λ and the number of records were fixed without looking at the records. Nothing is released here: `model = \"svm\"` does that";

/// Runs the study on these sources, whatever the settings name: makes the datasets, then all of them in parallel.
pub fn run(sources: &[Source], settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    settings.validate()?;
    let inner = Batch::new().cancel(batch.cancel_flag().clone());
    let mut datasets = Vec::new();
    for source in sources {
        datasets.extend(data::of(source, settings, &inner)?);
    }
    let rows = each(&datasets, batch, |dataset, inner| {
        cell::rows(dataset, settings, inner)
    })?;
    Ok(Table {
        notes: Some(sources.iter().filter_map(note).collect()),
        ..Table::new(settings, rows.concat())
    })
}

/// What the rows of a source do not say.
fn note(source: &Source) -> Option<String> {
    match source {
        Source::Network(_) => None,
        Source::Records { bounds: None, .. } => Some(WITHOUT_BOUNDS.into()),
        Source::Records { .. } => Some(WITH_BOUNDS.into()),
    }
}

impl Study for Settings {
    const NAME: &'static str = "classifier";
    const ABOUT: &'static str = "Table 3: which demands a network can meet, told by a private classifier; or your own records";
    const EXAMPLES: &'static str = "Examples:\n  conveil study classifier --networks 5_pjm,14_ieee --infeasible 0.5\n  conveil study classifier --train train.csv --test test.csv";
    type Row = Row;
    type Pictures = ();

    fn run(&self, batch: &Batch<'_>) -> std::result::Result<Table, Failure> {
        let sources = match (&self.train, &self.test) {
            (Some(train), Some(test)) => vec![records::read(train, test, self)?],
            _ => {
                let networks = input::networks(self.networks.as_deref(), self.usual_networks())?;
                networks.into_iter().map(Source::Network).collect()
            }
        };
        Ok(run(&sources, self, batch)?)
    }

    fn parts(&self) -> Vec<Self> {
        if self.train.is_some() {
            return vec![self.clone()];
        }
        let networks = parts::named(self.networks.as_deref(), self.usual_networks());
        parts::one_by_one(networks, |network| Settings {
            networks: Some(network),
            ..self.clone()
        })
    }

    fn files(&self) -> Vec<String> {
        let records = self.train.iter().chain(&self.test);
        let records = records.map(|file| file.display().to_string());
        let cases = parts::case_files(self.networks.iter().flatten());
        records.chain(cases).collect()
    }

    fn headline(table: &Table) -> String {
        let settings = &table.settings;
        let what = match table.notes.iter().flatten().next() {
            None => "which demands a network can meet",
            Some(_) => "records of your own",
        };
        let delta = settings.delta.map_or("1/N".into(), |d| d.to_string());
        let (epsilon, spread) = (settings.epsilon, percent_of(settings.spread));
        format!("{what}; ε = {epsilon}, δ = {delta}, ±{spread}% of each feature")
    }

    fn columns() -> Vec<Column<Row>> {
        vec![
            left("dataset", 12, |r| r.dataset.clone()),
            right("−1 %", 6, |r| format!("{:.1}", r.infeasible_percent)),
            right("n", 3, |r| r.features.to_string()),
            right("major", 6, |r| format!("{:.1}", r.majority)),
            apart("mode", 10, |r| r.mode.name().into()),
            right("λ", 6, |r| format!("{:.0e}", r.lambda)),
            apart("strategy", 11, |r| r.strategy.into()),
            right("η", 6, |r| {
                r.eta.map_or("–".into(), |e| format!("{}%", percent_of(e)))
            }),
            right("mean %", 7, |r| rounded(r.accuracy_mean, 1)),
            right("std", 5, |r| rounded(r.accuracy_std, 1)),
            right("paper", 12, |r| {
                let printed = r.paper_accuracy;
                printed.map_or("–".into(), |(m, s)| format!("{m:.1} ({s:.1})"))
            }),
            right("noise", 7, |r| rounded(r.noise_ratio, 2)),
            right("ε", 6, |r| rounded(r.claimed_epsilon, 2)),
            right("audited", 8, |r| {
                rounded(r.audited.map(|a| a.audited_epsilon), 2)
            }),
            right("within", 7, |r| {
                rounded(r.audited.map(|a| 100.0 * a.share_within), 0)
            }),
            apart("status", 0, |r| r.status.clone()),
        ]
    }

    fn before(row: &Row, last: Option<&Row>) -> String {
        let dataset = |row: &Row| (row.dataset.clone(), row.infeasible_percent);
        let is_next = last.is_some_and(|last| dataset(last) != dataset(row));
        String::from(if is_next { "\n" } else { "" })
    }

    fn after(row: &Row) -> String {
        let worst = row.audited.and_then(|a| a.worst_epsilon);
        worst.map_or(String::new(), |worst| {
            format!("{:65}a search found a pair with ε = {worst:.2}\n", "")
        })
    }

    fn legend(table: &Table) -> String {
        let settings = &table.settings;
        let text = format!(
            "−1 %: infeasible demands among the training records; major: what always answering the larger class scores;\naudited: the ε that {} fresh pairs keep ({} in certified mode), calibrated a share {} of them; within: percent of fresh pairs within ε;\nnoise: its length over that of the weights; paper: of its own datasets\n",
            settings.pairs,
            settings.pairs.min(cell::PROVEN),
            1.0 - settings.gamma
        );
        let notes = table.notes.iter().flatten();
        notes.fold(text, |text, note| text + "\nnote: " + note)
    }

    fn figure(table: &Table) -> Figure {
        figure::figure(table)
    }
}
