//! Noise on the answer, plain or projected, as strategies of a plan: the map without noise is what is released, the
//! certificates hold for it, the projection is the nearest feasible decision, and nothing is promised that is not kept.

mod common;

use common::between;
use conveil::ask::{Adjacency, Ask, MapKind, Privacy, Query, Request, SampleSize, Sampled};
use conveil::ask::{Strategy, Universe};
use conveil::audit::Audit;
use conveil::curator::{self, Axis};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder, DataMap};
use conveil::risk::{Cvar, CvarForm, Risk, VarianceLimit, VarianceTerm};
use conveil::solve::{Batch, solve_checked};

const P: [[f64; 3]; 3] = [[1.5, 0.0, 0.5], [0.0, 2.0, 0.0], [0.5, 0.0, 3.5]];

/// min ½x'Px − y'x over 0 ≤ x ≤ 3, Σx ≤ 2, with y private.
fn fit() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 3);
    for (i, row) in P.iter().enumerate() {
        let y = m.parameter_within(&format!("y{i}"), -4.0, 4.0);
        m.minimize(-(y * x.at(i)));
        for (j, value) in row.iter().enumerate().skip(i) {
            m.quadratic(i, j, *value);
        }
        m.between(&format!("range {i}"), 0.0, x.at(i), 3.0);
    }
    m.at_most("sum", x.sum(), 2.0);
    m.build_map().unwrap()
}

fn whole(strategy: Strategy) -> Ask {
    Ask::new(Query::Variables(vec!["x".into()]))
        .shaped_by_curvature()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::gaussian(1.0, 1e-5))
        .sensitivity(Request::strong_convexity())
        .strategy(strategy)
}

/// Datasets whose optimum lies inside, on one limit and on several.
fn datasets(count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut sampler = Sampler::new(seed, 0);
    let mut draw = || (0..3).map(|_| between(&mut sampler, -4.0, 4.0)).collect();
    (0..count).map(|_| draw()).collect()
}

#[test]
fn noise_on_the_answer_is_on_that_of_the_map_without_noise() {
    let map = fit();
    for strategy in [Strategy::Output, Strategy::Projected] {
        let plan = Plan::new(&map, whole(strategy)).unwrap();
        for theta in datasets(40, 1) {
            let decided = plan.released().at(&theta).unwrap();
            let program = map.at(&theta).unwrap();
            let alone = solve_checked(&program, plan.released().settings()).unwrap();
            for (a, b) in decided.answer.iter().zip(&alone.x) {
                assert!((a - b).abs() < 1e-6, "{theta:?}: {a} {b}");
            }
        }
    }
    // Program perturbation keeps away from the limits: another map.
    let program = Plan::new(&map, whole(Strategy::Program).feasible(0.6));
    assert!(matches!(program, Err(conveil::Error::NoiseDoesNotFit(_))));
}

#[test]
fn the_certificate_holds_for_it_and_the_audit_agrees() {
    let map = fit();
    let plan = Plan::new(&map, whole(Strategy::Output)).unwrap();
    assert_eq!(plan.guarantee().basis().name(), "certificate");
    let bound = plan.guarantee().sensitivity();
    let answer = |theta: &[f64]| {
        let decided = plan.released().at(theta).unwrap();
        plan.released().shape().unshape(&decided.answer)
    };
    let mut largest = 0.0f64;
    for theta in datasets(60, 2) {
        let here = answer(&theta);
        for i in 0..3 {
            for step in [1.0, -1.0] {
                let mut other = theta.clone();
                other[i] += step;
                let there = answer(&other);
                let moved = here.iter().zip(&there).map(|(a, b)| (a - b).powi(2));
                largest = largest.max(moved.sum::<f64>().sqrt());
            }
        }
    }
    println!(
        "output: moved {largest:.6}, Δ {bound:.6}, tightness {:.3}",
        largest / bound
    );
    assert!(largest <= bound, "{largest} {bound}");
    assert!(
        largest > 0.5 * bound,
        "the test has no teeth: {largest} {bound}"
    );
    let audit = Audit::new().pairs(20).climbs(2).solves(200).seed(2);
    let report = audit.run(&plan, &Batch::new()).unwrap();
    assert!(!report.is_flagged(), "{report}");
}

