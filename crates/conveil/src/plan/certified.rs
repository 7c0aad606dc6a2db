//! Certificates inside a plan: what every solve must be proven to, and the noise that follows.

use super::skeleton::{Scaled, Skeleton};
use super::{Basis, ReleasedMap};
use crate::ask::{Ask, Privacy};
use crate::certify::{self, Certificate, Tolerance};
use crate::error::{Error, Result};
use crate::noise::LatticeLaw;
use crate::program::{DataMap, Program, list_some};
use crate::proof::{Precision, interior, limits_that_meet};
use crate::rewrite::{Miniature, Solved};
use crate::rule::Lifted;
use crate::solve::{self, Infeasibility, Outcome, Solution};

/// Below this share of what costs and limits make of each other, what neighbours move is hard to solve to on some data,
/// and the plan warns. So it does where public data needed more than twice the usual tolerance.
const STRAINED: f64 = 1e-5;

/// A plan is refused where the solver's tolerance would be more than this share of the sensitivity.
const TOO_LARGE: f64 = 0.5;

/// What solves under a certificate are proven to.
fn precision(asked: &Tolerance, tolerance: f64) -> Precision {
    Precision {
        measure: asked.measure.clone(),
        tolerance,
        aim: asked.usual.min(tolerance),
        known: asked.known.clone(),
        inside: None,
    }
}

/// Datasets that are none: what public solves run on. The certificate's, and the ends of the bounds. One at a time: of a million
/// records each is long.
pub(super) fn public_data<'a>(
    certificate: &'a dyn Certificate,
    map: &'a dyn DataMap,
) -> impl Iterator<Item = Vec<f64>> + 'a {
    let parameters = map.parameters();
    let bounds: Option<Vec<(f64, f64)>> = parameters.kinds().map(|p| p.bounds()).collect();
    let end = move |pick: fn((f64, f64)) -> f64| -> Vec<f64> {
        let each = bounds.iter().flatten().cycle().take(parameters.len());
        each.map(|bounds| pick(*bounds)).collect()
    };
    let has_ends = parameters.kinds().all(|p| p.bounds().is_some());
    (0..if has_ends { 3 } else { 1 }).map(move |which| match which {
        0 => certificate.public_data(map),
        1 => end(|bounds| bounds.0),
        _ => end(|bounds| bounds.1),
    })
}

impl<'m> Skeleton<'m> {
    /// The released map under a certificate, with the solver's tolerance counted in.
    pub(super) fn certified(
        &self,
        ask: &Ask,
        privacy: &Privacy,
        certificate: &dyn Certificate,
    ) -> Result<Scaled<'m>> {
        let Some(asked) = certificate.tolerance() else {
            return self.limited(ask, privacy, certificate);
        };
        let mut tolerance = asked.usual;
        let bare = certificate.bound();
        // The noise depends on the tolerance, and how well a public dataset is solved on the noise: a few times is enough.
        for last in [false, false, false, true] {
            let counted = certificate.counting(tolerance);
            let noise = self.law_for(ask, privacy, counted.bound())?;
            let mut released =
                self.released_under(ask, noise, &*counted, precision(&asked, tolerance))?;
            let (mut error, mut size, mut limits) = (0.0f64, 0.0f64, 0.0f64);
            let (mut has_answer, mut obstacle) = (false, None);
            let few = released.in_miniature();
            let of_few = few.as_ref().map(|few| few.map() as &dyn DataMap);
            for public in public_data(certificate, of_few.unwrap_or(&*self.map)) {
                let found = match &few {
                    Some(few) => released.solve_in_miniature(few, &public),
                    None => released.solve_on_public_data(&public),
                };
                match found {
                    Ok(found) => {
                        error = error.max(found.error);
                        size = size.max(found.size);
                        limits = limits.max(found.limits);
                        has_answer = true;
                    }
                    Err(no @ (Error::NoiseDoesNotFit(_) | Error::Refused { .. }))
                        if counted.may_fit_elsewhere() =>
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
                return Err(self.unbounded_variable(
                    &released,
                    &certificate.public_data(&*self.map),
                    &*counted,
                    &asked,
                ));
            }
            let needed = (asked.room * error).max(asked.at_least(size));
            if needed <= tolerance || last {
                if !(error <= tolerance) {
                    return Err(Error::Numerical(format!(
                        "a solve on public data is proven to within {error:.1e} only, too far for a sensitivity of {bare:.1e}"
                    )));
                }
                let total = counted.bound();
                if total - bare > TOO_LARGE * total && asked.at_least(size) > 0.0 {
                    return Err(Error::refused(
                        format!("a certificate by {}", certificate.name()),
                        format!(
                            "neighbours move the value by {bare:.1e}, and the numbers that are added up to it are about {size:.1e}: the solver's own error would be most of the sensitivity"
                        ),
                        "a larger alpha, narrower public bounds on the data, or limits and costs nearer to the data's size",
                    ));
                }
                let moved = bare / asked.unit;
                let is_loose = tolerance > 2.0 * asked.usual;
                if asked.unit > 0.0 && (is_loose || moved < STRAINED * limits) {
                    released = released.straining();
                }
                let mut basis = Basis::certificate(&*counted);
                if !released.is_bounded() {
                    basis.with_unbounded_variables();
                }
                return Ok(Scaled {
                    released,
                    basis,
                    sensitivity: counted.bound(),
                });
            }
            tolerance = tolerance.max(needed);
        }
        Err(Error::Numerical("no tolerance was found".into()))
    }

