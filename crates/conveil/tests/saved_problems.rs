//! Clarabel's own JSON, both ways: what it saves we solve to the same value, what we save it loads.

mod structure_common;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, SolverJSONReadWrite, SolverStatus, SupportedConeT,
};
use conveil::program::{Affine, Builder, Cone, Program, Stage};
use conveil::solve::{Settings, solve_checked};
use std::io::{Seek, SeekFrom, Write};
use structure_common::message;

/// A bounded program with one block of every cone kind.
fn every_cone() -> Program {
    let mut m = Builder::new();
    let x = m.variable("x", 6);
    m.minimize(x.dot(&[1.0, -1.0, 0.5, -0.5, 2.0, -1.5]));
    m.minimize_half_square(0.3, &[x.at(0) - x.at(1), x.at(2) + x.at(3)]);
    m.equal("zero", x.at(0) + x.at(1), 1.0);
    for j in 0..6 {
        m.between(&format!("limits {j}"), -3.0, x.at(j), 4.0);
    }
    m.norm_at_most("second order", vec![x.at(0), x.at(1)], x.at(2));
    m.cone(
        "exponential",
        Cone::Exponential,
        vec![x.at(3), 1.0.into(), x.at(4)],
    );
    m.cone(
        "power",
        Cone::Power(0.3),
        vec![x.at(4), x.at(2) + 2.0, x.at(5)],
    );
    m.cone(
        "generalised power",
        Cone::GeneralizedPower(vec![0.25, 0.25, 0.5], 2),
        vec![x.at(4), x.at(2) + 1.0, 2.0.into(), x.at(5), 0.1 * x.at(1)],
    );
    m.semidefinite(
        "semidefinite",
        2,
        vec![x.at(2), 0.5 * x.at(5), Affine::constant(2.0) - x.at(3)],
    );
    m.build().unwrap()
}

fn temporary(text: &str) -> std::fs::File {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path = directory.join(format!("saved_{}_{number}.json", std::process::id()));
    let mut file = std::fs::File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file
}

fn value(program: &Program) -> f64 {
    solve_checked(program, &Settings::default())
        .unwrap()
        .objective
}

#[test]
fn every_cone_survives_the_round_trip_to_the_last_bit() {
    let program = every_cone();
    let again = Program::from_json("again.json", &program.to_json()).unwrap();
    assert_eq!(again.p(), program.p());
    assert_eq!(again.q(), program.q());
    assert_eq!(again.a(), program.a());
    assert_eq!(again.b(), program.b());
    let cones = |p: &Program| {
        p.constraints()
            .iter()
            .map(|c| c.cone().clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(cones(&again), cones(&program));
    let kinds: std::collections::BTreeSet<&str> = program
        .constraints()
        .iter()
        .map(|c| c.cone().kind())
        .collect();
    assert_eq!(kinds.len(), 7, "one block of every kind");
    assert_eq!(again.to_json(), program.to_json());
    assert_eq!(again.variables()[0].name(), "x");
    assert_eq!(again.constraints()[3].name(), "c3");
    assert!((value(&again) - value(&program)).abs() < 1e-9);
}

#[test]
fn clarabel_loads_what_we_save_and_finds_our_value() {
    let program = every_cone();
    let mut file = temporary(&program.to_json());
    let settings = DefaultSettings::<f64> {
        verbose: false,
        ..Default::default()
    };
    let mut solver = DefaultSolver::load_from_file(&mut file, Some(settings)).unwrap();
    solver.solve();
    assert_eq!(solver.solution.status, SolverStatus::Solved);
    assert!((solver.solution.obj_val - value(&program)).abs() < 1e-6);
    // And with the settings that the format leaves out.
    let mut file = temporary(&program.to_json());
    DefaultSolver::<f64>::load_from_file(&mut file, None).unwrap();
}

#[test]
fn we_load_what_clarabel_saves_and_find_its_value() {
    // min ½x'Px + q'x, a simplex, a ball and an exponential row, written with Clarabel's own types.
    let p = CscMatrix::from(&[[4.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]);
    let a = CscMatrix::from(&[
        [1.0, 1.0, 1.0],
        [-1.0, 0.0, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, -1.0, 1.0],
        [-1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        [0.0, 0.0, -1.0],
    ]);
    let q = [1.0, 1.0, -2.0];
    let b = [1.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 1.0, 3.0];
    let cones = [
        SupportedConeT::ZeroConeT(1),
        SupportedConeT::NonnegativeConeT(2),
        SupportedConeT::SecondOrderConeT(3),
        SupportedConeT::ExponentialConeT(),
    ];
    let settings = DefaultSettings::<f64> {
        verbose: false,
        ..Default::default()
    };
    let mut solver = DefaultSolver::new(&p, &q, &a, &b, &cones, settings).unwrap();
    let mut file = temporary("");
    solver.save_to_file(&mut file).unwrap();
    solver.solve();
    assert_eq!(solver.solution.status, SolverStatus::Solved);
    file.seek(SeekFrom::Start(0)).unwrap();
    let text = std::io::read_to_string(file).unwrap();
    let program = Program::from_json("saved.json", &text).unwrap();
    assert!((value(&program) - solver.solution.obj_val).abs() < 1e-6);
    let x = solve_checked(&program, &Settings::default()).unwrap().x;
    let apart = x
        .iter()
        .zip(&solver.solution.x)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    assert!(apart < 1e-4, "{apart}");
}

#[test]
fn names_and_stages_are_put_on_a_saved_problem() {
    use conveil::program::{Holds, NewVariables, SavedConstraint};
    let mut m = Builder::new();
    let x = m.variable("x", 3);
    m.minimize(x.sum());
    m.equal("balance", x.at(0) + x.at(1), 1.0);
    m.between("x2", 0.0, x.at(2), 1.0);
    let json = m.build().unwrap().to_json();
    let saved = || conveil_text::problem::read("p.json", &json).unwrap();
    let block = |name: &str, len, stage| NewVariables {
        name: name.into(),
        len,
        stage,
        entries: Vec::new(),
    };
    let row = |name: &str| SavedConstraint {
        name: name.into(),
        holds: Holds::WithNoise,
        rows: vec![],
    };
    let named = Program::from_saved(
        saved(),
        vec![
            block("g", 2, Stage::Decision),
            block("h", 1, Stage::HereAndNow),
        ],
        vec![row("power"), row("limits")],
    )
    .unwrap();
    assert_eq!(named.variable_name(1), "g[1]");
    assert_eq!(named.variable_block(1).stage(), Stage::Decision);
    assert_eq!(named.variable_block(2).stage(), Stage::HereAndNow);
    assert_eq!(named.row_name(2), "limits[1]");
    assert_eq!(
        message(Program::from_saved(
            saved(),
            vec![block("g", 2, Stage::Decision)],
            vec![]
        )),
        "the named variables have 2 entries in all, but the problem has 3 columns"
    );
    assert_eq!(
        message(Program::from_saved(saved(), vec![], vec![row("power")])),
        "1 constraint blocks are named, but the problem has 2 cones"
    );
    assert!(message(Program::from_json("broken.json", "{")).contains("broken.json"));
}
