//! Ordinary programs with ordinary queries: none is refused, few are warned about.

mod structure_common;

use conveil::ask::{Adjacency, Query, Request, Strategy};
use conveil::noise::Sampler;
use conveil::program::{Affine, AffineMap, Builder};
use structure_common::{Fate, fate, laplace, uniform};

/// Nutrients by foods.
const DIET: [[f64; 3]; 2] = [[2.0, 1.0, 4.0], [3.0, 5.0, 1.0]];

/// min c'x, Ax ≥ d, 0 ≤ x (≤ u), with private needs d.
fn diet(limit: Option<f64>) -> Builder {
    let mut m = Builder::new();
    let x = m.variable("food", 3);
    m.minimize(x.dot(&[1.0, 2.0, 1.5]));
    for (i, row) in DIET.iter().enumerate() {
        let need = m.parameter(&format!("need {i}"));
        m.at_most(&format!("nutrient {i}"), need, x.dot(row));
    }
    for j in 0..3 {
        let name = format!("food {j}");
        match limit {
            Some(u) => m.between(&name, 0.0, x.at(j), u),
            None => m.at_most(&name, 0.0, x.at(j)),
        };
    }
    m
}

#[test]
fn covering_programs_pass_with_and_without_limits() {
    let ask = || laplace(Query::Cost, 1.0);
    let needs = [8.0, 10.0];
    let bounded = diet(Some(20.0)).build_map().unwrap();
    let Fate::Optimal(value, warnings) = fate(&bounded, ask(), &needs) else {
        panic!("bounded");
    };
    assert!(warnings.is_empty(), "{warnings:?}");
    let unbounded = diet(None).build_map().unwrap();
    let Fate::Optimal(same, warnings) = fate(&unbounded, ask(), &needs) else {
        panic!("unbounded");
    };
    // Unlimited above: the value is the optimum plus the box's lower half, as M5a says.
    assert!((value - same).abs() < 1e-5, "{value} {same}");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("can move without limit"));
}

#[test]
fn a_covering_program_with_private_prices_passes() {
    let mut m = Builder::new();
    let x = m.variable("food", 3);
    for (j, food) in x.entries().into_iter().enumerate() {
        let price = m.parameter_within(&format!("price {j}"), 1.0, 2.0);
        m.minimize(price * food.clone());
        m.between(&format!("food {j}"), 0.0, food, 20.0);
    }
    for (i, row) in DIET.iter().enumerate() {
        m.at_most(&format!("nutrient {i}"), 8.0, x.dot(row));
    }
    let map = m.build_map().unwrap();
    let ask = laplace(Query::Cost, 1.0)
        .adjacency(Adjacency::one_entry(0.01))
        .sensitivity(Request::radius());
    let found = fate(&map, ask, &[1.0, 2.0, 1.5]);
    assert!(
        matches!(&found, Fate::Optimal(_, warnings) if warnings.is_empty()),
        "{found:?}"
    );
}

#[test]
fn a_free_source_in_a_covering_row_changes_nothing() {
    let mut m = Builder::new();
    let x = m.variable("thermal", 2);
    let sun = m.variable("sun", 1);
    let demand = m.parameter("demand");
    m.minimize(x.dot(&[1.0, 2.0]));
    m.at_most("demand met", demand, x.sum() + sun.at(0));
    m.between("first", 0.0, x.at(0), 30.0);
    m.between("second", 0.0, x.at(1), 30.0);
    m.between("sun limits", 0.0, sun.at(0), 5.0);
    let map = m.build_map().unwrap();
    assert!(matches!(
        fate(&map, laplace(Query::Cost, 1.0), &[20.0]),
        Fate::Optimal(_, warnings) if warnings.is_empty()
    ));
}

