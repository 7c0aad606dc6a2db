//! `conveil study`: the paper's tables and figures. The studies are a library's; this is its voice.

mod ellipsoid;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use conveil::solve::Cancel;
use conveil_grid::{Network, matpower};
use conveil_studies::opf::{self, BoxSplit, Price};
use conveil_studies::plot::Figure;
use conveil_studies::{cvar, density, paper};

use crate::arguments::{Output, positive};
use crate::failure::Failure;
use crate::new_file::{refuse_existing, write_new};
use crate::study_learning::{self, ClassifierArguments, SvmArguments};
use crate::study_regression::{self, RegressionArguments, WindArguments};
use crate::terminal::Terminal;
use conveil_models::files::text_of;
use ellipsoid::EllipsoidArguments;

/// Pixels of a PNG for each unit of the figure.
const PIXELS: f32 = 2.0;

/// Which study.
#[derive(Debug, Subcommand)]
pub(crate) enum Studied {
    /// Table 1: the cost of the optimal power flow under every strategy
    #[command(after_help = "Example:\n  conveil study opf --networks 5_pjm,14_ieee --alpha 1,3")]
    Opf(OpfArguments),
    /// Table 2: the risk of a private generation query, exact beside sampled
    #[command(after_help = "Example:\n  conveil study cvar --alpha 15 --tail 99,50,1")]
    Cvar(CvarArguments),
    /// Figure 3: densities of the released cost for three adjacent demands
    #[command(
        after_help = "Example:\n  conveil study density --csv densities.csv --figure densities.svg"
    )]
    Density(DensityArguments),
    /// Section 4.3.1: a private regression that must increase, over seeds
    #[command(
        after_help = "Example:\n  conveil study regression --seeds 5 --figure regression.png"
    )]
    Regression(RegressionArguments),
    /// Table 4: private power curves of wind turbines, over seeds
    #[command(
        after_help = "Example:\n  conveil study wind --turbines GE103/2750 --variation 2.5 --seeds 5 --figure wind.png"
    )]
    Wind(WindArguments),
    /// Section 4.4: the largest ellipsoid inside a polytope, by output and by program perturbation
    #[command(
        after_help = "Example:\n  conveil study ellipsoid --polytopes octagon --universe 1 --figure ellipses.svg"
    )]
    Ellipsoid(EllipsoidArguments),
    /// Section 4.2.1: the hyperplane of a support vector machine, on synthetic classes
    #[command(
        after_help = "Example:\n  conveil study svm --lambda 1e-5,1e-3 --figure hyperplanes.svg"
    )]
    Svm(SvmArguments),
    /// Table 3: which demands a network can meet, told by a private classifier; or your own records
    #[command(
        after_help = "Examples:\n  conveil study classifier --networks 5_pjm,14_ieee --infeasible 0.5\n  conveil study classifier --train train.csv --test test.csv"
    )]
    Classifier(Box<ClassifierArguments>),
}

/// `study opf`.
#[derive(Debug, Args)]
pub(crate) struct OpfArguments {
    /// Networks: built-in names and MATPOWER files that end in .m [default: the paper's five]
    #[arg(long, value_name = "NAME,FILE.m,…", value_delimiter = ',')]
    networks: Option<Vec<String>>,
    /// How many MWh of one load must stay hidden
    #[arg(long, value_name = "V,V,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = positive, default_value = "1,3,10")]
    alpha: Vec<f64>,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value = "1")]
    epsilon: f64,
    /// The probability of an infeasible answer, below 0.5
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value = "0.01")]
    eta: f64,
    /// The box of noise values that the dispatch must survive
    #[arg(long, value_enum, default_value = "mass-box")]
    method: Method,
    /// Where the noise outside a mass box lies
    #[arg(long, value_enum, default_value = "symmetric")]
    split: Split,
    /// How many draws of the noise; input perturbation solves a program for each of at most 1000
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    draws: u64,
    /// The seed of the draws, and of the first sampled box
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How many sampled boxes stand behind their mean and standard deviation
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    vertex_draws: u64,
    /// Quadratic and piecewise-linear costs as they are, not the linear coefficients alone
    #[arg(long)]
    full_costs: bool,
    /// Let limits on angle differences count
    #[arg(long)]
    angle_limits: bool,
    /// Certify the sensitivity by an envelope at this price per MWh, or at the largest cost of a unit; loads within
    /// ±50% of the network's
    #[arg(long, value_name = "PRICE|cmax", allow_hyphen_values = true, value_parser = price)]
    envelope: Option<Price>,
    #[command(flatten)]
    drawn: Drawn,
    #[command(flatten)]
    output: Output,
}

