//! Strong convexity, regularised risk and the radius: no pair of neighbours moves the released map by more than Δ, and
//! how near the worst pair comes to it is printed.

mod certifying;
mod common;

use certifying::{blend, blend_ask, classifier, classifier_ask, holds, regression, regression_ask};
use conveil::ask::{Adjacency, Ask, Privacy, Request};
use conveil::plan::Plan;
use conveil::program::DataMap;

#[test]
fn strongly_convex_answers_move_by_at_most_their_bound() {
    let map = regression(12, 60.0);
    for (privacy, name) in [
        (Privacy::gaussian(2.0, 0.05), "Gaussian"),
        (Privacy::laplace(2.0), "Laplace"),
    ] {
        for adjacency in [
            Adjacency::one_entry(0.3),
            Adjacency::L1 { alpha: 0.3 },
            Adjacency::L2 { alpha: 0.3 },
            Adjacency::OneRecord { len: 1 },
        ] {
            for shaped in [false, true] {
                let small = match adjacency {
                    Adjacency::OneRecord { .. } => privacy.with_epsilon(20.0),
                    _ => privacy,
                };
                let plan = Plan::new(&map, regression_ask(small, adjacency, shaped)).unwrap();
                let what = format!("strong convexity, {name}, {adjacency}, shaped {shaped}");
                let tight = holds(&what, &plan, &map, 8, 3);
                assert!(tight > 0.05, "{what}");
            }
        }
    }
}

#[test]
fn leverage_and_shape_are_as_in_the_formula() {
    let map = regression(12, 60.0);
    let alpha = 0.3;
    let plan = |shaped: bool| {
        let ask = regression_ask(
            Privacy::gaussian(2.0, 0.05),
            Adjacency::one_entry(alpha),
            shaped,
        );
        Plan::new(&map, ask).unwrap().guarantee().sensitivity()
    };
    // max √(φ'P⁻¹φ) by Gauss elimination of P v = φ.
    let mut gram = [[0.0f64; 3]; 3];
    let phi = |i: usize| {
        let t = i as f64 / 11.0;
        [1.0, t, t * t]
    };
    for i in 0..12 {
        let f = phi(i);
        for a in 0..3 {
            for b in 0..3 {
                gram[a][b] += f[a] * f[b];
            }
        }
    }
    (0..3).for_each(|a| gram[a][a] += 0.05);
    let solve = |f: [f64; 3]| {
        let mut m = gram;
        let mut v = f;
        for c in 0..3 {
            for r in c + 1..3 {
                let k = m[r][c] / m[c][c];
                (0..3).for_each(|j| m[r][j] -= k * m[c][j]);
                v[r] -= k * v[c];
            }
        }
        for c in (0..3).rev() {
            let rest: f64 = (c + 1..3).map(|j| m[c][j] * v[j]).sum();
            v[c] = (v[c] - rest) / m[c][c];
        }
        v
    };
    let leverage = (0..12)
        .map(|i| {
            phi(i)
                .iter()
                .zip(solve(phi(i)))
                .map(|(a, b)| a * b)
                .sum::<f64>()
        })
        .fold(0.0, f64::max);
    let shaped = plan(true);
    let right = alpha * leverage.sqrt();
    assert!(
        shaped > right && shaped < 1.02 * right,
        "{shaped} against {right}"
    );
    // Without the shape the worst direction of P pays.
    assert!(plan(false) > 1.5 * shaped);
}

#[test]
fn replacing_a_record_moves_the_weights_by_at_most_their_bound() {
    let (records, lambda) = (6, 0.5);
    let map = classifier(records, lambda);
    for (privacy, right) in [
        (Privacy::gaussian(1.0, 0.1), 1.0),
        (Privacy::laplace(1.0), 3f64.sqrt()),
    ] {
        let plan = Plan::new(&map, classifier_ask(privacy)).unwrap();
        // L/(λN) with L = ‖(1, 1, 1)‖, times √3 for ℓ₁.
        let formula = right * 3f64.sqrt() / (lambda * records as f64);
        let bound = plan.guarantee().sensitivity();
        assert!(
            bound >= formula && bound < 1.02 * formula,
            "{bound} against {formula}"
        );
        let tight = holds("regularised risk", &plan, &map, 8, 4);
        assert!(tight > 0.3);
    }
}

