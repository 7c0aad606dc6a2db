//! Noise on the data in a comparison (M17a, M17e): the program at noisy data, judged at the data as they are.

use super::comparison::{Comparison, StrategyRow, in_percent};
use super::judge::Judge;
use super::strategies::{Ground, Measure, SOLVED_DRAWS, STREAM};
use crate::ask::{Privacy, Strategy};
use crate::error::{Error, Result};
use crate::noise::Sampler;
use crate::plan::Plan;
use crate::program::Program;
use crate::solve::{self, Batch, Outcome};

/// Optima at noisy data, draw by draw, under the noise that a release would have.
struct Drawn<'p, 'm> {
    plan: &'p Plan<'m>,
    /// The data as they count.
    data: Vec<f64>,
    seed: u64,
}

impl<'p, 'm> Drawn<'p, 'm> {
    fn new(plan: &'p Plan<'m>, theta: &[f64], seed: u64) -> Result<Self> {
        let data = plan.released().at(theta)?.answer;
        Ok(Drawn { plan, data, seed })
    }

    /// The program at draw number `index` and its optimum; none where there is none.
    fn optimum(&self, index: u64) -> Result<Option<(Program, Vec<f64>)>> {
        let mut noise = vec![0.0; self.data.len()];
        Sampler::new(self.seed, STREAM + index).fill(self.plan.law(), &mut noise);
        let noisy: Vec<f64> = self.data.iter().zip(&noise).map(|(t, n)| t + n).collect();
        let program = match self.plan.program_at_noisy(&noisy) {
            Some(Ok(program)) => program,
            Some(Err(Error::Cancelled)) => return Err(Error::Cancelled),
            // Numbers that make no valid program: a release would have no answer either.
            Some(Err(_)) | None => return Ok(None),
        };
        let settings = &self.plan.ask().settings;
        match solve::solve(&program, settings) {
            Outcome::Optimal(solution) => Ok(Some((program, solution.x))),
            Outcome::Infeasible(_) | Outcome::Unbounded(_) => Ok(None),
            other => {
                let solution = other.into_solution(&program, settings.tolerance())?;
                Ok(Some((program, solution.x)))
            }
        }
    }
}

/// The strategies whose noise is on the data.
const ON_THE_DATA: [Strategy; 2] = [Strategy::Input, Strategy::Truncated];

/// The plan of this strategy beside another plan, under the same ε and δ; or why there is none.
fn plan_beside<'m>(
    plan: &Plan<'m>,
    strategy: Strategy,
    batch: &Batch<'_>,
) -> Result<std::result::Result<Plan<'m>, String>> {
    let mut ask = plan.ask().clone().strategy(strategy);
    if !plan.ask().strategy.is_on_the_data() {
        // A stated step is for the answer.
        ask.lattice = None;
    }
    if let (Strategy::Truncated, Some(Privacy::Gaussian { epsilon, delta, .. })) =
        (strategy, ask.privacy)
    {
        // Bounded noise has a δ: the same.
        ask.privacy = Some(Privacy::truncated_laplace(epsilon, delta));
    }
    plan.or_why_not(ask, batch)
}

/// The rows beside those of other strategies. Their answers must be feasible for the real data.
pub(super) fn rows(
    ground: &Ground<'_, '_>,
    theta: &[f64],
    batch: &Batch<'_>,
) -> Result<Vec<StrategyRow>> {
    let rows = ON_THE_DATA.iter().map(|strategy| {
        let name = strategy.key();
        match plan_beside(ground.plan, *strategy, batch)? {
            Ok(plan) => row(ground, name, &plan, theta, batch),
            Err(why) => Ok(ground.not_applicable(name, &why)),
        }
    });
    rows.collect()
}

