//! The saddle certificates (M15b, M15c): no pair of neighbours moves a released value or point by more than Δ, with private numbers in
//! P, q, A and b, over linear, second-order and semidefinite rows, both mechanisms, every adjacency, noise on the answer and in the
//! program. The false variants move more than would be claimed, and what lacks a public fact is refused with its name.

mod certifying;
mod common;

use certifying::holds;
use common::{Moving, between, keeps};
use conveil::ask::{Adjacency, Ask, Privacy, Query, Request, Strategy, Terms};
use conveil::chance::{Choice, Feasibility};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{Affine, AffineMap, Builder, ParameterHandle};
use conveil::risk::{Cvar, Risk};
use conveil::solve::{Settings, solve_checked};

fn priced(price: f64) -> Terms {
    Terms::priced(price)
}

fn smooth(price: f64, width: f64, curvature: Option<f64>) -> Terms {
    Terms {
        width: Some(width),
        curvature,
        ..priced(price)
    }
}

/// What a random program holds.
#[derive(Clone, Copy)]
struct Shape {
    equality: bool,
    private_costs: bool,
    private_square: bool,
    cones: bool,
    curved: bool,
}

/// Four variables between public limits of sizes far apart. Private numbers are coefficients, limits, costs, and the weight of a
/// square; one of them stands in several rows, one row holds several of them, and some limits meet (degenerate).
fn random_program(index: u64, shape: Shape) -> AffineMap {
    let mut sampler = Sampler::new(0x5ADD, index);
    let mut draw = |low: f64, high: f64| between(&mut sampler, low, high);
    let mut m = Builder::new();
    let n = 4;
    let x = m.variable("x", n);
    let costs: Vec<f64> = (0..n).map(|_| draw(-2.0, 2.0)).collect();
    m.minimize(x.dot(&costs));
    for j in 0..n {
        if shape.curved {
            m.quadratic(j, j, 10f64.powf(draw(-1.5, 1.5)));
        }
        let size = 10f64.powf(draw(-0.5, 1.0));
        m.between(&format!("range {j}"), -size, x.at(j), size);
    }
    let theta: Vec<ParameterHandle> = (0..6)
        .map(|i| m.parameter_within(&format!("datum {i}"), 0.2, 1.4))
        .collect();
    let mut row = || {
        let weights: Vec<f64> = (0..n).map(|_| draw(-1.0, 1.0)).collect();
        x.dot(&weights)
    };
    // A coefficient and a limit; the same coefficient twice; a number that is both.
    m.at_most("yield", row() + theta[0] * x.at(0), theta[1]);
    m.at_most(
        "recipe",
        row() + theta[0] * x.at(1) - theta[2] * x.at(2),
        0.4,
    );
    m.at_most("both", row() + theta[3] * x.at(3), 2.0 * theta[3] + 0.1);
    // The same row again: its multiplier is not unique.
    m.at_most("again", theta[2] * x.at(2) + x.at(0), theta[1]);
    if shape.equality {
        m.equal(
            "balance",
            row() + 0.3 * (theta[4] * x.at(1)),
            0.2 * theta[1],
        );
    }
    if shape.cones {
        let (a, b) = (row(), row());
        m.norm_at_most(
            "ball",
            vec![a + theta[4] * x.at(0), b, x.at(1)],
            Affine::from(theta[5]),
        );
        m.semidefinite(
            "matrix",
            2,
            vec![
                Affine::from(theta[5]) + x.at(2),
                0.5 * (theta[4] * x.at(3)),
                Affine::from(theta[1]) - x.at(2),
            ],
        );
    }
    if shape.private_costs {
        m.minimize(theta[5] * x.at(1) - 0.5 * (theta[2] * x.at(3)));
    }
    if shape.private_square {
        for (i, vi) in [(0, 1.0), (2, -0.5)] {
            for (j, vj) in [(0, 1.0), (2, -0.5)] {
                if i <= j {
                    m.private_quadratic(theta[3], i, j, vi * vj);
                }
            }
        }
        m.private_quadratic(theta[4], 1, 1, 0.7);
    }
    // A number that would enter nowhere.
    m.at_most("rest", x.at(0), theta[4] + theta[5] + 1.0);
    m.build_map().unwrap()
}

