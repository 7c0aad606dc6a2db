//! One turbine at one seed: every variation and way in paper mode, then certified mode.

use conveil::ask::{Adjacency, Ask, Privacy, Request, Universe};
use conveil::audit::Audit;
use conveil::noise::{self, Sampler};
use conveil::plan::{Plan, Shape};
use conveil::program::{AffineMap, DataMap, Location, Parameter};
use conveil::sensitivity::{Estimate, Pairs, estimate};
use conveil::solve::{self, Batch, solve_checked};
use conveil::{Error, Result};
use conveil_models::regression::{Loss, Regression};
use conveil_models::wind::PowerCurve;

use super::{Settings, Variation};
use crate::regression::{BETA, Fan, GAMMA, Judged, Mean, Metric, Noise, Task, Way};

/// The ways of paper mode, in the order of the table.
pub(super) const WAYS: [Way; 7] = [
    Way::Output,
    Way::ProjectedOutput,
    Way::TwoVertices,
    Way::SampledBox,
    Way::Cantelli,
    Way::Chernoff,
    Way::Exact,
];

/// The ways of certified mode: isotropic noise, then shaped noise.
pub(super) const CERTIFIED: [(Way, &str); 4] = [
    (Way::Output, "isotropic"),
    (Way::Output, "shaped"),
    (Way::ProjectedOutput, "shaped"),
    (Way::Exact, "shaped, exact quantiles"),
];

/// The speeds between which the curve must increase, in m/s.
const RISING: (f64, f64) = (3.0, 10.0);

/// The stream of the conditions' speeds.
const STREAM: u64 = 9 << 40;

/// The range of one record in certified mode: powers are shares of the largest.
pub(super) const RANGE: f64 = 1.0;

/// What one seed came to for one way.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) found: std::result::Result<Found, String>,
    pub(super) non_private_loss: f64,
    pub(super) audited_epsilon: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) judged: Judged,
    pub(super) active: usize,
    pub(super) sensitivity: f64,
}

/// A turbine's records at one seed.
pub(super) struct Cell<'a> {
    pub(super) settings: &'a Settings,
    seed: u64,
    audited: bool,
    batch: &'a Batch<'a>,
    pub(super) speeds: Vec<f64>,
    pub(super) powers: Vec<f64>,
    pub(super) model: Regression,
    /// Squared loss whatever is minimised: what certificates are about.
    pub(super) squared: Regression,
    pub(super) solver: solve::Settings,
}

impl<'a> Cell<'a> {
    pub(super) fn new(
        curve: &PowerCurve,
        settings: &'a Settings,
        seed: u64,
        audited: bool,
        batch: &'a Batch<'a>,
    ) -> Result<Self> {
        let records = curve.records(seed).map_err(Error::Input)?;
        let mut sampler = Sampler::new(seed, STREAM);
        let mut points: Vec<f64> = (0..settings.conditions)
            .map(|_| RISING.0 + (RISING.1 - RISING.0) * sampler.uniform())
            .collect();
        points.sort_by(f64::total_cmp);
        points.dedup();
        let builder = records.regression(&points, settings.ridge);
        let loss = match settings.norm_loss {
            true => Loss::Norm,
            false => Loss::Squared,
        };
        Ok(Cell {
            model: builder.clone().loss(loss).build()?,
            squared: builder.build()?,
            speeds: records.speeds,
            powers: records.powers,
            solver: solve::Settings::default().with_cancel(batch.cancel_flag().clone()),
            settings,
            seed,
            audited,
            batch,
        })
    }

