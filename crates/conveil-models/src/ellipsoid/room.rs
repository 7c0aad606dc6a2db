//! The private side of a polytope: whether the offsets leave room for an ellipsoid at all. For the curator only.

use super::normals::{Normals, norm};
use conveil::program::{Builder, DataMap};
use conveil::solve::{self, Infeasibility, Settings};
use conveil::{Error, Result};

/// A ball smaller than this share of the offsets counts as none.
const THIN: f64 = 1e-6;

/// The radius of the largest ball inside; negative where the polytope is empty: by so much every facet would have to
/// move out.
pub fn radius(normals: &Normals, offsets: &[f64]) -> Result<f64> {
    Ok(ball(normals, offsets)?.0)
}

/// The radius, and the names of the facets that keep the ball from growing.
fn ball(normals: &Normals, offsets: &[f64]) -> Result<(f64, Vec<(String, f64)>)> {
    let n = normals.dimension();
    let mut m = Builder::new();
    let centre = m.variable("centre", n);
    let radius = m.variable("radius", 1);
    m.minimize(-radius.at(0));
    // In units of the largest offset.
    let unit = scale(normals, offsets);
    for (i, row) in normals.unit_rows().enumerate() {
        let offset = m.parameter(&super::offset_name(i));
        let left = centre.dot(&row) + radius.at(0);
        m.at_most(&super::facet_name(i), left, offset);
    }
    let sizes = normals.rows().iter().map(|row| norm(row));
    let theta: Vec<f64> = offsets
        .iter()
        .zip(sizes)
        .map(|(b, s)| b / s / unit)
        .collect();
    let program = m.build_map()?.at(&theta)?;
    let solution = solve::solve_checked(&program, &Settings::default())?;
    let mut holding: Vec<(String, f64)> = solution
        .z
        .iter()
        .enumerate()
        .filter(|(_, z)| **z > 1e-3)
        .map(|(i, z)| (super::facet_name(i), *z))
        .collect();
    holding.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok((solution.x[n] * unit, holding))
}

/// The largest distance of a facet from the origin, or 1 where all pass through it.
fn scale(normals: &Normals, offsets: &[f64]) -> f64 {
    let distances = normals.rows().iter().zip(offsets);
    let largest = distances.fold(0.0f64, |m, (row, b)| m.max(b.abs() / norm(row)));
    if largest > 0.0 { largest } else { 1.0 }
}

/// Refuses offsets whose polytope is empty or flat.
pub(super) fn check(normals: &Normals, offsets: &[f64]) -> Result<()> {
    let (radius, holding) = ball(normals, offsets)?;
    if radius > THIN * scale(normals, offsets) {
        return Ok(());
    }
    if radius < -THIN * scale(normals, offsets) {
        return Err(Error::Infeasible(Infeasibility { rows: holding }));
    }
    let names: Vec<String> = holding
        .iter()
        .take(5)
        .map(|h| format!("`{}`", h.0))
        .collect();
    Err(Error::Input(format!(
        "the polytope has no interior: {} leave no room between them, and the largest ellipsoid is flat (its largest ball has radius {radius:.2e})",
        names.join(", ")
    )))
}
