//! Labels of rows: the hour, the day or the name that stands on a card in the place of a bare number.

use std::collections::HashMap;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::naming::{Fault, fault};
use crate::spelling::quoted;

/// What a card calls the row of a series that it is about. Public, because it stands there.
///
/// # Guarantee
/// It can be read: nothing in it is hidden, turns the direction of a text or is longer than a name may be
/// ([`crate::naming`]). Test: `a_label_can_be_read_and_is_there_once`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Label(String);

impl Label {
    /// The label, without blanks around it; or what is wrong with it.
    pub fn new(text: &str) -> Result<Self, Fault> {
        let text = text.trim();
        match fault(text) {
            Some(fault) => Err(fault),
            None => Ok(Label(text.into())),
        }
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Label {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// The labels of a series, in the order of its rows.
///
/// # Guarantee
/// No two are the same. Test: `a_label_can_be_read_and_is_there_once`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    each: Vec<Label>,
    rows: HashMap<Label, usize>,
}

/// Why a text labels no row: what is wrong, and what would be right.
pub type Mislabelled = (String, &'static str);

impl Labels {
    /// Labels the next row.
    pub fn add(&mut self, text: &str) -> Result<(), Mislabelled> {
        let row = self.each.len() + 1;
        let label = Label::new(text).map_err(|fault| match fault {
            Fault::Empty => (
                format!("the label of row {row} is empty"),
                "every row needs a label of its own: it stands on the card",
            ),
            fault => (
                format!("the label {} of row {row} {fault}", quoted(text)),
                fault.help(),
            ),
        })?;
        if let Some(before) = self.rows.insert(label.clone(), row) {
            return Err((
                format!(
                    "rows {before} and {row} have the same label {}",
                    quoted(text)
                ),
                "labels tell the cards of a series apart: write another one",
            ));
        }
        self.each.push(label);
        Ok(())
    }

    /// Of a row, counted from 1.
    pub fn of(&self, row: usize) -> Option<&Label> {
        row.checked_sub(1).and_then(|k| self.each.get(k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_can_be_read_and_is_there_once() {
        let mut labels = Labels::default();
        labels.add(" 08:00 ").unwrap();
        labels.add("9 h").unwrap();
        assert_eq!(labels.of(1).unwrap().as_str(), "08:00");
        assert_eq!((labels.of(0), labels.of(3)), (None, None));
        for (text, said) in [
            ("08:00", "rows 1 and 3 have the same label `08:00`"),
            ("  ", "the label of row 3 is empty"),
            ("a\u{202e}b", "of row 3 holds U+202E"),
        ] {
            let (message, help) = labels.clone().add(text).unwrap_err();
            assert!(message.contains(said), "{message}");
            assert!(!help.is_empty());
        }
    }
}
