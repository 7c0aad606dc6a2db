//! `conveil study ellipsoid`: its flags, and what they mean to the library.

use clap::{Args, ValueEnum};
use conveil::solve::Cancel;
use conveil_studies::ellipsoid;

use super::{Drawn, below_half, percent};
use crate::arguments::{Output, positive};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// `study ellipsoid`.
#[derive(Debug, Args)]
pub(crate) struct EllipsoidArguments {
    /// The built-in polytopes, octagon and cut-box [default: both]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    polytopes: Option<Vec<String>>,
    /// How far every offset may lie from its nominal value, in percent of that
    #[arg(long, value_name = "P,P,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = percent, default_value = "1,2.5")]
    universe: Vec<f64>,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value = "1")]
    epsilon: f64,
    /// The privacy parameter δ, below 0.5
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = below_half, default_value = "0.1")]
    delta: f64,
    /// The probability of an ellipsoid that is not inside, below 0.5
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value = "0.1")]
    eta: f64,
    /// One method for both modes [default: sampled-box in paper mode, mass-box in calibrated mode]
    #[arg(long, value_enum)]
    method: Option<EllipsoidMethod>,
    /// Where the determinant stands [default: with-noise in paper mode in two dimensions, else at-the-mean]
    #[arg(long, value_enum)]
    determinant: Option<DeterminantPlace>,
    /// How many draws of the noise
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    draws: u64,
    /// The seed of draws, pairs and sampled boxes
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    drawn: Drawn,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EllipsoidMethod {
    /// A box of known mass, at the vertices that each constraint meets
    #[value(name = "mass-box")]
    Mass,
    /// The same box by a safe bound without vertices
    #[value(name = "safe-box")]
    Safe,
    /// The hull of seeded samples, as in the paper
    #[value(name = "sampled-box")]
    Sampled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DeterminantPlace {
    /// At the mean
    AtTheMean,
    /// In the chance constraint, as in the paper
    WithNoise,
}

impl EllipsoidArguments {
    /// How the result is shown.
    /// Its figure.
    pub(super) fn drawn(&self) -> &Drawn {
        &self.drawn
    }

    pub(super) fn output(&self) -> Output {
        self.output
    }
}

/// Runs the study.
pub(super) fn run(
    arguments: &EllipsoidArguments,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let mut polytopes = conveil_models::ellipsoid::builtin();
    if let Some(names) = &arguments.polytopes {
        let known: Vec<&str> = polytopes.iter().map(|p| p.name).collect();
        if let Some(odd) = names.iter().find(|name| !known.contains(&name.trim())) {
            return Err(Failure::input(format!(
                "there is no built-in polytope `{odd}`; there are: {}",
                known.join(", ")
            )));
        }
        polytopes.retain(|p| names.iter().any(|name| name.trim() == p.name));
    }
    let settings = ellipsoid::Settings {
        universes_percent: arguments.universe.clone(),
        epsilon: arguments.epsilon,
        delta: arguments.delta,
        eta: arguments.eta,
        method: arguments.method.map(|method| match method {
            EllipsoidMethod::Mass => ellipsoid::Method::MassBox,
            EllipsoidMethod::Safe => ellipsoid::Method::SafeBox,
            EllipsoidMethod::Sampled => ellipsoid::Method::SampledBox,
        }),
        determinant: arguments.determinant.map(|place| match place {
            DeterminantPlace::AtTheMean => ellipsoid::Place::AtTheMean,
            DeterminantPlace::WithNoise => ellipsoid::Place::WithNoise,
        }),
        draws: arguments.draws,
        seed: arguments.seed,
        ..ellipsoid::Settings::default()
    };
    let table = {
        let progress = terminal.progress("study ellipsoid");
        let batch = progress.batch(None, cancel);
        terminal.stage("study", || ellipsoid::run(&polytopes, &settings, &batch))
    };
    let table = table.map_err(|e| Failure::engine("study ellipsoid", &e))?;
    arguments.drawn.write(|| table.figure())?;
    terminal.show(&table)?;
    terminal.say_timings();
    Ok(())
}
