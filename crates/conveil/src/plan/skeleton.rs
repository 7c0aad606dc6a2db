//! What a plan fixes before the noise scale (query, shape, rule), and the scale that follows with the basis of the claim.

use super::certified::Certified;
use super::{Basis, DeterministicMap, ReleasedMap};
use crate::ask::{Ask, MapKind, NoiseShape, Privacy, Request, ResolvedQuery, Strategy};
use crate::certify::{
    Answer, Certificate, Declared, Envelope, Estimate, Metric, Pairs, Radius, RegularisedErm,
    StrongConvexity, calibrate, estimate, shape_of_curvature,
};
use crate::chance::Split;
use crate::error::{Error, Result};
use crate::noise::{LatticeLaw, Law};
use crate::program::DataMap;
use crate::proof::Curvature;
use crate::rule::{NoiseRow, Rule, Shape};
use crate::solve::Batch;
use std::sync::Arc;

/// What is fixed before the noise scale: query, shape, rule.
pub(super) struct Skeleton<'m> {
    /// What is solved: the user's model, or what a certificate made of it.
    pub(super) map: Arc<dyn DataMap + 'm>,
    pub(super) original: &'m dyn DataMap,
    pub(super) query: ResolvedQuery,
    pub(super) shape: Shape,
    pub(super) rule: Rule,
    pub(super) certified: Option<Certified>,
    /// The user's own program, where an envelope stands in its place.
    pub(super) own: Option<Own>,
}

/// Query and rule of the user's own program.
pub(super) struct Own {
    pub(super) query: ResolvedQuery,
    pub(super) rule: Rule,
}

impl<'m> Skeleton<'m> {
    /// `counted` is `map` on the data as they count: what is solved unless a certificate makes something else of it.
    pub(super) fn new(
        map: &'m dyn DataMap,
        counted: Arc<dyn DataMap + 'm>,
        ask: &Ask,
        paper: bool,
    ) -> Result<Self> {
        let Some(privacy) = &ask.privacy else {
            return Err(Error::input(
                "the ask states no privacy: a mechanism and its ε",
            ));
        };
        match privacy {
            // The paper uses the classic scale at ε = 1.
            Privacy::Gaussian { epsilon, delta, .. } if paper => {
                Privacy::gaussian(*epsilon, *delta).validate()?;
            }
            _ => privacy.validate()?,
        }
        let Some(adjacency) = &ask.adjacency else {
            return Err(Error::input(
                "the ask states no adjacency: which datasets must be indistinguishable",
            ));
        };
        if map.is_empty() {
            return Err(Error::input(
                "the model has no private parameters: there is nothing to protect",
            ));
        }
        adjacency.validate(map.len())?;
        ask.feasibility.validate()?;
        let norm = privacy.norm();
        if matches!(ask.sensitivity, Some(Request::Radius)) {
            let shape = shape_of(ask, map, None, 1)?;
            let unit = shape.row(0)[0].abs();
            let radius = Radius::new(map, ask, adjacency, unit)?;
            let priced: Arc<dyn DataMap + 'm> = Arc::new(radius.map().clone());
            let query = radius.query().clone();
            let rule = rule_of(ask, &*priced, &query, &shape)?;
            return Ok(Skeleton {
                map: priced,
                original: map,
                query,
                shape,
                rule,
                certified: Some(Certified::Radius(Box::new(radius))),
                own: None,
            });
        }
        let query = ask.query.resolve(map, ask.strategy)?;
        let shape = shape_of(ask, map, Some(&query), query.rows().len())?;
        let rule = rule_of(ask, map, &query, &shape)?;
        let mut skeleton = Skeleton {
            map: counted,
            original: map,
            query,
            shape,
            rule,
            certified: None,
            own: None,
        };
        let curvature = || Curvature::of(map.template().p()).map(Arc::new);
        // What a certificate inspects is what is solved.
        let inspected = |skeleton: &mut Self| {
            if let Some(affine) = map.affine() {
                skeleton.map = Arc::new(affine);
            }
        };
        match &ask.sensitivity {
            Some(Request::Envelope { price }) => {
                let unit = skeleton.shape.row(0)[0].abs();
                let envelope =
                    Envelope::new(map, &skeleton.query, &ask.risk, adjacency, unit, *price)?;
                let query = envelope.query().clone();
                let own = Own {
                    query: std::mem::replace(&mut skeleton.query, query),
                    rule: skeleton.rule.clone(),
                };
                skeleton.map = Arc::new(envelope.map().clone());
                skeleton.rule = rule_of(ask, &*skeleton.map, &skeleton.query, &skeleton.shape)?;
                skeleton.own = Some(own);
                skeleton.certified = Some(Certified::Envelope(Box::new(envelope)));
            }
            Some(Request::StrongConvexity) => {
                let curvature = curvature();
                let metric = skeleton.metric(curvature.as_deref());
                inspected(&mut skeleton);
                skeleton.certified = Some(Certified::StrongConvexity(StrongConvexity::new(
                    map, curvature, metric, &ask.risk, adjacency, norm,
                )?));
            }
            Some(Request::RegularisedErm) => {
                let curvature = curvature();
                let metric = skeleton.metric(curvature.as_deref());
                inspected(&mut skeleton);
                skeleton.certified = Some(Certified::Erm(RegularisedErm::new(
                    map,
                    curvature,
                    metric,
                    &skeleton.rule,
                    ask,
                    adjacency,
                    norm,
                )?));
            }
            _ => {}
        }
        Ok(skeleton)
    }

