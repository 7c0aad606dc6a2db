//! One neighbourhood, and claims between its neighbours.
#![allow(dead_code)] // each test file uses its part

use conveil_release::ledger::{Basis, Claim, Holds, Neighbourhood, Relation, Scope};

/// Seventeen demands, of which one changes by at most 10 MW, inside a universe that sampled claims can speak of too.
pub fn demands() -> Neighbourhood {
    between(Relation::OneEntry { alpha: 10.0 })
        .inside("the winter days")
        .unwrap()
}

/// Seventeen demands.
pub fn between(relation: Relation) -> Neighbourhood {
    let own = Neighbourhood::new(relation, 17, "demand").unwrap();
    own.in_unit("MW").unwrap()
}

/// A claim for all pairs of these neighbours, for every dataset.
pub fn everywhere(neighbourhood: Neighbourhood) -> Claim {
    let holds = Holds::Everywhere;
    Claim::stated(
        Basis::Certificate,
        Scope {
            neighbourhood,
            holds,
        },
    )
    .unwrap()
}

/// A claim between [`demands`] on this basis.
pub fn claim(basis: Basis) -> Claim {
    let holds = match basis {
        Basis::Sampled => Holds::sampled(1e-6, 1e-6).unwrap(),
        _ => Holds::Everywhere,
    };
    let neighbourhood = demands();
    Claim::stated(
        basis,
        Scope {
            neighbourhood,
            holds,
        },
    )
    .unwrap()
}
