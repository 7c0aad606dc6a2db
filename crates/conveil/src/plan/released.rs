//! The released map θ ↦ (x̄, X): the single function behind release, sampled sensitivity, calibration and audit.

use super::Shape;
use super::equalities::on_the_equalities;
use crate::ask::{Ask, ResolvedQuery};
use crate::chance::Design;
use crate::error::{Error, Result};
use crate::noise::Law;
use crate::program::{DataMap, Program};
use crate::risk::Risk;
use crate::rule::{Endpoints, Lift, Lifted, RowRule, Rule};
use crate::solve::{self, Infeasibility, Outcome, Residuals, Settings};

/// X, sparse by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Recourse {
    noises: usize,
    rows: Vec<Vec<(usize, f64)>>,
}

impl Recourse {
    /// Entries (noise, value) of the row of variable `j`.
    pub fn row(&self, j: usize) -> &[(usize, f64)] {
        &self.rows[j]
    }

    /// Number of noises.
    pub fn noises(&self) -> usize {
        self.noises
    }

    /// Xζ.
    pub fn apply(&self, zeta: &[f64]) -> Vec<f64> {
        self.rows
            .iter()
            .map(|row| row.iter().map(|&(j, v)| v * zeta[j]).sum())
            .collect()
    }

    /// X'a for a sparse row a: entries (noise, value).
    pub fn of_row(&self, terms: &[(usize, f64)]) -> Vec<(usize, f64)> {
        let mut sum = std::collections::BTreeMap::new();
        for &(j, a) in terms {
            for &(noise, v) in &self.rows[j] {
                *sum.entry(noise).or_insert(0.0) += a * v;
            }
        }
        sum.into_iter().collect()
    }
}

/// The map at one dataset. Private.
#[derive(Clone, Debug)]
pub struct Decided {
    /// The program at θ.
    pub program: Program,
    /// x̄.
    pub mean: Vec<f64>,
    /// X.
    pub recourse: Recourse,
    /// Qx̄.
    pub answer: Vec<f64>,
    /// The minimised objective.
    pub objective: f64,
    /// Our check of the solve.
    pub residuals: Residuals,
    /// Multipliers by row of the deterministic program, summed over the lifted rows that stem from it.
    pub prices: Vec<f64>,
    /// Which split won.
    pub split: usize,
    /// Variables and rows of the lifted program.
    pub lifted_size: (usize, usize),
    /// Seconds to lift and to solve.
    pub seconds: (f64, f64),
}

impl Decided {
    /// The prices that are not zero, largest first: the multiplier of a linear row, the norm of the multipliers of any
    /// other cone.
    pub fn named_prices(&self) -> Vec<(String, f64)> {
        let mut prices: Vec<(String, f64)> = Vec::new();
        for block in self.program.constraints() {
            if block.cone().is_linear() {
                let rows = block.range();
                prices.extend(rows.map(|i| (self.program.row_name(i), self.prices[i])));
            } else {
                let price = crate::program::norm(&self.prices[block.range()]);
                prices.push((block.name().to_string(), price));
            }
        }
        let largest = prices.iter().fold(0.0f64, |m, p| m.max(p.1.abs()));
        // Where nothing binds, the largest price is rounding: it is judged against the costs.
        let floor = 1e-6 * largest.max(self.residuals.dual_scale);
        prices.retain(|p| p.1.abs() > floor);
        prices.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        prices
    }
}

/// The released map.
#[derive(Debug)]
pub struct ReleasedMap<'m> {
    map: &'m dyn DataMap,
    query: ResolvedQuery,
    shape: Shape,
    rule: Rule,
    design: Design,
    risk: Risk,
    law: Law,
    step: f64,
    settings: Settings,
}

impl std::fmt::Debug for dyn DataMap + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DataMap({} parameters)", self.len())
    }
}

impl<'m> ReleasedMap<'m> {
    pub(super) fn new(
        map: &'m dyn DataMap,
        query: ResolvedQuery,
        shape: Shape,
        rule: Rule,
        ask: &Ask,
        law: Law,
        step: f64,
    ) -> Result<Self> {
        let design = Design::new(map.template(), &rule, &law, &ask.feasibility, step)?;
        ask.risk.validate(map.template(), &law, rule.noises())?;
        Ok(ReleasedMap {
            map,
            query,
            shape,
            rule,
            design,
            risk: ask.risk.clone(),
            law,
            step,
            settings: ask.settings.clone(),
        })
    }

