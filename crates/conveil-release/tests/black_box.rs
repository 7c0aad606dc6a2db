//! The claim of every mechanism against what its draws show (M10): 10⁵ draws from each of two datasets that are exactly
//! the sensitivity apart, one false alarm in a million.

mod models;

use conveil::ask::{Adjacency, Ask, Privacy, Strategy};
use conveil::plan::Plan;
use conveil::rule::Shape;
use conveil_release::blackbox::{Settings, audit, bound};
use conveil_release::charge;
use conveil_release::ledger::{Budget, Neighbourhood, NotDurable};
use models::{T, ask, capped, enveloped, follower, limit, plan, shape, supply};

fn budget(plan: &Plan<'_>) -> Budget {
    Budget::new(1e6, 0.9, &Neighbourhood::of(plan).unwrap()).unwrap()
}

/// The pair at which the noise is calibrated: y and y + d with ‖d‖ = 1 in the mechanism's norm.
fn check(privacy: Privacy, rows: Option<Vec<Vec<f64>>>, d: &[f64], least: f64) {
    check_on(None, Settings::default(), privacy, rows, d, least);
}

/// The same on a lattice of this step.
fn check_on(
    step: Option<f64>,
    settings: Settings,
    privacy: Privacy,
    rows: Option<Vec<Vec<f64>>>,
    d: &[f64],
    least: f64,
) {
    let map = follower(d.len());
    let noise = Shape::new(rows.as_deref(), d.len()).unwrap();
    let mut ask = ask(privacy, 1.0, rows.clone());
    if let Some(step) = step {
        ask = ask.lattice(step);
    }
    let plan = plan(&map, ask);
    let y: Vec<f64> = (0..d.len()).map(|i| 3.0 - 4.0 * i as f64).collect();
    let moved: Vec<f64> = y.iter().zip(d).map(|(y, d)| y + d).collect();
    let pair = [noise.apply(&y), noise.apply(&moved)];
    let found = audit(&plan, &pair[0], &pair[1], &settings).unwrap();
    println!("{privacy:?}, T = {rows:?}: {found}");
    assert!(!found.violated, "{found}");
    // Not blind either.
    assert!(found.epsilon_at_least >= least, "{found}");
}

const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// In parts, for two cores.
mod no_mechanism_is_caught_spending_more_than_it_claims {
    use super::*;

    #[test]
    fn with_independent_noise() {
        check(Privacy::laplace(1.0), None, &[1.0], 0.8);
        check(Privacy::gaussian(1.0, 0.01), None, &[1.0], 0.4);
        check(Privacy::truncated_laplace(1.0, 0.01), None, &[1.0], 0.7);
        check(Privacy::laplace(1.0), None, &[0.5, -0.5], 0.7);
    }

    #[test]
    fn under_an_envelope() {
        // Where the price binds, the value moves by it: the pair is as far apart as the certificate allows.
        let map = supply();
        for (privacy, least) in [
            (Privacy::laplace(1.0), 0.8),
            (Privacy::gaussian(1.0, 0.01), 0.4),
            (Privacy::truncated_laplace(1.0, 0.01), 0.7),
        ] {
            let plan = plan(&map, enveloped(privacy));
            let found = audit(&plan, &[30.0], &[31.0], &Settings::default()).unwrap();
            println!("envelope, {privacy:?}: {found}");
            assert!(
                !found.violated && found.epsilon_at_least >= least,
                "{found}"
            );
        }
    }

    /// What is published, drawn by whole releases: what follows the noise can hide nothing and must tell nothing more.
    #[test]
    fn with_noise_on_the_data_or_a_public_shift() {
        let one = |query: Ask| {
            query
                .adjacency(Adjacency::one_entry(1.0))
                .privacy(Privacy::laplace(1.0))
                .feasible(0.9)
        };
        let input = one(Ask::cost())
            .declared(9.0, "not of the data")
            .strategy(Strategy::Input);
        let shifted = enveloped(Privacy::laplace(1.0)).strategy(Strategy::Shifted);
        // Whole records, far beyond their bounds: without clipping they would be 1000 apart, and not 70.
        let beyond = input.clone().adjacency(Adjacency::OneRecord { len: 1 });
        let truncated = one(Ask::cost())
            .privacy(Privacy::truncated_laplace(1.0, 0.01))
            .declared(9.0, "not of the data")
            .strategy(Strategy::Truncated);
        for (map, ask, pair) in [
            (limit(), input, [[20.0], [21.0]]),
            (capped(), beyond, [[-500.0], [500.0]]),
            (capped(), truncated, [[20.0], [21.0]]),
            (supply(), shifted, [[30.0], [31.0]]),
        ] {
            let plan = plan(&map, ask);
            let answers = pair.map(|theta| {
                let draw = |_| {
                    let mut ledger = NotDurable::default();
                    ledger.init("loads", &budget(&plan)).unwrap();
                    let charged = charge(&plan, &mut ledger, "loads").unwrap();
                    let released = charged.without_report().release(&theta).unwrap();
                    // No answer is an answer too.
                    vec![released.card().answer().first().map_or(1e6, |a| a.value)]
                };
                (0..8_000).map(draw).collect::<Vec<_>>()
            });
            let found = bound(&plan, &answers, 1e-6).unwrap();
            println!("{:?}: {found}", plan.guarantee().strategy());
            assert!(!found.violated && found.epsilon_at_least >= 0.7, "{found}");
            // The same answers beside half of the claim: caught.
            let half = plan.ask().clone().with_epsilon(0.5);
            let half = Plan::new(&map, half).unwrap();
            assert!(bound(&half, &answers, 1e-6).unwrap().violated);
        }
    }

    #[test]
    fn with_shaped_noise() {
        let shape = || Some(shape(T));
        check(Privacy::laplace(1.0), shape(), &[0.5, -0.5], 0.7);
        check(Privacy::gaussian(1.0, 0.01), shape(), &[HALF, -HALF], 0.4);
        let truncated = Privacy::truncated_laplace(1.0, 0.01);
        check(truncated, shape(), &[0.5, -0.5], 0.6);
    }

    #[test]
    fn on_coarse_lattices() {
        let draws = Settings::new(40_000, 1e-6).unwrap();
        let laplace = Privacy::laplace(1.0);
        let shape = || Some(shape(T));
        check_on(Some(0.9), draws, laplace, shape(), &[0.5, -0.5], 0.0);
        let gaussian = Privacy::gaussian(0.5, 0.1);
        check_on(Some(0.5), draws, gaussian, None, &[1.0], 0.0);
        check_on(Some(0.3), draws, gaussian, shape(), &[HALF, HALF], 0.0);
        let truncated = Privacy::truncated_laplace(1.0, 0.1);
        check_on(Some(0.9), draws, truncated, None, &[1.0], 0.0);
    }
}
