//! One charge: what a release spends, by which mechanism, on which basis. All of it is public and known beforehand.

use super::part::{Part, ROW};
use super::planner::at_epsilon;
use super::series::{Each, LONGEST, Series};
use super::{Amount, Claim, Error, Holds, Relation, Result};
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
    /// Several releases, declared in advance and charged whole.
    Series,
}

impl Mechanism {
    const ALL: [Mechanism; 5] = [
        Mechanism::Laplace,
        Mechanism::Gaussian,
        Mechanism::TruncatedLaplace,
        Mechanism::Elsewhere,
        Mechanism::Series,
    ];

    /// The name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Laplace => "laplace",
            Mechanism::Gaussian => "gaussian",
            Mechanism::TruncatedLaplace => "truncated-laplace",
            Mechanism::Elsewhere => "elsewhere",
            Mechanism::Series => "series",
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

/// What one release, or a series of them, spends.
///
/// # Guarantee
/// The amounts are in range: ε > 0 and finite, 0 ≤ δ < 1, ρ > 0 and finite; a Laplace charge is pure, and a truncated
/// Laplace charge has no ρ. A series holds charges with one claim and sums their amounts, rounded up. Only a charge for
/// one entry or one record, for all pairs, has a part (M16). Whether the release spends no more than this is the caller's
/// claim. Tests: `amounts_out_of_range_are_refused_with_a_reason`, `parts_are_for_one_entry_and_one_record_only`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Charge {
    mechanism: Mechanism,
    epsilon: f64,
    delta: f64,
    rho: Option<f64>,
    #[serde(flatten)]
    claim: Claim,
    part: Option<Part>,
    series: Option<Series>,
    planned: bool,
}

impl Charge {
    /// A pure ε-DP release; it is ε²/2-zCDP.
    pub fn laplace(epsilon: f64, claim: &Claim) -> Result<Charge> {
        Charge::new(Mechanism::Laplace, epsilon, 0.0, None, claim.clone())
    }

    /// An (ε, δ) release that is also ρ-zCDP, ρ = Δ₂²/(2σ²) (on a lattice with the rounding in Δ₂).
    pub fn gaussian(epsilon: f64, delta: f64, rho: f64, claim: &Claim) -> Result<Charge> {
        let rho = Some(rho);
        Charge::new(Mechanism::Gaussian, epsilon, delta, rho, claim.clone())
    }

    /// An (ε, δ) release without a ρ.
    pub fn truncated_laplace(epsilon: f64, delta: f64, claim: &Claim) -> Result<Charge> {
        let mechanism = Mechanism::TruncatedLaplace;
        Charge::new(mechanism, epsilon, delta, None, claim.clone())
    }

    /// A spend that was made elsewhere, with the claim that the user states for it; only `spend` records it.
    pub fn elsewhere(epsilon: f64, delta: f64, rho: Option<f64>, claim: &Claim) -> Result<Charge> {
        Charge::new(Mechanism::Elsewhere, epsilon, delta, rho, claim.clone())
    }

    /// Several releases in this order, declared before the first of them and charged whole. With a `delta`, pure ones are
    /// composed optimally at it; that the amounts were fixed in advance is what the series states.
    pub fn series(charges: &[Charge], delta: Option<f64>) -> Result<Charge> {
        let Some((first, others)) = charges.split_first() else {
            return Err(Error::input("a series has at least one release".into()));
        };
        let is_like_the_first = |c: &Charge| {
            c.claim == first.claim && c.part == first.part && c.series.is_none() && !c.planned
        };
        if !is_like_the_first(first) || !others.iter().all(is_like_the_first) {
            return Err(Error::input(
                "the releases of a series have one basis, one neighbourhood and one part".into(),
            ));
        }
        let mut releases: Vec<Each> = Vec::new();
        for charge in charges {
            let each = Each {
                epsilon: charge.epsilon,
                delta: charge.delta,
                rho: charge.rho,
                count: 1,
            };
            match releases.last_mut() {
                Some(last)
                    if *last
                        == (Each {
                            count: last.count,
                            ..each
                        }) =>
                {
                    last.count += 1
                }
                _ => releases.push(each),
            }
        }
        Charge::of_series(
            Series::new(releases, delta),
            first.claim.clone(),
            first.part.clone(),
        )
    }

    /// The charge of a whole series: its sums, rounded up.
    pub(super) fn of_series(series: Series, claim: Claim, part: Option<Part>) -> Result<Charge> {
        let mut sums = [Amount::ZERO, Amount::ZERO, Amount::ZERO];
        for each in series.releases() {
            // In range by itself.
            Charge::new(
                Mechanism::Elsewhere,
                each.epsilon,
                each.delta,
                each.rho,
                claim.clone(),
            )?;
            let (epsilon, delta) = (Amount::new(each.epsilon), Amount::new(each.delta));
            // A missing ρ has no sum.
            let rho = each.zcdp_rho().unwrap_or(Amount::MOST);
            for (sum, amount) in sums.iter_mut().zip([
                epsilon.unwrap_or(Amount::MOST),
                delta.unwrap_or(Amount::MOST),
                rho,
            ]) {
                *sum = sum.plus(&amount.times(each.count));
            }
        }
        if !(1..=LONGEST).contains(&series.count()) {
            return Err(Error::input(format!(
                "a series has 1 to {LONGEST} releases, found {}",
                series.count()
            )));
        }
        if let Some(delta) = series.delta()
            && !(delta > 0.0 && delta < 1.0)
        {
            return Err(Error::input(format!(
                "the δ of a series lies strictly between 0 and 1, found {delta}"
            )));
        }
        let [epsilon, delta, rho] = sums;
        let has_rho = rho.up().is_finite().then(|| rho.up());
        let mut charge = Charge::new(Mechanism::Series, epsilon.up(), delta.up(), has_rho, claim)?;
        charge.series = Some(series);
        charge.part = part;
        Ok(charge)
    }

