//! What no certificate covers is refused, and what one claims is no more than it can keep.

mod certifying;
mod common;

use certifying::{blend, cost_ask, grid, regression, regression_ask};
use conveil::ask::{Adjacency, Ask, Privacy, Query, Request, Strategy};
use conveil::chance::{Feasibility, Split};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{Affine, AffineMap, Builder, Cone, DataMap};

#[test]
fn what_a_certificate_does_not_cover_is_refused() {
    let refusal = |map: &AffineMap, ask: Ask| Plan::new(map, ask).unwrap_err().to_string();
    let says = |text: String, right: &str| assert!(text.contains(right), "{right}: {text}");
    let map = grid();
    // The envelope: only values, only right-hand sides, only bounded data.
    says(
        refusal(
            &map,
            Ask::new(Query::Sum(vec!["g[0]".into()]))
                .adjacency(Adjacency::one_entry(1.0))
                .privacy(Privacy::laplace(1.0))
                .sensitivity(Request::envelope(30.0)),
        ),
        "not the optimal value",
    );
    says(refusal(&map, cost_ask(0.0)), "price must be positive");
    let variance = conveil::risk::Risk::expectation().with_variance(conveil::risk::VarianceTerm {
        variables: vec!["g".into()],
        limit: conveil::risk::VarianceLimit::Weight(1.0),
    });
    says(
        refusal(&map, cost_ask(30.0).risk(variance)),
        "variance weight",
    );
    says(
        refusal(
            &map,
            cost_ask(30.0).sensitivity(Request::strong_convexity()),
        ),
        "`load 0` enters at b[0]",
    );
    says(
        refusal(&map, cost_ask(30.0).sensitivity(Request::radius())),
        "`load 0` enters at b[0]",
    );
    says(
        refusal(&map, cost_ask(30.0).sensitivity(Request::regularised_erm())),
        "replacement of one record",
    );
    let fit = regression(5, 60.0);
    let identity = |request: Request| {
        Ask::new(Query::Identity)
            .adjacency(Adjacency::one_entry(0.1))
            .privacy(Privacy::laplace(1.0))
            .sensitivity(request)
    };
    says(
        refusal(&fit, identity(Request::envelope(1.0))),
        "`y0` enters at q[0]",
    );
    says(
        refusal(&fit, identity(Request::radius())),
        "not the optimal value",
    );
    // A load without bounds, and bounds that leave out the nominal value of a negative one.
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let d = m.parameter("load");
    m.minimize(x.at(0));
    m.between("limits", d, x.at(0), 10.0);
    says(
        refusal(&m.build_map().unwrap(), cost_ask(1.0)),
        "`load` has no public bounds",
    );
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let d = m.parameter_within("load", 0.0, 5.0);
    m.nominal(d, -1.0);
    m.minimize(x.at(0));
    m.between("limits", d, x.at(0), 10.0);
    let outside = m.build_map().unwrap_err().to_string();
    says(
        outside,
        "-1 of parameter `load` lies outside its public bounds",
    );
    // A linear cost has no strong convexity.
    says(
        refusal(&blend(), identity(Request::strong_convexity())),
        "not positive definite",
    );
    // Noise that fits for no dataset is a public fact.
    let never = refusal(&grid(), cost_ask(1e5).privacy(Privacy::laplace(0.01)));
    says(never, "not with this noise");
}

#[test]
fn records_that_share_a_row_or_a_slack_are_refused() {
    let build = |shared_row: bool, shared_slack: bool, paid: f64, slack: f64| {
        let mut m = Builder::new();
        let w = m.variable("w", 1);
        let z = m.auxiliary("slack", 2);
        m.minimize(paid * z.sum());
        m.quadratic(0, 0, 1.0);
        let a = m.parameter_within("a", -1.0, 1.0);
        let b = m.parameter_within("b", -1.0, 1.0);
        let first = if shared_row {
            a * w.at(0) + b * w.at(0)
        } else {
            a * w.at(0)
        };
        m.at_most("first", 1.0, first + slack * z.at(0));
        let other = z.at(if shared_slack { 0 } else { 1 });
        m.at_most("second", 1.0, b * w.at(0) + other);
        m.at_most("signs", 0.0, z.at(0));
        m.at_most("sign", 0.0, z.at(1));
        m.build_map().unwrap()
    };
    let ask = || {
        Ask::new(Query::Variables(vec!["w".into()]))
            .adjacency(Adjacency::OneRecord { len: 1 })
            .privacy(Privacy::laplace(1.0))
            .sensitivity(Request::regularised_erm())
    };
    let refusal = |map: AffineMap| Plan::new(&map, ask()).unwrap_err().to_string();
    assert!(refusal(build(true, false, 1.0, 1.0)).contains("`first` holds data of two records"));
    assert!(refusal(build(false, true, 1.0, 1.0)).contains("stands in rows of two records"));
    assert!(refusal(build(false, false, 1.0, -1.0)).contains("tightens `first`"));
    assert!(refusal(build(false, false, 1.0, 0.0)).contains("no slack variable"));
    assert!(Plan::new(&build(false, false, 1.0, 1.0), ask()).is_ok());
}

