//! The Laplace law: density e^{−|x|/s}/(2s).

use std::f64::consts::SQRT_2;

use super::error::{NoiseError, length};
use super::law::UpperHalf;

/// Laplace noise with scale s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Laplace {
    scale: f64,
}

impl Laplace {
    /// Laplace noise with scale s, positive and finite.
    pub fn new(scale: f64) -> Result<Self, NoiseError> {
        let scale = length("Laplace scale", scale)?;
        Ok(Laplace { scale })
    }

    /// The scale s.
    pub fn scale(&self) -> f64 {
        self.scale
    }
}

impl UpperHalf for Laplace {
    fn name(&self) -> &'static str {
        "Laplace"
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    // Var = 2s².
    fn std_dev(&self) -> f64 {
        SQRT_2 * self.scale
    }

    fn tail(&self, x: f64) -> f64 {
        0.5 * (-x / self.scale).exp()
    }

    // ½(e^{−l/s} − e^{−u/s}).
    fn band(&self, l: f64, u: f64) -> f64 {
        let from_l = 0.5 * (-l / self.scale).exp();
        if from_l == 0.0 {
            return 0.0;
        }
        from_l * -((l - u) / self.scale).exp_m1()
    }

    fn upper_quantile(&self, q: f64) -> f64 {
        -self.scale * (2.0 * q).ln()
    }

    // M6: s(1 + ln(1/(2q))).
    fn tail_mean(&self, q: f64) -> f64 {
        self.scale * (1.0 - (2.0 * q).ln())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cvar_matches_its_integral() {
        // ∫₀^q VaR(p) dp / q by the midpoint rule in √p, which tames the logarithm at 0.
        let law = Laplace::new(1.7).unwrap();
        let (q, n) = (0.2_f64, 20_000);
        let root = q.sqrt() / n as f64;
        let integral: f64 = (0..n)
            .map(|i| (i as f64 + 0.5) * root)
            .map(|r| 2.0 * r * root * law.upper_quantile(r * r))
            .sum();
        assert!((integral / q - law.tail_mean(q)).abs() < 1e-6);
    }
}
