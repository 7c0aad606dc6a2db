//! Public bounds on demands by bus, from CSV: text in, an interval for each private load or one diagnostic out.
//!
//! The header is `bus,low,high`, and every private load has one line, in MW; loads can be negative:
//!
//! ```text
//! bus,low,high
//! 1,80,140
//! 2,-20,120
//! ```

use crate::csv::{Table, is_header};
use crate::{Network, ReadError};
use conveil_text::Source;
use conveil_text::spelling::counted;

const HEADER: &str = "the first line is `bus,low,high`, and every private load has a line, in MW";

/// Reads low and high of the buses with these indices, in their order; `source_name` is what messages call the text.
pub fn read(
    source_name: &str,
    text: &str,
    network: &Network,
    private: &[usize],
) -> Result<Vec<(f64, f64)>, ReadError> {
    let complaint = |at: usize, message: String| Source::new(source_name, text).error(at, message);
    let Some((mut table, header, lines)) = Table::open(source_name, text, network, HEADER)? else {
        return Err(complaint(0, "there are no bounds".into()).with_help(HEADER));
    };
    if !is_header(&header, &["bus", "low", "high"]) {
        let message = "expected the header `bus,low,high`";
        return Err(complaint(header[0].0, message.into()).with_help(HEADER));
    }
    let mut place = vec![None; network.buses().len()];
    for (k, &bus) in private.iter().enumerate() {
        place[bus] = Some(k);
    }
    let mut found = vec![None; private.len()];
    for fields in lines {
        table.width(&fields, 3)?;
        let bus = table.bus(fields[0])?;
        let number = network.buses()[bus].number;
        let Some(k) = place[bus] else {
            let message = format!("the load of bus {number} is not private, and needs no bounds");
            return Err(table.source.error(fields[0].0, message));
        };
        let low = table.number(fields[1], "lower bound", bus)?;
        let high = table.number(fields[2], "upper bound", bus)?;
        if low >= high {
            let message =
                format!("the lower bound of bus {number}, {low}, is not below its upper, {high}");
            return Err(table.source.error(fields[1].0, message));
        }
        // The public demand stands for the private one where no data may be used.
        let nominal = network.buses()[bus].demand_mw;
        if !(low..=high).contains(&nominal) {
            let message = format!(
                "the bounds of bus {number}, [{low}, {high}], leave out the demand that the network gives it, {nominal} MW"
            );
            return Err(table.source.error(fields[1].0, message).with_help(
                "the bounds must hold every admissible demand, the network's own among them",
            ));
        }
        found[k] = Some((low, high));
    }
    let missing = private.iter().zip(&found).filter(|pair| pair.1.is_none());
    if let Some((&first, _)) = missing.clone().next() {
        let loads = counted(missing.count(), "private load has", "private loads have");
        let message = format!(
            "{loads} no bounds, first that of bus {}",
            network.buses()[first].number
        );
        return Err(complaint(text.trim_end().len(), message).with_help(HEADER));
    }
    Ok(found.into_iter().flatten().collect())
}
