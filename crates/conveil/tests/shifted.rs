//! Shifted output (M13, M17a): a public room beside the noise, which makes the released value one that a decision has.

use conveil::ask::{Adjacency, Ask, Privacy, Query, Request, Strategy};
use conveil::chance::{Feasibility, Split};
use conveil::curator;
use conveil::noise::{Sampler, clopper_pearson_lower};
use conveil::plan::Plan;
use conveil::program::{Affine, AffineMap, Builder, DataMap};
use conveil::solve::Batch;

/// min x₀ + 3x₁ over x₀ + x₁ = need, 0 ≤ x₀ ≤ 40, 0 ≤ x₁ ≤ 40: at a need of 40 the feasible costs are [40, 120].
fn supply() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let need = m.parameter_within("need", 0.0, 60.0);
    m.minimize(x.dot(&[1.0, 3.0]));
    m.equal("balance", x.sum(), need);
    for j in 0..2 {
        m.between(&format!("source {j}"), 0.0, x.at(j), 40.0);
    }
    m.build_map().unwrap()
}

fn asked(query: Query, feasibility: Feasibility) -> Ask {
    Ask::new(query)
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::envelope(4.0))
        .feasibility(feasibility)
        .strategy(Strategy::Shifted)
}

/// M17a: −l is s·ln(1/(2ηf)) for Laplace noise with a share f of η below, and 3h/2 for the lattice, whatever the data.
#[test]
fn the_shift_is_public() {
    let map = supply();
    for (split, share) in [(Split::Symmetric, 0.5f64), (Split::LowerShare(0.9), 0.9)] {
        let plan = Plan::new(
            &map,
            asked(Query::Cost, Feasibility::eta(0.02).split(split)),
        )
        .unwrap();
        let (scale, step) = (plan.guarantee().scale(), plan.guarantee().step());
        let expected = scale * (1.0 / (2.0 * 0.02 * share)).ln() + 1.5 * step;
        for answer in [-7.0, 0.0, 55.5] {
            let moved = plan.published(&[answer]).unwrap()[0] - answer;
            assert!((moved / expected - 1.0).abs() < 1e-9, "{moved} {expected}");
        }
        let bias = plan.guarantee().uncertainty().bias.unwrap();
        assert!((bias.amount / expected - 1.0).abs() < 1e-9);
        let text = plan.guarantee().feasibility_text();
        assert!(text.contains("probability at least 0.98"), "{text}");
        // What is solved and proven is the value itself.
        let output = Plan::new(
            &map,
            asked(Query::Cost, Feasibility::eta(0.02)).strategy(Strategy::Output),
        )
        .unwrap();
        let at = |plan: &Plan<'_>| plan.released().at(&[33.0]).unwrap().answer;
        assert_eq!(at(&plan), at(&output));
    }
}

/// One false alarm in 10⁶. Without the shift half of the draws lie below the optimum.
#[test]
fn a_shifted_value_is_that_of_a_decision_as_often_as_promised() {
    let map = supply();
    const DRAWS: u64 = 40_000;
    for eta in [0.01, 0.2] {
        let plan = Plan::new(&map, asked(Query::Cost, Feasibility::eta(eta))).unwrap();
        let best = plan.released().at(&[40.0]).unwrap().answer[0];
        assert!((best - 40.0).abs() < 1e-3, "{best}");
        let mut sampler = Sampler::new(17, 0);
        let (mut inside, mut bare) = (0, 0);
        for _ in 0..DRAWS {
            let noisy = best + sampler.draw(plan.law());
            let value = plan.published(&[noisy]).unwrap()[0];
            inside += u64::from((40.0..=120.0).contains(&value));
            bare += u64::from((40.0..=120.0).contains(&noisy));
        }
        // u − l = 2s·ln(1/η) is within 80.
        assert!(2.0 * plan.law().scale() * (1.0 / eta).ln() < 80.0);
        let seen = clopper_pearson_lower(inside, DRAWS, 1e-6).unwrap();
        let share = inside as f64 / DRAWS as f64;
        assert!(share + (share - seen) >= 1.0 - eta, "{share} at {eta}");
        assert!((bare as f64 / DRAWS as f64) < 0.55);
    }
}

