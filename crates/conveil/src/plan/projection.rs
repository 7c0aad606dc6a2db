//! Projected output (M13): the nearest feasible decision to a noisy one, where the feasible set is public.
//!
//! min ½(x − y)'P(x − y) over b − Ax ∈ K: a function of the noisy answer y and of public numbers, so post-processing.

use super::judge::without_means;
use crate::ask::ResolvedQuery;
use crate::error::{Error, Result};
use crate::program::{DataMap, Program, Sparse, Stage};
use crate::solve::{self, Settings};

/// The projection onto a model's public feasible set.
///
/// # Guarantee
/// Whatever is private does not enter it: A, b and P are public, checked when it is made. Its result meets every
/// constraint to the tolerance of the solver, checked as every solve is.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The constraints that a decision must meet, and the metric as their quadratic cost.
    held: Program,
    /// The column of each released number, and its weight there.
    places: Vec<(usize, f64)>,
    settings: Settings,
}

impl Projection {
    /// Refuses, with the reason, where the set is not public or the answer is not the whole decision.
    pub(super) fn new(
        map: &dyn DataMap,
        query: &ResolvedQuery,
        settings: &Settings,
    ) -> std::result::Result<Self, &'static str> {
        let parts = map.private_parts();
        if parts.a || parts.b {
            return Err("the feasible set is itself private");
        }
        let template = map.template();
        let n = template.columns();
        let mut places = Vec::with_capacity(n);
        let mut is_named = vec![false; n];
        for row in query.rows() {
            if let [(j, weight)] = row[..]
                && j < n
                && weight != 0.0
                && !std::mem::replace(&mut is_named[j], true)
            {
                places.push((j, weight));
            }
        }
        let is_whole = places.len() == n && query.rows().len() == n;
        let moves = |v: &crate::program::VariableBlock| v.stage() == Stage::Recourse;
        if !is_whole || !template.variables().iter().all(moves) {
            return Err("the query does not release the whole decision");
        }
        if parts.p {
            return Err("the quadratic cost, which says what is near, is private");
        }
        let held = without_means(template);
        // A variable without curvature would be projected anywhere.
        let metric: Vec<(usize, usize, f64)> = match (0..n).all(|j| held.p().get(j, j) > 0.0) {
            false => (0..n).map(|j| (j, j, 1.0)).collect(),
            true => held.p().entries().collect(),
        };
        let cones = held.constraints().iter().map(|c| c.cone().clone());
        Ok(Projection {
            held: Program::assembled(
                Sparse::assemble(n, n, &metric),
                vec![0.0; n],
                held.a().clone(),
                held.b().to_vec(),
                0.0,
                cones.collect(),
            ),
            places,
            settings: settings.clone(),
        })
    }

    /// [`Projection::new`] as a refusal of the strategy.
    pub(super) fn required(
        map: &dyn DataMap,
        query: &ResolvedQuery,
        settings: &Settings,
    ) -> Result<Self> {
        Self::new(map, query, settings).map_err(|why| {
            Error::refused(
                "strategy = projected",
                why,
                "strategy = program; or strategy = output, which promises nothing of feasibility",
            )
        })
    }

    /// The nearest feasible answer.
    pub fn apply(&self, answer: &[f64]) -> Result<Vec<f64>> {
        let mut noisy = vec![0.0; self.held.columns()];
        for (&(j, weight), value) in self.places.iter().zip(answer) {
            noisy[j] = value / weight;
        }
        let x = self.decision(&noisy)?;
        let places = self.places.iter();
        Ok(places.map(|&(j, weight)| weight * x[j]).collect())
    }

    /// The nearest feasible decision: the noisy one itself where it is feasible.
    pub(super) fn decision(&self, noisy: &[f64]) -> Result<Vec<f64>> {
        let slack = self.held.slack(noisy);
        if self.held.worst_violation(&slack).0 <= 0.0 {
            return Ok(noisy.to_vec());
        }
        // d = x − y: min ½d'Pd over b − Ay − Ad ∈ K, in the units of what is missed.
        let step = solve::solve_checked(&self.held.with_right_hand_side(slack), &self.settings)?.x;
        Ok(noisy.iter().zip(step).map(|(y, d)| y + d).collect())
    }
}
