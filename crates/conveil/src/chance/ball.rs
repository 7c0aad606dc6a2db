//! M5f. Ball (Gaussian): ‖ζ‖ ≤ σ√χ²_k(1−η), all linear rows at once.

use super::row_by_row::norm_row;
use super::{Choice, Kind, Method, Ready, Scope, Setting, Task};
use crate::error::{Error, Result};
use crate::noise::{self, Law};
use crate::program::Cone;
use crate::rule::Lift;

impl Choice {
    /// M5f: one Euclidean ball for all linear rows, for Gaussian noise.
    pub const BALL: Choice = Choice::by(&Ball);
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ball;

impl Kind for Ball {
    fn word(&self) -> &'static str {
        "ball"
    }

    fn name(&self) -> &'static str {
        "ball"
    }

    fn summary(&self) -> &'static str {
        "all linear rows hold for every noise in one Euclidean ball; Gaussian noise"
    }

    fn only_mechanism(&self) -> Option<&'static str> {
        Some("gaussian")
    }

    fn scope(&self) -> Scope {
        Scope::Event(self.word())
    }

    fn serves(&self, cone: &Cone) -> bool {
        cone.is_linear()
    }

    fn ready(&self, setting: &Setting) -> Result<Ready> {
        let ball = EuclideanBall::new(setting)?;
        let detail = format!("‖ζ‖ ≤ {}", crate::digits::decimals(ball.radius, 0.0));
        Ok(Ready::new(ball, detail))
    }
}

/// # Guarantee
/// Pr[‖ζ‖ > radius] is at most the share, and each row holds for every ζ in the ball (M5f).
#[derive(Clone, Copy, Debug)]
struct EuclideanBall {
    radius: f64,
}

impl EuclideanBall {
    fn new(setting: &Setting) -> Result<Self> {
        let law = setting.noise.law();
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
        let radius = noise::ball_radius(setting.noises, setting.share)? * law.scale();
        let lattice = setting.noise.displacement() * (setting.noises as f64).sqrt();
        Ok(EuclideanBall {
            radius: radius + lattice,
        })
    }
}

impl Method for EuclideanBall {
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
