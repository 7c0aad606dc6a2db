//! Programs with far more limits than can bind, such as the lines of a large network: solved with the rows that matter,
//! which are found by solving. An answer counts only if it passes the check of the whole program.

use super::check::infeasibility;
use super::{Outcome, Residuals, Settings, Solution, clarabel};
use crate::program::{Cone, Program, Sparse};

/// A working set pays from this many limits on more than one variable: with 142 000 (30 000 buses under noise) one
/// solve with all of them was measured to be quicker, with 252 000 (78 484 buses) it ends short of the tolerance.
const MANY: usize = 200_000;

/// Solves at most; then all rows are taken.
const ROUNDS: usize = 12;

/// A row whose slack is below this share of its limit joins with those that are violated: it may bind next.
const NEAR: f64 = 0.2;

/// A violation below this share of the limit is the roughness of a rough solve.
const ROUGH: f64 = 1e-3;

/// Fewer than these are left to the close solves.
const FEW: usize = 10;

/// The outcome by a working set; `None` where there is nothing to gain or the set grows too large.
pub(super) fn solve(program: &Program, settings: &Settings) -> Option<Outcome> {
    WorkingSet::new(program, MANY)?.solve(settings)
}

struct WorkingSet<'p> {
    program: &'p Program,
    /// Limits on more than one variable: those that may be left out.
    is_limit: Vec<bool>,
    is_taken: Vec<bool>,
    limits: usize,
}

impl<'p> WorkingSet<'p> {
    /// Nothing but equalities, bounds on single variables and other cones; `None` if that leaves out less than `many`.
    fn new(program: &'p Program, many: usize) -> Option<Self> {
        let mut entries = vec![0usize; program.rows()];
        (program.a().entries()).for_each(|(i, _, _)| entries[i] += 1);
        let mut is_limit = vec![false; program.rows()];
        for block in program.constraints() {
            if matches!(block.cone(), Cone::Nonnegative(_)) {
                block.range().for_each(|i| is_limit[i] = entries[i] > 1);
            }
        }
        let limits = is_limit.iter().filter(|is| **is).count();
        (limits >= many.max(1)).then(|| WorkingSet {
            program,
            is_taken: is_limit.iter().map(|is| !is).collect(),
            is_limit,
            limits,
        })
    }

    fn solve(&mut self, settings: &Settings) -> Option<Outcome> {
        self.approach(settings)?;
        let mut iterations = 0;
        for _ in 0..ROUNDS {
            let (restricted, rows) = self.restricted();
            match clarabel::solve_rescaled(&restricted, settings) {
                Outcome::Optimal(found) | Outcome::Inaccurate(found) => {
                    iterations += found.iterations;
                    let slack = self.program.slack(&found.x);
                    if self.left_out().any(|i| slack[i] < 0.0) {
                        self.take(&self.near(&slack))?;
                        continue;
                    }
                    return self.whole(found, &rows, iterations, settings);
                }
                // What no point of the fewer rows meets, none of all rows does.
                Outcome::Infeasible(z) => {
                    let z = self.spread(&z, &rows);
                    return infeasibility(self.program, &z).map(Outcome::Infeasible);
                }
                // The rows that stand in the way of the direction.
                Outcome::Unbounded(direction) => {
                    let image = self.program.a().times(&direction);
                    let against: Vec<usize> = self.left_out().filter(|&i| image[i] > 0.0).collect();
                    self.take(&against)?;
                }
                Outcome::Cancelled => return Some(Outcome::Cancelled),
                Outcome::Failed(_) => return None,
            }
        }
        None
    }

    /// Takes rows while points near the optimum violate some; `None` if too many are.
    fn approach(&mut self, settings: &Settings) -> Option<()> {
        for _ in 0..ROUNDS {
            let Some(x) = clarabel::roughly(&self.restricted().0, settings) else {
                break;
            };
            let slack = self.program.slack(&x);
            let violated = |i: &usize| slack[*i] < -ROUGH * self.program.b()[*i].abs();
            let violated = self.left_out().filter(violated).count();
            if violated == 0 {
                break;
            }
            self.take(&self.near(&slack))?;
            if violated < FEW {
                break;
            }
        }
        Some(())
    }

