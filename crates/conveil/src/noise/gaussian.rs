//! The Gaussian law, with a normal tail that is accurate to its last digits.
//!
//! Everything rests on the Mills ratio R(y) = Pr\[Z > y\]/φ(y), which neither underflows nor
//! cancels.

use std::f64::consts::{PI, SQRT_2};

use statrs::function::erf::{erf_inv, erfc_inv};

use super::error::{NoiseError, length};
use super::law::UpperHalf;

/// Gaussian noise N(0, σ²).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaussian {
    sigma: f64,
}

impl Gaussian {
    /// Gaussian noise with standard deviation σ, positive and finite.
    pub fn new(sigma: f64) -> Result<Self, NoiseError> {
        let sigma = length("Gaussian standard deviation", sigma)?;
        Ok(Gaussian { sigma })
    }

    /// The standard deviation σ.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }
}

impl UpperHalf for Gaussian {
    fn name(&self) -> &'static str {
        "Gaussian"
    }

    fn scale(&self) -> f64 {
        self.sigma
    }

    fn std_dev(&self) -> f64 {
        self.sigma
    }

    fn tail(&self, x: f64) -> f64 {
        unit_tail(x / self.sigma)
    }

    fn band(&self, l: f64, u: f64) -> f64 {
        let (l, u) = (l / self.sigma, u / self.sigma);
        if l < 1.0 {
            (unit_centre(u) - unit_centre(l)).max(0.0)
        } else {
            (unit_tail(l) - unit_tail(u)).max(0.0)
        }
    }

    fn upper_quantile(&self, q: f64) -> f64 {
        self.sigma * unit_upper_quantile(q)
    }

    // φ(Φ^{-1}(1−q))/q = 1/R at the quantile, as q = φR.
    fn tail_mean(&self, q: f64) -> f64 {
        self.sigma / mills(unit_upper_quantile(q))
    }
}

/// φ(y), squared in two parts so that its exponent is exact to the last digit.
pub(super) fn unit_density(y: f64) -> f64 {
    if y.abs() > 40.0 {
        return 0.0; // φ(40) < 1e-347
    }
    let near = (16.0 * y).trunc() / 16.0;
    let rest = (y - near) * (y + near);
    (-0.5 * near * near).exp() * (-0.5 * rest).exp() / (2.0 * PI).sqrt()
}

/// Mills ratio Pr\[Z > y\]/φ(y) for y ≥ 0.
pub(super) fn mills(y: f64) -> f64 {
    if y < SERIES_END {
        return unit_tail(y) / unit_density(y);
    }
    // 1/(y + 1/(y + 2/(y + 3/(y + …)))), cut where its error, about e^{−1.8y√n}, is below e^{−40}.
    let mut below = y;
    for n in (1..=(12.0 + 500.0 / (y * y)) as u32).rev() {
        below = y + f64::from(n) / below;
    }
    1.0 / below
}

const SERIES_END: f64 = 1.5;

/// Pr\[0 ≤ Z ≤ y\] for y ≥ 0: below 1.5 by φ(y)·Σ y^{2n+1}/(2n+1)!!, whose terms are all positive.
pub(super) fn unit_centre(y: f64) -> f64 {
    if y >= SERIES_END {
        return 0.5 - unit_tail(y);
    }
    let (mut term, mut sum) = (y, y);
    for n in 1..30 {
        term *= y * y / f64::from(2 * n + 1);
        sum += term;
    }
    unit_density(y) * sum
}

/// Pr\[Z > y\] of a unit normal, for any y.
pub(super) fn unit_tail(y: f64) -> f64 {
    if y < 0.0 {
        1.0 - unit_tail(-y)
    } else if y < SERIES_END {
        0.5 - unit_centre(y)
    } else {
        unit_density(y) * mills(y)
    }
}

/// The y ≥ 0 with Pr\[Z > y\] = q, for 0 < q ≤ ½: Φ^{-1}(1−q).
pub(super) fn unit_upper_quantile(q: f64) -> f64 {
    if q > 0.25 {
        // 1 − 2q is exact here, and small where the answer is.
        SQRT_2 * erf_inv(1.0 - 2.0 * q)
    } else {
        SQRT_2 * erfc_inv(2.0 * q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // mpmath, 40 digits: erfc(y/√2)/2 at the nearest doubles.
    const TAILS: [(f64, f64); 8] = [
        (0.1, 0.460172162722971),
        (1.0, 0.15865525393145705),
        (1.499, 0.06693681602969745),
        (1.5, 0.06680720126885807),
        (3.0, 0.0013498980316300946),
        (7.0, 1.279812543885835e-12),
        (15.0, 3.670966199312751e-51),
        (37.0, 5.725571222524577e-300),
    ];

    // mpmath, 40 digits: the root of erfc(y/√2)/2 = q.
    const QUANTILES: [(f64, f64); 7] = [
        (0.49, 0.025068908258711057),
        (0.3, 0.5244005127080408),
        (0.05, 1.6448536269514726),
        (1e-3, 3.0902323061678136),
        (1e-6, 4.753424308822899),
        (1e-12, 7.034483825301132),
        (1e-300, 37.0470962993612),
    ];

    #[test]
    fn normal_tails_match_forty_digits() {
        for (y, expected) in TAILS {
            let found = unit_tail(y);
            assert!((found / expected - 1.0).abs() < 2e-15, "{y}: {found:e}");
        }
        assert_eq!(
            (unit_tail(f64::INFINITY), unit_tail(f64::NEG_INFINITY)),
            (0.0, 1.0)
        );
        assert_eq!(unit_tail(1e6), 0.0);
    }

    #[test]
    fn normal_quantiles_match_forty_digits() {
        for (q, expected) in QUANTILES {
            let found = unit_upper_quantile(q);
            assert!((found / expected - 1.0).abs() < 1e-15, "{q}: {found:e}");
        }
    }

    #[test]
    fn cvar_is_density_over_share() {
        let law = Gaussian::new(2.0).unwrap();
        for q in [1e-9, 0.01, 0.3, 0.5] {
            let formula = 2.0 * unit_density(unit_upper_quantile(q)) / q;
            assert!((law.tail_mean(q) / formula - 1.0).abs() < 1e-13);
        }
    }
}
