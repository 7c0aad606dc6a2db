//! What went wrong, for people, and the exit code that says it to programs.

use std::fmt;

use conveil::Error;
use conveil_release::ledger;
use conveil_text::{Located, ReadError};

/// The exit code of a bad spec or input.
const BAD_INPUT: u8 = 2;

/// The exit code of a claim that an audit contradicts.
const FLAGGED: u8 = 4;

/// The exit code of a release that only its data showed to be impossible.
const NOT_WITH_THESE_DATA: u8 = 4;

/// The exit code of a spend that exceeds a budget.
const OVER_BUDGET: u8 = 5;

/// The exit code of an output that could not be written.
const NOT_WRITTEN: u8 = 6;

/// The exit code of a release whose budget is spent and whose card could not be delivered.
const UNDELIVERED: u8 = 7;

/// The exit code of an audit that had no answer to look at: no more is known than after a failed solve.
const NOTHING_TESTED: u8 = 6;

/// A message that names the file and what to do next, with its exit code. Messages may depend on private data: they are
/// the curator's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    message: String,
    exit_code: u8,
}

impl Failure {
    /// A bad spec, problem or file.
    pub fn input(message: impl Into<String>) -> Self {
        Failure {
            message: message.into(),
            exit_code: BAD_INPUT,
        }
    }

    /// The report could not be written.
    pub fn not_written(why: &std::io::Error) -> Self {
        Failure {
            message: format!("cannot write the report to standard output: {why}"),
            exit_code: NOT_WRITTEN,
        }
    }

    /// An audit contradicts the claim of the spec `name`.
    pub fn flagged(name: &str, verdict: &str) -> Self {
        Failure {
            message: format!(
                "{name}: {verdict}\n  help: state a larger sensitivity, or a universe that leaves such a pair out"
            ),
            exit_code: FLAGGED,
        }
    }

    /// No pair of an audit of the spec `name` had an answer on both sides.
    pub fn nothing_tested(name: &str) -> Self {
        Failure {
            message: format!(
                "{name}: nothing was tested: no pair had an answer on both sides\n  help: the report says why the first pair had none; `conveil explain {name}` finds what would make answers possible, and another universe or other bounds give other pairs"
            ),
            exit_code: NOTHING_TESTED,
        }
    }

    /// A file could not be written.
    pub fn file_not_written(name: &str, why: &std::io::Error) -> Self {
        Failure {
            message: format!("cannot write {name}: {why}"),
            exit_code: NOT_WRITTEN,
        }
    }

    /// A budget is exceeded.
    pub fn over_budget(message: impl Into<String>) -> Self {
        Failure {
            message: message.into(),
            exit_code: OVER_BUDGET,
        }
    }

    /// What the ledger says.
    pub fn ledger(error: &ledger::Error) -> Self {
        match error {
            ledger::Error::Interrupted { .. } => Failure::interrupted(),
            _ if error.is_over_budget() => Failure::over_budget(error.to_string()),
            _ => Failure::input(error.to_string()),
        }
    }

    /// What a release with the spec `name` says.
    pub fn release(name: &str, error: &conveil_release::Error) -> Self {
        match error {
            conveil_release::Error::Ledger(error) => Failure::ledger(error),
            conveil_release::Error::Engine(error) => Failure::engine(name, error),
            other => Failure {
                message: format!("{name}: {other}"),
                exit_code: other.exit_code(),
            },
        }
    }

    /// A private document could not be written.
    pub fn document(path: &std::path::Path, why: &std::io::Error) -> Self {
        Failure {
            message: format!("cannot write {}: {why}", path.display()),
            exit_code: NOT_WRITTEN,
        }
    }

    /// A signal came before anything was charged.
    pub fn interrupted() -> Self {
        Failure {
            message: "interrupted; nothing was charged".into(),
            exit_code: Error::Cancelled.exit_code(),
        }
    }

    /// A card, or the decision that belongs to it, did not reach its place.
    pub fn undelivered(message: impl Into<String>) -> Self {
        Failure {
            message: message.into(),
            exit_code: UNDELIVERED,
        }
    }

    /// The same failure, told after the charge that it came after. Exit code 2 says that nothing was charged: what only
    /// the data showed to be impossible is 4.
    #[must_use]
    pub fn after(self, what: &str) -> Self {
        Failure {
            message: format!("{what}, but: {}", self.message),
            exit_code: match self.exit_code {
                BAD_INPUT => NOT_WITH_THESE_DATA,
                other => other,
            },
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
    pub fn of_row(self, row: usize, before: &str) -> Self {
        Failure {
            message: format!("row {row} of the series ({before}): {}", self.message),
            ..self
        }
    }

    /// What the engine says about the file `name`, and the way out where there is one.
    pub fn engine(name: &str, error: &Error) -> Self {
        let message = match error {
            Error::Cancelled => "interrupted".into(),
            _ => format!("{name}: {error}{}", Self::way_out(name, error)),
        };
        Failure {
            message,
            exit_code: error.exit_code(),
        }
    }

    /// The same, below `what` it means for the model, which has a way out of its own.
    pub fn engine_on(name: &str, what: &str, error: &Error) -> Self {
        Failure {
            message: format!("{name}: {what}\n  {error}"),
            exit_code: error.exit_code(),
        }
    }

    fn way_out(name: &str, error: &Error) -> String {
        match error {
            Error::NoiseDoesNotFit(_) => format!(
                "\n  help: `conveil explain {name}` finds the smallest epsilon or eta, or the largest alpha, that fits"
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
        Failure {
            message: place.error(name, error.to_string()).to_string(),
            exit_code: error.exit_code(),
        }
    }

    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        self.exit_code
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solver_that_gives_up_comes_with_a_way_out() {
        let failure = Failure::engine("s.toml", &Error::Numerical("no answer".into()));
        assert_eq!(failure.exit_code(), 6);
        let said = "s.toml: the solver failed: no answer\n  help: numbers of very different sizes";
        assert!(failure.to_string().starts_with(said), "{failure}");
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
        assert_eq!(failure.exit_code(), 6);
        let said = failure.to_string();
        assert!(said.contains("steps become too short"), "{said}");
        assert!(
            said.contains("help: it is not the size of the numbers"),
            "{said}"
        );
        assert!(!said.contains("numbers of very different sizes"), "{said}");
    }
}
