//! What went wrong: a message for people, and a kind for programs.

use std::fmt;

use conveil::Error;
use conveil::curator::About;
use conveil_release::ledger;
use conveil_text::{Located, ReadError};
use serde::Serialize;

use crate::recipient::Row;

/// What went wrong, for programs. A front end makes exit codes, exceptions or status codes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// A bad spec, file or request. Nothing was charged.
    Input,
    /// The program itself is infeasible or unbounded, before any noise.
    NoSolution,
    /// Feasible, but not with this noise or this privacy.
    NotWithThisNoise,
    /// Charged, and only the private data showed that there is no answer.
    NotWithTheseData,
    /// An audit contradicts the claim of the spec.
    Flagged,
    /// A budget is exceeded.
    OverBudget,
    /// The solver failed, or the noise could not be drawn.
    Solver,
    /// The caller interrupted the work.
    Interrupted,
    /// An audit had no answer to look at: no more is known than after a failed solve.
    NothingTested,
    /// A document could not be written.
    NotWritten,
    /// Charged and drawn, but the card, or the decision that belongs to it, did not reach its place.
    Undelivered,
}

impl Kind {
    /// The kind of an error of the engine.
    pub fn of(error: &Error) -> Kind {
        match error {
            Error::Input(_) | Error::Refused { .. } => Kind::Input,
            Error::Infeasible(_) | Error::Unbounded(_) => Kind::NoSolution,
            Error::NoiseDoesNotFit(_) | Error::NotAttainable(_) => Kind::NotWithThisNoise,
            Error::Cancelled => Kind::Interrupted,
            // Inaccurate and Numerical; a kind that the engine adds is a failure of its work as well.
            _ => Kind::Solver,
        }
    }
}

/// What the engine or the ledger said, where a [`Kind`] covers several of its errors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Cause {
    /// What was asked for cannot be guaranteed.
    Refused {
        /// What was asked.
        what: String,
        /// Why no guarantee can be given.
        why: String,
        /// What would work.
        instead: String,
    },
    /// The program has no feasible point, even without noise.
    Infeasible,
    /// The objective falls without limit.
    Unbounded,
    /// Feasible without noise, but the noise does not fit.
    NoiseDoesNotFit,
    /// No noise scale meets the privacy wish.
    NotAttainable,
    /// The ledger refused, or could not be used.
    Ledger,
}

impl Cause {
    fn of(error: &Error) -> Option<Cause> {
        match error {
            Error::Refused { what, why, instead } => Some(Cause::Refused {
                what: what.clone(),
                why: why.clone(),
                instead: instead.clone(),
            }),
            Error::Infeasible(_) => Some(Cause::Infeasible),
            Error::Unbounded(_) => Some(Cause::Unbounded),
            Error::NoiseDoesNotFit(_) => Some(Cause::NoiseDoesNotFit),
            Error::NotAttainable(_) => Some(Cause::NotAttainable),
            _ => None,
        }
    }
}

/// Why a verb has no result: a message that names the file and what to do next, and its [`Kind`]. Messages may depend on
/// private data: they are the curator's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    kind: Kind,
    message: String,
    /// See [`Failure::is_recorded`].
    recorded: bool,
    /// See [`Failure::cause`].
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
}

