//! `conveil study svm` and `conveil study classifier`: private classifiers, from flags to tables.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use conveil::solve::Cancel;
use conveil_studies::classifier::{self, Source};
use conveil_studies::{paper, svm};

use crate::arguments::{Output, positive};
use crate::failure::Failure;
use crate::study::{Drawn, below_half, network};
use crate::study_records::{Bound, Words, bound, own};
use crate::terminal::Terminal;

/// `study svm`.
#[derive(Debug, Args)]
pub(crate) struct SvmArguments {
    /// What the claims rest on
    #[arg(
        long,
        value_name = "MODE,…",
        value_delimiter = ',',
        value_enum,
        default_value = "paper,calibrated,certified"
    )]
    mode: Vec<Basis>,
    /// The weight λ of the regulariser; output perturbation is shown at its best public λ too
    #[arg(long, value_name = "L,L,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = positive, default_value = "1e-5,1e-3,1e-1")]
    lambda: Vec<f64>,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value = "1")]
    epsilon: f64,
    /// The probability that a margin fails, below 0.5: of each in paper mode, else of any
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value = "0.05")]
    eta: f64,
    /// Training records, half of each class
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(2..=100_000))]
    records: u64,
    /// The standard deviation of each coordinate of a class; the paper's text calls 0.5 a variance
    #[arg(long, value_name = "V", allow_hyphen_values = true, value_parser = positive, default_value = "0.5")]
    deviation: f64,
    /// The radius of the disc of each record, as a share of the features' range
    #[arg(long, value_name = "V", allow_hyphen_values = true, value_parser = positive, default_value = "0.05")]
    radius: f64,
    #[command(flatten)]
    sizes: Sizes,
    /// Fresh pairs of the audit
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pairs: u64,
    /// Solves of its adversarial search
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    search: u64,
    #[command(flatten)]
    pub(crate) drawn: Drawn,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// `study classifier`.
#[derive(Debug, Args)]
pub(crate) struct ClassifierArguments {
    /// Networks: built-in names and MATPOWER files that end in .m [default: the paper's five, which take a quarter of an
    /// hour of processor time or more]
    #[arg(long, value_name = "NAME,FILE.m,…", value_delimiter = ',', conflicts_with_all = ["train", "test"])]
    networks: Option<Vec<String>>,
    /// Training records of your own instead, as CSV with named columns
    #[arg(long, value_name = "FILE.csv", requires = "test")]
    train: Option<PathBuf>,
    /// Test records with the same columns
    #[arg(long, value_name = "FILE.csv", requires = "train")]
    test: Option<PathBuf>,
    /// The column of the label in your files, with two values of which the larger is +1 [default: the last column]
    #[arg(
        long,
        value_name = "COLUMN",
        requires = "train",
        conflicts_with = "networks"
    )]
    label: Option<String>,
    /// The label that counts as +1, for labels in words
    #[arg(
        long,
        value_name = "WORD",
        requires_all = ["train", "negative"],
        conflicts_with = "networks"
    )]
    positive: Option<String>,
    /// The label that counts as −1
    #[arg(
        long,
        value_name = "WORD",
        requires_all = ["train", "positive"],
        conflicts_with = "networks"
    )]
    negative: Option<String>,
    /// Public bounds of every feature of your files; without them there is paper mode alone
    #[arg(long, value_name = "NAME=LOW:HIGH,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = bound, requires = "train", conflicts_with = "networks")]
    bound: Vec<Bound>,
    /// Shares of infeasible demands, a dataset for each; the largest is the balanced one
    #[arg(long, value_name = "P,P,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = share, default_value = "0.05,0.25,0.5")]
    infeasible: Vec<f64>,
    /// Training records of a network
    #[arg(long, value_name = "N", default_value_t = 4500, value_parser = clap::value_parser!(u64).range(20..=1_000_000))]
    records: u64,
    /// Its test records
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(20..=1_000_000))]
    test_records: u64,
    /// The weights λ of the regulariser; paper mode takes the first, certified mode the last
    #[arg(long, value_name = "L,L,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = positive, default_value = "1e-5,1e-3")]
    lambda: Vec<f64>,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value = "1")]
    epsilon: f64,
    /// The privacy parameter δ [default: one over the number of training records]
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = share)]
    delta: Option<f64>,
    /// The probabilities that a margin fails, each below 0.5
    #[arg(long, value_name = "P,P,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = below_half, default_value = "0.05,0.01,0.0001")]
    eta: Vec<f64>,
    /// How far each feature may lie from where it is, as a share of it
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = share, default_value = "0.01")]
    spread: f64,
    #[command(flatten)]
    sizes: Sizes,
    /// Fresh pairs of the audit
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pairs: u64,
    /// Solves of its adversarial search, in calibrated mode; 0 for none
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    search: u64,
    /// Calibrated and certified mode on every dataset, at every η and λ
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    pub(crate) drawn: Drawn,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// What both draw.
#[derive(Debug, Args)]
struct Sizes {
    /// The share of pairs that a sampled sensitivity may miss
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = share, default_value = "0.1")]
    gamma: f64,
    /// The risk that it misses more
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = share, default_value = "0.1")]
    beta: f64,
    /// How many draws of the noise
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    draws: u64,
    /// The seed of records, pairs and noise
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Basis {
    /// The map without noise around the private data, as published
    Paper,
    /// Sampled pairs of the released map around public data
    Calibrated,
    /// The certificate for regularised empirical risk
    Certified,
}

