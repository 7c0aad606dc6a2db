//! The noise laws under one roof: all are symmetric about 0 and unimodal, so each law's file
//! gives its formulas for the upper half only, and this one reflects them.

use super::error::{NoiseError, finite, open_probability, strictly_between};
use super::{Gaussian, Laplace, TruncatedLaplace};

/// A law's formulas on its upper half; the caller keeps the arguments in the stated ranges.
pub(super) trait UpperHalf {
    /// Name for messages and reports.
    fn name(&self) -> &'static str;
    /// The scale parameter (s or σ).
    fn scale(&self) -> f64;
    /// Standard deviation.
    fn std_dev(&self) -> f64;
    /// Pr\[ζ > x\] for x ≥ 0.
    fn tail(&self, x: f64) -> f64;
    /// Pr\[l ≤ ζ ≤ u\] for 0 ≤ l ≤ u.
    fn band(&self, l: f64, u: f64) -> f64;
    /// The x ≥ 0 with Pr\[ζ > x\] = q, for 0 < q ≤ ½.
    fn upper_quantile(&self, q: f64) -> f64;
    /// E\[ζ | ζ > x_q\] with Pr\[ζ > x_q\] = q, for 0 < q ≤ ½.
    fn tail_mean(&self, q: f64) -> f64;
}

/// The law of one noise term ζ: zero mean, symmetric, unimodal.
///
/// Built only by [`Law::laplace`], [`Law::gaussian`] and [`Law::truncated_laplace`], which refuse
/// a scale that is not a positive finite number (within 1e±150, so that variances are finite).
///
/// # Guarantee
/// Probabilities, quantiles and conditional means are those of the stated density, to a relative
/// error of about 1e-14, far tails included (the Gaussian mass of a narrow interval: an absolute
/// one). They are not rounded to a safe side; what rests on them (`weighted_upper_quantile`, `safe_multiplier`) is.
/// Assumes exact real-valued noise; lattice noise adds the widening of M5. (M3, M5a, M6)
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// Density e^{−|x|/s}/(2s).
    Laplace(Laplace),
    /// Density of N(0, σ²).
    Gaussian(Gaussian),
    /// Density ∝ e^{−|x|/s} on \[−B, B\], zero outside.
    TruncatedLaplace(TruncatedLaplace),
}

impl Law {
    /// Laplace noise with scale s.
    pub fn laplace(scale: f64) -> Result<Self, NoiseError> {
        Laplace::new(scale).map(Law::Laplace)
    }

    /// Gaussian noise with standard deviation σ.
    pub fn gaussian(sigma: f64) -> Result<Self, NoiseError> {
        Gaussian::new(sigma).map(Law::Gaussian)
    }

    /// Laplace noise with scale s, conditioned on \[−B, B\].
    pub fn truncated_laplace(scale: f64, bound: f64) -> Result<Self, NoiseError> {
        TruncatedLaplace::new(scale, bound).map(Law::TruncatedLaplace)
    }

    fn half(&self) -> &dyn UpperHalf {
        match self {
            Law::Laplace(law) => law,
            Law::Gaussian(law) => law,
            Law::TruncatedLaplace(law) => law,
        }
    }

