//! Section 4.4: the largest ellipsoid inside a polytope with private offsets, by output and by program perturbation.
//!
//! Polytopes × universes × {paper, calibrated} × {output, program}: how often the released ellipsoid lies inside, and
//! how large it is. *Paper* is as published: Gaussian noise of the classic scale for the map without noise, around the
//! private offsets; a sampled box; in two dimensions the determinant in the chance constraint. *Calibrated* is what a release would do:
//! the analytic scale for the map that is released, around public offsets; a mass box; the determinant at the mean.

mod cell;
mod figure;
mod table;

use conveil::chance::Choice;
use conveil::solve::Batch;
use conveil::{Error, Result};
use conveil_models::ellipsoid::{Determinant, Inscribed, Polytope};
use serde::Serialize;

use crate::sense::below;

/// How the noise that counts is met; the paper's own where none is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A box of known mass at the vertices that each constraint meets (M5a).
    MassBox,
    /// The same box by a safe bound without vertices.
    SafeBox,
    /// The hull of seeded samples, as many as the paper takes (M5b).
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// At the mean.
    AtTheMean,
    /// In the chance constraint.
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
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// How far every offset may lie from its nominal value, in percent of that.
    pub universes_percent: Vec<f64>,
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// η.
    pub eta: f64,
    /// The sensitivity holds for a share 1−γ of pairs, with confidence 1−β; β is the sampled box's too.
    pub gamma: f64,
    /// β.
    pub beta: f64,
    /// One method for both modes; otherwise each mode's own.
    pub method: Option<Method>,
    /// One place of the determinant for both modes; otherwise each mode's own.
    pub determinant: Option<Place>,
    /// Draws behind the shares and volumes.
    pub draws: u64,
    /// The seed of everything.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            universes_percent: vec![1.0, 2.5],
            epsilon: 1.0,
            delta: 0.1,
            eta: 0.1,
            gamma: 0.1,
            beta: 0.1,
            method: None,
            determinant: None,
            draws: 100_000,
            seed: 1,
        }
    }
}

impl Settings {
    fn validate(&self) -> Result<()> {
        for percent in &self.universes_percent {
            below("the universe in percent", *percent, 100.0)?;
        }
        below("ε", self.epsilon, f64::INFINITY)?;
        below("δ", self.delta, 1.0)?;
        below("η", self.eta, 0.5)?;
        below("γ", self.gamma, 1.0)?;
        below("β", self.beta, 1.0)?;
        match self.draws {
            0 => Err(Error::Input("the study needs at least one draw".into())),
            _ => Ok(()),
        }
    }
}

/// One polytope, one universe, one mode, one strategy.
#[derive(Clone, Debug, Serialize)]
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

/// The study's result.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// `ellipsoid`.
    pub study: &'static str,
    /// What was computed.
    pub settings: Settings,
    /// Polytopes, then universes, then modes, then strategies.
    pub rows: Vec<Row>,
    /// What the figure shows of each row.
    #[serde(skip)]
    pictures: Vec<Option<Picture>>,
}

/// A polygon with a mean ellipse and some draws.
#[derive(Clone, Debug)]
struct Picture {
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

/// Runs the study; the batch's progress counts polytopes times universes.
pub fn run(polytopes: &[Polytope], settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    settings.validate()?;
    let universes = settings.universes_percent.iter();
    let cells: Vec<(&Polytope, f64)> = polytopes
        .iter()
        .flat_map(|polytope| universes.clone().map(move |percent| (polytope, *percent)))
        .collect();
    let inner = Batch::new().cancel(batch.cancel_flag().clone());
    let found = batch.run(cells.len(), |i| {
        let (polytope, percent) = cells[i];
        cell::rows(polytope, percent, settings, &inner)
    })?;
    let found = found.into_iter().collect::<Result<Vec<_>>>()?;
    let (rows, pictures) = found.into_iter().flatten().unzip();
    Ok(Table {
        study: "ellipsoid",
        settings: settings.clone(),
        rows,
        pictures,
    })
}
