//! Which coefficients of A are private: a set that is listed, or what records that are alike make of it.

use super::Parameters;
use std::collections::HashSet;

/// The private coefficients (row, column) of A.
#[derive(Clone, Debug)]
pub struct PrivateCoefficients(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Listed(HashSet<(usize, usize)>),
    OfRecords(Parameters),
}

impl PrivateCoefficients {
    /// Those that the parameters enter.
    pub(super) fn of(parameters: &Parameters) -> Self {
        PrivateCoefficients(match parameters.records() {
            Some(_) => Kind::OfRecords(parameters.clone()),
            None if parameters.costs().is_some() => Kind::Listed(HashSet::new()),
            None => {
                let places = parameters.places().filter_map(|(_, at)| at.place.in_a());
                Kind::Listed(places.collect())
            }
        })
    }

    /// Whether the coefficient at (row, column) is private.
    pub fn contains(&self, row: usize, column: usize) -> bool {
        match &self.0 {
            Kind::Listed(set) => set.contains(&(row, column)),
            Kind::OfRecords(parameters) => parameters.in_records(row, column).is_some(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Listed(set) => set.len(),
            Kind::OfRecords(parameters) => parameters.len(),
        }
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl FromIterator<(usize, usize)> for PrivateCoefficients {
    fn from_iter<I: IntoIterator<Item = (usize, usize)>>(listed: I) -> Self {
        PrivateCoefficients(Kind::Listed(listed.into_iter().collect()))
    }
}
