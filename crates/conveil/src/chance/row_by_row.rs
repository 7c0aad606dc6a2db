//! M5d. Row by row (Bonferroni): z(ηᵢ)·‖F'X'aᵢ‖ ≤ bᵢ − aᵢ'x̄, with the smallest factor proven for the noise.

use super::{Choice, Kind, Method, NoisyRows, Ready, Room, Scope, Setting, Site, Task};
use crate::error::Result;
use crate::noise::{self, Factor, LatticeLaw, Law};
use crate::program::Cone;
use crate::rule::Lift;

impl Choice {
    /// M5d: each linear row by a factor of its standard deviation, the smallest that is proven unless one is stated.
    pub const ROW_BY_ROW: Choice = Choice::by(&RowByRow);
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowByRow;

impl Kind for RowByRow {
    fn word(&self) -> &'static str {
        "row-by-row"
    }

    fn name(&self) -> &'static str {
        "row by row"
    }

    fn summary(&self) -> &'static str {
        "each linear row by a proven factor of the size of its noise"
    }

    fn scope(&self) -> Scope {
        Scope::EachRow
    }

    fn serves(&self, cone: &Cone) -> bool {
        cone.is_linear()
    }

    fn is_default(&self, rows: &NoisyRows<'_>) -> bool {
        rows.is_linear && rows.noises > 1 && !rows.is_fixed && rows.law.support_bound().is_none()
    }

    fn takes_factor(&self) -> bool {
        true
    }

    fn ready(&self, setting: &Setting) -> Result<Ready> {
        let factor = setting.factor;
        Ok(Ready::new(Factored { factor }, ""))
    }
}

/// # Guarantee
/// Each row is violated with probability at most its ηᵢ; the rows' shares add up (M5d).
#[derive(Clone, Debug, Default)]
pub(super) struct Factored {
    /// The smallest that is proven, unless one is stated.
    factor: Option<Factor>,
}

impl Factored {
    /// m with Pr[v'ζ > m‖v‖] ≤ η for every v with this many non-zero entries.
    fn multiplier(&self, law: &Law, terms: usize, eta: f64) -> Result<f64> {
        Ok(match self.factor {
            Some(factor) => noise::named_multiplier(law, factor, terms, eta)?,
            None => noise::safe_multiplier(law, terms, eta)?,
        })
    }
}

impl Method for Factored {
    /// Refuses a named factor that is not proven for the law and the number of noises that can reach a row.
    fn check(&self, site: &Site<'_>) -> Result<()> {
        for row in &site.rows {
            if let Some(eta) = row.eta {
                self.multiplier(site.law, row.noises.len(), eta)?;
            }
        }
        Ok(())
    }

    fn room(&self, noise: &LatticeLaw, noises: usize, eta: f64) -> Result<Option<Room>> {
        // z is raised by (3h/2)√k/σ_min(F); here F = σI and the multiplier is zσ.
        let lattice = noise.displacement() * (noises as f64).sqrt();
        Ok(Some(Room::Norm(
            self.multiplier(noise.law(), noises, eta)? + lattice,
        )))
    }

    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        let k = lift.noises();
        for (&i, &eta) in task.rows.iter().zip(task.etas) {
            let noise = lift.row_noise(i);
            if noise.is_fixed() {
                let multiplier = self.multiplier(task.noise.law(), noise.constant.len(), eta)?;
                let lattice = task.noise.displacement() * noise.fixed_l1();
                let shift = multiplier * noise.fixed_l2() + lattice;
                let row = lift.mean_row(i, shift);
                lift.inequality(row, Some(i));
                continue;
            }
            if let Some(Room::Norm(multiplier)) = self.room(task.noise, k, eta)? {
                norm_row(lift, i, multiplier);
            }
        }
        Ok(())
    }
}

/// multiplier·‖v‖ ≤ bᵢ − aᵢ'x̄; with one noise, two linear rows.
pub(super) fn norm_row(lift: &mut Lift<'_>, i: usize, multiplier: f64) {
    let k = lift.noises();
    let noise = lift.row_noise(i);
    if k == 1 {
        for end in [-multiplier, multiplier] {
            let row = lift.row_at(i, &noise, &[end]);
            lift.inequality(row, Some(i));
        }
        return;
    }
    let mut rows = vec![lift.mean_row(i, 0.0)];
    // Only the head holds bᵢ, so only its multiplier is a price of the row.
    let mut origins = vec![None; k + 1];
    origins[0] = Some(i);
    for j in 0..k {
        let (terms, constant) = lift.noise_entry(&noise, j);
        // s = multiplier·v_j
        let terms = terms
            .into_iter()
            .map(|(c, a)| (c, -multiplier * a))
            .collect();
        rows.push((terms, multiplier * constant));
    }
    lift.cone(&Cone::SecondOrder(k + 1), rows, &origins);
}
