//! What a decision was made for, beside the data themselves: clipped to public bounds, corrected by an envelope (M8a, M15a), with
//! rows that may be exceeded at a price (M15b, M15c).

use super::decided::{Decided, Recourse};
use super::released::ReleasedMap;
use crate::certify::{Deviation, Found};
use crate::error::{Error, Result};

/// How a decision deviates from the data, the clipping to public bounds included. Private.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Correction {
    /// ‖θ − θ̃‖ in the envelope's norm, θ the data as they are; or by how much rows are exceeded in all.
    pub distance: f64,
    /// The same from the data clipped to their public bounds: what the price was paid for.
    pub priced: f64,
    /// The price of it: the answer holds it beside what the decision itself costs.
    pub paid: f64,
    /// The entries that moved: name, datum as it is, corrected datum. Under relaxed rows: data that were clipped, and rows that
    /// are exceeded, with the limit as it is and as it was met.
    pub moved: Vec<(String, f64, f64)>,
    /// Rows may be exceeded, and data are not corrected.
    pub relaxes: bool,
    /// The decision is for the data themselves, to rounding: nothing was clipped, and no deviation was needed or one
    /// of the same value.
    pub at_the_data: bool,
}

/// M8a: the value is v_π either way, but a price that ties with π lets θ̃ differ from θ. The decision at θ̃ = θ is taken
/// where its proven value is the same.
pub(super) fn break_ties(
    best: Decided,
    theta: &[f64],
    deviation: &Deviation,
    plain: &ReleasedMap<'_>,
) -> Result<Decided> {
    let counted = plain.map().clipped(theta)?;
    let solved = |aim| match plain.at_the_split_of(&best, &counted, aim) {
        Ok(exact) => Ok(Some(exact)),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(_) => Ok(None),
    };
    // Its point is feasible, so its value bounds v(θ) ≥ v_π(θ) from above: what is proven of v_π is all it needs. A point
    // beside its equations is not: it may cost less than any that meets the data.
    let gap = best.proven_error.unwrap_or(0.0);
    let meets = |exact: &Decided| exact.is_on_equalities && carries(plain, exact);
    let same = |exact: &Decided| exact.objective <= best.objective + gap && meets(exact);
    let mut exact = solved(None)?;
    // The difference may be the error of this solve alone: then it is solved as closely as the other one.
    let error = exact.as_ref().and_then(|exact| exact.proven_error);
    let close = |exact: &Decided| exact.objective - error.unwrap_or(0.0) <= best.objective + gap;
    if exact
        .as_ref()
        .is_some_and(|exact| !same(exact) && close(exact))
    {
        exact = solved(Some(gap))?;
    }
    let exact = exact.filter(|exact| same(exact));
    let mut decided = best;
    let mut is_counted = false;
    if let Some(exact) = exact {
        is_counted = true;
        decided.mean = deviation.at_the_data(&exact.mean, &counted);
        decided.recourse = exact.recourse.extended(decided.mean.len());
    }
    Ok(with_correction(
        decided, theta, &counted, is_counted, deviation, plain,
    ))
}

/// M15a: another x̄ under the same answer would be carried by other noise, so a decision for θ itself is taken only where
/// it has the answer of the first solve: then it matches what is released, and is feasible for θ as often as promised.
pub(super) fn keep_the_answer(
    best: Decided,
    theta: &[f64],
    deviation: &Deviation,
    plain: &ReleasedMap<'_>,
) -> Result<Decided> {
    let counted = plain.map().clipped(theta)?;
    // Rows with a margin hold at the data themselves unless they are exceeded, and then no other decision is looked for.
    if deviation.relaxes() {
        let mut decided = best;
        decided.objective -= deviation.beside(&decided.program, &decided.mean);
        return Ok(with_correction(
            decided, theta, &counted, false, deviation, plain,
        ));
    }
    let exact = match plain.with_the_answer_of(&best, &counted) {
        Ok(exact) => Some(exact),
        Err(Error::Cancelled) => return Err(Error::Cancelled),
        Err(_) => None,
    };
    let exact = exact.filter(|exact| exact.is_on_equalities && carries(plain, exact));
    let mut decided = best;
    // What is minimised beside the user's own objective is a matter of the certificate.
    decided.objective -= deviation.beside(&decided.program, &decided.mean);
    let is_counted = exact.is_some();
    if let Some(exact) = exact {
        decided.objective = exact.objective;
        decided.residuals = exact.residuals;
        decided.mean = deviation.at_the_data(&exact.mean, &counted);
        decided.recourse = exact.recourse.extended(decided.mean.len());
    }
    Ok(with_correction(
        decided, theta, &counted, is_counted, deviation, plain,
    ))
}

/// The decision with how far its data are from the data themselves.
fn with_correction(
    mut decided: Decided,
    theta: &[f64],
    counted: &[f64],
    is_counted: bool,
    deviation: &Deviation,
    plain: &ReleasedMap<'_>,
) -> Decided {
    let Found {
        distance,
        priced,
        paid,
        moved,
    } = deviation.found(
        &decided.program,
        &decided.mean,
        (theta, counted),
        plain.map().parameters(),
    );
    decided.correction = Some(Correction {
        distance,
        priced,
        paid,
        relaxes: deviation.relaxes(),
        at_the_data: (is_counted && counted == theta) || moved.is_empty(),
        moved,
    });
    decided
}

/// Equations met to this share of their terms are met.
const CARRIED: f64 = 1e-11;

/// Whether a rule carries the noise in its answer to rounding, QX = T: a solve around a point may lose that. Noise on the
/// answer is carried by nothing.
fn carries(plain: &ReleasedMap<'_>, exact: &Decided) -> bool {
    if plain.design().is_at_the_mean() {
        return true;
    }
    let rows = plain.query().rows().iter().enumerate();
    rows.into_iter().all(|(i, terms)| {
        let wanted = plain.shape().row(i);
        let carried = exact.recourse.of_row(terms);
        // Entries that are 0 in T are met to rounding too: a sum of others' recourse is hardly ever exactly 0.
        let size = wanted.iter().fold(0.0_f64, |most, t| most.max(t.abs()));
        (wanted.iter().enumerate()).all(|(noise, t)| {
            let found = carried.iter().find(|e| e.0 == noise).map_or(0.0, |e| e.1);
            (found - t).abs() <= CARRIED * size.max(f64::MIN_POSITIVE)
        })
    })
}

impl Recourse {
    /// The same with rows of zeros behind.
    fn extended(self, columns: usize) -> Self {
        self.relisted(|mut rows| {
            rows.resize(columns, Vec::new());
            rows
        })
    }
}
