//! Series of releases that are declared in advance and charged whole (M16).

use super::Amount;
use super::charge::smaller_rho;
use super::optimal::Equal;
use serde::Serialize;

/// Releases in a series at most: one row of demands for every minute of two months.
pub(super) const LONGEST: u64 = 100_000;

/// The releases of a series, in the order in which they were declared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// What each of them spends.
    releases: Vec<Each>,
    /// The δ at which they are composed; none where their ε's add up.
    delta: Option<f64>,
}

/// Some releases of a series that spend the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Each {
    /// ε of each.
    pub epsilon: f64,
    /// δ of each.
    pub delta: f64,
    /// ρ of each, as stated.
    pub rho: Option<f64>,
    /// How many.
    pub count: u64,
}

impl Series {
    pub(super) fn new(releases: Vec<Each>, delta: Option<f64>) -> Series {
        Series { releases, delta }
    }

    /// How many releases.
    pub fn count(&self) -> u64 {
        let counts = self.releases.iter().map(|each| each.count);
        counts.fold(0, u64::saturating_add)
    }

    /// What each of them spends.
    pub fn releases(&self) -> &[Each] {
        &self.releases
    }

    /// The δ at which they are composed.
    pub fn delta(&self) -> Option<f64> {
        self.delta
    }

    /// The amounts for optimal composition over `m` steps; none where they are not all pure.
    pub(super) fn equals(&self, m: u64) -> Option<Vec<Equal>> {
        let each = self.releases.iter().map(|each| {
            (each.delta == 0.0).then(|| Equal {
                // A decimal ε may lie above its f64.
                epsilon: Amount::new(each.epsilon)
                    .map_or(f64::INFINITY, |e| e.times(m).up().next_up()),
                count: each.count,
            })
        });
        each.collect()
    }
}

impl Each {
    /// The ρ that zCDP composition counts for one of them.
    pub(super) fn zcdp_rho(&self) -> Option<Amount> {
        smaller_rho(self.rho, (self.delta == 0.0).then_some(self.epsilon))
    }
}
