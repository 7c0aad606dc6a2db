//! Sums of logistic losses inside a program: weights with a diagonal quadratic cost, and for every record two exponential
//! cones. s ≥ log(1 + exp(z)) with z = t − r'w says that exp(−s) + exp(z − s) ≤ 1, so with u for the first part
//!
//! (−s, 1, u) and (z − s, 1, 1 − u) lie in the exponential cone.
//!
//! Such programs go to the Newton backend; its answer is mapped back to all variables and rows and checked like any other.

use super::dense;
use super::newton::{Logistic, LogisticProblem, LogisticSolution, share, softplus};
use super::{Outcome, Residuals, Settings, Solution};
use crate::program::{Cone, Program};

/// One loss: slack s, part u, and the first rows of its two cones.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Loss {
    slack: usize,
    part: usize,
    /// Of (−s, 1, u).
    plain: usize,
    /// Of (z − s, 1, 1 − u).
    data: usize,
}

/// The program is ½w'Pw + q'w + Σ c·s, P diagonal, with the two cones of each loss and nothing else.
#[derive(Clone, Debug)]
pub(crate) struct LogisticForm {
    /// The columns of w.
    pub(crate) weights: Vec<usize>,
    losses: Vec<Loss>,
}

/// More weights than this are left to the general solver: the system is dense.
const WEIGHTS: usize = 400;

/// How a column of no weight stands in its two rows.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// s: with 1 in the first rows of two cones.
    Slack(usize, usize),
    /// u: with −1 in the third row of the first cone, and with 1 in that of the second.
    Part(usize, usize),
}

impl LogisticForm {
    /// Reads the form off a program; `None` if it is not of that form.
    pub(crate) fn of(program: &Program) -> Option<Self> {
        let blocks = program.constraints();
        if blocks.is_empty()
            || blocks
                .iter()
                .any(|c| !matches!(c.cone(), Cone::Exponential))
        {
            return None;
        }
        if program.p().entries().any(|(i, j, v)| i != j && v != 0.0) {
            return None;
        }
        let n = program.columns();
        let is_weight: Vec<bool> = (0..n).map(|j| program.p().get(j, j) > 0.0).collect();
        let weights: Vec<usize> = (0..n).filter(|&j| is_weight[j]).collect();
        if weights.is_empty() || weights.len() > WEIGHTS || weights.len() == n {
            return None;
        }
        // The columns of no weight, row by row: every cone has one in its first and one in its third row.
        let mut beside: Vec<Option<usize>> = vec![None; program.rows()];
        let mut holds_weights = vec![false; program.rows()];
        for (i, j, _) in program.a().entries() {
            if is_weight[j] {
                holds_weights[i] = true;
            } else if beside[i].replace(j).is_some() {
                return None;
            }
        }
        let b = program.b();
        let mut roles = Vec::with_capacity(n - weights.len());
        for j in (0..n).filter(|&j| !is_weight[j]) {
            if program.p().get(j, j) != 0.0 {
                return None;
            }
            let mut entries = program.a().column(j);
            let (first, second) = (entries.next()?, entries.next()?);
            if entries.next().is_some() {
                return None;
            }
            // Rows of a program of exponential cones alone come in threes.
            let role = match (first.0 % 3, second.0 % 3, first.1, second.1) {
                (0, 0, 1.0, 1.0) => Role::Slack(first.0, second.0),
                (2, 2, -1.0, 1.0) => Role::Part(first.0 - 2, second.0 - 2),
                (2, 2, 1.0, -1.0) => Role::Part(second.0 - 2, first.0 - 2),
                _ => return None,
            };
            roles.push((j, role));
        }
        let mut losses = Vec::with_capacity(roles.len() / 2);
        for &(part, role) in &roles {
            let Role::Part(plain, data) = role else {
                continue;
            };
            let slack = beside[plain]?;
            let fits = beside[data] == Some(slack)
                && program.q()[slack] > 0.0
                && program.q()[part] == 0.0
                && b[plain..plain + 3] == [0.0, 1.0, 0.0]
                && b[data + 1..data + 3] == [1.0, 1.0]
                && !holds_weights[plain];
            let constant = [plain + 1, plain + 2, data + 1, data + 2];
            let is_free = |i: &usize| !holds_weights[*i] && (i % 3 == 2 || beside[*i].is_none());
            if !fits || !constant.iter().all(is_free) {
                return None;
            }
            losses.push(Loss {
                slack,
                part,
                plain,
                data,
            });
        }
        // A slack for each part and two cones for each loss: none is left over, and none serves twice.
        let is_whole = 2 * losses.len() == roles.len() && 2 * losses.len() == blocks.len();
        losses.sort_by_key(|loss| loss.slack);
        let is_single = losses.windows(2).all(|pair| pair[0].slack < pair[1].slack);
        (is_whole && is_single).then_some(LogisticForm { weights, losses })
    }

