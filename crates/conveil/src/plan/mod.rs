//! The Plan: everything a guarantee needs, decided without data; the released map; the curator's side.

mod certified;
mod comparison;
mod correction;
mod curate;
mod decided;
mod deterministic;
mod empirical;
mod equalities;
mod explain;
mod fit;
mod frontier;
mod guarantee;
mod judge;
mod projection;
mod released;
mod report;
mod shape;
mod strategies;
mod warnings;
mod widest;

pub use comparison::{Comparison, StrategyRow};
pub use correction::{Clipped, Correction};
pub use curate::Curated;
pub use decided::{Decided, Recourse};
pub use deterministic::DeterministicMap;
pub use empirical::{Empirical, empirical_violation};
pub use explain::{Explanation, Threshold, explain};
pub use fit::{Fit, fit};
pub use frontier::{Axis, Frontier, FrontierRow, frontier};
pub use guarantee::{Basis, Guarantee};
pub use projection::Projection;
pub use released::ReleasedMap;
pub use report::CuratorReport;
pub use shape::Shape;
pub use strategies::compare;
pub use widest::largest_universe;

use crate::ask::{Ask, MapKind, NoiseShape, Privacy, Request, ResolvedQuery, Strategy};
use crate::chance::Split;
use crate::error::{Error, Result};
use crate::noise::Law;
use crate::program::DataMap;
use crate::rule::{NoiseRow, Rule};
use crate::sensitivity::{
    Answer, Certificate, Curvature, Declared, Envelope, Estimate, Metric, Pairs, Radius,
    RegularisedErm, StrongConvexity, calibrate, estimate, shape_of_curvature,
};
use crate::solve::Batch;
use certified::Certified;
use std::sync::Arc;

/// A plan: the rule, the boxes, the η shares, the noise scale, the lattice and the guarantee. It has seen no data.
///
/// # Guarantee
/// [`Plan::guarantee`] is final: releasing [`Plan::published`] of Qx̄(θ) + Tζ with this plan's law has the stated privacy,
/// on the stated basis, and the decision the stated feasibility, provided that the ask was chosen without looking at the
/// data (M1).
#[derive(Debug)]
pub struct Plan<'m> {
    model: &'m dyn DataMap,
    ask: Ask,
    released: ReleasedMap<'m>,
    projection: Option<Projection>,
    guarantee: Guarantee,
    warnings: Vec<String>,
}

impl<'m> Plan<'m> {
    /// Decides everything on public structure, or refuses with the reason.
    pub fn new(map: &'m dyn DataMap, ask: Ask) -> Result<Self> {
        let batch = own_batch(&ask);
        Self::with_batch(map, ask, &batch)
    }

    /// [`Plan::new`] with progress and interruption for sampled sensitivities.
    pub fn with_batch(map: &'m dyn DataMap, ask: Ask, batch: &Batch<'_>) -> Result<Self> {
        Self::build(map, ask, false, batch)
    }

    /// The paper's way: the noise is calibrated to the deterministic map over a universe around the *private* data.
    /// The guarantee says what that is worth, with the ε that a short audit found beside the claimed one; nothing that
    /// this plan makes may be called private.
    pub fn paper_mode(map: &'m dyn DataMap, ask: Ask, theta: &[f64]) -> Result<Self> {
        let is_sampled = matches!(ask.sensitivity, Some(Request::Sampled(_)));
        let mut plan = Self::paper_mode_unaudited(map, ask, theta)?;
        if is_sampled {
            let batch = own_batch(plan.ask());
            let found = match crate::audit::quick(&plan, &batch) {
                Ok(report) => report.beside(),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(other) => format!("an audit found no answer: {other}"),
            };
            plan.guarantee.basis_mut().audited(&found);
        }
        Ok(plan)
    }

    /// The same without the audit, for those who look at the noise alone.
    fn paper_mode_unaudited(map: &'m dyn DataMap, ask: Ask, theta: &[f64]) -> Result<Self> {
        let mut ask = ask;
        if !matches!(
            ask.sensitivity,
            None | Some(Request::Declared { .. } | Request::Sampled(_))
        ) {
            return Err(Error::refused(
                "a certificate in paper mode",
                "paper mode keeps the paper's calibration, which no certificate covers",
                "a plan outside paper mode, or a declared or sampled sensitivity",
            ));
        }
        if let Some(Request::Sampled(sampled)) = &mut ask.sensitivity {
            sampled.universe = sampled.universe.recentred(theta)?;
            sampled.on = MapKind::Deterministic;
        }
        let batch = own_batch(&ask);
        Self::build(map, ask, true, &batch)
    }

    fn build(map: &'m dyn DataMap, ask: Ask, paper: bool, batch: &Batch<'_>) -> Result<Self> {
        refuse_strategy(&ask, paper)?;
        let mut skeleton = Skeleton::new(map, &ask, paper)?;
        let projection = match ask.strategy {
            Strategy::Projected => Some(Projection::required(map, &skeleton.query, &ask.settings)?),
            _ => None,
        };
        let certified = skeleton.certified.take();
        let bare = certified.as_ref().map(|c| c.certificate().bound());
        let (released, basis, sensitivity) = skeleton.scale(&ask, certified, paper, batch)?;
        let guarantee = Guarantee::new(&ask, &released, map.meaning(), basis, sensitivity);
        let own = released.plain().unwrap_or(&released);
        let mut warnings = warnings::collect(map, own.map(), &ask, own);
        warnings.extend(bare.and_then(|bare| warnings::solver_share(bare, sensitivity)));
        Ok(Plan {
            model: map,
            ask,
            released,
            projection,
            guarantee,
            warnings,
        })
    }

