//! Tables of buses in CSV: fields with their places, bus numbers, and what spreadsheets do to them.
//!
//! Fields stand between commas, with or without double quotes around them; a number needs no more.

use std::collections::HashMap;

use conveil_text::Source;
use conveil_text::spelling::{counted, quoted};

use crate::{Network, ReadError};

/// A field: the offset of its content, and the content, without blanks and quotes.
pub(crate) type Field<'t> = (usize, &'t str);

/// The fields of a line, at least one.
pub(crate) type Fields<'t> = Vec<Field<'t>>;

/// A table whose lines name buses of a network.
pub(crate) struct Table<'t> {
    pub(crate) source: Source<'t>,
    pub(crate) network: &'t Network,
    /// From bus numbers to buses.
    index: HashMap<u32, usize>,
    /// Which buses the table has listed so far.
    taken: Vec<bool>,
    /// What to write for a first line.
    header_help: &'static str,
}

impl<'t> Table<'t> {
    /// The table, its header and the lines below; `None` where there is no text.
    pub(crate) fn open(
        source_name: &'t str,
        text: &'t str,
        network: &'t Network,
        header_help: &'static str,
    ) -> Result<Option<(Self, Fields<'t>, impl Iterator<Item = Fields<'t>>)>, ReadError> {
        let source = Source::new(source_name, text);
        // Some editors put a byte order mark first.
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let content = text[start..].trim_end();
        if content.is_empty() {
            return Ok(None);
        }
        let mut lines = content.split('\n').scan(start, |offset, line| {
            let at = *offset;
            *offset += line.len() + 1;
            Some(fields(line, at))
        });
        let header = lines.next().unwrap_or_default();
        if let Some(field) = header.iter().find(|field| field.1.contains(';')) {
            return Err(source
                .error(
                    field.0,
                    "fields are separated by `;`, and must be by commas",
                )
                .with_help("a comma between fields, a point before decimals: 1,97.5"));
        }
        let numbers = network.buses().iter().map(|bus| bus.number);
        let table = Table {
            source,
            network,
            index: numbers.zip(0..).collect(),
            taken: vec![false; network.buses().len()],
            header_help,
        };
        Ok(Some((table, header, lines)))
    }

    /// Refuses a line that has not as many fields as the header.
    pub(crate) fn width(&self, fields: &Fields, expected: usize) -> Result<(), ReadError> {
        let start = fields.first().map_or(0, |field| field.0);
        if expected != 1 && fields.len() == 1 && fields[0].1.is_empty() {
            return Err(self.source.error(start, "this line is empty"));
        }
        if fields.len() == expected {
            return Ok(());
        }
        if let Some(last) = trailing(fields)
            && fields.len() == expected + 1
        {
            return Err(self.trailing_comma(last));
        }
        let found = counted(fields.len(), "field", "fields");
        let message = format!("this line has {found}, the header has {expected}");
        Err(self.source.error(start, message))
    }

    /// The complaint about an empty last field.
    pub(crate) fn trailing_comma(&self, last: usize) -> ReadError {
        self.source
            .error(last, "nothing follows the last comma of this line")
            .with_help("leave out the comma at the end of the line")
    }

    /// The index of the bus that a field names, for the first time.
    pub(crate) fn bus(&mut self, (at, field): Field) -> Result<usize, ReadError> {
        let Ok(number) = field.parse::<u32>() else {
            let message = format!("expected a bus number, found {}", quoted(field));
            return Err(self.source.error(at, message).with_help(self.header_help));
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

    /// A finite number; `what` it is of the bus.
    pub(crate) fn number(
        &self,
        (at, field): Field,
        what: &str,
        bus: usize,
    ) -> Result<f64, ReadError> {
        match field.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            parsed => {
                let bus = self.network.buses()[bus].number;
                let found = match field {
                    "" => String::from("nothing"),
                    _ => quoted(field),
                };
                let wrong = if parsed.is_ok() { "finite" } else { "a number" };
                let message = format!("the {what} of bus {bus} must be {wrong}, found {found}");
                Err(self.source.error(at, message))
            }
        }
    }
}

/// Where a line ends in a comma: the offset after it.
pub(crate) fn trailing(fields: &Fields) -> Option<usize> {
    let last = fields.last()?;
    (fields.len() > 1 && last.1.is_empty()).then_some(last.0)
}

/// Whether a header has these words, in capitals or not.
pub(crate) fn is_header(fields: &Fields, words: &[&str]) -> bool {
    let same = |(field, word): (&Field, &&str)| field.1.eq_ignore_ascii_case(word);
    fields.len() == words.len() && fields.iter().zip(words).all(same)
}

/// The fields of a line that starts at this offset.
fn fields(line: &str, start: usize) -> Fields<'_> {
    let cut = line.split(',').scan(start, |offset, field| {
        let leading = field.len() - field.trim_start().len();
        let at = *offset + leading;
        *offset += field.len() + 1;
        Some(unquoted(at, field.trim()))
    });
    cut.collect()
}

/// What stands between the quotes; a field with one quote alone stays as it is, and is no number.
fn unquoted(at: usize, field: &str) -> Field<'_> {
    let inside = field.strip_prefix('"').and_then(|f| f.strip_suffix('"'));
    match inside {
        Some(inside) => {
            let leading = inside.len() - inside.trim_start().len();
            (at + 1 + leading, inside.trim())
        }
        None => (at, field),
    }
}