    /// The model.
    pub fn map(&self) -> &'m dyn DataMap {
        self.map
    }

    /// The query.
    pub fn query(&self) -> &ResolvedQuery {
        &self.query
    }

    /// T.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The rule.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// The chance constraint's design.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The noise law.
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// The lattice step h.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Solver settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The lifted conic program at a dataset and split.
    pub fn lifted(&self, program: &Program, split: usize) -> Result<Lifted> {
        let rule = self.rule.at(program, None)?;
        let mut lift = Lift::new(program, &rule);
        self.design.enforce(&mut lift, split)?;
        self.risk.apply(&mut lift, &self.law)?;
        Ok(lift.finish())
    }

    /// (x̄, X) at θ.
    pub fn at(&self, theta: &[f64]) -> Result<Decided> {
        let program = self.map.at(theta)?;
        let mut best: Option<Decided> = None;
        let mut obstacle = None;
        for split in 0..self.design.splits() {
            let start = std::time::Instant::now();
            let lifted = self.lifted(&program, split)?;
            let lift_seconds = start.elapsed().as_secs_f64();
            match self.solve_lifted(&lifted, split) {
                Outcome::Optimal(solution) => {
                    let seconds = (lift_seconds, start.elapsed().as_secs_f64() - lift_seconds);
                    if best
                        .as_ref()
                        .is_none_or(|b| solution.objective < b.objective)
                    {
                        best = Some(self.decide(&program, &lifted, solution, split, seconds)?);
                    }
                }
                Outcome::Infeasible(z) => {
                    obstacle = Some(Infeasibility::named(lifted.program(), &z, |i| {
                        lifted.row_name(&program, i)
                    }));
                }
                Outcome::Unbounded(_) => {
                    // The deterministic program says it in the user's own names.
                    solve::solve_checked(&program, &self.settings)?;
                    return Err(Error::Unbounded(
                        "with noise: some recourse lowers the objective without limit".into(),
                    ));
                }
                other => {
                    // A split without a certified answer fails the whole map: it is never skipped.
                    other.into_solution(lifted.program(), self.settings.tolerance())?;
                }
            }
        }
        match (best, obstacle) {
            (Some(best), _) => Ok(best),
            (None, obstacle) => {
                solve::solve_checked(&program, &self.settings)?;
                Err(Error::NoiseDoesNotFit(obstacle.unwrap_or_default()))
            }
        }
    }

    /// Through the end-point rewrite where one box holds the only noise, else as it stands. Both are checked alike.
    fn solve_lifted(&self, lifted: &Lifted, split: usize) -> Outcome {
        self.design
            .sole_box(split)
            .and_then(|set| Endpoints::new(lifted, &self.rule, set))
            .and_then(|rewritten| rewritten.solve(&self.settings))
            .unwrap_or_else(|| solve::solve(lifted.program(), &self.settings))
    }

    fn decide(
        &self,
        program: &Program,
        lifted: &Lifted,
        solution: solve::Solution,
        split: usize,
        seconds: (f64, f64),
    ) -> Result<Decided> {
        let n = program.columns();
        let k = self.rule.noises();
        let rule = self.rule.at(program, None)?;
        let solution = on_the_equalities(lifted, solution, &self.settings);
        let free = &solution.x[n..n + rule.free_entries()];
        let recourse = (0..n)
            .map(|j| match rule.row(j) {
                RowRule::Fixed(entries) => entries.clone(),
                RowRule::Free(f) => (0..k).map(|noise| (noise, free[f * k + noise])).collect(),
            })
            .collect();
        let mut prices = vec![0.0; program.rows()];
        // The equations on X have multipliers too, but no price: they are not the row itself.
        let rows = lifted.origins().iter().zip(&solution.z);
        for (origin, z) in rows.skip(lifted.recourse_equations()) {
            if let Some(row) = origin {
                prices[*row] += z;
            }
        }
        let mean = solution.x[..n].to_vec();
        Ok(Decided {
            answer: self.query.apply(&mean),
            program: program.clone(),
            mean,
            recourse: Recourse {
                noises: k,
                rows: recourse,
            },
            objective: solution.objective,
            residuals: solution.residuals,
            prices,
            split,
            lifted_size: (lifted.program().columns(), lifted.program().rows()),
            seconds,
        })
    }
}

/// The program without noise, as a map: what output perturbation releases, and what the paper calibrates to.
#[derive(Debug)]
pub struct DeterministicMap<'m> {
    map: &'m dyn DataMap,
    query: ResolvedQuery,
    shape: Shape,
    settings: Settings,
}

impl<'m> DeterministicMap<'m> {
    pub(crate) fn new(
        map: &'m dyn DataMap,
        query: &ResolvedQuery,
        shape: &Shape,
        ask: &Ask,
    ) -> Self {
        DeterministicMap {
            map,
            query: query.clone(),
            shape: shape.clone(),
            settings: ask.settings.clone(),
        }
    }

    /// T^{-1}Qx(θ).
    pub fn answer(&self, theta: &[f64]) -> Result<Vec<f64>> {
        let program = self.map.at(theta)?;
        let solution = solve::solve_checked(&program, &self.settings)?;
        Ok(self.shape.unshape(&self.query.apply(&solution.x)))
    }
}
