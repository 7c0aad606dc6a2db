//! From the matrices of a case file to a network.

use std::collections::{HashMap, HashSet};

use super::file::File;
use super::matrix::Matrix;
use crate::network::{Branch, Bus, Cost, Element, Field, Omitted, Unit, shown};
use crate::{Network, NetworkError, ReadError};

/// Columns of `bus`.
mod bus {
    pub(super) const NUMBER: usize = 0;
    pub(super) const TYPE: usize = 1;
    pub(super) const PD: usize = 2;
    pub(super) const GS: usize = 4;
    pub(super) const COLUMNS: usize = 13;
}

/// Columns of `gen`.
mod generator {
    pub(super) const BUS: usize = 0;
    pub(super) const STATUS: usize = 7;
    pub(super) const PMAX: usize = 8;
    pub(super) const PMIN: usize = 9;
    pub(super) const COLUMNS: usize = 10;
}

/// Columns of `branch`.
mod branch {
    pub(super) const FROM: usize = 0;
    pub(super) const TO: usize = 1;
    pub(super) const R: usize = 2;
    pub(super) const X: usize = 3;
    pub(super) const RATE_A: usize = 5;
    pub(super) const RATIO: usize = 8;
    pub(super) const ANGLE: usize = 9;
    pub(super) const STATUS: usize = 10;
    pub(super) const ANGMIN: usize = 11;
    pub(super) const ANGMAX: usize = 12;
    pub(super) const COLUMNS: usize = 13;
}

/// Columns of `gencost`.
mod cost {
    pub(super) const MODEL: usize = 0;
    pub(super) const COUNT: usize = 3;
    pub(super) const FIRST: usize = 4;
}

/// The status of a DC line.
const DC_LINE_STATUS: usize = 2;

/// Limits from here on mean none.
const UNLIMITED_MVA: f64 = 1e10;

/// Angles from here on mean no limit.
const UNLIMITED_DEGREES: f64 = 360.0;

/// Types of buses.
const REFERENCE: f64 = 3.0;
const ISOLATED: f64 = 4.0;

/// Where bus numbers of the case lead: to a bus of the network, or nowhere for an isolated one.
type BusIndex = HashMap<u32, Option<usize>>;

pub(super) fn network(file: &File) -> Result<Network, ReadError> {
    at_least(&file.bus, bus::COLUMNS)?;
    at_least(&file.generators, generator::COLUMNS)?;
    at_least(&file.branch, branch::COLUMNS)?;
    refuse_dc_lines(file)?;
    let mut omitted = Omitted::default();
    let (buses, index) = buses(file, &mut omitted)?;
    let units = units(file, &index, &mut omitted)?;
    let branches = branches(file, &index, &mut omitted)?;
    let name = file
        .name
        .strip_prefix("pglib_opf_case")
        .unwrap_or(file.name);
    // Rows by index, to find the place of what is refused.
    let bus_rows: Vec<usize> = rows_in_network(file, &index);
    let unit_rows: Vec<usize> = units.iter().map(|unit| unit.row - 1).collect();
    let branch_rows: Vec<usize> = branches.iter().map(|branch| branch.row - 1).collect();
    match Network::new(name, file.base_mva, buses, units, branches) {
        Ok(network) => Ok(network.with_omitted(omitted)),
        Err(error) => {
            let rows = [bus_rows, unit_rows, branch_rows];
            let placed = place(file, &error, &rows);
            Err(match error.help {
                Some(help) => placed.with_help(help),
                None => placed,
            })
        }
    }
}

