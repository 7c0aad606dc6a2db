//! One seed: every way in paper mode, then certified mode.

use conveil::ask::{Adjacency, Ask, Calibration, Privacy, Universe};
use conveil::audit::Audit;
use conveil::noise;
use conveil::plan::{Plan, Shape};
use conveil::program::{DataMap, GeneralMap};
use conveil::sensitivity::{Estimate, Pairs, estimate};
use conveil::solve::{self, Batch, solve_checked};
use conveil::{Error, Result};
use conveil_models::regression::Regression;

use super::synthetic::{HALF_AXES, Synthetic};
use super::{BETA, Curve, CurveFan, Fan, GAMMA, Judged, Metric, Noise, Settings, Task, Way};

/// The ways of paper mode. Chernoff's factor is for Laplace noise; the exact quantile of Gaussian noise needs none.
pub(super) const WAYS: [Way; 6] = [
    Way::Output,
    Way::ProjectedOutput,
    Way::TwoVertices,
    Way::SampledBox,
    Way::Cantelli,
    Way::Exact,
];

/// The ways of certified mode.
pub(super) const CERTIFIED: [(Way, &str); 3] = [
    (Way::Output, "shaped"),
    (Way::ProjectedOutput, "shaped"),
    (Way::Exact, "shaped, exact quantiles"),
];

/// Curves of a fan, and points of a curve.
const CURVES: u64 = 40;
const POINTS: usize = 31;

/// What one seed came to for one way.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) judged: std::result::Result<Judged, String>,
    pub(super) sensitivity: f64,
    pub(super) non_private_loss: f64,
    pub(super) audited_epsilon: Option<f64>,
}

/// The records of one seed.
pub(super) struct Cell<'a> {
    settings: &'a Settings,
    seed: u64,
    batch: &'a Batch<'a>,
    data: Synthetic,
    model: Regression,
    map: GeneralMap,
    theta: Vec<f64>,
    solver: solve::Settings,
}

impl<'a> Cell<'a> {
    pub(super) fn new(settings: &'a Settings, seed: u64, batch: &'a Batch<'a>) -> Result<Self> {
        let data = Synthetic::new(settings, seed);
        Ok(Cell {
            model: data.model(settings.ridge)?,
            map: data.map(settings.ridge)?,
            theta: data.theta(),
            solver: solve::Settings::default().with_cancel(batch.cancel_flag().clone()),
            data,
            settings,
            seed,
            batch,
        })
    }

    pub(super) fn records(&self) -> Vec<(f64, f64)> {
        let pairs = self.data.x.iter().zip(&self.data.y);
        pairs.map(|(x, y)| (*x, *y)).collect()
    }

    pub(super) fn entries(&self) -> Result<Vec<Entry>> {
        let fan = self.fan();
        let task = self.task()?;
        let law = *task.plan(Way::Exact)?.law();
        let shape = Shape::new(None, self.model.weights().len())?;
        let noise = Noise {
            law: &law,
            shape: &shape,
        };
        let plain = task.mean(Way::Output, &law)?.weights;
        let non_private_loss = fan.loss(&plain);
        let mut entries = Vec::new();
        for way in WAYS {
            let judged = task.mean(way, &law).and_then(|mean| match way {
                // The metric Φ'Φ would be private here.
                Way::ProjectedOutput => {
                    fan.judge_projected(&mean.weights, &noise, Metric::Euclidean, &self.solver)
                }
                _ => Ok(fan.judge(&mean.weights, &noise)),
            });
            let audited_epsilon = match (way, &judged) {
                (Way::Exact, Ok(_)) => {
                    let audit = Audit::new().universe(self.universe()?);
                    let audit = audit.pairs(100).climbs(1).solves(400);
                    Some(audit.run(&task.plan(way)?, self.batch)?.audited_epsilon)
                }
                _ => None,
            };
            entries.push(Entry {
                judged: kept(judged)?,
                sensitivity: task.sensitivity,
                non_private_loss,
                audited_epsilon,
            });
        }
        let plan = self.certified()?;
        let noise = Noise {
            law: plan.law(),
            shape: plan.released().shape(),
        };
        for (way, _) in CERTIFIED {
            let judged = match way {
                Way::Output => Ok(fan.judge(&plain, &noise)),
                Way::ProjectedOutput => {
                    fan.judge_projected(&plain, &noise, Metric::Curvature, &self.solver)
                }
                _ => {
                    let decided = plan.released().at(&self.data.y);
                    decided.map(|decided| fan.judge(&decided.answer, &noise))
                }
            };
            entries.push(Entry {
                judged: kept(judged)?,
                sensitivity: plan.guarantee().sensitivity(),
                non_private_loss,
                audited_epsilon: None,
            });
        }
        Ok(entries)
    }