#[test]
fn the_bound_of_regularised_risk_is_attained() {
    // Everyone agrees, then one record turns round: with λ so large that every hinge is active the movement is L/(λN).
    let (records, lambda) = (4, 4.0);
    let map = classifier(records, lambda);
    // Without noise in the way: a generous budget makes the noise-aware hinge the plain one.
    let plan = Plan::new(&map, classifier_ask(Privacy::gaussian(50.0, 0.1))).unwrap();
    let theta = vec![1.0; 3 * records];
    let mut other = theta.clone();
    other[..3].fill(-1.0);
    let at = |theta: &[f64]| plan.released().at(theta).unwrap().answer;
    let (a, b) = (at(&theta), at(&other));
    let moved: f64 = a
        .iter()
        .zip(&b)
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>()
        .sqrt();
    let bound = plan.guarantee().sensitivity();
    println!("attained: {moved:.6} of {bound:.6}");
    assert!(
        moved <= bound && moved > 0.98 * bound,
        "{moved} against {bound}"
    );
}

#[test]
fn values_at_private_prices_move_by_at_most_the_radius() {
    let map = blend();
    for adjacency in [
        Adjacency::one_entry(0.2),
        Adjacency::L1 { alpha: 0.2 },
        Adjacency::L2 { alpha: 0.2 },
    ] {
        let plan = Plan::new(&map, blend_ask(adjacency)).unwrap();
        // One entry: at most 6 units of a stock, of the first 3.
        if let Adjacency::OneEntry { alpha } = adjacency {
            let bound = plan.guarantee().sensitivity();
            assert!(bound >= 6.0 * alpha && bound < 6.02 * alpha, "{bound}");
        }
        assert!(plan.guarantee().privacy_text().contains("given that"));
        let tight = holds(&format!("radius, {adjacency}"), &plan, &map, 12, 5);
        assert!(tight > 0.3);
    }
}

#[test]
fn a_released_cost_at_private_prices_is_the_value_plus_a_constant() {
    let map = blend();
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(0.2))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::radius())
        .feasible(0.9);
    let plan = Plan::new(&map, ask).unwrap();
    let mut constants = Vec::new();
    for theta in [[2.0, 3.0, 5.0], [8.0, 2.5, 2.0], [4.0, 4.0, 4.5]] {
        let decided = plan.released().at(&theta).unwrap();
        let value = conveil::solve::solve_checked(&map.at(&theta).unwrap(), &Default::default())
            .unwrap()
            .objective;
        constants.push(decided.answer[0] - value);
        // The decision costs what is released: its own cost row carries the noise.
        let cost =
            |x: &[f64]| -> f64 { (theta[0] + 2.0) * x[0] + theta[1] * x[1] + theta[2] * x[2] };
        assert!((cost(&decided.mean) - decided.answer[0]).abs() < 1e-6);
        let x: Vec<f64> = (0..3)
            .map(|j| decided.recourse.row(j).iter().map(|e| e.1).sum())
            .collect();
        assert!((cost(&x) - 1.0).abs() < 1e-6, "{x:?}");
    }
    assert!(
        constants.iter().all(|c| (c - constants[0]).abs() < 1e-4),
        "{constants:?}"
    );
}

/// A change of 1e-12 beside data of size 1: what is proven of a solve outweighs it, and the plan says so.
#[test]
fn noise_for_the_solver_is_told_apart() {
    let map = regression(12, 60.0);
    let plan = |alpha| {
        let adjacency = Adjacency::one_entry(alpha);
        Plan::new(
            &map,
            regression_ask(Privacy::gaussian(2.0, 0.05), adjacency, true),
        )
        .unwrap()
    };
    let told = |alpha| {
        let plan = plan(alpha);
        let mut warnings = plan.warnings().iter();
        warnings.any(|w| w.contains("of the noise is for the solver's tolerance, not for the data"))
    };
    assert!(told(1e-12));
    assert!(!told(0.3));
    // The noise is there for it.
    let [fine, usual] = [1e-12, 0.3].map(|alpha| plan(alpha).guarantee().sensitivity() / alpha);
    assert!(fine > 1.25 * usual, "{fine} {usual}");
}
