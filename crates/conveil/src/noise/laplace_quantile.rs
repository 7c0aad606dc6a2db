//! The quantile of X = Σ bⱼYⱼ for independent unit Laplace Yⱼ, by one contour for all thresholds (M5e).
//!
//! Pr\[X > t\] = (1/2πi)∫ M(u)e^{−ut}/u du depends on t through e^{−ut} alone. So the saddle point of the wanted tail is
//! found first (the tail is about M(c)e^{−ct}/(c√(2π(K''(c) + 1/c²))) there, with t = K'(c) − 1/c and K = ln M), the
//! rest of the integrand is tabulated on the hyperbola through c once, and Newton's method on ln Pr runs on the table.

use std::f64::consts::PI;

use super::laplace_sum::{Estimate, Hyperbola, LaplaceSum, factor, ln_factor, quotient};

/// The step of the trapezoidal rule that Newton's method runs on. The answer is checked with half of it.
const STEP: f64 = 0.125;

/// A tail that the two steps do not agree on to this relative error is left to the slower road.
const AGREED: f64 = 2e-11;

/// Nodes below this part of the largest no longer count.
const NEGLIGIBLE: f64 = 1e-16;

/// Factors 1 − b²u² that are multiplied before they are divided by. With |u| < e⁶⁰ four cannot overflow.
const TOGETHER: usize = 4;

impl LaplaceSum {
    /// A t whose tail is at most η by the error bound, within about 1e-9 of the least such and at most `proven`; `None`
    /// where that cannot be shown on one contour.
    pub(super) fn quick_quantile(&self, eta: f64, proven: f64) -> Option<f64> {
        let (c, start) = self.saddle_of_tail(eta)?;
        let contour = Contour::new(self, c);
        let nodes = contour.nodes(start, 0.0);
        let mut t = start;
        for _ in 0..12 {
            let (value, slope) = contour.value_and_slope(&nodes, t);
            let step = (value / eta).ln() * value / slope;
            t -= step;
            if !(t > 0.0 && t < 2.0 * proven) {
                return None;
            }
            // Newton's method squares the error.
            if step.abs() <= 1e-7 * t {
                break;
            }
        }
        t *= 1.0 + 2e-10;
        let tail = contour.tail(&nodes, &contour.nodes(start, 0.5), t);
        let is_safe = tail.error <= AGREED * tail.value && tail.upper() <= eta;
        is_safe.then(|| t.min(proven))
    }

    /// The saddle point c between the poles at 0 and 1 whose approximate tail is η, and its t > 0.
    fn saddle_of_tail(&self, eta: f64) -> Option<(f64, f64)> {
        let (mut low, mut high) = (0.0, 1.0);
        let mut c = 0.5;
        for _ in 0..60 {
            let (mut slope, mut bend, mut ln_mgf) = (0.0, 0.0, 0.0);
            for &b in self.weights() {
                let rest = factor(b, c);
                slope += 2.0 * b * b * c / rest;
                bend += 2.0 * b * b * (1.0 + b * b * c * c) / (rest * rest);
                ln_mgf -= ln_factor(b, c);
            }
            let t = slope - 1.0 / c;
            let bend = bend + 1.0 / (c * c);
            // ln of the approximate tail over η; it falls in c at the rate c·bend, nearly.
            let excess = ln_mgf - c * t - c.ln() - 0.5 * (2.0 * PI * bend).ln() - eta.ln();
            if excess.abs() < 1e-2 {
                return (t > 0.0).then_some((c, t));
            }
            if excess > 0.0 {
                low = c;
            } else {
                high = c;
            }
            c += excess / (c * bend);
            if !(low < c && c < high) {
                c = 0.5 * (low + high);
            }
        }
        None
    }
}

/// The hyperbola through c.
struct Contour<'w> {
    hyperbola: Hyperbola,
    crossing: f64,
    ln_mgf: f64,
    weights: usize,
    /// Weights that are taken together, and Π(1 − b²c²) over them.
    blocks: Vec<(&'w [f64], f64)>,
}

/// Where the integrand is known but for its threshold.
struct Node {
    /// u − c.
    offset: (f64, f64),
    /// M(u)/M(c) · c/u · du/dz.
    coefficient: (f64, f64),
}