fn adjacency(index: u64) -> Adjacency {
    match index % 5 {
        0 => Adjacency::one_entry(0.2),
        1 => Adjacency::L1 { alpha: 0.2 },
        2 => Adjacency::L2 { alpha: 0.2 },
        3 => Adjacency::OneRecord { len: 3 },
        _ => Adjacency::one_entry(1.0),
    }
}

fn privacy(index: u64) -> Privacy {
    match index % 2 {
        0 => Privacy::laplace(1.0),
        _ => Privacy::gaussian(1.0, 0.01),
    }
}

#[test]
fn saddle_values_never_move_more_than_the_bound() {
    let mut tightest = 0.0f64;
    for index in 0..30 {
        let shape = Shape {
            equality: index % 3 == 0,
            private_costs: index % 2 == 0,
            private_square: index % 4 == 1,
            cones: index % 3 != 1,
            curved: index % 4 < 2,
        };
        let map = random_program(index, shape);
        let ask = Ask::new(Query::Value)
            .privacy(privacy(index))
            .adjacency(adjacency(index))
            .strategy(Strategy::Output)
            .sensitivity(Request::saddle(priced(
                [0.3, 3.0, 40.0][index as usize % 3],
            )));
        let plan = Plan::new(&map, ask).unwrap();
        tightest = tightest.max(holds(&format!("value {index}"), &plan, &map, 6, index));
    }
    println!("tightest over all: {tightest:.3}");
    assert!(tightest > 0.3);
}

/// min x₀ with a·x₀ ≥ 1.5 at the limit x₀ ≤ 1: the row is exceeded, and pays π for each unit of a·X.
#[test]
fn the_bound_on_a_value_is_attained() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let a = m.parameter_within("a", 0.1, 1.0);
    m.minimize(-0.01 * x.at(0));
    m.between("range", -1.0, x.at(0), 1.0);
    m.at_most("need", 1.5, a * x.at(0));
    let map = m.build_map().unwrap();
    let ask = Ask::new(Query::Value)
        .privacy(Privacy::laplace(1.0))
        .adjacency(Adjacency::one_entry(0.1))
        .strategy(Strategy::Output)
        .sensitivity(Request::saddle(priced(7.0)));
    let plan = Plan::new(&map, ask).unwrap();
    let tight = holds("exceeded", &plan, &map, 8, 1);
    assert!(tight > 0.99, "{tight}");
}

/// Noise in the program: a public linear cost, private coefficients and limits, one box on all rows.
#[test]
fn saddle_values_with_noise_in_the_program_never_move_more() {
    let (mut planned, mut tightest) = (0, 0.0f64);
    for index in 0..24 {
        let shape = Shape {
            equality: false,
            private_costs: false,
            private_square: false,
            cones: index % 2 == 0,
            curved: false,
        };
        let map = random_program(index, shape);
        let ask = Ask::new(Query::Cost)
            .privacy(Privacy::laplace(60.0))
            .adjacency(adjacency(index))
            .sensitivity(Request::saddle(priced([2.0, 20.0][index as usize % 2])))
            .feasibility(Feasibility::eta(0.2).method(Choice::MASS_BOX));
        let Ok(plan) = Plan::new(&map, ask) else {
            continue;
        };
        planned += 1;
        tightest = tightest.max(holds(&format!("program {index}"), &plan, &map, 4, index));
    }
    println!("{planned} of 24 planned, tightest {tightest:.3}");
    assert!(planned >= 12, "{planned}");
}

#[test]
fn saddle_points_never_move_more_than_the_bound() {
    let mut tightest = 0.0f64;
    for index in 0..30 {
        let shape = Shape {
            equality: false,
            private_costs: index % 2 == 0,
            private_square: index % 4 == 1,
            cones: index % 3 != 1,
            curved: true,
        };
        let map = random_program(index, shape);
        let query = match index % 3 {
            0 => Query::Variables(vec!["x".into()]),
            1 => Query::Sum(vec!["x[0]".into(), "x[3]".into()]),
            _ => Query::Variables(vec!["x[1]".into()]),
        };
        let terms = smooth(
            [0.3, 3.0][index as usize % 2],
            [0.01, 0.1, 1.0, 10.0][index as usize % 4],
            (index % 5 == 0).then_some(2.0),
        );
        let ask = Ask::new(query)
            .privacy(privacy(index))
            .adjacency(adjacency(index))
            .strategy(Strategy::Output)
            .sensitivity(Request::saddle(terms));
        let plan = Plan::new(&map, ask).unwrap();
        tightest = tightest.max(holds(&format!("point {index}"), &plan, &map, 6, index));
    }
    println!("tightest over all: {tightest:.3}");
    assert!(tightest > 0.1);
}

