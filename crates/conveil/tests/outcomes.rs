//! The solver proposes, our own check decides: typed outcomes on crafted programs, in the user's own names.

mod structure_common;

use conveil::Error;
use conveil::program::{Affine, Builder, Cone, Program};
use conveil::solve::{Cancel, Outcome, Residuals, Settings, solve, solve_checked};
use structure_common::message;

fn settings() -> Settings {
    Settings::default()
}

/// min x₀ + x₁ s.t. x₀ + 2x₁ ≥ 4, 0 ≤ x ≤ 3: optimum 2 at (0, 2).
fn covering() -> Program {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    m.minimize(x.sum());
    m.at_most("cover", 4.0, x.dot(&[1.0, 2.0]));
    m.between("x0", 0.0, x.at(0), 3.0);
    m.between("x1", 0.0, x.at(1), 3.0);
    m.build().unwrap()
}

#[test]
fn an_optimum_passes_our_check_and_a_shifted_one_does_not() {
    let program = covering();
    let solution = solve_checked(&program, &settings()).unwrap();
    assert!((solution.objective - 2.0).abs() < 1e-6);
    assert!(solution.residuals.worst() <= settings().tolerance());
    // Primal: 1e-3 below the cover row; dual: a multiplier off by 1e-3; gap: a feasible point that is not optimal.
    let off = |x: [f64; 2], z: &[f64]| Residuals::of(&program, &x, z);
    let below = off([0.0, 2.0 - 1e-3], &solution.z);
    assert!((below.primal - 2e-3).abs() < 1e-6, "{below:?}");
    let mut z = solution.z.clone();
    z[0] += 1e-3;
    let dual = off([0.0, 2.0], &z);
    assert!((dual.dual - 2e-3).abs() < 1e-6, "{dual:?}");
    let poor = off([0.0, 2.5], &solution.z);
    assert!(poor.primal < 1e-7 && poor.dual < 1e-6, "{poor:?}");
    assert!((poor.gap - 0.5).abs() < 1e-5, "{poor:?}");
    for bad in [below, dual, poor] {
        assert!(bad.worst() > 1e-4);
    }
    let broken = off([f64::NAN, 0.0], &solution.z);
    assert_eq!(broken.worst(), f64::INFINITY);
}

#[test]
fn infeasibility_names_the_constraints_that_exclude_each_other() {
    let mut m = Builder::new();
    let x = m.variable("x", 3);
    m.minimize(x.sum());
    m.at_most("cap", x.at(0) + x.at(1), 1.0);
    m.at_most("floor", 2.0, x.at(0) + x.at(1));
    m.between("bystander", 0.0, x.at(2), 1.0);
    m.between("x0", -5.0, x.at(0), 5.0);
    m.between("x1", -5.0, x.at(1), 5.0);
    let program = m.build().unwrap();
    let Outcome::Infeasible(z) = solve(&program, &settings()) else {
        panic!("1 < 2");
    };
    // Farkas: A'z = 0, z ≥ 0, b'z = −1.
    let bz: f64 = program.b().iter().zip(&z).map(|(b, z)| b * z).sum();
    assert!((bz + 1.0).abs() < 1e-9);
    assert!(
        program
            .a()
            .transpose_times(&z)
            .iter()
            .all(|v| v.abs() < 1e-6)
    );
    assert!(z.iter().all(|v| *v > -1e-6));
    let Err(Error::Infeasible(why)) = solve_checked(&program, &settings()) else {
        panic!("typed");
    };
    let names: Vec<&str> = why.rows.iter().map(|r| r.0.as_str()).collect();
    assert_eq!(
        {
            let mut n = names.clone();
            n.sort();
            n
        },
        ["cap", "floor"]
    );
    assert!((why.rows.iter().map(|r| r.1).sum::<f64>() - 1.0).abs() < 1e-3);
    assert!(
        why.to_string()
            .starts_with("these constraints exclude each other: `")
    );
}

#[test]
fn an_unbounded_program_names_the_variables_that_run_away() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let y = m.variable("still", 1);
    m.minimize(-1.0 * x.at(0) + y.at(0));
    m.equal("tied", x.at(0), 2.0 * x.at(1));
    m.between("held", 0.0, y.at(0), 1.0);
    m.at_most("sign", 0.0, x.at(0));
    let program = m.build().unwrap();
    let Outcome::Unbounded(d) = solve(&program, &settings()) else {
        panic!("x runs away");
    };
    assert!(
        (d[0] - 1.0).abs() < 1e-6 && (d[1] - 0.5).abs() < 1e-6 && d[2].abs() < 1e-6,
        "{d:?}"
    );
    assert_eq!(
        message(solve_checked(&program, &settings())),
        "the program itself is unbounded: the objective falls without limit along `x[0]` up, `x[1]` up"
    );
}

#[test]
fn badly_scaled_programs_are_solved_in_their_own_units() {
    // min c·Σx, x₀ + x₁ ≥ b, 0 ≤ x ≤ b, over sixteen orders of magnitude of each.
    for b in [1e-7, 1.0, 1e5, 1e9] {
        for c in [1e-7, 1.0, 1e5, 1e9] {
            let mut m = Builder::new();
            let x = m.variable("x", 2);
            m.minimize(x.dot(&[c, 2.0 * c]));
            m.at_most("cover", b, x.sum());
            m.between("x0", 0.0, x.at(0), 0.75 * b);
            m.between("x1", 0.0, x.at(1), b);
            let program = m.build().unwrap();
            let solution = solve_checked(&program, &settings()).unwrap();
            let optimum = 1.25 * b * c;
            let found = solution.objective;
            // A vertex: rows and costs right to 1e-4 of their own size make it right to a few times that.
            assert!(
                (found - optimum).abs() <= 1e-3 * optimum,
                "b {b:e} c {c:e}: {found:e} {optimum:e}"
            );
        }
    }
}

#[test]
fn a_weakly_infeasible_program_is_never_optimal() {
    // (t, t, 1) in the second-order cone: √(t²+1) ≤ t holds in the limit only.
    let mut m = Builder::new();
    let t = m.variable("t", 1);
    m.minimize(0.0 * t.at(0));
    m.cone(
        "hyperbola",
        Cone::SecondOrder(3),
        vec![t.at(0), t.at(0), 1.0.into()],
    );
    let cone = m.build().unwrap();
    // [x 1; 1 0] ⪰ 0.
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    m.minimize(x.at(0));
    m.semidefinite(
        "corner",
        2,
        vec![x.at(0), Affine::constant(1.0), Affine::constant(0.0)],
    );
    let matrix = m.build().unwrap();
    for (name, program) in [("cone", cone), ("matrix", matrix)] {
        for tolerance in [1e-9, 1e-7, 1e-5] {
            let outcome = solve(&program, &settings().with_tolerance(tolerance).unwrap());
            if let Outcome::Optimal(s) = &outcome {
                panic!("{name} at {tolerance}: {:?} {:?}", s.x, s.residuals);
            }
        }
    }
}

#[test]
fn a_raised_flag_stops_a_solve_and_tolerances_have_limits() {
    let cancel = Cancel::default();
    cancel.raise();
    let outcome = solve(&covering(), &settings().with_cancel(cancel));
    assert!(matches!(outcome, Outcome::Cancelled));
    for bad in [0.0, 1e-13, 1e-2, f64::NAN] {
        let why = message(settings().with_tolerance(bad));
        assert_eq!(
            why,
            format!("the solver tolerance must lie between 1e-12 and 1e-3, found {bad}")
        );
    }
}