impl Node {
    /// The coefficient times e^{−(u−c)t}.
    fn at(&self, t: f64) -> (f64, f64) {
        let decay = (-self.offset.0 * t).exp();
        let (sine, cosine) = (-self.offset.1 * t).sin_cos();
        let (real, imaginary) = self.coefficient;
        (
            decay * (real * cosine - imaginary * sine),
            decay * (real * sine + imaginary * cosine),
        )
    }
}

impl<'w> Contour<'w> {
    fn new(sum: &'w LaplaceSum, c: f64) -> Self {
        let blocks = sum.weights().chunks(TOGETHER);
        Contour {
            hyperbola: Hyperbola::between_poles(c),
            crossing: c,
            ln_mgf: sum.ln_mgf(c),
            weights: sum.weights().len(),
            blocks: blocks
                .map(|block| (block, block.iter().map(|b| factor(*b, c)).product()))
                .collect(),
        }
    }

    /// The nodes (k + shift)·STEP, k = 0, 1, …, until they no longer count at thresholds near `t`.
    fn nodes(&self, t: f64, shift: f64) -> Vec<Node> {
        let mut nodes = Vec::with_capacity(48);
        let mut largest = 0.0f64;
        let mut z = shift * STEP;
        while z < 60.0 {
            let node = self.node(z);
            let modulus = (-node.offset.0 * t).exp() * node.coefficient.0.hypot(node.coefficient.1);
            nodes.push(node);
            largest = largest.max(modulus);
            if modulus <= NEGLIGIBLE * largest {
                break;
            }
            z += STEP;
        }
        nodes
    }

    fn node(&self, z: f64) -> Node {
        let offset = self.hyperbola.offset(z);
        let u = (self.crossing + offset.0, offset.1);
        let mut coefficient = self.hyperbola.derivative(z);
        for (block, scale) in &self.blocks {
            let mut product = (1.0, 0.0);
            for b in *block {
                // 1 − b²u² = (1−bx)(1+bx) + b²y² − 2ib²xy.
                let (x, y) = (b * u.0, b * u.1);
                let own = ((1.0 - x) * (1.0 + x) + y * y, -2.0 * x * y);
                product = (
                    product.0 * own.0 - product.1 * own.1,
                    product.0 * own.1 + product.1 * own.0,
                );
            }
            coefficient = quotient(coefficient, product, *scale);
        }
        Node {
            offset,
            coefficient: quotient(coefficient, u, self.crossing),
        }
    }

    /// M(c)e^{−ct}/(πc), taken out of the integrand.
    fn front(&self, t: f64) -> f64 {
        (self.ln_mgf - self.crossing * t).exp() / (self.crossing * PI)
    }

    /// The tail and its derivative in t, by nodes of which the first lies at 0 and counts half.
    fn value_and_slope(&self, nodes: &[Node], t: f64) -> (f64, f64) {
        let (mut value, mut slope) = (0.0, 0.0);
        for (k, node) in nodes.iter().enumerate() {
            let (real, imaginary) = node.at(t);
            let share = if k == 0 { 0.5 } else { 1.0 };
            value += share * imaginary;
            let u = (self.crossing + node.offset.0, node.offset.1);
            slope -= share * (u.0 * imaginary + u.1 * real);
        }
        let front = STEP * self.front(t);
        (front * value, front * slope)
    }

