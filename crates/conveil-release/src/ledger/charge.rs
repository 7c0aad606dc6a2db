//! One charge: what a release spends, by which mechanism, on which basis. All of it is public and known beforehand.

use super::{Amount, Error, Result};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// What a claim of privacy rests on (M8), strongest first: the order of the variants is the order of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// A bound proved for the released map.
    Certificate,
    /// A bound that the user states.
    Declared,
    /// Measured on sampled pairs: holds for a share of adjacent pairs, with a confidence.
    Sampled,
    /// Calibrated as in the paper, to another map than the released one: no guarantee.
    #[serde(rename = "paper mode")]
    PaperMode,
}

impl Basis {
    /// Every basis, strongest first.
    pub const ALL: [Basis; 4] = [
        Basis::Certificate,
        Basis::Declared,
        Basis::Sampled,
        Basis::PaperMode,
    ];

    /// The name in files, tables and guarantees.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Certificate => "certificate",
            Basis::Declared => "declared",
            Basis::Sampled => "sampled",
            Basis::PaperMode => "paper mode",
        }
    }
}

impl FromStr for Basis {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Basis::ALL.into_iter().find(|basis| basis.name() == text);
        found.ok_or_else(|| {
            Error::input(format!(
                "a basis is certificate, declared, sampled or paper mode, found {text:?}"
            ))
        })
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How a charge's noise is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// Laplace: pure ε.
    Laplace,
    /// Gaussian: (ε, δ), and zCDP.
    Gaussian,
    /// Laplace cut off at a bound: (ε, δ), no finite ρ.
    TruncatedLaplace,
    /// A spend made outside this ledger's releases.
    Elsewhere,
}

impl Mechanism {
    const ALL: [Mechanism; 4] = [
        Mechanism::Laplace,
        Mechanism::Gaussian,
        Mechanism::TruncatedLaplace,
        Mechanism::Elsewhere,
    ];

    /// The name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Laplace => "laplace",
            Mechanism::Gaussian => "gaussian",
            Mechanism::TruncatedLaplace => "truncated-laplace",
            Mechanism::Elsewhere => "elsewhere",
        }
    }
}

impl FromStr for Mechanism {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut all = Mechanism::ALL.into_iter();
        let found = all.find(|mechanism| mechanism.name() == text);
        found.ok_or_else(|| Error::input(format!("unknown mechanism {text:?}")))
    }
}

/// What one release spends.
///
/// # Guarantee
/// The amounts are in range: ε > 0 and finite, 0 ≤ δ < 1, ρ > 0 and finite; a Laplace charge is pure, and a truncated
/// Laplace charge has no ρ. Whether the release spends no more than this is the caller's claim, on the stated basis.
/// Test: `amounts_out_of_range_are_refused_with_a_reason`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Charge {
    mechanism: Mechanism,
    epsilon: f64,
    delta: f64,
    rho: Option<f64>,
    basis: Basis,
}

impl Charge {
    /// A pure ε-DP release; it is ε²/2-zCDP.
    pub fn laplace(epsilon: f64, basis: Basis) -> Result<Charge> {
        Charge::new(Mechanism::Laplace, epsilon, 0.0, None, basis)
    }

    /// An (ε, δ) release that is also ρ-zCDP, ρ = Δ₂²/(2σ²) (on a lattice with the rounding in Δ₂).
    pub fn gaussian(epsilon: f64, delta: f64, rho: f64, basis: Basis) -> Result<Charge> {
        Charge::new(Mechanism::Gaussian, epsilon, delta, Some(rho), basis)
    }

    /// An (ε, δ) release without a ρ.
    pub fn truncated_laplace(epsilon: f64, delta: f64, basis: Basis) -> Result<Charge> {
        Charge::new(Mechanism::TruncatedLaplace, epsilon, delta, None, basis)
    }

    /// A spend that was made elsewhere, with the basis that the user states for it; only `spend` records it.
    pub(super) fn elsewhere(
        epsilon: f64,
        delta: f64,
        rho: Option<f64>,
        basis: Basis,
    ) -> Result<Charge> {
        Charge::new(Mechanism::Elsewhere, epsilon, delta, rho, basis)
    }

    pub(super) fn new(
        mechanism: Mechanism,
        epsilon: f64,
        delta: f64,
        rho: Option<f64>,
        basis: Basis,
    ) -> Result<Charge> {
        let charge = Charge {
            mechanism,
            epsilon: positive("ε", epsilon)?,
            delta: probability("δ", delta)?,
            rho: rho.map(|rho| positive("ρ", rho)).transpose()?,
            basis,
        };
        let wrong = match mechanism {
            Mechanism::Laplace if delta > 0.0 || rho.is_some() => "pure: δ = 0, ρ follows from ε",
            Mechanism::Gaussian if delta == 0.0 || rho.is_none() => "(ε, δ) with δ > 0 and a ρ",
            Mechanism::TruncatedLaplace if delta == 0.0 || rho.is_some() => {
                "(ε, δ) with δ > 0, without ρ"
            }
            _ => return Ok(charge),
        };
        let name = mechanism.name();
        Err(Error::input(format!(
            "a {name} charge is {wrong}; found ε = {epsilon}, δ = {delta}, ρ = {rho:?}"
        )))
    }

    /// How the noise is drawn.
    pub fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    /// ε.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// δ; 0 is pure.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// ρ as stated.
    pub fn rho(&self) -> Option<f64> {
        self.rho
    }

    /// What the claim rests on.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// The ρ that zCDP composition counts: the one stated or, for a pure charge, ε²/2 if that is smaller
    /// (Bun and Steinke 2016, proposition 1.4), rounded up.
    pub(super) fn zcdp_rho(&self) -> Option<Amount> {
        let stated = self.rho.and_then(Amount::new);
        let pure = (self.delta == 0.0).then(|| {
            // The decimal of ε lies below `over`; a product and a quotient are each off by half a step at most.
            let over = self.epsilon.next_up();
            Amount::at_least(((over * over).next_up() / 2.0).next_up())
        });
        match (stated, pure.flatten()) {
            (Some(stated), Some(pure)) => Some(stated.min(pure)),
            (stated, pure) => stated.or(pure),
        }
    }
}

pub(super) fn positive(what: &str, x: f64) -> Result<f64> {
    if x > 0.0 && x.is_finite() {
        Ok(x)
    } else {
        Err(Error::input(format!(
            "{what} is a finite number above 0, found {x}"
        )))
    }
}

pub(super) fn probability(what: &str, x: f64) -> Result<f64> {
    if (0.0..1.0).contains(&x) {
        Ok(x + 0.0) // −0 is 0
    } else {
        Err(Error::input(format!(
            "{what} is at least 0 and below 1, found {x}"
        )))
    }
}
