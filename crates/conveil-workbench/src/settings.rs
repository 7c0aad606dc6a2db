//! The settings of a spec that a user moves to see what they do: ε, δ, α, η, the method, the certificate and the strategy. Moved
//! settings are a new text of the spec, with its comments and order, which every other verb reads like any other.

use std::path::Path;

use conveil::ask::Strategy;
use conveil::certify::certificates;
use conveil::chance::methods;
use conveil_models::spec::{Sensitivity, StrategyChoice};
use serde::{Deserialize, Serialize};
use toml_edit::{DocumentMut, InlineTable, Item, TableLike, value};

use crate::failure::Failure;
use crate::observer::Observer;
use crate::workbench::Workbench;

/// The certificate is a table of its own: it is set as a whole.
const CERTIFICATE: &str = "certificate";

/// How far a slider goes from the value in the spec, by a factor to each side.
const REACH: f64 = 64.0;

/// η stays below one half.
const LARGEST_ETA: f64 = 0.49;

/// A value of a setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

/// A setting of a spec, and where it can go.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// Its name: `epsilon`, `delta`, `alpha`, `eta`, `method`, `certificate` or `strategy`.
    pub name: &'static str,
    /// What a page calls it.
    pub label: &'static str,
    /// Its unit; empty where it has none.
    pub unit: String,
    /// What it is now.
    pub value: Value,
    /// The ends of its slider, for a number.
    #[serde(flatten)]
    pub ends: Option<Ends>,
    /// Its words, for a word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
}

/// Where a number can go.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ends {
    /// The smallest value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
}

/// Where a setting of one key stands in a spec: its table, and its key there.
fn place(name: &str) -> Option<(&'static [&'static str], &'static str)> {
    Some(match name {
        "epsilon" => (&["privacy"], "epsilon"),
        "delta" => (&["privacy"], "delta"),
        "alpha" => (&["private", "adjacency"], "alpha"),
        "eta" => (&["feasibility"], "eta"),
        "method" => (&["feasibility"], "method"),
        "strategy" => (&["feasibility"], "strategy"),
        _ => return None,
    })
}

impl Workbench {
    /// The settings that can be moved. Public.
    pub fn movable(&self) -> Vec<Setting> {
        let spec = self.spec();
        let number = |name, label, unit: &str, now: f64, highest: f64| Setting {
            name,
            label,
            unit: unit.into(),
            value: Value::Number(now),
            ends: Some(Ends {
                low: now / REACH,
                high: (now * REACH).min(highest),
            }),
            choices: Vec::new(),
        };
        let word = |name, label, now: &str, words: Vec<String>| Setting {
            name,
            label,
            unit: String::new(),
            value: Value::Word(now.into()),
            ends: None,
            choices: words,
        };
        let privacy = &spec.privacy.mechanism;
        let mut settings = vec![number("epsilon", "ε", "", privacy.epsilon(), f64::MAX)];
        if privacy.delta() > 0.0 {
            settings.push(number("delta", "δ", "", privacy.delta(), LARGEST_ETA));
        }
        // Where the spec says whom it protects, α follows from that.
        if let (Some(alpha), None) = (spec.private.adjacency.value.alpha(), &spec.private.protects)
        {
            let unit = spec.private.unit.as_ref();
            let unit = unit.map_or("", |unit| unit.value.as_str());
            settings.push(number("alpha", "α", unit, alpha, f64::MAX));
        }
        if let Some(eta) = spec.feasibility.eta {
            settings.push(number("eta", "η", "", eta, LARGEST_ETA));
            let mut words = vec!["auto".to_string()];
            words.extend(methods().iter().map(|kind| kind.word().to_string()));
            let now = spec.feasibility.promise.stated_method().word();
            settings.push(word("method", "method", now, words));
        }
        let by = spec.privacy.sensitivity.value.by();
        let mut words: Vec<String> = vec!["sampled".into()];
        if let Sensitivity::PerAlpha(_) | Sensitivity::By(_) = spec.privacy.sensitivity.value
            && by == "declared"
        {
            words.push(by.into());
        }
        words.extend(certificates().iter().map(|kind| kind.word().to_string()));
        settings.push(word(CERTIFICATE, "certificate", by, words));
        let mut words = vec!["auto".to_string()];
        words.extend(
            Strategy::ALL
                .iter()
                .map(|strategy| strategy.key().to_string()),
        );
        let now = match spec.feasibility.choice {
            StrategyChoice::Stated => spec.feasibility.strategy.value.key(),
            StrategyChoice::Open | StrategyChoice::ByRule { .. } => "auto",
        };
        settings.push(word("strategy", "strategy", now, words));
        settings
    }
}

