//! Networks made of parts rather than read: the checks that no reader lets through to them.

use conveil_grid::{Branch, Bus, Cost, Element, Field, Network, NetworkError, Unit};

fn bus(number: u32, is_reference: bool) -> Bus {
    Bus {
        number,
        demand_mw: 10.0,
        shunt_mw: 0.0,
        is_reference,
    }
}

fn unit(row: usize, bus: usize) -> Unit {
    Unit {
        row,
        bus,
        pmin_mw: 0.0,
        pmax_mw: 50.0,
        cost: Cost::Linear { c1: 1.0, c0: 0.0 },
    }
}

fn branch(row: usize, from: usize, to: usize) -> Branch {
    Branch {
        row,
        from,
        to,
        r: 0.0,
        x: 0.1,
        tap: 1.0,
        shift: 0.0,
        rate_mw: Some(10.0),
        angle_min: None,
        angle_max: None,
    }
}

fn made(buses: Vec<Bus>, units: Vec<Unit>, branches: Vec<Branch>) -> Result<Network, NetworkError> {
    Network::new("by hand", 100.0, buses, units, branches)
}

fn two() -> Vec<Bus> {
    vec![bus(1, true), bus(2, false)]
}

#[test]
fn sound_parts_make_a_network() {
    let network = made(two(), vec![unit(1, 0), unit(5, 1)], vec![branch(1, 0, 1)]).unwrap();
    assert_eq!(network.unit_name(1), "generator 5");
    assert_eq!(network.islands().len(), 1);
}

#[test]
fn unsound_parts_are_refused_with_their_place() {
    let refused = |made: Result<Network, NetworkError>| {
        let error = made.unwrap_err();
        (error.element, error.field, error.to_string())
    };
    let says = |element, field, message: &str| (element, field, message.to_string());
    assert_eq!(
        refused(made(vec![], vec![], vec![])),
        says(Element::Network, Field::Number, "the network has no bus")
    );
    assert_eq!(
        refused(made(vec![bus(7, true), bus(7, false)], vec![], vec![])),
        says(
            Element::Bus(1),
            Field::Number,
            "bus 7 is there twice, as the buses 1 and 2"
        )
    );
    assert_eq!(
        refused(made(two(), vec![unit(1, 2)], vec![])),
        says(
            Element::Unit(0),
            Field::Bus,
            "generator 1 is at no bus of the network"
        )
    );
    assert_eq!(
        refused(made(two(), vec![unit(2, 0), unit(2, 1)], vec![])),
        says(
            Element::Unit(1),
            Field::Row,
            "generator 2 comes after generator 2"
        )
    );
    assert_eq!(
        refused(made(two(), vec![], vec![branch(0, 0, 1)])),
        says(
            Element::Branch(0),
            Field::Row,
            "rows count from 1, but there is a branch 0"
        )
    );
    assert_eq!(
        refused(made(two(), vec![], vec![branch(1, 0, 2)])),
        says(
            Element::Branch(0),
            Field::To,
            "branch 1 ends at no bus of the network"
        )
    );
    let unlimited = Branch {
        rate_mw: Some(f64::INFINITY),
        ..branch(1, 0, 1)
    };
    assert_eq!(
        refused(made(two(), vec![], vec![unlimited])),
        says(
            Element::Branch(0),
            Field::Rate,
            "the limit of branch 1 (line 1-2) is not finite (inf)"
        )
    );
}

#[test]
fn every_island_may_have_a_reference_of_its_own() {
    let network = made(vec![bus(1, true), bus(2, true)], vec![], vec![]).unwrap();
    let references: Vec<_> = network.islands().iter().map(|i| i.reference).collect();
    assert_eq!(references, [Some(0), Some(1)]);
}

#[test]
fn slopes_may_fall_by_rounding_and_no_more() {
    let with_middle = |cost: f64| {
        let points = vec![(0.0, 0.0), (10.0, cost), (20.0, 200.0)];
        let unit = Unit {
            cost: Cost::Piecewise { points },
            ..unit(1, 0)
        };
        made(two(), vec![unit], vec![])
    };
    assert!(with_middle(100.0 + 1e-10).is_ok());
    assert!(with_middle(100.0 + 1e-6).is_err());
}
