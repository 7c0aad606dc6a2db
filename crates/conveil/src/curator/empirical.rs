//! How often a decided rule is really infeasible: exact for one noise, by fresh draws otherwise.

use crate::chance::feasible_interval;
use crate::error::Result;
use crate::noise::{self, Law, Sampler};
use crate::plan::Decided;
use crate::program::{Against, Cone, Holds, Program};
use crate::solve::Batch;
use serde::Serialize;

/// The measured probability of infeasibility.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Empirical {
    /// From the law's own distribution (one noise).
    Exact {
        /// Pr(infeasible).
        probability: f64,
    },
    /// From fresh draws, with a 99.9999% Clopper–Pearson interval.
    Drawn {
        /// Draws that were infeasible.
        infeasible: u64,
        /// All draws.
        draws: u64,
        /// Interval.
        interval: (f64, f64),
        /// Of how many rows this is the worst, where each has a promise of its own: the largest of many counts lies
        /// above its mean by chance, and the interval allows for that.
        worst_of: Option<usize>,
    },
}

impl Empirical {
    /// What the largest of many counts has to do with the promise for each row; nothing where it is not above it.
    pub fn beside(&self, certified: f64) -> &'static str {
        match self {
            Empirical::Drawn {
                worst_of: Some(_),
                interval,
                ..
            } if self.probability() > certified => match interval.0 <= certified {
                true => ": the largest of so many counts exceeds it by chance",
                false => ": MORE THAN CHANCE ALLOWS",
            },
            _ => "",
        }
    }

    /// The probability, or its estimate.
    pub fn probability(&self) -> f64 {
        match *self {
            Empirical::Exact { probability } => probability,
            Empirical::Drawn {
                infeasible, draws, ..
            } => infeasible as f64 / draws.max(1) as f64,
        }
    }
}

impl std::fmt::Display for Empirical {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Empirical::Exact { probability } => write!(f, "{:.4}% (exact)", 100.0 * probability),
            Empirical::Drawn {
                infeasible,
                draws,
                interval,
                worst_of,
            } => {
                let percent = 100.0 * *infeasible as f64 / *draws as f64;
                write!(f, "{percent:.4}% of {draws} draws")?;
                if let Some(rows) = worst_of {
                    write!(f, " in the worst of {rows} rows")?;
                }
                let (low, high) = (100.0 * interval.0, 100.0 * interval.1);
                write!(f, " (between {low:.4}% and {high:.4}%)")
            }
        }
    }
}

/// Chunks draw from streams of their own, apart from those of the sampled methods.
const STREAM: u64 = 2 << 40;

/// Draws in one chunk: chunks are independent streams, so the count does not depend on threads.
const CHUNK: u64 = 10_000;

/// Rows that are measured at a time: how the noise moves a million of them would fill the memory.
const SLAB: usize = 1 << 16;

/// What is measured of a rule, and how.
pub(super) struct Measured<'a> {
    /// The blocks that hold with noise or always count.
    pub(super) program: &'a Program,
    pub(super) law: &'a Law,
    /// A violation within this, the solve's own primal residual, does not count.
    pub(super) slip: f64,
    /// The worst row alone, where the promise is for each row by itself: every linear row, and every other cone.
    pub(super) each_row: bool,
    /// Fresh draws, where more than one noise keeps the probability from being exact.
    pub(super) draws: u64,
    pub(super) seed: u64,
}