    /// The tail by the nodes and those between them, with its error bound, by the counts of `LaplaceSum::contour`:
    /// halving the step about squares the error, so that the last change is ample.
    fn tail(&self, nodes: &[Node], between: &[Node], t: f64) -> Estimate {
        let (mut modulus, mut last) = (0.0, 0.0f64);
        let mut summed = |nodes: &[Node], first: f64| {
            let mut sum = 0.0;
            let mut size = 0.0;
            for (k, node) in nodes.iter().enumerate() {
                let (real, imaginary) = node.at(t);
                size = real.hypot(imaginary);
                modulus += size;
                sum += if k == 0 { first } else { 1.0 } * imaginary;
            }
            last = last.max(size);
            sum
        };
        let (sum, rest) = (summed(nodes, 0.5), summed(between, 1.0));
        let front = self.front(t);
        let (coarse, value) = (STEP * front * sum, 0.5 * STEP * front * (sum + rest));
        let roundings = 16.0 * self.weights as f64 + 4.0 * self.crossing * t + 64.0;
        let rounding = front * STEP * (modulus + 1.0) * roundings * f64::EPSILON;
        let cut = front * last * (1.0 + 4.0 * STEP);
        Estimate {
            value,
            error: (value - coarse).abs() + rounding + cut + f64::MIN_POSITIVE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Law, Sampler, safe_multiplier, weighted_upper_quantile};

    const ETAS: [f64; 7] = [0.2, 0.05, 0.01, 1e-3, 1e-6, 1e-12, 1e-60];

    fn weights(sampler: &mut Sampler, terms: usize, kind: usize) -> Vec<f64> {
        let mut weights: Vec<f64> = (0..terms)
            .map(|_| match kind {
                0 => sampler.uniform(),
                1 => 1.0,
                2 => 1.0 - 1e-6 * sampler.uniform(),
                _ => 10f64.powf(-6.0 * sampler.uniform()),
            })
            .map(|b| b.max(1e-9))
            .collect();
        let largest = weights.iter().fold(0.0f64, |m, b| m.max(*b));
        weights.iter_mut().for_each(|b| *b /= largest);
        weights
    }

    #[test]
    fn the_quick_quantile_is_never_below_and_within_1e_9_of_the_slow_one() {
        let mut sampler = Sampler::new(11, 0);
        let (mut tried, mut found) = (0, 0);
        for terms in [2, 3, 5, 12, 40] {
            for case in 0..8 {
                let sum = LaplaceSum::new(weights(&mut sampler, terms, case % 4));
                for eta in ETAS {
                    let norm = sum.weights().iter().map(|b| b * b).sum::<f64>().sqrt();
                    let law = Law::laplace(1.0).unwrap();
                    let proven = safe_multiplier(&law, terms, eta).unwrap() * norm;
                    let slow = sum.slow_quantile(eta, proven);
                    tried += 1;
                    let Some(quick) = sum.quick_quantile(eta, proven) else {
                        continue;
                    };
                    found += 1;
                    assert!(
                        (quick / slow - 1.0).abs() < 1e-9,
                        "{terms} terms, η = {eta}"
                    );
                    // The other road's own bound: partial fractions or a contour at another saddle, with finer steps.
                    let tail = sum.tail(quick);
                    assert!(
                        tail.upper() <= eta * (1.0 + 1e-13),
                        "{terms} terms, η = {eta}"
                    );
                    // A quantile that is lower by 1e-8 is caught.
                    assert!(sum.tail(quick * (1.0 - 1e-8)).lower() > eta);
                }
            }
        }
        assert!(found * 10 >= tried * 9, "{found} of {tried}");
    }

    #[test]
    fn two_equal_weights_have_their_closed_form() {
        // Pr[Y₁+Y₂ > t] = ½(1 + t/2)e^{−t}.
        let sum = LaplaceSum::new(vec![1.0, 1.0]);
        for eta in ETAS {
            let t = sum.quick_quantile(eta, 1e4).unwrap();
            let exact = |t: f64| 0.5 * (1.0 + 0.5 * t) * (-t).exp();
            assert!(exact(t) <= eta && exact(t * (1.0 - 1e-9)) > eta, "{eta}");
        }
    }

    /// Of Laplace noise of scale 1, by the road that releases take.
    fn quantile(weights: &[f64], eta: f64) -> f64 {
        weighted_upper_quantile(&Law::laplace(1.0).unwrap(), weights, eta).unwrap()
    }

    /// Shares up to the middle, and far out.
    const WIDE: [f64; 8] = [0.49, 0.45, 0.3, 0.05, 1e-3, 1e-6, 1e-12, 1e-60];

    /// How far a quantile lies above the true one, as a part of it; never below, for a tail known to `error`.
    fn above(tail: &dyn Fn(f64) -> f64, t: f64, eta: f64, error: f64) -> f64 {
        assert!(tail(t) <= eta + error, "below: {:e} at η = {eta}", tail(t));
        let (mut low, mut high) = (0.0, t);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if tail(middle) > eta + error {
                low = middle;
            } else {
                high = middle;
            }
        }
        t / high - 1.0
    }

