//! The one η budget over all methods of a program (M5), as the table that reports print.

use serde::Serialize;
use std::fmt;

/// One event, or one group of rows, and its share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetLine {
    /// The method.
    pub method: String,
    /// What shares the event.
    pub serves: String,
    /// Number of rows it serves.
    pub rows: usize,
    /// The share that was allotted.
    pub share: f64,
    /// The probability that is certified: at most the share.
    pub certified: f64,
    /// Holds with this confidence only (sampled methods whose probability cannot be computed).
    pub confidence: Option<f64>,
    /// The set, for people: a box, a radius, a number of samples.
    pub detail: String,
}

/// The table. Shares add up to at most η, unless η is for every row by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Budget {
    pub(super) eta: f64,
    /// η and certified are for every row by itself.
    pub(super) each: bool,
    /// Not so where noise is put on the answer and nothing is promised of a decision.
    pub(super) promised: bool,
    pub(super) lines: Vec<BudgetLine>,
    /// A line is about the optimum of a sampled program.
    #[serde(skip)]
    pub(super) assumes_one_optimum: bool,
}

impl Budget {
    /// η.
    pub fn eta(&self) -> f64 {
        self.eta
    }

    /// The lines.
    pub fn lines(&self) -> &[BudgetLine] {
        &self.lines
    }

    /// Whether the promise is for every row by itself, and none for all rows together.
    pub fn is_for_each_row(&self) -> bool {
        self.each
    }

    /// Whether anything is promised of a decision's feasibility.
    pub fn is_promised(&self) -> bool {
        self.promised
    }

    /// The certified probability of infeasibility, 1 where nothing is promised: the sum over the lines; where the promise
    /// is for every row by itself, the largest that a row has.
    pub fn certified(&self) -> f64 {
        if !self.promised {
            return 1.0;
        }
        let lines = self.lines.iter().map(|l| l.certified);
        match self.each {
            true => lines.fold(0.0, f64::max),
            // An empty sum of floats is −0.
            false => lines.sum::<f64>() + 0.0,
        }
    }

    /// Whether a line is about the optimum of a sampled program, which must then be one point (M5c).
    pub(crate) fn assumes_one_optimum(&self) -> bool {
        self.assumes_one_optimum
    }

    /// The confidence of the certified probability: 1 − Σβ.
    pub fn confidence(&self) -> f64 {
        1.0 - self
            .lines
            .iter()
            .filter_map(|l| l.confidence)
            .map(|c| 1.0 - c)
            .sum::<f64>()
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.lines.iter().map(|line| line.method.chars().count());
        let width = names.fold(15, usize::max);
        writeln!(
            f,
            "  {:<width$} {:>6} {:>11} {:>11}  what",
            "method", "rows", "share", "certified"
        )?;
        for line in &self.lines {
            let confidence = line
                .confidence
                .map_or(String::new(), |c| format!(" (confidence {c})"));
            writeln!(
                f,
                "  {:<width$} {:>6} {:>10.4}% {:>10.4}%  {}{confidence}: {}",
                line.method,
                line.rows,
                100.0 * line.share,
                100.0 * line.certified,
                line.serves,
                line.detail
            )?;
        }
        write!(
            f,
            "  {:<width$} {:>6} {:>10.4}% {:>10.4}%",
            if self.each { "each row" } else { "together" },
            "",
            100.0 * self.eta,
            100.0 * self.certified()
        )
    }
}
