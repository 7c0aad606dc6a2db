//! docs/certificates.md: for each certificate a program that just meets its assumptions and one that just misses one of them. The page
//! quotes the refusals; this test plans both and looks them up on the page.

use conveil::ask::{Adjacency, Ask, Offset, Privacy, Query, Request, Strategy, Terms};
use conveil::certify::certificates;
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder};

const PAGE: &str = include_str!("../../../docs/certificates.md");

/// One line, however the page breaks it.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Case {
    word: &'static str,
    map: AffineMap,
    ask: Ask,
}

fn ask(query: Query, request: Request) -> Ask {
    Ask::new(query)
        .privacy(Privacy::laplace(1.0))
        .adjacency(Adjacency::one_entry(0.1))
        .strategy(Strategy::Output)
        .sensitivity(request)
}

/// min 2x, x between 0 and 9, x ≥ d with d private.
fn need(quadratic: f64, bounded: bool) -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let d = match bounded {
        true => m.parameter_within("d", 1.0, 5.0),
        false => m.parameter("d"),
    };
    m.minimize(2.0 * x.at(0));
    if quadratic > 0.0 {
        m.quadratic(0, 0, quadratic);
    }
    m.between("range", 0.0, x.at(0), 9.0);
    m.at_most("need", d, x.at(0));
    m.build_map().unwrap()
}

/// min p·x with a private price p; x between 1 and 9, or from 1 on; P as given.
fn price(closed: bool, quadratic: f64) -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let p = m.parameter_within("p", 1.0, 5.0);
    m.minimize(p * x.at(0));
    if quadratic > 0.0 {
        m.quadratic(0, 0, quadratic);
    }
    m.at_most("least", 1.0, x.at(0));
    if closed {
        m.at_most("most", x.at(0), 9.0);
    }
    m.build_map().unwrap()
}

/// A hinge for each of two records, weight w, with or without a regulariser on the intercept.
fn hinges(regularised_intercept: bool) -> AffineMap {
    let mut m = Builder::new();
    let w = m.variable("w", 1);
    let b = m.variable("intercept", 1);
    let z = m.auxiliary("slack", 2);
    m.minimize(0.5 * z.sum());
    m.quadratic(0, 0, 2.0);
    if regularised_intercept {
        m.quadratic(1, 1, 2.0);
    }
    for i in 0..2 {
        let x = m.parameter_within(&format!("x{i}"), -1.0, 1.0);
        let y = m.parameter_within(&format!("y{i}"), -1.0, 1.0);
        m.at_most(
            &format!("hinge {i}"),
            1.0,
            x * w.at(0) + y * b.at(0) + z.at(i),
        );
        m.at_most(&format!("sign {i}"), 0.0, z.at(i));
    }
    m.build_map().unwrap()
}

/// min −x with a·x ≤ 1, a private; x within public limits, or only below.
fn yields(closed: bool) -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let a = m.parameter_within("a", 0.5, 1.5);
    m.minimize(-1.0 * x.at(0));
    m.at_most("most", x.at(0), 9.0);
    if closed {
        m.at_most("least", 0.0, x.at(0));
    }
    m.at_most("yield", a * x.at(0), 1.0);
    m.build_map().unwrap()
}

fn smooth(width: f64, curvature: Option<f64>) -> Terms {
    Terms {
        width: Some(width),
        curvature,
        offset: Offset::Each(0.0),
        ..Terms::default()
    }
}

fn records(request: Request) -> Ask {
    ask(
        Query::Variables(vec!["w".into(), "intercept".into()]),
        request,
    )
    .adjacency(Adjacency::OneRecord { len: 2 })
}

/// What just meets the assumptions, and what just misses one.
fn cases() -> Vec<(Case, Case)> {
    let case = |word, map, ask| Case { word, map, ask };
    let saddle = |terms: Terms| {
        Request::saddle(Terms {
            offset: Offset::default(),
            price: Some(5.0),
            ..terms
        })
    };
    let plain = || Terms::default();
    let point = || Query::Identity;
    vec![
        (
            case(
                "envelope",
                need(0.0, true),
                ask(Query::Cost, Request::envelope(5.0)),
            ),
            case(
                "envelope",
                need(0.0, false),
                ask(Query::Cost, Request::envelope(5.0)),
            ),
        ),
        (
            case(
                "moreau",
                need(1.0, true),
                ask(point(), Request::moreau(smooth(1.0, None))),
            ),
            case(
                "moreau",
                need(0.0, true),
                ask(point(), Request::moreau(smooth(1.0, None))),
            ),
        ),
        (
            case(
                "radius",
                price(true, 0.0),
                ask(Query::Value, Request::radius()),
            ),
            case(
                "radius",
                price(false, 0.0),
                ask(Query::Value, Request::radius()),
            ),
        ),
        (
            case(
                "strong-convexity",
                price(false, 1.0),
                ask(point(), Request::strong_convexity()),
            ),
            case(
                "strong-convexity",
                price(false, 0.0),
                ask(point(), Request::strong_convexity()),
            ),
        ),
        (
            case("erm", hinges(true), records(Request::regularised_erm())),
            case("erm", hinges(false), records(Request::regularised_erm())),
        ),
        (
            case("range", yields(true), ask(point(), Request::range())),
            case("range", yields(false), ask(point(), Request::range())),
        ),
        (
            case("saddle", yields(true), ask(Query::Cost, saddle(plain()))),
            case("saddle", yields(false), ask(Query::Cost, saddle(plain()))),
        ),
        (
            case(
                "saddle",
                yields(true),
                ask(point(), saddle(smooth(0.1, Some(1.0)))),
            ),
            case(
                "saddle",
                yields(true),
                ask(point(), saddle(smooth(0.1, None))),
            ),
        ),
        (
            case(
                "auto",
                yields(true),
                ask(Query::Cost, Request::auto(Terms::priced(5.0))),
            ),
            case(
                "auto",
                yields(false),
                ask(Query::Cost, Request::auto(plain())),
            ),
        ),
    ]
}

#[test]
fn each_certificate_accepts_what_just_meets_it_and_refuses_what_just_does_not() {
    let page = on_one_line(PAGE);
    let mut missing = Vec::new();
    for (meets, misses) in cases() {
        let word = meets.word;
        let plan = Plan::new(&meets.map, meets.ask).unwrap_or_else(|e| panic!("{word}: {e}"));
        assert!(plan.guarantee().sensitivity() > 0.0);
        let refused = Plan::new(&misses.map, misses.ask).map(|_| ()).unwrap_err();
        let conveil::Error::Refused { why, .. } = refused else {
            panic!("{word}: {refused}");
        };
        println!("{word}: {why}");
        if !page.contains(&on_one_line(&why)) {
            missing.push(format!("{word} is refused because {why}"));
        }
    }
    assert!(missing.is_empty(), "not on the page: {missing:#?}");
}

#[test]
fn the_page_has_every_certificate() {
    for kind in certificates() {
        assert!(
            PAGE.contains(&format!("## `{}`", kind.word())),
            "{}",
            kind.word()
        );
        assert!(cases().iter().any(|(meets, _)| meets.word == kind.word()));
    }
}
