//! How a released map solves: through a rewrite where there is one, and, where a certificate counts on it, refined until
//! the answer is proven to lie within the public tolerance.

use super::ReleasedMap;
use crate::error::{Error, Result};
use crate::program::Program;
use crate::proof::{Measure, Proven, Solver, meets_the_equalities, on_the_equalities, refined};
use crate::rewrite::Endpoints;
use crate::rule::Lifted;
use crate::solve::{self, Outcome, Residuals, Settings, Solution};

/// Solves around a point that is not proven good enough, at most.
const REFINEMENTS: usize = 3;

/// A solve around a point: limits farther than `share` of the largest are moved near it (nearer is closer, but may leave
/// out the optimum; 1 moves none), and the program is solved as stated or in units of its limits.
#[derive(Clone, Copy)]
struct Around {
    share: f64,
    units: Units,
}

const fn around(share: f64, units: Units) -> Around {
    Around { share, units }
}

/// What is tried in turn.
const AROUND: [Around; 6] = [
    around(1.0, Units::AsStated),
    around(1e-9, Units::AsStated),
    around(1e-3, Units::OfOrderOne),
    around(1e-6, Units::OfOrderOne),
    around(1.0, Units::OfOrderOne),
    around(1e-9, Units::OfOrderOne),
];

/// The units in which a program is solved first.
#[derive(Clone, Copy, PartialEq)]
enum Units {
    AsStated,
    /// In units in which its limits and costs are of order one.
    OfOrderOne,
}

/// A solve around a point ends the search for a better one where it leaves at most this share of the error.
const MUCH: f64 = 0.1;

/// The tolerance tried first where a solve must be proven.
const TIGHT: f64 = 1e-9;

impl ReleasedMap<'_> {
    /// Through the end-point rewrite where one box holds the only noise, else as it stands. Both are checked alike.
    pub(super) fn solve_lifted(&self, lifted: &Lifted, split: usize) -> Outcome {
        self.solve_in(lifted, split, Units::AsStated)
    }

    fn solve_in(&self, lifted: &Lifted, split: usize, units: Units) -> Outcome {
        let solve = |settings: &Settings| {
            self.design
                .sole_box(split)
                .and_then(|set| Endpoints::new(lifted, &self.posed.rule, set))
                .and_then(|rewritten| rewritten.solve(settings))
                .unwrap_or_else(|| solve::solve(lifted.program(), settings))
        };
        if self.precision.is_none() {
            return solve(&self.settings);
        }
        let tight = match units {
            Units::AsStated => self.settings.tightened(TIGHT),
            Units::OfOrderOne => self.settings.tightened(TIGHT).in_units(),
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

    /// Moves the point onto the equalities and, where a certificate counts on it, inside the cones; proves its error,
    /// and solves again around the point while that is larger than `aim`, or what the certificate aims at.
    pub(super) fn refined(
        &self,
        program: &Program,
        lifted: &Lifted,
        solution: Solution,
        split: usize,
        aim: Option<f64>,
    ) -> Result<(Solution, Option<Proven>)> {
        let mut solution = on_the_equalities(lifted, solution, &self.settings);
        let Some(precision) = &self.precision else {
            return Ok((solution, None));
        };
        let mean = self.design.holds_at_the_mean().then_some(program);
        let lifted_program = lifted.program();
        let again = |program: Program, units: Units| {
            let near = lifted.with_program(program);
            match self.solve_in(&near, split, units) {
                Outcome::Optimal(solution) | Outcome::Inaccurate(solution) => {
                    Some(on_the_equalities(&near, solution, &self.settings))
                }
                _ => None,
            }
        };
        let (as_it_stands, in_units) = (
            |program: Program| again(program, Units::AsStated),
            |program: Program| again(program, Units::OfOrderOne),
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
                let solver = match around.units {
                    Units::AsStated => &solver,
                    Units::OfOrderOne => &solver_in_units,
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

    /// Refuses a solve that is not proven as closely as the guarantee counts on.
    pub(super) fn require(&self, error: Option<f64>) -> Result<()> {
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
}
