//! Demands by bus, from CSV: text in, datasets or one diagnostic out.
//!
//! Two forms. A table of buses has the header `bus,demand` and one line for each bus:
//!
//! ```text
//! bus,demand
//! 1,108
//! 2,97
//! ```
//!
//! A series has the bus numbers for a header, and every further line is a dataset, an hour say:
//!
//! ```text
//! 1,2
//! 108,97
//! 104.5,92
//! ```
//!
//! Demands are in MW. A bus that is not listed keeps the demand of the network. Empty lines may
//! stand at the end only; fields may be quoted, and the header may be in capitals.

use crate::csv::{Fields, Table, is_header, trailing};
use crate::{Network, ReadError};
use conveil_text::Source;

/// Demands for a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    listed: Vec<usize>,
    datasets: Vec<Vec<f64>>,
}

impl Demand {
    /// The indices of the buses that the table lists, in its order.
    pub fn listed(&self) -> &[usize] {
        &self.listed
    }

    /// At least one dataset: the demand of every bus of the network, in MW.
    pub fn datasets_mw(&self) -> &[Vec<f64>] {
        &self.datasets
    }
}

const HEADER: &str = "the first line is `bus,demand` or the bus numbers of a series";

/// Reads demands for the buses of a network; `source_name` is what messages call the text.
pub fn read(source_name: &str, text: &str, network: &Network) -> Result<Demand, ReadError> {
    let Some((table, header, lines)) = Table::open(source_name, text, network, HEADER)? else {
        let help = "write `bus,demand` and a line for each bus, or a line of bus numbers and a line for each dataset";
        return Err(Source::new(source_name, text)
            .error(0, "there are no demands")
            .with_help(help));
    };
    let demand = match is_header(&header, &["bus", "demand"]) {
        true => by_bus(table, lines)?,
        false => series(table, &header, lines)?,
    };
    if demand.datasets.is_empty() {
        let end = text.trim_end().len();
        let source = Source::new(source_name, text);
        return Err(source.error(end, "there is a header, but no demand below it"));
    }
    Ok(demand)
}

fn by_bus<'t>(
    mut table: Table<'t>,
    lines: impl Iterator<Item = Fields<'t>>,
) -> Result<Demand, ReadError> {
    let mut demands = table.network.demands_mw();
    let mut listed = Vec::new();
    for fields in lines {
        table.width(&fields, 2)?;
        let index = table.bus(fields[0])?;
        demands[index] = table.number(fields[1], "demand", index)?;
        listed.push(index);
    }
    let datasets = if listed.is_empty() {
        vec![]
    } else {
        vec![demands]
    };
    Ok(Demand { listed, datasets })
}

fn series<'t>(
    mut table: Table<'t>,
    header: &Fields<'t>,
    lines: impl Iterator<Item = Fields<'t>>,
) -> Result<Demand, ReadError> {
    if let Some(last) = trailing(header) {
        return Err(table.trailing_comma(last));
    }
    let buses = header.iter().map(|&field| table.bus(field));
    let listed: Vec<usize> = buses.collect::<Result<_, _>>()?;
    let mut datasets = Vec::new();
    for fields in lines {
        table.width(&fields, listed.len())?;
        let mut demands = table.network.demands_mw();
        for (&field, &index) in fields.iter().zip(&listed) {
            demands[index] = table.number(field, "demand", index)?;
        }
        datasets.push(demands);
    }
    Ok(Demand { listed, datasets })
}
