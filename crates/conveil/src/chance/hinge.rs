//! M9. The noise-aware hinge: a slack that relaxes one row answers along that row's own noise, S = t·v, so that both its
//! rows need room for multiples of one sum v'ζ, whose exact quantile is known. There is no cone to write: the recourse
//! is eliminated (see `rewrite/local.rs`), or the method is refused.

use super::row_by_row::RowByRow;
use super::{Method, Room, Task};
use crate::error::{Error, Result};
use crate::noise::Law;
use crate::rule::Lift;

/// # Guarantee
/// Each row is violated with probability at most its ηᵢ: κ(1−t) ≤ μ + s̄ and κt ≤ s̄ with κ the (1−ηᵢ)-quantile of v'ζ
/// (M5e, M9).
#[derive(Clone, Copy, Debug)]
pub(super) struct NoiseAwareHinge;

impl Method for NoiseAwareHinge {
    fn name(&self) -> &'static str {
        "noise-aware hinge"
    }

    fn room(&self, law: &Law, noises: usize, eta: f64, step: f64) -> Result<Option<Room>> {
        match law {
            // Every sum v'ζ is Gaussian: one exact factor of ‖v‖ serves all rows.
            Law::Gaussian(_) => RowByRow::new(None).room(law, noises, eta, step),
            _ => Ok(Some(Room::Quantile(eta))),
        }
    }

    fn enforce(&self, _lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        Err(not_local(task.name))
    }
}

/// Why it does not serve.
pub(crate) fn not_local(block: &str) -> Error {
    Error::refused(
        format!("the noise-aware hinge on `{block}`"),
        "it serves losses alone: two released numbers or more, weights with a quadratic cost and noise of their own, and for each slack one row that it relaxes and one that keeps it from being negative, both with the same η",
        "row by row, which is as tight where one number is released",
    )
}
