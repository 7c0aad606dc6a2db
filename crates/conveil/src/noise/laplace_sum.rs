//! The tail of X = Σ bⱼYⱼ for independent unit Laplace Yⱼ, with its own error bound (M5e).
//!
//! Two roads. *Partial fractions*, Pr\[X > t\] = ½Σⱼ (Π_{l≠j} bⱼ²/(bⱼ²−b_l²)) e^{−t/bⱼ}, where their
//! cancellation is measured and small. Else the *contour integral*
//! Pr\[X > t\] = (1/2πi)∫ M(u)e^{−ut}/u du with M(u) = Π 1/(1−bⱼ²u²), on a hyperbola that crosses the
//! real axis at the saddle point between the poles at 0 and 1/b_max and leaves at 60°. There
//! Re u² < 0, so |M| ≤ 1, and e^{−ut} decays double-exponentially in the hyperbola's parameter; the
//! trapezoidal rule converges geometrically, for equal, near-equal and far-apart weights alike.

use std::f64::consts::PI;

/// A computed probability and a bound on how far it may be from the truth.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) error: f64,
}

impl Estimate {
    /// The largest probability that the estimate allows.
    pub(super) fn upper(self) -> f64 {
        self.value + self.error
    }

    /// The smallest probability that the estimate allows.
    pub(super) fn lower(self) -> f64 {
        (self.value - self.error).max(0.0)
    }
}

/// The sum Σ bⱼYⱼ with 0 < bⱼ ≤ 1 and max bⱼ = 1.
pub(super) struct LaplaceSum {
    weights: Vec<f64>,
    /// Π_{l≠j} bⱼ²/(bⱼ²−b_l²), where all are finite.
    fractions: Option<Vec<f64>>,
}

/// Past this many weights the partial fractions (quadratic in number) are not tried.
const MOST_FRACTIONS: usize = 32;

/// Relative error up to which a partial-fraction sum is accepted.
const STABLE: f64 = 1e-12;

impl LaplaceSum {
    /// `weights` are positive with maximum 1; at least one.
    pub(super) fn new(weights: Vec<f64>) -> Self {
        let fractions = (weights.len() <= MOST_FRACTIONS)
            .then(|| partial_fractions(&weights))
            .filter(|c| c.iter().all(|c| c.is_finite()));
        LaplaceSum { weights, fractions }
    }

    /// Pr\[X > t\] for t ≥ 0.
    pub(super) fn tail(&self, t: f64) -> Estimate {
        if t == 0.0 {
            let (value, error) = (0.5, 0.0);
            return Estimate { value, error };
        }
        // Chernoff at u = ½, in case the answer is below every floating-point number.
        if self.ln_mgf(0.5) - 0.5 * t < -750.0 {
            let (value, error) = (0.0, f64::MIN_POSITIVE);
            return Estimate { value, error };
        }
        let by_fractions = self.fractions.as_ref().map(|c| self.sum_fractions(c, t));
        match by_fractions {
            Some(sum) if sum.error <= STABLE * sum.value => sum,
            _ => self.contour(t),
        }
    }

    /// The weights.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// A t whose tail is at most η by the error bound, and within about 1e-9 of the least such.
    ///
    /// `proven` is an upper end known from theory; it is returned where nothing smaller passes.
    pub(super) fn upper_quantile(&self, eta: f64, proven: f64) -> f64 {
        let quick = self.quick_quantile(eta, proven);
        quick.unwrap_or_else(|| self.slow_quantile(eta, proven))
    }

    /// The same with a contour of its own for each t.
    pub(super) fn slow_quantile(&self, eta: f64, proven: f64) -> f64 {
        let excess = |t: f64| self.tail(t).value.ln() - eta.ln();
        // The sum is less peaked than its largest term alone, so its quantile is at least ln(1/2η).
        let mut low = -(2.0 * eta).ln();
        let mut high = proven;
        let (mut at_low, mut at_high) = (excess(low), excess(high));
        // Far out the tail is below every number: the upper end comes nearer until it has a logarithm.
        while at_high == f64::NEG_INFINITY && high - low > 1e-9 * high {
            let middle = 0.5 * (low + high);
            match excess(middle) {
                above if above > 0.0 => (low, at_low) = (middle, above),
                below => (high, at_high) = (middle, below),
            }
        }
        if at_low > 0.0 && at_high < 0.0 {
            // Regula falsi with the Illinois weight: ln Pr is smooth and nearly linear.
            for _ in 0..80 {
                let t = (low * at_high - high * at_low) / (at_high - at_low);
                let at_t = excess(t);
                if at_t.abs() < 1e-12 || !(low < t && t < high) {
                    low = t.clamp(low, high);
                    break;
                }
                if at_t > 0.0 {
                    (low, at_low) = (t, at_t);
                    at_high *= 0.5;
                } else {
                    (high, at_high) = (t, at_t);
                    at_low *= 0.5;
                }
                if high - low <= 1e-13 * high {
                    low = high;
                    break;
                }
            }
        }
        // Step up until the error bound, too, is on the safe side.
        let mut inflation = 2e-10;
        while inflation < 1.0 {
            let t = low * (1.0 + inflation);
            if t >= proven {
                return proven;
            }
            if self.tail(t).upper() <= eta {
                return t;
            }
            inflation *= 4.0;
        }
        proven
    }

