//! What the feasibility of compared strategies is judged by: the program at the data as they are, not as they are
//! clipped to public bounds (M1). A strategy works on clipped data, but its decision meets the real ones.

use crate::ask::ResolvedQuery;
use crate::digits::counted;
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::program::{Program, Sparse};
use crate::solve::{self, Outcome, Settings};

pub(super) struct Judge {
    /// The whole program.
    pub(super) program: Program,
    /// Its blocks that hold with noise or always.
    pub(super) held: Program,
    /// M11: the feasible answers, where one number is released; (∞, −∞) where there are none.
    pub(super) interval: Option<(f64, f64)>,
    /// Not so where the data as they are make no program that can be solved: the clipped data stand in.
    pub(super) is_at_the_data: bool,
}

impl Judge {
    pub(super) fn of(
        program: &Program,
        query: &ResolvedQuery,
        settings: &Settings,
    ) -> Result<Self> {
        let held = program.held_with_noise();
        let interval = match query.rows() {
            // From the optimum on: how far up the objective of feasible points goes is not told.
            _ if query.is_objective() => Some((optimal_value(program, settings)?, f64::INFINITY)),
            [row] => Some(answer_interval(&held, row, settings)?),
            _ => None,
        };
        Ok(Judge {
            program: program.clone(),
            held,
            interval,
            is_at_the_data: true,
        })
    }

    /// The judge at the data as they are, and what a reader must know where that is not `own`, the clipped data's.
    pub(super) fn at_the_data(
        own: Judge,
        plan: &Plan<'_>,
        query: &ResolvedQuery,
        theta: &[f64],
        settings: &Settings,
    ) -> Result<(Judge, Option<String>)> {
        let clipped = plan.clipped(theta)?.len();
        if clipped == 0 {
            return Ok((own, None));
        }
        let values = counted(clipped, "value");
        let outside = match plan.guarantee().universe() {
            Some(_) => "the universe or public bounds",
            None => "public bounds",
        };
        let themselves = plan.model().unclipped(theta);
        match themselves.and_then(|program| Judge::of(&program, query, settings)) {
            Ok(judge) => {
                let note = format!(
                    "{values} outside {outside}: every strategy works on the clipped data and its loss is against their optimum, but feasibility is judged at the data as they are"
                );
                Ok((judge, Some(note)))
            }
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(_) => {
                let note = format!(
                    "{values} outside {outside}, too far for a program that can be solved: feasibility is judged at the clipped data, and says nothing about the data as they are"
                );
                let own = Judge {
                    is_at_the_data: false,
                    ..own
                };
                Ok((own, Some(note)))
            }
        }
    }

    pub(super) fn worst_violation(&self, x: &[f64]) -> f64 {
        self.held.worst_violation(&self.held.slack(x)).0
    }
}

/// The least objective of a feasible point; ∞ where there is none.
fn optimal_value(program: &Program, settings: &Settings) -> Result<f64> {
    match solve::solve(program, settings) {
        Outcome::Optimal(solution) => Ok(solution.objective),
        Outcome::Infeasible(_) => Ok(f64::INFINITY),
        Outcome::Unbounded(_) => Ok(f64::NEG_INFINITY),
        other => {
            let solution = other.into_solution(program, settings.tolerance())?;
            Ok(solution.objective)
        }
    }
}

/// M11: for r = 1 the feasible answers {Qx : x feasible} form an interval, found by two solves; the least of none is ∞.
fn answer_interval(
    program: &Program,
    row: &[(usize, f64)],
    settings: &Settings,
) -> Result<(f64, f64)> {
    let end = |sign: f64| -> Result<f64> {
        let mut q = vec![0.0; program.columns()];
        row.iter().for_each(|&(j, w)| q[j] += sign * w);
        let cones = program
            .constraints()
            .iter()
            .map(|c| c.cone().clone())
            .collect();
        let n = program.columns();
        let extreme = Program::assembled(
            Sparse::zeros(n, n),
            q,
            program.a().clone(),
            program.b().to_vec(),
            0.0,
            cones,
        );
        match solve::solve(&extreme, settings) {
            Outcome::Optimal(solution) => Ok(sign * solution.objective),
            Outcome::Unbounded(_) => Ok(sign * f64::NEG_INFINITY),
            Outcome::Infeasible(_) => Ok(sign * f64::INFINITY),
            other => other
                .into_solution(&extreme, settings.tolerance())
                .map(|_| 0.0),
        }
    };
    Ok((end(1.0)?, end(-1.0)?))
}
