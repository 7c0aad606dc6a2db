//! The interior-point step of a sum of hinges: a predictor and a corrector on the margins, everything but w eliminated.
//!
//! Where classes overlap and the regulariser is weak, a little complementarity on each of many records moves w far, and
//! steps that keep all of them positive become short. Then the path is followed in w alone: at a given w and mean
//! complementarity μ the best s, ξ and α of a hinge are known in closed form, and what is left is a smooth convex
//! function of w, on which Newton's method with a line search arrives from anywhere.

use super::dense::{Factor, axpy, dot, times};
use super::hinge::HingeProblem;
use super::lanes;

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

    /// The mean complementarity after this share of a step.
    fn centre_after(&self, problem: &HingeProblem, step: &Direction, share: f64) -> f64 {
        let m = self.alpha.len();
        let sum = lanes::summed(m, |k| {
            let a = self.alpha[k] + share * step.alpha[k];
            let b = (problem.hinges[k].cost - self.alpha[k]) - share * step.alpha[k];
            a * (self.surplus[k] + share * step.surplus[k])
                + b * (self.slack[k] + share * step.slack[k])
        });
        sum / (2.0 * m as f64)
    }

    /// The mean complementarity.
    fn centre(&self, problem: &HingeProblem) -> f64 {
        let m = self.alpha.len();
        let sum = lanes::summed(m, |k| {
            self.alpha[k] * self.surplus[k]
                + (problem.hinges[k].cost - self.alpha[k]) * self.slack[k]
        });
        sum / (2.0 * m as f64)
    }

    /// One predictor-corrector step; `None` where the system is singular or nothing moves.
    pub(super) fn advance(&mut self, problem: &HingeProblem) -> Option<()> {
        let newton = Newton::new(self, problem)?;
        let mu = self.centre(problem);
        // What each product of complementarity lacks to be 0.
        let first = |k: usize| -self.alpha[k] * self.surplus[k];
        let second = |k: usize| -(problem.hinges[k].cost - self.alpha[k]) * self.slack[k];
        let affine = newton.direction(self, problem, |k| (first(k), second(k)));
        let reach = self.reach(problem, &affine);
        let predicted = self.centre_after(problem, &affine, reach);
        let target = mu * (predicted / mu).clamp(0.0, 1.0).powi(3);
        // A million records make these vectors long: each is made once.
        let mut step = newton.direction(self, problem, |k| {
            (
                target + first(k) - affine.alpha[k] * affine.surplus[k],
                target + second(k) + affine.alpha[k] * affine.slack[k],
            )
        });
        drop(affine);
        let mut reach = FRACTION * self.reach(problem, &step);
        let left = self.centre_after(problem, &step, reach);
        if !(left < SLOW * mu) {
            // The correction can lead astray, and in circles: without it complementarity falls with the step.
            let plain = newton.direction(self, problem, |k| {
                (CENTRED * mu + first(k), CENTRED * mu + second(k))
            });
            let farther = FRACTION * self.reach(problem, &plain);
            if !(left <= self.centre_after(problem, &plain, farther)) {
                (step, reach) = (plain, farther);
            }
            if !(self.centre_after(problem, &step, reach) < STUCK * mu) {
                self.follow(problem, &newton, mu);
                return Some(());
            }
        }
        if !(reach > 1e-12) {
            return None;
        }
        axpy(&mut self.w, reach, &step.w);
        for (value, change) in [
            (&mut self.alpha, &step.alpha),
            (&mut self.slack, &step.slack),
            (&mut self.surplus, &step.surplus),
        ] {
            lanes::change(value, |start, part| {
                axpy(part, reach, &change[start..start + part.len()]);
            });
        }
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
        let towards_mu = |k: usize| {
            let beta = problem.hinges[k].cost - self.alpha[k];
            (
                mu - self.alpha[k] * self.surplus[k],
                mu - beta * self.slack[k],
            )
        };
        let step = newton.direction(self, problem, towards_mu).w;
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
    fn reach(&self, problem: &HingeProblem, direction: &Direction) -> f64 {
        let limit = |value: f64, change: f64| match change < 0.0 {
            true => -value / change,
            false => f64::INFINITY,
        };
        lanes::least(self.alpha.len(), 1.0 / FRACTION, |k| {
            let beta = problem.hinges[k].cost - self.alpha[k];
            let multiplier = limit(self.alpha[k], direction.alpha[k]);
            multiplier
                .min(limit(beta, -direction.alpha[k]))
                .min(limit(self.slack[k], direction.slack[k]))
                .min(limit(self.surplus[k], direction.surplus[k]))
        })
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
        let margins = problem.margins(&point.w);
        let (diagonal, slip) = lanes::filled_twice(m, |k| {
            let hinge = &problem.hinges[k];
            let (alpha, surplus, slack) = (point.alpha[k], point.surplus[k], point.slack[k]);
            (
                1.0 / (surplus / alpha + slack / (hinge.cost - alpha)),
                surplus - slack - (margins[hinge.row] - hinge.target),
            )
        });
        drop(margins);
        let factor = Factor::of(&problem.system(&diagonal), problem.weights)?;
        let mut residual = problem.pulled(&point.alpha);
        let pw = times(&problem.p, &point.w);
        for j in 0..residual.len() {
            residual[j] -= pw[j] + problem.q[j];
        }
        Some(Newton {
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
        right: impl Fn(usize) -> (f64, f64) + Sync,
    ) -> Direction {
        let m = point.alpha.len();
        let beta = |k: usize| problem.hinges[k].cost - point.alpha[k];
        let mut alpha = lanes::filled(m, |k| {
            let (first, second) = right(k);
            self.diagonal[k] * (first / point.alpha[k] - second / beta(k) + self.slip[k])
        });
        let mut pulled = problem.pulled(&alpha);
        axpy(&mut pulled, 1.0, &self.residual);
        let w = self.factor.solve(&pulled);
        let moved = problem.margins(&w);
        lanes::change(&mut alpha, |start, part| {
            for (i, alpha) in part.iter_mut().enumerate() {
                let k = start + i;
                *alpha -= self.diagonal[k] * moved[problem.hinges[k].row];
            }
        });
        drop(moved);
        let (slack, surplus) = lanes::filled_twice(m, |k| {
            let (first, second) = right(k);
            (
                (second + point.slack[k] * alpha[k]) / beta(k),
                (first - point.surplus[k] * alpha[k]) / point.alpha[k],
            )
        });
        Direction {
            w,
            alpha,
            slack,
            surplus,
        }
    }
}
