//! Data outside their public bounds count as clipped; the curator's report measures against the data themselves.

use conveil::ask::{
    Adjacency, Ask, MapKind, Privacy, Query, Request, SampleSize, Sampled, Universe,
};
use conveil::audit::Audit;
use conveil::certify::Pairs;
use conveil::chance::Feasibility;
use conveil::curator::{Axis, compare, frontier};
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder};
use conveil::solve::Batch;

/// Two units meet a demand between 2 and 12; together they could meet 18.
fn dispatch() -> AffineMap {
    let mut m = Builder::new();
    let demand = m.parameter_within("demand", 2.0, 12.0);
    let x = m.variable("unit", 2);
    m.minimize(x.at(0) + 3.0 * x.at(1));
    m.equal("balance", x.at(0) + x.at(1), demand);
    m.between("first", 0.0, x.at(0), 10.0);
    m.between("second", 0.0, x.at(1), 8.0);
    m.build_map().unwrap()
}

#[test]
fn a_decision_for_clipped_data_is_measured_against_the_data_themselves() {
    let map = dispatch();
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(0.1))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::envelope(5.0))
        .feasibility(Feasibility::eta(0.05));
    let plan = Plan::new(&map, ask).unwrap();

    let inside = plan.curate(&[11.0]).unwrap();
    let report = inside.report();
    assert!(report.clipped.is_empty());
    assert!(report.correction.as_ref().unwrap().at_the_data);
    assert!(report.infeasible_at_the_data.is_none());
    assert!(report.to_string().contains("for the data as they are"));

    let outside = plan.curate(&[15.0]).unwrap();
    let report = outside.report();
    assert_eq!(report.clipped.len(), 1);
    assert_eq!(
        (report.clipped[0].datum, report.clipped[0].counted_as),
        (15.0, 12.0)
    );
    let correction = report.correction.as_ref().unwrap();
    assert!(!correction.at_the_data);
    assert!((correction.distance - 3.0).abs() < 1e-9, "{correction:?}");
    assert_eq!(correction.moved[0].0, "demand");
    // The balance is met for 12, never for 15.
    let measured = report.infeasible_at_the_data.unwrap();
    assert_eq!(measured.probability(), 1.0);
    // Ten from the first unit, five from the second.
    assert!((report.optimum_at_the_data.unwrap() - 25.0).abs() < 1e-6);
    let text = report.to_string();
    assert!(text.contains("15.000000 counts as 12.000000"), "{text}");
    assert!(text.contains("infeasible at the data 100.0000%"), "{text}");
}

#[test]
fn clipping_without_an_envelope_is_measured_too() {
    let mut m = Builder::new();
    let room = m.parameter_within("room", 0.0, 5.0);
    let x = m.variable("x", 1);
    m.minimize(-1.0 * x.at(0));
    m.at_most("room", x.at(0), room);
    m.between("range", -60.0, x.at(0), 60.0);
    let map = m.build_map().unwrap();
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(1.0, "the answer is the room less a constant")
        .feasibility(Feasibility::eta(0.05));
    let plan = Plan::new(&map, ask).unwrap();
    assert!(
        (plan.curate(&[3.0]).unwrap().report())
            .infeasible_at_the_data
            .is_none()
    );
    // Room −1 counts as 0, so the decision keeps off 0 by the box: ζ beyond what is left of it breaks the true room.
    let curated = plan.curate(&[-1.0]).unwrap();
    let left = -curated.decided().mean[0] - 1.0;
    let expected = 0.5 * (-left / plan.law().scale()).exp();
    let measured = curated.report().infeasible_at_the_data.unwrap();
    assert!(
        (measured.probability() - expected).abs() < 1e-6,
        "{measured} against {expected}"
    );
    assert!(expected > 0.05);
}

fn enveloped(price: f64) -> Ask {
    Ask::cost()
        .adjacency(Adjacency::one_entry(0.1))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::envelope(price))
        .feasibility(Feasibility::eta(0.05))
}

