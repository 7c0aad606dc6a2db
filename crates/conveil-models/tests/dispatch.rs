//! The dispatch that carries a released cost out: inside every limit for the real demand, and worth that cost.

mod asking;

use asking::{ALPHAS, OF_THE_PAPER, bounded, declared, enveloped};
use conveil::Error;
use conveil::noise::Sampler;
use conveil::plan::{Decided, Plan};
use conveil::program::DataMap;
use conveil_models::grid::Opf;

/// Of the paper's networks at ε = 1 and η = 1%, the only one without room for the noise.
const TOO_SMALL: (&str, f64) = ("14_ieee", 10.0);

/// On 10⁴ noises inside the box, x(ζ̂) meets every row for the real demand and costs the released number.
fn meets_the_real_demand(opf: &Opf, plan: &Plan<'_>, decided: &Decided, at: &str) {
    let theta = opf.nominal();
    let own = plan
        .released()
        .in_users_variables(decided.clone(), &theta)
        .unwrap();
    let program = opf.at(&theta).unwrap();
    let set = plan.released().design().boxes()[0];
    let scale = program.b().iter().fold(1.0f64, |m, v| m.max(v.abs()));
    let mut sampler = Sampler::new(3, 0);
    for _ in 0..10_000 {
        let zeta = set.lower + (set.upper - set.lower) * sampler.uniform();
        let answer = decided.answer[0] + zeta;
        // The noise that the answer shows.
        let shown = answer - plan.released().query().apply(&decided.mean)[0];
        let moved = own.recourse.apply(&[shown]);
        let x: Vec<f64> = own.mean.iter().zip(&moved).map(|(m, d)| m + d).collect();
        let (violation, row) = program.worst_violation(&program.slack(&x));
        assert!(violation <= 1e-6 * scale, "{at}: {violation} at {row:?}");
        let cost: f64 = program.q().iter().zip(&x).map(|(q, x)| q * x).sum();
        assert!(
            (cost - answer).abs() <= 1e-6 * answer.abs(),
            "{at}: {cost} {answer}"
        );
    }
}

#[test]
fn dispatches_meet_the_real_demand_and_cost_what_was_released() {
    for name in OF_THE_PAPER {
        let opf = bounded(name);
        for alpha in ALPHAS {
            let at = format!("{name} at α = {alpha}");
            let plan = Plan::new(&opf, declared(&opf, alpha)).unwrap();
            match plan.released().at(&opf.nominal()) {
                Ok(decided) => meets_the_real_demand(&opf, &plan, &decided, &at),
                Err(Error::NoiseDoesNotFit(_)) => assert_eq!((name, alpha), TOO_SMALL),
                Err(other) => panic!("{at}: {other}"),
            }
        }
    }
}

#[test]
fn with_an_envelope_dispatches_meet_the_real_demand_too() {
    for name in OF_THE_PAPER {
        let opf = bounded(name);
        for alpha in ALPHAS {
            let at = format!("{name} at α = {alpha}, enveloped");
            let plan = match enveloped(&opf, alpha, 1.0) {
                Ok(plan) => plan,
                // An envelope does not help noise that fits no demand.
                Err(Error::NoiseDoesNotFit(_)) => {
                    assert_eq!((name, alpha), TOO_SMALL);
                    continue;
                }
                Err(other) => panic!("{at}: {other}"),
            };
            let decided = plan.released().at(&opf.nominal()).unwrap();
            let correction = decided.correction.as_ref().unwrap();
            assert!(correction.at_the_data, "{at}: {correction:?}");
            meets_the_real_demand(&opf, &plan, &decided, &at);
        }
    }
}

/// The check can fail: half of the recourse leaves the balances alone and misses the cost.
#[test]
fn a_dispatch_that_carries_half_of_the_noise_is_caught() {
    let opf = bounded("5_pjm");
    let plan = Plan::new(&opf, declared(&opf, 1.0)).unwrap();
    let decided = plan.released().at(&opf.nominal()).unwrap();
    let set = plan.released().design().boxes()[0];
    let program = opf.at(&opf.nominal()).unwrap();
    let moved = decided.recourse.apply(&[0.5 * set.upper]);
    let x: Vec<f64> = decided
        .mean
        .iter()
        .zip(&moved)
        .map(|(m, d)| m + d)
        .collect();
    let (violation, _) = program.worst_violation(&program.slack(&x));
    let cost: f64 = program.q().iter().zip(&x).map(|(q, x)| q * x).sum();
    let answer = decided.answer[0] + set.upper;
    assert!(violation < 1e-4, "{violation}");
    assert!((cost - answer).abs() > 1e-3 * answer, "{cost} {answer}");
}