/// The complaint at the entry that it is about.
fn place(file: &File, error: &NetworkError, rows: &[Vec<usize>; 3]) -> ReadError {
    let column = match error.field {
        Field::Base | Field::Row | Field::Number | Field::Bus | Field::From => 0,
        Field::To => branch::TO,
        Field::Reference => bus::TYPE,
        Field::Demand => bus::PD,
        Field::Shunt => bus::GS,
        Field::Pmin => generator::PMIN,
        Field::Pmax => generator::PMAX,
        Field::Cost => cost::FIRST,
        Field::Resistance => branch::R,
        Field::Reactance => branch::X,
        Field::Rate => branch::RATE_A,
        Field::Tap => branch::RATIO,
        Field::Shift => branch::ANGLE,
        Field::AngleMin => branch::ANGMIN,
        Field::AngleMax => branch::ANGMAX,
    };
    let message = error.message.as_str();
    let row = |which: usize, index: usize| rows[which].get(index).copied().unwrap_or(0);
    match error.element {
        Element::Network if error.field == Field::Base => file.text.error(file.base_at, message),
        Element::Network => file.text.error(file.bus.start, message),
        Element::Bus(index) => file.bus.error(row(0, index), column, message),
        Element::Unit(index) if error.field == Field::Cost => {
            file.costs.error(row(1, index), column, message)
        }
        Element::Unit(index) => file.generators.error(row(1, index), column, message),
        Element::Branch(index) => file.branch.error(row(2, index), column, message),
    }
}

/// Refuses a matrix without the columns of version 2, or without rows where a network needs some.
fn at_least(matrix: &Matrix, columns: usize) -> Result<(), ReadError> {
    let field = matrix.field;
    if matrix.rows() == 0 {
        // A single bus needs no branch.
        return match field {
            "branch" => Ok(()),
            _ => Err(matrix.error(0, 0, format!("`{field}` is empty"))),
        };
    }
    if matrix.columns < columns {
        let message = format!(
            "`{field}` has {} columns, version 2 has {columns} or more",
            matrix.columns
        );
        return Err(matrix.error(0, 0, message));
    }
    Ok(())
}

fn refuse_dc_lines(file: &File) -> Result<(), ReadError> {
    let Some(lines) = &file.dc_lines else {
        return Ok(());
    };
    for row in 0..lines.rows() {
        let status = lines.row(row).get(DC_LINE_STATUS);
        if status.is_none_or(|&status| status > 0.0) {
            let message = format!("DC line {} is in service", row + 1);
            return Err(lines
                .error(row, DC_LINE_STATUS, message)
                .with_help("networks have no DC lines; set its status to 0 to go without it"));
        }
    }
    Ok(())
}

/// A bus number: whole, positive, at most 2³² − 1.
fn bus_number(matrix: &Matrix, row: usize, column: usize) -> Result<u32, ReadError> {
    let value = matrix.row(row)[column];
    if value >= 1.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0 {
        return Ok(value as u32);
    }
    let message = format!(
        "a bus number must be a whole number from 1 on, found {}",
        shown(value)
    );
    Err(matrix.error(row, column, message))
}

fn buses(file: &File, omitted: &mut Omitted) -> Result<(Vec<Bus>, BusIndex), ReadError> {
    let matrix = &file.bus;
    let attached = attached(file);
    let mut buses = Vec::with_capacity(matrix.rows());
    let mut index = BusIndex::with_capacity(matrix.rows());
    for row in 0..matrix.rows() {
        let number = bus_number(matrix, row, bus::NUMBER)?;
        let values = matrix.row(row);
        let kind = values[bus::TYPE];
        if ![1.0, 2.0, 3.0, 4.0].contains(&kind) {
            return Err(matrix
                .error(
                    row,
                    bus::TYPE,
                    format!("the type of bus {number} is {kind}"),
                )
                .with_help("types are 1 (PQ), 2 (PV), 3 (reference) and 4 (isolated)"));
        }
        let is_dead = kind != REFERENCE && !attached.contains(&number);
        let isolated = kind == ISOLATED || is_dead;
        let place = (!isolated).then_some(buses.len());
        if index.insert(number, place).is_some() {
            let first = (0..row).find(|&earlier| matrix.row(earlier)[bus::NUMBER] == values[0]);
            let message = format!(
                "bus {number} is there twice, in the rows {} and {}",
                first.unwrap_or(0) + 1,
                row + 1
            );
            return Err(matrix.error(row, bus::NUMBER, message));
        }
        if isolated {
            refuse_stranded(matrix, row, number)?;
            omitted.buses.push(number);
            continue;
        }
        buses.push(Bus {
            number,
            demand_mw: values[bus::PD],
            shunt_mw: values[bus::GS],
            is_reference: kind == REFERENCE,
        });
    }
    Ok((buses, index))
}

