//! The public side of a polytope: its normals, checked before any private offset is touched.

use conveil::program::Builder;
use conveil::solve::{self, Settings};
use conveil::{Error, Result};

/// A direction counts as free when no facet stops it by more than this share of its length.
const FLAT: f64 = 1e-6;

/// Larger dimensions are refused: a semidefinite block of order 2n has n(2n+1) rows.
const MOST_DIMENSIONS: usize = 64;

/// The normals a₁ … aₘ of facets that enclose a bounded set, whatever the offsets.
///
/// # Guarantee
/// {x : aᵢ'x ≤ bᵢ} is bounded for every b: the only d with aᵢ'd ≤ 0 for all i is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Normals {
    rows: Vec<Vec<f64>>,
}

impl Normals {
    /// Checks dimensions and numbers, refuses zero rows and normals that leave a direction open.
    pub fn new(rows: Vec<Vec<f64>>) -> Result<Self> {
        let Some(first) = rows.first() else {
            return Err(Error::Input(
                "the polytope has no facets: give a normal for each".into(),
            ));
        };
        let n = first.len();
        if n == 0 || n > MOST_DIMENSIONS {
            return Err(Error::Input(format!(
                "the normals have {n} dimensions: from 1 to {MOST_DIMENSIONS} are possible"
            )));
        }
        for (i, row) in rows.iter().enumerate() {
            if row.len() != n {
                return Err(Error::Input(format!(
                    "the normal of facet {i} has {} numbers, that of facet 0 has {n}",
                    row.len()
                )));
            }
            if let Some(value) = row.iter().find(|v| !v.is_finite()) {
                return Err(Error::Input(format!(
                    "the normal of facet {i} holds {value}: it must be finite numbers"
                )));
            }
            if row.iter().all(|v| *v == 0.0) {
                return Err(Error::Input(format!(
                    "the normal of facet {i} is zero: such a row is no facet, leave it out"
                )));
            }
        }
        let normals = Normals { rows };
        normals.refuse_open()?;
        Ok(normals)
    }

    /// n.
    pub fn dimension(&self) -> usize {
        self.rows[0].len()
    }

    /// m.
    pub fn facets(&self) -> usize {
        self.rows.len()
    }

    /// The normals.
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }

    /// The same normals, each of length 1.
    pub(super) fn unit_rows(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        self.rows.iter().map(|row| {
            let size = norm(row);
            row.iter().map(|v| v / size).collect()
        })
    }

    /// A direction that no facet stops makes the polytope unbounded (or empty) for every offset. Two kinds: some facet
    /// is left behind (one linear program finds it), or all are orthogonal to it (elimination does).
    fn refuse_open(&self) -> Result<()> {
        let open = match self.leaves_a_facet()? {
            Some(direction) => Some(direction),
            None => self.orthogonal(),
        };
        let Some(direction) = open else {
            return Ok(());
        };
        let largest = direction.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let shown = direction.iter().map(|v| {
            let rounded = (1e4 * v / largest).round() / 1e4;
            // No −0.
            (rounded + 0.0).to_string()
        });
        let shown: Vec<String> = shown.collect();
        Err(Error::Input(format!(
            "the polytope is unbounded, whatever the offsets: no facet stops the direction ({}); add the facet that would",
            shown.join(", ")
        )))
    }

    /// max −Σaᵢ'd s.t. aᵢ'd ≤ 0, −1 ≤ d ≤ 1.
    fn leaves_a_facet(&self) -> Result<Option<Vec<f64>>> {
        let n = self.dimension();
        let mut m = Builder::new();
        let d = m.variable("d", n);
        for (i, row) in self.unit_rows().enumerate() {
            m.minimize(d.dot(&row));
            m.at_most(&format!("facet {i}"), d.dot(&row), 0.0);
        }
        for j in 0..n {
            m.between(&format!("coordinate {j}"), -1.0, d.at(j), 1.0);
        }
        let solution = solve::solve_checked(&m.build()?, &Settings::default())?;
        let open = solution.objective < -FLAT * self.facets() as f64;
        Ok(open.then_some(solution.x))
    }

    /// A direction orthogonal to all normals, by Gaussian elimination with full pivoting.
    fn orthogonal(&self) -> Option<Vec<f64>> {
        let n = self.dimension();
        let mut rows: Vec<Vec<f64>> = self.unit_rows().collect();
        let mut order: Vec<usize> = (0..n).collect();
        for step in 0..n {
            let rest = (step..rows.len()).flat_map(|i| (step..n).map(move |j| (i, j)));
            let pivot = rest.max_by(|&(i, j), &(k, l)| {
                rows[i][order[j]].abs().total_cmp(&rows[k][order[l]].abs())
            });
            let (i, j) = match pivot {
                Some((i, j)) if rows[i][order[j]].abs() > FLAT => (i, j),
                _ => return Some(self.null_vector(&rows, &order, step)),
            };
            rows.swap(step, i);
            order.swap(step, j);
            let (done, below) = rows.split_at_mut(step + 1);
            let pivot = &done[step];
            for row in below {
                let factor = row[order[step]] / pivot[order[step]];
                for &column in &order[step..] {
                    row[column] -= factor * pivot[column];
                }
            }
        }
        None
    }

    /// The direction that sets the first column without a pivot to 1, by back substitution.
    fn null_vector(&self, rows: &[Vec<f64>], order: &[usize], rank: usize) -> Vec<f64> {
        let mut direction = vec![0.0; self.dimension()];
        direction[order[rank]] = 1.0;
        for step in (0..rank).rev() {
            let later = order[step + 1..=rank].iter();
            let sum: f64 = later.map(|&c| rows[step][c] * direction[c]).sum();
            direction[order[step]] = -sum / rows[step][order[step]];
        }
        direction
    }
}

pub(super) fn norm(v: &[f64]) -> f64 {
    // Scaled, so that large entries do not overflow.
    let largest = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * v.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt()
}
