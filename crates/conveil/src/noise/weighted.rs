//! Tail and quantile of Σ aⱼζⱼ for known weights: fixed recourse rows (M5e).
//!
//! **Truncated Laplace is bounded by Laplace.** Say that X is more peaked than Y if
//! Pr\[|X| > t\] ≤ Pr\[|Y| > t\] for all t ≥ 0. Let X₁, X₂, Y₁, Y₂ be independent, symmetric, with
//! densities that do not increase in |x|, and each Xᵢ more peaked than Yᵢ. Then X₁+X₂ is more
//! peaked than Y₁+Y₂ (Birnbaum 1948): g(x) = Pr\[|x + X₂| ≤ t\] is even and does not increase in |x|,
//! because X₂ is symmetric unimodal, so E g(X₁) ≥ E g(Y₁), that is, X₁+X₂ is more peaked than
//! Y₁+X₂; the same step with Y₁ held replaces X₂ by Y₂. A sum of independent symmetric unimodal
//! terms is symmetric unimodal (Wintner 1938), so the claim extends to any number of terms, and
//! scaling by |aⱼ| (or a sign) keeps every hypothesis. The truncated Laplace term is symmetric,
//! unimodal and more peaked than the Laplace term of the same scale:
//! (e^{−t/s} − e^{−B/s})/(1 − e^{−B/s}) ≤ e^{−t/s}. Both sums are symmetric with a density, so their
//! upper tails are half of Pr\[|·| > t\], and the Laplace tail bounds the truncated one for t ≥ 0.
//! The same argument with X₂ = 0 shows that a sum is less peaked than any one of its terms.

use super::error::{NoiseError, finite, tail_share};
use super::factor::ROUND_UP;
use super::laplace_sum::{Estimate, LaplaceSum};
use super::{Law, safe_multiplier};

/// The non-zero weights, by size, as multiples of the largest.
struct Weights {
    largest: f64,
    ratios: Vec<f64>,
}

impl Weights {
    fn new(weights: &[f64]) -> Result<Self, NoiseError> {
        if let Some(index) = weights.iter().position(|a| !a.is_finite()) {
            let found = weights[index];
            return Err(NoiseError::Weight { index, found });
        }
        let largest = weights.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
        let nonzero = weights.iter().filter(|a| **a != 0.0);
        // A weight below 1e-300 of the largest counts as 1e-300 of it: rounding up is safe.
        let ratios = nonzero.map(|a| (a.abs() / largest).max(1e-300)).collect();
        Ok(Weights { largest, ratios })
    }

    /// ‖a‖₂/max|aⱼ|.
    fn norm(&self) -> f64 {
        self.ratios.iter().map(|r| r * r).sum::<f64>().sqrt()
    }

    /// ‖a‖₁/max|aⱼ|, rounded up.
    fn sum(&self) -> f64 {
        let roundings = self.ratios.len() as f64 * f64::EPSILON;
        self.ratios.iter().sum::<f64>() * (ROUND_UP + roundings)
    }
}

/// Pr\[Σ aⱼζⱼ > t\] for independent ζⱼ of `law`, rounded up.
///
/// # Guarantee
/// The result is never below the true probability. It is within a relative 1e-9 of it for Gaussian
/// noise, Laplace noise, and a single non-zero weight of any law (t ≥ 0; for t < 0 the same holds
/// of the complement); for a sum of truncated Laplace terms it is the untruncated sum's tail, or 0
/// from t = B‖a‖₁ on, and 1 for t < 0. Numerical errors are bounded by measured step changes and
/// counted roundings. (M5e)
pub fn weighted_tail(law: &Law, weights: &[f64], t: f64) -> Result<f64, NoiseError> {
    if t.is_nan() {
        let (what, range) = ("threshold t", "[−∞, ∞]");
        return Err(NoiseError::OutOfRange {
            what,
            found: t,
            range,
        });
    }
    let weights = Weights::new(weights)?;
    if weights.ratios.is_empty() || t.is_infinite() {
        return Ok(if t < 0.0 { 1.0 } else { 0.0 });
    }
    // The threshold in units of the largest weight, moved to the safe side of its rounding.
    let x = t.abs() / weights.largest;
    let rounding = (weights.ratios.len() as f64 + 4.0) * f64::EPSILON;
    Ok(if t >= 0.0 {
        // Symmetric with a density: no tail above 0 exceeds ½.
        tail(law, &weights, x * (1.0 - rounding)).upper().min(0.5)
    } else if weights.ratios.len() > 1 && law.support_bound().is_some() {
        1.0 // only an upper bound on the tail is known, so none of 1 − tail
    } else {
        1.0 - tail(law, &weights, x * (1.0 + rounding)).lower()
    })
}

