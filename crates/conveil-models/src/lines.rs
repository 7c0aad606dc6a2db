//! The lines of a CSV text, one in memory at a time, and their fields: what stands between commas, without blanks around it.
//!
//! A line of plain ASCII without quotes, as files of a million records have, is cut where it stands; any other is copied.

use conveil_text::{Located, ReadError};
use std::io::BufRead;

/// A field of a line: how many characters stand before it, and where it is in the line's text.
#[derive(Clone, Copy)]
struct Span {
    before: usize,
    start: usize,
    end: usize,
}

/// The fields of a line.
pub(crate) struct Fields<'l> {
    source_name: &'l str,
    /// Of the line, from 1.
    pub(crate) number: usize,
    text: &'l str,
    spans: &'l [Span],
}

impl<'l> Fields<'l> {
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// A field without its blanks and quotes.
    pub(crate) fn text(&self, field: usize) -> &'l str {
        let span = self.spans[field];
        &self.text[span.start..span.end]
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &'l str> + '_ {
        (0..self.len()).map(|field| self.text(field))
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.len() == 1 && self.text(0).is_empty()
    }

    /// A complaint about a field.
    pub(crate) fn error(&self, field: usize, message: impl Into<String>) -> ReadError {
        place(self.number, self.spans[field].before + 1).error(self.source_name, message)
    }
}

/// A text, one line of it in memory at a time.
pub(crate) struct Lines<'n, R> {
    name: &'n str,
    input: R,
    /// Of the line last read, from 1.
    number: usize,
    bytes: Vec<u8>,
    /// What is left of a line without its quotes, field behind field, where it has some.
    unquoted: String,
    spans: Vec<Span>,
}

impl<'n, R: BufRead> Lines<'n, R> {
    pub(crate) fn new(name: &'n str, input: R) -> Self {
        Lines {
            name,
            input,
            number: 0,
            bytes: Vec::new(),
            unquoted: String::new(),
            spans: Vec::new(),
        }
    }

    /// A complaint about the current line, behind so many of its characters.
    pub(crate) fn error(&self, before: usize, message: impl Into<String>) -> ReadError {
        place(self.number.max(1), before + 1).error(self.name, message)
    }

    /// Reads the first line that is not empty.
    pub(crate) fn header(&mut self) -> Result<Fields<'_>, ReadError> {
        loop {
            match self.next()? {
                None => {
                    return Err(self.error(0, "there are no records").with_help(
                        "name the columns in the first line, then write a line for each record",
                    ));
                }
                Some(fields) if fields.is_blank() => continue,
                Some(_) => break,
            }
        }
        // Made anew: a borrow from within the loop would last.
        Ok(self.fields())
    }

    /// The fields of the next line, if there is one.
    pub(crate) fn next(&mut self) -> Result<Option<Fields<'_>>, ReadError> {
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
        self.spans.clear();
        self.unquoted.clear();
        if is_plain(&self.bytes) {
            cut(&self.bytes, &mut self.spans);
            return Ok(Some(self.fields()));
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
        if let Err((before, message)) = unquote(line, &mut self.unquoted, &mut self.spans) {
            return Err(self.error(before, message));
        }
        // Its spans are those of the text without quotes.
        self.bytes.clear();
        Ok(Some(self.fields()))
    }

    /// The fields of the line last read.
    fn fields(&self) -> Fields<'_> {
        Fields {
            source_name: self.name,
            number: self.number,
            text: match self.bytes.is_empty() {
                true => &self.unquoted,
                false => std::str::from_utf8(&self.bytes).unwrap_or_default(),
            },
            spans: &self.spans,
        }
    }
}

fn is_plain(line: &[u8]) -> bool {
    line.is_ascii() && !line.contains(&b'"')
}

/// Where the fields of a plain line stand in it.
fn cut(line: &[u8], spans: &mut Vec<Span>) {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut start = 0;
    loop {
        let rest = &line[start..];
        let len = rest.iter().position(|&c| c == b',').unwrap_or(rest.len());
        let (mut from, mut to) = (start, start + len);
        while from < to && is_blank(line[from]) {
            from += 1;
        }
        while from < to && is_blank(line[to - 1]) {
            to -= 1;
        }
        spans.push(Span {
            before: from,
            start: from,
            end: to,
        });
        start += len + 1;
        if start > line.len() {
            return;
        }
    }
}

/// As [`char::is_whitespace`].
fn is_blank(c: u8) -> bool {
    matches!(c, b' ' | b'\t'..=b'\r')
}

/// The fields of any line, copied without their quotes; or how many characters stand before what is wrong, and what.
fn unquote(
    line: &str,
    text: &mut String,
    spans: &mut Vec<Span>,
) -> Result<(), (usize, &'static str)> {
    let mut rest = line.chars().enumerate().peekable();
    let end = line.chars().count();
    loop {
        while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        let before = rest.peek().map_or(end, |(at, _)| *at);
        let mut field = String::new();
        if rest.next_if(|(_, c)| *c == '"').is_some() {
            loop {
                match rest.next() {
                    None => return Err((before, "this quote is not closed on its line")),
                    Some((_, '"')) if rest.next_if(|(_, c)| *c == '"').is_none() => break,
                    Some((_, c)) => field.push(c),
                }
            }
            while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
            if let Some((at, _)) = rest.next_if(|(_, c)| *c != ',') {
                return Err((at, "expected a comma behind the closing quote"));
            }
        }
        while let Some((_, c)) = rest.next_if(|(_, c)| *c != ',') {
            field.push(c);
        }
        let start = text.len();
        text.push_str(field.trim());
        spans.push(Span {
            before,
            start,
            end: text.len(),
        });
        if rest.next().is_none() {
            return Ok(());
        }
    }
}

/// A place in a text.
pub(crate) fn place(line: usize, column: usize) -> Located<()> {
    Located {
        value: (),
        line,
        column,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cut and copied, a plain line has the same fields at the same places.
    #[test]
    fn a_line_that_is_cut_has_the_fields_of_one_that_is_copied() {
        for line in [
            "",
            ",",
            " , ",
            "a",
            " a ,\tb\x0b, c d ,",
            "1,-2.5e3,  ,x\r",
            "\r",
            ",,,",
            "a\r,b \x0c",
        ] {
            let (mut found, mut text, mut copied) = (Vec::new(), String::new(), Vec::new());
            let whole = format!("{line}\n");
            assert!(is_plain(whole.as_bytes()));
            cut(whole.as_bytes(), &mut found);
            let stripped = line.strip_suffix('\r').unwrap_or(line);
            unquote(stripped, &mut text, &mut copied).unwrap();
            let cut: Vec<_> = (found.iter())
                .map(|s| (s.before, &whole[s.start..s.end]))
                .collect();
            let copied: Vec<_> = (copied.iter())
                .map(|s| (s.before, &text[s.start..s.end]))
                .collect();
            assert_eq!(cut, copied, "{line:?}");
        }
        for line in ["a,\"b\"\n", "ü,b\n"] {
            assert!(!is_plain(line.as_bytes()));
        }
    }
}
