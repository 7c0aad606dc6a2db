//! Honest comparison (M13): input, output, shifted output, projected output, linear term and program perturbation on the same
//! noise.

use super::Empirical;
use super::comparison::{Comparison, StrategyRow, in_percent};
use super::curate::misses_what_no_noise_moves;
use super::empirical::Measured;
use super::judge::Judge;
use super::noisy_data;
use crate::ask::Strategy;
use crate::digits::short;
use crate::error::{Error, Result};
use crate::noise::{Law, Sampler};
use crate::plan::{Decided, Plan, Projection, ReleasedMap, Shift};
use crate::program::{Cone, Program, Sparse};
use crate::rule::RowRule;
use crate::solve::{self, Batch, Outcome, Settings};

/// Draws come from streams of their own, apart from those of the sampled methods.
pub(super) const STREAM: u64 = 1 << 40;

/// Why there is no room to plan for.
const NO_ETA: &str = "no η is stated, which says how often the noise must fit";

/// Draws that need a solve each are limited to this many.
pub(super) const SOLVED_DRAWS: u64 = 1_000;

pub(super) struct Ground<'p, 'm> {
    pub(super) plan: &'p Plan<'m>,
    pub(super) released: &'p ReleasedMap<'m>,
    /// The program that every strategy works on: at the data, clipped to their public bounds.
    program: Program,
    /// What every strategy's feasibility is judged by: the program at the data as they are.
    pub(super) judge: Judge,
    x: Vec<f64>,
    optimum: f64,
    /// What the objective leaves out of the loss: percentages count it in.
    objective_constant: f64,
    answer: Vec<f64>,
    /// The feasible answers of the program that is worked on.
    pub(super) interval: Option<(f64, f64)>,
    pub(super) draws: u64,
    pub(super) seed: u64,
    settings: Settings,
    /// What a decision is judged by in the place of its objective.
    measure: Option<&'p Measure<'p>>,
    /// The public room of shifted output, where no program perturbation has one.
    shift: Option<Shift>,
}

/// A cost of a decision on all columns: smaller is better.
pub type Measure<'a> = dyn Fn(&[f64]) -> f64 + Sync + 'a;

/// Runs every strategy on the same draws of a study's seed. Nothing is released; what this prints is private. A plan for
/// noise on the answer has no program perturbation beside it: that needs an η.
pub fn compare(
    plan: &Plan<'_>,
    theta: &[f64],
    draws: u64,
    seed: u64,
    batch: &Batch<'_>,
) -> Result<Comparison> {
    compare_by(None, plan, theta, draws, seed, batch)
}

/// [`compare`] with drawn losses by this measure of a decision, in the place of the objective.
pub fn compare_by(
    measure: Option<&Measure<'_>>,
    plan: &Plan<'_>,
    theta: &[f64],
    draws: u64,
    seed: u64,
    batch: &Batch<'_>,
) -> Result<Comparison> {
    let strategy = plan.ask().strategy;
    let beside = |strategy| plan.or_why_not(plan.ask().clone().strategy(strategy), batch);
    match strategy {
        Strategy::Program | Strategy::Output => {
            compare_on(measure, plan, None, theta, draws, seed, batch)
        }
        // It states η, so that program perturbation can be asked for too.
        Strategy::Shifted => match beside(Strategy::Program)? {
            Ok(program) => compare_on(measure, &program, None, theta, draws, seed, batch),
            Err(_) => {
                let output = plan.with_strategy(Strategy::Output, batch)?;
                let shift = plan.shift().cloned();
                compare_on(measure, &output, shift, theta, draws, seed, batch)
            }
        },
        Strategy::Projected | Strategy::LinearTerm => {
            let output = plan.with_strategy(Strategy::Output, batch)?;
            compare_on(measure, &output, None, theta, draws, seed, batch)
        }
        Strategy::Input | Strategy::Truncated => match beside(Strategy::Output)? {
            Ok(output) => compare_on(measure, &output, None, theta, draws, seed, batch),
            Err(why) => noisy_data::alone(measure, plan, &why, theta, draws, seed, batch),
        },
    }
}

