//! What a budget plan says, held against what a ledger counts.

use conveil::noise::gaussian_sigma_analytic;
use conveil_release::ledger::{
    Basis, Budget, BudgetPlan, Charge, Charges, Claim, Group, Holds, Neighbourhood, NotDurable,
    Part, Relation, Scope, Way,
};

fn neighbourhood() -> Neighbourhood {
    Neighbourhood::new(Relation::OneEntry { alpha: 10.0 }, 17, "demand").unwrap()
}

fn claim() -> Claim {
    let scope = Scope {
        neighbourhood: neighbourhood(),
        holds: Holds::Everywhere,
    };
    Claim::stated(Basis::Certificate, scope).unwrap()
}

/// The charges of a way, as releases would make them.
fn charges(way: &Way, groups: &[Group], delta: f64) -> Vec<Charge> {
    let claim = claim();
    let mut each = Vec::new();
    for (group, &epsilon) in groups.iter().zip(&way.epsilon) {
        let charge = match way.delta > 0.0 {
            false => Charge::laplace(epsilon, &claim),
            true => {
                let sigma = gaussian_sigma_analytic(1.0, epsilon, way.delta).unwrap();
                Charge::gaussian(epsilon, way.delta, 0.5 / (sigma * sigma), &claim)
            }
        };
        each.extend(vec![charge.unwrap(); group.releases as usize]);
    }
    if way.name.contains("declared") {
        return vec![Charge::series(&each, Some(delta)).unwrap()];
    }
    if way.name.contains("part") {
        let parts = each.into_iter().enumerate();
        let of = |(k, charge): (usize, Charge)| {
            charge.in_part(Part::fixed(&format!("hour {k}")).unwrap())
        };
        return parts.map(|pair| of(pair).unwrap()).collect();
    }
    each
}

#[test]
fn a_ledger_takes_what_was_planned_and_no_release_more() {
    let sizes: [&[(u64, f64)]; 4] = [
        &[(24, 1.0)],
        &[(1, 1.0)],
        &[(24, 1.0), (12, 2.0)],
        &[(7, 0.3), (3, 1.0), (100, 0.01)],
    ];
    for groups in sizes {
        let groups: Vec<Group> = groups
            .iter()
            .map(|&(releases, weight)| Group { releases, weight })
            .collect();
        for (epsilon, delta) in [(2.0, 0.0), (2.0, 1e-5), (0.3, 1e-9), (10.0, 1e-3)] {
            let plan = BudgetPlan::new(&groups, epsilon, delta).unwrap();
            assert!(plan.ways.len() >= 2);
            for way in &plan.ways {
                let mut ledger = NotDurable::default();
                let budget = Budget::new(epsilon, delta, &neighbourhood()).unwrap();
                let is_basic = way.name.contains("added up") || way.name.contains("part");
                let budget = if is_basic { budget.basic() } else { budget };
                ledger.init("loads", &budget).unwrap();
                let charges = charges(way, &groups, delta);
                ledger.rehearse("loads", &charges).unwrap();
                for charge in &charges {
                    ledger.charge("loads", charge).unwrap();
                }
                // Nothing to speak of is left over: a tenth more for each would not fit.
                let more = Way {
                    epsilon: way.epsilon.iter().map(|e| 1.1 * e).collect(),
                    ..way.clone()
                };
                let mut fresh = NotDurable::default();
                fresh.init("loads", &budget).unwrap();
                let more = self::charges(&more, &groups, delta);
                let refused = fresh.rehearse("loads", &more);
                assert!(refused.is_err(), "{groups:?} {}: {way:?}", plan);
                assert!(fresh.account("loads").unwrap().charges == 0);
            }
        }
    }
}

/// 24 hours at ε = 1 against a budget of 2: refused whole, with what would fit, and nothing is charged.
#[test]
fn a_series_that_does_not_fit_is_refused_with_the_epsilon_that_does() {
    let mut ledger = NotDurable::default();
    let budget = Budget::new(2.0, 0.0, &neighbourhood()).unwrap();
    ledger.init("loads", &budget).unwrap();
    ledger
        .charge("loads", &Charge::laplace(0.8, &claim()).unwrap())
        .unwrap();
    let day = vec![Charge::laplace(1.0, &claim()).unwrap(); 24];
    let refused = ledger.rehearse("loads", &day).unwrap_err();
    assert!(refused.is_over_budget());
    let said = refused.to_string();
    assert!(
        said.contains("24 releases of ε = 1 each") && said.contains("the first 1 would"),
        "{said}"
    );
    assert!(
        said.contains("ε = 0.05 for each of them fits"),
        "1.2 are left for 24: {said}"
    );
    let fitting = vec![Charge::laplace(0.05, &claim()).unwrap(); 24];
    ledger.rehearse("loads", &fitting).unwrap();
    assert_eq!(ledger.account("loads").unwrap().charges, 1);
}

#[test]
fn plans_of_nothing_are_refused() {
    let one = |releases, weight| BudgetPlan::new(&[Group { releases, weight }], 1.0, 0.0);
    assert!(one(0, 1.0).is_err() && one(2_001, 1.0).is_err());
    assert!(one(1, 0.0).is_err() && one(1, f64::NAN).is_err());
    assert!(BudgetPlan::new(&[], 1.0, 0.0).is_err());
    assert!(
        BudgetPlan::new(
            &[Group {
                releases: 1,
                weight: 1.0
            }],
            -1.0,
            0.0
        )
        .is_err()
    );
}
