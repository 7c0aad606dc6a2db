//! The values of a spec, each with its place in the text: to fill in what is blank, or to change what is there, and leave
//! everything else as it is.

use std::ops::Range;

use conveil_text::spelling::{counted, listed, nearest, quoted};
use conveil_text::tables::BLANK;
use toml_edit::{Document, Item, TableLike, Value};

use crate::failure::Failure;

/// The answer that leaves a line out.
pub(super) const LEAVE_OUT: &str = "-";

/// What the words of a blank say where its line may be deleted.
const MAY_GO: &str = "delete the line";

/// Keys whose values are words, also where a word looks like a number.
const WORDS: &[&str] = &[
    "column", "dataset", "file", "name", "network", "response", "stage",
];

/// A value of a spec that is no table.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The names of its tables, and its own, with dots between.
    pub path: String,
    /// Its own name.
    pub key: String,
    /// What is to be written here, where it is blank.
    pub blank: Option<String>,
    span: Range<usize>,
}

impl Place {
    /// Whether its line may be deleted.
    pub fn may_go(&self) -> bool {
        self.blank
            .as_ref()
            .is_some_and(|what| what.contains(MAY_GO))
    }

    /// Its value as the text writes it.
    pub fn value<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.span.clone()).unwrap_or_default()
    }

    /// The number of its line, from 1.
    pub fn line(&self, text: &str) -> usize {
        let before = text.get(..self.span.start).unwrap_or_default();
        before.matches('\n').count() + 1
    }

    fn is(&self, key: &str) -> bool {
        self.path == key || self.key == key
    }
}

/// All values of a spec, in the order of the text.
pub(super) fn places(text: &str) -> Result<Vec<Place>, Failure> {
    let document = Document::parse(text)
        .map_err(|error| Failure::input(format!("the spec is not valid TOML: {error}")))?;
    let mut found = Vec::new();
    visit(document.as_table(), "", &mut found);
    found.sort_by_key(|place| place.span.start);
    Ok(found)
}

fn visit(table: &dyn TableLike, above: &str, found: &mut Vec<Place>) {
    for (key, item) in table.iter() {
        let path = match above {
            "" => key.to_string(),
            above => format!("{above}.{key}"),
        };
        match item {
            Item::Table(table) => visit(table, &path, found),
            Item::ArrayOfTables(tables) => {
                for table in tables {
                    visit(table, &path, found);
                }
            }
            Item::Value(Value::InlineTable(table)) => visit(table, &path, found),
            Item::Value(value) => found.extend(value.span().map(|span| Place {
                path,
                key: key.to_string(),
                blank: blank(value),
                span,
            })),
            Item::None => {}
        }
    }
}

/// What a blank asks for.
fn blank(value: &Value) -> Option<String> {
    let what = value.as_str()?.trim_start().strip_prefix(BLANK)?;
    Some(what.trim_start_matches(':').trim().to_string())
}

/// The place that a key means: the first blank of this name or path, or else the only value.
pub(super) fn named(key: &str, text: &str) -> Result<Place, Failure> {
    let places = places(text)?;
    let blank = |place: &&Place| place.blank.is_some() && place.is(key);
    if let Some(place) = places.iter().find(blank) {
        return Ok(place.clone());
    }
    let found: Vec<&Place> = places.iter().filter(|place| place.is(key)).collect();
    match found.as_slice() {
        [place] => Ok((*place).clone()),
        [] => Err(unknown(key, &places)),
        several => {
            let paths: Vec<&str> = several.iter().map(|place| place.path.as_str()).collect();
            Err(Failure::input(format!(
                "the spec has {} of the name {}: {}",
                counted(several.len(), "value", "values"),
                quoted(key),
                listed(&paths)
            )))
        }
    }
}

fn unknown(key: &str, places: &[Place]) -> Failure {
    let key = key.rsplit('.').next().unwrap_or(key);
    let blanks: Vec<&str> = (places.iter().filter(|place| place.blank.is_some()))
        .map(|place| place.key.as_str())
        .collect();
    let all = places.iter().map(|place| place.key.as_str());
    let help = match (nearest(key, all), blanks.is_empty()) {
        (Some(near), _) => Some(format!("did you mean `{near}`?")),
        (None, true) => None,
        (None, false) => Some(format!("still to be filled in: {}", listed(&blanks))),
    };
    Failure::input(format!("the spec has no value {}", quoted(key))).with_help(help)
}

