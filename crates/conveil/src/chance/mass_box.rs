//! M5a. Mass box: l < 0 < u with Π Pr[l ≤ ζ_j ≤ u] ≥ 1−η, enforced for every ζ in the box. No samples, no confidence.

use super::vertices::{self, BoxSet, Boxes};
use super::{Choice, Kind, Method, NoisyRows, Ready, Scope, Setting, Site, Task};
use crate::error::{Error, Result};
use crate::noise::LatticeLaw;
use crate::rule::Lift;

/// Where the mass outside the box lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Split {
    /// Half below, half above.
    Symmetric,
    /// This share of the outside mass below.
    LowerShare(f64),
    /// The best of a fixed public grid of lower shares.
    Optimise,
}

/// Number of splits in the public grid.
const GRID: usize = 32;

/// The largest lower share of the grid.
const GRID_END: f64 = 0.999;

impl Split {
    pub(super) fn validate(&self) -> Result<()> {
        match self {
            Split::LowerShare(share) if !(*share > 0.0 && *share < 1.0) => Err(Error::input(
                format!("the lower tail's share must lie strictly between 0 and 1, found {share}"),
            )),
            _ => Ok(()),
        }
    }

    /// The lower shares to try: for the grid, upper shares fall geometrically from ½ to 0.001.
    pub fn shares(&self) -> Vec<f64> {
        match self {
            Split::Symmetric => vec![0.5],
            Split::LowerShare(share) => vec![*share],
            Split::Optimise => (0..GRID)
                .map(|i| {
                    let ratio: f64 = (1.0 - GRID_END) / 0.5;
                    1.0 - 0.5 * ratio.powf(i as f64 / (GRID - 1) as f64)
                })
                .collect(),
        }
    }
}

impl Choice {
    /// M5a: a box that holds 1−η of the noise, enforced for every noise in it.
    pub const MASS_BOX: Choice = Choice::by(&MassBox);
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct MassBox;

impl Kind for MassBox {
    fn word(&self) -> &'static str {
        "mass-box"
    }

    fn name(&self) -> &'static str {
        "mass box"
    }

    fn summary(&self) -> &'static str {
        "every block holds for every noise in a box of probability 1 − η"
    }

    fn scope(&self) -> Scope {
        Scope::Event(self.word())
    }

    fn is_default(&self, rows: &NoisyRows<'_>) -> bool {
        rows.law.support_bound().is_none() && (rows.noises == 1 || !rows.is_linear)
    }

    fn ready(&self, setting: &Setting) -> Result<Ready> {
        let boxes = MassBoxes::new(setting)?;
        let detail = boxes.detail();
        Ok(Ready::new(boxes, detail))
    }
}

/// A box per split, each with mass at least 1 − share over all k noises.
///
/// # Guarantee
/// Pr[ζ ∈ box] ≥ 1 − share, from the law's own quantiles: 1 − (1−share)^{1/k} of each noise lies outside (M5a).
#[derive(Clone, Debug)]
pub(super) struct MassBoxes {
    boxes: Vec<BoxSet>,
}

impl BoxSet {
    /// The interval of one noise that has this probability outside, and this share of that below: widened for the lattice.
    pub(crate) fn holding(noise: &LatticeLaw, outside: f64, lower_share: f64) -> Result<Self> {
        let law = noise.law();
        let set = BoxSet {
            lower: -law.upper_quantile(outside * lower_share)?,
            upper: law.upper_quantile(outside * (1.0 - lower_share))?,
        };
        Ok(set.widened(noise))
    }
}

impl MassBoxes {
    pub(super) fn new(setting: &Setting) -> Result<Self> {
        // 1 − (1−η)^{1/k}, without cancellation.
        let outside = -((-setting.share).ln_1p() / setting.noises as f64).exp_m1();
        let boxes = (setting.split)
            .shares()
            .into_iter()
            .map(|lower_share| BoxSet::holding(&setting.noise, outside, lower_share))
            .collect::<Result<Vec<_>>>()?;
        Ok(MassBoxes { boxes })
    }

    /// The box of a split.
    pub(super) fn at(&self, split: usize) -> BoxSet {
        self.boxes[split.min(self.boxes.len() - 1)]
    }

    /// Number of splits.
    pub(super) fn splits(&self) -> usize {
        self.boxes.len()
    }

    /// The set, for people.
    pub(super) fn detail(&self) -> String {
        match self.boxes.as_slice() {
            [set] => set.to_string(),
            many => format!("the best of {} public splits", many.len()),
        }
    }
}

impl Method for MassBoxes {
    fn check(&self, site: &Site<'_>) -> Result<()> {
        vertices::check(site)
    }

    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        Boxes(vec![self.at(task.split); lift.noises()]).enforce(lift, task)
    }

    fn splits(&self) -> usize {
        self.splits()
    }

    fn interval(&self, split: usize, _noise: usize) -> Option<BoxSet> {
        Some(self.at(split))
    }

    fn is_exact_box(&self) -> bool {
        true
    }
}
