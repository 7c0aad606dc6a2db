//! Is P positive semidefinite? Answered per connected part of its pattern: most are single entries.

use super::Sparse;
use faer::Side;
use faer::sparse::{SparseColMat, Triplet};

/// A part up to this order is decided by its eigenvalues, a larger one by a sparse Cholesky factorisation.
const DENSE_LIMIT: usize = 300;

/// Relative to the largest entry of the part: a Gram matrix computed in floating point may be this far from semidefinite.
const TOLERANCE: f64 = 1e-9;

/// The columns of a part of P (upper triangle) that is not positive semidefinite, if there is one.
pub(super) fn indefinite_part(p: &Sparse) -> Option<Vec<usize>> {
    parts(p)
        .into_iter()
        .find(|part| !part_is_semidefinite(p, part))
}

/// λ_min(M) ≥ 0 up to rounding, for a dense symmetric matrix given by columns.
pub(crate) fn smallest_eigenvalue_is_nonnegative(
    n: usize,
    at: impl Fn(usize, usize) -> f64,
) -> bool {
    let matrix = faer::Mat::<f64>::from_fn(n, n, at);
    let largest = matrix.norm_max();
    matrix
        .self_adjoint_eigenvalues(Side::Lower)
        .is_ok_and(|values| values.iter().all(|v| *v >= -TOLERANCE * largest))
}

/// Connected parts of the pattern (columns that no entry couples stand alone).
fn parts(p: &Sparse) -> Vec<Vec<usize>> {
    let n = p.columns();
    let mut parent: Vec<usize> = (0..n).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let mut present = vec![false; n];
    for (i, j, _) in p.entries() {
        present[i] = true;
        present[j] = true;
        let (a, b) = (root(&mut parent, i), root(&mut parent, j));
        parent[a.max(b)] = a.min(b);
    }
    let mut members: std::collections::BTreeMap<usize, Vec<usize>> = Default::default();
    for j in 0..n {
        if present[j] {
            members.entry(root(&mut parent, j)).or_default().push(j);
        }
    }
    members.into_values().collect()
}

fn part_is_semidefinite(p: &Sparse, part: &[usize]) -> bool {
    let largest = part
        .iter()
        .flat_map(|&j| p.column(j))
        .fold(0.0f64, |m, (_, v)| m.max(v.abs()));
    if largest == 0.0 {
        return true;
    }
    let place = |j: usize| part.binary_search(&j).unwrap_or(usize::MAX);
    if part.len() <= DENSE_LIMIT {
        return smallest_eigenvalue_is_nonnegative(part.len(), |i, j| {
            let (a, b) = (part[i].min(part[j]), part[i].max(part[j]));
            p.get(a, b)
        });
    }
    let mut triplets: Vec<Triplet<usize, usize, f64>> = Vec::new();
    for (column, &j) in part.iter().enumerate() {
        triplets.push(Triplet::new(column, column, TOLERANCE * largest));
        for (i, v) in p.column(j) {
            triplets.push(Triplet::new(place(i), column, v));
        }
    }
    SparseColMat::<usize, f64>::try_new_from_triplets(part.len(), part.len(), &triplets)
        .is_ok_and(|matrix| matrix.sp_cholesky(Side::Upper).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrow(n: usize, corner: f64) -> Sparse {
        // diag(1) with a last column of 1s: semidefinite iff corner ≥ n − 1 (Schur complement).
        let mut t: Vec<(usize, usize, f64)> = (0..n - 1).map(|j| (j, j, 1.0)).collect();
        t.extend((0..n - 1).map(|i| (i, n - 1, 1.0)));
        t.push((n - 1, n - 1, corner));
        Sparse::from_triplets(n, n, &t).unwrap()
    }

    #[test]
    fn both_roads_decide_by_the_schur_complement() {
        for n in [3usize, 50, 400] {
            let edge = (n - 1) as f64;
            assert!(indefinite_part(&arrow(n, edge + 1e-3)).is_none());
            assert!(
                indefinite_part(&arrow(n, edge - 1e-3)).is_some(),
                "order {n}"
            );
        }
        assert!(indefinite_part(&Sparse::zeros(4, 4)).is_none());
    }
}
