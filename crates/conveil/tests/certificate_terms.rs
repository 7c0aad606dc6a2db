//! What a certificate's public numbers cost and bring: costs by cause, what makes the noise smaller, sweeps; and programs whose
//! auxiliary variables are bounded by their cones or by stated limits.

use conveil::ask::{Adjacency, Around, Ask, Privacy, Query, Request, Strategy, Term, Terms};
use conveil::chance::Feasibility;
use conveil::curator::{Axis, Costs, explain, frontier};
use conveil::plan::Plan;
use conveil::program::{Affine, AffineMap, Builder, Cone, DataMap};
use conveil::risk::{Cvar, Risk};
use conveil::solve::{Batch, Settings, solve_checked};

/// Two plants serve two loads; the second plant is dear.
fn plants() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let shed = m.variable("shed", 1);
    let loads = [
        m.parameter_within("north", 5.0, 20.0),
        m.parameter_within("south", 5.0, 20.0),
    ];
    m.nominal(loads[0], 10.0);
    m.nominal(loads[1], 10.0);
    m.minimize(10.0 * x.at(0) + 30.0 * x.at(1) + 200.0 * shed.at(0));
    let [north, south] = loads;
    m.equal("balance", x.sum() + shed.at(0), 1.0 * north + south);
    m.between("cheap", 0.0, x.at(0), 25.0);
    m.between("dear", 0.0, x.at(1), 30.0);
    m.between("shed", 0.0, shed.at(0), 50.0);
    m.build_map().unwrap()
}

fn moreau(width: f64, curvature: f64) -> Request {
    Request::moreau(Terms {
        width: Some(width),
        curvature: Some(curvature),
        ..Terms::default()
    })
}

fn ask(sensitivity: Request) -> Ask {
    let query = match &sensitivity {
        Request::Certificate { word, .. } if *word == "envelope" => Query::Cost,
        _ => Query::Sum(vec!["x[0]".into()]),
    };
    Ask::new(query)
        .adjacency(Adjacency::one_entry(0.2))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(sensitivity)
        .feasibility(Feasibility::eta(0.1))
}

fn costs(map: &AffineMap, ask: Ask, theta: &[f64]) -> (Costs, f64) {
    let plan = Plan::new(map, ask).unwrap();
    let curated = plan.curate(theta).unwrap();
    let report = curated.report();
    assert!(report.to_string().contains("what it costs"), "{report}");
    (report.costs.clone().unwrap(), report.objective)
}

#[test]
fn costs_by_cause_add_up_from_the_optimum_to_the_decision() {
    let map = plants();
    let cases = [
        (moreau(4.0, 0.5), [10.0, 11.0]),
        (moreau(40.0, 2.0), [18.0, 19.0]),
        // Outside its bounds: counted as 20.
        (moreau(4.0, 0.5), [10.0, 24.0]),
        (Request::envelope(40.0), [10.0, 11.0]),
        (Request::envelope(15.0), [18.0, 19.0]),
        (Request::envelope(15.0), [10.0, 24.0]),
    ];
    for (sensitivity, theta) in cases {
        let what = format!("{sensitivity:?} at {theta:?}");
        let (costs, objective) = costs(&map, ask(sensitivity), &theta);
        let optimum = costs.optimum.unwrap();
        let own = map.unclipped(&theta).unwrap();
        let exact = solve_checked(&own, &Settings::default()).unwrap();
        assert!((optimum - exact.objective).abs() < 1e-4, "{what}");
        let terms = costs.bounds.unwrap() + costs.curvature.unwrap() + costs.corrections.unwrap();
        let without_noise = costs.without_noise.unwrap();
        assert!((optimum + terms - without_noise).abs() < 1e-6, "{what}");
        let noise = costs.noise.unwrap();
        assert!((without_noise + noise - objective).abs() < 1e-6, "{what}");
        // A smaller load is cheaper to serve, and clipping is the bounds' cost alone.
        let is_clipped = theta[1] > 20.0;
        assert_eq!(
            costs.bounds.unwrap() < -1.0,
            is_clipped,
            "{what}: {costs:?}"
        );
    }
}

