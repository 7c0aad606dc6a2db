//! What a model tells the readers of a release: what its private numbers are, and how the released ones are used.
//! All of it is public: it is asked of the model, which has seen no data.

use crate::digits::short;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What a model's numbers mean, for guarantees and cards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meaning {
    /// What is private, and what beside it is not.
    pub subject: Option<Subject>,
    /// How the released numbers are used.
    pub reading: Option<Reading>,
    /// What to do where a certificate is refused because nothing bounds a variable, if bounds cannot be stated.
    pub unbounded: Option<String>,
    /// Settings that the asker left to a public rule.
    pub settings: Vec<Setting>,
}

/// A setting that a rule chose from public numbers alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Its key in a spec: `lambda`.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// The value and what it follows from: `λ = 0.02, by the rule for 600 records, 2 features, ε = 1`.
    pub text: String,
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
    /// A function for each released weight; for every weight where sums of them are released.
    pub terms: Vec<Term>,
    /// Weights of the same sum that are not released by themselves: without them it cannot be formed.
    pub missing: Vec<String>,
    /// What the function of all weights is held to; empty where nothing is promised.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<HeldTo>,
    /// Released numbers that are sums of weights.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sums: Vec<Sum>,
    /// What the sign of the sum decides, for a classifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// A condition that a function is held to at public points; or its weights, if there is no input.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeldTo {
    /// What it does: `increasing`.
    pub behaviour: &'static str,
    /// Along which input; none for a condition on the weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// At which points of it: exact.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<f64>,
}

/// A released sum of weights: Σ coefficient·weight.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sum {
    /// The released number, by name.
    pub name: String,
    /// What it is made of.
    pub parts: Vec<Part>,
}

/// A weight in a sum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Which weight.
    pub weight: String,
    /// What it is multiplied with: exact.
    pub coefficient: f64,
}

impl Sum {
    /// A weight under its own name.
    fn is_a_weight(&self) -> bool {
        matches!(self.parts.as_slice(), [part] if part.coefficient == 1.0 && part.weight == self.name)
    }

    fn has(&self, weight: &str) -> bool {
        self.parts.iter().any(|part| part.weight == weight)
    }
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
    /// Where noise may break every condition.
    pub(crate) fn without_promises(mut self) -> Self {
        self.conditions.clear();
        self
    }

    /// With the weights that the released numbers are made of; none where they are made of none.
    pub(crate) fn released(mut self, answers: Vec<Sum>) -> Option<Self> {
        let (weights, sums): (Vec<Sum>, _) = answers.into_iter().partition(Sum::is_a_weight);
        self.sums = sums;
        let out = |term: &Term| weights.iter().any(|w| w.name == term.weight);
        let missing = self.terms.iter().filter(|term| !out(term));
        self.missing.extend(missing.map(|term| term.weight.clone()));
        // A weight that no sum has counts there as 0, which a reader must see.
        let is_in_a_sum = |term: &Term| self.sums.iter().any(|sum| sum.has(&term.weight));
        if !self.terms.iter().any(is_in_a_sum) {
            self.sums.clear();
            self.terms.retain(out);
        }
        (!self.terms.is_empty()).then_some(self)
    }
}

/// Points of a condition that are written out.
const POINTS_SHOWN: usize = 8;

/// Such as increasing along dose at 0, 5, 10.
impl fmt::Display for HeldTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(input) = &self.input else {
            return write!(f, "{} weights", self.behaviour);
        };
        write!(f, "{} along {input} at ", self.behaviour)?;
        if self.points.len() <= POINTS_SHOWN {
            let points: Vec<String> = self.points.iter().map(|p| short(*p, EXACT)).collect();
            return f.write_str(&points.join(", "));
        }
        let least = self.points.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self
            .points
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        write!(
            f,
            "{} points from {} to {}",
            self.points.len(),
            short(least, EXACT),
            short(most, EXACT)
        )
    }
}

/// Digits that tell any two numbers of a spec apart.
const EXACT: usize = 17;

/// Such as row 0 = 2 × `constant` − 0.5 × `speed`.
impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} =", self.name)?;
        for (
            place,
            Part {
                weight,
                coefficient,
            },
        ) in self.parts.iter().enumerate()
        {
            let sign = match (place, *coefficient < 0.0) {
                (0, false) => "",
                (0, true) => "−",
                (_, false) => "+ ",
                (_, true) => "− ",
            };
            write!(f, " {sign}{} × `{weight}`", coefficient.abs())?;
        }
        Ok(())
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
            Some((low, high)) => write!(
                f,
                ", clipped to [{}, {}] before the fit",
                short(low, EXACT),
                short(high, EXACT)
            ),
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
        // A sum that is released as it is needs no weight by itself.
        let missing = match self.sums.is_empty() {
            true => self.missing.as_slice(),
            false => &[],
        };
        match missing {
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
        if !self.conditions.is_empty() {
            let each: Vec<String> = self.conditions.iter().map(HeldTo::to_string).collect();
            writeln!(f, "  conditions (see feasibility): {}", each.join("; "))?;
        }
        if !self.sums.is_empty() {
            writeln!(
                f,
                "  released are sums of these weights; one whose coefficients are the values of the functions at a point is the sum above at that point:"
            )?;
        }
        for sum in &self.sums {
            writeln!(f, "  {sum}")?;
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
