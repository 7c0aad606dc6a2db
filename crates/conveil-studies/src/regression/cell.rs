//! One seed: every way in paper mode, then certified mode.

use conveil::Result;
use conveil::ask::{Adjacency, Calibration, Privacy, Universe};
use conveil::plan::Plan;
use conveil::program::GeneralMap;
use conveil::solve::{self, Batch};
use conveil_models::regression::Regression;

use super::synthetic::{HALF_AXES, LARGEST_X, Synthetic};
use super::{CurveFan, Entry, Fan, Given, Metric, Noise, Settings, Task, Way};

/// The ways of paper mode. Chernoff's factor is for Laplace noise; the exact quantile of Gaussian noise needs none.
pub(super) const WAYS: [Way; 6] = [
    Way::Output,
    Way::ProjectedOutput,
    Way::TwoVertices,
    Way::SampledBox,
    Way::Cantelli,
    Way::Exact,
];

/// The ways of certified mode.
pub(super) const CERTIFIED: [(Way, &str); 3] = [
    (Way::Output, "shaped"),
    (Way::ProjectedOutput, "shaped"),
    (Way::Exact, "shaped, exact quantiles"),
];

/// Solves of an audit's search.
const SEARCH: usize = 400;

/// The records of one seed.
pub(super) struct Cell<'a> {
    settings: &'a Settings,
    seed: u64,
    batch: &'a Batch<'a>,
    data: Synthetic,
    model: Regression,
    map: GeneralMap,
    solver: solve::Settings,
}

impl<'a> Cell<'a> {
    pub(super) fn new(settings: &'a Settings, seed: u64, batch: &'a Batch<'a>) -> Result<Self> {
        let data = Synthetic::new(settings, seed);
        Ok(Cell {
            model: data.model(settings.ridge)?,
            map: data.map(settings.ridge)?,
            solver: solve::Settings::default().with_cancel(batch.cancel_flag().clone()),
            data,
            settings,
            seed,
            batch,
        })
    }

    pub(super) fn records(&self) -> Vec<(f64, f64)> {
        let pairs = self.data.x.iter().zip(&self.data.y);
        pairs.map(|(x, y)| (*x, *y)).collect()
    }

    pub(super) fn entries(&self) -> Result<Vec<Entry>> {
        let (fan, task) = (self.fan(), self.task()?);
        let mut entries = task.entries(&WAYS, &fan, Some(SEARCH))?;
        let (plan, plain) = (self.certified()?, task.plain()?);
        for (way, _) in CERTIFIED {
            entries.push(Entry::certified(&plan, way, &plain, &fan)?);
        }
        Ok(entries)
    }

    fn fan(&self) -> Fan<'_> {
        let draws = (self.settings.draws, self.seed);
        Fan::new(&self.model, &self.data.y, draws, &self.solver)
    }

    fn task(&self) -> Result<Task<'_>> {
        let theta = self.data.theta();
        // Discs of radius 1, in units of the half axes. The paper draws the radius uniformly, we draw the place uniformly.
        let radii = vec![1.0; self.data.x.len()];
        Task::new(Given {
            model: &self.model,
            map: Box::new(&self.map),
            universe: Universe::discs(theta.clone(), radii, 2)?,
            theta,
            privacy: Privacy::Gaussian {
                epsilon: self.settings.epsilon,
                delta: self.settings.delta,
                calibration: Calibration::Classic,
            },
            // The metric Φ'Φ would be private here.
            metric: Metric::Euclidean,
            eta: self.settings.eta,
            seed: self.seed,
            solver: &self.solver,
            batch: self.batch,
        })
    }

    /// One response moves by the height of its ellipse; x is public.
    fn certified(&self) -> Result<Plan<'_>> {
        let settings = self.settings;
        let ask = self
            .model
            .ask()
            .adjacency(Adjacency::one_entry(2.0 * HALF_AXES.1))
            .privacy(Privacy::gaussian(
                settings.epsilon,
                settings.certified_delta,
            ))
            .feasible(1.0 - settings.eta)
            .settings(self.solver.clone());
        Plan::new(&self.model, ask)
    }

    pub(super) fn fans(&self) -> Result<Vec<CurveFan>> {
        let (fan, task, ends) = (self.fan(), self.task()?, (0.0, LARGEST_X));
        let plain = task.plain()?;
        let mut fans = Vec::new();
        for way in [Way::Output, Way::Exact] {
            let mean = task.mean(way)?.weights;
            fans.push(fan.curves(way.name(), way, (&mean, &plain), &task.noise(), ends)?);
        }
        let plan = self.certified()?;
        let answer = plan.released().at(&self.data.y)?.answer;
        let title = "certified: program, shaped".to_string();
        let (means, noise) = ((&answer[..], &plain[..]), Noise::of(&plan));
        fans.push(fan.curves(title, Way::Exact, means, &noise, ends)?);
        Ok(fans)
    }
}
