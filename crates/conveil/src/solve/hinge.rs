//! A backend for sums of hinges, min ½w'Pw + q'w + Σ cₖ[tₖ − rₖ'w]₊ with P ≻ 0 and few weights: support vector machines.
//!
//! An interior-point method on the margins: s ≥ 0 and ξ = s + rw − t ≥ 0 with multipliers c − α and α. Eliminating
//! everything but w leaves a dense system P + R'DR of the size of w: O(N·d²) for each step, however many records.
//! What it returns is a dual point α ∈ [0, c] and the weights w = P⁻¹(R'α − q) that belong to it, so that the dual
//! residual is zero and the gap alone says how good it is.

use super::Cancel;
use super::dense::{self, Factor, PART, dot, times};
use super::interior::Point;
use super::lanes;
use super::screening;
use super::sum::compensated;

/// The problem. Hinges that share a row of R stand one after the other.
#[derive(Clone, Debug)]
pub(crate) struct HingeProblem {
    /// Number of weights.
    pub(crate) weights: usize,
    /// P, dense, by rows.
    pub(crate) p: Vec<f64>,
    /// q.
    pub(crate) q: Vec<f64>,
    /// R, dense, by columns: long columns make long loops.
    pub(crate) columns: Vec<f64>,
    /// The hinges.
    pub(crate) hinges: Vec<Hinge>,
    /// What the objective has beside: of hinges that are taken for lines.
    pub(crate) constant: f64,
}

/// One hinge c[t − r'w]₊.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hinge {
    /// Which row of R.
    pub(crate) row: usize,
    /// t.
    pub(crate) target: f64,
    /// c > 0.
    pub(crate) cost: f64,
}

/// A primal-dual pair: Pw + q = R'α to rounding, and 0 ≤ α ≤ c.
#[derive(Clone, Debug)]
pub(crate) struct HingeSolution {
    /// w.
    pub(crate) w: Vec<f64>,
    /// α, one for each hinge.
    pub(crate) alpha: Vec<f64>,
    /// The difference of the two objectives.
    pub(crate) gap: f64,
    /// ‖w − w*‖² in P is at most so many times the gap: 1 where w is that of α, since the gap holds ½‖w − w*‖² of either
    /// objective then; 2 for any other w.
    pub(crate) factor: f64,
    /// Interior-point steps.
    pub(crate) steps: u32,
}

/// The relative gap that is asked for: as close as the arithmetic allows costs two steps more than 1e-8.
pub(crate) const CLOSE: f64 = 1e-13;

/// Steps at most.
const STEPS: u32 = 200;

/// Steps without a better gap before the best point is taken. While the path is followed the gap may rise for a while.
const PATIENCE: u32 = 30;

impl HingeProblem {
    /// Rows of R.
    pub(super) fn records(&self) -> usize {
        self.columns.len() / self.weights
    }

    /// Rw.
    pub(crate) fn margins(&self, w: &[f64]) -> Vec<f64> {
        dense::products(&self.columns, self.records(), w)
    }