    /// The columns of the losses.
    pub(crate) fn auxiliaries(&self) -> impl Iterator<Item = usize> + '_ {
        self.losses.iter().flat_map(|loss| [loss.slack, loss.part])
    }

    /// The only rows whose right-hand sides may be private.
    pub(crate) fn data_rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.losses.iter().map(|loss| loss.data)
    }

    /// The problem in the weights alone.
    pub(crate) fn problem(&self, program: &Program) -> LogisticProblem {
        let rows: Vec<usize> = self.data_rows().collect();
        let loss = |loss: &Loss| Logistic {
            target: program.b()[loss.data],
            cost: program.q()[loss.slack],
        };
        LogisticProblem {
            p: (self.weights.iter())
                .map(|&j| program.p().get(j, j))
                .collect(),
            q: self.weights.iter().map(|&j| program.q()[j]).collect(),
            columns: dense::rows_of(program.a(), &rows, &self.weights, 1.0),
            losses: self.losses.iter().map(loss).collect(),
        }
    }

    /// The point and its multipliers in the program, with our check of both.
    ///
    /// With q = σ(−z) and p = σ(z) the multipliers c(−q, −q(1 + s), 1) and c(−p, −p(1 + s − z), 1) touch the two cones
    /// where the point does. Slacks and multipliers stand inside by a few roundings, so that the check need not search for
    /// how far they are outside.
    pub(crate) fn back(
        &self,
        program: &Program,
        problem: &LogisticProblem,
        found: &LogisticSolution,
    ) -> Solution {
        let mut x = vec![0.0; program.columns()];
        let mut z = vec![0.0; program.rows()];
        for (&j, w) in self.weights.iter().zip(&found.w) {
            x[j] = *w;
        }
        let odds = problem.odds(&found.w);
        let sizes = problem.sizes_of_odds(&found.w);
        let roundings = (self.weights.len() + 8) as f64 * f64::EPSILON;
        for (k, loss) in self.losses.iter().enumerate() {
            let (odd, cost) = (odds[k], program.q()[loss.slack]);
            let (above, below) = (softplus(odd), softplus(-odd));
            let slack = above + roundings * (1.0 + above + sizes[k]);
            x[loss.slack] = slack;
            // Between what the first cone needs and what the second leaves.
            x[loss.part] = 0.5 * ((-slack).exp() + (1.0 - (odd - slack).exp()));
            let (p, q) = (share(odd), share(-odd));
            let inside = 1.0 - 16.0 * f64::EPSILON;
            z[loss.plain] = -cost * q;
            z[loss.plain + 1] = -cost * q * (1.0 + above) * inside;
            z[loss.plain + 2] = cost;
            z[loss.data] = -cost * p;
            z[loss.data + 1] = -cost * p * (1.0 + below) * inside;
            z[loss.data + 2] = cost;
        }
        Solution {
            objective: program.objective(&x),
            residuals: Residuals::of(program, &x, &z),
            x,
            z,
            iterations: found.steps,
        }
    }
}

