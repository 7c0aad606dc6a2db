//! Points inside every cone: how far one slips outside, how to move it in, and where the room is widest.

use super::precision::Solver;
use crate::error::{Error, Result};
use crate::program::{Against, Cone, Program, Sparse};
use crate::solve::{self, Outcome, Settings, Solution};

/// The point, moved towards one that lies inside every cone just as far as it slips outside; where that is dear, the
/// optimum of the program with its cones a little smaller.
/// `stored`: such a point, if one is known. `tolerance`: what the move may cost is a tenth of it.
pub(super) fn moved_inside(
    program: &Program,
    x: &[f64],
    stored: Option<&Vec<f64>>,
    tolerance: f64,
    solver: &Solver<'_>,
) -> Result<Vec<f64>> {
    let slips = outside(program, x);
    if slips == 0.0 {
        return Ok(x.to_vec());
    }
    let stored = stored.filter(|point| depth(program, point) > 0.0).cloned();
    let moved = stored
        .or_else(|| interior(program, solver.settings))
        .map(|point| {
            let share = share_towards(program, x, &point);
            let pairs = x.iter().zip(&point);
            pairs
                .map(|(x, p)| x + share * (p - x))
                .collect::<Vec<f64>>()
        });
    let value = program.objective(x);
    let dear = (CHEAP * (1.0 + value.abs())).min(0.1 * tolerance);
    match moved {
        Some(moved) if program.objective(&moved) <= value + dear => Ok(moved),
        moved => {
            let shrunk = shrunk_optimum(program, slips, solver);
            let cost = |x: &Vec<f64>| program.objective(x);
            let points = moved.into_iter().chain(shrunk);
            points.min_by(|a, b| cost(a).total_cmp(&cost(b))).ok_or_else(|| {
                Error::Numerical(
                    "the answer lies outside the constraints by rounding, and no point inside all of them was found to move it towards (two limits that meet are better written as an equality)".into(),
                )
            })
        }
    }
}

/// Moving a point inside is cheap below this share of its value.
const CHEAP: f64 = 1e-9;

/// The optimum with b − σe in place of b, σ a few times `slips`: inside every cone of the program itself.
fn shrunk_optimum(program: &Program, slips: f64, solver: &Solver<'_>) -> Option<Vec<f64>> {
    let mut b = program.b().to_vec();
    let mut cones = Vec::new();
    for block in program.constraints() {
        let (e, _) = block.cone().interior();
        let shrunk = b[block.range()].iter_mut().zip(&e);
        shrunk.for_each(|(b, e)| *b -= 4.0 * slips * e);
        cones.push(block.cone().clone());
    }
    let shrunk = Program::assembled(
        program.p().clone(),
        program.q().to_vec(),
        program.a().clone(),
        b,
        program.constant(),
        cones,
    );
    let solution = (solver.solve)(shrunk)?;
    (outside(program, &solution.x) == 0.0).then_some(solution.x)
}

/// How far the point slips out of a cone that is not an equality.
pub(super) fn outside(program: &Program, x: &[f64]) -> f64 {
    let slack = program.slack(x);
    let blocks = program.constraints().iter();
    blocks
        .filter(|c| !matches!(c.cone(), Cone::Zero(_)))
        .map(|c| c.cone().violation(&slack[c.range()], Against::Primal))
        .fold(0.0, f64::max)
}