/// What spoils the logistic losses of two records, a with w in (−s, 1, u) and (−aw − s, 1, 1 − u).
#[derive(Clone, Copy, PartialEq)]
enum Spoilt {
    Not,
    /// y of the second cone holds a record's number.
    Scale,
    /// The weight stands in z, where no slack gives way.
    Bound,
    /// One cone for the numbers of both records.
    SharedCone,
    /// s may not exceed 3.
    Capped,
    /// A cone of another kind.
    Round,
}

#[test]
fn smooth_losses_that_a_slack_does_not_widen_are_refused() {
    let build = |spoilt: Spoilt| {
        let mut m = Builder::new();
        let w = m.variable("w", 1);
        let s = m.auxiliary("slack", 2);
        let u = m.auxiliary("part", 2);
        m.minimize(0.5 * s.sum());
        m.quadratic(0, 0, 1.0);
        let one = || Affine::from(1.0);
        for i in 0..2 {
            let a = m.parameter_within(&format!("a{i}"), -1.0, 1.0);
            let plain = vec![-1.0 * s.at(i), one(), u.at(i)];
            m.cone(&format!("plain {i}"), Cone::Exponential, plain);
            let mut data = vec![-1.0 * (a * w.at(0)) - s.at(i), one(), one() - u.at(i)];
            match spoilt {
                Spoilt::Scale => data[1] = one() + a * w.at(0),
                Spoilt::Bound => data[2] = one() - u.at(i) + w.at(0),
                Spoilt::SharedCone if i == 1 => data[2] = one() - u.at(0),
                Spoilt::Capped => {
                    m.at_most(&format!("cap {i}"), s.at(i), 3.0);
                }
                _ => {}
            }
            let cone = match spoilt {
                Spoilt::Round => Cone::SecondOrder(3),
                _ => Cone::Exponential,
            };
            m.cone(&format!("data {i}"), cone, data);
        }
        m.build_map().unwrap()
    };
    let ask = || {
        Ask::new(Query::Variables(vec!["w".into()]))
            .adjacency(Adjacency::OneRecord { len: 1 })
            .privacy(Privacy::laplace(1.0))
            .sensitivity(Request::regularised_erm())
            .strategy(Strategy::Output)
    };
    let refusal = |spoilt| Plan::new(&build(spoilt), ask()).unwrap_err().to_string();
    let says = |spoilt, expected: &str| {
        let said = refusal(spoilt);
        assert!(said.contains(expected), "{said}");
    };
    says(Spoilt::Scale, "is the scale of an exponential cone");
    says(Spoilt::Bound, "tightens `");
    says(Spoilt::SharedCone, "two records");
    says(Spoilt::Capped, "raising `slack[0]` tightens `cap 0`");
    says(
        Spoilt::Round,
        "is neither a linear inequality nor an exponential cone",
    );
    let map = build(Spoilt::Not);
    let plan = Plan::new(&map, ask()).unwrap();
    // Half a loss grows by a half, and P is 1: twice that.
    let bound = plan.guarantee().sensitivity();
    assert!((bound - 1.0).abs() < 0.02, "{bound}");
    let program = Plan::new(&map, ask().strategy(Strategy::Program).feasible(0.9));
    let said = program.unwrap_err().to_string();
    assert!(said.contains("is a cone of a smooth loss"), "{said}");
}

#[test]
fn paper_mode_has_no_certificates() {
    let map = regression(12, 60.0);
    let ask = regression_ask(Privacy::laplace(2.0), Adjacency::one_entry(0.3), true);
    let refusal = Plan::paper_mode(&map, ask, &[0.5; 12])
        .unwrap_err()
        .to_string();
    assert!(refusal.contains("a certificate in paper mode"), "{refusal}");
}

#[test]
fn a_private_cost_through_an_epigraph_or_a_witness_is_refused() {
    // x₁ + x₂ = 10, x₂ ≤ 2: the cost through a free epigraph t would swallow the noise.
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let t = m.epigraph("t");
    let price = m.parameter_within("price of t", 0.5, 2.0);
    m.minimize(price * t.at(0));
    m.equal("balance", x.sum(), 10.0);
    m.between("first", 0.0, x.at(0), 10.0);
    m.between("second", 0.0, x.at(1), 2.0);
    m.at_most("epigraph", x.at(0) + 3.0 * x.at(1), t.at(0));
    m.at_most("top", t.at(0), 1000.0);
    let hollow = m.build_map().unwrap();
    let ask = || {
        Ask::cost()
            .adjacency(Adjacency::one_entry(0.01))
            .privacy(Privacy::laplace(1.0))
            .sensitivity(Request::radius())
            .feasible(0.99)
    };
    let refusal = Plan::new(&hollow, ask()).unwrap_err().to_string();
    assert!(refusal.contains("it is declared an epigraph"), "{refusal}");
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let s = m.auxiliary("s", 1);
    let price = m.parameter_within("price", 1.0, 2.0);
    m.minimize(price * x.at(0) + 4.0 * s.at(0));
    m.at_most("need", 3.0, x.at(0) + s.at(0));
    m.between("x", 0.0, x.at(0), 20.0);
    m.between("s", 0.0, s.at(0), 20.0);
    let refusal = Plan::new(&m.build_map().unwrap(), ask()).unwrap_err();
    assert!(
        refusal.to_string().contains("it is declared a witness"),
        "{refusal}"
    );
}

