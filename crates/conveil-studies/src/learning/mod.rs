//! Private support vector machines: what the studies of Section 4.2 share.
//!
//! A [`Machine`] is trained in one mode and gives hyperplanes with noise; [`Audited`] is what fresh pairs say of its claim.

mod hyperplane;
mod machine;

pub(crate) use hyperplane::Nominal;
pub use hyperplane::{Audited, Examples};
pub use machine::Mode;
pub(crate) use machine::{Claim, Machine, Perturbed, Records, is_local};
