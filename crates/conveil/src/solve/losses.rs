//! Sums of hinges inside a program: weights with a definite quadratic cost, and for every slack one row that it relaxes
//! and one that keeps it from being negative. Such programs go to the hinge backend; its answer is mapped back to all
//! variables and rows and checked like any other.

use super::dense;
use super::hinge::{Hinge, HingeProblem};
use super::{Outcome, Residuals, Settings, Solution};
use crate::program::{Cone, Program};

/// One loss: slack `slack` relaxes row `row`, and row `sign` says that it is not negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Loss {
    pub(crate) slack: usize,
    pub(crate) row: usize,
    pub(crate) sign: usize,
}

/// The program is ½w'Pw + q'w + Σ c·s with b − a'w + s ≥ 0 and s ≥ 0 for each loss.
#[derive(Clone, Debug)]
pub(crate) struct HingeForm {
    /// The columns of w.
    pub(crate) weights: Vec<usize>,
    /// By slack.
    pub(crate) losses: Vec<Loss>,
    /// The place of a column among the weights.
    place: Vec<Option<usize>>,
}

/// More weights than this are left to the general solver: the system is dense.
const WEIGHTS: usize = 400;

impl HingeForm {
    /// Reads the form off a program; `None` if it is not of that form.
    pub(crate) fn of(program: &Program) -> Option<Self> {
        let n = program.columns();
        let mut place = vec![None; n];
        let mut weights = Vec::new();
        for j in 0..n {
            if program.p().get(j, j) > 0.0 {
                place[j] = Some(weights.len());
                weights.push(j);
            }
        }
        if weights.is_empty() || weights.len() > WEIGHTS || weights.len() == n {
            return None;
        }
        // An off-diagonal entry outside the weights has no place there.
        if (program.p().entries()).any(|(i, j, _)| place[i].is_none() || place[j].is_none()) {
            return None;
        }
        let nonnegative = |c: &Cone| matches!(c, Cone::Nonnegative(_));
        if !program.constraints().iter().all(|c| nonnegative(c.cone())) {
            return None;
        }
        let mut holds_weights = vec![false; program.rows()];
        let mut slack_of: Vec<Option<usize>> = vec![None; program.rows()];
        for (i, j, v) in program.a().entries() {
            if place[j].is_some() {
                holds_weights[i] = true;
            } else if v != -1.0 || slack_of[i].replace(j).is_some() {
                return None;
            }
        }
        if slack_of.iter().any(Option::is_none) {
            return None;
        }
        let mut losses = Vec::with_capacity(n - weights.len());
        for j in (0..n).filter(|&j| place[j].is_none()) {
            let mut rows = program.a().column(j).map(|e| e.0);
            let (first, second) = (rows.next()?, rows.next()?);
            if rows.next().is_some() {
                return None;
            }
            let (row, sign) = match (holds_weights[first], holds_weights[second]) {
                (true, false) => (first, second),
                (false, true) => (second, first),
                _ => return None,
            };
            if program.b()[sign] != 0.0 || !(program.q()[j] > 0.0) {
                return None;
            }
            losses.push(Loss {
                slack: j,
                row,
                sign,
            });
        }
        Some(HingeForm {
            weights,
            losses,
            place,
        })
    }

    /// R = −A on the weights, dense by columns: a row for each loss.
    pub(crate) fn columns(&self, program: &Program) -> Vec<f64> {
        let rows: Vec<usize> = self.losses.iter().map(|loss| loss.row).collect();
        dense::rows_of(program.a(), &rows, &self.weights, -1.0)
    }

    /// Rw for R of these columns.
    pub(crate) fn margins(&self, columns: &[f64], w: &[f64]) -> Vec<f64> {
        dense::products(columns, self.losses.len(), w)
    }

    /// The problem with these hinges.
    pub(crate) fn problem(
        &self,
        program: &Program,
        columns: Vec<f64>,
        hinges: Vec<Hinge>,
    ) -> HingeProblem {
        let d = self.weights.len();
        let mut p = vec![0.0; d * d];
        for (i, j, v) in program.p().entries() {
            if let (Some(i), Some(j)) = (self.place[i], self.place[j]) {
                p[i * d + j] = v;
                p[j * d + i] = v;
            }
        }
        HingeProblem {
            weights: d,
            p,
            q: self.weights.iter().map(|&j| program.q()[j]).collect(),
            columns,
            hinges,
            constant: 0.0,
        }
    }
}