    /// The released map under a certificate that counts on limits alone, onto which every mean decision is moved.
    fn limited(
        &self,
        ask: &Ask,
        privacy: &Privacy,
        certificate: &dyn Certificate,
    ) -> Result<Scaled<'m>> {
        let sensitivity = certificate.bound();
        let noise = self.law_for(ask, privacy, sensitivity)?;
        let released = self.released(ask, noise)?;
        certificate.check(released.design())?;
        Ok(Scaled {
            released: released.within(certificate.limits().to_vec())?,
            basis: Basis::certificate(certificate),
            sensitivity,
        })
    }

    fn released_under(
        &self,
        ask: &Ask,
        noise: LatticeLaw,
        certificate: &dyn Certificate,
        precision: Precision,
    ) -> Result<ReleasedMap<'m>> {
        let released = self.released(ask, noise)?.proving(precision);
        certificate.check(released.design())?;
        let deviation = certificate.rewrite().and_then(|rewrite| rewrite.deviation);
        let (Some(deviation), Some(posed_by_user)) = (deviation, &self.posed_by_user) else {
            return Ok(released);
        };
        let plain = ReleasedMap::new(self.curved.clone(), posed_by_user.clone(), ask, noise)?
            .proving(Precision::of_any_value());
        Ok(released.deviating(deviation.clone(), plain, self.original.clone()))
    }

    /// Names a variable that keeps a solve from being proven.
    fn unbounded_variable(
        &self,
        released: &ReleasedMap<'m>,
        public: &[f64],
        certificate: &dyn Certificate,
        asked: &Tolerance,
    ) -> Error {
        let name = self.map.at(public).ok().and_then(|program| {
            let lifted = released.lifted(&program, 0).ok()?;
            let precision = precision(asked, 0.0);
            let intervals = precision.intervals(lifted.program(), Some(&program), f64::INFINITY);
            let is_open = |j: &usize| !intervals.is_bounded(*j);
            let open = (0..program.columns()).find(is_open)?;
            Some(program.variable_name(open))
        });
        let what = format!("a certificate by {}", certificate.name());
        match name {
            Some(name) => Error::refused(
                what,
                format!("the solver's error cannot be bounded: `{name}` has no public bounds"),
                (self.original.meaning().unbounded).unwrap_or_else(|| "public bounds on that variable, as wide as you like: a limit in the program, or `bounds = [low, high]` of the variable in a spec; slack variables of a loss are bounded by their cost under row-by-row methods".into()),
            ),
            None => Error::refused(
                what,
                "the solver's error cannot be bounded: the chance method or the risk measure adds variables that nothing bounds",
                "an exact method (mass-box, row-by-row) and an exact risk measure",
            ),
        }
    }
}

impl PublicSolves {
    fn of_losses(answer: &Solved) -> Self {
        PublicSolves {
            error: answer.error.unwrap_or(f64::INFINITY),
            size: answer.objective.abs(),
            limits: 0.0,
        }
    }
}

/// What solves on public data showed.
struct PublicSolves {
    /// The largest proven error.
    error: f64,
    /// The size of the numbers that are added up to the objective.
    size: f64,
    /// What the largest cost would make of the largest limit.
    limits: f64,
}

