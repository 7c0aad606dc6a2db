//! Section 4.4: the largest ellipsoid inside a polytope with private offsets, by output and by program perturbation.
//!
//! Polytopes × universes × {paper, calibrated} × {output, program}: how often the released ellipsoid lies inside, and
//! how large it is. *Paper* is as published: Gaussian noise of the classic scale for the map without noise, around the
//! private offsets; a sampled box; in two dimensions the determinant in the chance constraint. *Calibrated* is what a release would do:
//! the analytic scale for the map that is released, around public offsets; a mass box; the determinant at the mean.

mod cell;
mod figure;

use clap::{Args, ValueEnum};
use conveil::chance::Choice;
use conveil::solve::Batch;
use conveil::{Error, Result};
use conveil_models::ellipsoid::{Determinant, Inscribed, Polytope};
use serde::Serialize;

use crate::input;
use crate::parts;
use crate::plot::Figure;
use crate::settings::{below_half, check_below, count, defaults, percent, positive};
use crate::study::{
    self, Column, Failure, Study, apart, each, left, percent_of, product, right, rounded,
};

/// How the noise that counts is covered; each mode has a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A box of known mass, at the vertices that each constraint meets
    MassBox,
    /// The same box by a safe bound without vertices
    SafeBox,
    /// The hull of seeded samples, as in the paper
    SampledBox,
}

impl Method {
    fn choice(self) -> Choice {
        match self {
            Method::MassBox => Choice::MASS_BOX,
            Method::SafeBox => Choice::SAFE_BOX,
            Method::SampledBox => Choice::SAMPLED_BOX,
        }
    }
}

/// Where the determinant stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// At the mean
    AtTheMean,
    /// In the chance constraint, as in the paper
    WithNoise,
}

impl Place {
    fn determinant(self) -> Determinant {
        match self {
            Place::AtTheMean => Determinant::AtTheMean,
            Place::WithNoise => Determinant::WithNoise,
        }
    }
}

/// What to compute.
#[derive(Clone, Debug, Args, Serialize)]
pub struct Settings {
    /// The built-in polytopes, octagon and cut-box [default: both]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    #[serde(skip)]
    pub polytopes: Option<Vec<String>>,
    /// How far every offset may lie from its nominal value, in percent of that
    #[arg(long = "universe", value_name = "P,P,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = percent, default_value = "1,2.5")]
    pub universes_percent: Vec<f64>,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value = "1")]
    pub epsilon: f64,
    /// The privacy parameter δ, below 0.5
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = below_half, default_value = "0.1")]
    pub delta: f64,
    /// The probability of an ellipsoid that is not inside, below 0.5
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value = "0.1")]
    pub eta: f64,
    /// The sensitivity holds for a share 1−γ of pairs, with confidence 1−β; β is the sampled box's too.
    #[arg(skip = 0.1)]
    pub gamma: f64,
    /// β.
    #[arg(skip = 0.1)]
    pub beta: f64,
    /// One method for both modes [default: sampled-box in paper mode, mass-box in calibrated mode]
    #[arg(long, value_enum)]
    pub method: Option<Method>,
    /// Where the determinant stands [default: with-noise in paper mode in two dimensions, else at-the-mean]
    #[arg(long, value_enum)]
    pub determinant: Option<Place>,
    /// How many draws of the noise
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = count::<u64>(1..=10_000_000))]
    pub draws: u64,
    /// The seed of draws, pairs and sampled boxes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        defaults()
    }
}

impl Settings {
    fn validate(&self) -> Result<()> {
        for percent in &self.universes_percent {
            check_below("the universe in percent", *percent, 100.0)?;
        }
        check_below("ε", self.epsilon, f64::INFINITY)?;
        check_below("δ", self.delta, 1.0)?;
        check_below("η", self.eta, 0.5)?;
        check_below("γ", self.gamma, 1.0)?;
        check_below("β", self.beta, 1.0)?;
        match self.draws {
            0 => Err(Error::Input("the study needs at least one draw".into())),
            _ => Ok(()),
        }
    }
}

/// One polytope, one universe, one mode, one strategy.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// The polytope.
    pub polytope: String,
    /// Its dimension n.
    pub dimension: usize,
    /// Its facets.
    pub facets: usize,
    /// How far every offset may lie from its nominal value, in percent of that.
    pub universe_percent: f64,
    /// output or program.
    pub strategy: &'static str,
    /// paper or calibrated.
    pub mode: &'static str,
    /// ok, infeasible, or why there is no number.
    pub status: String,
    /// The method of program perturbation.
    pub method: Option<Method>,
    /// The place of its determinant.
    pub determinant: Option<Place>,
    /// Δ₂ that the noise covers.
    pub sensitivity: Option<f64>,
    /// The noise's standard deviation on each of the n + n(n+1)/2 numbers.
    pub scale: Option<f64>,
    /// Draws whose ellipsoid lies inside the polytope, in percent.
    pub inside_percent: Option<f64>,
    /// Draws that lie inside and whose Y is positive semidefinite, in percent: what program perturbation promises.
    pub kept_percent: Option<f64>,
    /// The volume of the mean ellipsoid.
    pub volume: Option<f64>,
    /// The same in percent of the non-private one.
    pub volume_percent: Option<f64>,
    /// The mean volume over the draws in percent of the non-private one.
    pub drawn_volume_percent: Option<f64>,
    /// Draws.
    pub draws: u64,
    /// The ε that the noise was calibrated for.
    pub claimed_epsilon: f64,
    /// The loss of the worst pair that a short audit of the released map found; at δ.
    pub audited_epsilon: Option<f64>,
    /// Where program perturbation is infeasible: the largest universe in which it is not, in percent.
    pub largest_universe_percent: Option<f64>,
}

