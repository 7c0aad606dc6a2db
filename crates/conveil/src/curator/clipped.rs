//! The data outside their public bounds or the claim's universe, and what they count as. Private.

use crate::certify::is_moved;
use crate::error::Result;
use crate::program::DataMap;

/// A datum outside its public bounds, or outside the universe that the claim is about. Private.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Clipped {
    /// The parameter.
    pub name: String,
    /// Its value.
    pub datum: f64,
    /// The bound, or the entry of the nearest member of the universe, that stands in for it.
    pub counted_as: f64,
}

/// The data outside their public bounds or universe.
pub(super) fn clipped(map: &dyn DataMap, theta: &[f64]) -> Result<Vec<Clipped>> {
    let counted = map.clipped(theta)?;
    let each = map.parameters().iter().zip(theta.iter().zip(counted));
    Ok(each
        .filter(|(_, (datum, counted))| is_moved(**datum, *counted))
        .map(|(parameter, (datum, counted_as))| Clipped {
            name: parameter.name().to_string(),
            datum: *datum,
            counted_as,
        })
        .collect())
}
