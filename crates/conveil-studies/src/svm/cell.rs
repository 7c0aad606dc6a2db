//! One cell: a mode at one λ, on one world of records.

use conveil::ask::{
    Adjacency, Ask, Bound, MapKind, Privacy, Request, SampleSize, Sampled, Universe,
};
use conveil::audit::Audit;
use conveil::chance::{Choice, Feasibility};
use conveil::noise::{Factor, Law, Sampler, pair_samples_paper};
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::sensitivity::Pairs;
use conveil::solve::{self, Batch};
use conveil::{Error, Result};
use conveil_models::svm::{Feature, Intercept, Labels, Svm};

use super::{BEST_OUTPUT, Mode, Row, Settings, points};
use crate::hyperplane::{
    Accuracy, Audited, Examples, FRESH, Nominal, is_local, movements, tolerant, without_noise,
};
use crate::paper;

/// The world that stands for public data of the same law.
const PUBLIC_WORLD: u64 = 1;

/// Where a private dataset lies inside its public universe.
const MEMBER: u64 = 9 << 40;

pub(super) struct Cell<'a> {
    settings: &'a Settings,
    mode: Mode,
    lambda: f64,
    svm: Svm,
    /// The private dataset.
    theta: Vec<f64>,
    /// Where pairs come from.
    universe: Universe,
    test: Examples,
    solver: solve::Settings,
    batch: &'a Batch<'a>,
}