    /// The same charge, of a part of the dataset.
    pub fn in_part(mut self, part: Part) -> Result<Charge> {
        let relation = self
            .claim
            .scope()
            .map(|scope| *scope.neighbourhood.relation());
        let is_for_all = !matches!(
            self.claim.scope().map(|scope| &scope.holds),
            None | Some(Holds::Sampled { .. })
        );
        let has_parts = matches!(
            relation,
            Some(Relation::OneEntry { .. } | Relation::OneRecord { .. })
        );
        if !(has_parts && is_for_all) {
            return Err(Error::input(
                "a charge of a part is for neighbours by one entry or one record, and for all of them: other neighbours differ in several parts at once"
                    .into(),
            ));
        }
        if part.is_one_for_each() && self.series.is_none() {
            return Err(Error::input(format!(
                "{ROW} in the name of a part stands for the number of a release in a series, and this is none: {:?}",
                part.name()
            )));
        }
        self.part = Some(part);
        Ok(self)
    }

    /// The same charge, stated to have been fixed before any answer about the dataset was seen.
    #[must_use]
    pub fn planned(self) -> Charge {
        Charge {
            planned: true,
            ..self
        }
    }

    pub(super) fn new(
        mechanism: Mechanism,
        epsilon: f64,
        delta: f64,
        rho: Option<f64>,
        claim: Claim,
    ) -> Result<Charge> {
        let charge = Charge {
            mechanism,
            epsilon: positive("ε", epsilon)?,
            delta: probability("δ", delta)?,
            rho: rho.map(|rho| positive("ρ", rho)).transpose()?,
            claim,
            part: None,
            series: None,
            planned: false,
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

    /// The same charge with every ε times this factor, and with the same δ's.
    pub(super) fn scaled(&self, factor: f64) -> Result<Charge> {
        let own = Each {
            epsilon: self.epsilon,
            delta: self.delta,
            rho: self.rho,
            count: 1,
        };
        let scaled = match &self.series {
            Some(series) => {
                let each = series.releases().iter();
                let each = each.map(|each| at_epsilon(each, factor * each.epsilon));
                let each = each.collect::<Result<Vec<Each>>>()?;
                let series = Series::new(each, series.delta());
                Charge::of_series(series, self.claim.clone(), self.part.clone())?
            }
            None => {
                let each = at_epsilon(&own, factor * self.epsilon)?;
                let (epsilon, delta) = (each.epsilon, each.delta);
                Charge {
                    part: self.part.clone(),
                    ..Charge::new(self.mechanism, epsilon, delta, each.rho, self.claim.clone())?
                }
            }
        };
        Ok(match self.planned {
            true => scaled.planned(),
            false => scaled,
        })
    }

    /// The same charge with the neighbourhood that the curator states later.
    pub(super) fn adopted(&self, claim: Claim) -> Charge {
        Charge {
            claim,
            ..self.clone()
        }
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

    /// What stands behind the amounts.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// What the claim rests on.
    pub fn basis(&self) -> Basis {
        self.claim.basis()
    }

    /// The part of the dataset that it is about; none for all of it.
    pub fn part(&self) -> Option<&Part> {
        self.part.as_ref()
    }

    /// The releases of a series that is charged whole.
    pub fn releases(&self) -> Option<&Series> {
        self.series.as_ref()
    }

    /// Whether it was fixed before any answer about the dataset was seen, as far as the curator states.
    pub fn is_planned(&self) -> bool {
        self.planned
    }

    /// The ρ that zCDP composition counts.
    pub(super) fn zcdp_rho(&self) -> Option<Amount> {
        // That of a series is a sum, and says nothing of one release.
        let is_pure = self.delta == 0.0 && self.series.is_none();
        smaller_rho(self.rho, is_pure.then_some(self.epsilon))
    }
}

/// The ρ that is stated or, for a pure ε, ε²/2 if that is smaller (Bun and Steinke 2016, proposition 1.4), rounded up.
pub(super) fn smaller_rho(stated: Option<f64>, pure: Option<f64>) -> Option<Amount> {
    let stated = stated.and_then(Amount::new);
    let pure = pure.and_then(|epsilon| {
        // The decimal of ε lies below `over`; a product and a quotient are each off by half a step at most.
        let over = epsilon.next_up();
        Amount::at_least(((over * over).next_up() / 2.0).next_up())
    });
    match (stated, pure) {
        (Some(stated), Some(pure)) => Some(stated.min(pure)),
        (stated, pure) => stated.or(pure),
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
