//! A public bound R on the norm ‖(x, 1)‖ of each record, beside the bounds of its features (M8d).
//!
//! Features are clipped to their bounds and scaled to [−1, 1] by them; where the record is then longer than R, x alone is
//! scaled, toward the middle of the bounds, so that the 1 before the intercept stays 1. Without an intercept R bounds ‖x‖.

use super::{Classifier, ClassifierBuilder};
use conveil::program::RecordBall;
use conveil::{Error, Result};

/// A record this part of R beyond it is there by rounding.
const ROUNDING: f64 = 1e-9;

impl ClassifierBuilder {
    /// The public bound R on ‖(x, 1)‖ of each record, x its features in units of their bounds; on ‖x‖ without an intercept.
    pub fn norm(mut self, norm: f64) -> Self {
        self.norm = Some(norm);
        self
    }

    /// What R must exceed: a record in the middle of all bounds has this norm.
    fn shortest(&self) -> f64 {
        shortest(self.has_intercept())
    }

    /// Refuses an R that no record or every record meets.
    pub(super) fn check_norm(&self) -> Result<()> {
        let Some(norm) = self.norm else {
            return Ok(());
        };
        if let Some(feature) = self.features.iter().find(|f| f.bounds.is_none()) {
            return Err(Error::Input(format!(
                "a norm of {norm} is in units of the features' bounds, and `{}` has none",
                feature.name
            )));
        }
        fault(norm, self.features.len(), self.has_intercept())
            .map_or(Ok(()), |fault| Err(Error::Input(format!("norm {fault}"))))
    }

    /// The ball that the features of each record are scaled onto.
    pub(super) fn ball(&self) -> Result<Option<RecordBall>> {
        let (width, features) = (self.width(), self.features.len());
        let ball = |norm: f64| RecordBall::new(width, features, self.length(norm));
        self.norm.map(ball).transpose()
    }

    /// √(R² − 1), or R without an intercept: what ‖x‖ is at most.
    fn length(&self, norm: f64) -> f64 {
        let shortest = self.shortest();
        ((norm - shortest) * (norm + shortest)).sqrt()
    }
}

fn shortest(has_intercept: bool) -> f64 {
    if has_intercept { 1.0 } else { 0.0 }
}

/// What is wrong with R for so many features, ready to stand behind its name.
pub(super) fn fault(norm: f64, features: usize, has_intercept: bool) -> Option<String> {
    let shortest = shortest(has_intercept);
    let longest = (features as f64 + shortest).sqrt();
    if !(norm.is_finite() && norm > shortest) {
        let why = match has_intercept {
            true => "above 1, which the constant before the intercept has alone",
            false => "above 0",
        };
        return Some(format!("must be a number {why}, found {norm}"));
    }
    (norm >= longest).then(|| {
        format!(
            "must be below {longest}, which the bounds of {features} features imply already, found {norm}"
        )
    })
}

impl Classifier {
    /// The public bound R on the norm of each record.
    pub fn norm(&self) -> Option<f64> {
        self.parts.norm
    }

    /// Whether a record, clipped to its bounds, is longer than R and is scaled. Private.
    pub(super) fn is_scaled(&self, values: &[f64]) -> bool {
        let (Some(norm), Ok(scaled)) = (self.parts.norm, self.scaled(values)) else {
            return false;
        };
        let clipped = scaled.iter().map(|x| x.clamp(-1.0, 1.0));
        let length = clipped.map(|x| x * x).sum::<f64>().sqrt();
        length > self.parts.length(norm) * (1.0 + ROUNDING)
    }
}
