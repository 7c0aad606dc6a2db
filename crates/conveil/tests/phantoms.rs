//! M2, stages: no epigraph, slack or witness takes the noise of a query while the decision stays where it is, unless it is
//! declared to be what it is not; then a warning names it where the structure shows it.
//! The program of M2 in every disguise: its cost interval has length 4, so a 99% box of ±4.605 cannot fit.

mod structure_common;

use conveil::ask::{Adjacency, Ask, Privacy, Query, Request, Strategy};
use conveil::curator::{self, Movement};
use conveil::plan::Plan;
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

/// What the builder of a model says about a variable that is none of its decisions.
type Declare = fn(&mut Builder, &str) -> VariableHandle;

fn falsely(m: &mut Builder, name: &str) -> VariableHandle {
    m.variable(name, 1)
}

fn as_auxiliary(m: &mut Builder, name: &str) -> VariableHandle {
    m.auxiliary(name, 1)
}

fn as_epigraph(m: &mut Builder, name: &str) -> VariableHandle {
    m.epigraph(name)
}

/// Whether it is refused for its declared role at either noise: the declaration decides, not the scale.
fn is_refused_for_its_role(m: &Builder, query: &Query) -> bool {
    [TOO_MUCH, ENOUGH_ROOM].into_iter().all(|epsilon| {
        let fate = at(m.clone(), query.clone(), epsilon);
        let by_role = |why: &str| {
            why.contains("it is declared a witness") || why.contains("it is declared an epigraph")
        };
        matches!(&fate, Fate::Refused(why) if by_role(why))
    })
}

/// Whether a warning names `name` as something that looks like an epigraph or a slack.
fn is_warned_about(warnings: &[String], name: &str) -> bool {
    let names_it = |w: &String| {
        w.starts_with("declared as decisions, but they look like ")
            && w.contains(&format!("`{name}`"))
    };
    warnings.iter().any(names_it)
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
    for (declare, top) in [
        (as_auxiliary as Declare, None),
        (as_auxiliary, Some(1000.0)),
        (as_epigraph, None),
        (as_epigraph, Some(1000.0)),
    ] {
        let (mut m, x, _) = two_variables();
        let t = declare(&mut m, "t");
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
            Query::Named(vec![("t itself".into(), weighted(1.0))]),
        ] {
            assert!(is_refused_for_its_role(&m, &query), "{query:?} {top:?}");
        }
    }
}

#[test]
fn a_refusal_of_a_role_says_what_why_and_instead() {
    let refusals: [(Declare, &str); 2] = [
        (
            as_auxiliary,
            "refused: a query on `t`\n  because it is declared a witness: only the existence of a value is claimed, so no value of it can be released or carry noise\n  instead: leave it out of the query; or, if `t` is a real quantity that somebody carries out, declare it a decision (`stage = \"decision\"` in a spec, `Builder::variable` in Rust)",
        ),
        (
            as_epigraph,
            "refused: a query on `t`\n  because it is declared an epigraph, which would take up the noise while the decision stays where it is\n  instead: release it as `at-most` with a public slope, or query the cost as a row over the decisions; or, if `t` is a real quantity that somebody carries out, declare it a decision (`stage = \"decision\"` in a spec, `Builder::variable` in Rust)",
        ),
    ];
    for (declare, right) in refusals {
        let (mut m, x, _) = two_variables();
        let t = declare(&mut m, "t");
        m.minimize(t.at(0));
        m.at_most("epigraph", cost(&x), t.at(0));
        let found = at(m, Query::Cost, TOO_MUCH);
        assert!(
            matches!(&found, Fate::Refused(why) if why == right),
            "{found:?}"
        );
    }
}

#[test]
fn what_is_decided_before_the_noise_carries_none_of_it() {
    let (mut m, x, _) = two_variables();
    let t = m.here_and_now("t", 1);
    m.minimize(t.at(0));
    m.at_most("epigraph", cost(&x), t.at(0));
    for query in [query("t"), Query::Cost] {
        let fate = at(m.clone(), query, TOO_MUCH);
        let why = "it has no variable that may respond to the noise";
        assert!(
            matches!(&fate, Fate::Refused(m) if m.contains(why)),
            "{fate:?}"
        );
    }
}