    /// Sums over the hinges of each row.
    fn by_row(&self, v: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.records()];
        for (hinge, v) in self.hinges.iter().zip(v) {
            sums[hinge.row] += v;
        }
        sums
    }

    /// R'v for v over the hinges.
    pub(super) fn pulled(&self, v: &[f64]) -> Vec<f64> {
        dense::pulled(&self.columns, &self.by_row(v))
    }

    /// The objective.
    pub(crate) fn objective(&self, w: &[f64]) -> f64 {
        let pw = times(&self.p, w);
        let margins = self.margins(w);
        let loss = |h: &Hinge| h.cost * (h.target - margins[h.row]).max(0.0);
        let of_lanes = lanes::of_each(self.hinges.len(), |lane| {
            let parts = self.hinges[lane].chunks(PART);
            compensated(parts.map(|part| part.iter().map(loss).sum::<f64>()))
        });
        0.5 * dot(&pw, w) + dot(&self.q, w) + compensated(of_lanes.into_iter()) + self.constant
    }

    /// What rounding can hide in a gap. Every term of a sum over hinges is off by at most 2d + 2 roundings of its size,
    /// its part adds PART, the parts of a lane add 2 and the lanes 2; Pw, the factor of P and its two solves 5d + 3 of theirs. All of that is
    /// below PART + d² + 16, and a rounding is half of the ε that is counted here twice.
    pub(crate) fn rounding(&self, found: &HingeSolution) -> f64 {
        let d = self.weights;
        let roundings = (PART + d * d + 16) as f64;
        // Σα(|t| + |r|'|w|) and Σc(|t| + |r|'|w|) bound the sizes of every term on both sides.
        let reach = dense::reach(&self.columns, self.records(), &found.w);
        let margins = self.margins(&found.w);
        let each = self.hinges.iter().zip(&found.alpha);
        let sizes: f64 = each
            .map(|(h, a)| {
                let size = h.target.abs() + reach[h.row];
                // A margin within rounding of its target may truly lie on the other side.
                let near = f64::EPSILON * roundings * size;
                let lost = if h.target + near > margins[h.row] {
                    h.cost
                } else {
                    0.0
                };
                (a + lost) * size
            })
            .sum();
        // |P| and |L||L'| of its factor are at most √(PᵢᵢPⱼⱼ), entry by entry.
        let weights = found.w.iter().enumerate();
        let curved: f64 = weights
            .map(|(j, w)| self.p[j * d + j].sqrt() * w.abs())
            .sum();
        let linear: f64 = self
            .q
            .iter()
            .zip(&found.w)
            .map(|(q, w)| (q * w).abs())
            .sum();
        let objective = self.objective(&found.w).abs();
        let sizes = sizes + 2.0 * (objective + curved * curved + linear);
        2.0 * f64::EPSILON * roundings * sizes
    }

    /// w = P⁻¹(R'α − q) and the dual objective Σαt − ½‖R'α − q‖² in P⁻¹.
    fn dual(&self, factor: &Factor, alpha: &[f64]) -> (Vec<f64>, f64) {
        let mut g = self.pulled(alpha);
        g.iter_mut().zip(&self.q).for_each(|(g, q)| *g -= q);
        let w = factor.solve(&g);
        let value = self.weighted_targets(alpha) + self.constant - 0.5 * dot(&w, &g);
        (w, value)
    }

    /// P + R'DR, the lower triangle.
    pub(super) fn system(&self, diagonal: &[f64]) -> Vec<f64> {
        let mut system = self.p.clone();
        dense::add_gram(&mut system, &self.columns, &self.by_row(diagonal));
        system
    }

    /// What is proven of these weights and multipliers, or of the weights that belong to the multipliers.
    pub(super) fn judged(&self, p: &Factor, w: &[f64], alpha: &[f64]) -> Judged {
        let (of_alpha, dual) = self.dual(p, alpha);
        // A weak regulariser magnifies what rounding does to α; the iterate's own w does not suffer from it.
        let (first, second) = (self.objective(&of_alpha), self.objective(w));
        let (w, primal, factor) = match 2.0 * (second - dual) < first - dual {
            true => (w.to_vec(), second, 2.0),
            false => (of_alpha, first, 1.0),
        };
        Judged {
            w,
            factor,
            // Numbers that are none prove nothing.
            gap: match (primal - dual).is_nan() {
                true => f64::INFINITY,
                false => (primal - dual).max(0.0),
            },
            size: primal.abs().max(dual.abs()),
        }
    }

    /// Solves to a gap of at most `tolerance` times the objective's size, or as well as it can.
    pub(crate) fn solve(&self, tolerance: f64, cancel: &Cancel) -> Option<HingeSolution> {
        if self.records() < screening::MANY {
            return self.solve_whole(tolerance, cancel);
        }
        match screening::solve(self, tolerance, cancel) {
            Some(found) if found.gap <= tolerance * self.objective(&found.w).abs() => Some(found),
            Some(found) => {
                let whole = self.solve_whole(tolerance, cancel);
                let is_closer = |w: &HingeSolution| w.factor * w.gap < found.factor * found.gap;
                Some(whole.filter(is_closer).unwrap_or(found))
            }
            None => self.solve_whole(tolerance, cancel),
        }
    }

    /// The same on all hinges at once.
    pub(super) fn solve_whole(&self, tolerance: f64, cancel: &Cancel) -> Option<HingeSolution> {
        let p = Factor::of(&self.p, self.weights)?;
        let mut point = Point::start(self)?;
        let mut best: Option<HingeSolution> = None;
        let mut since = 0;
        for step in 0..STEPS {
            if cancel.is_raised() {
                return None;
            }
            let judged = self.judged(&p, &point.w, &point.alpha);
            if !judged.gap.is_finite() {
                break;
            }
            let is_close = judged.gap <= tolerance * judged.size;
            since += 1;
            if (best.as_ref()).is_none_or(|b| judged.factor * judged.gap < b.factor * b.gap) {
                since = 0;
                best = Some(judged.of(point.alpha.clone(), step));
            }
            if is_close || since > PATIENCE {
                break;
            }
            if point.advance(self).is_none() {
                break;
            }
        }
        best
    }
}