    /// The guarantee.
    pub fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    /// The user's own model. What is solved may have a certificate's variables behind the model's own.
    pub fn model(&self) -> &'m dyn DataMap {
        self.model
    }

    /// The one road to x̄.
    pub fn released(&self) -> &ReleasedMap<'m> {
        &self.released
    }

    /// What is published of a noisy answer Qx̄ + Tζ: the answer itself, or its projection. It looks at nothing private.
    pub fn published(&self, noisy: &[f64]) -> Result<Vec<f64>> {
        match &self.projection {
            None => Ok(noisy.to_vec()),
            Some(projection) => projection.apply(noisy),
        }
    }

    /// What a careful reader should know about this plan; public.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The ask it was made for.
    pub fn ask(&self) -> &Ask {
        &self.ask
    }

    /// The noise law.
    pub fn law(&self) -> &Law {
        self.released.law()
    }

    /// Does the private work on a dataset, releasing nothing.
    pub fn curate(&self, theta: &[f64]) -> Result<Curated> {
        curate::curate(self, theta)
    }

    /// The curator's report on a decision of [`ReleasedMap::at`] at the same dataset.
    pub fn report_on(&self, decided: &Decided, theta: &[f64]) -> Result<CuratorReport> {
        curate::report(self, decided, theta)
    }
}

/// The batch that an ask's own threads and flag make.
fn own_batch(ask: &Ask) -> Batch<'static> {
    let batch = Batch::new().cancel(ask.settings.cancel().clone());
    match ask.threads {
        None => batch,
        Some(threads) => batch.threads(threads),
    }
}

/// What is fixed before the noise scale: query, shape, rule.
struct Skeleton<'m> {
    /// What is solved: the user's model, or what a certificate made of it.
    map: Arc<dyn DataMap + 'm>,
    original: &'m dyn DataMap,
    query: ResolvedQuery,
    shape: Shape,
    rule: Rule,
    certified: Option<Certified>,
    /// The user's own program, where an envelope stands in its place.
    own: Option<Own>,
}

/// Query and rule of the user's own program.
struct Own {
    query: ResolvedQuery,
    rule: Rule,
}

impl<'m> Skeleton<'m> {
    fn new(map: &'m dyn DataMap, ask: &Ask, paper: bool) -> Result<Self> {
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
            let radius = Radius::new(map, &ask.query, &ask.risk, adjacency, unit, &ask.settings)?;
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
        let query = ask.query.resolve(map)?;
        let shape = shape_of(ask, map, Some(&query), query.rows().len())?;
        let rule = rule_of(ask, map, &query, &shape)?;
        let mut skeleton = Skeleton {
            map: Arc::new(map),
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
                    &ask.risk,
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

    fn released(&self, ask: &Ask, (law, step): (Law, f64)) -> Result<ReleasedMap<'m>> {
        ReleasedMap::new(
            self.map.clone(),
            self.query.clone(),
            self.shape.clone(),
            self.rule.clone(),
            ask,
            law,
            step,
        )
    }

    /// The law and lattice step for a sensitivity of T^{-1}Qx̄.
    fn law_for(&self, ask: &Ask, privacy: &Privacy, sensitivity: f64) -> Result<(Law, f64)> {
        privacy.lattice_law(sensitivity, self.shape.noises(), ask.lattice)
    }

    /// The released map at its noise scale, the basis of the claim, the sensitivity.
    fn scale(
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
            // A variable without bounds can make a proof fail on some data and not on others.
            if !released.is_bounded() {
                basis.not_everywhere();
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
                let count =
                    crate::sensitivity::pair_count(sampled.size, sampled.gamma, sampled.beta)?;
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
                    Ok((law.0, Box::new(answer)))
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
                let basis = Basis::sampled(sampled, &calibrated);
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

/// What noise on the answer cannot be asked for together with.
fn refuse_strategy(ask: &Ask, paper: bool) -> Result<()> {
    let strategy = ask.strategy;
    if strategy == Strategy::Program {
        return Ok(());
    }
    let what = format!("strategy = {}", strategy.key());
    if paper {
        return Err(Error::refused(
            what + " in paper mode",
            "paper mode is about program perturbation calibrated to another map",
            "a sensitivity on the released map, which is the map without noise here",
        ));
    }
    if let Some(asked) = ask.risk.beyond_expectation() {
        return Err(Error::refused(
            format!("{asked} with {what}"),
            "the program knows nothing of the noise, so nothing but its own objective can be minimised",
            format!("leave out {asked}; or strategy = program"),
        ));
    }
    Ok(())
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
const MADE_UP: u64 = 0x5EED;

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
