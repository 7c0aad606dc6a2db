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
            self.universe.nearest(to.collect())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::Pairs;
    use crate::noise::Sampler;

    #[test]
    fn every_move_leads_to_neighbours_inside_the_universe() {
        let entries = 12;
        let mut sampler = Sampler::new(31, 7);
        let adjacencies = [
            Adjacency::one_entry(0.7),
            Adjacency::L1 { alpha: 0.7 },
            Adjacency::L2 { alpha: 0.7 },
            Adjacency::OneRecord { len: 2 },
            // Cuts discs of three entries in two.
            Adjacency::OneRecord { len: 4 },
            Adjacency::Universe,
        ];
        for round in 0..40u64 {
            for adjacency in adjacencies {
                for dimension in [1, 2, 3] {
                    let mut numbers = |count: usize, low: f64, high: f64| -> Vec<f64> {
                        let mut one = || low + (high - low) * sampler.uniform();
                        (0..count).map(|_| one()).collect()
                    };
                    let centre = numbers(entries, -5.0, 5.0);
                    let radius = numbers(entries / dimension, 0.0, 2.0);
                    let direction = numbers(entries, -1.0, 1.0);
                    let share = numbers(1, 0.0, 2.0)[0];
                    let universe = Universe::discs(centre, radius, dimension).unwrap();
                    let field = Field {
                        universe: universe.clone(),
                        adjacency,
                    };
                    let start = Pairs::new(universe.clone(), adjacency, round).pair(round);
                    let corner = universe.extreme(&direction);
                    let mut pairs = field.around(&start, &direction, share);
                    pairs.push(field.pair(&start.0, &direction));
                    pairs.push(field.pair(&corner, &direction));
                    for pair in pairs.clone() {
                        pairs.extend(field.around(&pair, &direction, 0.5 * share));
                    }
                    for (a, b) in pairs {
                        assert!(adjacency.relates(&a, &b), "{adjacency}: {a:?} {b:?}");
                        assert!(
                            universe.contains(&a) && universe.contains(&b),
                            "{adjacency}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_pair_is_as_far_apart_as_adjacency_and_universe_allow() {
        let universe = Universe::around(vec![0.0; 2], vec![1.0; 2]).unwrap();
        let field = |adjacency| Field {
            universe: universe.clone(),
            adjacency,
        };
        // From a corner outwards: the base gives way.
        let (a, b) = field(Adjacency::one_entry(0.5)).pair(&[1.0, 1.0], &[1.0, 0.0]);
        assert!(
            (a[0] - 0.5).abs() < 1e-9 && (b[0] - 1.0).abs() < 1e-9,
            "{a:?} {b:?}"
        );
        let (a, b) = field(Adjacency::OneRecord { len: 1 }).pair(&[0.2, 0.3], &[0.0, 1.0]);
        assert_eq!((a, b), (vec![0.2, -1.0], vec![0.2, 1.0]));
        let (a, b) = field(Adjacency::Universe).pair(&[0.0; 2], &[1.0, -3.0]);
        assert_eq!((a, b), (vec![-1.0, 1.0], vec![1.0, -1.0]));
    }
}
