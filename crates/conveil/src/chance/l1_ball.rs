//! M5h. ℓ₁ ball (Laplace): ‖ζ‖₁ ≤ s·γ with γ the (1−η)-quantile of a Gamma law of shape k, since |ζ_j|/s are exponential. Its
//! 2k vertices ±r·e_j stand in for all of it: every block holds at each, and a linear row needs the room r·max|v_j|.

use super::{Choice, Kind, Method, Ready, Scope, Setting, Site, Task, vertices};
use crate::error::{Error, Result};
use crate::noise::{self, Law};
use crate::program::Cone;
use crate::rule::Lift;
use std::collections::BTreeSet;

impl Choice {
    /// One ℓ₁ ball for all rows and cones, for Laplace noise: 2k vertices where a box of k noises has 2ᵏ.
    pub const L1_BALL: Choice = Choice::by(&L1Ball);
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct L1Ball;

impl Kind for L1Ball {
    fn word(&self) -> &'static str {
        "l1-ball"
    }

    fn name(&self) -> &'static str {
        "l1 ball"
    }

    fn summary(&self) -> &'static str {
        "every block holds at the 2k vertices of one ℓ₁ ball of probability 1 − η; Laplace noise"
    }

    fn only_mechanism(&self) -> Option<&'static str> {
        Some("laplace")
    }

    fn scope(&self) -> Scope {
        Scope::Event(self.word())
    }

    fn ready(&self, setting: &Setting) -> Result<Ready> {
        let ball = CrossPolytope::new(setting)?;
        let detail = format!("‖ζ‖₁ ≤ {}", crate::digits::decimals(ball.radius, 0.0));
        Ok(Ready::new(ball, detail))
    }
}

/// # Guarantee
/// Pr[‖ζ‖₁ > radius] is at most the share: twice the sum of k exponentials is χ² with 2k degrees of freedom, and a lattice
/// moves each entry by at most its displacement. A block that holds at every vertex holds for every ζ in the ball, because
/// it is convex. Test: `the_l1_ball_keeps_the_promised_probability`.
#[derive(Clone, Copy, Debug)]
struct CrossPolytope {
    radius: f64,
}

impl CrossPolytope {
    fn new(setting: &Setting) -> Result<Self> {
        let law = setting.noise.law();
        if !matches!(law, Law::Laplace(_)) {
            return Err(Error::refused(
                "the l1-ball method",
                format!(
                    "its radius is proven for Laplace noise, and this is {}",
                    law.name()
                ),
                "the mass box, or row by row",
            ));
        }
        let chi = noise::ball_radius(2 * setting.noises, setting.share)?;
        let lattice = setting.noise.displacement() * setting.noises as f64;
        Ok(CrossPolytope {
            radius: (0.5 * chi * chi * law.scale() + lattice) * (1.0 + 8.0 * f64::EPSILON),
        })
    }
}

impl Method for CrossPolytope {
    fn check(&self, site: &Site<'_>) -> Result<()> {
        let noises: BTreeSet<usize> = site.rows.iter().flat_map(|r| r.noises.clone()).collect();
        let vertices = 2 * noises.len();
        if vertices::fits(site.cone, vertices) {
            return Ok(());
        }
        Err(Error::refused(
            format!(
                "an l1 ball on the {} block `{}`",
                site.cone.kind(),
                site.name
            ),
            format!(
                "{} noises reach it, and at the {vertices} vertices of the ball it would take {} rows",
                noises.len(),
                vertices * site.cone.dim()
            ),
            "a smaller block, or `method = \"safe-box\"`, a bound of the block's own size",
        ))
    }

    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        if !task.cone.is_linear() {
            self.at_vertices(lift, task.cone, task.rows);
            return Ok(());
        }
        for &i in task.rows {
            let noise = lift.row_noise(i);
            if noise.is_fixed() {
                let largest = noise.constant.iter().fold(0.0f64, |m, v| m.max(v.1.abs()));
                let row = lift.mean_row(i, self.radius * largest);
                lift.inequality(row, Some(i));
            } else {
                self.at_vertices(lift, &Cone::Nonnegative(1), &[i]);
            }
        }
        Ok(())
    }
}

impl CrossPolytope {
    /// The block at every vertex of the noises that reach it: the others only take a part of the ball. A block that none
    /// reaches at these data holds at the centre.
    fn at_vertices(&self, lift: &mut Lift<'_>, cone: &Cone, rows: &[usize]) {
        let k = lift.noises();
        let noises: Vec<_> = rows.iter().map(|&i| lift.row_noise(i)).collect();
        let touched: BTreeSet<usize> = noises.iter().flat_map(|noise| noise.touched(k)).collect();
        let mut points: Vec<(usize, f64)> = Vec::new();
        for &j in &touched {
            points.extend([(j, -self.radius), (j, self.radius)]);
        }
        if points.is_empty() {
            points.push((0, 0.0));
        }
        let origins: Vec<Option<usize>> = rows.iter().map(|&i| Some(i)).collect();
        for (j, end) in points {
            let mut zeta = vec![0.0; k];
            zeta[j] = end;
            let at = rows.iter().zip(&noises);
            let rows = at.map(|(&i, noise)| lift.row_at(i, noise, &zeta)).collect();
            lift.cone(cone, rows, &origins);
        }
    }
}
