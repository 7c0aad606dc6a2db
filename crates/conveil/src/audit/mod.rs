//! Auditing a plan (M10): how much do adjacent datasets really differ under its noise?
//!
//! White box: both datasets of a pair are solved, and the privacy loss follows exactly from the distance of the two
//! answers and the law of the noise. An audit can contradict a claim, never prove one.

// Where pairs come from, and what one pair loses.
mod loss;
mod source;

// The adversarial search.
mod directions;
mod field;
mod search;
mod uphill;

// What comes out, at once or in cells.
mod cells;
mod movement;
mod paper_mode;
mod report;
mod witness;

pub use cells::{Probed, SampledPairs, WorstPair};
pub use loss::PairLoss;
pub use movement::{Moved, SensitivityReport};
pub use report::{AuditReport, Failed, PairShare, Quantiles, Searched, Verdict};
pub use witness::{Replay, Witness};

use crate::ask::Universe;
use crate::certify::Pairs;
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::solve::Batch;
use field::Field;
use loss::{Claim, Map, Point};
use search::{Found, Search};
use std::ops::Range;

/// The audit's pairs are others than the plan's own, whatever its seed.
const APART: u64 = 0xA0D1_7000_0000_0000;

/// Pairs and solves of [`quick`].
const QUICK: (u64, usize) = (60, 400);

/// At most so many pairs: each costs two solves.
const MOST_PAIRS: u64 = 10_000_000;

/// How to audit.
#[derive(Clone, Debug)]
pub struct Audit {
    universe: Option<Universe>,
    pairs: u64,
    seed: u64,
    climbs: usize,
    solves: usize,
}

impl Default for Audit {
    fn default() -> Self {
        Audit {
            universe: None,
            pairs: 200,
            seed: 1,
            climbs: 3,
            solves: 2000,
        }
    }
}

impl Audit {
    /// 200 random pairs, then a search of 2000 solves from the three worst.
    pub fn new() -> Self {
        Self::default()
    }

    /// Pairs are drawn from this set. Otherwise from the one that the plan's sensitivity was sampled from, or from the
    /// box of the parameters' public bounds.
    pub fn universe(mut self, universe: Universe) -> Self {
        self.universe = Some(universe);
        self
    }

    /// Random pairs.
    pub fn pairs(mut self, pairs: u64) -> Self {
        self.pairs = pairs;
        self
    }

    /// The seed of the pairs and of the search.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The search climbs from this many of the worst pairs; 0 for no search.
    pub fn climbs(mut self, climbs: usize) -> Self {
        self.climbs = climbs;
        self
    }

    /// The search solves at most about this many programs.
    pub fn solves(mut self, solves: usize) -> Self {
        self.solves = solves;
        self
    }

    /// Audits the map that the plan releases. For the curator only.
    pub fn run(&self, plan: &Plan<'_>, batch: &Batch<'_>) -> Result<AuditReport> {
        let sampled = self.sample(plan, Probed::Released, 0..self.pairs, batch)?;
        let worst = self.search(
            plan,
            Probed::Released,
            std::slice::from_ref(&sampled),
            batch,
        )?;
        self.report(plan, &[sampled], worst)
    }

    /// How far adjacent datasets move the released map, and the map without noise. For the curator only.
    pub fn sensitivity(&self, plan: &Plan<'_>, batch: &Batch<'_>) -> Result<SensitivityReport> {
        let measure = |map: Probed| -> Result<(Vec<SampledPairs>, WorstPair)> {
            let sampled = vec![self.sample(plan, map, 0..self.pairs, batch)?];
            let worst = self.search(plan, map, &sampled, batch)?;
            Ok((sampled, worst))
        };
        let (released, worst) = measure(Probed::Released)?;
        let (without_noise, worst_without) = measure(Probed::WithoutNoise)?;
        self.measured(plan, (&released, &worst), (&without_noise, &worst_without))
    }

    /// The report of these cells: blocks of all sampled pairs of the released map in their order, and the search from them.
    pub fn report(
        &self,
        plan: &Plan<'_>,
        blocks: &[SampledPairs],
        worst: WorstPair,
    ) -> Result<AuditReport> {
        let field = self.field(plan)?;
        let origin = self.origin(plan, Probed::Released)?;
        worst.require(&origin, field.entries())?;
        let sampled = self.joined(origin, blocks)?;
        report::collect(
            plan,
            self,
            &field.universe,
            &Claim::of(plan),
            sampled,
            worst,
        )
    }

    /// How far the cells of both maps show adjacent datasets to move them.
    pub fn measured(
        &self,
        plan: &Plan<'_>,
        released: (&[SampledPairs], &WorstPair),
        without_noise: (&[SampledPairs], &WorstPair),
    ) -> Result<SensitivityReport> {
        let field = self.field(plan)?;
        let moved =
            |map: Probed, (blocks, worst): (&[SampledPairs], &WorstPair)| -> Result<Moved> {
                let origin = self.origin(plan, map)?;
                worst.require(&origin, field.entries())?;
                Ok(movement::moved(&self.joined(origin, blocks)?, worst))
            };
        Ok(movement::collect(
            plan,
            self,
            &field.universe,
            moved(Probed::Released, released)?,
            moved(Probed::WithoutNoise, without_noise)?,
        ))
    }

