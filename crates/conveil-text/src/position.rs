//! From byte offsets to the lines and columns that an editor shows.

use crate::ReadError;

/// A value together with the place in the text it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its line, counted from 1.
    pub line: usize,
    /// Its column in characters, counted from 1.
    pub column: usize,
}

impl<T> Located<T> {
    /// A complaint about this value, as the readers themselves would make it.
    pub fn error(&self, source_name: impl Into<String>, message: impl Into<String>) -> ReadError {
        ReadError {
            source_name: source_name.into(),
            line: self.line,
            column: self.column,
            message: message.into(),
            help: None,
        }
    }
}

/// A named text with an index of its lines and characters.
///
/// Each lookup costs O(log lines + stride), however long the lines are.
pub struct Source<'t> {
    name: &'t str,
    text: &'t str,
    line_starts: Vec<usize>,
    /// `characters[k]` counts the characters that begin before byte `k·STRIDE`.
    characters: Vec<usize>,
}

const STRIDE: usize = 256;

impl<'t> Source<'t> {
    /// Indexes a text, in time proportional to its length.
    pub fn new(name: &'t str, text: &'t str) -> Self {
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let line_starts = std::iter::once(0)
            .chain(newlines.map(|(offset, _)| offset + 1))
            .collect();
        let mut characters = vec![0];
        let mut count = 0;
        for block in text.as_bytes().chunks(STRIDE) {
            count += beginnings(block);
            characters.push(count);
        }
        Source {
            name,
            text,
            line_starts,
            characters,
        }
    }

    /// A complaint about the byte at `offset`.
    pub fn error(&self, offset: usize, message: impl Into<String>) -> ReadError {
        self.locate(offset, ()).error(self.name, message)
    }

    /// `value`, which stands at byte `offset`.
    pub fn locate<T>(&self, offset: usize, value: T) -> Located<T> {
        let offset = offset.min(self.text.len());
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = self.line_starts[line - 1];
        Located {
            value,
            line,
            column: self.characters_before(offset) - self.characters_before(start) + 1,
        }
    }

    /// The byte offset of a line and a byte column, both counted from 1.
    pub fn offset(&self, line: usize, byte_column: usize) -> usize {
        let line = line.clamp(1, self.line_starts.len());
        let start = self.line_starts[line - 1];
        let end = match self.line_starts.get(line) {
            Some(next) => next - 1,
            None => self.text.len(),
        };
        start.saturating_add(byte_column.saturating_sub(1)).min(end)
    }

    fn characters_before(&self, offset: usize) -> usize {
        let block = offset / STRIDE;
        self.characters[block] + beginnings(&self.text.as_bytes()[block * STRIDE..offset])
    }
}

/// How many characters begin in these bytes of UTF-8.
fn beginnings(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, offset: usize) -> (usize, usize) {
        let located = Source::new("t", text).locate(offset, ());
        (located.line, located.column)
    }

    #[test]
    fn columns_count_characters_not_bytes() {
        assert_eq!(place("η = 1\nβ", 3), (1, 3));
        assert_eq!(place("η = 1\nβ", 7), (2, 1));
        assert_eq!(place("", 0), (1, 1));
        assert_eq!(place("a\n", 99), (2, 1));
    }

    #[test]
    fn long_lines_agree_with_plain_counting() {
        let text = "aη".repeat(1000);
        for offset in (0..text.len()).filter(|&k| text.is_char_boundary(k)) {
            assert_eq!(
                place(&text, offset),
                (1, text[..offset].chars().count() + 1)
            );
        }
    }
}
