//! Linear programs in few variables, max d'x s.t. Gx ≤ h, by the dual simplex.
//!
//! The answer solves n equations, those of the rows that hold it: its digits do not suffer from rows that are far away,
//! as they do where one tolerance serves all rows. Rows sⱼxⱼ ≤ ∞ stand in at the start; ∞ is a symbol, kept apart.

use conveil::{Error, Result};

/// Entries below this share of a unit row are rounding.
const TINY: f64 = 1e-9;

/// A violation below this share of the terms of a row is rounding.
const ROUNDING: f64 = 1e-13;

/// Steps by the largest violation, per row and variable; then by the smallest index, which cannot go round in circles.
const EAGER: usize = 8;

/// Steps in all, per row and variable.
const STEPS: usize = 200;

/// An optimal vertex.
#[derive(Clone, Debug)]
pub(super) struct Vertex {
    /// x.
    pub(super) x: Vec<f64>,
    /// Rows that hold it, with multipliers λ ≥ 0, Σλᵢgᵢ = d.
    pub(super) holding: Vec<(usize, f64)>,
}

/// max d'x s.t. Gx ≤ h, for rows of about unit size whose positive combinations reach every direction.
pub(super) fn highest(rows: &[Vec<f64>], h: &[f64], d: &[f64]) -> Result<Vertex> {
    let (m, n) = (rows.len(), d.len());
    let row = |i: usize| match i < m {
        true => rows[i].clone(),
        false => {
            let mut far = vec![0.0; n];
            far[i - m] = if d[i - m] < 0.0 { -1.0 } else { 1.0 };
            far
        }
    };
    let mut basis: Vec<usize> = (m..m + n).collect();
    for step in 0..STEPS * (m + n) {
        let inverse = inverse(basis.iter().map(|&i| row(i)).collect())?;
        let at = |right: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let line = |line: &Vec<f64>| line.iter().zip(&basis).map(|(v, &i)| v * right(i)).sum();
            inverse.iter().map(line).collect()
        };
        // x = far·∞ + near.
        let far = at(&|i| if i < m { 0.0 } else { 1.0 });
        let near = at(&|i| if i < m { h[i] } else { 0.0 });
        // λ and μ with Σλᵢgᵢ = d, Σμᵢgᵢ = the row that enters.
        let combined = |target: &[f64]| -> Vec<f64> {
            let column = |k: usize| (0..n).map(|j| inverse[j][k] * target[j]).sum();
            (0..n).map(column).collect()
        };
        let lambda = combined(d);
        let is_eager = step < EAGER * (m + n);
        let Some(entering) = violated(rows, h, (&far, &near), &basis, is_eager) else {
            if basis.iter().any(|&i| i >= m) {
                return Err(Error::Numerical(
                    "the facets hardly enclose a bounded set: some are all but parallel".into(),
                ));
            }
            let holding = basis.into_iter().zip(lambda).collect();
            return Ok(Vertex { x: near, holding });
        };
        let mu = combined(&rows[entering]);
        let ratio = |k: usize| lambda[k].max(0.0) / mu[k];
        let leaving = (0..n).filter(|&k| mu[k] > TINY).min_by(|&k, &l| {
            let by_index = basis[l].cmp(&basis[k]).reverse();
            ratio(k).total_cmp(&ratio(l)).then(by_index)
        });
        let Some(leaving) = leaving else {
            return Err(Error::Numerical("no point meets all facets".into()));
        };
        basis[leaving] = entering;
    }
    Err(Error::Numerical(
        "the facets of the polytope cannot be told apart by rounding".into(),
    ))
}

/// A row that x = far·∞ + near violates: the worst, or the first.
fn violated(
    rows: &[Vec<f64>],
    h: &[f64],
    (far, near): (&[f64], &[f64]),
    basis: &[usize],
    worst: bool,
) -> Option<usize> {
    let mut found: Option<(usize, (f64, f64))> = None;
    for (i, row) in rows.iter().enumerate().filter(|(i, _)| !basis.contains(i)) {
        let dot = |x: &[f64]| row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
        let size: f64 = row.iter().zip(near).map(|(a, x)| (a * x).abs()).sum();
        let (outer, inner) = (dot(far), dot(near) - h[i]);
        let by = match outer {
            o if o > TINY => (o, 0.0),
            o if o < -TINY => continue,
            _ if inner > ROUNDING * (size + h[i].abs()) => (0.0, inner),
            _ => continue,
        };
        if !worst {
            return Some(i);
        }
        if found.is_none_or(|(_, most)| by > most) {
            found = Some((i, by));
        }
    }
    found.map(|(i, _)| i)
}