/// min ½μx² − cx with x ≤ θ: at μν = 1 the multiplier gives way as much as x.
#[test]
fn the_bound_on_a_point_is_attained() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let d = m.parameter_within("d", -5.0, 5.0);
    m.minimize(-60.0 * x.at(0));
    m.quadratic(0, 0, 4.0);
    m.between("range", -20.0, x.at(0), 20.0);
    m.at_most("limit", x.at(0), d);
    let map = m.build_map().unwrap();
    let ask = Ask::new(Query::Identity)
        .privacy(Privacy::laplace(1.0))
        .adjacency(Adjacency::one_entry(1.0))
        .strategy(Strategy::Output)
        .sensitivity(Request::saddle(smooth(100.0, 0.25, None)));
    let plan = Plan::new(&map, ask).unwrap();
    let tight = holds("x ≤ θ", &plan, &map, 8, 1);
    assert!(tight > 0.97, "{tight}");
}

/// Noise in the program around a point: private limits under any method; private coefficients where the noise of their rows is
/// fixed, under one box.
#[test]
fn saddle_points_with_noise_in_the_program_never_move_more() {
    let (mut planned, mut tightest) = (0, 0.0f64);
    for index in 0..16 {
        let mut sampler = Sampler::new(0x9017, index);
        let mut draw = |low: f64, high: f64| between(&mut sampler, low, high);
        let in_the_matrix = index % 2 == 0;
        let mut m = Builder::new();
        let x = m.variable("x", 3);
        m.minimize(x.dot(&[draw(-3.0, -1.0), draw(-3.0, -1.0), draw(-1.0, 1.0)]));
        for j in 0..3 {
            m.quadratic(j, j, draw(0.3, 3.0));
            m.between(&format!("range {j}"), -8.0, x.at(j), 8.0);
        }
        let theta: Vec<ParameterHandle> = (0..3)
            .map(|i| m.parameter_within(&format!("datum {i}"), 0.5, 1.5))
            .collect();
        if in_the_matrix {
            m.at_most("recipe", theta[0] * x.at(0) + x.at(1), 1.0);
            m.at_most("yield", x.at(0) - theta[1] * x.at(1), theta[2]);
        } else {
            m.at_most("limit", x.at(0) + x.at(1) + x.at(2), theta[0]);
            m.norm_at_most("ball", vec![x.at(0) + 0.0, x.at(2) + 0.0], theta[1]);
            m.at_most("other", x.at(1), theta[2]);
        }
        let map = m.build_map().unwrap();
        let query = match in_the_matrix {
            true => Query::Variables(vec!["x[0]".into(), "x[1]".into()]),
            false => Query::Sum(vec!["x[0]".into(), "x[1]".into()]),
        };
        let ask = Ask::new(query)
            .privacy(Privacy::laplace(60.0))
            .adjacency(Adjacency::one_entry(0.2))
            .sensitivity(Request::saddle(smooth(
                4.0,
                [0.05, 0.4][index as usize / 2 % 2],
                None,
            )))
            .feasibility(Feasibility::eta(0.2).method(Choice::MASS_BOX));
        let Ok(plan) = Plan::new(&map, ask) else {
            continue;
        };
        planned += 1;
        tightest = tightest.max(holds(
            &format!("point {index} with noise"),
            &plan,
            &map,
            4,
            index,
        ));
    }
    println!("{planned} of 16 planned, tightest {tightest:.3}");
    assert!(planned >= 12, "{planned}");
}

