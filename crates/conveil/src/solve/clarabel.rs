//! The Clarabel backend: attempts in order, each checked; the first that passes is the answer.

use super::check::{infeasibility, unboundedness};
use super::{Outcome, Residuals, Settings, Solution};
use crate::program::{Cone, Program, Sparse};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
// The BLAS and LAPACK symbols that Clarabel calls: they reach it through the linker.
use conveil_blas as _;

/// One way of posing the program to the solver.
struct Attempt {
    scaling: Scaling,
    /// The solver's own tolerance, as a share of ours.
    share: f64,
    /// Heavier regularisation and refinement, for badly conditioned systems.
    careful: bool,
}

/// The unit of x in which the program is posed, with (P, q) scaled to unit size then.
#[derive(Clone, Copy, PartialEq)]
enum Scaling {
    /// As it stands.
    Plain,
    /// The largest limit |b|.
    Limits,
    /// What the quadratic cost alone makes of it, Px = −q: where no limit is nearly as large.
    Curvature,
}

/// Curvature sets the unit where its x is so many times the largest limit.
const BEYOND: f64 = 10.0;

/// Where the optimum roughly is: to this, or nothing after so many iterations.
const ROUGH: f64 = 1e-4;
const ROUGH_ITERATIONS: u32 = 60;

const ATTEMPTS: [Attempt; 4] = [
    Attempt {
        scaling: Scaling::Plain,
        share: 0.1,
        careful: false,
    },
    Attempt {
        scaling: Scaling::Limits,
        share: 0.01,
        careful: false,
    },
    Attempt {
        scaling: Scaling::Limits,
        share: 0.01,
        careful: true,
    },
    Attempt {
        scaling: Scaling::Curvature,
        share: 0.01,
        careful: false,
    },
];

pub(super) fn solve(program: &Program, settings: &Settings) -> Outcome {
    solve_by(program, settings, ATTEMPTS.iter())
}

/// The same, with data of unit size tried first: large networks need fewer attempts.
pub(super) fn solve_rescaled(program: &Program, settings: &Settings) -> Outcome {
    let (plain, rescaled) = ATTEMPTS.split_at(1);
    let order = rescaled[..1].iter().chain(plain).chain(&rescaled[1..]);
    solve_by(program, settings, order)
}

fn solve_by<'a>(
    program: &Program,
    settings: &Settings,
    attempts: impl Iterator<Item = &'a Attempt>,
) -> Outcome {
    let mut best: Option<Solution> = None;
    let mut last_word = String::new();
    let mut iterations = 0;
    for attempt in attempts {
        if settings.cancel().is_raised() {
            return Outcome::Cancelled;
        }
        if unit(program, attempt.scaling).is_none() {
            continue;
        }
        let answer = match run(program, settings, attempt) {
            Ok(answer) => answer,
            Err(why) => {
                last_word = why;
                continue;
            }
        };
        iterations += answer.iterations;
        last_word = format!("{:?} after {iterations} iterations", answer.status);
        match answer.status {
            SolverStatus::CallbackTerminated => return Outcome::Cancelled,
            SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => {
                if let Some(z) = infeasibility(program, &answer.z) {
                    return Outcome::Infeasible(z);
                }
            }
            SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => {
                if let Some(d) = unboundedness(program, &answer.x) {
                    return Outcome::Unbounded(d);
                }
            }
            _ => {
                let residuals = Residuals::of(program, &answer.x, &answer.z);
                if !residuals.worst().is_finite() {
                    continue;
                }
                let solution = Solution {
                    objective: program.objective(&answer.x),
                    x: answer.x,
                    z: answer.z,
                    residuals,
                    iterations,
                };
                if residuals.pass(settings.tolerance()) {
                    return Outcome::Optimal(solution);
                }
                if best
                    .as_ref()
                    .is_none_or(|b| residuals.worst() < b.residuals.worst())
                {
                    best = Some(solution);
                }
            }
        }
    }
    if settings.cancel().is_raised() {
        return Outcome::Cancelled;
    }
    match best {
        // A point that misses the tolerance by a little is worth another attempt from there, and reporting as such; far
        // away it is a failure.
        Some(best) if best.residuals.worst() <= 1e-2 && !settings.insists() => {
            Outcome::Inaccurate(best)
        }
        Some(best) if best.residuals.worst() <= 1e-2 => match around(program, settings, &best) {
            _ if settings.cancel().is_raised() => Outcome::Cancelled,
            Some(better) if better.residuals.pass(settings.tolerance()) => Outcome::Optimal(better),
            Some(better) if better.residuals.worst() < best.residuals.worst() => {
                Outcome::Inaccurate(better)
            }
            _ => Outcome::Inaccurate(best),
        },
        Some(best) => Outcome::Failed(format!(
            "{last_word}, but its best point misses our check by {:.0e}, relative to the numbers in it",
            best.residuals.worst()
        )),
        None => Outcome::Failed(last_word),
    }
}

