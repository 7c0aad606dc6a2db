//! What a model tells the readers of a release: what its private numbers are, and how the released ones are used.
//! All of it is public: it is asked of the model, which has seen no data.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// What a model's numbers mean, for guarantees and cards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meaning {
    /// What is private, and what beside it is not.
    pub subject: Option<Subject>,
    /// How the released numbers are used.
    pub reading: Option<Reading>,
}

/// The private numbers in the model's words, each ready to stand behind “protects: ”.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// One entry of θ: `the response of one record`.
    pub entry: String,
    /// One record of θ.
    pub record: String,
    /// All of θ: `the responses of all records`.
    pub all: String,
    /// What a reader may take for private, and is public: `the regressors and the number of records`.
    pub public: String,
}

/// A function whose coefficients are released: Σ weight·function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reading {
    /// What the sum stands for.
    pub value: Quantity,
    /// What the functions depend on.
    pub inputs: Vec<Quantity>,
    /// A function for each released weight.
    pub terms: Vec<Term>,
    /// Weights of the same sum that are not released: without them it cannot be formed.
    pub missing: Vec<String>,
    /// What the sign of the sum decides, for a classifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// What is answered on either side of 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// What is told: the column of the label.
    pub label: String,
    /// Its value where the sum is positive.
    pub positive: String,
    /// Its value where the sum is negative.
    pub negative: String,
}

/// A named quantity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quantity {
    /// Its name.
    pub name: String,
    /// Its unit, where one was stated.
    pub unit: Option<String>,
    /// Public bounds that it was clipped to.
    pub bounds: Option<(f64, f64)>,
}

/// A function and the weight it stands with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Term {
    /// The released number, by name.
    pub weight: String,
    /// The kind of the function.
    pub kind: &'static str,
    /// The input that it depends on; none for a constant.
    pub input: Option<String>,
    /// Its numbers, by name: exact.
    #[serde(flatten)]
    pub numbers: BTreeMap<&'static str, f64>,
    /// The function, written out.
    pub formula: String,
}

impl Reading {
    /// With the weights of `labels` alone; none where no weight is released as it is.
    pub(crate) fn released(mut self, labels: &[String]) -> Option<Self> {
        let (kept, missing) =
            (self.terms.into_iter()).partition(|term| labels.contains(&term.weight));
        self.terms = kept;
        let missing: Vec<Term> = missing;
        self.missing
            .extend(missing.into_iter().map(|term| term.weight));
        (!self.terms.is_empty()).then_some(self)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.unit {
            None => write!(f, "{}, in the unit of the records", self.name)?,
            Some(unit) => write!(f, "{} in {unit}", self.name)?,
        }
        match self.bounds {
            None => Ok(()),
            Some((low, high)) => write!(f, ", clipped to [{low}, {high}] before the fit"),
        }
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.value.name;
        let is = match self.decision {
            None => "is fitted by",
            Some(_) => "is",
        };
        match self.missing.as_slice() {
            [] => writeln!(f, "{name} {is} the sum of weight × function:")?,
            missing => writeln!(
                f,
                "{name} {is} the sum of weight × function, of which {} not released ({}):",
                match missing.len() {
                    1 => "1 weight is".to_string(),
                    many => format!("{many} weights are"),
                },
                super::list_some(&missing.iter().map(String::as_str).collect::<Vec<_>>())
            )?,
        }
        for term in &self.terms {
            writeln!(f, "  {}: {}", term.weight, term.formula)?;
        }
        if let Some(decision) = &self.decision {
            let Decision {
                label,
                positive,
                negative,
            } = decision;
            return write!(
                f,
                "  {label} is {positive} where {name} > 0, and {negative} where {name} < 0"
            );
        }
        let quantities = self.inputs.iter().chain([&self.value]);
        let each: Vec<String> = quantities.map(ToString::to_string).collect();
        write!(f, "  {}", each.join("; "))
    }
}
