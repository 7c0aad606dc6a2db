//! The ledger of the spec as a timeline.

use conveil_pages::figures::{self, Charged};
use conveil_workbench::Failure;
use conveil_workbench::ledger::{Accounts, LedgerFile};
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
        // A first spec names a ledger before there is one.
        if !file.exists() {
            let missing = ledger.show(Some(&dataset)).err();
            return Ok(Shown {
                text: missing.map_or(String::new(), |why| self.without_folder(&text(&why))),
                figures: Vec::new(),
                charges: Vec::new(),
            });
        }
        let accounts = ledger.show(Some(&dataset))?;
        let lines = ledger.export(Some(&dataset))?;
        let entries = lines
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let entries: Vec<Value> = entries.collect();
        Ok(Shown {
            text: text(&accounts),
            figures: timeline(&accounts, &entries).into_iter().collect(),
            charges: entries.iter().filter_map(line).collect(),
        })
    }
}

/// What was spent, charge by charge, below the budget; nothing before the first charge. The numbers are those of the export and of
/// the account: nothing is composed here.
fn timeline(accounts: &Accounts, entries: &[Value]) -> Option<Picture> {
    let account = accounts.accounts.first()?;
    let charged = entries.iter().filter_map(|entry| {
        let charge = entry.get("charge")?;
        Some(Charged {
            day: charge.get("day")?.as_str()?.into(),
            epsilon: charge.get("epsilon")?.as_f64()?,
        })
    });
    let charged: Vec<Charged> = charged.collect();
    if charged.is_empty() {
        return None;
    }
    let document = serde_json::to_value(account).ok()?;
    let counted = document.get("spent").and_then(|spent| spent.get("epsilon"));
    let counted = counted.and_then(Value::as_f64);
    let budget = account.budget.epsilon();
    let title = "Spent of the budget";
    Some(Picture {
        title,
        svg: figures::spent(title, &charged, budget, counted),
        caption: format!(
            "Each charge adds its ε; the budget is ε = {budget}. What they count as together decides: the account has it."
        ),
        private: false,
    })
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