/// Runs `study svm`.
pub(crate) fn svm(
    arguments: &SvmArguments,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let mode = |basis: &Basis| match basis {
        Basis::Paper => svm::Mode::Paper,
        Basis::Calibrated => svm::Mode::Calibrated,
        Basis::Certified => svm::Mode::Certified,
    };
    let settings = svm::Settings {
        modes: arguments.mode.iter().map(mode).collect(),
        lambdas: arguments.lambda.clone(),
        epsilon: arguments.epsilon,
        eta: arguments.eta,
        records: arguments.records as usize,
        deviation: arguments.deviation,
        radius: arguments.radius,
        gamma: arguments.sizes.gamma,
        beta: arguments.sizes.beta,
        draws: arguments.sizes.draws,
        pairs: arguments.pairs,
        search: arguments.search as usize,
        seed: arguments.sizes.seed,
        ..svm::Settings::default()
    };
    let table = {
        let progress = terminal.progress("study svm");
        let batch = progress.batch(None, cancel);
        terminal.stage("study", || svm::run(&settings, &batch))
    };
    let table = table.map_err(|e| Failure::engine("study svm", &e))?;
    arguments.drawn.write(|| table.figure())?;
    terminal.show(&table)?;
    terminal.say_timings();
    Ok(())
}

/// Runs `study classifier`.
pub(crate) fn classifier(
    arguments: &ClassifierArguments,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let sources = match (&arguments.train, &arguments.test) {
        (Some(train), Some(test)) => {
            let words = match (&arguments.positive, &arguments.negative) {
                (Some(positive), Some(negative)) => Some(Words::new(positive, negative)?),
                _ => None,
            };
            vec![own(
                train,
                test,
                arguments.label.as_deref(),
                words,
                &arguments.bound,
            )?]
        }
        _ => {
            let named = |name: &str| network(name).map(Source::Network);
            match &arguments.networks {
                Some(names) => names.iter().map(|n| named(n)).collect::<Result<_, _>>()?,
                None => {
                    let names = paper::TABLE_3_NETWORKS.iter();
                    names.map(|n| named(n)).collect::<Result<Vec<_>, _>>()?
                }
            }
        }
    };
    let settings = classifier::Settings {
        infeasible_shares: arguments.infeasible.clone(),
        records: arguments.records as usize,
        test_records: arguments.test_records as usize,
        lambdas: arguments.lambda.clone(),
        epsilon: arguments.epsilon,
        delta: arguments.delta,
        etas: arguments.eta.clone(),
        spread: arguments.spread,
        gamma: arguments.sizes.gamma,
        beta: arguments.sizes.beta,
        draws: arguments.sizes.draws,
        pairs: arguments.pairs,
        search: arguments.search as usize,
        full: arguments.full,
        seed: arguments.sizes.seed,
    };
    let table = {
        let progress = terminal.progress("study classifier");
        let batch = progress.batch(None, cancel);
        terminal.stage("study", || classifier::run(&sources, &settings, &batch))
    };
    let table = table.map_err(|e| Failure::engine("study classifier", &e))?;
    arguments.drawn.write(|| table.figure())?;
    terminal.show(&table)?;
    terminal.say_timings();
    Ok(())
}

fn share(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("must lie strictly between 0 and 1".into()),
    }
}