    #[test]
    fn two_weights_of_any_ratio_have_their_closed_form() {
        // ½(e^{−t} − b²e^{−t/b})/(1 − b²), for b ≤ ½ without cancellation.
        for b in [0.5, 0.1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15] {
            let tail = |t: f64| 0.5 * ((-t).exp() - b * b * (-t / b).exp()) / (1.0 - b * b);
            for eta in WIDE {
                for weights in [[1.0, b], [-b, 1.0]] {
                    let loose = above(&tail, quantile(&weights, eta), eta, 1e-13 * eta);
                    assert!(loose < 1e-9, "{loose:e} at ratio {b}, η = {eta}");
                }
            }
        }
    }

    #[test]
    fn many_equal_weights_have_their_closed_form() {
        // X = G − G' with two Gamma(n): e^{−t} Σ_{k<n} Σ_{i≤k} t^{k−i}/(k−i)! · C(n+i−1, i)/2^{n+i}, all terms positive.
        for n in [2usize, 3, 10, 40, 100, 200] {
            let mut shares = vec![0.5f64.powi(n as i32)];
            for i in 1..n {
                let last = shares[i - 1];
                shares.push(0.5 * last * (n + i - 1) as f64 / i as f64);
            }
            let sums: Vec<f64> = (shares.iter())
                .scan(0.0, |sum, share| {
                    *sum += share;
                    Some(*sum)
                })
                .collect();
            let tail = |t: f64| {
                let mut term = (-t).exp();
                let mut tail = 0.0;
                for m in 0..n {
                    tail += term * sums[n - 1 - m];
                    term *= t / (m + 1) as f64;
                }
                tail
            };
            for eta in WIDE {
                let loose = above(&tail, quantile(&vec![1.0; n], eta), eta, 1e-13 * eta);
                assert!(loose < 1e-8, "{loose:e} of {n} weights, η = {eta}");
            }
        }
    }

    /// Gil-Pelaez: Pr[X > t] = ½ − (1/π)∫ sin(ut)/u · Π 1/(1 + b²u²) du over u > 0, by the trapezoidal rule. The
    /// integrand is even and analytic for |Im u| < 1, and at most (4/3)^n·e^{t/2} for |Im u| ≤ ½: the rule errs by that
    /// times e^{−π/h}, below e^{−60} here. Four weights of at least 0.2 leave less than 1e-13 beyond u = 400.
    #[test]
    fn many_weights_of_all_sizes_agree_with_the_inverted_characteristic_function() {
        const H: f64 = 0.02;
        let mut sampler = Sampler::new(15, 0);
        for n in [4usize, 7, 20, 60, 200] {
            for spread in [0.5, 6.0, 15.0] {
                let weights: Vec<f64> = (0..n)
                    .map(|j| match j {
                        0 => 1.0,
                        1..4 => 0.2 + 0.8 * sampler.uniform(),
                        _ => 10f64.powf(-spread * sampler.uniform()),
                    })
                    .collect();
                let nodes: Vec<(f64, f64)> = (1..20_000)
                    .map(|k| {
                        let u = H * k as f64;
                        let falls = weights.iter().map(|b| 1.0 + (b * u).powi(2));
                        (u, 1.0 / falls.product::<f64>())
                    })
                    .take_while(|node| node.1 > 1e-20)
                    .collect();
                let tail = |t: f64| {
                    let each = nodes.iter().map(|(u, value)| (u * t).sin() / u * value);
                    0.5 - H * (0.5 * t + each.sum::<f64>()) / PI
                };
                for eta in [0.49, 0.45, 0.3, 0.2, 0.05, 1e-2, 1e-3] {
                    let loose = above(&tail, quantile(&weights, eta), eta, 2e-13);
                    assert!(
                        loose < 1e-8,
                        "{loose:e} of {n} weights over {spread} decades, η = {eta}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_proven_bound_below_it_is_kept() {
        let sum = LaplaceSum::new(vec![1.0, 0.8, 0.3]);
        let t = sum.upper_quantile(0.05, 1e4);
        assert!(sum.upper_quantile(0.05, 0.9 * t) <= 0.9 * t);
    }
}
