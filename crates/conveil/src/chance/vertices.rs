//! A box of noises, enforced for every point of it: the support function on linear rows, the vertices that a block
//! touches for other cones. Shared by the mass box, the sampled box and bounded noise.

use super::Task;
use crate::error::{Error, Result};
use crate::rule::Lift;

/// Vertices of one block, at most.
const VERTEX_LIMIT: usize = 1 << 16;

/// {ζ : l ≤ ζ ≤ u}, one interval for every noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxSet {
    /// l < 0.
    pub lower: f64,
    /// u > 0.
    pub upper: f64,
}

impl BoxSet {
    /// Wider by 3h/2 on both sides: h couples lattice noise to the continuous law, h/2 is rounding (M5, Lattice).
    pub(super) fn widened(self, step: f64) -> Self {
        BoxSet {
            lower: self.lower - 1.5 * step,
            upper: self.upper + 1.5 * step,
        }
    }

    /// max over [l, u] of ζ·v.
    fn support(&self, v: f64) -> f64 {
        (self.lower * v).max(self.upper * v)
    }
}

/// Refuses a box on a block that so many noises reach that it has too many vertices.
pub(super) fn refuse_many_vertices(kind: &str, name: &str, noises: usize) -> Result<()> {
    if noises < usize::BITS as usize && 1usize << noises <= VERTEX_LIMIT {
        return Ok(());
    }
    Err(Error::refused(
        format!("a box on the {kind} block `{name}`"),
        format!("{noises} noises reach it, and a box has 2^{noises} vertices"),
        "the scenario method for this block, whose size does not grow with the vertices",
    ))
}

/// Boxes by noise.
#[derive(Clone, Debug)]
pub(super) struct Boxes(pub Vec<BoxSet>);

impl Boxes {
    pub(super) fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        if task.cone.is_linear() {
            task.rows.iter().for_each(|&i| self.linear_row(lift, i));
            return Ok(());
        }
        self.at_vertices(lift, task)
    }

    /// M5a: a'x̄ + Σ_j max(l_j v_j, u_j v_j) ≤ b.
    fn linear_row(&self, lift: &mut Lift<'_>, i: usize) {
        let noise = lift.row_noise(i);
        if noise.is_fixed() {
            let worst = noise
                .constant
                .iter()
                .map(|&(j, v)| self.0[j].support(v))
                .sum();
            let row = lift.mean_row(i, worst);
            lift.inequality(row, Some(i));
            return;
        }
        let k = lift.noises();
        if k == 1 {
            // One noise: a box is its two end points.
            for end in [self.0[0].lower, self.0[0].upper] {
                let row = lift.row_at(i, &noise, &[end]);
                lift.inequality(row, Some(i));
            }
            return;
        }
        let first = lift.auxiliaries(k);
        for j in 0..k {
            let (terms, constant) = lift.noise_entry(&noise, j);
            for end in [self.0[j].lower, self.0[j].upper] {
                // e_j ≥ end·v_j
                let mut row: Vec<(usize, f64)> = terms.iter().map(|&(c, a)| (c, end * a)).collect();
                row.push((first + j, -1.0));
                lift.inequality((row, -end * constant), Some(i));
            }
        }
        let (mut terms, right) = lift.mean_row(i, 0.0);
        terms.extend((0..k).map(|j| (first + j, 1.0)));
        lift.inequality((terms, right), Some(i));
    }

    fn at_vertices(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        let k = lift.noises();
        let noises: Vec<_> = task.rows.iter().map(|&i| lift.row_noise(i)).collect();
        let mut touched: Vec<usize> = noises.iter().flat_map(|n| n.touched(k)).collect();
        touched.sort_unstable();
        touched.dedup();
        refuse_many_vertices(task.cone.kind(), task.name, touched.len())?;
        let origins: Vec<Option<usize>> = task.rows.iter().map(|&i| Some(i)).collect();
        for vertex in 0..1usize << touched.len() {
            let mut zeta = vec![0.0; k];
            for (bit, &j) in touched.iter().enumerate() {
                let upper = vertex >> bit & 1 == 1;
                zeta[j] = if upper {
                    self.0[j].upper
                } else {
                    self.0[j].lower
                };
            }
            let rows = task
                .rows
                .iter()
                .zip(&noises)
                .map(|(&i, noise)| lift.row_at(i, noise, &zeta))
                .collect();
            lift.cone(task.cone, rows, &origins);
        }
        Ok(())
    }
}
