//! A public floor P₀ ⪯ P(θ) of a quadratic cost that may be private (M15c): whatever the data are, the cost has at least its
//! curvature.

use crate::error::{Error, Result};
use crate::program::{AffineMap, DataMap, Parameter, Place, Sparse};
use faer::Side;

/// Eigenvalues are known to this share of the largest entry.
const ROUNDING: f64 = 1e-12;

/// P₀, from the public bounds of the data.
///
/// # Guarantee
/// P(θ) ⪰ P₀ for every θ within the public bounds. Each number θ_k adds θ_k·C_k to P, C_k public. Where C_k ⪰ 0 up to rounding (a
/// square v v' among them), θ_k·C_k is at least low_k·C_k; where −C_k ⪰ 0, at least high_k·C_k; else it lies within half a
/// width of the middle, and (θ_k − middle_k)·C_k plus half a width of the row sums of |C_k| on the diagonal is diagonally
/// dominant, so semidefinite. What rounding may take from an eigenvalue is taken off the diagonal too. Test:
/// `the_floor_lies_below_every_quadratic_cost`.
pub(crate) fn floor(affine: &AffineMap) -> Result<Sparse> {
    let base = affine.template().p();
    let n = base.columns();
    let mut entries: Vec<(usize, usize, f64)> = base.entries().collect();
    for parameter in affine.parameters() {
        let own = curved_entries(&parameter);
        if own.is_empty() {
            continue;
        }
        let Some((low, high)) = parameter.bounds() else {
            return Err(Error::refused(
                "a certificate for a private quadratic cost",
                format!(
                    "`{}` stands in P and has no public bounds, so that nothing bounds the curvature from below",
                    parameter.name()
                ),
                "public bounds on every number in P",
            ));
        };
        let matrix = Small::of(&own);
        let (at, taken) = match matrix.extremes() {
            Some((least, _)) if least >= -matrix.rounding() => (
                low,
                vec![matrix.rounding() * (high - low); matrix.columns.len()],
            ),
            Some((_, most)) if most <= matrix.rounding() => (
                high,
                vec![matrix.rounding() * (high - low); matrix.columns.len()],
            ),
            _ => {
                let half = 0.5 * (high - low);
                let sums = matrix.row_sums().into_iter();
                (0.5 * (low + high), sums.map(|sum| half * sum).collect())
            }
        };
        entries.extend(own.iter().map(|&(i, j, c)| (i, j, at * c)));
        let columns = matrix.columns.iter().zip(taken);
        entries.extend(columns.map(|(&j, taken)| (j, j, -taken)));
    }
    Ok(Sparse::assemble(n, n, &entries))
}

/// Where a parameter enters P.
fn curved_entries(parameter: &Parameter) -> Vec<(usize, usize, f64)> {
    let places = parameter.locations().iter();
    places
        .filter_map(|location| match location.place {
            Place::P(i, j) => Some((i, j, location.coef)),
            _ => None,
        })
        .collect()
}

/// C_k on the columns that it names.
struct Small {
    columns: Vec<usize>,
    matrix: faer::Mat<f64>,
}

impl Small {
    fn of(entries: &[(usize, usize, f64)]) -> Self {
        let mut columns: Vec<usize> = entries.iter().flat_map(|e| [e.0, e.1]).collect();
        columns.sort_unstable();
        columns.dedup();
        let place = |j: usize| columns.binary_search(&j).unwrap_or(0);
        let mut matrix = faer::Mat::<f64>::zeros(columns.len(), columns.len());
        for &(i, j, c) in entries {
            let (a, b) = (place(i), place(j));
            matrix[(a, b)] += c;
            if a != b {
                matrix[(b, a)] += c;
            }
        }
        Small { columns, matrix }
    }

    /// The smallest and the largest eigenvalue.
    fn extremes(&self) -> Option<(f64, f64)> {
        let values = self.matrix.self_adjoint_eigenvalues(Side::Lower).ok()?;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (least.is_finite() && most.is_finite()).then_some((least, most))
    }

    fn rounding(&self) -> f64 {
        match self.columns.len() {
            1 => 0.0,
            n => ROUNDING * n as f64 * self.matrix.norm_max(),
        }
    }

    fn row_sums(&self) -> Vec<f64> {
        let n = self.columns.len();
        let sum = |i: usize| (0..n).map(|j| self.matrix[(i, j)].abs()).sum();
        (0..n).map(sum).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Sampler;
    use crate::program::{Location, Program, Stage, smallest_eigenvalue_is_nonnegative};

    /// Random squares, entries on and off the diagonal, of either sign; the ends of the bounds among the data.
    #[test]
    fn the_floor_lies_below_every_quadratic_cost() {
        let n = 4;
        for case in 0..60 {
            let mut sampler = Sampler::new(7, case);
            let mut pattern: Vec<(usize, usize, f64)> = Vec::new();
            for i in 0..n {
                pattern.extend((i..n).map(|j| (i, j, if i == j { 50.0 } else { 0.0 })));
            }
            let p = Sparse::assemble(n, n, &pattern);
            let mut parameters = Vec::new();
            for k in 0..5 {
                let low = 2.0 * sampler.unit_normal();
                let high = low + sampler.uniform();
                let v: Vec<f64> = (0..n).map(|_| sampler.unit_normal()).collect();
                let sign = if k == 1 { -1.0 } else { 1.0 };
                let places = match k {
                    0 | 1 => (0..n)
                        .flat_map(|i| (i..n).map(move |j| (i, j)))
                        .map(|(i, j)| Location::new(Place::P(i, j), sign * v[i] * v[j]))
                        .collect(),
                    2 => vec![Location::new(Place::P(0, 2), v[0])],
                    3 => vec![Location::new(Place::P(3, 3), v[1])],
                    _ => vec![
                        Location::new(Place::P(0, 0), v[0]),
                        Location::new(Place::P(0, 1), v[1]),
                    ],
                };
                let parameter = Parameter::new(format!("p{k}"));
                parameters.push(parameter.at_all(places).clipped(low, high));
            }
            let variables = vec![crate::program::NewVariables {
                name: "x".into(),
                len: n,
                stage: Stage::Decision,
                entries: Vec::new(),
            }];
            let program = Program::new(
                p,
                vec![1.0; n],
                Sparse::zeros(0, n),
                Vec::new(),
                variables,
                Vec::new(),
            );
            let map = AffineMap::new(program.unwrap(), parameters).unwrap();
            let below = floor(&map).unwrap();
            for draw in 0..40 {
                let theta: Vec<f64> = (map.parameters().iter())
                    .map(|q| {
                        let (low, high) = q.bounds().unwrap();
                        match draw % 3 {
                            0 => low + sampler.uniform() * (high - low),
                            _ if sampler.uniform() < 0.5 => low,
                            _ => high,
                        }
                    })
                    .collect();
                let Ok(at) = map.unclipped(&theta) else {
                    continue;
                };
                let get = |p: &Sparse, i: usize, j: usize| p.get(i.min(j), i.max(j));
                assert!(smallest_eigenvalue_is_nonnegative(n, |i, j| {
                    get(at.p(), i, j) - get(&below, i, j)
                }));
            }
        }
    }
}
