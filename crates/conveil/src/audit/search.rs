//! The adversarial search of M10: from the worst pairs uphill, by structured moves, single entries and the gradient.
//! Everything it does follows from the seed and the budget, whatever the number of threads.

use super::directions;
use super::field::{Field, Pair};
use super::loss::{Map, Point, movement};
use crate::ask::{Adjacency, Norm};
use crate::error::{Error, Result};
use crate::noise::Sampler;
use crate::program::DataMap;
use crate::solve::Batch;
use std::collections::HashMap;

/// Random choices of the search come from streams of their own.
const STREAM: u64 = 5 << 40;

/// Single entries, or records, tried in one round.
const SINGLES: usize = 32;

/// Bases from which neighbours are tried before climbing.
const BASES: usize = 12;

/// Steps, as shares of the universe's size, from large to small.
const STEPS: [f64; 5] = [2.0, 0.5, 0.125, 0.03, 0.008];

/// The step of finite differences, as a share of the universe's size.
const DIFFERENCE: f64 = 1e-3;

/// A move must gain this share to count.
const GAIN: f64 = 1e-7;

/// Signs of this many released numbers are all tried as directions of the answer.
const SIGNED: usize = 4;

/// How a climbed pair was found.
const CLIMBED: &str = "climbed from ";

/// A pair and how far apart its answers are.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) pair: Pair,
    pub(super) movement: f64,
    pub(super) how: String,
}

