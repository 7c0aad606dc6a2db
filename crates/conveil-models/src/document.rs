//! What a model adds to the documents of the engine: fields for machines, in their order, and text for people.

use conveil::curator::Clipped;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::fmt;

use crate::failure::Failure;
use crate::picture::Picture;

/// A value of a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// null.
    Absent(()),
    /// A number; null where it is not finite.
    Number(f64),
    /// A whole number.
    Count(usize),
    /// A word or a sentence.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// An array.
    List(Vec<Value>),
    /// An object.
    Fields(Fields),
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Number(number)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Value::Count(count)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Flag(flag)
    }
}

impl From<(f64, f64)> for Value {
    fn from((low, high): (f64, f64)) -> Self {
        Value::List(vec![low.into(), high.into()])
    }
}

impl From<Fields> for Value {
    fn from(fields: Fields) -> Self {
        Value::Fields(fields)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Absent(()), T::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Self {
        Value::List(values.into_iter().map(T::into).collect())
    }
}

/// Fields of a document, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    /// The same with one more.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.0.push((key, value.into()));
        self
    }

    /// Whether there is one of this name.
    pub fn contains(&self, key: &str) -> bool {
        self.0.iter().any(|(known, _)| *known == key)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Fields for machines, text for people.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Document {
    /// The fields.
    #[serde(flatten)]
    pub fields: Fields,
    /// The same in words, line by line.
    #[serde(skip)]
    pub text: String,
    /// The same in one line, where a line can say it.
    #[serde(skip)]
    pub summary: Option<String>,
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What a model says of a decision about private data. Private.
#[derive(Debug, Default)]
pub struct Annex {
    /// What the curator should be warned of, whether or not a report is asked for.
    pub warning: Option<String>,
    /// What follows the engine's report, where one is asked for.
    pub report: Option<Result<Document, Failure>>,
    /// The same decision as a picture, where a report is asked for and the model has one.
    pub picture: Option<Picture>,
    /// What stands in for the engine's list of clipped values: the same in the words of the file.
    pub clipped: Option<Vec<Clipped>>,
}

/// What `check` shows of a model beside its program. Public.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Its fields.
    pub fields: Fields,
    /// The line that stands for the list of variables.
    pub line: String,
    /// What a private number is called.
    pub private: &'static str,
}

/// What it means that the engine fails on some data, and what may help. Private.
#[derive(Debug, Clone, PartialEq)]
pub struct Help {
    /// What it means in the words of the model; the engine's own words follow.
    pub meaning: Option<String>,
    /// What may help.
    pub help: String,
}