/// A disguise of the cost: adds variables and constraints to the program, declares the phantom as it is told to, and says
/// what is queried.
type Disguise = fn(&mut Builder, &VariableHandle, ParameterHandle, Declare) -> Query;

/// By name; all but the last few can be seen in the structure.
const DISGUISES: &[(&str, Disguise)] = &[
    ("cost split over two epigraphs", |m, x, _, declare| {
        let (t, u) = (declare(m, "t"), declare(m, "u"));
        m.minimize(t.at(0) + u.at(0));
        m.at_most("t0", x.at(0), t.at(0));
        m.at_most("t1", 3.0 * x.at(1), u.at(0));
        Query::Cost
    }),
    (
        "cost split over two bounded epigraphs",
        |m, x, _, declare| {
            let (t, u) = (declare(m, "t"), declare(m, "u"));
            m.minimize(t.at(0) + u.at(0));
            m.at_most("t0", x.at(0), t.at(0));
            m.at_most("t1", 3.0 * x.at(1), u.at(0));
            m.between("t0 limits", 0.0, t.at(0), 1000.0);
            m.between("t1 limits", 0.0, u.at(0), 1000.0);
            Query::Sum(vec!["t".into(), "u".into()])
        },
    ),
    ("slack behind an equality", |m, x, _, declare| {
        let (t, s) = (declare(m, "t"), declare(m, "s"));
        m.minimize(t.at(0));
        m.equal("t is", t.at(0), cost(x) + s.at(0));
        m.at_most("s", 0.0, s.at(0));
        query("t")
    }),
    ("slack behind an equality, t bounded", |m, x, _, declare| {
        let (t, s) = (declare(m, "t"), declare(m, "s"));
        m.minimize(t.at(0));
        m.equal("t is", t.at(0), cost(x) + s.at(0));
        m.at_most("s", 0.0, s.at(0));
        m.between("t limits", 0.0, t.at(0), 1000.0);
        Query::Cost
    }),
    ("slack behind an equality, a witness", |m, x, _, declare| {
        let (t, s) = (declare(m, "t"), as_auxiliary(m, "s"));
        m.minimize(t.at(0));
        m.equal("t is", t.at(0), cost(x) + s.at(0));
        m.at_most("s", 0.0, s.at(0));
        query("t")
    }),
    ("slack that costs a little", |m, x, _, declare| {
        let (t, s) = (declare(m, "t"), declare(m, "s"));
        m.minimize(t.at(0) + 1e-6 * s.at(0));
        m.equal("t is", t.at(0), cost(x) + s.at(0));
        m.at_most("s", 0.0, s.at(0));
        query("t")
    }),
    ("a scaled epigraph", |m, x, _, declare| {
        let t = declare(m, "t");
        m.minimize(250.0 * t.at(0));
        m.at_most("epigraph", 40.0 * cost(x), 1e4 * t.at(0));
        query("t")
    }),
    ("a second-order cone", |m, x, _, declare| {
        let t = declare(m, "t");
        m.minimize(t.at(0));
        m.norm_at_most("epigraph", vec![x.at(0) + 3.0 * x.at(1)], t.at(0));
        Query::Cost
    }),
    (
        "a bounded second-order cone beside a linear cost",
        |m, x, _, declare| {
            let t = declare(m, "t");
            m.minimize(t.at(0) + x.at(0));
            m.norm_at_most("epigraph", vec![3.0 * x.at(1)], t.at(0));
            m.between("t limits", 0.0, t.at(0), 1000.0);
            Query::Cost
        },
    ),
    ("a semidefinite matrix", |m, x, _, declare| {
        let t = declare(m, "t");
        m.minimize(t.at(0));
        m.semidefinite("epigraph", 2, vec![t.at(0), cost(x), Affine::constant(1.0)]);
        m.between("t limits", 0.0, t.at(0), 1000.0);
        query("t")
    }),
    ("an epigraph of a part of the cost", |m, x, _, declare| {
        let t = declare(m, "t");
        m.minimize(x.at(0) + x.at(1) + t.at(0));
        m.at_most("epigraph", 2.0 * x.at(1), t.at(0));
        Query::Cost
    }),
    (
        "a bounded epigraph of all the cost of one variable",
        |m, x, _, declare| {
            let t = declare(m, "t");
            m.minimize(x.at(0) + t.at(0));
            m.at_most("epigraph", 3.0 * x.at(1), t.at(0));
            m.between("t limits", 0.0, t.at(0), 1000.0);
            Query::Cost
        },
    ),
    ("maximisation", |m, x, _, declare| {
        let t = declare(m, "t");
        m.minimize(-1.0 * t.at(0));
        m.at_most("hypograph", t.at(0), -1.0 * cost(x));
        m.between("t limits", -1000.0, t.at(0), 0.0);
        query("t")
    }),
    ("another name for the epigraph", |m, x, _, declare| {
        let (t, u) = (declare(m, "t"), declare(m, "u"));
        m.minimize(t.at(0));
        m.equal("alias", t.at(0), u.at(0));
        m.at_most("epigraph", cost(x), u.at(0));
        query("t")
    }),
    (
        "another name for the bounded epigraph",
        |m, x, _, declare| {
            let (t, u) = (declare(m, "t"), declare(m, "u"));
            m.minimize(t.at(0));
            m.equal("alias", t.at(0), u.at(0));
            m.at_most("epigraph", cost(x), u.at(0));
            m.between("u limits", 0.0, u.at(0), 1000.0);
            query("t")
        },
    ),
    (
        "an upper estimate that is not in the objective",
        |m, x, _, declare| {
            let t = declare(m, "t");
            m.minimize(cost(x));
            m.at_most("epigraph", cost(x), t.at(0));
            query("t")
        },
    ),
    ("a curved cost of the epigraph", |m, x, _, declare| {
        let t = declare(m, "t");
        m.minimize_half_square(1.0, &[t.at(0)]);
        m.at_most("epigraph", cost(x), t.at(0));
        query("t")
    }),
    (
        "an epigraph at the mean with a limit that holds with noise",
        |m, x, _, declare| {
            let t = declare(m, "t");
            m.minimize(t.at(0));
            m.at_most("epigraph", cost(x), t.at(0)).at_the_mean();
            m.between("t limits", 0.0, t.at(0), 1000.0);
            Query::Cost
        },
    ),
    ("private slopes", |m, x, demand, declare| {
        let t = declare(m, "t");
        m.minimize(t.at(0));
        m.at_most(
            "epigraph",
            0.1 * (demand * x.at(0)) + 3.0 * x.at(1),
            t.at(0),
        );
        Query::Cost
    }),
    (
        "costs of the decision that only break ties",
        |m, x, _, declare| {
            let t = declare(m, "t");
            m.minimize(t.at(0) + 1e-9 * x.sum());
            m.at_most("epigraph", cost(x), t.at(0));
            m.between("t limits", 0.0, t.at(0), 1000.0);
            query("t")
        },
    ),
    (
        "negative costs that only break ties, all queried",
        |m, x, _, declare| {
            let t = declare(m, "t");
            m.minimize(10.0 * t.at(0) - 1e-3 * x.sum());
            m.at_most("epigraph", cost(x), t.at(0));
            m.between("t limits", 0.0, t.at(0), 1000.0);
            Query::Cost
        },
    ),
    (
        "costs that only break ties, under another name",
        |m, x, _, declare| {
            let (t, u) = (declare(m, "t"), declare(m, "u"));
            m.minimize(t.at(0) + 1e-9 * x.sum());
            m.equal("alias", t.at(0), 1e3 * u.at(0));
            m.at_most("epigraph", 1e-3 * cost(x), u.at(0));
            m.between("u limits", 0.0, u.at(0), 1.0);
            query("t")
        },
    ),
    (
        "a private price on the epigraph",
        |m, x, demand, declare| {
            let t = declare(m, "t");
            m.minimize(demand * t.at(0));
            m.at_most("epigraph", cost(x), t.at(0));
            query("t")
        },
    ),
];

