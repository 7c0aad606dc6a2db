//! M5g. Bounded noise: the box is the noise's whole support, and the answer is feasible with probability one.

use super::vertices::{self, BoxSet, Boxes};
use super::{Method, Site, Task};
use crate::error::{Error, Result};
use crate::noise::Law;
use crate::rule::Lift;

/// # Guarantee
/// Every ζ of the law lies in the box: the share of η is 0.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    set: BoxSet,
}

impl Bounded {
    pub(super) fn new(law: &Law, step: f64) -> Result<Self> {
        let Some(bound) = law.support_bound() else {
            return Err(Error::refused(
                "the bounded-noise method",
                format!("{} noise has no bound", law.name()),
                "the truncated-laplace mechanism, or the mass box",
            ));
        };
        let set = BoxSet {
            lower: -bound,
            upper: bound,
        }
        .widened(step);
        Ok(Bounded { set })
    }

    pub(super) fn set(&self) -> BoxSet {
        self.set
    }
}

impl Method for Bounded {
    fn name(&self) -> &'static str {
        "bounded noise"
    }

    fn check(&self, site: &Site<'_>) -> Result<()> {
        vertices::check(site)
    }

    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        Boxes(vec![self.set; lift.noises()]).enforce(lift, task)
    }
}