/// Three buses, angles, line limits; thermal units and free wind at the same bus; balances are equalities.
fn grid(wind_limit: f64) -> Builder {
    let mut m = Builder::new();
    let g = m.variable("g", 2);
    let wind = m.variable("wind", 1);
    let angle = m.variable("angle", 3);
    m.minimize(g.dot(&[10.0, 25.0]));
    let loads: Vec<_> = (0..3).map(|i| m.parameter(&format!("load {i}"))).collect();
    let flow = |a: usize, b: usize| 10.0 * (angle.at(a) - angle.at(b));
    m.equal(
        "bus 0",
        g.at(0) + wind.at(0) - flow(0, 1) - flow(0, 2),
        loads[0],
    );
    m.equal("bus 1", g.at(1) + flow(0, 1) - flow(1, 2), loads[1]);
    m.equal("bus 2", flow(0, 2) + flow(1, 2), loads[2]);
    m.equal("reference", angle.at(0), 0.0);
    m.between("g0", 0.0, g.at(0), 60.0);
    m.between("g1", 0.0, g.at(1), 60.0);
    m.between("wind limits", 0.0, wind.at(0), wind_limit);
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        m.between(&format!("line {a}{b}"), -40.0, flow(a, b), 40.0);
    }
    m
}

#[test]
fn a_power_flow_with_free_wind_beside_a_thermal_unit_passes() {
    let map = grid(15.0).build_map().unwrap();
    let found = fate(&map, laplace(Query::Cost, 0.05), &[10.0, 30.0, 20.0]);
    let Fate::Optimal(value, warnings) = found else {
        panic!("{found:?}");
    };
    // 45 MW net of wind at 10, plus the box's lower half 20·ln 100.
    assert!(
        (value - (450.0 + 20.0 * 100f64.ln())).abs() < 1e-2,
        "{value}"
    );
    // Curtailing wind is free and limited: a decision like any other.
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn monotone_regression_and_least_absolute_deviations_pass() {
    let mut m = Builder::new();
    let w = m.variable("w", 3);
    for j in 0..3 {
        m.quadratic(j, j, 2.0);
        let y = m.parameter(&format!("y{j}"));
        m.minimize(-1.0 * (y * w.at(j)));
    }
    m.at_most("rise 0", w.at(0), w.at(1));
    m.at_most("rise 1", w.at(1), w.at(2));
    let map = m.build_map().unwrap();
    let theta = [0.0, 10.0, 20.0];
    for query in [Query::Identity, Query::Sum(vec!["w".into()])] {
        let found = fate(&map, laplace(query, 5.0), &theta);
        let Fate::Optimal(_, warnings) = found else {
            panic!("{found:?}");
        };
        assert!(
            !warnings.iter().any(|w| w.contains("look like")),
            "{warnings:?}"
        );
    }

    // min Σz, z ≥ |y − Φw|: the weights are decisions, the deviations are not.
    let mut m = Builder::new();
    let w = m.variable("w", 2);
    let z = m.auxiliary("z", 6);
    m.minimize(z.sum());
    let mut sampler = Sampler::new(5, 0);
    for i in 0..6 {
        let y = m.parameter(&format!("y{i}"));
        let fit = w.dot(&[1.0, uniform(&mut sampler, -1.0, 1.0)]);
        m.at_most(&format!("over {i}"), Affine::from(y) - fit.clone(), z.at(i));
        m.at_most(&format!("under {i}"), fit - y, z.at(i));
    }
    let map = m.build_map().unwrap();
    let theta = [1.0, 2.0, 0.5, 1.5, 1.0, 0.0];
    for query in [
        Query::Variables(vec!["w".into()]),
        Query::Sum(vec!["w".into()]),
    ] {
        let found = fate(&map, laplace(query, 1.0), &theta);
        assert!(matches!(found, Fate::Optimal(..)), "{found:?}");
    }
    // The deviations themselves may be released as a cost only through at-most.
    assert!(matches!(
        fate(&map, laplace(Query::Cost, 1.0), &theta),
        Fate::Refused(_)
    ));
}

#[test]
fn one_variable_without_an_upper_limit_is_its_own_decision() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let l = m.parameter("l");
    m.minimize(x.at(0));
    m.at_most("floor", l, x.at(0));
    let map = m.build_map().unwrap();
    let found = fate(&map, laplace(Query::Cost, 1.0), &[5.0]);
    assert!(
        matches!(&found, Fate::Optimal(v, _) if (v - 5.0 - 100f64.ln()).abs() < 1e-4),
        "{found:?}"
    );
}

