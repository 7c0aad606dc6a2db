//! The released map θ ↦ (x̄, X): the single function behind release, sampled sensitivity, calibration and audit.

use super::DeterministicMap;
use super::correction::{break_ties, keep_the_answer};
use super::decided::{Decided, Recourse};
use super::posed::Posed;
use crate::ask::{Ask, ResolvedQuery, Strategy};
use crate::certify::Deviation;
use crate::chance::{Design, Feasibility};
use crate::error::{Error, Result};
use crate::noise::{LatticeLaw, Law};
use crate::program::{DataMap, Program};
use crate::proof::{Limits, Precision, meets_the_equalities, on_the_equalities};
use crate::rewrite::{LossForm, Rows, Solved};
use crate::risk::Risk;
use crate::rule::{Lift, Lifted, RowRule, Rule, Shape};
use crate::solve::{self, Cancel, Infeasibility, Outcome, Residuals, Settings, Solution};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// The released map.
#[derive(Clone, Debug)]
pub struct ReleasedMap<'m> {
    pub(super) map: Arc<dyn DataMap + 'm>,
    pub(super) posed: Posed,
    /// Shared, as the form of the losses is: of a million records both are long.
    pub(super) design: Arc<Design>,
    pub(super) risk: Risk,
    pub(super) noise: LatticeLaw,
    pub(super) settings: Settings,
    /// The public splits that take part.
    pub(super) splits: Vec<usize>,
    /// What every solve must be proven to meet.
    pub(super) precision: Option<Precision>,
    /// Public limits onto which every mean decision is moved.
    limits: Vec<Limits>,
    /// Every variable without curvature has an interval, at the public datasets.
    pub(super) bounded: bool,
    /// Neighbours move the answer very little beside the program's numbers.
    pub(super) strained: bool,
    /// The program in its weights alone, where it is a sum of losses.
    pub(super) local: Option<Arc<LossForm>>,
    /// It is θ ↦ θ: nothing is solved.
    is_the_data: bool,
    /// Where the solved program may deviate from the data: the user's own program for the tie-breaking second solve.
    pub(super) deviating: Option<Deviating<'m>>,
}

/// How the solved program deviates from the data, and the map of the user's own program under the same noise.
#[derive(Clone, Debug)]
pub(super) struct Deviating<'m> {
    pub(super) deviation: Deviation,
    plain: Box<ReleasedMap<'m>>,
    /// The user's own program, without added curvature.
    users: Arc<dyn DataMap + 'm>,
}

/// How the data that a decision is for may differ from the data themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Corrects {
    /// At a price that the released number holds (M8a).
    InTheAnswer,
    /// At a price that it does not hold (M15a).
    BesideTheAnswer,
    /// Not at all: rows with private numbers may be exceeded, at a price that the released number holds (M15b).
    RowsAtAPrice,
    /// Not at all: rows with private numbers have a margin, and may be exceeded at a price (M15c).
    RowsWithAMargin,
}