/// A dispatch with a private yield and a private need: 10⁵ draws of each decision, within η for the limits it was made for, and for
/// those of the data themselves where none was exceeded.
#[test]
fn decisions_keep_their_promise_where_no_row_is_exceeded() {
    let (draws, alarm, eta) = (100_000, 1e-6, 0.05);
    let mut m = Builder::new();
    let x = m.variable("x", 3);
    let y = m.parameter_within("yield", 0.6, 1.2);
    let need = m.parameter_within("need", 1.0, 9.0);
    m.minimize(x.dot(&[3.0, 5.0, 9.0]));
    for (j, most) in [8.0, 8.0, 20.0].into_iter().enumerate() {
        m.between(&format!("range {j}"), 0.0, x.at(j), most);
    }
    m.at_most("cover", need, y * x.at(0) + 0.9 * x.at(1) + x.at(2));
    let map = m.build_map().unwrap();
    let value = Ask::new(Query::Cost)
        .sensitivity(Request::saddle(priced(12.0)))
        .privacy(Privacy::laplace(20.0));
    let point = Ask::new(Query::Variables(vec!["x".into()]))
        .sensitivity(Request::saddle(smooth(12.0, 0.05, Some(1.0))))
        .privacy(Privacy::laplace(400.0));
    let (mut kept, mut decisions) = (0, 0);
    for ask in [value, point] {
        let ask = ask
            .adjacency(Adjacency::one_entry(0.1))
            .feasibility(Feasibility::eta(eta).method(Choice::MASS_BOX));
        let plan = Plan::new(&map, ask).unwrap();
        let mut sampler = Sampler::new(5, 0);
        for _ in 0..5 {
            let theta = [
                between(&mut sampler, 0.6, 1.2),
                between(&mut sampler, 1.0, 9.0),
            ];
            let decided = plan.released().at(&theta).unwrap();
            let bad = Moving::new(&decided).violations(plan.law(), draws, 77);
            assert!(keeps(bad, draws, eta, alarm), "{bad} of {draws}");
            let carried = plan.released().query().apply(&decided.mean);
            assert!((carried[0] - decided.answer[0]).abs() < 1e-6 * (1.0 + carried[0].abs()));
            decisions += 1;
            if decided.correction.as_ref().unwrap().at_the_data {
                kept += 1;
                let users = plan.released().in_users_variables(decided, &theta).unwrap();
                let bad = Moving::new(&users).violations(plan.law(), draws, 78);
                assert!(keeps(bad, draws, eta, alarm), "at the data: {bad}");
            }
        }
    }
    println!("{kept} of {decisions} decisions exceed no row of the data");
    assert!(kept > 0);
}

/// The report says what is exceeded, and what the answer holds of it.
#[test]
fn a_row_that_is_exceeded_is_reported_with_its_price() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let need = m.parameter_within("need", 0.0, 9.0);
    m.minimize(10.0 * x.at(0));
    m.between("range", 0.0, x.at(0), 4.0);
    m.at_most("cover", need, x.at(0));
    let map = m.build_map().unwrap();
    let ask = Ask::new(Query::Cost)
        .sensitivity(Request::saddle(priced(25.0)))
        .privacy(Privacy::laplace(1.0))
        .adjacency(Adjacency::one_entry(0.1))
        .strategy(Strategy::Output);
    let plan = Plan::new(&map, ask).unwrap();
    let curated = plan.curate(&[6.0]).unwrap();
    let correction = curated.report().correction.clone().unwrap();
    assert!(correction.relaxes && !correction.at_the_data);
    assert!((correction.distance - 2.0).abs() < 1e-5, "{correction:?}");
    assert!((correction.paid - 50.0).abs() < 1e-3, "{correction:?}");
    assert_eq!(correction.moved[0].0, "cover");
    let text = curated.report().to_string();
    assert!(
        text.contains("rows with private data exceeded by 2.0000"),
        "{text}"
    );
    assert!((curated.decided().answer[0] - 90.0).abs() < 1e-3);
    let kept = plan.curate(&[3.0]).unwrap();
    assert!(kept.report().correction.as_ref().unwrap().at_the_data);
}

fn optimum(m: Builder) -> Vec<f64> {
    solve_checked(&m.build().unwrap(), &Settings::default())
        .unwrap()
        .x
}

