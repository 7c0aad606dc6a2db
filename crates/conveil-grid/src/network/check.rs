//! What makes a network sound, and what to say when it is not.

use std::collections::HashMap;

use super::{
    Branch, Bus, Cost, Element, Field, Island, NetworkError, Susceptance, Unit, shown, slope,
};

/// How far slopes may fall, relative to their size, and still count as rounding.
const SLOPE_ROUNDING: f64 = 1e-9;

fn error(element: Element, field: Field, message: String) -> NetworkError {
    NetworkError {
        element,
        field,
        message,
        help: None,
    }
}

impl NetworkError {
    fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Refuses infinities and NaN.
fn finite(
    value: f64,
    element: Element,
    field: Field,
    what: impl FnOnce() -> String,
) -> Result<(), NetworkError> {
    if value.is_finite() {
        Ok(())
    } else {
        Err(error(
            element,
            field,
            format!("{} is not finite ({value})", what()),
        ))
    }
}

pub(super) fn base(base_mva: f64) -> Result<(), NetworkError> {
    if base_mva > 0.0 && base_mva.is_finite() {
        return Ok(());
    }
    let message = format!("the base power must be positive, found {}", shown(base_mva));
    Err(error(Element::Network, Field::Base, message).with_help("100 MVA is usual"))
}

pub(super) fn buses(buses: &[Bus]) -> Result<(), NetworkError> {
    if buses.is_empty() {
        let message = String::from("the network has no bus");
        return Err(error(Element::Network, Field::Number, message));
    }
    let mut seen = HashMap::with_capacity(buses.len());
    for (index, bus) in buses.iter().enumerate() {
        let (element, number) = (Element::Bus(index), bus.number);
        if let Some(first) = seen.insert(number, index) {
            let message = format!(
                "bus {number} is there twice, as the buses {} and {}",
                first + 1,
                index + 1
            );
            return Err(error(element, Field::Number, message));
        }
        finite(bus.demand_mw, element, Field::Demand, || {
            format!("the demand of bus {number}")
        })?;
        finite(bus.shunt_mw, element, Field::Shunt, || {
            format!("the shunt conductance of bus {number}")
        })?;
    }
    Ok(())
}

/// Refuses a row that does not come after the one before: names are made of rows.
fn row_after(
    earlier: &mut usize,
    row: usize,
    element: Element,
    what: &str,
) -> Result<(), NetworkError> {
    if row > *earlier {
        *earlier = row;
        return Ok(());
    }
    let message = match *earlier {
        0 => format!("rows count from 1, but there is a {what} 0"),
        earlier => format!("{what} {row} comes after {what} {earlier}"),
    };
    Err(error(element, Field::Row, message).with_help("rows must increase"))
}

pub(super) fn units(units: &[Unit], buses: usize) -> Result<(), NetworkError> {
    let mut earlier = 0;
    for (index, unit) in units.iter().enumerate() {
        let (element, row) = (Element::Unit(index), unit.row);
        row_after(&mut earlier, row, element, "generator")?;
        if unit.bus >= buses {
            let message = format!("generator {row} is at no bus of the network");
            return Err(error(element, Field::Bus, message));
        }
        let limits = [
            (unit.pmin_mw, Field::Pmin, "least"),
            (unit.pmax_mw, Field::Pmax, "greatest"),
        ];
        for (limit, field, which) in limits {
            finite(limit, element, field, || {
                format!("the {which} output of generator {row}")
            })
            .map_err(|error| error.with_help("a limit beyond every dispatch will do"))?;
        }
        if unit.pmin_mw > unit.pmax_mw {
            let message = format!(
                "generator {row} has a least output of {} MW above its greatest of {} MW",
                shown(unit.pmin_mw),
                shown(unit.pmax_mw)
            );
            return Err(error(element, Field::Pmin, message));
        }
        cost(&unit.cost, row).map_err(|(message, help)| {
            let error = error(element, Field::Cost, message);
            match help {
                Some(help) => error.with_help(help),
                None => error,
            }
        })?;
    }
    Ok(())
}

/// The message, and what would be right.
type Complaint = (String, Option<String>);

fn cost(cost: &Cost, row: usize) -> Result<(), Complaint> {
    let numbers: Vec<f64> = match cost {
        Cost::Linear { c1, c0 } => vec![*c1, *c0],
        Cost::Quadratic { c2, c1, c0 } => vec![*c2, *c1, *c0],
        Cost::Piecewise { points } => points.iter().flat_map(|&(p, c)| [p, c]).collect(),
    };
    if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
        let message = format!("the cost of generator {row} is not finite ({number})");
        return Err((message, None));
    }
    match cost {
        Cost::Linear { .. } => Ok(()),
        Cost::Quadratic { c2, .. } if *c2 > 0.0 => Ok(()),
        Cost::Quadratic { c2, .. } => {
            let message = format!(
                "the cost of generator {row} is not convex: its p² term is {}",
                shown(*c2)
            );
            Err((message, Some("the p² term must not be negative".into())))
        }
        Cost::Piecewise { points } => piecewise(points, row),
    }
}