#[test]
fn a_phantom_under_its_own_name_carries_no_noise_of_a_query() {
    for (name, dress) in DISGUISES.iter().chain(EARLY) {
        for declare in [as_auxiliary as Declare, as_epigraph] {
            let (mut m, x, demand) = two_variables();
            let query = dress(&mut m, &x, demand, declare);
            assert!(is_refused_for_its_role(&m, &query), "{name}");
        }
    }
}

#[test]
fn a_phantom_that_is_declared_a_decision_is_warned_about() {
    let mut passed = Vec::new();
    for (name, dress) in DISGUISES {
        let (mut m, x, demand) = two_variables();
        let query = dress(&mut m, &x, demand, falsely);
        match at(m, query, TOO_MUCH) {
            Fate::Optimal(_, warnings) if is_warned_about(&warnings, "t") => {}
            other => passed.push((*name, other)),
        }
    }
    assert!(passed.is_empty(), "{passed:#?}");
}

/// Phantoms of decisions that are made before the noise.
const EARLY: &[(&str, Disguise)] = &[
    ("free", |m, x, _, declare| {
        let t = declare(m, "t");
        m.minimize(t.at(0));
        m.at_most("epigraph", cost(x), t.at(0));
        query("t")
    }),
    ("bounded, as the cost", |m, x, _, declare| {
        let t = declare(m, "t");
        m.minimize(t.at(0));
        m.at_most("epigraph", cost(x), t.at(0));
        m.between("t limits", 0.0, t.at(0), 1000.0);
        Query::Cost
    }),
    ("bounded by another early decision", |m, x, _, declare| {
        let t = declare(m, "t");
        let top = m.here_and_now("top", 1);
        m.minimize(t.at(0) + 1e-9 * top.at(0));
        m.at_most("epigraph", cost(x), t.at(0));
        m.at_most("t limit", t.at(0), top.at(0));
        query("t")
    }),
    ("beside costs of the decision", |m, x, _, declare| {
        let t = declare(m, "t");
        m.minimize(x.sum() + t.at(0));
        m.at_most("epigraph", 2.0 * x.at(1), t.at(0));
        m.between("t limits", 0.0, t.at(0), 1000.0);
        Query::Cost
    }),
    ("a second-order cone", |m, x, _, declare| {
        let t = declare(m, "t");
        m.minimize(t.at(0));
        m.norm_at_most("epigraph", vec![x.at(0) + 3.0 * x.at(1)], t.at(0));
        m.between("t limits", 0.0, t.at(0), 1000.0);
        query("t")
    }),
];

