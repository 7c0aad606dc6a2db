//! JSON values that know their place in the text.
//!
//! The syntax is checked once, over the whole text; after that each value is a slice of it.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::ReadError;
use crate::position::Source;
use crate::spelling::{nearest, quoted, shortened};

/// A named text.
pub(super) struct File<'t> {
    pub(super) name: &'t str,
    pub(super) text: &'t str,
}

impl<'t> File<'t> {
    /// The value that the text consists of.
    pub(super) fn root(&'t self) -> Result<Json<'t>, ReadError> {
        match serde_json::from_str::<&RawValue>(self.text) {
            Ok(raw) => Ok(Json {
                file: self,
                raw: raw.get(),
            }),
            Err(error) => Err(self.syntax_error(&error)),
        }
    }

    fn syntax_error(&self, error: &serde_json::Error) -> ReadError {
        let source = Source::new(self.name, self.text);
        let offset = source.offset(error.line(), error.column());
        // serde_json appends the place, which the diagnostic already has.
        let full = error.to_string();
        let what = full.split(" at line ").next().unwrap_or(&full);
        source.error(offset, format!("not valid JSON: {what}"))
    }
}

/// A value: a slice of the text.
#[derive(Clone, Copy)]
pub(super) struct Json<'t> {
    file: &'t File<'t>,
    raw: &'t str,
}

impl<'t> Json<'t> {
    /// A complaint about this value.
    pub(super) fn error(&self, message: impl Into<String>) -> ReadError {
        // `raw` is a slice of the text, so its address tells its offset.
        let offset = (self.raw.as_ptr() as usize).wrapping_sub(self.file.text.as_ptr() as usize);
        Source::new(self.file.name, self.file.text).error(offset, message)
    }

    /// A complaint about one element of this array.
    pub(super) fn error_at(&self, index: usize, message: impl Into<String>) -> ReadError {
        match self.elements("") {
            Ok(elements) => elements.get(index).unwrap_or(self).error(message),
            Err(_) => self.error(message),
        }
    }

    fn wrong_kind(&self, what: &str, expected: &str) -> ReadError {
        let found = match self.raw.as_bytes().first() {
            Some(b'"') => String::from("a string"),
            Some(b'{') => String::from("an object"),
            Some(b'[') => String::from("an array"),
            Some(b't' | b'f') => String::from("a boolean"),
            Some(b'n') => String::from("null"),
            _ => shortened(self.raw),
        };
        self.error(format!("{what} must be {expected}, found {found}"))
    }

    /// The text of a string, if this is one.
    pub(super) fn string(&self) -> Option<String> {
        serde_json::from_str(self.raw).ok()
    }

