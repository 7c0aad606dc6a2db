//! What a certificate is: a kind, which declares its word and what it covers, and the certificate that it proves on
//! public structure.

use super::metric::{CurvedBound, Metric};
use crate::ask::{Adjacency, Ask, Norm, ResolvedQuery, Terms};
use crate::chance::Design;
use crate::digits::short;
use crate::error::{Error, Result};
use crate::noise::Sampler;
use crate::program::{AffineMap, DataMap, Parameter, Parameters};
use crate::proof::{Curvature, Limits, Measure};
use crate::rule::{Rule, Shape};
use std::fmt::Debug;
use std::sync::Arc;

/// The seed of synthetic data, which public solves and checks run on: any number serves.
pub(crate) const SYNTHETIC_SEED: u64 = 0x5EED;

/// A kind of certificate: one file, and one line in [`super::certificates`]. Nothing asks for its name.
pub trait Kind: Debug + Sync {
    /// Its word in a spec.
    fn word(&self) -> &'static str;

    /// What it covers, in one line.
    fn covers(&self) -> &'static str;

    /// The public numbers that are stated with it.
    fn takes(&self) -> Takes {
        Takes::default()
    }

    /// b or q, where all private numbers must stand in that part of the program.
    fn private_part(&self) -> Option<&'static str> {
        None
    }

    /// Whether every parameter needs public bounds.
    fn needs_bounds(&self) -> bool {
        false
    }

    /// Whether its bound is a multiple of α.
    fn follows_alpha(&self) -> bool {
        false
    }

    /// Whether it covers records that are scaled to a public length: neighbours in other respects than one whole record
    /// do not stay neighbours then.
    fn covers_scaled_records(&self) -> bool {
        false
    }

    /// Whether it makes the query itself: the model's own cannot be read in public.
    fn makes_the_query(&self) -> bool {
        false
    }

    /// Whether it bounds the objective itself where that is no sum of the variables (`release = "value"`). A kind that
    /// looks at the rows of the query alone must not say so: such a query has none.
    fn covers_the_objective(&self) -> bool {
        false
    }

    /// Whether it stands for whichever of the other kinds applies.
    fn stands_for_others(&self) -> bool {
        false
    }

    /// Whether stated curvature is added on every variable that meets private numbers too, and not on what is released alone.
    fn curves_private_columns(&self) -> bool {
        false
    }

    /// Checks its assumptions on public structure alone, or refuses with the reason.
    fn prove(&self, site: &Site<'_>) -> Result<Box<dyn Certificate>>;
}

/// Which public numbers a kind of certificate is stated with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Takes {
    /// `price`.
    pub price: Need,
    /// `prices` of single rows.
    pub prices: Need,
    /// `width`.
    pub width: Need,
    /// `offset`.
    pub offset: Need,
    /// `curvature`.
    pub curvature: Need,
}

/// Whether a number is stated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Need {
    /// It has no meaning here.
    #[default]
    None,
    /// It may be.
    Optional,
    /// It must be: no number could be right for everyone.
    Required,
}

/// What a certificate is asked about.
#[derive(Clone)]
pub struct Site<'a> {
    /// The user's model.
    pub(crate) map: &'a dyn DataMap,
    /// Everything that is asked for.
    pub(crate) ask: &'a Ask,
    /// Which datasets are neighbours.
    pub(crate) adjacency: Adjacency,
    /// The norm that the mechanism needs.
    pub(crate) norm: Norm,
    /// T.
    pub(crate) shape: &'a Shape,
    /// The query on the model and its rule, unless the kind makes the query itself.
    pub(crate) posed: Option<(&'a ResolvedQuery, &'a Rule)>,
    /// The stated public numbers.
    pub(crate) terms: &'a Terms,
}

impl Site<'_> {
    /// What one unit of the first released number is in T.
    pub(super) fn scale_of_answer(&self) -> f64 {
        self.shape.row(0)[0].abs()
    }

    /// P where it curves, if it is positive definite there.
    pub(super) fn curvature(&self) -> Option<Arc<Curvature>> {
        Curvature::of(self.map.template().p()).map(Arc::new)
    }

    /// The answer in the metric of P, where it has curvature.
    pub(super) fn metric(&self, curvature: &Curvature) -> Option<Metric> {
        Metric::new(curvature, self.posed?.0, self.shape)
    }
}

/// A bound on ‖T^{-1}(Qx̄(θ) − Qx̄(θ'))‖ over adjacent datasets that holds without sampling.
///
/// # Guarantee
/// `bound` is at least that norm for every adjacent pair, for the map that is released, under the assumptions in
/// `statement` (M8). Types that implement this are built only by their [`Kind`], which checks those assumptions on public
/// structure.
pub trait Certificate: Debug + Send + Sync {
    /// What the claim calls it.
    fn name(&self) -> &'static str;

    /// The claim and its assumptions, for the guarantee's text.
    fn statement(&self) -> String;

    /// The bound, with what is counted of the solver's tolerance.
    fn bound(&self) -> f64;

    /// Whether the map stays within the bound when the best of a grid of splits is taken (M5a).
    fn admits_optimised_split(&self) -> bool {
        false
    }

    /// Whether the map has a value for every dataset as soon as it has one for some: a theorem about the program,
    /// whatever a solver makes of it. A plan solves on synthetic data before it claims anything.
    fn defined_everywhere(&self) -> bool {
        false
    }

