//! Which certificate serves best, by public facts alone: the smallest proven sensitivity where the stated numbers are the same, and
//! noise plus correction at public data where they are not.

use super::Plan;
use crate::ask::{Ask, Request, Terms};
use crate::certify::{self, Candidate};
use crate::digits::short;
use crate::error::{Error, Result};
use crate::program::{DataMap, Place};
use crate::solve::{self, Batch};
use serde::Serialize;
use std::sync::Arc;

/// A certificate that `auto` looked at. Public.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Considered {
    /// Its word in a spec.
    pub by: &'static str,
    /// Without the width and the curvature that are stated, for those that can do without.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub without_width: bool,
    /// What it proves, where it applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<f64>,
    /// The standard deviation of its noise on the answer plus what its terms move the answer by, at public nominal data; where
    /// that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_and_correction: Option<f64>,
    /// Why it does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// Whether it was chosen.
    pub chosen: bool,
}

/// A plan under one of the certificates.
struct Applies<'m> {
    /// Its place among those that were considered.
    at: usize,
    word: &'static str,
    plan: Plan<'m>,
    /// The numbers that change the answer; none where nothing does.
    terms: Option<Terms>,
}

/// The plan under the certificate that serves best, or why none applies.
pub(super) fn choose<'m>(
    original: &Arc<dyn DataMap + 'm>,
    ask: &Ask,
    stated: &Terms,
    batch: &Batch<'_>,
) -> Result<Plan<'m>> {
    let mut considered = Vec::new();
    let mut applying: Vec<Applies<'m>> = Vec::new();
    let mut advice: Vec<String> = Vec::new();
    for Candidate { word, terms } in certify::candidates(stated) {
        let variants = match terms {
            Err(key) => vec![Err(Error::refused(
                word,
                format!("it needs `{key}`, which is not stated"),
                format!("`{key}`, a public number, for `{word}`"),
            ))],
            Ok(variants) => planned(original, ask, word, variants, batch)?,
        };
        for (place, found) in variants.into_iter().enumerate() {
            let (sensitivity, why_not) = match found {
                Ok((plan, terms)) => {
                    let sensitivity = plan.guarantee().sensitivity();
                    let deviates = plan.released().plain().is_some();
                    applying.push(Applies {
                        at: considered.len(),
                        word,
                        plan,
                        terms: deviates.then_some(terms),
                    });
                    (Some(sensitivity), None)
                }
                // One refusal of a kind is enough.
                Err(_) if place > 0 => continue,
                Err(Error::Refused { why, instead, .. }) => {
                    advice.push(instead);
                    (None, Some(why))
                }
                Err(other) => (None, Some(other.to_string())),
            };
            considered.push(Considered {
                by: word,
                without_width: place > 0,
                sensitivity,
                noise_and_correction: None,
                why_not,
                chosen: false,
            });
        }
    }
    if applying.is_empty() {
        return Err(none_applies(&considered, &advice));
    }
    let count = applying.len();
    // At the same stated numbers the smallest sensitivity; what is left differs in them.
    let mut applying = smallest_of_each(applying, unit_limits(&**original));
    let same_terms = applying.len() == 1;
    let scores: Option<Vec<f64>> = match same_terms {
        true => None,
        false => scores(original, &applying)?,
    };
    let by_sensitivity = |a: &Applies<'_>| a.plan.guarantee().sensitivity();
    let best = match &scores {
        Some(scores) => smallest(scores),
        None => smallest(&applying.iter().map(by_sensitivity).collect::<Vec<f64>>()),
    };
    if let Some(scores) = &scores {
        for (applies, score) in applying.iter().zip(scores) {
            considered[applies.at].noise_and_correction = score.is_finite().then_some(*score);
        }
    }
    let why = match (count, &scores) {
        (1, _) => "it alone applies at the stated numbers".to_string(),
        (_, None) if same_terms => {
            format!(
                "of {count} certificates at the same stated numbers it has the smallest sensitivity"
            )
        }
        (_, None) => format!(
            "of {count} certificates it has the smallest sensitivity; public data to weigh corrections on are missing"
        ),
        (_, Some(scores)) => format!(
            "of {} that differ in their numbers its noise plus correction at public nominal data is the smallest, {}",
            scores.len(),
            short(scores[best], 4)
        ),
    };
    let chosen = applying.swap_remove(best);
    considered[chosen.at].chosen = true;
    let mut plan = chosen.plan;
    plan.guarantee.basis_mut().chosen_among(considered, &why);
    Ok(plan)
}

type Found<'m> = Result<(Plan<'m>, Terms)>;

/// A plan for each variant, or why there is none.
fn planned<'m>(
    original: &Arc<dyn DataMap + 'm>,
    ask: &Ask,
    word: &'static str,
    variants: Vec<Terms>,
    batch: &Batch<'_>,
) -> Result<Vec<Found<'m>>> {
    let mut found = Vec::new();
    for terms in variants {
        let request = Request::Certificate {
            word,
            terms: terms.clone(),
        };
        let named = ask.clone().sensitivity(request);
        found.push(match Plan::build(original.clone(), named, false, batch) {
            Ok(plan) => Ok((plan, terms)),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => Err(error),
        });
    }
    Ok(found)
}

