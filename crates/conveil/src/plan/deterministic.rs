//! The map without noise: what output perturbation releases, and what the paper calibrates to.

use super::posed::Posed;
use crate::ask::ResolvedQuery;
use crate::error::Result;
use crate::program::DataMap;
use crate::rule::Shape;
use crate::solve::{self, Settings};
use std::sync::Arc;

/// The program without noise, as a map: what output perturbation releases, and what the paper calibrates to.
#[derive(Debug)]
pub struct DeterministicMap<'m> {
    map: Arc<dyn DataMap + 'm>,
    query: ResolvedQuery,
    shape: Shape,
    settings: Settings,
}

impl<'m> DeterministicMap<'m> {
    pub(crate) fn new(map: Arc<dyn DataMap + 'm>, posed: &Posed, settings: &Settings) -> Self {
        DeterministicMap {
            map,
            query: posed.query.clone(),
            shape: posed.shape.clone(),
            settings: settings.clone(),
        }
    }

    /// T^{-1} times the answer at x(θ).
    pub fn answer(&self, theta: &[f64]) -> Result<Vec<f64>> {
        let program = self.map.at(theta)?;
        let solution = solve::solve_checked(&program, &self.settings)?;
        let answer = self.query.answer(&program, &solution.x);
        Ok(self.shape.unshape(&answer))
    }
}
