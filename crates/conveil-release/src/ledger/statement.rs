//! What the curator states later about a ledger of an earlier version, and the commands that state it.

use super::neighbourhood::in_shell;
use super::{Charge, Holds, Scope};

/// What the curator states, as it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Between which datasets the charges hold.
    pub scope: Scope,
    /// What the statement is about.
    pub about: About,
    /// Whether the charges were fixed before any answer about the dataset was seen.
    pub planned: bool,
}

/// What a statement is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// Every charge that has no neighbourhood, and the budget if it has none.
    AllThatIsOpen,
    /// These, and nothing else; also what an earlier statement was about.
    These {
        /// Charges, by number.
        charges: Vec<u64>,
        /// Whether the budget too.
        budget: bool,
    },
}

impl Statement {
    /// About everything that is open, without a word on what was planned.
    pub fn of_all(scope: &Scope) -> Statement {
        Statement {
            scope: scope.clone(),
            about: About::AllThatIsOpen,
            planned: false,
        }
    }

    /// About these charges, and the budget if `budget`.
    pub fn of_these(scope: &Scope, charges: &[u64], budget: bool) -> Statement {
        let mut charges = charges.to_vec();
        charges.sort_unstable();
        charges.dedup();
        Statement {
            about: About::These { charges, budget },
            ..Statement::of_all(scope)
        }
    }

    /// The same, with the charges stated to have been fixed before any answer was seen.
    #[must_use]
    pub fn planned(self) -> Statement {
        Statement {
            planned: true,
            ..self
        }
    }
}

/// The command that states the rest of the line, up to it.
pub(super) fn command(ledger: &str, dataset: &str) -> String {
    format!(
        "conveil ledger adopt {ledger} --dataset {}",
        in_shell(dataset)
    )
}

/// The flags that state the scope of `like` for charges that are sampled or not; letters stand for what is not known.
pub(super) fn flags(like: &Charge, is_sampled: bool) -> String {
    let Some(Scope {
        neighbourhood,
        holds,
    }) = like.claim().scope()
    else {
        return "--spec SPEC.toml".into();
    };
    let mut flags = neighbourhood.flags();
    if is_sampled {
        if neighbourhood.universe().is_none() {
            flags += " --universe NAME";
        }
        flags += &match holds {
            Holds::Sampled { gamma, beta, .. } => format!(" --gamma {gamma} --beta {beta}"),
            Holds::Everywhere | Holds::GivenAnAnswer => " --gamma G --beta B".into(),
        };
    }
    flags
}

/// What more can be stated, where it is so.
pub(super) fn if_it_is_so(is_sampled: bool) -> &'static str {
    match is_sampled {
        true => "add `--planned` if it was fixed before any answer was seen",
        false => "add `--everywhere` if the card did not say \"given that an answer was produced\"",
    }
}