impl Measured<'_> {
    /// Pr[x̄ + Xζ infeasible].
    pub(super) fn of(&self, decided: &Decided, batch: &Batch<'_>) -> Result<Empirical> {
        let (program, law, slip) = (self.program, self.law, self.slip);
        let (draws, seed, recourse) = (self.draws, self.seed, &decided.recourse);
        let slack = program.slack(&decided.mean);
        let by_rows = program.a().by_rows();
        let moves = |i: usize| recourse.of_row(by_rows.row(i));
        if recourse.noises() == 1 {
            let v: Vec<f64> = (0..program.rows())
                .map(|i| moves(i).first().map_or(0.0, |e| e.1))
                .collect();
            let bound = law.support_bound().unwrap_or(1e3 * law.scale());
            let interval = feasible_interval(program, &slack, &v, slip, bound);
            return Ok(Empirical::Exact {
                probability: interval.violation(law),
            });
        }
        let is_moved = |i: usize| by_rows.row(i).iter().any(|e| !recourse.is_still(e.0));
        let blocks: Vec<_> = program
            .constraints()
            .iter()
            .filter(|b| b.holds() != Holds::AtTheMean && !matches!(b.cone(), Cone::Zero(_)))
            .filter(|b| b.range().any(is_moved))
            .collect();
        let chunks = draws.div_ceil(CHUNK).max(1);
        if self.each_row {
            let rows: Vec<usize> = (blocks.iter())
                .filter(|block| block.cone().is_linear())
                .flat_map(|block| block.range())
                .filter(|&i| is_moved(i))
                .collect();
            let mut worst = 0;
            for rows in rows.chunks(SLAB) {
                let moves: Vec<_> = rows.iter().map(|&i| moves(i)).collect();
                let counts = batch.run(chunks as usize, |chunk| {
                    let mut sampler = Sampler::new(seed, STREAM + chunk as u64);
                    let mut zeta = vec![0.0; recourse.noises()];
                    let mut bad = vec![0u64; rows.len()];
                    for _ in 0..CHUNK.min(draws - chunk as u64 * CHUNK) {
                        sampler.fill(law, &mut zeta);
                        for ((bad, moves), &i) in bad.iter_mut().zip(&moves).zip(rows) {
                            let moved: f64 = moves.iter().map(|&(j, v)| v * zeta[j]).sum();
                            *bad += u64::from(slack[i] - moved < -slip);
                        }
                    }
                    bad
                })?;
                let total = |row: usize| counts.iter().map(|bad| bad[row]).sum::<u64>();
                worst = (0..rows.len()).map(total).fold(worst, u64::max);
            }
            return Ok(Empirical::Drawn {
                infeasible: worst,
                draws,
                // The worst of many rows: each has its part of the false alarms.
                interval: noise::clopper_pearson(worst, draws, 1e-6 / rows.len().max(1) as f64)?,
                worst_of: Some(rows.len()),
            });
        }
        let moves: Vec<_> = (0..program.rows()).map(moves).collect();
        let infeasible: u64 = batch
            .run(chunks as usize, |chunk| {
                let mut sampler = Sampler::new(seed, STREAM + chunk as u64);
                let mut zeta = vec![0.0; recourse.noises()];
                let mut point = Vec::new();
                let count = CHUNK.min(draws - chunk as u64 * CHUNK);
                let mut bad = 0u64;
                for _ in 0..count {
                    sampler.fill(law, &mut zeta);
                    let noisy = |i: usize| {
                        slack[i] - moves[i].iter().map(|&(j, v)| v * zeta[j]).sum::<f64>()
                    };
                    let violated = blocks.iter().any(|block| match block.cone() {
                        // One row is enough: of a million records most draws miss one of the first.
                        Cone::Nonnegative(_) => block.range().any(|i| !(-noisy(i) <= slip)),
                        cone => {
                            point.clear();
                            point.extend(block.range().map(noisy));
                            cone.violation(&point, Against::Primal) > slip
                        }
                    });
                    bad += u64::from(violated);
                }
                bad
            })?
            .into_iter()
            .sum();
        Ok(Empirical::Drawn {
            infeasible,
            draws,
            interval: noise::clopper_pearson(infeasible, draws, 1e-6)?,
            worst_of: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_many_rows_is_held_against_chance() {
        let drawn = |infeasible, worst_of: Option<usize>| Empirical::Drawn {
            infeasible,
            draws: 10_000,
            interval: noise::clopper_pearson(infeasible, 10_000, 1e-6 / 900.0).unwrap(),
            worst_of,
        };
        // 5% of 10000 draws is 500 with a standard deviation of 22.
        assert_eq!(drawn(490, Some(900)).beside(0.05), "");
        let by_chance = ": the largest of so many counts exceeds it by chance";
        assert_eq!(drawn(580, Some(900)).beside(0.05), by_chance);
        assert_eq!(
            drawn(750, Some(900)).beside(0.05),
            ": MORE THAN CHANCE ALLOWS"
        );
        assert_eq!(drawn(750, None).beside(0.05), "");
        let text = drawn(580, Some(900)).to_string();
        assert!(text.starts_with("5.8000% of 10000 draws in the worst of 900 rows (between "));
    }
}
