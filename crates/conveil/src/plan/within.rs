//! Data outside the universe that a claim is about count as its nearest member, before anything else is done with them.

use crate::ask::{Adjacency, Ask, Request, Stated, Universe};
use crate::error::{Error, Result};
use crate::program::{
    AffineMap, DataMap, Meaning, Parameters, PrivateCoefficients, PrivateParts, Program,
};
use std::ops::Range;
use std::sync::Arc;

/// The universe that the claim of an ask is about, where there is one. None in paper mode: its centre is private.
pub(crate) fn claimed(
    map: &dyn DataMap,
    ask: &Ask,
    stated: &Stated,
    paper: bool,
) -> Result<Option<Universe>> {
    let universe = match &stated.sensitivity {
        _ if paper => return Ok(None),
        Request::Sampled(sampled) => Some(&sampled.universe),
        _ if stated.adjacency != Adjacency::Universe => return Ok(None),
        Request::Declared { .. } => ask.universe.as_ref(),
        Request::Certificate { .. } => None,
    };
    if let Some(universe) = universe {
        return Ok(Some(universe.clone()));
    }
    // Certificates are about all data between the public bounds.
    match map.parameters().kinds().all(|p| p.bounds().is_some()) {
        true => Universe::between_bounds(map.parameters()).map(Some),
        false => Ok(None),
    }
}

/// The model on the data as they count: the model itself, or the model on the nearest members of a universe.
pub(crate) fn counted<'m>(
    map: &Arc<dyn DataMap + 'm>,
    stated: &Stated,
    universe: Option<&Universe>,
) -> Result<Arc<dyn DataMap + 'm>> {
    match universe {
        Some(universe) if !stated.sensitivity.is_certificate() => {
            let within = Within::new(map.clone(), universe.clone(), &stated.adjacency)?;
            Ok(Arc::new(within))
        }
        _ => Ok(map.clone()),
    }
}

/// A model on the nearest members of a universe.
///
/// # Guarantee
/// Every dataset is solved as a member of the universe, a member as itself, and the members that stand for neighbours are
/// neighbours (M1): a claim about the members of the universe holds for all data. Test:
/// `data_outside_the_universe_are_released_as_its_nearest_member`.
struct Within<'m> {
    map: Arc<dyn DataMap + 'm>,
    universe: Universe,
}

/// Refuses a universe whose nearest members of two neighbours need not be neighbours.
pub(super) fn refuse_other_neighbours(
    map: &dyn DataMap,
    universe: &Universe,
    adjacency: &Adjacency,
) -> Result<()> {
    if universe.len() != map.len() {
        return Err(Error::input(format!(
            "the universe has {} entries, but the model has {} private parameters",
            universe.len(),
            map.len()
        )));
    }
    if !universe.keeps_neighbours(adjacency) {
        return Err(Error::refused(
            format!("this universe with {adjacency}"),
            "data outside it count as its nearest member, and the nearest members of two neighbours need not be neighbours: a disc moves several entries at once, and an entry with two values jumps",
            "a box (kind = \"box\"), which clips entry by entry; or adjacency l2, universe, or one-record with whole discs in every record",
        ));
    }
    Ok(())
}

impl<'m> Within<'m> {
    fn new(map: Arc<dyn DataMap + 'm>, universe: Universe, adjacency: &Adjacency) -> Result<Self> {
        refuse_other_neighbours(&*map, &universe, adjacency)?;
        Ok(Within { map, universe })
    }

    /// The member that a dataset counts as, after its length and numbers were checked.
    fn member(&self, theta: &[f64]) -> Result<Vec<f64>> {
        self.map.clipped(theta)?;
        Ok(self.universe.nearest(theta.to_vec()))
    }
}

impl DataMap for Within<'_> {
    fn at(&self, theta: &[f64]) -> Result<Program> {
        self.map.at(&self.member(theta)?)
    }

    fn clipped(&self, theta: &[f64]) -> Result<Vec<f64>> {
        self.map.clipped(&self.member(theta)?)
    }

    fn unclipped(&self, theta: &[f64]) -> Result<Program> {
        self.map.unclipped(theta)
    }

    fn parameters(&self) -> &Parameters {
        self.map.parameters()
    }

    fn template(&self) -> &Program {
        self.map.template()
    }

    fn private_parts(&self) -> PrivateParts {
        self.map.private_parts()
    }

    fn private_rows(&self) -> Vec<bool> {
        self.map.private_rows()
    }

    fn private_coefficients(&self) -> PrivateCoefficients {
        self.map.private_coefficients()
    }

    fn private_costs(&self) -> Vec<bool> {
        self.map.private_costs()
    }

    fn affine(&self) -> Option<&AffineMap> {
        self.map.affine()
    }

    fn unique_columns(&self) -> Range<usize> {
        self.map.unique_columns()
    }

    fn meaning(&self) -> Meaning {
        self.map.meaning()
    }

    fn objective_constant(&self, theta: &[f64]) -> f64 {
        self.map.objective_constant(theta)
    }
}
