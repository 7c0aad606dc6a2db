//! How good a hyperplane is on records, and how much of it is noise.

use super::Svm;
use conveil::plan::{Decided, Plan};
use conveil::{Error, Result};

/// How a hyperplane does on a set of records.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Score {
    /// Records.
    pub records: usize,
    /// Share of records on their side.
    pub accuracy: f64,
    /// Share of the larger class: what always answering it would score.
    pub majority: f64,
}

impl Svm {
    /// The score of released weights on records. A record on the hyperplane itself counts as a miss.
    pub fn score(&self, released: &[f64], features: &[Vec<f64>], labels: &[bool]) -> Result<Score> {
        if features.len() != labels.len() || features.is_empty() {
            return Err(Error::Input(format!(
                "{} records and {} labels to score",
                features.len(),
                labels.len()
            )));
        }
        let mut right = 0;
        for (values, &label) in features.iter().zip(labels) {
            let value = self.decision_value(released, values)?;
            right += usize::from(if label { value > 0.0 } else { value < 0.0 });
        }
        let positive = labels.iter().filter(|l| **l).count();
        let records = labels.len();
        Ok(Score {
            records,
            accuracy: right as f64 / records as f64,
            majority: positive.max(records - positive) as f64 / records as f64,
        })
    }
}

/// The root of the expected squared noise on the hyperplane over its length without noise: above 1, noise decides;
/// infinite where every weight is 0.
pub fn noise_ratio(plan: &Plan<'_>, decided: &Decided) -> f64 {
    let length = decided.answer.iter().map(|w| w * w).sum::<f64>().sqrt();
    noise_length(plan) / length
}

/// The root of the expected squared length of a plan's noise.
pub fn noise_length(plan: &Plan<'_>) -> f64 {
    let shape = plan.released().shape();
    let rows = (0..shape.noises()).map(|i| shape.row(i));
    let squared: f64 = rows.flatten().map(|t| t * t).sum();
    plan.law().std_dev() * squared.sqrt()
}
