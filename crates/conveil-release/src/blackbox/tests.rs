//! The audit catches what it is for: each mutant draws in a way that no release can be asked for.

use super::*;
use crate::models::{T, ask, follower, plan, shape};
use conveil::ask::Privacy;
use conveil::program::AffineMap;
use dashu_ratio::RBig;

use crate::noise::{Noise, exact};

/// Two datasets of [`follower`] whose T⁻¹-answers are y and y + d.
fn pair(shape: &Shape, y: &[f64], d: &[f64]) -> [Vec<f64>; 2] {
    let moved: Vec<f64> = y.iter().zip(d).map(|(y, d)| y + d).collect();
    [shape.apply(y), shape.apply(&moved)]
}

/// The audit of a plan whose lattice was tampered with before the answers were rounded to it.
fn audited(plan: &Plan<'_>, pair: &[Vec<f64>; 2], tamper: impl Fn(&mut Lattice)) -> BlackBox {
    let mut lattice = Lattice::of(plan).unwrap();
    tamper(&mut lattice);
    let solved = pair
        .each_ref()
        .map(|theta| Solved::new(plan, lattice.clone(), theta, false).unwrap());
    compare(plan, &solved, &Settings::default()).unwrap()
}

fn scale(lattice: &mut Lattice) -> &mut RBig {
    match &mut lattice.noise {
        Noise::Laplace { scale }
        | Noise::Gaussian { scale }
        | Noise::TruncatedLaplace { scale, .. } => scale,
    }
}

fn laplace(map: &AffineMap) -> Plan<'_> {
    plan(map, ask(Privacy::laplace(1.0), 1.0, None))
}

#[test]
fn a_halved_scale_is_caught() {
    let map = follower(1);
    let privacies = [
        Privacy::laplace(1.0),
        Privacy::gaussian(1.0, 0.01),
        Privacy::truncated_laplace(1.0, 0.01),
    ];
    for privacy in privacies {
        let plan = plan(&map, ask(privacy, 1.0, None));
        let pair = pair(plan.released().shape(), &[3.0], &[1.0]);
        let found = audited(&plan, &pair, |lattice| *scale(lattice) /= RBig::from(2));
        println!("halved {privacy:?}: {found}");
        assert!(found.violated, "{found}");
    }
}

#[test]
fn a_halved_scale_is_caught_in_two_dimensions_with_a_shape() {
    let map = follower(2);
    let plan = plan(&map, ask(Privacy::laplace(1.0), 1.0, Some(shape(T))));
    let pair = pair(plan.released().shape(), &[3.0, -2.0], &[0.5, -0.5]);
    let found = audited(&plan, &pair, |lattice| *scale(lattice) /= RBig::from(2));
    println!("halved, T: {found}");
    assert!(found.violated, "{found}");
}

/// Noise T'ζ where the sensitivity was measured in T⁻¹.
#[test]
fn a_swapped_shape_is_caught() {
    let map = follower(2);
    let plan = plan(&map, ask(Privacy::laplace(1.0), 1.0, Some(shape(T))));
    let pair = pair(plan.released().shape(), &[3.0, -2.0], &[1.0, 0.0]);
    let transposed = [[T[0][0], T[1][0]], [T[0][1], T[1][1]]];
    let found = audited(&plan, &pair, |lattice| {
        lattice.shape = Shape::new(Some(&shape(transposed)), 2).unwrap();
    });
    println!("swapped: {found}");
    assert!(found.violated, "{found}");
}

/// Qx̄ rounded to the lattice and T·h·j added: the place between lattice points gives the dataset away.
#[test]
fn rounding_before_the_shape_is_caught() {
    let map = follower(2);
    for step in [None, Some(0.5)] {
        let mut ask = ask(Privacy::laplace(1.0), 1.0, Some(shape(T)));
        if let Some(step) = step {
            ask = ask.lattice(step);
        }
        let plan = plan(&map, ask);
        let lattice = Lattice::of(&plan).unwrap();
        let step = plan.released().step();
        let pair = pair(plan.released().shape(), &[3.1, -2.2], &[0.37, -0.41]);
        let answers = pair.each_ref().map(|theta| {
            let solved = Solved::new(&plan, lattice.clone(), theta, false).unwrap();
            let none = vec![0.into(); 2];
            let draw = |_| {
                let noise = solved.lattice.draw(&none, &mut Source::System).unwrap();
                let rounded = theta.iter().map(|x| (x / step).round() * step);
                rounded.zip(noise).map(|(x, z)| x + z).collect()
            };
            (0..20_000).map(draw).collect::<Vec<Vec<f64>>>()
        });
        let found = bound(&plan, &answers, 1e-6).unwrap();
        println!("rounded first: {found}");
        assert!(found.violated, "{found}");
    }
}

/// A step of nearly the sensitivity: answers 1 apart can be two steps, 1.8, apart on the lattice. Scale Δ/ε instead of
/// (Δ + h)/ε spends 1.8 instead of 0.95.
#[test]
fn a_missing_lattice_correction_is_caught() {
    const STEP: f64 = 0.9;
    let map = follower(1);
    let plan = plan(&map, ask(Privacy::laplace(1.0), 1.0, None).lattice(STEP));
    // y/h = 10.45 rounds to 10, y'/h = 11.56 to 12.
    let pair = pair(plan.released().shape(), &[10.45 * STEP], &[1.0]);
    let honest = audited(&plan, &pair, |_| {});
    println!("coarse, honest: {honest}");
    assert!(
        !honest.violated && honest.epsilon_at_least > 0.8,
        "{honest}"
    );
    let found = audited(&plan, &pair, |lattice| {
        *scale(lattice) = exact(1.0).unwrap() / exact(STEP).unwrap();
    });
    println!("coarse, uncorrected: {found}");
    assert!(found.violated, "{found}");
}

#[test]
fn an_answer_without_noise_is_caught_and_equal_datasets_are_not() {
    let map = follower(1);
    let plan = laplace(&map);
    let near = [vec![3.0], vec![3.0 + 1e-3]];
    let found = audited(&plan, &near, |lattice| *scale(lattice) = RBig::ZERO);
    assert!(found.violated && found.epsilon_at_least > 7.0, "{found}");
    let same = [vec![3.0], vec![3.0]];
    let found = audited(&plan, &same, |_| {});
    assert!(found.epsilon_at_least < 0.05, "{found}");
}

#[test]
fn audits_that_prove_nothing_are_refused() {
    assert!(Settings::new(3, 1e-6).is_err());
    assert!(Settings::new(100, 0.0).is_err());
    assert!(Settings::new(100, f64::NAN).is_err());
    let map = follower(1);
    let plan = laplace(&map);
    let short = [vec![vec![1.0]; 3], vec![vec![1.0]; 3]];
    assert!(bound(&plan, &short, 1e-6).is_err());
    let wide = [vec![vec![1.0, 2.0]; 8], vec![vec![1.0]; 8]];
    assert!(bound(&plan, &wide, 1e-6).is_err());
}
