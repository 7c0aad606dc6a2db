//! The interior-point step of a sum of hinges: a predictor and a corrector on the margins, everything but w eliminated.

use super::hinge::{Factor, HingeProblem, axpy, times};

/// The share of the way to the boundary that a step takes.
const FRACTION: f64 = 0.995;

/// A step that leaves more than this share of the complementarity is tried without its correction as well.
const SLOW: f64 = 0.5;

/// What such a step aims at, as a share of the complementarity.
const CENTRED: f64 = 0.1;

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
        }
        if !(reach > 1e-12) {
            return None;
        }
        axpy(&mut self.w, reach, &step.w);
        axpy(&mut self.alpha, reach, &step.alpha);
        axpy(&mut self.slack, reach, &step.slack);
        axpy(&mut self.surplus, reach, &step.surplus);
        // α stays strictly inside (0, c) whatever rounding does.
        for (alpha, hinge) in self.alpha.iter_mut().zip(&problem.hinges) {
            let edge = 1e-16 * hinge.cost;
            *alpha = alpha.clamp(edge, hinge.cost - 2.0 * edge);
        }
        Some(())
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
