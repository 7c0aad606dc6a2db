//! Solving, and checking what came back. The solver proposes, our own residual and gap test decides.

mod batch;
mod border;
mod check;
mod clarabel;
mod dense;
mod framed;
mod hinge;
mod interior;
mod lanes;
mod logistic;
mod losses;
mod newton;
mod screening;
mod sharpen;
mod small;
mod sum;
#[cfg(test)]
mod twice;
mod working;

pub use crate::error::{Infeasibility, Residuals};
pub use batch::{Batch, Cancel};
pub(crate) use check::{Measured, Sizes};
pub(crate) use framed::size_of_limits;
pub(crate) use hinge::{CLOSE, Hinge, HingeProblem};
pub(crate) use logistic::LogisticForm;
pub(crate) use losses::HingeForm;

use crate::error::{Error, Result};
use crate::program::Program;

/// How to solve and when to believe it.
#[derive(Clone, Debug)]
pub struct Settings {
    tolerance: f64,
    /// Whether an answer that misses the tolerance is worth a solve around it.
    insists: bool,
    /// Whether a program is posed in units in which its numbers are of order one.
    in_units: bool,
    cancel: Cancel,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            tolerance: 1e-7,
            insists: true,
            in_units: false,
            cancel: Cancel::default(),
        }
    }
}

impl Settings {
    /// The public tolerance τ of our check, relative to the size of b, q and the objective.
    pub fn with_tolerance(mut self, tolerance: f64) -> Result<Self> {
        if !(1e-12..=1e-3).contains(&tolerance) {
            return Err(Error::input(format!(
                "the solver tolerance must lie between 1e-12 and 1e-3, found {tolerance}"
            )));
        }
        self.tolerance = tolerance;
        Ok(self)
    }

    /// The same with a tolerance of at most this, which an answer may miss.
    pub(crate) fn tightened(&self, tolerance: f64) -> Self {
        Settings {
            tolerance: self.tolerance.min(tolerance),
            insists: false,
            ..self.clone()
        }
    }

    /// The same, with programs posed and checked in units in which their limits and costs are of order one: a tolerance
    /// is then relative to the program's own numbers, however small or large they are.
    pub(crate) fn in_units(&self) -> Self {
        Settings {
            in_units: true,
            ..self.clone()
        }
    }

    /// Stops running solves when the flag is raised.
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// The public tolerance.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn insists(&self) -> bool {
        self.insists
    }

    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}

/// A point that passed, or failed, our check.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The primal point.
    pub x: Vec<f64>,
    /// The multipliers, z ∈ K*, with Px + q + A'z = 0.
    pub z: Vec<f64>,
    /// ½x'Px + q'x + constant.
    pub objective: f64,
    /// What our check measured.
    pub residuals: Residuals,
    /// Interior-point iterations over all attempts.
    pub iterations: u32,
}

/// What a solve ended in. Different answers, never mixed up.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Within the tolerance by our own check.
    Optimal(Solution),
    /// z ∈ K*, A'z = 0, b'z < 0: no feasible point; the multipliers are scaled to b'z = −1.
    Infeasible(Vec<f64>),
    /// A direction d with Pd = 0, −Ad ∈ K, q'd = −1.
    Unbounded(Vec<f64>),
    /// The best point found, which failed our check.
    Inaccurate(Solution),
    /// No usable answer, with the solver's own word for it.
    Failed(String),
    /// Interrupted.
    Cancelled,
}

impl Outcome {
    /// The optimal solution, or the error that names rows and variables of `program`.
    pub fn into_solution(self, program: &Program, tolerance: f64) -> Result<Solution> {
        match self {
            Outcome::Optimal(solution) => Ok(solution),
            Outcome::Infeasible(z) => {
                Err(Error::Infeasible(Infeasibility::named(program, &z, |i| {
                    Some(program.row_name(i))
                })))
            }
            Outcome::Unbounded(d) => Err(Error::Unbounded(describe_direction(program, &d))),
            Outcome::Inaccurate(best) if stalls(program) => Err(Error::stalled(format!(
                "its best answer has {}, and the tolerance is {tolerance:e}",
                best.residuals
            ))),
            Outcome::Failed(why) if stalls(program) => Err(Error::stalled(why)),
            Outcome::Inaccurate(best) => Err(Error::Inaccurate {
                residuals: best.residuals,
                tolerance,
            }),
            Outcome::Failed(why) => Err(Error::Numerical(why)),
            Outcome::Cancelled => Err(Error::Cancelled),
        }
    }
}