/// Weights, and how close they are to the optimum.
pub(super) struct Judged {
    w: Vec<f64>,
    gap: f64,
    factor: f64,
    /// Of the objective.
    size: f64,
}

impl Judged {
    /// With the multipliers that prove it, after so many steps.
    pub(super) fn of(self, alpha: Vec<f64>, steps: u32) -> HingeSolution {
        HingeSolution {
            w: self.w,
            alpha,
            gap: self.gap,
            factor: self.factor,
            steps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::twice::{plus, product, times};
    use super::*;
    use crate::noise::Sampler;

    /// The gap of (w, α) in twice the digits, for P = p·I with p a power of two and q = 0.
    fn exact_gap(problem: &HingeProblem, found: &HingeSolution, p: f64) -> f64 {
        let (n, d) = (problem.records(), problem.weights);
        let mut gap = (0.0, 0.0);
        for w in &found.w {
            gap = plus(gap, product(0.5 * p * w, *w));
        }
        let mut pulled = vec![(0.0, 0.0); d];
        for (h, alpha) in problem.hinges.iter().zip(&found.alpha) {
            let mut short = (h.target, 0.0);
            for j in 0..d {
                let r = problem.columns[j * n + h.row];
                short = plus(short, product(-r, found.w[j]));
                pulled[j] = plus(pulled[j], product(r, *alpha));
            }
            if short.0 > 0.0 {
                gap = plus(gap, times((h.cost, 0.0), short));
            }
            gap = plus(gap, product(-h.target, *alpha));
        }
        for g in pulled {
            let square = times(g, g);
            gap = plus(gap, (0.5 * square.0 / p, 0.5 * square.1 / p));
        }
        gap.0 + gap.1
    }

    /// Lanes are shared by threads, and added up in one order.
    #[test]
    fn a_solve_is_the_same_however_many_threads_share_it() {
        let n = 3 * lanes::LANE + 17;
        assert!(n > screening::MANY);
        let mut sampler = Sampler::new(22, 0);
        let problem = HingeProblem {
            weights: 2,
            p: vec![0.125, 0.0, 0.0, 0.125],
            q: vec![0.0; 2],
            columns: (0..2 * n).map(|_| 2.0 * sampler.uniform() - 0.8).collect(),
            hinges: (0..n)
                .map(|row| Hinge {
                    row,
                    target: 1.0,
                    cost: 1.0 / n as f64,
                })
                .collect(),
            constant: 0.0,
        };
        let [one, more] = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            let cancel = Cancel::default();
            pool.install(|| {
                let screened = problem.solve(CLOSE, &cancel).unwrap();
                (screened, problem.solve_whole(CLOSE, &cancel).unwrap())
            })
        });
        for (one, more) in [(one.0, more.0), (one.1, more.1)] {
            assert_eq!((one.w, one.gap, one.steps), (more.w, more.gap, more.steps));
        }
    }

    /// However many records: what is proven of a solve does not grow with them, and it is true in twice the digits.
    #[test]
    fn the_proven_gap_of_many_records_is_close_and_true() {
        let p = 0.015625;
        for n in [2_000, 400_000] {
            let mut sampler = Sampler::new(21, 0);
            let mut columns = vec![0.0; 3 * n];
            for i in 0..n {
                let label = if i % 2 == 0 { 1.0 } else { -1.0 };
                columns[i] = label * (2.0 * sampler.uniform() - 1.0) + 0.3;
                columns[n + i] = label * (2.0 * sampler.uniform() - 1.0) - 0.2;
                columns[2 * n + i] = label;
            }
            let hinge = |k: usize| Hinge {
                row: k / 2,
                target: [1.1, 0.9][k % 2],
                cost: 0.5 / n as f64,
            };
            let mut matrix = vec![0.0; 9];
            (0..3).for_each(|j| matrix[4 * j] = p);
            let problem = HingeProblem {
                weights: 3,
                p: matrix,
                q: vec![0.0; 3],
                columns,
                hinges: (0..2 * n).map(hinge).collect(),
                constant: 0.0,
            };
            let found = problem.solve(CLOSE, &Cancel::default()).unwrap();
            let rounding = problem.rounding(&found);
            let exact = exact_gap(&problem, &found, p);
            assert!(exact <= found.gap + rounding, "{exact:e} of {n}");
            assert!(exact >= found.gap - rounding, "{exact:e} of {n}");
            let proven = found.gap + rounding;
            assert!(proven < 3e-13, "{proven:e} of {n}");
        }
    }
}