#[test]
fn the_cost_under_an_envelope_is_released_without_the_shift_for_noise() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let need = m.parameter_within("need", 0.0, 60.0);
    m.minimize(x.dot(&[1.0, 3.0]));
    m.equal("balance", x.sum(), need);
    for j in 0..2 {
        m.between(&format!("source {j}"), 0.0, x.at(j), 400.0);
    }
    let map = m.build_map().unwrap();
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::envelope(10.0));
    let noisy = Plan::new(&map, ask.clone().strategy(Strategy::Output)).unwrap();
    let program = Plan::new(&map, ask).unwrap();
    // 30 units of the cheap source; with program perturbation as much again as the noise needs.
    let cost = |plan: &Plan<'_>| plan.released().at(&[30.0]).unwrap().answer[0];
    assert!((cost(&noisy) - 30.0).abs() < 1e-4, "{}", cost(&noisy));
    assert!(cost(&program) > 60.0, "{}", cost(&program));
    let scales = [&noisy, &program].map(|plan| plan.guarantee().scale());
    assert!((scales[0] / scales[1] - 1.0).abs() < 2e-3, "{scales:?}");
}

/// x is the nearest point of a convex set to y in P exactly if (y − x)'P(z − x) ≤ 0 for all z of the set.
#[test]
fn a_projection_is_the_nearest_feasible_answer() {
    let map = fit();
    let plan = Plan::new(&map, whole(Strategy::Projected)).unwrap();
    let mut sampler = Sampler::new(3, 0);
    let mut moved = 0;
    for _ in 0..200 {
        let noisy: Vec<f64> = (0..3).map(|_| between(&mut sampler, -2.0, 4.0)).collect();
        let x = plan.published(&noisy).unwrap();
        assert!(x.iter().all(|v| *v > -1e-7 && *v < 3.0 + 1e-7), "{x:?}");
        assert!(x.iter().sum::<f64>() < 2.0 + 1e-7, "{x:?}");
        let is_inside =
            noisy.iter().all(|v| *v >= 0.0 && *v <= 3.0) && noisy.iter().sum::<f64>() <= 2.0;
        assert_eq!(is_inside, x == noisy, "{noisy:?} {x:?}");
        moved += usize::from(!is_inside);
        // Corners are enough: the condition is linear in z.
        let corners = [[0.0; 3], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]];
        for z in corners {
            let mut product = 0.0;
            for i in 0..3 {
                for j in 0..3 {
                    product += (noisy[i] - x[i]) * P[i.min(j)][i.max(j)] * (z[j] - x[j]);
                }
            }
            assert!(product < 1e-6, "{noisy:?} {x:?} {z:?}: {product}");
        }
    }
    assert!(moved > 100, "{moved}");
    let output = Plan::new(&map, whole(Strategy::Output)).unwrap();
    assert_eq!(
        output.published(&[9.0, -9.0, 9.0]).unwrap(),
        [9.0, -9.0, 9.0]
    );
}

/// Noise a trillion times the limits: what is published meets them to their own size all the same.
#[test]
fn a_projection_from_far_away_meets_the_limits() {
    let map = fit();
    let plan = Plan::new(&map, whole(Strategy::Projected)).unwrap();
    let mut sampler = Sampler::new(4, 0);
    for size in [1e3, 1e6, 1e9, 1e12] {
        for _ in 0..20 {
            let noisy: Vec<f64> = (0..3)
                .map(|_| size * between(&mut sampler, -1.0, 1.0))
                .collect();
            let x = plan.published(&noisy).unwrap();
            let most = 1e-7 * 4.0;
            assert!(x.iter().all(|v| *v > -most && *v < 3.0 + most), "{x:?}");
            assert!(x.iter().sum::<f64>() < 2.0 + most, "{x:?}");
        }
    }
}