#[test]
fn curvature_is_paid_for_by_itself_and_corrections_by_themselves() {
    let map = plants();
    let theta = [10.0, 11.0];
    // 21 from the cheap plant; at κ = 4 its marginal cost is 10 + 4x, above 30 from x = 5 on.
    let (curved, _) = costs(&map, ask(moreau(1e-3, 4.0)), &theta);
    let by_hand = (16.0 - 0.0) * 20.0;
    assert!(
        (curved.curvature.unwrap() - by_hand).abs() < 1.0,
        "{curved:?}"
    );
    // The cheap plant serves 5 in the place of 21.
    assert!(
        (curved.answer_moved.unwrap() - 16.0).abs() < 0.5,
        "{curved:?}"
    );
    // Almost no width: almost no correction.
    assert!(curved.corrections.unwrap().abs() < 0.5, "{curved:?}");
    // An envelope adds no curvature; at a price below the plant's, serving less is cheaper.
    let (dear, _) = costs(&map, ask(Request::envelope(1000.0)), &theta);
    assert_eq!(dear.curvature, Some(0.0));
    assert!(dear.corrections.unwrap().abs() < 1e-4 && dear.noise.unwrap() > 0.0);
    let (cheap, _) = costs(&map, ask(Request::envelope(4.0)), &theta);
    // Both loads go down to 5 at a price of 4 for each unit, in the place of 10.
    assert!(
        (cheap.corrections.unwrap() + 6.0 * 11.0).abs() < 1e-3,
        "{cheap:?}"
    );
}

/// Curvature around the optimum at public data costs nothing there, moves as little, and is no part of the reported cost.
#[test]
fn curvature_around_a_public_point_costs_nothing_there_and_keeps_the_bound() {
    let map = plants();
    let around = |around: Around| {
        Request::moreau(Terms {
            width: Some(1.0),
            curvature: Some(4.0),
            around,
            ..Terms::default()
        })
    };
    let nominal = [10.0, 10.0];
    let (at_zero, _) = costs(&map, ask(around(Around::Zero)), &nominal);
    let (at_nominal, _) = costs(&map, ask(around(Around::Nominal)), &nominal);
    assert!(at_zero.curvature.unwrap() > 100.0, "{at_zero:?}");
    assert!(at_nominal.curvature.unwrap().abs() < 1e-4, "{at_nominal:?}");
    assert!(at_nominal.corrections.unwrap().abs() < 1e-4);
    let plan = Plan::new(&map, ask(around(Around::Nominal))).unwrap();
    let other = Plan::new(&map, ask(around(Around::Zero))).unwrap();
    let bounds = [&plan, &other].map(|plan| plan.guarantee().sensitivity());
    assert!((bounds[0] / bounds[1] - 1.0).abs() < 0.05, "{bounds:?}");
    let mut sampler = conveil::noise::Sampler::new(3, 0);
    let mut last: Option<(f64, f64)> = None;
    for _ in 0..60 {
        let theta = [5.0 + 15.0 * sampler.uniform(), 12.0];
        let curated = plan.curate(&theta).unwrap();
        let report = curated.report();
        let x: Vec<f64> = report.mean.iter().map(|m| m.1).collect();
        // The cost is linear: its expectation is that of the mean.
        let cost = 10.0 * x[0] + 30.0 * x[1] + 200.0 * x[2];
        assert!((report.objective - cost).abs() < 1e-5 * cost, "{report}");
        let answer = report.answer[0].1;
        if let Some((datum, before)) = last {
            let moved = (answer - before).abs();
            let steps = (theta[0] - datum).abs() / 0.2;
            assert!(moved <= bounds[0] * steps.max(1.0), "{moved}");
        }
        last = Some((theta[0], answer));
    }
    // The linear part of such a cost must not be released as the user's own.
    let cost = Ask::cost()
        .adjacency(Adjacency::one_entry(0.2))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(around(Around::Nominal))
        .feasibility(Feasibility::eta(0.1));
    let refusal = Plan::new(&map, cost).unwrap_err().to_string();
    assert!(refusal.contains("changes the linear costs"), "{refusal}");
    let tail = ask(around(Around::Nominal)).risk(Risk::cvar(Cvar::exact(0.1)));
    let refusal = Plan::new(&map, tail).unwrap_err().to_string();
    assert!(refusal.contains("changes the linear costs"), "{refusal}");
}

#[test]
fn a_program_without_an_answer_at_the_data_has_costs_that_are_not_known() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let d = m.parameter_within("d", 0.0, 20.0);
    m.nominal(d, 5.0);
    m.minimize(2.0 * x.at(0));
    m.equal("serve", x.at(0), d);
    m.between("limit", 0.0, x.at(0), 10.0);
    let map = m.build_map().unwrap();
    let ask = Ask::new(Query::Identity)
        .adjacency(Adjacency::one_entry(0.1))
        .privacy(Privacy::laplace(1.0))
        .strategy(Strategy::Output)
        .sensitivity(moreau(1.0, 1.0));
    let (costs, _) = costs(&map, ask, &[18.0]);
    assert_eq!((costs.optimum, costs.corrections), (None, None));
    // The corrected datum is 10 at most.
    assert!(costs.without_noise.unwrap() <= 20.0 + 1e-6);
}