/// The text with this answer at the place.
pub(super) fn filled(text: &str, place: &Place, answer: &str) -> Result<String, Failure> {
    let answer = answer.trim();
    if answer == LEAVE_OUT {
        return without(text, place);
    }
    let value = written(place, answer)?;
    let mut new = text.to_string();
    // What a comment behind a value says is about that value.
    let is_changed = place.blank.is_none() && place.value(text) != value;
    if let Some(comment) = comment(text, place).filter(|_| is_changed) {
        new.replace_range(comment, "");
    }
    new.replace_range(place.span.clone(), &value);
    // A network of the user's own is a file.
    if place.path == "problem.network" && answer.trim_matches('"').ends_with(".m") {
        let start = text[..place.span.start].rfind('\n').map_or(0, |at| at + 1);
        new.replace_range(start..place.span.start, "file = ");
    }
    Ok(new)
}

/// Where the comment stands that ends the line of a value, with the spaces before it.
fn comment(text: &str, place: &Place) -> Option<Range<usize>> {
    let end = place.span.end;
    let line = text.get(end..)?.lines().next()?;
    // Behind the value there may be the rest of a table in one line, whose strings have no such mark.
    let mark = line.find(" #")?;
    let kept = line[..mark].trim_end().len();
    Some(end + kept..end + line.len())
}

/// The text without the line of a value that may be left out.
pub(super) fn without(text: &str, place: &Place) -> Result<String, Failure> {
    if !place.may_go() {
        return Err(Failure::input(format!(
            "{} cannot be left out",
            quoted(&place.key)
        )));
    }
    let start = text[..place.span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place.span.end..].find('\n');
    let end = end.map_or(text.len(), |at| place.span.end + at + 1);
    Ok(format!("{}{}", &text[..start], &text[end..]))
}

/// An answer as TOML: as it is where it is a value, else as a string.
fn written(place: &Place, answer: &str) -> Result<String, Failure> {
    let fault = |what: &str| {
        let found = quoted(answer);
        Failure::input(format!(
            "{} must be {what}, found {found}",
            quoted(&place.key)
        ))
    };
    if answer.is_empty() {
        return Err(fault("filled in"));
    }
    if answer.contains(char::is_control) {
        return Err(fault("one line without control characters"));
    }
    let number = |answer: &str| answer.parse::<f64>().ok().filter(|x| x.is_finite());
    match place.path.as_str() {
        "privacy.epsilon" | "private.adjacency.alpha" | "privacy.sensitivity.price" => {
            let number = number(answer).filter(|&x| x > 0.0);
            return number.map(shown).ok_or_else(|| fault("a number above 0"));
        }
        "privacy.delta" => {
            let number = number(answer).filter(|&x| x > 0.0 && x < 1.0);
            let number = number.map(shown);
            return number.ok_or_else(|| fault("a number between 0 and 1"));
        }
        "feasibility.eta" => {
            let number = number(answer).filter(|&x| x > 0.0 && x < 0.5);
            let number = number.map(shown);
            return number.ok_or_else(|| fault("a number between 0 and 0.5"));
        }
        "problem.records" => {
            let number = answer.parse::<u32>().ok().filter(|&count| count > 0);
            let number = number.map(|count| count.to_string());
            return number.ok_or_else(|| fault("a whole number above 0"));
        }
        _ => {}
    }
    let value = answer.parse::<Value>().ok();
    let is_feature = place.path.starts_with("problem.features.");
    let is_word = WORDS.contains(&place.key.as_str()) && !is_feature;
    if is_feature && !matches!(value, Some(Value::Array(_))) {
        return Err(fault("[low, high]"));
    }
    Ok(match value {
        Some(value) if !is_word || value.is_str() => value.to_string().trim().into(),
        _ => Value::from(answer).to_string(),
    })
}

/// A number as a spec writes it: with a point, so that it is read as one.
fn shown(number: f64) -> String {
    format!("{number:?}")
}
