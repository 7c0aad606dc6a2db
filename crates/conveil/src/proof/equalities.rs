//! After the solve (M7): x̄ is moved onto Ax̄ = b, and X onto QX = T and AX = 0, so that the decision carries the
//! released number and meets every balance to rounding, not to the solver's tolerance.

use crate::program::Sparse;
use crate::rule::Lifted;
use crate::solve::{Residuals, Settings, Solution};

/// Steps of the conjugate gradient method, at most. The residuals are tiny to begin with.
const STEPS: usize = 500;

/// Times that the rest of a move is moved again.
const ROUNDS: usize = 3;

/// The solution with its point moved onto the lifted equalities, checked again. The move is undone if it does not pass,
/// or does not bring the point nearer.
pub(crate) fn on_the_equalities(
    lifted: &Lifted,
    solution: Solution,
    settings: &Settings,
) -> Solution {
    let program = lifted.program();
    let count = lifted.equalities();
    // A variable moves the less, the more it moves the rows, those of inequalities too.
    let mut reach = vec![0.0; program.columns()];
    program
        .a()
        .entries()
        .for_each(|(_, j, v)| reach[j] += v * v);
    let entries: Vec<(usize, usize, f64)> =
        (program.a().entries()).filter(|e| e.0 < count).collect();
    let equalities = Sparse::assemble(count, program.columns(), &entries);
    let forward = |x: &[f64]| equalities.times(x);
    let back = |y: &[f64]| -> Vec<f64> {
        let image = equalities.transpose_times(y);
        let each = image.iter().zip(&reach);
        each.map(|(v, r)| if *r > 0.0 { v / r } else { 0.0 })
            .collect()
    };
    let gap = |x: &[f64]| -> Vec<f64> {
        let image = forward(x);
        program.b().iter().zip(&image).map(|(b, a)| b - a).collect()
    };
    let before = largest(&gap(&solution.x));
    if before == 0.0 {
        return solution;
    }
    let mut sizes = vec![0.0; count];
    (entries.iter()).for_each(|(i, j, v)| sizes[*i] += v * v / reach[*j]);
    let scales = row_sizes(lifted, &solution.x);
    let floor: f64 = (scales.iter().zip(&sizes))
        .filter(|(_, size)| **size > 0.0)
        .map(|(r, size)| (f64::EPSILON * r).powi(2) / size)
        .sum();
    let mut x = solution.x.clone();
    let mut left = before;
    for _ in 0..ROUNDS {
        let steps = conjugate_gradient(&|y| forward(&back(y)), &sizes, floor, gap(&x));
        let correction = back(&steps);
        let moved: Vec<f64> = x.iter().zip(&correction).map(|(x, c)| x + c).collect();
        let rest = largest(&gap(&moved));
        if !(rest < left) {
            break;
        }
        (x, left) = (moved, rest);
    }
    let mut residuals = Residuals::of(program, &x, &solution.z);
    if program.p().nnz() == 0 {
        // The multipliers are the same, and so is what was found of them.
        (residuals.dual, residuals.dual_scale) =
            (solution.residuals.dual, solution.residuals.dual_scale);
    }
    if !(left < before) || !residuals.pass(settings.tolerance()) {
        return solution;
    }
    Solution {
        objective: program.objective(&x),
        x,
        residuals,
        ..solution
    }
}

/// Equations met to this share of their terms are met.
const MET: f64 = 1e-9;

/// A row whose terms are all small is judged by this share of the largest row's.
const SMALL: f64 = 1e-3;

/// Whether the point lies on the lifted equalities, to rounding: the mean on its own, the recourse on QX = T and AX = 0.
pub(crate) fn meets_the_equalities(lifted: &Lifted, x: &[f64]) -> bool {
    let program = lifted.program();
    let image = program.a().times(x);
    let sizes = row_sizes(lifted, x);
    let of_recourse = lifted.recourse_equations();
    let class = |range: std::ops::Range<usize>| {
        let floor = SMALL * sizes[range.clone()].iter().copied().fold(0.0, f64::max);
        range.into_iter().all(|i| {
            let gap = (program.b()[i] - image[i]).abs();
            gap <= MET * sizes[i].max(floor)
        })
    };
    class(0..of_recourse) && class(of_recourse..lifted.equalities())
}

/// |b_i| + Σ|a_ij x_j| of the equalities.
fn row_sizes(lifted: &Lifted, x: &[f64]) -> Vec<f64> {
    let program = lifted.program();
    let count = lifted.equalities();
    let mut sizes: Vec<f64> = program.b()[..count].iter().map(|b| b.abs()).collect();
    for (i, j, v) in program.a().entries().filter(|e| e.0 < count) {
        sizes[i] += (v * x[j]).abs();
    }
    sizes
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, x| {
        if x.is_nan() {
            f64::INFINITY
        } else {
            m.max(x.abs())
        }
    })
}

/// y with My ≈ r for a symmetric positive semidefinite M with this diagonal, which also scales the steps; done when what
/// is left is at the floor of rounding.
fn conjugate_gradient(
    m: &dyn Fn(&[f64]) -> Vec<f64>,
    diagonal: &[f64],
    floor: f64,
    r: Vec<f64>,
) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let scaled = |r: &[f64]| -> Vec<f64> {
        let each = r.iter().zip(diagonal);
        each.map(|(r, d)| if *d > 0.0 { r / d } else { 0.0 })
            .collect()
    };
    let mut y = vec![0.0; r.len()];
    let mut residual = r;
    let mut direction = scaled(&residual);
    let mut size = dot(&residual, &direction);
    let target = (size * 1e-24).max(floor);
    for _ in 0..STEPS {
        if size <= target || size == 0.0 {
            break;
        }
        let image = m(&direction);
        let curvature = dot(&direction, &image);
        if !(curvature > 0.0) {
            break;
        }
        let step = size / curvature;
        for i in 0..y.len() {
            y[i] += step * direction[i];
            residual[i] -= step * image[i];
        }
        let towards = scaled(&residual);
        let next = dot(&residual, &towards);
        let ratio = next / size;
        size = next;
        for i in 0..y.len() {
            direction[i] = towards[i] + ratio * direction[i];
        }
    }
    y
}