/// The unit of x under a scaling; none where that is no way of its own to pose the program.
fn unit(program: &Program, scaling: Scaling) -> Option<f64> {
    let largest = |v: &[f64]| v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let curved = || {
        let p = largest(program.p().nzval());
        (p > 0.0).then(|| largest(program.q()) / p)
    };
    let b = largest(program.b());
    match scaling {
        Scaling::Plain => Some(1.0),
        // Where every limit is 0 the quadratic cost alone says how large x is.
        Scaling::Limits if b == 0.0 => Some(curved().unwrap_or(0.0).max(1e-6)),
        Scaling::Limits => Some(b.max(1e-6)),
        Scaling::Curvature => curved().filter(|x| b > 0.0 && *x > BEYOND * b),
    }
}

/// Solves for d = x − x₀ around the best point found: b − Ax₀ − Ad ∈ K. The numbers at its optimum are small, and the
/// solver's relative tolerance goes further.
fn around(program: &Program, settings: &Settings, best: &Solution) -> Option<Solution> {
    let px = program.p().symmetric_times(&best.x);
    let q = px.iter().zip(program.q()).map(|(p, q)| p + q).collect();
    let cones = program.constraints().iter().map(|c| c.cone().clone());
    let near = Program::assembled(
        program.p().clone(),
        q,
        program.a().clone(),
        program.slack(&best.x),
        0.0,
        cones.collect(),
    );
    let mut closest: Option<Solution> = None;
    for attempt in &ATTEMPTS {
        if settings.cancel().is_raised() {
            break;
        }
        let Ok(answer) = run(&near, settings, attempt) else {
            continue;
        };
        let x: Vec<f64> = best.x.iter().zip(&answer.x).map(|(x, d)| x + d).collect();
        let residuals = Residuals::of(program, &x, &answer.z);
        if !closest
            .as_ref()
            .is_none_or(|c| residuals.worst() < c.residuals.worst())
        {
            continue;
        }
        closest = Some(Solution {
            objective: program.objective(&x),
            x,
            z: answer.z,
            residuals,
            iterations: best.iterations + answer.iterations,
        });
        if residuals.pass(settings.tolerance()) {
            break;
        }
    }
    closest
}

/// A point near the optimum, to a few digits and unchecked: good enough to see which rows matter.
pub(super) fn roughly(program: &Program, settings: &Settings) -> Option<Vec<f64>> {
    let answer = run_to(program, settings, &ATTEMPTS[1], ROUGH, ROUGH_ITERATIONS).ok()?;
    let is_near = matches!(
        answer.status,
        SolverStatus::Solved | SolverStatus::AlmostSolved
    );
    (is_near && answer.x.iter().all(|v| v.is_finite())).then_some(answer.x)
}

struct Answer {
    status: SolverStatus,
    x: Vec<f64>,
    z: Vec<f64>,
    iterations: u32,
}