impl Failure {
    /// A failure of this kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Failure {
            kind,
            message: message.into(),
            recorded: false,
            cause: None,
        }
    }

    /// What the engine says, in these words.
    fn of(error: &Error, message: String) -> Self {
        Failure {
            cause: Cause::of(error),
            ..Failure::new(Kind::of(error), message)
        }
    }

    /// A bad spec, problem or file.
    pub fn input(message: impl Into<String>) -> Self {
        Failure::new(Kind::Input, message)
    }

    /// An audit contradicts the claim of the spec `name`.
    pub fn flagged(name: &str, verdict: &str) -> Self {
        Failure::new(
            Kind::Flagged,
            format!(
                "{name}: {verdict}\n  help: state a larger sensitivity, or a universe that leaves such a pair out"
            ),
        )
    }

    /// No pair of an audit of the spec `name` had an answer on both sides.
    pub fn nothing_tested(name: &str, about: About) -> Self {
        Failure::new(
            Kind::NothingTested,
            format!(
                "{name}: nothing was tested: no pair had an answer on both sides\n  help: the report says why the first pair had none; `{}` finds what would make answers possible, and another universe or other bounds give other pairs",
                explain(name, about)
            ),
        )
    }

    /// What the ledger says.
    pub fn ledger(error: &ledger::Error) -> Self {
        match error {
            ledger::Error::Interrupted { .. } => Failure::interrupted(),
            _ if error.is_over_budget() => Failure::new(Kind::OverBudget, error.to_string()),
            _ => Failure::input(error.to_string()).because(Cause::Ledger),
        }
    }

    /// What a release with the spec `name` says.
    pub fn release(name: &str, error: &conveil_release::Error) -> Self {
        match error {
            conveil_release::Error::Ledger(error) => Failure::ledger(error),
            conveil_release::Error::Engine(error) => Failure::engine(name, error),
            conveil_release::Error::Noise(_) | conveil_release::Error::Decision { .. } => {
                Failure::new(Kind::Solver, format!("{name}: {error}"))
            }
            conveil_release::Error::Refused { what, why, instead } => {
                Failure::input(format!("{name}: {error}")).because(Cause::Refused {
                    what: what.clone(),
                    why: why.clone(),
                    instead: instead.clone(),
                })
            }
            _ => Failure::input(format!("{name}: {error}")),
        }
    }

    /// The caller interrupted the work before anything was charged.
    pub fn interrupted() -> Self {
        Failure::new(Kind::Interrupted, "interrupted; nothing was charged")
    }

    /// The same failure after `what` was charged or recorded. [`Kind::Input`] says that nothing was charged: what only the
    /// data showed to be impossible is [`Kind::NotWithTheseData`].
    #[must_use]
    pub fn after(self, what: &str) -> Self {
        Failure {
            message: format!("{what}, but: {}", self.message),
            kind: match self.kind {
                Kind::Input => Kind::NotWithTheseData,
                other => other,
            },
            recorded: true,
            cause: self.cause,
        }
    }

    /// The same failure after `what` no ledger has recorded: a release without one counts, and nothing keeps count.
    #[must_use]
    pub fn after_unrecorded(self, what: &str) -> Self {
        Failure {
            recorded: false,
            ..self.after(what)
        }
    }

    /// The same failure, which comes from this.
    #[must_use]
    pub(crate) fn because(self, cause: Cause) -> Self {
        Failure {
            cause: Some(cause),
            ..self
        }
    }

    /// The same failure of a recipient after a charge. [`Kind::Input`] says that nothing was charged, and
    /// [`Kind::NotWithTheseData`] that there is no answer: here there is one, and it did not arrive.
    #[must_use]
    pub(crate) fn undelivered(self) -> Self {
        Failure {
            kind: match self.kind {
                Kind::Input => Kind::Undelivered,
                other => other,
            },
            ..self
        }
    }

    /// The same failure, where something was recorded before it and its message says so.
    #[must_use]
    pub(crate) fn recorded(self) -> Self {
        Failure {
            recorded: true,
            ..self
        }
    }

    /// The same failure with a further line of help, if there is one.
    #[must_use]
    pub fn with_help(self, help: Option<String>) -> Self {
        let help = help.map_or(String::new(), |help| format!("\n  help: {help}"));
        Failure {
            message: self.message + &help,
            ..self
        }
    }

    /// The same failure, in a row of a series.
    #[must_use]
    pub fn of_row(self, row: &Row, before: &str) -> Self {
        Failure {
            message: format!("{row} of the series ({before}): {}", self.message),
            ..self
        }
    }

    /// What the engine says about the file `name`, and the way out where there is one.
    pub fn engine(name: &str, error: &Error) -> Self {
        Failure::engine_about(name, About::Private, error)
    }

    /// The same about the data of this kind, which the way out is about too.
    pub fn engine_about(name: &str, about: About, error: &Error) -> Self {
        let message = match error {
            Error::Cancelled => "interrupted".into(),
            _ => format!("{name}: {error}{}", Self::way_out(name, about, error)),
        };
        Failure::of(error, message)
    }

    /// The same, below `what` it means for the model, which has a way out of its own.
    pub fn engine_on(name: &str, what: &str, error: &Error) -> Self {
        Failure::of(error, format!("{name}: {what}\n  {error}"))
    }

    fn way_out(name: &str, about: About, error: &Error) -> String {
        match error {
            Error::NoiseDoesNotFit(_) => format!(
                "\n  help: `{}` finds the smallest epsilon or eta, or the largest alpha, that fits",
                explain(name, about)
            ),
            Error::Infeasible(_) => {
                "\n  help: the data and the limits contradict each other before any noise is added"
                    .into()
            }
            Error::NotAttainable(_) => {
                "\n  help: what can change this: epsilon, eta, the universe, the constraints".into()
            }
            stalled if stalled.is_a_stall() => {
                "\n  help: it is not the size of the numbers: the same constraint in power cones of three entries is solved more closely, and fewer samples, or a method without them, pose fewer cones"
                    .into()
            }
            Error::Numerical(_) | Error::Inaccurate { .. } => {
                "\n  help: numbers of very different sizes are hard to solve: limits or bounds that stand for none (1e9, say), costs far larger or smaller than the others, or data far from the public values; cut them to sizes that can occur, or choose other units"
                    .into()
            }
            _ => String::new(),
        }
    }

    /// What the engine says about a value of the spec `name`, with its line and column.
    pub fn located<T>(name: &str, place: &Located<T>, error: &Error) -> Self {
        Failure::of(error, place.error(name, error.to_string()).to_string())
    }

    /// What went wrong, for programs.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What the engine or the ledger said, where the kind does not tell.
    pub fn cause(&self) -> Option<&Cause> {
        self.cause.as_ref()
    }

    /// Whether something was charged or recorded before, and stays so.
    pub fn is_recorded(&self) -> bool {
        self.recorded
    }
}

