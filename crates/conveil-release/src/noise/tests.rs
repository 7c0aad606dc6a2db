//! The integers are those of the exact law, and the lattice is the same for every dataset.

use super::*;
use crate::models::{T, ask, follower, plan, shape};
use conveil::ask::Privacy;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const DRAWS: usize = 100_000;
const FALSE_ALARM: f64 = 1e-6;

const PRIVACIES: [Privacy; 3] = [
    Privacy::Laplace { epsilon: 1.0 },
    Privacy::TruncatedLaplace {
        epsilon: 1.0,
        delta: 0.01,
    },
    Privacy::Gaussian {
        epsilon: 0.5,
        delta: 0.1,
        calibration: conveil::ask::Calibration::Analytic,
    },
];

/// A coarse and a fine lattice, as shares of the sensitivity: few enough integers to name each, or the default.
fn lattice(privacy: Privacy, step: Option<f64>) -> Lattice {
    let map = follower(1);
    let mut ask = ask(privacy, 1.0, None);
    if let Some(step) = step {
        ask = ask.lattice(step);
    }
    Lattice::of(&plan(&map, ask)).unwrap()
}

fn integers(lattice: &Lattice, source: &mut Source) -> Vec<i64> {
    let draw = |_| i64::try_from(lattice.integer(source).unwrap()).unwrap();
    (0..DRAWS).map(draw).collect()
}

/// Pr[j] over |j| ≤ reach, summed term by term.
fn probabilities(lattice: &Lattice, reach: i64) -> Vec<f64> {
    let float = |x: &RBig| x.to_f64().value();
    let weight = |j: i64| {
        let j = j as f64;
        match &lattice.noise {
            Noise::Laplace { scale } => (-j.abs() / float(scale)).exp(),
            Noise::Gaussian { scale } => (-0.5 * (j / float(scale)).powi(2)).exp(),
            Noise::TruncatedLaplace { scale, reach } => {
                let inside = IBig::from(j.abs() as i64) <= *reach;
                f64::from(u8::from(inside)) * (-j.abs() / float(scale)).exp()
            }
        }
    };
    let weights: Vec<f64> = (-reach..=reach).map(weight).collect();
    let whole: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / whole).collect()
}

/// Chi-square over the integers with an expected count of ten or more, the rest in one class; and the variance within
/// six standard errors (false alarm below 1e-8).
#[test]
fn integers_follow_the_exact_discrete_law() {
    for privacy in PRIVACIES {
        let lattice = lattice(privacy, Some(0.5));
        let drawn = integers(&lattice, &mut Source::System);
        let reach = 200;
        let exact = probabilities(&lattice, reach);
        let mut rest = (0.0, DRAWS as f64);
        let (mut chi, mut classes) = (0.0, 0);
        for (j, p) in (-reach..=reach).zip(&exact) {
            let expected = p * DRAWS as f64;
            let seen = drawn.iter().filter(|d| **d == j).count() as f64;
            if expected >= 10.0 {
                chi += (seen - expected).powi(2) / expected;
                classes += 1;
                rest = (rest.0 + p, rest.1 - seen);
            }
        }
        let expected = (1.0 - rest.0) * DRAWS as f64;
        if expected >= 10.0 {
            chi += (rest.1 - expected).powi(2) / expected;
            classes += 1;
        }
        let law = ChiSquared::new(f64::from(classes - 1)).unwrap();
        assert!(
            law.sf(chi) > FALSE_ALARM,
            "{privacy:?}: χ² = {chi} in {classes} classes"
        );
        let moment = |k: i32| -> f64 {
            let terms = (-reach..=reach).zip(&exact);
            terms.map(|(j, p)| (j as f64).powi(k) * p).sum()
        };
        let found = drawn.iter().map(|j| (j * j) as f64).sum::<f64>() / DRAWS as f64;
        let error = ((moment(4) - moment(2).powi(2)) / DRAWS as f64).sqrt();
        assert!(
            (found - moment(2)).abs() < 6.0 * error,
            "{privacy:?}: {found}"
        );
    }
}

/// On the default lattice, 2⁻²⁰ of the scale: the distribution function is that of the continuous law within the bound of
/// Dvoretzky, Kiefer, Wolfowitz and Massart (a step of the lattice is far below it).
#[test]
fn fine_noise_has_the_distribution_of_the_plan() {
    let bound = ((2.0 / FALSE_ALARM).ln() / (2.0 * DRAWS as f64)).sqrt();
    for privacy in PRIVACIES {
        let lattice = lattice(privacy, None);
        for seeded in [false, true] {
            let mut source = if seeded {
                Source::Seeded(Box::new(Sampler::new(5, 0)))
            } else {
                Source::System
            };
            let step = lattice.step.to_f64().value();
            let mut drawn = integers(&lattice, &mut source);
            drawn.sort_unstable();
            for (rank, j) in drawn.iter().enumerate() {
                let below = 1.0 - lattice.law.tail(*j as f64 * step);
                let off = (below - rank as f64 / DRAWS as f64).abs();
                assert!(
                    off < bound + 1e-4,
                    "{privacy:?}, {seeded}: {j} is off by {off}"
                );
            }
        }
    }
}

