//! The cones of M1, with membership measured along an interior direction: the violation of s is
//! the smallest t ≥ 0 with s + t·e ∈ K. Convexity makes that a yes/no question for every t.

use crate::error::{Error, Result};
use faer::Side;

/// A cone, in Clarabel's own layout.
#[derive(Clone, Debug, PartialEq)]
pub enum Cone {
    /// {0}ᵐ: equalities.
    Zero(usize),
    /// The non-negative orthant: linear inequalities.
    Nonnegative(usize),
    /// {(t, x) : ‖x‖ ≤ t}, of the given total dimension.
    SecondOrder(usize),
    /// The closure of {(x, y, z) : y > 0, y·exp(x/y) ≤ z}.
    Exponential,
    /// {(x, y, z) : x^a y^(1−a) ≥ |z|, x, y ≥ 0}.
    Power(f64),
    /// {(x, w) : Π xᵢ^aᵢ ≥ ‖w‖, x ≥ 0}, w of the given length.
    GeneralizedPower(Vec<f64>, usize),
    /// Symmetric positive semidefinite matrices of this order: upper triangle by columns, off-diagonal entries times √2.
    PsdTriangle(usize),
}

/// Which of K and its dual K* a point is tested against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// K itself.
    Primal,
    /// K*.
    Dual,
}

impl Cone {
    /// Number of rows the cone takes.
    pub fn dim(&self) -> usize {
        match self {
            Cone::Zero(m) | Cone::Nonnegative(m) | Cone::SecondOrder(m) => *m,
            Cone::Exponential | Cone::Power(_) => 3,
            Cone::GeneralizedPower(alpha, w) => alpha.len() + w,
            Cone::PsdTriangle(n) => n * (n + 1) / 2,
        }
    }

    /// Whether its rows are linear and stand for themselves.
    pub fn is_linear(&self) -> bool {
        matches!(self, Cone::Zero(_) | Cone::Nonnegative(_))
    }

