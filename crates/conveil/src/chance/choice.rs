//! What is asked of feasibility: η, the method, what single blocks ask for. Public.

use super::{Kind, Sampling, Split, methods};
use crate::error::{Error, Result};
use crate::noise::{Factor, SampleSize};
use std::fmt;

/// The user's choice of method: one of [`methods`], or the default table of the module's documentation.
#[derive(Clone, Copy)]
pub struct Choice {
    pub(super) kind: Option<&'static dyn Kind>,
    pub(super) factor: Option<Factor>,
}

impl Choice {
    /// The default table.
    pub const AUTO: Choice = Choice {
        kind: None,
        factor: None,
    };

    /// This kind of method.
    pub const fn by(kind: &'static dyn Kind) -> Self {
        Choice {
            kind: Some(kind),
            factor: None,
        }
    }

    /// The choice that a spec calls so: `auto`, or the word of one of [`methods`].
    pub fn named(word: &str) -> Option<Self> {
        if word == Choice::AUTO.word() {
            return Some(Choice::AUTO);
        }
        let mut kinds = methods().iter();
        kinds
            .find(|kind| kind.word() == word)
            .map(|kind| Choice::by(*kind))
    }

    /// The same with this factor row by row; none is the smallest that is proven.
    pub fn with(mut self, factor: impl Into<Option<Factor>>) -> Self {
        self.factor = factor.into();
        self
    }

    /// Its word in a spec.
    pub fn word(&self) -> &'static str {
        self.kind.map_or("auto", Kind::word)
    }

    /// What reports call it.
    pub fn name(&self) -> &'static str {
        self.kind.map_or("auto", Kind::name)
    }

    /// The chosen kind; none for the default table.
    pub fn kind(&self) -> Option<&'static dyn Kind> {
        self.kind
    }
}

impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        self.word() == other.word() && self.factor == other.factor
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Choice({}", self.word())?;
        self.factor
            .map_or(Ok(()), |factor| write!(f, ", {factor:?}"))?;
        write!(f, ")")
    }
}

/// The η that a block states for itself.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockEta {
    /// For the whole block, divided equally among its rows.
    Whole(f64),
    /// One for each row.
    Rows(Vec<f64>),
}

impl BlockEta {
    /// η of each of so many rows.
    pub(super) fn of_rows(&self, rows: usize) -> Vec<f64> {
        match self {
            BlockEta::Whole(eta) => vec![eta / rows as f64; rows],
            BlockEta::Rows(etas) => etas.clone(),
        }
    }
}

/// What one block asks for beyond the common choice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockChoice {
    /// The block's name.
    pub block: String,
    /// Its method.
    pub method: Option<Choice>,
    /// Weight of its rows within the rows' share; for a block served by a box, a ball or scenarios, the weight of that
    /// event against the other groups (the largest among its blocks counts). 1 by default.
    pub weight: Option<f64>,
    /// Its own η; taken off the budget first.
    pub eta: Option<BlockEta>,
}

/// What is asked of feasibility. Public.
#[derive(Clone, Debug, PartialEq)]
pub struct Feasibility {
    pub(crate) eta: f64,
    pub(crate) each: bool,
    pub(crate) method: Choice,
    pub(crate) split: Split,
    pub(super) sampling: Sampling,
    pub(super) blocks: Vec<BlockChoice>,
}

impl Default for Feasibility {
    fn default() -> Self {
        Feasibility {
            eta: 0.01,
            each: false,
            method: Choice::AUTO,
            split: Split::Symmetric,
            sampling: Sampling {
                size: SampleSize::Exact,
                beta: 1e-6,
                seed: 1,
            },
            blocks: Vec::new(),
        }
    }
}

impl Feasibility {
    /// Infeasible with probability at most η.
    pub fn eta(eta: f64) -> Self {
        Feasibility {
            eta,
            ..Self::default()
        }
    }

    /// Every row by itself is violated with probability at most η; nothing is promised of all rows together. For losses,
    /// whose rows say how good a model is on one record each.
    pub fn each(eta: f64) -> Self {
        Feasibility {
            each: true,
            ..Self::eta(eta)
        }
    }

    /// Another η; shares that blocks state for themselves shrink or grow with it.
    pub fn with_eta(mut self, eta: f64) -> Self {
        let factor = eta / self.eta;
        for stated in self.blocks.iter_mut().filter_map(|b| b.eta.as_mut()) {
            match stated {
                BlockEta::Whole(eta) => *eta *= factor,
                BlockEta::Rows(etas) => etas.iter_mut().for_each(|eta| *eta *= factor),
            }
        }
        self.eta = eta;
        self
    }

    /// One method for all blocks.
    pub fn method(mut self, method: Choice) -> Self {
        self.method = method;
        self
    }

    /// The method that is asked for where a block states none of its own.
    pub fn stated_method(&self) -> Choice {
        self.method
    }

    /// The mass box's split.
    pub fn split(mut self, split: Split) -> Self {
        self.split = split;
        self
    }

    /// Sample size, confidence 1−β and public seed of sampled methods.
    pub fn sampling(mut self, size: SampleSize, beta: f64, seed: u64) -> Self {
        self.sampling = Sampling { size, beta, seed };
        self
    }

    /// A block's own choice.
    pub fn block(mut self, choice: BlockChoice) -> Self {
        self.blocks.push(choice);
        self
    }

    /// The same with a method for local recourse wherever the method is left open (M9).
    pub(crate) fn with_local_recourse(&self) -> Self {
        let local = methods().iter().find(|kind| kind.needs_local_recourse());
        let mut asked = self.clone();
        let Some(local) = local.map(|kind| Choice::by(*kind)) else {
            return asked;
        };
        let stated = asked.blocks.iter_mut().filter_map(|b| b.method.as_mut());
        for open in stated.chain([&mut asked.method]) {
            if *open == Choice::AUTO {
                *open = local;
            }
        }
        asked
    }

    pub(crate) fn validate(&self) -> Result<()> {
        if !(self.eta > 0.0 && self.eta < 0.5) {
            return Err(Error::input(format!(
                "η must lie strictly between 0 and 1/2, found {}",
                self.eta
            )));
        }
        let beta = self.sampling.beta;
        if !(beta > 0.0 && beta < 1.0) {
            return Err(Error::input(format!(
                "β must lie strictly between 0 and 1, found {beta}"
            )));
        }
        self.split.validate()
    }
}