/// Solves a program of hinge form; `None` if it is none, or if the answer does not pass.
pub(super) fn solve(program: &Program, settings: &Settings) -> Option<Outcome> {
    let form = HingeForm::of(program)?;
    let hinge = |(k, loss): (usize, &Loss)| Hinge {
        row: k,
        target: -program.b()[loss.row],
        cost: program.q()[loss.slack],
    };
    let hinges = form.losses.iter().enumerate().map(hinge).collect();
    let problem = form.problem(program, form.columns(program), hinges);
    let found = problem.solve(super::hinge::CLOSE, settings.cancel());
    if settings.cancel().is_raised() {
        return Some(Outcome::Cancelled);
    }
    let found = found?;
    let margins = problem.margins(&found.w);
    let mut x = vec![0.0; program.columns()];
    let mut z = vec![0.0; program.rows()];
    for (&j, w) in form.weights.iter().zip(&found.w) {
        x[j] = *w;
    }
    for (k, loss) in form.losses.iter().enumerate() {
        x[loss.slack] = (-program.b()[loss.row] - margins[k]).max(0.0);
        z[loss.row] = found.alpha[k];
        z[loss.sign] = program.q()[loss.slack] - found.alpha[k];
    }
    let residuals = Residuals::of(program, &x, &z);
    residuals.pass(settings.tolerance()).then(|| {
        Outcome::Optimal(Solution {
            objective: program.objective(&x),
            x,
            z,
            residuals,
            iterations: found.steps,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Sampler;
    use crate::program::Builder;
    use crate::solve::{clarabel, solve as any_backend};

    /// A classifier of `records` random points in `features` dimensions, the intercept regularised.
    pub(crate) fn classifier(records: usize, features: usize, lambda: f64, seed: u64) -> Program {
        let mut sampler = Sampler::new(seed, 0);
        let mut m = Builder::new();
        let w = m.variable("w", features + 1);
        let s = m.variable("s", records);
        m.minimize((1.0 / records as f64) * s.sum());
        (0..=features).for_each(|j| m.quadratic(j, j, 2.0 * lambda));
        for i in 0..records {
            let label = if i % 2 == 0 { 1.0 } else { -1.0 };
            let mut row: Vec<f64> = (0..features)
                .map(|_| label * (4.0 * sampler.uniform() - 2.0) + 0.4)
                .collect();
            row.push(-label);
            m.at_most(&format!("point {i}"), 1.0, w.dot(&row) + s.at(i));
        }
        for i in 0..records {
            m.at_most(&format!("slack {i}"), 0.0, s.at(i));
        }
        m.build().unwrap()
    }

    #[test]
    fn the_hinge_backend_agrees_with_the_conic_solver() {
        let settings = Settings::default().with_tolerance(1e-9).unwrap();
        for (case, &(n, d, lambda)) in [(30, 2, 0.1), (200, 5, 1e-3), (120, 9, 1e-5)]
            .iter()
            .enumerate()
        {
            let program = classifier(n, d, lambda, case as u64);
            let form = HingeForm::of(&program).expect("a sum of hinges");
            assert_eq!(form.losses.len(), n);
            let Some(Outcome::Optimal(found_here)) = solve(&program, &settings) else {
                panic!("the backend has no answer");
            };
            let Outcome::Optimal(other) = clarabel::solve(&program, &settings) else {
                panic!("the conic solver has no answer");
            };
            let difference = (found_here.objective - other.objective).abs();
            assert!(
                difference <= 1e-8 * other.objective,
                "{} against {}",
                found_here.objective,
                other.objective
            );
            // ‖Δw‖² in P is at most the two gaps.
            let moved: f64 = (0..=d)
                .map(|j| (found_here.x[j] - other.x[j]).powi(2))
                .sum();
            let gaps = found_here.residuals.gap + other.residuals.gap + other.residuals.primal;
            assert!(2.0 * lambda * moved <= 4.0 * gaps + 1e-12, "{moved} {gaps}");
            assert!(matches!(
                any_backend(&program, &settings),
                Outcome::Optimal(found) if found.x == found_here.x
            ));
        }
    }

    #[test]
    fn other_programs_are_not_taken_for_sums_of_hinges() {
        let program = |change: &dyn Fn(&mut Builder)| {
            let mut m = Builder::new();
            let w = m.variable("w", 2);
            let s = m.variable("s", 1);
            m.minimize(1.0 * s.at(0));
            m.quadratic(0, 0, 1.0);
            m.quadratic(1, 1, 1.0);
            m.at_most("point", 1.0, w.dot(&[1.0, 2.0]) + s.at(0));
            m.at_most("slack", 0.0, s.at(0));
            change(&mut m);
            m.build().unwrap()
        };
        assert!(HingeForm::of(&program(&|_| ())).is_some());
        // A variable without curvature that is no slack of its own, and an equality.
        let limited = program(&|m: &mut Builder| {
            let extra = m.variable("free", 1);
            m.at_most("limit", extra.at(0), 3.0);
        });
        assert!(HingeForm::of(&limited).is_none());
        let equal = program(&|m: &mut Builder| {
            let extra = m.variable("fixed", 1);
            m.equal("fix", extra.at(0), 3.0);
        });
        assert!(HingeForm::of(&equal).is_none());
    }
}