impl Deviating<'_> {
    /// What the added curvature costs a decision on average.
    fn added_by_curvature(
        curved: &Program,
        users: &Program,
        decided: &Decided,
        variance: f64,
    ) -> f64 {
        let mean = &decided.mean[..users.columns()];
        let expected = |program: &Program| {
            program.objective(mean) + decided.recourse.expected_extra(program, variance)
        };
        expected(curved) - expected(users)
    }
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
) -> Result<(Design, Option<LossForm>)> {
    let serving = |asked: &Feasibility| {
        let design = match ask.strategy {
            Strategy::Program => Design::new(map.template(), rule, noise, asked)?,
            other => {
                let promised = other.is_always_feasible();
                Design::at_the_mean(map.template(), noise, promised)
            }
        };
        ask.risk
            .validate(map.template(), noise.law(), rule.noises())?;
        let local = LossForm::new(map, rule, &design, &ask.risk, noise)?;
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
        posed: Posed,
        ask: &Ask,
        noise: LatticeLaw,
    ) -> Result<Self> {
        let (design, local) = designed(&*map, &posed.rule, ask, &noise)?;
        Ok(ReleasedMap {
            // Its proof is about the weights; a value is proven by its gap.
            local: local.map(Arc::new).filter(|_| !posed.query.is_objective),
            splits: (0..design.splits()).collect(),
            precision: None,
            limits: Vec::new(),
            bounded: true,
            strained: false,
            is_the_data: false,
            deviating: None,
            map,
            posed,
            design: Arc::new(design),
            risk: ask.risk.clone(),
            noise,
            settings: ask.settings.clone(),
        })
    }

    /// The same map, whose solves this flag stops.
    pub(super) fn watching(mut self, cancel: &Cancel) -> Self {
        self.settings = self.settings.with_cancel(cancel.clone());
        self.deviating = self.deviating.map(|deviating| Deviating {
            plain: Box::new(deviating.plain.watching(cancel)),
            ..deviating
        });
        self
    }

    /// The map is the data themselves, as they count: its minimum is known without a solve.
    pub(super) fn without_a_solve(mut self) -> Self {
        self.is_the_data = true;
        self
    }

    /// Every solve must be proven to this precision.
    pub(super) fn proving(mut self, precision: Precision) -> Self {
        self.precision = Some(precision);
        self
    }

    /// Every mean decision is moved onto these limits.
    ///
    /// # Guarantee
    /// Every `mean` that this map returns lies between them exactly, whatever the solver returned, and `answer` is Q times
    /// that mean (M8e). Test: `every_answer_lies_on_the_limits_whatever_the_solver_returned`.
    pub(super) fn within(mut self, limits: Vec<Limits>) -> Result<Self> {
        if self.local.is_some() {
            return Err(Error::refused(
                "limits on an answer whose losses have a closed form",
                "that closed form is not moved onto limits",
                "the certificate `erm`, or a declared sensitivity",
            ));
        }
        self.limits = limits;
        Ok(self)
    }

    /// The solution with its mean on the limits. What was within our tolerance must stay so.
    fn on_the_limits(&self, lifted: &Lifted, mut solution: Solution) -> Result<Solution> {
        if self.limits.is_empty() {
            return Ok(solution);
        }
        for limits in &self.limits {
            let x = &mut solution.x[limits.column];
            // Not `clamp`: NaN ends at a limit too.
            *x = x.max(limits.low).min(limits.high);
        }
        solution.objective = lifted.program().objective(&solution.x);
        solution.residuals = Residuals::of(lifted.program(), &solution.x, &solution.z);
        match solution.residuals.pass(self.settings.tolerance()) {
            true => Ok(solution),
            false => Err(Error::Numerical(format!(
                "with its released variables moved onto their public limits the answer has {}",
                solution.residuals
            ))),
        }
    }

    /// This map may deviate from the data of `plain`, the user's own program under the same noise.
    pub(super) fn deviating(
        mut self,
        deviation: Deviation,
        plain: ReleasedMap<'m>,
        users: Arc<dyn DataMap + 'm>,
    ) -> Self {
        self.deviating = Some(Deviating {
            deviation,
            plain: Box::new(plain),
            users,
        });
        self
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
        self.deviating.as_ref().map(|map| &*map.plain)
    }

    /// The user's own program, without added curvature, where a program with corrections stands in its place.
    pub(crate) fn users(&self) -> Option<&(dyn DataMap + 'm)> {
        self.deviating.as_ref().map(|map| &*map.users)
    }

    /// Whether the certificate's terms add a quadratic cost to it.
    pub(crate) fn adds_curvature(&self) -> bool {
        let adds = |map: &Deviating<'_>| {
            let curved = map.plain.map.template().p().entries();
            let users = map.users.template().p();
            curved.into_iter().any(|(i, j, p)| p != users.get(i, j))
        };
        self.deviating.as_ref().is_some_and(adds)
    }

    /// The correction of the data that is no part of the answer, where there is one.
    pub(crate) fn beside_the_answer(&self) -> Option<&Deviation> {
        let deviation = &self.deviating.as_ref()?.deviation;
        (!deviation.is_in_the_answer()).then_some(deviation)
    }

    /// How the data may be corrected, where they may.
    pub(crate) fn corrects(&self) -> Option<Corrects> {
        let map = self.deviating.as_ref()?;
        let deviation = Some(&map.deviation).filter(|deviation| !deviation.is_empty())?;
        Some(match (deviation.relaxes(), deviation.is_in_the_answer()) {
            (false, true) => Corrects::InTheAnswer,
            (false, false) => Corrects::BesideTheAnswer,
            (true, true) => Corrects::RowsAtAPrice,
            (true, false) => Corrects::RowsWithAMargin,
        })
    }

    /// Whether it is a sum of losses that give way, solved in its weights alone (M9).
    pub fn has_local_recourse(&self) -> bool {
        self.local.is_some()
    }

    /// The slacks that do, rising.
    pub(crate) fn local_columns(&self) -> Vec<usize> {
        let local = self.local.iter();
        let mut columns: Vec<usize> = local.flat_map(|form| form.auxiliaries()).collect();
        columns.sort_unstable();
        columns
    }

    /// The same map without noise.
    pub(crate) fn without_noise(&self) -> DeterministicMap<'_> {
        DeterministicMap::new(Arc::new(self.map()), &self.posed, &self.settings)
    }

    /// The query.
    pub fn query(&self) -> &ResolvedQuery {
        &self.posed.query
    }

    /// T.
    pub fn shape(&self) -> &Shape {
        &self.posed.shape
    }

    /// The rule.
    pub fn rule(&self) -> &Rule {
        &self.posed.rule
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

    /// What the answer of every solve is proven to: the public tolerance that the certificate counts, for variables with
    /// curvature in the norm of P.
    pub fn tolerance(&self) -> Option<f64> {
        self.precision.as_ref().map(|precision| precision.tolerance)
    }

    /// Solver settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A decision of this map in the variables and rows of the user's own program at θ.
    pub fn in_users_variables(&self, decided: Decided, theta: &[f64]) -> Result<Decided> {
        match &self.deviating {
            None => Ok(decided),
            Some(map) => {
                let (curved, users) = (map.plain.map.at(theta)?, map.users.at(theta)?);
                let variance = self.law().variance();
                let added = Deviating::added_by_curvature(&curved, &users, &decided, variance);
                let mut decided = decided.without_deviation(users);
                decided.objective -= added;
                Ok(decided)
            }
        }
    }

    /// (x̄, X) at θ, by the one road: dataset → program → lifted → conic → rewrite → backend → our check → answer.
    pub fn at(&self, theta: &[f64]) -> Result<Decided> {
        let program = self.map.at(theta)?;
        if self.is_the_data {
            return Ok(self.the_data(program, self.map.clipped(theta)?));
        }
        let best = self.best_split(program);
        let best = best.map_err(|error| self.settings.cancel().or(error))?;
        match &self.deviating {
            None => Ok(best),
            Some(map) if map.deviation.is_in_the_answer() => {
                break_ties(best, theta, &map.deviation, &map.plain)
            }
            Some(map) => keep_the_answer(best, theta, &map.deviation, &map.plain),
        }
    }

    /// The data as the answer: exact, whatever they are.
    fn the_data(&self, program: Program, data: Vec<f64>) -> Decided {
        let n = data.len();
        let solved = Solved {
            objective: program.objective(&data),
            residuals: Residuals::of(&program, &data, &[]),
            prices: Vec::new(),
            recourse: Rows::Listed(vec![Vec::new(); n]),
            error: Some(0.0),
            size: (n, 0),
            mean: data,
        };
        self.decided(program, solved, 0)
    }

    /// The same map, query and rule under another law or another η, with nothing to prove.
    pub(crate) fn under(&self, ask: &Ask, noise: LatticeLaw) -> Result<Self> {
        ReleasedMap::new(self.map.clone(), self.posed.clone(), ask, noise)
    }

    /// Whether the noise fits at θ, by one solve for each split. None where a solve does not tell.
    pub(crate) fn seems_to_fit(&self, theta: &[f64]) -> Result<Option<bool>> {
        let program = self.map.at(theta)?;
        let mut is_told = true;
        for &split in &self.splits {
            let lifted = self.lifted(&program, split)?;
            match self.solve_lifted(&lifted, split) {
                Outcome::Optimal(_) => return Ok(Some(true)),
                Outcome::Infeasible(_) => {}
                _ => is_told = false,
            }
        }
        Ok(is_told.then_some(false))
    }

    /// The best of the public splits.
    fn best_split(&self, program: Program) -> Result<Decided> {
        if let (&[only], Some(_)) = (&self.splits[..], &self.local) {
            // Of a million records one program is enough.
            return self.at_split(Cow::Owned(program), only, None);
        }
        let program = &program;
        let mut best: Option<Decided> = None;
        let mut obstacle = None;
        for &split in &self.splits {
            match self.at_split(Cow::Borrowed(program), split, None) {
                Ok(decided) => {
                    let is_better = |best: &Decided| decided.objective < best.objective;
                    if best.as_ref().is_none_or(is_better) {
                        best = Some(decided);
                    }
                }
                // Under an envelope a split is feasible for all data or for none, and those that are not were left out.
                Err(Error::NoiseDoesNotFit(rows)) if self.deviating.is_none() => {
                    obstacle = Some(rows)
                }
                // A split without a certified answer fails the whole map: it is never skipped.
                Err(other) => return Err(other),
            }
        }
        if let Some(best) = best {
            return Ok(best);
        }
        // The program itself may be infeasible: that is said in the user's own names.
        solve::solve_checked(program, &self.settings)?;
        Err(Error::NoiseDoesNotFit(obstacle.unwrap_or_default()))
    }

    /// One split. `aim`: solved around its own point until it is proven to this, where that can be; without it, to what is
    /// required.
    fn at_split(
        &self,
        program: Cow<'_, Program>,
        split: usize,
        aim: Option<f64>,
    ) -> Result<Decided> {
        let start = Instant::now();
        if let Some(local) = &self.local {
            // The whole road in closed form.
            let mut solved = local.decide(&program, &self.noise, &self.settings)?;
            solved.error = solved.error.filter(|_| self.precision.is_some());
            self.require(solved.error)?;
            return Ok(Decided {
                solve_seconds: start.elapsed().as_secs_f64(),
                ..self.decided(program.into_owned(), solved, split)
            });
        }
        let lifted = self.lifted(&program, split)?;
        let lift_seconds = start.elapsed().as_secs_f64();
        let outcome = self.solve_lifted(&lifted, split);
        let solution = self.checked(outcome, &program, &lifted)?;
        let (solution, proven) = self.refined(&program, &lifted, solution, split, aim)?;
        let solution = self.on_the_limits(&lifted, solution)?;
        let error = proven.map(|proven| proven.error);
        self.require(error)?;
        let solve_seconds = start.elapsed().as_secs_f64() - lift_seconds;
        let solved = self.solved(&program, &lifted, &solution, error)?;
        Ok(Decided {
            lift_seconds,
            solve_seconds,
            is_on_equalities: meets_the_equalities(&lifted, &solution.x),
            ..self.decided(program.into_owned(), solved, split)
        })
    }

    /// The rule at θ under the split of another one that has the same answer, if there is one.
    pub(super) fn with_the_answer_of(&self, other: &Decided, theta: &[f64]) -> Result<Decided> {
        let program = self.map.at(theta)?;
        let lifted = self.lifted_to(&program, other.split, Some(&other.answer))?;
        let outcome = self.solve_lifted(&lifted, other.split);
        let solution = self.checked(outcome, &program, &lifted)?;
        let solution = on_the_equalities(&lifted, solution, &self.settings);
        let solved = self.solved(&program, &lifted, &solution, None)?;
        Ok(Decided {
            is_on_equalities: meets_the_equalities(&lifted, &solution.x),
            ..self.decided(program, solved, other.split)
        })
    }

    /// The lifted conic program at a dataset and split: x̄ and the free entries of X, bound by the rule, the chance
    /// constraint and the risk measure.
    pub fn lifted(&self, program: &Program, split: usize) -> Result<Lifted> {
        self.lifted_to(program, split, None)
    }

    /// The same with Qx̄ fixed at an answer.
    fn lifted_to(&self, program: &Program, split: usize, answer: Option<&[f64]>) -> Result<Lifted> {
        let rule = self.posed.rule.at(program, self.settings.cancel())?;
        let mut lift = Lift::new(program, &rule);
        if let Some(answer) = answer {
            lift.label(Some("the released answer"));
            for (row, value) in self.query().rows().iter().zip(answer) {
                lift.equality((row.clone(), *value), None);
            }
            lift.label(None);
        }
        self.design.enforce(&mut lift, split)?;
        self.risk.apply(&mut lift, self.law())?;
        Ok(lift.finish())
    }

    /// The solution of a lifted program, or why there is none, in the user's own names.
    fn checked(&self, outcome: Outcome, program: &Program, lifted: &Lifted) -> Result<Solution> {
        match outcome {
            Outcome::Infeasible(z) => {
                let name = |i| lifted.row_name(program, i);
                let rows = Infeasibility::named(lifted.program(), &z, name);
                Err(Error::NoiseDoesNotFit(rows))
            }
            Outcome::Unbounded(_) => {
                solve::solve_checked(program, &self.settings)?;
                Err(Error::Unbounded(
                    "with noise: some recourse lowers the objective without limit".into(),
                ))
            }
            other => other.into_solution(lifted.program(), self.settings.tolerance()),
        }
    }

    /// The rule at θ under the split that another map's rule has, proven to `aim` where that can be.
    pub(super) fn at_the_split_of(
        &self,
        other: &Decided,
        theta: &[f64],
        aim: Option<f64>,
    ) -> Result<Decided> {
        self.at_split(Cow::Owned(self.map.at(theta)?), other.split, aim)
    }

    /// A lifted solution in the program's own variables and rows.
    fn solved(
        &self,
        program: &Program,
        lifted: &Lifted,
        solution: &Solution,
        error: Option<f64>,
    ) -> Result<Solved> {
        let n = program.columns();
        let rule = self.posed.rule.at(program, self.settings.cancel())?;
        let k = rule.noises();
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
        Ok(Solved {
            mean: solution.x[..n].to_vec(),
            recourse: Rows::Listed(recourse),
            prices,
            objective: solution.objective,
            residuals: solution.residuals,
            error,
            size: (lifted.program().columns(), lifted.program().rows()),
        })
    }

    /// The one place where a solve becomes an answer.
    fn decided(&self, program: Program, solved: Solved, split: usize) -> Decided {
        Decided {
            answer: self.query().answer(&program, &solved.mean),
            program,
            mean: solved.mean,
            recourse: Recourse {
                noises: self.rule().noises(),
                rows: solved.recourse,
            },
            objective: solved.objective,
            residuals: solved.residuals,
            prices: solved.prices,
            split,
            lifted_size: solved.size,
            lift_seconds: 0.0,
            solve_seconds: 0.0,
            proven_error: solved.error,
            is_on_equalities: true,
            correction: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Adjacency, Privacy, Query, Request};
    use crate::plan::Plan;
    use crate::program::Builder;

    const NAN: f64 = f64::NAN;

    /// The solver's point stands at 3, as rows say; the limits are a little narrower, as if it had slipped outside.
    #[test]
    fn every_answer_lies_on_the_limits_whatever_the_solver_returned() {
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        let price = m.parameter_within("price", 1.0, 2.0);
        m.minimize(-1.0 * (price * x.at(0)));
        m.between("limits", 0.0, x.at(0), 3.0);
        let map = m.build_map().unwrap();
        let loose = Settings::default().with_tolerance(1e-3).unwrap();
        for strategy in [Strategy::Output, Strategy::Program] {
            let ask = Ask::new(Query::Identity)
                .adjacency(Adjacency::Universe)
                .privacy(Privacy::laplace(100.0))
                .sensitivity(Request::range())
                .strategy(strategy)
                .settings(loose.clone())
                .feasible(0.9);
            let mut released = Plan::new(&map, ask).unwrap().released;
            let mean = released.at(&[1.5]).unwrap().mean[0];
            let slipped = |by: f64| Limits {
                column: 0,
                low: 0.0,
                high: mean - by,
            };
            released.limits = vec![slipped(1e-4)];
            let decided = released.at(&[1.5]).unwrap();
            assert_eq!(decided.answer, [mean - 1e-4]);
            assert_eq!(decided.mean, decided.answer);
            // A point that must be moved far is no answer.
            released.limits = vec![slipped(0.5)];
            let refused = released.at(&[1.5]).unwrap_err().to_string();
            assert!(
                refused.contains("moved onto their public limits"),
                "{refused}"
            );
            // Whatever came back, NaN too, ends at a limit or is an error.
            released.limits = vec![slipped(0.0)];
            let program = released.map.at(&[1.5]).unwrap();
            let lifted = released.lifted(&program, 0).unwrap();
            let outcome = released.solve_lifted(&lifted, 0);
            let solution = released.checked(outcome, &program, &lifted).unwrap();
            for returned in [
                NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                -1e-4,
                3.0 + 1e-4,
                1e300,
            ] {
                let mut solution = solution.clone();
                solution.x[0] = returned;
                if let Ok(moved) = released.on_the_limits(&lifted, solution) {
                    assert!(moved.x[0] >= 0.0 && moved.x[0] <= mean, "{returned}");
                }
            }
        }
    }
}
