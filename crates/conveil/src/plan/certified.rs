//! Certificates inside a plan: which map is solved, what every solve must be proven to, and the noise that follows.

use super::ReleasedMap;
use super::skeleton::{MADE_UP, Skeleton};
use crate::ask::{Ask, Privacy};
use crate::certify::{Certificate, Envelope, Radius, RegularisedErm, StrongConvexity};
use crate::error::{Error, Result};
use crate::noise::{LatticeLaw, Sampler};
use crate::program::DataMap;
use crate::proof::{Measure, Precision};
use std::sync::Arc;

/// The solver may add this share to a sensitivity, on each of two answers.
const SHARE: f64 = 5e-4;

/// The public tolerance leaves this much room above what a public dataset needed.
const ROOM: f64 = 4.0;

/// The public tolerance on a value is at least this share of the numbers that are added up to it at public data: some
/// data are harder to solve than any that a plan tries. It is always counted, since noise that depended on whether it
/// was needed would tell.
const LOOSE: f64 = 3e-8;

/// A distance is the root of a gap, and some data are proven much less closely than any that a plan tries: this many times
/// as much room.
const OF_A_DISTANCE: f64 = 2.0;

/// Below this share of what costs and limits make of each other, what neighbours move is hard to solve to on some data,
/// and the plan warns. So it does where public data needed more than twice the usual tolerance.
const STRAINED: f64 = 1e-5;

/// A plan is refused where the solver's tolerance would be more than this share of the sensitivity.
const TOO_LARGE: f64 = 0.5;

/// A certificate that was built.
pub(super) enum Certified {
    Envelope(Box<Envelope>),
    Radius(Box<Radius>),
    StrongConvexity(StrongConvexity),
    Erm(RegularisedErm),
}

impl Certified {
    pub(super) fn certificate(&self) -> &dyn Certificate {
        match self {
            Certified::Envelope(envelope) => &**envelope,
            Certified::Radius(radius) => &**radius,
            Certified::StrongConvexity(strong) => strong,
            Certified::Erm(erm) => erm,
        }
    }

    /// The tolerance, in its measure, that adds `SHARE` to the bound for each answer.
    fn usual_tolerance(&self) -> f64 {
        match self {
            Certified::Envelope(envelope) => SHARE * envelope.bound() / envelope.unit(),
            Certified::Radius(radius) => SHARE * radius.bound() / radius.unit(),
            // Distances in the norm of P: the square root of a gap. Ten times as much is still half a percent.
            Certified::StrongConvexity(strong) => 10.0 * SHARE * strong.curved().reach,
            Certified::Erm(erm) => 10.0 * SHARE * erm.curved().reach,
        }
    }

    fn with_solver_tolerance(self, tolerance: f64) -> Self {
        match self {
            Certified::Envelope(e) => {
                Certified::Envelope(Box::new(e.with_solver_tolerance(tolerance)))
            }
            Certified::Radius(r) => Certified::Radius(Box::new(r.with_solver_tolerance(tolerance))),
            Certified::StrongConvexity(s) => {
                Certified::StrongConvexity(s.with_solver_tolerance(tolerance))
            }
            Certified::Erm(e) => Certified::Erm(e.with_solver_tolerance(tolerance)),
        }
    }

    /// How many times what a public dataset needed is counted.
    fn room(&self) -> f64 {
        match self {
            Certified::StrongConvexity(_) => OF_A_DISTANCE * ROOM,
            Certified::Envelope(_) | Certified::Radius(_) | Certified::Erm(_) => ROOM,
        }
    }

    /// What one unit of the objective is in T⁻¹ times the answer; 0 where the answer is no value.
    fn unit(&self) -> f64 {
        match self {
            Certified::Envelope(envelope) => envelope.unit(),
            Certified::Radius(radius) => radius.unit(),
            Certified::StrongConvexity(_) | Certified::Erm(_) => 0.0,
        }
    }

