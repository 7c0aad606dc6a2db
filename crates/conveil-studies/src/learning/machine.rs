//! A support vector machine in one mode: what is claimed of its hyperplane, the noise for it, and what fresh pairs say.
//!
//! Studies bring the records, and where neighbours of them lie.

use clap::ValueEnum;
use conveil::ask::{
    Adjacency, Ask, Bound, MapKind, Privacy, Request, SampleSize, Sampled, Universe,
};
use conveil::audit::Audit;
use conveil::certify::{Estimate, Pairs, estimate};
use conveil::chance::Feasibility;
use conveil::noise::{Sampler, pair_samples_exact, pair_samples_paper};
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{self, Batch};
use conveil::{Error, Result};
use conveil_models::svm::{Accuracy, Feature, Intercept, Labels, Svm};
use serde::Serialize;

use super::hyperplane::{Audited, Examples, Nominal};

/// Where a private dataset lies inside its public universe.
const MEMBER: u64 = 9 << 40;

/// Fresh pairs are others than those of any calibration.
const FRESH: u64 = 0xF4E5_0000_0000_0000;

/// One digit of a percentage needs no more of the solver.
const TOLERANCE: f64 = 1e-6;

/// The basis of a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The map without noise around the private data, as published
    #[default]
    Paper,
    /// Sampled pairs of the released map around public data
    Calibrated,
    /// The certificate for regularised empirical risk
    Certified,
}

impl Mode {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Paper => "paper",
            Mode::Calibrated => "calibrated",
            Mode::Certified => "certified",
        }
    }
}

/// Records in the units of the file or network.
pub(crate) struct Records<'a> {
    pub(crate) features: &'a [String],
    /// Public bounds of the features; paper mode scales by the training records' own range instead.
    pub(crate) bounds: &'a [(f64, f64)],
    pub(crate) training: &'a Examples,
    pub(crate) test: &'a Examples,
    /// Which drawing of the same law they are.
    pub(crate) world: u64,
}

/// What is claimed, and how it is sampled.
#[derive(Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) privacy: Privacy,
    /// The share of pairs that a sampled sensitivity may miss.
    pub(crate) gamma: f64,
    /// The risk that it misses more.
    pub(crate) beta: f64,
    pub(crate) size: SampleSize,
    /// Draws of the noise.
    pub(crate) draws: u64,
    pub(crate) seed: u64,
}

pub(crate) struct Machine<'a> {
    pub(crate) mode: Mode,
    pub(crate) svm: Svm,
    /// The private records.
    theta: Vec<f64>,
    /// Where pairs come from.
    universe: Universe,
    pub(crate) test: Examples,
    claim: Claim,
    solver: solve::Settings,
    pub(crate) batch: &'a Batch<'a>,
}

/// From records to hyperplanes.
type Map<'p> = dyn Fn(&[f64]) -> Result<Vec<f64>> + Sync + 'p;

/// A hyperplane before its noise, what the noise is for, and where it comes from.
pub(crate) struct Perturbed<'p> {
    pub(crate) nominal: Nominal,
    pub(crate) sensitivity: f64,
    map: Box<Map<'p>>,
}

impl<'a> Machine<'a> {
    /// `around` is the universe around scaled records, for the modes whose claim is about one.
    pub(crate) fn new(
        mode: Mode,
        lambda: f64,
        records: &Records<'_>,
        around: impl FnOnce(Vec<f64>) -> Result<Universe>,
        claim: Claim,
        batch: &'a Batch<'a>,
    ) -> Result<Self> {
        let ranges = records.training.ranges();
        let scaled = |examples: &Examples| match mode {
            Mode::Paper => examples.normalised(&ranges),
            _ => examples.clone(),
        };
        let (training, test) = (scaled(records.training), scaled(records.test));
        let named = records.features.iter().zip(records.bounds);
        let features = named.map(|(name, (low, high))| match mode {
            Mode::Paper => Feature::unbounded(name),
            _ => Feature::within(name, *low, *high),
        });
        let builder = Svm::of(training.features.len(), features.collect()).lambda(lambda);
        let svm = match mode {
            // The paper's intercept is free, which is no function of the data; almost free is one.
            Mode::Paper => builder
                .labels(Labels::Public(training.labels.clone()))
                .intercept(Intercept::Light),
            Mode::Calibrated => builder.labels(Labels::Public(training.labels.clone())),
            Mode::Certified => builder,
        }
        .build()?;
        let data = svm.dataset(&training.features, &training.labels)?;
        let (universe, theta) = match mode {
            Mode::Paper => (around(data.clone())?, data),
            // The records are public; where around them the private ones lie is not.
            Mode::Calibrated => {
                let universe = around(data)?;
                let mut sampler = Sampler::new(claim.seed, MEMBER + records.world);
                let member = universe.sample(&mut sampler);
                (universe, member)
            }
            // The public bounds of every entry.
            Mode::Certified => (Universe::between_bounds(svm.parameters())?, data),
        };
        let solver = solve::Settings::default().with_cancel(batch.cancel_flag().clone());
        Ok(Machine {
            mode,
            svm,
            theta,
            universe,
            test,
            claim,
            solver: solver.with_tolerance(TOLERANCE)?,
            batch,
        })
    }

    fn adjacency(&self) -> Adjacency {
        match self.mode {
            Mode::Certified => self.svm.adjacency(),
            _ => Adjacency::Universe,
        }
    }

    /// The share of pairs that the mode's claim is about: the paper's and a certificate's is about all.
    fn share(&self) -> f64 {
        match self.mode {
            Mode::Calibrated => 1.0 - self.claim.gamma,
            Mode::Paper | Mode::Certified => 1.0,
        }
    }

