//! Single values of a spec: typed, in range, or refused with what was found.

use std::fmt;
use std::rc::Rc;

use toml::Spanned;
use toml::de::DeValue;

use super::table::{Table, Title};
use crate::naming::{Fault, fault, fault_of_text};
use crate::position::Source;
use crate::spelling::{listed, nearest, quoted, shortened};
use crate::{Located, ReadError};

/// Sizes and indexes beyond this are typing errors.
pub const MAX_COUNT: usize = 1_000_000_000;

/// A value and the key it stands under.
#[derive(Clone, Copy)]
pub struct Item<'d> {
    source: &'d Source<'d>,
    key: &'d str,
    /// Its place, if the key holds an array and this is one of its entries.
    index: Option<usize>,
    value: &'d Spanned<DeValue<'d>>,
}

/// How messages call the value.
impl fmt::Display for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.index {
            None => write!(f, "{}", quoted(self.key)),
            Some(index) => write!(f, "entry {index} of {}", quoted(self.key)),
        }
    }
}

impl<'d> Item<'d> {
    /// The text that the value stands in.
    pub fn source(&self) -> &'d Source<'d> {
        self.source
    }

    pub(super) fn new(
        source: &'d Source<'d>,
        key: &'d str,
        value: &'d Spanned<DeValue<'d>>,
    ) -> Self {
        Item {
            source,
            key,
            index: None,
            value,
        }
    }

    /// The byte at which the value begins.
    pub fn offset(&self) -> usize {
        self.value.span().start
    }

    /// A complaint about the value.
    pub fn error(&self, message: impl Into<String>) -> ReadError {
        self.source.error(self.offset(), message)
    }

    /// `value`, placed where this one stands.
    pub fn locate<T>(&self, value: T) -> Located<T> {
        self.source.locate(self.offset(), value)
    }

    /// "`key` must …, found …"
    pub fn must(&self, condition: impl fmt::Display) -> ReadError {
        let found = match self.value.get_ref() {
            DeValue::String(_) => String::from("a string"),
            DeValue::Integer(integer) => shortened(&integer.to_string()),
            DeValue::Float(float) => shortened(float.as_str()),
            DeValue::Boolean(_) => String::from("a boolean"),
            DeValue::Datetime(_) => String::from("a date"),
            DeValue::Array(_) => String::from("an array"),
            DeValue::Table(_) => String::from("a table"),
        };
        self.error(format!("{self} must {condition}, found {found}"))
    }

