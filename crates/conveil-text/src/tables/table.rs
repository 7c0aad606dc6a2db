//! Tables of a spec, read key by key.
//!
//! A [`Table`] remembers which keys were taken; [`Table::known`] refuses keys that no version of
//! the table has, [`Table::finish`] those that make no sense beside the others.

use std::fmt;
use std::rc::Rc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::item::Item;
use crate::ReadError;
use crate::position::Source;
use crate::spelling::{nearest, quoted};

/// How messages call a table: `[privacy]`, or `adjacency` in backquotes.
pub(super) enum Title<'d> {
    Words(Rc<str>),
    /// As the value is called that it is.
    Item(Item<'d>),
}

impl fmt::Display for Title<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Title::Words(words) => f.write_str(words),
            Title::Item(item) => item.fmt(f),
        }
    }
}

/// A table that is being read.
pub struct Table<'d> {
    source: &'d Source<'d>,
    entries: &'d DeTable<'d>,
    title: Title<'d>,
    offset: usize,
    taken: Vec<&'static str>,
}

impl<'d> Table<'d> {
    /// The text that the table stands in.
    pub fn source(&self) -> &'d Source<'d> {
        self.source
    }

    pub(super) fn new(
        source: &'d Source<'d>,
        entries: &'d DeTable<'d>,
        title: Title<'d>,
        offset: usize,
    ) -> Self {
        Table {
            source,
            entries,
            title,
            offset,
            taken: Vec::new(),
        }
    }

    /// A complaint about the table as a whole.
    pub fn error(&self, message: impl Into<String>) -> ReadError {
        self.source.error(self.offset, message)
    }

    /// A complaint about a value that was read from the table.
    pub fn complain<T>(&self, about: &crate::Located<T>, message: impl Into<String>) -> ReadError {
        ReadError {
            line: about.line,
            column: about.column,
            ..self.error(message)
        }
    }

    /// `value`, placed where the table is.
    pub fn locate<T>(&self, value: T) -> crate::Located<T> {
        self.source.locate(self.offset, value)
    }

    /// Refuses keys that are not in the list; the first of them in the text.
    pub fn known(&self, keys: &[&'static str]) -> Result<(), ReadError> {
        let Some((key, _)) = self.first_entry(|key| !keys.contains(&key)) else {
            return Ok(());
        };
        let hint = match nearest(key.get_ref(), keys.iter().copied()) {
            Some(word) => format!("did you mean `{word}`?"),
            None => format!("known keys: {}", keys.join(", ")),
        };
        let message = format!(
            "unknown key {} in {}; {hint}",
            quoted(key.get_ref()),
            self.title
        );
        Err(self.source.error(key.span().start, message))
    }

    /// The value of `key`, not marked as taken.
    pub fn peek(&self, key: &'static str) -> Option<Item<'d>> {
        let value: &'d Spanned<DeValue<'d>> = self.entries.get(key)?;
        Some(Item::new(self.source, key, value))
    }

    /// The value of `key`, if it is there.
    pub fn optional(&mut self, key: &'static str) -> Option<Item<'d>> {
        self.taken.push(key);
        self.peek(key)
    }

    /// The value of `key`, which must be there; `example` shows how it may look.
    pub fn required(&mut self, key: &'static str, example: &str) -> Result<Item<'d>, ReadError> {
        match self.optional(key) {
            Some(item) => Ok(item),
            None => Err(self
                .error(format!("{} needs `{key}`", self.title))
                .with_help(format!("for example: {example}"))),
        }
    }

    /// Refuses keys that were not taken: `context` says what they do not go with.
    pub fn finish(&self, context: impl fmt::Display) -> Result<(), ReadError> {
        match self.first_entry(|key| !self.taken.contains(&key)) {
            None => Ok(()),
            Some((key, _)) => Err(self.source.error(
                key.span().start,
                format!("{} makes no sense {context}", quoted(key.get_ref())),
            )),
        }
    }

    /// All entries, in the order of the text: the key, its offset, and the value.
    pub fn entries(&self) -> Vec<(&'d str, usize, Item<'d>)> {
        let mut entries: Vec<_> = self
            .entries
            .iter()
            .map(|(key, value)| {
                let name: &'d str = key.get_ref();
                (name, key.span().start, Item::new(self.source, name, value))
            })
            .collect();
        entries.sort_by_key(|&(_, offset, _)| offset);
        entries
    }

    fn first_entry(
        &self,
        wanted: impl Fn(&str) -> bool,
    ) -> Option<(
        &'d Spanned<std::borrow::Cow<'d, str>>,
        &'d Spanned<DeValue<'d>>,
    )> {
        self.entries
            .iter()
            .filter(|(key, _)| wanted(key.get_ref()))
            .min_by_key(|(key, _)| key.span().start)
    }
}
