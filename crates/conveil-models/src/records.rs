//! Records from CSV: named columns of finite numbers, read line by line, or one diagnostic.
//!
//! The first line names the columns, every further line is a record:
//!
//! ```text
//! speed,power
//! 3.5,"0.02"
//! 4,0.05
//! ```
//!
//! Fields may stand in double quotes, with `""` for a quote inside; a quoted field ends on its line. Blanks around
//! fields do not count. Empty lines may stand at the end only. Only the columns that are asked for need be numbers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::BufRead;

use conveil_text::spelling::{counted, listed, nearest, quoted};
use conveil_text::{Labels, ReadError};

use crate::lines::{Fields, Lines, place};

/// Columns of numbers, with their names: at least one column and one record, all finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Records {
    names: Vec<String>,
    /// Record by record.
    values: Vec<f64>,
}

impl Records {
    /// Reads every column; `source_name` is what messages call the text.
    pub fn read(source_name: &str, input: impl BufRead) -> Result<Records, ReadError> {
        Self::collected(source_name, input, None)
    }

    /// Reads these columns, in this order, and lets the others hold what they will.
    pub fn read_columns(
        source_name: &str,
        input: impl BufRead,
        wanted: &[&str],
    ) -> Result<Records, ReadError> {
        Self::collected(source_name, input, Some(wanted))
    }

    /// The same, and a further column that labels the records.
    pub fn read_labelled(
        source_name: &str,
        input: impl BufRead,
        wanted: &[&str],
        label: &str,
    ) -> Result<(Records, Labels), ReadError> {
        let labels = RefCell::new(Labels::default());
        let code = Code {
            column: label,
            number: &|word| match labels.borrow_mut().add(word) {
                Ok(()) => Ok(0.0),
                Err((message, help)) => Err((message, help.into())),
            },
        };
        let columns: Vec<&str> = wanted.iter().copied().chain([label]).collect();
        let mut values = Vec::new();
        Self::each_coded(source_name, input, &columns, &code, |_, record| {
            values.extend_from_slice(&record[..wanted.len()]);
        })?;
        let names = wanted.iter().map(|name| String::from(*name)).collect();
        Ok((Records { names, values }, labels.into_inner()))
    }

    /// Shows these columns record by record and keeps none; how many records there were. Without columns it counts.
    pub fn each(
        source_name: &str,
        input: impl BufRead,
        wanted: &[&str],
        mut record: impl FnMut(&[f64]),
    ) -> Result<usize, ReadError> {
        Self::each_with_line(source_name, input, wanted, |_, values| record(values))
    }

    /// The same, each record with its line, counted from 1.
    pub fn each_with_line(
        source_name: &str,
        input: impl BufRead,
        wanted: &[&str],
        record: impl FnMut(usize, &[f64]),
    ) -> Result<usize, ReadError> {
        Ok(read(source_name, input, (Some(wanted), None), record)?.1)
    }

    /// The same where one of the columns holds words: its code has a number for each. Records come with their lines,
    /// counted from 1.
    pub fn each_coded(
        source_name: &str,
        input: impl BufRead,
        wanted: &[&str],
        code: &Code<'_>,
        record: impl FnMut(usize, &[f64]),
    ) -> Result<usize, ReadError> {
        Ok(read(source_name, input, (Some(wanted), Some(code)), record)?.1)
    }

    /// The names of the columns alone.
    pub fn header(source_name: &str, input: impl BufRead) -> Result<Vec<String>, ReadError> {
        let mut lines = Lines::new(source_name, input);
        Ok(Columns::of(&lines.header()?, None)?.names)
    }

    fn collected(
        source_name: &str,
        input: impl BufRead,
        wanted: Option<&[&str]>,
    ) -> Result<Records, ReadError> {
        let mut values = Vec::new();
        let (names, _) = read(source_name, input, (wanted, None), |_, record| {
            values.extend_from_slice(record);
        })?;
        Ok(Records { names, values })
    }

    /// One column of finite numbers, at least one.
    pub fn from_column(name: &str, values: &[f64]) -> Result<Records, String> {
        if values.is_empty() {
            return Err(format!("{} has no numbers", quoted(name)));
        }
        if let Some(value) = values.iter().find(|v| !v.is_finite()) {
            return Err(format!("{} must be finite, found {value}", quoted(name)));
        }
        Ok(Records {
            names: vec![name.into()],
            values: values.to_vec(),
        })
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.names.len().max(1)
    }

