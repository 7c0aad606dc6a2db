//! One dataset: every mode, every strategy.

use conveil::Result;
use conveil::ask::{
    Adjacency, Ask, Bound, Calibration, MapKind, Privacy, Request, SampleSize, Sampled, Universe,
};
use conveil::audit::Audit;
use conveil::chance::Feasibility;
use conveil::noise::{Sampler, pair_samples_exact, pair_samples_paper};
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::sensitivity::Pairs;
use conveil::solve::{self, Batch};
use conveil_models::svm::{Feature, Intercept, Labels, Svm};

use super::data::Dataset;
use super::{Mode, Row, Settings};
use crate::hyperplane::{
    Audited, Examples, FRESH, Nominal, is_local, movements, tolerant, without_noise,
};
use crate::paper;

/// Where the private records lie inside their public universe.
const MEMBER: u64 = 9 << 40;

/// Most fresh pairs of a certificate, which is proven: enough to see how far it is from tight.
pub(super) const PROVEN: u64 = 20;

/// All rows of a dataset.
pub(super) fn rows(dataset: &Dataset, settings: &Settings, batch: &Batch<'_>) -> Result<Vec<Row>> {
    let (mut rows, etas) = (Vec::new(), &settings.etas);
    if let Some(lambda) = settings.lambdas.first() {
        rows = Cell::new(dataset, settings, (Mode::Paper, *lambda), batch)?.rows(etas)?;
    }
    // The other modes need bounds that are public.
    if dataset.bounds.is_some() && (dataset.balanced || settings.full) {
        let etas = match settings.full {
            true => etas.as_slice(),
            false => &etas[..1],
        };
        let lambdas = settings.lambdas.as_slice();
        let last = match settings.full {
            true => lambdas,
            false => &lambdas[lambdas.len().saturating_sub(1)..],
        };
        for (mode, lambdas) in [(Mode::Calibrated, lambdas), (Mode::Certified, last)] {
            for lambda in lambdas {
                let cell = Cell::new(dataset, settings, (mode, *lambda), batch)?;
                rows.extend(cell.rows(etas)?);
            }
        }
    }
    Ok(rows)
}

struct Cell<'a> {
    dataset: &'a Dataset,
    settings: &'a Settings,
    mode: Mode,
    svm: Svm,
    /// The private records.
    theta: Vec<f64>,
    /// Where pairs come from.
    universe: Universe,
    test: Examples,
    solver: solve::Settings,
    batch: &'a Batch<'a>,
}

