//! A solve in the coordinates of a frame, x = o + Ud, with every row in units of its own largest entry.
//!
//! min ½w·d'UPUd + w·(q + Po)'Ud s.t. R(b − Ao) − RAUd ∈ K: the same program, since R scales each cone as a whole and
//! the objective by w > 0. All factors are powers of two. What our check measures is relative to the numbers here.

use super::{Outcome, Residuals, Settings, Solution, solve as solve_plain};
use crate::program::{Frame, Program, Sparse, power_of_two};

pub(super) fn solve(program: &Program, frame: &Frame, settings: &Settings) -> Outcome {
    let Posed {
        program: near,
        rows,
        weight,
    } = Posed::new(program, frame);
    let multipliers = |z: Vec<f64>, weight: f64| -> Vec<f64> {
        let scaled = z.iter().zip(&rows);
        scaled.map(|(z, r)| z * r / weight).collect()
    };
    let back = |solution: Solution| {
        let x = frame.place(&solution.x);
        Solution {
            objective: program.objective(&x),
            x,
            z: multipliers(solution.z, weight),
            ..solution
        }
    };
    match solve_plain(&near, settings) {
        Outcome::Optimal(solution) => {
            let mut solution = back(solution);
            // Passed above, relative to the surroundings; a report speaks of the program itself.
            solution.residuals = Residuals::of(program, &solution.x, &solution.z);
            Outcome::Optimal(solution)
        }
        Outcome::Inaccurate(solution) => Outcome::Inaccurate(back(solution)),
        // (R(b − Ao))'z = −1 already, and b'z is the same up to the A'z = 0 that was checked.
        Outcome::Infeasible(z) => Outcome::Infeasible(multipliers(z, 1.0)),
        Outcome::Unbounded(d) => {
            let scaled = d.iter().zip(frame.units());
            Outcome::Unbounded(scaled.map(|(d, u)| weight * u * d).collect())
        }
        other => other,
    }
}

/// A frame around 0 in which the largest limit is of order one; none where there is no limit to measure.
pub(super) fn of_order_one(program: &Program) -> Option<Frame> {
    let n = program.columns();
    Frame::new(vec![0.0; n], vec![size_of_limits(program); n]).ok()
}

/// The largest |b_i| in units of its row's largest entry.
pub(crate) fn size_of_limits(program: &Program) -> f64 {
    let mut rows = vec![0.0f64; program.rows()];
    for (i, _, v) in program.a().entries() {
        rows[i] = rows[i].max(v.abs());
    }
    let limits = rows.iter().zip(program.b()).filter(|(a, _)| **a > 0.0);
    limits.fold(0.0f64, |m, (a, b)| m.max(b.abs() / a))
}

struct Posed {
    program: Program,
    /// R.
    rows: Vec<f64>,
    /// w.
    weight: f64,
}

impl Posed {
    fn new(program: &Program, frame: &Frame) -> Self {
        let units = frame.units();
        let mut largest = vec![0.0f64; program.rows()];
        for (i, j, v) in program.a().entries() {
            largest[i] = largest[i].max(v.abs() * units[j]);
        }
        let scale = |size: f64| match size > 0.0 {
            true => 1.0 / power_of_two(size),
            false => 1.0,
        };
        let mut rows = vec![1.0; program.rows()];
        for block in program.constraints() {
            let size = block.range().fold(0.0f64, |m, i| m.max(largest[i]));
            for i in block.range() {
                let own = if block.cone().is_linear() {
                    largest[i]
                } else {
                    size
                };
                rows[i] = scale(own);
            }
        }
        let slope = program.p().symmetric_times(frame.origin());
        let slope = slope.iter().zip(program.q()).zip(units);
        let slope: Vec<f64> = slope.map(|((p, q), u)| (p + q) * u).collect();
        let bends = (program.p().entries()).map(|(i, j, v)| v * units[i] * units[j]);
        let slopes = slope.iter().copied().chain(bends);
        let weight = scale(slopes.fold(0.0f64, |m, v| m.max(v.abs())));
        let scaled = |m: &Sparse, factor: &dyn Fn(usize, usize) -> f64| {
            let entries = m.entries().map(|(i, j, v)| (i, j, v * factor(i, j)));
            Sparse::assemble(m.rows(), m.columns(), &entries.collect::<Vec<_>>())
        };
        let slack = program.slack(frame.origin());
        let cones = program.constraints().iter().map(|c| c.cone().clone());
        let near = Program::assembled(
            scaled(program.p(), &|i, j| weight * units[i] * units[j]),
            slope.iter().map(|v| weight * v).collect(),
            scaled(program.a(), &|i, j| rows[i] * units[j]),
            slack.iter().zip(&rows).map(|(s, r)| s * r).collect(),
            0.0,
            cones.collect(),
        );
        Posed {
            program: near,
            rows,
            weight,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::program::Builder;

    /// The point of a square of this size around (at, at) that is nearest to its upper right corner, moved outwards.
    fn square(at: f64, size: f64) -> Result<Program> {
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        for j in 0..2 {
            m.between(&format!("x{j}"), at - size, x.at(j), at + size);
        }
        let slant = x.at(0) + 2.0 * x.at(1);
        m.at_most("slant", slant, 3.0 * at + size);
        m.minimize(x.dot(&[-1.0, -1.0]));
        m.build()?.in_frame(Frame::new(vec![at; 2], vec![size; 2])?)
    }

    #[test]
    fn a_frame_moves_the_solution_and_nothing_else() -> Result<()> {
        let settings = Settings::default();
        for (at, size) in [
            (0.0, 1.0),
            (1e6, 1.0),
            (-1e6, 1e-3),
            (0.0, 1e-6),
            (10.0, 1e7),
        ] {
            let program = square(at, size)?;
            let found = crate::solve::solve_checked(&program, &settings)?;
            // x₀ at its bound, x₁ where the slanted row leaves it: (1, 0) in units of the size.
            for (x, right) in found.x.iter().zip([1.0, 0.0]) {
                let off = ((x - at) / size - right).abs();
                assert!(
                    off < 1e-6 + 1e-15 * at.abs() / size,
                    "{at} {size}: {:?}",
                    found.x
                );
            }
            // Stationarity, in the program's own units: the multipliers came back right.
            assert!(found.residuals.dual < 1e-6, "{:?}", found.residuals);
            assert!(
                found.residuals.primal < 1e-6 * size + 1e-9,
                "{:?}",
                found.residuals
            );
        }
        Ok(())
    }

    #[test]
    fn certificates_come_back_in_the_programs_own_units() -> Result<()> {
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        m.minimize(x.at(0));
        m.at_most("below", x.at(0), 1e6);
        m.at_most("above", 1e6 + 1.0, x.at(0));
        let frame = Frame::new(vec![1e6], vec![0.25])?;
        let program = m.build()?.in_frame(frame.clone())?;
        let Outcome::Infeasible(z) = crate::solve::solve(&program, &Settings::default()) else {
            panic!("not infeasible");
        };
        assert!(
            (z[0] - z[1]).abs() < 1e-6 && (z[0] - 1.0).abs() < 1e-3,
            "{z:?}"
        );
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        m.minimize(3.0 * x.at(0));
        m.at_most("below", x.at(0), 1e6);
        let program = m.build()?.in_frame(frame)?;
        let Outcome::Unbounded(d) = crate::solve::solve(&program, &Settings::default()) else {
            panic!("not unbounded");
        };
        assert!((3.0 * d[0] + 1.0).abs() < 1e-6, "{d:?}");
        Ok(())
    }
}
