//! The private side of a polytope: whether the offsets leave room for an ellipsoid, where, and how much of it. For the
//! curator only.

use super::normals::{Normals, norm};
use super::vertex::{Vertex, highest};
use conveil::program::Frame;
use conveil::solve::Infeasibility;
use conveil::{Error, Result};

/// A ball smaller than this share of the polytope's width counts as none.
const THIN: f64 = 1e-6;

/// A radius within this share of the offsets that hold the ball is their rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Polytopes of a width between this and its inverse are solved in their own units.
const ORDINARY: f64 = 16.0;

/// The radius of the largest ball inside; negative where the polytope is empty: by so much every facet would have to
/// move out.
pub fn radius(normals: &Normals, offsets: &[f64]) -> Result<f64> {
    let distances = distances(normals, offsets);
    let ball = ball(normals, &distances)?;
    Ok(ball.x[normals.dimension()])
}

/// bᵢ/‖aᵢ‖.
fn distances(normals: &Normals, offsets: &[f64]) -> Vec<f64> {
    let pairs = normals.rows().iter().zip(offsets);
    pairs.map(|(row, b)| b / norm(row)).collect()
}

/// (c, r): max r s.t. aᵢ'c + r ≤ bᵢ, aᵢ of length 1.
fn ball(normals: &Normals, distances: &[f64]) -> Result<Vertex> {
    let rows = normals.unit_rows().map(|mut row| {
        row.push(1.0);
        row
    });
    let mut up = vec![0.0; normals.dimension()];
    up.push(1.0);
    highest(&rows.collect::<Vec<_>>(), distances, &up)
}

/// A polytope with an interior.
#[derive(Clone, Debug)]
pub(super) struct Room {
    /// The centre of a largest ball inside.
    centre: Vec<f64>,
    /// An upper bound on the distance of two of its points.
    diameter: f64,
    /// Its largest extent along a coordinate.
    width: f64,
}

impl Room {
    /// Measures it, or tells what is wrong: empty, or flat.
    pub(super) fn of(normals: &Normals, offsets: &[f64]) -> Result<Self> {
        let n = normals.dimension();
        let distances = distances(normals, offsets);
        let ball = ball(normals, &distances)?;
        let radius = ball.x[n];
        let centre = ball.x[..n].to_vec();
        let mut holding = ball.holding;
        holding.retain(|(_, share)| *share > 1e-3);
        holding.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let largest = holding
            .iter()
            .fold(0.0f64, |m, (i, _)| m.max(distances[*i].abs()));
        if radius < -ROUNDING * largest {
            let rows = holding.iter();
            let rows = rows.map(|(i, share)| (super::facet_name(*i), *share));
            return Err(Error::Infeasible(Infeasibility {
                rows: rows.collect(),
            }));
        }
        let flat = || {
            let names = holding.iter().take(5);
            let names: Vec<String> = names
                .map(|(i, _)| format!("`{}`", super::facet_name(*i)))
                .collect();
            Error::Input(format!(
                "the polytope has no interior: {} leave no room between them, and the largest ellipsoid is flat (its largest ball has radius {radius:.2e})",
                names.join(", ")
            ))
        };
        if radius <= ROUNDING * largest {
            return Err(flat());
        }
        // Extents along the coordinates, measured from the centre.
        let rows: Vec<Vec<f64>> = normals.unit_rows().collect();
        let along = |row: &[f64]| row.iter().zip(&centre).map(|(a, c)| a * c).sum::<f64>();
        let from_centre: Vec<f64> = rows
            .iter()
            .zip(&distances)
            .map(|(a, b)| b - along(a))
            .collect();
        let mut extents = Vec::with_capacity(n);
        for j in 0..n {
            let mut extent = 0.0;
            for sign in [1.0, -1.0] {
                let mut d = vec![0.0; n];
                d[j] = sign;
                extent += sign * highest(&rows, &from_centre, &d)?.x[j];
            }
            extents.push(extent);
        }
        let width = extents.iter().fold(0.0f64, |m, e| m.max(*e));
        if radius <= THIN * width {
            return Err(Error::Input(format!(
                "the polytope has no interior to speak of: its largest ball has radius {radius:.2e}, less than a millionth of its width {width:.2e}"
            )));
        }
        Ok(Room {
            centre,
            diameter: norm(&extents),
            width,
        })
    }

    /// The same polytope with far facets moved to n + 2 diameters D from the centre, where neither a box of noise nor
    /// the safe bound on it can tell: what is feasible has its mean within D, ‖Ȳ‖ ≤ D and noise r ≤ D/2 on every entry,
    /// and there ‖(|Ȳa| + r‖a‖₁1)‖ + r‖a‖₁ + a'(z̄ − c) ≤ (n + 2)·D‖a‖. Nearer is never less safe.
    pub(super) fn without_far_facets(&self, normals: &Normals, offsets: &[f64]) -> Vec<f64> {
        let farthest = (normals.dimension() + 2) as f64 * self.diameter;
        let pairs = normals.rows().iter().zip(offsets);
        pairs
            .map(|(row, b)| {
                let along: f64 = row.iter().zip(&self.centre).map(|(a, c)| a * c).sum();
                b.min(along + farthest * norm(row))
            })
            .collect()
    }

    /// Coordinates around the centre, in units of the width where that is out of the ordinary: every variable of the
    /// program is a length.
    pub(super) fn frame(&self, columns: usize) -> Result<Frame> {
        let mut origin = self.centre.clone();
        origin.resize(columns, 0.0);
        let unit = match (1.0 / ORDINARY..=ORDINARY).contains(&self.width) {
            true => 1.0,
            false => self.width,
        };
        Frame::new(origin, vec![unit; columns])
    }
}