#[test]
fn the_numbers_that_make_noise_smaller_are_named_with_their_effect() {
    let map = plants();
    let found = explain(&map, &ask(moreau(4.0, 0.5)), &[10.0, 11.0]).unwrap();
    let lever = |what: &str| found.levers.iter().find(|l| l.what == what).unwrap();
    for (what, noise) in [
        ("width", 0.5f64.sqrt()),
        ("curvature", 0.5f64.sqrt()),
        ("α", 0.5),
        ("ε", 0.5),
    ] {
        assert!(
            (lever(what).noise - noise).abs() < 1e-3,
            "{:?}",
            lever(what)
        );
    }
    assert_eq!(lever("width").instead, Some(8.0));
    let [now, then] = lever("width").correction.unwrap();
    assert!(then >= now && now > 0.0, "{now} {then}");
    let text = found.to_string();
    assert!(text.contains("for less noise"), "{text}");
    // A cap on prices does not enter the bound.
    let capped = Request::moreau(Terms {
        price: Some(3.0),
        width: Some(4.0),
        curvature: Some(0.5),
        ..Terms::default()
    });
    let found = explain(&map, &ask(capped), &[10.0, 11.0]).unwrap();
    let price = found.levers.iter().find(|l| l.what == "price").unwrap();
    assert_eq!((price.instead, price.noise), (None, 1.0));
    let found = explain(&map, &ask(Request::envelope(40.0)), &[10.0, 11.0]).unwrap();
    let price = found.levers.iter().find(|l| l.what == "price").unwrap();
    assert_eq!(price.instead, Some(20.0));
    assert!((price.noise - 0.5).abs() < 1e-9);
    // A declared bound has no such numbers.
    let declared = Ask::new(Query::Cost)
        .adjacency(Adjacency::one_entry(0.2))
        .privacy(Privacy::laplace(1.0))
        .declared(2.0, "a test")
        .feasibility(Feasibility::eta(0.1));
    let found = explain(&map, &declared, &[10.0, 11.0]).unwrap();
    assert!(found.levers.is_empty());
}

/// What is said to make the noise smaller does so in the plan itself.
#[test]
fn the_effect_that_is_named_is_that_of_the_plan() {
    let map = plants();
    for shaped in [false, true] {
        let request = moreau(4.0, 0.5);
        let asked = |request: Request| match shaped {
            true => ask(request).shaped_by_curvature(),
            false => ask(request),
        };
        let noise = |request: Request| {
            let plan = Plan::new(&map, asked(request)).unwrap();
            plan.law().scale() * plan.released().shape().row(0)[0].abs()
        };
        let found = explain(&map, &asked(request.clone()), &[10.0, 11.0]).unwrap();
        for term in [Term::Width, Term::Curvature] {
            let lever = (found.levers.iter())
                .find(|l| l.what == term.word())
                .unwrap();
            let other = request.with_term(term, lever.instead.unwrap()).unwrap();
            let ratio = noise(other) / noise(request.clone());
            // The plan counts the solver's tolerance too.
            assert!((ratio - lever.noise).abs() < 0.03, "{ratio} {lever:?}");
        }
    }
}

#[test]
fn a_frontier_over_a_term_is_that_of_the_plans() {
    let map = plants();
    let theta = [10.0, 11.0];
    let batch = Batch::default();
    let asked = ask(moreau(4.0, 0.5));
    let swept = |over: Axis, values: &[f64]| frontier(&map, &asked, &theta, over, values, &batch);
    let found = swept(Axis::Width, &[1.0, 4.0, 16.0]).unwrap();
    for row in &found.rows {
        let plan = Plan::new(&map, ask(moreau(row.value, 0.5))).unwrap();
        assert_eq!(row.scale, Some(plan.law().scale()));
        let curated = plan.curate(&theta).unwrap();
        let report = curated.report();
        assert!((row.objective.unwrap() - report.objective).abs() < 1e-6);
        let correction = report.correction.as_ref().unwrap().distance;
        assert!((row.correction.unwrap() - correction).abs() < 1e-6);
    }
    let scales: Vec<f64> = found.rows.iter().filter_map(|row| row.scale).collect();
    assert!(scales[0] > 1.8 * scales[1] && scales[1] > 1.8 * scales[2]);
    assert!(found.to_string().contains("correction"));
    let found = swept(Axis::Curvature, &[0.1, 0.4]).unwrap();
    assert!(found.rows[0].scale > found.rows[1].scale);
    // The cap is optional, and may be swept where none is stated.
    let found = swept(Axis::Price, &[1.0, 10.0]).unwrap();
    assert!(found.rows.iter().all(|row| row.status == "ok"), "{found}");
    // A value that means nothing is refused whole.
    assert!(swept(Axis::Width, &[-1.0]).is_err());
}

