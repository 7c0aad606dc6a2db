//! `auto`: at the same stated numbers no named certificate has a smaller sensitivity; where they differ, noise plus correction at public
//! data decides; no price is made up; what was looked at is listed.

mod certifying;
mod common;

use certifying::{blend, grid, holds, regression};
use conveil::ask::{Adjacency, Ask, Privacy, Query, Request, Strategy, Terms};
use conveil::certify::certificates;
use conveil::chance::{Choice, Feasibility};
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder};

fn ask(query: Query, strategy: Strategy, request: Request) -> Ask {
    Ask::new(query)
        .privacy(Privacy::laplace(4.0))
        .adjacency(Adjacency::one_entry(0.1))
        .strategy(strategy)
        .sensitivity(request)
        .feasibility(Feasibility::eta(0.2).method(Choice::MASS_BOX))
}

/// A recipe: private coefficients, limits and costs.
fn recipe() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let a = m.parameter_within("a", 0.5, 1.5);
    let b = m.parameter_within("b", 1.0, 3.0);
    m.minimize(x.dot(&[2.0, 3.0]));
    m.between("range 0", 0.0, x.at(0), 5.0);
    m.between("range 1", 0.0, x.at(1), 5.0);
    m.at_most("need", b, a * x.at(0) + x.at(1));
    m.build_map().unwrap()
}

fn priced(price: f64) -> Terms {
    Terms::priced(price)
}

fn smooth() -> Terms {
    Terms {
        width: Some(0.5),
        curvature: Some(1.0),
        ..priced(60.0)
    }
}

#[test]
fn auto_has_no_larger_sensitivity_than_any_certificate_at_the_same_numbers() {
    let mut compared = 0;
    for (what, map, query, strategy, terms) in [
        ("grid", grid(), Query::Cost, Strategy::Program, priced(60.0)),
        ("grid", grid(), Query::Cost, Strategy::Output, priced(60.0)),
        ("grid", grid(), Query::Value, Strategy::Output, priced(60.0)),
        (
            "blend",
            blend(),
            Query::Cost,
            Strategy::Program,
            Terms::default(),
        ),
        (
            "blend",
            blend(),
            Query::Value,
            Strategy::Output,
            priced(3.0),
        ),
        (
            "recipe",
            recipe(),
            Query::Cost,
            Strategy::Program,
            priced(9.0),
        ),
        (
            "regression",
            regression(8, 3.0),
            Query::Identity,
            Strategy::Output,
            Terms::default(),
        ),
    ] {
        let auto = Plan::new(
            &map,
            ask(query.clone(), strategy, Request::auto(terms.clone())),
        )
        .unwrap();
        let delta = auto.guarantee().sensitivity();
        let considered = auto.guarantee().basis().considered();
        assert_eq!(considered.iter().filter(|c| c.chosen).count(), 1);
        println!("{what}: {delta}; {}", auto.guarantee().basis().statement());
        for kind in certificates() {
            let takes_a_price = !matches!(kind.takes().price, conveil::certify::Need::None);
            let named = Request::Certificate {
                word: kind.word(),
                terms: if takes_a_price {
                    terms.clone()
                } else {
                    Terms::default()
                },
            };
            let entry = considered.iter().find(|c| c.by == kind.word());
            let Ok(plan) = Plan::new(&map, ask(query.clone(), strategy, named)) else {
                assert!(
                    entry.is_none_or(|c| c.why_not.is_some()),
                    "{what}, {}",
                    kind.word()
                );
                continue;
            };
            let other = plan.guarantee().sensitivity();
            if kind.word() != "auto" {
                assert_eq!(
                    entry.unwrap().sensitivity,
                    Some(other),
                    "{what}, {}",
                    kind.word()
                );
            }
            let decided_by_noise = considered.iter().any(|c| c.noise_and_correction.is_some());
            if !decided_by_noise {
                compared += 1;
                assert!(
                    delta <= other * (1.0 + 1e-9),
                    "{what}: {delta} above {other} of {}",
                    kind.word()
                );
            }
        }
        holds(what, &auto, &map, 3, 1);
    }
    assert!(compared >= 7, "{compared}");
}

