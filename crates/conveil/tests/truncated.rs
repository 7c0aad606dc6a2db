//! Truncated perturbation (M17e): bounded noise on the private numbers, moved to their strict sides, then the program.

mod common;

use common::between;
use conveil::ask::{Adjacency, Ask, Privacy, Query, Strategy, Universe};
use conveil::curator;
use conveil::noise::Sampler;
use conveil::plan::{Plan, Published};
use conveil::program::{AffineMap, Builder, DataMap};
use conveil::solve::Batch;

/// max 3x₀ + 2x₁ + gain·x₂ under capacity 0 of 2x₀ + x₁ + use·x₂, capacity 1 of x₀ + 3x₁, and a floor that counts against
/// x₂: −x₂ ≤ −floor. All but the first two prices are private.
fn allocation() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 3);
    let capacity = [0, 1].map(|i| m.parameter_within(&format!("capacity[{i}]"), 20.0, 200.0));
    let needed = m.parameter_within("use", 0.5, 4.0);
    let floor = m.parameter_within("floor", 0.0, 3.0);
    let gain = m.parameter("gain");
    m.minimize(-1.0 * (3.0 * x.at(0) + 2.0 * x.at(1)) - gain * x.at(2));
    m.at_most(
        "first",
        2.0 * x.at(0) + x.at(1) + needed * x.at(2),
        capacity[0],
    );
    m.at_most("second", x.at(0) + 3.0 * x.at(1), capacity[1]);
    m.at_most("least", floor, x.at(2));
    for j in 0..3 {
        m.between(&format!("x{j}"), 0.0, x.at(j), 60.0);
    }
    m.build_map().unwrap()
}

const TRUTH: [f64; 5] = [100.0, 90.0, 1.5, 1.0, 4.0];

fn asked(privacy: Privacy) -> Ask {
    Ask::new(Query::Identity)
        .adjacency(Adjacency::one_entry(0.2))
        .privacy(privacy)
        .declared(1.0, "the answer's; of no use here")
        .strategy(Strategy::Truncated)
}

fn bounded() -> Privacy {
    Privacy::truncated_laplace(1.0, 1e-3)
}

/// The largest violation of the data's own constraints by what is published of these noisy data.
fn violation(plan: &Plan<'_>, theta: &[f64], noisy: &[f64]) -> f64 {
    let Published::Answer(x) = plan.outcome(noisy).unwrap() else {
        panic!("something is feasible at all data");
    };
    let program = plan.model().at(theta).unwrap();
    program.worst_violation(&program.slack(&x)).0
}

/// Random data, inside and outside their bounds, with random noise and with all of it on one side. The same noise without the
/// move to the strict side breaks limits in most draws.
#[test]
fn answers_at_tightened_data_meet_every_constraint_of_the_data() {
    let map = allocation();
    let plan = Plan::new(&map, asked(bounded())).unwrap();
    let input = Plan::new(&map, asked(bounded()).strategy(Strategy::Input)).unwrap();
    let bound = plan.law().support_bound().unwrap();
    let mut sampler = Sampler::new(7, 0);
    let mut broken = 0;
    for round in 0..300 {
        let theta: Vec<f64> = TRUTH
            .iter()
            .map(|v| v * between(&mut sampler, 0.2, 2.5))
            .collect();
        let counted = plan.released().at(&theta).unwrap().answer;
        let noise: Vec<f64> = (0..5)
            .map(|j| match round % 3 {
                0 => sampler.draw(plan.law()),
                // The loosest that there is: capacities and prices up, what counts against them down.
                1 => [bound, bound, -bound, -bound, bound][j],
                _ => bound * between(&mut sampler, -1.0, 1.0),
            })
            .collect();
        let noisy: Vec<f64> = counted.iter().zip(&noise).map(|(v, n)| v + n).collect();
        let worst = violation(&plan, &theta, &noisy);
        assert!(worst < 1e-7, "{theta:?} {noise:?}: {worst}");
        broken += i32::from(violation(&input, &theta, &noisy) > 1e-3);
    }
    assert!(broken > 150, "{broken}");
    let text = plan.guarantee().feasibility_text();
    assert!(
        text.contains("all constraints of the data, always"),
        "{text}"
    );
    assert!(plan.guarantee().is_defined_everywhere() && !plan.guarantee().is_given_an_answer());
}

