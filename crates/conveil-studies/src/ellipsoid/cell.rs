//! One cell of the study: a polytope with one universe, both modes, both strategies.

use conveil::ask::{
    Adjacency, Ask, Calibration, MapKind, Privacy, Request, SampleSize, Sampled, Universe,
};
use conveil::audit::Audit;
use conveil::chance::Feasibility;
use conveil::curator;
use conveil::noise::{Law, Sampler};
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{self, Batch};
use conveil::{Error, Result};
use conveil_models::ellipsoid::{Ellipsoid, Inscribed, Polytope};

use super::{Method, Picture, Place, Row, Settings};
use crate::learning::Mode;
use crate::tolerance::retry_looser;

/// Draws shown in the figure.
const SHOWN: usize = 60;

/// Pairs and solves of the audit beside a row.
const AUDIT: (u64, usize) = (60, 400);

/// The stream of the draws.
const STREAM: u64 = 0xE1;

type Shown = (Row, Option<Picture>);

pub(super) fn rows(
    polytope: &Polytope,
    percent: f64,
    settings: &Settings,
    batch: &Batch<'_>,
) -> Result<Vec<Shown>> {
    let mut rows = Vec::new();
    for mode in [Mode::Paper, Mode::Calibrated] {
        let found = retry_looser(batch.cancel_flag(), |solver| {
            let cell = Cell::new(polytope, percent, settings, mode, solver, batch)?;
            cell.rows()
        });
        match found {
            Err(error @ (Error::Cancelled | Error::Input(_) | Error::Refused { .. })) => {
                return Err(error);
            }
            Err(other) => {
                // The table goes on without this cell.
                let solver = solve::Settings::default();
                let cell = Cell::new(polytope, percent, settings, mode, &solver, batch)?;
                rows.extend(["output", "program"].map(|strategy| {
                    let row = Row {
                        status: other.to_string(),
                        ..cell.blank(strategy)
                    };
                    (row, None)
                }));
            }
            Ok(found) => rows.extend(found),
        }
    }
    Ok(rows)
}

struct Cell<'a> {
    polytope: &'a Polytope,
    percent: f64,
    settings: &'a Settings,
    mode: Mode,
    method: Method,
    place: Place,
    model: Ellipsoid,
    solver: solve::Settings,
    batch: &'a Batch<'a>,
}

/// What the draws of one mean ellipsoid show.
struct Drawn {
    inside: u64,
    kept: u64,
    volume: f64,
    first: Vec<(Inscribed, bool)>,
}

impl<'a> Cell<'a> {
    fn new(
        polytope: &'a Polytope,
        percent: f64,
        settings: &'a Settings,
        mode: Mode,
        solver: &solve::Settings,
        batch: &'a Batch<'a>,
    ) -> Result<Self> {
        // The paper has two dimensions only. In three, its determinant would be a bound, decided before the noise.
        let is_plane = polytope.normals.first().is_some_and(|a| a.len() == 2);
        let (method, place) = match mode {
            Mode::Paper if is_plane => (Method::SampledBox, Place::WithNoise),
            Mode::Paper => (Method::SampledBox, Place::AtTheMean),
            _ => (Method::MassBox, Place::AtTheMean),
        };
        let place = settings.determinant.unwrap_or(place);
        let model = Ellipsoid::inside(polytope.normals.clone())
            .determinant(place.determinant())
            .build()?;
        Ok(Cell {
            polytope,
            percent,
            settings,
            mode,
            method: settings.method.unwrap_or(method),
            place,
            model,
            solver: solver.clone(),
            batch,
        })
    }

    fn ask(&self, on: MapKind) -> Result<Ask> {
        let settings = self.settings;
        let offsets = self.polytope.offsets.clone();
        let share = self.percent / 100.0;
        let half_width = offsets.iter().map(|b| share * b.abs()).collect();
        let is_paper = self.mode == Mode::Paper;
        let (size, calibration) = match is_paper {
            true => (SampleSize::Paper, Calibration::Classic),
            false => (SampleSize::Exact, Calibration::Analytic),
        };
        let feasibility = Feasibility::eta(settings.eta)
            .method(self.method.choice())
            .sampling(SampleSize::Paper, settings.beta, settings.seed);
        Ok(Ask::new(self.model.query())
            .adjacency(Adjacency::Universe)
            .privacy(Privacy::Gaussian {
                epsilon: settings.epsilon,
                delta: settings.delta,
                calibration,
            })
            .sensitivity(Request::Sampled(Sampled {
                universe: Universe::around(offsets, half_width)?,
                gamma: settings.gamma,
                beta: settings.beta,
                seed: settings.seed,
                size,
                on,
            }))
            .feasibility(feasibility)
            .settings(self.solver.clone()))
    }

