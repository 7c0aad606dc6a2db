//! Exact noise on a lattice (M7): what leaves the machine is never drawn in floating point.
//!
//! y = T⁻¹Qx̄ is rounded to the lattice hZ^r as exact integers, integer noise is added there, and T·h·(integers) is
//! released. Rounding before T⁻¹ would put the answers of adjacent datasets on different lattices: one look at the
//! answer would tell them apart.

use conveil::noise::{Law, Sampler};
use conveil::plan::Plan;
use conveil::rule::Shape;
use dashu_int::IBig;
use dashu_int::ops::Abs;
use dashu_ratio::RBig;

use crate::error::{Error, Result};
use crate::randomness::SystemBits;
use crate::samplers::Sample;

/// More than the roundings in the plan's own arithmetic on its way to the scale, so that the drawn scale is never below
/// the one that (ε, δ), as stated in decimals, asks for.
const ROUNDINGS: f64 = 1.0 + 4.0 * f64::EPSILON;

/// Where the randomness comes from.
pub(crate) enum Source {
    /// The operating system's generator, asked anew for every integer.
    System,
    /// A known seed, for studies: **not private**.
    Seeded(Box<Sampler>),
}

/// A law on the integers, in steps of the lattice.
#[derive(Clone, Debug)]
pub(crate) enum Noise {
    /// Pr[j] ∝ e^{−|j|/s}.
    Laplace { scale: RBig },
    /// Pr[j] ∝ e^{−j²/(2σ²)}.
    Gaussian { scale: RBig },
    /// Pr[j] ∝ e^{−|j|/s} on |j| ≤ reach.
    TruncatedLaplace { scale: RBig, reach: IBig },
}

impl Noise {
    /// A law of the plan, in steps.
    fn of(law: &Law, step: &RBig) -> Result<Noise> {
        let in_steps = |x: f64| exact(x).map(|x| x / step);
        Ok(match law {
            Law::Laplace(laplace) => Noise::Laplace {
                scale: in_steps(laplace.scale() * ROUNDINGS)?,
            },
            Law::Gaussian(gaussian) => Noise::Gaussian {
                scale: in_steps(gaussian.sigma() * ROUNDINGS)?,
            },
            // Its δ was summed for exactly this scale and bound.
            Law::TruncatedLaplace(truncated) => Noise::TruncatedLaplace {
                scale: in_steps(truncated.scale())?,
                reach: in_steps(truncated.bound())?.round(),
            },
        })
    }
}

/// The public lattice of a plan and the noise on it.
///
/// # Guarantee
/// [`Lattice::draw`] is T·h·(c + j) with c the integers of [`Lattice::cell`] and j independent integers, drawn exactly
/// from the plan's law in steps of h: discrete Laplace of scale at least s/h, discrete Gaussian of scale at least σ/h, or
/// discrete Laplace of scale s/h conditioned on |j| ≤ B/h. The cells of two answers that are Δ apart in T⁻¹ are at most
/// Δ₁/h + r apart in ℓ₁ and Δ₂/h + √r in ℓ₂, which the plan has in its scale. What follows the integers is a function of
/// them alone. (M5g, M7; Canonne, Kamath and Steinke 2020.) Tests: `integers_follow_the_exact_discrete_law`,
/// `truncated_noise_stays_within_its_bound`, `no_mechanism_is_caught_spending_more_than_it_claims`.
#[derive(Clone, Debug)]
pub(crate) struct Lattice {
    pub(crate) shape: Shape,
    pub(crate) step: RBig,
    pub(crate) noise: Noise,
    /// The same law on the reals, for the seeded source.
    pub(crate) law: Law,
}

impl Lattice {
    /// The lattice and the noise of a plan.
    pub(crate) fn of(plan: &Plan<'_>) -> Result<Lattice> {
        let law = *plan.law();
        let step = exact(plan.released().step())?;
        let noise = Noise::of(&law, &step)?;
        Ok(Lattice {
            shape: plan.released().shape().clone(),
            step,
            noise,
            law,
        })
    }

    /// T⁻¹ times the answer, in steps, rounded to integers: exactly, whatever its size.
    pub(crate) fn cell(&self, answer: &[f64]) -> Result<Vec<IBig>> {
        let y = self.shape.unshape(answer);
        y.into_iter()
            .map(|y| Ok((exact(y)? / &self.step).round()))
            .collect()
    }

    /// The released numbers: noise on these integers, drawn once.
    pub(crate) fn draw(&self, cell: &[IBig], source: &mut Source) -> Result<Vec<f64>> {
        let integers: Result<Vec<IBig>> =
            cell.iter().map(|c| Ok(c + self.integer(source)?)).collect();
        Ok(self.released(&integers?))
    }

    /// T·h·(integers).
    pub(crate) fn released(&self, integers: &[IBig]) -> Vec<f64> {
        let y: Vec<f64> = integers
            .iter()
            .map(|integer| (&self.step * RBig::from(integer.clone())).to_f64().value())
            .collect();
        let answer = self.shape.apply(&y);
        answer.into_iter().map(|value| value + 0.0).collect() // −0 is 0
    }

    /// One integer of the noise.
    pub(crate) fn integer(&self, source: &mut Source) -> Result<IBig> {
        if let Source::Seeded(sampler) = source {
            let zeta = exact(sampler.draw(&self.law))?;
            return Ok((zeta / &self.step).round());
        }
        let bits = &mut SystemBits::for_one_draw();
        match &self.noise {
            Noise::Laplace { scale } => bits.discrete_laplace(scale),
            Noise::Gaussian { scale } => bits.discrete_gaussian(scale),
            Noise::TruncatedLaplace { scale, reach } => loop {
                let drawn = bits.discrete_laplace(scale)?;
                if (&drawn).abs() <= *reach {
                    return Ok(drawn);
                }
            },
        }
    }
}

/// The fraction that a finite f64 is.
pub(crate) fn exact(x: f64) -> Result<RBig> {
    RBig::try_from(x)
        .map_err(|_| Error::Noise(format!("{x} is not a number that noise can be added to")))
}

#[cfg(test)]
mod tests;