#[test]
fn a_comparison_judges_by_the_data_as_they_are() {
    let map = dispatch();
    let plan = Plan::new(&map, enveloped(5.0)).unwrap();
    let compared = |theta: f64| compare(&plan, &[theta], 200, 1, &Batch::new()).unwrap();

    let inside = compared(11.0);
    let program = inside.rows.iter().find(|r| r.strategy == "program");
    assert!(program.unwrap().infeasible_percent.unwrap() <= 5.0);
    assert_eq!(inside.correction_distance, None);
    assert!(!inside.to_string().contains("public bounds"), "{inside}");

    // 15 counts as 12, at 16; but 15 cost between 25 and 31. So does the report count it.
    let outside = compared(15.0);
    let report = plan.curate(&[15.0]).unwrap();
    let measured = report.report().infeasible_at_the_data.unwrap();
    for row in outside.rows.iter().filter(|r| r.status == "ok") {
        let exact = row.infeasible_percent.unwrap_or(100.0);
        if row.strategy == "program" {
            assert_eq!(exact, 100.0 * measured.probability());
            assert_eq!(row.sampled_infeasible_percent, Some(100.0));
        }
        // 25 is far above what noise of scale 0.5 adds to 16.
        assert!(exact > 99.99, "{}: {exact}", row.strategy);
    }
    assert!((outside.optimum - 16.0).abs() < 1e-6);
    assert!(
        outside.to_string().contains(
            "note: 1 value outside public bounds: every strategy works on the clipped data"
        ),
        "{outside}"
    );

    // 30 is more than both units can generate: no answer is feasible, and nothing fails.
    let beyond = compared(30.0);
    for row in beyond.rows.iter().filter(|r| r.status == "ok") {
        let drawn = row.sampled_infeasible_percent;
        assert_eq!(drawn, Some(100.0), "{}", row.strategy);
        assert!(row.infeasible_percent.is_none_or(|p| p == 100.0));
    }
}

#[test]
fn values_beyond_every_program_are_reported_without_a_measurement() {
    let map = dispatch();
    let plan = Plan::new(&map, enveloped(5.0)).unwrap();
    let curated = plan.curate(&[1e308]).unwrap();
    let report = curated.report();
    assert_eq!(
        (report.clipped.len(), report.infeasible_at_the_data),
        (1, None)
    );
    let text = report.to_string();
    assert!(text.contains("1 value outside its public bounds"), "{text}");
    let said = "infeasible at the data not measured: the values as they are make no valid program";
    assert!(text.contains(said), "{text}");
    let compared = compare(&plan, &[1e308], 50, 1, &Batch::new()).unwrap();
    let said = "says nothing about the data as they are";
    assert!(compared.to_string().contains(said), "{compared}");
    let said = "in short: for the clipped data, plain noise";
    assert!(compared.to_string().contains(said), "{compared}");
}

#[test]
fn a_price_below_what_the_data_cost_is_told_in_a_comparison() {
    // Beyond 10 a unit of demand costs 3; a price of 2 pays for the difference instead.
    let map = dispatch();
    let plan = Plan::new(&map, enveloped(2.0)).unwrap();
    let compared = compare(&plan, &[12.0], 100, 1, &Batch::new()).unwrap();
    let program = compared.rows.iter().find(|r| r.strategy == "program");
    assert!(program.unwrap().loss.unwrap() < 0.0, "{compared}");
    assert!(compared.correction_distance.unwrap() > 0.5, "{compared}");
    let text = compared.to_string();
    assert!(
        text.contains("note: the envelope made its decision for data"),
        "{text}"
    );
    assert!(
        text.contains("too low: the envelope's price is below what the data cost"),
        "{text}"
    );
    assert!(!text.contains("costs -"), "{text}");
}

