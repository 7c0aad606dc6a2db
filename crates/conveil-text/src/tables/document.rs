//! A TOML text as a whole.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::table::{Table, Title};
use crate::ReadError;
use crate::position::Source;
use crate::spelling::{counted, quoted};

/// What a string begins with that somebody is still to write something else for; a colon and what that is follow.
pub const BLANK: &str = "FILL IN";

/// At most this many lines are named in a message.
const SHOWN_LINES: usize = 12;

/// Longer texts are refused unread.
const MAX_BYTES: usize = 16 << 20;

/// A valid TOML text, with the place of everything in it.
pub struct Document<'d> {
    source: Source<'d>,
    top: Spanned<DeTable<'d>>,
}

impl<'d> Document<'d> {
    /// Reads `text`, or says what is not TOML about it; `name` is how messages call it.
    pub fn read(name: &'d str, text: &'d str) -> Result<Self, ReadError> {
        if text.len() > MAX_BYTES {
            return Err(Source::new(name, "").error(
                0,
                format!(
                    "the spec has {} bytes; at most {MAX_BYTES} are read",
                    text.len()
                ),
            ));
        }
        let source = Source::new(name, text);
        let (top, faults) = DeTable::parse_recoverable(text);
        let place = |fault: &toml::de::Error| fault.span().map_or(0, |span| span.start);
        // The parser may notice what follows from a mistake before the mistake itself.
        if let Some(first) = faults.iter().min_by_key(|fault| place(fault)) {
            let message = format!("not valid TOML: {}", first.message());
            return Err(source.error(place(first), message));
        }
        Ok(Document { source, top })
    }

    /// The outermost table; `title` is how messages call it.
    pub fn top(&self, title: &str) -> Table<'_> {
        let title = Title::Words(title.into());
        Table::new(&self.source, self.top.get_ref(), title, 0)
    }

    /// Refuses a text in which something is still to be filled in: the first place, and where the others are.
    pub fn refuse_blanks(&self) -> Result<(), ReadError> {
        let mut blanks = Vec::new();
        // A stack of our own: tables may be nested as deep as the text is long.
        let mut open = vec![self.top.get_ref()];
        let mut values = Vec::new();
        while let Some(table) = open.pop() {
            let entries = table.iter();
            values.extend(entries.map(|(key, value)| (key.get_ref().as_ref(), value)));
            while let Some((key, value)) = values.pop() {
                match value.get_ref() {
                    DeValue::String(text) if text.trim_start().starts_with(BLANK) => {
                        blanks.push((value.span().start, key, text.as_ref()));
                    }
                    DeValue::Array(array) => values.extend(array.iter().map(|entry| (key, entry))),
                    DeValue::Table(table) => open.push(table),
                    _ => {}
                }
            }
        }
        blanks.sort();
        let Some(&(offset, key, text)) = blanks.first() else {
            return Ok(());
        };
        let what = text.trim_start().trim_start_matches(BLANK);
        let what = what.trim_start_matches(':').trim();
        let message = match what {
            "" => format!("{} is still to be filled in", quoted(key)),
            what => format!("{} is still to be filled in: {what}", quoted(key)),
        };
        let lines = blanks
            .iter()
            .map(|&(at, ..)| self.source.locate(at, ()).line);
        let mut lines: Vec<String> = lines.map(|line| line.to_string()).collect();
        lines.dedup();
        let more = lines.len().saturating_sub(SHOWN_LINES);
        lines.truncate(SHOWN_LINES);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let places = counted(blanks.len(), "place is", "places are");
        let help = format!(
            "{places} still to be filled in, in {} {}{more}; what you write is public",
            if lines.len() == 1 { "line" } else { "lines" },
            lines.join(", "),
        );
        Err(self.source.error(offset, message).with_help(help))
    }
}
