//! Where the noise goes: into the program, onto its answer, onto its answer and back onto what is feasible (M13), or onto its
//! linear cost before it is solved (M17c).

use crate::error::{Error, Result};
use serde::Serialize;

/// What is done with the noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Program perturbation: the decision is a function of the noise, and stays feasible with probability 1 − η.
    #[default]
    Program,
    /// Output perturbation: noise on the answer of the program without noise. Nothing is promised of its feasibility.
    Output,
    /// The same, projected onto a public feasible set: always feasible, and as private, since a projection that looks at
    /// nothing private is post-processing.
    Projected,
    /// Noise on the private linear cost, then the program itself: always feasible, and as private, since the solve looks at
    /// the noisy cost and at public numbers alone.
    LinearTerm,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 4] = [
        Strategy::Program,
        Strategy::Output,
        Strategy::Projected,
        Strategy::LinearTerm,
    ];

    /// Its name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Program => "program perturbation",
            Strategy::Output => "output perturbation",
            Strategy::Projected => "projected output perturbation",
            Strategy::LinearTerm => "noise on the linear term",
        }
    }

    /// Its name in a spec.
    pub fn key(self) -> &'static str {
        match self {
            Strategy::Program => "program",
            Strategy::Output => "output",
            Strategy::Projected => "projected",
            Strategy::LinearTerm => "linear-term",
        }
    }

    /// Whether every constraint holds, whatever the noise: what is released is made feasible after it.
    pub fn is_always_feasible(self) -> bool {
        matches!(self, Strategy::Projected | Strategy::LinearTerm)
    }

    /// Refuses what is about the room that program perturbation makes for the noise.
    pub(crate) fn only_program(self, what: &str) -> Result<()> {
        match self {
            Strategy::Program => Ok(()),
            other => Err(Error::refused(
                format!("{what} of {}", other.name()),
                "it is about the room that the program makes for the noise, and here the noise is on its answer",
                "strategy = program",
            )),
        }
    }
}