    /// The law's name, for messages and reports.
    pub fn name(&self) -> &'static str {
        self.half().name()
    }

    /// The scale parameter: s for the Laplace family, σ for the Gaussian.
    pub fn scale(&self) -> f64 {
        self.half().scale()
    }

    /// Var ζ (M3).
    pub fn variance(&self) -> f64 {
        self.std_dev().powi(2)
    }

    /// Standard deviation of ζ.
    pub fn std_dev(&self) -> f64 {
        self.half().std_dev()
    }

    /// B where |ζ| ≤ B always holds.
    pub fn support_bound(&self) -> Option<f64> {
        match self {
            Law::TruncatedLaplace(law) => Some(law.bound()),
            _ => None,
        }
    }

    /// Whether the law is Laplace or truncated Laplace.
    pub fn is_laplace_family(&self) -> bool {
        !matches!(self, Law::Gaussian(_))
    }

    /// The law of `factor`·ζ: scale and bound multiplied.
    pub fn scaled(&self, factor: f64) -> Result<Self, NoiseError> {
        let positive = 0.0..f64::INFINITY;
        let factor = strictly_between("scaling factor", factor, positive, "(0, ∞)")?;
        match self {
            Law::Laplace(law) => Law::laplace(factor * law.scale()),
            Law::Gaussian(law) => Law::gaussian(factor * law.scale()),
            Law::TruncatedLaplace(law) => {
                Law::truncated_laplace(factor * law.scale(), factor * law.bound())
            }
        }
    }

    /// Pr\[ζ > x\], accurate in the far tail; NaN for NaN.
    pub fn tail(&self, x: f64) -> f64 {
        if x.is_nan() {
            f64::NAN
        } else if x < 0.0 {
            1.0 - self.half().tail(-x)
        } else {
            self.half().tail(x)
        }
    }

    /// The x with Pr\[ζ ≤ x\] = p. For p near 1 [`Law::upper_quantile`] is the accurate one.
    pub fn quantile(&self, p: f64) -> Result<f64, NoiseError> {
        Ok(-self.upper_quantile(open_probability("probability p", p)?)?)
    }

    /// The x with Pr\[ζ > x\] = q, accurate for tiny q.
    pub fn upper_quantile(&self, q: f64) -> Result<f64, NoiseError> {
        let q = open_probability("tail share q", q)?;
        if q > 0.5 {
            // 1 − q is exact for q in [½, 1].
            Ok(-self.half().upper_quantile(1.0 - q))
        } else {
            Ok(self.half().upper_quantile(q))
        }
    }

    /// Pr\[l ≤ ζ ≤ u\]: 0 if l > u. NaN for NaN, which no comparison with 1 − η accepts.
    pub fn mass(&self, l: f64, u: f64) -> f64 {
        let half = self.half();
        if l.is_nan() || u.is_nan() {
            f64::NAN
        } else if l > u {
            0.0
        } else if l >= 0.0 {
            half.band(l, u)
        } else if u <= 0.0 {
            half.band(-u, -l)
        } else {
            half.band(0.0, -l) + half.band(0.0, u)
        }
    }

    /// 1 − `mass(l, u)`, accurate where the mass is near 1; NaN for NaN.
    pub fn outside(&self, l: f64, u: f64) -> f64 {
        if l > u {
            1.0
        } else {
            // NaN in either end makes the sum NaN, and NaN.min(1) would hide it.
            let outside = self.tail(-l) + self.tail(u);
            if outside > 1.0 { 1.0 } else { outside }
        }
    }

    /// CVaR of ζ at tail share q in (0, 1\]: the mean of the worst (largest) q of outcomes.
    ///
    /// # Guarantee
    /// CVaR_q\[c'(x̄+Xζ)\] = c'x̄ + |c'X|·κ for one noise, with κ this number (M6).
    pub fn cvar_factor(&self, q: f64) -> Result<f64, NoiseError> {
        if q == 1.0 {
            return Ok(0.0);
        }
        let q = strictly_between("tail share q", q, 0.0..1.0, "(0, 1]")?;
        let kappa = if q > 0.5 {
            // The mean is 0 and the law symmetric, so ∫ over the upper q equals ∫ over the
            // upper 1−q (M6: the branch q > ½).
            (1.0 - q) / q * self.half().tail_mean(1.0 - q)
        } else {
            self.half().tail_mean(q)
        };
        finite("CVaR of the noise", kappa)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laws() -> [Law; 4] {
        [
            Law::laplace(2.0).unwrap(),
            Law::gaussian(2.0).unwrap(),
            Law::truncated_laplace(2.0, 5.0).unwrap(),
            Law::truncated_laplace(2e6, 5.0).unwrap(),
        ]
    }

    #[test]
    fn quantiles_invert_tails_in_both_halves() {
        for law in laws() {
            for q in [1e-12, 1e-3, 0.2, 0.5, 0.7, 0.99] {
                // A step of 1e-14 to either side must cross q: near a bound B, where the tail
                // ends, no closer statement about the tail itself can hold.
                let x = law.upper_quantile(q).unwrap();
                let step = 1e-14 * x.abs();
                let rounding = if q > 0.5 { 1e-15 } else { 0.0 };
                assert!(law.tail(x + step) <= q + rounding, "{law:?} at {q}");
                assert!(law.tail(x - step) >= q - rounding, "{law:?} at {q}");
                assert_eq!(law.quantile(q).unwrap(), -x);
            }
        }
    }

    #[test]
    fn mass_and_outside_add_to_one() {
        for law in laws() {
            for (l, u) in [(-3.0, 4.0), (0.5, 1.0), (-9.0, 0.0), (-2.0, -1.0)] {
                let sum = law.mass(l, u) + law.outside(l, u);
                assert!((sum - 1.0).abs() < 1e-14, "{law:?} on [{l}, {u}]");
            }
            assert_eq!(law.mass(1.0, -1.0), 0.0);
            assert_eq!(law.outside(f64::NEG_INFINITY, f64::INFINITY), 0.0);
            assert!(law.mass(f64::NAN, 1.0).is_nan() && law.outside(0.0, f64::NAN).is_nan());
        }
    }

    #[test]
    fn scaling_the_law_scales_its_quantiles_and_risk() {
        for law in laws() {
            let wide = law.scaled(3.0).unwrap();
            for q in [1e-6, 0.1, 0.8] {
                let (x, y) = (law.upper_quantile(q), wide.upper_quantile(q));
                assert!((y.unwrap() - 3.0 * x.unwrap()).abs() < 1e-12);
                let (x, y) = (law.cvar_factor(q), wide.cvar_factor(q));
                assert!((y.unwrap() - 3.0 * x.unwrap()).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn bad_scales_and_probabilities_are_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200] {
            assert!(Law::laplace(bad).is_err() && Law::gaussian(bad).is_err());
            assert!(Law::truncated_laplace(bad, 1.0).is_err());
            assert!(Law::truncated_laplace(1.0, bad).is_err());
        }
        let law = Law::laplace(1.0).unwrap();
        for bad in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(law.quantile(bad).is_err() && law.upper_quantile(bad).is_err());
        }
        assert!(law.cvar_factor(0.0).is_err() && law.cvar_factor(1.1).is_err());
        assert!(law.scaled(-2.0).is_err());
    }
}
