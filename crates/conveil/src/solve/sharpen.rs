//! A sparse infeasibility certificate: an interior-point one spreads over rows that have nothing to do with it.

use super::{Outcome, Settings};
use crate::program::{Cone, Program, Sparse};

/// Larger programs keep the solver's own certificate.
const ROWS: usize = 20_000;

/// The certificate z ∈ K*, A'z = 0, b'z = −1 with the smallest Σ wᵢ|zᵢ|, wᵢ = ‖aᵢ‖∞ with a generic factor against
/// ties; none where a cone is not its own dual, or the solve does not pass.
pub(super) fn sharpen(program: &Program, row_size: &[f64]) -> Option<Vec<f64>> {
    let (m, n) = (program.rows(), program.columns());
    let self_dual = |c: &Cone| {
        matches!(
            c,
            Cone::Zero(_) | Cone::Nonnegative(_) | Cone::SecondOrder(_) | Cone::PsdTriangle(_)
        )
    };
    let blocks = program.constraints();
    if m > ROWS || !blocks.iter().all(|c| self_dual(c.cone())) {
        return None;
    }
    // Columns: z, then |z| of the equalities. Rows: A'z = 0, b'z = −1, |z| ≥ ±z, z ∈ K.
    let mut triplets: Vec<(usize, usize, f64)> =
        program.a().entries().map(|(i, j, v)| (j, i, v)).collect();
    triplets.extend(program.b().iter().enumerate().map(|(i, v)| (n, i, *v)));
    let mut rhs = vec![0.0; n];
    rhs.push(-1.0);
    let mut cones = vec![Cone::Zero(n + 1)];
    let mut cost = vec![0.0; m];
    let golden = 0.618_033_988_749_894_9;
    for block in blocks {
        let weight = |i: usize| {
            let generic = 1.0 + 0.1 * (i as f64 * golden).fract();
            row_size[i].max(f64::MIN_POSITIVE) * generic
        };
        let (interior, _) = block.cone().interior();
        for (offset, i) in block.range().enumerate() {
            if matches!(block.cone(), Cone::Zero(_)) {
                let size = cost.len();
                cost.push(weight(i));
                for sign in [1.0, -1.0] {
                    triplets.push((rhs.len(), i, sign));
                    triplets.push((rhs.len(), size, -1.0));
                    rhs.push(0.0);
                }
                cones.push(Cone::Nonnegative(2));
            } else {
                // e'z bounds every entry of z ∈ K.
                cost[i] = interior[offset] * weight(i);
                triplets.push((rhs.len(), i, -1.0));
                rhs.push(0.0);
            }
        }
        if !matches!(block.cone(), Cone::Zero(_)) {
            cones.push(block.cone().clone());
        }
    }
    let columns = cost.len();
    let a = Sparse::assemble(rhs.len(), columns, &triplets);
    let p = Sparse::zeros(columns, columns);
    let sparse = Program::assembled(p, cost, a, rhs, 0.0, cones);
    match super::solve(&sparse, &Settings::default()) {
        Outcome::Optimal(solution) => super::check::infeasibility(program, &solution.x[..m]),
        _ => None,
    }
}
