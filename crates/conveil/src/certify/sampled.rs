//! Algorithm 1 of the paper: the largest movement over pairs drawn from a public universe.
//! Pair i depends on (seed, i) alone: estimates are the same for any number of threads and can be resumed.

use crate::ask::{Adjacency, Norm, Universe};
use crate::error::{Error, Result};
use crate::memory::refuse_beyond_memory;
use crate::noise::Sampler;
use crate::solve::Batch;
use serde::Serialize;

/// Pairs come from streams of their own, apart from those of noise.
const STREAM: u64 = 3 << 40;

/// Pairs of adjacent datasets, by number.
#[derive(Clone, Debug)]
pub struct Pairs {
    universe: Universe,
    adjacency: Adjacency,
    seed: u64,
}

impl Pairs {
    /// Pairs of this universe under this adjacency.
    pub fn new(universe: Universe, adjacency: Adjacency, seed: u64) -> Self {
        Pairs {
            universe,
            adjacency,
            seed,
        }
    }

    /// Pair number `index`: a member drawn uniformly, and a neighbour: under an adjacency with an α as far away as it
    /// allows, otherwise an independent draw of the record or of the dataset.
    pub fn pair(&self, index: u64) -> (Vec<f64>, Vec<f64>) {
        let mut sampler = Sampler::new(self.seed, STREAM + index);
        let first = self.universe.sample(&mut sampler);
        let second = self
            .adjacency
            .neighbour(&first, &self.universe, &mut sampler);
        (first, second)
    }

    /// The public seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }
}

/// What sampling found so far. Continue it with [`estimate`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// Pairs 0 … done−1 were tried.
    pub done: u64,
    /// The largest movement.
    pub largest: f64,
    /// The pair that moved most.
    pub worst: Option<u64>,
    /// Pairs of which a side had no answer: never discarded, always a failure.
    pub failures: Vec<(u64, String)>,
    /// Movement of every pair, in order; infinite for failures.
    pub movements: Vec<f64>,
}

/// What is kept of a pair while a sample is collected.
const BYTES_PER_PAIR: f64 = 100.0;

/// Extends an estimate by `more` pairs, in parallel. `answer` is the map whose movement is measured, already in the
/// metric of the noise (T^{-1}Qx).
pub fn estimate(
    so_far: Estimate,
    pairs: &Pairs,
    more: u64,
    norm: Norm,
    answer: &(dyn Fn(&[f64]) -> Result<Vec<f64>> + Sync),
    batch: &Batch<'_>,
) -> Result<Estimate> {
    refuse_beyond_memory(
        &format!("a sample of {more} pairs"),
        more as f64 * BYTES_PER_PAIR,
        "a larger gamma or beta",
    )?;
    let mut estimate = so_far;
    let first = estimate.done;
    let results = batch.run(more as usize, |offset| {
        let (a, b) = pairs.pair(first + offset as u64);
        let moved = answer(&a).and_then(|x| answer(&b).map(|y| (x, y)));
        moved.map(|(x, y)| {
            let change: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
            norm.of(&change)
        })
    })?;
    for (offset, result) in results.into_iter().enumerate() {
        let index = first + offset as u64;
        match result {
            Ok(moved) => {
                if estimate.worst.is_none() || moved > estimate.largest {
                    estimate.largest = estimate.largest.max(moved);
                    estimate.worst = Some(index);
                }
                estimate.movements.push(moved);
            }
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(e) => {
                estimate.failures.push((index, e.to_string()));
                estimate.movements.push(f64::INFINITY);
            }
        }
    }
    estimate.done += more;
    Ok(estimate)
}