/// What it costs is what the move to the strict side costs: the loss by the prices of the limits, times twice the bound.
#[test]
fn the_loss_is_at_most_the_price_of_twice_the_room() {
    let map = allocation();
    let plan = Plan::new(&map, asked(bounded())).unwrap();
    let found = curator::compare(&plan, &TRUTH, 200, 1, &Batch::new()).unwrap();
    let row = |name: &str| found.rows.iter().find(|r| r.strategy == name).unwrap();
    let (truncated, input) = (row("truncated"), row("input"));
    assert_eq!(truncated.status, "ok");
    assert_eq!(truncated.sampled_infeasible_percent, Some(0.0));
    assert!(input.sampled_infeasible_percent > Some(30.0), "{found}");
    assert!(
        found
            .summary()
            .contains("truncated perturbation is never infeasible")
    );
    // Every optimum at data that are all stricter by the room is worse; that at data stricter by twice the room is worse still.
    let bound = plan.law().support_bound().unwrap() + plan.guarantee().step();
    let cost = |by: f64| {
        let [a, b, needed, floor, gain] = TRUTH;
        let theta = [a - by, b - by, needed + by, floor + by, gain];
        let program = map.at(&theta).unwrap();
        let settings = conveil::solve::Settings::default();
        let x = conveil::solve::solve_checked(&program, &settings)
            .unwrap()
            .x;
        map.at(&TRUTH).unwrap().objective(&x)
    };
    let loss = truncated.sampled_loss.unwrap();
    let most = cost(2.0 * bound) - cost(0.0);
    assert!(loss > 0.0 && loss < most, "{loss} {most}");
}

/// Under Gaussian noise the row has bounded noise of the same ε and δ; pure ε has none.
#[test]
fn a_comparison_shows_truncated_perturbation_at_equal_epsilon_and_delta() {
    let map = allocation();
    let status = |privacy: Privacy| {
        let plan = Plan::new(&map, asked(privacy).strategy(Strategy::Output)).unwrap();
        let found = curator::compare(&plan, &TRUTH, 50, 1, &Batch::new()).unwrap();
        let mut rows = found.rows.into_iter();
        rows.find(|r| r.strategy == "truncated").unwrap()
    };
    let own = status(bounded());
    let gaussian = status(Privacy::gaussian(1.0, 1e-3));
    assert_eq!(
        (own.status.as_str(), own.sampled_loss),
        ("ok", gaussian.sampled_loss)
    );
    let pure = status(Privacy::laplace(1.0)).status;
    assert!(pure.contains("this noise has no bound"), "{pure}");
}

#[test]
fn what_cannot_be_tightened_is_refused() {
    let refused = |map: &AffineMap, ask: Ask, word: &str| {
        let error = Plan::new(map, ask).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    let map = allocation();
    refused(&map, asked(Privacy::laplace(1.0)), "has no bound");
    refused(&map, asked(Privacy::gaussian(1.0, 1e-3)), "has no bound");
    let universe = Universe::around(TRUTH.to_vec(), vec![1.0; 5]).unwrap();
    let wide = asked(bounded()).adjacency(Adjacency::Universe).sensitivity(
        conveil::ask::Request::Sampled(conveil::ask::Sampled {
            universe,
            gamma: 0.1,
            beta: 0.1,
            seed: 1,
            size: conveil::ask::SampleSize::Exact,
            on: conveil::ask::MapKind::Released,
        }),
    );
    refused(&map, wide, "universe");
    /// min x₀ under rows that a case adds, 0 ≤ x₀ ≤ 9, x₁ free.
    fn case(rows: impl Fn(&mut Builder, conveil::program::VariableHandle)) -> AffineMap {
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        m.minimize(x.at(0));
        m.between("range", 0.0, x.at(0), 9.0);
        rows(&mut m, x);
        m.build_map().unwrap()
    }
    let equality = case(|m, x| {
        let need = m.parameter_within("need", 1.0, 5.0);
        m.equal("balance", x.sum(), need);
    });
    refused(&equality, asked(bounded()), "no linear inequality");
    let unbounded = case(|m, x| {
        let limit = m.parameter("limit");
        m.at_most("limit", x.at(0), limit);
    });
    refused(&unbounded, asked(bounded()), "`limit` has no public bounds");
    let both = case(|m, x| {
        let limit = m.parameter_within("limit", 1.0, 5.0);
        m.at_most("above", x.at(0), limit);
        m.at_most("below", limit, x.at(1));
    });
    refused(&both, asked(bounded()), "stricter in one place");
    let signless = case(|m, x| {
        let weight = m.parameter_within("weight", 1.0, 5.0);
        m.at_most("weighed", weight * x.at(1), 4.0);
    });
    refused(&signless, asked(bounded()), "coefficient of `x[1]`");
    let empty = case(|m, x| {
        let limit = m.parameter_within("limit", -1.0, 5.0);
        m.at_most("limit", x.at(0), limit);
    });
    refused(
        &empty,
        asked(bounded()),
        "strict ends of their public bounds",
    );
}
