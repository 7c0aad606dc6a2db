//! Certificates inside a plan: which map is solved, what every solve must be proven to, and the noise that follows.

use super::ReleasedMap;
use super::skeleton::{MADE_UP, Skeleton};
use crate::ask::{Ask, Privacy};
use crate::error::{Error, Result};
use crate::noise::{Law, Sampler};
use crate::program::DataMap;
use crate::sensitivity::{
    Certificate, Envelope, Measure, Precision, Radius, RegularisedErm, StrongConvexity,
};
use std::sync::Arc;

/// The solver may add this share to a sensitivity, on each of two answers.
const SHARE: f64 = 5e-4;

/// The public tolerance leaves this much room above what a public dataset needed.
const ROOM: f64 = 4.0;

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
        // The noise depends on the tolerance, and how well a public dataset is solved on the noise: twice is enough.
        for last in [false, true] {
            let counted = certified.clone_with(tolerance);
            let law = self.law_for(ask, privacy, counted.certificate().bound())?;
            let mut released = self.released_under(ask, law, &counted, tolerance)?;
            let mut error = 0.0f64;
            for public in &public {
                error = error.max(match released.rehearse(public) {
                    Ok(error) => error,
                    // With a private cost another dataset may fit where this one does not.
                    Err(Error::NoiseDoesNotFit(_)) if matches!(counted, Certified::Radius(_)) => {
                        0.0
                    }
                    Err(other) => return Err(other),
                });
            }
            if !error.is_finite() {
                return Err(self.unbounded_variable(&released, &public[0], &counted));
            }
            if ROOM * error <= tolerance || last {
                if !(error <= tolerance) {
                    return Err(Error::Numerical(format!(
                        "a solve on public data is proven to within {error:.1e} only, too far for a sensitivity of {bare:.1e}"
                    )));
                }
                return Ok((released, counted));
            }
            tolerance = ROOM * error;
        }
        Err(Error::Numerical("no tolerance was found".into()))
    }

    fn released_under(
        &self,
        ask: &Ask,
        law: (Law, f64),
        certified: &Certified,
        tolerance: f64,
    ) -> Result<ReleasedMap<'m>> {
        let released = self
            .released(ask, law)?
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
        let (law, step) = law;
        let plain = ReleasedMap::new(
            Arc::new(self.original),
            own.query.clone(),
            self.shape.clone(),
            own.rule.clone(),
            ask,
            law,
            step,
        )?
        .proving(Precision {
            measure: Measure::Value,
            tolerance: f64::INFINITY,
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
