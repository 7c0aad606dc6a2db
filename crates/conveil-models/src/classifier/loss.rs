//! What two kinds of classifiers differ in: the loss of a record, how the program writes it, and what is proven of it.

use crate::model::Kind;
use conveil::program::{NewConstraint, NewVariables};

/// The loss of a record as a function of its margin y(w'x ± b): convex and 1-Lipschitz, so that one certificate covers all
/// (M8d). Each model declares its own.
pub struct Loss {
    /// The kind of model that has it.
    pub(crate) kind: &'static Kind,
    /// How messages call such a classifier.
    pub(crate) name: &'static str,
    /// What a card calls w'x ± b.
    pub(crate) score: &'static str,
    /// What stands before the intercept in the margin: 1 for w'x + b, −1 for w'x − b.
    pub(crate) sign: f64,
    /// Whether the certificate covers training for the noise (strategy `program`) too.
    pub(crate) trains_for_noise: bool,
    /// Why not, ready to stand behind "because".
    pub(crate) why_not: &'static str,
    /// Whether a private choice of λ is proven for it (`tune`).
    pub(crate) tunes: bool,
    /// Numbers that the program has for each record, beside its features.
    pub(crate) entries: usize,
    /// The rows and auxiliary variables of so many losses.
    pub(crate) lay: fn(records: usize) -> Laid,
}

impl std::fmt::Debug for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Loss({})", self.kind.word)
    }
}

impl PartialEq for Loss {
    fn eq(&self, other: &Self) -> bool {
        self.kind.word == other.kind.word
    }
}

/// The losses of a program, without their data.
pub(crate) struct Laid {
    /// Of so many records: the two entries (row, value) of A in an auxiliary variable.
    pub(crate) column: fn(records: usize, auxiliary: usize) -> [(usize, f64); 2],
    /// Costs of the auxiliary variables.
    pub(crate) costs: Vec<f64>,
    /// b.
    pub(crate) limits: Vec<f64>,
    /// The auxiliary variables.
    pub(crate) variables: Vec<NewVariables>,
    /// The constraints.
    pub(crate) constraints: Vec<NewConstraint>,
    /// The row in which the margin of the first record stands.
    pub(crate) first: usize,
    /// How many rows further that of the next record is.
    pub(crate) apart: usize,
    /// A times the weights is so many times the margin there: −1 where the row is b + margin, 1 where it is b − margin.
    pub(crate) margin: f64,
}
