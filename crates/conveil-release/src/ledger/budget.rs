//! What a dataset may spend in all, and how its charges add up: fixed once.

use super::{Amount, Error, Neighbourhood, Result};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// How charges add up against a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Composition {
    /// ε and δ add up. Holds even where the amounts of later charges were chosen in view of earlier answers
    /// (Rogers, Roth, Ullman and Vadhan 2016).
    Basic,
    /// Whichever of basic composition and zCDP at the budget's δ is smaller. (Under either, a declared series counts by its
    /// optimal composition where that is smaller.) The questions may follow earlier answers,
    /// as in every composition theorem; the *amounts* and mechanisms may not: they follow a plan made without them.
    Smaller,
}

impl Composition {
    /// The name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Composition::Basic => "basic",
            Composition::Smaller => "smaller",
        }
    }
}

impl FromStr for Composition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let all = [Composition::Basic, Composition::Smaller];
        let found = all.into_iter().find(|one| one.name() == text);
        found
            .ok_or_else(|| Error::input(format!("composition is basic or smaller, found {text:?}")))
    }
}

/// A dataset's budget.
///
/// # Guarantee
/// What a ledger admits against `Budget::new(ε, δ, neighbourhood)` is, all of it together, (ε, δ)-differentially private
/// between these neighbours, if each charge states what its release spends, its basis holds, and the amounts were chosen as
/// the [`Composition`] allows. A charge that cannot be counted between these neighbours is refused (M16). With δ = 0 only
/// pure charges are admitted. Tests: `totals_are_per_neighbourhood_and_follow_the_conversions`,
/// `rounding_never_lets_a_total_exceed_the_budget`, `two_processes_never_both_get_the_last_budget`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Budget {
    epsilon: f64,
    delta: f64,
    composition: Composition,
    /// None only in ledgers of format 1.
    neighbourhood: Option<Neighbourhood>,
}

impl Budget {
    /// A budget of ε > 0 and 0 ≤ δ < 1 between these neighbours, by the smaller of basic composition and zCDP (basic where
    /// δ = 0).
    pub fn new(epsilon: f64, delta: f64, neighbourhood: &Neighbourhood) -> Result<Budget> {
        Ok(Budget {
            neighbourhood: Some(neighbourhood.clone()),
            ..Budget::not_stated(epsilon, delta)?
        })
    }

    /// A budget of ledger format 1, which does not say between which datasets.
    pub(super) fn not_stated(epsilon: f64, delta: f64) -> Result<Budget> {
        let composition = if delta > 0.0 {
            Composition::Smaller
        } else {
            Composition::Basic
        };
        Ok(Budget {
            epsilon: super::charge::positive("the budget's ε", epsilon)?,
            delta: super::charge::probability("the budget's δ", delta)?,
            composition,
            neighbourhood: None,
        })
    }

    /// The same budget about the neighbourhood that the curator states later.
    pub(super) fn adopted(&self, neighbourhood: &Neighbourhood) -> Budget {
        Budget {
            neighbourhood: Some(neighbourhood.clone()),
            ..self.clone()
        }
    }

    /// Between which datasets; none in ledgers of format 1 until it is stated.
    pub fn neighbourhood(&self) -> Option<&Neighbourhood> {
        self.neighbourhood.as_ref()
    }

    /// The same amounts by basic composition alone: for charges whose amounts are chosen in view of earlier answers.
    #[must_use]
    pub fn basic(self) -> Budget {
        Budget {
            composition: Composition::Basic,
            ..self
        }
    }

    /// The total ε.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The total δ; 0 admits pure charges only.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// How charges add up.
    pub fn composition(&self) -> Composition {
        self.composition
    }

    /// ε and δ as exact decimals.
    pub(super) fn amounts(&self) -> (Amount, Amount) {
        // The constructor checked both numbers; nothing at all is the safe side of a budget.
        let decimal = |x| Amount::new(x).unwrap_or(Amount::ZERO);
        (decimal(self.epsilon), decimal(self.delta))
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (epsilon, delta) = self.amounts();
        let how = match self.composition {
            Composition::Basic => "by basic composition",
            Composition::Smaller => {
                "by the smallest of basic, zCDP and, for declared series, optimal composition"
            }
        };
        write!(f, "ε = {epsilon}, δ = {delta} {how}")
    }
}
