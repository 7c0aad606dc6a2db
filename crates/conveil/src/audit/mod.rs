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

// What comes out.
mod movement;
mod paper_mode;
mod report;
mod witness;

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
        let field = self.field(plan)?;
        let claim = Claim::of(plan);
        let map = loss::released_map(plan);
        let sampled = self.sample(&map, &field, &claim, batch)?;
        let searched = self.search(plan, &map, &field, &claim, &sampled, batch)?;
        report::collect(plan, self, &field.universe, &claim, sampled, searched)
    }

    /// How far adjacent datasets move the released map, and the map without noise. For the curator only.
    pub fn sensitivity(&self, plan: &Plan<'_>, batch: &Batch<'_>) -> Result<SensitivityReport> {
        let field = self.field(plan)?;
        let claim = Claim::of(plan);
        let measure = |map: &Map<'_>| -> Result<Moved> {
            let sampled = self.sample(map, &field, &claim, batch)?;
            let searched = self.search(plan, map, &field, &claim, &sampled, batch)?;
            Ok(movement::moved(&sampled, &searched))
        };
        let released = measure(&loss::released_map(plan))?;
        let deterministic = measure(&loss::deterministic_map(plan))?;
        Ok(movement::collect(
            plan,
            self,
            &field.universe,
            released,
            deterministic,
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

    fn sample(
        &self,
        map: &Map<'_>,
        field: &Field,
        claim: &Claim,
        batch: &Batch<'_>,
    ) -> Result<SampledPairs> {
        let pairs = self.pairs_of(field);
        let results = batch.run(self.pairs as usize, |index| {
            let (a, b) = pairs.pair(index as u64);
            (map(&a), map(&b))
        })?;
        let mut sampled = SampledPairs::default();
        for (index, sides) in results.into_iter().enumerate() {
            match sides {
                (Err(Error::Cancelled), _) | (_, Err(Error::Cancelled)) => {
                    return Err(Error::Cancelled);
                }
                (Ok(a), Ok(b)) => sampled.losses.push(Some(claim.loss(&a, &b)?)),
                (Err(e), other) | (other, Err(e)) => {
                    sampled.losses.push(None);
                    sampled.failures.push(Failed {
                        pair: index as u64,
                        sides: 1 + usize::from(other.is_err()),
                        why: e.to_string(),
                    });
                }
            }
        }
        Ok(sampled)
    }

    /// The worst pair of all, random or searched.
    fn search(
        &self,
        plan: &Plan<'_>,
        map: &Map<'_>,
        field: &Field,
        claim: &Claim,
        sampled: &SampledPairs,
        batch: &Batch<'_>,
    ) -> Result<Worst> {
        let pairs = self.pairs_of(field);
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
        let mut worst = Worst {
            found: starts.first().cloned(),
            ..Worst::default()
        };
        if self.climbs > 0 {
            let norm = claim.privacy.norm();
            let model = plan.model();
            let (budget, seed) = (self.solves, self.seed);
            let mut search = Search::new(model, map, field, norm, budget, seed, batch);
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
    }
}

/// A short audit, to print beside a claim that nothing supports, such as that of paper mode: `report.beside()`.
pub fn quick(plan: &Plan<'_>, batch: &Batch<'_>) -> Result<AuditReport> {
    let audit = Audit::new().pairs(QUICK.0).climbs(1).solves(QUICK.1);
    audit.run(plan, batch)
}

/// Random pairs, in order; `None` where a side had no answer.
#[derive(Debug, Default)]
struct SampledPairs {
    losses: Vec<Option<PairLoss>>,
    failures: Vec<Failed>,
}

/// The worst pair found, and what the search cost.
#[derive(Debug, Default)]
struct Worst {
    found: Option<Found>,
    loss: Option<PairLoss>,
    solves: usize,
    failures: usize,
    first_failure: Option<String>,
}
