//! The terms of budgets, charges and statements as the file and the chain hold them: one JSON text each, in one spelling.

use super::chain::number;
use super::stored::stored_number;
use super::{
    Charge, Claim, Each, Error, Holds, Mechanism, Neighbourhood, Part, Relation, Result, Scope,
    Series,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What the curator states about entries of ledger format 1, which do not say between which datasets they hold.
///
/// # Guarantee
/// A statement is an entry of the chain like a charge: what was there before stays as it was. It gives a neighbourhood only
/// to what was recorded without one, and the basis of what it speaks of is then declared at best. Of two statements about
/// the same the later one counts; what a release's own plan stated stays, and so does the budget once something was
/// charged under it. That charges were planned is stated in the entry, and hashed with it. Tests:
/// `adopting_states_the_neighbourhood_of_old_charges_and_rewrites_nothing`,
/// `a_later_statement_corrects_an_earlier_one_and_nothing_else`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Adoption {
    /// Between which datasets the charges hold.
    pub scope: Scope,
    /// The charges, by number.
    pub charges: Vec<u64>,
    /// Whether the budget is about the same neighbourhood.
    pub budget: bool,
    /// Whether the charges were fixed before any answer about the dataset was seen.
    pub planned: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredNeighbourhood {
    adjacency: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alpha: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    numbers: u64,
    called: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    universe: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredScope {
    neighbourhood: StoredNeighbourhood,
    holds: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gamma: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    beta: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pairs: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCharge {
    scope: StoredScope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<StoredPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    series: Option<StoredSeries>,
    planned: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredPart {
    name: String,
    moves: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSeries {
    releases: Vec<StoredEach>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delta: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredEach {
    epsilon: String,
    delta: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rho: Option<String>,
    count: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredAdoption {
    scope: StoredScope,
    charges: Vec<u64>,
    budget: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    planned: bool,
}

/// A budget's neighbourhood, as text.
pub(super) fn of_budget(neighbourhood: &Neighbourhood) -> String {
    text(&stored_neighbourhood(neighbourhood))
}

/// A budget's neighbourhood, from its text.
pub(super) fn budget(terms: &str) -> Result<Neighbourhood> {
    let found = neighbourhood(parsed(terms)?)?;
    in_one_spelling(terms, of_budget(&found))?;
    Ok(found)
}

/// A charge's terms, as text; none for one whose neighbourhood is not stated.
pub(super) fn of_charge(charge: &Charge) -> Option<String> {
    let scope = charge.claim().scope()?;
    Some(text(&StoredCharge {
        scope: stored_scope(scope),
        part: charge.part().map(|part| StoredPart {
            name: part.name().into(),
            moves: part.moves(),
        }),
        series: charge.releases().map(|series| StoredSeries {
            releases: series.releases().iter().map(stored_each).collect(),
            delta: series.delta().map(number),
        }),
        planned: charge.is_planned(),
    }))
}

/// The amounts of a charge as its row holds them.
pub(super) struct Amounts {
    pub(super) mechanism: Mechanism,
    pub(super) epsilon: f64,
    pub(super) delta: f64,
    pub(super) rho: Option<f64>,
    pub(super) basis: super::Basis,
}

/// A charge, from its row and the text of its terms.
pub(super) fn charge(amounts: &Amounts, terms: &str) -> Result<Charge> {
    let stored: StoredCharge = parsed(terms)?;
    let claim = Claim::stated(amounts.basis, scope(stored.scope)?)?;
    let mut charge = match stored.series {
        None => Charge::new(
            amounts.mechanism,
            amounts.epsilon,
            amounts.delta,
            amounts.rho,
            claim,
        )?,
        Some(series) => {
            let releases: Result<Vec<Each>> = series.releases.iter().map(each).collect();
            let delta = series.delta.as_deref().map(stored_number).transpose()?;
            Charge::of_series(Series::new(releases?, delta), claim, None)?
        }
    };
    if let Some(StoredPart { name, moves }) = stored.part {
        let part = match moves {
            true => Part::that_records_may_leave(&name)?,
            false => Part::fixed(&name)?,
        };
        charge = charge.in_part(part)?;
    }
    if stored.planned {
        charge = charge.planned();
    }
    let is_that = charge.mechanism() == amounts.mechanism
        && charge.epsilon() == amounts.epsilon
        && charge.delta() == amounts.delta
        && charge.rho() == amounts.rho;
    if !is_that {
        return Err(Error::input(
            "its amounts are not those of its series".into(),
        ));
    }
    in_one_spelling(terms, of_charge(&charge).unwrap_or_default())?;
    Ok(charge)
}

/// A statement, as text.
pub(super) fn of_adoption(adoption: &Adoption) -> String {
    text(&StoredAdoption {
        scope: stored_scope(&adoption.scope),
        charges: adoption.charges.clone(),
        budget: adoption.budget,
        planned: adoption.planned,
    })
}

/// A statement, from its text.
pub(super) fn adoption(terms: &str) -> Result<Adoption> {
    let stored: StoredAdoption = parsed(terms)?;
    let adoption = Adoption {
        scope: scope(stored.scope)?,
        charges: stored.charges,
        budget: stored.budget,
        planned: stored.planned,
    };
    in_one_spelling(terms, of_adoption(&adoption))?;
    Ok(adoption)
}

fn text(stored: &impl Serialize) -> String {
    // Words and numbers always have a text.
    serde_json::to_string(stored).unwrap_or_default()
}

fn parsed<T: DeserializeOwned>(terms: &str) -> Result<T> {
    serde_json::from_str(terms)
        .map_err(|why| Error::input(format!("its terms cannot be read: {why}")))
}

/// The chain hashes the text: no other spelling of the same terms is accepted.
fn in_one_spelling(found: &str, own: String) -> Result<()> {
    match found == own {
        true => Ok(()),
        false => Err(Error::input("its terms are spelled in another way".into())),
    }
}

fn stored_neighbourhood(of: &Neighbourhood) -> StoredNeighbourhood {
    StoredNeighbourhood {
        adjacency: of.relation().name().into(),
        alpha: of.relation().alpha().map(number),
        record: of.relation().record(),
        unit: of.unit().map(Into::into),
        numbers: of.numbers(),
        called: of.called().into(),
        universe: of.universe().map(Into::into),
    }
}

fn neighbourhood(stored: StoredNeighbourhood) -> Result<Neighbourhood> {
    let alpha = stored.alpha.as_deref().map(stored_number).transpose()?;
    let relation = Relation::new(&stored.adjacency, alpha, stored.record)?;
    let mut found = Neighbourhood::new(relation, stored.numbers, &stored.called)?;
    if let Some(unit) = &stored.unit {
        found = found.in_unit(unit)?;
    }
    match &stored.universe {
        Some(universe) => found.inside(universe),
        None => Ok(found),
    }
}

fn stored_scope(scope: &Scope) -> StoredScope {
    let (gamma, beta, pairs) = match &scope.holds {
        Holds::Sampled { gamma, beta, pairs } => (
            Some(number(*gamma)),
            Some(number(*beta)),
            Some(pairs.clone()),
        ),
        Holds::Everywhere | Holds::GivenAnAnswer => (None, None, None),
    };
    StoredScope {
        neighbourhood: stored_neighbourhood(&scope.neighbourhood),
        holds: scope.holds.name().into(),
        gamma,
        beta,
        pairs,
    }
}

fn scope(stored: StoredScope) -> Result<Scope> {
    let holds = match (
        stored.holds.as_str(),
        stored.gamma,
        stored.beta,
        stored.pairs,
    ) {
        ("everywhere", None, None, None) => Holds::Everywhere,
        ("given-an-answer", None, None, None) => Holds::GivenAnAnswer,
        ("sampled", Some(gamma), Some(beta), Some(pairs)) => {
            Holds::sampled_by(stored_number(&gamma)?, stored_number(&beta)?, &pairs)?
        }
        (other, ..) => {
            return Err(Error::input(format!(
                "a claim holds everywhere, given an answer or for sampled pairs, found {other:?}"
            )));
        }
    };
    Ok(Scope {
        neighbourhood: neighbourhood(stored.neighbourhood)?,
        holds,
    })
}

fn stored_each(each: &Each) -> StoredEach {
    StoredEach {
        epsilon: number(each.epsilon),
        delta: number(each.delta),
        rho: each.rho.map(number),
        count: each.count,
    }
}

fn each(stored: &StoredEach) -> Result<Each> {
    Ok(Each {
        epsilon: stored_number(&stored.epsilon)?,
        delta: stored_number(&stored.delta)?,
        rho: stored.rho.as_deref().map(stored_number).transpose()?,
        count: stored.count,
    })
}
