//! Conditions on the fitted function at public points: its sign, its slope, its curvature; and signs of weights.

use conveil::{Error, Result};

use super::basis::{Form, Function};

/// What the fitted function must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// h(u) ≥ 0.
    Nonnegative,
    /// h(u) ≤ 0.
    Nonpositive,
    /// h'(u) ≥ 0.
    Increasing,
    /// h'(u) ≤ 0.
    Decreasing,
    /// h''(u) ≥ 0.
    Convex,
    /// h''(u) ≤ 0.
    Concave,
}

impl Behaviour {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Behaviour::Nonnegative => "nonnegative",
            Behaviour::Nonpositive => "nonpositive",
            Behaviour::Increasing => "increasing",
            Behaviour::Decreasing => "decreasing",
            Behaviour::Convex => "convex",
            Behaviour::Concave => "concave",
        }
    }

    fn sign(self) -> f64 {
        match self {
            Behaviour::Nonnegative | Behaviour::Increasing | Behaviour::Convex => 1.0,
            Behaviour::Nonpositive | Behaviour::Decreasing | Behaviour::Concave => -1.0,
        }
    }

    fn of(self, form: Form, u: f64) -> f64 {
        self.sign()
            * match self {
                Behaviour::Nonnegative | Behaviour::Nonpositive => form.value(u),
                Behaviour::Increasing | Behaviour::Decreasing => form.slope(u),
                Behaviour::Convex | Behaviour::Concave => form.curvature(u),
            }
    }

    fn is_a_sign(self) -> bool {
        matches!(self, Behaviour::Nonnegative | Behaviour::Nonpositive)
    }
}

/// A condition at public points, or on weights.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The function behaves so along a feature, at these points.
    At {
        /// What it must do.
        behaviour: Behaviour,
        /// The feature.
        feature: String,
        /// The points.
        points: Vec<f64>,
    },
    /// No weight is negative (or none positive).
    Weights {
        /// Whether negative weights are refused; otherwise positive ones are.
        nonnegative: bool,
    },
}

impl Condition {
    /// The function behaves so along a feature, at these points.
    pub fn at(behaviour: Behaviour, feature: &str, points: &[f64]) -> Self {
        Condition::At {
            behaviour,
            feature: feature.into(),
            points: points.to_vec(),
        }
    }

    /// Its block's name, and its rows a with a'w ≥ 0 by name.
    pub(super) fn rows(
        &self,
        functions: &[Function],
        features: &[String],
        names: &[String],
    ) -> Result<(String, Vec<Row>)> {
        let (behaviour, feature, points) = match self {
            Condition::Weights { nonnegative } => {
                let (word, sign) = match nonnegative {
                    true => ("nonnegative", 1.0),
                    false => ("nonpositive", -1.0),
                };
                let row = |j: usize| Row {
                    name: format!("the weight of {} is {word}", names[j]),
                    weights: unit(functions.len(), j, sign),
                };
                let rows = (0..functions.len()).map(row).collect();
                return Ok((format!("{word} weights"), rows));
            }
            Condition::At {
                behaviour,
                feature,
                points,
            } => (*behaviour, feature, points),
        };
        let column = features.iter().position(|f| f == feature);
        let uses = |f: &&Function| Some(f.column) == column && f.form != Form::Constant;
        if !functions.iter().any(|f| uses(&f)) {
            return Err(Error::Input(format!(
                "a condition is about `{feature}`, but no basis function depends on it"
            )));
        }
        // A value depends on every feature; slopes along one do not, as the model is a sum of functions of one feature.
        let others = functions
            .iter()
            .any(|f| f.form != Form::Constant && Some(f.column) != column);
        if behaviour.is_a_sign() && others {
            return Err(Error::Input(format!(
                "the sign of the function at a point of `{feature}` depends on the other features too: ask for signs with one feature only, or for signs of the weights"
            )));
        }
        if points.is_empty() {
            return Err(Error::Input(format!(
                "the condition `{}` along `{feature}` needs at least one point",
                behaviour.name()
            )));
        }
        let row = |&u: &f64| -> Result<Row> {
            let name = format!("{} along {feature} at {u}", behaviour.name());
            if !u.is_finite() {
                return Err(Error::Input(format!("{name}: the point must be finite")));
            }
            let weights: Vec<f64> = functions
                .iter()
                .map(|f| match f.form {
                    Form::Constant => behaviour.of(f.form, u),
                    _ if Some(f.column) == column => behaviour.of(f.form, u),
                    _ => 0.0,
                })
                .collect();
            if weights.iter().any(|w| !w.is_finite()) {
                return Err(Error::Input(format!(
                    "{name}: a basis function is too large there"
                )));
            }
            if weights.iter().all(|w| *w == 0.0) {
                return Err(Error::Input(format!(
                    "{name}: every basis function is flat there, so that no weight matters"
                )));
            }
            Ok(Row { name, weights })
        };
        let rows = points.iter().map(row).collect::<Result<Vec<_>>>()?;
        Ok((format!("{} along {feature}", behaviour.name()), rows))
    }
}

/// a'w ≥ 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) weights: Vec<f64>,
}

fn unit(len: usize, at: usize, value: f64) -> Vec<f64> {
    (0..len)
        .map(|j| if j == at { value } else { 0.0 })
        .collect()
}
