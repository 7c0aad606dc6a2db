//! What a plan fixes before the noise scale (query, shape, rule, certificate), and the scale that follows with the basis
//! of the claim.

use super::posed::{Posed, shape_of};
use super::{Basis, DeterministicMap, ReleasedMap};
use crate::ask::{Around, Ask, MapKind, Privacy, Query, Request, Sampled, Stated, Strategy};
use crate::certify::{
    self, Answer, Certificate, Declared, Estimate, Pairs, Site, calibrate, estimate,
};
use crate::chance::Split;
use crate::error::{Error, Result};
use crate::noise::{LatticeLaw, Law};
use crate::program::{AffineMap, DataMap, Place};
use crate::solve::Batch;
use std::sync::Arc;

/// What is fixed before the noise scale.
pub(super) struct Skeleton<'m> {
    /// What is solved: the user's model, or what a certificate made of it.
    pub(super) map: Arc<dyn DataMap + 'm>,
    pub(super) original: Arc<dyn DataMap + 'm>,
    /// `original` with the curvature that the certificate's terms add.
    pub(super) curved: Arc<dyn DataMap + 'm>,
    pub(super) posed: Posed,
    pub(super) certificate: Option<Box<dyn Certificate>>,
    /// The query and rule of the user's own program, where one that may deviate from the data stands in its place.
    pub(super) posed_by_user: Option<Posed>,
}

/// The released map at its noise scale, and why that scale suffices.
pub(super) struct Scaled<'m> {
    pub(super) released: ReleasedMap<'m>,
    pub(super) basis: Basis,
    pub(super) sensitivity: f64,
}

impl<'m> Skeleton<'m> {
    /// `counted` is `original` on the data as they count: what is solved unless a certificate makes something else of it.
    pub(super) fn new(
        original: &Arc<dyn DataMap + 'm>,
        counted: Arc<dyn DataMap + 'm>,
        ask: &Ask,
        stated: &Stated,
        paper: bool,
    ) -> Result<Self> {
        let (original, map) = (original.clone(), &**original);
        match stated.privacy {
            // The paper uses the classic scale at ε = 1.
            Privacy::Gaussian { epsilon, delta, .. } if paper => {
                Privacy::gaussian(epsilon, delta).validate()?;
            }
            privacy => privacy.validate()?,
        }
        if map.is_empty() {
            return Err(Error::input(
                "the model has no private parameters: there is nothing to protect",
            ));
        }
        stated.adjacency.validate(map.len())?;
        ask.feasibility.validate()?;
        let Request::Certificate { word, terms } = &stated.sensitivity else {
            return Ok(Skeleton {
                map: counted,
                curved: original.clone(),
                posed: Posed::of_model(ask, map)?,
                original,
                certificate: None,
                posed_by_user: None,
            });
        };
        let kind = certify::named(word)?;
        let is_scaled = map.affine().is_some_and(|affine| affine.ball().is_some());
        if is_scaled && !kind.covers_scaled_records() {
            return Err(Error::refused(
                format!("a certificate by `{word}`"),
                "records are scaled to a public length, which moves all entries of a record at once",
                "the certificate `erm`, or a declared or sampled sensitivity",
            ));
        }
        let curved = match terms.curvature {
            None => original.clone(),
            Some(kappa) => {
                let on_private = kind.curves_private_columns();
                with_curvature(map, ask, kappa, on_private, terms.around)?
            }
        };
        let map = &*curved;
        let (posed_by_user, shape) = match kind.makes_the_query() {
            true => (None, shape_of(ask, map, None, 1)?),
            false => {
                let posed_by_user = Posed::of_model(ask, map)?;
                if posed_by_user.query.is_objective() && !kind.covers_the_objective() {
                    return Err(not_the_objective(word));
                }
                let shape = posed_by_user.shape.clone();
                (Some(posed_by_user), shape)
            }
        };
        let certificate = kind.prove(&Site {
            map,
            ask,
            adjacency: stated.adjacency,
            norm: stated.privacy.norm(),
            shape: &shape,
            posed: posed_by_user
                .as_ref()
                .map(|posed_by_user| (&posed_by_user.query, &*posed_by_user.rule)),
            terms,
        })?;
        let rewritten = match certificate.rewrite() {
            None => None,
            Some(rewrite) => {
                let solved: Arc<dyn DataMap + 'm> = Arc::new(rewrite.map.clone());
                let posed = Posed::new(ask, &*solved, rewrite.query.clone(), shape)?;
                Some((solved, posed, rewrite.deviation.is_some()))
            }
        };
        let (solved, posed, posed_by_user) = match (rewritten, posed_by_user) {
            (Some((solved, posed, deviates)), posed_by_user) => {
                (solved, posed, posed_by_user.filter(|_| deviates))
            }
            // What a certificate inspects is what is solved.
            (None, Some(posed_by_user)) => match map.affine() {
                Some(affine) => (
                    Arc::new(affine.clone()) as Arc<dyn DataMap + 'm>,
                    posed_by_user,
                    None,
                ),
                None => (counted, posed_by_user, None),
            },
            (None, None) => {
                return Err(Error::input(format!(
                    "the certificate `{word}` makes no query"
                )));
            }
        };
        Ok(Skeleton {
            map: solved,
            original,
            curved: curved.clone(),
            posed,
            certificate: Some(certificate),
            posed_by_user,
        })
    }

