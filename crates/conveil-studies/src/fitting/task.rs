//! Paper mode at one seed: noise for the movement of the weights without noise, and every way of keeping the conditions
//! under it. All ways share one noise, so that their losses can be compared draw by draw.

use conveil::ask::{Adjacency, Ask, Bound, Privacy, Request, Universe};
use conveil::audit::Audit;
use conveil::certify::{Estimate, Pairs, estimate};
use conveil::noise::{self, Law, Sampler};
use conveil::plan::Plan;
use conveil::program::{AffineMap, Cone, DataMap, Location, Parameter, Place, Program};
use conveil::rule::Shape;
use conveil::solve::solve_checked;
use conveil::{Error, Result};

use super::seeds::{Entry, Found, kept};
use super::{BETA, GAMMA, Metric, Noise, Trial, Way};

/// The stream of the two vertices.
const STREAM: u64 = 7 << 40;

/// What the sensitivity of the map without noise is called.
const REASON: &str = "the largest movement of the map without noise over sampled pairs";

/// Pairs of an audit.
const AUDITED: u64 = 100;

/// What paper mode starts from.
pub(crate) struct Given<'a> {
    pub(crate) trial: &'a Trial<'a>,
    pub(crate) map: Box<dyn DataMap + 'a>,
    /// Where datasets may lie.
    pub(crate) universe: Universe,
    /// The private dataset.
    pub(crate) theta: Vec<f64>,
    pub(crate) privacy: Privacy,
    /// Of projections.
    pub(crate) metric: Metric,
}

/// Weights before noise, and how many conditions are active there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mean {
    pub(crate) weights: Vec<f64>,
    active: usize,
}

impl Given<'_> {
    fn solved(&self, program: &Program) -> Result<Mean> {
        let mut solution = solve_checked(program, &self.trial.solver)?;
        solution.x.truncate(self.trial.model.weights().len());
        Ok(Mean {
            active: active_conditions(program, &solution.z),
            weights: solution.x,
        })
    }

    /// Algorithm 1 on the map without noise.
    fn sensitivity(&self) -> Result<f64> {
        let pairs = Pairs::new(self.universe.clone(), Adjacency::Universe, self.trial.seed);
        let count = noise::pair_samples_paper(GAMMA, BETA)?;
        let (start, norm) = (Estimate::default(), self.privacy.norm());
        let map = |theta: &[f64]| Ok(self.solved(&self.map.at(theta)?)?.weights);
        let found = estimate(start, &pairs, count, norm, &map, self.trial.batch)?;
        match found.failures.first() {
            None => Ok(found.largest),
            Some((pair, why)) => Err(Error::NotAttainable(format!(
                "pair {pair} of the universe has no answer even without noise: {why}"
            ))),
        }
    }

    /// The paper's plan with this way of keeping the conditions.
    fn plan(&self, way: Way, sensitivity: f64) -> Result<Plan<'_>> {
        let ask = Ask::new(self.trial.model.query())
            .adjacency(Adjacency::Universe)
            .privacy(self.privacy)
            .settings(self.trial.solver.clone())
            .sensitivity(Request::Declared {
                bound: Bound::Total(sensitivity),
                reason: REASON.into(),
            })
            .feasibility(way.feasibility(self.trial.eta, self.trial.seed));
        Plan::paper_mode(&*self.map, ask, &self.theta)
    }
}

/// The private task: the sensitivity of the map without noise, and the noise for it.
pub(crate) struct Task<'a> {
    pub(crate) given: Given<'a>,
    pub(crate) sensitivity: f64,
    law: Law,
    shape: Shape,
}

impl<'a> Task<'a> {
    pub(crate) fn new(given: Given<'a>) -> Result<Self> {
        let sensitivity = given.sensitivity()?;
        let law = *given.plan(Way::Exact, sensitivity)?.law();
        Ok(Task {
            shape: Shape::new(None, given.trial.model.weights().len())?,
            given,
            sensitivity,
            law,
        })
    }

