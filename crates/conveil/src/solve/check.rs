//! Our own test of a solver's answer: residuals and gap for points, residuals for certificates.

use crate::error::{Infeasibility, Residuals};
use crate::program::{Against, Program};
use std::fmt;

/// What residuals are made of.
pub(crate) struct Measured {
    pub(crate) primal: f64,
    pub(crate) dual: f64,
    pub(crate) gap: f64,
    /// ‖Px‖∞.
    pub(crate) px: f64,
    pub(crate) objective: f64,
    /// ‖x‖∞.
    pub(crate) x: f64,
    pub(crate) sizes: Sizes,
}

/// How large the numbers of a program are.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    /// ‖b‖∞, ‖q‖∞ and the largest entry of P.
    pub(crate) b: f64,
    pub(crate) q: f64,
    pub(crate) p: f64,
    /// The size that the constraints suggest.
    pub(crate) size: f64,
}

impl Sizes {
    pub(crate) fn of(program: &Program) -> Self {
        Sizes {
            b: largest(program.b().iter().copied()),
            q: largest(program.q().iter().copied()),
            p: largest(program.p().nzval().iter().copied()),
            size: suggested_size(program),
        }
    }
}

impl Measured {
    /// With the scales that make them relative.
    pub(crate) fn scaled(&self) -> Residuals {
        let bad = |v: f64| if v.is_finite() { v } else { f64::INFINITY };
        let Sizes { b, q, p, size } = self.sizes;
        let slope = q.max(size * p);
        Residuals {
            primal: bad(self.primal),
            dual: bad(self.dual),
            gap: bad(self.gap.abs()),
            primal_scale: unit_of(b) + b,
            dual_scale: unit_of(slope) + q + self.px,
            gap_scale: unit_of(slope * size) + self.objective.abs(),
            reach: self.x / size,
        }
    }
}

impl Residuals {
    /// Measures a pair.
    pub fn of(program: &Program, x: &[f64], z: &[f64]) -> Self {
        let slack = program.slack(x);
        let (primal, _) = program.worst_violation(&slack);
        let px = program.p().symmetric_times(x);
        let atz = program.a().transpose_times(z);
        let mut dual = largest((0..x.len()).map(|j| px[j] + program.q()[j] + atz[j]));
        for block in program.constraints() {
            dual = dual.max(block.cone().violation(&z[block.range()], Against::Dual));
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let quadratic = dot(&px, x);
        let linear = dot(program.q(), x);
        Measured {
            primal,
            dual,
            gap: quadratic + linear + dot(program.b(), z),
            px: largest(px.iter().copied()),
            objective: 0.5 * quadratic + linear,
            x: largest(x.iter().copied()),
            sizes: Sizes::of(program),
        }
        .scaled()
    }

    /// The largest relative residual.
    pub fn worst(&self) -> f64 {
        (self.primal / self.primal_scale)
            .max(self.dual / self.dual_scale)
            .max(self.gap / self.gap_scale)
    }

    /// Whether the point is so far out that its small residual proves nothing: a weakly infeasible program has points
    /// of every residual, at a distance that grows as fast.
    pub(crate) fn runs_away(&self) -> bool {
        self.primal / self.primal_scale * self.reach > RUNAWAY
    }

    /// The answer is accepted: every relative residual within the tolerance, at a point that does not run away.
    pub fn pass(&self, tolerance: f64) -> bool {
        self.worst() <= tolerance && !self.runs_away()
    }
}

/// Residual times reach: along a direction in which a program is feasible only in the limit it stays constant.
const RUNAWAY: f64 = 1e-2;

/// The absolute part of a scale: 1, but at most a thousand times what is measured. Costs of 10⁻⁷ (in billions, say)
/// would otherwise be met by any point.
fn unit_of(size: f64) -> f64 {
    if size == 0.0 {
        1.0
    } else {
        (1e3 * size).min(1.0)
    }
}

/// max (1 + |bᵢ|)/‖aᵢ‖∞.
fn suggested_size(program: &Program) -> f64 {
    let mut row = vec![0.0f64; program.rows()];
    for (i, _, v) in program.a().entries() {
        row[i] = row[i].max(v.abs());
    }
    let sizes = row.iter().zip(program.b()).filter(|(a, _)| **a > 0.0);
    sizes.fold(1.0, |m, (a, b)| f64::max(m, (1.0 + b.abs()) / a))
}

impl fmt::Display for Residuals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "primal residual {:.1e}, dual residual {:.1e}, gap {:.1e} (relative)",
            self.primal / self.primal_scale,
            self.dual / self.dual_scale,
            self.gap / self.gap_scale
        )
    }
}

/// A certificate must exclude every point up to a million times the size that the constraints suggest. In absolute
/// terms that would depend on units: at ‖b‖ = 10⁷ a certificate of size 10⁻⁷ is nothing but its own rounding.
const CERTIFICATE: f64 = 1e-6;