/// The smallest share of the way from `x` to a point inside that ends inside every cone.
fn share_towards(program: &Program, x: &[f64], point: &[f64]) -> f64 {
    let (from, to) = (program.slack(x), program.slack(point));
    let mut share = 0.0f64;
    for block in program.constraints() {
        match block.cone() {
            Cone::Zero(_) => {}
            Cone::Nonnegative(_) => {
                for i in block.range().filter(|&i| from[i] < 0.0) {
                    share = share.max(-from[i] / (to[i] - from[i]));
                }
            }
            cone => {
                let fits = |share: f64| {
                    let at = block.range().map(|i| from[i] + share * (to[i] - from[i]));
                    cone.violation(&at.collect::<Vec<f64>>(), Against::Primal) == 0.0
                };
                if fits(share) {
                    continue;
                }
                let (mut low, mut high) = (share, 1.0);
                while high - low > 1e-3 * high && high > 1e-15 {
                    let mid = if low > 0.0 {
                        (low * high).sqrt()
                    } else {
                        1e-2 * high
                    };
                    if fits(mid) {
                        high = mid;
                    } else {
                        low = mid;
                    }
                }
                share = high;
            }
        }
    }
    (share * (1.0 + 1e-9)).min(1.0)
}

/// The largest σ, up to a factor of two, with b − Ax − σe ∈ K; 0 if the point is not inside.
fn depth(program: &Program, x: &[f64]) -> f64 {
    let slack = program.slack(x);
    let mut sigma = 1.0 + slack.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let fits = |sigma: f64| {
        program.constraints().iter().all(|c| {
            if matches!(c.cone(), Cone::Zero(_)) {
                return true;
            }
            let (e, _) = c.cone().interior();
            let moved: Vec<f64> = slack[c.range()]
                .iter()
                .zip(&e)
                .map(|(s, e)| s - sigma * e)
                .collect();
            c.cone().violation(&moved, Against::Primal) == 0.0
        })
    };
    for _ in 0..60 {
        if fits(sigma) {
            return sigma;
        }
        sigma *= 0.5;
    }
    0.0
}

/// A point inside every cone.
pub(crate) fn interior(program: &Program, settings: &Settings) -> Option<Vec<f64>> {
    let mut point = deepest(program, settings)?.x;
    point.truncate(program.columns());
    (depth(program, &point) > 0.0).then_some(point)
}

/// Rows of cones that leave no room between them, where no point lies inside all cones: those with a multiplier in the
/// search for the deepest point.
pub(crate) fn limits_that_meet(program: &Program, settings: &Settings) -> Option<Vec<usize>> {
    let found = deepest(program, settings)?;
    if depth(program, &found.x[..program.columns()]) > 0.0 {
        return None;
    }
    // Σ zᵢeᵢ = 1 where σ is below its own limit.
    let cones = program.constraints().iter();
    let limits = cones.filter(|c| !matches!(c.cone(), Cone::Zero(_)));
    let rows = limits.flat_map(|c| c.range());
    Some(rows.filter(|&i| found.z[i].abs() > MEETS).collect())
}

/// Limits with a multiplier above this meet others.
const MEETS: f64 = 1e-3;

/// The largest σ, up to the size of b, with b − Ax − σe ∈ K.
fn deepest(program: &Program, settings: &Settings) -> Option<Solution> {
    let (m, n) = (program.rows(), program.columns());
    let mut triplets: Vec<(usize, usize, f64)> = program.a().entries().collect();
    let mut cones = Vec::new();
    for block in program.constraints() {
        let (e, _) = block.cone().interior();
        let rows = block.range().zip(&e).filter(|(_, e)| **e != 0.0);
        triplets.extend(rows.map(|(i, e)| (i, n, *e)));
        cones.push(block.cone().clone());
    }
    let size = 1.0 + program.b().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    triplets.push((m, n, 1.0));
    cones.push(Cone::Nonnegative(1));
    let mut b = program.b().to_vec();
    b.push(size);
    let mut q = vec![0.0; n];
    q.push(-1.0);
    let a = Sparse::assemble(m + 1, n + 1, &triplets);
    let deepest = Program::assembled(Sparse::zeros(n + 1, n + 1), q, a, b, 0.0, cones);
    match solve::solve(&deepest, settings) {
        Outcome::Optimal(solution) | Outcome::Inaccurate(solution) => Some(solution),
        _ => None,
    }
}
