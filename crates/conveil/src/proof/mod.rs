//! How close a solve is proven to be: the precision of a point, interior points, the bounds that constraints imply,
//! and the move onto the equalities.

mod cone_bounds;
mod curvature;
mod equalities;
mod inside;
mod intervals;
mod precision;

pub(crate) use curvature::Curvature;
pub(crate) use equalities::{meets_the_equalities, on_the_equalities};
pub(crate) use inside::{interior, limits_that_meet};
pub(crate) use intervals::{Intervals, Limits};
pub(crate) use precision::{Measure, Precision, Proven, Solver, refined};
