//! The interior-point step of a sum of hinges: a predictor and a corrector on the margins, everything but w eliminated.
//!
//! Where classes overlap and the regulariser is weak, a little complementarity on each of many records moves w far, and
//! steps that keep all of them positive become short. Then the path is followed in w alone: at a given w and mean
//! complementarity μ the best s, ξ and α of a hinge are known in closed form, and what is left is a smooth convex
//! function of w, on which Newton's method with a line search arrives from anywhere.

use super::dense::{Factor, axpy, dot, times};
use super::hinge::HingeProblem;

/// The share of the way to the boundary that a step takes.
const FRACTION: f64 = 0.995;

/// A step that leaves more than this share of the complementarity is tried without its correction as well.
const SLOW: f64 = 0.5;

/// What such a step aims at, as a share of the complementarity.
const CENTRED: f64 = 0.1;

/// A step that still leaves more than this share is not taken: the path is followed in w alone.
const STUCK: f64 = 0.8;

/// The next complementarity on the path, once w is near its point there.
const SHRINK: f64 = 0.1;

/// A line search ends where the slope is this share of what it was, or after so many halvings.
const FLAT: (f64, u32) = (0.3, 20);

/// The iterate.
pub(super) struct Point {
    pub(super) w: Vec<f64>,
    pub(super) alpha: Vec<f64>,
    /// s.
    slack: Vec<f64>,
    /// ξ.
    surplus: Vec<f64>,
}

/// A Newton direction.
struct Direction {
    w: Vec<f64>,
    alpha: Vec<f64>,
    slack: Vec<f64>,
    surplus: Vec<f64>,
}

impl Point {
    pub(super) fn start(problem: &HingeProblem) -> Option<Self> {
        let alpha: Vec<f64> = problem.hinges.iter().map(|h| 0.5 * h.cost).collect();
        let w = vec![0.0; problem.weights];
        let size = problem
            .hinges
            .iter()
            .fold(1.0f64, |m, h| m.max(h.target.abs()));
        if !size.is_finite() {
            return None;
        }
        let slack: Vec<f64> = (problem.hinges.iter())
            .map(|h| h.target.max(0.0) + size)
            .collect();
        let surplus = (problem.hinges.iter().zip(&slack))
            .map(|(h, s)| (s - h.target).max(size))
            .collect();
        Some(Point {
            w,
            alpha,
            slack,
            surplus,
        })
    }

    /// The mean complementarity.
    fn centre(&self, problem: &HingeProblem) -> f64 {
        let sum: f64 = (0..self.alpha.len())
            .map(|k| {
                self.alpha[k] * self.surplus[k]
                    + (problem.hinges[k].cost - self.alpha[k]) * self.slack[k]
            })
            .sum();
        sum / (2.0 * self.alpha.len() as f64)
    }

    /// One predictor-corrector step; `None` where the system is singular or nothing moves.
    pub(super) fn advance(&mut self, problem: &HingeProblem) -> Option<()> {
        let newton = Newton::new(self, problem)?;
        let m = self.alpha.len();
        let beta = &newton.beta;
        let mu = self.centre(problem);
        let first: Vec<f64> = (0..m).map(|k| -self.alpha[k] * self.surplus[k]).collect();
        let second: Vec<f64> = (0..m).map(|k| -beta[k] * self.slack[k]).collect();
        let affine = newton.direction(self, problem, &first, &second);
        let reach = self.reach(&affine, beta);
        // The mean complementarity after such a step.
        let after = |step: &Direction, reach: f64| {
            let sum: f64 = (0..m)
                .map(|k| {
                    let a = self.alpha[k] + reach * step.alpha[k];
                    let b = beta[k] - reach * step.alpha[k];
                    a * (self.surplus[k] + reach * step.surplus[k])
                        + b * (self.slack[k] + reach * step.slack[k])
                })
                .sum();
            sum / (2.0 * m as f64)
        };
        let predicted = after(&affine, reach);
        let target = mu * (predicted / mu).clamp(0.0, 1.0).powi(3);
        let corrected = |k: usize| {
            (
                target + first[k] - affine.alpha[k] * affine.surplus[k],
                target + second[k] + affine.alpha[k] * affine.slack[k],
            )
        };
        let (one, two): (Vec<f64>, Vec<f64>) = (0..m).map(corrected).unzip();
        // A million records make these vectors long: one direction at a time.
        drop(affine);
        let mut step = newton.direction(self, problem, &one, &two);
        let mut reach = FRACTION * self.reach(&step, beta);
        let left = after(&step, reach);
        if !(left < SLOW * mu) {
            // The correction can lead astray, and in circles: without it complementarity falls with the step.
            let centred = |rest: &[f64]| rest.iter().map(|v| CENTRED * mu + v).collect();
            let (one, two): (Vec<f64>, Vec<f64>) = (centred(&first), centred(&second));
            let plain = newton.direction(self, problem, &one, &two);
            let farther = FRACTION * self.reach(&plain, beta);
            if !(left <= after(&plain, farther)) {
                (step, reach) = (plain, farther);
            }
            if !(after(&step, reach) < STUCK * mu) {
                self.follow(problem, &newton, mu);
                return Some(());
            }
        }
        if !(reach > 1e-12) {
            return None;
        }
        axpy(&mut self.w, reach, &step.w);
        axpy(&mut self.alpha, reach, &step.alpha);
        axpy(&mut self.slack, reach, &step.slack);
        axpy(&mut self.surplus, reach, &step.surplus);
        self.keep_inside(problem);
        Some(())
    }

