//! The optimal value as the query (M8a, M8b): of quadratic programs and programs over cones, with constants. Neighbours
//! are searched for that move it by more than its certificate says; parts of the value, released in its place, are caught.

mod certifying;
mod common;

use certifying::{blend, grid, holds, neighbours};
use common::between;
use conveil::Error;
use conveil::ask::{
    Adjacency, Ask, MapKind, Privacy, Query, Request, SampleSize, Sampled, Strategy, Universe,
};
use conveil::noise::Sampler;
use conveil::plan::{Choice, Decided, Plan};
use conveil::program::{Affine, AffineMap, Builder, DataMap};
use conveil::solve::{Settings, solve_checked};

fn value_ask(request: Request) -> Ask {
    Ask::new(Query::Value)
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(request)
        .strategy(Strategy::Output)
}

/// A quadratic cost of any rank with linear part and constant; private limits, demands and, in a cone, centre and radius.
fn random_program(sampler: &mut Sampler, has_cone: bool) -> AffineMap {
    let n = 2 + (3.0 * sampler.uniform()) as usize;
    let size = 10f64.powf(between(sampler, -1.0, 2.0));
    let mut m = Builder::new();
    let x = m.variable("x", n);
    let rank = (sampler.uniform() * (n + 1) as f64) as usize;
    for _ in 0..rank.max(1) {
        let row: Vec<f64> = (0..n).map(|_| between(sampler, -1.0, 1.0)).collect();
        m.minimize_half_square(between(sampler, 0.1, 2.0), &[x.dot(&row)]);
    }
    let costs: Vec<f64> = (0..n).map(|_| between(sampler, -2.0, 2.0) * size).collect();
    m.minimize(x.dot(&costs) + between(sampler, -9.0, 9.0));
    for j in 0..n {
        let limit = size * between(sampler, 1.0, 4.0);
        m.between(&format!("limits {j}"), -limit, x.at(j), limit);
    }
    for i in 0..2 {
        let d = m.parameter_within(&format!("d{i}"), -size, size);
        let row: Vec<f64> = (0..n).map(|_| between(sampler, -1.0, 1.0)).collect();
        match i == 0 && sampler.uniform() < 0.4 {
            true => m.equal(&format!("balance {i}"), x.dot(&row), d),
            false => m.at_most(&format!("need {i}"), d, x.dot(&row)),
        };
    }
    if has_cone {
        let centre = m.parameter_within("centre", -size, size);
        let radius = m.parameter_within("radius", 0.1 * size, 2.0 * size);
        let entries = vec![x.at(0) - 1.0 * centre, x.at(1)];
        m.norm_at_most("ball", entries, radius);
    }
    m.build_map().unwrap()
}

#[test]
fn envelope_values_of_quadratic_programs_move_by_at_most_the_price() {
    let mut sampler = Sampler::new(31, 0);
    let (mut pairs, mut tightest, mut plans) = (0, 0.0f64, 0);
    for round in 0..120 {
        let map = random_program(&mut sampler, round % 2 == 1);
        let bounds: Vec<(f64, f64)> = map
            .parameters()
            .iter()
            .map(|p| p.bounds().unwrap())
            .collect();
        let alpha = 0.1 * bounds[0].1 * between(&mut sampler, 0.1, 1.0);
        let adjacency = match round % 3 {
            0 => Adjacency::one_entry(alpha),
            1 => Adjacency::L1 { alpha },
            _ => Adjacency::L2 { alpha },
        };
        let price = bounds[0].1 * 10f64.powf(between(&mut sampler, -1.0, 1.0));
        let ask = value_ask(Request::envelope(price)).adjacency(adjacency);
        let plan = match Plan::new(&map, ask) {
            Ok(plan) => plan,
            // Some are infeasible whatever the data.
            Err(Error::Infeasible(_)) => continue,
            Err(other) => panic!("round {round}: {other}"),
        };
        plans += 1;
        let bound = plan.guarantee().sensitivity();
        assert!(bound <= price * alpha * 1.6, "{bound} {price} {alpha}");
        for _ in 0..2 {
            let theta: Vec<f64> = bounds
                .iter()
                .map(|b| between(&mut sampler, b.0, b.1))
                .collect();
            let here = plan.released().at(&theta).unwrap();
            assert_eq!(here.answer, [here.objective]);
            for other in neighbours(&theta, &bounds, &adjacency, &mut sampler) {
                let there = plan.released().at(&other).unwrap();
                let moved = (here.answer[0] - there.answer[0]).abs();
                assert!(moved <= bound, "round {round}: {moved} > {bound}");
                tightest = tightest.max(moved / bound);
                pairs += 1;
            }
        }
    }
    println!("{plans} programs, {pairs} pairs, tightness {tightest:.4}");
    assert!(plans > 60 && pairs > 1000 && tightest > 0.9);
}