    fn fan(&self) -> Fan<'_> {
        Fan::new(&self.model, &self.data.y, self.settings.draws, self.seed)
    }

    /// Discs of radius 1, in units of the half axes. The paper draws the radius uniformly, we draw the place uniformly.
    fn universe(&self) -> Result<Universe> {
        let radii = vec![1.0; self.data.x.len()];
        Universe::discs(self.theta.clone(), radii, 2)
    }

    fn task(&self) -> Result<Task<'_>> {
        let weights = self.model.weights().len();
        let privacy = Privacy::Gaussian {
            epsilon: self.settings.epsilon,
            delta: self.settings.delta,
            calibration: Calibration::Classic,
        };
        let answer = |theta: &[f64]| -> Result<Vec<f64>> {
            let solution = solve_checked(&self.map.at(theta)?, &self.solver)?;
            Ok(solution.x[..weights].to_vec())
        };
        let pairs = Pairs::new(self.universe()?, Adjacency::Universe, self.seed);
        let count = noise::pair_samples_paper(GAMMA, BETA)?;
        let start = Estimate::default();
        let found = estimate(start, &pairs, count, privacy.norm(), &answer, self.batch)?;
        if let Some((pair, why)) = found.failures.first() {
            return Err(Error::NotAttainable(format!(
                "pair {pair} of the universe has no answer even without noise: {why}"
            )));
        }
        Ok(Task {
            map: &self.map,
            theta: &self.theta,
            ask: Ask::new(self.model.query())
                .adjacency(Adjacency::Universe)
                .privacy(privacy),
            sensitivity: found.largest,
            weights,
            eta: self.settings.eta,
            beta: BETA,
            seed: self.seed,
            settings: self.solver.clone(),
        })
    }

    /// One response moves by the height of its ellipse; x is public.
    fn certified(&self) -> Result<Plan<'_>> {
        let settings = self.settings;
        let ask = self
            .model
            .ask()
            .adjacency(Adjacency::one_entry(2.0 * HALF_AXES.1))
            .privacy(Privacy::gaussian(
                settings.epsilon,
                settings.certified_delta,
            ))
            .feasible(1.0 - settings.eta)
            .settings(self.solver.clone());
        Plan::new(&self.model, ask)
    }

    pub(super) fn fans(&self) -> Result<Vec<CurveFan>> {
        let task = self.task()?;
        let law = *task.plan(Way::Exact)?.law();
        let shape = Shape::new(None, self.model.weights().len())?;
        let noise = Noise {
            law: &law,
            shape: &shape,
        };
        let plain = task.mean(Way::Output, &law)?.weights;
        let mut fans = Vec::new();
        for way in [Way::Output, Way::Exact] {
            let mean = task.mean(way, &law)?.weights;
            fans.push(self.curves(way.name(), &mean, &noise, &plain));
        }
        let plan = self.certified()?;
        let noise = Noise {
            law: plan.law(),
            shape: plan.released().shape(),
        };
        let answer = plan.released().at(&self.data.y)?.answer;
        let title = "certified: program, shaped".to_string();
        fans.push(self.curves(title, &answer, &noise, &plain));
        Ok(fans)
    }

    fn curves(&self, title: String, mean: &[f64], noise: &Noise<'_>, plain: &[f64]) -> CurveFan {
        let fan = self.fan();
        let points = |w: &[f64]| -> Vec<(f64, f64)> {
            let x = (0..POINTS).map(|i| 10.0 * i as f64 / (POINTS - 1) as f64);
            x.map(|x| (x, self.model.fitted(w, &[x]))).collect()
        };
        let curve = |index: u64| {
            let w = fan.draw(mean, noise, index);
            Curve {
                points: points(&w),
                is_valid: fan.is_valid(&w, noise),
            }
        };
        CurveFan {
            title,
            curves: (0..CURVES.min(self.settings.draws)).map(curve).collect(),
            baseline: points(plain),
        }
    }
}

/// A seed without an answer stays in the table; an interruption does not.
fn kept(judged: Result<Judged>) -> Result<std::result::Result<Judged, String>> {
    match judged {
        Ok(judged) => Ok(Ok(judged)),
        Err(error @ (Error::Cancelled | Error::Input(_))) => Err(error),
        Err(other) => Ok(Err(other.to_string())),
    }
}