fn row(
    ground: &Ground<'_, '_>,
    name: &'static str,
    plan: &Plan<'_>,
    theta: &[f64],
    batch: &Batch<'_>,
) -> Result<StrategyRow> {
    let mut row = ground.row(name);
    row.draws = ground.draws.min(SOLVED_DRAWS);
    let drawn = Drawn::new(plan, theta, ground.seed)?;
    let query = ground.released.query();
    let slip = ground.slip();
    let results = batch.run(row.draws as usize, |index| {
        let Some((program, x)) = drawn.optimum(index as u64)? else {
            return Ok((None, false));
        };
        if ground.interval.is_some() {
            let answer = query.answer(&program, &x);
            return Ok((
                ground.value_loss(answer[0]),
                ground.answer_is_feasible(&answer)?,
            ));
        }
        let violation = ground.judge.worst_violation(&x);
        Ok((Some(ground.loss_of(&x)), violation <= slip))
    })?;
    // A draw without a solution has no loss; one with an infeasible answer keeps its loss.
    let results = results.into_iter().collect::<Result<Vec<_>>>()?;
    ground.tally(&mut row, results, false);
    Ok(row)
}

/// The other strategies' rows, in the order of a table.
const OTHERS: [&str; 5] = [
    "output",
    "shifted output",
    "projected output",
    "linear term",
    "program",
];

/// A comparison where no other strategy has a plan: their noise needs a sensitivity of the answer. The loss of a draw is what its
/// decision costs at the data more than the optimum there.
pub(super) fn alone(
    measure: Option<&Measure<'_>>,
    plan: &Plan<'_>,
    why: &str,
    theta: &[f64],
    draws: u64,
    seed: u64,
    batch: &Batch<'_>,
) -> Result<Comparison> {
    let settings = &plan.ask().settings;
    let counted = plan.model().clipped(theta)?;
    let program = plan.model().at(&counted)?;
    let optimum = solve::optimum(&program, settings)?;
    let constant = plan.model().objective_constant(&counted);
    let query = plan.ask().query.resolve(plan.model(), Strategy::Input)?;
    let own = Judge::of(&program, &query, settings)?;
    let interval = own.interval;
    let (judge, note) = Judge::at_the_data(own, plan, &query, theta, settings)?;
    let cost = |x: &[f64]| measure.map_or_else(|| program.objective(x), |measure| measure(x));
    let least = cost(&optimum.x);
    let largest = program.b().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let slip = settings.tolerance() * (1.0 + largest);
    let draws = draws.min(SOLVED_DRAWS);
    let total = optimum.objective + constant;
    let rows = ON_THE_DATA.iter().map(|strategy| {
        let name = strategy.key();
        let plan = match plan_beside(plan, *strategy, batch)? {
            Ok(plan) => plan,
            Err(why) => return Ok(StrategyRow::bare(name, format!("does not apply: {why}"))),
        };
        let drawn = Drawn::new(&plan, theta, seed)?;
        let results = batch.run(draws as usize, |index| -> Result<Option<(f64, bool)>> {
            let found = drawn.optimum(index as u64)?;
            Ok(found.map(|(_, x)| (cost(&x) - least, judge.worst_violation(&x) <= slip)))
        })?;
        let results = results.into_iter().collect::<Result<Vec<_>>>()?;
        let losses: Vec<f64> = results.iter().flatten().map(|found| found.0).collect();
        let mean = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
        let mean = Some(mean).filter(|_| !losses.is_empty());
        let feasible = results.iter().flatten().filter(|found| found.1).count();
        Ok(StrategyRow {
            sampled_loss: mean,
            sampled_loss_percent: mean.and_then(|loss| in_percent(loss, total)),
            sampled_infeasible_percent: Some(100.0 * (1.0 - feasible as f64 / draws.max(1) as f64)),
            draws,
            ..StrategyRow::bare(name, "ok".into())
        })
    });
    let mut rows = rows.collect::<Result<Vec<_>>>()?;
    rows.extend(OTHERS.map(|name| StrategyRow::bare(name, format!("does not apply: {why}"))));
    let found = Comparison::new(total, interval, rows, 0.0);
    let is_clipped = !judge.is_at_the_data;
    Ok(found.with_notes(None, is_clipped, note.into_iter().collect()))
}