    /// What is solved in the model's place; none where the model itself is.
    fn rewrite(&self) -> Option<Rewrite<'_>> {
        None
    }

    /// What every solve must be proven to; none where the bound holds for any point within `limits`.
    fn tolerance(&self) -> Option<Tolerance>;

    /// The same with the solver's public tolerance counted on each of two answers.
    fn counting(&self, tolerance: f64) -> Box<dyn Certificate>;

    /// Public limits that the bound counts on: the released map moves every mean decision onto them.
    fn limits(&self) -> &[Limits] {
        &[]
    }

    /// A dataset that is none: what public solves run on, beside the ends of the public bounds.
    fn public_data(&self, map: &dyn DataMap) -> Vec<f64> {
        synthetic_data(map)
    }

    /// Whether noise that some public data cannot carry may be carried by others.
    fn may_fit_elsewhere(&self) -> bool {
        false
    }

    /// Refuses a chance constraint under which the bound does not hold.
    fn check(&self, _design: &Design) -> Result<()> {
        Ok(())
    }
}

/// The program that is solved in the model's place, and the query on it.
pub struct Rewrite<'a> {
    pub(crate) map: &'a AffineMap,
    pub(crate) query: &'a ResolvedQuery,
    /// Where it may deviate from the data: the way back to the user's own program.
    pub(crate) deviation: Option<&'a super::Deviation>,
}

/// The solver may add this share to a sensitivity, on each of two answers.
const SHARE: f64 = 5e-4;

/// The public tolerance leaves this much room above what a public dataset needed.
const ROOM: f64 = 4.0;

/// The public tolerance on a value is at least this share of the numbers that are added up to it at public data: some
/// data are harder to solve than any that a plan tries. It is always counted, since noise that depended on whether it
/// was needed would tell.
const LOOSE: f64 = 3e-8;

/// What a solve must be proven to, in which measure, and how much of the bound that may take.
pub struct Tolerance {
    pub(crate) measure: Measure,
    /// The tolerance, in its measure, that adds a small share to the bound for each answer.
    pub(crate) usual: f64,
    /// How many times what a public dataset needed is counted.
    pub(crate) room: f64,
    /// What one unit of the objective is in T⁻¹ times the answer; 0 where the answer is no value.
    pub(crate) unit: f64,
    /// What is known of variables beside the rows.
    pub(crate) known: Vec<Limits>,
}

impl Tolerance {
    /// Of an answer that is the optimal value, `unit` in T⁻¹ times the answer for each unit of it.
    pub(super) fn of_a_value(bound: f64, unit: f64, known: Vec<Limits>) -> Self {
        Tolerance {
            measure: Measure::Value,
            usual: SHARE * bound / unit,
            room: ROOM,
            unit,
            known,
        }
    }

    /// Of an answer that is bounded by a distance in P: the square root of a gap. Ten times the share of a value is still
    /// half a percent.
    pub(super) fn of_a_distance(curved: &CurvedBound, room: f64) -> Self {
        Tolerance {
            measure: Measure::Curved(curved.curvature.clone()),
            usual: 10.0 * SHARE * curved.reach,
            room: room * ROOM,
            unit: 0.0,
            known: Vec::new(),
        }
    }

    /// What it is at least, where the objectives' terms are of this size.
    pub(crate) fn at_least(&self, size: f64) -> f64 {
        match self.unit > 0.0 {
            true => LOOSE * size,
            false => 0.0,
        }
    }
}

/// Synthetic records that differ, at most: of more each stands for a run of equal ones, which cost a solve no more than one.
pub(crate) const DISTINCT: usize = 1 << 14;

/// The nominal values, or synthetic ones within the public bounds.
fn synthetic_data(map: &dyn DataMap) -> Vec<f64> {
    let parameters = map.parameters();
    if let Some((count, _)) = parameters.records() {
        let width = parameters.len() / count;
        let run = count.div_ceil(DISTINCT);
        let distinct = drawn(parameters, count.div_ceil(run) * width);
        let records = distinct.chunks(width);
        let each = records.flat_map(|record| std::iter::repeat_n(record, run).flatten());
        return each.copied().take(parameters.len()).collect();
    }
    drawn(parameters, parameters.len())
}

/// Values of the first so many: those that stand for all of them say from where, over and over.
fn drawn(parameters: &Parameters, count: usize) -> Vec<f64> {
    let mut sampler = Sampler::new(SYNTHETIC_SEED, 0);
    let draw = |p: &Parameter, u: f64| match (p.nominal_value(), p.bounds()) {
        (Some(nominal), _) => nominal,
        (None, Some((low, high))) if p.is_two_valued() => [low, high][usize::from(u < 0.5)],
        (None, Some((low, high))) => low + u * (high - low),
        (None, None) => 1.0 + u,
    };
    let kinds: Vec<&Parameter> = parameters.kinds().collect();
    let each = kinds.iter().cycle().take(count);
    each.map(|p| draw(p, sampler.uniform())).collect()
}

/// A limit on CVaR is a row over the costs of the program that is solved. Under a certificate that adds costs of its own these hold
/// its prices, or the data themselves: the feasible set would not be public, and multipliers not bounded by prices.
pub(super) fn limited(what: &str) -> Error {
    Error::refused(
        what,
        "a limit on CVaR stands over the costs of the program that is solved, among which are those of the certificate",
        "CVaR in the objective, in the place of a limit; or the expected cost",
    )
}

/// "and the solver's tolerance adds …", or nothing.
pub(super) fn solver_text(part: f64) -> String {
    if part == 0.0 {
        return String::new();
    }
    format!(
        "; to this the solver's tolerance, proven at every solve, adds {}",
        short(part, 3)
    )
}
