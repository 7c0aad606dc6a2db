//! A quadratic cost on the variables that it curves: its Cholesky factor, and the distances that it measures.

use crate::program::Sparse;
use std::sync::OnceLock;

/// P on the variables that it curves, with its Cholesky factor: positive definite there.
#[derive(Clone, Debug)]
pub(crate) struct Curvature {
    pub(crate) columns: Vec<usize>,
    /// P = LL', dense, by rows.
    factor: Vec<Vec<f64>>,
    /// ‖L⁻¹‖ in the Frobenius norm, once it was asked for.
    inverse_size: OnceLock<f64>,
}

/// P ≻ 0 must hold with this margin, relative to its diagonal.
const DEFINITE: f64 = 1e-9;

/// The factor is dense: larger quadratic costs have no certificate.
const LARGEST: usize = 3_000;

impl Curvature {
    /// The variables with a positive diagonal entry of P; `None` if P is not positive definite on them.
    pub(crate) fn of(p: &Sparse) -> Option<Self> {
        let columns: Vec<usize> = (0..p.columns()).filter(|&j| p.get(j, j) > 0.0).collect();
        let n = columns.len();
        if n > LARGEST {
            return None;
        }
        let mut factor = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..=i {
                let inner: f64 = (0..j).map(|k| factor[i][k] * factor[j][k]).sum();
                let entry = p.get(columns[j], columns[i]) - inner;
                factor[i][j] = if i == j {
                    if !(entry > DEFINITE * p.get(columns[i], columns[i])) {
                        return None;
                    }
                    entry.sqrt()
                } else {
                    entry / factor[j][j]
                };
            }
        }
        (n > 0).then_some(Curvature {
            columns,
            factor,
            inverse_size: OnceLock::new(),
        })
    }

    /// The place of a column among the curved ones.
    pub(crate) fn place(&self, column: usize) -> Option<usize> {
        self.columns.binary_search(&column).ok()
    }

    /// The smallest eigenvalue of P, from below.
    pub(crate) fn smallest_eigenvalue(&self) -> f64 {
        let n = self.columns.len();
        let p = faer::Mat::<f64>::from_fn(n, n, |i, j| {
            let shared = 0..=i.min(j);
            shared.map(|k| self.factor[i][k] * self.factor[j][k]).sum()
        });
        let largest = p.norm_max();
        p.self_adjoint_eigenvalues(faer::Side::Lower)
            .map_or(0.0, |values| {
                values.iter().copied().fold(f64::INFINITY, f64::min)
            })
            .max(0.0)
            - 1e-14 * largest
    }

    /// A bound on ‖L⁻¹v‖₂ for ‖v‖₂ ≤ 1: the root of the trace of P⁻¹.
    pub(crate) fn inverse_size(&self) -> f64 {
        *self.inverse_size.get_or_init(|| {
            let n = self.columns.len();
            let mut unit = vec![0.0; n];
            let mut squares = 0.0;
            for j in 0..n {
                unit[j] = 1.0;
                // The entries before j stay 0.
                squares += (self.half_inverse(&unit).iter())
                    .map(|v| v * v)
                    .sum::<f64>();
                unit[j] = 0.0;
            }
            squares.sqrt()
        })
    }

    /// L⁻¹v for v over the curved columns: ‖L⁻¹v‖₂ is ‖v‖ in P⁻¹.
    pub(crate) fn half_inverse(&self, v: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; v.len()];
        for i in 0..v.len() {
            let inner: f64 = (0..i).map(|k| self.factor[i][k] * y[k]).sum();
            y[i] = (v[i] - inner) / self.factor[i][i];
        }
        y
    }
}