/// Solves a program of logistic form; `None` if it is none, or if the answer does not pass.
pub(super) fn solve(program: &Program, settings: &Settings) -> Option<Outcome> {
    let form = LogisticForm::of(program)?;
    let problem = form.problem(program);
    let found = problem.solve(settings.cancel());
    if settings.cancel().is_raised() {
        return Some(Outcome::Cancelled);
    }
    let solution = form.back(program, &problem, &found?);
    (solution.residuals.pass(settings.tolerance())).then_some(Outcome::Optimal(solution))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Sampler;
    use crate::program::{Affine, Builder};
    use crate::solve::{clarabel, solve as any_backend};

    /// Logistic losses of random points, the last weight beside a constant; `change` may spoil the form.
    fn regression(
        records: usize,
        features: usize,
        lambda: f64,
        seed: u64,
        change: &dyn Fn(&mut Builder),
    ) -> Program {
        let mut sampler = Sampler::new(seed, 0);
        let mut m = Builder::new();
        let w = m.variable("w", features + 1);
        let s = m.auxiliary("s", records);
        let u = m.auxiliary("u", records);
        m.minimize((1.0 / records as f64) * s.sum());
        (0..=features).for_each(|j| m.quadratic(j, j, 2.0 * lambda));
        for i in 0..records {
            let label = if i % 2 == 0 { 1.0 } else { -1.0 };
            let mut row: Vec<f64> = (0..features)
                .map(|_| label * (4.0 * sampler.uniform() - 2.0) + 0.4)
                .collect();
            row.push(label);
            let minus = row.iter().map(|r| -r).collect::<Vec<_>>();
            let one = || Affine::from(1.0);
            let plain = vec![-1.0 * s.at(i), one(), 1.0 * u.at(i)];
            m.cone(&format!("plain {i}"), Cone::Exponential, plain);
            let odds = w.dot(&minus) - s.at(i);
            let data = vec![odds, one(), one() - u.at(i)];
            m.cone(&format!("data {i}"), Cone::Exponential, data);
        }
        change(&mut m);
        m.build().unwrap()
    }

    #[test]
    fn the_newton_backend_agrees_with_the_conic_solver() {
        let settings = Settings::default().with_tolerance(1e-9).unwrap();
        for (case, &(n, d, lambda)) in [(30, 2, 0.1), (200, 5, 1e-3), (120, 9, 0.02), (80, 3, 1.0)]
            .iter()
            .enumerate()
        {
            let program = regression(n, d, lambda, case as u64, &|_| ());
            let form = LogisticForm::of(&program).expect("a sum of logistic losses");
            assert_eq!(form.losses.len(), n);
            let Some(Outcome::Optimal(found_here)) = solve(&program, &settings) else {
                panic!("the backend has no answer");
            };
            assert!(
                found_here.residuals.worst() < 1e-13,
                "{}",
                found_here.residuals
            );
            let (Outcome::Optimal(other) | Outcome::Inaccurate(other)) =
                clarabel::solve(&program, &settings)
            else {
                panic!("the conic solver has no answer");
            };
            let difference = (found_here.objective - other.objective).abs();
            assert!(difference <= 1e-8 * other.objective, "{difference:e}");
            let moved = (0..=d).map(|j| (found_here.x[j] - other.x[j]).abs());
            let moved = moved.fold(0.0, f64::max);
            println!("{n} records, {d} features, λ = {lambda}: weights differ by {moved:.1e}");
            assert!(moved < 1e-6, "{moved:e}");
            assert!(matches!(
                any_backend(&program, &settings),
                Outcome::Optimal(found) if found.x == found_here.x
            ));
        }
    }

    /// Large weights, separable classes, hopeless ones: points and multipliers stand inside their cones at once.
    #[test]
    fn the_way_back_is_inside_every_cone() {
        for (case, lambda) in [1e-8, 1e-5, 1e-2, 1e2].into_iter().enumerate() {
            for features in [1, 6] {
                let program = regression(40, features, lambda, case as u64, &|_| ());
                let form = LogisticForm::of(&program).unwrap();
                let problem = form.problem(&program);
                let found = problem.solve(Settings::default().cancel()).unwrap();
                let back = form.back(&program, &problem, &found);
                assert_eq!(back.residuals.primal, 0.0, "λ = {lambda}");
                assert!(
                    back.residuals.pass(1e-10),
                    "λ = {lambda}: {}",
                    back.residuals
                );
            }
        }
    }

    /// A backend that solves something else is noticed: twice the regulariser, a loss counted twice, a shifted margin.
    #[test]
    fn a_wrong_backend_is_noticed() {
        let program = regression(40, 3, 0.05, 5, &|_| ());
        let form = LogisticForm::of(&program).unwrap();
        let right = form.problem(&program);
        let passes = |wrong: &LogisticProblem| {
            let found = wrong.solve(Settings::default().cancel()).unwrap();
            let back = form.back(&program, &right, &found);
            back.residuals.pass(Settings::default().tolerance())
        };
        assert!(passes(&right));
        let wrong = |change: &dyn Fn(&mut LogisticProblem)| {
            let mut wrong = right.clone();
            change(&mut wrong);
            passes(&wrong)
        };
        assert!(!wrong(&|p| p.p.iter_mut().for_each(|p| *p *= 1.001)));
        assert!(!wrong(&|p| p.losses[7].cost *= 1.1));
        assert!(!wrong(&|p| p.losses[3].target += 0.01));
        assert!(!wrong(&|p| p.q[1] += 1e-3));
    }

    #[test]
    fn other_programs_are_not_taken_for_logistic_losses() {
        let of = |change: &dyn Fn(&mut Builder)| {
            LogisticForm::of(&regression(2, 1, 0.1, 1, change)).is_some()
        };
        assert!(of(&|_| ()));
        // A limit, an off-diagonal cost, a cone of its own.
        assert!(!of(&|m| {
            let extra = m.variable("free", 1);
            m.at_most("limit", extra.at(0), 3.0);
        }));
        assert!(!of(&|m| m.quadratic(0, 1, 0.01)));
        assert!(!of(&|m| {
            let extra = m.auxiliary("more", 2);
            let cone = vec![extra.at(0), Affine::from(1.0), extra.at(1)];
            m.cone("cone", Cone::Exponential, cone);
        }));
    }
}