/// Whether every private number is the limit of rows itself: then a price per unit of the data is one per unit of a row.
fn unit_limits(original: &dyn DataMap) -> bool {
    original.affine().is_some_and(|affine| {
        let mut places = affine.parameters().places().map(|(_, at)| at);
        places.all(|at| matches!(at.place, Place::B(_)) && at.coef.abs() == 1.0)
    })
}

/// Of those with the same terms the one with the smallest sensitivity. A price is per unit of the data in one certificate and per unit
/// of a row in another: `comparable` says that these are the same.
fn smallest_of_each(applying: Vec<Applies<'_>>, comparable: bool) -> Vec<Applies<'_>> {
    let mut kept: Vec<Applies<'_>> = Vec::new();
    for applies in applying {
        let sensitivity = |a: &Applies<'_>| a.plan.guarantee().sensitivity();
        // Where the answer is a part of the solution, the margin of one moves it far more than the correction of another.
        let of_solution = |a: &Applies<'_>| a.plan.released().beside_the_answer().is_some();
        let same = |a: &Applies<'_>, b: &Applies<'_>| {
            let comparable = comparable && !of_solution(a) && !of_solution(b);
            a.terms == b.terms && (comparable || a.terms.is_none() || a.word == b.word)
        };
        match kept.iter_mut().find(|other| same(other, &applies)) {
            Some(other) if sensitivity(&applies) < sensitivity(other) => *other = applies,
            Some(_) => {}
            None => kept.push(applies),
        }
    }
    kept
}

fn smallest(values: &[f64]) -> usize {
    let order = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
    (0..values.len()).min_by(order).unwrap_or(0)
}

/// Standard deviation of the noise plus the distance from the user's own answer, at public data; none where there are no such
/// data, or the user's own program has no answer there.
fn scores(original: &Arc<dyn DataMap + '_>, applying: &[Applies<'_>]) -> Result<Option<Vec<f64>>> {
    let public = |p: std::borrow::Cow<'_, crate::program::Parameter>| {
        p.nominal_value()
            .or(p.bounds().map(|(low, high)| 0.5 * (low + high)))
    };
    let data: Option<Vec<f64>> = original.parameters().iter().map(public).collect();
    let Some(data) = data else {
        return Ok(None);
    };
    let mut scores = Vec::new();
    for Applies { plan, .. } in applying {
        let released = plan.released();
        let settings = released.settings();
        let truth = match released.plain() {
            None => released.without_noise().answer(&data),
            Some(_) => own_answer(&**original, plan, &data, settings),
        };
        let shape = released.shape();
        let noise: f64 = (0..shape.noises())
            .map(|i| crate::program::norm(shape.row(i)).powi(2))
            .sum::<f64>()
            .sqrt()
            * released.law().std_dev();
        let score = match (released.at(&data), truth) {
            (Err(Error::Cancelled), _) | (_, Err(Error::Cancelled)) => {
                return Err(Error::Cancelled);
            }
            (_, Err(_)) => return Ok(None),
            (Err(_), _) => f64::INFINITY,
            (Ok(decided), Ok(truth)) => {
                let answer = shape.unshape(&decided.answer);
                let moved: Vec<f64> = answer.iter().zip(&truth).map(|(a, b)| a - b).collect();
                noise + crate::program::norm(&shape.apply(&moved))
            }
        };
        scores.push(score);
    }
    Ok(scores.iter().any(|s| s.is_finite()).then_some(scores))
}

/// T⁻¹ times the answer of the user's own program.
fn own_answer(
    original: &dyn DataMap,
    plan: &Plan<'_>,
    data: &[f64],
    settings: &solve::Settings,
) -> Result<Vec<f64>> {
    let program = original.at(data)?;
    let solution = solve::optimum(&program, settings)?;
    let query = plan.ask().query.resolve(original, plan.ask().strategy)?;
    let answer = query.answer(&program, &solution.x);
    Ok(plan.released().shape().unshape(&answer))
}

/// Why no certificate applies, kind by kind, and what would help.
fn none_applies(considered: &[Considered], advice: &[String]) -> Error {
    let why = considered.iter().filter_map(|c| {
        let why = c.why_not.as_ref()?;
        Some(format!("`{}`: {why}", c.by))
    });
    let why: Vec<String> = why.collect();
    let mut instead: Vec<&str> = Vec::new();
    for advice in advice {
        if !instead.contains(&advice.as_str()) && !advice.contains("declared or sampled") {
            instead.push(advice);
        }
    }
    instead.push("a declared or sampled sensitivity");
    Error::refused(
        "sensitivity by `auto`",
        format!(
            "no certificate applies at the stated numbers. {}",
            why.join("; ")
        ),
        instead.join("; or "),
    )
}
