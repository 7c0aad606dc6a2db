//! Which datasets count as neighbours (M1). The text is part of every guarantee.

use crate::error::{Error, Result};
use crate::noise::Sampler;
use std::fmt;

/// θ ~ θ'.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Adjacency {
    /// One entry changes by at most α.
    OneEntry {
        /// α.
        alpha: f64,
    },
    /// ‖θ − θ'‖₁ ≤ α.
    L1 {
        /// α.
        alpha: f64,
    },
    /// ‖θ − θ'‖₂ ≤ α.
    L2 {
        /// α.
        alpha: f64,
    },
    /// One record, a run of this many entries, is replaced.
    OneRecord {
        /// Entries in a record.
        len: usize,
    },
    /// Any two members of the universe.
    Universe,
}

impl Adjacency {
    /// One entry changes by at most α.
    pub fn one_entry(alpha: f64) -> Self {
        Adjacency::OneEntry { alpha }
    }

    /// α, where the adjacency has one.
    pub fn alpha(&self) -> Option<f64> {
        match self {
            Adjacency::OneEntry { alpha } | Adjacency::L1 { alpha } | Adjacency::L2 { alpha } => {
                Some(*alpha)
            }
            _ => None,
        }
    }

    pub(crate) fn with_alpha(mut self, new: f64) -> Self {
        match &mut self {
            Adjacency::OneEntry { alpha } | Adjacency::L1 { alpha } | Adjacency::L2 { alpha } => {
                *alpha = new;
            }
            _ => {}
        }
        self
    }

    pub(crate) fn validate(&self, parameters: usize) -> Result<()> {
        if let Some(alpha) = self.alpha()
            && !(alpha.is_finite() && alpha > 0.0)
        {
            return Err(Error::input(format!(
                "the adjacency's α must be positive and finite, found {alpha}"
            )));
        }
        if let Adjacency::OneRecord { len } = self
            && (*len == 0 || !parameters.is_multiple_of(*len))
        {
            return Err(Error::input(format!(
                "records of {len} entries do not divide {parameters} private parameters"
            )));
        }
        Ok(())
    }

    /// The largest ‖θ − θ'‖₁ and ‖θ − θ'‖₂ between neighbours, where the adjacency itself bounds them.
    pub fn reach(&self, parameters: usize) -> Option<(f64, f64)> {
        let root = (parameters.max(1) as f64).sqrt();
        match self {
            Adjacency::OneEntry { alpha } | Adjacency::L1 { alpha } => Some((*alpha, *alpha)),
            Adjacency::L2 { alpha } => Some((alpha * root, *alpha)),
            _ => None,
        }
    }

    /// Whether two datasets are neighbours, up to rounding; for universe adjacency any two of the same length are.
    pub fn relates(&self, first: &[f64], second: &[f64]) -> bool {
        if first.len() != second.len() {
            return false;
        }
        let change: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        let size = first
            .iter()
            .chain(second)
            .fold(0.0f64, |m, v| m.max(v.abs()));
        let slack = |alpha: f64| alpha * (1.0 + 1e-9) + 1e-12 * size;
        let l1: f64 = change.iter().map(|v| v.abs()).sum();
        match self {
            Adjacency::OneEntry { alpha } => {
                change.iter().filter(|v| **v != 0.0).count() <= 1 && l1 <= slack(*alpha)
            }
            Adjacency::L1 { alpha } => l1 <= slack(*alpha),
            Adjacency::L2 { alpha } => crate::program::norm(&change) <= slack(*alpha),
            Adjacency::OneRecord { len } => {
                let records = change.chunks((*len).max(1));
                records.filter(|r| r.iter().any(|v| *v != 0.0)).count() <= 1
            }
            Adjacency::Universe => true,
        }
    }

    /// How [`Adjacency::neighbour`] draws the second member of a pair, in words.
    pub(crate) fn second_member(&self) -> String {
        match self {
            Adjacency::OneEntry { alpha } => format!(
                "the other differs from it in one entry, drawn uniformly, by {alpha} up or down, or by less where the universe ends"
            ),
            Adjacency::L1 { alpha } => format!(
                "the other lies {alpha} away from it (ℓ₁) in a random direction, or less where the universe ends"
            ),
            Adjacency::L2 { alpha } => format!(
                "the other lies {alpha} away from it (ℓ₂) in a random direction, or less where the universe ends"
            ),
            Adjacency::OneRecord { .. } => {
                "the other has one of its records, drawn uniformly, replaced by that of an independent draw".into()
            }
            Adjacency::Universe => "the other drawn independently in the same way".into(),
        }
    }

    /// A random neighbour of a member of the universe: as far away as the adjacency allows, inside the universe.
    pub(crate) fn neighbour(
        &self,
        theta: &[f64],
        universe: &super::Universe,
        sampler: &mut Sampler,
    ) -> Vec<f64> {
        let other = match self {
            Adjacency::Universe => return universe.sample(sampler),
            Adjacency::OneRecord { len } => {
                let fresh = universe.sample(sampler);
                let record = pick(theta.len() / len.max(&1), sampler);
                let mut other = theta.to_vec();
                let range = record * len..((record + 1) * len).min(theta.len());
                other[range.clone()].copy_from_slice(&fresh[range]);
                // A record that cuts through a disc can leave it.
                other
            }
            Adjacency::OneEntry { alpha } => {
                let mut other = theta.to_vec();
                let entry = pick(theta.len(), sampler);
                other[entry] += if sampler.uniform() < 0.5 {
                    -alpha
                } else {
                    *alpha
                };
                other
            }
            Adjacency::L1 { alpha } | Adjacency::L2 { alpha } => {
                let direction: Vec<f64> = theta.iter().map(|_| sampler.unit_normal()).collect();
                let size = match self {
                    Adjacency::L1 { .. } => direction.iter().map(|v| v.abs()).sum(),
                    _ => crate::program::norm(&direction),
                };
                let step = if size > 0.0 { alpha / size } else { 0.0 };
                theta
                    .iter()
                    .zip(&direction)
                    .map(|(t, d)| t + step * d)
                    .collect()
            }
        };
        universe.pull_inside(theta, other)
    }
}

fn pick(count: usize, sampler: &mut Sampler) -> usize {
    ((sampler.uniform() * count as f64) as usize).min(count.saturating_sub(1))
}

impl fmt::Display for Adjacency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Adjacency::OneEntry { alpha } => {
                write!(f, "datasets in which one entry differs by at most {alpha}")
            }
            Adjacency::L1 { alpha } => {
                write!(f, "datasets at most {alpha} apart in the ℓ₁ norm")
            }
            Adjacency::L2 { alpha } => {
                write!(f, "datasets at most {alpha} apart in the Euclidean norm")
            }
            Adjacency::OneRecord { len } => {
                let entries = if *len == 1 { "entry" } else { "entries" };
                write!(f, "datasets that differ in one record of {len} {entries}")
            }
            Adjacency::Universe => write!(f, "any two datasets of the stated universe"),
        }
    }
}