    /// The text of a string.
    pub fn text(&self) -> Result<&'d str, ReadError> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.must("be a string")),
        }
    }

    /// A text that can be read and stands on one line: a reason, a path.
    pub fn words(&self) -> Result<Located<String>, ReadError> {
        let text = self.text()?;
        self.readable(format!("{self}:"), text, fault_of_text(text))?;
        Ok(self.locate(String::from(text)))
    }

    /// A name, a label or a unit.
    pub fn name(&self) -> Result<Located<String>, ReadError> {
        let text = self.text()?;
        self.readable(format!("{self}:"), text, fault(text))?;
        Ok(self.locate(String::from(text)))
    }

    /// Refuses a text with this fault; `what` it is.
    pub fn readable(
        &self,
        what: impl AsRef<str>,
        text: &str,
        fault: Option<Fault>,
    ) -> Result<(), ReadError> {
        let what = what.as_ref();
        match fault {
            None => Ok(()),
            Some(Fault::Empty) => {
                let what = what.trim_end_matches(':');
                Err(self.error(format!("{what} must not be empty")))
            }
            Some(fault) => Err(self
                .error(format!("{what} {} {fault}", quoted(text)))
                .with_help(fault.help())),
        }
    }

    /// One of the given words, and what it stands for.
    pub fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, ReadError> {
        let text = self.text()?;
        if let Some(&(_, choice)) = choices.iter().find(|(word, _)| *word == text) {
            return Ok(choice);
        }
        let words: Vec<&str> = choices.iter().map(|&(word, _)| word).collect();
        let error = self.error(format!(
            "{self} must be {}, found {}",
            listed(&words),
            quoted(text)
        ));
        Err(match nearest(text, words) {
            Some(word) => error.with_help(format!("did you mean `{word}`?")),
            None => error,
        })
    }

    /// `true` or `false`.
    pub fn boolean(&self) -> Result<bool, ReadError> {
        match self.value.get_ref() {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.must("be true or false")),
        }
    }

    /// A finite number, whole or not.
    pub fn number(&self) -> Result<f64, ReadError> {
        let number = match self.value.get_ref() {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
            DeValue::Integer(integer) => u64::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .map(|whole| whole as f64),
            _ => return Err(self.must("be a number")),
        };
        match number {
            Some(number) if f64::is_finite(number) => Ok(number),
            _ => Err(self.must("be finite")),
        }
    }

    /// A finite number that satisfies a condition; `condition` continues "`key` must".
    pub fn number_that(
        &self,
        condition: &str,
        holds: impl Fn(f64) -> bool,
    ) -> Result<f64, ReadError> {
        match self.number()? {
            number if holds(number) => Ok(number),
            _ => Err(self.must(condition)),
        }
    }

    /// A number > 0.
    pub fn positive(&self) -> Result<f64, ReadError> {
        self.number_that("be positive", |x| x > 0.0)
    }

    /// A number ≥ 0.
    pub fn nonnegative(&self) -> Result<f64, ReadError> {
        self.number_that("be 0 or more", |x| x >= 0.0)
    }

    /// A number in (0, 1).
    pub fn proper_fraction(&self) -> Result<f64, ReadError> {
        self.number_that("lie strictly between 0 and 1", |x| x > 0.0 && x < 1.0)
    }

    /// A number in (0, ½).
    pub fn below_half(&self) -> Result<f64, ReadError> {
        self.number_that("lie strictly between 0 and 1/2", |x| x > 0.0 && x < 0.5)
    }

    /// A whole number ≥ 0 that fits 64 bits.
    pub fn whole(&self) -> Result<u64, ReadError> {
        let whole = match self.value.get_ref() {
            DeValue::Integer(integer) => u64::from_str_radix(integer.as_str(), integer.radix()),
            _ => return Err(self.must("be a whole number")),
        };
        whole.map_err(|_| self.must("lie between 0 and 2^64 - 1"))
    }

    /// A whole number from `least` to `most`.
    pub fn count(&self, least: usize, most: usize) -> Result<usize, ReadError> {
        let DeValue::Integer(_) = self.value.get_ref() else {
            return Err(self.must("be a whole number"));
        };
        match self.whole().map(usize::try_from) {
            Ok(Ok(count)) if (least..=most).contains(&count) => Ok(count),
            _ => Err(self.must(format!("lie between {least} and {most}"))),
        }
    }

    /// The entries of an array.
    pub fn array(&self) -> Result<Vec<Item<'d>>, ReadError> {
        let DeValue::Array(array) = self.value.get_ref() else {
            return Err(self.must("be an array"));
        };
        Ok(array
            .iter()
            .enumerate()
            .map(|(index, value)| Item {
                index: Some(index),
                value,
                ..*self
            })
            .collect())
    }

    /// The entries of an array that has some.
    pub fn filled_array(&self) -> Result<Vec<Item<'d>>, ReadError> {
        match self.array()? {
            items if items.is_empty() => Err(self.error(format!("{self} must not be empty"))),
            items => Ok(items),
        }
    }

    /// An array of finite numbers.
    pub fn numbers(&self) -> Result<Vec<f64>, ReadError> {
        self.array()?.iter().map(Item::number).collect()
    }

    /// Whether it is a string.
    pub fn is_text(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::String(_))
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Array(_))
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(
            self.value.get_ref(),
            DeValue::Integer(_) | DeValue::Float(_)
        )
    }

    /// A table; `title` is how messages call it.
    pub fn table(&self, title: impl AsRef<str>) -> Result<Table<'d>, ReadError> {
        self.titled(Title::Words(title.as_ref().into()))
    }

    /// A table that messages call as they call the value.
    pub fn own_table(&self) -> Result<Table<'d>, ReadError> {
        self.titled(Title::Item(*self))
    }

    fn titled(&self, title: Title<'d>) -> Result<Table<'d>, ReadError> {
        match self.value.get_ref() {
            DeValue::Table(entries) => Ok(Table::new(self.source, entries, title, self.offset())),
            _ => Err(self.must("be a table")),
        }
    }

    /// The tables under a `[[title]]`.
    pub fn tables(&self, title: &str) -> Result<Vec<Table<'d>>, ReadError> {
        if let DeValue::Table(_) = self.value.get_ref() {
            return Err(self
                .must("be an array of tables")
                .with_help(format!("write [[{title}]] in double brackets")));
        }
        let items = self.array()?;
        let title: Rc<str> = format!("[[{title}]]").into();
        let titled = |item: &Item<'d>| item.titled(Title::Words(title.clone()));
        items.iter().map(titled).collect()
    }
}