    /// ln M(u) for 0 ≤ u < 1.
    pub(super) fn ln_mgf(&self, u: f64) -> f64 {
        -self.weights.iter().map(|b| ln_factor(*b, u)).sum::<f64>()
    }

    fn sum_fractions(&self, fractions: &[f64], t: f64) -> Estimate {
        // Each fraction is a product of n−1 quotients with four roundings each (differences of
        // given numbers are exact to one rounding); the exponential adds its exponent's rounding.
        let roundings = 4.0 * self.weights.len() as f64 + 4.0;
        let (mut value, mut error) = (0.0, 0.0);
        for (b, c) in self.weights.iter().zip(fractions) {
            let term = 0.5 * c * (-t / b).exp();
            value += term;
            error += term.abs() * (roundings + t / b) * f64::EPSILON;
        }
        Estimate { value, error }
    }

    /// Where M(u)e^{−ut}/u is least on (0, 1): K'(u) − t − 1/u = 0, increasing in u.
    fn saddle(&self, t: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..40 {
            let u = 0.5 * (low + high);
            let slope: f64 = self
                .weights
                .iter()
                .map(|b| 2.0 * b * b * u / factor(*b, u))
                .sum();
            if slope - t - 1.0 / u < 0.0 {
                low = u;
            } else {
                high = u;
            }
        }
        0.5 * (low + high)
    }

    fn contour(&self, t: f64) -> Estimate {
        let c = self.saddle(t);
        let hyperbola = Hyperbola::between_poles(c);
        // M(c)e^{−ct}/c, taken out of the integrand.
        let front = (self.ln_mgf(c) - c * t).exp() / (c * PI);
        let mut step = 0.25;
        let mut sum = self.nodes(&hyperbola, t, step, 0.0);
        sum.imaginary += 0.5 * self.node(&hyperbola, t, 0.0).0;
        let mut value = front * step * sum.imaginary;
        let mut change = f64::INFINITY;
        // At most 16 roundings per factor at each node, those of the exponents, and some to spare.
        let roundings = 16.0 * self.weights.len() as f64 + 4.0 * c * t + 64.0;
        let mut rounding = 0.0;
        for _ in 0..8 {
            let between = self.nodes(&hyperbola, t, step, -0.5);
            sum = Nodes {
                imaginary: sum.imaginary + between.imaginary,
                modulus: sum.modulus + between.modulus,
                last: between.last,
            };
            step *= 0.5;
            let finer = front * step * sum.imaginary;
            change = (finer - value).abs();
            value = finer;
            rounding = front * step * (sum.modulus + 1.0) * roundings * f64::EPSILON;
            if change <= rounding {
                break;
            }
        }
        // Halving the step about squares the error, so the last change is ample; what is cut off
        // beyond the last node is a few times that node.
        let cut = front * sum.last * (1.0 + 4.0 * step);
        let error = change + rounding + cut + f64::MIN_POSITIVE;
        Estimate { value, error }
    }

    /// The sum over the nodes (k + shift)·step, k = 1, 2, …, until they no longer count.
    fn nodes(&self, hyperbola: &Hyperbola, t: f64, step: f64, shift: f64) -> Nodes {
        let mut sum = Nodes::default();
        let mut largest = 0.0_f64;
        let mut k = 1.0;
        while step * k < 60.0 {
            let (imaginary, modulus) = self.node(hyperbola, t, step * (k + shift));
            sum.imaginary += imaginary;
            sum.modulus += modulus;
            sum.last = modulus;
            largest = largest.max(modulus);
            if modulus <= 1e-19 * largest {
                break;
            }
            k += 1.0;
        }
        sum
    }

