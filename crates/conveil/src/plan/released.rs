//! The released map θ ↦ (x̄, X): the single function behind release, sampled sensitivity, calibration and audit.

use super::correction::break_ties;
use super::decided::{Decided, Recourse};
use crate::ask::{Ask, ResolvedQuery, Strategy};
use crate::certify::Envelope;
use crate::chance::{Design, Feasibility};
use crate::error::{Error, Result};
use crate::noise::{LatticeLaw, Law};
use crate::program::{DataMap, Program};
use crate::proof::{
    Measure, Precision, Proven, Solver, interior, meets_the_equalities, on_the_equalities, refined,
};
use crate::rewrite::{Endpoints, LocalAnswer, LocalRecourse};
use crate::risk::Risk;
use crate::rule::{Lift, Lifted, RowRule, Rule, Shape};
use crate::solve::{self, Infeasibility, Outcome, Residuals, Settings, Solution};
use std::collections::HashSet;
use std::sync::Arc;

/// Solves around a point that is not proven good enough, at most.
const REFINEMENTS: usize = 3;

/// A solve around a point: limits farther than `share` of the largest are moved near it (nearer is closer, but may leave
/// out the optimum; 1 moves none), and the program is posed as it stands or in units of its limits.
#[derive(Clone, Copy)]
struct Around {
    share: f64,
    posed: Posed,
}

const fn around(share: f64, posed: Posed) -> Around {
    Around { share, posed }
}

/// What is tried in turn.
const AROUND: [Around; 6] = [
    around(1.0, Posed::AsItStands),
    around(1e-9, Posed::AsItStands),
    around(1e-3, Posed::InUnits),
    around(1e-6, Posed::InUnits),
    around(1.0, Posed::InUnits),
    around(1e-9, Posed::InUnits),
];

/// How a program is posed to the solver first.
#[derive(Clone, Copy, PartialEq)]
enum Posed {
    AsItStands,
    /// In units in which its limits and costs are of order one.
    InUnits,
}

/// A solve around a point ends the search for a better one where it leaves at most this share of the error.
const MUCH: f64 = 0.1;

/// The tolerance tried first where a solve must be proven.
const TIGHT: f64 = 1e-9;

/// What public solves showed.
pub(super) struct Rehearsed {
    /// The largest proven error.
    pub(super) error: f64,
    /// The size of the numbers that are added up to the objective.
    pub(super) size: f64,
    /// What the largest cost would make of the largest limit.
    pub(super) limits: f64,
}

/// The released map.
#[derive(Debug)]
pub struct ReleasedMap<'m> {
    map: Arc<dyn DataMap + 'm>,
    query: ResolvedQuery,
    shape: Shape,
    rule: Rule,
    design: Design,
    risk: Risk,
    noise: LatticeLaw,
    settings: Settings,
    /// The public splits that take part.
    splits: Vec<usize>,
    /// What every solve must be proven to meet.
    precision: Option<Precision>,
    /// Every variable without curvature has an interval, at the public datasets.
    bounded: bool,
    /// Neighbours move the answer very little beside the program's numbers.
    strained: bool,
    /// The recourse in closed form, where it is local.
    local: Option<LocalRecourse>,
    /// The envelope, and the user's own program for the tie-breaking second solve.
    envelope: Option<(Arc<Envelope>, Box<ReleasedMap<'m>>)>,
}

impl std::fmt::Debug for dyn DataMap + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DataMap({} parameters)", self.len())
    }
}