#[test]
fn a_frontier_over_alpha_takes_an_envelope() {
    let map = dispatch();
    let (ask, batch) = (enveloped(5.0), Batch::new());
    let found = frontier(&map, &ask, &[8.0], Axis::Alpha, &[0.05, 0.1], &batch).unwrap();
    let scales: Vec<f64> = found.rows.iter().map(|r| r.scale.unwrap()).collect();
    // Δ = πα, and what the solver's tolerance adds.
    assert!((scales[0] - 0.25).abs() < 0.001, "{scales:?}");
    assert!((scales[1] - 0.5).abs() < 0.002, "{scales:?}");
}

/// A demand without bounds: up to 50 a unit costs 1, beyond it 100.
fn with_a_dear_unit() -> AffineMap {
    let mut m = Builder::new();
    let demand = m.parameter("demand");
    let x = m.variable("unit", 2);
    m.minimize(x.at(0) + 100.0 * x.at(1));
    m.equal("balance", x.at(0) + x.at(1), demand);
    m.between("cheap", -50.0, x.at(0), 50.0);
    m.between("dear", 0.0, x.at(1), 1000.0);
    m.build_map().unwrap()
}

/// The sensitivity of this universe's pairs.
fn sampled(universe: Universe) -> Request {
    Request::Sampled(Sampled {
        universe,
        gamma: 0.1,
        beta: 0.1,
        seed: 5,
        size: SampleSize::Exact,
        on: MapKind::Released,
    })
}

fn around_ten() -> Ask {
    Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(sampled(Universe::around(vec![10.0], vec![1.0]).unwrap()))
        .feasibility(Feasibility::eta(0.05))
}

#[test]
fn data_outside_the_universe_are_released_as_its_nearest_member() {
    let map = with_a_dear_unit();
    let plan = Plan::new(&map, around_ten()).unwrap();
    let answer = |demand: f64| plan.released().at(&[demand]).unwrap().answer[0];
    // At 500 a unit of demand costs 100, the noise covers 1: without clipping ε is 100.
    assert_eq!(answer(500.0), answer(11.0));
    assert_eq!(answer(501.0), answer(11.0));
    assert_eq!(answer(-1e300), answer(9.0));
    assert!((answer(10.5) - answer(10.0) - 0.5).abs() < 1e-6);
    // Every road is the same map: an audit of far away pairs finds nothing, and neither does a replayed release.
    let far = Universe::around(vec![500.0], vec![100.0]).unwrap();
    let audit = Audit::new().pairs(20).universe(far).solves(50);
    let found = audit.run(&plan, &Batch::new()).unwrap();
    assert_eq!(found.audited_epsilon, 0.0, "{found}");

    let curated = plan.curate(&[500.0]).unwrap();
    let report = curated.report();
    assert_eq!(
        (report.clipped[0].datum, report.clipped[0].counted_as),
        (500.0, 11.0)
    );
    assert_eq!(report.infeasible_at_the_data.unwrap().probability(), 1.0);
    let text = report.to_string();
    let said = "clipped                1 value outside the universe or public bounds:";
    assert!(text.contains(said), "{text}");
    assert!(plan.curate(&[10.9]).unwrap().report().clipped.is_empty());

    let (ask, batch) = (around_ten(), Batch::new());
    let found = frontier(&map, &ask, &[500.0], Axis::Eta, &[0.05], &batch).unwrap();
    assert!((found.rows[0].loss.unwrap() - report.loss).abs() < 1e-6);
    let compared = compare(&plan, &[500.0], 100, 1, &batch).unwrap();
    assert!((compared.optimum - 11.0).abs() < 1e-6, "{compared}");
    let note = "note: 1 value outside the universe or public bounds: every strategy works on";
    assert!(compared.to_string().contains(note), "{compared}");
}

