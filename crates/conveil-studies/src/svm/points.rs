//! The records: two Gaussian classes around (1, 1) and (3, 3).

use conveil::noise::Sampler;

use super::Settings;
use crate::learning::Examples;

/// Where the class of +1 lies, and that of −1.
const CENTRES: (f64, f64) = (1.0, 3.0);

/// Public bounds lie so many standard deviations outside the two centres.
const BEYOND: f64 = 4.0;

/// Streams of the records: training, then test.
const TRAINING: u64 = 7 << 40;
const TEST: u64 = 8 << 40;

/// The public bounds of either feature.
pub(super) fn bounds(settings: &Settings) -> (f64, f64) {
    let room = BEYOND * settings.deviation;
    (CENTRES.0 - room, CENTRES.1 + room)
}

/// The training records of one world; another world has other records of the same law.
pub(super) fn training(settings: &Settings, world: u64) -> Examples {
    draw(settings, settings.records, TRAINING + world)
}

/// Its test records.
pub(super) fn test(settings: &Settings, world: u64) -> Examples {
    draw(settings, settings.test_records, TEST + world)
}

fn draw(settings: &Settings, count: usize, stream: u64) -> Examples {
    let mut sampler = Sampler::new(settings.seed, stream);
    let labels: Vec<bool> = (0..count).map(|i| i % 2 == 0).collect();
    let features = labels.iter().map(|&label| {
        let centre = if label { CENTRES.0 } else { CENTRES.1 };
        (0..2)
            .map(|_| centre + settings.deviation * sampler.unit_normal())
            .collect()
    });
    Examples {
        features: features.collect(),
        labels: labels.clone(),
    }
}
