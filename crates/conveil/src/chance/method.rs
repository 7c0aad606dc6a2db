//! What a chance method is: a kind, which declares what it serves, and the method that a design makes of it, which
//! writes constraints.

use super::{BoxSet, Feasibility, Split};
use crate::error::Result;
use crate::noise::{Factor, LatticeLaw, Law, SampleSize};
use crate::program::{Cone, Program};
use crate::rule::{Lift, Rule};
use std::fmt::Debug;
use std::sync::Arc;

/// A kind of chance method: one file, and one line in [`super::methods`]. Nothing asks for its name.
pub trait Kind: Debug + Sync {
    /// Its word in a spec.
    fn word(&self) -> &'static str;

    /// What reports call it.
    fn name(&self) -> &'static str;

    /// What it enforces, in one line.
    fn summary(&self) -> &'static str;

    /// What its share of η pays for.
    fn scope(&self) -> Scope;

    /// Whether it serves blocks of this cone.
    fn serves(&self, _cone: &Cone) -> bool {
        true
    }

    /// The word of the only mechanism that it is proven for, where there is one.
    fn only_mechanism(&self) -> Option<&'static str> {
        None
    }

    /// Whether the default table has it for such rows; the first of [`super::methods`] that says so is taken.
    fn is_default(&self, _rows: &NoisyRows<'_>) -> bool {
        false
    }

    /// Whether a [`Factor`] may be stated for it.
    fn takes_factor(&self) -> bool {
        false
    }

    /// Whether it draws samples from the public seed: its edges are those of the draw.
    fn is_sampled(&self) -> bool {
        false
    }

    /// Whether it serves only slacks whose recourse is eliminated in closed form (M9).
    fn needs_local_recourse(&self) -> bool {
        false
    }

    /// The method for a share of η, or why there is none.
    fn ready(&self, setting: &Setting) -> Result<Ready>;
}

/// What a share of η pays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every row has an η of its own.
    EachRow,
    /// All rows together share one event; kinds with the same word share one and the same.
    Event(&'static str),
    /// The whole support of the noise: nothing is to be paid.
    Support,
}

/// Rows that noise reaches, as far as the default table looks at them.
#[derive(Clone, Copy)]
pub struct NoisyRows<'a> {
    /// The law of the noise.
    pub law: &'a Law,
    /// Number of noises k.
    pub noises: usize,
    /// Whether they are linear rows.
    pub is_linear: bool,
    /// Whether v = X'a is a constant.
    pub is_fixed: bool,
}

/// How sampled methods draw: sample size, confidence 1−β, public seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// How many samples.
    pub size: SampleSize,
    /// β.
    pub beta: f64,
    /// The public seed.
    pub seed: u64,
}

/// What a kind makes its method for.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The noise.
    pub noise: LatticeLaw,
    /// Number of noises k.
    pub noises: usize,
    /// Number of decision variables of the lifted program.
    pub decisions: usize,
    /// The share of η.
    pub share: f64,
    /// Where the mass outside a box lies.
    pub split: Split,
    /// How samples are drawn, β divided among the sampled events.
    pub sampling: Sampling,
    /// The stated factor.
    pub factor: Option<Factor>,
}

impl Setting {
    /// For a share of the η that is asked for; `events` of the program draw samples.
    pub(super) fn new(
        noise: LatticeLaw,
        rule: &Rule,
        asked: &Feasibility,
        events: usize,
        share: f64,
    ) -> Self {
        Setting {
            noise,
            noises: rule.noises(),
            decisions: rule.variables() + rule.free_entries(),
            share,
            split: asked.split,
            sampling: Sampling {
                beta: asked.sampling.beta / events.max(1) as f64,
                ..asked.sampling
            },
            factor: None,
        }
    }
}

/// A method with its share, and what the table of η says of it.
pub struct Ready {
    pub(super) method: Arc<dyn Method>,
    /// The probability that is certified, where it is not the share itself.
    pub(super) certified: Option<f64>,
    /// Holds with this confidence only.
    pub(super) confidence: Option<f64>,
    /// The set, for people.
    pub(super) detail: String,
}

impl Ready {
    pub(super) fn new(method: impl Method + 'static, detail: impl Into<String>) -> Self {
        Ready {
            method: Arc::new(method),
            certified: None,
            confidence: None,
            detail: detail.into(),
        }
    }
}

/// A method, ready to write its constraints. Made by its [`Kind`], for the share that a design gives it.
///
/// # Guarantee
/// Any point that meets the constraints written by `enforce` meets the block with probability at least 1 minus the
/// method's share, jointly over everything that shares its event (M5). Lattice noise of step h is covered.
pub trait Method: Debug + Send + Sync {
    /// Refuses, on public structure alone, rows that the method cannot serve: before any data is touched.
    fn check(&self, _site: &Site<'_>) -> Result<()> {
        Ok(())
    }

    /// The room that a row's free noise takes under this method, where it follows from v alone (M9).
    fn room(&self, _noise: &LatticeLaw, _noises: usize, _eta: f64) -> Result<Option<Room>> {
        Ok(None)
    }

    /// Writes the constraints of the task's rows: one whole block, or linear rows of one.
    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()>;

    /// Number of public box splits to try.
    fn splits(&self) -> usize {
        1
    }

    /// The interval of one noise under a split, where the method is about a box.
    fn interval(&self, _split: usize, _noise: usize) -> Option<BoxSet> {
        None
    }

    /// Whether what it writes is met exactly where the block holds on its whole box.
    fn is_exact_box(&self) -> bool {
        false
    }

    /// Whether a decision rule that meets what it writes has a mean that meets the block.
    fn holds_at_the_mean(&self) -> bool {
        true
    }

    /// Whether its claim is about the optimum of a sampled program, which must then be one point (M5c).
    fn assumes_one_optimum(&self) -> bool {
        false
    }
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
    pub cone: &'a Cone,
    /// The block's name.
    pub name: &'a str,
    /// The law of the noise.
    pub law: &'a Law,
    /// The program, which names its rows.
    pub program: &'a Program,
    /// The rows.
    pub rows: Vec<Reach>,
}

/// How noise reaches a row, by the pattern of A and the rule.
pub struct Reach {
    /// The row of the program.
    pub row: usize,
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
    pub cone: &'a Cone,
    /// The rows of the program.
    pub rows: &'a [usize],
    /// η of each row, for methods that work row by row.
    pub etas: &'a [f64],
    /// The noise.
    pub noise: &'a LatticeLaw,
    /// Which of the box splits is being tried.
    pub split: usize,
    /// The block's name, for messages.
    pub name: &'a str,
}
