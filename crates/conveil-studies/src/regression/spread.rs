//! A number as a distribution over seeds.

use serde::Serialize;

/// Mean, standard deviation and the ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; 0 of a single seed.
    pub std: f64,
    /// The least.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of at least one number.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            1 => values[middle],
            _ => 0.5 * (values[middle - 1] + values[middle]),
        };
        Some(Spread {
            mean,
            std: (squares / (count - 1.0).max(1.0)).sqrt(),
            min,
            median,
            max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_numbers_have_their_moments() {
        let spread = Spread::of(vec![4.0, 1.0, 2.0, 5.0]).unwrap();
        assert_eq!((spread.min, spread.median, spread.max), (1.0, 3.0, 5.0));
        assert_eq!(spread.mean, 3.0);
        assert!((spread.std - (10.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(Spread::of(vec![]), None);
    }
}
