//! The sensitivity of the released map (M8): certificates, declared bounds, sampled pairs.

mod calibrate;
mod declared;
mod envelope;
mod erm;
mod metric;
mod radius;
mod sampled;
mod strong_convexity;

pub(crate) use calibrate::{Answer, calibrate, pair_count};
pub use calibrate::{Attempted, Calibrated};
pub use declared::Declared;
pub use envelope::Envelope;
pub use erm::RegularisedErm;
pub(crate) use metric::{Metric, shape_of_curvature};
pub use radius::Radius;
pub use sampled::{Estimate, Pairs, estimate};
pub use strong_convexity::StrongConvexity;

use crate::ask::Norm;

/// A bound on ‖T^{-1}(Qx̄(θ) − Qx̄(θ'))‖ over adjacent datasets that holds without sampling.
///
/// # Guarantee
/// `bound` is at least that norm for every adjacent pair, for the map that is released, under the assumptions in
/// `statement` (M8). Types that implement this are built only by constructors that check those assumptions on public
/// structure; [`Declared`] checks nothing and says so.
pub trait Certificate: std::fmt::Debug + Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// The claim and its assumptions, for the guarantee's text.
    fn statement(&self) -> String;

    /// The bound.
    fn bound(&self) -> f64;

    /// The norm it is in.
    fn norm(&self) -> Norm;

    /// The user's own statement rather than a proof.
    fn is_declared(&self) -> bool {
        false
    }

    /// Whether the map stays within the bound when the best of a grid of splits is taken (M5a).
    fn admits_optimised_split(&self) -> bool {
        false
    }

    /// Whether the map has a value for every dataset as soon as it has one for some: a theorem about the program,
    /// whatever a solver makes of it. A plan solves on made-up data before it claims anything.
    fn defined_everywhere(&self) -> bool {
        false
    }
}
