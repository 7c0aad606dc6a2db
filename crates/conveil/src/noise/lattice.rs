//! Noise as it is drawn: a law on a lattice of public step h (M7).

use super::Law;

/// A law and the step of the lattice on which its noise is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatticeLaw {
    law: Law,
    step: f64,
}

impl LatticeLaw {
    /// This law on the lattice of step h.
    pub fn new(law: Law, step: f64) -> Self {
        LatticeLaw { law, step }
    }

    /// The continuous law.
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// h.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// 3h/2: how far a draw may lie from one of the continuous law that it is coupled with. h couples the lattice to the
    /// law, h/2 is rounding (M5, Lattice).
    pub(crate) fn displacement(&self) -> f64 {
        1.5 * self.step
    }
}