/// The grid with quadratic costs.
fn curved_grid() -> AffineMap {
    let mut m = Builder::new();
    let g = m.variable("g", 3);
    let f = m.variable("flow", 1);
    let d0 = m.parameter_within("load 0", -5.0, 60.0);
    let d1 = m.parameter_within("load 1", 0.0, 70.0);
    m.minimize(g.dot(&[10.0, 40.0, 25.0]) + 100.0);
    for (i, c2) in [0.1, 0.0, 0.3].into_iter().enumerate() {
        m.quadratic(i, i, 2.0 * c2);
    }
    m.equal("balance 0", g.at(0) + g.at(1) - f.at(0), d0);
    m.equal("balance 1", g.at(2) + f.at(0), d1);
    for (i, limit) in [50.0, 80.0, 40.0].into_iter().enumerate() {
        m.between(&format!("generator {i}"), 0.0, g.at(i), limit);
    }
    m.between("line", -25.0, f.at(0), 25.0);
    m.build_map().unwrap()
}

#[test]
fn the_search_finds_no_pair_above_an_enveloped_quadratic_cost() {
    let map = curved_grid();
    for (adjacency, privacy) in [
        (Adjacency::one_entry(1.0), Privacy::laplace(1.0)),
        (
            Adjacency::L1 { alpha: 2.0 },
            Privacy::truncated_laplace(1.0, 0.01),
        ),
        (Adjacency::L2 { alpha: 2.0 }, Privacy::gaussian(1.0, 0.01)),
        (Adjacency::OneRecord { len: 1 }, Privacy::laplace(5.0)),
    ] {
        for price in [20.0, 60.0] {
            let ask = value_ask(Request::envelope(price))
                .adjacency(adjacency)
                .privacy(privacy);
            let plan = Plan::new(&map, ask).unwrap();
            let tight = holds(
                &format!("value, {adjacency}, price {price}"),
                &plan,
                &map,
                8,
                3,
            );
            assert!(tight > 0.6, "{adjacency}, {price}: {tight}");
        }
    }
}

/// M8a: only the whole objective is π-Lipschitz. Of min 50x² − 100x, x = d, the linear part follows d at a slope of 100
/// wherever the whole is flat enough for its price.
#[test]
fn the_linear_part_of_an_enveloped_quadratic_cost_is_caught() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let d = m.parameter_within("d", -2.0, 2.0);
    m.minimize(-100.0 * x.at(0));
    m.quadratic(0, 0, 100.0);
    m.between("limits", -5.0, x.at(0), 5.0);
    m.equal("need", x.at(0), d);
    let map = m.build_map().unwrap();
    let ask = value_ask(Request::envelope(30.0)).adjacency(Adjacency::one_entry(0.01));
    let plan = Plan::new(&map, ask).unwrap();
    let bound = plan.guarantee().sensitivity();
    let largest = |part: &dyn Fn(&Decided) -> f64| {
        (0..200).fold(0.0f64, |largest, i| {
            let at = -1.0 + 0.01 * f64::from(i);
            let answers = [at, at + 0.01].map(|d| part(&plan.released().at(&[d]).unwrap()));
            largest.max((answers[0] - answers[1]).abs())
        })
    };
    let whole = largest(&|decided| decided.answer[0]);
    let linear = largest(&|decided| -100.0 * decided.mean[0]);
    println!("Δ = {bound:.4}: the whole moves by {whole:.4}, its linear part by {linear:.4}");
    assert!(whole <= bound && whole > 0.99 * 0.3, "{whole}");
    assert!(linear > 3.0 * bound, "{linear}");
}

