//! The power flow in angles and by distribution factors: one optimum to 1e-8, with and without noise.

mod asking;

use asking::declared;
use conveil::Error;
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Settings, solve_checked};
use conveil_grid::{Network, Susceptance, builtin, matpower};
use conveil_models::grid::{Form, Opf, OpfBuilder};

/// Each form is solved as closely as both must agree.
fn settings() -> Settings {
    Settings::default().with_tolerance(AGREE).unwrap()
}

const AGREE: f64 = 1e-8;

fn both(options: OpfBuilder) -> [Opf; 2] {
    [Form::Angles, Form::Ptdf].map(|form| options.clone().form(form).build().unwrap())
}

fn agree([a, b]: [f64; 2], at: &str) {
    println!("{at}: {a:.9} {b:.9}, {:.1e}", (a - b).abs() / a.abs());
    assert!((a - b).abs() <= AGREE * a.abs(), "{at}: {a} {b}");
}

fn optima_agree(options: OpfBuilder, at: &str) -> f64 {
    let optima = both(options).map(|opf| {
        let program = opf.at(&opf.nominal()).unwrap();
        solve_checked(&program, &settings()).unwrap().objective
    });
    agree(optima, at);
    optima[0]
}

/// The chance-constrained value at α, by both forms; none where both say that the noise does not fit.
fn values_agree(options: OpfBuilder, alpha: f64, at: &str) -> Option<f64> {
    let values = both(options).map(|opf| {
        let ask = declared(&opf, alpha).settings(settings());
        let plan = Plan::new(&opf, ask).unwrap();
        match plan.released().at(&opf.nominal()) {
            Ok(decided) => Some(decided.answer[0]),
            Err(Error::NoiseDoesNotFit(_)) => None,
            Err(other) => panic!("{at}: {other}"),
        }
    });
    match values {
        [Some(a), Some(b)] => agree([a, b], at),
        other => assert_eq!(other, [None, None], "{at}"),
    }
    values[0]
}

fn builtins() -> impl Iterator<Item = (&'static str, OpfBuilder)> {
    builtin::names().map(|name| (name, Opf::of(Network::builtin(name).unwrap())))
}

#[test]
fn both_forms_have_one_optimum() {
    for (name, options) in builtins() {
        optima_agree(options, name);
    }
}

#[test]
fn both_forms_have_one_optimum_with_angle_limits() {
    for (name, options) in builtins() {
        optima_agree(options.angle_limits(true), name);
    }
    // PGLib's ±30° do not bind on these; narrow ones do, in both forms alike.
    let within = |degrees: f64| {
        let options = Opf::of(islands(degrees)).angle_limits(true);
        optima_agree(options, &format!("islands within {degrees}°"))
    };
    let [wide, narrow] = [within(30.0), within(NARROW)];
    assert!(narrow > wide * 1.001, "{narrow} {wide}");
}

#[test]
fn both_forms_have_one_optimum_with_resistances_in_the_susceptance() {
    let mut moved = 0;
    for (name, options) in builtins() {
        let standard = optima_agree(options.clone(), name);
        let full = optima_agree(options.susceptance(Susceptance::Full), name);
        moved += usize::from((full - standard).abs() > 1e-6 * standard);
    }
    assert!(moved >= 3, "the convention must matter: {moved}");
}

#[test]
fn both_forms_have_one_value_with_noise() {
    let mut without_room = Vec::new();
    for (name, options) in builtins() {
        for alpha in asking::ALPHAS {
            let found = values_agree(options.clone(), alpha, &format!("{name} α = {alpha}"));
            if found.is_none() {
                without_room.push((name, alpha));
            }
        }
    }
    assert_eq!(
        without_room,
        [("14_ieee", 10.0), ("30_ieee", 3.0), ("30_ieee", 10.0)]
    );
}

#[test]
fn both_forms_have_one_value_on_two_islands() {
    for options in [
        Opf::of(islands(30.0)),
        Opf::of(islands(30.0)).susceptance(Susceptance::Full),
        Opf::of(islands(NARROW)).angle_limits(true),
    ] {
        let optimum = optima_agree(options.clone(), "islands");
        let value = values_agree(options, 1.0, "islands with noise").unwrap();
        assert!(value > optimum);
    }
}

/// Degrees that bind on the islands.
const NARROW: f64 = 3.2;

/// A triangle with a tight line and a phase shifter, and a pair of buses on its own; angle limits in degrees.
fn islands(degrees: f64) -> Network {
    let branch = |ends: &str, r: f64, x: f64, rate: f64, tap: f64, shift: f64| {
        format!("{ends} {r} {x} 0 {rate} {rate} {rate} {tap} {shift} 1 -{degrees} {degrees};\n")
    };
    let text = format!(
        "function mpc = islands
mpc.version = '2';
mpc.baseMVA = 100;
mpc.bus = [
1 3 0 0 0 0 1 1 0 230 1 1.1 0.9;
2 2 40 0 0 0 1 1 0 230 1 1.1 0.9;
3 1 110 0 2 0 1 1 0 230 1 1.1 0.9;
7 3 30 0 0 0 2 1 0 230 1 1.1 0.9;
8 2 60 0 0 0 2 1 0 230 1 1.1 0.9;
];
mpc.gen = [
1 0 0 100 -100 1 100 1 200 0;
2 0 0 100 -100 1 100 1 150 10;
7 0 0 100 -100 1 100 1 120 0;
8 0 0 100 -100 1 100 1 120 0;
];
mpc.branch = [
{}{}{}{}];
mpc.gencost = [
2 0 0 3 0 10 0;
2 0 0 3 0 25 0;
2 0 0 3 0 12 0;
2 0 0 3 0 31 0;
];
",
        branch("1 2", 0.02, 0.10, 80.0, 0.0, 0.0),
        branch("1 3", 0.01, 0.05, 70.0, 0.98, 1.5),
        branch("2 3", 0.03, 0.08, 90.0, 0.0, 0.0),
        branch("7 8", 0.01, 0.20, 45.0, 0.0, 0.0),
    );
    matpower::read("islands", &text).unwrap()
}