impl<'a> Cell<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        mode: Mode,
        lambda: f64,
        world: u64,
        batch: &'a Batch<'a>,
    ) -> Result<Self> {
        let (training, test) = (
            points::training(settings, world),
            points::test(settings, world),
        );
        let ranges = training.ranges();
        let (training, test) = match mode {
            Mode::Paper => (training.normalised(&ranges), test.normalised(&ranges)),
            _ => (training, test),
        };
        let features = ["x1", "x2"].map(|name| match mode {
            Mode::Paper => Feature::unbounded(name),
            _ => {
                let (low, high) = points::bounds(settings);
                Feature::within(name, low, high)
            }
        });
        let builder = Svm::of(settings.records, features.to_vec()).lambda(lambda);
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
            // The public bounds of every entry.
            Mode::Certified => (Universe::between_bounds(svm.parameters())?, data),
            Mode::Paper => {
                let radius = vec![settings.radius; settings.records];
                (Universe::discs(data.clone(), radius, 2)?, data)
            }
            // The points are public; where in its disc a record lies is not. Bounds are scaled to a range of 2.
            Mode::Calibrated => {
                let radius = vec![2.0 * settings.radius; settings.records];
                let universe = Universe::discs(data, radius, 2)?;
                let theta = universe.sample(&mut Sampler::new(settings.seed, MEMBER + world));
                (universe, theta)
            }
        };
        let solver = tolerant(batch)?;
        Ok(Cell {
            settings,
            mode,
            lambda,
            svm,
            theta,
            universe,
            test,
            solver,
            batch,
        })
    }

    fn privacy(&self) -> Privacy {
        Privacy::laplace(self.settings.epsilon)
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
            Mode::Calibrated => 1.0 - self.settings.gamma,
            Mode::Paper | Mode::Certified => 1.0,
        }
    }

    fn pairs(&self, seed: u64) -> Pairs {
        Pairs::new(self.universe.clone(), self.adjacency(), seed)
    }

    fn without_noise(&self, theta: &[f64]) -> Result<Vec<f64>> {
        without_noise(&self.svm, theta, &self.solver)
    }

    /// Algorithm 1 on the map without noise: the largest movement of as many pairs as the paper takes.
    fn sampled_sensitivity(&self) -> Result<f64> {
        let count = pair_samples_paper(self.settings.gamma, self.settings.beta)?;
        let pairs = self.pairs(self.settings.seed);
        let map = |theta: &[f64]| self.without_noise(theta);
        let found = movements(&pairs, count, &self.privacy(), &map, self.batch)?;
        Ok(found.into_iter().fold(0.0, f64::max))
    }

    fn ask(&self) -> Ask {
        let eta = self.settings.eta;
        Ask::new(self.svm.query())
            .adjacency(self.adjacency())
            .privacy(self.privacy())
            .feasibility(match self.mode {
                // The text shares η among all 2N rows; the weights that it prints come from η in each of them (with the
                // shares every record is on the slope of its loss, and nothing determines the intercept).
                Mode::Paper => {
                    Feasibility::each(eta).method(Choice::RowByRow(Some(Factor::Cantelli)))
                }
                _ => Feasibility::eta(eta).method(Choice::NoiseAwareHinge),
            })
            .settings(self.solver.clone())
    }

    /// Program perturbation's plan; `sampled` is the sensitivity of the map without noise, for paper mode.
    fn plan(&self, sampled: f64) -> Result<Plan<'_>> {
        let ask = self.ask();
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
                    size: SampleSize::Paper,
                    on: MapKind::Released,
                }));
                Plan::with_batch(&self.svm, ask, self.batch)
            }
            Mode::Certified => {
                let ask = ask.sensitivity(Request::RegularisedErm);
                Plan::with_batch(&self.svm, ask, self.batch)
            }
        }
    }

    /// Output perturbation's sensitivity, on the mode's own basis. The certificate holds without noise as with it.
    fn output_sensitivity(&self) -> Result<f64> {
        match self.mode {
            Mode::Certified => Ok(self.plan(0.0)?.guarantee().sensitivity()),
            _ => self.sampled_sensitivity(),
        }
    }

    fn output(&self) -> Result<(f64, Nominal)> {
        let sensitivity = self.output_sensitivity()?;
        let nominal = Nominal {
            weights: self.without_noise(&self.theta)?,
            law: self.privacy().law(sensitivity)?,
        };
        Ok((sensitivity, nominal))
    }

    fn accuracy(&self, nominal: &Nominal) -> Result<Accuracy> {
        let draws = (self.settings.draws, self.settings.seed);
        nominal.accuracy(&self.svm, &self.test, draws, self.batch)
    }

    /// Fresh pairs of a map and the largest movement of a search.
    fn audited(
        &self,
        map: &(dyn Fn(&[f64]) -> Result<Vec<f64>> + Sync),
        searched: Option<f64>,
        law: &Law,
    ) -> Result<Audited> {
        let pairs = self.pairs(self.settings.seed ^ FRESH);
        let fresh = movements(
            &pairs,
            self.settings.pairs,
            &self.privacy(),
            map,
            self.batch,
        )?;
        Audited::of(&fresh, searched, &self.privacy(), law, self.share())
    }

    /// Every strategy; where a number is out of reach, its row says why.
    pub(super) fn rows(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        let failed = |strategy: &'static str, found: Result<Row>| match found {
            Err(error) if is_local(&error) => Ok(Row {
                status: error.to_string(),
                ..self.blank(strategy)
            }),
            other => other,
        };
        rows.push(failed("non-private", self.exact())?);
        let output = self.output();
        let sensitivity = output.as_ref().map_or(0.0, |o| o.0);
        let plan = match &output {
            Ok(_) => self.plan(sensitivity),
            Err(error) => Err(Error::Numerical(error.to_string())),
        };
        let searched = match &plan {
            Ok(plan) => self.searched(plan).map(Some),
            Err(_) => Ok(None),
        };
        let searched = match searched {
            Err(error) if !is_local(&error) => return Err(error),
            other => other.unwrap_or(None),
        };
        let row = output.and_then(|(sensitivity, nominal)| {
            self.output_row(sensitivity, &nominal, searched.map(|s| s.1))
        });
        rows.push(failed("output", row)?);
        let row = plan.and_then(|plan| self.program_row(&plan, searched.map(|s| s.0)));
        rows.push(failed("program", row)?);
        Ok(rows)
    }

    fn exact(&self) -> Result<Row> {
        let weights = self.without_noise(&self.theta)?;
        let (features, labels) = (&self.test.features, &self.test.labels);
        let score = self.svm.score(&weights, features, labels)?;
        Ok(Row {
            accuracy_mean: Some(100.0 * score.accuracy),
            weights: Some(weights),
            ..self.blank("non-private")
        })
    }

    /// The largest movements that a search found: of the released map, and of the one without noise.
    fn searched(&self, plan: &Plan<'_>) -> Result<(f64, f64)> {
        let audit = Audit::new()
            .universe(self.universe.clone())
            .pairs(self.settings.pairs)
            .climbs(1)
            .solves(self.settings.search)
            .seed(self.settings.seed);
        let found = audit.sensitivity(plan, self.batch)?;
        Ok((found.released.searched, found.deterministic.searched))
    }

    fn program_row(&self, plan: &Plan<'_>, searched: Option<f64>) -> Result<Row> {
        let program = Nominal {
            weights: plan.released().at(&self.theta)?.answer,
            law: *plan.law(),
        };
        let released = |theta: &[f64]| Ok(plan.released().at(theta)?.answer);
        let audited = self.audited(&released, searched, plan.law())?;
        Ok(Row {
            audited: Some(audited),
            ..self.noisy("program", plan.guarantee().sensitivity(), &program)?
        })
    }

    fn output_row(&self, sensitivity: f64, output: &Nominal, searched: Option<f64>) -> Result<Row> {
        let map = |theta: &[f64]| self.without_noise(theta);
        let audited = self.audited(&map, searched, &output.law)?;
        Ok(Row {
            audited: Some(audited),
            ..self.noisy("output", sensitivity, output)?
        })
    }

    fn noisy(&self, strategy: &'static str, sensitivity: f64, nominal: &Nominal) -> Result<Row> {
        let accuracy = self.accuracy(nominal)?;
        Ok(Row {
            accuracy_mean: Some(accuracy.mean),
            accuracy_std: Some(accuracy.std),
            weights: Some(nominal.weights.clone()),
            sensitivity: Some(sensitivity),
            scale: Some(nominal.law.scale()),
            noise_ratio: Some(nominal.noise_ratio()),
            claimed_epsilon: Some(self.settings.epsilon),
            ..self.blank(strategy)
        })
    }

    fn blank(&self, strategy: &'static str) -> Row {
        Row {
            mode: self.mode,
            strategy,
            lambda: self.lambda,
            status: "ok".into(),
            accuracy_mean: None,
            accuracy_std: None,
            majority: 100.0 * self.test.majority(),
            weights: None,
            sensitivity: None,
            scale: None,
            noise_ratio: None,
            claimed_epsilon: None,
            audited: None,
            paper_accuracy: match self.mode {
                Mode::Paper => paper::section_421(self.lambda, strategy),
                _ => None,
            },
        }
    }
}

/// Output perturbation at the λ of the grid that does best on public data of the same law, and program perturbation there.
pub(super) fn best_output(settings: &Settings, mode: Mode, batch: &Batch<'_>) -> Result<Vec<Row>> {
    let mut best: Option<(f64, f64)> = None;
    for &lambda in &settings.lambda_grid {
        let cell = Cell::new(settings, mode, lambda, PUBLIC_WORLD, batch)?;
        let (_, output) = cell.output()?;
        let mean = cell.accuracy(&output)?.mean;
        if best.is_none_or(|(most, _)| mean > most) {
            best = Some((mean, lambda));
        }
    }
    let Some((_, lambda)) = best else {
        return Ok(Vec::new());
    };
    let mut rows = Cell::new(settings, mode, lambda, 0, batch)?.rows()?;
    let is_new = !settings.lambdas.contains(&lambda);
    rows.retain(|r| r.strategy == "output" || (r.strategy == "program" && is_new));
    for row in rows.iter_mut().filter(|r| r.strategy == "output") {
        row.strategy = BEST_OUTPUT;
    }
    Ok(rows)
}
