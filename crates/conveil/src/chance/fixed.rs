//! M5e. Fixed recourse: where v = X'a is a constant, the row is a'x̄ ≤ b − κ with κ the exact (1−ηᵢ)-quantile of v'ζ.
//! No cone is added: an LP stays an LP.

use super::{Choice, Kind, Method, NoisyRows, Ready, Scope, Setting, Site, Task};
use crate::error::{Error, Result};
use crate::noise;
use crate::program::Cone;
use crate::rule::Lift;

impl Choice {
    /// M5e: the exact quantile of every row whose noise is fixed.
    pub const FIXED_RECOURSE: Choice = Choice::by(&FixedRecourse);
}

/// # Guarantee
/// Each row is violated with probability at most its ηᵢ, exactly ηᵢ up to rounding κ upward and the lattice (M5e).
#[derive(Clone, Copy, Debug)]
pub(super) struct FixedRecourse;

impl Kind for FixedRecourse {
    fn word(&self) -> &'static str {
        "fixed-recourse"
    }

    fn name(&self) -> &'static str {
        "fixed recourse"
    }

    fn summary(&self) -> &'static str {
        "each linear row by the exact quantile of its noise, where the query fixes how it moves"
    }

    fn scope(&self) -> Scope {
        Scope::EachRow
    }

    fn serves(&self, cone: &Cone) -> bool {
        cone.is_linear()
    }

    fn is_default(&self, rows: &NoisyRows<'_>) -> bool {
        rows.is_linear && rows.noises > 1 && rows.is_fixed && rows.law.support_bound().is_none()
    }

    fn ready(&self, _setting: &Setting) -> Result<Ready> {
        Ok(Ready::new(*self, ""))
    }
}

impl Method for FixedRecourse {
    fn check(&self, site: &Site<'_>) -> Result<()> {
        match site.rows.iter().find(|row| !row.fixed) {
            Some(found) => Err(not_fixed(&site.program.row_name(found.row))),
            None => Ok(()),
        }
    }

    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        for (&i, &eta) in task.rows.iter().zip(task.etas) {
            let row_noise = lift.row_noise(i);
            if !row_noise.is_fixed() {
                return Err(not_fixed(&lift.program().row_name(i)));
            }
            let weights: Vec<f64> = row_noise.constant.iter().map(|c| c.1).collect();
            let kappa = if weights.is_empty() {
                0.0
            } else {
                noise::weighted_upper_quantile(task.noise.law(), &weights, eta)?
            };
            let row = lift.mean_row(i, kappa + task.noise.displacement() * row_noise.fixed_l1());
            lift.inequality(row, Some(i));
        }
        Ok(())
    }
}

fn not_fixed(row: &str) -> Error {
    Error::refused(
        format!("fixed recourse on `{row}`"),
        "its noise depends on free recourse, so it has no fixed quantile",
        "row by row, or the mass box",
    )
}