/// Pr\[Σ aⱼζⱼ > x\] for x ≥ 0; an upper bound for sums of truncated Laplace terms.
fn tail(law: &Law, weights: &Weights, x: f64) -> Estimate {
    match law {
        Law::TruncatedLaplace(law) if x >= law.bound() * weights.sum() => Estimate {
            value: 0.0,
            error: 0.0,
        },
        _ if weights.ratios.len() == 1 => closed_form(law.tail(x)),
        Law::Gaussian(_) => closed_form(law.tail(x / weights.norm())),
        Law::Laplace(_) | Law::TruncatedLaplace(_) => {
            LaplaceSum::new(weights.ratios.clone()).tail(x / law.scale())
        }
    }
}

/// A probability from a formula that is accurate to about 1e-14.
fn closed_form(value: f64) -> Estimate {
    let error = 1e-13 * value + f64::MIN_POSITIVE;
    Estimate { value, error }
}

/// A κ ≥ 0 with Pr\[Σ aⱼζⱼ > κ\] ≤ η for independent ζⱼ of `law`: the row a'x̄ ≤ b − κ of M5e.
///
/// # Guarantee
/// For η in (0, ½): Pr\[Σ aⱼζⱼ > κ\] ≤ η, and κ ≤ `safe_multiplier`·‖a‖₂ up to rounding. Gaussian
/// noise, Laplace noise and a single weight: κ is the (1−η)-quantile, rounded up by about 1e-9 of
/// itself (more only where η is within 1e-3 of ½: 5e-7 at a distance of 1e-6). Sums of truncated
/// Laplace terms: the least of the untruncated quantile (valid by the argument at the top of this
/// file), B‖a‖₁ and the factors of M5d. κ = 0 where every weight is 0. (M5e)
pub fn weighted_upper_quantile(law: &Law, weights: &[f64], eta: f64) -> Result<f64, NoiseError> {
    let eta = tail_share(eta)?;
    let weights = Weights::new(weights)?;
    let terms = weights.ratios.len();
    if terms == 0 {
        return Ok(0.0);
    }
    let norm = weights.norm() * (1.0 + terms as f64 * f64::EPSILON);
    // M5d, and exact for a single weight and for Gaussian noise.
    let mut kappa = safe_multiplier(law, terms, eta)? * norm;
    if let Some(bound) = law.support_bound() {
        kappa = kappa.min(bound * weights.sum());
    }
    let largest = weights.largest;
    if law.is_laplace_family() && terms > 1 {
        // Truncated terms, too, are bounded by the untruncated sum, whose quantile this is.
        let proven = safe_multiplier(&Law::laplace(law.scale())?, terms, eta)? * norm / law.scale();
        let quantile = LaplaceSum::new(weights.ratios).upper_quantile(eta, proven);
        kappa = kappa.min(quantile * law.scale() * ROUND_UP);
    }
    // A product that underflows must still leave 0.
    finite(
        "quantile of the weighted noise",
        (kappa * largest).next_up(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_do_not_count_and_all_zeros_need_no_room() {
        let law = Law::laplace(2.0).unwrap();
        assert_eq!(weighted_upper_quantile(&law, &[0.0; 4], 0.01), Ok(0.0));
        assert_eq!(weighted_upper_quantile(&law, &[], 0.01), Ok(0.0));
        assert_eq!(weighted_tail(&law, &[0.0], 0.0), Ok(0.0));
        assert_eq!(weighted_tail(&law, &[0.0], -1.0), Ok(1.0));
        let with = weighted_upper_quantile(&law, &[0.0, -3.0, 0.0, 1.0], 0.01);
        assert_eq!(with, weighted_upper_quantile(&law, &[3.0, 1.0], 0.01));
    }

    #[test]
    fn bad_weights_shares_and_thresholds_are_refused() {
        let law = Law::laplace(2.0).unwrap();
        let bad = weighted_upper_quantile(&law, &[1.0, f64::NAN], 0.1).unwrap_err();
        assert!(bad.to_string().starts_with("weight 1 is NaN"));
        assert!(weighted_upper_quantile(&law, &[1.0], 0.5).is_err());
        assert!(weighted_upper_quantile(&law, &[1.0], f64::NAN).is_err());
        assert!(weighted_tail(&law, &[1.0], f64::NAN).is_err());
        let huge = Law::laplace(1e100).unwrap();
        let overflow = weighted_upper_quantile(&huge, &[1e300, 1.0], 0.1);
        assert!(matches!(overflow, Err(NoiseError::Overflow { .. })));
        let tiny = Law::laplace(1e-100).unwrap();
        assert!(weighted_upper_quantile(&tiny, &[1e-320, 1e-321], 0.1).unwrap() > 0.0);
    }

    #[test]
    fn the_negative_side_is_the_complement() {
        let law = Law::laplace(1.0).unwrap();
        let a = [1.0, 0.99999, 0.5];
        let (above, below) = (weighted_tail(&law, &a, 1.5), weighted_tail(&law, &a, -1.5));
        assert!((above.unwrap() + below.unwrap() - 1.0).abs() < 1e-12);
    }
}