/// Solves the program and checks the answer; rescales and retries before giving up. A sum of hinges or of logistic losses
/// goes to a backend of its own first, a program with very many limits is tried with those that matter. A program with a
/// frame is solved and checked in its coordinates.
pub fn solve(program: &Program, settings: &Settings) -> Outcome {
    if settings.cancel().is_raised() {
        return Outcome::Cancelled;
    }
    if let Some(frame) = program.frame() {
        return framed::solve(program, frame, settings);
    }
    if let Some(outcome) = losses::solve(program, settings) {
        return outcome;
    }
    if let Some(outcome) = logistic::solve(program, settings) {
        return outcome;
    }
    if settings.in_units
        && let Some(frame) = framed::of_order_one(program)
    {
        let posed = Settings {
            in_units: false,
            ..settings.clone()
        };
        // That there is no point, or no limit, is for the program as it stands to say: a certificate that is right to
        // rounding in other units need not be in its own.
        let found = framed::solve(program, &frame, &posed);
        if let Outcome::Optimal(_) | Outcome::Inaccurate(_) | Outcome::Cancelled = found {
            return found;
        }
    }
    small::solve(program, settings)
        .or_else(|| working::solve(program, settings))
        .unwrap_or_else(|| clarabel::solve(program, settings))
}

/// The same by the conic solver, whatever the form: to compare with.
pub fn solve_by_cones(program: &Program, settings: &Settings) -> Outcome {
    clarabel::solve(program, settings)
}

/// [`solve`], with every outcome but an optimum turned into an error.
pub fn solve_checked(program: &Program, settings: &Settings) -> Result<Solution> {
    solve(program, settings).into_solution(program, settings.tolerance())
}

/// Below this size of the optimum and of the limits a tolerance is an absolute one, not relative to them.
const SMALL: f64 = 1.0;

/// [`solve_checked`] for an optimum that is reported: as close, relative to its size, in small units as in large ones.
pub(crate) fn optimum(program: &Program, settings: &Settings) -> Result<Solution> {
    let found = solve_checked(program, settings)?;
    if found.objective.abs() >= SMALL || size_of_limits(program) >= SMALL {
        return Ok(found);
    }
    match solve(program, &settings.in_units()) {
        Outcome::Optimal(closer) => Ok(closer),
        _ => Ok(found),
    }
}

/// The outcome of a rewrite, checked against the program it stands for; `None` if it does not pass.
pub(crate) fn recheck(program: &Program, outcome: Outcome, settings: &Settings) -> Option<Outcome> {
    match outcome {
        Outcome::Optimal(mut solution) => {
            solution.residuals = Residuals::of(program, &solution.x, &solution.z);
            solution.objective = program.objective(&solution.x);
            solution
                .residuals
                .pass(settings.tolerance())
                .then_some(Outcome::Optimal(solution))
        }
        Outcome::Infeasible(z) => check::infeasibility(program, &z).map(Outcome::Infeasible),
        Outcome::Unbounded(d) => check::unboundedness(program, &d).map(Outcome::Unbounded),
        Outcome::Inaccurate(_) | Outcome::Failed(_) => None,
        Outcome::Cancelled => Some(Outcome::Cancelled),
    }
}

/// Whether the program has cones on which the solver is known to stall.
fn stalls(program: &Program) -> bool {
    let mut blocks = program.constraints().iter();
    blocks.any(|c| matches!(c.cone(), crate::program::Cone::GeneralizedPower(..)))
}

fn describe_direction(program: &Program, d: &[f64]) -> String {
    let largest = d.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut moving: Vec<(usize, f64)> = d
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, v)| v.abs() > 0.01 * largest)
        .collect();
    moving.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let names: Vec<String> = moving
        .iter()
        .take(5)
        .map(|(j, v)| {
            format!(
                "`{}` {}",
                program.variable_name(*j),
                if *v > 0.0 { "up" } else { "down" }
            )
        })
        .collect();
    format!(
        "the objective falls without limit along {}",
        names.join(", ")
    )
}
