//! Two sentences that are not one: whether the released map has a value for every dataset, and whether a solve is proven.

mod certifying;
mod common;

use certifying::{blend, blend_ask, classifier, classifier_ask, cost_ask, grid, regression};
use common::between;
use conveil::ask::{Adjacency, Ask, Privacy, Query, Request, Strategy};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder, DataMap};

const PROVEN: &str = "a solve that cannot be proven makes no answer";
const GIVEN: &str = "given that an answer was produced";

/// One model and ask for each certificate whose map is defined everywhere.
fn everywhere() -> Vec<(AffineMap, Ask)> {
    let prices = Adjacency::one_entry(0.2);
    vec![
        (grid(), cost_ask(30.0)),
        (
            regression(9, 60.0),
            certifying::regression_ask(Privacy::laplace(2.0), Adjacency::one_entry(0.3), true),
        ),
        (classifier(6, 0.5), classifier_ask(Privacy::laplace(1.0))),
        (blend(), blend_ask(prices).strategy(Strategy::Output)),
    ]
}

/// Along a path of m neighbours every dataset has an answer, and its ends are at most m bounds apart: what a ledger
/// counts on when it converts a charge to a larger distance.
#[test]
fn what_is_defined_everywhere_moves_by_m_times_the_bound_over_m_steps() {
    for (map, ask) in everywhere() {
        let plan = Plan::new(&map, ask).unwrap();
        let guarantee = plan.guarantee();
        assert!(guarantee.is_defined_everywhere(), "{guarantee}");
        let adjacency = *certifying::plan_adjacency(&plan);
        let bounds: Vec<(f64, f64)> = (map.parameters().iter())
            .map(|p| p.bounds().unwrap())
            .collect();
        let mut sampler = Sampler::new(31, 0);
        let answer = |theta: &[f64]| {
            let decided = plan.released().at(theta).unwrap();
            plan.released().shape().unshape(&decided.answer)
        };
        let norm = guarantee.privacy().norm();
        for m in [2, 5, 12] {
            let start: Vec<f64> = (bounds.iter())
                .map(|&(low, high)| between(&mut sampler, low, high))
                .collect();
            let mut theta = start.clone();
            for _ in 0..m {
                let next = certifying::neighbours(&theta, &bounds, &adjacency, &mut sampler);
                let chosen = (sampler.uniform() * next.len() as f64) as usize;
                theta = next[chosen.min(next.len() - 1)].clone();
                answer(&theta);
            }
            let change: Vec<f64> = (answer(&start).iter().zip(answer(&theta)))
                .map(|(a, b)| a - b)
                .collect();
            let (moved, bound) = (norm.of(&change), f64::from(m) * guarantee.sensitivity());
            assert!(moved <= bound, "{moved} after {m} steps, above {bound}");
        }
    }
}

/// A certificate's card speaks of the solver, whether or not its map is defined everywhere; only a map that is not
/// defined everywhere makes its claim for answers that were produced.
#[test]
fn the_solver_and_the_map_have_a_sentence_each() {
    for (map, ask) in everywhere() {
        let plan = Plan::new(&map, ask).unwrap();
        let guarantee = plan.guarantee();
        assert!(guarantee.basis().solves_are_proven());
        assert!(guarantee.assumptions().contains(PROVEN), "{guarantee}");
        assert!(!guarantee.privacy_text().contains(GIVEN), "{guarantee}");
    }
    // Noise that the decision takes up through a private cost: at some prices nothing can.
    let map = blend();
    let plan = Plan::new(&map, blend_ask(Adjacency::one_entry(0.2))).unwrap();
    let guarantee = plan.guarantee();
    assert!(!guarantee.is_defined_everywhere());
    assert!(guarantee.privacy_text().contains(GIVEN), "{guarantee}");
    assert!(guarantee.assumptions().contains(PROVEN), "{guarantee}");
    // A bound that the user states: nothing is proven, and the claim is for answers that were produced.
    let map = grid();
    let ask = cost_ask(30.0).declared(40.0, "a study");
    let plan = Plan::new(&map, ask).unwrap();
    let guarantee = plan.guarantee();
    assert!(!guarantee.is_defined_everywhere() && !guarantee.basis().solves_are_proven());
    assert!(guarantee.privacy_text().contains(GIVEN), "{guarantee}");
    assert!(!guarantee.assumptions().contains(PROVEN), "{guarantee}");
}

