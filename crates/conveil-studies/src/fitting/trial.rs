//! One seed of a study: its records, and what paper mode and certified mode do with them.

use conveil::Result;
use conveil::ask::{Adjacency, Ask, Privacy, Request};
use conveil::plan::Plan;
use conveil::solve::{Batch, Settings};
use conveil_models::regression::Regression;

use super::fan::{CurveFan, Fan, Noise};
use super::seeds::Entry;
use super::task::Task;
use super::way::Way;

/// Noise that is the same in all directions.
pub(crate) const ISOTROPIC: &str = "isotropic";

/// The records of one seed.
pub(crate) struct Trial<'a> {
    /// What is minimised.
    pub(crate) model: Regression,
    /// Squared loss whatever is minimised: what certificates are about.
    pub(crate) squared: Regression,
    /// The private responses.
    pub(crate) responses: Vec<f64>,
    pub(crate) epsilon: f64,
    /// δ of certified mode.
    pub(crate) delta: f64,
    /// How far one response moves in certified mode.
    pub(crate) range: f64,
    pub(crate) eta: f64,
    /// Draws of the noise.
    pub(crate) draws: u64,
    pub(crate) seed: u64,
    pub(crate) solver: Settings,
    pub(crate) batch: &'a Batch<'a>,
}

impl Trial<'_> {
    /// The noise around weights of this model.
    pub(crate) fn fan<'t>(&'t self, model: &'t Regression) -> Fan<'t> {
        Fan::new(model, &self.responses, self.draws, self.seed, &self.solver)
    }

    /// Certified mode: one response moves by its range, bounded by strong convexity; noise of this shape.
    pub(crate) fn certified(&self, shape: &str) -> Result<Plan<'_>> {
        let ask = match shape {
            ISOTROPIC => Ask::new(self.squared.query()),
            _ => self.squared.ask(),
        };
        let ask = ask
            .sensitivity(Request::strong_convexity())
            .adjacency(Adjacency::one_entry(self.range))
            .privacy(Privacy::gaussian(self.epsilon, self.delta))
            .feasible(1.0 - self.eta)
            .settings(self.solver.clone());
        Plan::new(&self.squared, ask)
    }

    /// Every way of certified mode; `plain` are the weights without noise.
    pub(crate) fn certified_entries(
        &self,
        ways: &[(Way, &str)],
        plain: &[f64],
    ) -> Result<Vec<Entry>> {
        let fan = self.fan(&self.squared);
        let entry = |(way, shape): &(Way, &str)| {
            Entry::certified(&self.certified(shape)?, *way, plain, &fan)
        };
        ways.iter().map(entry).collect()
    }

    /// The fans of a figure between two ends: these ways of a task, then of certified mode.
    pub(crate) fn fans(
        &self,
        task: &Task<'_>,
        ways: &[Way],
        certified: &[Way],
        ends: (f64, f64),
    ) -> Result<Vec<CurveFan>> {
        let (fan, plain, noise) = (self.fan(&self.model), task.plain()?, task.noise());
        let mut fans = Vec::new();
        for &way in ways {
            let mean = task.mean(way)?.weights;
            fans.push(fan.curves(way.name(), way, &mean, &plain, &noise, ends)?);
        }
        let plan = self.certified("shaped")?;
        let (answer, noise) = (
            plan.released().at(&self.responses)?.answer,
            Noise::of(&plan),
        );
        for &way in certified {
            let title = format!("certified: {}, shaped", way.strategy());
            let mean = if way == Way::Output { &plain } else { &answer };
            fans.push(fan.curves(title, way, mean, &plain, &noise, ends)?);
        }
        Ok(fans)
    }
}