/// `study cvar`.
#[derive(Debug, Args)]
pub(crate) struct CvarArguments {
    /// The network: a built-in name, or a MATPOWER file that ends in .m
    #[arg(long, value_name = "NAME|FILE.m", default_value = "24_ieee_rts")]
    network: String,
    /// How many MWh of one load must stay hidden
    #[arg(long, value_name = "V,V,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = positive, default_value = "15,25,35")]
    alpha: Vec<f64>,
    /// The tail shares whose CVaR is minimised, in percent
    #[arg(long, value_name = "Q,Q,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = percent, default_value = "99,90,80,70,60,50,40,30,20,10,1")]
    tail: Vec<f64>,
    /// The units whose joint generation is released: `generator 7`, or `bus 23` for all that stand there [default: half
    /// of the units, drawn from the seed]
    #[arg(long, value_name = "UNIT,UNIT,…", value_delimiter = ',')]
    units: Vec<String>,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value = "1")]
    epsilon: f64,
    /// The probability of an infeasible dispatch, below 0.5
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value = "0.01")]
    eta: f64,
    /// Samples of the sampled CVaR, and draws of the drawn columns
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    samples: u64,
    /// The seed of both, and of the units
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    drawn: Drawn,
    #[command(flatten)]
    output: Output,
}

/// `study density`.
#[derive(Debug, Args)]
pub(crate) struct DensityArguments {
    /// The network: a built-in name, or a MATPOWER file that ends in .m
    #[arg(long, value_name = "NAME|FILE.m", default_value = "24_ieee_rts")]
    network: String,
    /// How many MWh the largest demand is lowered and raised by
    #[arg(long, value_name = "V", allow_hyphen_values = true, value_parser = positive, default_value = "10")]
    alpha: f64,
    /// The values of ε, a panel for each
    #[arg(long, value_name = "E,E,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = positive, default_value = "10,1")]
    epsilon: Vec<f64>,
    /// The probability of an infeasible answer, below 0.5
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value = "0.01")]
    eta: f64,
    /// Points of each curve
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    points: u64,
    /// Write the curves to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    drawn: Drawn,
    #[command(flatten)]
    output: Output,
}

/// The figure of a study.
#[derive(Debug, Args)]
pub(crate) struct Drawn {
    /// Draw the result to this file; its ending says how
    #[arg(long, value_name = "FILE.svg|FILE.png", value_parser = figure_file)]
    figure: Option<PathBuf>,
}

