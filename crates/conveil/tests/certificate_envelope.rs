//! The envelope: no pair of neighbours moves the released value by more than the price times alpha, and how near the
//! worst pair comes to it is printed.

mod certifying;
mod common;

use certifying::{cost_ask, grid, holds, largest_movement};
use common::between;
use conveil::ask::{Adjacency, Ask, Privacy, Query, Request};
use conveil::audit::Audit;
use conveil::chance::{Feasibility, Split};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{Affine, AffineMap, Builder};
use conveil::solve::Batch;

#[test]
fn envelope_values_move_by_at_most_the_price() {
    let map = grid();
    for price in [15.0, 30.0, 100.0] {
        for split in [Split::Symmetric, Split::Optimise] {
            let ask = cost_ask(price).feasibility(Feasibility::eta(0.05).split(split));
            let plan = Plan::new(&map, ask).unwrap();
            let tight = holds(
                &format!("envelope, price {price}, {split:?}"),
                &plan,
                &map,
                12,
                1,
            );
            assert!(tight > 0.2, "an envelope at its price moves by it");
        }
    }
    for (adjacency, privacy) in [
        (
            Adjacency::L1 { alpha: 2.0 },
            Privacy::truncated_laplace(1.0, 0.01),
        ),
        (Adjacency::L2 { alpha: 2.0 }, Privacy::gaussian(1.0, 0.01)),
        (Adjacency::OneRecord { len: 1 }, Privacy::laplace(200.0)),
    ] {
        let ask = cost_ask(30.0).adjacency(adjacency).privacy(privacy);
        let plan = Plan::new(&map, ask).unwrap();
        let tight = holds(&format!("envelope, {adjacency}"), &plan, &map, 12, 2);
        assert!(tight > 0.2);
    }
}

#[test]
fn an_enveloped_value_exists_for_every_dataset() {
    let map = grid();
    let plan = Plan::new(&map, cost_ask(30.0)).unwrap();
    assert!(!plan.guarantee().privacy_text().contains("given that"));
    // The line and the generator at the second bus bring 65 at most.
    let plain = cost_ask(30.0).declared(30.0, "a test");
    let plain = Plan::new(&map, plain).unwrap();
    assert!(plain.released().at(&[60.0, 70.0]).is_err());
    let decided = plan.released().at(&[60.0, 70.0]).unwrap();
    let correction = decided.correction.unwrap();
    assert!(
        !correction.at_the_data && correction.distance > 1.0,
        "{correction:?}"
    );
    let report = plan.curate(&[60.0, 70.0]).unwrap();
    let text = report.report().to_string();
    assert!(text.contains("the price caps what they cost"), "{text}");
    assert!(text.contains("infeasible at the data"), "{text}");
    // Data far outside their bounds are clipped: the same answer, not an error.
    let clipped = plan.released().at(&[1e6, 1e6]).unwrap();
    assert_eq!(clipped.answer, decided.answer);
}

#[test]
fn a_price_that_ties_leaves_the_decision_at_the_data() {
    // Between generator 0 and 2 the marginal price is 25: an envelope at 25 may deviate for nothing.
    let map = grid();
    for theta in [[20.0, 30.0], [10.0, 35.0], [30.0, 33.0]] {
        let plan = Plan::new(&map, cost_ask(25.0)).unwrap();
        let decided = plan.released().at(&theta).unwrap();
        let correction = decided.correction.clone().unwrap();
        assert!(correction.at_the_data, "{theta:?}: {correction:?}");
        assert_eq!(correction.distance, 0.0);
        // Its mean carries the released value to within the proven gaps.
        let own = plan.released().query().apply(&decided.mean)[0];
        let gap = (own - decided.answer[0]).abs();
        assert!(gap <= 4.0 * decided.proven_error.unwrap() + 1e-9, "{gap}");
    }
}

#[test]
fn a_cheap_price_under_reports_and_a_dear_one_costs_nothing() {
    let map = grid();
    let theta = [20.0, 30.0];
    let value = |price: f64| {
        let plan = Plan::new(&map, cost_ask(price)).unwrap();
        // The same noise for both: compare the deterministic part.
        let program = plan.released().map().at(&theta).unwrap();
        conveil::solve::solve_checked(&program, &Default::default())
            .unwrap()
            .objective
    };
    // 25 units over the line at 10, 20 locally at 10, 5 at 25.
    let plain = 45.0 * 10.0 + 5.0 * 25.0;
    assert!((value(100.0) - plain).abs() < 1e-5);
    assert!(value(8.0) < plain - 50.0);
}

#[test]
fn a_grid_of_splits_is_the_best_of_its_enveloped_splits() {
    let map = grid();
    let theta = [20.0, 30.0];
    let symmetric = Plan::new(&map, cost_ask(40.0)).unwrap();
    let wish = Feasibility::eta(0.05).split(Split::Optimise);
    let optimised = Plan::new(&map, cost_ask(40.0).feasibility(wish)).unwrap();
    let value = |plan: &Plan<'_>| plan.released().at(&theta).unwrap().objective;
    assert!(value(&optimised) < value(&symmetric) - 1.0);
    // Anywhere else the same wish is refused.
    let wish = Feasibility::eta(0.05).split(Split::Optimise);
    let declared = cost_ask(40.0).declared(40.0, "a test").feasibility(wish);
    let refusal = Plan::new(&map, declared).unwrap_err().to_string();
    assert!(refusal.contains("split = optimise"), "{refusal}");
}

