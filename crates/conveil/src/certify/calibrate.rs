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

/// Scales whose ε is checked again before it is told.
const REPEATED: usize = 5;

/// The first candidate covers this much more than the largest movement seen.
const MARGIN: f64 = 1.0001;

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
    // Fresh pairs for every trial: another stretch of the public stream, at confidence β/2ʲ. The paper's size is a floor:
    // its formula at β/2ʲ would double with every candidate without need.
    let floor = pair_count(request.size, request.gamma, request.beta)?;
    let try_scale = |j: u32, covered: f64| -> Result<(Attempted, Option<(u64, String)>)> {
        let (law, answer) = map_for(covered)?;
        let beta = request.beta / 2f64.powi(j as i32);
        let count = noise::pair_samples_exact(request.gamma, beta)?.max(floor);
        let seed = request.seed ^ (u64::from(j) * STRIDE);
        let pairs = Pairs::new(request.universe.clone(), adjacency, seed);
        let found = estimate(Estimate::default(), &pairs, count, norm, &answer, batch)?;
        let attempted = Attempted {
            covered,
            moved: found.largest,
            pairs: count,
            failures: found.failures.len(),
            epsilon: privacy.loss_of(&law, found.largest)?,
        };
        Ok((attempted, found.failures.into_iter().next()))
    };
    // A little above what was seen: the solver's last digits must not cost a whole step.
    let mut covered = (MARGIN * start).max(f64::MIN_POSITIVE.sqrt());
    let mut attempts: Vec<Attempted> = Vec::new();
    let mut why = String::new();
    for j in 1..=CANDIDATES {
        let (attempted, failure) = try_scale(j, covered)?;
        let (moved, pairs) = (attempted.moved, attempted.pairs);
        attempts.push(attempted);
        if let Some((index, message)) = failure {
            why = format!("at this noise pair {index} has no answer ({message})");
            break;
        }
        if moved <= covered {
            return Ok(Calibrated {
                sensitivity: covered,
                pairs,
                attempts,
            });
        }
        why = format!("the released map moves {moved:.4} where the noise covers {covered:.4}");
        covered = (1.05 * moved).max(1.1 * covered);
    }
    // The luckiest of many small samples flatters: the best scales must repeat their ε on fresh pairs.
    attempts.retain(|a| a.failures == 0);
    attempts.sort_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
    let mut best = f64::INFINITY;
    for (index, attempt) in attempts.iter().take(REPEATED).enumerate() {
        let (again, failure) = try_scale(CANDIDATES + 1 + index as u32, attempt.covered)?;
        if failure.is_none() {
            best = best.min(attempt.epsilon.max(again.epsilon));
        }
    }
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
