//! M5e. Fixed recourse: where v = X'a is a constant, the row is a'x̄ ≤ b − κ with κ the exact (1−ηᵢ)-quantile of v'ζ.
//! No cone is added: an LP stays an LP.

use super::{Method, Task};
use crate::error::{Error, Result};
use crate::noise;
use crate::rule::Lift;

/// # Guarantee
/// Each row is violated with probability at most its ηᵢ, exactly ηᵢ up to rounding κ upward and the lattice (M5e).
#[derive(Clone, Copy, Debug)]
pub(super) struct FixedRecourse;

impl Method for FixedRecourse {
    fn name(&self) -> &'static str {
        "fixed recourse"
    }

    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        for (&i, &eta) in task.rows.iter().zip(task.etas) {
            let row_noise = lift.row_noise(i);
            if !row_noise.is_fixed() {
                return Err(no_fixed_quantile(&lift.program().row_name(i)));
            }
            let weights: Vec<f64> = row_noise.constant.iter().map(|c| c.1).collect();
            let kappa = if weights.is_empty() {
                0.0
            } else {
                noise::weighted_upper_quantile(task.law, &weights, eta)?
            };
            let row = lift.mean_row(i, kappa + 1.5 * task.step * row_noise.fixed_l1());
            lift.inequality(row, Some(i));
        }
        Ok(())
    }
}

/// What a row whose noise is not fixed gets to hear.
pub(super) fn no_fixed_quantile(row: &str) -> Error {
    Error::refused(
        format!("fixed recourse on `{row}`"),
        "its noise depends on free recourse, so it has no fixed quantile",
        "row by row, or the mass box",
    )
}
