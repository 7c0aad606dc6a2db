//! What a reader of released weights needs: the scaled features, the side of the hyperplane, the labels' names. All of it
//! is public.

use super::{Classifier, ClassifierBuilder, Feature, INTERCEPT, Labels, weight_name};
use conveil::program::{Decision, Meaning, Quantity, Reading, Subject, Term};
use std::collections::BTreeMap;

/// What the labels are called.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    /// What is told: the column of the label.
    pub label: String,
    /// Its value for +1.
    pub positive: String,
    /// Its value for −1.
    pub negative: String,
}

impl Default for Classes {
    fn default() -> Self {
        Classes {
            label: "label".into(),
            positive: "1".into(),
            negative: "-1".into(),
        }
    }
}

impl ClassifierBuilder {
    pub(super) fn meaning(&self) -> Meaning {
        let quantity = |name: &str, bounds| Quantity {
            name: name.into(),
            unit: None,
            bounds,
        };
        let mut terms: Vec<Term> = self.features.iter().map(Feature::term).collect();
        if self.has_intercept() {
            terms.push(Term {
                weight: INTERCEPT.into(),
                kind: "constant",
                input: None,
                numbers: BTreeMap::from([("value", self.loss.sign)]),
                formula: if self.loss.sign > 0.0 { "1" } else { "−1" }.into(),
            });
        }
        let Classes {
            label,
            positive,
            negative,
        } = self.classes.clone();
        let (record, labels) = match self.labels {
            Labels::Private => ("one record, its features and its label", ""),
            Labels::Public(_) => ("the features of one record", "the labels, "),
        };
        let of_records = match self.norm {
            None => "the number of records and the names and bounds of the features".into(),
            Some(norm) => format!(
                "the number of records, names and bounds of features and the norm {norm} that longer records are scaled to"
            ),
        };
        Meaning {
            subject: Some(Subject {
                entry: "one number of one record".into(),
                record: record.into(),
                all: "all records".into(),
                public: format!("{labels}{of_records}"),
            }),
            reading: Some(Reading {
                value: quantity(self.loss.score, None),
                inputs: (self.features.iter())
                    .map(|feature| quantity(&feature.name, feature.bounds))
                    .collect(),
                terms,
                missing: Vec::new(),
                conditions: Vec::new(),
                sums: Vec::new(),
                decision: Some(Decision {
                    label,
                    positive,
                    negative,
                }),
            }),
            unbounded: None,
            settings: self.settings.clone(),
        }
    }
}

impl Classifier {
    /// What the two labels are called.
    pub fn classes(&self) -> &Classes {
        &self.parts.classes
    }
}

impl Feature {
    /// The feature as its weight sees it.
    fn term(&self) -> Term {
        let name = &self.name;
        let (numbers, formula) = match self.bounds {
            None => (BTreeMap::new(), name.clone()),
            Some((low, high)) => {
                let (centre, half) = self.scale(low, high);
                let moved = match centre {
                    0.0 => name.clone(),
                    c if c > 0.0 => format!("({name} − {c})"),
                    c => format!("({name} + {})", -c),
                };
                (
                    BTreeMap::from([("center", centre), ("scale", half)]),
                    format!("{moved}/{half}, with {name} clipped to [{low}, {high}]"),
                )
            }
        };
        Term {
            weight: weight_name(name),
            kind: "scaled",
            input: Some(name.clone()),
            numbers,
            formula,
        }
    }
}