#[test]
fn envelopes_cover_cones_epigraphs_and_tails() {
    // A cone: minimise a'x with x in a ball whose centre and radius the data move.
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let (c, r) = (
        m.parameter_within("centre", -3.0, 3.0),
        m.parameter_within("radius", 1.0, 4.0),
    );
    m.minimize(x.dot(&[2.0, 1.0]));
    m.norm_at_most("ball", vec![x.at(0) - c, x.at(1)], r);
    m.between("box", -20.0, x.at(0), 20.0);
    m.between("strip", -20.0, x.at(1), 20.0);
    let cone = m.build_map().unwrap();
    let ask = cost_ask(1.5).adjacency(Adjacency::one_entry(0.05));
    let plan = Plan::new(&cone, ask).unwrap();
    assert!(holds("envelope of a cone", &plan, &cone, 8, 6) > 0.5);
    // A quadratic cost through its epigraph, released as at most.
    let mut m = Builder::new();
    let g = m.variable("g", 2);
    let t = m.epigraph("t");
    let d = m.parameter_within("load", 1.0, 9.0);
    m.minimize(t.at(0));
    m.equal("balance", g.sum(), d);
    // t ≥ g₀ + 2g₁ + ½‖g‖²/4 as ‖(g₀, g₁, s − 2)‖ ≤ s + 2 with s = t − g₀ − 2g₁.
    let s = || t.at(0) - g.at(0) - 2.0 * g.at(1);
    m.norm_at_most("cost", vec![g.at(0), g.at(1), s() - 2.0], s() + 2.0);
    for j in 0..2 {
        m.between(&format!("generator {j}"), -2.0, g.at(j), 12.0);
    }
    m.between("cost range", -100.0, t.at(0), 100.0);
    let curve = m.build_map().unwrap();
    let query = Query::AtMost {
        epigraph: "t".into(),
        slope: vec![("g[0]".into(), 1.0), ("g[1]".into(), 2.0)],
    };
    let ask = Ask::new(query)
        .adjacency(Adjacency::one_entry(0.1))
        .privacy(Privacy::laplace(2.0))
        .sensitivity(Request::envelope(2.5))
        .feasible(0.9);
    let plan = Plan::new(&curve, ask).unwrap();
    assert!(holds("envelope of an epigraph", &plan, &curve, 8, 7) > 0.3);
    // The tail of the cost: the released number plus a constant.
    let map = grid();
    let tail = conveil::risk::Risk::cvar(conveil::risk::Cvar {
        tail: 0.1,
        form: conveil::risk::CvarForm::Exact,
    });
    let plan = Plan::new(&map, cost_ask(30.0).risk(tail)).unwrap();
    assert!(holds("envelope of a tail", &plan, &map, 8, 8) > 0.9);
}

/// A random transport problem: sources with costs and limits, sinks with private needs, lines with limits.
fn transport(index: u64) -> AffineMap {
    let mut sampler = Sampler::new(77, index);
    let mut draw = |low: f64, high: f64| between(&mut sampler, low, high);
    let (sources, sinks) = (3 + index as usize % 3, 2 + index as usize % 4);
    let mut m = Builder::new();
    let x = m.variable("x", sources * sinks);
    let mut cost = Affine::default();
    for i in 0..sources {
        let sent = (0..sinks).fold(Affine::default(), |sum, j| sum + x.at(i * sinks + j));
        m.at_most(&format!("source {i}"), sent, draw(20.0, 40.0));
        for j in 0..sinks {
            cost += draw(1.0, 9.0) * x.at(i * sinks + j);
            m.between(
                &format!("line {i}-{j}"),
                0.0,
                x.at(i * sinks + j),
                draw(4.0, 15.0),
            );
        }
    }
    m.minimize(cost);
    for j in 0..sinks {
        let need = draw(3.0, 9.0);
        let d = m.parameter_within(&format!("need {j}"), 0.0, 3.0 * need);
        let sent = (0..sources).fold(Affine::default(), |sum, i| sum + x.at(i * sinks + j));
        m.equal(&format!("sink {j}"), sent, d);
    }
    m.build_map().unwrap()
}

#[test]
fn random_envelopes_hold_and_are_proven() {
    let mut tightest = 0.0f64;
    for index in 0..12 {
        let map = transport(index);
        let price = [3.0, 8.0, 20.0][index as usize % 3];
        let ask = cost_ask(price).adjacency(Adjacency::one_entry(0.2));
        let plan = Plan::new(&map, ask).unwrap();
        let tight = holds(
            &format!("transport {index}, price {price}"),
            &plan,
            &map,
            8,
            index,
        );
        tightest = tightest.max(tight);
    }
    assert!(tightest > 0.9);
}

#[test]
fn half_a_bound_is_contradicted() {
    // The same search finds pairs above half of Δ wherever the tightness says so: it can fail.
    let map = grid();
    let plan = Plan::new(&map, cost_ask(30.0)).unwrap();
    let half = 0.5 * plan.guarantee().sensitivity();
    assert!(largest_movement(&plan, &map, 12, 1) > half);
    let declared = cost_ask(30.0).declared(half, "half of what the plain program moves");
    let plan = Plan::new(&map, declared).unwrap();
    // Without the envelope prices up to 40 move the cost: the audit of the declared half flags it.
    let audit = Audit::new()
        .pairs(20)
        .climbs(2)
        .solves(300)
        .run(&plan, &Batch::new());
    assert!(audit.unwrap().is_flagged());
}