/// With one slack an equality can be missed on one side only: its multiplier has no bound on the other, and the value moves by what
/// meeting it costs.
#[test]
fn one_slack_for_an_equality_is_false() {
    let (price, alpha) = (2.0, 0.5);
    let value = |theta: f64| {
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        let s = m.variable("s", 1);
        m.minimize(30.0 * x.at(0) + price * s.at(0));
        m.between("range", 0.0, x.at(0), 9.0);
        m.at_most("sign", 0.0, s.at(0));
        // x = θ + s: the limit may rise alone.
        m.equal("balance", x.at(0) - s.at(0), theta);
        let x = optimum(m);
        30.0 * x[0] + price * x[1]
    };
    let moved = (value(3.0) - value(3.0 + alpha)).abs();
    println!("moved {moved} where {} would be claimed", price * alpha);
    assert!(moved > 10.0 * price * alpha);
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let d = m.parameter_within("d", 0.0, 8.0);
    m.minimize(30.0 * x.at(0));
    m.between("range", 0.0, x.at(0), 9.0);
    m.equal("balance", x.at(0), d);
    let map = m.build_map().unwrap();
    let ask = Ask::new(Query::Cost)
        .sensitivity(Request::saddle(priced(price)))
        .privacy(Privacy::laplace(1.0))
        .adjacency(Adjacency::one_entry(alpha))
        .strategy(Strategy::Output);
    holds("two slacks", &Plan::new(&map, ask).unwrap(), &map, 6, 1);
}

/// |x − θ| ≤ 0, tightened by 2νπ: a smooth slack along the axis alone leaves a kink at x = θ, and x follows θ.
#[test]
fn a_smooth_slack_along_the_axis_alone_is_false() {
    let (mu, nu, price, alpha) = (100.0f64, 1.0f64, 10.0f64, 0.05);
    let x_at = |theta: f64| {
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        let u = m.variable("u", 2);
        m.quadratic(0, 0, mu);
        m.quadratic(1, 1, 1.0 / nu);
        m.minimize(price * u.at(1));
        m.at_most("sign", 0.0, u.at(1));
        let head = u.at(0) + u.at(1) - 2.0 * nu * price;
        m.norm_at_most("ball", vec![x.at(0) - theta, Affine::constant(0.0)], head);
        optimum(m)[0]
    };
    let claimed = alpha / (2.0 * (mu * nu).sqrt());
    let moved = (x_at(0.05) - x_at(0.05 - alpha)).abs();
    println!("moved {moved} where {claimed} would be claimed");
    assert!(moved > 15.0 * claimed);
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let d = m.parameter_within("d", -0.1, 0.1);
    m.quadratic(0, 0, mu);
    m.between("range", -1.0, x.at(0), 1.0);
    m.norm_at_most(
        "ball",
        vec![x.at(0) - d, Affine::constant(0.0)],
        Affine::constant(0.0),
    );
    let map = m.build_map().unwrap();
    let ask = Ask::new(Query::Identity)
        .sensitivity(Request::saddle(smooth(price, nu, None)))
        .privacy(Privacy::laplace(1.0))
        .adjacency(Adjacency::one_entry(alpha))
        .strategy(Strategy::Output);
    holds(
        "the whole vector",
        &Plan::new(&map, ask).unwrap(),
        &map,
        6,
        1,
    );
}

/// 25 copies of one row with a smooth slack each are 25 times as stiff: false by 5.
#[test]
fn a_smooth_slack_for_every_copy_is_false() {
    let (copies, nu) = (25, 1.0);
    let mu = f64::from(copies) / nu;
    let x_at = |theta: f64| {
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        let u = m.variable("u", copies as usize);
        m.quadratic(0, 0, mu);
        m.minimize(-1000.0 * x.at(0));
        for c in 0..copies as usize {
            m.quadratic(1 + c, 1 + c, 1.0 / nu);
            m.at_most(&format!("copy {c}"), x.at(0) - u.at(c), theta);
        }
        optimum(m)[0]
    };
    let claimed = 1.0 / (2.0 * (mu * nu).sqrt());
    let moved = (x_at(1.0) - x_at(0.0)).abs();
    println!("moved {moved} where {claimed} would be claimed");
    assert!(moved > 4.9 * claimed);
}