    /// What the tolerance is at least, where the objectives' terms are of this size.
    fn loose(&self, size: f64) -> f64 {
        match self {
            Certified::Envelope(_) | Certified::Radius(_) => LOOSE * size,
            Certified::StrongConvexity(_) | Certified::Erm(_) => 0.0,
        }
    }

    fn precision(&self, tolerance: f64) -> Precision {
        let (measure, known) = match self {
            Certified::Envelope(envelope) => (Measure::Value, envelope.known()),
            Certified::Radius(_) => (Measure::Value, Vec::new()),
            Certified::StrongConvexity(strong) => (
                Measure::Curved(strong.curved().curvature.clone()),
                Vec::new(),
            ),
            Certified::Erm(erm) => (Measure::Curved(erm.curved().curvature.clone()), Vec::new()),
        };
        Precision {
            measure,
            tolerance,
            aim: self.usual_tolerance().min(tolerance),
            known,
            inside: None,
        }
    }

    /// Datasets that are none: what public solves run on. The nominal or made-up one, and the ends of the bounds.
    fn public_data(&self, map: &dyn DataMap) -> Vec<Vec<f64>> {
        let mut datasets = vec![self.usual_data(map)];
        let ends: Option<Vec<(f64, f64)>> = map.parameters().iter().map(|p| p.bounds()).collect();
        if let Some(ends) = ends {
            datasets.push(ends.iter().map(|e| e.0).collect());
            datasets.push(ends.iter().map(|e| e.1).collect());
        }
        datasets
    }

    fn usual_data(&self, map: &dyn DataMap) -> Vec<f64> {
        if let Certified::Envelope(envelope) = self {
            return envelope.public_data();
        }
        let mut sampler = Sampler::new(MADE_UP, 0);
        let draw = |p: &crate::program::Parameter, u: f64| match (p.nominal_value(), p.bounds()) {
            (Some(nominal), _) => nominal,
            (None, Some((low, high))) if p.is_two_valued() => [low, high][usize::from(u < 0.5)],
            (None, Some((low, high))) => low + u * (high - low),
            (None, None) => 1.0 + u,
        };
        let parameters = map.parameters().iter();
        parameters.map(|p| draw(p, sampler.uniform())).collect()
    }
}

impl<'m> Skeleton<'m> {
    /// The released map under a certificate, and the certificate with the solver's tolerance counted in.
    pub(super) fn certified(
        &self,
        ask: &Ask,
        privacy: &Privacy,
        certified: Certified,
    ) -> Result<(ReleasedMap<'m>, Certified)> {
        let public = certified.public_data(&*self.map);
        let mut tolerance = certified.usual_tolerance();
        let bare = certified.certificate().bound();
        // The noise depends on the tolerance, and how well a public dataset is solved on the noise: a few times is enough.
        for last in [false, false, false, true] {
            let counted = certified.clone_with(tolerance);
            let law = self.law_for(ask, privacy, counted.certificate().bound())?;
            let mut released = self.released_under(ask, law, &counted, tolerance)?;
            let (mut error, mut size, mut limits) = (0.0f64, 0.0f64, 0.0f64);
            let (mut has_answer, mut obstacle) = (false, None);
            for public in &public {
                match released.rehearse(public) {
                    Ok(found) => {
                        error = error.max(found.error);
                        size = size.max(found.size);
                        limits = limits.max(found.limits);
                        has_answer = true;
                    }
                    // With a private cost another dataset may carry the noise where this one does not: none does at
                    // a cost of 0.
                    Err(no @ (Error::NoiseDoesNotFit(_) | Error::Refused { .. }))
                        if matches!(counted, Certified::Radius(_)) =>
                    {
                        obstacle = obstacle.or(Some(no));
                    }
                    Err(other) => return Err(other),
                }
            }
            if let (false, Some(obstacle)) = (has_answer, obstacle) {
                return Err(obstacle);
            }
            if !error.is_finite() {
                return Err(self.unbounded_variable(&released, &public[0], &counted));
            }
            let needed = (certified.room() * error).max(certified.loose(size));
            if needed <= tolerance || last {
                if !(error <= tolerance) {
                    return Err(Error::Numerical(format!(
                        "a solve on public data is proven to within {error:.1e} only, too far for a sensitivity of {bare:.1e}"
                    )));
                }
                let total = counted.certificate().bound();
                if total - bare > TOO_LARGE * total && certified.loose(size) > 0.0 {
                    return Err(Error::refused(
                        format!("a certificate by {}", certified.certificate().name()),
                        format!(
                            "neighbours move the value by {bare:.1e}, and the numbers that are added up to it are about {size:.1e}: the solver's own error would be most of the sensitivity"
                        ),
                        "a larger alpha, narrower public bounds on the data, or limits and costs nearer to the data's size",
                    ));
                }
                let moved = bare / certified.unit();
                let is_loose = tolerance > 2.0 * certified.usual_tolerance();
                let is_strained = certified.unit() > 0.0 && (is_loose || moved < STRAINED * limits);
                let released = match is_strained {
                    true => released.straining(),
                    false => released,
                };
                return Ok((released, counted));
            }
            tolerance = tolerance.max(needed);
        }
        Err(Error::Numerical("no tolerance was found".into()))
    }

