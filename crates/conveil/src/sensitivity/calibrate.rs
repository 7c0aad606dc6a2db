//! The fixed point of M8: x̄ depends on the noise scale, so a scale must be found at which the *released* map moves no
//! more than that scale covers. Candidates go upward; each is tested on fresh pairs at confidence β/2ʲ.

use super::sampled::{Estimate, Pairs, estimate};
use crate::ask::{Adjacency, Norm, Privacy, SampleSize, Sampled};
use crate::error::{Error, Result};
use crate::noise::{self, Law};
use crate::solve::Batch;
use serde::Serialize;

/// Candidates before giving up: scales grow at least by a tenth each.
const CANDIDATES: u32 = 40;

/// The streams of fresh pairs lie this far apart.
const STRIDE: u64 = 1 << 32;

/// One candidate scale and what its pairs showed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attempted {
    /// The sensitivity the scale was made for.
    pub covered: f64,
    /// The largest movement of the released map at that scale.
    pub moved: f64,
    /// Fresh pairs tried.
    pub pairs: u64,
    /// Pairs without an answer.
    pub failures: usize,
    /// The ε that this scale gives the worst pair.
    pub epsilon: f64,
}

/// A scale that passed.
///
/// # Guarantee
/// With confidence 1−β over the sampled pairs, at least a share 1−γ of adjacent pairs of the universe has privacy loss
/// at most ε under noise for this sensitivity (M8, sampled).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibrated {
    pub(crate) sensitivity: f64,
    pub(crate) pairs: u64,
    pub(crate) attempts: Vec<Attempted>,
}

/// θ ↦ T^{-1}Qx̄(θ) of the released map under one law.
pub(crate) type Answer<'a> = Box<dyn Fn(&[f64]) -> Result<Vec<f64>> + Sync + 'a>;

/// The law for a sensitivity, and the released map under it.
pub(crate) type MapFor<'a> = dyn Fn(f64) -> Result<(Law, Answer<'a>)> + 'a;

/// Searches upward from `start`, the sensitivity of the deterministic map.
pub(crate) fn calibrate(
    request: &Sampled,
    adjacency: Adjacency,
    privacy: &Privacy,
    start: f64,
    map_for: &MapFor<'_>,
    batch: &Batch<'_>,
) -> Result<Calibrated> {
    let norm: Norm = privacy.norm();
    let mut covered = start.max(f64::MIN_POSITIVE.sqrt());
    let mut attempts = Vec::new();
    let mut why = String::new();
    for j in 1..=CANDIDATES {
        let (law, answer) = map_for(covered)?;
        let beta = request.beta / 2f64.powi(j as i32);
        let count = pair_count(request.size, request.gamma, beta)?;
        // Fresh pairs for every candidate: another stretch of the public stream.
        let seed = request.seed ^ (u64::from(j) * STRIDE);
        let pairs = Pairs::new(request.universe.clone(), adjacency, seed);
        let found = estimate(Estimate::default(), &pairs, count, norm, &answer, batch)?;
        attempts.push(Attempted {
            covered,
            moved: found.largest,
            pairs: count,
            failures: found.failures.len(),
            epsilon: privacy.loss_of(&law, found.largest)?,
        });
        if let Some((index, message)) = found.failures.first() {
            why = format!("at this noise pair {index} has no answer ({message})");
            break;
        }
        if found.largest <= covered {
            return Ok(Calibrated {
                sensitivity: covered,
                pairs: count,
                attempts,
            });
        }
        why = format!(
            "the released map moves {:.4} where the noise covers {covered:.4}",
            found.largest
        );
        covered = (1.05 * found.largest).max(1.1 * covered);
    }
    let best = attempts
        .iter()
        .filter(|a| a.failures == 0)
        .map(|a| a.epsilon)
        .fold(f64::INFINITY, f64::min);
    let best = if best.is_finite() {
        format!("the smallest ε that sampled pairs allow at any tried scale is {best:.4}")
    } else {
        "no tried scale had an answer for every pair".into()
    };
    Err(Error::NotAttainable(format!(
        "no noise scale gives ε = {} for the released map: {why}; {best}",
        privacy.epsilon()
    )))
}

/// S for a share 1−γ at confidence 1−β.
pub(crate) fn pair_count(size: SampleSize, gamma: f64, beta: f64) -> Result<u64> {
    Ok(match size {
        SampleSize::Exact => noise::pair_samples_exact(gamma, beta)?,
        SampleSize::Paper => noise::pair_samples_paper(gamma, beta)?,
    })
}
