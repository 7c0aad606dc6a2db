//! The exact privacy loss of one pair of datasets (M10), for the answers as they are released: rounded to the lattice.

use crate::ask::{Norm, Privacy};
use crate::error::Result;
use crate::noise::{self, Law};
use crate::plan::Plan;
use serde::{Deserialize, Serialize};

/// A loss counts as above the claim when it exceeds ε by more than this share: what lies between is rounding.
pub(crate) const MARGIN: f64 = 1e-4;

/// The same for the δ of truncated noise, which grows exponentially with the movement.
const DELTA_MARGIN: f64 = 1e-3;

/// The released map at one dataset, in the metric of the noise: T⁻¹Qx̄(θ).
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) answer: Vec<f64>,
    /// How far the solver may have moved it, judged by the residuals of our own check.
    pub(crate) slack: f64,
}

/// θ ↦ T⁻¹Qx(θ).
pub(crate) type Map<'a> = dyn Fn(&[f64]) -> Result<Point> + Sync + 'a;

/// The map that is released.
pub(crate) fn released_map<'a>(plan: &'a Plan<'_>) -> impl Fn(&[f64]) -> Result<Point> + Sync + 'a {
    let norm = plan.guarantee().privacy().norm();
    move |theta| {
        let decided = plan.released().at(theta)?;
        let answer = plan.released().shape().unshape(&decided.answer);
        // The residuals are relative: to the answer, and to the noise where the answer is small.
        let size = plan.law().scale() + norm.of(&answer);
        Ok(Point {
            slack: decided.residuals.worst() * size,
            answer,
        })
    }
}

/// The map without noise.
pub(crate) fn deterministic_map<'a>(
    plan: &'a Plan<'_>,
) -> impl Fn(&[f64]) -> Result<Point> + Sync + 'a {
    let released = plan.released();
    let map = released.without_noise();
    move |theta| {
        Ok(Point {
            answer: map.answer(theta)?,
            slack: 0.0,
        })
    }
}

/// ‖y − y'‖ in the mechanism's norm.
pub(crate) fn movement(norm: Norm, first: &Point, second: &Point) -> f64 {
    let change = first.answer.iter().zip(&second.answer);
    norm.of(&change.map(|(a, b)| a - b).collect::<Vec<f64>>())
}

/// How well the noise hides the difference between two datasets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairLoss {
    /// ‖T⁻¹(Qx̄(θ) − Qx̄(θ'))‖ in the mechanism's norm.
    pub movement: f64,
    /// The same of the answers rounded to the lattice, which are what the noise is added to: at most r·h (ℓ₁) or √r·h
    /// (ℓ₂) more.
    pub on_lattice: f64,
    /// The exact privacy loss of the rounded answers: the smallest ε that holds for this pair, at the plan's δ where the
    /// noise is Gaussian; for truncated noise the largest ratio where both answers are possible.
    pub epsilon: f64,
    /// The δ that this pair needs at the claimed ε, where the mechanism has one; for truncated noise at least the
    /// probability of an answer that the other dataset cannot produce.
    pub delta: Option<f64>,
    /// Whether the loss exceeds the claim. It is that of the answers as they were computed: the noise is added to those,
    /// so that an error of the solver counts like a change of the data.
    pub above: bool,
    /// Whether the residuals of the two solves are large enough to explain all of the excess.
    #[serde(skip)]
    pub solver_may_explain: bool,
}

/// The claim against which pairs are held.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) privacy: Privacy,
    law: Law,
    step: f64,
}

impl Claim {
    pub(crate) fn of(plan: &Plan<'_>) -> Self {
        Claim {
            privacy: *plan.guarantee().privacy(),
            law: *plan.law(),
            step: plan.released().step(),
        }
    }

    pub(crate) fn loss(&self, first: &Point, second: &Point) -> Result<PairLoss> {
        let norm = self.privacy.norm();
        let steps: Vec<f64> = (first.answer.iter().zip(&second.answer))
            .map(|(a, b)| (a / self.step).round() - (b / self.step).round())
            .collect();
        let on_lattice = self.step * norm.of(&steps);
        let (epsilon, delta) = self.needs(on_lattice, &steps)?;
        let above = self.is_above(epsilon, delta);
        let slack = first.slack + second.slack;
        let share = if on_lattice > slack {
            1.0 - slack / on_lattice
        } else {
            0.0
        };
        let certain: Vec<f64> = steps.iter().map(|s| share * s).collect();
        let (sure_epsilon, sure_delta) = self.needs(share * on_lattice, &certain)?;
        Ok(PairLoss {
            movement: movement(norm, first, second),
            on_lattice,
            // Infinity is no number in a file.
            epsilon: epsilon.min(f64::MAX),
            delta,
            above,
            solver_may_explain: above && !self.is_above(sure_epsilon, sure_delta),
        })
    }

