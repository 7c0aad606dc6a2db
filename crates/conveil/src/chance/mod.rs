//! Chance constraints (M5): Pr[b − A(x̄+Xζ) ∈ K] ≥ 1−η, one method per file, one trait, one η budget.
//!
//! The default method of a block follows from public structure:
//!
//! | noise and block                          | method                              |
//! |------------------------------------------|-------------------------------------|
//! | truncated Laplace, any block             | bounded noise, probability one      |
//! | one noise (k = 1), any block             | mass box                            |
//! | more noises, linear row, v = X'a fixed   | fixed recourse (exact quantile)     |
//! | more noises, linear row, v = X'a free    | row by row, smallest proven factor  |
//! | more noises, any other cone              | mass box over the noises it touches |
//!
//! Losses whose slacks answer to the noise on their own get the noise-aware hinge where the choice is left open: row by
//! row with their recourse in closed form and exact quantiles (M9).
//! Where a cone meets too many noises for vertices, the safe box is to be asked for: a choice, because it gives away
//! some of the feasible set.

mod ball;
mod boundary;
mod bounded;
mod budget;
mod design;
mod fixed;
mod hinge;
mod mass_box;
mod row_by_row;
mod safe_box;
mod sampled_box;
mod scenario;
mod sorting;
mod vertices;

pub use budget::{Budget, BudgetLine};
pub use design::{BlockDesign, Design};
pub use mass_box::Split;
pub use vertices::BoxSet;

pub(crate) use boundary::feasible_interval;

use crate::error::{Error, Result};
use crate::noise::{Factor, Law};
use crate::rule::Lift;

/// A method, ready to write its constraints. Built by [`Design`], which gives each its share of η.
///
/// # Guarantee
/// Any point that meets the constraints written by `enforce` meets the block with probability at least 1 minus the
/// method's share, jointly over everything that shares its event (M5). Lattice noise of step h is covered.
pub trait Method: std::fmt::Debug + Send + Sync {
    /// What the report calls it.
    fn name(&self) -> &'static str;

    /// Refuses, on public structure alone, rows that the method cannot serve: before any data is touched.
    fn check(&self, _site: &Site<'_>) -> Result<()> {
        Ok(())
    }

    /// The room that a row's free noise takes under this method, where it follows from v alone (M9).
    fn room(&self, _law: &Law, _noises: usize, _eta: f64, _step: f64) -> Result<Option<Room>> {
        Ok(None)
    }

    /// Writes the constraints of the rows `rows` (one whole block, or linear rows of one). `etas` holds the row
    /// shares for methods that work row by row.
    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()>;
}

/// The room κ that a row with noise v'ζ needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Room {
    /// κ = m‖v‖.
    Norm(f64),
    /// κ is the exact (1−η)-quantile of v'ζ, the lattice on top.
    Quantile(f64),
}

/// Where a method is to serve, as far as the public knows.
pub struct Site<'a> {
    /// The cone; for linear cones any number of rows.
    pub cone: &'a crate::program::Cone,
    /// The block's name.
    pub name: &'a str,
    /// The law of the noise.
    pub law: &'a Law,
    /// The rows.
    pub rows: Vec<Reach>,
}

/// How noise reaches a row, by the pattern of A and the rule.
pub struct Reach {
    /// The row's name.
    pub name: String,
    /// η of the row, for methods that work row by row.
    pub eta: Option<f64>,
    /// The noises that can reach it.
    pub noises: Vec<usize>,
    /// Whether v = X'a is a constant.
    pub fixed: bool,
}

/// What a method is asked to enforce.
pub struct Task<'a> {
    /// The cone; for linear cones any number of rows.
    pub cone: &'a crate::program::Cone,
    /// The rows of the program.
    pub rows: &'a [usize],
    /// η of each row, for methods that work row by row.
    pub etas: &'a [f64],
    /// The noise.
    pub law: &'a Law,
    /// The lattice step h.
    pub step: f64,
    /// Which of the box splits is being tried.
    pub split: usize,
    /// The block's name, for messages.
    pub name: &'a str,
}

