//! Data outside their public bounds count as clipped; the curator's report measures against the data themselves.

use conveil::ask::{Adjacency, Ask, Privacy, Request};
use conveil::chance::Feasibility;
use conveil::plan::{Axis, Plan, compare, frontier};
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
        .sensitivity(Request::Envelope { price: 5.0 })
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
        .sensitivity(Request::Envelope { price })
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