/// The search's state: what was solved so far.
pub(super) struct Search<'a> {
    map: &'a Map<'a>,
    field: &'a Field,
    norm: Norm,
    batch: &'a Batch<'a>,
    structured: Vec<Vec<f64>>,
    sampler: Sampler,
    known: HashMap<Vec<u64>, Option<Point>>,
    /// Solves that are left.
    budget: usize,
    /// Solves that were made.
    pub(super) solves: usize,
    /// Datasets without an answer, and the first reason.
    pub(super) failures: usize,
    pub(super) first_failure: Option<String>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        model: &dyn DataMap,
        map: &'a Map<'a>,
        field: &'a Field,
        norm: Norm,
        (budget, seed): (usize, u64),
        batch: &'a Batch<'a>,
    ) -> Self {
        Search {
            map,
            field,
            norm,
            batch,
            structured: directions::structured(model, &field.universe, field.adjacency),
            sampler: Sampler::new(seed, STREAM),
            known: HashMap::new(),
            budget,
            solves: 0,
            failures: 0,
            first_failure: None,
        }
    }

    /// The worst pair found from these starts (most promising first) and from the structured pairs.
    pub(super) fn run(&mut self, starts: Vec<Found>) -> Result<Option<Found>> {
        let climbs = starts.len().max(1);
        let mut starts = starts;
        if let Some(structured) = self.opening()? {
            starts.push(structured);
        }
        starts.sort_by(|a, b| b.movement.total_cmp(&a.movement));
        starts.truncate(climbs);
        let mut best = starts.first().cloned();
        let count = starts.len();
        for (index, start) in starts.into_iter().enumerate() {
            let share = self.budget / (count - index);
            let found = self.climb(start, share)?;
            if best.as_ref().is_none_or(|b| found.movement > b.movement) {
                best = Some(found);
            }
        }
        Ok(best)
    }

    /// The best of the structured pairs, for a third of the budget.
    fn opening(&mut self) -> Result<Option<Found>> {
        let centre = self.field.universe.centre().to_vec();
        let mut pairs = Vec::new();
        if self.field.adjacency == Adjacency::Universe {
            let directions = self.structured.iter();
            pairs.extend(directions.map(|d| self.field.pair(&centre, d)));
        } else {
            let mut bases = vec![centre];
            for direction in self.structured.iter().take(BASES / 2) {
                let back: Vec<f64> = direction.iter().map(|v| -v).collect();
                bases.push(self.field.universe.extreme(direction));
                bases.push(self.field.universe.extreme(&back));
            }
            for base in bases {
                pairs.extend(self.neighbours(&base));
            }
        }
        let allowed = self.budget / 3;
        let moved = self.movements(&pairs, allowed)?;
        Ok(best_of(&pairs, &moved).map(|(pair, movement)| Found {
            pair,
            movement,
            how: "a structured pair".into(),
        }))
    }

    /// Neighbours of one base in single entries or records, and for ℓ₂ along whole groups.
    fn neighbours(&mut self, base: &[f64]) -> Vec<Pair> {
        let entries = self.field.entries();
        let mut pairs = Vec::new();
        match self.field.adjacency {
            Adjacency::OneRecord { len } => {
                let len = len.max(1);
                for record in self.some_of(entries / len) {
                    let mut direction = vec![0.0; entries];
                    direction[record * len..(record + 1) * len].fill(1.0);
                    pairs.push(self.field.pair(base, &direction));
                    for i in record * len..(record + 1) * len {
                        direction.fill(0.0);
                        direction[i] = 1.0;
                        pairs.push(self.field.pair(base, &direction));
                    }
                }
            }
            _ => {
                if matches!(self.field.adjacency, Adjacency::L2 { .. }) {
                    let directions = self.structured.iter();
                    pairs.extend(directions.map(|d| self.field.pair(base, d)));
                }
                for i in self.some_of(entries) {
                    let mut direction = vec![0.0; entries];
                    for sign in [1.0, -1.0] {
                        direction[i] = sign;
                        pairs.push(self.field.pair(base, &direction));
                    }
                }
            }
        }
        pairs
    }

    /// Uphill until no step gains or the share of the budget is spent.
    fn climb(&mut self, start: Found, share: usize) -> Result<Found> {
        let floor = self.budget.saturating_sub(share);
        let mut best = start;
        let mut steps = STEPS.iter();
        let Some(mut step) = steps.next() else {
            return Ok(best);
        };
        while self.budget > floor {
            // The gradient first: where it gains, the other moves can wait.
            let pairs = self.uphill(&best.pair, *step, floor)?;
            if self.gains(&mut best, &pairs, floor)? {
                continue;
            }
            let mut pairs = Vec::new();
            if self.field.adjacency != Adjacency::Universe {
                let base = best.pair.0.clone();
                pairs.extend(self.neighbours(&base));
            }
            for direction in &self.structured {
                pairs.extend(self.field.around(&best.pair, direction, *step));
            }
            for i in self.some_of(self.field.entries()) {
                let mut direction = vec![0.0; self.field.entries()];
                direction[i] = 1.0;
                pairs.extend(self.field.around(&best.pair, &direction, *step));
            }
            if !self.gains(&mut best, &pairs, floor)? {
                match steps.next() {
                    Some(smaller) => step = smaller,
                    None => break,
                }
            }
        }
        Ok(best)
    }

    /// Moves to the best of these pairs if it is better.
    fn gains(&mut self, best: &mut Found, pairs: &[Pair], floor: usize) -> Result<bool> {
        let allowed = self.budget.saturating_sub(floor);
        let moved = self.movements(pairs, allowed)?;
        let Some((pair, movement)) = best_of(pairs, &moved) else {
            return Ok(false);
        };
        if movement <= best.movement * (1.0 + GAIN) {
            return Ok(false);
        }
        if !best.how.starts_with(CLIMBED) {
            best.how = format!("{CLIMBED}{}", best.how);
        }
        best.pair = pair;
        best.movement = movement;
        Ok(true)
    }

    /// Pairs that the gradient of the answer points to, where finite differences are affordable: a small part of what
    /// is left.
    fn uphill(&mut self, pair: &Pair, step: f64, floor: usize) -> Result<Vec<Pair>> {
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

    /// All of 0 … count−1, or a fresh random choice of [`SINGLES`].
    fn some_of(&mut self, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..count).collect();
        if count > SINGLES {
            for i in 0..SINGLES {
                let rest = count - i;
                let j = i + ((self.sampler.uniform() * rest as f64) as usize).min(rest - 1);
                all.swap(i, j);
            }
            all.truncate(SINGLES);
        }
        all
    }

    /// The movement of each pair; `None` where a side has no answer or the allowance ended.
    fn movements(&mut self, pairs: &[Pair], allowed: usize) -> Result<Vec<Option<f64>>> {
        let allowed = allowed.min(self.budget);
        let mut wanted: Vec<Vec<f64>> = Vec::new();
        let mut new = std::collections::HashSet::new();
        for (a, b) in pairs {
            let fresh = |t: &&Vec<f64>| {
                let key = bits(t);
                !self.known.contains_key(&key) && !new.contains(&key)
            };
            let more: Vec<&Vec<f64>> = [a, b].into_iter().filter(fresh).collect();
            if wanted.len() + more.len() > allowed {
                break;
            }
            for theta in more {
                if new.insert(bits(theta)) {
                    wanted.push(theta.clone());
                }
            }
        }
        self.solve(wanted)?;
        let moved = pairs.iter().map(|(a, b)| {
            let (a, b) = (self.point(a)?, self.point(b)?);
            Some(movement(self.norm, a, b))
        });
        Ok(moved.collect())
    }

    /// Solves what is not known yet, in parallel.
    fn solve(&mut self, thetas: Vec<Vec<f64>>) -> Result<()> {
        let wanted: Vec<Vec<f64>> = thetas
            .into_iter()
            .filter(|t| !self.known.contains_key(&bits(t)))
            .collect();
        let map = self.map;
        let results = self.batch.run(wanted.len(), |i| map(&wanted[i]))?;
        self.solves += wanted.len();
        self.budget = self.budget.saturating_sub(wanted.len());
        for (theta, result) in wanted.iter().zip(results) {
            let point = match result {
                Ok(point) => Some(point),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(e) => {
                    self.failures += 1;
                    self.first_failure.get_or_insert_with(|| e.to_string());
                    None
                }
            };
            self.known.insert(bits(theta), point);
        }
        Ok(())
    }

    fn point(&self, theta: &[f64]) -> Option<&Point> {
        self.known.get(&bits(theta)).and_then(Option::as_ref)
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

fn bits(theta: &[f64]) -> Vec<u64> {
    theta.iter().map(|v| v.to_bits()).collect()
}

fn best_of(pairs: &[Pair], moved: &[Option<f64>]) -> Option<(Pair, f64)> {
    let known = pairs
        .iter()
        .zip(moved)
        .filter_map(|(p, m)| Some((p, (*m)?)));
    // The first of equals, so that the choice does not depend on anything else.
    let best = known.fold(None, |best: Option<(&Pair, f64)>, (pair, m)| match best {
        Some((_, most)) if most >= m => best,
        _ => Some((pair, m)),
    });
    best.map(|(pair, m)| (pair.clone(), m))
}
