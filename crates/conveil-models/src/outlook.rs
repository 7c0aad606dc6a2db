//! How strategies would do on a dataset, by one measure of error.

use conveil::ask::Strategy;
use conveil::curator::{Comparison, StrategyRow};
use serde::Serialize;

/// How a setting and its alternatives would do on a dataset, by one measure of error: smaller is better.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlook {
    /// What is measured, in words: "the share of records on the wrong side".
    pub measure: String,
    /// The error of the setting that was chosen.
    pub chosen: f64,
    /// The error without noise, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_noise: Option<f64>,
    /// Other settings at equal privacy.
    pub others: Vec<Alternative>,
    /// What needs no release: a constant, the larger class, a public number.
    pub trivial: Option<Alternative>,
}

/// Another setting, or another answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternative {
    /// What to write in the spec, or what the answer is.
    pub name: String,
    /// Its error.
    pub error: f64,
    /// How many times better it must be to be worth a word.
    #[serde(skip)]
    pub worth: f64,
}

/// Another strategy is worth a word where the error is so many times smaller.
const WORTH: f64 = 1.2;

impl Alternative {
    /// An alternative that is worth a word where it is 1.2 times better.
    pub fn new(name: impl Into<String>, error: f64) -> Self {
        Alternative {
            name: name.into(),
            error,
            worth: WORTH,
        }
    }

    /// The same, worth a word only where it is so many times better: one of many that were tried is the best by luck too.
    pub fn worth(self, worth: f64) -> Self {
        Alternative { worth, ..self }
    }
}

/// Losses of a strategy and of those that promise as much.
#[derive(Debug, Clone, PartialEq)]
pub struct ByStrategy {
    /// That of the strategy itself, over the draws where there are some.
    pub chosen: f64,
    /// The same without draws, where it is known.
    pub exact: Option<f64>,
    /// Those of the others that apply and are feasible as often, each by the line that asks for it.
    pub others: Vec<Alternative>,
}

/// The expected losses of a comparison, seen from one of its strategies. None where that has no loss.
pub fn by_strategy(compared: &Comparison, chosen: Strategy) -> Option<ByStrategy> {
    let loss = |row: &StrategyRow| row.sampled_loss.or(row.loss);
    let row_of = |strategy: Strategy| {
        let name = match strategy {
            Strategy::Program => "program",
            Strategy::Output => "output",
            Strategy::Shifted => "shifted output",
            Strategy::Input => "input",
            Strategy::Truncated => "truncated",
            Strategy::Projected => "projected output",
            Strategy::LinearTerm => "linear term",
        };
        let mut rows = compared.rows.iter();
        rows.find(|row| row.strategy == name && row.status == "ok")
    };
    let infeasible = |row: &StrategyRow| {
        let percent = row.infeasible_percent.or(row.sampled_infeasible_percent);
        percent.unwrap_or(100.0)
    };
    let of_chosen = row_of(chosen)?;
    let others = Strategy::ALL.iter().filter(|other| **other != chosen);
    let others = others.filter_map(|&other| {
        // Whether noise on the data breaks limits is measured only, and bounded noise is another mechanism: for `compare` to show.
        if other.is_on_the_data() {
            return None;
        }
        let row = row_of(other).filter(|row| infeasible(row) <= infeasible(of_chosen))?;
        let name = format!("strategy = \"{}\"", other.key());
        Some(Alternative::new(name, loss(row)?))
    });
    Some(ByStrategy {
        chosen: loss(of_chosen)?,
        exact: of_chosen.loss,
        others: others.collect(),
    })
}
