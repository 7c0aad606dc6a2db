//! Multipliers of equalities, moved so that little of the dual residual stays on variables that may be far from their
//! optimum: what is left of a residual counts by how far its variable can be off, and an angle or a flow behind many
//! rows can be far off.

use crate::program::{Cone, Program};

/// Steps of the conjugate gradient method, at most.
const STEPS: usize = 500;

/// z with another part on the equalities, where multipliers have any sign: Δ minimises ‖W(r + A_E'Δ)‖ for the dual
/// residual r and weights W, how far each variable can be from its optimum. Any z is a valid proof; this one proves more.
pub(super) fn polished(program: &Program, z: &[f64], r: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut is_equality = vec![false; program.rows()];
    for block in program.constraints() {
        if matches!(block.cone(), Cone::Zero(_)) {
            block.range().for_each(|i| is_equality[i] = true);
        }
    }
    let masked = |mut y: Vec<f64>| -> Vec<f64> {
        let rows = y.iter_mut().zip(&is_equality);
        rows.filter(|(_, own)| !**own).for_each(|(y, _)| *y = 0.0);
        y
    };
    let weighted =
        |v: &[f64]| -> Vec<f64> { v.iter().zip(weights).map(|(v, w)| v * w * w).collect() };
    let forward = |y: &[f64]| {
        masked(
            program
                .a()
                .times(&weighted(&program.a().transpose_times(y))),
        )
    };
    let mut diagonal = vec![0.0; program.rows()];
    for (i, j, v) in program.a().entries().filter(|e| is_equality[e.0]) {
        diagonal[i] += (v * weights[j]).powi(2);
    }
    let scaled = |v: &[f64]| -> Vec<f64> {
        let each = v.iter().zip(&diagonal);
        each.map(|(v, d)| if *d > 0.0 { v / d } else { 0.0 })
            .collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut left = masked(program.a().times(&weighted(r)));
    left.iter_mut().for_each(|v| *v = -*v);
    let mut change = vec![0.0; program.rows()];
    let mut direction = scaled(&left);
    let mut size = dot(&left, &direction);
    let target = 1e-24 * size;
    for _ in 0..STEPS {
        if !(size > target) {
            break;
        }
        let image = forward(&direction);
        let curvature = dot(&direction, &image);
        if !(curvature > 0.0) {
            break;
        }
        let step = size / curvature;
        for i in 0..change.len() {
            change[i] += step * direction[i];
            left[i] -= step * image[i];
        }
        let towards = scaled(&left);
        let next = dot(&left, &towards);
        for i in 0..change.len() {
            direction[i] = towards[i] + next / size * direction[i];
        }
        size = next;
    }
    z.iter().zip(&change).map(|(z, c)| z + c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Builder;

    #[test]
    fn a_residual_on_a_far_variable_goes_into_the_equalities() {
        // A chain: flow f = 10(a − b), generation meets demand at both ends.
        let mut m = Builder::new();
        let p = m.variable("p", 2);
        let angle = m.variable("angle", 2);
        m.minimize(1.0 * p.at(0) + 2.0 * p.at(1));
        let flow = || 10.0 * angle.at(0) - 10.0 * angle.at(1);
        m.equal("first", p.at(0) - flow(), 1.0);
        m.equal("second", p.at(1) + flow(), 2.0);
        for j in 0..2 {
            m.between(&format!("p{j}"), 0.0, p.at(j), 5.0);
            m.between(&format!("angle{j}"), -1e6, angle.at(j), 1e6);
        }
        let program = m.build().unwrap();
        let mut z = vec![0.0; program.rows()];
        // Nearly the prices (1, 1); what misses stays on the angles.
        z[0] = -1.0;
        z[1] = -1.0 + 1e-6;
        let r = |z: &[f64]| -> Vec<f64> {
            let pulled = program.a().transpose_times(z);
            pulled.iter().zip(program.q()).map(|(a, q)| a + q).collect()
        };
        let weights = [5.0, 5.0, 1e6, 1e6];
        let before = r(&z);
        assert!(before[2].abs() * weights[2] > 1.0, "{before:?}");
        let better = polished(&program, &z, &before, &weights);
        let after = r(&better);
        assert!(after[2].abs() * weights[2] < 1e-6, "{after:?}");
        assert!((after[0] - before[0]).abs() < 1e-5);
        // Inequalities keep their multipliers.
        assert_eq!(better[2..], z[2..]);
    }
}
