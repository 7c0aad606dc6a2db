//! What a charge claims: on which basis, between which neighbours, and for which of their pairs.

use super::neighbourhood::words;
use super::{Basis, Error, Neighbourhood, Result};
use conveil::plan::Plan;
use serde::Serialize;
use std::fmt;

/// How pairs are drawn for a sampled claim: one dataset uniformly from the universe, the other as the engine's adjacency
/// draws it. Another law in a later version gets another name.
const PAIR_LAW: &str = "uniform, then a neighbour by the adjacency";

/// For which pairs of neighbours a claim holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "holds", rename_all = "kebab-case")]
pub enum Holds {
    /// For all of them, and the released map is defined for every dataset.
    Everywhere,
    /// For all of them, given that an answer was produced.
    GivenAnAnswer,
    /// For a share 1 − γ of them, with confidence 1 − β.
    Sampled {
        /// γ.
        gamma: f64,
        /// β.
        beta: f64,
        /// How the pairs are drawn.
        pairs: String,
    },
}

impl Holds {
    /// For a share 1 − γ of pairs drawn from a universe, with confidence 1 − β.
    pub fn sampled(gamma: f64, beta: f64) -> Result<Holds> {
        Holds::sampled_by(gamma, beta, PAIR_LAW)
    }

    pub(super) fn sampled_by(gamma: f64, beta: f64, pairs: &str) -> Result<Holds> {
        let share = |what: &str, x: f64| match x > 0.0 && x < 1.0 {
            true => Ok(x),
            false => Err(Error::input(format!(
                "{what} lies strictly between 0 and 1, found {x}"
            ))),
        };
        Ok(Holds::Sampled {
            gamma: share("γ", gamma)?,
            beta: share("β", beta)?,
            pairs: words("the law of the pairs", pairs)?,
        })
    }

    /// The name in files.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Holds::Everywhere => "everywhere",
            Holds::GivenAnAnswer => "given-an-answer",
            Holds::Sampled { .. } => "sampled",
        }
    }
}

/// What stands behind the amounts of a charge.
///
/// # Guarantee
/// Of a release it is [`Claim::of`] its plan: basis, neighbourhood, γ, β, universe and whether the map is defined
/// everywhere are those of the plan's guarantee. A sampled basis has γ and β, and no other has. Whatever else is claimed
/// is a statement of the user ([`Claim::stated`]). Test: `a_charge_carries_the_neighbourhood_of_its_plan`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    basis: Basis,
    #[serde(flatten)]
    scope: Option<Scope>,
}

/// Between which datasets, and for which of their pairs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scope {
    /// Which datasets are neighbours.
    pub neighbourhood: Neighbourhood,
    /// For which pairs of them the claim holds.
    #[serde(flatten)]
    pub holds: Holds,
}

impl Claim {
    /// The claim of a plan.
    pub fn of(plan: &Plan<'_>) -> Result<Claim> {
        let basis = plan.guarantee().basis();
        let holds = match (basis.gamma(), basis.beta()) {
            (Some(gamma), Some(beta)) => Holds::sampled(gamma, beta)?,
            _ if plan.guarantee().is_given_an_answer() => Holds::GivenAnAnswer,
            _ => Holds::Everywhere,
        };
        Claim::stated(
            basis.name().parse()?,
            Scope {
                neighbourhood: Neighbourhood::of(plan)?,
                holds,
            },
        )
    }

    /// A claim that the user states.
    pub fn stated(basis: Basis, scope: Scope) -> Result<Claim> {
        let is_sampled = matches!(scope.holds, Holds::Sampled { .. });
        if is_sampled != (basis == Basis::Sampled) {
            return Err(Error::input(match is_sampled {
                true => format!("γ and β belong to the basis sampled, found {basis}"),
                false => "the basis sampled needs γ and β: the share of pairs it leaves out, and the risk that this is wrong".into(),
            }));
        }
        if is_sampled && scope.neighbourhood.universe().is_none() {
            return Err(Error::input(
                "a sampled claim needs the universe that its pairs were drawn from".into(),
            ));
        }
        Ok(Claim {
            basis,
            scope: Some(scope),
        })
    }

    /// A claim of ledger format 1, which does not say between which datasets.
    pub(super) fn not_stated(basis: Basis) -> Claim {
        Claim { basis, scope: None }
    }

    /// The same claim between the neighbours that the curator states later: on a declared basis at best.
    pub(super) fn adopted(&self, scope: &Scope) -> Claim {
        Claim {
            basis: self.basis.max(Basis::Declared),
            scope: Some(scope.clone()),
        }
    }

    /// What it rests on.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// Between which datasets and for which pairs; none for charges of ledger format 1.
    pub fn scope(&self) -> Option<&Scope> {
        self.scope.as_ref()
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.neighbourhood)?;
        match &self.holds {
            Holds::Everywhere => Ok(()),
            Holds::GivenAnAnswer => write!(f, ", given that an answer was produced"),
            Holds::Sampled { gamma, beta, .. } => write!(
                f,
                ", for all but a share γ = {gamma} of sampled pairs, at a risk of β = {beta}"
            ),
        }
    }
}
