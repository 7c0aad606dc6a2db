//! One turbine at one seed: every variation and way in paper mode, then certified mode.

use conveil::ask::{Adjacency, Ask, Privacy, Request, Universe};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{AffineMap, DataMap, Location, Parameter};
use conveil::solve::{self, Batch, solve_checked};
use conveil::{Error, Result};
use conveil_models::regression::{Loss, Regression};
use conveil_models::wind::PowerCurve;

use super::{Settings, Variation};
use crate::regression::{CurveFan, Entry, Fan, Given, Metric, Noise, Task, Way};

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
const RANGE: f64 = 1.0;

/// Solves of an audit's search.
const SEARCH: usize = 300;

/// A turbine's records at one seed.
pub(super) struct Cell<'a> {
    settings: &'a Settings,
    seed: u64,
    audited: bool,
    batch: &'a Batch<'a>,
    speeds: Vec<f64>,
    powers: Vec<f64>,
    model: Regression,
    /// Squared loss whatever is minimised: what certificates are about.
    squared: Regression,
    solver: solve::Settings,
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
        let (fan, search) = (self.fan(&self.model), self.audited.then_some(SEARCH));
        for percent in &self.settings.variations_percent {
            entries.extend(self.task(*percent)?.entries(&WAYS, &fan, search)?);
        }
        let fan = self.fan(&self.squared);
        let plain = solve_checked(&self.squared.at(&self.powers)?, &self.solver)?.x;
        for (way, shape) in CERTIFIED {
            let plan = self.certified(shape)?;
            entries.push(Entry::certified(&plan, way, &plain, &fan)?);
        }
        Ok(entries)
    }

    fn fan<'c>(&'c self, model: &'c Regression) -> Fan<'c> {
        let draws = (self.settings.draws, self.seed);
        Fan::new(model, &self.powers, draws, &self.solver)
    }

    /// A variation around the private powers; what is private is one factor for all of them, or the powers themselves.
    fn task(&self, percent: f64) -> Result<Task<'_>> {
        let share = percent / 100.0;
        let (map, theta, widths): (Box<dyn DataMap>, _, _) = match self.settings.variation {
            Variation::Together => {
                let map = together(&self.model, &self.powers)?;
                (Box::new(map), vec![1.0], vec![share])
            }
            Variation::Apart => {
                let widths = self.powers.iter().map(|y| share * y).collect();
                (Box::new(&self.model), self.powers.clone(), widths)
            }
        };
        Task::new(Given {
            model: &self.model,
            map,
            universe: Universe::around(theta.clone(), widths)?,
            theta,
            privacy: Privacy::laplace(self.settings.epsilon),
            metric: Metric::Curvature,
            eta: self.settings.eta,
            seed: self.seed,
            solver: &self.solver,
            batch: self.batch,
        })
    }

    /// One record of range 1, by strong convexity.
    fn certified(&self, shape: &str) -> Result<Plan<'_>> {
        let ask = match shape {
            "isotropic" => Ask::new(self.squared.query()),
            _ => self.squared.ask(),
        };
        let (epsilon, delta) = (self.settings.epsilon, self.settings.delta);
        let ask = ask
            .sensitivity(Request::strong_convexity())
            .adjacency(Adjacency::one_entry(RANGE))
            .privacy(Privacy::gaussian(epsilon, delta))
            .feasible(1.0 - self.settings.eta)
            .settings(self.solver.clone());
        Plan::new(&self.squared, ask)
    }

    /// The fans of the figure, at the largest variation.
    pub(super) fn fans(&self) -> Result<Vec<CurveFan>> {
        let largest = self.settings.variations_percent.iter();
        let Some(percent) = largest.copied().max_by(f64::total_cmp) else {
            return Ok(Vec::new());
        };
        let (fan, task) = (self.fan(&self.model), self.task(percent)?);
        let ends = (self.speeds[0], self.speeds[self.speeds.len() - 1]);
        let plain = task.plain()?;
        let mut fans = Vec::new();
        for way in [
            Way::Output,
            Way::ProjectedOutput,
            Way::TwoVertices,
            Way::Exact,
        ] {
            let mean = task.mean(way)?.weights;
            let title = format!("{}, ±{percent}%", way.name());
            fans.push(fan.curves(title, way, (&mean, &plain), &task.noise(), ends)?);
        }
        let plan = self.certified("shaped")?;
        let answer = plan.released().at(&self.powers)?.answer;
        for (way, mean, title) in [
            (Way::Output, &plain, "certified: output, shaped"),
            (Way::Exact, &answer, "certified: program, shaped"),
        ] {
            let (means, noise) = ((&mean[..], &plain[..]), Noise::of(&plan));
            fans.push(fan.curves(title.into(), way, means, &noise, ends)?);
        }
        Ok(fans)
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
    use crate::regression::{BETA, GAMMA};
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
            let task = cell.task(2.5).unwrap();
            let (own, given) = (task.sensitivity, &task.given);
            let ask = Ask::new(cell.model.query())
                .adjacency(Adjacency::Universe)
                .privacy(Privacy::laplace(1.0))
                .sensitivity(Request::Sampled(Sampled {
                    universe: given.universe.clone(),
                    gamma: GAMMA,
                    beta: BETA,
                    seed: 3,
                    size: SampleSize::Paper,
                    on: MapKind::Deterministic,
                }));
            let plan = Plan::paper_mode(&*given.map, ask, &given.theta).unwrap();
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
        let task = cell.task(2.5).unwrap();
        let at = |factor: f64| {
            let program = task.given.map.at(&[factor]).unwrap();
            solve_checked(&program, &cell.solver).unwrap().x
        };
        let (one, more) = (at(task.given.theta[0]), at(1.025));
        for (a, b) in one.iter().zip(&more) {
            assert!((1.025 * a - b).abs() < 1e-5, "{a} {b}");
        }
    }
}