    pub(super) fn released(&self, ask: &Ask, noise: LatticeLaw) -> Result<ReleasedMap<'m>> {
        ReleasedMap::new(self.map.clone(), self.posed.clone(), ask, noise)
    }

    /// The law and its lattice for a sensitivity of T^{-1}Qx̄.
    pub(super) fn law_for(
        &self,
        ask: &Ask,
        privacy: &Privacy,
        sensitivity: f64,
    ) -> Result<LatticeLaw> {
        privacy.lattice_law(sensitivity, self.posed.shape.noises(), ask.lattice)
    }

    /// The noise scale that the sensitivity asks for.
    pub(super) fn scaled(
        &self,
        ask: &Ask,
        stated: &Stated,
        paper: bool,
        batch: &Batch<'_>,
    ) -> Result<Scaled<'m>> {
        let optimise =
            ask.feasibility.split == Split::Optimise && ask.strategy == Strategy::Program;
        let certificate = self.certificate.as_deref();
        if optimise && !paper && !certificate.is_some_and(Certificate::admits_optimised_split) {
            return Err(Error::refused(
                "split = optimise on this basis",
                "the winning split depends on the data, and only a certificate that envelopes the value of every split keeps its bound under that choice",
                "split = symmetric, or a lower tail share fixed in advance",
            ));
        }
        match (&stated.sensitivity, certificate) {
            (_, Some(certificate)) => self.certified(ask, &stated.privacy, certificate),
            (Request::Declared { bound, reason }, None) => {
                let norm = stated.privacy.norm();
                let declared = Declared::new(*bound, reason, norm, &stated.adjacency)?
                    .measured_in(&self.posed.shape);
                self.declared(ask, stated, &declared, paper)
            }
            (Request::Sampled(sampled), None) => self.sampled(ask, stated, sampled, paper, batch),
            (Request::Certificate { .. }, None) => Err(Error::input("no certificate was built")),
        }
    }

    fn declared(
        &self,
        ask: &Ask,
        stated: &Stated,
        declared: &Declared,
        paper: bool,
    ) -> Result<Scaled<'m>> {
        let noise = self.law_for(ask, &stated.privacy, declared.bound())?;
        let basis = match paper {
            true => Basis::paper(format!(
                "a declared bound on the deterministic map ({})",
                declared.statement()
            )),
            false => Basis::declared(declared),
        };
        Ok(Scaled {
            released: self.released(ask, noise)?,
            basis,
            sensitivity: declared.bound(),
        })
    }

    fn sampled(
        &self,
        ask: &Ask,
        stated: &Stated,
        sampled: &Sampled,
        paper: bool,
        batch: &Batch<'_>,
    ) -> Result<Scaled<'m>> {
        let (privacy, adjacency) = (&stated.privacy, stated.adjacency);
        if sampled.universe.len() != self.map.len() {
            return Err(Error::input(format!(
                "the universe has {} entries, but the model has {} private parameters",
                sampled.universe.len(),
                self.map.len()
            )));
        }
        let deterministic = DeterministicMap::new(self.map.clone(), &self.posed, &ask.settings);
        let pairs = Pairs::new(sampled.universe.clone(), adjacency, sampled.seed);
        let count = certify::pair_count(sampled.size, sampled.gamma, sampled.beta)?;
        let found = estimate(
            Estimate::default(),
            &pairs,
            count,
            privacy.norm(),
            &|theta: &[f64]| deterministic.answer(theta),
            batch,
        )?;
        if let Some((index, message)) = found.failures.first() {
            return Err(Error::NotAttainable(format!(
                "pair {index} of the universe has no answer even without noise: {message}"
            )));
        }
        // Noise on the answer is on that of the map without noise: they are one map.
        let another = ask.strategy == Strategy::Program;
        if sampled.on == MapKind::Deterministic && another {
            if !paper {
                return Err(Error::refused(
                    "noise calibrated to the deterministic map",
                    "another map is released, and it can move many times more",
                    "on = \"released\", or paper mode for a study that releases nothing",
                ));
            }
            let noise = self.law_for(ask, privacy, positive(found.largest)?)?;
            return Ok(Scaled {
                released: self.released(ask, noise)?,
                basis: Basis::paper(format!(
                    "the largest movement of the deterministic map over {count} pairs around the private data"
                )),
                sensitivity: found.largest,
            });
        }
        let map_for = |sensitivity: f64| -> Result<(Law, Answer<'_>)> {
            let noise = self.law_for(ask, privacy, sensitivity)?;
            let released = self.released(ask, noise)?;
            let shape = &self.posed.shape;
            let answer = move |theta: &[f64]| Ok(shape.unshape(&released.at(theta)?.answer));
            Ok((*noise.law(), Box::new(answer)))
        };
        let start = positive(found.largest)?;
        let calibrated = calibrate(sampled, adjacency, privacy, start, &map_for, batch)?;
        let noise = self.law_for(ask, privacy, calibrated.sensitivity)?;
        Ok(Scaled {
            released: self.released(ask, noise)?,
            basis: Basis::sampled(sampled, &adjacency, &calibrated),
            sensitivity: calibrated.sensitivity,
        })
    }
}

