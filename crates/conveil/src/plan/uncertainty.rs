//! What the noise, and the room that is left for it, do to the released numbers, as far as the public knows: an error bar
//! for each, and where it is the same for all data, a bias.

use super::ReleasedMap;
use crate::ask::{Ask, Strategy};
use crate::digits::short;
use crate::noise::weighted_upper_quantile;
use crate::program::{Cone, DataMap, Holds, Stage};
use serde::Serialize;

/// The share of draws that an error bar holds.
const SHARE: f64 = 0.95;

/// Noises up to which every error bar is a quantile of its own; with more it is the standard deviation times a factor.
const MOST_NOISES: usize = 200;

/// How far released numbers are from those before the noise, and from the optimum. Public.
///
/// # Guarantee
/// Each released number by itself (before a projection, where there is one) is within its half-width of the number before
/// noise with probability at least `share`; a bias is that of every dataset for which the noise fits (M5a, M5e). Tests:
/// `error_bars_hold_the_noise_as_often_as_they_say`, `the_stated_bias_is_that_of_every_dataset`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Uncertainty {
    /// The share of draws that an error bar holds.
    pub share: f64,
    /// Half of each error bar, in the order of the numbers that get noise: the released ones, or those before they are made
    /// feasible (`before_projection` of a card). One number where all are equal.
    pub half_widths: Vec<f64>,
    /// By how much the released number is worse than the optimum on average, where that is known without data.
    pub bias: Option<Bias>,
}

/// The mean of a released optimal value is worse than the optimum by this, whatever the data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bias {
    /// By how much, in the unit of the released number.
    pub amount: f64,
    /// Whether it can be less: under an envelope, whose price can cap the released number, or where data are clipped.
    pub at_most: bool,
}

impl Uncertainty {
    pub(super) fn new(ask: &Ask, released: &ReleasedMap<'_>, model: &dyn DataMap) -> Self {
        Uncertainty {
            share: SHARE,
            half_widths: half_widths(released),
            bias: bias(ask, released, model),
        }
    }

    /// The error bars in words, of so many released numbers.
    pub fn text(&self, numbers: usize) -> String {
        let percent = 100.0 * self.share;
        let each = match numbers {
            1 => "the number",
            _ => "each number by itself",
        };
        format!("± holds the noise on {each} in {percent}% of draws")
    }

    /// The error bar of a released number, counted from 0: `± 1499`.
    pub fn bar(&self, index: usize) -> Option<String> {
        let half = self.half_width(index)?;
        Some(format!("± {}", short(half, 4)))
    }

    /// Half of the error bar of a released number, counted from 0.
    pub fn half_width(&self, index: usize) -> Option<f64> {
        match self.half_widths[..] {
            [all] => Some(all),
            _ => self.half_widths.get(index).copied(),
        }
    }
}

impl Bias {
    /// In words; `released` is what a reader calls the number. Clipped data count as clipped: the optimum is theirs.
    pub fn text(&self, released: &str) -> String {
        let amount = short(self.amount, 6);
        match self.at_most {
            false => format!(
                "on average {released} is {amount} worse than the optimum, for all data that the noise fits: that is the room for it"
            ),
            true => format!(
                "on average {released} is at most {amount} worse than the optimum, unless data are clipped or corrected: that is the room for the noise"
            ),
        }
    }
}

/// The quantile of each row of Tζ; lattice noise and rounding are within 3h/2 of it in every ζ (M5).
fn half_widths(released: &ReleasedMap<'_>) -> Vec<f64> {
    let (law, shape) = (released.law(), released.shape());
    let of = |weights: &[f64]| {
        let size: f64 = weights.iter().map(|w| w.abs()).sum();
        let half = match weights.len() <= MOST_NOISES {
            true => weighted_upper_quantile(law, weights, (1.0 - SHARE) / 2.0),
            false => crate::noise::safe_multiplier(law, weights.len(), (1.0 - SHARE) / 2.0)
                .map(|z| z * crate::program::norm(weights)),
        };
        half.unwrap_or(f64::INFINITY) + 1.5 * released.step() * size
    };
    match shape.is_identity() {
        true => vec![of(&[1.0])],
        false => (0..shape.noises()).map(|i| of(shape.row(i))).collect(),
    }
}

/// M5a: with one box [l, u] on all rows, x(l) can be an optimum and x(u) any point whose cost is u − l above it, and no rule
/// does better: c'x̄ = c'x* − l. That needs every variable to answer to the noise, and no row to keep it away.
fn bias(ask: &Ask, released: &ReleasedMap<'_>, model: &dyn DataMap) -> Option<Bias> {
    let own = released.plain().unwrap_or(released);
    let (query, design, program) = (own.query(), own.design(), own.map().template());
    let answers = |stage: Stage| matches!(stage, Stage::Decision | Stage::Witness);
    let is_exact = ask.strategy == Strategy::Program
        && query.value_factor == Some(1.0)
        && query.slope.is_none()
        && ask.risk.is_expectation()
        && design.splits() == 1
        && program.columns() == model.template().columns()
        && program.variables().iter().all(|v| answers(v.stage()))
        && (program.constraints().iter()).all(|block| match block.holds() {
            Holds::WithNoise => true,
            Holds::Always => matches!(block.cone(), Cone::Zero(_)),
            Holds::AtTheMean => false,
        });
    let interval = design.sole_box(0).filter(|_| is_exact)?;
    let t = own.shape().row(0)[0];
    let is_clipped = model.parameters().iter().any(|p| p.bounds().is_some());
    Some(Bias {
        amount: -(interval.lower * t).min(interval.upper * t),
        at_most: released.plain().is_some() || is_clipped,
    })
}