/// min x + πs with ax ≤ b + s for every noise of the box, |x̄| ≤ 1 at the mean alone: x(ζ) goes further, and so does a·x.
#[test]
fn bounds_with_less_room_than_the_row_are_false() {
    let (price, alpha) = (50.0, 0.1);
    let program = |with_noise: bool| {
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        let s = m.here_and_now("s", 1);
        let a = m.parameter_within("a", 0.5, 1.5);
        m.minimize(x.at(0) + price * s.at(0));
        m.between("range", -1.0, x.at(0), if with_noise { 20.0 } else { 1.0 });
        if !with_noise {
            m.at_the_mean();
        }
        m.at_most("sign", 0.0, s.at(0));
        m.at_most("row", a * x.at(0), s.at(0) - 3.0);
        m.build_map().unwrap()
    };
    // What the bounds at the mean would claim.
    let claimed = price * alpha;
    let ask = |map: &AffineMap| {
        let ask = Ask::new(Query::Cost)
            .declared(claimed, "bounds at the mean")
            .privacy(Privacy::laplace(3.0))
            .adjacency(Adjacency::one_entry(alpha))
            .feasibility(Feasibility::eta(0.05).method(Choice::MASS_BOX));
        let plan = Plan::new(map, ask).unwrap();
        let at = |a: f64| plan.released().at(&[a]).unwrap().answer[0];
        (at(1.0) - at(1.0 + alpha)).abs()
    };
    let moved = ask(&program(false));
    println!("moved {moved} where {claimed} would be claimed");
    assert!(moved > 2.0 * claimed);
    // The certificate counts bounds that hold with noise alone.
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let a = m.parameter_within("a", 0.5, 1.5);
    m.minimize(x.at(0));
    m.between("range", -1.0, x.at(0), 1.0);
    m.at_the_mean();
    m.at_most("row", a * x.at(0), 3.0);
    let map = m.build_map().unwrap();
    let ask = Ask::new(Query::Cost)
        .sensitivity(Request::saddle(priced(price)))
        .privacy(Privacy::laplace(5.0))
        .adjacency(Adjacency::one_entry(alpha))
        .feasibility(Feasibility::eta(0.05).method(Choice::MASS_BOX));
    let refused = Plan::new(&map, ask).map(|_| ()).unwrap_err().to_string();
    assert!(
        refused.contains("no public row bounds `x` on both sides"),
        "{refused}"
    );
}

