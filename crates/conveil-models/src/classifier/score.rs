//! How good a hyperplane is on records, and how much of it is noise.

use super::Classifier;
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

/// Accuracy over draws of the noise, in percent: the one definition behind `accuracy_mean` and `accuracy_std`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of one draw, estimated from all (n − 1).
    pub std: f64,
}

impl Accuracy {
    /// Of the shares of records that each draw has on their side; 0 for no draws.
    pub fn over(shares: &[f64]) -> Self {
        let count = shares.len() as f64;
        let mean = shares.iter().sum::<f64>() / count.max(1.0);
        let squares: f64 = shares.iter().map(|share| (share - mean).powi(2)).sum();
        Accuracy {
            mean: 100.0 * mean,
            std: 100.0 * (squares / (count - 1.0).max(1.0)).sqrt(),
        }
    }
}

impl Classifier {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracy_over_draws_is_in_percent_and_divides_by_one_less() {
        let accuracy = Accuracy::over(&[0.5, 0.7, 0.9]);
        assert!((accuracy.mean - 70.0).abs() < 1e-12);
        // √((0.04 + 0 + 0.04)/2) = 0.2
        assert!((accuracy.std - 20.0).abs() < 1e-12);
        assert_eq!(Accuracy::over(&[0.5]).std, 0.0);
        assert_eq!(Accuracy::over(&[]).mean, 0.0);
    }
}