/// The spec with this setting moved, and opened: its text, and the workbench that it makes. `original` is the text of the file, whose
/// certificate comes back with its terms where it is chosen again. Nothing private is read, and no file outside of `within`.
pub fn moved(
    (path, within): (&Path, &Path),
    (original, text): (&str, &str),
    (name, to): (&str, &Value),
    observer: &dyn Observer,
) -> Result<(String, Workbench), Failure> {
    let mut document = parsed(path, text)?;
    if name != CERTIFICATE {
        let (tables, key) = place(name).ok_or_else(|| unknown(name))?;
        let table = table_of(&mut document, tables)?;
        set(table, key, of(to)?);
        return opened((path, within), document.to_string(), observer);
    }
    let Value::Word(by) = to else {
        return Err(Failure::input("a certificate is chosen by its word"));
    };
    // With the terms that the spec states, as far as the new certificate takes them; the first that opens is taken.
    let mut tries: Vec<Item> = Vec::new();
    let before = parsed(path, original)?;
    let stated = before
        .get("privacy")
        .and_then(|privacy| privacy.get("sensitivity"));
    let present = document
        .get("privacy")
        .and_then(|privacy| privacy.get("sensitivity"));
    for stated in [stated, present].into_iter().flatten() {
        let mut table = inline(stated);
        table.insert("by", by.as_str().into());
        tries.push(value(table.clone()));
        for drop in [
            "value",
            "per_alpha",
            "reason",
            "gamma",
            "beta",
            "seed",
            "size",
            "on",
        ] {
            table.remove(drop);
        }
        tries.push(value(table));
    }
    let mut bare = InlineTable::new();
    bare.insert("by", by.as_str().into());
    if by == "sampled" {
        bare.insert("gamma", 0.1.into());
        bare.insert("beta", 0.1.into());
    }
    tries.push(value(bare));
    let mut refused = None;
    for item in tries {
        let mut document = document.clone();
        set(table_of(&mut document, &["privacy"])?, "sensitivity", item);
        match opened((path, within), document.to_string(), observer) {
            Ok(found) => return Ok(found),
            Err(failure) => refused = Some(failure),
        }
    }
    Err(refused.unwrap_or_else(|| unknown(by)))
}

fn opened(
    (path, within): (&Path, &Path),
    text: String,
    observer: &dyn Observer,
) -> Result<(String, Workbench), Failure> {
    let bench = Workbench::open_text(path, &text, within, observer)?;
    Ok((text, bench))
}

fn parsed(path: &Path, text: &str) -> Result<DocumentMut, Failure> {
    text.parse()
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

fn unknown(name: &str) -> Failure {
    Failure::input(format!("there is no setting {name:?}"))
}

fn of(to: &Value) -> Result<Item, Failure> {
    match to {
        Value::Number(number) if number.is_finite() => Ok(value(*number)),
        Value::Number(_) => Err(Failure::input("a setting must be a finite number")),
        Value::Word(word) => Ok(value(word.as_str())),
    }
}

/// The table, made where it is missing.
fn table_of<'d>(
    document: &'d mut DocumentMut,
    tables: &[&str],
) -> Result<&'d mut dyn TableLike, Failure> {
    let mut at: &mut dyn TableLike = document.as_table_mut();
    for name in tables {
        at = at
            .entry(name)
            .or_insert_with(toml_edit::table)
            .as_table_like_mut()
            .ok_or_else(|| Failure::input(format!("`{name}` of the spec is no table")))?;
    }
    Ok(at)
}

/// Sets a key, and keeps the comment behind it.
fn set(table: &mut dyn TableLike, key: &str, mut item: Item) {
    if let (Some(before), Some(after)) =
        (table.get(key).and_then(Item::as_value), item.as_value_mut())
    {
        *after.decor_mut() = before.decor().clone();
    }
    table.insert(key, item);
}

/// A table as one line.
fn inline(item: &Item) -> InlineTable {
    match item {
        Item::Value(toml_edit::Value::InlineTable(table)) => table.clone(),
        Item::Table(table) => table.clone().into_inline_table(),
        _ => InlineTable::new(),
    }
}
