//! The gradient's part of the search: where the linear model of the answer would send a pair.

use super::field::Pair;
use super::search::Search;
use crate::ask::{Adjacency, Norm};
use crate::error::Result;

/// The step of finite differences, as a share of the universe's size.
const DIFFERENCE: f64 = 1e-3;

/// Signs of this many released numbers are all tried as directions of the answer.
const SIGNED: usize = 4;

impl Search<'_> {
    /// Pairs that the gradient of the answer points to, where finite differences are affordable: a small part of what
    /// is left.
    pub(super) fn uphill(&mut self, pair: &Pair, step: f64, floor: usize) -> Result<Vec<Pair>> {
        let entries = self.field.entries();
        let allowed = self.budget.saturating_sub(floor);
        if 4 * (entries + 1) > allowed {
            return Ok(Vec::new());
        }
        let (a, b) = pair;
        let (Some(at_a), Some(at_b)) = (self.jacobian(a)?, self.jacobian(b)?) else {
            return Ok(Vec::new());
        };
        let (Some(first), Some(second)) = (self.point(a), self.point(b)) else {
            return Ok(Vec::new());
        };
        let ahead: Vec<f64> = (second.answer.iter().zip(&first.answer))
            .map(|(b, a)| b - a)
            .collect();
        let mut pairs = Vec::new();
        for v in self.answers_directions(&ahead) {
            let (down, up) = (at_a.transposed(&v), at_b.transposed(&v));
            let back: Vec<f64> = down.iter().map(|g| -g).collect();
            match self.field.adjacency {
                Adjacency::Universe => {
                    let (low, high) = (
                        self.field.universe.extreme(&back),
                        self.field.universe.extreme(&up),
                    );
                    let part = step.min(1.0);
                    let between = |from: &[f64], to: &[f64]| -> Vec<f64> {
                        let ends = from.iter().zip(to);
                        ends.map(|(f, t)| f + part * (t - f)).collect()
                    };
                    let (nearer, further) = (between(a, &low), between(b, &high));
                    pairs.push((low.clone(), high.clone()));
                    pairs.push((nearer, further));
                    pairs.push((a.clone(), high));
                    pairs.push((low, b.clone()));
                }
                Adjacency::OneRecord { len } => {
                    let len = len.max(1);
                    let mut records: Vec<usize> = (0..entries / len).collect();
                    let weight = |k: &usize| crate::program::norm(&down[k * len..(k + 1) * len]);
                    records.sort_by(|i, j| weight(j).total_cmp(&weight(i)));
                    for record in records.into_iter().take(4) {
                        let mut only = vec![0.0; entries];
                        let range = record * len..(record + 1) * len;
                        only[range.clone()].copy_from_slice(&down[range]);
                        pairs.push(self.field.pair(a, &only));
                    }
                }
                Adjacency::L2 { .. } => {
                    // A few power steps on the linear model: d = J'v, v = dual of Jd.
                    let mut direction = down.clone();
                    for _ in 0..10 {
                        direction = at_a.transposed(&self.dual(&at_a.times(&direction)));
                    }
                    pairs.push(self.field.pair(a, &down));
                    pairs.push(self.field.pair(a, &direction));
                }
                Adjacency::OneEntry { .. } | Adjacency::L1 { .. } => {
                    let mut single: Vec<usize> = (0..entries).collect();
                    let weight = |i: &usize| self.norm.of(&at_a.columns[*i]);
                    single.sort_by(|i, j| weight(j).total_cmp(&weight(i)));
                    for i in single.into_iter().take(4) {
                        let mut only = vec![0.0; entries];
                        for sign in [1.0, -1.0] {
                            only[i] = sign;
                            pairs.push(self.field.pair(a, &only));
                        }
                    }
                }
            }
            if self.field.adjacency != Adjacency::Universe {
                // The base may move both sides to where the map is steeper.
                let steeper: Vec<f64> = up.iter().zip(&down).map(|(u, d)| u - d).collect();
                let signs: Vec<f64> = (steeper.iter())
                    .map(|g| if *g == 0.0 { 0.0 } else { g.signum() })
                    .collect();
                pairs.extend(self.field.around(pair, &signs, step));
            }
        }
        Ok(pairs)
    }

    /// Directions of the answer worth climbing along: that of the pair, and every pattern of signs (ℓ₁) or every single
    /// number (ℓ₂).
    fn answers_directions(&self, ahead: &[f64]) -> Vec<Vec<f64>> {
        let released = ahead.len();
        let mut directions = vec![self.dual(ahead)];
        match self.norm {
            Norm::L1 if released <= SIGNED => {
                directions.extend((0..1usize << released.saturating_sub(1)).map(|pattern| {
                    let sign = |k: usize| if pattern >> k & 1 == 1 { -1.0 } else { 1.0 };
                    (0..released).map(sign).collect()
                }));
            }
            _ => directions.extend((0..released.min(SIGNED)).map(|chosen| {
                let unit = |k: usize| f64::from(u8::from(k == chosen));
                (0..released).map(unit).collect()
            })),
        }
        directions
    }

    /// v with v'y = ‖y‖.
    fn dual(&self, y: &[f64]) -> Vec<f64> {
        match self.norm {
            Norm::L1 => y.iter().map(|v| v.signum()).collect(),
            Norm::L2 => {
                let size = crate::program::norm(y).max(f64::MIN_POSITIVE);
                y.iter().map(|v| v / size).collect()
            }
        }
    }

    /// ∂y/∂θ by finite differences towards the inside of the universe; `None` where an answer is missing.
    fn jacobian(&mut self, theta: &[f64]) -> Result<Option<Jacobian>> {
        let centre = self.field.universe.centre().to_vec();
        let entries = self.field.entries();
        let steps: Vec<f64> = (0..entries)
            .map(|i| {
                let step = DIFFERENCE * self.field.universe.reach(i);
                if theta[i] > centre[i] { -step } else { step }
            })
            .collect();
        let mut near = vec![theta.to_vec()];
        for i in (0..entries).filter(|i| steps[*i] != 0.0) {
            let mut other = theta.to_vec();
            other[i] += steps[i];
            near.push(other);
        }
        self.solve(near)?;
        let Some(here) = self.point(theta).cloned() else {
            return Ok(None);
        };
        let mut columns = Vec::with_capacity(entries);
        for i in 0..entries {
            if steps[i] == 0.0 {
                columns.push(vec![0.0; here.answer.len()]);
                continue;
            }
            let mut other = theta.to_vec();
            other[i] += steps[i];
            let Some(there) = self.point(&other) else {
                return Ok(None);
            };
            let change = there.answer.iter().zip(&here.answer);
            columns.push(change.map(|(t, h)| (t - h) / steps[i]).collect());
        }
        Ok(Some(Jacobian { columns }))
    }
}

/// ∂y/∂θ, by columns.
struct Jacobian {
    columns: Vec<Vec<f64>>,
}

impl Jacobian {
    /// J'v.
    fn transposed(&self, v: &[f64]) -> Vec<f64> {
        let columns = self.columns.iter();
        columns
            .map(|c| c.iter().zip(v).map(|(c, v)| c * v).sum())
            .collect()
    }

    /// Jd.
    fn times(&self, d: &[f64]) -> Vec<f64> {
        let released = self.columns.first().map_or(0, Vec::len);
        let row = |k: usize| self.columns.iter().zip(d).map(|(c, d)| c[k] * d).sum();
        (0..released).map(row).collect()
    }
}
