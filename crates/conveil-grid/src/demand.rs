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
//! One column of a series may label its rows, if the reader is told its name; labels are public:
//!
//! ```text
//! hour,1,2
//! 08:00,108,97
//! 09:00,104.5,92
//! ```
//!
//! Demands are in MW. A bus that is not listed keeps the demand of the network. Empty lines may
//! stand at the end only; fields may be quoted, and the header may be in capitals.

use crate::csv::{Field, Fields, Table, is_header, trailing};
use crate::{Network, ReadError};
use conveil_text::spelling::quoted;
use conveil_text::{Labels, Source};

/// Demands for a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    listed: Vec<usize>,
    datasets: Vec<Vec<f64>>,
    labels: Option<Labels>,
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

    /// The labels of the datasets, where a column was said to have them.
    pub fn labels(&self) -> Option<&Labels> {
        self.labels.as_ref()
    }
}

const HEADER: &str = "the first line is `bus,demand` or the bus numbers of a series";

/// Reads demands for the buses of a network; `source_name` is what messages call the text.
pub fn read(source_name: &str, text: &str, network: &Network) -> Result<Demand, ReadError> {
    read_labelled(source_name, text, network, None)
}

/// The same, with the labels of the rows of a series in the column of this name.
pub fn read_labelled(
    source_name: &str,
    text: &str,
    network: &Network,
    label: Option<&str>,
) -> Result<Demand, ReadError> {
    let Some((table, header, lines)) = Table::open(source_name, text, network, HEADER)? else {
        let help = "write `bus,demand` and a line for each bus, or a line of bus numbers and a line for each dataset";
        return Err(Source::new(source_name, text)
            .error(0, "there are no demands")
            .with_help(help));
    };
    let demand = match (is_header(&header, &["bus", "demand"]), label) {
        (true, None) => by_bus(table, lines)?,
        (true, Some(label)) => {
            let message = format!(
                "`label` says that the column {} names the rows of a series, and this is a table of one dataset",
                quoted(label)
            );
            let help =
                "leave out `label`; or write a line of bus numbers and a line for each dataset";
            return Err(table.source.error(0, message).with_help(help));
        }
        (false, label) => series(table, &header, lines, label)?,
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
    Ok(Demand {
        listed,
        datasets,
        labels: None,
    })
}

fn series<'t>(
    mut table: Table<'t>,
    header: &Fields<'t>,
    lines: impl Iterator<Item = Fields<'t>>,
    label: Option<&str>,
) -> Result<Demand, ReadError> {
    if let Some(last) = trailing(header) {
        return Err(table.trailing_comma(last));
    }
    let labelling = label.map(|label| labelling(&table, header, label));
    let labelling = labelling.transpose()?;
    let is_demand = |(column, _): &(usize, &Field)| Some(*column) != labelling;
    let mut listed = Vec::new();
    for (_, &field) in header.iter().enumerate().filter(is_demand) {
        let bus = table.bus(field);
        listed.push(bus.map_err(|error| match names_rows(header, field, label) {
            true => error.with_help(format!(
                "if the column {0} names the rows, write label = {1:?} in [private]: labels are public, and stand on the cards",
                quoted(field.1),
                field.1
            )),
            false => error,
        })?);
    }
    let mut datasets = Vec::new();
    let mut labels = labelling.map(|_| Labels::default());
    for fields in lines {
        table.width(&fields, header.len())?;
        if let (Some(column), Some(labels)) = (labelling, &mut labels) {
            let (at, text) = fields[column];
            let mislabelled = |(message, help)| table.source.error(at, message).with_help(help);
            labels.add(text).map_err(mislabelled)?;
        }
        let mut demands = table.network.demands_mw();
        let fields = fields.iter().enumerate().filter(is_demand);
        for ((_, &field), &index) in fields.zip(&listed) {
            demands[index] = table.number(field, "demand", index)?;
        }
        datasets.push(demands);
    }
    Ok(Demand {
        listed,
        datasets,
        labels,
    })
}

/// The column that labels the rows; there is one for a bus too.
fn labelling(table: &Table, header: &Fields, label: &str) -> Result<usize, ReadError> {
    let start = header.first().map_or(0, |field| field.0);
    let mut found = (0..).zip(header).filter(|(_, field)| field.1 == label);
    match (found.next(), found.next()) {
        (Some(_), Some((_, twice))) => {
            let message = format!("column {} is there twice", quoted(label));
            Err(table.source.error(twice.0, message))
        }
        (Some(_), None) if header.len() == 1 => {
            let message = "there are labels, but no demands beside them";
            Err(table.source.error(start, message))
        }
        (Some((column, _)), None) => Ok(column),
        (None, _) => {
            let message = format!("there is no column {}", quoted(label));
            let help =
                "`label` in [private] names the column of the labels as the first line has it";
            Err(table.source.error(start, message).with_help(help))
        }
    }
}

/// Whether a field that is no bus number stands among others that are: then it may be meant to name the rows.
fn names_rows(header: &Fields, field: Field, label: Option<&str>) -> bool {
    let is_number = |field: &Field| field.1.parse::<f64>().is_ok();
    label.is_none() && !is_number(&field) && !field.1.is_empty() && header.iter().any(is_number)
}
