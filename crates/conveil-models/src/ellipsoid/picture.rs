//! An ellipsoid as a picture: outlines in the plane. Of more than two dimensions it is the shadow on the first two
//! coordinates: what lies inside the polytope casts its shadow inside that of the polytope. Private, all of it.

use std::f64::consts::TAU;

use conveil::Result;
use conveil::noise::Sampler;
use conveil::program::DataMap;
use conveil::solve::{Settings, solve_checked};

use super::normals::norm;
use super::vertex::highest;
use super::{Ellipsoid, Inscribed};
use crate::model::Curated;
use crate::picture::Body;

/// Points of an outline.
const POINTS: usize = 96;

/// Bodies under noise.
const DRAWS: usize = 16;

/// Seed and stream of the simulated noise: any numbers serve. Released noise never comes from here.
const NOISE: (u64, u64) = (0x0E11, 0xE4);

/// Polytopes of more dimensions cast their shadow by a linear program in each direction: up to so many.
const DIMENSIONS: usize = 12;

/// Corners closer than this share of the shadow's size are one.
const SAME: f64 = 1e-7;

/// The body and its limits; none in one dimension, and beyond twelve.
pub(super) fn of(ellipsoid: &Ellipsoid, curated: &Curated<'_>) -> Result<Option<Body>> {
    let n = ellipsoid.dimension();
    if !(2..=DIMENSIONS).contains(&n) {
        return Ok(None);
    }
    let axis = |k: usize| match n {
        2 => format!("coordinate {k}"),
        n => format!("coordinate {k}, shadow of {n} dimensions"),
    };
    let decided = curated.decided;
    let plain = ellipsoid.at(curated.theta);
    let plain = plain.and_then(|program| solve_checked(&program, &Settings::default()));
    let plain = plain.and_then(|plain| ellipsoid.inscribed(&plain.x));
    Ok(Some(Body {
        x: axis(1),
        y: axis(2),
        limits: shadow(ellipsoid, &ellipsoid.offsets(&decided.program))?,
        mean: outline(&ellipsoid.inscribed(&decided.mean)?),
        without_noise: plain.ok().map(|plain| outline(&plain)),
        noisy: noisy(ellipsoid, curated)?,
    }))
}

/// The bodies that may be published, under simulated noise, where the whole body is released.
fn noisy(ellipsoid: &Ellipsoid, curated: &Curated<'_>) -> Result<Vec<Vec<(f64, f64)>>> {
    let plan = curated.plan;
    if *plan.ask().query() != ellipsoid.query() {
        return Ok(Vec::new());
    }
    let shape = plan.released().shape();
    let (seed, stream) = NOISE;
    let mut sampler = Sampler::new(seed, stream);
    let mut zeta = vec![0.0; shape.noises()];
    let mut drawn = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        sampler.fill(plan.law(), &mut zeta);
        let noisy = curated.decided.answer.iter().zip(shape.apply(&zeta));
        let noisy: Vec<f64> = noisy.map(|(m, z)| m + z).collect();
        drawn.push(outline(&ellipsoid.inscribed(&plan.published(&noisy)?)?));
    }
    Ok(drawn)
}

/// The outline of {z + Yu : ‖u‖ ≤ 1} in the first two coordinates: in the direction d its farthest point is z + Yu with
/// u = Y'd/‖Y'd‖, d = 0 beyond the first two.
fn outline(body: &Inscribed) -> Vec<(f64, f64)> {
    let rows = body.shape();
    let directions = (0..POINTS).map(|i| (TAU * i as f64 / POINTS as f64).sin_cos());
    let farthest = directions.filter_map(|(sin, cos)| {
        let pairs = rows.first()?.iter().zip(rows.get(1)?);
        let image: Vec<f64> = pairs.map(|(a, b)| cos * a + sin * b).collect();
        let length = norm(&image);
        let unit: Vec<f64> = image.iter().map(|v| v / length).collect();
        let at = body.point(&unit);
        (length > 0.0).then(|| (at[0], at[1]))
    });
    farthest.collect()
}

/// The corners of the polytope's shadow, in order.
fn shadow(ellipsoid: &Ellipsoid, offsets: &[f64]) -> Result<Vec<(f64, f64)>> {
    let normals = ellipsoid.normals();
    let n = normals.dimension();
    let rows: Vec<Vec<f64>> = normals.unit_rows().collect();
    let lengths = normals.rows().iter().map(|row| norm(row));
    let offsets: Vec<f64> = offsets.iter().zip(lengths).map(|(b, l)| b / l).collect();
    let corner = |(x, y): (f64, f64)| -> Result<(f64, f64)> {
        let mut direction = vec![0.0; n];
        (direction[0], direction[1]) = (x, y);
        let found = highest(&rows, &offsets, &direction)?;
        Ok((found.x[0], found.x[1]))
    };
    // Between two corners that are known, the direction across the line through them finds the ones that are missing.
    let mut corners = Vec::new();
    for start in [(1.0, 0.1), (-0.1, 1.0), (-1.0, -0.1), (0.1, -1.0)] {
        corners.push(corner(start)?);
    }
    let size = corners
        .iter()
        .flat_map(|a| corners.iter().map(move |b| (a.0 - b.0).hypot(a.1 - b.1)))
        .fold(0.0f64, f64::max);
    let near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1) <= SAME * size;
    let mut k = 0;
    while k < corners.len() && corners.len() <= 4 * (rows.len() + 4).min(POINTS) {
        let (a, b) = (corners[k], corners[(k + 1) % corners.len()]);
        let across = (b.1 - a.1, a.0 - b.0);
        let length = across.0.hypot(across.1);
        let beyond = match near(a, b) {
            true => None,
            false => Some(corner((across.0 / length, across.1 / length))?),
        };
        let beyond = beyond.filter(|c| {
            let distance = ((c.0 - a.0) * across.0 + (c.1 - a.1) * across.1) / length;
            distance > SAME * size
        });
        match beyond {
            Some(found) => corners.insert(k + 1, found),
            None => k += 1,
        }
    }
    corners.dedup_by(|a, b| near(*a, *b));
    if corners.len() > 1 && near(corners[0], corners[corners.len() - 1]) {
        corners.pop();
    }
    Ok(corners)
}