/// The numbers of buses with a unit in service, or with a branch in service to a bus that is not isolated.
fn attached(file: &File) -> HashSet<u32> {
    let entry = |matrix: &Matrix, row: usize, column: usize| matrix.row(row)[column];
    let isolated: HashSet<u32> = (0..file.bus.rows())
        .filter(|&row| entry(&file.bus, row, bus::TYPE) == ISOLATED)
        .map(|row| entry(&file.bus, row, bus::NUMBER) as u32)
        .collect();
    let mut attached = HashSet::new();
    let units = &file.generators;
    for row in (0..units.rows()).filter(|&row| entry(units, row, generator::STATUS) > 0.0) {
        attached.insert(entry(units, row, generator::BUS) as u32);
    }
    let lines = &file.branch;
    for row in (0..lines.rows()).filter(|&row| entry(lines, row, branch::STATUS) > 0.0) {
        let ends = [branch::FROM, branch::TO].map(|end| entry(lines, row, end) as u32);
        if ends.iter().all(|end| !isolated.contains(end)) {
            attached.extend(ends);
        }
    }
    attached
}

/// Refuses to leave out a bus that draws power: nothing would serve it, and nobody would know.
fn refuse_stranded(matrix: &Matrix, row: usize, number: u32) -> Result<(), ReadError> {
    for (column, what) in [(bus::PD, "demand"), (bus::GS, "shunt")] {
        let mw = matrix.row(row)[column];
        if mw == 0.0 {
            continue;
        }
        let why = match matrix.row(row)[bus::TYPE] == ISOLATED {
            true => "is isolated (type 4)",
            false => "has no branch and no unit in service",
        };
        let message = format!(
            "bus {number} {why}, but has a {what} of {} MW that nothing can serve",
            shown(mw)
        );
        return Err(matrix.error(row, column, message).with_help(format!(
            "connect the bus, or set its {what} to 0 to leave it out"
        )));
    }
    Ok(())
}

/// The rows of the buses that are not isolated.
fn rows_in_network(file: &File, index: &BusIndex) -> Vec<usize> {
    let in_network = |&row: &usize| {
        let number = file.bus.row(row)[bus::NUMBER] as u32;
        index.get(&number).is_some_and(Option::is_some)
    };
    (0..file.bus.rows()).filter(in_network).collect()
}

/// The bus that a unit or branch is connected to; `None` when it is isolated.
fn connected(
    matrix: &Matrix,
    row: usize,
    column: usize,
    index: &BusIndex,
) -> Result<Option<usize>, ReadError> {
    let number = bus_number(matrix, row, column)?;
    match index.get(&number) {
        Some(&bus) => Ok(bus),
        None => {
            let message = format!(
                "row {} of `{}` is at bus {number}, which is not in `bus`",
                row + 1,
                matrix.field
            );
            Err(matrix.error(row, column, message))
        }
    }
}

fn units(file: &File, index: &BusIndex, omitted: &mut Omitted) -> Result<Vec<Unit>, ReadError> {
    let matrix = &file.generators;
    let (units, costs) = (matrix.rows(), file.costs.rows());
    if costs != units && costs != 2 * units {
        let message = format!(
            "`gencost` has {costs} rows for {units} rows of `gen`; it needs {units}, or {} with reactive power",
            2 * units
        );
        return Err(file.costs.error(0, 0, message));
    }
    let mut in_service = Vec::with_capacity(units);
    for row in 0..units {
        let values = matrix.row(row);
        let bus = connected(matrix, row, generator::BUS, index)?;
        let (true, Some(bus)) = (values[generator::STATUS] > 0.0, bus) else {
            omitted.units.push(row + 1);
            continue;
        };
        in_service.push(Unit {
            row: row + 1,
            bus,
            pmin_mw: values[generator::PMIN],
            pmax_mw: values[generator::PMAX],
            cost: cost(&file.costs, row)?,
        });
    }
    Ok(in_service)
}

