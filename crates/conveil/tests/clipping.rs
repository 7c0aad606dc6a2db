//! Data outside their public bounds count as clipped; the curator's report measures against the data themselves.

use conveil::ask::{Adjacency, Ask, Privacy, Request};
use conveil::chance::Feasibility;
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder};

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
