//! The coordinates that a program is solved in: x = origin + units∘d.
//!
//! Tolerances are relative to the numbers of a program. Far from the origin, or at a small size, they would be coarse
//! against the solution itself; in a frame they are relative to its surroundings.

use crate::error::{Error, Result};

/// A point near the solution, and the size of each variable around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    origin: Vec<f64>,
    units: Vec<f64>,
}

impl Frame {
    /// Checks that the origin is finite and the units are positive, one for each coordinate. Units are taken down to a
    /// power of two, so that a change of units costs no digit.
    pub fn new(origin: Vec<f64>, units: Vec<f64>) -> Result<Self> {
        if origin.len() != units.len() {
            return Err(Error::input(format!(
                "the origin of a frame has {} coordinates, and there are {} units: give one for each",
                origin.len(),
                units.len()
            )));
        }
        if let Some(value) = origin.iter().find(|v| !v.is_finite()) {
            return Err(Error::input(format!(
                "the origin of a frame holds {value}: it must be finite numbers"
            )));
        }
        if let Some(value) = units.iter().find(|v| !v.is_normal() || **v <= 0.0) {
            return Err(Error::input(format!(
                "a unit of a frame is {value}: it must be positive and finite"
            )));
        }
        let units = units.into_iter().map(power_of_two).collect();
        Ok(Frame { origin, units })
    }

    /// The point.
    pub fn origin(&self) -> &[f64] {
        &self.origin
    }

    /// The sizes, powers of two.
    pub fn units(&self) -> &[f64] {
        &self.units
    }

    /// Number of coordinates.
    pub fn columns(&self) -> usize {
        self.origin.len()
    }

    /// origin + units∘d.
    pub(crate) fn place(&self, d: &[f64]) -> Vec<f64> {
        let around = self.origin.iter().zip(&self.units).zip(d);
        around.map(|((o, u), d)| o + u * d).collect()
    }

    /// The frame of (x, X, auxiliaries): recourse has no size of its own, and auxiliaries are bounds on what x is.
    pub(crate) fn lifted(&self, recourse: usize, auxiliaries: usize) -> Self {
        let largest = self.units.iter().fold(0.0f64, |m, u| m.max(*u));
        let mut lifted = self.clone();
        lifted.units.resize(self.columns() + recourse, 1.0);
        lifted
            .units
            .resize(self.columns() + recourse + auxiliaries, largest);
        lifted.origin.resize(lifted.units.len(), 0.0);
        lifted
    }
}

/// The largest power of two that is at most this.
pub(crate) fn power_of_two(value: f64) -> f64 {
    value.log2().floor().clamp(-1000.0, 1000.0).exp2()
}
