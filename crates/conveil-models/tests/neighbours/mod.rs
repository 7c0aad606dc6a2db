//! Datasets of a classifier that differ in one record, and how far its answer moves between them.

use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil_models::classifier::Classifier;

/// Records of each dataset.
pub const COUNT: usize = 24;

/// Features and labels: random, in corners, along one axis, on the edge of the norm.
pub fn dataset(
    sampler: &mut Sampler,
    features: usize,
    edge: f64,
    kind: usize,
) -> (Vec<Vec<f64>>, Vec<bool>) {
    let labels: Vec<bool> = (0..COUNT).map(|i| i % 2 == 0 || kind % 7 == 3).collect();
    let records = labels.iter().map(|&label| {
        let side = if label { 1.0 } else { -1.0 };
        match kind % 4 {
            0 => (0..features)
                .map(|_| 2.0 * sampler.uniform() - 1.0)
                .collect(),
            1 => vec![side; features],
            2 => {
                let mut record = vec![0.0; features];
                record[kind % features] = side;
                record
            }
            _ => {
                let drawn: Vec<f64> = (0..features)
                    .map(|_| 2.0 * sampler.uniform() - 1.0)
                    .collect();
                let length = drawn.iter().map(|x| x * x).sum::<f64>().sqrt();
                let scaled = drawn.iter().map(|x| x * edge / length);
                scaled.map(|x| x.clamp(-1.0, 1.0)).collect()
            }
        }
    });
    let records = records.collect();
    (records, labels)
}

/// The largest movement of a map over neighbours: each has one record replaced, most by its mirror image.
pub fn largest(
    sampler: &mut Sampler,
    classifier: &Classifier,
    plan: &Plan<'_>,
    edge: f64,
    pairs: usize,
) -> f64 {
    let norm = plan.guarantee().privacy().norm();
    let features = classifier.features().len();
    let mut largest = 0.0f64;
    for pair in 0..pairs {
        let (mut records, mut labels) = dataset(sampler, features, edge, pair);
        let answer = |records: &[Vec<f64>], labels: &[bool]| {
            let theta = classifier.dataset(records, labels).unwrap();
            plan.released().at(&theta).unwrap().answer
        };
        let before = answer(&records, &labels);
        let one = pair % COUNT;
        match pair % 3 {
            // The same place with the other label, beyond the bounds, another record.
            0 => labels[one] = !labels[one],
            1 => {
                records[one].iter_mut().for_each(|x| *x *= 1e6);
                labels[one] = !labels[one];
            }
            _ => {
                let (others, flipped) = dataset(sampler, features, edge, pair + 1);
                records[one] = others[one].iter().map(|x| -x).collect();
                labels[one] = flipped[one];
            }
        }
        let after = answer(&records, &labels);
        let change: Vec<f64> = before.iter().zip(&after).map(|(a, b)| a - b).collect();
        largest = largest.max(norm.of(&change));
    }
    largest
}