/// The comparison around a plan whose noise is in the program or on its answer.
fn compare_on(
    measure: Option<&Measure<'_>>,
    plan: &Plan<'_>,
    shift: Option<Shift>,
    theta: &[f64],
    draws: u64,
    seed: u64,
    batch: &Batch<'_>,
) -> Result<Comparison> {
    // The baselines know no envelope: they and the feasibility of all are judged by the user's own program.
    let released = plan.released().plain().unwrap_or(plan.released());
    let settings = released.settings().clone();
    let program = released.map().at(theta)?;
    let solution = solve::optimum(&program, &settings)?;
    let own = Judge::of(&program, released.query(), &settings)?;
    let interval = own.interval;
    let (judge, note) = Judge::at_the_data(own, plan, released.query(), theta, &settings)?;
    let mut notes = Vec::from_iter(note);
    let ground = Ground {
        answer: released.query().answer(&program, &solution.x),
        optimum: solution.objective,
        objective_constant: plan
            .model()
            .objective_constant(&plan.model().clipped(theta)?),
        x: solution.x,
        plan,
        released,
        program,
        judge,
        interval,
        draws,
        seed,
        settings,
        measure,
        shift,
    };
    let decided = match plan.released().at(theta) {
        _ if !ground.has_program() => None,
        Ok(decided) if decided.correction.is_some() => {
            Some(decided.without_deviation(ground.program.clone()))
        }
        Ok(decided) => Some(decided),
        Err(Error::NoiseDoesNotFit(_)) => None,
        Err(other) => return Err(other),
    };
    let mut rows = noisy_data::rows(&ground, theta, batch)?;
    rows.extend([
        ground.output(theta, batch)?,
        ground.shifted(theta, batch)?,
        ground.projected(batch)?,
        ground.linear_term(theta, batch)?,
        ground.program(decided.as_ref(), batch)?,
    ]);
    let correction = decided.and_then(|d| d.correction);
    let correction = correction.filter(|c| !c.at_the_data);
    let corrected = correction.as_ref().map(|c| c.distance);
    notes.extend(correction.map(|correction| {
        let distance = short(correction.distance, 6);
        match correction.relaxes {
            false => format!(
                "the envelope made its decision for data {distance} away in all, clipping included, and its promise is for those; a price below what the data cost caps the cost that it releases, which can then lie below the optimum"
            ),
            true => format!(
                "the decision exceeds rows with private numbers by {distance} in all, at their price; a price below what the rows cost caps the cost that is released, which can then lie below the optimum"
            ),
        }
    }));
    let eta = match ground.has_program() {
        true => plan.guarantee().budget().eta(),
        false => 0.0,
    };
    let found = Comparison::new(
        ground.optimum + ground.objective_constant,
        ground.interval,
        rows,
        eta,
    );
    Ok(found.with_notes(corrected, !ground.judge.is_at_the_data, notes))
}

impl Ground<'_, '_> {
    fn law(&self) -> &Law {
        self.plan.law()
    }

    fn has_program(&self) -> bool {
        self.plan.ask().strategy == Strategy::Program
    }

    pub(super) fn row(&self, strategy: &'static str) -> StrategyRow {
        StrategyRow::bare(strategy, "ok".into())
    }

    pub(super) fn not_applicable(&self, strategy: &'static str, why: &str) -> StrategyRow {
        StrategyRow {
            status: format!("does not apply: {why}"),
            ..self.row(strategy)
        }
    }

    fn percent(&self, loss: f64) -> Option<f64> {
        in_percent(loss, self.optimum + self.objective_constant)
    }

    /// Draw number `index`: the same ζ for every strategy.
    fn zeta(&self, index: u64) -> Vec<f64> {
        let mut zeta = vec![0.0; self.released.shape().noises()];
        Sampler::new(self.seed, STREAM + index).fill(self.law(), &mut zeta);
        zeta
    }

    /// The loss of a decision, by the measure of the comparison.
    pub(super) fn loss_of(&self, x: &[f64]) -> f64 {
        match self.measure {
            Some(measure) => measure(x) - measure(&self.x),
            None => self.program.objective(x) - self.optimum,
        }
    }

    /// The loss of an answer to a value query, in the objective's unit.
    pub(super) fn value_loss(&self, answer: f64) -> Option<f64> {
        let factor = self.released.query().value_factor?;
        Some((answer - self.answer[0]) / factor)
    }

    pub(super) fn slip(&self) -> f64 {
        // Of the data that are worked on: values far outside their bounds must not loosen it.
        let largest = self.program.b().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        self.settings.tolerance() * (1.0 + largest)
    }

    /// Pr[start + Tζ outside the interval of feasible answers].
    fn exact_infeasibility(&self, start: f64) -> Option<f64> {
        let (low, high) = self.judge.interval?;
        if low == f64::INFINITY {
            return Some(1.0);
        }
        let t = self.released.shape().row(0)[0];
        // The optimum itself stands on the edge: rounding must not decide.
        let slip = self.slip();
        let ends = [(low - slip - start) / t, (high + slip - start) / t];
        Some(
            self.law()
                .outside(ends[0].min(ends[1]), ends[0].max(ends[1])),
        )
    }