    fn released_under(
        &self,
        ask: &Ask,
        noise: LatticeLaw,
        certified: &Certified,
        tolerance: f64,
    ) -> Result<ReleasedMap<'m>> {
        let released = self
            .released(ask, noise)?
            .proving(certified.precision(tolerance));
        if let Certified::Radius(_) = certified
            && released.design().sole_box(0).is_none()
            && !released.design().is_at_the_mean()
        {
            return Err(Error::refused(
                "a certificate by radius",
                "the released cost is the optimal value plus a constant only under one box on all rows",
                "method = \"mass-box\" on every block",
            ));
        }
        let (Certified::Envelope(envelope), Some(own)) = (certified, &self.own) else {
            return Ok(released);
        };
        let plain = ReleasedMap::new(
            Arc::new(self.original),
            own.query.clone(),
            self.shape.clone(),
            own.rule.clone(),
            ask,
            noise,
        )?
        .proving(Precision {
            measure: Measure::Value,
            tolerance: f64::INFINITY,
            aim: f64::INFINITY,
            known: Vec::new(),
            inside: None,
        });
        Ok(released.enveloping(Arc::new((**envelope).clone()), plain))
    }

    /// Names a variable that keeps a solve from being proven.
    fn unbounded_variable(
        &self,
        released: &ReleasedMap<'m>,
        public: &[f64],
        certified: &Certified,
    ) -> Error {
        let name = self.map.at(public).ok().and_then(|program| {
            let lifted = released.lifted(&program, 0).ok()?;
            let intervals =
                certified
                    .precision(0.0)
                    .intervals(lifted.program(), Some(&program), f64::INFINITY);
            let is_open = |j: &usize| !intervals.is_bounded(*j);
            let open = (0..program.columns()).find(is_open)?;
            Some(program.variable_name(open))
        });
        let what = format!("a certificate by {}", certified.certificate().name());
        match name {
            Some(name) => Error::refused(
                what,
                format!("the solver's error cannot be bounded: `{name}` has no public bounds"),
                (self.original.meaning().unbounded).unwrap_or_else(|| "public bounds on that variable, as wide as you like; slack variables of a loss are bounded by their cost under row-by-row methods".into()),
            ),
            None => Error::refused(
                what,
                "the solver's error cannot be bounded: the chance method or the risk measure adds variables that nothing bounds",
                "an exact method (mass-box, row-by-row) and an exact risk measure",
            ),
        }
    }
}

impl Certified {
    fn clone_with(&self, tolerance: f64) -> Self {
        let same = match self {
            Certified::Envelope(e) => Certified::Envelope(e.clone()),
            Certified::Radius(r) => Certified::Radius(r.clone()),
            Certified::StrongConvexity(s) => Certified::StrongConvexity(s.clone()),
            Certified::Erm(e) => Certified::Erm(e.clone()),
        };
        same.with_solver_tolerance(tolerance)
    }
}