impl ReleasedMap<'_> {
    /// The map on a few of its records, where they are alike and their losses are solved in their weights.
    fn in_miniature(&self) -> Option<Miniature> {
        Miniature::of(self.map.affine()?, self.local.as_ref()?, certify::DISTINCT)
    }

    /// A public dataset of the few.
    fn solve_in_miniature(&self, few: &Miniature, theta: &[f64]) -> Result<PublicSolves> {
        Ok(PublicSolves::of_losses(&few.decide(
            theta,
            &self.noise,
            &self.settings,
        )?))
    }

    /// Solves at a public dataset: which splits are feasible (for every dataset or for none, under an envelope), how
    /// good a solve is, how large its numbers are, a point inside every cone.
    fn solve_on_public_data(&mut self, theta: &[f64]) -> Result<PublicSolves> {
        let program = self.map.at(theta)?;
        let (mut worst, mut size, mut limits) = (0.0f64, 0.0f64, 0.0f64);
        let mut feasible = Vec::new();
        let mut obstacle = None;
        if let Some(local) = &self.local {
            let answer = local.decide(&program, &self.noise, &self.settings)?;
            return Ok(PublicSolves::of_losses(&answer));
        }
        for split in self.splits.clone() {
            let lifted = self.lifted(&program, split)?;
            match self.solve_lifted(&lifted, split) {
                Outcome::Optimal(solution) => {
                    let refined = self.refined(&program, &lifted, solution, split, None);
                    let (solution, proven) = refined
                        .map_err(|error| self.no_room(&program, &lifted).unwrap_or(error))?;
                    size = size.max(size_of_terms(lifted.program(), &solution));
                    limits = limits.max(size_of_limits(lifted.program()));
                    if let Some(proven) = proven {
                        worst = worst.max(proven.error);
                        self.bounded &= proven.is_bounded;
                    }
                    feasible.push(split);
                }
                Outcome::Infeasible(z) => {
                    obstacle = Some(Infeasibility::named(lifted.program(), &z, |i| {
                        lifted.row_name(&program, i)
                    }));
                }
                other => {
                    if let Outcome::Unbounded(_) = other {
                        // The program itself has the names that the user knows.
                        solve::solve_checked(&program, &self.settings)?;
                    }
                    other.into_solution(lifted.program(), self.settings.tolerance())?;
                }
            }
        }
        let Some(&first) = feasible.first() else {
            solve::solve_checked(&program, &self.settings)?;
            return Err(Error::NoiseDoesNotFit(obstacle.unwrap_or_default()));
        };
        if self.precision.is_some() {
            let lifted = self.lifted(&program, first)?;
            let point = interior(lifted.program(), &self.settings);
            let moved = point.map(|point| match &self.deviating {
                Some(map) => map.deviation.inside_for_all(point),
                None => point,
            });
            if let Some(precision) = &mut self.precision {
                precision.inside = moved;
            }
        }
        self.splits = feasible;
        Ok(PublicSolves {
            error: worst,
            size,
            limits,
        })
    }
}

impl ReleasedMap<'_> {
    /// Why nothing can be proven of a solve: limits that leave no room between them, by name.
    fn no_room(&self, program: &Program, lifted: &Lifted) -> Option<Error> {
        let rows = limits_that_meet(lifted.program(), &self.settings)?;
        let mut names: Vec<String> = Vec::new();
        for name in rows.iter().filter_map(|&i| lifted.row_name(program, i)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Some(Error::refused(
            "a certificate where limits meet",
            format!(
                "{} leave no room between them, and what a solver returns is proven by moving it inside all limits",
                list_some(&names)
            ),
            "one equality in the place of two limits that meet, or room between them",
        ))
    }
}

/// The largest |q_j| times the largest |b_i|/|a_ij|.
fn size_of_limits(program: &Program) -> f64 {
    let cost = program.q().iter().fold(0.0f64, |m, q| m.max(q.abs()));
    cost * solve::size_of_limits(program)
}

/// Σ|q_j x_j| + ½Σ|P_ij x_i x_j|. The dual's terms may be as large as they like where they cancel.
fn size_of_terms(program: &Program, solution: &Solution) -> f64 {
    let x = &solution.x;
    let linear = program.q().iter().zip(x).map(|(q, x)| (q * x).abs());
    let curved = program.p().entries().map(|(i, j, p)| {
        let term = (p * x[i] * x[j]).abs();
        if i == j { 0.5 * term } else { term }
    });
    linear.sum::<f64>() + curved.sum::<f64>()
}
