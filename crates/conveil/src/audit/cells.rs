//! An audit in cells, which other threads, processes or machines may compute and keep: blocks of sampled pairs, and the
//! search from the worst of all of them.
//!
//! Pair i depends on (seed, i) alone, and the search on the sampled pairs: the report is the same however the pairs were
//! cut, and an audit in one go is the one with a single block.

use super::loss::PairLoss;
use super::report::Failed;
use super::search::Found;
use super::{Audit, source};
use crate::error::{Error, Result};
use crate::plan::Plan;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Smaller blocks are not worth the plan that each cell makes.
const LEAST_PAIRS: u64 = 25;

/// At most so many blocks, whatever the pairs.
const MOST_BLOCKS: u64 = 128;

/// The map whose answers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probed {
    /// The map that is released.
    Released,
    /// The map without noise.
    WithoutNoise,
}

/// What a cell was computed for. Cells of another audit are refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Origin {
    map: Probed,
    seed: u64,
    /// Of the noise.
    scale: f64,
    step: f64,
    /// The universe in words.
    source: String,
}

/// What a block of sampled pairs showed, in their order. For the curator only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampledPairs {
    origin: Origin,
    /// The number of the first pair.
    first: u64,
    /// `None` where a side had no answer.
    #[serde(with = "losses")]
    pub(super) losses: Vec<Option<PairLoss>>,
    pub(super) failures: Vec<Failed>,
}

/// The worst pair of all, sampled or searched, and what the search cost. For the curator only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorstPair {
    origin: Origin,
    pub(super) found: Option<Found>,
    pub(super) loss: Option<PairLoss>,
    pub(super) solves: usize,
    pub(super) failures: usize,
    pub(super) first_failure: Option<String>,
}

impl SampledPairs {
    pub(super) fn new(origin: Origin, first: u64) -> Self {
        SampledPairs {
            origin,
            first,
            losses: Vec::new(),
            failures: Vec::new(),
        }
    }
}

impl WorstPair {
    pub(super) fn new(origin: Origin, found: Option<Found>) -> Self {
        WorstPair {
            origin,
            found,
            loss: None,
            solves: 0,
            failures: 0,
            first_failure: None,
        }
    }

    /// Refuses that of another audit, or of datasets of another size.
    pub(super) fn require(&self, origin: &Origin, entries: usize) -> Result<()> {
        let mut sides = self.found.iter().flat_map(|f| [&f.pair.0, &f.pair.1]);
        match self.origin == *origin && sides.all(|theta| theta.len() == entries) {
            true => Ok(()),
            false => Err(foreign("a search")),
        }
    }
}

impl Audit {
    /// The blocks of pairs that cells are computed for, none but the last shorter than `least`: each cell makes the plan
    /// anew, and one with a sampled sensitivity takes a sample of its own. They depend on nothing else than the request.
    pub fn blocks(&self, least: u64) -> Vec<Range<u64>> {
        let length = self.pairs.div_ceil(MOST_BLOCKS);
        let length = length.max(LEAST_PAIRS).max(least);
        let starts = (0..self.pairs).step_by(usize::try_from(length).unwrap_or(usize::MAX));
        starts
            .map(|first| first..first.saturating_add(length).min(self.pairs))
            .collect()
    }

    pub(super) fn origin(&self, plan: &Plan<'_>, map: Probed) -> Result<Origin> {
        let universe = source::universe(plan, self.universe.as_ref())?;
        Ok(Origin {
            map,
            seed: self.seed,
            scale: plan.law().scale(),
            step: plan.released().step(),
            source: universe.to_string(),
        })
    }

    /// All pairs of this audit out of blocks in their order: none missing, none twice, none of another audit.
    pub(super) fn joined(&self, origin: Origin, blocks: &[SampledPairs]) -> Result<SampledPairs> {
        let mut all = SampledPairs::new(origin, 0);
        for block in blocks {
            if block.origin != all.origin {
                return Err(foreign("a block of pairs"));
            }
            let next = all.losses.len() as u64;
            if block.first != next {
                return Err(Error::input(format!(
                    "blocks of pairs must follow each other: pair {next} was expected, found pair {}",
                    block.first
                )));
            }
            all.losses.extend(block.losses.iter().copied());
            all.failures.extend(block.failures.iter().cloned());
        }
        match all.losses.len() as u64 == self.pairs {
            true => Ok(all),
            false => Err(Error::input(format!(
                "the blocks have {} of the {} pairs of this audit",
                all.losses.len(),
                self.pairs
            ))),
        }
    }
}

fn foreign(what: &str) -> Error {
    Error::input(format!(
        "{what} is of another audit: its map, seed, noise or universe differs"
    ))
}

/// Losses in full: the file of a witness leaves out what only the report counts.
mod losses {
    use super::PairLoss;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type Row = (f64, f64, f64, Option<f64>, bool, bool);

    pub(super) fn serialize<S: Serializer>(
        losses: &[Option<PairLoss>],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let row = |l: &PairLoss| -> Row {
            let explained = l.solver_may_explain;
            (
                l.movement,
                l.on_lattice,
                l.epsilon,
                l.delta,
                l.above,
                explained,
            )
        };
        let rows: Vec<Option<Row>> = losses.iter().map(|l| l.as_ref().map(row)).collect();
        rows.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<Option<PairLoss>>, D::Error> {
        let rows = Vec::<Option<Row>>::deserialize(from)?;
        let loss =
            |(movement, on_lattice, epsilon, delta, above, solver_may_explain): Row| PairLoss {
                movement,
                on_lattice,
                epsilon,
                delta,
                above,
                solver_may_explain,
            };
        Ok(rows.into_iter().map(|row| row.map(loss)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_every_pair_once_and_are_few() {
        for pairs in [1, 24, 25, 26, 200, 3200, 3201, 10_000_000] {
            let blocks = Audit::new().pairs(pairs).blocks(1);
            assert!(blocks.len() as u64 <= MOST_BLOCKS);
            assert_eq!(blocks[0].start, 0);
            assert_eq!(blocks[blocks.len() - 1].end, pairs);
            assert!(blocks.windows(2).all(|b| b[0].end == b[1].start));
            assert!(blocks.iter().all(|b| b.start < b.end));
        }
        assert!(Audit::new().pairs(0).blocks(1).is_empty());
        assert_eq!(Audit::new().pairs(200).blocks(90).len(), 3);
        assert_eq!(Audit::new().pairs(200).blocks(u64::MAX).len(), 1);
    }

    #[test]
    fn a_loss_comes_back_from_a_cell_to_the_last_bit() {
        let loss = PairLoss {
            movement: 0.1 + 0.2,
            on_lattice: 1.0 / 3.0,
            epsilon: f64::MAX,
            delta: Some(2f64.powi(-1070)),
            above: true,
            solver_may_explain: true,
        };
        let origin = Origin {
            map: Probed::Released,
            seed: u64::MAX,
            scale: 5e-324,
            step: 2f64.powi(-30),
            source: "a box".into(),
        };
        let mut cell = SampledPairs::new(origin, 7);
        cell.losses = vec![Some(loss), None];
        let text = serde_json::to_string(&cell).unwrap();
        assert_eq!(serde_json::from_str::<SampledPairs>(&text).unwrap(), cell);
    }
}
