//! Support vector machines with private records: min λ‖(w, b)‖² + (1/N)Σ sᵢ, yᵢ(w'xᵢ − b) ≥ 1 − sᵢ, sᵢ ≥ 0.
//!
//! Under noise each slack answers on its own (M9), so that training is an ordinary sum of hinges at every noise scale, and the
//! certificate for regularised empirical risk covers what is released.

mod starter;

pub use crate::classifier::{
    Accuracy, Class, Classes, Feature, Intercept, Label, Labels, Score, Tune, lambda_by_rule,
    noise_length, noise_ratio,
};

use crate::classifier::{Classifier, ClassifierBuilder, ClassifierSpec, Laid, Loss};
use crate::model::Kind;

use conveil::program::{Cone, Holds, NewConstraint, NewVariables, Stage};

/// A classifier of hinges.
pub type Svm = Classifier;

/// One to be.
pub type SvmBuilder = ClassifierBuilder;

/// What a spec says of one.
pub type SvmSpec = ClassifierSpec;

/// `model = "svm"`.
pub(crate) static KIND: Kind = Kind {
    word: "svm",
    problem: &[
        "records",
        "features",
        "label",
        "lambda",
        "tune",
        "intercept",
        "norm",
    ],
    private: &["data", "test"],
    query: &[],
    releases: &["weights"],
    releases_help: "a classifier releases its `weights`",
    per_alpha: &[],
    facts: &[],
    // A joint η over the losses of all records is dear, and means little for them.
    eta: "eta = 0.05, rows = \"each\"",
    read: |table| Ok(Box::new(ClassifierSpec::read(table, &HINGE)?)),
    starter: &starter::STARTER,
};

/// max(0, 1 − m).
static HINGE: Loss = Loss {
    kind: &KIND,
    name: "support vector machine",
    score: "score",
    sign: -1.0,
    trains_for_noise: true,
    why_not: "",
    tunes: true,
    entries: 3,
    lay,
};

impl Classifier {
    /// A support vector machine of so many records with these features; λ = 1e-3, the intercept regularised, labels private.
    pub fn of(records: usize, features: Vec<Feature>) -> ClassifierBuilder {
        Classifier::with_loss(&HINGE, records, features)
    }
}

/// Rows 0 … N−1 are −1 + m + s ≥ 0, rows N … 2N−1 are s ≥ 0.
fn lay(records: usize) -> Laid {
    let mut limits = vec![0.0; 2 * records];
    limits[..records].fill(-1.0);
    let block = |name: &str| NewConstraint {
        name: name.into(),
        cone: Cone::Nonnegative(records),
        holds: Holds::WithNoise,
        rows: Vec::new(),
    };
    Laid {
        column: |records, i| [(i, -1.0), (records + i, -1.0)],
        costs: vec![1.0 / records as f64; records],
        limits,
        // The hinge of a record: that there is one is all that is claimed.
        variables: vec![NewVariables {
            name: "loss".into(),
            len: records,
            stage: Stage::Witness,
            entries: Vec::new(),
        }],
        constraints: vec![block("margin"), block("not negative")],
        first: 0,
        apart: 1,
        margin: -1.0,
    }
}
