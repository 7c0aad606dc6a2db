//! The text, cut into what a line of MATLAB is made of.

use conveil_text::Source;
use conveil_text::spelling::quoted;

use crate::ReadError;

/// A named text.
#[derive(Clone, Copy)]
pub(super) struct Text<'t> {
    name: &'t str,
    text: &'t str,
}

impl<'t> Text<'t> {
    pub(super) fn new(name: &'t str, text: &'t str) -> Self {
        Text { name, text }
    }

    /// A complaint about the byte at `offset`.
    pub(super) fn error(self, offset: usize, message: impl Into<String>) -> ReadError {
        Source::new(self.name, self.text).error(offset, message)
    }

    /// The line, counted from 1, of a byte.
    pub(super) fn line(self, offset: usize) -> usize {
        Source::new(self.name, self.text).locate(offset, ()).line
    }

    pub(super) fn end(self) -> usize {
        self.text.len()
    }

    pub(super) fn byte(self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    pub(super) fn bytes(self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// The bytes between two offsets that delimit whole characters.
    pub(super) fn slice(self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or("")
    }

    /// The end of the line that `at` is in.
    pub(super) fn line_end(self, at: usize) -> usize {
        let rest = self.bytes().get(at..).unwrap_or(&[]);
        let length = rest.iter().position(|&byte| byte == b'\n');
        at + length.unwrap_or(rest.len())
    }

    /// The end of the comment that starts at `at`: of its line, or of a block from a line `%{` to the
    /// line `%}` that belongs to it.
    pub(super) fn comment_end(self, at: usize) -> usize {
        let mut end = self.line_end(at);
        if self.byte(at + 1) != Some(b'{') || self.slice(at, end).trim_end() != "%{" {
            return end;
        }
        let before = self.bytes()[..at].iter().rev();
        let mut indent = before.take_while(|&&byte| byte != b'\n');
        if !indent.all(u8::is_ascii_whitespace) {
            return end;
        }
        let mut depth = 1;
        while depth > 0 && end < self.end() {
            let start = end + 1;
            end = self.line_end(start);
            match self.slice(start, end).trim() {
                "%{" => depth += 1,
                "%}" => depth -= 1,
                _ => {}
            }
        }
        end
    }

    /// Past blanks, and past `...` with the rest of its line.
    pub(super) fn skip_blanks(self, mut at: usize) -> usize {
        loop {
            match self.byte(at) {
                Some(b' ' | b'\t' | b'\r') => at += 1,
                Some(b'.') if self.bytes()[at..].starts_with(b"...") => {
                    at = (self.line_end(at) + 1).min(self.end());
                }
                _ => return at,
            }
        }
    }

    /// Past blanks, comments, ends of lines and stray `;` and `,`: to the next statement.
    pub(super) fn skip_to_statement(self, mut at: usize) -> usize {
        loop {
            at = self.skip_blanks(at);
            match self.byte(at) {
                Some(b'%') => at = self.comment_end(at),
                Some(b'\n' | b';' | b',') => at += 1,
                _ => return at,
            }
        }
    }

    /// The end of the name that starts at `at`: letters, digits and underscores.
    pub(super) fn word_end(self, at: usize) -> usize {
        let rest = self.bytes().get(at..).unwrap_or(&[]);
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = rest.iter().position(|byte| !is_word(byte));
        at + length.unwrap_or(rest.len())
    }

    /// The end of an entry: a number or whatever stands in place of one.
    pub(super) fn entry_end(self, at: usize) -> usize {
        let rest = self.bytes().get(at..).unwrap_or(&[]);
        let ends = |byte: &u8| {
            matches!(
                byte,
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b';' | b'%' | b'=' | b'\'' | b'"'
            ) || matches!(byte, b'[' | b']' | b'(' | b')' | b'{' | b'}')
        };
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        match rest[..length].windows(3).position(|w| w == b"...") {
            Some(continuation) => at + continuation,
            None => at + length,
        }
    }

    /// The end of the quoted text that starts at `at`, past its closing quote; two quotes in a row
    /// stand for one.
    pub(super) fn string_end(self, at: usize) -> Result<usize, ReadError> {
        let quote = self.byte(at);
        let line_end = self.line_end(at);
        let mut to = at + 1;
        while to < line_end {
            if self.byte(to) == quote {
                if self.byte(to + 1) != quote {
                    return Ok(to + 1);
                }
                to += 1;
            }
            to += 1;
        }
        Err(self
            .error(at, "this quote is not closed")
            .with_help("quoted text ends on the line where it starts"))
    }

    /// What stands at `at`, as a message shows it.
    pub(super) fn found(self, at: usize) -> String {
        match self.byte(at) {
            None => String::from("the end of the file"),
            Some(b'\n' | b'\r') => String::from("the end of the line"),
            Some(_) => {
                let end = self.entry_end(at);
                match self.slice(at, end) {
                    "" => quoted(
                        &self
                            .slice(at, self.end())
                            .chars()
                            .take(1)
                            .collect::<String>(),
                    ),
                    entry => quoted(entry),
                }
            }
        }
    }
}
