//! A TOML text as a whole.

use toml::Spanned;
use toml::de::DeTable;

use super::table::Table;
use crate::ReadError;
use crate::position::Source;

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
        Table::new(&self.source, self.top.get_ref(), title, 0)
    }
}