#[test]
fn the_privacy_sentence_names_random_differential_privacy_and_the_universe() {
    let map = with_a_dear_unit();
    let plan = Plan::new(&map, around_ten()).unwrap();
    let guarantee = plan.guarantee();
    let text = guarantee.privacy_text();
    let said = "random differential privacy with ε = 1 between datasets in which one entry differs by at most 1; it holds given that an answer was produced, over the universe of the interval 10 ± 1; for a share 0.9 of such pairs, with confidence 0.9; data outside it count as its nearest member";
    assert_eq!(text.lines().next(), Some(said));
    assert_eq!(guarantee.universe().unwrap().centre(), [10.0]);
    let basis = guarantee.basis();
    assert_eq!((basis.gamma(), basis.beta()), (Some(0.1), Some(0.1)));
    assert_eq!(basis.notion(), "random differential privacy");

    // In paper mode the centre is the private dataset: it is on no card.
    let Request::Sampled(mut request) = sampled(Universe::around(vec![10.0], vec![1.0]).unwrap())
    else {
        unreachable!()
    };
    request.on = MapKind::Deterministic;
    let ask = around_ten().sensitivity(Request::Sampled(request));
    let paper = Plan::paper_mode(&map, ask, &[37.125]).unwrap();
    assert!(paper.guarantee().universe().is_none());
    let text = paper.guarantee().to_string();
    assert!(!text.contains("37.125"), "{text}");
    assert!(text.contains("around the private data"), "{text}");
}

#[test]
fn a_declared_bound_between_members_of_a_universe_is_about_stated_data() {
    let map = with_a_dear_unit();
    let universe = Universe::around(vec![10.0], vec![1.0]).unwrap();
    let ask = Ask::cost()
        .adjacency(Adjacency::Universe)
        .privacy(Privacy::laplace(1.0))
        .declared(2.0, "a unit of demand costs 1 there")
        .within(universe)
        .feasibility(Feasibility::eta(0.05));
    let plan = Plan::new(&map, ask).unwrap();
    let answer = |demand: f64| plan.released().at(&[demand]).unwrap().answer[0];
    assert_eq!(answer(500.0), answer(11.0));
    let text = plan.guarantee().privacy_text();
    assert!(text.starts_with("differential privacy"), "{text}");
    assert!(text.contains("the interval 10 ± 1"), "{text}");
}

/// Points (two numbers each) that a centre is fitted to: min ½‖w‖² − (mean of the points)'w.
fn points(count: usize) -> AffineMap {
    let mut m = Builder::new();
    let w = m.variable("w", 2);
    for j in 0..2 {
        m.quadratic(j, j, 1.0);
        m.between(&format!("w{j}"), -1000.0, w.at(j), 1000.0);
    }
    for i in 0..count {
        for j in 0..2 {
            let coordinate = m.parameter(&format!("point {i}, {j}"));
            m.minimize(-1.0 / count as f64 * (coordinate * w.at(j)));
        }
    }
    m.build_map().unwrap()
}

#[test]
fn records_outside_their_disc_are_projected_and_what_breaks_neighbours_is_refused() {
    let map = points(3);
    let discs = Universe::discs(vec![0.0; 6], vec![5.0; 3], 2).unwrap();
    let ask = |adjacency| {
        Ask::new(Query::Variables(vec!["w".into()]))
            .adjacency(adjacency)
            .privacy(Privacy::gaussian(1.0, 1e-5))
            .sensitivity(sampled(discs.clone()))
    };
    for adjacency in [
        Adjacency::OneRecord { len: 2 },
        Adjacency::OneRecord { len: 6 },
        Adjacency::L2 { alpha: 0.5 },
        Adjacency::Universe,
    ] {
        let plan = Plan::new(&map, ask(adjacency)).unwrap();
        // (30, 40) lies ten radii out, in the direction (0.6, 0.8).
        let outside = plan
            .released()
            .at(&[30.0, 40.0, 1.0, 0.0, 0.0, 1.0])
            .unwrap();
        let inside = plan.released().at(&[3.0, 4.0, 1.0, 0.0, 0.0, 1.0]).unwrap();
        for (a, b) in outside.answer.iter().zip(&inside.answer) {
            assert!((a - b).abs() < 1e-6, "{adjacency:?}");
        }
        let clipped = plan.clipped(&[30.0, 40.0, 1.0, 0.0, 0.0, 1.0]).unwrap();
        assert_eq!(clipped.len(), 2);
    }
    for adjacency in [
        Adjacency::one_entry(0.5),
        Adjacency::L1 { alpha: 0.5 },
        Adjacency::OneRecord { len: 3 },
        Adjacency::OneRecord { len: 1 },
    ] {
        let refused = Plan::new(&map, ask(adjacency)).unwrap_err().to_string();
        assert!(
            refused.contains("instead: a box (kind = \"box\")"),
            "{refused}"
        );
    }
}