/// The model with ½κx², or ½κ(x − x₀)² around a public point, on the variables that are released, on those that have a quadratic
/// cost and, if asked, on those that meet private numbers.
fn with_curvature<'m>(
    map: &dyn DataMap,
    ask: &Ask,
    kappa: f64,
    on_private: bool,
    around: Around,
) -> Result<Arc<dyn DataMap + 'm>> {
    if !(kappa.is_finite() && kappa > 0.0) {
        return Err(Error::input(format!(
            "the curvature must be positive and finite, found {kappa}"
        )));
    }
    let Some(affine) = map.affine() else {
        return Err(Error::refused(
            "added curvature",
            "the program depends on the data in a way that cannot be inspected",
            "a map that is affine in the data",
        ));
    };
    let query = ask.query.resolve(map, ask.strategy)?;
    let program = map.template();
    let mut columns: Vec<usize> = query.rows().iter().flatten().map(|term| term.0).collect();
    columns.extend((0..program.columns()).filter(|&j| program.p().get(j, j) > 0.0));
    if on_private {
        let places = affine.parameters().places().map(|(_, at)| at);
        columns.extend(places.flat_map(|location| match location.place {
            Place::Q(j) | Place::A(_, j) => vec![j],
            Place::P(i, j) => vec![i, j],
            Place::B(_) => Vec::new(),
        }));
    }
    columns.sort_unstable();
    columns.dedup();
    let centre = match around {
        Around::Zero => vec![0.0; program.columns()],
        Around::Nominal => public_optimum(affine, ask)?,
    };
    let columns: Vec<(usize, f64)> = columns.into_iter().map(|j| (j, centre[j])).collect();
    Ok(Arc::new(affine.with_curvature(&columns, kappa)?))
}

/// The optimum without noise at public data, as a point for a quadratic cost to be around. That cost has a linear part, which
/// must not be taken for the user's own: neither in what is released nor in a tail of the cost.
fn public_optimum(affine: &AffineMap, ask: &Ask) -> Result<Vec<f64>> {
    let what = "curvature around the nominal optimum";
    let is_cost = matches!(ask.query, Query::Cost | Query::Value | Query::AtMost { .. });
    if is_cost || ask.risk.weighs_cvar() || ask.risk.has_limit() {
        return Err(Error::refused(
            what,
            "it changes the linear costs, which are released here or have a weight of their own",
            "curvature around zero, which is the default",
        ));
    }
    let program = affine.at(&certify::nominal_or_middle(affine))?;
    let solution = crate::solve::solve_checked(&program, &ask.settings);
    let solution = solution.map_err(|error| match error {
        Error::Cancelled => Error::Cancelled,
        other => Error::refused(
            what,
            format!("the program has no answer at the nominal data: {other}"),
            "nominal values for which there is one, or curvature around zero",
        ),
    })?;
    Ok(solution.x)
}

/// A certificate that bounds how far sums of the variables move says nothing of the objective.
fn not_the_objective(word: &str) -> Error {
    let covering = certify::certificates()
        .iter()
        .filter(|kind| kind.covers_the_objective());
    let covering: Vec<String> = covering.map(|kind| format!("`{}`", kind.word())).collect();
    Error::refused(
        format!("a query of the value with the certificate `{word}`"),
        "it is about sums of the variables, and the value of this program is none",
        format!(
            "a certificate of the value ({}), or a declared or sampled sensitivity",
            covering.join(", ")
        ),
    )
}

fn positive(largest: f64) -> Result<f64> {
    if largest > 0.0 {
        return Ok(largest);
    }
    Err(Error::NotAttainable(
        "no sampled pair moved the answer at all: the sample says nothing about the sensitivity"
            .into(),
    ))
}
