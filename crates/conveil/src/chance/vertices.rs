//! A box of noises, enforced for every point of it: the support function on linear rows, the vertices that a block
//! touches for other cones. Shared by the mass box, the sampled box and bounded noise.
//!
//! In a second-order cone, noises that reach the head row alone need no vertices: ‖x(ζ)‖ ≤ t̄ − v'ζ − w'ζ' for all ζ'
//! means ‖x(ζ)‖ ≤ t̄ − v'ζ − max w'ζ'.

use super::{Site, Task};
use crate::error::{Error, Result};
use crate::noise::LatticeLaw;
use crate::program::Cone;
use crate::rule::Lift;

/// Noises that may reach one block, at most: 2^16 vertices.
const MOST_NOISES: usize = 16;

/// A semidefinite block of d rows is dense in the solver's system: d² entries at each vertex, at most so many in all.
const MOST_ENTRIES: usize = 1 << 18;

/// {ζ : l ≤ ζ ≤ u}, one interval for every noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxSet {
    /// l < 0.
    pub lower: f64,
    /// u > 0.
    pub upper: f64,
}

impl BoxSet {
    /// Wider by the displacement of lattice noise on both sides.
    pub(super) fn widened(self, noise: &LatticeLaw) -> Self {
        BoxSet {
            lower: self.lower - noise.displacement(),
            upper: self.upper + noise.displacement(),
        }
    }

    /// max over [l, u] of ζ·v.
    pub(super) fn support(&self, v: f64) -> f64 {
        (self.lower * v).max(self.upper * v)
    }
}

impl std::fmt::Display for BoxSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let end = |value: f64| crate::digits::decimals(value, 0.0);
        write!(f, "every ζ in [{}, {}]", end(self.lower), end(self.upper))
    }
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
                // e_j ≥ end·v_j: no bᵢ in it, so no price of the row.
                let mut row: Vec<(usize, f64)> = terms.iter().map(|&(c, a)| (c, end * a)).collect();
                row.push((first + j, -1.0));
                lift.inequality((row, -end * constant), None);
            }
        }
        let (mut terms, right) = lift.mean_row(i, 0.0);
        terms.extend((0..k).map(|j| (first + j, 1.0)));
        lift.inequality((terms, right), Some(i));
    }

    fn at_vertices(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        let k = lift.noises();
        let noises: Vec<_> = task.rows.iter().map(|&i| lift.row_noise(i)).collect();
        let reach = noises.iter().map(|n| (n.touched(k), n.is_fixed()));
        let (curved, straight) = sort_noises(task.cone, &reach.collect::<Vec<_>>());
        let fixed = noises.iter().all(|n| n.is_fixed());
        check_vertices(task.cone, task.name, curved.len(), fixed)?;
        // The worst of the noises that need no vertices, all of them fixed and in the head row.
        let head: f64 = noises[0]
            .constant
            .iter()
            .filter(|(j, _)| straight.contains(j))
            .map(|&(j, v)| self.0[j].support(v))
            .sum();
        let origins: Vec<Option<usize>> = task.rows.iter().map(|&i| Some(i)).collect();
        for vertex in 0..1usize << curved.len() {
            let mut zeta = vec![0.0; k];
            for (bit, &j) in curved.iter().enumerate() {
                let upper = vertex >> bit & 1 == 1;
                zeta[j] = if upper {
                    self.0[j].upper
                } else {
                    self.0[j].lower
                };
            }
            let mut rows: Vec<_> = task
                .rows
                .iter()
                .zip(&noises)
                .map(|(&i, noise)| lift.row_at(i, noise, &zeta))
                .collect();
            rows[0].1 -= head;
            lift.cone(task.cone, rows, &origins);
        }
        Ok(())
    }
}

/// The noises that need vertices, and those that reach the head of a second-order cone alone, with a fixed coefficient.
/// Takes, by row, the noises that can reach it and whether they are fixed.
fn sort_noises(cone: &Cone, rows: &[(Vec<usize>, bool)]) -> (Vec<usize>, Vec<usize>) {
    let union = |rows: &[(Vec<usize>, bool)]| {
        let mut noises: Vec<usize> = rows.iter().flat_map(|row| row.0.clone()).collect();
        noises.sort_unstable();
        noises.dedup();
        noises
    };
    match (cone, rows) {
        (Cone::SecondOrder(_), [(head, true), tail @ ..]) => {
            let curved = union(tail);
            let straight = head.iter().filter(|j| !curved.contains(j));
            let straight = straight.copied().collect();
            (curved, straight)
        }
        _ => (union(rows), Vec::new()),
    }
}

/// What every box refuses: more vertices on a block that is not linear than a program can hold.
pub(super) fn check(site: &Site<'_>) -> Result<()> {
    if site.cone.is_linear() {
        return Ok(());
    }
    let fixed = site.rows.iter().all(|row| row.fixed);
    check_vertices(site.cone, site.name, noises_at_vertices(site), fixed)
}

/// The noises that need vertices on a block.
pub(super) fn noises_at_vertices(site: &Site<'_>) -> usize {
    let rows = site.rows.iter().map(|row| (row.noises.clone(), row.fixed));
    sort_noises(site.cone, &rows.collect::<Vec<_>>()).0.len()
}

/// Whether a block at the vertices of this many noises is of a size that can be solved.
pub(super) fn are_few(cone: &Cone, noises: usize) -> bool {
    noises <= MOST_NOISES && fits(cone, 1 << noises)
}

/// Whether a block at this many points is of a size that can be solved.
pub(super) fn fits(cone: &Cone, points: usize) -> bool {
    match cone {
        Cone::PsdTriangle(_) => cone.dim().saturating_pow(2).saturating_mul(points) <= MOST_ENTRIES,
        _ => points <= MOST_ENTRIES,
    }
}

fn check_vertices(cone: &Cone, name: &str, noises: usize, fixed: bool) -> Result<()> {
    if are_few(cone, noises) {
        return Ok(());
    }
    let rows = match noises {
        0..=40 => format!("{} rows", (cone.dim() as u128) << noises),
        _ => "more than 10^12 rows".to_string(),
    };
    let instead = match (cone, fixed) {
        (Cone::PsdTriangle(_), false) => {
            "a query that fixes how every entry of the block moves, which `method = \"safe-box\"` serves; the block at the mean; or `method = \"scenario\"`"
        }
        (Cone::Exponential, _) => "`method = \"scenario\"`",
        _ => "`method = \"safe-box\"`, a bound of the block's own size, or `method = \"scenario\"`",
    };
    Err(Error::refused(
        format!("a box on the {} block `{name}`", cone.kind()),
        format!(
            "{noises} noises reach it, and at the 2^{noises} vertices of a box it would take {rows}"
        ),
        instead,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the largest ellipsoid needs: in four dimensions the facets' cones and Y ⪰ 0 stand at 1024 vertices, but not
    /// the determinant's block of order 8; in five, nothing does.
    #[test]
    fn a_block_counts_with_what_it_brings_to_the_system() {
        assert!(are_few(&Cone::SecondOrder(5), 10) && are_few(&Cone::PsdTriangle(4), 10));
        assert!(!are_few(&Cone::SecondOrder(2), 17) && !are_few(&Cone::PsdTriangle(1), 10_000));
        assert!(!are_few(&Cone::PsdTriangle(8), 10) && !are_few(&Cone::PsdTriangle(5), 15));
        assert!(are_few(&Cone::SecondOrder(17), 16));
    }
}