#[test]
fn radius_values_of_quadratic_programs_move_by_at_most_the_bound() {
    let mut sampler = Sampler::new(57, 0);
    let mut tightest = 0.0f64;
    for round in 0..12 {
        let n = 2 + round % 3;
        let mut m = Builder::new();
        let x = m.variable("x", n);
        let mut cost = Affine::default();
        for j in 0..n {
            let own = m.parameter_within(&format!("price {j}"), -4.0, 4.0);
            cost += own * x.at(j);
            m.between(
                &format!("limits {j}"),
                -between(&mut sampler, 1.0, 3.0),
                x.at(j),
                2.0,
            );
        }
        m.minimize(cost + 7.0);
        let row: Vec<f64> = (0..n).map(|_| between(&mut sampler, -1.0, 1.0)).collect();
        m.minimize_half_square(between(&mut sampler, 0.1, 5.0), &[x.dot(&row)]);
        m.norm_at_most("ball", vec![x.at(0), x.at(1)], 2.5);
        let map = m.build_map().unwrap();
        let adjacency = match round % 4 {
            0 => Adjacency::one_entry(0.5),
            1 => Adjacency::L1 { alpha: 0.5 },
            2 => Adjacency::L2 { alpha: 0.5 },
            _ => Adjacency::OneRecord { len: 1 },
        };
        let plan = Plan::new(&map, value_ask(Request::radius()).adjacency(adjacency)).unwrap();
        assert!(!plan.guarantee().privacy_text().contains("given that"));
        let tight = holds(
            &format!("radius, {adjacency}"),
            &plan,
            &map,
            6,
            round as u64,
        );
        tightest = tightest.max(tight);
    }
    assert!(tightest > 0.9, "{tightest}");
}

/// 2x² − 8x + 3 on x ≤ d: at the limit while d < 2, then −5.
#[test]
fn the_released_value_is_the_objective_with_its_constant() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let d = m.parameter_within("d", 0.0, 9.0);
    m.minimize(-8.0 * x.at(0) + 3.0);
    m.quadratic(0, 0, 4.0);
    m.between("limits", 0.0, x.at(0), d);
    let map = m.build_map().unwrap();
    let value = |d: f64| {
        if d < 2.0 {
            2.0 * d * d - 8.0 * d + 3.0
        } else {
            -5.0
        }
    };
    let declared = value_ask(Request::radius()).declared(8.0, "the slope is at most 8");
    let sampled = value_ask(Request::Sampled(Sampled {
        universe: Universe::between_bounds(map.parameters()).unwrap(),
        gamma: 0.1,
        beta: 0.1,
        seed: 4,
        size: SampleSize::Exact,
        on: MapKind::Released,
    }));
    for ask in [declared, sampled, value_ask(Request::envelope(100.0))] {
        let plan = Plan::new(&map, ask).unwrap();
        assert_eq!(plan.labels(), ["value"]);
        for d in [0.5, 1.0, 1.7, 3.0] {
            let found = plan.released().at(&[d]).unwrap().answer[0];
            assert!((found - value(d)).abs() < 1e-5, "{d}: {found}");
        }
    }
}

#[test]
fn the_value_of_a_linear_program_is_its_cost() {
    let map = grid();
    let plan = |query: Query| {
        let ask = Ask::new(query)
            .adjacency(Adjacency::one_entry(1.0))
            .privacy(Privacy::laplace(1.0))
            .sensitivity(Request::envelope(30.0))
            .feasible(0.95);
        Plan::new(&map, ask).unwrap()
    };
    let (cost, value) = (plan(Query::Cost), plan(Query::Value));
    let theta = [20.0, 30.0];
    let at = |plan: &Plan<'_>| plan.released().at(&theta).unwrap().answer;
    assert_eq!(at(&cost), at(&value));
    assert_eq!(
        cost.guarantee().sensitivity(),
        value.guarantee().sensitivity()
    );
    assert!(!value.released().query().is_objective());
    // With private costs the query is not public: the noise is on the answer.
    let priced = blend();
    let plan = Plan::new(&priced, value_ask(Request::radius())).unwrap();
    assert!(plan.released().query().is_objective());
    let theta = [2.0, 3.0, 4.0];
    let optimum = solve_checked(&priced.at(&theta).unwrap(), &Settings::default()).unwrap();
    let found = plan.released().at(&theta).unwrap().answer[0];
    assert!((found - optimum.objective).abs() < 1e-4);
}

