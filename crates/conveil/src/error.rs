//! What can go wrong. One enum at the crate's boundary; every message says what was found, where, and what would be right.
//! Messages may depend on private data: they are the curator's, never the public's.

use serde::Serialize;

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something could not be done.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Malformed numbers, dimensions or names.
    #[error("{0}")]
    Input(String),
    /// What was asked for cannot be guaranteed.
    #[error("refused: {what}\n  because {why}\n  instead: {instead}")]
    Refused {
        /// What was asked.
        what: String,
        /// Why no guarantee can be given.
        why: String,
        /// What would work.
        instead: String,
    },
    /// The program has no feasible point, even without noise.
    #[error("the program itself is infeasible: {0}")]
    Infeasible(Infeasibility),
    /// The objective falls without limit.
    #[error("the program itself is unbounded: {0}")]
    Unbounded(String),
    /// Feasible without noise, but the noise does not fit.
    #[error("feasible without noise, but not with this noise: {0}")]
    NoiseDoesNotFit(Infeasibility),
    /// No noise scale meets the stated privacy.
    #[error("not attainable: {0}")]
    NotAttainable(String),
    /// The solver's best answer did not pass our own check.
    #[error(
        "the solver's best answer is not accurate enough: {residuals}, tolerance {tolerance:e}"
    )]
    Inaccurate {
        /// What our check measured.
        residuals: Residuals,
        /// The public tolerance.
        tolerance: f64,
    },
    /// The solver stopped without an answer.
    #[error("the solver failed: {0}")]
    Numerical(String),
    /// Interrupted by the caller.
    #[error("interrupted")]
    Cancelled,
}

/// How far a primal-dual pair is from optimal. All numbers absolute; the scales make them relative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Residuals {
    /// Violation of b − Ax ∈ K along the cones' interior directions.
    pub primal: f64,
    /// ‖Px + q + A'z‖∞ and the violation of z ∈ K*.
    pub dual: f64,
    /// |x'Px + q'x + b'z|, the difference of the two objectives.
    pub gap: f64,
    /// 1 + ‖b‖∞, where 1 stands for at most a thousand times ‖b‖∞.
    pub primal_scale: f64,
    /// 1 + ‖q‖∞ + ‖Px‖∞, the 1 likewise by the larger of ‖q‖∞ and ‖P‖ times the size that the constraints suggest.
    pub dual_scale: f64,
    /// 1 + |objective|, likewise by that slope times that size.
    pub gap_scale: f64,
    /// ‖x‖∞ in units of the largest (1 + |bᵢ|)/‖aᵢ‖∞, the size that the constraints suggest.
    pub reach: f64,
}

/// The named constraints that exclude each other, with their shares of the certificate.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Infeasibility {
    /// (name, share), largest first, shares adding up to 1.
    pub rows: Vec<(String, f64)>,
}

/// What is known of a solver that stops too early on these cones.
const STALLS: &str = "on generalised power cones the conic solver's steps become too short before it is close enough";

impl From<crate::noise::NoiseError> for Error {
    fn from(e: crate::noise::NoiseError) -> Self {
        Error::Input(e.to_string())
    }
}

impl Error {
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Error::Input(message.into())
    }

    pub(crate) fn refused(
        what: impl Into<String>,
        why: impl Into<String>,
        instead: impl Into<String>,
    ) -> Self {
        Error::Refused {
            what: what.into(),
            why: why.into(),
            instead: instead.into(),
        }
    }

    /// A failed solve of a program with generalised power cones: it is the solver that stalls, whatever the numbers are.
    pub(crate) fn stalled(what: impl std::fmt::Display) -> Self {
        Error::Numerical(format!("{what}; {STALLS}"))
    }

    /// Whether the solver is known to stall on cones of this program.
    pub fn is_a_stall(&self) -> bool {
        matches!(self, Error::Numerical(message) if message.ends_with(STALLS))
    }
}
