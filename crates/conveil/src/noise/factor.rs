//! Safety factors for weighted sums Σ aⱼζⱼ whose weights are not known in advance (M5d).

use std::f64::consts::SQRT_2;
use std::fmt;

use super::Law;
use super::error::{NoiseError, finite, tail_share};
use super::gaussian::unit_upper_quantile;

/// A factor z(η) such that Pr\[Σ aⱼζⱼ > z·σ‖a‖₂\] ≤ η.
///
/// # Guarantee
/// For independent ζⱼ of one law, η in (0, ½) and any weights a: Pr\[Σ aⱼζⱼ > z(η)·σ‖a‖₂\] ≤ η,
/// with σ = [`Factor::std_dev`] of the law, wherever [`Factor::is_proven`] says so. (M5d)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Factor {
    /// Φ^{-1}(1−η): Gaussian noise, exact.
    Gaussian,
    /// √((1−η)/η): any law with a variance. The paper calls it Chebyshev.
    Cantelli,
    /// √(2/(9η)) for η ≤ 1/6, √3(1−2η) above: symmetric unimodal sums, and all our sums are
    /// (a convolution of symmetric unimodal laws is one, Wintner 1938).
    Gauss,
    /// √2u/(1−u²) with e^{−2u²/(1−u²)}/(1−u²) = η: sums of Laplace or truncated Laplace terms.
    Chernoff,
    /// ln(1/(2η))/√2: a single Laplace term (exact) or truncated Laplace term (an upper bound).
    OneLaplace,
}

impl Factor {
    /// Every factor, in the order of the table in M5d.
    pub const ALL: [Factor; 5] = [
        Factor::Cantelli,
        Factor::Gauss,
        Factor::Chernoff,
        Factor::OneLaplace,
        Factor::Gaussian,
    ];