    fn metric(&self, curvature: Option<&Curvature>) -> Option<Metric> {
        Metric::new(curvature?, &self.query, &self.shape)
    }

    pub(super) fn released(&self, ask: &Ask, noise: LatticeLaw) -> Result<ReleasedMap<'m>> {
        ReleasedMap::new(
            self.map.clone(),
            self.query.clone(),
            self.shape.clone(),
            self.rule.clone(),
            ask,
            noise,
        )
    }

    /// The law and its lattice for a sensitivity of T^{-1}Qx̄.
    pub(super) fn law_for(
        &self,
        ask: &Ask,
        privacy: &Privacy,
        sensitivity: f64,
    ) -> Result<LatticeLaw> {
        privacy.lattice_law(sensitivity, self.shape.noises(), ask.lattice)
    }

    /// The released map at its noise scale, the basis of the claim, the sensitivity.
    pub(super) fn scale(
        &self,
        ask: &Ask,
        certified: Option<Certified>,
        paper: bool,
        batch: &Batch<'_>,
    ) -> Result<(ReleasedMap<'m>, Basis, f64)> {
        let (Some(privacy), Some(adjacency)) = (&ask.privacy, ask.adjacency) else {
            return Err(Error::input("the ask states no privacy or no adjacency"));
        };
        let Some(request) = &ask.sensitivity else {
            return Err(Error::input(
                "the ask states no sensitivity: declare a bound with its reason, or ask for a sampled one",
            ));
        };
        let optimise =
            ask.feasibility.split == Split::Optimise && ask.strategy == Strategy::Program;
        let admits = |c: &Certified| c.certificate().admits_optimised_split();
        if optimise && !paper && !certified.as_ref().is_some_and(admits) {
            return Err(Error::refused(
                "split = optimise on this basis",
                "the winning split depends on the data, and only a certificate that envelopes the value of every split keeps its bound under that choice",
                "split = symmetric, or a lower tail share fixed in advance",
            ));
        }
        if let Some(certified) = certified {
            let (released, certified) = self.certified(ask, privacy, certified)?;
            let certificate = certified.certificate();
            let mut basis = Basis::certificate(certificate);
            if !released.is_bounded() {
                basis.with_unbounded_variables();
            }
            return Ok((released, basis, certificate.bound()));
        }
        match request {
            Request::Declared { bound, reason } => {
                let declared = Declared::new(*bound, reason, privacy.norm(), &adjacency)?
                    .measured_in(&self.shape);
                let law = self.law_for(ask, privacy, declared.bound())?;
                let basis = if paper {
                    Basis::paper(format!(
                        "a declared bound on the deterministic map ({})",
                        declared.statement()
                    ))
                } else {
                    Basis::certificate(&declared)
                };
                Ok((self.released(ask, law)?, basis, declared.bound()))
            }
            Request::Sampled(sampled) => {
                if sampled.universe.len() != self.map.len() {
                    return Err(Error::input(format!(
                        "the universe has {} entries, but the model has {} private parameters",
                        sampled.universe.len(),
                        self.map.len()
                    )));
                }
                let deterministic =
                    DeterministicMap::new(self.map.clone(), &self.query, &self.shape, ask);
                let pairs = Pairs::new(sampled.universe.clone(), adjacency, sampled.seed);
                let count = crate::certify::pair_count(sampled.size, sampled.gamma, sampled.beta)?;
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
                    let law = self.law_for(ask, privacy, positive(found.largest)?)?;
                    let basis = Basis::paper(format!(
                        "the largest movement of the deterministic map over {count} pairs around the private data"
                    ));
                    return Ok((self.released(ask, law)?, basis, found.largest));
                }
                let map_for = |sensitivity: f64| -> Result<(Law, Answer<'_>)> {
                    let law = self.law_for(ask, privacy, sensitivity)?;
                    let released = self.released(ask, law)?;
                    let answer =
                        move |theta: &[f64]| Ok(self.shape.unshape(&released.at(theta)?.answer));
                    Ok((*law.law(), Box::new(answer)))
                };
                let calibrated = calibrate(
                    sampled,
                    adjacency,
                    privacy,
                    positive(found.largest)?,
                    &map_for,
                    batch,
                )?;
                let law = self.law_for(ask, privacy, calibrated.sensitivity)?;
                let sensitivity = calibrated.sensitivity;
                let basis = Basis::sampled(sampled, &adjacency, &calibrated);
                Ok((self.released(ask, law)?, basis, sensitivity))
            }
            _ => Err(Error::input("no certificate was built")),
        }
    }
}

