//! Named blocks of variables and constraints, with their stages and when they hold (M2).

use super::Cone;
use std::ops::Range;

/// What a variable is, as whoever built the model declares it (M2). Structure cannot tell an epigraph from a purchase, so
/// it is said and not guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A real quantity that somebody carries out. It responds to the noise, and it alone may carry the noise of a query.
    Decision,
    /// It is decided before the noise: its rows of X are 0. It may stand in a query and carries no noise of it.
    HereAndNow,
    /// Only the existence of a value is claimed; it responds freely and may not be queried.
    Witness,
    /// It bounds a convex cost from above; it responds freely and may be released by an at-most query only.
    Epigraph,
}

impl Stage {
    /// The word that a spec has for it.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Decision => "decision",
            Stage::HereAndNow => "here-and-now",
            Stage::Witness => "witness",
            Stage::Epigraph => "epigraph",
        }
    }
}

/// When a constraint holds (M2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// In the chance constraint.
    WithNoise,
    /// Whatever the noise: A_block X = 0.
    Always,
    /// At x̄ only (an objective's epigraph). Never a zero cone.
    AtTheMean,
}

/// A named run of variables.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableBlock {
    pub(super) name: String,
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) stage: Stage,
    pub(super) entries: Vec<String>,
}

impl VariableBlock {
    /// The block's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns it takes.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.len
    }

    /// Its stage.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// The names of its entries; empty for `name[i]`.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }
}

/// A named cone constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintBlock {
    pub(super) name: String,
    pub(super) start: usize,
    pub(super) cone: Cone,
    pub(super) holds: Holds,
    pub(super) rows: Vec<String>,
}

impl ConstraintBlock {
    /// The block's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its cone.
    pub fn cone(&self) -> &Cone {
        &self.cone
    }

    /// The rows it takes.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.cone.dim()
    }

    /// When it holds.
    pub fn holds(&self) -> Holds {
        self.holds
    }
}

/// A variable block to be: name, length, stage, and the names of its entries.
#[derive(Clone, Debug, PartialEq)]
pub struct NewVariables {
    /// Name, unique among the blocks.
    pub name: String,
    /// Number of entries, at least 1.
    pub len: usize,
    /// Stage.
    pub stage: Stage,
    /// Names of its entries, unlike one another and those of all other entries and blocks; empty for `name[i]`.
    pub entries: Vec<String>,
}

/// A constraint block to be.
#[derive(Clone, Debug)]
pub struct NewConstraint {
    /// Name, unique among the blocks.
    pub name: String,
    /// Cone.
    pub cone: Cone,
    /// When it holds.
    pub holds: Holds,
    /// Names of its rows; empty for `name[i]`.
    pub rows: Vec<String>,
}