/// The user's choice of method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// The table in the module's documentation.
    Auto,
    /// The same table, with this factor where it says row by row.
    AutoWith(Factor),
    /// M5a.
    MassBox,
    /// The box of M5a, met by a safe bound instead of vertices on cones that are not linear.
    SafeBox,
    /// M5b.
    SampledBox,
    /// M5c.
    Scenario,
    /// M5d; `None` takes the smallest proven factor.
    RowByRow(Option<Factor>),
    /// M9: each slack's recourse in closed form, with exact quantiles.
    NoiseAwareHinge,
    /// M5e.
    FixedRecourse,
    /// M5f.
    Ball,
    /// M5g.
    Bounded,
}

impl Choice {
    /// What users call it.
    pub fn name(&self) -> &'static str {
        match self {
            Choice::Auto | Choice::AutoWith(_) => "auto",
            Choice::MassBox => "mass box",
            Choice::SafeBox => "safe box",
            Choice::SampledBox => "sampled box",
            Choice::Scenario => "scenario",
            Choice::RowByRow(_) => "row by row",
            Choice::NoiseAwareHinge => "noise-aware hinge",
            Choice::FixedRecourse => "fixed recourse",
            Choice::Ball => "ball",
            Choice::Bounded => "bounded noise",
        }
    }
}

/// What one block asks for beyond the common choice.
#[derive(Clone, Debug, Default)]
pub struct BlockChoice {
    /// The block's name.
    pub block: String,
    /// Its method.
    pub method: Option<Choice>,
    /// Weight of its rows within the rows' share; for a block served by a box, a ball or scenarios, the weight of that
    /// event against the other groups (the largest among its blocks counts). 1 by default.
    pub weight: Option<f64>,
    /// η of each row (one number for all, or one each); taken off the budget first.
    pub etas: Option<Vec<f64>>,
}

/// The feasibility wish. Public.
#[derive(Clone, Debug)]
pub struct Feasibility {
    pub(crate) eta: f64,
    pub(crate) each: bool,
    pub(crate) method: Choice,
    pub(crate) split: Split,
    pub(crate) size: crate::noise::SampleSize,
    pub(crate) beta: f64,
    pub(crate) seed: u64,
    pub(crate) blocks: Vec<BlockChoice>,
}

impl Default for Feasibility {
    fn default() -> Self {
        Feasibility {
            eta: 0.01,
            each: false,
            method: Choice::Auto,
            split: Split::Symmetric,
            size: crate::noise::SampleSize::Exact,
            beta: 1e-6,
            seed: 1,
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

    /// Another η; per-row shares given for blocks shrink or grow with it.
    pub fn with_eta(mut self, eta: f64) -> Self {
        let factor = eta / self.eta;
        for etas in self.blocks.iter_mut().filter_map(|b| b.etas.as_mut()) {
            etas.iter_mut().for_each(|e| *e *= factor);
        }
        self.eta = eta;
        self
    }

    /// One method for all blocks.
    pub fn method(mut self, method: Choice) -> Self {
        self.method = method;
        self
    }

    /// The mass box's split.
    pub fn split(mut self, split: Split) -> Self {
        self.split = split;
        self
    }

    /// Sample size, confidence 1−β and public seed of sampled methods.
    pub fn sampling(mut self, size: crate::noise::SampleSize, beta: f64, seed: u64) -> Self {
        self.size = size;
        self.beta = beta;
        self.seed = seed;
        self
    }

    /// A block's own choice.
    pub fn block(mut self, choice: BlockChoice) -> Self {
        self.blocks.push(choice);
        self
    }

    /// The same with the noise-aware hinge wherever the method is left open: for programs whose recourse is local (M9).
    pub(crate) fn with_hinges(&self) -> Self {
        let hinge = |method: &mut Choice| {
            if *method == Choice::Auto {
                *method = Choice::NoiseAwareHinge;
            }
        };
        let mut wish = self.clone();
        hinge(&mut wish.method);
        (wish.blocks.iter_mut().filter_map(|b| b.method.as_mut())).for_each(hinge);
        wish
    }

    pub(crate) fn validate(&self) -> Result<()> {
        if !(self.eta > 0.0 && self.eta < 0.5) {
            return Err(Error::input(format!(
                "η must lie strictly between 0 and 1/2, found {}",
                self.eta
            )));
        }
        if !(self.beta > 0.0 && self.beta < 1.0) {
            return Err(Error::input(format!(
                "β must lie strictly between 0 and 1, found {}",
                self.beta
            )));
        }
        self.split.validate()
    }
}
