//! Public bounds by bus: what is read, and exactly what is said about a mistake.

use conveil_grid::{Network, bounds, matpower};

/// Demands 50, 80.5, −12 and 30 MW at the buses 1, 2, 3 and 40.
fn network() -> Network {
    let case = include_str!("../../../fuzz/seeds/matpower/five-buses.m");
    matpower::read("five.m", case).unwrap()
}

/// The loads of the buses 2, 1 and 3, in this order.
const PRIVATE: [usize; 3] = [1, 0, 2];

#[test]
fn bounds_follow_the_order_of_the_private_loads() {
    let text = "Bus,Low,High\n1,40,60.5\n\"3\",-20,0\n2,0,100\n";
    let read = bounds::read("b.csv", text, &network(), &PRIVATE).unwrap();
    assert_eq!(read, [(0.0, 100.0), (40.0, 60.5), (-20.0, 0.0)]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_bounds() {
    let rest = "\n1,40,60\n3,-20,0\n";
    let with = |line: &str| format!("bus,low,high\n{line}{rest}");
    let cases = [
        (String::new(),
            "b.csv:1:1: there are no bounds\n  help: the first line is `bus,low,high`, and every private load has a line, in MW"),
        ("bus,high,low\n1,2,3\n".into(),
            "b.csv:1:1: expected the header `bus,low,high`\n  help: the first line is `bus,low,high`, and every private load has a line, in MW"),
        ("bus;low;high\n1;2;3\n".into(),
            "b.csv:1:1: fields are separated by `;`, and must be by commas\n  help: a comma between fields, a point before decimals: 1,97.5"),
        (with("2,100,0"),
            "b.csv:2:3: the lower bound of bus 2, 100, is not below its upper, 0"),
        (with("2,80.5,80.5"),
            "b.csv:2:3: the lower bound of bus 2, 80.5, is not below its upper, 80.5"),
        (with("2,0"),
            "b.csv:2:1: this line has 2 fields, the header has 3"),
        (with("2,0,"),
            "b.csv:2:5: the upper bound of bus 2 must be a number, found nothing"),
        (with("2,-inf,100"),
            "b.csv:2:3: the lower bound of bus 2 must be finite, found `-inf`"),
        (with("2,0,80"),
            "b.csv:2:3: the bounds of bus 2, [0, 80], leave out the demand that the network gives it, 80.5 MW\n  help: the bounds must hold every admissible demand, the network's own among them"),
        (with("1,0,100"),
            "b.csv:3:1: bus 1 is there twice"),
        (with("9,0,100"),
            "b.csv:2:1: the network five_buses has no bus 9"),
        (with("50,0,100"),
            "b.csv:2:1: bus 50 of the network five_buses is isolated"),
        (with("40,0,100"),
            "b.csv:2:1: the load of bus 40 is not private, and needs no bounds"),
        ("bus,low,high\n1,40,60\n".into(),
            "b.csv:2:8: 2 private loads have no bounds, first that of bus 2\n  help: the first line is `bus,low,high`, and every private load has a line, in MW"),
        ("bus,low,high\n1,40,60\n3,-20,0\n".into(),
            "b.csv:3:8: 1 private load has no bounds, first that of bus 2\n  help: the first line is `bus,low,high`, and every private load has a line, in MW"),
    ];
    for (text, expected) in cases {
        match bounds::read("b.csv", &text, &network(), &PRIVATE) {
            Ok(_) => panic!("{text} was accepted"),
            Err(error) => assert_eq!(error.to_string(), expected, "{text}"),
        }
    }
}