/// Says that it is affine, and solves something else.
struct Impostor(AffineMap);

impl DataMap for Impostor {
    fn parameters(&self) -> &conveil::program::Parameters {
        self.0.parameters()
    }
    fn template(&self) -> &conveil::program::Program {
        self.0.template()
    }
    fn private_parts(&self) -> conveil::program::PrivateParts {
        self.0.private_parts()
    }
    fn private_rows(&self) -> Vec<bool> {
        self.0.private_rows()
    }
    fn private_costs(&self) -> Vec<bool> {
        self.0.private_costs()
    }
    fn at(&self, theta: &[f64]) -> conveil::Result<conveil::program::Program> {
        let thousand: Vec<f64> = theta.iter().map(|v| 1000.0 * v).collect();
        self.0.at(&thousand)
    }
    fn affine(&self) -> Option<&AffineMap> {
        Some(&self.0)
    }
}

#[test]
fn what_a_certificate_inspects_is_what_is_solved() {
    let map = Impostor(regression(12, 60.0));
    let ask = regression_ask(
        Privacy::gaussian(2.0, 0.05),
        Adjacency::one_entry(0.3),
        true,
    );
    let plan = Plan::new(&map, ask).unwrap();
    let mut theta = [0.2; 12];
    let at = |theta: &[f64]| {
        let decided = plan.released().at(theta).unwrap();
        plan.released().shape().unshape(&decided.answer)
    };
    let here = at(&theta);
    theta[0] += 0.3;
    let there = at(&theta);
    let moved: f64 = here
        .iter()
        .zip(&there)
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>()
        .sqrt();
    assert!(moved <= plan.guarantee().sensitivity(), "{moved}");
}

#[test]
fn an_answer_for_all_data_or_a_claim_that_says_otherwise() {
    // Envelopes claim an answer for every dataset: a thousand of them, near and far, have one.
    let map = grid();
    let wish = Feasibility::eta(0.05).split(Split::LowerShare(0.7));
    let plan = Plan::new(&map, cost_ask(30.0).feasibility(wish)).unwrap();
    assert!(plan.guarantee().basis().is_defined_everywhere());
    let mut sampler = Sampler::new(5, 0);
    for index in 0..1000 {
        let size = 10f64.powi(index % 7);
        let theta = [size * sampler.unit_normal(), size * sampler.unit_normal()];
        if let Err(e) = plan.released().at(&theta) {
            panic!("{theta:?}: {e}");
        }
    }
    // A risk measure by samples adds variables that nothing bounds: no proof, no plan, or a claim for what was answered.
    let sampled = conveil::risk::Risk::cvar(conveil::risk::Cvar {
        tail: 0.1,
        form: conveil::risk::CvarForm::Sampled {
            samples: 50,
            seed: 3,
        },
    });
    match Plan::new(&map, cost_ask(30.0).risk(sampled)) {
        Ok(plan) => {
            let text = plan.guarantee().to_string();
            assert!(text.contains("given that an answer was produced"), "{text}");
            assert!(
                text.contains("some variable has no public bounds"),
                "{text}"
            );
        }
        Err(e) => assert!(e.to_string().contains("cannot be bounded"), "{e}"),
    }
    // Strong convexity makes the same claim, and solves data a thousand times larger than alpha.
    let map = regression(12, 4000.0);
    let ask = regression_ask(
        Privacy::gaussian(2.0, 0.05),
        Adjacency::one_entry(0.3),
        true,
    );
    let plan = Plan::new(&map, ask).unwrap();
    assert!(plan.guarantee().is_defined_everywhere());
}

/// y₀, y₁ ≥ 1 and y₀ + y₁ ≤ 2 meet in one point.
#[test]
fn limits_that_leave_no_room_are_refused_by_name_before_any_data() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let y = m.variable("y", 2);
    let load = m.parameter_within("load", 0.0, 6.0);
    m.minimize(x.at(0));
    m.at_most("supply", load, x.at(0));
    m.at_most("capacity", x.at(0), 2000.0);
    m.at_most("first", 1.0, y.at(0));
    m.at_most("second", 1.0, y.at(1));
    m.at_most("sum", y.at(0) + y.at(1), 2.0);
    let map = m.build_map().unwrap();
    let refused = Plan::new(&map, cost_ask(30.0)).unwrap_err().to_string();
    let said = "`first`, `second`, `sum` leave no room between them";
    assert!(refused.contains(said), "{refused}");
}