    /// Every variation and way, then the certified ones.
    pub(super) fn entries(&self) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for percent in &self.settings.variations_percent {
            entries.extend(self.paper(*percent)?);
        }
        entries.extend(self.certified()?);
        Ok(entries)
    }

    pub(super) fn fan(&self) -> Fan<'_> {
        Fan::new(&self.model, &self.powers, self.settings.draws, self.seed)
    }

    /// The universe of a variation around the private powers, the map on it, and the private dataset: one factor for all
    /// powers, or the powers themselves.
    pub(super) fn universe(
        &self,
        percent: f64,
    ) -> Result<(Box<dyn DataMap + '_>, Universe, Vec<f64>)> {
        let share = percent / 100.0;
        match self.settings.variation {
            Variation::Together => {
                let map = together(&self.model, &self.powers)?;
                let universe = Universe::around(vec![1.0], vec![share])?;
                Ok((Box::new(map), universe, vec![1.0]))
            }
            Variation::Apart => {
                let widths = self.powers.iter().map(|y| share * y).collect();
                let universe = Universe::around(self.powers.clone(), widths)?;
                Ok((Box::new(&self.model), universe, self.powers.clone()))
            }
        }
    }

    fn paper(&self, percent: f64) -> Result<Vec<Entry>> {
        let (map, universe, theta) = self.universe(percent)?;
        let privacy = Privacy::laplace(self.settings.epsilon);
        let ask = Ask::new(self.model.query())
            .adjacency(Adjacency::Universe)
            .privacy(privacy);
        let sensitivity = self.sensitivity(&*map, universe.clone(), &privacy)?;
        let task = self.task(&*map, &theta, ask, sensitivity);
        let law = *task.plan(Way::Exact)?.law();
        let shape = Shape::new(None, self.model.weights().len())?;
        let noise = Noise {
            law: &law,
            shape: &shape,
        };
        let fan = self.fan();
        let plain = task.mean(Way::Output, &law)?;
        let non_private_loss = fan.loss(&plain.weights);
        WAYS.iter()
            .map(|&way| {
                let judged = self.judged(&task, way, &fan, &noise);
                let audited_epsilon = match (self.audited && way == Way::Exact, &judged) {
                    (true, Ok(_)) => Some(self.audit(&task, way, universe.clone())?),
                    _ => None,
                };
                Ok(Entry {
                    found: found(judged, sensitivity)?,
                    non_private_loss,
                    audited_epsilon,
                })
            })
            .collect()
    }

    fn judged(
        &self,
        task: &Task<'_>,
        way: Way,
        fan: &Fan<'_>,
        noise: &Noise<'_>,
    ) -> Result<(Judged, Mean)> {
        let mean = task.mean(way, noise.law)?;
        let judged = match way {
            Way::ProjectedOutput => {
                fan.judge_projected(&mean.weights, noise, Metric::Curvature, &self.solver)?
            }
            _ => fan.judge(&mean.weights, noise),
        };
        Ok((judged, mean))
    }

    pub(super) fn task<'t>(
        &self,
        map: &'t dyn DataMap,
        theta: &'t [f64],
        ask: Ask,
        sensitivity: f64,
    ) -> Task<'t> {
        Task {
            map,
            theta,
            ask,
            sensitivity,
            weights: self.model.weights().len(),
            eta: self.settings.eta,
            beta: BETA,
            seed: self.seed,
            settings: self.solver.clone(),
        }
    }

    /// Algorithm 1 on the map without noise.
    pub(super) fn sensitivity(
        &self,
        map: &dyn DataMap,
        universe: Universe,
        privacy: &Privacy,
    ) -> Result<f64> {
        let weights = self.model.weights().len();
        let answer = |theta: &[f64]| -> Result<Vec<f64>> {
            let solution = solve_checked(&map.at(theta)?, &self.solver)?;
            Ok(solution.x[..weights].to_vec())
        };
        let pairs = Pairs::new(universe, Adjacency::Universe, self.seed);
        let count = noise::pair_samples_paper(GAMMA, BETA)?;
        let found = estimate(
            Estimate::default(),
            &pairs,
            count,
            privacy.norm(),
            &answer,
            self.batch,
        )?;
        match found.failures.into_iter().next() {
            Some((pair, why)) => Err(Error::NotAttainable(format!(
                "pair {pair} of the universe has no answer even without noise: {why}"
            ))),
            None => Ok(found.largest),
        }
    }

    /// The ε of the released map over the universe around the private powers.
    fn audit(&self, task: &Task<'_>, way: Way, universe: Universe) -> Result<f64> {
        let audit = Audit::new()
            .universe(universe)
            .pairs(100)
            .climbs(1)
            .solves(300);
        Ok(audit.run(&task.plan(way)?, self.batch)?.audited_epsilon)
    }

    fn certified(&self) -> Result<Vec<Entry>> {
        let fan = Fan::new(&self.squared, &self.powers, self.settings.draws, self.seed);
        let privacy = Privacy::gaussian(self.settings.epsilon, self.settings.delta);
        let ask = |ask: Ask| {
            ask.sensitivity(Request::StrongConvexity)
                .adjacency(Adjacency::one_entry(RANGE))
                .privacy(privacy)
                .feasible(1.0 - self.settings.eta)
                .settings(self.solver.clone())
        };
        let plain = solve_checked(&self.squared.at(&self.powers)?, &self.solver)?;
        let non_private_loss = fan.loss(&plain.x);
        CERTIFIED
            .iter()
            .map(|&(way, shape)| {
                let asked = match shape {
                    "isotropic" => ask(Ask::new(self.squared.query())),
                    _ => ask(self.squared.ask()),
                };
                let plan = Plan::new(&self.squared, asked)?;
                let noise = Noise {
                    law: plan.law(),
                    shape: plan.released().shape(),
                };
                let judged = self.certified_by(&plan, way, &plain.x, &fan, &noise);
                Ok(Entry {
                    found: found(judged, plan.guarantee().sensitivity())?,
                    non_private_loss,
                    audited_epsilon: None,
                })
            })
            .collect()
    }

    fn certified_by(
        &self,
        plan: &Plan<'_>,
        way: Way,
        plain: &[f64],
        fan: &Fan<'_>,
        noise: &Noise<'_>,
    ) -> Result<(Judged, Mean)> {
        let mean = |weights: &[f64]| Mean {
            weights: weights.to_vec(),
            active: 0,
        };
        Ok(match way {
            Way::Output => (fan.judge(plain, noise), mean(plain)),
            Way::ProjectedOutput => (
                fan.judge_projected(plain, noise, Metric::Curvature, &self.solver)?,
                mean(plain),
            ),
            _ => {
                let answer = plan.released().at(&self.powers)?.answer;
                (fan.judge(&answer, noise), mean(&answer))
            }
        })
    }
}