    /// Whether a pair that needs this ε, or this δ at the claimed ε, contradicts the claim.
    fn is_above(&self, epsilon: f64, delta: Option<f64>) -> bool {
        let too_likely = matches!(self.privacy, Privacy::TruncatedLaplace { .. })
            && delta.is_some_and(|d| d > self.privacy.delta() * (1.0 + DELTA_MARGIN));
        // A loss that is no number is not within a claim.
        !(epsilon <= self.privacy.epsilon() * (1.0 + MARGIN)) || too_likely
    }

    /// (ε at the plan's δ, δ at the claimed ε) of rounded answers so many steps apart.
    fn needs(&self, moved: f64, steps: &[f64]) -> Result<(f64, Option<f64>)> {
        let epsilon = self.privacy.loss_of(&self.law, moved)?;
        let delta = match self.privacy {
            Privacy::Laplace { .. } => None,
            Privacy::Gaussian { .. } if moved == 0.0 => Some(0.0),
            Privacy::Gaussian { epsilon, .. } => {
                Some(noise::gaussian_delta(moved, self.law.scale(), epsilon)?)
            }
            Privacy::TruncatedLaplace { .. } => {
                let rate = self.step / self.law.scale();
                let bound = self.law.support_bound().unwrap_or(f64::INFINITY);
                let reach = (bound / self.step).round();
                // One entry outside its support gives the pair away.
                let kept = steps.iter().map(|s| 1.0 - lost(rate, reach, s.abs()));
                Some(1.0 - kept.product::<f64>())
            }
        };
        Ok((epsilon, delta))
    }
}

/// The mass of the discrete law q^{|j|}, |j| ≤ reach, q = e^{−rate}, that a shift by `moved` steps carries outside its
/// own support: Σ_{j > reach − moved} q^{|j|} over the whole.
fn lost(rate: f64, reach: f64, moved: f64) -> f64 {
    // (1−q)·Σ_{|j| ≤ M} q^{|j|} = 1 + q − 2q^{M+1};  (1−q)·Σ_{j=a}^{b} q^j = q^a − q^{b+1}
    let whole = 1.0 + (-rate).exp() - 2.0 * (-rate * (reach + 1.0)).exp();
    let sum = |from: f64, to: f64| (-rate * from).exp() - (-rate * (to + 1.0)).exp();
    if moved <= reach {
        sum(reach - moved + 1.0, reach) / whole
    } else if moved <= 2.0 * reach {
        1.0 - sum(moved - reach, reach) / whole
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mass_outside_the_support_is_the_direct_sum() {
        let (rate, reach) = (0.3, 7);
        let weight = |j: i64| (-rate * j.abs() as f64).exp();
        let whole: f64 = (-reach..=reach).map(weight).sum();
        for moved in 0..=16 {
            let outside = (-reach..=reach).filter(|j| j + moved > reach);
            let direct: f64 = outside.map(weight).sum::<f64>() / whole;
            let found = lost(rate, reach as f64, moved as f64);
            assert!((found - direct).abs() < 1e-12, "{moved}: {found} {direct}");
        }
    }

    #[test]
    fn rounding_costs_no_more_than_the_claim_allows_for() {
        // Answers exactly Δ apart, at every offset from the lattice: never above ε.
        for privacy in [
            Privacy::laplace(0.7),
            Privacy::gaussian(0.7, 1e-5),
            Privacy::truncated_laplace(0.7, 1e-3),
        ] {
            let noise = privacy
                .lattice_law(1.0, 1, Some(0.01))
                .unwrap_or_else(|_| privacy.lattice_law(1.0, 1, None).unwrap());
            let (law, step) = (*noise.law(), noise.step());
            let claim = Claim { privacy, law, step };
            let point = |y: f64| Point {
                answer: vec![y],
                slack: 0.0,
            };
            for i in 0..50 {
                let offset = step * f64::from(i) / 50.0;
                let loss = claim.loss(&point(offset), &point(offset + 1.0)).unwrap();
                assert!(!loss.above, "{privacy:?} {loss:?}");
                assert!(loss.epsilon <= 0.7 * (1.0 + 1e-9), "{loss:?}");
                let double = claim.loss(&point(offset), &point(offset + 2.0)).unwrap();
                assert!(double.above && double.epsilon > 1.3, "{double:?}");
            }
        }
    }
}