    /// The members of an object, all of whose keys are known and different.
    pub(super) fn object(
        &self,
        what: &str,
        known: &'static [&'static str],
    ) -> Result<Object<'t>, ReadError> {
        let mut object = Object {
            json: *self,
            what: String::from(what),
            members: Vec::new(),
        };
        for (key, raw) in self.members(what)? {
            let value = Json {
                file: self.file,
                raw,
            };
            let Some(known_key) = known.iter().find(|&&k| k == key) else {
                let hint = match nearest(&key, known.iter().copied()) {
                    Some(word) => format!("did you mean `{word}`?"),
                    None => format!("known keys: {}", known.join(", ")),
                };
                return Err(value.error(format!("unknown key {} in {what}; {hint}", quoted(&key))));
            };
            if object.members.iter().any(|(taken, _)| taken == known_key) {
                return Err(value.error(format!("{what} has two keys `{known_key}`")));
            }
            object.members.push((known_key, value));
        }
        Ok(object)
    }

    fn members(&self, what: &str) -> Result<Vec<(String, &'t str)>, ReadError> {
        if !self.raw.starts_with('{') {
            return Err(self.wrong_kind(what, "an object"));
        }
        let mut deserializer = serde_json::Deserializer::from_str(self.raw);
        deserializer
            .deserialize_map(Members)
            .map_err(|error| self.error(format!("not valid JSON: {error}")))
    }

    /// The elements of an array.
    pub(super) fn elements(&self, what: &str) -> Result<Vec<Json<'t>>, ReadError> {
        if !self.raw.starts_with('[') {
            return Err(self.wrong_kind(what, "an array"));
        }
        let raws: Vec<&'t RawValue> = serde_json::from_str(self.raw)
            .map_err(|error| self.error(format!("not valid JSON: {error}")))?;
        let file = self.file;
        Ok(raws
            .into_iter()
            .map(|raw| Json {
                file,
                raw: raw.get(),
            })
            .collect())
    }

    /// What stands between the commas of an array that is not empty.
    fn pieces(&self) -> Option<impl Iterator<Item = &'t str>> {
        let inner = self.raw.strip_prefix('[')?.strip_suffix(']')?.trim_ascii();
        (!inner.is_empty()).then(|| inner.split(',').map(str::trim_ascii))
    }

    /// A finite number.
    pub(super) fn number(&self, what: &str) -> Result<f64, ReadError> {
        // JSON writes no infinity; Clarabel's writer puts null in its place.
        if self.raw == "null" {
            return Err(self.error(format!("{what} is not finite (null)")));
        }
        // JSON's numbers are Rust's, and Rust rounds them correctly.
        match self.raw.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(_) => Err(self.error(format!("{what} is not finite ({})", shortened(self.raw)))),
            Err(_) => Err(self.wrong_kind(what, "a number")),
        }
    }

    /// A whole number ≥ 0 that fits a machine word.
    pub(super) fn whole(&self, what: &str) -> Result<usize, ReadError> {
        let digits = self.raw.bytes().all(|byte| byte.is_ascii_digit());
        match self.raw.parse::<usize>() {
            Ok(number) => Ok(number),
            Err(_) if digits => {
                Err(self.error(format!("{what} is too large: {}", shortened(self.raw))))
            }
            Err(_) => Err(self.wrong_kind(what, "a whole number, 0 or more")),
        }
    }

    /// An array of finite numbers.
    pub(super) fn numbers(&self, name: &str) -> Result<Vec<f64>, ReadError> {
        self.array_of(name, Json::number)
    }

    /// An array of whole numbers ≥ 0.
    pub(super) fn wholes(&self, name: &str) -> Result<Vec<usize>, ReadError> {
        self.array_of(name, Json::whole)
    }

    fn array_of<T>(
        &self,
        name: &str,
        read: impl Fn(&Json<'t>, &str) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        // Arrays of numbers are most of a file. The syntax was checked, so that commas part the elements: of anything else
        // than numbers a piece is refused, and the complaint made below.
        if let Some(values) = self.pieces().and_then(|pieces| {
            let each = pieces.map(|raw| read(&Json { raw, ..*self }, "").ok());
            each.collect()
        }) {
            return Ok(values);
        }
        let mut values = Vec::new();
        for (index, element) in self.elements(&format!("`{name}`"))?.iter().enumerate() {
            // The name of an element is spelled out only when something is wrong with it.
            let value = match read(element, "") {
                Ok(value) => value,
                Err(_) => read(element, &format!("`{name}[{index}]`"))?,
            };
            values.push(value);
        }
        Ok(values)
    }
}

/// The members of an object with known keys.
pub(super) struct Object<'t> {
    json: Json<'t>,
    what: String,
    members: Vec<(&'static str, Json<'t>)>,
}

impl<'t> Object<'t> {
    /// The value of a key that must be there.
    pub(super) fn required(&mut self, key: &str) -> Result<Json<'t>, ReadError> {
        match self.members.iter().find(|(name, _)| *name == key) {
            Some((_, value)) => Ok(*value),
            None => Err(self.json.error(format!("{} lacks `{key}`", self.what))),
        }
    }

    /// All members, in the order of the text.
    pub(super) fn into_members(self) -> Vec<(&'static str, Json<'t>)> {
        self.members
    }
}

/// Collects the members of an object without looking into them.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de str)>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
            members.push((key, value.get()));
        }
        Ok(members)
    }
}
