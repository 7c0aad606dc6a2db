//! What the readers of a release are told: which numbers were private, and how the weights make a function.

use conveil::program::{HeldTo, Meaning, Quantity, Reading, Subject, Term};

use super::basis::Function;
use super::condition::Condition;
use super::{Regression, RegressionBuilder};

impl RegressionBuilder {
    /// What it takes to evaluate the fitted function.
    pub(super) fn reading(&self, functions: &[Function], weights: &[String]) -> Reading {
        let quantity = |name: &str, bounds| Quantity {
            name: name.into(),
            unit: (self.units.iter().find(|(column, _)| column == name))
                .map(|(_, unit)| unit.clone()),
            bounds,
        };
        let features = self.regressors.names();
        let terms = functions.iter().zip(weights);
        let terms: Vec<Term> = terms
            .map(|(f, weight)| f.form.term(weight, &features[f.column]))
            .collect();
        let used = |name: &&String| terms.iter().any(|term| term.input.as_ref() == Some(name));
        Reading {
            value: quantity(&self.response, self.bounds),
            inputs: (features.iter().filter(used))
                .map(|name| quantity(name, None))
                .collect(),
            terms,
            missing: Vec::new(),
            conditions: self.conditions.iter().map(Condition::held_to).collect(),
            sums: Vec::new(),
            decision: None,
        }
    }
}

impl Condition {
    fn held_to(&self) -> HeldTo {
        match self {
            Condition::At {
                behaviour,
                feature,
                points,
            } => HeldTo {
                behaviour: behaviour.name(),
                input: Some(feature.clone()),
                points: points.clone(),
            },
            Condition::Weights { nonnegative } => HeldTo {
                behaviour: match nonnegative {
                    true => "nonnegative",
                    false => "nonpositive",
                },
                input: None,
                points: Vec::new(),
            },
        }
    }
}

impl Regression {
    /// What the response is called, and its unit where one was stated.
    pub fn response(&self) -> (&str, Option<&str>) {
        let value = &self.reading.value;
        (&value.name, value.unit.as_deref())
    }
}

/// Of a record only the response is private: an entry of θ is a record.
pub(super) fn meaning(reading: &Reading) -> Meaning {
    let response = &reading.value.name;
    let one = format!("the response of one record ({response})");
    Meaning {
        subject: Some(Subject {
            entry: one.clone(),
            record: one,
            all: format!("the responses of all records ({response})"),
            public: "the regressors and the number of records".into(),
        }),
        reading: Some(reading.clone()),
        // Nothing but the weights themselves can be bounded by what is released of them.
        unbounded: Some(
            "release all weights, of which anyone can form any sum, or as many independent rows as there are weights; or strategy = output, under which the other weights need not give way to the noise".into(),
        ),
        settings: Vec::new(),
    }
}