#[test]
fn a_frontier_over_a_number_that_the_sensitivity_has_not_is_refused() {
    let map = plants();
    let declared = Ask::new(Query::Cost)
        .adjacency(Adjacency::one_entry(0.2))
        .privacy(Privacy::laplace(1.0))
        .declared(2.0, "a test");
    for (ask, over, said) in [
        (
            declared,
            Axis::Width,
            ["stated with a `width` (`moreau`", "this one is declared"],
        ),
        (
            ask(Request::envelope(40.0)),
            Axis::Curvature,
            ["a `curvature` (`moreau`", "this one is by `envelope`"],
        ),
    ] {
        let found = frontier(&map, &ask, &[10.0, 11.0], over, &[1.0], &Batch::default());
        let refusal = found.unwrap_err().to_string();
        assert!(said.iter().all(|s| refusal.contains(s)), "{refusal}");
    }
    for axis in Axis::ALL {
        assert_eq!(Axis::named(axis.word()).unwrap(), axis);
    }
    let unknown = Axis::named("lambda").unwrap_err().to_string();
    assert!(unknown.contains("\"width\""), "{unknown}");
}

/// max of a concave utility of x under x₀ + x₁ ≤ d: the utility is an auxiliary variable that nothing but its cone bounds.
fn utility(write: impl Fn(&mut Builder, [Affine; 2]) -> Affine) -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let d = m.parameter_within("d", 2.0, 6.0);
    m.nominal(d, 4.0);
    m.at_most("budget", x.sum(), d);
    m.between("first", 0.1, x.at(0), 8.0);
    m.between("second", 0.1, x.at(1), 8.0);
    let worth = write(&mut m, [x.at(0), x.at(1)]);
    m.minimize(-1.0 * worth);
    m.build_map().unwrap()
}

fn enveloped(map: &AffineMap, value: impl Fn(f64) -> f64) {
    let ask = Ask::new(Query::Value)
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .strategy(Strategy::Output)
        .sensitivity(Request::envelope(3.0));
    let plan = Plan::new(map, ask).unwrap();
    let mut last: Option<f64> = None;
    for step in 0..9 {
        let d = 2.0 + 0.5 * f64::from(step);
        let answer = plan.released().at(&[d]).unwrap().answer[0];
        // The price is above every marginal value here: the envelope is the value itself.
        assert!((answer + value(d)).abs() < 1e-4, "{d}: {answer}");
        if let Some(last) = last {
            assert!((answer - last).abs() <= 0.5 * plan.guarantee().sensitivity());
        }
        last = Some(answer);
    }
}

#[test]
fn logarithms_geometric_means_and_determinants_need_no_bounds_of_their_own_under_an_envelope() {
    let logarithms = utility(|m, x| {
        let t = m.auxiliary("t", 2);
        for (i, x) in x.into_iter().enumerate() {
            let entries = vec![t.at(i), Affine::from(1.0), x];
            m.cone(&format!("log {i}"), Cone::Exponential, entries);
            m.at_the_mean();
        }
        t.sum()
    });
    enveloped(&logarithms, |d| 2.0 * (d / 2.0).ln());
    let mean = utility(|m, [a, b]| {
        let t = m.auxiliary("t", 1);
        m.cone("mean", Cone::Power(0.5), vec![a, b, t.at(0)]);
        m.at_the_mean();
        t.at(0)
    });
    enveloped(&mean, |d| d / 2.0);
    let three = utility(|m, [a, b]| {
        let t = m.auxiliary("t", 1);
        let cone = Cone::GeneralizedPower(vec![0.25, 0.25, 0.5], 1);
        m.cone("mean", cone, vec![a, b, Affine::from(4.0), t.at(0)]);
        m.at_the_mean();
        t.at(0)
    });
    enveloped(&three, |d| (d / 2.0).sqrt() * 2.0);
    // log det of diag(x): Z upper triangular with [diag(Z) Z; Z' X] ⪰ 0, and the logarithms of its diagonal.
    let determinant = utility(|m, [a, b]| {
        let (z, t) = (m.auxiliary("z", 3), m.auxiliary("t", 2));
        let zero = || Affine::from(0.0);
        let upper = vec![
            z.at(0),
            zero(),
            z.at(2),
            z.at(0),
            zero(),
            a,
            z.at(1),
            z.at(2),
            zero(),
            b,
        ];
        m.semidefinite("determinant", 4, upper);
        m.at_the_mean();
        for (i, z) in [z.at(0), z.at(2)].into_iter().enumerate() {
            let entries = vec![t.at(i), Affine::from(1.0), z];
            m.cone(&format!("log {i}"), Cone::Exponential, entries);
            m.at_the_mean();
        }
        t.sum()
    });
    enveloped(&determinant, |d| 2.0 * (d / 2.0).ln());
}