    fn rows(&self) -> Result<Vec<Shown>> {
        let offsets = &self.polytope.offsets;
        let program = self.model.at(offsets)?;
        let best = solve::solve_checked(&program, &self.solver)?;
        let best = &best.x[..self.model.answer_len()];
        // Output perturbation releases the map without noise, so noise calibrated to that map covers it.
        let deterministic =
            Plan::paper_mode(&self.model, self.ask(MapKind::Deterministic)?, offsets)?;
        let mut output = self.measured("output", best, best, &deterministic)?;
        output.0.audited_epsilon = None;
        let program = match self.mode {
            Mode::Paper => {
                let ask = self.ask(MapKind::Deterministic)?;
                self.program(&deterministic, &ask, best)?
            }
            _ => {
                let ask = self.ask(MapKind::Released)?;
                match Plan::with_batch(&self.model, ask.clone(), self.batch) {
                    Ok(plan) => self.program(&plan, &ask, best)?,
                    Err(Error::NotAttainable(_) | Error::NoiseDoesNotFit(_)) => {
                        (self.infeasible(&ask)?, None)
                    }
                    Err(other) => return Err(other),
                }
            }
        };
        Ok(vec![output, program])
    }

    /// Program perturbation under a plan.
    fn program(&self, plan: &Plan<'_>, ask: &Ask, best: &[f64]) -> Result<Shown> {
        let decided = match plan.released().at(&self.polytope.offsets) {
            Ok(decided) => decided,
            Err(Error::NoiseDoesNotFit(_)) => {
                let row = Row {
                    scale: Some(plan.law().scale()),
                    sensitivity: Some(plan.guarantee().sensitivity()),
                    ..self.infeasible(ask)?
                };
                return Ok((row, self.picture(best, None, Vec::new())?));
            }
            Err(other) => return Err(other),
        };
        let mut shown = self.measured("program", best, &decided.answer, plan)?;
        let audit = Audit::new().pairs(AUDIT.0).climbs(1).solves(AUDIT.1);
        let audit = audit.seed(self.settings.seed);
        shown.0.audited_epsilon = match audit.run(plan, self.batch) {
            Ok(report) => Some(report.audited_epsilon),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(_) => None,
        };
        Ok(shown)
    }

    fn infeasible(&self, ask: &Ask) -> Result<Row> {
        Ok(Row {
            status: "infeasible".into(),
            largest_universe_percent: self.largest_universe(ask)?,
            ..self.blank("program")
        })
    }

    /// What `explain` would say.
    fn largest_universe(&self, ask: &Ask) -> Result<Option<f64>> {
        let found = curator::largest_universe(&self.model, ask, &self.polytope.offsets)?;
        let edge = found.and_then(|threshold| threshold.edge);
        Ok(edge.map(|factor| factor * self.percent))
    }

    fn measured(
        &self,
        strategy: &'static str,
        best: &[f64],
        mean: &[f64],
        plan: &Plan<'_>,
    ) -> Result<Shown> {
        let at = self.model.inscribed(mean)?;
        let (volume, most) = (at.volume(), self.model.inscribed(best)?.volume());
        let drawn = self.drawn(mean, plan.law())?;
        let percent = |count: u64| Some(100.0 * count as f64 / self.settings.draws as f64);
        let row = Row {
            status: "ok".into(),
            sensitivity: Some(plan.guarantee().sensitivity()),
            scale: Some(plan.law().scale()),
            inside_percent: percent(drawn.inside),
            kept_percent: percent(drawn.kept),
            volume: Some(volume),
            volume_percent: Some(100.0 * volume / most),
            drawn_volume_percent: Some(100.0 * drawn.volume / most),
            draws: self.settings.draws,
            ..self.blank(strategy)
        };
        Ok((row, self.picture(best, Some(at), drawn.first)?))
    }

    /// What the figure shows, in two dimensions: the polygon, the non-private ellipse, the mean and draws.
    fn picture(
        &self,
        best: &[f64],
        mean: Option<Inscribed>,
        drawn: Vec<(Inscribed, bool)>,
    ) -> Result<Option<Picture>> {
        if self.model.dimension() != 2 {
            return Ok(None);
        }
        Ok(Some(Picture {
            polytope: self.polytope.clone(),
            best: self.model.inscribed(best)?,
            mean,
            drawn,
        }))
    }

    fn drawn(&self, mean: &[f64], law: &Law) -> Result<Drawn> {
        let mut sampler = Sampler::new(self.settings.seed, STREAM);
        let mut zeta = vec![0.0; mean.len()];
        let mut found = Drawn {
            inside: 0,
            kept: 0,
            volume: 0.0,
            first: Vec::new(),
        };
        for _ in 0..self.settings.draws {
            sampler.fill(law, &mut zeta);
            let answer: Vec<f64> = mean.iter().zip(&zeta).map(|(m, z)| m + z).collect();
            let at = self.model.inscribed(&answer)?;
            let inside = at.clearance(self.model.normals(), &self.polytope.offsets) >= 0.0;
            found.inside += u64::from(inside);
            found.kept += u64::from(inside && at.indefinite_by() == 0.0);
            found.volume += at.volume() / self.settings.draws as f64;
            if found.first.len() < SHOWN {
                found.first.push((at, inside));
            }
        }
        Ok(found)
    }

    fn blank(&self, strategy: &'static str) -> Row {
        let is_program = strategy == "program";
        Row {
            polytope: self.polytope.name.into(),
            dimension: self.model.dimension(),
            facets: self.polytope.offsets.len(),
            universe_percent: self.percent,
            strategy,
            mode: self.mode.name(),
            method: is_program.then_some(self.method),
            determinant: is_program.then_some(self.place),
            claimed_epsilon: self.settings.epsilon,
            ..Row::default()
        }
    }
}