    fn left_out(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.is_taken.len()).filter(|&i| !self.is_taken[i])
    }

    /// Rows left out that this slack violates, or that may bind next.
    fn near(&self, slack: &[f64]) -> Vec<usize> {
        let near = |i: &usize| slack[*i] < NEAR * self.program.b()[*i].abs();
        self.left_out().filter(near).collect()
    }

    /// Takes these rows; `None` if there are none, or if half of all limits are taken: then the whole program is no
    /// more work.
    fn take(&mut self, rows: &[usize]) -> Option<()> {
        rows.iter().for_each(|&i| self.is_taken[i] = true);
        let taken = (self.is_limit.iter().zip(&self.is_taken)).filter(|(l, t)| **l && **t);
        (!rows.is_empty() && 2 * taken.count() <= self.limits).then_some(())
    }

    /// The program with the rows taken, and which they are.
    fn restricted(&self) -> (Program, Vec<usize>) {
        let program = self.program;
        let mut rows = Vec::new();
        let mut cones = Vec::new();
        for block in program.constraints() {
            let before = rows.len();
            rows.extend(block.range().filter(|&i| self.is_taken[i]));
            match block.cone() {
                Cone::Nonnegative(_) if rows.len() > before => {
                    cones.push(Cone::Nonnegative(rows.len() - before));
                }
                Cone::Nonnegative(_) => {}
                other => cones.push(other.clone()),
            }
        }
        let mut place = vec![None; program.rows()];
        (rows.iter().enumerate()).for_each(|(new, &i)| place[i] = Some(new));
        let entries: Vec<(usize, usize, f64)> = program
            .a()
            .entries()
            .filter_map(|(i, j, v)| Some((place[i]?, j, v)))
            .collect();
        let restricted = Program::assembled(
            program.p().clone(),
            program.q().to_vec(),
            Sparse::assemble(rows.len(), program.columns(), &entries),
            rows.iter().map(|&i| program.b()[i]).collect(),
            program.constant(),
            cones,
        );
        (restricted, rows)
    }

    /// Multipliers of all rows: nothing on those left out.
    fn spread(&self, z: &[f64], rows: &[usize]) -> Vec<f64> {
        let mut all = vec![0.0; self.program.rows()];
        rows.iter().zip(z).for_each(|(&i, z)| all[i] = *z);
        all
    }

    fn whole(
        &self,
        found: Solution,
        rows: &[usize],
        iterations: u32,
        settings: &Settings,
    ) -> Option<Outcome> {
        let z = self.spread(&found.z, rows);
        let residuals = Residuals::of(self.program, &found.x, &z);
        let whole = Solution {
            z,
            residuals,
            iterations,
            ..found
        };
        match residuals.pass(settings.tolerance()) {
            true => Some(Outcome::Optimal(whole)),
            false if settings.insists() => None,
            false => Some(Outcome::Inaccurate(whole)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Sampler;
    use crate::program::Builder;

    /// Six variables in a box under 400 limits, few of which bind.
    fn many_limits(seed: u64) -> Builder {
        let mut sampler = Sampler::new(seed, 0);
        let mut m = Builder::new();
        let x = m.variable("x", 6);
        let mut row = || -> Vec<f64> { (0..6).map(|_| sampler.unit_normal()).collect() };
        m.minimize(x.dot(&row()));
        for j in 0..6 {
            m.between(&format!("box {j}"), -1.0, x.at(j), 1.0);
        }
        for i in 0..400 {
            m.at_most(&format!("limit {i}"), x.dot(&row()), 2.5);
        }
        m.equal("sum", x.sum(), 0.25);
        m
    }

    #[test]
    fn few_rows_give_the_optimum_of_all() {
        let settings = Settings::default();
        for seed in 0..20 {
            let program = many_limits(seed).build().unwrap();
            let Outcome::Optimal(whole) = clarabel::solve(&program, &settings) else {
                panic!("{seed}: the whole program has an optimum");
            };
            let mut set = WorkingSet::new(&program, 100).unwrap();
            let Some(Outcome::Optimal(found)) = set.solve(&settings) else {
                panic!("{seed}: the working set has one too");
            };
            assert!((found.objective - whole.objective).abs() < 1e-6, "{seed}");
            assert!(found.residuals.pass(settings.tolerance()));
            assert_eq!(found.z.len(), program.rows());
            // Limits do bind, and most are never looked at.
            let (nothing, _) = WorkingSet::new(&program, 100).unwrap().restricted();
            let Outcome::Optimal(loose) = clarabel::solve(&nothing, &settings) else {
                panic!("{seed}: a box has an optimum");
            };
            assert!(loose.objective < whole.objective - 1e-3, "{seed}");
            let left_out = set.left_out().count();
            assert!(left_out > 200, "{seed}: {left_out} of 400 left out");
        }
    }

    #[test]
    fn a_program_that_only_limits_make_infeasible_is_found_infeasible() {
        let mut m = many_limits(3);
        let x = m.variable("y", 2);
        m.at_most("low", x.at(0) + x.at(1), -1.0);
        m.at_most("high", -1.0 * x.at(0) - 1.0 * x.at(1), 0.5);
        let program = m.build().unwrap();
        let outcome = WorkingSet::new(&program, 100)
            .unwrap()
            .solve(&Settings::default());
        let Some(Outcome::Infeasible(z)) = outcome else {
            panic!("{outcome:?}");
        };
        assert!(infeasibility(&program, &z).is_some());
    }

    #[test]
    fn a_variable_that_only_limits_hold_gets_them() {
        // t ≥ a_i'x for all i: without these rows t falls for ever.
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        let t = m.variable("t", 1);
        m.minimize(t.at(0));
        m.between("x0", -1.0, x.at(0), 1.0);
        m.between("x1", -1.0, x.at(1), 1.0);
        for i in 0..9 {
            let angle = f64::from(i);
            let height = x.dot(&[angle.cos(), angle.sin()]);
            m.at_most(&format!("above {i}"), height - 1.0 * t.at(0), 1.0);
        }
        for i in 0..40 {
            m.at_most(&format!("idle {i}"), x.sum(), 10.0 + f64::from(i));
        }
        let program = m.build().unwrap();
        let settings = Settings::default();
        let outcome = WorkingSet::new(&program, 10).unwrap().solve(&settings);
        let (Some(Outcome::Optimal(found)), Outcome::Optimal(whole)) =
            (outcome, clarabel::solve(&program, &settings))
        else {
            panic!("both have an optimum");
        };
        assert!((found.objective - whole.objective).abs() < 1e-6);
    }

    #[test]
    fn where_most_limits_are_needed_the_whole_program_is_solved() {
        // A polygon with 60 sides around every direction: the box outside it violates nearly all.
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        m.minimize(x.dot(&[0.3, 1.0]));
        m.between("x0", -9.0, x.at(0), 9.0);
        m.between("x1", -9.0, x.at(1), 9.0);
        for i in 0..60 {
            let angle = std::f64::consts::TAU * f64::from(i) / 60.0;
            let side = x.dot(&[angle.cos() * 1e-3, -angle.sin().abs() - 0.1]);
            m.at_most(&format!("side {i}"), side, 1e-3);
        }
        let program = m.build().unwrap();
        let mut set = WorkingSet::new(&program, 10).unwrap();
        assert!(set.solve(&Settings::default()).is_none());
        assert!(WorkingSet::new(&program, 100).is_none());
    }
}
