//! The envelope on real networks: what it promises, for the data themselves wherever they were not corrected.

use conveil::ask::{Adjacency, Ask, Bound, Privacy, Request};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Batch, Settings, solve_checked};
use conveil::{Error, Result};
use conveil_grid::{Network, builtin};
use conveil_models::grid::{LoadBounds, Opf};

fn bounded(name: &str) -> Opf {
    let network = Network::builtin(name).unwrap();
    Opf::of(network)
        .bounds(LoadBounds::Relative(0.3))
        .build()
        .unwrap()
}

fn ask(alpha: f64) -> Ask {
    Ask::cost()
        .adjacency(Adjacency::one_entry(alpha))
        .privacy(Privacy::laplace(1.0))
        .feasible(0.99)
}

fn enveloped(opf: &Opf, alpha: f64) -> Result<Plan<'_>> {
    let price = opf.largest_cost();
    Plan::new(opf, ask(alpha).sensitivity(Request::Envelope { price }))
}

/// Pairs of each network: a thousand in full mode.
fn pairs() -> usize {
    match std::env::var_os("CONVEIL_FULL") {
        Some(_) => 1000,
        None => 24,
    }
}

#[test]
fn values_of_neighbouring_demands_differ_by_at_most_price_times_alpha() {
    for name in builtin::names() {
        let opf = bounded(name);
        let alpha = 1.0;
        let plan = match enveloped(&opf, alpha) {
            Ok(plan) => plan,
            Err(Error::NoiseDoesNotFit(_)) => {
                println!("{name}: this noise fits no demand");
                continue;
            }
            Err(e) => panic!("{name}: {e}"),
        };
        let bound = plan.guarantee().sensitivity();
        let nominal = opf.nominal();
        let moved = Batch::new()
            .run(pairs(), |index| {
                let mut sampler = Sampler::new(9, index as u64);
                let here: Vec<f64> = nominal
                    .iter()
                    .map(|d| d * (0.7 + 0.6 * sampler.uniform()))
                    .collect();
                let mut there = here.clone();
                let entry = (sampler.uniform() * here.len() as f64) as usize % here.len();
                there[entry] += if sampler.uniform() < 0.5 {
                    alpha
                } else {
                    -alpha
                };
                let value = |theta: &[f64]| plan.released().at(theta).map(|d| d.answer[0]);
                let with_noise = (value(&here).unwrap() - value(&there).unwrap()).abs();
                // Without noise: the same program without its chance constraint.
                let plain = |theta: &[f64]| {
                    let program = plan.released().map().at(theta).unwrap();
                    solve_checked(&program, &Settings::default()).unwrap()
                };
                let (a, b) = (plain(&here), plain(&there));
                let without = (a.objective - b.objective).abs() - a.residuals.gap - b.residuals.gap;
                with_noise.max(without)
            })
            .unwrap();
        let largest = moved.into_iter().fold(0.0, f64::max);
        println!(
            "{name}: {largest:.4} of {bound:.4}, tightness {:.3}",
            largest / bound
        );
        assert!(largest <= bound, "{name}: {largest} > {bound}");
    }
}

#[test]
fn at_nominal_demand_the_largest_cost_as_a_price_changes_nothing() {
    for name in ["5_pjm", "14_ieee", "24_ieee_rts", "57_ieee", "89_pegase"] {
        let opf = bounded(name);
        let plan = enveloped(&opf, 1.0).unwrap();
        let theta = opf.nominal();
        let plain = solve_checked(&opf.at(&theta).unwrap(), &Settings::default()).unwrap();
        let with = plan.released().map().at(&theta).unwrap();
        let with = solve_checked(&with, &Settings::default()).unwrap();
        let gap = plain.residuals.gap + with.residuals.gap + 1e-7 * plain.objective.abs();
        assert!((plain.objective - with.objective).abs() <= gap, "{name}");
        let correction = plan.released().at(&theta).unwrap().correction.unwrap();
        assert!(correction.at_the_data, "{name}: {correction:?}");
    }
}

/// On draws inside the box the dispatch meets every row for the real demand and costs the released number.
#[test]
fn dispatches_meet_the_real_demand_and_cost_what_was_released() {
    for name in ["5_pjm", "14_ieee", "24_ieee_rts", "57_ieee", "89_pegase"] {
        let opf = bounded(name);
        let theta = opf.nominal();
        let declared = ask(1.0).sensitivity(Request::Declared {
            bound: Bound::PerAlpha(opf.largest_cost()),
            reason: "the largest cost of a unit".into(),
        });
        for plan in [
            Plan::new(&opf, declared).unwrap(),
            enveloped(&opf, 1.0).unwrap(),
        ] {
            let decided = plan.released().at(&theta).unwrap();
            let own = plan.released().own_view(decided.clone(), &theta).unwrap();
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
                assert!(violation <= 1e-6 * scale, "{name}: {violation} at {row:?}");
                let cost: f64 = program.q().iter().zip(&x).map(|(q, x)| q * x).sum();
                assert!(
                    (cost - answer).abs() <= 1e-6 * answer.abs(),
                    "{name}: {cost} {answer}"
                );
            }
        }
    }
}

#[test]
fn noise_that_does_not_fit_is_not_helped_by_an_envelope() {
    let opf = bounded("14_ieee");
    match enveloped(&opf, 10.0) {
        Err(Error::NoiseDoesNotFit(_)) => {}
        Ok(plan) => {
            let found = plan.released().at(&opf.nominal());
            // Other demands may have room for this noise: then the report says what that means for the real ones.
            let decided = found.unwrap();
            let correction = decided.correction.unwrap();
            println!("14_ieee at α = 10: {correction:?}");
            assert!(!correction.at_the_data && correction.distance > 0.0);
            let report = plan.curate(&opf.nominal()).unwrap();
            let measured = report.report().infeasible_at_the_data.unwrap();
            assert!(measured.probability() > 0.01, "{measured}");
        }
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn a_price_that_ties_is_told_apart_from_a_correction() {
    // On 30_ieee a price of the network ties with c_max.
    let opf = bounded("30_ieee");
    let plan = enveloped(&opf, 3.0).unwrap();
    let report = plan.curate(&opf.nominal()).unwrap();
    let report = report.report();
    let correction = report.correction.as_ref().unwrap();
    println!("{correction:?}, infeasible {}", report.empirical);
    if correction.at_the_data {
        assert!(report.empirical.probability() <= 0.01);
    } else {
        assert!(report.infeasible_at_the_data.is_some());
    }
}