/// T, as asked.
fn shape_of(
    ask: &Ask,
    map: &dyn DataMap,
    query: Option<&ResolvedQuery>,
    r: usize,
) -> Result<Shape> {
    match &ask.shape {
        NoiseShape::Identity => Shape::new(None, r),
        NoiseShape::Rows(rows) => Shape::new(Some(rows), r),
        NoiseShape::Curvature => {
            let refuse = |why: &str| {
                Err(Error::refused(
                    "noise shaped by curvature",
                    why,
                    "a quadratic cost that is public and positive definite on what is released, or a shape by rows",
                ))
            };
            if map.private_parts().p {
                return refuse("the quadratic cost is private, and the shape would tell it");
            }
            let Some(curvature) = Curvature::of(map.template().p()) else {
                return refuse(
                    "the quadratic cost is not positive definite on the variables it names",
                );
            };
            match query.and_then(|query| shape_of_curvature(&curvature, query)) {
                Some(rows) => Shape::new(Some(&rows), r),
                None => refuse("the query names a variable without a quadratic cost"),
            }
        }
    }
}

/// The rule for a query, refused where it is hopeless.
fn rule_of(ask: &Ask, map: &dyn DataMap, query: &ResolvedQuery, shape: &Shape) -> Result<Rule> {
    let rows = noise_rows(query, shape);
    if ask.strategy != Strategy::Program {
        let n = map.template().columns();
        let places = query.whole_decision(n);
        return Ok(Rule::on_the_answer(n, &rows, places, shape.noises()));
    }
    let rule = Rule::new(
        map.template(),
        &rows,
        shape.noises(),
        &map.private_rows(),
        false,
    )?;
    refuse_hopeless(map, &rule)?;
    Ok(rule)
}

/// Where private coefficients keep the rank test from being decided in public, it runs on made-up data: a query that
/// fails there fails for almost every dataset, and is refused before anything is charged.
fn refuse_hopeless(map: &dyn DataMap, rule: &Rule) -> Result<()> {
    if !rule.has_private_equations() {
        return Ok(());
    }
    let mut verdicts = (0..2).filter_map(|stream| {
        let mut sampler = crate::noise::Sampler::new(MADE_UP, stream);
        let draw = |p: &crate::program::Parameter, u: f64| match p.bounds() {
            Some((low, high)) => low + u * (high - low),
            None => 1.0 + u,
        };
        let theta: Vec<f64> = map
            .parameters()
            .iter()
            .map(|p| draw(p, sampler.uniform()))
            .collect();
        map.at(&theta)
            .ok()
            .map(|program| rule.at(&program, None).map(|_| ()))
    });
    match (verdicts.next(), verdicts.next()) {
        (Some(Err(first)), Some(Err(_))) => Err(first),
        _ => Ok(()),
    }
}

/// The seed of made-up data: any number serves.
pub(super) const MADE_UP: u64 = 0x5EED;

fn positive(largest: f64) -> Result<f64> {
    if largest > 0.0 {
        return Ok(largest);
    }
    Err(Error::NotAttainable(
        "no sampled pair moved the answer at all: the sample says nothing about the sensitivity"
            .into(),
    ))
}

/// QX = T, and c̃'X = T for an at-most query.
fn noise_rows(query: &ResolvedQuery, shape: &Shape) -> Vec<NoiseRow> {
    let mut rows: Vec<NoiseRow> = query
        .rows
        .iter()
        .zip(&query.labels)
        .enumerate()
        .map(|(i, (terms, label))| NoiseRow {
            label: label.clone(),
            terms: terms.clone(),
            carries: shape.row(i).to_vec(),
        })
        .collect();
    if let Some(slope) = &query.slope {
        rows.push(NoiseRow {
            label: "the slope of the at-most query".into(),
            terms: slope.clone(),
            carries: shape.row(0).to_vec(),
        });
    }
    rows
}
