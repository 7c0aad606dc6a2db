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
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Random choices of the search come from streams of their own.
const STREAM: u64 = 5 << 40;

/// Single entries, or records, tried in one round.
const SINGLES: usize = 32;

/// Bases from which neighbours are tried before climbing.
const BASES: usize = 12;

/// Steps, as shares of the universe's size, from large to small.
const STEPS: [f64; 5] = [2.0, 0.5, 0.125, 0.03, 0.008];

/// A move must gain this share to count.
const GAIN: f64 = 1e-7;

/// How a climbed pair was found.
const CLIMBED: &str = "climbed from ";

/// A pair and how far apart its answers are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Found {
    pub(super) pair: Pair,
    pub(super) movement: f64,
    pub(super) how: String,
}

/// The search's state: what was solved so far.
pub(super) struct Search<'a> {
    map: &'a Map<'a>,
    pub(super) field: &'a Field,
    pub(super) norm: Norm,
    batch: &'a Batch<'a>,
    structured: Vec<Vec<f64>>,
    sampler: Sampler,
    known: HashMap<Vec<u64>, Option<Point>>,
    /// Solves that are left.
    pub(super) budget: usize,
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
        budget: usize,
        seed: u64,
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
    pub(super) fn solve(&mut self, thetas: Vec<Vec<f64>>) -> Result<()> {
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

    pub(super) fn point(&self, theta: &[f64]) -> Option<&Point> {
        self.known.get(&bits(theta)).and_then(Option::as_ref)
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
