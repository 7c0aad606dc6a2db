//! The tolerances at which a study accepts a solve.

use conveil::solve::{Cancel, Settings};
use conveil::{Error, Result};

/// Tolerances to try in turn: a table of two digits can live with less than a release.
const TOLERANCES: [f64; 3] = [1e-7, 1e-6, 1e-5];

/// Does the work at the usual tolerance, and again at looser ones where the solver's best answer is not accurate enough.
pub(crate) fn retry_looser<T>(cancel: &Cancel, work: impl Fn(&Settings) -> Result<T>) -> Result<T> {
    let mut failure = Error::Cancelled;
    for tolerance in TOLERANCES {
        let settings = Settings::default()
            .with_tolerance(tolerance)?
            .with_cancel(cancel.clone());
        match work(&settings) {
            Err(again @ (Error::Inaccurate { .. } | Error::Numerical(_))) => failure = again,
            done => return done,
        }
    }
    Err(failure)
}
