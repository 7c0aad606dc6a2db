//! Logistic regression with private records: min λ‖(w, b)‖² + (1/N)Σ log(1 + exp(−yᵢ(w'xᵢ + b))).
//!
//! The loss is 1-Lipschitz in the margin, so that the certificate for regularised empirical risk covers noise on the trained
//! weights (M8d). Noise inside the program is refused: no theorem covers it.

mod starter;

use crate::classifier::{Classifier, ClassifierBuilder, ClassifierSpec, Feature, Laid, Loss};
use crate::model::Kind;

use conveil::program::{Cone, Holds, NewConstraint, NewVariables, Stage};

/// `model = "logistic"`.
pub(crate) static KIND: Kind = Kind {
    word: "logistic",
    read: |table| Ok(Box::new(ClassifierSpec::read(table, &LOGISTIC)?)),
    starter: &starter::STARTER,
    ..crate::svm::KIND
};

/// log(1 + exp(−m)).
static LOGISTIC: Loss = Loss {
    kind: &KIND,
    name: "logistic regression",
    score: "log-odds",
    sign: 1.0,
    trains_for_noise: false,
    why_not: "what noise inside the program makes of a logistic loss is not proven",
    tunes: false,
    entries: 6,
    lay,
};

impl Classifier {
    /// A logistic regression of so many records with these features; λ = 1e-3, the intercept regularised, labels private.
    pub fn logistic(records: usize, features: Vec<Feature>) -> ClassifierBuilder {
        Classifier::with_loss(&LOGISTIC, records, features)
    }
}

/// s ≥ log(1 + exp(−m)) says that exp(−s) + exp(−m − s) ≤ 1: with u for the first part, (−s, 1, u) and (−m − s, 1, 1 − u)
/// lie in the exponential cone. Record i has rows 6i … 6i + 5.
fn lay(records: usize) -> Laid {
    // Losses first, then their parts.
    let column = |records: usize, k: usize| match k.checked_sub(records) {
        None => [(6 * k, 1.0), (6 * k + 3, 1.0)],
        Some(i) => [(6 * i + 2, -1.0), (6 * i + 5, 1.0)],
    };
    let mut costs = vec![1.0 / records as f64; records];
    costs.resize(2 * records, 0.0);
    let variable = |name: &str| NewVariables {
        name: name.into(),
        len: records,
        stage: Stage::Witness,
        entries: Vec::new(),
    };
    let cone = |i: usize, name: &str| NewConstraint {
        name: format!("record {} {name}", i + 1),
        cone: Cone::Exponential,
        holds: Holds::WithNoise,
        rows: Vec::new(),
    };
    Laid {
        column,
        costs,
        limits: [0.0, 1.0, 0.0, 0.0, 1.0, 1.0].repeat(records),
        variables: vec![variable("loss"), variable("part of the loss")],
        constraints: (0..records)
            .flat_map(|i| [cone(i, "loss"), cone(i, "margin")])
            .collect(),
        first: 3,
        apart: 6,
        margin: 1.0,
    }
}
