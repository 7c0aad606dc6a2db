//! The truncated Laplace law: density e^{−|x|/s}/(2sD) on \[−B, B\], D = 1 − e^{−B/s} (M5g).

use super::error::{NoiseError, length};
use super::law::UpperHalf;

/// Laplace noise with scale s, conditioned on \[−B, B\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TruncatedLaplace {
    scale: f64,
    bound: f64,
}

impl TruncatedLaplace {
    /// Laplace noise with scale s conditioned on \[−B, B\], both positive and finite.
    pub fn new(scale: f64, bound: f64) -> Result<Self, NoiseError> {
        let scale = length("truncated Laplace scale", scale)?;
        let bound = length("truncated Laplace bound", bound)?;
        Ok(TruncatedLaplace { scale, bound })
    }

    /// The scale s of the law before truncation.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The bound B: |ζ| ≤ B always.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// D = 1 − e^{−B/s}, the mass that the untruncated law has on \[−B, B\].
    pub(super) fn kept(&self) -> f64 {
        -(-self.bound / self.scale).exp_m1()
    }
}

impl UpperHalf for TruncatedLaplace {
    fn name(&self) -> &'static str {
        "truncated Laplace"
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    // With r = B/s: Var = B²·g₃(r)/g₁(r), g_n(r) = ∫₀¹ tⁿ⁻¹ e^{−rt} dt, which stays accurate for
    // small r (where it tends to B²/3); for large r it is s²(2 − e^{−r}(r²+2r+2))/D.
    fn std_dev(&self) -> f64 {
        let r = self.bound / self.scale;
        if r < 1.0 {
            self.bound * (series(3.0, r) / series(1.0, r)).sqrt()
        } else if r < 700.0 {
            let lost = (-r).exp() * (r * r + 2.0 * r + 2.0);
            self.scale * ((2.0 - lost) / self.kept()).sqrt()
        } else {
            self.scale * 2.0_f64.sqrt()
        }
    }

    // (e^{−x/s} − e^{−B/s})/(2D).
    fn tail(&self, x: f64) -> f64 {
        if x >= self.bound {
            return 0.0;
        }
        self.band(x, self.bound)
    }

    fn band(&self, l: f64, u: f64) -> f64 {
        let (l, u) = (l.min(self.bound), u.min(self.bound));
        let share = -((l - u) / self.scale).exp_m1() / self.kept();
        if share.is_nan() {
            // B/s underflows: the law is uniform on [−B, B].
            return 0.5 * (u - l) / self.bound;
        }
        0.5 * (-l / self.scale).exp() * share
    }

    // e^{−x/s} = e^{−B/s} + 2Dq = 1 − D(1−2q).
    fn upper_quantile(&self, q: f64) -> f64 {
        let inner = self.kept() * (1.0 - 2.0 * q);
        let x = if self.kept() == 0.0 {
            self.bound * (1.0 - 2.0 * q)
        } else if inner < 0.5 {
            -self.scale * (-inner).ln_1p()
        } else {
            -self.scale * ((-self.bound / self.scale).exp() + 2.0 * self.kept() * q).ln()
        };
        x.clamp(0.0, self.bound)
    }

    // (1/q)∫_x^B t f(t) dt = x + s − (B−x)/(e^{(B−x)/s} − 1), since 2Dq = e^{−x/s} − e^{−B/s}.
    fn tail_mean(&self, q: f64) -> f64 {
        let x = self.upper_quantile(q);
        let d = (self.bound - x) / self.scale;
        let excess = if d < 0.05 {
            // 1 − d/(e^d − 1) by its Bernoulli series, in units of B − x = s·d.
            let d2 = d * d;
            (self.bound - x) * (0.5 - d / 12.0 + d * d2 / 720.0 - d * d2 * d2 / 30240.0)
        } else {
            self.scale * (1.0 - d / d.exp_m1())
        };
        x + excess
    }
}

/// g_n(r) = Σ_k (−r)^k/(k!(k+n)) for 0 ≤ r < 1.
fn series(n: f64, r: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0 / n);
    for k in 1..25 {
        term *= -r / f64::from(k);
        sum += term / (f64::from(k) + n);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_bound_is_laplace_and_a_narrow_one_is_uniform() {
        let wide = TruncatedLaplace::new(1.0, 60.0).unwrap();
        assert!((wide.std_dev() - 2.0_f64.sqrt()).abs() < 1e-14);
        assert!((wide.tail_mean(0.01) - (1.0 + 50.0_f64.ln())).abs() < 1e-13);
        for scale in [1e9, 1e140] {
            let narrow = TruncatedLaplace::new(scale, 3.0e-12).unwrap();
            assert!((narrow.std_dev() / 3.0e-12 * 3.0_f64.sqrt() - 1.0).abs() < 1e-12);
            assert!((narrow.tail(1.5e-12) - 0.25).abs() < 1e-12);
            assert!((narrow.upper_quantile(0.25) / 1.5e-12 - 1.0).abs() < 1e-12);
            assert!((narrow.tail_mean(0.25) / 2.25e-12 - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_variance_branches_meet() {
        let below = TruncatedLaplace::new(1.0, 1.0 - 1e-12).unwrap().std_dev();
        let above = TruncatedLaplace::new(1.0, 1.0).unwrap().std_dev();
        assert!((below / above - 1.0).abs() < 1e-11);
    }
}
