//! The public shape T of the noise: the answer is Qx̄ + Tζ (M2).

use crate::error::{Error, Result};

/// An invertible r × r matrix and its inverse.
#[derive(Clone, Debug)]
pub struct Shape {
    rows: Vec<Vec<f64>>,
    inverse: Option<Vec<Vec<f64>>>,
}

impl Shape {
    /// The identity, or these rows if they are square, finite and well invertible.
    pub fn new(rows: Option<&[Vec<f64>]>, r: usize) -> Result<Self> {
        let Some(rows) = rows else {
            let identity = (0..r)
                .map(|i| (0..r).map(|j| f64::from(u8::from(i == j))).collect())
                .collect();
            return Ok(Shape {
                rows: identity,
                inverse: None,
            });
        };
        if rows.len() != r || rows.iter().any(|row| row.len() != r) {
            return Err(Error::input(format!(
                "the shape T must have {r} rows and {r} columns, one for each released number"
            )));
        }
        if let Some(v) = rows.iter().flatten().find(|v| !v.is_finite()) {
            return Err(Error::input(format!(
                "the shape T holds {v}: it must be finite"
            )));
        }
        let inverse = invert(rows).ok_or_else(|| {
            Error::refused(
                "this shape T",
                "it is not invertible (or nearly not): some combination of the answers would carry no noise",
                "an invertible matrix",
            )
        })?;
        Ok(Shape {
            rows: rows.to_vec(),
            inverse: Some(inverse),
        })
    }

    /// Number of noises, k = r.
    pub fn noises(&self) -> usize {
        self.rows.len()
    }

    /// Row i of T.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.rows[i]
    }

    /// Tζ.
    pub fn apply(&self, zeta: &[f64]) -> Vec<f64> {
        times(&self.rows, zeta)
    }

    /// T^{-1}y.
    pub fn unshape(&self, y: &[f64]) -> Vec<f64> {
        match &self.inverse {
            None => y.to_vec(),
            Some(inverse) => times(inverse, y),
        }
    }

    /// A row of X times T⁻¹: entries (answer, value), per unit of noise in each answer.
    pub(crate) fn per_answer(&self, row: &[(usize, f64)]) -> Vec<(usize, f64)> {
        let Some(inverse) = &self.inverse else {
            return row.to_vec();
        };
        let entry = |i: usize| row.iter().map(|&(k, v)| v * inverse[k][i]).sum();
        (0..self.noises()).map(|i| (i, entry(i))).collect()
    }

    /// Whether T = I.
    pub fn is_identity(&self) -> bool {
        self.inverse.is_none()
    }
}

fn times(rows: &[Vec<f64>], v: &[f64]) -> Vec<f64> {
    rows.iter()
        .map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
        .collect()
}

/// Gauss–Jordan with partial pivoting; `None` when a pivot is below 1e-12 of its matrix.
fn invert(rows: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let r = rows.len();
    let largest = rows.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut a: Vec<Vec<f64>> = rows
        .iter()
        .enumerate()
        .map(|(i, row)| {
            let mut wide = row.clone();
            wide.extend((0..r).map(|j| f64::from(u8::from(i == j))));
            wide
        })
        .collect();
    for column in 0..r {
        let pivot =
            (column..r).max_by(|x, y| a[*x][column].abs().total_cmp(&a[*y][column].abs()))?;
        if a[pivot][column].abs() <= 1e-12 * largest {
            return None;
        }
        a.swap(column, pivot);
        let scale = a[column][column];
        a[column].iter_mut().for_each(|v| *v /= scale);
        let source = a[column].clone();
        for (i, row) in a.iter_mut().enumerate() {
            let factor = row[column];
            if i != column && factor != 0.0 {
                row.iter_mut()
                    .zip(&source)
                    .for_each(|(v, s)| *v -= factor * s);
            }
        }
    }
    Some(a.into_iter().map(|row| row[r..].to_vec()).collect())
}