#[test]
fn stated_limits_on_an_auxiliary_variable_are_rows_and_no_word_of_the_users() {
    // s is free where it is positive: nothing but a statement bounds it.
    let map = |limits: Option<(f64, f64)>| {
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        let s = m.auxiliary("s", 2);
        let d = m.parameter_within("d", 1.0, 4.0);
        m.minimize(2.0 * x.at(0));
        m.at_most("serve", d, x.at(0) + s.at(0) - s.at(1));
        m.equal("no help", s.at(0), s.at(1));
        m.between("x", 0.0, x.at(0), 9.0);
        if let Some((low, high)) = limits {
            m.within(&s, low, high);
        }
        m.build_map().unwrap()
    };
    let ask = || {
        Ask::cost()
            .adjacency(Adjacency::one_entry(0.1))
            .privacy(Privacy::laplace(1.0))
            .sensitivity(Request::envelope(5.0))
            .feasibility(Feasibility::eta(0.2))
    };
    let within = map(Some((-1.0, 1.0)));
    let plan = Plan::new(&within, ask()).unwrap();
    assert!(!plan.guarantee().to_string().contains("no bounds"));
    let decided = plan.released().at(&[3.0]).unwrap();
    for j in 1..3 {
        assert!(decided.mean[j].abs() <= 1.0 + 1e-6, "{:?}", decided.mean);
    }
    let program = within.at(&[3.0]).unwrap();
    assert!((program.constraints().iter()).any(|block| block.name() == "bounds of s"));
    // The same by the name of the block.
    let named = map(None)
        .at(&[3.0])
        .unwrap()
        .within("s", -1.0, 1.0)
        .unwrap();
    assert_eq!((named.rows(), named.b()), (program.rows(), program.b()));
    for (block, low, high, said) in [
        ("t", 0.0, 1.0, "no block of variables is called `t`"),
        ("s", 1.0, 0.0, "the lower one first"),
        ("s", f64::NEG_INFINITY, 0.0, "finite"),
    ] {
        let refused = map(None).at(&[3.0]).unwrap().within(block, low, high);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    }
}

/// A recipe matrix is private: rows have a margin and may be exceeded, and that has a cost of its own.
#[test]
fn margins_of_rows_with_private_numbers_are_paid_for_by_themselves() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let content = m.parameter_within("content", 1.0, 3.0);
    m.nominal(content, 2.0);
    m.minimize(4.0 * x.at(0) + 3.0 * x.at(1));
    for j in 0..2 {
        m.quadratic(j, j, 1.0);
        m.between(&format!("range {j}"), 0.0, x.at(j), 10.0);
    }
    m.at_most("needs", 6.0, content * x.at(0) + x.at(1));
    let map = m.build_map().unwrap();
    let saddle = |width: Option<f64>| {
        Request::saddle(Terms {
            width,
            ..Terms::priced(40.0)
        })
    };
    let ask = |query: Query, sensitivity: Request| {
        Ask::new(query)
            .adjacency(Adjacency::one_entry(0.1))
            .privacy(Privacy::laplace(1.0))
            .strategy(Strategy::Output)
            .sensitivity(sensitivity)
    };
    let (value, objective) = costs(&map, ask(Query::Value, saddle(None)), &[2.0]);
    assert_eq!(value.curvature, Some(0.0));
    // The price is above what the row costs: it is not exceeded.
    assert!(value.corrections.unwrap().abs() < 1e-5, "{value:?}");
    assert!((value.without_noise.unwrap() - objective).abs() < 1e-6);
    let point = ask(Query::Variables(vec!["x".into()]), saddle(Some(0.01)));
    let plan = Plan::new(&map, point).unwrap();
    let curated = plan.curate(&[2.0]).unwrap();
    let costs = curated.report().costs.clone().unwrap();
    // A margin of νπ = 0.4 makes the decision dearer.
    assert!(costs.corrections.unwrap() > 0.1, "{costs:?}");
    let text = curated.report().to_string();
    assert!(text.contains("rows with private numbers"), "{text}");
}