    /// α stays strictly inside (0, c) whatever rounding does.
    fn keep_inside(&mut self, problem: &HingeProblem) {
        for (alpha, hinge) in self.alpha.iter_mut().zip(&problem.hinges) {
            let edge = 1e-16 * hinge.cost;
            *alpha = alpha.clamp(edge, hinge.cost - 2.0 * edge);
        }
    }

    /// A Newton step in w towards the point of the path at μ, or at a smaller one where w is near; everything else by
    /// closed form.
    fn follow(&mut self, problem: &HingeProblem, newton: &Newton, mu: f64) {
        // The squared Newton decrement of the objective with its barrier, in units of μ: below 1 it falls quadratically.
        let towards = newton.factor.solve(&newton.residual);
        let is_near = dot(&towards, &newton.residual) < mu;
        let mu = if is_near { SHRINK * mu } else { mu };
        let m = self.alpha.len();
        let first: Vec<f64> = (0..m)
            .map(|k| mu - self.alpha[k] * self.surplus[k])
            .collect();
        let second: Vec<f64> = (0..m)
            .map(|k| mu - newton.beta[k] * self.slack[k])
            .collect();
        let step = newton.direction(self, problem, &first, &second).w;
        let (margins, moved) = (problem.margins(&self.w), problem.margins(&step));
        let bend = times(&problem.p, &step);
        let slope_at_rest = dot(&bend, &self.w) + dot(&problem.q, &step);
        let curvature = dot(&bend, &step);
        let slope = |share: f64| {
            let pull = problem.hinges.iter().map(|h| {
                let surplus = (margins[h.row] - h.target) + share * moved[h.row];
                mu / centred(h.cost, surplus, mu).surplus * moved[h.row]
            });
            slope_at_rest + share * curvature - pull.sum::<f64>()
        };
        let share = flat_point(slope);
        axpy(&mut self.w, share, &step);
        for (k, h) in problem.hinges.iter().enumerate() {
            let best = centred(
                h.cost,
                (margins[h.row] - h.target) + share * moved[h.row],
                mu,
            );
            self.slack[k] = best.slack;
            self.surplus[k] = best.surplus;
            self.alpha[k] = mu / best.surplus;
        }
        self.keep_inside(problem);
    }

    /// How far a direction can be followed, at most 1/FRACTION.
    fn reach(&self, direction: &Direction, beta: &[f64]) -> f64 {
        let mut reach = 1.0 / FRACTION;
        let mut limit = |value: f64, change: f64| {
            if change < 0.0 {
                reach = f64::min(reach, -value / change);
            }
        };
        for k in 0..self.alpha.len() {
            limit(self.alpha[k], direction.alpha[k]);
            limit(beta[k], -direction.alpha[k]);
            limit(self.slack[k], direction.slack[k]);
            limit(self.surplus[k], direction.surplus[k]);
        }
        reach
    }
}

/// s and ξ of one hinge on the path.
struct Centred {
    slack: f64,
    surplus: f64,
}

