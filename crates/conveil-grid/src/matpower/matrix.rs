//! A matrix of numbers, with the place of each.

use conveil_text::spelling::{counted, shortened};

use super::scan::Text;
use crate::ReadError;

/// A matrix as it stands in the text.
pub(super) struct Matrix<'t> {
    text: Text<'t>,
    /// The field it is assigned to.
    pub(super) field: &'t str,
    /// Where its bracket opens.
    pub(super) start: usize,
    pub(super) columns: usize,
    /// Row by row.
    values: Vec<f64>,
    /// Where each row starts.
    row_starts: Vec<usize>,
}

impl<'t> Matrix<'t> {
    /// Reads the matrix whose bracket opens at `start`; answers it and the offset past its end.
    pub(super) fn read(
        text: Text<'t>,
        field: &'t str,
        start: usize,
    ) -> Result<(Self, usize), ReadError> {
        let mut matrix = Matrix {
            text,
            field,
            start,
            columns: 0,
            values: Vec::new(),
            row_starts: Vec::new(),
        };
        let mut at = start + 1;
        // Entries in the row so far, where it starts, and whether a comma may stand here.
        let (mut entries, mut row_start, mut comma) = (0, at, false);
        loop {
            at = text.skip_blanks(at);
            match text.byte(at) {
                Some(b'%') => at = text.comment_end(at),
                Some(b',') if comma => {
                    comma = false;
                    at += 1;
                }
                Some(b'\n' | b';') => {
                    matrix.end_row(entries, row_start)?;
                    (entries, comma) = (0, false);
                    at += 1;
                }
                Some(b']') => {
                    matrix.end_row(entries, row_start)?;
                    return Ok((matrix, at + 1));
                }
                None => {
                    return Err(text
                        .error(start, format!("the bracket of `{field}` is not closed"))
                        .with_help("a matrix ends with `];`; the file may be cut off"));
                }
                Some(_) => {
                    if entries == 0 {
                        row_start = at;
                    }
                    let end = text.entry_end(at);
                    matrix.values.push(number(text, at, end, || {
                        let row = matrix.row_starts.len() + 1;
                        format!("row {row} of `{field}`, entry {}", entries + 1)
                    })?);
                    entries += 1;
                    (at, comma) = (end, true);
                }
            }
        }
    }

    fn end_row(&mut self, entries: usize, row_start: usize) -> Result<(), ReadError> {
        if entries == 0 {
            return Ok(());
        }
        if self.row_starts.is_empty() {
            self.columns = entries;
        } else if entries != self.columns {
            let message = format!(
                "row {} of `{}` has {}, row 1 has {}",
                self.row_starts.len() + 1,
                self.field,
                counted(entries, "entry", "entries"),
                self.columns
            );
            return Err(self.text.error(row_start, message));
        }
        self.row_starts.push(row_start);
        Ok(())
    }

    pub(super) fn rows(&self) -> usize {
        self.row_starts.len()
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// A complaint about one entry.
    pub(super) fn error(&self, row: usize, column: usize, message: impl Into<String>) -> ReadError {
        self.text.error(self.offset(row, column), message)
    }

    /// Where an entry stands: found by reading its row once more, so that only mistakes pay for it.
    fn offset(&self, row: usize, column: usize) -> usize {
        let Some(&start) = self.row_starts.get(row) else {
            return self.start;
        };
        let mut at = start;
        for _ in 0..column.min(self.columns.saturating_sub(1)) {
            at = self.text.entry_end(at);
            at = self.text.skip_blanks(at);
            if self.text.byte(at) == Some(b',') {
                at = self.text.skip_blanks(at + 1);
            }
        }
        at
    }
}

/// The number between two offsets; infinities are numbers here, NaN is not.
pub(super) fn number(
    text: Text,
    from: usize,
    to: usize,
    what: impl FnOnce() -> String,
) -> Result<f64, ReadError> {
    let entry = text.slice(from, to);
    let plain = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    if entry.bytes().all(plain)
        && let Ok(number) = entry.parse::<f64>()
    {
        if number.is_finite() {
            return Ok(number);
        }
        let message = format!("{} is too large: {}", what(), shortened(entry));
        return Err(text.error(from, message));
    }
    match entry {
        "Inf" | "+Inf" | "inf" | "+inf" => Ok(f64::INFINITY),
        "-Inf" | "-inf" => Ok(f64::NEG_INFINITY),
        "NaN" | "nan" | "-NaN" | "-nan" | "NA" => {
            let message = format!("{} is not a number (NaN)", what());
            Err(text.error(from, message))
        }
        _ => {
            let message = format!("{} must be a number, found {}", what(), text.found(from));
            let error = text.error(from, message);
            // A statement, where the matrix should have ended.
            let is_word = entry.starts_with(|first: char| first.is_ascii_alphabetic());
            Err(match is_word {
                true => error.with_help("numbers are read, not names; a matrix ends with `];`"),
                false => error,
            })
        }
    }
}
