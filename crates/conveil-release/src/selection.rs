//! A private choice of the smallest score (M17h): permute-and-flip, drawn exactly.

use dashu_int::UBig;
use dashu_int::ops::UnsignedAbs;
use dashu_ratio::RBig;

use crate::error::{Error, Result};
use crate::noise::exact;
use crate::randomness::{Bits, SystemBits};
use crate::samplers::Sample;

/// The smallest of several private scores, chosen by permute-and-flip.
///
/// # Guarantee
/// [`Selection::choose`] is ε-differentially private if no neighbour changes any score by more than the sensitivity Δ: each
/// candidate passes with probability exp(−ε(score − smallest)/(2Δ)), and one of those that pass is taken, each as likely
/// as the others. Coins and choice are drawn exactly, in fractions, with the operating system's randomness; how long that
/// takes is private. (M17h.) Tests: `no_pair_of_scores_tells_more_than_epsilon`, `choices_follow_the_closed_form`.
#[derive(Clone, Debug)]
pub struct Selection {
    /// ε/(2Δ).
    rate: RBig,
    epsilon: f64,
    sensitivity: f64,
}

/// What is taken off ε, so that it and the ε of a release add up to their floating-point sum at most.
const ROUNDINGS: f64 = 1.0 - 1e-12;

impl Selection {
    /// With this ε, of scores that a neighbour changes by at most `sensitivity`; both positive.
    pub fn new(epsilon: f64, sensitivity: f64) -> Result<Selection> {
        let is_positive = |x: f64| x.is_finite() && x > 0.0;
        if !is_positive(epsilon) || !is_positive(sensitivity) {
            return Err(Error::refused(
                &format!("a private choice with ε = {epsilon} and a sensitivity of {sensitivity}"),
                "both must be positive numbers",
                "an ε above 0, and scores that one record can change",
            ));
        }
        Ok(Selection {
            rate: exact(epsilon * ROUNDINGS)? / (RBig::from(2) * exact(sensitivity)?),
            epsilon,
            sensitivity,
        })
    }

    /// ε.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Δ.
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// By how much a score must be smaller than another one, so that of these two it is chosen nine times as often.
    pub fn tells_apart(&self) -> f64 {
        // Of two, the worse one is chosen with probability p/2: a tenth for p = 1/5.
        5f64.ln() * 2.0 * self.sensitivity / self.epsilon
    }

    /// The place of the chosen score.
    pub fn choose(&self, scores: &[RBig]) -> Result<usize> {
        let Some(smallest) = scores.iter().min() else {
            return Err(Error::Noise("there is nothing to choose from".into()));
        };
        let bits = &mut SystemBits::for_one_draw();
        let mut passing = Vec::with_capacity(scores.len());
        // Every coin is flipped, so that their number tells nothing.
        for (place, score) in scores.iter().enumerate() {
            let (above, below) = (&self.rate * (score - smallest)).into_parts();
            // The smallest is taken off: nothing is below 0.
            if bits.exponential_coin(&above.unsigned_abs(), &below)? {
                passing.push(place);
            }
        }
        // The smallest always passes.
        let drawn = bits.below(&UBig::from(passing.len()))?;
        let place = usize::try_from(drawn).ok().and_then(|k| passing.get(k));
        place
            .copied()
            .ok_or_else(|| Error::Noise("no candidate passed".into()))
    }
}

/// The probability of each choice in closed form, for scores in units in which a candidate passes with exp(−score).
#[cfg(test)]
fn probabilities(scores: &[f64]) -> Vec<f64> {
    let smallest = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let pass: Vec<f64> = scores.iter().map(|s| (smallest - s).exp()).collect();
    (0..scores.len())
        .map(|r| {
            // Pr[r passes] · E[1/(1 + how many others pass)], over all sets of others.
            let others: Vec<f64> = (0..scores.len())
                .filter(|s| *s != r)
                .map(|s| pass[s])
                .collect();
            let sets = 0..1usize << others.len();
            let shares = sets.map(|set| {
                let each = others.iter().enumerate().map(|(k, p)| match set >> k & 1 {
                    1 => *p,
                    _ => 1.0 - p,
                });
                each.product::<f64>() / (1.0 + set.count_ones() as f64)
            });
            pass[r] * shares.sum::<f64>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use conveil::noise::Sampler;

    /// The largest log-ratio of a choice's probabilities under two lists of scores, in units in which the mechanism passes
    /// with exp(−score).
    fn loss(one: &[f64], other: &[f64]) -> f64 {
        let (p, q) = (probabilities(one), probabilities(other));
        let ratios = p.iter().zip(&q).map(|(p, q)| (p / q).ln().abs());
        ratios.fold(0.0, f64::max)
    }

    /// With Δ = 1 and ε = 2 scores pass with exp(−score): every pair within 1 loses at most 2, and some nearly all of it.
    /// A mechanism with the rate ε/Δ, twice the right one, is caught.
    #[test]
    fn no_pair_of_scores_tells_more_than_epsilon() {
        let mut sampler = Sampler::new(17, 0);
        let (mut worst, mut twice) = (0.0f64, 0.0f64);
        for case in 0..4_000 {
            let count = 2 + case % 4;
            let one: Vec<f64> = (0..count).map(|_| 6.0 * sampler.uniform()).collect();
            let moved = |s: &f64, u: f64| match case % 3 {
                0 => s + 2.0 * u - 1.0,
                _ if u < 0.5 => s - 1.0,
                _ => s + 1.0,
            };
            let other: Vec<f64> = one.iter().map(|s| moved(s, sampler.uniform())).collect();
            worst = worst.max(loss(&one, &other));
            let doubled = |scores: &[f64]| scores.iter().map(|s| 2.0 * s).collect::<Vec<f64>>();
            twice = twice.max(loss(&doubled(&one), &doubled(&other)));
        }
        assert!(worst <= 2.0 + 1e-9, "{worst}");
        assert!(worst > 1.9, "not attained: {worst}");
        assert!(twice > 2.5, "the mutant was not caught: {twice}");
    }

    /// 40 000 choices, each at least 500 times: a count is beyond 5.5 standard deviations less than once in 10⁶ runs of all five.
    #[test]
    fn choices_follow_the_closed_form() {
        let scores = [0.3, 0.1, 0.85, 0.1, 1.2];
        let selection = Selection::new(3.0, 0.5).unwrap();
        let fractions: Vec<RBig> = scores.iter().map(|s| exact(*s).unwrap()).collect();
        let expected = probabilities(&scores.map(|s| 3.0 * s));
        assert!((expected.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let runs = 40_000;
        let mut counts = [0u32; 5];
        for _ in 0..runs {
            counts[selection.choose(&fractions).unwrap()] += 1;
        }
        for (count, p) in counts.iter().zip(&expected) {
            let deviation = (f64::from(runs) * p * (1.0 - p)).sqrt();
            let off = (f64::from(*count) - f64::from(runs) * p) / deviation;
            assert!(off.abs() < 5.5, "{counts:?} {expected:?}");
        }
    }

    #[test]
    fn what_is_no_selection_is_refused() {
        for (epsilon, sensitivity) in [
            (0.0, 1.0),
            (1.0, 0.0),
            (f64::NAN, 1.0),
            (1.0, f64::INFINITY),
        ] {
            assert!(Selection::new(epsilon, sensitivity).is_err());
        }
        assert!(Selection::new(1.0, 1.0).unwrap().choose(&[]).is_err());
        let far = [exact(0.0).unwrap(), exact(1e300).unwrap()];
        assert_eq!(Selection::new(1.0, 1.0).unwrap().choose(&far).unwrap(), 0);
    }
}
