//! What a certificate makes of its public numbers, on public data: its bound, corrections and what they cost.

use super::certified::public_data;
use super::skeleton::Skeleton;
use crate::ask::Ask;
use crate::error::{Error, Result};
use crate::program::DataMap;
use crate::solve;
use std::sync::Arc;

/// A difference of two optima or of two datasets below this share is that of their solves.
const ROUNDING: f64 = 1e-6;

/// A certificate on public data, before any noise.
pub(crate) struct UnderTerms {
    /// What the noise is proportional to: its bound on T⁻¹ times the answer without the solver's part, times the size of T.
    pub(crate) bound: f64,
    /// The largest correction, or by how much rows are exceeded in all, at the nominal data and at both ends of the public bounds.
    pub(crate) correction: Option<f64>,
    /// What curvature and corrections cost at the nominal data, in the user's own objective.
    pub(crate) cost: Option<f64>,
}

/// What the certificate of this ask says in public; none where the sensitivity is not certified.
pub(crate) fn under_terms(map: &dyn DataMap, ask: &Ask) -> Result<Option<UnderTerms>> {
    let stated = ask.stated()?;
    let original: Arc<dyn DataMap + '_> = Arc::new(map);
    let skeleton = Skeleton::new(&original, original.clone(), ask, &stated, false)?;
    let Some(certificate) = skeleton.certificate.as_deref() else {
        return Ok(None);
    };
    let shape = &skeleton.posed.shape;
    let squares = (0..shape.noises()).flat_map(|i| shape.row(i));
    let size = squares.map(|t| t * t).sum::<f64>() / shape.noises() as f64;
    let mut under = UnderTerms {
        bound: certificate.bound() * size.sqrt(),
        correction: None,
        cost: None,
    };
    let Some(rewrite) = certificate.rewrite() else {
        return Ok(Some(under));
    };
    let Some(deviation) = rewrite.deviation else {
        return Ok(Some(under));
    };
    let settings = &ask.settings;
    for (index, theta) in public_data(certificate, map).enumerate() {
        let theta = &theta[..];
        let program = rewrite.map.at(theta)?;
        let solution = match solve::optimum(&program, settings) {
            Ok(solution) => solution,
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(_) => continue,
        };
        let found = deviation.found(&program, &solution.x, (theta, theta), map.parameters());
        let size = found.distance;
        let is_rounding = size <= ROUNDING * (1.0 + crate::program::norm(theta));
        let size = if is_rounding { 0.0 } else { size };
        under.correction = Some(under.correction.map_or(size, |most| most.max(size)));
        if index > 0 {
            continue;
        }
        let users = map.at(theta)?;
        under.cost = match solve::optimum(&users, settings) {
            Ok(own) => {
                let x = &solution.x[..users.columns()];
                let objective = match deviation.is_in_the_answer() {
                    true => solution.objective - skeleton.curved.at(theta)?.objective(x),
                    false => 0.0,
                };
                let cost = objective + users.objective(x) - own.objective;
                // The difference of two solves.
                let is_rounding = cost.abs() <= ROUNDING * own.objective.abs();
                Some(if is_rounding { 0.0 } else { cost })
            }
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(_) => None,
        };
    }
    Ok(Some(under))
}