    /// Imaginary part and modulus of \[M(u)e^{−ut}/u · du/dz\] / \[M(c)e^{−ct}/c\] at parameter z.
    fn node(&self, hyperbola: &Hyperbola, t: f64, z: f64) -> (f64, f64) {
        let c = hyperbola.crossing;
        let (ahead, y) = hyperbola.offset(z);
        let x = c + ahead;
        let mut product = hyperbola.derivative(z);
        for &b in &self.weights {
            // 1 − b²u² = (1−bx)(1+bx) + b²y² − 2ib²xy.
            let real = (1.0 - b * x) * (1.0 + b * x) + (b * y) * (b * y);
            let imaginary = -2.0 * (b * x) * (b * y);
            product = quotient(product, (real, imaginary), factor(b, c));
        }
        product = quotient(product, (x, y), c);
        let decay = (-ahead * t).exp();
        let (sine, cosine) = (-y * t).sin_cos();
        let imaginary = decay * (product.0 * sine + product.1 * cosine);
        (imaginary, decay * product.0.hypot(product.1))
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Nodes {
    imaginary: f64,
    modulus: f64,
    last: f64,
}

/// u(z) = c + μ(sin φ (cosh z − 1) + i cos φ sinh z), φ = 30°.
pub(super) struct Hyperbola {
    crossing: f64,
    width: f64,
}

const SIN_BEND: f64 = 0.5;
const COS_BEND: f64 = 0.866_025_403_784_438_6;

impl Hyperbola {
    /// The widest that keeps its poles (u = 0 and u = 1) at least 60° off the real z-axis.
    pub(super) fn between_poles(crossing: f64) -> Self {
        let width = (crossing / (1.0 + SIN_BEND)).min((1.0 - crossing) / (1.0 - SIN_BEND));
        Hyperbola { crossing, width }
    }

    /// u(z) − c.
    pub(super) fn offset(&self, z: f64) -> (f64, f64) {
        let half = (0.5 * z).sinh();
        let real = self.width * SIN_BEND * 2.0 * half * half;
        (real, self.width * COS_BEND * z.sinh())
    }

    /// du/dz.
    pub(super) fn derivative(&self, z: f64) -> (f64, f64) {
        let real = self.width * SIN_BEND * z.sinh();
        (real, self.width * COS_BEND * z.cosh())
    }
}

/// 1 − b²u² for real u.
pub(super) fn factor(b: f64, u: f64) -> f64 {
    (1.0 - b * u) * (1.0 + b * u)
}

/// ln(1 − b²u²) for real u.
pub(super) fn ln_factor(b: f64, u: f64) -> f64 {
    (-b * u).ln_1p() + (b * u).ln_1p()
}

/// `scale`·p/q of complex numbers.
pub(super) fn quotient(p: (f64, f64), q: (f64, f64), scale: f64) -> (f64, f64) {
    let inverse = scale / (q.0 * q.0 + q.1 * q.1);
    let real = (p.0 * q.0 + p.1 * q.1) * inverse;
    (real, (p.1 * q.0 - p.0 * q.1) * inverse)
}

/// Π_{l≠j} bⱼ²/((bⱼ−b_l)(bⱼ+b_l)) for each j; infinite where weights tie.
fn partial_fractions(weights: &[f64]) -> Vec<f64> {
    let fraction = |j: usize| -> f64 {
        let b = weights[j];
        let others = weights.iter().enumerate().filter(|(l, _)| *l != j);
        others.map(|(_, o)| b / (b - o) * (b / (b + o))).product()
    };
    (0..weights.len()).map(fraction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contour_and_partial_fractions_agree() {
        for weights in [
            vec![1.0, 0.5],
            vec![1.0, 0.7, 0.3, 0.1],
            vec![1.0, 1e-6],
            vec![1.0, 0.9],
        ] {
            let sum = LaplaceSum::new(weights);
            for t in [1e-6, 0.01, 0.3, 1.0, 3.0, 10.0, 30.0, 300.0] {
                let fractions = sum.sum_fractions(sum.fractions.as_ref().unwrap(), t);
                let contour = sum.contour(t);
                let gap = (fractions.value - contour.value).abs();
                assert!(gap <= fractions.error + contour.error, "t = {t}");
                assert!(
                    contour.error < 1e-11 * contour.value,
                    "t = {t}: {contour:?}"
                );
            }
        }
    }

    #[test]
    fn two_equal_weights_have_their_closed_form() {
        // Pr[Y₁+Y₂ > t] = ½(1 + t/2)e^{−t}.
        let sum = LaplaceSum::new(vec![1.0, 1.0]);
        for t in [1e-9_f64, 0.1, 1.0, 5.0, 25.0, 600.0] {
            let exact = 0.5 * (1.0 + 0.5 * t) * (-t).exp();
            let found = sum.tail(t);
            assert!(
                (found.value - exact).abs() <= found.error + 1e-15 * exact,
                "{t}"
            );
            assert!(found.error < 1e-10 * exact);
        }
    }
}
