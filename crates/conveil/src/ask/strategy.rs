//! Where the noise goes: into the program, onto its answer, onto its answer and back onto what is feasible (M13), onto its
//! linear cost before it is solved (M17c), or onto the data themselves (M17a, M17e).

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
    /// Noise on the optimal value, which a public room is added to: how often a decision has the released number is known
    /// wherever the feasible values reach far enough.
    Shifted,
    /// Output perturbation, projected onto a public feasible set: always feasible, and as private, since a projection that looks at
    /// nothing private is post-processing.
    Projected,
    /// Noise on the private linear cost, then the program itself: always feasible, and as private, since the solve looks at
    /// the noisy cost and at public numbers alone.
    LinearTerm,
    /// Noise on the private numbers, then the program at the noisy ones: as private, since the solve looks at nothing else.
    /// Nothing is promised of its feasibility for the data themselves.
    Input,
    /// Bounded noise on the private numbers, each moved to its strict side by the bound, then the program at those: always
    /// feasible, and as private.
    Truncated,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 7] = [
        Strategy::Program,
        Strategy::Output,
        Strategy::Shifted,
        Strategy::Projected,
        Strategy::LinearTerm,
        Strategy::Input,
        Strategy::Truncated,
    ];

    /// Its name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Program => "program perturbation",
            Strategy::Output => "output perturbation",
            Strategy::Shifted => "shifted output perturbation",
            Strategy::Projected => "projected output perturbation",
            Strategy::LinearTerm => "noise on the linear term",
            Strategy::Input => "input perturbation",
            Strategy::Truncated => "truncated perturbation",
        }
    }

    /// Its name in a spec.
    pub fn key(self) -> &'static str {
        match self {
            Strategy::Program => "program",
            Strategy::Output => "output",
            Strategy::Shifted => "shifted",
            Strategy::Projected => "projected",
            Strategy::LinearTerm => "linear-term",
            Strategy::Input => "input",
            Strategy::Truncated => "truncated",
        }
    }

    /// Whether every constraint holds, whatever the noise: what is released is made feasible after it.
    pub fn is_always_feasible(self) -> bool {
        matches!(
            self,
            Strategy::Projected | Strategy::LinearTerm | Strategy::Truncated
        )
    }

    /// Whether the noisy numbers are others than the released ones, which are made of them: both are published.
    pub fn is_solved_after_noise(self) -> bool {
        self.noise_is().is_some()
    }

    /// Where the noise is, where it is not on the released numbers: `± 3 before the projection`.
    pub fn noise_is(self) -> Option<&'static str> {
        match self {
            Strategy::Program | Strategy::Output | Strategy::Shifted => None,
            Strategy::Projected => Some("before the projection"),
            Strategy::LinearTerm => Some("before the constraints"),
            Strategy::Input | Strategy::Truncated => Some("on the private numbers"),
        }
    }

    /// What the noisy numbers are, where they are not the released ones.
    pub fn noisy_numbers(self) -> Option<&'static str> {
        match self {
            Strategy::Program | Strategy::Output | Strategy::Shifted => None,
            Strategy::Projected => Some("the noisy answer before its projection"),
            Strategy::LinearTerm => Some("the noisy minimum without the constraints"),
            Strategy::Input | Strategy::Truncated => Some("the noisy data"),
        }
    }

    /// Whether the noise is on the private numbers, and the program solved at them.
    pub fn is_on_the_data(self) -> bool {
        matches!(self, Strategy::Input | Strategy::Truncated)
    }

    /// Whether η says how much room the noise gets.
    pub fn needs_eta(self) -> bool {
        matches!(self, Strategy::Program | Strategy::Shifted)
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