/// μ/ξ + μ/s = c with ξ − s = `over`: the roots of c·s² + (c·over − 2μ)s = μ·over, without cancellation.
fn centred(c: f64, over: f64, mu: f64) -> Centred {
    let lead = c * over.abs();
    let root = lead.hypot(2.0 * mu);
    let large = (2.0 * mu + root + lead) / (2.0 * c);
    let small = (2.0 * mu + 4.0 * mu * mu / (root + lead)) / (2.0 * c);
    match over > 0.0 {
        true => Centred {
            slack: small,
            surplus: large,
        },
        false => Centred {
            slack: large,
            surplus: small,
        },
    }
}

/// A share of a step, at most 1, at which a rising slope is nearly 0; 0 where the step leads uphill.
fn flat_point(slope: impl Fn(f64) -> f64) -> f64 {
    let start = slope(0.0);
    if !(start < 0.0) {
        return 0.0;
    }
    let (mut low, mut high, mut share) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..FLAT.1 {
        let here = slope(share);
        if here.abs() <= FLAT.0 * start.abs() || (here < 0.0 && high.is_infinite()) {
            break;
        }
        if here < 0.0 {
            low = share;
        } else {
            high = share;
        }
        share = if low == 0.0 {
            FLAT.0 * high
        } else {
            0.5 * (low + high)
        };
    }
    share
}

/// The linearised conditions at a point, everything but w eliminated.
struct Newton {
    /// β = c − α.
    beta: Vec<f64>,
    /// 1/α and 1/β.
    inverse: (Vec<f64>, Vec<f64>),
    /// D = 1/(ξ/α + s/β).
    diagonal: Vec<f64>,
    /// P + R'DR.
    factor: Factor,
    /// R'α − Pw − q.
    residual: Vec<f64>,
    /// ξ − s − (r'w − t).
    slip: Vec<f64>,
}

impl Newton {
    fn new(point: &Point, problem: &HingeProblem) -> Option<Self> {
        let m = point.alpha.len();
        let beta: Vec<f64> = (0..m)
            .map(|k| problem.hinges[k].cost - point.alpha[k])
            .collect();
        let inverse: (Vec<f64>, Vec<f64>) = (
            point.alpha.iter().map(|a| 1.0 / a).collect(),
            beta.iter().map(|b| 1.0 / b).collect(),
        );
        let diagonal: Vec<f64> = (0..m)
            .map(|k| 1.0 / (point.surplus[k] * inverse.0[k] + point.slack[k] * inverse.1[k]))
            .collect();
        let factor = Factor::of(&problem.system(&diagonal), problem.weights)?;
        let mut residual = problem.pulled(&point.alpha);
        let pw = times(&problem.p, &point.w);
        for j in 0..residual.len() {
            residual[j] -= pw[j] + problem.q[j];
        }
        let margins = problem.margins(&point.w);
        let slip = (problem.hinges.iter().enumerate())
            .map(|(k, h)| point.surplus[k] - point.slack[k] - (margins[h.row] - h.target))
            .collect();
        Some(Newton {
            beta,
            inverse,
            diagonal,
            factor,
            residual,
            slip,
        })
    }

    /// The direction with these right-hand sides: α·dξ + ξ·dα = first, β·ds − s·dα = second.
    fn direction(
        &self,
        point: &Point,
        problem: &HingeProblem,
        first: &[f64],
        second: &[f64],
    ) -> Direction {
        let m = point.alpha.len();
        let (by_alpha, by_beta) = &self.inverse;
        let push: Vec<f64> = (0..m)
            .map(|k| {
                self.diagonal[k] * (first[k] * by_alpha[k] - second[k] * by_beta[k] + self.slip[k])
            })
            .collect();
        let mut right = problem.pulled(&push);
        axpy(&mut right, 1.0, &self.residual);
        let w = self.factor.solve(&right);
        let moved = problem.margins(&w);
        let alpha: Vec<f64> = (problem.hinges.iter().enumerate())
            .map(|(k, h)| push[k] - self.diagonal[k] * moved[h.row])
            .collect();
        let slack = (0..m)
            .map(|k| (second[k] + point.slack[k] * alpha[k]) * by_beta[k])
            .collect();
        let surplus = (0..m)
            .map(|k| (first[k] - point.surplus[k] * alpha[k]) * by_alpha[k])
            .collect();
        Direction {
            w,
            alpha,
            slack,
            surplus,
        }
    }
}