/// The sentence about the pairs, for every adjacency, and what the pairs themselves do.
#[test]
fn the_sentence_about_pairs_is_true_for_every_adjacency() {
    let map = points(2);
    let universe = Universe::around(vec![1.0; 4], vec![2.0; 4]).unwrap();
    let cases = [
        (
            Adjacency::one_entry(0.5),
            "the other differs from it in one entry, drawn uniformly, by 0.5 up or down, or by less where the universe ends",
        ),
        (
            Adjacency::L1 { alpha: 0.5 },
            "the other lies 0.5 away from it (ℓ₁) in a random direction, or less where the universe ends",
        ),
        (
            Adjacency::L2 { alpha: 0.5 },
            "the other lies 0.5 away from it (ℓ₂) in a random direction, or less where the universe ends",
        ),
        (
            Adjacency::OneRecord { len: 2 },
            "the other has one of its records, drawn uniformly, replaced by that of an independent draw",
        ),
        (
            Adjacency::Universe,
            "the other drawn independently in the same way",
        ),
    ];
    for (adjacency, sentence) in cases {
        let ask = Ask::new(Query::Variables(vec!["w".into()]))
            .adjacency(adjacency)
            .privacy(Privacy::gaussian(1.0, 1e-5))
            .sensitivity(sampled(universe.clone()));
        let plan = Plan::new(&map, ask).unwrap();
        let text = plan.guarantee().basis().statement().to_string();
        assert!(
            text.contains(&format!("is drawn uniformly; {sentence};")),
            "{text}"
        );
        let pairs = Pairs::new(universe.clone(), adjacency, 9);
        let mut product = 0.0;
        for index in 0..4000 {
            let (a, b) = pairs.pair(index);
            let change: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
            let moved: Vec<usize> = (0..4).filter(|i| change[*i] != 0.0).collect();
            let at_the_end = b.iter().any(|v| (v - 1.0).abs() > 2.0 - 1e-9);
            let (l1, l2) = (
                change.iter().map(|c| c.abs()).sum::<f64>(),
                change.iter().map(|c| c * c).sum::<f64>().sqrt(),
            );
            let is_whole = |size: f64| (size - 0.5).abs() < 1e-9 || (size < 0.5 && at_the_end);
            match adjacency {
                Adjacency::OneEntry { .. } => assert!(moved.len() <= 1 && is_whole(l1)),
                Adjacency::L1 { .. } => assert!(is_whole(l1), "{l1}"),
                Adjacency::L2 { .. } => assert!(is_whole(l2), "{l2}"),
                Adjacency::OneRecord { .. } => {
                    assert!(moved == [0, 1] || moved == [2, 3], "{moved:?}");
                    product += (a[moved[0]] - 1.0) * (b[moved[0]] - 1.0);
                }
                Adjacency::Universe => {
                    assert_eq!(moved.len(), 4);
                    product += (a[0] - 1.0) * (b[0] - 1.0);
                }
            }
        }
        // Independent draws: the product of two has mean 0 and deviation 4/3; 0.15 is seven standard errors.
        assert!((product / 4000.0).abs() < 0.15, "{adjacency:?} {product}");
    }
}
