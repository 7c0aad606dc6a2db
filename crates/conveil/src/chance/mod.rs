//! Chance constraints (M5): Pr[b − A(x̄+Xζ) ∈ K] ≥ 1−η, one method per file, complete in its trait, one η budget.
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

// One file for each kind of method.
mod ball;
mod bounded;
mod fixed;
mod hinge;
mod l1_ball;
mod mass_box;
mod row_by_row;
mod safe_box;
mod sampled_box;
mod scenario;

// What they share.
mod boundary;
mod budget;
mod choice;
mod design;
mod method;
mod sorting;
mod vertices;

pub use budget::{Budget, BudgetLine};
pub use choice::{BlockChoice, BlockEta, Choice, Feasibility};
pub use design::{BlockDesign, Design};
pub use mass_box::Split;
pub use method::{Kind, Sampling, Scope};
pub use vertices::BoxSet;

pub(crate) use boundary::feasible_interval;
pub(crate) use method::Room;

use method::{Method, NoisyRows, Reach, Ready, Setting, Site, Task};

/// The kinds of methods, in the order of their words: one line each.
static METHODS: [&dyn Kind; 10] = [
    &mass_box::MassBox,
    &safe_box::SafeBox,
    &sampled_box::SampledBox,
    &scenario::Scenario,
    &row_by_row::RowByRow,
    &hinge::NoiseAwareHinge,
    &fixed::FixedRecourse,
    &ball::Ball,
    &l1_ball::L1Ball,
    &bounded::Bounded,
];

/// Every kind of method there is.
pub fn methods() -> &'static [&'static dyn Kind] {
    &METHODS
}
