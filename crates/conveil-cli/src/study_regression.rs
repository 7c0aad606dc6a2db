//! `conveil study wind` and `conveil study regression`: their flags, and the curves that a user brings.

use std::path::Path;

use clap::{Args, ValueEnum};
use conveil::solve::Cancel;
use conveil_models::records::Records;
use conveil_models::wind::{POWER, PowerCurve, SPEED, TURBINES};
use conveil_studies::{regression, wind};

use crate::arguments::{Output, positive};
use crate::failure::Failure;
use crate::study::{Drawn, below_half, percent};
use crate::terminal::Terminal;
use conveil_models::files::records_of;

/// `study wind`.
#[derive(Debug, Args)]
pub(crate) struct WindArguments {
    /// Built-in turbines [default: all six, unless a curve is given]
    #[arg(long, value_name = "NAME,NAME,…", value_delimiter = ',')]
    turbines: Option<Vec<String>>,
    /// Power curves of other turbines: files with the columns `speed` (m/s) and `power` (any unit)
    #[arg(long, value_name = "FILE.csv,…", value_delimiter = ',')]
    curve: Vec<String>,
    /// How far the powers of a universe vary, in percent of themselves
    #[arg(long, value_name = "V,V,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = percent, default_value = "1,1.75,2.5")]
    variation: Vec<f64>,
    /// Whether all powers vary by one factor, as in the paper's code, or each for itself, as in its text
    #[arg(long, value_enum, default_value = "together")]
    universe: Universe,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value = "1")]
    epsilon: f64,
    /// δ of the certified mode
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = below_half, default_value = "0.00001")]
    delta: f64,
    /// The probability of a curve that breaks a condition, below 0.5
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value = "0.03")]
    eta: f64,
    /// The ridge λ
    #[arg(long, value_name = "L", allow_hyphen_values = true, value_parser = positive, default_value = "0.0001")]
    ridge: f64,
    /// How many speeds between 3 and 10 m/s the curve must increase at
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    conditions: u64,
    /// Minimise the norm of the residuals instead of its square, as the paper prints it; slow
    #[arg(long)]
    norm_loss: bool,
    #[command(flatten)]
    seeds: Seeds,
    /// How many draws of the noise for each seed
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    draws: u64,
    #[command(flatten)]
    pub(crate) drawn: Drawn,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// `study regression`.
#[derive(Debug, Args)]
pub(crate) struct RegressionArguments {
    /// How many records
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(2..=100_000))]
    records: u64,
    /// The standard deviation of the disturbance
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = positive, default_value = "15")]
    disturbance: f64,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value = "1")]
    epsilon: f64,
    /// δ of paper mode
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = below_half, default_value = "0.01")]
    delta: f64,
    /// δ of the certified mode
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = below_half, default_value = "0.00001")]
    certified_delta: f64,
    /// The probability of a model that breaks a condition, below 0.5
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value = "0.03")]
    eta: f64,
    /// The ridge λ
    #[arg(long, value_name = "L", allow_hyphen_values = true, value_parser = positive, default_value = "0.001")]
    ridge: f64,
    #[command(flatten)]
    seeds: Seeds,
    /// How many draws of the noise for each seed
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    draws: u64,
    #[command(flatten)]
    pub(crate) drawn: Drawn,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The seeds of a distribution.
#[derive(Debug, Args)]
struct Seeds {
    /// How many seeds: records, conditions, sampled pairs and noise change with each
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Universe {
    /// All powers by one factor
    Together,
    /// Each power for itself
    Apart,
}

pub(crate) fn wind(
    arguments: &WindArguments,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let mut curves = Vec::new();
    let all = || TURBINES.iter().map(|name| name.to_string()).collect();
    let names = match &arguments.turbines {
        Some(names) => names.clone(),
        None if arguments.curve.is_empty() => all(),
        None => Vec::new(),
    };
    for name in names {
        let name = name.trim();
        curves.push(PowerCurve::builtin(name).map_err(|unknown| {
            Failure::input(format!(
                "{unknown}\n  help: --curve FILE.csv reads the curve of another turbine"
            ))
        })?);
    }
    for file in &arguments.curve {
        curves.push(curve(file.trim())?);
    }
    let settings = wind::Settings {
        variations_percent: arguments.variation.clone(),
        variation: match arguments.universe {
            Universe::Together => wind::Variation::Together,
            Universe::Apart => wind::Variation::Apart,
        },
        epsilon: arguments.epsilon,
        delta: arguments.delta,
        eta: arguments.eta,
        ridge: arguments.ridge,
        conditions: arguments.conditions as usize,
        seeds: arguments.seeds.seeds,
        seed: arguments.seeds.seed,
        draws: arguments.draws,
        norm_loss: arguments.norm_loss,
    };
    let table = {
        let progress = terminal.progress("study wind");
        let batch = progress.batch(None, cancel);
        terminal.stage("study", || wind::run(&curves, &settings, &batch))
    };
    let table = table.map_err(|e| Failure::engine("study wind", &e))?;
    arguments.drawn.write(|| table.figure())?;
    terminal.show(&table)?;
    terminal.say_timings();
    Ok(())
}

/// A power curve from a file; the turbine has the file's name without its ending.
fn curve(file: &str) -> Result<PowerCurve, Failure> {
    let path = Path::new(file);
    let input =
        records_of(path).map_err(|why| Failure::input(format!("cannot read {file}: {why}")))?;
    let records = Records::read_columns(file, input, &[SPEED, POWER])?;
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    PowerCurve::from_records(stem.unwrap_or(file), &records)
        .map_err(|why| Failure::input(format!("{file}: {why}")))
}

pub(crate) fn regression(
    arguments: &RegressionArguments,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let settings = regression::Settings {
        records: arguments.records as usize,
        disturbance: arguments.disturbance,
        epsilon: arguments.epsilon,
        delta: arguments.delta,
        certified_delta: arguments.certified_delta,
        eta: arguments.eta,
        ridge: arguments.ridge,
        seeds: arguments.seeds.seeds,
        seed: arguments.seeds.seed,
        draws: arguments.draws,
    };
    let table = {
        let progress = terminal.progress("study regression");
        let batch = progress.batch(None, cancel);
        terminal.stage("study", || regression::run(&settings, &batch))
    };
    let table = table.map_err(|e| Failure::engine("study regression", &e))?;
    arguments.drawn.write(|| table.figure())?;
    terminal.show(&table)?;
    terminal.say_timings();
    Ok(())
}