fn run(program: &Program, settings: &Settings, attempt: &Attempt) -> Result<Answer, String> {
    let tolerance = (settings.tolerance() * attempt.share).clamp(1e-12, 1e-8);
    let iterations = match attempt.scaling {
        Scaling::Plain => 200,
        Scaling::Limits | Scaling::Curvature => 500,
    };
    run_to(program, settings, attempt, tolerance, iterations)
}

fn run_to(
    program: &Program,
    settings: &Settings,
    attempt: &Attempt,
    tolerance: f64,
    iterations: u32,
) -> Result<Answer, String> {
    let largest = |v: &[f64]| v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    // x = size·y: b/size, objective times weight.
    let size = unit(program, attempt.scaling).unwrap_or(1.0);
    let weight = match attempt.scaling {
        Scaling::Plain => 1.0,
        Scaling::Limits | Scaling::Curvature => {
            let p = largest(program.p().nzval());
            1.0 / (largest(program.q()) * size)
                .max(p * size * size)
                .max(1e-12)
        }
    };
    let p = csc(program.p(), weight * size * size);
    let a = csc(program.a(), 1.0);
    let q: Vec<f64> = program.q().iter().map(|v| v * weight * size).collect();
    let b: Vec<f64> = program.b().iter().map(|v| v / size).collect();
    let cones: Vec<SupportedConeT<f64>> = program
        .constraints()
        .iter()
        .map(|c| cone(c.cone()))
        .collect();
    let mut options = DefaultSettings::<f64> {
        verbose: false,
        max_threads: 1,
        max_iter: iterations,
        tol_gap_abs: tolerance,
        tol_gap_rel: tolerance,
        tol_feas: tolerance,
        ..DefaultSettings::default()
    };
    if attempt.careful {
        options.static_regularization_constant = 1e-7;
        options.iterative_refinement_max_iter = 50;
        options.iterative_refinement_reltol = 1e-14;
        options.iterative_refinement_abstol = 1e-14;
        options.equilibrate_max_iter = 50;
        options.max_step_fraction = 0.95;
    }
    let mut solver =
        DefaultSolver::new(&p, &q, &a, &b, &cones, options).map_err(|e| e.to_string())?;
    let cancel = settings.cancel().clone();
    // Setting up orders and factorises: of a large network that takes about a second.
    if cancel.is_raised() {
        return Err("interrupted".into());
    }
    solver.set_termination_callback(move |_: &_| cancel.is_raised());
    solver.solve();
    let solution = &solver.solution;
    let is_certificate = matches!(
        solution.status,
        SolverStatus::PrimalInfeasible
            | SolverStatus::AlmostPrimalInfeasible
            | SolverStatus::DualInfeasible
            | SolverStatus::AlmostDualInfeasible
    );
    let back = if is_certificate {
        (1.0, 1.0)
    } else {
        (size, 1.0 / (weight * size))
    };
    Ok(Answer {
        status: solution.status,
        x: solution.x.iter().map(|v| v * back.0).collect(),
        z: solution.z.iter().map(|v| v * back.1).collect(),
        iterations: solution.iterations,
    })
}

fn csc(m: &Sparse, factor: f64) -> CscMatrix<f64> {
    CscMatrix::new(
        m.rows(),
        m.columns(),
        m.colptr().to_vec(),
        m.rowval().to_vec(),
        m.nzval().iter().map(|v| v * factor).collect(),
    )
}

