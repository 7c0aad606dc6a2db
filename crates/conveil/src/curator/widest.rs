//! The largest universe that is feasible (M11): where the sensitivity is sampled, feasibility is not monotone in the
//! universe, so a scan finds it, not a bisection alone. It explores private data.

use super::explain::{Mode, Threshold, Tried, fits};
use crate::ask::{Ask, Request};
use crate::error::{Error, Result};
use crate::program::DataMap;

/// Halves of the universe that the scan tries, at most, and the relative width at which it ends.
const HALVES: u32 = 12;
const CLOSE: f64 = 0.02;

/// Whether the noise follows the size of a universe.
pub(super) fn applies(ask: &Ask) -> bool {
    matches!(&ask.sensitivity, Some(Request::Sampled(_)))
}

/// The largest multiple of the stated universe that is feasible, for an ask that is not; none where the sensitivity is
/// not sampled. One that is sampled on the deterministic map counts as paper mode. It explores private data.
pub fn largest_universe(map: &dyn DataMap, ask: &Ask, theta: &[f64]) -> Result<Option<Threshold>> {
    universe(map, ask, theta, Mode::of(ask))
}

pub(super) fn universe(
    map: &dyn DataMap,
    ask: &Ask,
    theta: &[f64],
    mode: Mode,
) -> Result<Option<Threshold>> {
    let Some(Request::Sampled(sampled)) = &ask.sensitivity else {
        return Ok(None);
    };
    let fits = |factor: f64| -> Result<bool> {
        let mut other = sampled.clone();
        other.universe = sampled.universe.scaled(factor);
        let ask = ask.clone().sensitivity(Request::Sampled(other));
        match fits(map, ask, theta, mode) {
            Ok(fit) => Ok(fit == Tried::Yes),
            Err(Error::NotAttainable(_) | Error::Infeasible(_)) => Ok(false),
            Err(other) => Err(other),
        }
    };
    // Down by halves to the first that fits, then between the two.
    let mut outside = 1.0;
    let mut inside = None;
    for _ in 0..HALVES {
        if fits(0.5 * outside)? {
            inside = Some(0.5 * outside);
            break;
        }
        outside *= 0.5;
    }
    while let Some(fitting) = inside
        && outside / fitting > 1.0 + CLOSE
    {
        let middle = (fitting * outside).sqrt();
        match fits(middle)? {
            true => inside = Some(middle),
            false => outside = middle,
        }
    }
    Ok(Some(Threshold {
        what: "universe",
        now: 1.0,
        edge: inside,
        everything_tried: false,
        feasible_above: false,
        note: Some(format!(
            "as a multiple of the stated universe, by a scan to 2%: with a sampled sensitivity, feasibility need not be monotone{}",
            match mode {
                Mode::Ordinary => "",
                Mode::Paper =>
                    "; in paper mode, around the data, with noise that covers the deterministic map alone",
            }
        )),
        is_the_solvers: false,
    }))
}
