//! Universes (M1): public sets of datasets around a public centre, with a sampler.

use crate::error::{Error, Result};
use crate::noise::Sampler;
use std::fmt;

/// A public set of datasets. The centre is public; a universe around the private data is paper mode.
#[derive(Clone, Debug, PartialEq)]
pub struct Universe {
    centre: Vec<f64>,
    radius: Vec<f64>,
    /// Entries that share a disc; 1 for a box.
    dimension: usize,
}

impl Universe {
    /// Every entry within its half-width of the centre, independently.
    pub fn around(centre: Vec<f64>, half_width: Vec<f64>) -> Result<Self> {
        Self::new(centre, half_width, 1)
    }

    /// Runs of `dimension` entries, each run within a Euclidean disc (ball) of its radius around the centre.
    pub fn discs(centre: Vec<f64>, radius: Vec<f64>, dimension: usize) -> Result<Self> {
        Self::new(centre, radius, dimension)
    }

    fn new(centre: Vec<f64>, radius: Vec<f64>, dimension: usize) -> Result<Self> {
        if dimension == 0 || centre.is_empty() || !centre.len().is_multiple_of(dimension) {
            return Err(Error::input(format!(
                "a universe of {} entries cannot be split into discs of dimension {dimension}",
                centre.len()
            )));
        }
        if radius.len() != centre.len() / dimension {
            return Err(Error::input(format!(
                "the universe has {} parts, but {} sizes are given",
                centre.len() / dimension,
                radius.len()
            )));
        }
        if let Some(v) = centre.iter().find(|v| !v.is_finite()) {
            return Err(Error::input(format!(
                "the universe's centre holds {v}: it must be finite"
            )));
        }
        if let Some(v) = radius.iter().find(|v| !(v.is_finite() && **v >= 0.0)) {
            return Err(Error::input(format!(
                "the universe's sizes must be finite and not negative, found {v}"
            )));
        }
        Ok(Universe {
            centre,
            radius,
            dimension,
        })
    }

    /// Number of entries of a dataset.
    pub fn len(&self) -> usize {
        self.centre.len()
    }

    /// Whether it has no entries (never, by construction).
    pub fn is_empty(&self) -> bool {
        self.centre.is_empty()
    }

    /// The public centre.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The same universe, larger or smaller around its centre.
    pub fn scaled(&self, factor: f64) -> Self {
        let mut other = self.clone();
        other.radius.iter_mut().for_each(|r| *r *= factor);
        other
    }

    /// The same sizes around another centre: paper mode only.
    pub(crate) fn recentred(&self, centre: &[f64]) -> Result<Self> {
        Self::new(centre.to_vec(), self.radius.clone(), self.dimension)
    }

    /// Whether the dataset is a member, up to the rounding of numbers as large as the centre's.
    pub fn contains(&self, theta: &[f64]) -> bool {
        self.holds(theta, 2.0 * f64::EPSILON)
    }

    fn holds(&self, theta: &[f64], rounding: f64) -> bool {
        theta.len() == self.len()
            && (0..self.radius.len()).all(|part| {
                let range = part * self.dimension..(part + 1) * self.dimension;
                let offset: Vec<f64> = (range.clone()).map(|i| theta[i] - self.centre[i]).collect();
                let rounding = rounding * crate::program::norm(&self.centre[range]);
                crate::program::norm(&offset) <= self.radius[part] * (1.0 + 1e-12) + rounding
            })
    }

    /// The largest ‖θ − θ'‖₁ and ‖θ − θ'‖₂ between members.
    pub fn diameter(&self) -> (f64, f64) {
        let d = self.dimension as f64;
        let l1: f64 = self.radius.iter().map(|r| 2.0 * r * d.sqrt()).sum();
        let l2 = 2.0 * crate::program::norm(&self.radius);
        (l1, l2)
    }

    /// The same between members that differ in one record of `len` entries, over the worst record. Of a disc that the
    /// record cuts, only the entries inside the record count.
    pub fn record_diameter(&self, len: usize) -> (f64, f64) {
        let mut worst = (0.0f64, 0.0f64);
        let len = len.max(1);
        for start in (0..self.len()).step_by(len) {
            let end = (start + len).min(self.len());
            let parts = start / self.dimension..end.div_ceil(self.dimension);
            let l1 = parts.clone().map(|part| {
                let first = start.max(part * self.dimension);
                let last = end.min((part + 1) * self.dimension);
                2.0 * self.radius[part] * ((last - first) as f64).sqrt()
            });
            let l1: f64 = l1.sum();
            let l2 = 2.0 * crate::program::norm(&self.radius[parts]);
            worst = (worst.0.max(l1), worst.1.max(l2));
        }
        worst
    }

