//! The ways to private weights: plain noise, projected noise, and program perturbation by each method of keeping the
//! conditions. All of them share one noise, so that their losses can be compared draw by draw.

use conveil::ask::{Ask, Bound, Request, SampleSize};
use conveil::chance::{Choice, Feasibility};
use conveil::noise::{self, Factor, Law, Sampler};
use conveil::plan::Plan;
use conveil::program::{AffineMap, Cone, DataMap, Location, Parameter, Place, Program};
use conveil::solve::{Settings, solve_checked};
use conveil::{Error, Result};
use serde::Serialize;

/// The stream of the two vertices.
const STREAM: u64 = 7 << 40;

/// A way to private weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Noise on the weights.
    Output,
    /// The noisy weights, projected onto the conditions (M13).
    ProjectedOutput,
    /// Conditions at the two diagonal corners of the paper's sampled box, as its code has them (M14): no proof.
    TwoVertices,
    /// Conditions on the whole of the paper's sampled box (M5b).
    SampledBox,
    /// Row by row with Cantelli's factor (M5d).
    Cantelli,
    /// Row by row with Chernoff's factor for Laplace sums (M5d).
    Chernoff,
    /// The exact quantile of every row (M5e).
    Exact,
}

impl Way {
    /// output, projected output, program.
    pub fn strategy(self) -> &'static str {
        match self {
            Way::Output => "output",
            Way::ProjectedOutput => "projected output",
            _ => "program",
        }
    }

    /// How program perturbation keeps the conditions.
    pub fn method(self) -> Option<&'static str> {
        match self {
            Way::Output | Way::ProjectedOutput => None,
            Way::TwoVertices => Some("two vertices"),
            Way::SampledBox => Some("sampled box"),
            Way::Cantelli => Some("Cantelli"),
            Way::Chernoff => Some("Chernoff"),
            Way::Exact => Some("exact quantiles"),
        }
    }

    /// Both in one.
    pub fn name(self) -> String {
        match self.method() {
            None => self.strategy().into(),
            Some(method) => format!("program, {method}"),
        }
    }

    /// The chance constraint of the engine, where it is one of its own.
    fn feasibility(self, eta: f64, beta: f64, seed: u64) -> Option<Feasibility> {
        let wish = Feasibility::eta(eta);
        match self {
            Way::Output | Way::ProjectedOutput | Way::TwoVertices => None,
            Way::SampledBox => Some(wish.method(Choice::SampledBox).sampling(
                SampleSize::Paper,
                beta,
                seed,
            )),
            Way::Cantelli => Some(wish.method(Choice::RowByRow(Some(Factor::Cantelli)))),
            Way::Chernoff => Some(wish.method(Choice::RowByRow(Some(Factor::Chernoff)))),
            Way::Exact => Some(wish.method(Choice::FixedRecourse)),
        }
    }
}

/// The private task in paper mode: a map, its dataset, the sensitivity of the map without noise.
pub(crate) struct Task<'a> {
    pub(crate) map: &'a dyn DataMap,
    pub(crate) theta: &'a [f64],
    /// Query, adjacency and privacy.
    pub(crate) ask: Ask,
    pub(crate) sensitivity: f64,
    pub(crate) weights: usize,
    pub(crate) eta: f64,
    pub(crate) beta: f64,
    pub(crate) seed: u64,
    pub(crate) settings: Settings,
}

/// Weights before noise, and how many conditions hold them back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mean {
    pub(crate) weights: Vec<f64>,
    pub(crate) active: usize,
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

/// What the sensitivity of the map without noise is called.
const REASON: &str = "the largest movement of the map without noise over sampled pairs";

impl<'a> Task<'a> {
    /// The paper's plan with this way of keeping the conditions; any for plain noise.
    pub(crate) fn plan(&self, way: Way) -> Result<Plan<'a>> {
        let wish = way.feasibility(self.eta, self.beta, self.seed);
        let ask = self.ask.clone().settings(self.settings.clone());
        let ask = ask.sensitivity(Request::Declared {
            bound: Bound::Total(self.sensitivity),
            reason: REASON.into(),
        });
        let ask = ask.feasibility(wish.unwrap_or_else(|| Feasibility::eta(self.eta)));
        Plan::paper_mode(self.map, ask, self.theta)
    }

    /// The weights before noise.
    pub(crate) fn mean(&self, way: Way, law: &Law) -> Result<Mean> {
        match way {
            Way::Output | Way::ProjectedOutput => self.solved(&self.map.at(self.theta)?),
            Way::TwoVertices => self.solved(&self.at_two_vertices(law)?),
            _ => {
                let decided = self.plan(way)?.released().at(self.theta)?;
                Ok(Mean {
                    active: active_conditions(&decided.program, &decided.prices),
                    weights: decided.answer,
                })
            }
        }
    }

    fn solved(&self, program: &Program) -> Result<Mean> {
        let solution = solve_checked(program, &self.settings)?;
        Ok(Mean {
            active: active_conditions(program, &solution.z),
            weights: solution.x[..self.weights].to_vec(),
        })
    }

    /// Every condition a'w ≥ 0 as a'(w + l) ≥ 0 and a'(w + u) ≥ 0, for l and u the least and largest of the samples.
    fn at_two_vertices(&self, law: &Law) -> Result<Program> {
        let k = self.weights;
        let samples = noise::paper_box_samples(k as u64, self.eta, self.beta)?;
        let mut sampler = Sampler::new(self.seed, STREAM);
        let mut ends = vec![(0.0f64, 0.0f64); k];
        for _ in 0..samples {
            for (low, high) in &mut ends {
                let value = sampler.draw(law);
                (*low, *high) = (low.min(value), high.max(value));
            }
        }
        let program = self.map.at(self.theta)?;
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
