//! The Clarabel backend: attempts in order, each checked; the first that passes is the answer.

use super::check::{infeasibility, unboundedness};
use super::{Outcome, Residuals, Settings, Solution};
use crate::program::{Cone, Program, Sparse};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

/// One way of posing the program to the solver.
struct Attempt {
    /// Pose it with b and (P, q) scaled to unit size.
    rescaled: bool,
    /// The solver's own tolerance, as a share of ours.
    share: f64,
    /// Heavier regularisation and refinement, for badly conditioned systems.
    careful: bool,
}

/// Where the optimum roughly is: to this, or nothing after so many iterations.
const ROUGH: (f64, u32) = (1e-4, 60);

const ATTEMPTS: [Attempt; 3] = [
    Attempt {
        rescaled: false,
        share: 0.1,
        careful: false,
    },
    Attempt {
        rescaled: true,
        share: 0.01,
        careful: false,
    },
    Attempt {
        rescaled: true,
        share: 0.01,
        careful: true,
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
    blas_src::link();
    let mut best: Option<Solution> = None;
    let mut last_word = String::new();
    let mut iterations = 0;
    for attempt in attempts {
        if settings.cancel().is_raised() {
            return Outcome::Cancelled;
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
        _ => Outcome::Failed(last_word),
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
    blas_src::link();
    let answer = run_to(program, settings, &ATTEMPTS[1], ROUGH).ok()?;
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
    let iterations = if attempt.rescaled { 500 } else { 200 };
    run_to(program, settings, attempt, (tolerance, iterations))
}

fn run_to(
    program: &Program,
    settings: &Settings,
    attempt: &Attempt,
    (tolerance, iterations): (f64, u32),
) -> Result<Answer, String> {
    let largest = |v: &[f64]| v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    // x = size·y: b/size, objective times weight.
    let (size, weight) = if attempt.rescaled {
        let (b, p) = (largest(program.b()), largest(program.p().nzval()));
        // Where every limit is 0 the quadratic cost alone says how large x is: Px = −q.
        let size = match b == 0.0 && p > 0.0 {
            true => largest(program.q()) / p,
            false => b,
        };
        let size = size.max(1e-6);
        let slope = (largest(program.q()) * size).max(largest(program.p().nzval()) * size * size);
        (size, 1.0 / slope.max(1e-12))
    } else {
        (1.0, 1.0)
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
    let mut own = DefaultSettings::<f64> {
        verbose: false,
        max_threads: 1,
        max_iter: iterations,
        tol_gap_abs: tolerance,
        tol_gap_rel: tolerance,
        tol_feas: tolerance,
        ..DefaultSettings::default()
    };
    if attempt.careful {
        own.static_regularization_constant = 1e-7;
        own.iterative_refinement_max_iter = 50;
        own.iterative_refinement_reltol = 1e-14;
        own.iterative_refinement_abstol = 1e-14;
        own.equilibrate_max_iter = 50;
        own.max_step_fraction = 0.95;
    }
    let mut solver = DefaultSolver::new(&p, &q, &a, &b, &cones, own).map_err(|e| e.to_string())?;
    let cancel = settings.cancel().clone();
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