    /// A uniformly drawn member.
    pub fn sample(&self, sampler: &mut Sampler) -> Vec<f64> {
        let mut theta = self.centre.clone();
        for (part, radius) in self.radius.iter().enumerate() {
            let range = part * self.dimension..(part + 1) * self.dimension;
            if self.dimension == 1 {
                theta[range.start] += radius * (2.0 * sampler.uniform() - 1.0);
                continue;
            }
            let direction: Vec<f64> = range.clone().map(|_| sampler.unit_normal()).collect();
            let size = crate::program::norm(&direction).max(f64::MIN_POSITIVE);
            let length = radius * sampler.uniform().powf(1.0 / self.dimension as f64);
            for (i, d) in range.zip(&direction) {
                theta[i] += length * d / size;
            }
        }
        theta
    }

    /// How far entry `i` may lie from its centre.
    pub(crate) fn reach(&self, i: usize) -> f64 {
        self.radius[i / self.dimension]
    }

    /// Entries that share a disc; 1 for a box.
    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// The member nearest to a dataset, part by part.
    pub(crate) fn clamped(&self, mut theta: Vec<f64>) -> Vec<f64> {
        for (part, radius) in self.radius.iter().enumerate() {
            let range = part * self.dimension..(part + 1) * self.dimension;
            let offset: Vec<f64> = range.clone().map(|i| theta[i] - self.centre[i]).collect();
            let size = crate::program::norm(&offset);
            if size > *radius {
                for (i, o) in range.zip(&offset) {
                    theta[i] = self.centre[i] + o * (radius / size);
                }
            }
        }
        theta
    }

    /// The member that lies farthest in this direction; parts without a direction stay at the centre.
    pub(crate) fn extreme(&self, direction: &[f64]) -> Vec<f64> {
        let mut theta = self.centre.clone();
        for (part, radius) in self.radius.iter().enumerate() {
            let range = part * self.dimension..(part + 1) * self.dimension;
            let size = crate::program::norm(&direction[range.clone()]);
            if size > 0.0 && size.is_finite() {
                for i in range {
                    theta[i] += radius * (direction[i] / size);
                }
            }
        }
        theta
    }

    /// `to`, moved back along the segment from the member `from` until it is a member.
    pub(crate) fn pull_inside(&self, from: &[f64], to: Vec<f64>) -> Vec<f64> {
        if self.holds(&to, 0.0) {
            return to;
        }
        let (mut low, mut high) = (0.0, 1.0);
        let at =
            |t: f64| -> Vec<f64> { from.iter().zip(&to).map(|(a, b)| a + t * (b - a)).collect() };
        for _ in 0..50 {
            let mid = 0.5 * (low + high);
            if self.holds(&at(mid), 0.0) {
                low = mid;
            } else {
                high = mid;
            }
        }
        at(low)
    }
}

impl fmt::Display for Universe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (l1, l2) = self.diameter();
        let shown = |size: f64| match size < 1e-2 {
            true => crate::digits::short(size, 4),
            false => format!("{size:.4}"),
        };
        let kind = if self.dimension == 1 {
            "a box"
        } else {
            "a product of discs"
        };
        write!(
            f,
            "{kind} of {} entries around a public centre (diameter {} in ℓ₁, {} in ℓ₂)",
            self.len(),
            shown(l1),
            shown(l2)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_small_universe_around_large_numbers_are_members() {
        for dimension in [1, 2] {
            let centre = vec![1e6, 1e6 / 3.0, -7e5, 1e2];
            let universe = Universe::discs(centre, vec![0.01; 4 / dimension], dimension).unwrap();
            for direction in [[1.0, 1.0, 1.0, 1.0], [-1.0, 0.3, 0.7, 1.0]] {
                let end = universe.extreme(&direction);
                assert!(universe.contains(&end));
                assert_eq!(universe.clamped(end.clone()).len(), 4);
                let beyond: Vec<f64> = end.iter().zip(&direction).map(|(e, d)| e + d).collect();
                assert!(!universe.contains(&beyond));
                assert!(universe.contains(&universe.clamped(beyond)));
            }
        }
    }
}
