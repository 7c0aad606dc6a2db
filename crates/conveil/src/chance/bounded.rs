//! M5g. Bounded noise: the box is the noise's whole support, and the answer is feasible with probability one.

use super::vertices::{self, BoxSet, Boxes};
use super::{Choice, Kind, Method, NoisyRows, Ready, Scope, Setting, Site, Task};
use crate::error::{Error, Result};
use crate::rule::Lift;

impl Choice {
    /// M5g: the whole support of bounded noise, with probability one.
    pub const BOUNDED: Choice = Choice::by(&Bounded);
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounded;

impl Kind for Bounded {
    fn word(&self) -> &'static str {
        "bounded"
    }

    fn name(&self) -> &'static str {
        "bounded noise"
    }

    fn summary(&self) -> &'static str {
        "every block holds for every noise there is; truncated Laplace noise"
    }

    fn only_mechanism(&self) -> Option<&'static str> {
        Some("truncated-laplace")
    }

    fn scope(&self) -> Scope {
        Scope::Support
    }

    fn is_default(&self, rows: &NoisyRows<'_>) -> bool {
        rows.law.support_bound().is_some()
    }

    fn ready(&self, setting: &Setting) -> Result<Ready> {
        let support = Support::new(setting)?;
        let detail = support.set.to_string();
        Ok(Ready::new(support, detail))
    }
}

/// # Guarantee
/// Every ζ of the law lies in the box: the share of η is 0.
#[derive(Clone, Debug)]
struct Support {
    set: BoxSet,
}

impl Support {
    fn new(setting: &Setting) -> Result<Self> {
        let law = setting.noise.law();
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
        .widened(&setting.noise);
        Ok(Support { set })
    }
}

impl Method for Support {
    fn check(&self, site: &Site<'_>) -> Result<()> {
        vertices::check(site)
    }

    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        Boxes(vec![self.set; lift.noises()]).enforce(lift, task)
    }
    fn interval(&self, _split: usize, _noise: usize) -> Option<BoxSet> {
        Some(self.set)
    }

    fn is_exact_box(&self) -> bool {
        true
    }
}
