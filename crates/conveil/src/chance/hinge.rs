//! M9. The noise-aware hinge: a slack that relaxes one row answers along that row's own noise, S = t·v, so that both its
//! rows need room for multiples of one sum v'ζ, whose exact quantile is known. The recourse is eliminated (see
//! `rewrite/local.rs`), or the design refuses the method.

use super::row_by_row::Factored;
use super::{Choice, Kind, Method, Ready, Room, Scope, Setting, Task};
use crate::error::{Error, Result};
use crate::noise::{LatticeLaw, Law};
use crate::program::Cone;
use crate::rule::Lift;

impl Choice {
    /// M9: each slack's recourse in closed form, with exact quantiles.
    pub const NOISE_AWARE_HINGE: Choice = Choice::by(&NoiseAwareHinge);
}

/// # Guarantee
/// Each row is violated with probability at most its ηᵢ: κ(1−t) ≤ μ + s̄ and κt ≤ s̄ with κ the (1−ηᵢ)-quantile of v'ζ
/// (M5e, M9).
#[derive(Clone, Copy, Debug)]
pub(super) struct NoiseAwareHinge;

impl Kind for NoiseAwareHinge {
    fn word(&self) -> &'static str {
        "noise-aware-hinge"
    }

    fn name(&self) -> &'static str {
        "noise-aware hinge"
    }

    fn summary(&self) -> &'static str {
        "slacks of losses answer to the noise in closed form, with exact quantiles"
    }

    fn scope(&self) -> Scope {
        Scope::EachRow
    }

    fn serves(&self, cone: &Cone) -> bool {
        cone.is_linear()
    }

    fn needs_local_recourse(&self) -> bool {
        true
    }

    fn ready(&self, _setting: &Setting) -> Result<Ready> {
        Ok(Ready::new(*self, ""))
    }
}

impl Method for NoiseAwareHinge {
    fn room(&self, noise: &LatticeLaw, noises: usize, eta: f64) -> Result<Option<Room>> {
        match noise.law() {
            // Every sum v'ζ is Gaussian: one exact factor of ‖v‖ serves all rows.
            Law::Gaussian(_) => Factored::default().room(noise, noises, eta),
            _ => Ok(Some(Room::Quantile(eta))),
        }
    }

    /// What covers its quantiles whatever the recourse is. A design refuses the method where this would be needed.
    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        Factored::default().enforce(lift, task)
    }
}

/// Why a method for local recourse does not serve a block.
pub(super) fn not_local(kind: &dyn Kind, block: &str) -> Error {
    Error::refused(
        format!("the {} on `{block}`", kind.name()),
        "it serves losses alone: two released numbers or more, weights with a quadratic cost and noise of their own, and for each slack one row that it relaxes and one that keeps it from being negative, both with the same η",
        "row by row, which is as tight where one number is released",
    )
}
