//! A rewrite for one noise under one box [l, u]: the variables x⁻ = x̄ + lX and x⁺ = x̄ + uX instead of x̄ and X.
//!
//! Rows at an end of the box then hold one of the two copies alone, and an equality with AX = 0 becomes one equality
//! for each copy: two copies of the deterministic program, coupled by the query row only. The solver's factorisation
//! fills in far less. The answer is mapped back and checked against the lifted program itself.

use crate::chance::BoxSet;
use crate::program::{Program, Sparse};
use crate::rule::{Lifted, Rule};
use crate::solve::{self, Outcome, Residuals, Settings};
use std::collections::HashMap;

/// How much more closely the rewritten program is solved where its answer fails the lifted one's check.
const CLOSER: f64 = 0.01;

/// The rewritten program and the way back.
pub(crate) struct Endpoints<'a> {
    lifted: &'a Lifted,
    program: Program,
    /// Columns (x̄_j, X_j) that became (x⁻_j, x⁺_j).
    columns: Vec<(usize, usize)>,
    /// Equality rows (Ax̄ = b, AX = 0) that became (Ax⁻ = b, Ax⁺ = b).
    rows: Vec<(usize, usize)>,
    set: BoxSet,
}

impl<'a> Endpoints<'a> {
    /// Rewrites; `None` where there is nothing to gain: several noises, no free recourse, a quadratic
    /// objective, coordinates of its own.
    pub(crate) fn new(lifted: &'a Lifted, rule: &Rule, set: BoxSet) -> Option<Self> {
        let program = lifted.program();
        let is_framed = program.frame().is_some();
        if rule.noises() != 1 || rule.free().is_empty() || program.p().nnz() > 0 || is_framed {
            return None;
        }
        let columns: Vec<(usize, usize)> = rule
            .free()
            .iter()
            .enumerate()
            .map(|(f, &j)| (j, rule.variables() + f))
            .collect();
        let rows = pair_equalities(lifted, rule);
        let (low, high) = (set.lower, set.upper);
        // First the rows: r₁ + l·r₂ and r₁ + u·r₂ in place of r₁ and r₂.
        let mut partner: HashMap<usize, (usize, bool)> = HashMap::new();
        for &(first, second) in &rows {
            partner.insert(first, (second, true));
            partner.insert(second, (first, false));
        }
        let mut triplets = Vec::with_capacity(program.a().nnz() * 2);
        for (i, j, v) in program.a().entries() {
            match partner.get(&i) {
                None => triplets.push((i, j, v)),
                Some(&(other, true)) => triplets.extend([(i, j, v), (other, j, v)]),
                Some(&(other, false)) => triplets.extend([(other, j, low * v), (i, j, high * v)]),
            }
        }
        let mut b = program.b().to_vec();
        for &(first, second) in &rows {
            let (one, two) = (b[first], b[second]);
            b[first] = one + low * two;
            b[second] = one + high * two;
        }
        let a = Sparse::assemble(program.rows(), program.columns(), &triplets);
        let (a, q) = change_columns(&a, program.q(), &columns, set);
        let cones = program
            .constraints()
            .iter()
            .map(|c| c.cone().clone())
            .collect();
        let p = Sparse::zeros(program.columns(), program.columns());
        Some(Endpoints {
            lifted,
            program: Program::assembled(p, q, a, b, program.constant(), cones),
            columns,
            rows,
            set,
        })
    }

    /// Solves the rewritten program; an answer counts only if it passes the check of the lifted program, its dual
    /// residual measured at the ends of the box: that of X would be the same times the noise, and hang on its unit.
    /// What passes here but not there is solved more closely.
    pub(crate) fn solve(&self, settings: &Settings) -> Option<Outcome> {
        let closely = settings.tightened(CLOSER * settings.tolerance());
        self.solve_to(settings, settings)
            .or_else(|| self.solve_to(&closely, settings))
    }

    fn solve_to(&self, closely: &Settings, settings: &Settings) -> Option<Outcome> {
        let back = match solve::solve(&self.program, closely) {
            Outcome::Optimal(mut solution) | Outcome::Inaccurate(mut solution) => {
                self.points_back(&mut solution.x);
                self.multipliers_back(&mut solution.z);
                let program = self.lifted.program();
                let at_the_ends = solution.residuals;
                solution.objective = program.objective(&solution.x);
                solution.residuals = Residuals {
                    dual: at_the_ends.dual,
                    dual_scale: at_the_ends.dual_scale,
                    ..Residuals::of(program, &solution.x, &solution.z)
                };
                let passes = solution.residuals.pass(settings.tolerance());
                return passes.then_some(Outcome::Optimal(solution));
            }
            Outcome::Infeasible(mut z) => {
                self.multipliers_back(&mut z);
                Outcome::Infeasible(z)
            }
            Outcome::Unbounded(mut d) => {
                self.points_back(&mut d);
                Outcome::Unbounded(d)
            }
            Outcome::Cancelled => return Some(Outcome::Cancelled),
            Outcome::Failed(_) => return None,
        };
        solve::recheck(self.lifted.program(), back, settings)
    }

    /// x̄ = (u·x⁻ − l·x⁺)/(u−l), X = (x⁺ − x⁻)/(u−l).
    fn points_back(&self, x: &mut [f64]) {
        let width = self.set.upper - self.set.lower;
        for &(mean, recourse) in &self.columns {
            let (low, high) = (x[mean], x[recourse]);
            x[mean] = (self.set.upper * low - self.set.lower * high) / width;
            x[recourse] = (high - low) / width;
        }
    }