/// The command that explains a failure on these data.
fn explain(name: &str, about: About) -> String {
    let at = match about {
        About::Private => "",
        About::Nominal => " --at nominal",
        About::Twin => " --at twin",
    };
    format!("conveil explain {name}{at}")
}

impl From<conveil_models::Failure> for Failure {
    fn from(failure: conveil_models::Failure) -> Self {
        match failure {
            conveil_models::Failure::Read(error) => error.into(),
            conveil_models::Failure::Input(message) => Failure::input(message),
            conveil_models::Failure::Located { read, error } => {
                Failure::of(&error, read.to_string())
            }
            conveil_models::Failure::Engine { name, error } => Failure::engine(&name, &error),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Failure::input(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solver_that_gives_up_comes_with_a_way_out() {
        let failure = Failure::engine("s.toml", &Error::Numerical("no answer".into()));
        assert_eq!(failure.kind(), Kind::Solver);
        let said = "s.toml: the solver failed: no answer\n  help: numbers of very different sizes";
        assert!(failure.to_string().starts_with(said), "{failure}");
    }

    #[test]
    fn a_failure_on_public_data_is_explained_on_the_same_data() {
        let error = Error::NoiseDoesNotFit(Default::default());
        for (about, command) in [
            (About::Private, "`conveil explain s.toml` finds"),
            (
                About::Nominal,
                "`conveil explain s.toml --at nominal` finds",
            ),
            (About::Twin, "`conveil explain s.toml --at twin` finds"),
        ] {
            for failure in [
                Failure::engine_about("s.toml", about, &error),
                Failure::nothing_tested("s.toml", about),
            ] {
                assert!(failure.to_string().contains(command), "{failure}");
            }
        }
    }

    /// A solve of generalised power cones, many of them under scenarios: the numbers are of order one, and the solver stalls.
    #[test]
    fn a_stall_on_generalised_power_cones_is_not_blamed_on_the_numbers() {
        let mut m = conveil::program::Builder::new();
        let x = m.variable("x", 3);
        m.minimize(x.at(0));
        let cone = conveil::program::Cone::GeneralizedPower(vec![0.5, 0.5], 1);
        m.cone("mean", cone, x.entries());
        let program = m.build().unwrap();
        let stalled = conveil::solve::Outcome::Failed("InsufficientProgress".into());
        let error = stalled.into_solution(&program, 1e-7).unwrap_err();
        let failure = Failure::engine("s.toml", &error);
        assert_eq!(failure.kind(), Kind::Solver);
        let said = failure.to_string();
        assert!(said.contains("steps become too short"), "{said}");
        assert!(
            said.contains("help: it is not the size of the numbers"),
            "{said}"
        );
        assert!(!said.contains("numbers of very different sizes"), "{said}");
    }
}
