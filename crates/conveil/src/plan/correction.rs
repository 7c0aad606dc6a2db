//! What a decision was made for, beside the data themselves: clipped to public bounds, corrected by an envelope (M8a).

use super::released::{Decided, Recourse, ReleasedMap};
use crate::error::{Error, Result};
use crate::program::DataMap;
use crate::sensitivity::Envelope;

/// How the envelope (M8a) deviated from the data, the clipping to public bounds included. Private.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Correction {
    /// ‖θ − θ̃‖ in the envelope's norm, θ the data as they are.
    pub distance: f64,
    /// The entries that moved: name, datum as it is, corrected datum.
    pub moved: Vec<(String, f64, f64)>,
    /// The decision is for the data themselves: nothing was clipped, and no correction was needed or one of the same
    /// value.
    pub at_the_data: bool,
}

/// A datum outside its public bounds. Private.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Clipped {
    /// The parameter.
    pub name: String,
    /// Its value.
    pub datum: f64,
    /// The bound that stands in for it.
    pub counted_as: f64,
}

/// The data outside their public bounds.
pub(super) fn clipped(map: &dyn DataMap, theta: &[f64]) -> Result<Vec<Clipped>> {
    let counted = map.clipped(theta)?;
    let each = map.parameters().iter().zip(theta.iter().zip(counted));
    Ok(each
        .filter(|(_, (datum, counted))| *datum != counted)
        .map(|(parameter, (datum, counted_as))| Clipped {
            name: parameter.name().to_string(),
            datum: *datum,
            counted_as,
        })
        .collect())
}

/// A difference of a datum and its corrected value below this share is rounding.
const ROUNDING: f64 = 1e-9;

/// M8a: the value is v_π either way, but a price that ties with π lets θ̃ stray from θ. The decision at θ̃ = θ is taken
/// where its proven value is the same.
pub(super) fn break_ties(
    best: Decided,
    theta: &[f64],
    envelope: &Envelope,
    plain: &ReleasedMap<'_>,
) -> Result<Decided> {
    let counted = plain.map().clipped(theta)?;
    let own = match plain.at_the_split_of(&best, &counted) {
        Ok(own) => Some(own),
        Err(Error::Cancelled) => return Err(Error::Cancelled),
        Err(_) => None,
    };
    // Its point is feasible, so its value bounds v(θ) ≥ v_π(θ) from above: what is proven of v_π is all it needs.
    let gap = best.proven_error.unwrap_or(0.0);
    let mut decided = best;
    let mut is_counted = false;
    if let Some(own) = own
        && own.objective <= decided.objective + gap
    {
        is_counted = true;
        decided.mean = envelope.at_the_data(&own.mean, &counted);
        decided.recourse = own.recourse.extended(decided.mean.len());
    }
    let corrected = envelope.corrected(&decided.mean);
    let change: Vec<f64> = theta.iter().zip(corrected).map(|(a, b)| b - a).collect();
    let moved = plain
        .map()
        .parameters()
        .iter()
        .zip(theta.iter().zip(corrected));
    decided.correction = Some(Correction {
        distance: envelope.correction_norm().of(&change),
        moved: moved
            .filter(|(_, (a, b))| (*a - *b).abs() > ROUNDING * (1.0 + a.abs()))
            .map(|(p, (a, b))| (p.name().to_string(), *a, *b))
            .collect(),
        at_the_data: is_counted && counted == theta,
    });
    Ok(decided)
}

impl Recourse {
    /// The same with rows of zeros behind.
    fn extended(mut self, columns: usize) -> Self {
        self.rows.resize(columns, Vec::new());
        self
    }
}