#[test]
fn where_numbers_differ_noise_plus_correction_at_public_data_decides() {
    // A point of a grid: `moreau` at a width against the range of what is released.
    let map = grid();
    let query = || Query::Variables(vec!["g[0]".into()]);
    let auto = Plan::new(
        &map,
        ask(query(), Strategy::Output, Request::auto(smooth())),
    )
    .unwrap();
    let considered = auto.guarantee().basis().considered();
    let weighed: Vec<_> = considered
        .iter()
        .filter(|c| c.noise_and_correction.is_some())
        .collect();
    assert!(weighed.len() >= 2, "{considered:?}");
    let best = weighed
        .iter()
        .map(|c| c.noise_and_correction.unwrap())
        .fold(f64::INFINITY, f64::min);
    let chosen = considered.iter().find(|c| c.chosen).unwrap();
    assert_eq!(chosen.noise_and_correction, Some(best));
    let said = auto.guarantee().basis().statement();
    assert!(
        said.contains("noise plus correction at public nominal data is the smallest"),
        "{said}"
    );
    // A low price has the smallest sensitivity and the most distorted answer: it must not win by that.
    let low = Terms {
        price: Some(0.01),
        ..Terms::default()
    };
    let map = blend();
    let plan = Plan::new(
        &map,
        ask(Query::Value, Strategy::Output, Request::auto(low)),
    )
    .unwrap();
    assert!(
        plan.guarantee()
            .basis()
            .considered()
            .iter()
            .any(|c| c.chosen && c.by != "envelope")
    );
}

#[test]
fn without_a_price_auto_offers_what_needs_none_or_refuses_with_the_key() {
    let point = |terms: Terms| {
        let map = recipe();
        let ask = ask(Query::Cost, Strategy::Output, Request::auto(terms));
        Plan::new(&map, ask).map(|_| ()).map_err(|e| e.to_string())
    };
    // Every released variable lies between public limits.
    let map = recipe();
    let plan = Plan::new(
        &map,
        ask(
            Query::Identity,
            Strategy::Output,
            Request::auto(Terms::default()),
        ),
    )
    .unwrap();
    assert!(
        plan.guarantee().basis().statement().starts_with("range"),
        "{}",
        plan.guarantee()
    );
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let b = m.parameter_within("b", 1.0, 3.0);
    m.minimize(x.at(0));
    m.at_most("need", b, x.at(0));
    let open = m.build_map().unwrap();
    let refused = Plan::new(
        &open,
        ask(
            Query::Cost,
            Strategy::Output,
            Request::auto(Terms::default()),
        ),
    )
    .map(|_| ())
    .unwrap_err()
    .to_string();
    for expected in [
        "`envelope`: it needs `price`",
        "`need` holds private numbers and has no price",
        "price = 1000.0",
    ] {
        assert!(refused.contains(expected), "{refused}");
    }
    point(priced(9.0)).unwrap();
}

/// A price is per unit of the data under an envelope, and per unit of the row under a saddle: at 1 000 per unit of d the envelope's 50 gives
/// the data up, and its small sensitivity must not win by that.
#[test]
fn prices_in_different_units_are_weighed_and_not_compared() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let d = m.parameter_within("d", 1.0, 5.0);
    m.nominal(d, 3.0);
    m.minimize(2.0 * x.at(0));
    m.between("range", 0.0, x.at(0), 9000.0);
    m.at_most("need", 1000.0 * d, x.at(0));
    let map = m.build_map().unwrap();
    let plan = Plan::new(
        &map,
        ask(Query::Cost, Strategy::Output, Request::auto(priced(50.0))),
    )
    .unwrap();
    let chosen = plan
        .guarantee()
        .basis()
        .considered()
        .iter()
        .find(|c| c.chosen);
    assert_ne!(chosen.unwrap().by, "envelope", "{}", plan.guarantee());
    let answer = plan.released().at(&[3.0]).unwrap().answer[0];
    assert!((answer - 6000.0).abs() < 1.0, "{answer}");
}

/// Stated for points, a width and curvature do not keep the value's own certificate from being tried.
#[test]
fn a_certificate_of_the_value_competes_although_a_width_is_stated() {
    let map = recipe();
    let weighted = Query::Weighted(vec![("x[0]".into(), 2.0), ("x[1]".into(), 3.0)]);
    let stated = Terms {
        width: Some(0.001),
        curvature: Some(0.01),
        ..priced(5.0)
    };
    let plan = Plan::new(
        &map,
        ask(weighted.clone(), Strategy::Output, Request::auto(stated)),
    )
    .unwrap();
    let named = Plan::new(
        &map,
        ask(weighted, Strategy::Output, Request::saddle(priced(5.0))),
    )
    .unwrap();
    assert!(
        plan.guarantee().sensitivity() <= named.guarantee().sensitivity() * (1.0 + 1e-9),
        "{}",
        plan.guarantee()
    );
    assert!(
        plan.guarantee()
            .basis()
            .considered()
            .iter()
            .any(|c| c.without_width && c.chosen)
    );
}
