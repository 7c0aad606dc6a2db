//! The envelope on real networks: what it promises, and for which noise it fits no demand at all.

mod asking;

use asking::{ALPHAS, bounded, declared, enveloped, enveloped_at};
use conveil::Error;
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{Cone, DataMap};
use conveil::solve::{Batch, Settings, solve_checked};
use conveil_grid::builtin;
use conveil_models::grid::Opf;

/// Where the noise at ε = 1 and η = 1% fits no demand within ±30% of nominal: a public fact.
const FITS_NO_DEMAND: [(&str, f64); 2] = [("14_ieee", 10.0), ("30_ieee", 10.0)];

#[test]
fn the_noise_fits_some_demand_on_every_network_but_these() {
    let mut found = Vec::new();
    for name in builtin::names() {
        let opf = bounded(name);
        for alpha in ALPHAS {
            match enveloped(&opf, alpha, 1.0) {
                Ok(_) => {}
                Err(Error::NoiseDoesNotFit(_)) => found.push((name, alpha)),
                Err(other) => panic!("{name} at α = {alpha}: {other}"),
            }
        }
    }
    assert_eq!(found, FITS_NO_DEMAND);
}

/// Pairs of each network: a thousand in full mode.
fn pairs() -> usize {
    match std::env::var_os("CONVEIL_FULL") {
        Some(_) => 1000,
        None => 24,
    }
}

/// The change of a value between two adjacent demands, less what the two solves are verified to be off by.
#[derive(Clone, Copy, Debug, Default)]
struct Moved {
    with_noise: f64,
    without: f64,
}

/// Pair `index` of demands within ±30% of nominal, one load of which differs by α.
fn adjacent(opf: &Opf, alpha: f64, index: usize) -> (Vec<f64>, Vec<f64>) {
    let mut sampler = Sampler::new(9, index as u64);
    let nominal = opf.nominal();
    let demands = nominal.iter();
    let here: Vec<f64> = demands
        .map(|d| d * (0.7 + 0.6 * sampler.uniform()))
        .collect();
    let mut there = here.clone();
    let entry = (sampler.uniform() * here.len() as f64) as usize % here.len();
    let sign = if sampler.uniform() < 0.5 { 1.0 } else { -1.0 };
    there[entry] += sign * alpha;
    (here, there)
}

fn moved(plan: &Plan<'_>, here: &[f64], there: &[f64]) -> Moved {
    let chance_constrained = |theta: &[f64]| {
        let decided = plan.released().at(theta).unwrap();
        (decided.answer[0], decided.proven_error.unwrap())
    };
    // Without noise: the same program without its chance constraint.
    let plain = |theta: &[f64]| {
        let program = plan.released().map().at(theta).unwrap();
        let solution = solve_checked(&program, &Settings::default()).unwrap();
        (solution.objective, solution.residuals.gap)
    };
    let change = |value: &dyn Fn(&[f64]) -> (f64, f64)| {
        let ((a, gap_a), (b, gap_b)) = (value(here), value(there));
        (a - b).abs() - gap_a - gap_b
    };
    Moved {
        with_noise: change(&chance_constrained),
        without: change(&plain),
    }
}

/// |v_π(d) − v_π(d')| ≤ π·α + the verified gaps, with and without the chance constraint. Returns the largest change in
/// units of π·α.
fn values_differ_by_at_most_price_times_alpha(name: &str, epsilon: f64) -> f64 {
    let alpha = 1.0;
    let opf = bounded(name);
    let plan = enveloped(&opf, alpha, epsilon).unwrap_or_else(|e| panic!("{name}: {e}"));
    let bound = opf.largest_cost() * alpha;
    let found = Batch::new()
        .run(pairs(), |index| {
            let (here, there) = adjacent(&opf, alpha, index);
            moved(&plan, &here, &there)
        })
        .unwrap();
    let largest = |part: fn(&Moved) -> f64| found.iter().map(part).fold(0.0, f64::max) / bound;
    let (with_noise, without) = (largest(|m| m.with_noise), largest(|m| m.without));
    println!(
        "{name}, ε = {epsilon}: over {} pairs at most {with_noise:.9}·πα with noise, {without:.9}·πα without",
        found.len()
    );
    assert!(with_noise <= 1.0, "{name}: {with_noise}·πα with noise");
    assert!(without <= 1.0, "{name}: {without}·πα without noise");
    with_noise.max(without)
}

/// A test for each network, so that the slow ones can be run alone.
macro_rules! pairs_of {
    ($($test:ident: $name:literal at $epsilon:literal;)*) => {
        $(#[test]
        fn $test() {
            values_differ_by_at_most_price_times_alpha($name, $epsilon);
        })*

        #[test]
        fn every_network_has_its_pairs() {
            let tested = [$($name),*];
            assert!(builtin::names().eq(tested), "{tested:?}");
        }
    };
}