/// The table: polytopes, then universes, then modes, then strategies.
pub type Table = study::Table<Settings>;

/// A polygon with a mean ellipse and some draws.
#[derive(Clone, Debug)]
pub struct Picture {
    polytope: Polytope,
    best: Inscribed,
    mean: Option<Inscribed>,
    drawn: Vec<(Inscribed, bool)>,
}

impl Table {
    /// The row of a cell.
    pub fn row(&self, polytope: &str, percent: f64, mode: &str, strategy: &str) -> Option<&Row> {
        self.rows.iter().find(|r| {
            r.polytope == polytope
                && r.universe_percent == percent
                && r.mode == mode
                && r.strategy == strategy
        })
    }
}

/// Runs the study on these polytopes, whatever the settings name.
pub fn run(polytopes: &[Polytope], settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    settings.validate()?;
    let cells = product(polytopes, &settings.universes_percent);
    let found = each(&cells, batch, |(polytope, percent), inner| {
        cell::rows(polytope, *percent, settings, inner)
    })?;
    let (rows, pictures) = found.into_iter().flatten().unzip();
    Ok(Table {
        pictures,
        ..Table::new(settings, rows)
    })
}

impl Study for Settings {
    const NAME: &'static str = "ellipsoid";
    const ABOUT: &'static str = "Section 4.4: the largest ellipsoid inside a polytope, by output and by program perturbation";
    const EXAMPLES: &'static str = "Example:\n  conveil study ellipsoid --polytopes octagon --universe 1 --figure ellipses.svg";
    type Row = Row;
    /// One for each row, where there is any.
    type Pictures = Vec<Option<Picture>>;

    fn run(&self, batch: &Batch<'_>) -> std::result::Result<Table, Failure> {
        let polytopes = input::polytopes(self.polytopes.as_deref())?;
        Ok(run(&polytopes, self, batch)?)
    }

    fn parts(&self) -> Vec<Self> {
        // In the order of the table, which is that of the built-in ones.
        let Ok(polytopes) = input::polytopes(self.polytopes.as_deref()) else {
            // A run says what is wrong with a name.
            return vec![self.clone()];
        };
        let names = polytopes.iter().map(|polytope| polytope.name.to_string());
        parts::one_by_one(names.collect(), |name| Settings {
            polytopes: Some(name),
            ..self.clone()
        })
    }

    fn headline(table: &Table) -> String {
        let settings = &table.settings;
        format!(
            "the largest ellipsoid inside a polytope with private offsets; ε = {}, δ = {}, η = {}%",
            settings.epsilon,
            settings.delta,
            percent_of(settings.eta)
        )
    }

    fn columns() -> Vec<Column<Row>> {
        vec![
            left("polytope", 9, |r| r.polytope.clone()),
            right("universe", 8, |r| format!("±{}%", r.universe_percent)),
            left("mode", 10, |r| r.mode.into()),
            left("strategy", 8, |r| r.strategy.into()),
            right("noise σ", 8, |r| rounded(r.scale, 4)),
            right("inside %", 8, |r| rounded(r.inside_percent, 2)),
            right("kept %", 8, |r| rounded(r.kept_percent, 2)),
            right("volume %", 9, |r| rounded(r.volume_percent, 1)),
            right("drawn %", 9, |r| rounded(r.drawn_volume_percent, 1)),
            right("ε", 7, |r| r.claimed_epsilon.to_string()),
            right("audited", 8, |r| rounded(r.audited_epsilon, 2)),
            apart("status", 0, |r| match r.largest_universe_percent {
                None => r.status.clone(),
                Some(largest) => format!(
                    "{}; the largest universe that is feasible: ±{largest:.2}%",
                    r.status
                ),
            }),
        ]
    }

    fn before(row: &Row, last: Option<&Row>) -> String {
        let is_next = last.is_some_and(|last| last.polytope != row.polytope);
        String::from(if is_next { "\n" } else { "" })
    }

    fn legend(_: &Table) -> String {
        "inside: drawn ellipsoids inside the polytope; kept: those whose Y is positive semidefinite besides\nvolume: of the mean ellipsoid, drawn: mean over the draws, both against the non-private one\naudited: the loss of the worst pair that a short search found; calibrated noise promises ε for a share 1−γ of pairs only\n".into()
    }

    fn figure(table: &Table) -> Figure {
        figure::figure(table)
    }
}
