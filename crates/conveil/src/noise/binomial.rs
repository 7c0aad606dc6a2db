//! Binomial probabilities accurate to their last digits, by Loader's saddle-point form.
//!
//! Probabilities come as a pair (p, q = 1 − p), so that neither is lost when it is tiny.

use std::f64::consts::PI;

/// Stirling's remainder ln n! − (n+½)ln n + n − ½ln 2π, for n = ½, 1, 3/2, ….
pub(super) fn stirling_error(n: f64) -> f64 {
    if n >= 16.0 {
        let m = 1.0 / (n * n);
        let tail = 1.0 / 1260.0 - m * (1.0 / 1680.0 - m * (1.0 / 1188.0));
        return (1.0 / 12.0 - m * (1.0 / 360.0 - m * tail)) / n;
    }
    // n! = n(n−1)… down to 0! = 1 or (½)! = √π/2.
    let (mut factorial, mut m) = (1.0, n);
    while m > 0.75 {
        factorial *= m;
        m -= 1.0;
    }
    if m > 0.25 {
        factorial *= 0.5 * PI.sqrt();
    }
    factorial.ln() - (n + 0.5) * n.ln() + n - 0.5 * (2.0 * PI).ln()
}

/// x ln(x/m) + m − x, accurate where x is near m.
pub(super) fn deviance(x: f64, m: f64) -> f64 {
    if (x - m).abs() >= 0.1 * (x + m) {
        return x * (x / m).ln() + m - x;
    }
    let v = (x - m) / (x + m);
    let mut sum = (x - m) * v;
    let mut power = 2.0 * x * v;
    for j in 1..60 {
        power *= v * v;
        let next = sum + power / f64::from(2 * j + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// Pr\[Bin(n, p) = k\].
fn point(n: u64, k: u64, (p, q): (f64, f64)) -> f64 {
    let (nf, kf, lf) = (n as f64, k as f64, (n - k) as f64);
    if k == 0 {
        return (nf * ln_complement(p, q)).exp();
    }
    if k == n {
        return (nf * ln_complement(q, p)).exp();
    }
    if p == 0.0 || q == 0.0 {
        return 0.0;
    }
    let stirling = stirling_error(nf) - stirling_error(kf) - stirling_error(lf);
    let exponent = stirling - deviance(kf, nf * p) - deviance(lf, nf * q);
    exponent.exp() * (nf / (2.0 * PI * kf * lf)).sqrt()
}

/// ln q, from p where that is the smaller.
fn ln_complement(p: f64, q: f64) -> f64 {
    if p < 0.5 { (-p).ln_1p() } else { q.ln() }
}

/// Pr\[Bin(n, p) ≤ m\].
pub(super) fn at_most(n: u64, m: u64, (p, q): (f64, f64)) -> f64 {
    if m >= n {
        return 1.0;
    }
    let nf = n as f64;
    if m as f64 >= nf * p {
        // Past the mean: one minus the other tail, which is the smaller.
        return 1.0 - downward(n, n - m - 1, (q, p));
    }
    downward(n, m, (p, q))
}

/// Pr\[Bin(n, p) ≥ m\].
pub(super) fn at_least(n: u64, m: u64, (p, q): (f64, f64)) -> f64 {
    if m == 0 {
        return 1.0;
    }
    if m > n {
        return 0.0;
    }
    at_most(n, n - m, (q, p))
}

/// Σ_{i ≤ m} Pr\[Bin(n, p) = i\] for m at or below the mean, from the largest term down.
fn downward(n: u64, m: u64, (p, q): (f64, f64)) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    let odds = q / p;
    let mut i = m;
    while i > 0 {
        term *= i as f64 / (n - i + 1) as f64 * odds;
        sum += term;
        i -= 1;
        if term < 1e-18 * sum {
            break;
        }
    }
    point(n, m, (p, q)) * sum
}
