//! M5a without vertices: the same mass box, met by a tractable safe bound on cones whose vertices are too many.
//!
//! With s(ζ) = s̄ − Vζ and l ≤ ζ ≤ u, every entry of s(ζ) stays in an interval of its own, the coordinate hull.
//! *Second-order*: eᵢ ≥ |sᵢ(ζ)| and h ≤ s₀(ζ) for all ζ, and ‖e‖ ≤ h. *Power cones*: the same, with the smallest value
//! of each entry that may only grow. *Semidefinite*: S̄ − Σcⱼ Vⱼ − Σrⱼ|Vⱼ| ⪰ 0, with c, r the middle and half-width of
//! the box and |V| = (V²)^½. Linear rows are exact, as in the mass box.

use super::mass_box::{MassBox, MassBoxes};
use super::vertices::{self, BoxSet, Boxes};
use super::{Choice, Kind, Method, Ready, Scope, Setting, Site, Task};
use crate::error::{Error, Result};
use crate::program::Cone;
use crate::rule::{Lift, RowNoise};
use faer::Side;

impl Choice {
    /// The box of M5a, met by a safe bound instead of vertices on cones that are not linear.
    pub const SAFE_BOX: Choice = Choice::by(&SafeBox);
}

/// The kind. Its event is the mass box's: one box serves both.
#[derive(Clone, Copy, Debug)]
pub(super) struct SafeBox;

impl Kind for SafeBox {
    fn word(&self) -> &'static str {
        "safe-box"
    }

    fn name(&self) -> &'static str {
        "safe box"
    }

    fn summary(&self) -> &'static str {
        "the mass box, met by a safe bound of the block's own size where its vertices are too many"
    }

    fn scope(&self) -> Scope {
        MassBox.scope()
    }

    fn ready(&self, setting: &Setting) -> Result<Ready> {
        let boxes = MassBoxes::new(setting)?;
        let detail = boxes.detail();
        Ok(Ready::new(SafeBoxes { boxes }, detail))
    }
}

/// A box by split, enforced without its vertices.
///
/// # Guarantee
/// A point that meets what `enforce` writes meets the block for every ζ in the box, so with the box's probability:
/// the cones are monotone in the bounds of the coordinate hull, and Σδⱼ Vⱼ ⪯ Σrⱼ|Vⱼ| for |δⱼ| ≤ rⱼ. The converse does
/// not hold: the vertices admit more.
#[derive(Clone, Debug)]
struct SafeBoxes {
    boxes: MassBoxes,
}

/// Σ terms + constant of the lifted program.
type Expression = (Vec<(usize, f64)>, f64);

impl SafeBoxes {
    fn set(&self, task: &Task<'_>) -> BoxSet {
        self.boxes.at(task.split)
    }

    /// The first `lower` rows may only grow, the absolute values of the others only fall.
    fn by_coordinates(&self, lift: &mut Lift<'_>, task: &Task<'_>, lower: usize) {
        let set = self.set(task);
        let origins: Vec<Option<usize>> = task.rows.iter().map(|&i| Some(i)).collect();
        let mut rows = Vec::with_capacity(task.rows.len());
        for (place, &i) in task.rows.iter().enumerate() {
            let noise = lift.row_noise(i);
            if noise.is_noise_free() {
                rows.push(lift.mean_row(i, 0.0));
                continue;
            }
            // max over the box of ±v'ζ; s(ζ) = s̄ − v'ζ.
            let above = support(lift, &noise, set, 1.0);
            if place < lower {
                let (mut terms, right) = lift.mean_row(i, above.1);
                terms.extend(above.0);
                rows.push((terms, right));
                continue;
            }
            let below = support(lift, &noise, set, -1.0);
            let e = lift.auxiliaries(1);
            for (sign, (bound, constant)) in [(1.0, below), (-1.0, above)] {
                // e ≥ sign·s̄ + bound, with s̄ = right − terms.
                let (terms, right) = lift.mean_row(i, 0.0);
                let mut row: Vec<(usize, f64)> =
                    terms.into_iter().map(|(c, a)| (c, -sign * a)).collect();
                row.extend(bound);
                row.push((e, -1.0));
                lift.inequality((row, -sign * right - constant), Some(i));
            }
            rows.push((vec![(e, -1.0)], 0.0));
        }
        lift.cone(task.cone, rows, &origins);
    }

    fn semidefinite(&self, lift: &mut Lift<'_>, task: &Task<'_>, order: usize) -> Result<()> {
        let set = self.set(task);
        let noises: Vec<RowNoise> = task.rows.iter().map(|&i| lift.row_noise(i)).collect();
        if noises.iter().any(|n| !n.is_fixed()) {
            let every = noises.iter().flat_map(|n| n.touched(lift.noises()));
            let reach: std::collections::BTreeSet<usize> = every.collect();
            return Err(free_rows(task.cone, task.name, reach.len()));
        }
        let vectors: Vec<Vec<f64>> = noises
            .iter()
            .map(|noise| noise.fixed_vector(lift.noises()))
            .collect();
        let middle = 0.5 * (set.lower + set.upper);
        let half = 0.5 * (set.upper - set.lower);
        let mut shift = vec![0.0; task.rows.len()];
        for j in 0..lift.noises() {
            let v: Vec<f64> = vectors.iter().map(|row| row[j]).collect();
            if v.iter().all(|x| *x == 0.0) {
                continue;
            }
            let size = absolute(order, &v)?;
            let moved = shift.iter_mut().zip(v.iter().zip(&size));
            moved.for_each(|(shift, (v, size))| *shift += middle * v + half * size);
        }
        let rows = task.rows.iter().zip(&shift);
        let rows = rows.map(|(&i, shift)| lift.mean_row(i, *shift)).collect();
        let origins: Vec<Option<usize>> = task.rows.iter().map(|&i| Some(i)).collect();
        lift.cone(task.cone, rows, &origins);
        Ok(())
    }
}

