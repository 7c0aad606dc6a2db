//! The paper's Example 1: min c·x, l ≤ x ≤ u, with l private and Laplace noise.

mod structure_common;

use conveil::ask::{Adjacency, Ask, Privacy, Query};
use conveil::curator::compare;
use conveil::noise::{Law, Sampler, clopper_pearson};
use conveil::plan::Plan;
use conveil::program::Builder;
use conveil::solve::{Batch, Settings};
use structure_common::interval_lp;

const UPPER: f64 = 20.0;
const LOWER: f64 = 5.0;

fn ask(query: Query, epsilon: f64, eta: f64) -> Ask {
    Ask::new(query)
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(epsilon))
        .declared(1.0, "x* = l")
        .feasible(1.0 - eta)
        .settings(Settings::default().with_tolerance(1e-9).unwrap())
}

#[test]
fn output_perturbation_is_infeasible_half_of_the_time() {
    let map = interval_lp(1.0, UPPER);
    let plan = Plan::new(&map, ask(Query::Cost, 1.0, 0.05)).unwrap();
    let draws = 200_000;
    let comparison = compare(&plan, &[LOWER], draws, 7, &Batch::new()).unwrap();
    let output = comparison
        .rows
        .iter()
        .find(|r| r.strategy == "output")
        .unwrap();
    // Pr[ζ < 0] + Pr[ζ > u − l]; what lies within the solver's tolerance 2·10⁻⁸ of the edge counts as feasible.
    let exact = 0.5 + 0.5 * (-(UPPER - LOWER) / plan.law().scale()).exp();
    assert!((output.infeasible_percent.unwrap() / 100.0 - exact).abs() < 1e-7);
    // By the comparison's own draws, and by ours: false alarm 1e-6 each.
    let drawn = (output.sampled_infeasible_percent.unwrap() / 100.0 * draws as f64).round() as u64;
    let (low, high) = clopper_pearson(drawn, draws, 1e-6).unwrap();
    assert!(low <= exact && exact <= high, "{low} {exact} {high}");
    let law = Law::laplace(plan.law().scale()).unwrap();
    let mut sampler = Sampler::new(123, 0);
    let bad = (0..draws)
        .filter(|_| !(LOWER..=UPPER).contains(&(LOWER + sampler.draw(&law))))
        .count();
    let (low, high) = clopper_pearson(bad as u64, draws, 1e-6).unwrap();
    assert!(low <= exact && exact <= high, "{low} {exact} {high}");
}

#[test]
fn program_perturbation_keeps_its_promise_and_costs_the_closed_form() {
    for (epsilon, eta) in [(1.0, 0.05), (1.0, 0.01), (0.7, 0.1), (3.0, 0.001)] {
        for cost in [1.0, 2.5] {
            let map = interval_lp(cost, UPPER);
            let plan = Plan::new(&map, ask(Query::Identity, epsilon, eta)).unwrap();
            let curated = plan.curate(&[LOWER]).unwrap();
            let set = plan.released().design().boxes()[0];
            let report = curated.report();
            assert!((report.loss - cost * -set.lower).abs() < 1e-6, "{report}");
            assert!((curated.decided().mean[0] - (LOWER - set.lower)).abs() < 1e-6);
            // The box is the mass box of the plan's own scale: s·ln(1/η), widened by 3h/2.
            let closed = plan.law().scale() * (1.0 / eta).ln() + 1.5 * plan.guarantee().step();
            assert!((-set.lower - closed).abs() < 1e-9 && (set.upper - closed).abs() < 1e-9);
            // Pr[ζ < −s·ln(1/η)] = η/2 below; above, the room u − x̄ is what is left.
            let room = UPPER - curated.decided().mean[0];
            let exact = plan.law().tail(-set.lower) + plan.law().tail(room);
            let measured = report.empirical.probability();
            assert!(
                measured <= eta && (measured - exact).abs() < 1e-6,
                "{measured} {exact} {eta}"
            );
        }
    }
}

#[test]
fn a_cost_query_pays_in_cost_units_and_maximisation_mirrors_it() {
    for cost in [2.5, -2.5] {
        let map = interval_lp(cost, UPPER);
        let plan = Plan::new(&map, ask(Query::Cost, 1.0, 0.05)).unwrap();
        let report = plan.curate(&[LOWER]).unwrap().report().clone();
        let set = plan.released().design().boxes()[0];
        assert!((report.loss + set.lower).abs() < 1e-6, "{report}");
        let optimum = if cost > 0.0 {
            cost * LOWER
        } else {
            cost * UPPER
        };
        assert!((report.optimum - optimum).abs() < 1e-6);
    }
}

#[test]
fn draws_of_the_decision_are_infeasible_as_often_as_the_report_says() {
    let map = interval_lp(1.0, UPPER);
    let plan = Plan::new(&map, ask(Query::Cost, 1.0, 0.05)).unwrap();
    let curated = plan.curate(&[LOWER]).unwrap();
    let decided = curated.decided();
    let mut sampler = Sampler::new(99, 3);
    let draws = 200_000;
    let bad = (0..draws)
        .filter(|_| {
            let zeta = sampler.draw(plan.law());
            let x = decided.mean[0] + decided.recourse.apply(&[zeta])[0];
            !(LOWER..=UPPER).contains(&x)
        })
        .count();
    let (low, high) = clopper_pearson(bad as u64, draws, 1e-6).unwrap();
    let exact = curated.report().empirical.probability();
    assert!(low <= exact && exact <= high, "{low} {exact} {high}");
    assert!(low <= 0.05);
}

#[test]
fn the_noise_fits_iff_the_interval_is_longer_than_the_box() {
    let fits = |upper: f64| {
        let map = interval_lp(1.0, upper);
        let plan = Plan::new(&map, ask(Query::Cost, 1.0, 0.05)).unwrap();
        let set = plan.released().design().boxes()[0];
        (plan.released().at(&[LOWER]).is_ok(), set.upper - set.lower)
    };
    let (_, length) = fits(UPPER);
    assert!((length - 2.0 * 20f64.ln()).abs() < 1e-3);
    assert!(fits(LOWER + length + 1e-5).0);
    assert!(!fits(LOWER + length - 1e-5).0);
}

#[test]
fn the_plan_is_the_same_whatever_the_data() {
    let map = interval_lp(1.0, UPPER);
    let plan = || Plan::new(&map, ask(Query::Cost, 1.0, 0.05)).unwrap();
    let (a, b) = (plan(), plan());
    a.curate(&[5.0]).unwrap();
    b.curate(&[11.0]).unwrap();
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
    assert_eq!(a.guarantee().to_string(), b.guarantee().to_string());
    // A template with other numbers at the private place plans the same.
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let l = m.parameter("l");
    m.minimize(x.at(0));
    m.between("limits", 1.0 * l + 3.0, x.at(0), UPPER);
    let shifted = m.build_map().unwrap();
    let other = Plan::new(&shifted, ask(Query::Cost, 1.0, 0.05)).unwrap();
    assert_eq!(a.guarantee().to_string(), other.guarantee().to_string());
}
