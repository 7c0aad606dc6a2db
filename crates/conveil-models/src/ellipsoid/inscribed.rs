//! An ellipsoid {z + Yu : ‖u‖ ≤ 1}: its volume, and whether it lies inside a polytope.

use super::normals::{Normals, norm};
use conveil::program::{Against, Cone};

/// An ellipsoid, inscribed or not: a released one may stick out.
#[derive(Clone, Debug, PartialEq)]
pub struct Inscribed {
    centre: Vec<f64>,
    /// Y by rows, symmetric.
    shape: Vec<Vec<f64>>,
}

impl Inscribed {
    /// From z and the upper triangle of Y by columns; further numbers do not count.
    pub(super) fn new(n: usize, answer: &[f64]) -> Self {
        let (centre, rest) = answer.split_at(n);
        let entry = |i: usize, j: usize| {
            let (i, j) = (i.min(j), i.max(j));
            rest[j * (j + 1) / 2 + i]
        };
        let row = |i: usize| (0..n).map(|j| entry(i, j)).collect();
        Inscribed {
            centre: centre.to_vec(),
            shape: (0..n).map(row).collect(),
        }
    }

    /// z.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// Y by rows.
    pub fn shape(&self) -> &[Vec<f64>] {
        &self.shape
    }

    /// How far it stays inside the nearest facet, minᵢ (bᵢ − aᵢ'z − ‖Yaᵢ‖)/‖aᵢ‖; negative where it sticks out.
    pub fn clearance(&self, normals: &Normals, offsets: &[f64]) -> f64 {
        let facets = normals.rows().iter().zip(offsets);
        let gap = facets.map(|(a, b)| {
            let along: f64 = a.iter().zip(&self.centre).map(|(a, z)| a * z).sum();
            let image: Vec<f64> = self.shape.iter().map(|row| dot(row, a)).collect();
            (b - along - norm(&image)) / norm(a)
        });
        gap.fold(f64::INFINITY, f64::min)
    }

    /// The smallest λ ≥ 0 with Y + λI ⪰ 0: 0 where Y is positive semidefinite.
    pub fn indefinite_by(&self) -> f64 {
        let n = self.centre.len();
        let mut triangle = Vec::with_capacity(n * (n + 1) / 2);
        for j in 0..n {
            for i in 0..=j {
                let weight = if i == j {
                    1.0
                } else {
                    std::f64::consts::SQRT_2
                };
                triangle.push(weight * self.shape[i][j]);
            }
        }
        Cone::PsdTriangle(n).violation(&triangle, Against::Primal)
    }

    /// |det Y| times the volume of the unit ball.
    pub fn volume(&self) -> f64 {
        unit_ball(self.centre.len()) * self.determinant().abs()
    }

    /// det Y, by elimination with partial pivoting.
    pub fn determinant(&self) -> f64 {
        let mut rows = self.shape.clone();
        let n = rows.len();
        let mut determinant = 1.0;
        for step in 0..n {
            let candidates = step..n;
            let pivot = candidates
                .max_by(|&i, &k| rows[i][step].abs().total_cmp(&rows[k][step].abs()))
                .unwrap_or(step);
            if pivot != step {
                rows.swap(step, pivot);
                determinant = -determinant;
            }
            let value = rows[step][step];
            determinant *= value;
            if value == 0.0 {
                return 0.0;
            }
            let (done, below) = rows.split_at_mut(step + 1);
            for row in below {
                let factor = row[step] / value;
                for (own, above) in row.iter_mut().zip(&done[step]).skip(step) {
                    *own -= factor * above;
                }
            }
        }
        determinant
    }

    /// A point of its boundary, z + Yu for a unit vector u.
    pub fn point(&self, u: &[f64]) -> Vec<f64> {
        let rows = self.shape.iter().zip(&self.centre);
        rows.map(|(row, z)| z + dot(row, u)).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The volume of the unit ball: Vₙ = Vₙ₋₂·2π/n.
fn unit_ball(n: usize) -> f64 {
    match n {
        0 => 1.0,
        1 => 2.0,
        _ => unit_ball(n - 2) * 2.0 * std::f64::consts::PI / n as f64,
    }
}
