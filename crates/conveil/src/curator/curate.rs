//! The private work on one dataset: solve, check, compare with the optimum without noise.

use super::clipped;
use super::costs::{Levels, optimum_of, under_the_terms};
use super::empirical::Measured;
use super::report::Measurements;
use super::{Clipped, CuratorReport, Empirical};
use crate::ask::Strategy;
use crate::error::{Error, Result};
use crate::plan::{Decided, Plan, ReleasedMap};
use crate::program::{Against, Cone, Holds, Program};
use crate::solve;
use std::borrow::Cow;

/// Draws of the empirical check, at most.
const DRAWS: u64 = 1_000_000;

/// Work of the empirical check, at most: draws times stored noise entries.
const WORK: u64 = 400_000_000;

/// A dataset's decided rule and its report. Private.
#[derive(Clone, Debug)]
pub struct Curated {
    decided: Decided,
    report: CuratorReport,
}

impl Curated {
    /// (x̄, X).
    pub fn decided(&self) -> &Decided {
        &self.decided
    }

    /// The curator's report: private, never to be published.
    pub fn report(&self) -> &CuratorReport {
        &self.report
    }
}

impl Plan<'_> {
    /// Does the private work on a dataset, releasing nothing.
    pub fn curate(&self, theta: &[f64]) -> Result<Curated> {
        let mut decided = self.released().at(theta)?;
        if self.is_shown_by_the_program() {
            decided = self.in_users_variables(decided, theta)?;
        }
        let report = report(self, &decided, theta)?;
        Ok(Curated { decided, report })
    }

    /// The data outside their public bounds or the claim's universe, and what they count as. Private.
    pub fn clipped(&self, theta: &[f64]) -> Result<Vec<Clipped>> {
        clipped::clipped(self.model(), theta)
    }

    /// The curator's report on a decision of [`ReleasedMap::at`] at the same dataset.
    pub fn report_on(&self, decided: &Decided, theta: &[f64]) -> Result<CuratorReport> {
        match self.is_shown_by_the_program() {
            true => report(
                self,
                &self.in_users_variables(decided.clone(), theta)?,
                theta,
            ),
            false => report(self, decided, theta),
        }
    }

    /// Whether what gets noise is no decision of the program, which is solved after it.
    fn is_shown_by_the_program(&self) -> bool {
        let strategy = self.ask().strategy;
        strategy == Strategy::LinearTerm || strategy.is_on_the_data()
    }
}

/// The optimum that losses are measured from: that of the program that is solved; under a correction that is no part of the
/// answer (M15a) that of the user's own, or, where the data have none, what it costs at the corrected data.
fn optimum_without_noise(plan: &Plan<'_>, decided: &Decided, theta: &[f64]) -> Result<f64> {
    let released = plan.released();
    let settings = released.settings();
    if released.has_local_recourse() && released.design().is_at_the_mean() {
        // Noise on the answer: what was decided is that optimum, and a million records are not solved for twice.
        return Ok(decided.program.objective(&decided.mean));
    }
    let Some(costs) = released.beside_the_answer() else {
        return Ok(solve::optimum(&decided.program, settings)?.objective);
    };
    match solve::optimum(&plan.model().at(theta)?, settings) {
        Ok(solution) => Ok(solution.objective),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(_) => {
            let solution = solve::optimum(&decided.program, settings)?;
            Ok(solution.objective - costs.beside(&decided.program, &solution.x))
        }
    }
}