/// The chance constraint's design, and the recourse in closed form where it is local. Methods left open are then the
/// noise-aware hinge, whose exact quantiles are never above the rooms of row by row (M5e, M9).
fn designed(
    map: &dyn DataMap,
    rule: &Rule,
    ask: &Ask,
    noise: &LatticeLaw,
) -> Result<(Design, Option<LocalRecourse>)> {
    let serving = |wish: &Feasibility| {
        let design = match ask.strategy {
            Strategy::Program => Design::new(map.template(), rule, noise, wish)?,
            other => {
                let promised = other == Strategy::Projected;
                Design::at_the_mean(map.template(), noise, promised)
            }
        };
        ask.risk
            .validate(map.template(), noise.law(), rule.noises())?;
        let local = LocalRecourse::new(map, rule, &design, &ask.risk, noise)?;
        Ok::<_, Error>((design, local))
    };
    let (design, local) = serving(&ask.feasibility)?;
    let hinges_alone = design.without_local_recourse(map.template());
    if design.is_at_the_mean() || (local.is_none() && hinges_alone.is_ok()) {
        return Ok((design, local));
    }
    match serving(&ask.feasibility.with_local_recourse())? {
        (exact, Some(local)) => Ok((exact, Some(local))),
        // A row and its slack's sign are served by two methods, one of them stated.
        (_, None) if local.is_some() => Ok((design, local)),
        (_, None) => {
            hinges_alone?;
            Ok((design, None))
        }
    }
}

impl<'m> ReleasedMap<'m> {
    pub(crate) fn new(
        map: Arc<dyn DataMap + 'm>,
        query: ResolvedQuery,
        shape: Shape,
        rule: Rule,
        ask: &Ask,
        noise: LatticeLaw,
    ) -> Result<Self> {
        let (design, local) = designed(&*map, &rule, ask, &noise)?;
        Ok(ReleasedMap {
            local,
            splits: (0..design.splits()).collect(),
            precision: None,
            bounded: true,
            strained: false,
            envelope: None,
            map,
            query,
            shape,
            rule,
            design,
            risk: ask.risk.clone(),
            noise,
            settings: ask.settings.clone(),
        })
    }

    /// Every solve must be proven to this precision.
    pub(super) fn proving(mut self, precision: Precision) -> Self {
        self.precision = Some(precision);
        self
    }

    /// This map is the envelope of `plain`, the user's own program under the same noise.
    pub(super) fn enveloping(mut self, envelope: Arc<Envelope>, plain: ReleasedMap<'m>) -> Self {
        self.envelope = Some((envelope, Box::new(plain)));
        self
    }

    /// Solves at a public dataset: which splits are feasible (for every dataset or for none, under an envelope), how
    /// good a solve is, how large its numbers are, a point inside every cone.
    pub(super) fn rehearse(&mut self, theta: &[f64]) -> Result<Rehearsed> {
        let program = self.map.at(theta)?;
        let (mut worst, mut size, mut limits) = (0.0f64, 0.0f64, 0.0f64);
        let mut feasible = Vec::new();
        let mut obstacle = None;
        if let Some(local) = &self.local {
            let answer = local.decide(&program, &self.noise, &self.settings)?;
            return Ok(Rehearsed {
                error: answer.error,
                size: answer.objective.abs(),
                limits: 0.0,
            });
        }
        for split in self.splits.clone() {
            let lifted = self.lifted(&program, split)?;
            match self.solve_lifted(&lifted, split) {
                Outcome::Optimal(solution) => {
                    let (solution, proven) =
                        self.settle(&program, &lifted, solution, (split, None))?;
                    size = size.max(size_of_terms(lifted.program(), &solution));
                    limits = limits.max(size_of_limits(lifted.program()));
                    if let Some(proven) = proven {
                        worst = worst.max(proven.error);
                        self.bounded &= proven.is_bounded;
                    }
                    feasible.push(split);
                }
                Outcome::Infeasible(z) => {
                    obstacle = Some(Infeasibility::named(lifted.program(), &z, |i| {
                        lifted.row_name(&program, i)
                    }));
                }
                other => {
                    other.into_solution(lifted.program(), self.settings.tolerance())?;
                }
            }
        }
        let Some(&first) = feasible.first() else {
            solve::solve_checked(&program, &self.settings)?;
            return Err(Error::NoiseDoesNotFit(obstacle.unwrap_or_default()));
        };
        if self.precision.is_some() {
            let lifted = self.lifted(&program, first)?;
            let point = interior(lifted.program(), &self.settings);
            let moved = point.map(|point| match &self.envelope {
                Some((envelope, _)) => envelope.inside_for_all(point),
                None => point,
            });
            if let Some(precision) = &mut self.precision {
                precision.inside = moved;
            }
        }
        self.splits = feasible;
        Ok(Rehearsed {
            error: worst,
            size,
            limits,
        })
    }