/// A program that just meets every assumption, and for each assumption one that just misses it.
#[test]
fn what_lacks_a_public_fact_is_refused_with_its_name() {
    type Change = fn(&mut Builder, &[ParameterHandle]);
    fn plan(change: Change, terms: Terms, query: Query, strategy: Strategy) -> Result<(), String> {
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        let theta: Vec<ParameterHandle> = (0..2)
            .map(|i| m.parameter_within(&format!("datum {i}"), 0.5, 1.5))
            .collect();
        m.minimize(x.dot(&[-1.0, -2.0]));
        m.between("range 0", -5.0, x.at(0), 5.0);
        m.between("range 1", -5.0, x.at(1), 5.0);
        m.at_most("recipe", theta[0] * x.at(0) + x.at(1), 1.0);
        m.at_most("limit", x.at(0), theta[1]);
        change(&mut m, &theta);
        let map = m.build_map().unwrap();
        let ask = Ask::new(query)
            .sensitivity(Request::saddle(terms))
            .privacy(Privacy::laplace(40.0))
            .adjacency(Adjacency::one_entry(0.1))
            .strategy(strategy)
            .feasibility(Feasibility::eta(0.2).method(Choice::MASS_BOX));
        Plan::new(&map, ask).map(|_| ()).map_err(|e| e.to_string())
    }
    let keep: Change = |_, _| {};
    let point = || Query::Variables(vec!["x".into()]);
    let terms = || smooth(5.0, 0.1, Some(1.0));
    for strategy in [Strategy::Output, Strategy::Program] {
        plan(keep, priced(5.0), Query::Cost, strategy).unwrap();
        plan(keep, terms(), point(), strategy).unwrap();
    }
    plan(keep, priced(5.0), Query::Value, Strategy::Output).unwrap();
    let refused = |change: Change, terms: Terms, query: Query, strategy: Strategy| {
        plan(change, terms, query, strategy).unwrap_err()
    };
    let named = |name: &str| Terms {
        prices: vec![(name.into(), 5.0)],
        ..Terms::default()
    };
    for (found, expected) in [
        (
            refused(keep, named("recipe"), Query::Cost, Strategy::Output),
            "`limit` holds private numbers and has no price",
        ),
        (
            refused(keep, named("recipes"), Query::Cost, Strategy::Output),
            "did you mean `recipe`?",
        ),
        (
            refused(keep, priced(-1.0), Query::Cost, Strategy::Output),
            "price must be positive",
        ),
        (
            refused(keep, priced(5.0), point(), Strategy::Output),
            "what is released is not the optimal value",
        ),
        (
            refused(keep, smooth(5.0, 0.1, None), point(), Strategy::Output),
            "`x[0]` is released, and the cost has no curvature on it",
        ),
        (
            refused(keep, smooth(5.0, 0.0, Some(1.0)), point(), Strategy::Output),
            "width must be positive",
        ),
        (
            refused(
                |m, theta| {
                    let z = m.variable("z", 1);
                    m.minimize(z.at(0));
                    m.at_most("above", 0.0, z.at(0));
                    m.at_most("open", theta[0] * z.at(0), 2.0);
                },
                priced(5.0),
                Query::Cost,
                Strategy::Output,
            ),
            "no public row bounds `z` on both sides",
        ),
        (
            refused(
                |m, theta| {
                    let e = m.variable("e", 1);
                    m.between("range of e", -1.0, e.at(0), 1.0);
                    m.cone(
                        "exponential",
                        conveil::program::Cone::Exponential,
                        vec![e.at(0), Affine::constant(1.0), theta[1] + 3.0],
                    );
                },
                priced(5.0),
                Query::Cost,
                Strategy::Output,
            ),
            "no slack bounds all of its multipliers",
        ),
        (
            refused(
                |m, theta| {
                    let z = m.variable("z", 1);
                    m.between("range of z", -5.0, z.at(0), 5.0);
                    m.equal("private", z.at(0), theta[1]);
                },
                terms(),
                point(),
                Strategy::Output,
            ),
            "`private` is an equality with private numbers",
        ),
        (
            refused(
                |m, theta| {
                    let z = m.variable("z", 2);
                    m.between("range of z", -5.0, z.at(0), 5.0);
                    m.between("range of the other", -5.0, z.at(1), 5.0);
                    m.equal("private", theta[0] * z.at(0), z.at(1));
                },
                priced(5.0),
                Query::Cost,
                Strategy::Program,
            ),
            "holds for every noise: whether any rule does would depend on the data",
        ),
        (
            refused(
                |m, theta| m.minimize(theta[0] * Affine::default()),
                Terms {
                    curvature: Some(1.0),
                    ..priced(5.0)
                },
                Query::Value,
                Strategy::Output,
            ),
            "curvature changes the value",
        ),
        (
            refused(
                |m, theta| {
                    m.private_quadratic(theta[0], 0, 1, 1.0);
                },
                priced(5.0),
                Query::Value,
                Strategy::Output,
            ),
            "allow a cost that is not convex",
        ),
        (
            refused(
                |m, theta| {
                    m.quadratic(0, 0, 1.0);
                    m.quadratic(1, 1, 1.0);
                    m.private_quadratic(theta[0], 0, 0, 1.0);
                },
                terms(),
                point(),
                Strategy::Program,
            ),
            "the quadratic cost is private",
        ),
        (
            refused(
                keep,
                terms(),
                Query::Sum(vec!["x[0]".into()]),
                Strategy::Program,
            ),
            "how `x[1]` follows the noise there is still to be decided",
        ),
    ] {
        assert!(found.contains(expected), "{found}");
    }
}