    /// Whether the whole decision moves with the noise in a way that is fixed in advance.
    fn fixed_everywhere(&self) -> bool {
        match self.has_program() {
            true => self.released.rule().free().is_empty(),
            false => {
                let columns = self.program.columns();
                self.released.query().whole_decision(columns).is_some()
            }
        }
    }

    /// Is there a feasible x with Qx = answer?
    pub(super) fn answer_is_feasible(&self, answer: &[f64]) -> Result<bool> {
        if let Some((low, high)) = self.judge.interval {
            let slip = self.slip();
            return Ok(answer[0] >= low - slip && answer[0] <= high + slip);
        }
        let rows = self.released.query().rows();
        let mut triplets: Vec<(usize, usize, f64)> = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            triplets.extend(row.iter().map(|&(j, w)| (i, j, w)));
        }
        let r = rows.len();
        let held = &self.judge.held;
        triplets.extend(held.a().entries().map(|(i, j, v)| (i + r, j, v)));
        let mut b = answer.to_vec();
        b.extend(held.b());
        let mut cones = vec![Cone::Zero(r)];
        cones.extend(held.constraints().iter().map(|c| c.cone().clone()));
        let n = self.program.columns();
        let a = Sparse::assemble(b.len(), n, &triplets);
        let test = Program::assembled(Sparse::zeros(n, n), vec![0.0; n], a, b, 0.0, cones);
        match solve::solve(&test, &self.settings) {
            Outcome::Optimal(_) => Ok(true),
            Outcome::Infeasible(_) => Ok(false),
            other => other
                .into_solution(&test, self.settings.tolerance())
                .map(|_| true),
        }
    }

    /// x + Xζ with the plan's constant X, where every row of X is constant.
    fn whole_decision(&self, start: &[f64], zeta: &[f64]) -> Vec<f64> {
        let rule = self.released.rule();
        let mut x = start.to_vec();
        for (j, value) in x.iter_mut().enumerate() {
            if let RowRule::Fixed(entries) = rule.row(j) {
                *value += entries.iter().map(|&(i, v)| v * zeta[i]).sum::<f64>();
            }
        }
        x
    }

    /// The answer that plain noise is on: the optimum's, or that of an envelope, whose price may cap it.
    fn answer_without_noise(&self, theta: &[f64], batch: &Batch<'_>) -> Result<Vec<f64>> {
        if self.plan.released().plain().is_none() {
            return Ok(self.answer.clone());
        }
        let output = self.plan.with_strategy(Strategy::Output, batch)?;
        Ok(output.released().at(theta)?.answer)
    }

    fn output(&self, theta: &[f64], batch: &Batch<'_>) -> Result<StrategyRow> {
        let mut row = self.row("output");
        let start = self.answer_without_noise(theta, batch)?;
        if self.released.query().value_factor.is_some() {
            // What a solver leaves between two optima is no loss.
            let loss = self.value_loss(start[0]).unwrap_or(0.0);
            let is_rounding = loss.abs() <= self.settings.tolerance() * self.optimum.abs().max(1.0);
            row.loss = Some(if is_rounding { 0.0 } else { loss });
        }
        row.infeasible_percent = self.exact_infeasibility(start[0]).map(|p| 100.0 * p);
        let direct = self.interval.is_some() || self.fixed_everywhere();
        row.draws = if direct {
            self.draws
        } else {
            self.draws.min(SOLVED_DRAWS)
        };
        let shape = self.released.shape();
        let slip = self.slip();
        let results = batch.run(row.draws as usize, |index| -> Result<(Option<f64>, bool)> {
            let zeta = self.zeta(index as u64);
            let answer: Vec<f64> = start
                .iter()
                .zip(shape.apply(&zeta))
                .map(|(a, n)| a + n)
                .collect();
            if self.fixed_everywhere() && self.interval.is_none() {
                let x = self.whole_decision(&self.x, &zeta);
                let violation = self.judge.worst_violation(&x);
                return Ok((Some(self.loss_of(&x)), violation <= slip));
            }
            let loss = self.value_loss(answer[0]);
            Ok((loss, self.answer_is_feasible(&answer)?))
        })?;
        self.tally(
            &mut row,
            results.into_iter().collect::<Result<Vec<_>>>()?,
            false,
        );
        if row.loss.is_none() && self.fixed_everywhere() {
            row.loss = Some(self.expected_extra());
        }
        row.loss_percent = row.loss.and_then(|l| self.percent(l));
        Ok(row)
    }

    /// ½Σσ²X_j'PX_j for constant X: what noise adds to the expected objective (M3).
    fn expected_extra(&self) -> f64 {
        let rule = self.released.rule();
        let entries = |j: usize| match rule.row(j) {
            RowRule::Fixed(entries) => entries.as_slice(),
            RowRule::Free(_) => &[],
        };
        let mut sum = 0.0;
        for (a, b, p) in self.program.p().entries() {
            let product: f64 = entries(a)
                .iter()
                .flat_map(|x| {
                    entries(b)
                        .iter()
                        .filter(move |y| x.0 == y.0)
                        .map(move |y| x.1 * y.1)
                })
                .sum();
            sum += if a == b {
                p * product
            } else {
                2.0 * p * product
            };
        }
        0.5 * self.law().variance() * sum
    }

    pub(super) fn tally(
        &self,
        row: &mut StrategyRow,
        results: Vec<(Option<f64>, bool)>,
        feasible_only: bool,
    ) {
        let total = results.len().max(1) as f64;
        let bad = results.iter().filter(|r| !r.1).count() as f64;
        row.sampled_infeasible_percent = Some(100.0 * bad / total);
        let losses: Vec<f64> = results
            .iter()
            .filter(|r| !feasible_only || r.1)
            .filter_map(|r| r.0)
            .collect();
        if !losses.is_empty() {
            let mean = losses.iter().sum::<f64>() / losses.len() as f64;
            row.sampled_loss = Some(mean);
            row.sampled_loss_percent = self.percent(mean);
        }
    }

    /// r = 1, a value query under one box: v* − l + ζ.
    fn shifted(&self, theta: &[f64], batch: &Batch<'_>) -> Result<StrategyRow> {
        let released = self.released;
        let name = "shifted output";
        if let (Some(shift), Some(factor)) = (&self.shift, released.query().value_factor) {
            let start = self.answer_without_noise(theta, batch)?[0];
            return self.moved(name, start + shift.amount, shift.amount / factor);
        }
        if !self.has_program() {
            return Ok(self.not_applicable(name, NO_ETA));
        }
        let (Some((low, high)), Some(factor)) = (self.interval, released.query().value_factor)
        else {
            return Ok(self.not_applicable(name, "the query is not the optimal cost"));
        };
        if released.query().slope.is_some() {
            return Ok(self.not_applicable(name, "the decision carries the noise of a slope too"));
        }
        if !self.plan.ask().risk.is_expectation() {
            return Ok(self.not_applicable(name, "more than the expectation is asked for"));
        }
        if self.judge.held.rows() < self.program.rows() {
            return Ok(self.not_applicable(name, "some constraints hold at the mean only"));
        }
        let design = released.design();
        if design.boxes().len() != 1 {
            return Ok(self.not_applicable(name, "no box serves the constraints"));
        }
        if !design.one_box_for_all() {
            return Ok(self.not_applicable(name, "the constraints do not share one box"));
        }
        let t = released.shape().row(0)[0];
        // M5a: the least shift among the splits whose box fits the interval of feasible answers.
        let fits = (0..design.splits())
            .filter_map(|split| design.sole_box(split))
            .map(|set| {
                let ends = (set.lower * t, set.upper * t);
                (ends.0.min(ends.1), ends.0.max(ends.1))
            })
            .filter(|(down, up)| up - down <= high - low + self.slip());
        let mut row = self.row(name);
        // A number that is maximised has its feasible values below the optimum.
        let shift = match factor > 0.0 {
            true => fits.map(|ends| ends.0).max_by(f64::total_cmp),
            false => fits.map(|ends| ends.1).min_by(f64::total_cmp),
        };
        let Some(shift) = shift else {
            row.status = "infeasible".into();
            return Ok(row);
        };
        self.moved(name, self.answer[0] - shift, -shift / factor)
    }

    /// A value with room for the noise: noise around it, and by how much it is worse than the optimum.
    fn moved(&self, name: &'static str, start: f64, loss: f64) -> Result<StrategyRow> {
        let t = self.released.shape().row(0)[0];
        let mut row = self.row(name);
        row.loss = Some(loss);
        row.loss_percent = row.loss.and_then(|l| self.percent(l));
        row.infeasible_percent = self.exact_infeasibility(start).map(|p| 100.0 * p);
        row.draws = self.draws;
        let results = (0..self.draws)
            .map(|index| {
                let answer = start + t * self.zeta(index)[0];
                Ok((self.value_loss(answer), self.answer_is_feasible(&[answer])?))
            })
            .collect::<Result<Vec<_>>>()?;
        self.tally(&mut row, results, false);
        Ok(row)
    }

    /// A public feasible set: project the noisy decision onto it in the metric P; never infeasible, private by post-processing.
    fn projected(&self, batch: &Batch<'_>) -> Result<StrategyRow> {
        let name = "projected output";
        let released = self.released;
        let projection = match Projection::new(released.map(), released.query(), &self.settings) {
            Ok(projection) => projection,
            Err(why) => return Ok(self.not_applicable(name, why)),
        };
        let mut row = self.row(name);
        row.draws = self.draws.min(SOLVED_DRAWS);
        row.infeasible_percent = Some(0.0);
        let results = batch.run(row.draws as usize, |index| -> Result<(Option<f64>, bool)> {
            let noisy = self.whole_decision(&self.x, &self.zeta(index as u64));
            let x = projection.decision(&noisy)?;
            Ok((Some(self.loss_of(&x)), true))
        })?;
        self.tally(
            &mut row,
            results.into_iter().collect::<Result<Vec<_>>>()?,
            false,
        );
        Ok(row)
    }

    /// Noise on the linear cost, then the program itself (M17c): never infeasible, private by post-processing.
    fn linear_term(&self, theta: &[f64], batch: &Batch<'_>) -> Result<StrategyRow> {
        let name = "linear term";
        let plan = match self.plan.with_strategy(Strategy::LinearTerm, batch) {
            Ok(plan) => plan,
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(Error::Refused { why, .. }) => return Ok(self.not_applicable(name, &why)),
            Err(other) => return Ok(self.not_applicable(name, &other.to_string())),
        };
        let mut row = self.row(name);
        row.draws = self.draws.min(SOLVED_DRAWS);
        row.infeasible_percent = Some(0.0);
        let minimiser = plan.released().at(theta)?.answer;
        let (law, shape) = (plan.law(), plan.released().shape());
        let results = batch.run(row.draws as usize, |index| -> Result<(Option<f64>, bool)> {
            let mut zeta = vec![0.0; shape.noises()];
            Sampler::new(self.seed, STREAM + index as u64).fill(law, &mut zeta);
            let noise = shape.apply(&zeta);
            let noisy: Vec<f64> = minimiser.iter().zip(&noise).map(|(m, n)| m + n).collect();
            let x = plan.decision_of(&noisy).transpose()?;
            let loss = x.map(|x| self.loss_of(&x));
            Ok((loss, true))
        })?;
        let results = results.into_iter().collect::<Result<Vec<_>>>()?;
        self.tally(&mut row, results, false);
        Ok(row)
    }

    fn program(&self, decided: Option<&Decided>, batch: &Batch<'_>) -> Result<StrategyRow> {
        let mut row = self.row("program");
        if !self.has_program() {
            return Ok(self.not_applicable("program", NO_ETA));
        }
        let Some(decided) = decided else {
            row.status = "infeasible".into();
            return Ok(row);
        };
        // Under an envelope the released number is the whole objective, its penalty included.
        let released = match decided.correction {
            Some(_) => self.value_loss(decided.answer[0]),
            None => None,
        };
        let loss = released.unwrap_or_else(|| self.expected_objective(decided) - self.optimum);
        row.loss = Some(loss);
        row.loss_percent = self.percent(loss);
        row.draws = self.draws;
        let slip = decided.slip();
        let measured = Measured {
            program: &self.judge.program,
            law: self.law(),
            slip,
            each_row: false,
            draws: 1,
            seed: self.seed,
        };
        if let Empirical::Exact { probability } = measured.of(decided, batch)? {
            // A decision for corrected or clipped data may miss an equality of the data themselves, whatever the noise.
            let missed = misses_what_no_noise_moves(&self.judge.program, decided, self.released);
            row.infeasible_percent = Some(if missed { 100.0 } else { 100.0 * probability });
        }
        let shape = self.released.shape();
        let results = batch.run(self.draws as usize, |index| {
            let zeta = self.zeta(index as u64);
            let mut x = decided.recourse.apply(&zeta);
            x.iter_mut().zip(&decided.mean).for_each(|(x, m)| *x += m);
            let violation = self.judge.worst_violation(&x);
            let feasible = violation <= slip.max(self.slip());
            let loss = match released {
                Some(loss) => {
                    loss + self
                        .value_loss(self.answer[0] + shape.apply(&zeta)[0])
                        .unwrap_or(0.0)
                }
                None => self.loss_of(&x),
            };
            (Some(loss), feasible)
        })?;
        self.tally(&mut row, results, false);
        Ok(row)
    }

    /// M3, whatever was minimised.
    fn expected_objective(&self, decided: &Decided) -> f64 {
        let extra = (decided.recourse).expected_extra(&self.program, self.law().variance());
        self.program.objective(&decided.mean) + extra
    }
}