    /// Neighbours move the answer so little, beside the program's numbers, that a solve may miss it on some data.
    pub(super) fn straining(mut self) -> Self {
        self.strained = true;
        self
    }

    /// Whether the plan says so.
    pub(super) fn is_strained(&self) -> bool {
        self.strained
    }

    /// Whether no solve hangs on a variable without bounds.
    pub(crate) fn is_bounded(&self) -> bool {
        self.bounded
    }

    /// The model that is solved: under a certificate perhaps the user's with variables added behind.
    pub fn map(&self) -> &(dyn DataMap + 'm) {
        &*self.map
    }

    /// The map of the user's own program, where an envelope stands in its place.
    pub(crate) fn plain(&self) -> Option<&ReleasedMap<'m>> {
        self.envelope.as_ref().map(|(_, plain)| &**plain)
    }

    /// Whether slacks answer to the noise in closed form (M9).
    pub fn has_local_recourse(&self) -> bool {
        self.local.is_some()
    }

    /// The slacks that do.
    pub(crate) fn local_columns(&self) -> HashSet<usize> {
        let local = self.local.iter();
        local.flat_map(LocalRecourse::slacks).collect()
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

    /// The noise as it is drawn.
    pub fn noise(&self) -> &LatticeLaw {
        &self.noise
    }

    /// The noise law.
    pub fn law(&self) -> &Law {
        self.noise.law()
    }

    /// The lattice step h.
    pub fn step(&self) -> f64 {
        self.noise.step()
    }

    /// Solver settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A decision of this map in the variables and rows of the user's own program at θ.
    pub fn own_view(&self, decided: Decided, theta: &[f64]) -> Result<Decided> {
        match &self.envelope {
            None => Ok(decided),
            Some((_, plain)) => Ok(decided.in_own_variables(plain.map.at(theta)?)),
        }
    }

    /// The lifted conic program at a dataset and split.
    pub fn lifted(&self, program: &Program, split: usize) -> Result<Lifted> {
        let rule = self.rule.at(program, None)?;
        let mut lift = Lift::new(program, &rule);
        self.design.enforce(&mut lift, split)?;
        self.risk.apply(&mut lift, self.law())?;
        Ok(lift.finish())
    }

    /// (x̄, X) at θ.
    pub fn at(&self, theta: &[f64]) -> Result<Decided> {
        let best = self.best_split(theta)?;
        let Some((envelope, plain)) = &self.envelope else {
            return Ok(best);
        };
        break_ties(best, theta, envelope, plain)
    }

    /// The best of the public splits.
    fn best_split(&self, theta: &[f64]) -> Result<Decided> {
        let program = self.map.at(theta)?;
        let mut best: Option<Decided> = None;
        let mut obstacle = None;
        for &split in &self.splits {
            match self.at_split(&program, split, None) {
                Ok(decided) => {
                    if best
                        .as_ref()
                        .is_none_or(|b| decided.objective < b.objective)
                    {
                        best = Some(decided);
                    }
                }
                // Under an envelope a split is feasible for all data or for none, and those that are not were left out.
                Err(Error::NoiseDoesNotFit(rows)) if self.envelope.is_none() => {
                    obstacle = Some(rows);
                }
                // A split without a certified answer fails the whole map: it is never skipped.
                Err(other) => return Err(other),
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

    /// One split.
    /// `aim`: solved around its own point until it is proven to this, where that can be; without it, to what is required.
    fn at_split(&self, program: &Program, split: usize, aim: Option<f64>) -> Result<Decided> {
        let start = std::time::Instant::now();
        if let Some(local) = &self.local {
            let answer = local.decide(program, &self.noise, &self.settings)?;
            let mut decided = self.decide_locally(program, answer, split);
            self.require(decided.proven_error)?;
            decided.seconds = (0.0, start.elapsed().as_secs_f64());
            return Ok(decided);
        }
        let lifted = self.lifted(program, split)?;
        let lift_seconds = start.elapsed().as_secs_f64();
        match self.solve_lifted(&lifted, split) {
            Outcome::Optimal(solution) => {
                let (solution, proven) = self.settle(program, &lifted, solution, (split, aim))?;
                let error = proven.map(|proven| proven.error);
                self.require(error)?;
                let seconds = (lift_seconds, start.elapsed().as_secs_f64() - lift_seconds);
                let mut decided = self.decide(program, &lifted, solution, split, seconds)?;
                decided.proven_error = error;
                Ok(decided)
            }
            Outcome::Infeasible(z) => {
                let named =
                    Infeasibility::named(lifted.program(), &z, |i| lifted.row_name(program, i));
                Err(Error::NoiseDoesNotFit(named))
            }
            Outcome::Unbounded(_) => {
                // The deterministic program says it in the user's own names.
                solve::solve_checked(program, &self.settings)?;
                Err(Error::Unbounded(
                    "with noise: some recourse lowers the objective without limit".into(),
                ))
            }
            other => {
                other.into_solution(lifted.program(), self.settings.tolerance())?;
                Err(Error::Numerical("no answer".into()))
            }
        }
    }

    /// Refuses a solve that is not proven as closely as the guarantee counts on.
    fn require(&self, error: Option<f64>) -> Result<()> {
        match (error, &self.precision) {
            (Some(error), Some(precision)) if !(error <= precision.tolerance) => {
                Err(Error::Numerical(format!(
                    "this solve is proven to within {error:.2e} of the optimum only, but the guarantee counts on {:.2e}; data far larger than alpha, or than the public values that the tolerance was found on (nominal values and bounds), are hard to solve so closely",
                    precision.tolerance
                )))
            }
            _ => Ok(()),
        }
    }

    /// What the closed form of local recourse decides.
    fn decide_locally(&self, program: &Program, answer: LocalAnswer, split: usize) -> Decided {
        Decided {
            answer: self.query.apply(&answer.mean),
            program: program.clone(),
            mean: answer.mean,
            recourse: Recourse {
                noises: self.rule.noises(),
                rows: answer.recourse,
            },
            objective: answer.objective,
            residuals: answer.residuals,
            prices: answer.prices,
            split,
            lifted_size: answer.size,
            seconds: (0.0, 0.0),
            proven_error: self.precision.is_some().then_some(answer.error),
            is_on_equalities: true,
            correction: None,
        }
    }

    /// Moves the point onto the equalities and, where a certificate counts on it, inside the cones; proves its error,
    /// and solves again around the point while that is too large.
    fn settle(
        &self,
        program: &Program,
        lifted: &Lifted,
        solution: Solution,
        (split, aim): (usize, Option<f64>),
    ) -> Result<(Solution, Option<Proven>)> {
        let mut solution = on_the_equalities(lifted, solution, &self.settings);
        let Some(precision) = &self.precision else {
            return Ok((solution, None));
        };
        let mean = self.design.holds_at_the_mean().then_some(program);
        let lifted_program = lifted.program();
        let again = |program: Program, posed: Posed| {
            let near = lifted.with_program(program);
            match self.solve_posed(&near, split, posed) {
                Outcome::Optimal(solution) | Outcome::Inaccurate(solution) => {
                    Some(on_the_equalities(&near, solution, &self.settings))
                }
                _ => None,
            }
        };
        let (as_it_stands, in_units) = (
            |program: Program| again(program, Posed::AsItStands),
            |program: Program| again(program, Posed::InUnits),
        );
        let solver = Solver {
            solve: &as_it_stands,
            settings: &self.settings,
        };
        let solver_in_units = Solver {
            solve: &in_units,
            settings: &self.settings,
        };
        let prove = |solution: &Solution| precision.prove(lifted_program, solution, mean, &solver);
        let mut proven = prove(&solution)?;
        let target = aim.unwrap_or(precision.aim);
        // A point that misses its equations is no decision, whatever is proven of its value.
        let misses = |proven: &Proven| !meets_the_equalities(lifted, &proven.x);
        for _ in 0..REFINEMENTS {
            if !proven.error.is_finite() || (proven.error <= target && !misses(&proven)) {
                break;
            }
            // What is required comes first: a proof in hand is not given up.
            let required = precision.tolerance;
            let rank = |proven: &Proven| (proven.error > required, misses(proven), proven.error);
            // With curvature the limits need not say how large the point is.
            let tried = match precision.measure {
                Measure::Value => &AROUND[..],
                Measure::Curved(_) => &AROUND[..2],
            };
            let mut better: Option<(Solution, Proven)> = None;
            for around in tried {
                let solver = match around.posed {
                    Posed::AsItStands => &solver,
                    Posed::InUnits => &solver_in_units,
                };
                let Some(near) = refined(lifted_program, &solution, solver, around.share) else {
                    continue;
                };
                let near = on_the_equalities(lifted, near, &self.settings);
                let Ok(again) = prove(&near) else {
                    continue;
                };
                let best = better
                    .as_ref()
                    .map_or(rank(&proven), |(_, best)| rank(best));
                if rank(&again) < best {
                    // A little better may be all that this way has to give: the next is tried too.
                    let is_much = again.error <= target.max(MUCH * proven.error);
                    better = Some((near, again));
                    if is_much {
                        break;
                    }
                }
            }
            let Some((better, again)) = better else {
                break;
            };
            solution = better;
            proven = again;
        }
        solution.objective = lifted_program.objective(&proven.x);
        solution.residuals = Residuals::of(lifted_program, &proven.x, &solution.z);
        solution.x = proven.x.clone();
        Ok((solution, Some(proven)))
    }

    /// The rule at θ under the split that another map's rule has, proven to `aim` where that can be.
    pub(crate) fn at_the_split_of(
        &self,
        other: &Decided,
        theta: &[f64],
        aim: Option<f64>,
    ) -> Result<Decided> {
        self.at_split(&self.map.at(theta)?, other.split, aim)
    }

    /// Through the end-point rewrite where one box holds the only noise, else as it stands. Both are checked alike.
    fn solve_lifted(&self, lifted: &Lifted, split: usize) -> Outcome {
        self.solve_posed(lifted, split, Posed::AsItStands)
    }

    fn solve_posed(&self, lifted: &Lifted, split: usize, posed: Posed) -> Outcome {
        let solve = |settings: &Settings| {
            self.design
                .sole_box(split)
                .and_then(|set| Endpoints::new(lifted, &self.rule, set))
                .and_then(|rewritten| rewritten.solve(settings))
                .unwrap_or_else(|| solve::solve(lifted.program(), settings))
        };
        if self.precision.is_none() {
            return solve(&self.settings);
        }
        let tight = match posed {
            Posed::AsItStands => self.settings.tightened(TIGHT),
            Posed::InUnits => self.settings.tightened(TIGHT).in_units(),
        };
        // What is to be proven must be solved well: as tightly as the solver can, then as tightly as it must.
        match solve(&tight) {
            Outcome::Inaccurate(best) if best.residuals.pass(self.settings.tolerance()) => {
                Outcome::Optimal(best)
            }
            Outcome::Inaccurate(_) | Outcome::Failed(_) => match solve(&self.settings) {
                Outcome::Inaccurate(_) | Outcome::Failed(_) => solve(&self.settings.in_units()),
                other => other,
            },
            other => other,
        }
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
            proven_error: None,
            is_on_equalities: meets_the_equalities(lifted, &solution.x),
            correction: None,
        })
    }
}

/// The largest |q_j| times the largest |b_i|/|a_ij|.
fn size_of_limits(program: &Program) -> f64 {
    let cost = program.q().iter().fold(0.0f64, |m, q| m.max(q.abs()));
    cost * solve::size_of_limits(program)
}

/// Σ|q_j x_j|. The dual's terms may be as large as they like where they cancel.
fn size_of_terms(program: &Program, solution: &Solution) -> f64 {
    let terms = program.q().iter().zip(&solution.x);
    terms.map(|(q, x)| (q * x).abs()).sum()
}