/// Without a slack a row with private data is a limit, and whether anything meets it depends on the data.
#[test]
fn a_record_without_a_slack_is_refused_whatever_its_coefficients() {
    let mut m = Builder::new();
    let w = m.variable("w", 1);
    let z = m.auxiliary("slack", 1);
    m.minimize(1.0 * z.at(0));
    m.quadratic(0, 0, 1.0);
    let a = m.parameter_within("a", -1.0, 1.0);
    let b = m.parameter_within("b", -1.0, 1.0);
    m.at_most("hinge", 1.0, a * w.at(0) + z.at(0));
    m.at_most("sign", 0.0, z.at(0));
    m.at_most("bare", 0.0 * w.at(0), b);
    let map = m.build_map().unwrap();
    let ask = Ask::new(Query::Variables(vec!["w".into()]))
        .adjacency(Adjacency::OneRecord { len: 1 })
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::regularised_erm())
        .feasible(0.9);
    let refusal = Plan::new(&map, ask).unwrap_err().to_string();
    assert!(refusal.contains("no slack variable"), "{refusal}");
}

/// Stocks with a public upper bound, at prices between these.
fn stocks(low: f64, high: f64) -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let prices = [0, 1].map(|j| m.parameter_within(&format!("price {j}"), low, high));
    m.minimize(prices[0] * x.at(0) + prices[1] * x.at(1));
    m.at_most("need", 4.0, x.sum());
    for j in 0..2 {
        m.between(&format!("stock {j}"), 0.0, x.at(j), 6.0);
    }
    m.build_map().unwrap()
}

/// At a price of 0 no decision carries the noise; that the public bounds end there is no reason to refuse the rest.
#[test]
fn a_radius_is_planned_whatever_the_bounds_of_its_prices_end_at() {
    for (low, high) in [(-1.0, 6.0), (1e-9, 6.0), (0.0, 6.0)] {
        let map = stocks(low, high);
        let plan = Plan::new(&map, blend_ask(Adjacency::one_entry(0.2)));
        let plan = plan.unwrap_or_else(|e| panic!("[{low}, {high}]: {e}"));
        assert!(!plan.guarantee().is_defined_everywhere());
        assert!(plan.released().at(&[2.0, 3.0]).is_ok());
    }
}

/// The certificate says that the set is public, and so does what is said of the fit.
#[test]
fn a_private_cost_does_not_make_the_feasible_set_private() {
    let map = blend();
    let plan = Plan::new(&map, blend_ask(Adjacency::one_entry(0.2))).unwrap();
    let basis = plan.guarantee().basis().statement().to_string();
    assert!(basis.contains("the feasible set is public"), "{basis}");
    let fit = conveil::curator::fit(&plan).unwrap().to_string();
    assert!(fit.contains("the feasible set is public"), "{fit}");
    assert!(!fit.contains("the feasible set is private"), "{fit}");
}

/// The scenario theorem is about one optimum, and the promise says so where it stands.
#[test]
fn a_scenario_promise_names_its_unique_optimum() {
    let map = grid();
    let wish = |method| conveil::chance::Feasibility::eta(0.3).method(method);
    let text = |method| {
        let ask = cost_ask(30.0).feasibility(wish(method));
        let ask = ask.declared(0.01, "a study of the text");
        Plan::new(&map, ask).unwrap().guarantee().feasibility_text()
    };
    let scenario = text(conveil::chance::Choice::SCENARIO);
    assert!(
        scenario.contains("assumes that the optimum is unique"),
        "{scenario}"
    );
    let exact = text(conveil::chance::Choice::MASS_BOX);
    assert!(!exact.contains("unique"), "{exact}");
}

/// The words of the privacy sentence, and what a ledger asks before it converts a charge, are one and the same.
#[test]
fn words_on_the_card_and_what_the_ledger_counts_agree() {
    let mut models = everywhere();
    // Two angles and no reference: nothing bounds them, and a proof may be out of reach on some data.
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let angle = m.variable("angle", 2);
    m.minimize(x.dot(&[1.0, 3.0]));
    let d = m.parameter_within("d", 0.0, 5.0);
    m.equal("first", x.at(0) - (angle.at(0) - angle.at(1)), 0.0);
    m.equal("second", x.at(1) + (angle.at(0) - angle.at(1)), d);
    for j in 0..2 {
        m.between(&format!("limits {j}"), 0.0, x.at(j), 9.0);
    }
    models.push((
        m.build_map().unwrap(),
        cost_ask(30.0).strategy(Strategy::Output),
    ));
    let mut seen = [0, 0];
    for (map, ask) in models {
        let plan = Plan::new(&map, ask).unwrap();
        let guarantee = plan.guarantee();
        let is_given = guarantee.is_given_an_answer();
        assert_eq!(
            guarantee.privacy_text().contains(GIVEN),
            is_given,
            "{guarantee}"
        );
        seen[usize::from(is_given)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}
