//! M5f. Ball (Gaussian): ‖ζ‖ ≤ σ√χ²_k(1−η), all linear rows at once.

use super::row_by_row::norm_row;
use super::{Method, Task};
use crate::error::{Error, Result};
use crate::noise::{self, Law};
use crate::rule::Lift;

/// # Guarantee
/// Pr[‖ζ‖ > radius] is at most the share, and each row holds for every ζ in the ball (M5f).
#[derive(Clone, Copy, Debug)]
pub(super) struct Ball {
    radius: f64,
}

impl Ball {
    pub(super) fn new(law: &Law, noises: usize, share: f64, step: f64) -> Result<Self> {
        if !matches!(law, Law::Gaussian(_)) {
            return Err(Error::refused(
                "the ball method",
                format!(
                    "its radius is proven for Gaussian noise, and this is {}",
                    law.name()
                ),
                "the mass box, or row by row",
            ));
        }
        let radius = noise::ball_radius(noises, share)? * law.scale();
        Ok(Ball {
            radius: radius + 1.5 * step * (noises as f64).sqrt(),
        })
    }

    pub(super) fn radius(&self) -> f64 {
        self.radius
    }
}

impl Method for Ball {
    fn name(&self) -> &'static str {
        "ball"
    }

    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        for &i in task.rows {
            let noise = lift.row_noise(i);
            if noise.is_fixed() {
                let row = lift.mean_row(i, self.radius * noise.fixed_l2());
                lift.inequality(row, Some(i));
            } else {
                norm_row(lift, i, self.radius);
            }
        }
        Ok(())
    }
}