fn report(plan: &Plan<'_>, decided: &Decided, theta: &[f64]) -> Result<CuratorReport> {
    let released = plan.released();
    let start = std::time::Instant::now();
    let optimum = optimum_without_noise(plan, decided, theta)?;
    let optimum_seconds = start.elapsed().as_secs_f64();
    let start = std::time::Instant::now();
    let stored: u64 = (0..decided.program.columns())
        .map(|j| decided.recourse.row(j).len() as u64)
        .sum::<u64>()
        + decided.program.a().nnz() as u64;
    let draws = (WORK / stored.max(1)).clamp(1_000, DRAWS);
    let batch = plan.ask().batch();
    let slip = decided.slip();
    let each_row = plan.guarantee().budget().is_for_each_row();
    let measured = |program: &Program, decided: &Decided, seed: u64| {
        // Losses give way to noise on the answer, whatever it is: nothing is missed, and nothing is drawn.
        if released.design().is_at_the_mean() && released.has_local_recourse() {
            return Ok(Empirical::Exact { probability: 0.0 });
        }
        // Noise on the answer ignores equalities, and violates one that it moves.
        if released.design().is_at_the_mean() && moves_an_equality(program, decided) {
            return Ok(Empirical::Exact { probability: 1.0 });
        }
        let measured = Measured {
            program,
            law: released.law(),
            slip,
            each_row,
            draws,
            seed,
        };
        measured.of(decided, &batch)
    };
    let empirical = measured(&decided.program, decided, 0x0E0A)?;
    // Only an envelope's decision is another one in the user's own variables: a million records are not copied for it.
    let users = match released.plain() {
        None => Cow::Borrowed(decided),
        Some(_) => Cow::Owned(released.in_users_variables(decided.clone(), theta)?),
    };
    // M8a and M1: the promise is for corrected and clipped data; what it means for the data themselves is the curator's
    // to know.
    let clipped = plan.clipped(theta)?;
    let is_corrected = (decided.correction.as_ref()).is_some_and(|c| !c.at_the_data);
    // Noise on the answer promises nothing of them, and elastic losses are feasible at any data.
    let promises = !released.design().is_at_the_mean() && !released.has_local_recourse();
    let themselves = match promises && (is_corrected || !clipped.is_empty()) {
        // Values that make no valid program are beyond measuring, and the report says so.
        true => plan.model().unclipped(theta).ok(),
        false => None,
    };
    let at_the_data = match &themselves {
        None => None,
        Some(program) if misses_what_no_noise_moves(program, &users, released) => {
            Some(Empirical::Exact { probability: 1.0 })
        }
        Some(program) => Some(measured(program, &users, 0x0E0B)?),
    };
    let optimum_at_the_data = match &themselves {
        None => None,
        Some(program) => match solve::optimum(program, released.settings()) {
            Ok(solution) => Some(solution.objective + plan.model().objective_constant(theta)),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(_) => None,
        },
    };
    let objective_constant = plan
        .model()
        .objective_constant(&plan.model().clipped(theta)?);
    let levels = match released.plain() {
        None if themselves.is_none() => None,
        None => Some(Levels {
            own: optimum_at_the_data,
            counted: Some(optimum + objective_constant),
            curved: Some(optimum + objective_constant),
            corrected: Some(optimum + objective_constant),
            noisy: Some(users.objective + objective_constant),
            answer_moved: Some(0.0),
        }),
        Some(_) => {
            let settings = released.settings();
            let with_constant = |level: f64| level + objective_constant;
            let under = under_the_terms(plan, decided, theta)?;
            let counted = under.counted.map(with_constant);
            Some(Levels {
                own: match (clipped.is_empty(), &themselves) {
                    (true, _) => counted,
                    (false, Some(_)) => optimum_at_the_data,
                    (false, None) => match plan.model().unclipped(theta) {
                        Ok(program) => optimum_of(&program, settings)?
                            .map(|level| level + plan.model().objective_constant(theta)),
                        Err(_) => None,
                    },
                },
                counted,
                curved: under.curved.map(with_constant),
                corrected: under.corrected.map(with_constant),
                noisy: Some(with_constant(users.objective)),
                answer_moved: under.answer_moved,
            })
        }
    };
    let measuring_seconds = start.elapsed().as_secs_f64();
    let measured = Measurements {
        objective: users.objective + objective_constant,
        optimum: optimum + objective_constant,
        empirical,
        optimum_seconds,
        measuring_seconds,
    };
    let mut report = CuratorReport::new(plan, &users, measured);
    report.clipped = clipped;
    report.infeasible_at_the_data = at_the_data;
    report.optimum_at_the_data = optimum_at_the_data;
    report.costs = levels.map(|levels| {
        let noisy = levels.noisy.filter(|_| report.carried);
        Levels { noisy, ..levels }.costs()
    });
    Ok(report)
}

/// Whether the noise moves a row of an equality by more than rounding.
fn moves_an_equality(program: &Program, decided: &Decided) -> bool {
    let by_rows = program.a().by_rows();
    let moves = |i: usize| {
        let terms = by_rows.row(i);
        let sizes = terms.iter().flat_map(|&(j, a)| {
            let row = decided.recourse.row(j).into_owned();
            row.into_iter().map(move |e| (a * e.1).abs())
        });
        let most = 1e-12 * sizes.fold(0.0, f64::max);
        let moved = decided.recourse.of_row(terms);
        moved.iter().any(|e| e.1.abs() > most)
    };
    let blocks = program.constraints().iter();
    blocks
        .filter(|block| matches!(block.cone(), Cone::Zero(_)))
        .any(|block| block.range().any(moves))
}

/// Equalities (AX = 0) and other blocks that no noise moves: one that the mean misses at the data is missed by every
/// decision.
pub(super) fn misses_what_no_noise_moves(
    program: &Program,
    own: &Decided,
    released: &ReleasedMap<'_>,
) -> bool {
    let slip = released.settings().tolerance() * own.residuals.primal_scale;
    let slack = program.slack(&own.mean);
    let by_rows = program.a().by_rows();
    let still = |i: usize| own.recourse.of_row(by_rows.row(i)).is_empty();
    let blocks = program.constraints().iter();
    blocks
        .filter(|block| block.holds() != Holds::AtTheMean)
        .filter(|block| matches!(block.cone(), Cone::Zero(_)) || block.range().all(still))
        .any(|block| (block.cone()).violation(&slack[block.range()], Against::Primal) > slip)
}