    /// Never: there is at least one record.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The records in the file's order, each with one number for each column.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.names.len().max(1))
    }

    /// The numbers of one record.
    pub(crate) fn record(&self, index: usize) -> &[f64] {
        let width = self.names.len().max(1);
        &self.values[width * index..width * (index + 1)]
    }

    /// The numbers of a column, if there is one of this name.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let column = self.names.iter().position(|known| known == name)?;
        Some(self.rows().map(|row| row[column]).collect())
    }
}

/// The names of the columns, and how many records were shown.
fn read(
    source_name: &str,
    input: impl BufRead,
    (wanted, code): (Option<&[&str]>, Option<&Code<'_>>),
    mut record: impl FnMut(usize, &[f64]),
) -> Result<(Vec<String>, usize), ReadError> {
    let mut lines = Lines::new(source_name, input);
    let header = lines.header()?;
    let (width, columns) = (header.len(), Columns::of(&header, wanted)?);
    let (mut values, mut count) = (Vec::with_capacity(columns.places.len()), 0);
    let coded = code.and_then(|code| columns.names.iter().position(|name| name == code.column));
    let mut empty_line = None;
    while let Some(fields) = lines.next()? {
        if fields.is_blank() {
            empty_line.get_or_insert(fields.number);
            continue;
        }
        if let Some(line) = empty_line {
            return Err(place(line, 1).error(source_name, "this line is empty"));
        }
        if fields.len() != width {
            let found = counted(fields.len(), "field", "fields");
            let message = format!("this line has {found}, the header has {width}");
            return Err(fields.error(0, message));
        }
        values.clear();
        for (place, &column) in columns.places.iter().enumerate() {
            values.push(match code {
                Some(code) if coded == Some(place) => code.of(&fields, column)?,
                _ => number(&fields, column, &columns.names[place])?,
            });
        }
        record(fields.number, &values);
        count += 1;
    }
    if count == 0 {
        return Err(lines.error(0, "there is a header, but no record below it"));
    }
    Ok((columns.names, count))
}

/// The number of a word, or what is wrong with it and what would be right.
pub type Coded = Result<f64, (String, String)>;

/// What the words of a column stand for.
pub struct Code<'c> {
    /// The column.
    pub column: &'c str,
    /// The number of each word.
    pub number: &'c dyn Fn(&str) -> Coded,
}

impl Code<'_> {
    fn of(&self, fields: &Fields<'_>, field: usize) -> Result<f64, ReadError> {
        (self.number)(fields.text(field))
            .map_err(|(message, help)| fields.error(field, message).with_help(help))
    }
}

/// The columns that are read: their names, and where they stand in a line.
struct Columns {
    names: Vec<String>,
    places: Vec<usize>,
}

impl Columns {
    fn of(header: &Fields<'_>, wanted: Option<&[&str]>) -> Result<Self, ReadError> {
        let mut columns = HashMap::with_capacity(header.len());
        for (column, name) in header.texts().enumerate() {
            if name.is_empty() {
                return Err(header.error(column, format!("column {} has no name", column + 1)));
            }
            if columns.insert(name, column).is_some() {
                let message = format!("column {} is there twice", quoted(name));
                return Err(header.error(column, message));
            }
            if name.parse::<f64>().is_ok() {
                let message = format!("expected the name of a column, found {}", quoted(name));
                return Err(header
                    .error(column, message)
                    .with_help("the first line names the columns"));
            }
        }
        let names: Vec<&str> = header.texts().collect();
        let Some(wanted) = wanted else {
            return Ok(Columns {
                names: names.into_iter().map(String::from).collect(),
                places: (0..header.len()).collect(),
            });
        };
        let mut places = Vec::new();
        for name in wanted {
            let Some(&column) = columns.get(name) else {
                let message = format!("there is no column {}", quoted(name));
                let help = match nearest(name, names.iter().copied()) {
                    // Where a semicolon separates columns, a comma stands in decimals.
                    _ if names.len() == 1 && names[0].contains(';') => {
                        String::from("separate columns by commas, and write decimals with a point")
                    }
                    _ if names.len() == 1 && names[0].contains('\t') => {
                        String::from("separate columns by commas")
                    }
                    Some(near) => format!("did you mean {}?", quoted(near)),
                    None => format!("the columns are {}", shown(&names)),
                };
                return Err(header.error(0, message).with_help(help));
            };
            places.push(column);
        }
        Ok(Columns {
            names: wanted.iter().map(|name| String::from(*name)).collect(),
            places,
        })
    }
}