    fn field(&self, plan: &Plan<'_>) -> Result<Field> {
        if self.pairs == 0 || self.pairs > MOST_PAIRS {
            return Err(Error::input(format!(
                "an audit needs between 1 and {MOST_PAIRS} pairs, found {}",
                self.pairs
            )));
        }
        Ok(Field {
            universe: source::universe(plan, self.universe.as_ref())?,
            adjacency: *plan.guarantee().adjacency(),
        })
    }

    fn pairs_of(&self, field: &Field) -> Pairs {
        Pairs::new(field.universe.clone(), field.adjacency, self.seed ^ APART)
    }

    /// Solves these of the random pairs: a cell.
    pub fn sample(
        &self,
        plan: &Plan<'_>,
        map: Probed,
        numbers: Range<u64>,
        batch: &Batch<'_>,
    ) -> Result<SampledPairs> {
        let field = self.field(plan)?;
        if numbers.end > self.pairs || numbers.start > numbers.end {
            return Err(Error::input(format!(
                "this audit has pairs 0 to {}, found a block from {} to {}",
                self.pairs, numbers.start, numbers.end
            )));
        }
        let (claim, pairs) = (Claim::of(plan), self.pairs_of(&field));
        let mut sampled = SampledPairs::new(self.origin(plan, map)?, numbers.start);
        let count = (numbers.end - numbers.start) as usize;
        let results = on(plan, map, |map| {
            batch.run(count, |index| {
                let (a, b) = pairs.pair(numbers.start + index as u64);
                (map(&a), map(&b))
            })
        })?;
        for (index, sides) in numbers.zip(results) {
            match sides {
                (Err(Error::Cancelled), _) | (_, Err(Error::Cancelled)) => {
                    return Err(Error::Cancelled);
                }
                (Ok(a), Ok(b)) => sampled.losses.push(Some(claim.loss(&a, &b)?)),
                (Err(e), other) | (other, Err(e)) => {
                    sampled.losses.push(None);
                    sampled.failures.push(Failed {
                        pair: index,
                        sides: 1 + usize::from(other.is_err()),
                        why: e.to_string(),
                    });
                }
            }
        }
        Ok(sampled)
    }

    /// The worst pair of all, random or searched from the worst of the random ones: a cell.
    pub fn search(
        &self,
        plan: &Plan<'_>,
        map: Probed,
        blocks: &[SampledPairs],
        batch: &Batch<'_>,
    ) -> Result<WorstPair> {
        let (field, claim) = (self.field(plan)?, Claim::of(plan));
        let origin = self.origin(plan, map)?;
        let sampled = self.joined(origin.clone(), blocks)?;
        let pairs = self.pairs_of(&field);
        let mut starts: Vec<(usize, f64)> = (sampled.losses.iter().enumerate())
            .filter_map(|(i, loss)| Some((i, loss.as_ref()?.movement)))
            .collect();
        starts.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let starts = starts.into_iter().take(self.climbs.max(1));
        let starts: Vec<Found> = starts
            .map(|(index, movement)| Found {
                pair: pairs.pair(index as u64),
                movement,
                how: format!("sampled pair {index}"),
            })
            .collect();
        let mut worst = WorstPair::new(origin, starts.first().cloned());
        on(plan, map, |map| {
            if self.climbs > 0 {
                let norm = claim.privacy.norm();
                let model = plan.model();
                let (budget, seed) = (self.solves, self.seed);
                let mut search = Search::new(model, map, &field, norm, budget, seed, batch);
                worst.found = search.run(starts)?;
                worst.solves = search.solves;
                worst.failures = search.failures;
                worst.first_failure = search.first_failure;
            }
            if let Some(found) = &worst.found {
                let sides: (Point, Point) = (map(&found.pair.0)?, map(&found.pair.1)?);
                worst.loss = Some(claim.loss(&sides.0, &sides.1)?);
            }
            Ok(worst)
        })
    }
}

/// Work on one of the plan's maps.
fn on<T>(plan: &Plan<'_>, map: Probed, work: impl FnOnce(&Map<'_>) -> Result<T>) -> Result<T> {
    match map {
        Probed::Released => work(&loss::released_map(plan)),
        Probed::WithoutNoise => work(&loss::deterministic_map(plan)),
    }
}

/// A short audit, to print beside a claim that nothing supports, such as that of paper mode: `report.beside()`.
pub fn quick(plan: &Plan<'_>, batch: &Batch<'_>) -> Result<AuditReport> {
    let audit = Audit::new().pairs(QUICK.0).climbs(1).solves(QUICK.1);
    audit.run(plan, batch)
}