impl Drawn {
    pub(crate) fn write(&self, figure: impl FnOnce() -> Figure) -> Result<(), Failure> {
        let Some(path) = &self.figure else {
            return Ok(());
        };
        let figure = figure();
        let bytes = if path.extension().is_some_and(|end| end == "png") {
            let drawn = figure.to_png(PIXELS);
            drawn.map_err(|why| Failure::input(format!("{}: {why}", path.display())))?
        } else {
            figure.to_svg().into_bytes()
        };
        write_new(path, "figure", &bytes)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// From the noise law itself
    MassBox,
    /// The hull of seeded samples, as in the paper
    SampledBox,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Split {
    /// Half below, half above
    Symmetric,
    /// The best of a fixed grid
    Optimise,
}

impl Studied {
    /// Its figure.
    fn drawn(&self) -> &Drawn {
        match self {
            Studied::Opf(arguments) => &arguments.drawn,
            Studied::Cvar(arguments) => &arguments.drawn,
            Studied::Density(arguments) => &arguments.drawn,
            Studied::Regression(arguments) => &arguments.drawn,
            Studied::Wind(arguments) => &arguments.drawn,
            Studied::Ellipsoid(arguments) => arguments.drawn(),
            Studied::Svm(arguments) => &arguments.drawn,
            Studied::Classifier(arguments) => &arguments.drawn,
        }
    }

    /// How its result is shown.
    pub(crate) fn output(&self) -> Output {
        match self {
            Studied::Opf(arguments) => arguments.output,
            Studied::Cvar(arguments) => arguments.output,
            Studied::Density(arguments) => arguments.output,
            Studied::Regression(arguments) => arguments.output,
            Studied::Wind(arguments) => arguments.output,
            Studied::Ellipsoid(arguments) => arguments.output(),
            Studied::Svm(arguments) => arguments.output,
            Studied::Classifier(arguments) => arguments.output,
        }
    }
}

/// Runs a study.
pub(crate) fn run(study: &Studied, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    if let Some(figure) = &study.drawn().figure {
        refuse_existing(figure, "figure")?;
    }
    if let Studied::Density(DensityArguments {
        csv: Some(table), ..
    }) = study
    {
        refuse_existing(table, "table")?;
    }
    match study {
        Studied::Opf(arguments) => opf(arguments, terminal, cancel),
        Studied::Cvar(arguments) => cvar(arguments, terminal, cancel),
        Studied::Density(arguments) => density(arguments, terminal, cancel),
        Studied::Regression(arguments) => study_regression::regression(arguments, terminal, cancel),
        Studied::Wind(arguments) => study_regression::wind(arguments, terminal, cancel),
        Studied::Ellipsoid(arguments) => ellipsoid::run(arguments, terminal, cancel),
        Studied::Svm(arguments) => study_learning::svm(arguments, terminal, cancel),
        Studied::Classifier(arguments) => study_learning::classifier(arguments, terminal, cancel),
    }
}

fn opf(arguments: &OpfArguments, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    let networks = match &arguments.networks {
        Some(names) => names
            .iter()
            .map(|name| network(name))
            .collect::<Result<Vec<_>, _>>()?,
        None => paper::TABLE_1_NETWORKS
            .iter()
            .map(|name| network(name))
            .collect::<Result<Vec<_>, _>>()?,
    };
    let settings = opf::Settings {
        alphas: arguments.alpha.clone(),
        epsilon: arguments.epsilon,
        eta: arguments.eta,
        method: match arguments.method {
            Method::MassBox => opf::Method::MassBox,
            Method::SampledBox => opf::Method::SampledBox,
        },
        split: match arguments.split {
            Split::Symmetric => BoxSplit::Symmetric,
            Split::Optimise => BoxSplit::Optimise,
        },
        draws: arguments.draws,
        seed: arguments.seed,
        vertex_draws: arguments.vertex_draws,
        full_costs: arguments.full_costs,
        angle_limits: arguments.angle_limits,
        envelope: arguments.envelope,
    };
    let table = {
        let progress = terminal.progress("study opf");
        let batch = progress.batch(None, cancel);
        terminal.stage("study", || opf::run(&networks, &settings, &batch))
    };
    let table = table.map_err(|e| Failure::engine("study opf", &e))?;
    arguments.drawn.write(|| table.figure())?;
    terminal.show(&table)?;
    terminal.say_timings();
    Ok(())
}

fn cvar(arguments: &CvarArguments, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    let network = network(&arguments.network)?;
    let settings = cvar::Settings {
        alphas: arguments.alpha.clone(),
        tails_percent: arguments.tail.clone(),
        epsilon: arguments.epsilon,
        eta: arguments.eta,
        units: arguments.units.iter().map(|u| u.trim().into()).collect(),
        samples: arguments.samples as usize,
        seed: arguments.seed,
    };
    let table = {
        let progress = terminal.progress("study cvar");
        let batch = progress.batch(None, cancel);
        terminal.stage("study", || cvar::run(&network, &settings, &batch))
    };
    let table = table.map_err(|e| Failure::engine("study cvar", &e))?;
    arguments.drawn.write(|| table.figure())?;
    terminal.show(&table)?;
    terminal.say_timings();
    Ok(())
}

fn density(
    arguments: &DensityArguments,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let network = network(&arguments.network)?;
    let settings = density::Settings {
        alpha: arguments.alpha,
        epsilons: arguments.epsilon.clone(),
        eta: arguments.eta,
        points: arguments.points as usize,
    };
    let densities = {
        let progress = terminal.progress("study density");
        let batch = progress.batch(None, cancel);
        terminal.stage("study", || density::run(&network, &settings, &batch))
    };
    let densities = densities.map_err(|e| Failure::engine("study density", &e))?;
    if let Some(path) = &arguments.csv {
        write_new(path, "table", densities.to_csv().as_bytes())?;
    }
    arguments.drawn.write(|| densities.figure())?;
    terminal.show(&densities)?;
    terminal.say_timings();
    Ok(())
}

/// Longer case files are refused: a hundred thousand buses need a fifth of it.
const CASE_BYTES: u64 = 256 << 20;

/// A built-in network, or one from a MATPOWER file.
pub(crate) fn network(name: &str) -> Result<Network, Failure> {
    let name = name.trim();
    let path = Path::new(name);
    if path.extension().is_some_and(|end| end == "m") {
        let text = text_of(path, CASE_BYTES)
            .map_err(|why| Failure::input(format!("cannot read {name}: {why}")))?;
        return Ok(matpower::read(name, &text)?);
    }
    Network::builtin(name).map_err(|unknown| {
        Failure::input(format!(
            "{unknown}\n  help: a file is read where the name ends in .m"
        ))
    })
}

pub(crate) fn below_half(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value < 0.5 => Ok(value),
        _ => Err("must lie strictly between 0 and 0.5".into()),
    }
}

pub(crate) fn percent(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value < 100.0 => Ok(value),
        _ => Err("must lie strictly between 0 and 100".into()),
    }
}

fn figure_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|end| end.to_str()) {
        Some("svg" | "png") => Ok(path),
        _ => Err("must end in .svg or .png".into()),
    }
}

fn price(text: &str) -> Result<Price, String> {
    match text.trim() {
        "cmax" => Ok(Price::LargestCost),
        number => match positive(number) {
            Ok(price) => Ok(Price::PerMwh(price)),
            Err(_) => Err("must be a positive price, or `cmax`".into()),
        },
    }
}
