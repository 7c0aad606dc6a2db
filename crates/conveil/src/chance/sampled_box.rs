//! M5b. Sampled box (the paper's): the hull of S samples, drawn once from a public seed, never redrawn.
//! The law is known, so the drawn box's exact mass is computed, and no confidence is needed.

use super::vertices::{self, BoxSet, Boxes};
use super::{Method, Site, Task};
use crate::error::{Error, Result};
use crate::noise::SampleSize;
use crate::noise::{self, Law, Sampler};
use crate::rule::Lift;

/// The stream of the public seed that this method draws from.
const STREAM: u64 = 0xB0;

/// # Guarantee
/// Pr[ζ ∉ box] is at most `outside`, computed from the law; the constructor refuses a draw for which that exceeds the
/// share (an event of probability at most β).
#[derive(Clone, Debug)]
pub(super) struct SampledBox {
    boxes: Vec<BoxSet>,
    outside: f64,
    samples: usize,
}

impl SampledBox {
    pub(super) fn new(
        law: &Law,
        noises: usize,
        share: f64,
        (size, beta, seed): (SampleSize, f64, u64),
        step: f64,
    ) -> Result<Self> {
        let samples = match size {
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
        Ok(SampledBox {
            boxes: drawn.into_iter().map(|s| s.widened(step)).collect(),
            outside,
            samples,
        })
    }

    pub(super) fn outside(&self) -> f64 {
        self.outside
    }

    pub(super) fn samples(&self) -> usize {
        self.samples
    }

    pub(super) fn boxes(&self) -> &[BoxSet] {
        &self.boxes
    }
}

impl Method for SampledBox {
    fn name(&self) -> &'static str {
        "sampled box"
    }

    fn check(&self, site: &Site<'_>) -> Result<()> {
        vertices::check(site)
    }

    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        Boxes(self.boxes.clone()).enforce(lift, task)
    }
}