    fn multipliers_back(&self, z: &mut [f64]) {
        for &(first, second) in &self.rows {
            let (low, high) = (z[first], z[second]);
            z[first] = low + high;
            z[second] = self.set.lower * low + self.set.upper * high;
        }
    }
}

/// A coefficient pair (α on x̄_j, β on X_j) becomes ((αu − β)/(u−l) on x⁻_j, (β − αl)/(u−l) on x⁺_j); what is
/// exactly zero (β = αl or αu) leaves the pattern.
fn change_columns(
    a: &Sparse,
    q: &[f64],
    columns: &[(usize, usize)],
    set: BoxSet,
) -> (Sparse, Vec<f64>) {
    let width = set.upper - set.lower;
    let changed = |alpha: f64, beta: f64| {
        (
            (alpha * set.upper - beta) / width,
            (beta - alpha * set.lower) / width,
        )
    };
    let mut is_pair = vec![false; a.columns()];
    let mut triplets = Vec::with_capacity(a.nnz());
    let mut costs = q.to_vec();
    for &(mean, recourse) in columns {
        is_pair[mean] = true;
        is_pair[recourse] = true;
        let mut first = a.column(mean).peekable();
        let mut second = a.column(recourse).peekable();
        loop {
            let row = match (first.peek(), second.peek()) {
                (None, None) => break,
                (Some(x), None) => x.0,
                (None, Some(y)) => y.0,
                (Some(x), Some(y)) => x.0.min(y.0),
            };
            let alpha = first.next_if(|e| e.0 == row).map_or(0.0, |e| e.1);
            let beta = second.next_if(|e| e.0 == row).map_or(0.0, |e| e.1);
            let (low, high) = changed(alpha, beta);
            if low != 0.0 {
                triplets.push((row, mean, low));
            }
            if high != 0.0 {
                triplets.push((row, recourse, high));
            }
        }
        (costs[mean], costs[recourse]) = changed(q[mean], q[recourse]);
    }
    triplets.extend(a.entries().filter(|e| !is_pair[e.1]));
    (Sparse::assemble(a.rows(), a.columns(), &triplets), costs)
}

/// Rows Ax̄ = b and AX = 0 that stem from the same row of the program.
fn pair_equalities(lifted: &Lifted, rule: &Rule) -> Vec<(usize, usize)> {
    let equations = lifted.recourse_equations();
    let mut by_origin: HashMap<usize, usize> = HashMap::new();
    for (i, origin) in lifted.origins().iter().take(equations).enumerate() {
        if let Some(origin) = origin {
            by_origin.insert(*origin, i);
        }
    }
    debug_assert_eq!(rule.noises(), 1);
    lifted
        .origins()
        .iter()
        .enumerate()
        .take(lifted.equalities())
        .skip(equations)
        .filter_map(|(i, origin)| Some((i, by_origin.remove(&(*origin)?)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::ask::{Adjacency, Ask, Privacy};
    use crate::plan::Plan;
    use crate::program::{Builder, DataMap};
    use crate::solve::{self, Outcome, Settings};

    /// A small dispatch problem with equalities; `demand` decides whether the noise fits.
    fn plan_and_both_roads(demand: f64) -> (Outcome, Option<Outcome>, usize, usize) {
        let mut m = Builder::new();
        let x = m.variable("x", 3);
        let d = m.parameter("d");
        m.minimize(1.0 * x.at(0) + 2.0 * x.at(1) + 4.0 * x.at(2));
        m.equal("balance", x.sum(), d);
        for i in 0..3 {
            m.between(&format!("unit {i}"), 0.0, x.at(i), 5.0);
        }
        let map = m.build_map().unwrap();
        let ask = Ask::cost()
            .adjacency(Adjacency::one_entry(0.1))
            .privacy(Privacy::laplace(1.0))
            .declared(0.4, "the dearest unit costs 4");
        let plan = Plan::new(&map, ask).unwrap();
        let released = plan.released();
        let program = map.at(&[demand]).unwrap();
        let lifted = released.lifted(&program, 0).unwrap();
        let settings = Settings::default();
        let set = released.design().sole_box(0).unwrap();
        let rewritten = super::Endpoints::new(&lifted, released.rule(), set).unwrap();
        let answer = rewritten.solve(&settings);
        if let Some(Outcome::Optimal(found)) = &answer {
            // Point and multipliers are those of the lifted program itself, its dual residual included.
            let own = solve::Residuals::of(lifted.program(), &found.x, &found.z);
            assert!(own.worst() < 1e-6, "{own}");
        }
        (
            solve::solve(lifted.program(), &settings),
            answer,
            lifted.program().a().nnz(),
            rewritten.program.a().nnz(),
        )
    }

    #[test]
    fn the_rewrite_finds_the_same_optimum_with_a_sparser_matrix() {
        let (plain, rewritten, nnz, sparser) = plan_and_both_roads(6.0);
        let (Outcome::Optimal(a), Some(Outcome::Optimal(b))) = (plain, rewritten) else {
            panic!("both roads must find an optimum");
        };
        assert!((a.objective - b.objective).abs() < 1e-6);
        assert!(b.residuals.worst() <= Settings::default().tolerance());
        assert!(sparser < nnz, "{sparser} entries against {nnz}");
    }

    #[test]
    fn an_infeasible_program_is_infeasible_on_both_roads() {
        // At the full 15 every unit stands at its limit and no noise fits.
        let (plain, rewritten, ..) = plan_and_both_roads(15.0);
        assert!(matches!(plain, Outcome::Infeasible(_)), "{plain:?}");
        assert!(
            matches!(rewritten, Some(Outcome::Infeasible(_))),
            "{rewritten:?}"
        );
    }
}
