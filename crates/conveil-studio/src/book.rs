//! The ledger of the spec as a timeline.

use conveil_workbench::Failure;
use conveil_workbench::ledger::LedgerFile;
use serde::Serialize;
use serde_json::Value;

use crate::desk::Desk;
use crate::view::{Picture, text};

/// What the ledger has.
#[derive(Serialize)]
pub(crate) struct Shown {
    text: String,
    figures: Vec<Picture>,
    charges: Vec<Line>,
}

/// One charge.
#[derive(Serialize)]
struct Line {
    when: String,
    dataset: String,
    amount: String,
    kind: String,
}

impl Desk {
    pub(crate) fn book(&self) -> Result<Shown, Failure> {
        let now = self.now()?;
        let bench = &now.opened.bench;
        let (Some(section), Some(file)) = (&bench.spec().ledger, bench.ledger_file()?) else {
            return Ok(Shown {
                text: "The spec names no ledger: nothing keeps count of what is released.".into(),
                figures: Vec::new(),
                charges: Vec::new(),
            });
        };
        let dataset = section.dataset.value.to_string();
        let ledger = LedgerFile::at(&file);
        let accounts = ledger.show(Some(&dataset))?;
        let lines = ledger.export(Some(&dataset))?;
        let entries = lines
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let charges: Vec<Line> = entries.filter_map(|entry: Value| line(&entry)).collect();
        Ok(Shown {
            text: text(&accounts),
            figures: Vec::new(),
            charges,
        })
    }
}

/// A charge of an export, in words.
fn line(entry: &Value) -> Option<Line> {
    let charge = entry.get("charge")?;
    let word = |of: &Value, key: &str| match of.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let delta = match charge.get("delta").and_then(Value::as_f64) {
        Some(delta) if delta > 0.0 => format!(", δ = {delta}"),
        _ => String::new(),
    };
    Some(Line {
        when: word(charge, "day"),
        dataset: word(entry, "dataset"),
        amount: format!("ε = {}{delta}", word(charge, "epsilon")),
        kind: word(charge, "mechanism"),
    })
}