    /// The cone's name for people.
    pub fn kind(&self) -> &'static str {
        match self {
            Cone::Zero(_) => "zero",
            Cone::Nonnegative(_) => "non-negative",
            Cone::SecondOrder(_) => "second-order",
            Cone::Exponential => "exponential",
            Cone::Power(_) => "power",
            Cone::GeneralizedPower(..) => "generalised power",
            Cone::PsdTriangle(_) => "semidefinite",
        }
    }

    /// Checks exponents and dimensions.
    pub fn validate(&self) -> Result<()> {
        let refuse = |why: String| Err(Error::input(format!("{} cone: {why}", self.kind())));
        match self {
            Cone::SecondOrder(0) | Cone::PsdTriangle(0) => {
                refuse("its dimension must be at least 1".into())
            }
            Cone::Power(a) if !(*a > 0.0 && *a < 1.0) => refuse(format!(
                "the exponent must lie strictly between 0 and 1, found {a}"
            )),
            Cone::GeneralizedPower(alpha, w) => {
                if alpha.is_empty() || *w == 0 {
                    return refuse("it needs at least one exponent and one entry of w".into());
                }
                if let Some(a) = alpha.iter().find(|a| !(a.is_finite() && **a > 0.0)) {
                    return refuse(format!("exponents must be positive, found {a}"));
                }
                let sum: f64 = alpha.iter().sum();
                // The solver's own test.
                if (sum - 1.0).abs() >= f64::EPSILON * alpha.len() as f64 / 2.0 {
                    return refuse(format!("exponents must add up to 1, found {sum}"));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The smallest t ≥ 0 with s + t·e ∈ K (or K*), e the interior direction of [`Cone::interior`].
    /// A NaN anywhere counts as an infinite violation.
    pub fn violation(&self, s: &[f64], side: Against) -> f64 {
        if s.iter().any(|v| v.is_nan()) {
            return f64::INFINITY;
        }
        let worst = |it: &mut dyn Iterator<Item = f64>| it.fold(0.0f64, f64::max);
        match self {
            Cone::Zero(_) => match side {
                Against::Primal => worst(&mut s.iter().map(|v| v.abs())),
                Against::Dual => 0.0,
            },
            Cone::Nonnegative(_) => worst(&mut s.iter().map(|v| -v)),
            Cone::SecondOrder(_) => (norm(&s[1..]) - s[0]).max(0.0),
            Cone::PsdTriangle(n) => (-smallest_eigenvalue(*n, s)).max(0.0),
            _ => self.violation_by_bisection(s, side),
        }
    }

    /// A point e in the interior of K, with e + p/c ∈ K for every ‖p‖₁ ≤ 1; returns (e, c).
    pub fn interior(&self) -> (Vec<f64>, f64) {
        match self {
            Cone::Zero(m) => (vec![0.0; *m], f64::INFINITY),
            Cone::Nonnegative(m) => (vec![1.0; *m], 1.0),
            Cone::SecondOrder(m) => (unit(*m, &[0]), 1.0),
            // |x| ≤ r, y ≥ 1−r, z ≥ 2−r with r = 1/4: (1+r)·exp(r/(1−r)) = 1.745 ≤ 1.75.
            Cone::Exponential => (vec![0.0, 1.0, 2.0], 4.0),
            // x, y ≥ 1−r and |z| ≤ r with r = 1/2.
            Cone::Power(_) => (vec![1.0, 1.0, 0.0], 2.0),
            Cone::GeneralizedPower(alpha, w) => {
                let mut e = vec![1.0; alpha.len()];
                e.resize(alpha.len() + w, 0.0);
                (e, 2.0)
            }
            Cone::PsdTriangle(n) => {
                let diagonal: Vec<usize> = (0..*n).map(|j| j * (j + 3) / 2).collect();
                (unit(self.dim(), &diagonal), 1.0)
            }
        }
    }

    /// The interior direction of K* along which [`Cone::violation`] measures.
    pub(crate) fn dual_interior(&self) -> Vec<f64> {
        match self {
            // (−1, 0, 1) is interior to the dual: 1·exp(0) < e·1.
            Cone::Exponential => vec![-1.0, 0.0, 1.0],
            _ => self.interior().0,
        }
    }

    fn violation_by_bisection(&self, s: &[f64], side: Against) -> f64 {
        let e = match side {
            Against::Dual => self.dual_interior(),
            Against::Primal => self.interior().0,
        };
        let inside = |t: f64| {
            let point: Vec<f64> = s.iter().zip(&e).map(|(s, e)| s + t * e).collect();
            self.contains_nonlinear(&point, side)
        };
        if inside(0.0) {
            return 0.0;
        }
        let mut high = 1e-14;
        while !inside(high) {
            high *= 4.0;
            if high > 1e30 {
                return f64::INFINITY;
            }
        }
        let mut low = high / 4.0;
        for _ in 0..40 {
            let mid = 0.5 * (low + high);
            if inside(mid) {
                high = mid;
            } else {
                low = mid;
            }
        }
        high
    }

    fn contains_nonlinear(&self, s: &[f64], side: Against) -> bool {
        match (self, side) {
            (Cone::Exponential, Against::Primal) => {
                let (x, y, z) = (s[0], s[1], s[2]);
                if y > 0.0 {
                    z > 0.0 && x / y <= (z / y).ln()
                } else {
                    y == 0.0 && x <= 0.0 && z >= 0.0
                }
            }
            (Cone::Exponential, Against::Dual) => {
                // {(u, v, w) : u < 0, −u·exp(v/u) ≤ e·w} and u = 0, v, w ≥ 0.
                let (u, v, w) = (s[0], s[1], s[2]);
                if u < 0.0 {
                    w > 0.0 && v / u <= 1.0 + (w / -u).ln()
                } else {
                    u == 0.0 && v >= 0.0 && w >= 0.0
                }
            }
            (Cone::Power(a), side) => power_contains(&[*a, 1.0 - *a], s, side),
            (Cone::GeneralizedPower(alpha, _), side) => power_contains(alpha, s, side),
            _ => self.violation(s, side) == 0.0,
        }
    }
}

fn power_contains(alpha: &[f64], s: &[f64], side: Against) -> bool {
    let (x, w) = s.split_at(alpha.len());
    if x.iter().any(|v| *v < 0.0) {
        return false;
    }
    let size = norm(w);
    if size == 0.0 {
        return true;
    }
    let log_product: f64 = alpha
        .iter()
        .zip(x)
        .map(|(a, v)| match side {
            Against::Primal => a * v.ln(),
            Against::Dual => a * (v / a).ln(),
        })
        .sum();
    log_product >= size.ln()
}

fn unit(len: usize, at: &[usize]) -> Vec<f64> {
    let mut e = vec![0.0; len];
    for &i in at {
        e[i] = 1.0;
    }
    e
}

pub(crate) fn norm(v: &[f64]) -> f64 {
    let largest = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest
        * v.iter()
            .map(|x| (x / largest) * (x / largest))
            .sum::<f64>()
            .sqrt()
}

/// λ_min of the matrix whose scaled upper triangle is `s`; −∞ when it cannot be computed.
fn smallest_eigenvalue(n: usize, s: &[f64]) -> f64 {
    let at = |i: usize, j: usize| {
        let (i, j) = (i.min(j), i.max(j));
        let value = s[j * (j + 1) / 2 + i];
        if i == j {
            value
        } else {
            value * std::f64::consts::FRAC_1_SQRT_2
        }
    };
    match n {
        0 => 0.0,
        1 => s[0],
        2 => {
            let (a, b, c) = (at(0, 0), at(0, 1), at(1, 1));
            0.5 * (a + c) - (0.5 * (a - c)).hypot(b)
        }
        _ => {
            if s.iter().any(|v| !v.is_finite()) {
                return f64::NEG_INFINITY;
            }
            faer::Mat::<f64>::from_fn(n, n, at)
                .self_adjoint_eigenvalues(Side::Lower)
                .map_or(f64::NEG_INFINITY, |values| {
                    values.first().copied().unwrap_or(0.0)
                })
        }
    }
}