#[test]
fn a_false_epigraph_of_a_decision_made_before_the_noise_is_warned_about() {
    for (name, dress) in EARLY {
        let mut m = Builder::new();
        let x = m.here_and_now("x", 2);
        let demand = constrain(&mut m, &x);
        let query = dress(&mut m, &x, demand, falsely);
        let found = at(m, query, TOO_MUCH);
        assert!(
            matches!(&found, Fate::Optimal(_, w) if is_warned_about(w, "t")),
            "{name}: {found:?}"
        );
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
    assert!(is_warned_about(&warnings, "t"), "{warnings:?}");
    let why = "an epigraph takes up the noise while the decision stays where it is: declare it an epigraph and release it as at-most";
    assert!(warnings.iter().any(|w| w.contains(why)), "{warnings:?}");
}

#[test]
fn a_limited_slack_behind_an_equality_is_warned_about_unless_somebody_carries_it_out() {
    // t = c'x + s, 0 ≤ s ≤ 1000: a slack, or curtailment.
    for (declare, warned) in [(as_auxiliary as Declare, true), (falsely, false)] {
        let (mut m, x, _) = two_variables();
        let t = m.variable("t", 1);
        let s = declare(&mut m, "s");
        m.minimize(t.at(0));
        m.equal("t is", t.at(0), cost(&x) + s.at(0));
        m.between("s limits", 0.0, s.at(0), 1000.0);
        let Fate::Optimal(_, warnings) = at(m, query("t"), TOO_MUCH) else {
            panic!("a limited slack is not condemned");
        };
        assert_eq!(is_warned_about(&warnings, "t"), warned, "{warnings:?}");
    }
}

#[test]
fn a_decision_is_the_users_word_and_is_taken() {
    let (mut m, x, _) = two_variables();
    let t = m.variable("t", 1);
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
        let t = m.epigraph("t");
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
    for name in ["s", "t"] {
        let mut m = build();
        let s = m.auxiliary("s", 1);
        m.between("s limits", 0.0, s.at(0), 1.0);
        let found = at(m, at_most(&[("x[0]", 1.0), (name, 1.0)]), TOO_MUCH);
        let what = format!("refused: an at-most query whose slope names `{name}`");
        assert!(
            matches!(&found, Fate::Refused(why) if why.starts_with(&what)),
            "{found:?}"
        );
    }
}

#[test]
fn an_at_most_query_releases_a_declared_epigraph_and_nothing_else() {
    let declared: [(Declare, &str); 3] = [
        (falsely, "`t` is declared `decision`"),
        (as_auxiliary, "`t` is declared `witness`"),
        (
            |m, name| m.here_and_now(name, 1),
            "`t` is declared `here-and-now`",
        ),
    ];
    for (declare, why) in declared {
        let (mut m, x, _) = two_variables();
        let t = declare(&mut m, "t");
        m.minimize(t.at(0));
        m.at_most("epigraph", cost(&x), t.at(0));
        let at_most = Query::AtMost {
            epigraph: "t".into(),
            slope: vec![("x[0]".into(), 1.0), ("x[1]".into(), 3.0)],
        };
        let found = at(m, at_most, ENOUGH_ROOM);
        let instead = "declare `t` an epigraph (`stage = \"epigraph\"` in a spec, `Builder::epigraph` in Rust)";
        assert!(
            matches!(&found, Fate::Refused(m) if m.contains(why) && m.contains(instead)),
            "{found:?}"
        );
    }
}

/// A model with a phantom in it, what is asked of it, and the phantom's name.
struct Hollow {
    model: Builder,
    ask: Ask,
    phantom: &'static str,
}

/// x₁ + x₂ = 10 with limits, all of it public, and a phantom that is declared as it is told to.
fn public_set() -> (Builder, VariableHandle) {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    m.equal("balance", x.sum(), 10.0);
    m.between("first", 0.0, x.at(0), 10.0);
    m.between("second", 0.0, x.at(1), 2.0);
    (m, x)
}

fn certified(query: Query, request: Request) -> Ask {
    Ask::new(query)
        .adjacency(Adjacency::one_entry(0.01))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(request)
        .feasible(0.99)
}

type Dress = fn(Declare) -> Hollow;

/// M2's program in clothes that no test on its structure could refuse without refusing ordinary programs too.
const HOLLOW: &[(&str, Dress)] = &[
    ("M2's own program", |declare| {
        let (mut m, x, _) = two_variables();
        let t = declare(&mut m, "t");
        m.minimize(t.at(0));
        m.at_most("epigraph", cost(&x), t.at(0));
        Hollow {
            model: m,
            ask: laplace(Query::Cost, TOO_MUCH),
            phantom: "t",
        }
    }),
    ("a tiny curvature and a limit", |declare| {
        let (mut m, x, _) = two_variables();
        let t = declare(&mut m, "t");
        m.minimize(t.at(0));
        m.minimize_half_square(1e-6, &[x.at(0), x.at(1), t.at(0)]);
        m.at_most("epigraph", cost(&x), t.at(0));
        m.between("t limits", 0.0, t.at(0), 100.0);
        Hollow {
            model: m,
            ask: laplace(query("t"), TOO_MUCH),
            phantom: "t",
        }
    }),
    ("under a certificate by strong convexity", |declare| {
        let (mut m, x) = public_set();
        let t = declare(&mut m, "t");
        for j in 0..2 {
            let price = m.parameter_within(&format!("price {j}"), -1.0, 1.0);
            m.minimize(price * x.at(j));
        }
        m.minimize_half_square(1.0, &[x.at(0), x.at(1)]);
        m.minimize_half_square(0.01, &[t.at(0)]);
        m.minimize(t.at(0));
        m.at_most("epigraph", cost(&x), t.at(0));
        m.between("t limits", 0.0, t.at(0), 100.0);
        Hollow {
            model: m,
            ask: certified(query("t"), Request::strong_convexity()),
            phantom: "t",
        }
    }),
    ("a private cost under a certificate by radius", |declare| {
        let (mut m, x) = public_set();
        let t = declare(&mut m, "t");
        for (i, entry) in x.entries().into_iter().enumerate() {
            let price = m.parameter_within(&format!("price {i}"), 0.0, 0.1);
            m.minimize(price * entry);
        }
        let price = m.parameter_within("price of t", 0.5, 2.0);
        m.minimize(price * t.at(0));
        m.at_most("epigraph", cost(&x), t.at(0));
        m.between("t limits", 0.0, t.at(0), 100.0);
        Hollow {
            model: m,
            ask: certified(Query::Cost, Request::radius()),
            phantom: "t",
        }
    }),
    ("a private cost with an offset of −1", |declare| {
        let (mut m, x) = public_set();
        let t = declare(&mut m, "t");
        let price = m.parameter_within("price of t, and 1", 1.5, 3.0);
        m.minimize(0.1 * x.sum() + price * t.at(0) - t.at(0));
        m.at_most("epigraph", cost(&x), t.at(0));
        m.between("t limits", 0.0, t.at(0), 100.0);
        Hollow {
            model: m,
            ask: certified(Query::Cost, Request::radius()),
            phantom: "t",
        }
    }),
    ("a dummy in the slope of an at-most query", |declare| {
        let (mut m, x, _) = two_variables();
        let t = m.epigraph("t");
        let dummy = declare(&mut m, "dummy");
        m.minimize(t.at(0));
        m.at_most("epigraph", cost(&x), t.at(0));
        m.between("t limits", 0.0, t.at(0), 100.0);
        m.between("dummy limits", -10.0, dummy.at(0), 10.0);
        let at_most = Query::AtMost {
            epigraph: "t".into(),
            slope: vec![("dummy".into(), 1.0)],
        };
        Hollow {
            model: m,
            ask: laplace(at_most, TOO_MUCH),
            phantom: "dummy",
        }
    }),
    (
        "a costless slack with limits in a weighted query",
        |declare| {
            let (mut m, x, _) = two_variables();
            let s = declare(&mut m, "s");
            m.minimize(cost(&x));
            m.at_most("spending", cost(&x), 14.0 + s.at(0));
            m.between("s limits", 0.0, s.at(0), 100.0);
            let weights = [("x[0]", 1.0), ("x[1]", 3.0), ("s", 1.0)];
            let weights = weights.map(|(name, w)| (name.to_string(), w));
            Hollow {
                model: m,
                ask: laplace(Query::Weighted(weights.to_vec()), TOO_MUCH),
                phantom: "s",
            }
        },
    ),
    ("a norm in the objective with a cap on it", |declare| {
        let (mut m, x, _) = two_variables();
        let t = declare(&mut m, "t");
        m.minimize(t.at(0));
        m.norm_at_most("norm", vec![x.at(0), 3.0 * x.at(1)], t.at(0));
        m.at_most("cap", t.at(0) + 0.1 * x.at(0), 50.0);
        Hollow {
            model: m,
            ask: laplace(Query::Cost, TOO_MUCH),
            phantom: "t",
        }
    }),
];

#[test]
fn a_hollow_program_needs_a_false_declaration_and_is_then_warned_about() {
    for (name, dress) in HOLLOW {
        for declare in [as_auxiliary as Declare, as_epigraph] {
            let Hollow { model, ask, .. } = dress(declare);
            let map = model.build_map().unwrap();
            let refusal = Plan::new(&map, ask).map(|_| ()).unwrap_err().to_string();
            assert!(refusal.starts_with("refused: "), "{name}: {refusal}");
            assert!(refusal.contains("it is declared a"), "{name}: {refusal}");
        }
        let Hollow {
            model,
            ask,
            phantom,
        } = dress(falsely);
        let map = model.build_map().unwrap();
        let plan = Plan::new(&map, ask).unwrap_or_else(|e| panic!("{name}: {e}"));
        let warnings = plan.warnings();
        assert!(is_warned_about(warnings, phantom), "{name}: {warnings:?}");
        // Whoever reads the guarantee sees what was claimed.
        let text = plan.guarantee().to_string();
        let declared =
            format!("decisions: `x`, `{phantom}`, as declared by whoever built the model");
        assert!(text.contains(&declared), "{name}: {text}");
    }
}

#[test]
fn noise_on_the_answer_needs_no_decision_to_carry_it() {
    // Nothing responds to the noise: witnesses, epigraphs and early decisions may be released with noise on top.
    for declare in [as_auxiliary as Declare, as_epigraph, |m, name| {
        m.here_and_now(name, 1)
    }] {
        let (mut m, x, _) = two_variables();
        let t = declare(&mut m, "t");
        m.minimize(t.at(0));
        m.at_most("epigraph", cost(&x), t.at(0));
        let map = m.build_map().unwrap();
        for query in [query("t"), Query::Cost] {
            let ask = laplace(query, TOO_MUCH).strategy(Strategy::Output);
            let plan = Plan::new(&map, ask).unwrap();
            let answer = plan.released().at(&[10.0]).unwrap().answer[0];
            assert!((answer - 10.0).abs() < 1e-5, "{answer}");
            assert_eq!(curator::movement(&plan), Movement::NotNeeded);
        }
    }
}

#[test]
fn early_decisions_are_part_of_a_projected_answer() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let y = m.here_and_now("y", 1);
    let price = m.parameter("price");
    m.quadratic(0, 0, 1.0);
    m.quadratic(1, 1, 1.0);
    m.minimize(price * x.at(0));
    m.at_most("together", 1.0, x.at(0) + y.at(0));
    m.between("x limits", -5.0, x.at(0), 5.0);
    m.between("y limits", -5.0, y.at(0), 5.0);
    let map = m.build_map().unwrap();
    let ask = laplace(Query::Identity, 1.0).strategy(Strategy::Projected);
    let plan = Plan::new(&map, ask).unwrap();
    let published = plan.published(&[-3.0, 0.0]).unwrap();
    assert!(published[0] + published[1] > 1.0 - 1e-6, "{published:?}");
}

