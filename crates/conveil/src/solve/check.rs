//! Our own test of a solver's answer: residuals and gap for points, residuals for certificates.

use crate::program::{Against, Program};
use serde::Serialize;
use std::fmt;

/// How far a primal-dual pair is from optimal. All numbers absolute; the scales make them relative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Residuals {
    /// Violation of b − Ax ∈ K along the cones' interior directions.
    pub primal: f64,
    /// ‖Px + q + A'z‖∞ and the violation of z ∈ K*.
    pub dual: f64,
    /// |x'Px + q'x + b'z|, the difference of the two objectives.
    pub gap: f64,
    /// 1 + ‖b‖∞.
    pub primal_scale: f64,
    /// 1 + ‖q‖∞.
    pub dual_scale: f64,
    /// 1 + |objective|.
    pub gap_scale: f64,
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
        let gap = (quadratic + linear + dot(program.b(), z)).abs();
        let bad = |v: f64| if v.is_finite() { v } else { f64::INFINITY };
        Residuals {
            primal: bad(primal),
            dual: bad(dual),
            gap: bad(gap),
            primal_scale: 1.0 + largest(program.b().iter().copied()),
            dual_scale: 1.0 + largest(program.q().iter().copied()),
            gap_scale: 1.0 + (0.5 * quadratic + linear).abs(),
        }
    }

    /// The largest relative residual: the answer passes when this is at most the tolerance.
    pub fn worst(&self) -> f64 {
        (self.primal / self.primal_scale)
            .max(self.dual / self.dual_scale)
            .max(self.gap / self.gap_scale)
    }
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

/// A certificate's residual may be this large, per unit of its own size: it then excludes every point up to 10⁶.
const CERTIFICATE: f64 = 1e-6;

/// Scales z to b'z = −1 and accepts it when z ∈ K* and A'z = 0 up to rounding.
pub(super) fn infeasibility(program: &Program, z: &[f64]) -> Option<Vec<f64>> {
    let bz: f64 = program.b().iter().zip(z).map(|(b, z)| b * z).sum();
    if !(bz < 0.0) {
        return None;
    }
    let z: Vec<f64> = z.iter().map(|v| v / -bz).collect();
    let size = 1.0 + largest(z.iter().copied());
    let residual = largest(program.a().transpose_times(&z).into_iter());
    let outside = program
        .constraints()
        .iter()
        .map(|c| c.cone().violation(&z[c.range()], Against::Dual))
        .fold(0.0, f64::max);
    (residual.max(outside) <= CERTIFICATE * size).then_some(z)
}

/// Scales d to q'd = −1 and accepts it when Pd = 0 and −Ad ∈ K up to rounding.
pub(super) fn unboundedness(program: &Program, d: &[f64]) -> Option<Vec<f64>> {
    let qd: f64 = program.q().iter().zip(d).map(|(q, d)| q * d).sum();
    if !(qd < 0.0) {
        return None;
    }
    let d: Vec<f64> = d.iter().map(|v| v / -qd).collect();
    let size = 1.0 + largest(d.iter().copied());
    let curved = largest(program.p().symmetric_times(&d).into_iter());
    let moved: Vec<f64> = program.a().times(&d).iter().map(|v| -v).collect();
    let (outside, _) = program.worst_violation(&moved);
    (curved.max(outside) <= CERTIFICATE * size).then_some(d)
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

/// The named constraints that exclude each other, with their shares of the certificate.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Infeasibility {
    /// (name, share), largest first, shares adding up to 1.
    pub rows: Vec<(String, f64)>,
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
        let mut weight: Vec<(String, f64)> = Vec::new();
        let mut place = std::collections::HashMap::new();
        for i in 0..program.rows() {
            let w = z[i].abs() * row_size[i].max(f64::MIN_POSITIVE);
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
        weight.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
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