    pub(crate) fn noise(&self) -> Noise<'_> {
        Noise {
            law: &self.law,
            shape: &self.shape,
            metric: self.given.metric,
        }
    }

    /// The weights before noise.
    pub(crate) fn mean(&self, way: Way) -> Result<Mean> {
        match way {
            Way::Output | Way::ProjectedOutput => {
                let program = self.given.map.at(&self.given.theta)?;
                self.given.solved(&program)
            }
            Way::TwoVertices => self.given.solved(&self.at_two_vertices()?),
            _ => {
                let plan = self.given.plan(way, self.sensitivity)?;
                let decided = plan.released().at(&self.given.theta)?;
                Ok(Mean {
                    active: active_conditions(&decided.program, &decided.prices),
                    weights: decided.answer,
                })
            }
        }
    }

    /// The weights without noise.
    pub(crate) fn plain(&self) -> Result<Vec<f64>> {
        Ok(self.mean(Way::Output)?.weights)
    }

    /// Every way in turn; the exact one is audited by a search of so many solves.
    pub(crate) fn entries(&self, ways: &[Way], search: Option<usize>) -> Result<Vec<Entry>> {
        let trial = self.given.trial;
        let (fan, noise) = (trial.fan(&trial.model), self.noise());
        let non_private_loss = fan.loss(&self.plain()?);
        let entry = |&way: &Way| {
            let found = self.mean(way).and_then(|mean| {
                Ok(Found {
                    judged: fan.judge(way, &mean.weights, &noise)?,
                    active: mean.active,
                })
            });
            let audited_epsilon = match (way, &found, search) {
                (Way::Exact, Ok(_), Some(solves)) => Some(self.audited_epsilon(way, solves)?),
                _ => None,
            };
            Ok(Entry {
                found: kept(found)?,
                sensitivity: self.sensitivity,
                non_private_loss,
                audited_epsilon,
            })
        };
        ways.iter().map(entry).collect()
    }

    /// The ε of the released map over the universe.
    fn audited_epsilon(&self, way: Way, solves: usize) -> Result<f64> {
        let audit = Audit::new()
            .universe(self.given.universe.clone())
            .pairs(AUDITED)
            .climbs(1)
            .solves(solves);
        let plan = self.given.plan(way, self.sensitivity)?;
        Ok(audit.run(&plan, self.given.trial.batch)?.audited_epsilon)
    }

    /// Every condition a'w ≥ 0 as a'(w + l) ≥ 0 and a'(w + u) ≥ 0, for l and u the least and largest of the samples.
    fn at_two_vertices(&self) -> Result<Program> {
        let k = self.given.trial.model.weights().len();
        let samples = noise::paper_box_samples(k as u64, self.given.trial.eta, BETA)?;
        let mut sampler = Sampler::new(self.given.trial.seed, STREAM);
        let mut ends = vec![(0.0f64, 0.0f64); k];
        for _ in 0..samples {
            for (low, high) in &mut ends {
                let value = sampler.draw(&self.law);
                (*low, *high) = (low.min(value), high.max(value));
            }
        }
        let program = self.given.map.at(&self.given.theta)?;
        let rows = program.a().by_rows();
        let mut places = Vec::new();
        for block in program.constraints() {
            let Cone::Nonnegative(_) = block.cone() else {
                continue;
            };
            for i in block.range() {
                // The row is b − (−a)'w: at w + l the right-hand side has a'l more.
                let at = |end: &dyn Fn(&(f64, f64)) -> f64| -> f64 {
                    let terms = rows.row(i).iter().filter(|(j, _)| *j < k);
                    terms.map(|(j, v)| -v * end(&ends[*j])).sum()
                };
                let shift = at(&|e| e.0).min(at(&|e| e.1));
                if shift != 0.0 {
                    places.push(Location::new(Place::B(i), shift));
                }
            }
        }
        if places.is_empty() {
            return Err(Error::Input("there are no conditions to keep".into()));
        }
        let corners = Parameter::new("corners").at_all(places);
        AffineMap::new(program, vec![corners])?.at(&[1.0])
    }
}

/// A multiplier below this share of the largest is the solver's rounding.
const PRICE: f64 = 1e-5;

/// Conditions with a price.
fn active_conditions(program: &Program, prices: &[f64]) -> usize {
    let blocks = program.constraints().iter();
    let linear = blocks.filter(|block| matches!(block.cone(), Cone::Nonnegative(_)));
    let prices: Vec<f64> = linear
        .flat_map(|block| &prices[block.range()])
        .copied()
        .collect();
    let largest = prices.iter().fold(PRICE, |m: f64, p| m.max(p.abs()));
    prices
        .iter()
        .filter(|p| p.abs() > PRICE * largest.max(1.0))
        .count()
}