fn cone(cone: &Cone) -> SupportedConeT<f64> {
    match cone {
        Cone::Zero(m) => SupportedConeT::ZeroConeT(*m),
        Cone::Nonnegative(m) => SupportedConeT::NonnegativeConeT(*m),
        Cone::SecondOrder(m) => SupportedConeT::SecondOrderConeT(*m),
        Cone::Exponential => SupportedConeT::ExponentialConeT(),
        Cone::Power(a) => SupportedConeT::PowerConeT(*a),
        Cone::GeneralizedPower(alpha, w) => SupportedConeT::GenPowerConeT(alpha.clone(), *w),
        Cone::PsdTriangle(n) => SupportedConeT::PSDTriangleConeT(*n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Builder;

    /// A QP of size 10⁹ with costs of 10⁻⁹.
    fn far_and_cheap() -> Program {
        let (size, cost) = (1e9, 1e-9);
        let mut m = Builder::new();
        let x = m.variable("x", 3);
        m.minimize(x.dot(&[cost, 2.0 * cost, -cost]));
        for j in 0..3 {
            m.quadratic(j, j, cost);
            m.between(&format!("x{j}"), 0.0, x.at(j), size);
        }
        m.at_most("cover", 1.2 * size, x.sum());
        m.at_most("thin", x.at(2), 1.0);
        m.build().unwrap()
    }

    #[test]
    fn the_rescaled_attempt_solves_what_the_plain_one_calls_infeasible() {
        let program = far_and_cheap();
        let settings = Settings::default();
        let plain = run(&program, &settings, &ATTEMPTS[0]).unwrap();
        assert_eq!(plain.status, SolverStatus::PrimalInfeasible);
        // Its certificate is rounding: our check does not believe it.
        assert!(infeasibility(&program, &plain.z).is_none());
        let rescaled = run(&program, &settings, &ATTEMPTS[1]).unwrap();
        assert!(Residuals::of(&program, &rescaled.x, &rescaled.z).pass(settings.tolerance()));
        let Outcome::Optimal(solution) = solve(&program, &settings) else {
            panic!("the second attempt passes");
        };
        // x₀ + 1 = x₁ + 2 and x₂ = 1 at the optimum.
        let half = (1.2e9 - 1.0) / 2.0;
        assert!(
            (solution.x[0] - half).abs() < 1e-4 * half
                && (solution.x[1] - half).abs() < 1e-4 * half
        );
    }

    /// Responses of 10¹⁰ fitted under limits of 1: nothing but the cost says how large x is.
    #[test]
    fn a_fit_far_beyond_its_limits_is_solved_in_units_of_its_own() {
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        m.quadratic(0, 0, 300.0);
        m.quadratic(0, 1, 100.0);
        m.quadratic(1, 1, 40.0);
        m.minimize(x.dot(&[-6e12, -2.1e12]));
        m.at_most("slope", 1.0, x.at(1));
        m.at_most("level", x.at(0), x.at(1) + 1.0);
        let program = m.build().unwrap();
        assert!(unit(&program, Scaling::Curvature).is_some());
        let found = solve(&program, &Settings::default());
        let Outcome::Optimal(solution) = found else {
            panic!("it has an optimum: {found:?}");
        };
        // Px = −q holds inside, at (15, 15)·10⁹; the objective is ½q'x there.
        let optimum = -0.5 * (6e12 + 2.1e12) * 15e9;
        assert!((solution.objective / optimum - 1.0).abs() < 1e-7);
        // A cost of its limits' size is posed in no third way.
        assert!(unit(&far_and_cheap(), Scaling::Curvature).is_none());
    }

    #[test]
    fn a_curved_objective_is_not_taken_for_an_unbounded_one() {
        // min ½·10⁻⁵x² − x: the optimum 10⁵ is far away, and there.
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        m.minimize(-1.0 * x.at(0));
        m.quadratic(0, 0, 1e-5);
        m.at_most("sign", 0.0, x.at(0));
        let program = m.build().unwrap();
        assert!(unboundedness(&program, &[1.0]).is_none());
        let Outcome::Optimal(solution) = solve(&program, &Settings::default()) else {
            panic!("bounded");
        };
        assert!((solution.x[0] - 1e5).abs() < 0.1, "{}", solution.x[0]);
        // Without curvature the same direction is a certificate, in any unit of the cost.
        for cost in [1e-9, 1.0, 1e9] {
            let mut m = Builder::new();
            let x = m.variable("x", 1);
            m.minimize(-cost * x.at(0));
            m.at_most("sign", 0.0, x.at(0));
            let program = m.build().unwrap();
            assert!(unboundedness(&program, &[1.0]).is_some());
            assert!(
                matches!(solve(&program, &Settings::default()), Outcome::Unbounded(_)),
                "{cost}"
            );
        }
    }
}