    /// The factor's name, for messages and reports.
    pub fn name(self) -> &'static str {
        match self {
            Factor::Gaussian => "Gaussian",
            Factor::Cantelli => "Cantelli",
            Factor::Gauss => "Gauss",
            Factor::Chernoff => "Chernoff",
            Factor::OneLaplace => "one-Laplace",
        }
    }

    /// The factor z(η) for η in (0, ½).
    pub fn z(self, eta: f64) -> Result<f64, NoiseError> {
        let eta = tail_share(eta)?;
        let z = match self {
            Factor::Gaussian => unit_upper_quantile(eta),
            Factor::Cantelli => ((1.0 - eta) / eta).sqrt(),
            Factor::Gauss if eta <= 1.0 / 6.0 => (2.0 / (9.0 * eta)).sqrt(),
            Factor::Gauss => 3.0_f64.sqrt() * (1.0 - 2.0 * eta),
            Factor::Chernoff => chernoff(eta),
            Factor::OneLaplace => -(2.0 * eta).ln() / SQRT_2,
        };
        finite("safety factor", z)
    }

    /// Whether the factor is proven for sums of at most `terms` independent terms of `law`.
    pub fn is_proven(self, law: &Law, terms: usize) -> bool {
        match self {
            Factor::Cantelli | Factor::Gauss => true,
            Factor::Gaussian => !law.is_laplace_family(),
            Factor::Chernoff => law.is_laplace_family(),
            Factor::OneLaplace => law.is_laplace_family() && terms <= 1,
        }
    }

    /// The standard deviation per unit weight that z multiplies: the law's own, except that
    /// Chernoff and one-Laplace keep the untruncated √2·s (their proofs bound the truncated term
    /// by the untruncated one).
    pub fn std_dev(self, law: &Law) -> f64 {
        match self {
            Factor::Chernoff | Factor::OneLaplace => SQRT_2 * law.scale(),
            Factor::Gaussian | Factor::Cantelli | Factor::Gauss => law.std_dev(),
        }
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Room for the rounding of a handful of floating-point operations, always to the safe side.
pub(super) const ROUND_UP: f64 = 1.0 + 1e-13;

/// The proven factor whose z(η)·σ is smallest, with its z.
///
/// `terms` is the number of non-zero weights, or any upper bound on it; z multiplies
/// [`Factor::std_dev`] of the law.
///
/// # Guarantee
/// The factor is one that [`Factor::is_proven`] for the law and the number of terms. (M5d)
pub(crate) fn best_proven(law: &Law, terms: usize, eta: f64) -> Result<(Factor, f64), NoiseError> {
    // Cantelli is proven for every law, so it stands as the one to beat.
    let mut best = (Factor::Cantelli, Factor::Cantelli.z(eta)?);
    for factor in Factor::ALL {
        let z = factor.z(eta)?;
        let width = z * factor.std_dev(law);
        if factor.is_proven(law, terms) && width < best.1 * best.0.std_dev(law) {
            best = (factor, z);
        }
    }
    Ok(best)
}

/// The smallest proven m with Pr\[Σ aⱼζⱼ > m·‖a‖₂\] ≤ η whatever the weights.
///
/// # Guarantee
/// For independent ζⱼ of `law`, η in (0, ½) and any a with at most `terms` non-zero entries:
/// Pr\[Σ aⱼζⱼ > m·‖a‖₂\] ≤ η. It is the least of the proven factors of M5d, of the law's own
/// quantile where a single term is left, and, for bounded noise, of B·√terms (‖a‖₁ ≤ √terms·‖a‖₂,
/// M5g); rounded up. (M5d)
pub fn safe_multiplier(law: &Law, terms: usize, eta: f64) -> Result<f64, NoiseError> {
    let (factor, z) = best_proven(law, terms, eta)?;
    let mut multiplier = z * factor.std_dev(law);
    if terms <= 1 {
        multiplier = multiplier.min(law.upper_quantile(eta)?);
    }
    if let Some(bound) = law.support_bound() {
        multiplier = multiplier.min(bound * (terms.max(1) as f64).sqrt());
    }
    finite("safety multiplier", multiplier * ROUND_UP)
}

/// The multiplier m = z(η)·σ of a factor that the user names, or an error if it is not proven.
///
/// # Guarantee
/// As [`safe_multiplier`], by the named factor alone; rounded up. (M5d)
pub fn named_multiplier(
    law: &Law,
    factor: Factor,
    terms: usize,
    eta: f64,
) -> Result<f64, NoiseError> {
    if !factor.is_proven(law, terms) {
        let proven = Factor::ALL.iter().filter(|f| f.is_proven(law, terms));
        return Err(NoiseError::Unproven {
            factor: factor.name(),
            law: law.name(),
            terms,
            proven: proven.map(|f| f.name()).collect::<Vec<_>>().join(", "),
        });
    }
    let multiplier = factor.z(eta)? * factor.std_dev(law) * ROUND_UP;
    finite("safety multiplier", multiplier)
}

/// Chernoff: with w = 1/(1−u²) the equation reads 2(w−1) − ln w = ln(1/η), and z = √(2w(w−1)).
/// The left side is convex and increasing for w ≥ 1, so Newton from w = 1 + ln(1/η), where it is
/// too large, comes down from above: every iterate is a valid factor.
fn chernoff(eta: f64) -> f64 {
    let target = -eta.ln();
    // x = w − 1.
    let mut x = target;
    for _ in 0..60 {
        let step = (2.0 * x - x.ln_1p() - target) / (2.0 - 1.0 / (1.0 + x));
        if step <= x * f64::EPSILON {
            break;
        }
        x -= step;
    }
    (2.0 * (1.0 + x) * x).sqrt() * (1.0 + 8.0 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_m5d_to_its_printed_digits() {
        // η, then Cantelli, Gauss, Chernoff, one Laplace, Gaussian with their decimals.
        let table = [
            (0.05, ["4.36", "2.108", "3.546", "1.628", "1.645"]),
            (0.01, ["9.95", "4.714", "4.892", "2.766", "2.326"]),
            (1e-3, ["31.6", "14.91", "6.732", "4.394", "3.090"]),
            (1e-4, ["100", "47.14", "8.519", "6.023", "3.719"]),
            (1e-6, ["1000", "471.4", "12.01", "9.279", "4.753"]),
        ];
        for (eta, row) in table {
            for (factor, printed) in Factor::ALL.into_iter().zip(row) {
                let decimals = printed.split('.').nth(1).map_or(0, str::len);
                let found = format!("{:.decimals$}", factor.z(eta).unwrap());
                assert_eq!(found, printed, "{factor} at {eta}");
            }
        }
    }

    #[test]
    fn chernoff_solves_its_equation() {
        for eta in [0.49_f64, 0.1, 1e-3, 1e-12, 1e-300] {
            // z = √2u/(1−u²) inverted: u = (√(1+2z²) − 1)/(√2z).
            let z = Factor::Chernoff.z(eta).unwrap();
            let u = ((1.0 + 2.0 * z * z).sqrt() - 1.0) / (SQRT_2 * z);
            let v = 1.0 - u * u;
            let bound = -2.0 * u * u / v - v.ln();
            assert!((bound - eta.ln()).abs() < 1e-9 * eta.ln().abs(), "{eta}");
        }
    }

    #[test]
    fn the_best_factor_is_proven_and_named_ones_are_checked() {
        let laplace = Law::laplace(1.0).unwrap();
        let gaussian = Law::gaussian(1.0).unwrap();
        assert_eq!(best_proven(&gaussian, 9, 0.01).unwrap().0, Factor::Gaussian);
        assert_eq!(best_proven(&laplace, 9, 0.01).unwrap().0, Factor::Gauss);
        assert_eq!(best_proven(&laplace, 9, 1e-3).unwrap().0, Factor::Chernoff);
        assert_eq!(
            best_proven(&laplace, 1, 0.01).unwrap().0,
            Factor::OneLaplace
        );
        assert!(named_multiplier(&laplace, Factor::Gaussian, 2, 0.01).is_err());
        assert!(named_multiplier(&laplace, Factor::OneLaplace, 2, 0.01).is_err());
        assert!(named_multiplier(&gaussian, Factor::Chernoff, 2, 0.01).is_err());
        let error = named_multiplier(&laplace, Factor::OneLaplace, 3, 0.01).unwrap_err();
        assert!(error.to_string().ends_with("Cantelli, Gauss, Chernoff"));
        for eta in [0.0, 0.5, 0.7, -1.0, f64::NAN] {
            assert!(safe_multiplier(&laplace, 3, eta).is_err());
        }
    }

    #[test]
    fn truncation_lowers_gauss_but_not_chernoff() {
        let cut = Law::truncated_laplace(1.0, 2.0).unwrap();
        let plain = Law::laplace(1.0).unwrap();
        let m = |law, factor| named_multiplier(law, factor, 5, 0.01).unwrap();
        assert!(m(&cut, Factor::Gauss) < m(&plain, Factor::Gauss));
        assert_eq!(m(&cut, Factor::Chernoff), m(&plain, Factor::Chernoff));
        // B√terms beats every factor at small η.
        assert!(safe_multiplier(&cut, 1, 1e-9).unwrap() <= 2.0 * ROUND_UP);
        assert!(safe_multiplier(&cut, 4, 1e-9).unwrap() <= 4.0 * ROUND_UP);
    }
}