#[test]
fn truncated_noise_stays_within_its_bound() {
    let privacy = Privacy::truncated_laplace(1.0, 0.2);
    for step in [Some(0.9), Some(0.1), None] {
        let lattice = lattice(privacy, step);
        let Noise::TruncatedLaplace { reach, .. } = &lattice.noise else {
            panic!("{lattice:?}");
        };
        let bound = lattice.law.support_bound().unwrap();
        let farthest = (&lattice.step * RBig::from(reach.clone())).to_f64().value();
        assert!((farthest - bound).abs() <= 1e-12 * bound);
        let reach = i64::try_from(reach.clone()).unwrap();
        for mut source in [Source::System, Source::Seeded(Box::new(Sampler::new(1, 0)))] {
            let drawn = integers(&lattice, &mut source);
            let most = drawn.iter().map(|j| j.abs()).max().unwrap();
            assert!(most <= reach, "{most} > {reach}");
            // The bound is used, too: of 10⁵ draws, about a thousand end in the last hundredth of the tail.
            assert!(most as f64 > 0.97 * reach as f64 - 1.0);
        }
    }
}

#[test]
fn the_drawn_scale_is_never_below_the_plans() {
    for privacy in PRIVACIES {
        for step in [None, Some(0.3), Some(1e-9)] {
            let step = step.filter(|s| *s > 1e-3 || !matches!(privacy, Privacy::Gaussian { .. }));
            let lattice = lattice(privacy, step);
            let (Noise::Laplace { scale }
            | Noise::Gaussian { scale }
            | Noise::TruncatedLaplace { scale, .. }) = &lattice.noise;
            let planned = exact(lattice.law.scale()).unwrap() / &lattice.step;
            assert!(*scale >= planned, "{privacy:?}");
            let ratio = (scale / planned).to_f64().value();
            assert!(ratio < 1.0 + 1e-14, "{privacy:?}");
        }
    }
}

/// s ≥ (Δ₁ + r·h)/ε in exact fractions, with Δ₁ and ε as they are written in decimals: whichever way the numbers were
/// rounded on their way, no more than ε is spent.
#[test]
fn the_laplace_scale_covers_sensitivity_and_rounding_exactly() {
    let thousandths = |n: i32| RBig::from(n) / RBig::from(1000);
    for numbers in [1, 2, 3] {
        for (i, share) in (1..200).map(|i| (i, [1.0, 0.7, 1e-3, 1e-9][i as usize % 4])) {
            let (epsilon, sensitivity) = (37 * i % 2999 + 1, 89 * i % 4999 + 1);
            let privacy = Privacy::laplace(f64::from(epsilon) / 1000.0);
            let size = f64::from(sensitivity) / 1000.0;
            let step = share * privacy.law(size).unwrap().scale();
            let law = privacy.lattice_law(size, numbers, Some(step)).unwrap();
            let step = exact(law.step()).unwrap();
            let Ok(Noise::Laplace { scale }) = Noise::of(law.law(), &step) else {
                panic!("{law:?}");
            };
            let moved = thousandths(sensitivity) / &step + RBig::from(numbers as u64);
            assert!(
                scale * thousandths(epsilon) >= moved,
                "{epsilon} {sensitivity}"
            );
        }
    }
}

#[test]
fn cells_round_exactly_whatever_the_size() {
    let lattice = lattice(Privacy::laplace(1.0), Some(0.3));
    let step = exact(0.3).unwrap(); // not three tenths
    for value in [0.0, 0.15, -0.149, 7.05, 1e9 + 0.1, -3e15, 1e300] {
        let [cell] = &lattice.cell(&[value]).unwrap()[..] else {
            panic!("one number, one cell");
        };
        let off = exact(value).unwrap() - &step * RBig::from(cell.clone());
        assert!(off.abs() <= &step / RBig::from(2), "{value}");
    }
    // An f64 holds no integer of this size and its neighbour, but the cells of neighbours differ by at most one step
    // more than the answers.
    let (a, b) = (9.1e15, 9.1e15_f64.next_up());
    let cells = [a, b].map(|x| lattice.cell(&[x]).unwrap().remove(0));
    let moved = (&cells[1] - &cells[0]).abs();
    let apart = (exact(b).unwrap() - exact(a).unwrap()) / &step;
    assert!(RBig::from(moved) <= apart + RBig::from(1));
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(matches!(lattice.cell(&[bad]), Err(Error::Noise(_))));
    }
}

/// With T ≠ I: answers that are rounded first lie on different lattices for different data, so that one look at the
/// answer tells the datasets apart. Ours lie on one, T·hZ².
#[test]
fn rounding_before_the_shape_would_give_disjoint_supports() {
    let map = follower(2);
    let ask = ask(Privacy::laplace(1.0), 1.0, Some(shape(T))).lattice(0.5);
    let lattice = Lattice::of(&plan(&map, ask)).unwrap();
    let fraction = |answer: &[f64]| {
        let y = lattice.shape.unshape(answer);
        let steps = y.into_iter().map(|y| y / 0.5);
        steps.map(|s| (s - s.round()).abs()).fold(0.0, f64::max)
    };
    let answers = [[0.5, 0.0], [1.0, 0.5]];
    let first: Vec<f64> = answers
        .map(|a| {
            // h·round(Qx̄/h) + T·h·j
            let rounded: Vec<f64> = a.iter().map(|x: &f64| (x / 0.5).round() * 0.5).collect();
            fraction(&rounded)
        })
        .to_vec();
    assert!(
        (first[0] - first[1]).abs() > 0.1,
        "{first:?}: disjoint for every j"
    );
    for answer in answers {
        let cell = lattice.cell(&answer).unwrap();
        for _ in 0..1000 {
            let drawn = lattice.draw(&cell, &mut Source::System).unwrap();
            assert!(fraction(&drawn) < 1e-9, "{drawn:?}");
        }
    }
}