/// A grid of side² buses: one unit and one angle each, balances as equalities, line limits.
fn lattice(side: usize) -> AffineMap {
    let mut m = Builder::new();
    let g = m.variable("g", side * side);
    let angle = m.variable("angle", side * side);
    let costs: Vec<f64> = (0..side * side).map(|i| 1.0 + (i % 7) as f64).collect();
    m.minimize(g.dot(&costs));
    let mut outflow: Vec<Affine> = g.entries();
    for r in 0..side {
        for c in 0..side {
            let here = r * side + c;
            for there in [
                (c + 1 < side).then_some(here + 1),
                (r + 1 < side).then_some(here + side),
            ] {
                let Some(there) = there else { continue };
                let flow = angle.at(here) - angle.at(there);
                outflow[here] += -1.0 * flow.clone();
                outflow[there] += flow.clone();
                m.between(&format!("line {here} {there}"), -3.0, flow, 3.0);
            }
        }
    }
    for (i, balance) in outflow.into_iter().enumerate() {
        let load = m.parameter(&format!("load {i}"));
        m.equal(&format!("bus {i}"), balance, load);
        m.between(&format!("unit {i}"), 0.0, g.at(i), 10.0);
    }
    m.equal("reference", angle.at(0), 0.0);
    m.build_map().unwrap()
}

/// n variables under `rows` covering rows that name all of them.
fn covering(n: usize, rows: usize) -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", n);
    let mut sampler = Sampler::new(11, 0);
    let mut draws = |low: f64, high: f64| -> Vec<f64> {
        (0..n).map(|_| uniform(&mut sampler, low, high)).collect()
    };
    m.minimize(x.dot(&draws(1.0, 2.0)));
    for i in 0..rows {
        let need = m.parameter(&format!("need {i}"));
        m.at_most(&format!("cover {i}"), need, x.dot(&draws(0.0, 1.0)));
    }
    for j in 0..n {
        m.between(&format!("x{j}"), 0.0, x.at(j), 1.0);
    }
    m.build_map().unwrap()
}

/// One variable that stands in every row, with one of `n` others in each.
fn hub(n: usize) -> AffineMap {
    let mut m = Builder::new();
    let centre = m.variable("centre", 1);
    let x = m.variable("x", n);
    m.minimize(centre.at(0) + x.sum());
    let need = m.parameter("need");
    m.at_most("need met", need, centre.at(0));
    for j in 0..n {
        m.at_most(&format!("row {j}"), 0.5, centre.at(0) + x.at(j));
        m.between(&format!("x{j}"), 0.0, x.at(j), 1.0);
    }
    m.build_map().unwrap()
}

#[test]
fn the_work_of_judging_a_query_grows_with_the_non_zeros() {
    // Ten times the non-zeros take ten times the time and some; a pair of rows with each other would take a hundred. The
    // small program runs ten times, so that both measurements take as long.
    let programs: [(&str, AffineMap, AffineMap); 3] = [
        ("grid", lattice(25), lattice(79)),
        ("covering", covering(1_000, 10), covering(10_000, 10)),
        ("hub", hub(5_000), hub(50_000)),
    ];
    for (name, small, large) in &programs {
        let time = |map: &AffineMap, times: usize| {
            let once = || {
                let start = std::time::Instant::now();
                for _ in 0..times {
                    let query = Query::Cost.resolve(map, Strategy::Program).unwrap();
                    assert!(query.slack_absorption(map).is_empty());
                }
                start.elapsed().as_secs_f64()
            };
            (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
        };
        let (ten, one) = (time(small, 10), time(large, 1));
        assert!(one < 5.0 * ten, "{name}: {one} s against {ten} s");
    }
}
