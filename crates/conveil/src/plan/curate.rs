//! The private work on one dataset: solve, check, compare with the optimum without noise.

use super::empirical::empirical_violation;
use super::{CuratorReport, Decided, Empirical, Plan, ReleasedMap};
use crate::error::Result;
use crate::program::Cone;
use crate::solve::{self, Batch};

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

pub(super) fn curate(plan: &Plan<'_>, theta: &[f64]) -> Result<Curated> {
    let decided = plan.released().at(theta)?;
    let report = report(plan, &decided, theta)?;
    Ok(Curated { decided, report })
}

/// The report on a decision that was made.
pub(super) fn report(plan: &Plan<'_>, decided: &Decided, theta: &[f64]) -> Result<CuratorReport> {
    let released = plan.released();
    let start = std::time::Instant::now();
    let optimum = solve::solve_checked(&decided.program, released.settings())?;
    let optimum_seconds = start.elapsed().as_secs_f64();
    let start = std::time::Instant::now();
    let stored: u64 = (0..decided.program.columns())
        .map(|j| decided.recourse.row(j).len() as u64)
        .sum::<u64>()
        + decided.program.a().nnz() as u64;
    let draws = (WORK / stored.max(1)).clamp(1_000, DRAWS);
    let mut batch = Batch::new().cancel(released.settings().cancel().clone());
    if let Some(threads) = plan.ask().threads {
        batch = batch.threads(threads);
    }
    let slip = decided
        .residuals
        .primal
        .max(1e-12 * decided.residuals.primal_scale);
    let empirical = empirical_violation(
        &decided.program,
        &decided.mean,
        &decided.recourse,
        released.law(),
        slip,
        (draws, 0x0E0A),
        &batch,
    )?;
    let own = released.own_view(decided.clone(), theta)?;
    // M8a: the promise is for corrected data; what it means for the data themselves is the curator's to know.
    let at_the_data = match &decided.correction {
        Some(correction) if !correction.at_the_data && misses_equalities(&own, released) => {
            Some(Empirical::Exact { probability: 1.0 })
        }
        Some(correction) if !correction.at_the_data => Some(empirical_violation(
            &own.program,
            &own.mean,
            &own.recourse,
            released.law(),
            slip,
            (draws, 0x0E0B),
            &batch,
        )?),
        _ => None,
    };
    let seconds = (optimum_seconds, start.elapsed().as_secs_f64());
    let mut report = CuratorReport::new(plan, &own, &optimum, empirical, seconds);
    report.infeasible_at_the_data = at_the_data;
    Ok(report)
}

/// AX = 0: no noise moves an equality. One that the mean misses at these data is missed by every decision.
fn misses_equalities(own: &Decided, released: &ReleasedMap<'_>) -> bool {
    let slip = released.settings().tolerance() * own.residuals.primal_scale;
    let slack = own.program.slack(&own.mean);
    let blocks = own.program.constraints().iter();
    blocks
        .filter(|block| matches!(block.cone(), Cone::Zero(_)))
        .flat_map(|block| block.range())
        .any(|i| slack[i].abs() > slip)
}
