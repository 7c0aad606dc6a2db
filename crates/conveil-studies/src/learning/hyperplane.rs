//! Released hyperplanes: how well they classify under noise, and what movements between neighbours say of a claim.

use conveil::Result;
use conveil::ask::Privacy;
use conveil::noise::{Law, Sampler};
use conveil::solve::Batch;
use conveil_models::svm::{Accuracy, Svm};
use serde::Serialize;

/// Noise comes from separate streams, the same for every strategy.
const NOISE: u64 = 5 << 40;

/// Records with labels, true for +1.
#[derive(Clone, Debug, PartialEq)]
pub struct Examples {
    /// Features of each record.
    pub features: Vec<Vec<f64>>,
    /// Labels.
    pub labels: Vec<bool>,
}

impl Examples {
    /// The share of records with this label.
    pub fn share(&self, label: bool) -> f64 {
        let count = self.labels.iter().filter(|l| **l == label).count();
        count as f64 / self.labels.len().max(1) as f64
    }

    /// The share of the larger class: what always answering it would score.
    pub fn majority(&self) -> f64 {
        self.share(true).max(self.share(false))
    }

    /// The least and the largest value of each feature.
    pub fn ranges(&self) -> Vec<(f64, f64)> {
        let count = self.features.first().map_or(0, Vec::len);
        let column = |j: usize| self.features.iter().map(move |x| x[j]);
        (0..count)
            .map(|j| {
                let low = column(j).fold(f64::INFINITY, f64::min);
                (low, column(j).fold(f64::NEG_INFINITY, f64::max))
            })
            .collect()
    }

    /// Each feature as (value − low)/(high − low): min-max normalisation by these ranges.
    pub fn normalised(&self, ranges: &[(f64, f64)]) -> Examples {
        let one = |x: &Vec<f64>| {
            let each = x.iter().zip(ranges);
            each.map(|(v, (low, high))| (v - low) / (high - low))
                .collect()
        };
        Examples {
            features: self.features.iter().map(one).collect(),
            labels: self.labels.clone(),
        }
    }
}

/// A trained hyperplane before noise, and the noise that is drawn around it.
#[derive(Clone, Debug)]
pub(crate) struct Nominal {
    pub(crate) weights: Vec<f64>,
    pub(crate) law: Law,
}

impl Nominal {
    /// Draw number `index`.
    pub(crate) fn draw(&self, seed: u64, index: u64) -> Vec<f64> {
        let mut noise = vec![0.0; self.weights.len()];
        Sampler::new(seed, NOISE + index).fill(&self.law, &mut noise);
        let each = self.weights.iter().zip(noise);
        each.map(|(w, z)| w + z).collect()
    }

    /// Root of the expected squared noise over the length of the hyperplane: above 1, noise decides.
    pub(crate) fn noise_ratio(&self) -> f64 {
        let length = self.weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        self.law.std_dev() * (self.weights.len() as f64).sqrt() / length
    }

    /// Mean and standard deviation over draws of the accuracy on these records.
    pub(crate) fn accuracy(
        &self,
        svm: &Svm,
        test: &Examples,
        draws: u64,
        seed: u64,
        batch: &Batch<'_>,
    ) -> Result<Accuracy> {
        let found = batch.run(draws as usize, |i| {
            let released = self.draw(seed, i as u64);
            let score = svm.score(&released, &test.features, &test.labels)?;
            Ok(score.accuracy)
        })?;
        let found = found.into_iter().collect::<Result<Vec<f64>>>()?;
        Ok(Accuracy::over(&found))
    }
}

/// What fresh pairs say of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Audited {
    /// The smallest ε that holds for the promised share of fresh pairs.
    pub audited_epsilon: f64,
    /// The share of fresh pairs within the claimed ε.
    pub share_within: f64,
    /// Fresh pairs.
    pub pairs: u64,
    /// The largest ε of any pair, those of an adversarial search included; none where nothing was searched.
    pub worst_epsilon: Option<f64>,
}

impl Audited {
    /// The losses of fresh pairs under a law, for a claim about this share of pairs; `searched` is the largest movement
    /// that a search found.
    pub(crate) fn of(
        movements: &[f64],
        searched: Option<f64>,
        privacy: &Privacy,
        law: &Law,
        share: f64,
    ) -> Result<Self> {
        let mut sorted = movements.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let rank = (share * count as f64 - 1e-9).ceil() as usize;
        let promised = sorted.get(rank.clamp(1, count.max(1)) - 1).copied();
        let losses = sorted.iter().map(|m| privacy.loss_of(law, *m));
        let losses = losses.collect::<Result<Vec<f64>>>()?;
        // The solver's last digits are no breach.
        let claimed = privacy.epsilon() * (1.0 + 1e-4);
        let within = losses.iter().filter(|e| **e <= claimed).count();
        let largest = sorted.last().copied().unwrap_or(0.0);
        let worst = searched.map(|s| privacy.loss_of(law, s.max(largest)));
        Ok(Audited {
            audited_epsilon: privacy.loss_of(law, promised.unwrap_or(0.0))?,
            share_within: within as f64 / count.max(1) as f64,
            pairs: count as u64,
            worst_epsilon: worst.transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_counts_pairs_within_the_claim_and_halved_noise_doubles_the_loss() {
        let privacy = Privacy::laplace(1.0);
        // Losses 0.1, 0.2, …, 2.0 at scale 1.
        let moved: Vec<f64> = (1..=20).map(|i| 0.1 * f64::from(i)).collect();
        let audit = |scale: f64| {
            let law = Law::laplace(scale).unwrap();
            Audited::of(&moved, Some(3.0), &privacy, &law, 0.9).unwrap()
        };
        let enough = audit(1.8);
        assert!((enough.audited_epsilon - 1.0).abs() < 1e-12);
        assert_eq!((enough.share_within, enough.pairs), (0.9, 20));
        assert!((enough.worst_epsilon.unwrap() - 3.0 / 1.8).abs() < 1e-12);
        let halved = audit(0.9);
        assert!((halved.audited_epsilon - 2.0).abs() < 1e-12);
        assert_eq!(halved.share_within, 0.45);
    }

    #[test]
    fn noise_far_larger_than_the_weights_guesses_and_none_is_exact() {
        let svm = Svm::of(
            4,
            vec![conveil_models::svm::Feature::within("x", -1.0, 1.0)],
        )
        .build()
        .unwrap();
        let test = Examples {
            features: (0..200)
                .map(|i| vec![f64::from(i) / 100.0 - 0.995])
                .collect(),
            labels: (0..200).map(|i| i >= 100).collect(),
        };
        let accuracy = |scale: f64| {
            let nominal = Nominal {
                weights: vec![1.0, 0.0],
                law: Law::laplace(scale).unwrap(),
            };
            let batch = Batch::new();
            nominal.accuracy(&svm, &test, 4000, 1, &batch).unwrap()
        };
        let exact = accuracy(1e-9);
        assert_eq!((exact.mean, exact.std), (100.0, 0.0));
        // A symmetric law around next to nothing: half of the records, whatever the records. Each draw scores between
        // 0 and 100%: Hoeffding with 4000 draws and a false-alarm rate of 1e-6 leaves 4.3 points.
        let guess = accuracy(1e6);
        assert!((guess.mean - 50.0).abs() < 4.3, "{guess:?}");
        assert!(guess.std > 20.0, "{guess:?}");
    }
}