/// A seed without an answer stays in the table; an interruption does not.
fn found(
    judged: Result<(Judged, Mean)>,
    sensitivity: f64,
) -> Result<std::result::Result<Found, String>> {
    match judged {
        Ok((judged, mean)) => Ok(Ok(Found {
            judged,
            active: mean.active,
            sensitivity,
        })),
        Err(error @ (Error::Cancelled | Error::Input(_))) => Err(error),
        Err(other) => Ok(Err(other.to_string())),
    }
}

/// The model with one private number: a factor of all responses.
fn together(model: &Regression, responses: &[f64]) -> Result<AffineMap> {
    let mut places: Vec<Location> = Vec::new();
    let mut index = std::collections::HashMap::new();
    for (parameter, y) in model.parameters().iter().zip(responses) {
        for location in parameter.locations() {
            let at = *index.entry(location.place).or_insert_with(|| {
                places.push(Location::new(location.place, 0.0));
                places.len() - 1
            });
            places[at].coef += location.coef * y;
        }
    }
    // A response of 0 stays 0 whatever the factor.
    places.retain(|location| location.coef != 0.0);
    let factor = Parameter::new("factor of all powers").at_all(places);
    AffineMap::new(model.template().clone(), vec![factor])
}

#[cfg(test)]
mod tests {
    use super::*;
    use conveil::ask::{MapKind, SampleSize, Sampled};

    /// Algorithm 1 here is the engine's own in paper mode, pair by pair.
    #[test]
    fn the_sensitivity_is_that_of_the_engines_paper_mode() {
        let curve = PowerCurve::builtin("N100/2500").unwrap();
        for variation in [Variation::Together, Variation::Apart] {
            let settings = Settings {
                variation,
                ..Settings::default()
            };
            let batch = Batch::new();
            let cell = Cell::new(&curve, &settings, 3, false, &batch).unwrap();
            let (map, universe, theta) = cell.universe(2.5).unwrap();
            let privacy = Privacy::laplace(1.0);
            let own = cell.sensitivity(&*map, universe.clone(), &privacy).unwrap();
            let ask = Ask::new(cell.model.query())
                .adjacency(Adjacency::Universe)
                .privacy(privacy)
                .sensitivity(Request::Sampled(Sampled {
                    universe,
                    gamma: GAMMA,
                    beta: BETA,
                    seed: 3,
                    size: SampleSize::Paper,
                    on: MapKind::Deterministic,
                }));
            let plan = Plan::paper_mode(&*map, ask, &theta).unwrap();
            let engine = plan.guarantee().sensitivity();
            assert!((own - engine).abs() <= 1e-9 * engine, "{own} {engine}");
        }
    }

    /// Without noise the weights are homogeneous in the powers: the conditions form a cone.
    #[test]
    fn a_common_factor_moves_the_weights_in_proportion() {
        let curve = PowerCurve::builtin("V90/2000").unwrap();
        let settings = Settings::default();
        let batch = Batch::new();
        let cell = Cell::new(&curve, &settings, 5, false, &batch).unwrap();
        let (map, _, theta) = cell.universe(2.5).unwrap();
        let at = |factor: f64| {
            let program = map.at(&[factor]).unwrap();
            solve_checked(&program, &cell.solver).unwrap().x
        };
        let (one, more) = (at(theta[0]), at(1.025));
        for (a, b) in one.iter().zip(&more) {
            assert!((1.025 * a - b).abs() < 1e-5, "{a} {b}");
        }
    }
}