fn piecewise(points: &[(f64, f64)], row: usize) -> Result<(), Complaint> {
    if points.len() < 2 {
        let message = format!(
            "the piecewise-linear cost of generator {row} has {} of the at least 2 points it needs",
            points.len()
        );
        return Err((message, None));
    }
    for (index, pair) in points.windows(2).enumerate() {
        if pair[1].0 <= pair[0].0 {
            let message = format!(
                "the cost points of generator {row} must increase in MW: point {} is at {}, point {} at {}",
                index + 1,
                shown(pair[0].0),
                index + 2,
                shown(pair[1].0)
            );
            return Err((message, None));
        }
        if !slope(pair[0], pair[1]).is_finite() {
            let message = format!(
                "the cost of generator {row} has no finite slope between points {} and {}",
                index + 1,
                index + 2
            );
            return Err((message, None));
        }
    }
    for (index, three) in points.windows(3).enumerate() {
        let (before, after) = (slope(three[0], three[1]), slope(three[1], three[2]));
        if after < before - SLOPE_ROUNDING * (1.0 + before.abs()) {
            let message = format!(
                "the cost of generator {row} is not convex: at point {} ({} MW) its slope falls from {} to {}",
                index + 2,
                shown(three[1].0),
                shown(before),
                shown(after)
            );
            let help = "slopes must not fall, or the dispatch is no convex problem";
            return Err((message, Some(help.into())));
        }
    }
    Ok(())
}

pub(super) fn branches(branches: &[Branch], buses: &[Bus]) -> Result<(), NetworkError> {
    let mut earlier = 0;
    for (index, branch) in branches.iter().enumerate() {
        let element = Element::Branch(index);
        row_after(&mut earlier, branch.row, element, "branch")?;
        for (end, field) in [(branch.from, Field::From), (branch.to, Field::To)] {
            if end >= buses.len() {
                let message = format!("branch {} ends at no bus of the network", branch.row);
                return Err(error(element, field, message));
            }
        }
        let name = || {
            let (from, to) = (buses[branch.from].number, buses[branch.to].number);
            format!("branch {} (line {from}-{to})", branch.row)
        };
        let numbers = [
            (branch.r, Field::Resistance, "resistance"),
            (branch.x, Field::Reactance, "reactance"),
            (branch.tap, Field::Tap, "turns ratio"),
            (branch.shift, Field::Shift, "phase shift"),
            (branch.rate_mw.unwrap_or(0.0), Field::Rate, "limit"),
            (
                branch.angle_min.unwrap_or(0.0),
                Field::AngleMin,
                "least angle",
            ),
            (
                branch.angle_max.unwrap_or(0.0),
                Field::AngleMax,
                "greatest angle",
            ),
        ];
        for (number, field, what) in numbers {
            finite(number, element, field, || {
                format!("the {what} of {}", name())
            })?;
        }
        if branch.from == branch.to {
            let message = format!("{} leads from a bus to itself", name());
            return Err(error(element, Field::To, message));
        }
        if branch.x == 0.0 {
            let message = format!("{} has no reactance", name());
            let help = "the DC power flow divides by it; merge the two buses, or give a small reactance such as 0.0001";
            return Err(error(element, Field::Reactance, message).with_help(help));
        }
        if branch.tap <= 0.0 {
            let message = format!("{} has a turns ratio of {}", name(), shown(branch.tap));
            return Err(error(element, Field::Tap, message).with_help("it must be positive"));
        }
        for convention in [Susceptance::Standard, Susceptance::Full] {
            let susceptance = branch.susceptance(convention);
            if !susceptance.is_finite() || susceptance == 0.0 {
                let message = format!(
                    "{} has a reactance of {}, too extreme for a susceptance",
                    name(),
                    shown(branch.x)
                );
                return Err(error(element, Field::Reactance, message));
            }
        }
        if let Some(rate) = branch.rate_mw
            && rate <= 0.0
        {
            let message = format!("{} has a limit of {} MW", name(), shown(rate));
            return Err(error(element, Field::Rate, message).with_help("a limit must be positive"));
        }
        if let (Some(least), Some(greatest)) = (branch.angle_min, branch.angle_max)
            && least > greatest
        {
            let message = format!("{} has a least angle above its greatest", name());
            return Err(error(element, Field::AngleMin, message));
        }
    }
    Ok(())
}

pub(super) fn references(buses: &[Bus], islands: &[Island]) -> Result<(), NetworkError> {
    if islands.iter().all(|island| island.reference.is_none()) {
        let message = String::from("the network has no reference bus");
        return Err(
            error(Element::Network, Field::Reference, message).with_help(
                "angles count from a reference bus: mark one, usually that of a large unit",
            ),
        );
    }
    for island in islands {
        let mut references = island.buses.iter().filter(|&&k| buses[k].is_reference);
        if let (Some(&first), Some(&second)) = (references.next(), references.next()) {
            let message = format!(
                "the buses {} and {} are connected, and both are reference buses",
                buses[first].number, buses[second].number
            );
            return Err(error(Element::Bus(second), Field::Reference, message)
                .with_help("two fixed angles would force a flow; keep one of them"));
        }
    }
    Ok(())
}
