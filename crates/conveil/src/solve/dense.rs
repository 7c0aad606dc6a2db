//! Dense matrices with few columns and many rows, by columns (long columns make long loops), and small symmetric systems.

use super::lanes;
use super::sum::compensated;
use crate::program::Sparse;
use rayon::prelude::*;

/// Rows at a time in a Gram matrix, so that their columns stay in the cache.
const BLOCK: usize = 256;

/// Terms that are added as they come; sums of so many are added without loss, so that rounding does not grow with N.
pub(super) const PART: usize = 32;

/// R = `factor`·A on these rows and columns. No other row has an entry in the columns.
pub(super) fn rows_of(a: &Sparse, rows: &[usize], columns: &[usize], factor: f64) -> Vec<f64> {
    let mut place = vec![usize::MAX; a.rows()];
    for (k, &row) in rows.iter().enumerate() {
        place[row] = k;
    }
    let mut dense = vec![0.0; columns.len() * rows.len()];
    for (column, &j) in dense.chunks_exact_mut(rows.len()).zip(columns) {
        for (i, v) in a.column(j) {
            column[place[i]] = factor * v;
        }
    }
    dense
}

/// Rw for R of `rows` rows.
pub(super) fn products(columns: &[f64], rows: usize, w: &[f64]) -> Vec<f64> {
    let mut products = vec![0.0; rows];
    lanes::change(&mut products, |start, part| {
        for (column, w) in columns.chunks_exact(rows).zip(w) {
            axpy(part, *w, &column[start..start + part.len()]);
        }
    });
    products
}

/// |R||w|: the size of the terms of Rw.
pub(super) fn reach(columns: &[f64], rows: usize, w: &[f64]) -> Vec<f64> {
    let mut reach = vec![0.0; rows];
    lanes::change(&mut reach, |start, part| {
        for (column, w) in columns.chunks_exact(rows).zip(w) {
            let each = part.iter_mut().zip(&column[start..]);
            each.for_each(|(reach, r)| *reach += (r * w).abs());
        }
    });
    reach
}

/// R'v.
pub(super) fn pulled(columns: &[f64], v: &[f64]) -> Vec<f64> {
    let pull = |column: &[f64]| {
        let parts = column.chunks(PART).zip(v.chunks(PART));
        compensated(parts.map(|(column, v)| dot(column, v)))
    };
    match v.len() <= lanes::LANE {
        true => columns.chunks_exact(v.len()).map(pull).collect(),
        false => columns.par_chunks_exact(v.len()).map(pull).collect(),
    }
}

/// Adds R'DR to the lower triangle of a dense matrix, D of this diagonal.
pub(super) fn add_gram(matrix: &mut [f64], columns: &[f64], diagonal: &[f64]) {
    let n = diagonal.len();
    let d = columns.len() / n;
    let of_lanes = lanes::of_each(n, |lane| {
        let mut sum = vec![0.0; d * d];
        let mut scaled = [0.0; BLOCK];
        for start in lane.clone().step_by(BLOCK) {
            let end = (start + BLOCK).min(lane.end);
            let part = |j: usize| &columns[j * n + start..j * n + end];
            let scaled = &mut scaled[..end - start];
            for i in 0..d {
                let rows = part(i).iter().zip(&diagonal[start..end]);
                scaled
                    .iter_mut()
                    .zip(rows)
                    .for_each(|(s, (r, d))| *s = r * d);
                for j in 0..=i {
                    sum[i * d + j] += dot(scaled, part(j));
                }
            }
        }
        sum
    });
    for sum in of_lanes {
        axpy(matrix, 1.0, &sum);
    }
}

/// A dense Cholesky factor.
pub(super) struct Factor {
    n: usize,
    lower: Vec<f64>,
}

impl Factor {
    /// Of the lower triangle; `None` if it is not positive definite.
    pub(super) fn of(matrix: &[f64], n: usize) -> Option<Self> {
        let mut lower = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let (above, below) = lower.split_at(i * n);
                let left = match i == j {
                    true => dot(&below[..j], &below[..j]),
                    false => dot(&below[..j], &above[j * n..j * n + j]),
                };
                let entry = matrix[i * n + j] - left;
                lower[i * n + j] = if i == j {
                    if !(entry > 0.0 && entry.is_finite()) {
                        return None;
                    }
                    entry.sqrt()
                } else {
                    entry / lower[j * n + j]
                };
            }
        }
        Some(Factor { n, lower })
    }

    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let n = self.n;
        let mut x = right.to_vec();
        for i in 0..n {
            let known = dot(&self.lower[i * n..i * n + i], &x[..i]);
            x[i] = (x[i] - known) / self.lower[i * n + i];
        }
        for i in (0..n).rev() {
            x[i] /= self.lower[i * n + i];
            let value = x[i];
            axpy(&mut x[..i], -value, &self.lower[i * n..i * n + i]);
        }
        x
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Four sums, so that the compiler may use wide registers.
    let (mut sums, n) = ([0.0; 4], a.len().min(b.len()));
    let (a, b) = (&a[..n], &b[..n]);
    let (mut x, mut y) = (a.chunks_exact(4), b.chunks_exact(4));
    for (x, y) in x.by_ref().zip(y.by_ref()) {
        for i in 0..4 {
            sums[i] += x[i] * y[i];
        }
    }
    let rest = x.remainder().iter().zip(y.remainder());
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest.map(|(a, b)| a * b).sum::<f64>()
}

pub(super) fn axpy(y: &mut [f64], a: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

/// The product of a dense symmetric matrix and a vector.
pub(super) fn times(matrix: &[f64], v: &[f64]) -> Vec<f64> {
    matrix
        .chunks_exact(v.len())
        .map(|row| dot(row, v))
        .collect()
}