/// max over the box of sign·v'ζ: a number where v is fixed, an upper bound with an epigraph per noise where it is not.
fn support(lift: &mut Lift<'_>, noise: &RowNoise, set: BoxSet, sign: f64) -> Expression {
    if noise.is_fixed() {
        let entries = noise.constant.iter();
        return (
            Vec::new(),
            entries.map(|&(_, v)| set.support(sign * v)).sum(),
        );
    }
    let k = lift.noises();
    let first = lift.auxiliaries(k);
    for j in 0..k {
        let (terms, constant) = lift.noise_entry(noise, j);
        for end in [set.lower, set.upper] {
            let mut row: Vec<(usize, f64)> =
                terms.iter().map(|&(c, a)| (c, sign * end * a)).collect();
            row.push((first + j, -1.0));
            lift.inequality((row, -sign * end * constant), None);
        }
    }
    ((0..k).map(|j| (first + j, 1.0)).collect(), 0.0)
}

/// |V| = (V²)^½ of the symmetric matrix whose scaled upper triangle is `v`, in the same layout: |V| ⪰ V and |V| ⪰ −V.
fn absolute(order: usize, v: &[f64]) -> Result<Vec<f64>> {
    let at = |i: usize, j: usize| {
        let (i, j) = (i.min(j), i.max(j));
        let value = v[j * (j + 1) / 2 + i];
        if i == j {
            value
        } else {
            value * std::f64::consts::FRAC_1_SQRT_2
        }
    };
    let matrix = faer::Mat::<f64>::from_fn(order, order, at);
    let Ok(parts) = matrix.self_adjoint_eigen(Side::Lower) else {
        return Err(Error::Numerical(
            "the eigenvalues of a recourse matrix cannot be computed".into(),
        ));
    };
    let (vectors, values) = (parts.U(), parts.S());
    let mut size = Vec::with_capacity(v.len());
    for j in 0..order {
        for i in 0..=j {
            let entry: f64 = (0..order)
                .map(|l| values[l].abs() * vectors[(i, l)] * vectors[(j, l)])
                .sum();
            size.push(if i == j {
                entry
            } else {
                entry * std::f64::consts::SQRT_2
            });
        }
    }
    Ok(size)
}

fn free_rows(cone: &Cone, name: &str, noises: usize) -> Error {
    let other = match vertices::are_few(cone, noises) {
        true => format!("`method = \"mass-box\"` at its 2^{noises} vertices"),
        false => "`method = \"scenario\"`".to_string(),
    };
    Error::refused(
        format!("the safe box on the semidefinite block `{name}`"),
        "its entries are not all released: how the others follow the noise is still free, and |V| is a bound for fixed matrices only",
        format!("a query that releases every entry of the block; or {other}"),
    )
}

impl Method for SafeBoxes {
    fn splits(&self) -> usize {
        self.boxes.splits()
    }

    fn interval(&self, split: usize, _noise: usize) -> Option<BoxSet> {
        Some(self.boxes.at(split))
    }

    fn check(&self, site: &Site<'_>) -> Result<()> {
        match site.cone {
            Cone::Exponential => Err(Error::refused(
                format!("the safe box on the exponential block `{}`", site.name),
                "the cone is not monotone in its second entry, and no bound is proven for it",
                "the mass box, whose vertices are few for three rows, or the scenario method",
            )),
            Cone::PsdTriangle(_) if site.rows.iter().any(|row| !row.fixed) => Err(free_rows(
                site.cone,
                site.name,
                vertices::noises_at_vertices(site),
            )),
            _ => Ok(()),
        }
    }

    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        match task.cone {
            Cone::Zero(_) | Cone::Nonnegative(_) | Cone::Exponential => {
                Boxes(vec![self.set(task); lift.noises()]).enforce(lift, task)
            }
            Cone::SecondOrder(_) => {
                self.by_coordinates(lift, task, 1);
                Ok(())
            }
            Cone::Power(_) => {
                self.by_coordinates(lift, task, 2);
                Ok(())
            }
            Cone::GeneralizedPower(alpha, _) => {
                self.by_coordinates(lift, task, alpha.len());
                Ok(())
            }
            Cone::PsdTriangle(order) => self.semidefinite(lift, task, *order),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_value_lies_above_the_matrix_and_its_negative() -> Result<()> {
        // [0 1; 1 0] has |V| = I; [1 2; 2 1] has eigenvalues 3 and −1, |V| = [2 1; 1 2].
        let root = std::f64::consts::SQRT_2;
        let close = |found: Vec<f64>, right: [f64; 3]| {
            found.iter().zip(right).all(|(f, r)| (f - r).abs() < 1e-14)
        };
        assert!(close(absolute(2, &[0.0, root, 0.0])?, [1.0, 0.0, 1.0]));
        assert!(close(
            absolute(2, &[1.0, 2.0 * root, 1.0])?,
            [2.0, root, 2.0]
        ));
        Ok(())
    }
}