/// Scales z to b'z = −1 and accepts it when z ∈ K* and A'z = 0 up to rounding: for a feasible x,
/// 0 ≤ (b − Ax)'z = −1 − x'A'z, so ‖x‖ is at least 1/‖A'z‖.
pub(super) fn infeasibility(program: &Program, z: &[f64]) -> Option<Vec<f64>> {
    let bz: f64 = program.b().iter().zip(z).map(|(b, z)| b * z).sum();
    if !(bz < 0.0) {
        return None;
    }
    let z: Vec<f64> = z.iter().map(|v| v / -bz).collect();
    let unit = suggested_size(program);
    let size = 1.0 + unit * largest(z.iter().copied());
    let residual = largest(program.a().transpose_times(&z).into_iter());
    let outside = program
        .constraints()
        .iter()
        .map(|c| c.cone().violation(&z[c.range()], Against::Dual))
        .fold(0.0, f64::max);
    (unit * residual.max(outside) <= CERTIFICATE * size).then_some(z)
}

/// Scales d to q'd = −1 and accepts it when −Ad ∈ K up to rounding and the objective still falls a million sizes out:
/// t·d'Pd ≤ 1 at t‖d‖ = 10⁶ sizes, and d'Pd is rounding beside ‖P‖·‖d‖².
pub(super) fn unboundedness(program: &Program, d: &[f64]) -> Option<Vec<f64>> {
    let qd: f64 = program.q().iter().zip(d).map(|(q, d)| q * d).sum();
    if !(qd < 0.0) {
        return None;
    }
    let d: Vec<f64> = d.iter().map(|v| v / -qd).collect();
    let size = largest(d.iter().copied());
    let pd = program.p().symmetric_times(&d);
    let curved: f64 = pd.iter().zip(&d).map(|(p, d)| p * d).sum();
    let moved: Vec<f64> = program.a().times(&d).iter().map(|v| -v).collect();
    let (outside, _) = program.worst_violation(&moved);
    let straight = curved * suggested_size(program) <= CERTIFICATE * size;
    // Large costs put the optimum far out, but do not make it go away: d'Pd must be nothing beside P itself, too.
    let curvature = largest(program.p().entries().map(|(_, _, v)| v));
    let flat = curved <= CERTIFICATE * curvature * size * size;
    (straight && flat && outside <= CERTIFICATE * size).then_some(d)
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |m, v| {
        if v.is_nan() {
            f64::INFINITY
        } else {
            m.max(v.abs())
        }
    })
}

impl Infeasibility {
    /// Reads a certificate through a naming of the program's rows; rows without a name are left out.
    pub(crate) fn named(
        program: &Program,
        z: &[f64],
        name: impl Fn(usize) -> Option<String>,
    ) -> Self {
        // |zᵢ|·‖aᵢ‖∞ does not change when a row is rescaled.
        let mut row_size = vec![0.0f64; program.rows()];
        for (i, _, v) in program.a().entries() {
            row_size[i] = row_size[i].max(v.abs());
        }
        let sharp = super::sharpen::sharpen(program, &row_size);
        let z = sharp.as_deref().unwrap_or(z);
        let mut weight: Vec<(String, f64)> = Vec::new();
        let mut place = std::collections::HashMap::new();
        for i in 0..program.rows() {
            // A row without variables is measured by its own constant.
            let size = if row_size[i] > 0.0 {
                row_size[i]
            } else {
                program.b()[i].abs()
            };
            let w = z[i].abs() * size;
            if w == 0.0 {
                continue;
            }
            if let Some(name) = name(i) {
                let at = *place.entry(name.clone()).or_insert_with(|| {
                    weight.push((name, 0.0));
                    weight.len() - 1
                });
                weight[at].1 += w;
            }
        }
        let total: f64 = weight.iter().map(|w| w.1).sum();
        if total > 0.0 {
            weight.iter_mut().for_each(|w| w.1 /= total);
        }
        weight.retain(|w| w.1 > 1e-3);
        // As they are shown: what rounding makes of equal shares is no order.
        let percent = |w: &(String, f64)| (100.0 * w.1).round();
        weight.sort_by(|a, b| (percent(b).total_cmp(&percent(a))).then_with(|| a.0.cmp(&b.0)));
        Infeasibility { rows: weight }
    }
}

impl fmt::Display for Infeasibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return write!(f, "no single constraint stands out");
        }
        write!(f, "these constraints exclude each other:")?;
        for (index, (name, share)) in self.rows.iter().take(6).enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma} `{name}` ({:.0}%)", 100.0 * share)?;
        }
        if self.rows.len() > 6 {
            write!(f, " and {} more", self.rows.len() - 6)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Builder;

    #[test]
    fn a_large_cost_does_not_make_a_curved_objective_unbounded() {
        // min ½·5x² − cost·x: the optimum is at cost/5, however large the cost.
        for cost in [1.0, 1e6, 1e12, 1e18] {
            let mut m = Builder::new();
            let x = m.variable("x", 1);
            m.minimize(-cost * x.at(0));
            m.quadratic(0, 0, 5.0);
            m.at_most("sign", 0.0, x.at(0));
            let program = m.build().unwrap();
            assert!(unboundedness(&program, &[1.0]).is_none(), "{cost}");
        }
    }

    #[test]
    fn a_direction_without_curvature_is_a_certificate_beside_curved_ones() {
        // The solver's direction has a little of the curved variable in it.
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        m.minimize(-1e9 * x.at(0));
        m.quadratic(1, 1, 5.0);
        m.at_most("sign", 0.0, x.at(0));
        let program = m.build().unwrap();
        assert!(unboundedness(&program, &[1.0, 1e-7]).is_some());
        assert!(unboundedness(&program, &[1.0, 1.0]).is_none());
    }
}
