//! M5b. Sampled box (the paper's): the hull of S samples, drawn once from a public seed, never redrawn.
//! The law is known, so the drawn box's exact mass is computed, and no confidence is needed.

use super::vertices::{self, BoxSet, Boxes};
use super::{Choice, Kind, Method, Ready, Scope, Setting, Site, Task};
use crate::error::{Error, Result};
use crate::noise::{self, SampleSize, Sampler};
use crate::rule::Lift;

/// The stream of the public seed that this method draws from.
const STREAM: u64 = 0xB0;

impl Choice {
    /// M5b: the hull of samples, whose mass is computed.
    pub const SAMPLED_BOX: Choice = Choice::by(&SampledBox);
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampledBox;

impl Kind for SampledBox {
    fn word(&self) -> &'static str {
        "sampled-box"
    }

    fn name(&self) -> &'static str {
        "sampled box"
    }

    fn summary(&self) -> &'static str {
        "every block holds for every noise in the hull of samples, whose probability is computed"
    }

    fn scope(&self) -> Scope {
        Scope::Event(self.word())
    }

    fn is_sampled(&self) -> bool {
        true
    }

    fn ready(&self, setting: &Setting) -> Result<Ready> {
        let hull = Hull::new(setting)?;
        let outside = hull.outside;
        let detail = format!(
            "hull of {} samples, seed {}",
            hull.samples, setting.sampling.seed
        );
        Ok(Ready {
            certified: Some(outside),
            ..Ready::new(hull, detail)
        })
    }
}

/// # Guarantee
/// Pr[ζ ∉ box] is at most `outside`, computed from the law; the constructor refuses a draw for which that exceeds the
/// share (an event of probability at most β).
#[derive(Clone, Debug)]
struct Hull {
    boxes: Vec<BoxSet>,
    outside: f64,
    samples: usize,
}

impl Hull {
    fn new(setting: &Setting) -> Result<Self> {
        let (law, noises, share) = (setting.noise.law(), setting.noises, setting.share);
        let (seed, beta) = (setting.sampling.seed, setting.sampling.beta);
        let samples = match setting.sampling.size {
            SampleSize::Exact => noise::exact_samples(2 * noises as u64, share, beta)?,
            SampleSize::Paper => noise::paper_box_samples(noises as u64, share, beta)?,
        } as usize;
        let mut sampler = Sampler::new(seed, STREAM);
        let mut drawn = vec![
            BoxSet {
                lower: 0.0,
                upper: 0.0
            };
            noises
        ];
        for _ in 0..samples {
            for set in &mut drawn {
                let value = sampler.draw(law);
                set.lower = set.lower.min(value);
                set.upper = set.upper.max(value);
            }
        }
        // 1 − Π mass, without cancellation.
        let log_mass: f64 = drawn
            .iter()
            .map(|s| (-law.outside(s.lower, s.upper)).ln_1p())
            .sum();
        let outside = -log_mass.exp_m1();
        if outside > share {
            return Err(Error::refused(
                format!("the sampled box of seed {seed}"),
                format!(
                    "the box it draws misses {outside:.4} of the noise's mass, more than its share {share:.4}"
                ),
                "the mass box, which needs no luck, or another public seed fixed in advance",
            ));
        }
        let drawn = drawn.into_iter().map(|s| s.widened(&setting.noise));
        Ok(Hull {
            boxes: drawn.collect(),
            outside,
            samples,
        })
    }
}

impl Method for Hull {
    fn check(&self, site: &Site<'_>) -> Result<()> {
        vertices::check(site)
    }

    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        Boxes(self.boxes.clone()).enforce(lift, task)
    }

    fn interval(&self, _split: usize, noise: usize) -> Option<BoxSet> {
        self.boxes.get(noise).copied()
    }

    fn is_exact_box(&self) -> bool {
        true
    }

    fn holds_at_the_mean(&self) -> bool {
        false
    }
}