/// P = [[1, 1], [1, 1]] measures nothing along (1, −1): the nearest point is that of the plain distance.
#[test]
fn a_singular_cost_is_no_distance() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let y = m.parameter("y");
    m.minimize(y * x.at(0));
    for (i, j) in [(0, 0), (0, 1), (1, 1)] {
        m.quadratic(i, j, 1.0);
    }
    for i in 0..2 {
        m.between(&format!("range {i}"), 0.0, x.at(i), 1.0);
    }
    let map = m.build_map().unwrap();
    let ask = Ask::new(Query::Variables(vec!["x".into()]))
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(1.0, "for the test")
        .strategy(Strategy::Projected);
    let plan = Plan::new(&map, ask).unwrap();
    let x = plan.published(&[-1.5, 0.25]).unwrap();
    assert!(x[0].abs() < 1e-6 && (x[1] - 0.25).abs() < 1e-6, "{x:?}");
}

/// x₀ + x₁ = 1: noise on both leaves it for good, and noise on one of them makes no decision at all.
#[test]
fn an_equality_is_missed_and_said_to_be() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let y = m.parameter("y");
    m.minimize_half_square(1.0, &x.entries());
    m.minimize(y * x.at(0));
    m.equal("budget", x.sum(), 1.0);
    m.between("range", -50.0, x.at(0), 50.0);
    let map = m.build_map().unwrap();
    let report = |query: &str| {
        let ask = Ask::new(Query::Variables(vec![query.into()]))
            .adjacency(Adjacency::one_entry(1.0))
            .privacy(Privacy::laplace(1.0))
            .declared(1.0, "for the test")
            .strategy(Strategy::Output);
        let plan = Plan::new(&map, ask).unwrap();
        plan.curate(&[0.5]).unwrap().report().to_string()
    };
    let both = report("x");
    assert!(
        both.contains("the noisy answer as a decision: 100.0000% (exact)"),
        "{both}"
    );
    let one = report("x[0]");
    assert!(
        one.contains("cost of privacy        not measured: no decision carries the noise"),
        "{one}"
    );
    assert!(!one.contains("as a decision"), "{one}");
}

#[test]
fn what_is_promised_is_said() {
    let map = fit();
    let output = Plan::new(&map, whole(Strategy::Output)).unwrap();
    let budget = output.guarantee().budget();
    assert!(!budget.is_promised() && budget.certified() == 1.0);
    assert_eq!(
        output.guarantee().feasibility_text(),
        "none is promised: the noise is on the answer of the program, and there may be no decision that carries it out; data outside their public bounds count as clipped to them"
    );
    let report = output
        .curate(&[3.0, 3.0, 3.0])
        .unwrap()
        .report()
        .to_string();
    assert!(
        report.contains(
            "infeasible             nothing is promised; the noisy answer as a decision: "
        ),
        "{report}"
    );
    assert!(!report.contains("certified;"), "{report}");
    let projected = Plan::new(&map, whole(Strategy::Projected)).unwrap();
    let budget = projected.guarantee().budget();
    assert!(budget.is_promised() && budget.certified() == 0.0);
    assert_eq!(
        projected.guarantee().feasibility_text(),
        "the answer meets all constraints, always, to the tolerance of the solver: it is the noisy answer projected onto them, and they are public"
    );
    assert_eq!(
        curator::fit(&output).unwrap().to_string(),
        "not needed: no decision has to carry the noise"
    );
}

/// The sampled sensitivity of the map without noise is that of the released map here, and calibrates to it.
#[test]
fn sampling_either_map_is_sampling_the_same() {
    let map = fit();
    let plan = |on| {
        let sampled = Request::Sampled(Sampled {
            universe: Universe::around(vec![1.0; 3], vec![0.5; 3]).unwrap(),
            gamma: 0.1,
            beta: 0.1,
            seed: 1,
            size: SampleSize::Exact,
            on,
        });
        Plan::new(&map, whole(Strategy::Output).sensitivity(sampled)).unwrap()
    };
    let [released, alone] = [plan(MapKind::Released), plan(MapKind::Deterministic)];
    assert_eq!(
        released.guarantee().to_string(),
        alone.guarantee().to_string()
    );
    assert_eq!(alone.guarantee().basis().name(), "sampled");
}

