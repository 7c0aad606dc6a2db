//! What can go wrong with a release. Messages may depend on private data: they are the curator's, never the public's.

use crate::ledger;

/// The result of a release.
pub type Result<T> = std::result::Result<T, Error>;

/// Why there is no release. Whether a budget was spent by then depends on the step that failed: a charge that was made
/// stays made.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was asked for is refused; nothing was charged.
    #[error("refused: {what}\n  because {why}\n  instead: {instead}")]
    Refused {
        /// What was asked.
        what: String,
        /// Why it is refused.
        why: String,
        /// What would work.
        instead: String,
    },
    /// What the ledger says; nothing was charged.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// What the engine says.
    #[error(transparent)]
    Engine(#[from] conveil::Error),
    /// The noise could not be drawn.
    #[error("the noise could not be drawn: {0}")]
    Noise(String),
    /// The decision does not carry the number that would be released, so nothing is.
    #[error(
        "the decision would not carry the released number `{label}`: it has {found} where {released} is due; the solve is too inaccurate"
    )]
    Decision {
        /// The released number's name.
        label: String,
        /// Qx(ζ̂).
        found: f64,
        /// The number that would be released.
        released: f64,
    },
}

impl Error {
    pub(crate) fn refused(what: &str, why: &str, instead: &str) -> Error {
        Error::Refused {
            what: what.into(),
            why: why.into(),
            instead: instead.into(),
        }
    }
}