/// At most this many columns are listed in a message.
const SHOWN_COLUMNS: usize = 12;

fn shown(names: &[&str]) -> String {
    match names.len().checked_sub(SHOWN_COLUMNS) {
        None | Some(0) => listed(names).replace(" or ", " and "),
        Some(more) => {
            let first: Vec<String> = names[..SHOWN_COLUMNS].iter().map(|n| quoted(n)).collect();
            format!("{} and {more} more", first.join(", "))
        }
    }
}

/// Digits of a decimal that is read at once.
const SHORT: usize = 15;

/// A decimal of few digits and no exponent, such as −0.1234; `None` for any other text. Its digits make a whole number below
/// 10¹⁵, which is exact, and so is the power of ten that it is divided by: the quotient is rounded once, as any correct
/// reader rounds it.
fn short_decimal(text: &[u8]) -> Option<f64> {
    let (is_negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        text => (false, text),
    };
    let (mut whole, mut digits, mut decimals) = (0u64, 0, None);
    for &c in text {
        match (c, &mut decimals) {
            (b'.', None) => decimals = Some(0),
            (b'0'..=b'9', decimals) if digits < SHORT => {
                whole = 10 * whole + u64::from(c - b'0');
                digits += 1;
                if let Some(decimals) = decimals {
                    *decimals += 1;
                }
            }
            _ => return None,
        }
    }
    let size = whole as f64 / POWERS[decimals.unwrap_or(0)];
    (digits > 0).then_some(if is_negative { -size } else { size })
}

/// Powers of ten, all exact.
const POWERS: [f64; SHORT + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// What to do about a missing value.
const MISSING: &str = "missing values are not filled in: leave the record out, or fill it in by a public rule, and adjust `records` where the spec states how many there are";

fn number(fields: &Fields<'_>, field: usize, column: &str) -> Result<f64, ReadError> {
    let text = fields.text(field);
    if let Some(number) = short_decimal(text.as_bytes()) {
        return Ok(number);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        parsed => {
            let found = match text {
                "" => String::from("nothing"),
                text => quoted(text),
            };
            let wrong = if parsed.is_ok() { "finite" } else { "a number" };
            let column = quoted(column);
            let message = format!("{column} must be {wrong}, found {found}");
            let error = fields.error(field, message);
            Err(match text.replacen(',', ".", 1) {
                text if text.is_empty() => error.with_help(MISSING),
                text if parsed.is_err() && text.parse::<f64>().is_ok() => {
                    error.with_help(format!("decimals are written with a point: {text}"))
                }
                _ => error,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::short_decimal;

    #[test]
    fn short_decimals_are_the_numbers_that_the_standard_library_reads() {
        for text in [
            "0",
            "-0",
            "0.0",
            "-0.1234",
            "1.",
            ".5",
            "-.25",
            "007.10",
            "123456789012345",
            "0.12345678901234",
            "-99999.9999999999",
            "0.1",
            "0.3",
            "2.675",
            "1000000",
        ] {
            let found = short_decimal(text.as_bytes()).unwrap();
            assert_eq!(
                found.to_bits(),
                text.parse::<f64>().unwrap().to_bits(),
                "{text}"
            );
        }
        // Thousandths, millionths and so on of every size.
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let digits = format!("{:015}", (state >> 11) % 1_000_000_000_000_000);
            let (whole, rest) = digits.split_at((state >> 60) as usize % 15);
            let text = format!("{whole}.{rest}");
            let found = short_decimal(text.as_bytes()).unwrap();
            assert_eq!(
                found.to_bits(),
                text.parse::<f64>().unwrap().to_bits(),
                "{text}"
            );
        }
        for text in [
            "",
            "-",
            ".",
            "-.",
            "1e5",
            "+1",
            "1.2.3",
            "nan",
            "inf",
            "0x1",
            "1_0",
            "--1",
            "1234567890123456",
        ] {
            assert_eq!(short_decimal(text.as_bytes()), None, "{text}");
        }
    }
}
