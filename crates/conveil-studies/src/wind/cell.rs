//! One turbine at one seed: every variation and way in paper mode, then certified mode.

use conveil::ask::{Privacy, Universe};
use conveil::noise::Sampler;
use conveil::program::{AffineMap, DataMap, Location, Parameter};
use conveil::solve::{self, Batch, solve_checked};
use conveil::{Error, Result};
use conveil_models::regression::{Loss, Regression};
use conveil_models::wind::PowerCurve;

use super::{Settings, Variation};
use crate::fitting::{CurveFan, Entry, Given, Head, ISOTROPIC, Metric, Task, Trial, Way};

/// The ways of paper mode, in the order of the table.
const WAYS: [Way; 7] = [
    Way::Output,
    Way::ProjectedOutput,
    Way::TwoVertices,
    Way::SampledBox,
    Way::Cantelli,
    Way::Chernoff,
    Way::Exact,
];

/// The ways of certified mode: isotropic noise, then shaped noise.
const CERTIFIED: [(Way, &str); 4] = [
    (Way::Output, ISOTROPIC),
    (Way::Output, "shaped"),
    (Way::ProjectedOutput, "shaped"),
    (Way::Exact, "shaped, exact quantiles"),
];

/// The rows of a turbine: a variation in percent, none in certified mode, and a way.
pub(super) fn heads(settings: &Settings) -> Vec<(Option<f64>, Head)> {
    let variations = settings.variations_percent.iter();
    let paper = variations.flat_map(|v| WAYS.map(|way| (Some(*v), Head::paper(way))));
    let certified = CERTIFIED.map(|(way, shape)| (None, Head::certified(way, shape)));
    paper.chain(certified).collect()
}

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
    audited: bool,
    speeds: Vec<f64>,
    trial: Trial<'a>,
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
            settings,
            audited,
            trial: Trial {
                model: builder.clone().loss(loss).build()?,
                squared: builder.build()?,
                responses: records.powers,
                epsilon: settings.epsilon,
                delta: settings.delta,
                range: RANGE,
                eta: settings.eta,
                draws: settings.draws,
                seed,
                solver: solve::Settings::default().with_cancel(batch.cancel_flag().clone()),
                batch,
            },
            speeds: records.speeds,
        })
    }

    /// Every variation and way, then the certified ones.
    pub(super) fn entries(&self) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for percent in &self.settings.variations_percent {
            let search = self.audited.then_some(SEARCH);
            entries.extend(self.task(*percent)?.entries(&WAYS, search)?);
        }
        let Trial {
            squared,
            responses,
            solver,
            ..
        } = &self.trial;
        let plain = solve_checked(&squared.at(responses)?, solver)?.x;
        entries.extend(self.trial.certified_entries(&CERTIFIED, &plain)?);
        Ok(entries)
    }

    /// A variation around the private powers; what is private is one factor for all of them, or the powers themselves.
    fn task(&self, percent: f64) -> Result<Task<'_>> {
        let share = percent / 100.0;
        let (model, powers) = (&self.trial.model, &self.trial.responses);
        let (map, theta, widths): (Box<dyn DataMap>, _, _) = match self.settings.variation {
            Variation::Together => (Box::new(together(model, powers)?), vec![1.0], vec![share]),
            Variation::Apart => {
                let widths = powers.iter().map(|y| share * y).collect();
                (Box::new(model), powers.clone(), widths)
            }
        };
        Task::new(Given {
            trial: &self.trial,
            map,
            universe: Universe::around(theta.clone(), widths)?,
            theta,
            privacy: Privacy::laplace(self.settings.epsilon),
            metric: Metric::Curvature,
        })
    }

    /// The fans of the figure, at the largest variation.
    pub(super) fn fans(&self) -> Result<Vec<CurveFan>> {
        let largest = self.settings.variations_percent.iter();
        let Some(percent) = largest.copied().max_by(f64::total_cmp) else {
            return Ok(Vec::new());
        };
        let ways = [
            Way::Output,
            Way::ProjectedOutput,
            Way::TwoVertices,
            Way::Exact,
        ];
        let (task, certified) = (self.task(percent)?, [Way::Output, Way::Exact]);
        let ends = (self.speeds[0], self.speeds[self.speeds.len() - 1]);
        let mut fans = self.trial.fans(&task, &ways, &certified, ends)?;
        for fan in &mut fans[..ways.len()] {
            fan.title += &format!(", ±{percent}%");
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
    use crate::fitting::{BETA, GAMMA};
    use conveil::ask::{Adjacency, Ask, MapKind, Request, SampleSize, Sampled};
    use conveil::plan::Plan;

    /// Algorithm 1 here is that of the engine in paper mode, pair by pair.
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
            let (ours, given) = (task.sensitivity, &task.given);
            let ask = Ask::new(cell.trial.model.query())
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
            assert!((ours - engine).abs() <= 1e-9 * engine, "{ours} {engine}");
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
            solve_checked(&program, &cell.trial.solver).unwrap().x
        };
        let (one, more) = (at(task.given.theta[0]), at(1.025));
        for (a, b) in one.iter().zip(&more) {
            assert!((1.025 * a - b).abs() < 1e-5, "{a} {b}");
        }
    }
}
