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
//! stand at the end only; there is no quoting, as there is nothing to quote.

use std::collections::HashMap;

use conveil_read::Source;
use conveil_read::spelling::{counted, quoted};

use crate::{Network, ReadError};

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

/// Reads demands for the buses of a network; `source_name` is what messages call the text.
pub fn read(source_name: &str, text: &str, network: &Network) -> Result<Demand, ReadError> {
    let source = Source::new(source_name, text);
    // Some editors put a byte order mark first.
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let content = text[start..].trim_end();
    if content.is_empty() {
        return Err(source
            .error(start, "there are no demands")
            .with_help("write `bus,demand` and a line for each bus, or a line of bus numbers and a line for each dataset"));
    }
    let mut lines = content.split('\n').scan(start, |offset, line| {
        let at = *offset;
        *offset += line.len() + 1;
        Some(fields(line, at))
    });
    let header = lines.next().unwrap_or_default();
    let numbers = network.buses().iter().map(|bus| bus.number);
    let table = Table {
        source,
        network,
        index: numbers.zip(0..).collect(),
        taken: vec![false; network.buses().len()],
    };
    let words: Vec<&str> = header.iter().map(|field| field.1).collect();
    let demand = match words.as_slice() {
        ["bus", "demand"] => table.by_bus(lines)?,
        _ => table.series(&header, lines)?,
    };
    if demand.datasets.is_empty() {
        let end = start + content.len();
        let source = Source::new(source_name, text);
        return Err(source.error(end, "there is a header, but no demand below it"));
    }
    Ok(demand)
}

/// The fields of a line, each with its offset and without the blanks around it.
type Fields<'t> = Vec<(usize, &'t str)>;

fn fields(line: &str, start: usize) -> Fields<'_> {
    let cut = line.split(',').scan(start, |offset, field| {
        let leading = field.len() - field.trim_start().len();
        let at = *offset + leading;
        *offset += field.len() + 1;
        Some((at, field.trim()))
    });
    cut.collect()
}

struct Table<'t> {
    source: Source<'t>,
    network: &'t Network,
    /// From bus numbers to buses.
    index: HashMap<u32, usize>,
    /// Which buses the table has listed so far.
    taken: Vec<bool>,
}

impl<'t> Table<'t> {
    fn by_bus(mut self, lines: impl Iterator<Item = Fields<'t>>) -> Result<Demand, ReadError> {
        let mut demands = self.network.demands_mw();
        let mut listed = Vec::new();
        for fields in lines {
            self.width(&fields, 2)?;
            let (bus, demand) = (fields[0], fields[1]);
            let index = self.bus(bus)?;
            demands[index] = self.number(demand, index)?;
            listed.push(index);
        }
        let datasets = if listed.is_empty() {
            vec![]
        } else {
            vec![demands]
        };
        Ok(Demand { listed, datasets })
    }

    fn series(
        mut self,
        header: &Fields<'t>,
        lines: impl Iterator<Item = Fields<'t>>,
    ) -> Result<Demand, ReadError> {
        let buses = header.iter().map(|&field| self.bus(field));
        let listed: Vec<usize> = buses.collect::<Result<_, _>>()?;
        let mut datasets = Vec::new();
        for fields in lines {
            self.width(&fields, listed.len())?;
            let mut demands = self.network.demands_mw();
            for (&field, &index) in fields.iter().zip(&listed) {
                demands[index] = self.number(field, index)?;
            }
            datasets.push(demands);
        }
        Ok(Demand { listed, datasets })
    }

    fn width(&self, fields: &Fields, expected: usize) -> Result<(), ReadError> {
        let start = fields.first().map_or(0, |field| field.0);
        if expected != 1 && fields.len() == 1 && fields[0].1.is_empty() {
            return Err(self.source.error(start, "this line is empty"));
        }
        if fields.len() == expected {
            return Ok(());
        }
        let found = counted(fields.len(), "field", "fields");
        let message = format!("this line has {found}, the header has {expected}");
        Err(self.source.error(start, message))
    }

    /// The index of the bus that a field names, for the first time.
    fn bus(&mut self, (at, field): (usize, &str)) -> Result<usize, ReadError> {
        let Ok(number) = field.parse::<u32>() else {
            let message = format!("expected a bus number, found {}", quoted(field));
            return Err(self
                .source
                .error(at, message)
                .with_help("the first line is `bus,demand` or the bus numbers of a series"));
        };
        let Some(index) = self.index.get(&number).copied() else {
            let name = self.network.name();
            let message = match self.network.omitted().buses.contains(&number) {
                true => format!("bus {number} of the network {name} is isolated"),
                false => format!("the network {name} has no bus {number}"),
            };
            return Err(self.source.error(at, message));
        };
        if std::mem::replace(&mut self.taken[index], true) {
            let message = format!("bus {number} is there twice");
            return Err(self.source.error(at, message));
        }
        Ok(index)
    }

    fn number(&self, (at, field): (usize, &str), bus: usize) -> Result<f64, ReadError> {
        match field.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            parsed => {
                let bus = self.network.buses()[bus].number;
                let found = match field {
                    "" => String::from("nothing"),
                    _ => quoted(field),
                };
                let wrong = if parsed.is_ok() { "finite" } else { "a number" };
                let message = format!("the demand of bus {bus} must be {wrong}, found {found}");
                Err(self.source.error(at, message))
            }
        }
    }
}