/// The cost of active power in a row of `gencost`.
fn cost(matrix: &Matrix, row: usize) -> Result<Cost, ReadError> {
    let values = matrix.row(row);
    if values.len() <= cost::FIRST {
        let message = format!("`gencost` has {} columns, it needs 5 or more", values.len());
        return Err(matrix.error(row, 0, message));
    }
    let (model, count) = (values[cost::MODEL], values[cost::COUNT]);
    let per_item = match model {
        1.0 => 2,
        2.0 => 1,
        _ => {
            return Err(matrix
                .error(
                    row,
                    cost::MODEL,
                    format!("the cost model of generator {} is {model}", row + 1),
                )
                .with_help("models are 1 (piecewise linear) and 2 (polynomial)"));
        }
    };
    let room = (values.len() - cost::FIRST) / per_item;
    if !(count >= 1.0 && count <= room as f64 && count.fract() == 0.0) {
        let what = if per_item == 2 {
            "points"
        } else {
            "coefficients"
        };
        let message = format!(
            "the cost of generator {} has a count of {count} {what}, the row has room for {room}",
            row + 1
        );
        return Err(matrix.error(row, cost::COUNT, message));
    }
    let items = &values[cost::FIRST..cost::FIRST + count as usize * per_item];
    if per_item == 2 {
        let points = items.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        return Ok(Cost::Piecewise {
            points: points.collect(),
        });
    }
    // From the highest power down to the constant.
    let power = |power: usize| match items.len().checked_sub(power + 1) {
        Some(place) => items[place],
        None => 0.0,
    };
    if let Some(leading) = items.iter().position(|&c| c != 0.0)
        && items.len() - leading > 3
    {
        let degree = items.len() - leading - 1;
        let message = format!(
            "the cost of generator {} is a polynomial of degree {degree}",
            row + 1
        );
        return Err(matrix
            .error(row, cost::FIRST + leading, message)
            .with_help("costs up to p² are read; a convex piecewise-linear cost can stand in"));
    }
    let (c2, c1, c0) = (power(2), power(1), power(0));
    Ok(if c2 == 0.0 {
        Cost::Linear { c1, c0 }
    } else {
        Cost::Quadratic { c2, c1, c0 }
    })
}

fn branches(
    file: &File,
    index: &BusIndex,
    omitted: &mut Omitted,
) -> Result<Vec<Branch>, ReadError> {
    let matrix = &file.branch;
    let mut in_service = Vec::with_capacity(matrix.rows());
    for row in 0..matrix.rows() {
        let values = matrix.row(row);
        let from = connected(matrix, row, branch::FROM, index)?;
        let to = connected(matrix, row, branch::TO, index)?;
        let (true, Some(from), Some(to)) = (values[branch::STATUS] > 0.0, from, to) else {
            omitted.branches.push(row + 1);
            continue;
        };
        let rate = values[branch::RATE_A];
        let (angle_min, angle_max) = angle_limits(values[branch::ANGMIN], values[branch::ANGMAX]);
        let ratio = values[branch::RATIO];
        in_service.push(Branch {
            row: row + 1,
            from,
            to,
            r: values[branch::R],
            x: values[branch::X],
            tap: if ratio == 0.0 { 1.0 } else { ratio },
            shift: values[branch::ANGLE].to_radians(),
            rate_mw: (rate != 0.0 && rate < UNLIMITED_MVA).then_some(rate),
            angle_min,
            angle_max,
        });
    }
    Ok(in_service)
}

/// Limits in degrees as MATPOWER takes them, in radians.
fn angle_limits(least: f64, greatest: f64) -> (Option<f64>, Option<f64>) {
    let limits = |angle: f64| angle != 0.0 && angle.abs() < UNLIMITED_DEGREES;
    if !limits(least) && !limits(greatest) {
        return (None, None);
    }
    (
        (least > -UNLIMITED_DEGREES).then(|| least.to_radians()),
        (greatest < UNLIMITED_DEGREES).then(|| greatest.to_radians()),
    )
}