fn refusal(result: conveil::Result<impl std::fmt::Debug>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn what_makes_no_sense_with_it_is_refused() {
    let map = fit();
    let theta = [1.0; 3];
    let cvar = Risk::cvar(Cvar {
        tail: 0.1,
        form: CvarForm::Exact,
    });
    assert_eq!(
        refusal(Plan::new(&map, whole(Strategy::Output).risk(cvar))),
        "refused: the CVaR in the objective with strategy = output\n  because the program knows nothing of the noise, so nothing but its own objective can be minimised\n  instead: leave out the CVaR in the objective; or strategy = program"
    );
    // What was asked is named.
    let tail = Cvar {
        tail: 0.1,
        form: CvarForm::Exact,
    };
    let variance = |limit| {
        Risk::expectation().with_variance(VarianceTerm {
            variables: vec!["x".into()],
            limit,
        })
    };
    for (risk, asked) in [
        (
            Risk::expectation().with_cvar_at_most(tail, 9.0),
            "the bound on CVaR",
        ),
        (
            variance(VarianceLimit::Weight(2.0)),
            "the variance in the objective",
        ),
        (
            variance(VarianceLimit::AtMost(2.0)),
            "the bound on a variance",
        ),
    ] {
        let said = refusal(Plan::new(&map, whole(Strategy::Projected).risk(risk)));
        let first = format!("refused: {asked} with strategy = projected\n");
        let last = format!("\n  instead: leave out {asked}; or strategy = program");
        assert!(said.starts_with(&first) && said.ends_with(&last), "{said}");
    }
    let declared = whole(Strategy::Projected).declared(1.0, "for the test");
    assert_eq!(
        refusal(Plan::paper_mode(&map, declared, &theta)),
        "refused: strategy = projected in paper mode\n  because paper mode is about program perturbation calibrated to another map\n  instead: a sensitivity on the released map, which is the map without noise here"
    );
    let one = Ask::new(Query::Variables(vec!["x[0]".into()]))
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(1.0, "for the test")
        .strategy(Strategy::Projected);
    assert_eq!(
        refusal(Plan::new(&map, one)),
        "refused: strategy = projected\n  because the query does not release the whole decision\n  instead: strategy = program; or strategy = output, which promises nothing of feasibility"
    );
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let limit = m.parameter("limit");
    m.minimize(x.at(0));
    m.between("limits", limit, x.at(0), 12.0);
    let private = m.build_map().unwrap();
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(1.0, "for the test")
        .strategy(Strategy::Projected);
    let text = refusal(Plan::new(&private, ask));
    assert!(
        text.contains("because the feasible set is itself private"),
        "{text}"
    );
    let output = Plan::new(&map, whole(Strategy::Output)).unwrap();
    let why = "because it is about the room that the program makes for the noise, and here the noise is on its answer";
    let text = refusal(curator::explain(&map, output.ask(), &theta));
    assert!(text.contains(why), "{text}");
}

#[test]
fn strategies_without_room_for_noise_are_compared_and_have_frontiers() {
    let map = fit();
    let theta = [3.0, -3.0, 2.0];
    let losses = |strategy| {
        let ask = whole(strategy);
        let values = [0.5, 2.0, 20.0];
        let found =
            curator::frontier(&map, &ask, &theta, Axis::Epsilon, &values, &Batch::new()).unwrap();
        let rows = found.rows.iter();
        rows.map(|row| row.loss.unwrap()).collect::<Vec<f64>>()
    };
    for strategy in [Strategy::Output, Strategy::Projected, Strategy::LinearTerm] {
        let losses = losses(strategy);
        assert!(losses[0] > losses[1] && losses[1] > losses[2], "{losses:?}");
        assert!(losses[2] < 0.1 * losses[0], "{losses:?}");
        let plan = Plan::new(&map, whole(strategy)).unwrap();
        let table = curator::compare(&plan, &theta, 200, 1, &Batch::new()).unwrap();
        let row = |name: &str| table.rows.iter().find(|r| r.strategy == name).unwrap();
        assert!(row("program").status.starts_with("does not apply: no η"));
        let loss = |name: &str| row(name).sampled_loss.unwrap();
        assert!(loss("linear term") <= loss("projected output"), "{table}");
        assert!(loss("projected output") <= loss("output"), "{table}");
        assert!(table.summary().contains("never infeasible"), "{table}");
    }
}
