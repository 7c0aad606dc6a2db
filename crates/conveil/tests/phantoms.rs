//! M2, stages: no epigraph, slack or witness may take the noise of a query while the decision stays where it is.
//! The program of M2 in every disguise: its cost interval has length 4, so a 99% box of ±4.605 cannot fit.

mod structure_common;

use conveil::ask::Query;
use conveil::program::{Affine, Builder, ParameterHandle, VariableHandle};
use structure_common::{Fate, fate, laplace};

/// min x₁ + 3x₂ s.t. x₁ + x₂ = 10, 0 ≤ x₁ ≤ 10, 0 ≤ x₂ ≤ 2, without its objective.
fn two_variables() -> (Builder, VariableHandle, ParameterHandle) {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let demand = constrain(&mut m, &x);
    (m, x, demand)
}

fn constrain(m: &mut Builder, x: &VariableHandle) -> ParameterHandle {
    let demand = m.parameter("demand");
    m.equal("balance", x.sum(), demand);
    m.between("first", 0.0, x.at(0), 10.0);
    m.between("second", 0.0, x.at(1), 2.0);
    demand
}

fn cost(x: &VariableHandle) -> Affine {
    x.dot(&[1.0, 3.0])
}

fn query(name: &str) -> Query {
    Query::Variables(vec![name.into()])
}

/// Scale 1: the noise does not fit the honest program. Scale 1/3: it does.
const TOO_MUCH: f64 = 1.0;
const ENOUGH_ROOM: f64 = 3.0;

fn at(m: Builder, query: Query, epsilon: f64) -> Fate {
    fate(&m.build_map().unwrap(), laplace(query, epsilon), &[10.0])
}

/// Whether it is refused as a phantom at either noise: structure decides, not the scale.
fn is_refused_as_phantom(m: &Builder, query: &Query) -> bool {
    [TOO_MUCH, ENOUGH_ROOM].into_iter().all(|epsilon| {
        let fate = at(m.clone(), query.clone(), epsilon);
        matches!(&fate, Fate::Refused(why) if why.contains("looks like an epigraph or a slack"))
    })
}