/// The movement of each declared decision at the nominal demand.
fn moves(m: Builder, query: Query, epsilon: f64) -> Vec<(String, f64, f64)> {
    let map = m.build_map().unwrap();
    let plan = Plan::new(&map, laplace(query, epsilon)).unwrap();
    match curator::movement(&plan) {
        Movement::NominalData { decisions } => decisions
            .into_iter()
            .map(|d| (d.name, d.moves, d.carries))
            .collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_movement_on_nominal_data_shows_who_carries_the_noise() {
    let near = |a: f64, b: f64| (a - b).abs() < 1e-4;
    // c'X = 1 and 1'X = 0 leave one X: (−½, ½), which carries −½ + 3/2.
    let (mut m, x, demand) = two_variables();
    m.nominal(demand, 10.0);
    m.minimize(cost(&x));
    let honest = moves(m, Query::Cost, ENOUGH_ROOM);
    let right = [(0.5, -0.5), (0.5, 1.5)];
    for ((name, moves, carries), (far, share)) in honest.iter().zip(right) {
        assert!(
            near(*moves, far) && near(*carries, share),
            "{name}: {moves} {carries}"
        );
    }
    // A false decision carries all of it, and the dispatch hardly moves.
    let (mut m, x, demand) = two_variables();
    m.nominal(demand, 10.0);
    let t = m.variable("t", 1);
    m.minimize(t.at(0));
    m.at_most("epigraph", cost(&x), t.at(0));
    let hollow = moves(m, Query::Cost, TOO_MUCH);
    assert!(
        near(hollow[2].1, 1.0) && near(hollow[2].2, 1.0),
        "{hollow:?}"
    );
    assert!(hollow[0].1 < 0.3 && hollow[1].1 < 0.3, "{hollow:?}");
    assert!(near(hollow.iter().map(|d| d.2).sum(), 1.0));
}

#[test]
fn the_movement_needs_nominal_data_unless_the_query_fixes_it() {
    let (mut m, x, _) = two_variables();
    m.minimize(cost(&x));
    let map = m.build_map().unwrap();
    let plan = Plan::new(&map, laplace(Query::Cost, ENOUGH_ROOM)).unwrap();
    let found = curator::movement(&plan);
    assert_eq!(
        found.to_string(),
        "not known before the data: `demand` has no public nominal value"
    );
    let plan = Plan::new(&map, laplace(query("x[0]"), ENOUGH_ROOM)).unwrap();
    assert_eq!(
        curator::movement(&plan).to_string(),
        "per unit of released noise, whatever the data:\n  `x[0]` moves by 1 and carries 100% of it\n  `x[1]` moves by 1 and carries 0% of it"
    );
}

/// M2's program with its cost as an epigraph: a slope a million times the cost would let the decision stay while t takes
/// up the noise. The cost itself, or less, is no such slope; under noise on the answer the number bounds nothing.
#[test]
fn a_slope_steeper_than_the_cost_is_refused() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let t = m.epigraph("t");
    let demand = m.parameter_within("demand", 8.0, 11.0);
    m.minimize(t.at(0));
    m.at_most("epigraph", x.at(0) + 3.0 * x.at(1), t.at(0));
    m.equal("balance", x.at(0) + x.at(1), demand);
    m.between("first", 0.0, x.at(0), 10.0);
    m.between("second", 0.0, x.at(1), 2.0);
    let map = m.build_map().unwrap();
    let ask = |times: f64, strategy| {
        let slope = vec![
            ("x[0]".to_string(), times),
            ("x[1]".to_string(), 3.0 * times),
        ];
        let epigraph = "t".to_string();
        Ask::new(Query::AtMost { epigraph, slope })
            .adjacency(Adjacency::one_entry(0.1))
            .privacy(Privacy::laplace(1.0))
            .declared(0.3, "at most 3 per unit")
            .strategy(strategy)
            .feasible(0.9)
    };
    for times in [1.001, 1e6, -1.0] {
        let refused = Plan::new(&map, ask(times, Strategy::Program)).unwrap_err();
        let text = refused.to_string();
        assert!(
            text.contains("steeper slope") && text.contains("`x[0]` costs 0 to 1"),
            "{text}"
        );
    }
    let plan = Plan::new(&map, ask(1.0, Strategy::Program)).unwrap();
    let text = plan.guarantee().to_string();
    assert!(text.contains("the slope is 1·x[0] + 3·x[1]"), "{text}");
    assert!(text.contains("t (the cost is at most this)"), "{text}");
    let plan = Plan::new(&map, ask(1.0, Strategy::Output)).unwrap();
    let text = plan.guarantee().to_string();
    assert!(
        text.contains("t (the cost, with noise)") && !text.contains("at most this"),
        "{text}"
    );
}
