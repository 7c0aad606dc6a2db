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
use conveil_text::{Labels, Located, ReadError};

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
        let header = lines.header()?;
        Ok(Columns::of(&header, &lines, None)?.names)
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
    let columns = Columns::of(&header, &lines, wanted)?;
    let (mut values, mut count) = (Vec::with_capacity(columns.places.len()), 0);
    let mut empty_line = None;
    while let Some(fields) = lines.next()? {
        if is_blank(&fields) {
            empty_line.get_or_insert(lines.number);
            continue;
        }
        if let Some(line) = empty_line {
            return Err(place(line, 1).error(source_name, "this line is empty"));
        }
        if fields.len() != header.len() {
            let found = counted(fields.len(), "field", "fields");
            let message = format!("this line has {found}, the header has {}", header.len());
            return Err(lines.error(fields[0].at, message));
        }
        values.clear();
        for (&column, name) in columns.places.iter().zip(&columns.names) {
            let field = &fields[column];
            values.push(match code {
                Some(code) if code.column == name => code.of(field, &lines)?,
                _ => number(field, name, &lines)?,
            });
        }
        record(lines.number, &values);
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
    fn of<R>(&self, field: &Field, lines: &Lines<R>) -> Result<f64, ReadError> {
        (self.number)(&field.text)
            .map_err(|(message, help)| lines.error(field.at, message).with_help(help))
    }
}

/// The columns that are read: their names, and where they stand in a line.
struct Columns {
    names: Vec<String>,
    places: Vec<usize>,
}

impl Columns {
    fn of<R>(
        header: &[Field],
        lines: &Lines<R>,
        wanted: Option<&[&str]>,
    ) -> Result<Self, ReadError> {
        let mut columns = HashMap::with_capacity(header.len());
        for (column, field) in header.iter().enumerate() {
            let name = field.text.as_str();
            if name.is_empty() {
                return Err(lines.error(field.at, format!("column {} has no name", column + 1)));
            }
            if columns.insert(name, column).is_some() {
                let message = format!("column {} is there twice", quoted(name));
                return Err(lines.error(field.at, message));
            }
            if name.parse::<f64>().is_ok() {
                let message = format!("expected the name of a column, found {}", quoted(name));
                return Err(lines
                    .error(field.at, message)
                    .with_help("the first line names the columns"));
            }
        }
        let names: Vec<&str> = header.iter().map(|field| field.text.as_str()).collect();
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
                return Err(lines.error(header[0].at, message).with_help(help));
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

/// What to do about a missing value.
const MISSING: &str = "missing values are not filled in: leave the record out, or fill it in by a public rule, and adjust `records` where the spec states how many there are";

fn number<R>(field: &Field, column: &str, lines: &Lines<R>) -> Result<f64, ReadError> {
    match field.text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        parsed => {
            let found = match field.text.as_str() {
                "" => String::from("nothing"),
                text => quoted(text),
            };
            let wrong = if parsed.is_ok() { "finite" } else { "a number" };
            let column = quoted(column);
            let message = format!("{column} must be {wrong}, found {found}");
            let error = lines.error(field.at, message);
            Err(match field.text.replacen(',', ".", 1) {
                text if text.is_empty() => error.with_help(MISSING),
                text if parsed.is_err() && text.parse::<f64>().is_ok() => {
                    error.with_help(format!("decimals are written with a point: {text}"))
                }
                _ => error,
            })
        }
    }
}

/// A field without its blanks and quotes, and how many characters of its line stand before it.
struct Field {
    at: usize,
    text: String,
}

fn is_blank(fields: &[Field]) -> bool {
    matches!(fields, [only] if only.text.is_empty())
}

/// A text, one line of it in memory at a time.
struct Lines<'n, R> {
    name: &'n str,
    input: R,
    /// Of the line last read, from 1.
    number: usize,
    bytes: Vec<u8>,
}

impl<R> Lines<'_, R> {
    /// A complaint about the current line, behind so many of its characters.
    fn error(&self, before: usize, message: impl Into<String>) -> ReadError {
        place(self.number.max(1), before + 1).error(self.name, message)
    }
}

impl<'n, R: BufRead> Lines<'n, R> {
    fn new(name: &'n str, input: R) -> Self {
        Lines {
            name,
            input,
            number: 0,
            bytes: Vec::new(),
        }
    }

    /// The first line that is not empty.
    fn header(&mut self) -> Result<Vec<Field>, ReadError> {
        loop {
            match self.next()? {
                None => {
                    return Err(self.error(0, "there are no records").with_help(
                        "name the columns in the first line, then write a line for each record",
                    ));
                }
                Some(fields) if is_blank(&fields) => continue,
                Some(fields) => return Ok(fields),
            }
        }
    }

    /// The fields of the next line, if there is one.
    fn next(&mut self) -> Result<Option<Vec<Field>>, ReadError> {
        self.bytes.clear();
        let read = self.input.read_until(b'\n', &mut self.bytes);
        match read {
            Ok(0) => return Ok(None),
            Ok(_) => self.number += 1,
            Err(error) => {
                self.number += 1;
                return Err(self.error(0, format!("cannot be read: {error}")));
            }
        }
        let line = match std::str::from_utf8(&self.bytes) {
            Ok(line) => line,
            Err(error) => {
                let good = String::from_utf8_lossy(&self.bytes[..error.valid_up_to()]);
                let before = good.chars().count();
                return Err(self.error(before, "this is not UTF-8 text"));
            }
        };
        // Some editors put a byte order mark first; no editor shows it.
        let line = match self.number {
            1 => line.trim_start_matches('\u{feff}'),
            _ => line,
        };
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        match fields(line) {
            Ok(fields) => Ok(Some(fields)),
            Err((before, message)) => Err(self.error(before, message)),
        }
    }
}

fn fields(line: &str) -> Result<Vec<Field>, (usize, &'static str)> {
    let mut fields = Vec::new();
    let mut rest = line.chars().enumerate().peekable();
    let end = line.chars().count();
    loop {
        while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        let at = rest.peek().map_or(end, |(at, _)| *at);
        let mut text = String::new();
        if rest.next_if(|(_, c)| *c == '"').is_some() {
            loop {
                match rest.next() {
                    None => return Err((at, "this quote is not closed on its line")),
                    Some((_, '"')) if rest.next_if(|(_, c)| *c == '"').is_none() => break,
                    Some((_, c)) => text.push(c),
                }
            }
            while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
            if let Some((at, _)) = rest.next_if(|(_, c)| *c != ',') {
                return Err((at, "expected a comma behind the closing quote"));
            }
        }
        while let Some((_, c)) = rest.next_if(|(_, c)| *c != ',') {
            text.push(c);
        }
        text.truncate(text.trim_end().len());
        let blanks = text.len() - text.trim_start().len();
        text.drain(..blanks);
        fields.push(Field { at, text });
        if rest.next().is_none() {
            return Ok(fields);
        }
    }
}

fn place(line: usize, column: usize) -> Located<()> {
    Located {
        value: (),
        line,
        column,
    }
}