    /// The hyperplane of the program without noise: what output perturbation adds its noise to.
    fn without_noise(&self, theta: &[f64]) -> Result<Vec<f64>> {
        let mut solution = solve::solve_checked(&self.svm.at(theta)?, &self.solver)?;
        // The weights and the intercept come first, in the query's order.
        solution.x.truncate(self.svm.features().len() + 1);
        Ok(solution.x)
    }

    /// The hyperplane of the private records without any noise, and its accuracy in percent.
    pub(crate) fn exact(&self) -> Result<(Vec<f64>, f64)> {
        let weights = self.without_noise(&self.theta)?;
        let (features, labels) = (&self.test.features, &self.test.labels);
        let score = self.svm.score(&weights, features, labels)?;
        Ok((weights, 100.0 * score.accuracy))
    }

    /// How far so many pairs move a map; a pair without an answer is an error.
    fn movements(&self, seed: u64, count: u64, map: &Map<'_>) -> Result<Vec<f64>> {
        let pairs = Pairs::new(self.universe.clone(), self.adjacency(), seed);
        let (start, norm) = (Estimate::default(), self.claim.privacy.norm());
        let found = estimate(start, &pairs, count, norm, map, self.batch)?;
        match found.failures.first() {
            None => Ok(found.movements),
            Some((pair, why)) => Err(Error::Numerical(format!("pair {pair}: {why}"))),
        }
    }

    /// Algorithm 1 on the map without noise: the largest movement of as many pairs as the claim takes.
    pub(crate) fn sampled_sensitivity(&self) -> Result<f64> {
        let Claim { gamma, beta, .. } = self.claim;
        let count = match self.claim.size {
            SampleSize::Paper => pair_samples_paper(gamma, beta)?,
            SampleSize::Exact => pair_samples_exact(gamma, beta)?,
        };
        let map = |theta: &[f64]| self.without_noise(theta);
        let found = self.movements(self.claim.seed, count, &map)?;
        Ok(found.into_iter().fold(0.0, f64::max))
    }

    /// Program perturbation's plan; `sampled` is the sensitivity of the map without noise, for paper mode.
    pub(crate) fn plan(&self, feasibility: Feasibility, sampled: f64) -> Result<Plan<'_>> {
        let request = match self.mode {
            Mode::Paper => Request::Declared {
                bound: Bound::Total(sampled),
                reason: "the largest movement of the map without noise over sampled pairs".into(),
            },
            Mode::Calibrated => Request::Sampled(Sampled {
                universe: self.universe.clone(),
                gamma: self.claim.gamma,
                beta: self.claim.beta,
                seed: self.claim.seed,
                size: self.claim.size,
                on: MapKind::Released,
            }),
            Mode::Certified => Request::regularised_erm(),
        };
        let ask = Ask::new(self.svm.query())
            .adjacency(self.adjacency())
            .privacy(self.claim.privacy)
            .feasibility(feasibility)
            .settings(self.solver.clone())
            .sensitivity(request);
        match self.mode {
            Mode::Paper => Plan::paper_mode(&self.svm, ask, &self.theta),
            _ => Plan::with_batch(&self.svm, ask, self.batch),
        }
    }

    /// Output perturbation with noise for this sensitivity.
    pub(crate) fn output(&self, sensitivity: f64) -> Result<Perturbed<'_>> {
        Ok(Perturbed {
            nominal: Nominal {
                weights: self.without_noise(&self.theta)?,
                law: self.claim.privacy.law(sensitivity)?,
            },
            sensitivity,
            map: Box::new(|theta| self.without_noise(theta)),
        })
    }

    /// Program perturbation by this plan.
    pub(crate) fn program<'p>(&self, plan: &'p Plan<'_>) -> Result<Perturbed<'p>> {
        Ok(Perturbed {
            nominal: Nominal {
                weights: plan.released().at(&self.theta)?.answer,
                law: *plan.law(),
            },
            sensitivity: plan.guarantee().sensitivity(),
            map: Box::new(|theta| Ok(plan.released().at(theta)?.answer)),
        })
    }

    /// Accuracy under the noise.
    pub(crate) fn accuracy(&self, nominal: &Nominal) -> Result<Accuracy> {
        let Claim { draws, seed, .. } = self.claim;
        nominal.accuracy(&self.svm, &self.test, draws, seed, self.batch)
    }

    /// What this many fresh pairs say of the claim, and the largest movement of a search.
    pub(crate) fn audited(
        &self,
        perturbed: &Perturbed<'_>,
        pairs: u64,
        searched: Option<f64>,
    ) -> Result<Audited> {
        let (privacy, law) = (&self.claim.privacy, &perturbed.nominal.law);
        let fresh = self.movements(self.claim.seed ^ FRESH, pairs, &*perturbed.map)?;
        Audited::of(&fresh, searched, privacy, law, self.share())
    }

    /// A search of so many solves from the worst of some pairs.
    pub(crate) fn search(&self, pairs: u64, solves: usize) -> Audit {
        Audit::new()
            .universe(self.universe.clone())
            .pairs(pairs)
            .climbs(1)
            .solves(solves)
            .seed(self.claim.seed)
    }
}

/// Whether a table can go on without this number: no scale works, or the solver gave up.
pub(crate) fn is_local(error: &Error) -> bool {
    matches!(
        error,
        Error::NotAttainable(_) | Error::Numerical(_) | Error::Inaccurate { .. }
    )
}
