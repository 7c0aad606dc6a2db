//! Where a search may go: neighbouring datasets inside the universe, and the moves between such pairs.

use crate::ask::{Adjacency, Universe};

/// Two neighbouring datasets.
pub(super) type Pair = (Vec<f64>, Vec<f64>);

/// The universe and the adjacency.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) universe: Universe,
    pub(super) adjacency: Adjacency,
}

impl Field {
    pub(super) fn entries(&self) -> usize {
        self.universe.len()
    }

    /// A neighbouring pair near `base` that differs as much as it may in this direction.
    pub(super) fn pair(&self, base: &[f64], direction: &[f64]) -> Pair {
        match self.adjacency {
            Adjacency::Universe => {
                let back: Vec<f64> = direction.iter().map(|v| -v).collect();
                (
                    self.universe.extreme(&back),
                    self.universe.extreme(direction),
                )
            }
            Adjacency::OneRecord { len } => self.record_pair(base, direction, len),
            Adjacency::OneEntry { alpha } | Adjacency::L1 { alpha } => {
                // The ends of an ℓ₁ ball are single entries.
                let weighed = |i: &usize| direction[*i].abs();
                let best = (0..direction.len()).max_by(|i, j| weighed(i).total_cmp(&weighed(j)));
                let mut step = vec![0.0; base.len()];
                if let Some(i) = best {
                    step[i] = alpha * direction[i].signum();
                }
                self.stretched(base, &step)
            }
            Adjacency::L2 { alpha } => {
                let size = crate::program::norm(direction);
                let scale = if size > 0.0 { alpha / size } else { 0.0 };
                let step: Vec<f64> = direction.iter().map(|v| scale * v).collect();
                self.stretched(base, &step)
            }
        }
    }

    /// (base, base + step), pulled back inside; where the universe ends early, the base gives way.
    fn stretched(&self, base: &[f64], step: &[f64]) -> Pair {
        let plus = |from: &[f64], sign: f64| -> Vec<f64> {
            from.iter().zip(step).map(|(t, s)| t + sign * s).collect()
        };
        let far = self.universe.pull_inside(base, plus(base, 1.0));
        if far == plus(base, 1.0) {
            return (base.to_vec(), far);
        }
        let near = self.universe.pull_inside(&far, plus(&far, -1.0));
        (near, far)
    }

    /// The record that the direction weighs most, at its two ends.
    fn record_pair(&self, base: &[f64], direction: &[f64], len: usize) -> Pair {
        let len = len.max(1);
        let weight = |k: &usize| crate::program::norm(&direction[self.record(*k, len)]);
        let best = (0..base.len() / len).max_by(|i, j| weight(i).total_cmp(&weight(j)));
        let range = self.record(best.unwrap_or(0), len);
        let mut only = vec![0.0; base.len()];
        only[range.clone()].copy_from_slice(&direction[range.clone()]);
        let high = self.universe.extreme(&only);
        only.iter_mut().for_each(|v| *v = -*v);
        let low = self.universe.extreme(&only);
        let with = |values: &[f64]| {
            let mut theta = base.to_vec();
            theta[range.clone()].copy_from_slice(&values[range.clone()]);
            self.universe.pull_inside(base, theta)
        };
        (with(&low), with(&high))
    }

    fn record(&self, k: usize, len: usize) -> std::ops::Range<usize> {
        k * len..((k + 1) * len).min(self.entries())
    }

    /// The pairs one step of `share` of the universe's size away from this one, along ± the direction.
    pub(super) fn around(&self, pair: &Pair, direction: &[f64], share: f64) -> Vec<Pair> {
        let (a, b) = pair;
        let moved = |theta: &[f64], direction: &[f64], sign: f64| {
            let to = theta.iter().zip(direction).enumerate();
            let to = to.map(|(i, (t, d))| t + sign * share * self.universe.reach(i) * d);
            self.universe.clamped(to.collect())
        };
        match self.adjacency {
            Adjacency::Universe => self.apart(pair, |theta, sign| moved(theta, direction, sign)),
            Adjacency::OneRecord { len } => {
                let len = len.max(1);
                let differs = (0..a.len()).find(|i| a[*i] != b[*i]).unwrap_or(0);
                let range = self.record(differs / len, len);
                let (mut inner, mut outer) = (vec![0.0; a.len()], direction.to_vec());
                inner[range.clone()].copy_from_slice(&direction[range.clone()]);
                outer[range.clone()].fill(0.0);
                let mut pairs = Vec::new();
                if inner.iter().any(|v| *v != 0.0) {
                    let moves = |theta: &[f64], sign| {
                        let mut to = theta.to_vec();
                        let moved = moved(theta, &inner, sign);
                        to[range.clone()].copy_from_slice(&moved[range.clone()]);
                        self.universe.pull_inside(theta, to)
                    };
                    pairs.extend(self.apart(pair, moves));
                }
                if outer.iter().any(|v| *v != 0.0) {
                    for sign in [1.0, -1.0] {
                        let mut first = moved(a, &outer, sign);
                        first[range.clone()].copy_from_slice(&a[range.clone()]);
                        let first = self.universe.pull_inside(a, first);
                        let mut second = first.clone();
                        second[range.clone()].copy_from_slice(&b[range.clone()]);
                        let second = self.universe.pull_inside(&first, second);
                        pairs.push((first, second));
                    }
                }
                pairs
            }
            Adjacency::OneEntry { .. } | Adjacency::L1 { .. } | Adjacency::L2 { .. } => {
                let change: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
                let signs = [1.0, -1.0].into_iter();
                let mut pairs: Vec<Pair> = signs
                    .clone()
                    .map(|sign| self.pair(&moved(a, direction, sign), &change))
                    .collect();
                if let Adjacency::L2 { alpha } = self.adjacency {
                    let size = crate::program::norm(direction).max(f64::MIN_POSITIVE);
                    pairs.extend(signs.map(|sign| {
                        let turn = direction.iter().map(|d| sign * share * alpha * d / size);
                        let turned: Vec<f64> =
                            change.iter().zip(turn).map(|(c, t)| c + t).collect();
                        self.pair(a, &turned)
                    }));
                }
                pairs
            }
        }
    }

    /// One side moves, or both: apart or together.
    fn apart(&self, (a, b): &Pair, moved: impl Fn(&[f64], f64) -> Vec<f64>) -> Vec<Pair> {
        let (up, down) = (moved(a, 1.0), moved(a, -1.0));
        let (high, low) = (moved(b, 1.0), moved(b, -1.0));
        vec![
            (down.clone(), high.clone()),
            (up.clone(), low.clone()),
            (up.clone(), b.clone()),
            (down.clone(), b.clone()),
            (a.clone(), high.clone()),
            (a.clone(), low.clone()),
            (up, high),
            (down, low),
        ]
    }
}