pairs_of! {
    pairs_of_3_lmbd: "3_lmbd" at 1.0;
    pairs_of_5_pjm: "5_pjm" at 1.0;
    pairs_of_14_ieee: "14_ieee" at 1.0;
    pairs_of_24_ieee_rts: "24_ieee_rts" at 1.0;
    pairs_of_30_ieee: "30_ieee" at 1.0;
    pairs_of_39_epri: "39_epri" at 1.0;
    pairs_of_57_ieee: "57_ieee" at 1.0;
    pairs_of_73_ieee_rts: "73_ieee_rts" at 1.0;
    pairs_of_89_pegase: "89_pegase" at 1.0;
    pairs_of_118_ieee: "118_ieee" at 1.0;
}

/// A demand at which the solver stops at a gap of 5.6e-7 however the program is posed: a solve around that point goes
/// on. An answer that depends on luck would tell about the data.
#[test]
fn a_demand_that_is_hard_to_solve_is_answered_too() {
    let opf = bounded("89_pegase");
    let plan = enveloped(&opf, 1.0, 1.0).unwrap();
    let (here, there) = adjacent(&opf, 1.0, 738);
    let found = moved(&plan, &here, &there);
    let bound = opf.largest_cost();
    assert!(found.with_noise.max(found.without) <= bound, "{found:?}");
}

/// The bound has no slack to hide in: on 3_lmbd some pair moves the value by all of π·α.
#[test]
fn a_bound_of_nine_tenths_would_be_broken() {
    assert!(values_differ_by_at_most_price_times_alpha("3_lmbd", 1.0) > 0.9);
}

#[test]
fn at_nominal_demand_the_largest_cost_as_a_price_changes_nothing() {
    for name in asking::OF_THE_PAPER {
        let opf = bounded(name);
        let plan = enveloped(&opf, 1.0, 1.0).unwrap();
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

/// 30_ieee at α = 3: the noise fits no dispatch for the network's own demand, and a price ties c_max.
#[test]
fn the_report_tells_what_a_correction_means_for_the_real_demand() {
    let opf = bounded("30_ieee");
    let own = Plan::new(&opf, declared(&opf, 3.0)).unwrap();
    let own = own.released().at(&opf.nominal());
    assert!(matches!(own, Err(Error::NoiseDoesNotFit(_))), "{own:?}");
    let plan = enveloped(&opf, 3.0, 1.0).unwrap();
    let report = plan.curate(&opf.nominal()).unwrap();
    let report = report.report();
    let correction = report.correction.as_ref().unwrap();
    println!("{correction:?}, infeasible {}", report.empirical);
    // The promise is kept for the corrected demand; the real one has a balance that every dispatch misses.
    assert!(report.empirical.probability() <= 0.01 + 1e-9);
    assert!(!correction.at_the_data && correction.distance > 1.0);
    let moved = correction.moved.iter().map(|(_, was, is)| (was - is).abs());
    assert!((moved.sum::<f64>() - correction.distance).abs() < 1e-6 * correction.distance);
    let at_the_data = report.infeasible_at_the_data.as_ref().unwrap();
    assert_eq!(at_the_data.probability(), 1.0);
    // Where the noise fits, at α = 1, the second solve at the real demand breaks the tie.
    let plan = enveloped(&opf, 1.0, 1.0).unwrap();
    let report = plan.curate(&opf.nominal()).unwrap();
    let report = report.report();
    println!("{:?}", report.correction);
    assert!(report.correction.as_ref().unwrap().at_the_data);
    assert!(report.empirical.probability() <= 0.01 + 1e-9);
}

/// Demands of 89_pegase within ±30% whose own programs have hardly a point inside: a solver's answer there misses the
/// balances by more than rounding, and costs less than any that meets them.
#[test]
fn every_demand_gets_a_decision_that_carries_its_noise() {
    let opf = bounded("89_pegase");
    for line in include_str!("hard_demands.csv").lines().skip(1) {
        let mut numbers = line.split(',').map(|v| v.parse::<f64>().unwrap());
        let price = numbers.next().unwrap();
        let theta: Vec<f64> = numbers.collect();
        let plan = enveloped_at(&opf, 1.0, 1.0, price).unwrap();
        let released = plan.released();
        let decided = released.at(&theta).unwrap();
        let carried = decided.recourse.of_row(&released.query().rows()[0]);
        let due = released.shape().row(0)[0];
        assert_eq!(carried.len(), 1);
        let missed = (carried[0].1 / due - 1.0).abs();
        assert!(
            missed <= 1e-11,
            "price {price}: QX misses T by {missed:.1e}"
        );
        // The balances, at the demand that the decision says it is for.
        let correction = decided.correction.clone().unwrap();
        let mut told = theta.clone();
        for (name, _, corrected) in &correction.moved {
            let at = opf
                .parameters()
                .iter()
                .position(|p| p.name() == name.as_str());
            told[at.unwrap()] = *corrected;
        }
        let own = opf.at(&told).unwrap();
        let x = &decided.mean[..own.columns()];
        let image = own.a().times(x);
        for block in own.constraints() {
            if !matches!(block.cone(), Cone::Zero(_)) {
                continue;
            }
            for i in block.range() {
                let gap = (own.b()[i] - image[i]).abs();
                assert!(gap <= 1e-6, "price {price}, {}: {gap}", own.row_name(i));
            }
        }
    }
}