/// Gauss–Jordan with partial pivoting.
fn inverse(mut rows: Vec<Vec<f64>>) -> Result<Vec<Vec<f64>>> {
    let n = rows.len();
    for (i, row) in rows.iter_mut().enumerate() {
        row.extend((0..n).map(|j| if i == j { 1.0 } else { 0.0 }));
    }
    for step in 0..n {
        let size = |i: usize| rows[i][step].abs();
        let pivot = (step..n).max_by(|&i, &k| size(i).total_cmp(&size(k)));
        let pivot = pivot.filter(|&i| size(i) > 0.0).ok_or_else(|| {
            Error::Numerical("the facets of the polytope are all but parallel".into())
        })?;
        rows.swap(step, pivot);
        let by = rows[step][step];
        rows[step].iter_mut().for_each(|v| *v /= by);
        let own = rows[step].clone();
        for (_, other) in rows.iter_mut().enumerate().filter(|(i, _)| *i != step) {
            let factor = other[step];
            if factor != 0.0 {
                let pairs = other.iter_mut().zip(&own);
                pairs.for_each(|(v, o)| *v -= factor * o);
            }
        }
    }
    Ok(rows.into_iter().map(|row| row[n..].to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use conveil::noise::Sampler;
    use conveil::program::Builder;
    use conveil::solve::{Settings, solve_checked};

    /// On random polytopes the vertex is the optimum that an interior-point method finds.
    #[test]
    fn vertices_agree_with_the_conic_solver() -> Result<()> {
        let mut sampler = Sampler::new(7, 0);
        for n in [1, 2, 3, 5] {
            for _ in 0..10 {
                let mut uniform = || 2.0 * sampler.uniform() - 1.0;
                let mut rows: Vec<Vec<f64>> = Vec::new();
                for j in 0..n {
                    for sign in [1.0, -1.0] {
                        let mut row = vec![0.0; n];
                        row[j] = sign;
                        rows.push(row);
                    }
                }
                for _ in 0..3 * n {
                    rows.push((0..n).map(|_| uniform()).collect());
                }
                let h: Vec<f64> = rows.iter().map(|_| 1.0 + 0.5 * uniform()).collect();
                let d: Vec<f64> = (0..n).map(|_| uniform()).collect();
                let found = highest(&rows, &h, &d)?;
                let mut m = Builder::new();
                let x = m.variable("x", n);
                for (i, row) in rows.iter().enumerate() {
                    m.at_most(&format!("row {i}"), x.dot(row), h[i]);
                }
                m.minimize(-x.dot(&d));
                let other = solve_checked(&m.build()?, &Settings::default())?;
                let value: f64 = d.iter().zip(&found.x).map(|(d, x)| d * x).sum();
                assert!((value + other.objective).abs() < 1e-6, "{n}");
                let dual: f64 = found.holding.iter().map(|&(i, z)| h[i] * z).sum();
                assert!((value - dual).abs() < 1e-12, "{n}");
            }
        }
        Ok(())
    }

    /// A cross-polytope: 2ⁿ facets, all of them in every vertex's neighbourhood, many ties.
    #[test]
    fn ties_do_not_go_round_in_circles() -> Result<()> {
        let n = 6;
        let sign = |i: usize, j: usize| if i >> j & 1 == 1 { 1.0 } else { -1.0 };
        let rows: Vec<Vec<f64>> = (0..1 << n)
            .map(|i| (0..n).map(|j| sign(i, j)).collect())
            .collect();
        let mut d = vec![0.0; n];
        d[0] = 1.0;
        let found = highest(&rows, &vec![1.0; 1 << n], &d)?;
        assert!((found.x[0] - 1.0).abs() < 1e-12);
        Ok(())
    }
}
