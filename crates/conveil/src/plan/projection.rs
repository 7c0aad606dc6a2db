//! Projected output (M13): the nearest feasible decision to a noisy one, where the feasible set is public.
//!
//! min ½(x − y)'P(x − y) over b − Ax ∈ K: a function of the noisy answer y and of public numbers, so post-processing. With
//! y = −P⁻¹q̂ it is the program itself with the noisy linear cost q̂ (M17c).

use crate::ask::ResolvedQuery;
use crate::error::{Error, Result};
use crate::program::{DataMap, Program, Sparse};
use crate::proof::Curvature;
use crate::solve::{self, Cancel, Settings};

/// The projection onto a model's public feasible set.
///
/// # Guarantee
/// Whatever is private does not enter it: A, b and P are public, checked when it is made. Its result meets every
/// constraint to the tolerance of the solver, checked as every solve is.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The constraints that a decision must meet, and the metric as their quadratic cost.
    held: Program,
    /// The column of each noisy number, and its weight there.
    places: Vec<(usize, f64)>,
    /// What is released of the decision, where it is not the numbers at these places.
    query: Option<ResolvedQuery>,
    settings: Settings,
    /// What may be missed of a constraint: the tolerance, relative to the limits.
    slip: f64,
}

/// Projections of a projection, at most: noise far beyond the limits leaves more than rounding.
const ROUNDS: usize = 4;

impl Projection {
    /// Refuses, with the reason, where the set is not public or the answer is not the whole decision.
    pub(crate) fn new(
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
        let Some(places) = query.whole_decision(n) else {
            return Err("the query does not release the whole decision");
        };
        if parts.p {
            return Err("the quadratic cost, which says what is near, is private");
        }
        let held = template.held_with_noise();
        // Along a direction without curvature a point would be projected anywhere.
        let is_definite = Curvature::of(held.p()).is_some_and(|p| p.columns.len() == n);
        let metric: Vec<(usize, usize, f64)> = match is_definite {
            false => (0..n).map(|j| (j, j, 1.0)).collect(),
            true => held.p().entries().collect(),
        };
        let cones = held.constraints().iter().map(|c| c.cone().clone());
        let largest = held.b().iter().fold(0.0f64, |m, b| m.max(b.abs()));
        Ok(Projection {
            slip: settings.tolerance() * (1.0 + largest),
            held: Program::assembled(
                Sparse::assemble(n, n, &metric),
                vec![0.0; n],
                held.a().clone(),
                held.b().to_vec(),
                0.0,
                cones.collect(),
            ),
            places,
            query: None,
            settings: settings.clone(),
        })
    }

    /// The program with another linear cost on the curved columns, given by the minimiser without constraints: all
    /// constraints hold, and the other columns keep their public costs. Refuses a program that has no optimum.
    pub(super) fn of_linear_term(
        template: &Program,
        curved: &[usize],
        query: ResolvedQuery,
        settings: &Settings,
    ) -> Result<Self> {
        let mut costs = template.q().to_vec();
        curved.iter().for_each(|&j| costs[j] = 0.0);
        let cones = template.constraints().iter().map(|c| c.cone().clone());
        let largest = template.b().iter().fold(0.0f64, |m, b| m.max(b.abs()));
        let solving = Projection {
            slip: settings.tolerance() * (1.0 + largest),
            held: Program::assembled(
                template.p().clone(),
                costs,
                template.a().clone(),
                template.b().to_vec(),
                0.0,
                cones.collect(),
            ),
            places: curved.iter().map(|&j| (j, 1.0)).collect(),
            query: Some(query),
            settings: settings.clone(),
        };
        // Whether it has an optimum does not hang on the linear cost of curved columns: one solve tells for all.
        solve::solve_checked(
            &template.with_linear_cost(solving.held.q().to_vec()),
            settings,
        )?;
        Ok(solving)
    }

    /// [`Projection::new`] as a refusal of the strategy.
    pub(crate) fn required(
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

    /// The same projection, whose solves this flag stops.
    pub(super) fn watching(mut self, cancel: &Cancel) -> Self {
        self.settings = self.settings.with_cancel(cancel.clone());
        self
    }

    /// The nearest feasible answer.
    pub fn apply(&self, answer: &[f64]) -> Result<Vec<f64>> {
        Ok(self.published(&self.decision_of(answer)?))
    }

    /// What is published of a decision.
    pub(super) fn published(&self, x: &[f64]) -> Vec<f64> {
        match &self.query {
            Some(query) => query.apply(x),
            None => {
                let places = self.places.iter();
                places.map(|&(j, weight)| weight * x[j]).collect()
            }
        }
    }

    /// The query on the decision, where it is another than that of the noisy numbers.
    pub(super) fn query(&self) -> Option<&ResolvedQuery> {
        self.query.as_ref()
    }

    /// The column of each noisy number.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().map(|place| place.0)
    }

    /// The decision that a noisy answer stands for, on all columns.
    pub(super) fn decision_of(&self, answer: &[f64]) -> Result<Vec<f64>> {
        let mut noisy = vec![0.0; self.held.columns()];
        for (&(j, weight), value) in self.places.iter().zip(answer) {
            noisy[j] = value / weight;
        }
        self.decision(&noisy)
    }

    /// The nearest feasible decision: the noisy one itself where it is feasible.
    pub(crate) fn decision(&self, noisy: &[f64]) -> Result<Vec<f64>> {
        let violation = |slack: &[f64]| self.held.worst_violation(slack).0;
        let mut x = noisy.to_vec();
        let mut slack = self.held.slack(&x);
        // Columns beside the noisy ones have their own costs, and are solved for.
        let is_whole = self.places.len() == x.len();
        if is_whole && violation(&slack) <= 0.0 {
            return Ok(x);
        }
        let rounds = if is_whole { ROUNDS } else { 1 };
        for _ in 0..rounds {
            // d = x − y: min ½d'Pd over b − Ay − Ad ∈ K, in the units of what is missed.
            let step = self.held.with_right_hand_side(slack);
            let step = solve::solve_checked(&step, &self.settings)?.x;
            x.iter_mut().zip(step).for_each(|(x, d)| *x += d);
            slack = self.held.slack(&x);
            // A step is as exact as it is long; the constraints are met in their own units.
            if violation(&slack) <= self.slip {
                return Ok(x);
            }
        }
        Err(Error::Numerical(format!(
            "the noisy answer lies too far from the constraints to be projected onto them: they are missed by {:.1e} still",
            violation(&slack)
        )))
    }
}