#[test]
fn the_honest_cost_row_fits_iff_the_box_is_shorter_than_the_cost_interval() {
    let (mut m, x, _) = two_variables();
    m.minimize(cost(&x));
    assert!(matches!(
        at(m.clone(), Query::Cost, TOO_MUCH),
        Fate::DoesNotFit
    ));
    let Fate::Optimal(value, warnings) = at(m, Query::Cost, ENOUGH_ROOM) else {
        panic!("2·4.605/3 < 4");
    };
    assert!((value - (10.0 + 100f64.ln() / 3.0)).abs() < 1e-4, "{value}");
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn an_epigraph_of_the_cost_is_refused_in_every_spelling_of_the_query() {
    for top in [None, Some(1000.0)] {
        let (mut m, x, _) = two_variables();
        let t = m.variable("t", 1);
        m.minimize(t.at(0));
        m.at_most("epigraph", cost(&x), t.at(0));
        if let Some(top) = top {
            m.between("t limits", 0.0, t.at(0), top);
        }
        let weighted = |w: f64| vec![("t".to_string(), w)];
        for query in [
            query("t"),
            Query::Cost,
            Query::Sum(vec!["t".into()]),
            Query::Weighted(weighted(-2.0)),
            Query::Weighted(vec![("t".into(), 1.0), ("x[0]".into(), 0.5)]),
            Query::Rows(vec![weighted(1.0)]),
            Query::Rows(vec![weighted(1.0), vec![("x[1]".into(), 1.0)]]),
        ] {
            assert!(is_refused_as_phantom(&m, &query), "{query:?} {top:?}");
        }
    }
}

#[test]
fn neither_here_and_now_nor_witness_is_a_way_around() {
    for stage in ["here and now", "witness"] {
        let (mut m, x, _) = two_variables();
        let t = match stage {
            "witness" => m.witness("t", 1),
            _ => m.here_and_now("t", 1),
        };
        m.minimize(t.at(0));
        m.at_most("epigraph", cost(&x), t.at(0));
        for query in [query("t"), Query::Cost] {
            let fate = at(m.clone(), query, TOO_MUCH);
            let why = match stage {
                "witness" => "it is a witness",
                _ => "it has no variable that may respond to the noise",
            };
            assert!(
                matches!(&fate, Fate::Refused(m) if m.contains(why)),
                "{stage}: {fate:?}"
            );
        }
    }
}

/// A disguise of the cost: adds variables and constraints to the program, and says what is queried.
type Disguise = fn(&mut Builder, &VariableHandle, ParameterHandle) -> Query;

#[test]
fn disguised_epigraphs_are_refused() {
    let disguises: &[(&str, Disguise)] = &[
        ("cost split over two epigraphs", |m, x, _| {
            let t = m.variable("t", 2);
            m.minimize(t.sum());
            m.at_most("t0", x.at(0), t.at(0));
            m.at_most("t1", 3.0 * x.at(1), t.at(1));
            Query::Cost
        }),
        ("cost split over two bounded epigraphs", |m, x, _| {
            let t = m.variable("t", 2);
            m.minimize(t.sum());
            m.at_most("t0", x.at(0), t.at(0));
            m.at_most("t1", 3.0 * x.at(1), t.at(1));
            m.between("t0 limits", 0.0, t.at(0), 1000.0);
            m.between("t1 limits", 0.0, t.at(1), 1000.0);
            Query::Sum(vec!["t".into()])
        }),
        ("slack behind an equality", |m, x, _| {
            let (t, s) = (m.variable("t", 1), m.variable("s", 1));
            m.minimize(t.at(0));
            m.equal("t is", t.at(0), cost(x) + s.at(0));
            m.at_most("s", 0.0, s.at(0));
            query("t")
        }),
        ("slack behind an equality, t bounded", |m, x, _| {
            let (t, s) = (m.variable("t", 1), m.variable("s", 1));
            m.minimize(t.at(0));
            m.equal("t is", t.at(0), cost(x) + s.at(0));
            m.at_most("s", 0.0, s.at(0));
            m.between("t limits", 0.0, t.at(0), 1000.0);
            Query::Cost
        }),
        ("slack behind an equality, a witness", |m, x, _| {
            let (t, s) = (m.variable("t", 1), m.witness("s", 1));
            m.minimize(t.at(0));
            m.equal("t is", t.at(0), cost(x) + s.at(0));
            m.at_most("s", 0.0, s.at(0));
            query("t")
        }),
        ("slack that costs a little", |m, x, _| {
            let (t, s) = (m.variable("t", 1), m.variable("s", 1));
            m.minimize(t.at(0) + 1e-6 * s.at(0));
            m.equal("t is", t.at(0), cost(x) + s.at(0));
            m.at_most("s", 0.0, s.at(0));
            query("t")
        }),
        ("a scaled epigraph", |m, x, _| {
            let t = m.variable("t", 1);
            m.minimize(250.0 * t.at(0));
            m.at_most("epigraph", 40.0 * cost(x), 1e4 * t.at(0));
            query("t")
        }),
        ("a second-order cone", |m, x, _| {
            let t = m.variable("t", 1);
            m.minimize(t.at(0));
            m.norm_at_most("epigraph", vec![x.at(0) + 3.0 * x.at(1)], t.at(0));
            Query::Cost
        }),
        (
            "a bounded second-order cone beside a linear cost",
            |m, x, _| {
                let t = m.variable("t", 1);
                m.minimize(t.at(0) + x.at(0));
                m.norm_at_most("epigraph", vec![3.0 * x.at(1)], t.at(0));
                m.between("t limits", 0.0, t.at(0), 1000.0);
                Query::Cost
            },
        ),
        ("a semidefinite matrix", |m, x, _| {
            let t = m.variable("t", 1);
            m.minimize(t.at(0));
            m.semidefinite("epigraph", 2, vec![t.at(0), cost(x), Affine::constant(1.0)]);
            m.between("t limits", 0.0, t.at(0), 1000.0);
            query("t")
        }),
        ("an epigraph of a part of the cost", |m, x, _| {
            let t = m.variable("t", 1);
            m.minimize(x.at(0) + x.at(1) + t.at(0));
            m.at_most("epigraph", 2.0 * x.at(1), t.at(0));
            Query::Cost
        }),
        (
            "a bounded epigraph of all the cost of one variable",
            |m, x, _| {
                let t = m.variable("t", 1);
                m.minimize(x.at(0) + t.at(0));
                m.at_most("epigraph", 3.0 * x.at(1), t.at(0));
                m.between("t limits", 0.0, t.at(0), 1000.0);
                Query::Cost
            },
        ),
        ("maximisation", |m, x, _| {
            let t = m.variable("t", 1);
            m.minimize(-1.0 * t.at(0));
            m.at_most("hypograph", t.at(0), -1.0 * cost(x));
            m.between("t limits", -1000.0, t.at(0), 0.0);
            query("t")
        }),
        ("another name for the epigraph", |m, x, _| {
            let (t, u) = (m.variable("t", 1), m.variable("u", 1));
            m.minimize(t.at(0));
            m.equal("alias", t.at(0), u.at(0));
            m.at_most("epigraph", cost(x), u.at(0));
            query("t")
        }),
        ("another name for the bounded epigraph", |m, x, _| {
            let (t, u) = (m.variable("t", 1), m.variable("u", 1));
            m.minimize(t.at(0));
            m.equal("alias", t.at(0), u.at(0));
            m.at_most("epigraph", cost(x), u.at(0));
            m.between("u limits", 0.0, u.at(0), 1000.0);
            query("t")
        }),
        (
            "an upper estimate that is not in the objective",
            |m, x, _| {
                let t = m.variable("t", 1);
                m.minimize(cost(x));
                m.at_most("epigraph", cost(x), t.at(0));
                query("t")
            },
        ),
        ("a curved cost of the epigraph", |m, x, _| {
            let t = m.variable("t", 1);
            m.minimize_half_square(1.0, &[t.at(0)]);
            m.at_most("epigraph", cost(x), t.at(0));
            query("t")
        }),
        (
            "an epigraph at the mean with a limit that holds with noise",
            |m, x, _| {
                let t = m.variable("t", 1);
                m.minimize(t.at(0));
                m.at_most("epigraph", cost(x), t.at(0)).at_the_mean();
                m.between("t limits", 0.0, t.at(0), 1000.0);
                Query::Cost
            },
        ),
        ("private slopes", |m, x, demand| {
            let t = m.variable("t", 1);
            m.minimize(t.at(0));
            m.at_most(
                "epigraph",
                0.1 * (demand * x.at(0)) + 3.0 * x.at(1),
                t.at(0),
            );
            Query::Cost
        }),
        ("costs of the decision that only break ties", |m, x, _| {
            let t = m.variable("t", 1);
            m.minimize(t.at(0) + 1e-9 * x.sum());
            m.at_most("epigraph", cost(x), t.at(0));
            m.between("t limits", 0.0, t.at(0), 1000.0);
            query("t")
        }),
        (
            "negative costs that only break ties, all queried",
            |m, x, _| {
                let t = m.variable("t", 1);
                m.minimize(10.0 * t.at(0) - 1e-3 * x.sum());
                m.at_most("epigraph", cost(x), t.at(0));
                m.between("t limits", 0.0, t.at(0), 1000.0);
                Query::Cost
            },
        ),
        (
            "costs that only break ties, under another name",
            |m, x, _| {
                let (t, u) = (m.variable("t", 1), m.variable("u", 1));
                m.minimize(t.at(0) + 1e-9 * x.sum());
                m.equal("alias", t.at(0), 1e3 * u.at(0));
                m.at_most("epigraph", 1e-3 * cost(x), u.at(0));
                m.between("u limits", 0.0, u.at(0), 1.0);
                query("t")
            },
        ),
        ("a private price on the epigraph", |m, x, demand| {
            let t = m.variable("t", 1);
            m.minimize(demand * t.at(0));
            m.at_most("epigraph", cost(x), t.at(0));
            query("t")
        }),
    ];
    let passed: Vec<&str> = disguises
        .iter()
        .filter(|(_, dress)| {
            let (mut m, x, demand) = two_variables();
            let query = dress(&mut m, &x, demand);
            !is_refused_as_phantom(&m, &query)
        })
        .map(|(name, _)| *name)
        .collect();
    assert!(passed.is_empty(), "{passed:?}");
}

#[test]
fn an_epigraph_of_a_decision_made_before_the_noise_is_refused() {
    let disguises: &[(&str, Disguise)] = &[
        ("free", |m, x, _| {
            let t = m.variable("t", 1);
            m.minimize(t.at(0));
            m.at_most("epigraph", cost(x), t.at(0));
            query("t")
        }),
        ("bounded, as the cost", |m, x, _| {
            let t = m.variable("t", 1);
            m.minimize(t.at(0));
            m.at_most("epigraph", cost(x), t.at(0));
            m.between("t limits", 0.0, t.at(0), 1000.0);
            Query::Cost
        }),
        ("bounded by another early decision", |m, x, _| {
            let t = m.variable("t", 1);
            let top = m.here_and_now("top", 1);
            m.minimize(t.at(0) + 1e-9 * top.at(0));
            m.at_most("epigraph", cost(x), t.at(0));
            m.at_most("t limit", t.at(0), top.at(0));
            query("t")
        }),
        ("beside costs of the decision", |m, x, _| {
            let t = m.variable("t", 1);
            m.minimize(x.sum() + t.at(0));
            m.at_most("epigraph", 2.0 * x.at(1), t.at(0));
            m.between("t limits", 0.0, t.at(0), 1000.0);
            Query::Cost
        }),
        ("a second-order cone", |m, x, _| {
            let t = m.variable("t", 1);
            m.minimize(t.at(0));
            m.norm_at_most("epigraph", vec![x.at(0) + 3.0 * x.at(1)], t.at(0));
            m.between("t limits", 0.0, t.at(0), 1000.0);
            query("t")
        }),
    ];
    for (name, dress) in disguises {
        let mut m = Builder::new();
        let x = m.here_and_now("x", 2);
        let demand = constrain(&mut m, &x);
        let query = dress(&mut m, &x, demand);
        assert!(is_refused_as_phantom(&m, &query), "{name}");
    }
}

#[test]
fn a_corrected_load_and_its_penalty_may_be_decided_before_the_noise() {
    // The cost c'x + πt, where t bounds the distance between the load and the corrected load of the balance.
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let (corrected, t) = (m.here_and_now("corrected", 1), m.here_and_now("t", 1));
    let demand = m.parameter("demand");
    m.minimize(cost(&x) + 5.0 * t.at(0));
    m.equal("balance", x.sum(), corrected.at(0));
    m.between("first", 0.0, x.at(0), 10.0);
    m.between("second", 0.0, x.at(1), 2.0);
    m.norm_at_most("distance", vec![corrected.at(0) - demand], t.at(0));
    let Fate::Optimal(value, _) = at(m, Query::Cost, ENOUGH_ROOM) else {
        panic!("2·4.605/3 < 4");
    };
    assert!((value - (10.0 + 100f64.ln() / 3.0)).abs() < 1e-4, "{value}");
}

#[test]
fn an_equality_without_slack_is_the_cost_itself() {
    let (mut m, x, _) = two_variables();
    let t = m.variable("t", 1);
    m.minimize(t.at(0));
    m.equal("t is", t.at(0), cost(&x));
    assert!(matches!(
        at(m.clone(), query("t"), TOO_MUCH),
        Fate::DoesNotFit
    ));
    assert!(matches!(at(m, query("t"), ENOUGH_ROOM), Fate::Optimal(..)));
}

#[test]
fn a_bounded_variable_pulled_by_costs_only_is_warned_about() {
    // min x₀ + x₁ + t, t ≥ 2x₁, t ≤ 1000: an epigraph of part of the cost, or a purchase. Only the user knows.
    let (mut m, x, _) = two_variables();
    let t = m.variable("t", 1);
    m.minimize(x.at(0) + x.at(1) + t.at(0));
    m.at_most("needs", 2.0 * x.at(1), t.at(0));
    m.between("t limits", 0.0, t.at(0), 1000.0);
    let Fate::Optimal(_, warnings) = at(m, Query::Cost, TOO_MUCH) else {
        panic!("a bounded purchase is an ordinary variable");
    };
    let warned =
        |w: &String| w.starts_with("`t` only relax") && w.contains("would swallow the noise");
    assert!(warnings.iter().any(warned), "{warnings:?}");
}

#[test]
fn a_limited_slack_behind_an_equality_is_warned_about() {
    // t = c'x + s, 0 ≤ s ≤ 1000: a slack, or curtailment. Only the user knows; a decision ends the doubt.
    for declared in [false, true] {
        let (mut m, x, _) = two_variables();
        let t = m.variable("t", 1);
        let s = match declared {
            true => m.decision("s", 1),
            false => m.variable("s", 1),
        };
        m.minimize(t.at(0));
        m.equal("t is", t.at(0), cost(&x) + s.at(0));
        m.between("s limits", 0.0, s.at(0), 1000.0);
        let Fate::Optimal(_, warnings) = at(m, query("t"), TOO_MUCH) else {
            panic!("a limited slack is not condemned");
        };
        let warned = |w: &String| w.starts_with("`s` cost nothing and can take up the noise");
        assert_eq!(warnings.iter().any(warned), !declared, "{warnings:?}");
    }
}

#[test]
fn a_decision_is_the_users_word_and_is_taken() {
    let (mut m, x, _) = two_variables();
    let t = m.decision("t", 1);
    m.minimize(t.at(0));
    m.at_most("need", cost(&x), t.at(0));
    let Fate::Optimal(value, warnings) = at(m, Query::Cost, TOO_MUCH) else {
        panic!("declared a decision");
    };
    assert!((value - (10.0 + 100f64.ln())).abs() < 1e-4);
    assert!(
        warnings
            .iter()
            .any(|w| w.contains("can move without limit")),
        "{warnings:?}"
    );
}

#[test]
fn at_most_with_the_costs_slope_is_the_plain_cost_query() {
    let build = || {
        let (mut m, x, _) = two_variables();
        let t = m.variable("t", 1);
        m.minimize(t.at(0));
        m.at_most("epigraph", cost(&x), t.at(0));
        m
    };
    let at_most = |slope: &[(&str, f64)]| Query::AtMost {
        epigraph: "t".into(),
        slope: slope.iter().map(|(n, w)| (n.to_string(), *w)).collect(),
    };
    let honest = at_most(&[("x[0]", 1.0), ("x[1]", 3.0)]);
    assert!(matches!(
        at(build(), honest.clone(), TOO_MUCH),
        Fate::DoesNotFit
    ));
    let Fate::Optimal(value, _) = at(build(), honest, ENOUGH_ROOM) else {
        panic!("fits at the smaller noise");
    };
    assert!((value - (10.0 + 100f64.ln() / 3.0)).abs() < 1e-4, "{value}");
    // A slope over the epigraph alone, or over a slack, ties the decision to nothing.
    let empty = at(build(), at_most(&[("t", 1.0)]), TOO_MUCH);
    assert!(
        matches!(&empty, Fate::Refused(m) if m.contains("names no other variable")),
        "{empty:?}"
    );
    let mut m = build();
    let s = m.variable("s", 1);
    let x = m.variable("y", 1);
    m.between("y limits", 0.0, x.at(0), 1.0);
    m.at_most("spare", x.at(0), s.at(0));
    assert!(is_refused_as_phantom(&m, &at_most(&[("s", 1.0)])));
}