/// A factor that depends on which coefficients are zero would jump: with a private matrix rows are not met one by one.
#[test]
fn a_private_matrix_is_refused_where_its_rows_have_a_method_of_their_own() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let a = m.parameter_within("a", -0.5, 0.5);
    m.minimize(x.dot(&[-1.0, -2.0]));
    m.between("range 0", -5.0, x.at(0), 5.0);
    m.between("range 1", -5.0, x.at(1), 5.0);
    m.at_most("recipe", a * x.at(0) + x.at(1), 1.0);
    let map = m.build_map().unwrap();
    let ask = |choice: Choice| {
        let ask = Ask::new(Query::Cost)
            .sensitivity(Request::saddle(priced(5.0)))
            .privacy(Privacy::laplace(40.0))
            .adjacency(Adjacency::one_entry(0.1))
            .feasibility(Feasibility::eta(0.2).method(choice));
        Plan::new(&map, ask).map(|_| ()).map_err(|e| e.to_string())
    };
    ask(Choice::MASS_BOX).unwrap();
    let refused = ask(Choice::ROW_BY_ROW).unwrap_err();
    assert!(
        refused.contains("must hold for the same noise"),
        "{refused}"
    );
}

/// A limit on CVaR is a row over the costs that are solved with, prices among them: the multiplier of a row could then exceed its price, and
/// the point moved 9 times as far as claimed.
#[test]
fn a_limit_on_cvar_is_refused_with_a_width_and_without() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let a = m.parameter_within("a", 0.9, 1.1);
    m.minimize(x.dot(&[-1.0, -1.0]));
    m.between("range 0", 0.0, x.at(0), 10.0);
    m.between("range 1", 0.0, x.at(1), 10.0);
    m.at_most("row", a * x.at(0) + x.at(1), 1.0);
    let map = m.build_map().unwrap();
    let limit = || Risk::expectation().with_cvar_at_most(Cvar::exact(0.5), -16.0);
    for (query, terms) in [
        (
            Query::Variables(vec!["x".into()]),
            smooth(1.0, 1.0, Some(0.01)),
        ),
        (Query::Cost, priced(1.0)),
    ] {
        let ask = Ask::new(query)
            .sensitivity(Request::saddle(terms))
            .privacy(Privacy::gaussian(10.0, 0.01))
            .adjacency(Adjacency::one_entry(0.001))
            .risk(limit())
            .feasibility(Feasibility::eta(0.05).method(Choice::MASS_BOX));
        let refused = Plan::new(&map, ask).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains("limit on CVaR"), "{refused}");
    }
}

/// CVaR in the objective shifts a value by a constant, and prices stand on slacks that carry no noise. Private limits go with any method.
#[test]
fn values_under_cvar_and_limits_under_any_method_never_move_more() {
    let program = |in_the_matrix: bool| {
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        let a = m.parameter_within("a", 0.5, 1.5);
        m.minimize(x.dot(&[2.0, 3.0]));
        m.between("range 0", 0.0, x.at(0), 9.0);
        m.between("range 1", 0.0, x.at(1), 9.0);
        match in_the_matrix {
            true => m.at_most("need", 3.0, a * x.at(0) + x.at(1)),
            false => m.at_most("need", 2.0 * a, x.at(0) + x.at(1)),
        };
        m.build_map().unwrap()
    };
    let ask = |query: Query, terms: Terms, choice: Choice| {
        Ask::new(query)
            .sensitivity(Request::saddle(terms))
            .privacy(Privacy::gaussian(20.0, 0.01))
            .adjacency(Adjacency::one_entry(0.1))
            .feasibility(Feasibility::eta(0.1).method(choice))
    };
    let map = program(true);
    let risk = Risk::cvar(Cvar::exact(0.1));
    let value = ask(Query::Cost, priced(4.0), Choice::MASS_BOX).risk(risk);
    let tight = holds("CVaR", &Plan::new(&map, value).unwrap(), &map, 6, 3);
    assert!(tight > 0.01, "{tight}");
    let map = program(false);
    for choice in [
        Choice::MASS_BOX,
        Choice::ROW_BY_ROW,
        Choice::BALL,
        Choice::SCENARIO,
    ] {
        let value = ask(Query::Cost, priced(4.0), choice);
        holds(
            "limits, value",
            &Plan::new(&map, value).unwrap(),
            &map,
            6,
            3,
        );
        let point = ask(
            Query::Variables(vec!["x".into()]),
            smooth(4.0, 0.1, Some(1.0)),
            choice,
        );
        holds(
            "limits, point",
            &Plan::new(&map, point).unwrap(),
            &map,
            6,
            3,
        );
    }
}