/// A number that is maximised has its feasible values below the optimum.
#[test]
fn a_number_that_is_maximised_is_moved_down() {
    let map = supply();
    let earned = Query::Weighted(vec![("x[0]".into(), -1.0), ("x[1]".into(), -3.0)]);
    let plan = Plan::new(&map, asked(earned, Feasibility::eta(0.02))).unwrap();
    assert!(plan.published(&[0.0]).unwrap()[0] < 0.0);
}

#[test]
fn what_has_no_public_room_is_refused() {
    let map = supply();
    let refused = |ask: Ask, word: &str| {
        let error = Plan::new(&map, ask).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    refused(
        asked(Query::Cost, Feasibility::eta(0.02).split(Split::Optimise)),
        "private",
    );
    refused(asked(Query::Cost, Feasibility::each(0.02)), "each row");
    refused(asked(Query::Cost, Feasibility::eta(0.7)), "1/2");
    let one = Query::Variables(vec!["x[0]".into()]);
    refused(
        asked(one, Feasibility::eta(0.02)).declared(1.0, "for the test"),
        "none",
    );
}

/// The row of a comparison is that of program perturbation on the same cost; where that does not apply, it stands alone.
#[test]
fn a_comparison_has_the_row_of_what_would_be_released() {
    let map = supply();
    let row = |plan: &Plan<'_>, theta: &[f64], name: &str| {
        let found = curator::compare(plan, theta, 200, 1, &Batch::new()).unwrap();
        (found.rows.into_iter())
            .find(|row| row.strategy == name)
            .unwrap()
    };
    let plan = Plan::new(&map, asked(Query::Cost, Feasibility::eta(0.02))).unwrap();
    let shifted = row(&plan, &[40.0], "shifted output");
    let program = row(&plan, &[40.0], "program");
    let (a, b) = (shifted.loss.unwrap(), program.loss.unwrap());
    assert!((a / b - 1.0).abs() < 1e-4, "{a} {b}");
    // A quadratic value has no program perturbation.
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let need = m.parameter_within("need", 1.0, 3.0);
    m.minimize_half_square(1.0, &x.entries());
    m.at_most("need", need, x.at(0));
    m.at_most("limit", x.at(0), 50.0);
    let curved = m.build_map().unwrap();
    let plan = Plan::new(&curved, asked(Query::Value, Feasibility::eta(0.02))).unwrap();
    let shifted = row(&plan, &[2.0], "shifted output");
    let bias = plan.guarantee().uncertainty().bias.unwrap();
    assert!((shifted.loss.unwrap() / bias.amount - 1.0).abs() < 1e-6);
    assert!((shifted.infeasible_percent.unwrap() - 1.0).abs() < 0.01);
    assert!(
        row(&plan, &[2.0], "program")
            .status
            .contains("does not apply")
    );
    assert_eq!(curved.len(), 1);
}

/// The released value has the objective's constant, as the values of decisions have.
#[test]
fn a_shifted_value_under_a_private_price_has_its_constant() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let price = m.parameter_within("price", 1.0, 5.0);
    m.minimize(price * x.at(0) + Affine::constant(100.0));
    m.between("range", 2.0, x.at(0), 9.0);
    let map = m.build_map().unwrap();
    for strategy in [Strategy::Output, Strategy::Shifted] {
        let ask = asked(Query::Value, Feasibility::eta(0.02)).sensitivity(Request::radius());
        let plan = Plan::new(&map, ask.strategy(strategy)).unwrap();
        let answer = plan.released().at(&[3.0]).unwrap().answer[0];
        assert!((answer - 106.0).abs() < 1e-4, "{strategy:?}: {answer}");
    }
}

/// Below what the data cost, an envelope's value lies below all feasible costs: the promise is where these reach down to it.
#[test]
fn the_promise_is_about_values_from_the_one_before_the_noise() {
    let map = supply();
    let ask = asked(Query::Cost, Feasibility::eta(0.02)).sensitivity(Request::envelope(2.0));
    let plan = Plan::new(&map, ask).unwrap();
    let before = plan.released().at(&[50.0]).unwrap().answer[0];
    assert!(before < 70.0 - 5.0, "{before}");
    let text = plan.guarantee().feasibility_text();
    let condition = "wherever feasible decisions have all values from the one before the noise to";
    assert!(text.contains(condition), "{text}");
}