impl<'a> Cell<'a> {
    fn new(
        dataset: &'a Dataset,
        settings: &'a Settings,
        (mode, lambda): (Mode, f64),
        batch: &'a Batch<'a>,
    ) -> Result<Self> {
        let records = dataset.training.features.len();
        let ranges = dataset.training.ranges();
        let (training, test) = match mode {
            Mode::Paper => (
                dataset.training.normalised(&ranges),
                dataset.test.normalised(&ranges),
            ),
            _ => (dataset.training.clone(), dataset.test.clone()),
        };
        let bounds = dataset.bounds.as_deref().unwrap_or(&ranges);
        let named = dataset.features.iter().zip(bounds);
        let features = named.map(|(name, (low, high))| match mode {
            Mode::Paper => Feature::unbounded(name),
            _ => Feature::within(name, *low, *high),
        });
        let builder = Svm::of(records, features.collect()).lambda(lambda);
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
            // ±1% of each private value, in the units of its feature's own range.
            Mode::Paper => {
                let raw = dataset.training.features.iter().flat_map(|x| {
                    let each = x.iter().zip(&ranges);
                    each.map(|(v, (low, high))| settings.spread * v.abs() / (high - low))
                });
                (Universe::around(data.clone(), raw.collect())?, data)
            }
            // ±1% of each feature's largest public value around public records, in units of half the public range.
            Mode::Calibrated => {
                let one = bounds.iter().map(|(low, high)| {
                    2.0 * settings.spread * low.abs().max(high.abs()) / (high - low)
                });
                let one: Vec<f64> = one.collect();
                let half = one.iter().copied().cycle().take(data.len());
                let universe = Universe::around(data.clone(), half.collect())?;
                let member = universe.sample(&mut Sampler::new(settings.seed, MEMBER));
                (universe, member)
            }
            Mode::Certified => (Universe::between_bounds(svm.parameters())?, data),
        };
        Ok(Cell {
            dataset,
            settings,
            mode,
            svm,
            theta,
            universe,
            test,
            solver: tolerant(batch)?,
            batch,
        })
    }

    fn delta(&self) -> f64 {
        let records = self.dataset.training.features.len();
        self.settings.delta.unwrap_or(1.0 / records as f64)
    }

    fn privacy(&self) -> Privacy {
        Privacy::Gaussian {
            epsilon: self.settings.epsilon,
            delta: self.delta(),
            calibration: match self.mode {
                Mode::Paper => Calibration::Classic,
                _ => Calibration::Analytic,
            },
        }
    }

    fn adjacency(&self) -> Adjacency {
        match self.mode {
            Mode::Certified => self.svm.adjacency(),
            _ => Adjacency::Universe,
        }
    }

    fn share(&self) -> f64 {
        match self.mode {
            Mode::Calibrated => 1.0 - self.settings.gamma,
            Mode::Paper | Mode::Certified => 1.0,
        }
    }

    fn without_noise(&self, theta: &[f64]) -> Result<Vec<f64>> {
        without_noise(&self.svm, theta, &self.solver)
    }

    fn ask(&self, eta: f64) -> Ask {
        Ask::new(self.svm.query())
            .adjacency(self.adjacency())
            .privacy(self.privacy())
            .feasibility(Feasibility::each(eta))
            .settings(self.solver.clone())
    }

    /// Program perturbation's plan; `sampled` is the sensitivity of the map without noise, for paper mode.
    fn plan(&self, eta: f64, sampled: f64) -> Result<Plan<'_>> {
        let ask = self.ask(eta);
        match self.mode {
            Mode::Paper => {
                let ask = ask.sensitivity(Request::Declared {
                    bound: Bound::Total(sampled),
                    reason: "the largest movement of the map without noise over sampled pairs"
                        .into(),
                });
                Plan::paper_mode(&self.svm, ask, &self.theta)
            }
            Mode::Calibrated => {
                let ask = ask.sensitivity(Request::Sampled(Sampled {
                    universe: self.universe.clone(),
                    gamma: self.settings.gamma,
                    beta: self.settings.beta,
                    seed: self.settings.seed,
                    size: SampleSize::Exact,
                    on: MapKind::Released,
                }));
                Plan::with_batch(&self.svm, ask, self.batch)
            }
            Mode::Certified => Plan::with_batch(
                &self.svm,
                ask.sensitivity(Request::RegularisedErm),
                self.batch,
            ),
        }
    }

    /// Algorithm 1 on the map without noise, with as many pairs as the mode takes.
    fn sampled_sensitivity(&self) -> Result<f64> {
        let (gamma, beta) = (self.settings.gamma, self.settings.beta);
        let count = match self.mode {
            Mode::Paper => pair_samples_paper(gamma, beta)?,
            _ => pair_samples_exact(gamma, beta)?,
        };
        let pairs = Pairs::new(self.universe.clone(), self.adjacency(), self.settings.seed);
        let map = |theta: &[f64]| self.without_noise(theta);
        let found = movements(&pairs, count, &self.privacy(), &map, self.batch)?;
        Ok(found.into_iter().fold(0.0, f64::max))
    }

    fn rows(&self, etas: &[f64]) -> Result<Vec<Row>> {
        let weights = self.without_noise(&self.theta)?;
        let score = self
            .svm
            .score(&weights, &self.test.features, &self.test.labels)?;
        let exact = Row {
            accuracy_mean: Some(100.0 * score.accuracy),
            ..self.blank("non-private", None)
        };
        let mut programs = Vec::new();
        let mut certified = None;
        let sampled = match self.mode {
            Mode::Certified => 0.0,
            _ => self.sampled_sensitivity()?,
        };
        for &eta in etas {
            let row = match self.plan(eta, sampled) {
                Ok(plan) => {
                    certified = Some(plan.guarantee().sensitivity());
                    self.program(&plan, eta)
                }
                Err(error) => Err(error),
            };
            programs.push(match row {
                Err(error) if is_local(&error) => Row {
                    status: error.to_string(),
                    ..self.blank("program", Some(eta))
                },
                other => other?,
            });
        }
        // The certificate holds without noise as with it.
        let sensitivity = match (self.mode, certified) {
            (Mode::Certified, Some(bound)) => bound,
            _ => sampled,
        };
        let mut rows = vec![exact];
        if sensitivity > 0.0 {
            let output = Nominal {
                weights,
                law: self.privacy().law(sensitivity)?,
            };
            let map = |theta: &[f64]| self.without_noise(theta);
            rows.push(self.noisy(("output", None), sensitivity, &output, &map, None)?);
        }
        rows.extend(programs);
        Ok(rows)
    }

    fn program(&self, plan: &Plan<'_>, eta: f64) -> Result<Row> {
        let program = Nominal {
            weights: plan.released().at(&self.theta)?.answer,
            law: *plan.law(),
        };
        // A random maximum misses structured pairs, so a claim that rests on one has a search beside it.
        let searched = match (self.mode, self.settings.search) {
            (Mode::Calibrated, 1..) => {
                let audit = Audit::new()
                    .universe(self.universe.clone())
                    .pairs(1)
                    .climbs(1)
                    .solves(self.settings.search)
                    .seed(self.settings.seed);
                let worst = audit.run(plan, self.batch)?.worst;
                worst.map(|witness| witness.loss.movement)
            }
            _ => None,
        };
        let released = |theta: &[f64]| Ok(plan.released().at(theta)?.answer);
        let sensitivity = plan.guarantee().sensitivity();
        self.noisy(
            ("program", Some(eta)),
            sensitivity,
            &program,
            &released,
            searched,
        )
    }

    fn noisy(
        &self,
        (strategy, eta): (&'static str, Option<f64>),
        sensitivity: f64,
        nominal: &Nominal,
        map: &(dyn Fn(&[f64]) -> Result<Vec<f64>> + Sync),
        searched: Option<f64>,
    ) -> Result<Row> {
        let settings = self.settings;
        let seed = settings.seed ^ FRESH;
        let pairs = Pairs::new(self.universe.clone(), self.adjacency(), seed);
        let count = match self.mode {
            Mode::Certified => settings.pairs.min(PROVEN),
            _ => settings.pairs,
        };
        let fresh = movements(&pairs, count, &self.privacy(), map, self.batch)?;
        let privacy = self.privacy();
        let audited = Audited::of(&fresh, searched, &privacy, &nominal.law, self.share())?;
        let draws = (settings.draws, settings.seed);
        let accuracy = nominal.accuracy(&self.svm, &self.test, draws, self.batch)?;
        Ok(Row {
            accuracy_mean: Some(accuracy.mean),
            accuracy_std: Some(accuracy.std),
            sensitivity: Some(sensitivity),
            scale: Some(nominal.law.scale()),
            noise_ratio: Some(nominal.noise_ratio()),
            claimed_epsilon: Some(settings.epsilon),
            claimed_delta: Some(self.delta()),
            audited: Some(audited),
            ..self.blank(strategy, eta)
        })
    }

    fn blank(&self, strategy: &'static str, eta: Option<f64>) -> Row {
        let infeasible = self.dataset.training.share(false);
        Row {
            dataset: self.dataset.name.clone(),
            infeasible_percent: 100.0 * infeasible,
            balanced: self.dataset.balanced,
            features: self.dataset.features.len(),
            records: self.dataset.training.features.len(),
            mode: self.mode,
            strategy,
            lambda: self.svm.lambda(),
            eta,
            status: "ok".into(),
            accuracy_mean: None,
            accuracy_std: None,
            majority: 100.0 * self.test.majority(),
            sensitivity: None,
            scale: None,
            noise_ratio: None,
            claimed_epsilon: None,
            claimed_delta: None,
            audited: None,
            paper_accuracy: match self.mode {
                Mode::Paper => paper::table_3(&self.dataset.name, infeasible, strategy, eta),
                _ => None,
            },
        }
    }
}