#[test]
fn what_a_value_cannot_be_released_by_is_refused() {
    let map = curved_grid();
    let refusal = |ask: Ask| Plan::new(&map, ask).unwrap_err().to_string();
    for strategy in [Strategy::Program, Strategy::Projected, Strategy::LinearTerm] {
        let text = refusal(
            value_ask(Request::envelope(30.0))
                .strategy(strategy)
                .feasible(0.9),
        );
        assert!(text.contains("strategy"), "{text}");
        if strategy != Strategy::LinearTerm {
            assert!(text.contains("the objective is quadratic"), "{text}");
        }
    }
    for request in [
        Request::range(),
        Request::strong_convexity(),
        Request::regularised_erm(),
    ] {
        let text = refusal(value_ask(request));
        assert!(text.contains("it is about sums of the variables"), "{text}");
        assert!(text.contains("`envelope`"), "{text}");
    }
    let text = refusal(value_ask(Request::radius()));
    assert!(text.contains("`load 0` enters at b[0]"), "{text}");
    let text = refusal(value_ask(Request::envelope(30.0)).shaped_by_curvature());
    assert!(text.contains("noise shaped by curvature"), "{text}");
    // The cost of a quadratic program is refused with the word to use.
    let cost = Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::envelope(30.0));
    assert!(refusal(cost).contains("release = \"value\""));
    // The rule of an open strategy knows it.
    let ask = value_ask(Request::envelope(30.0));
    assert_eq!(
        Choice::by_rule(&map, &ask, false).unwrap().strategy,
        Strategy::Output
    );
    assert_eq!(
        Choice::by_rule(&map, &ask, true).unwrap().strategy,
        Strategy::Program
    );
    // Nothing to release.
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let d = m.parameter_within("d", 0.0, 1.0);
    m.between("limits", 0.0, x.at(0), d);
    let empty = m.build_map().unwrap();
    let text = Plan::new(&empty, value_ask(Request::envelope(1.0)))
        .unwrap_err()
        .to_string();
    assert!(text.contains("the objective is zero"), "{text}");
}

/// Maximise 5x₀ + 3x₁ within private capacities: the program minimises the negative, and the released number is the profit.
fn plant() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let hours = m.parameter_within("hours", 0.0, 40.0);
    let stock = m.parameter_within("stock", 0.0, 40.0);
    m.minimize(x.dot(&[-5.0, -3.0]));
    m.at_most("hours", x.dot(&[2.0, 1.0]), hours);
    m.at_most("stock", x.dot(&[1.0, 3.0]), stock);
    for j in 0..2 {
        m.between(&format!("limits {j}"), 0.0, x.at(j), 30.0);
    }
    m.build_map().unwrap()
}

#[test]
fn an_enveloped_profit_moves_by_at_most_the_price() {
    let map = plant();
    let profit = vec![("x[0]".to_string(), 5.0), ("x[1]".to_string(), 3.0)];
    for (strategy, price) in [
        (Strategy::Output, 2.0),
        (Strategy::Output, 9.0),
        (Strategy::Program, 2.0),
    ] {
        let plan = |query: Query| {
            let ask = Ask::new(query)
                .adjacency(Adjacency::one_entry(1.0))
                .privacy(Privacy::laplace(10.0))
                .sensitivity(Request::envelope(price))
                .strategy(strategy)
                .feasible(0.9);
            Plan::new(&map, ask).unwrap()
        };
        let (cost, plan) = (plan(Query::Cost), plan(Query::Weighted(profit.clone())));
        assert_eq!(
            cost.guarantee().sensitivity(),
            plan.guarantee().sensitivity()
        );
        let tight = holds(
            &format!("profit, {strategy:?}, price {price}"),
            &plan,
            &map,
            8,
            5,
        );
        assert!(tight > 0.2, "{tight}");
        for theta in [[30.0, 20.0], [5.0, 40.0], [40.0, 3.0]] {
            // Profit less what the correction costs: the negative of the enveloped cost.
            let (own, other) = (
                plan.released().at(&theta).unwrap(),
                cost.released().at(&theta).unwrap(),
            );
            assert!((own.answer[0] + own.objective).abs() < 1e-6, "{theta:?}");
            assert!((own.answer[0] + other.answer[0]).abs() < 1e-2, "{theta:?}");
            let optimum = solve_checked(&map.at(&theta).unwrap(), &Settings::default()).unwrap();
            if strategy == Strategy::Output {
                // An envelope lies below what is minimised, and above what is maximised.
                assert!(own.answer[0] >= -optimum.objective - 1e-3, "{theta:?}");
            }
        }
        let compared =
            conveil::curator::compare(&plan, &[30.0, 20.0], 50, 1, &conveil::solve::Batch::new());
        let (compared, of_cost) = (
            compared.unwrap(),
            conveil::curator::compare(&cost, &[30.0, 20.0], 50, 1, &conveil::solve::Batch::new())
                .unwrap(),
        );
        let losses =
            |c: &conveil::curator::Comparison| c.rows.iter().map(|r| r.loss).collect::<Vec<_>>();
        for (own, other) in losses(&compared).into_iter().zip(losses(&of_cost)) {
            assert_eq!(own.is_some(), other.is_some());
            assert!(
                (own.unwrap_or(0.0) - other.unwrap_or(0.0)).abs() < 1e-3,
                "{own:?} {other:?}"
            );
        }
    }
}
