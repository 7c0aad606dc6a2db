//! The curator's side of a plan: the private work on one dataset and its report, strategies side by side, what fits and
//! why not, and what a change of the ask would cost. Nothing here may be published.

mod about;
mod clipped;
mod comparison;
mod costs;
mod curate;
mod empirical;
mod explain;
mod fit;
mod frontier;
mod judge;
mod levers;
mod movement;
mod noisy_data;
mod report;
mod strategies;
mod widest;

pub use about::{About, Stamp};
pub use clipped::Clipped;
pub use comparison::{Comparison, Size, StrategyRow};
pub use costs::Costs;
pub use curate::Curated;
pub use empirical::Empirical;
pub use explain::{Explanation, Threshold, explain};
pub use fit::{Fit, fit};
pub use frontier::{
    AnswerMeasure, Axis, Following, Frontier, FrontierRow, frontier, frontier_following,
};
pub use levers::Lever;
pub use movement::{Movement, Moves, movement, movement_unless};
pub use report::CuratorReport;
pub use strategies::{Measure, compare, compare_by};
pub use widest::largest_universe;
