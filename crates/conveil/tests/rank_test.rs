//! M2's rank test: QX = T and A_eq X = 0 must have a solution, and the refusal names the rows that fix the query.

mod structure_common;

use conveil::Error;
use conveil::ask::Query;
use conveil::plan::Plan;
use conveil::program::{
    Affine, Builder, Cone, Holds, NewConstraint, NewVariables, Program, Sparse, Stage,
};
use conveil::rule::{NoiseRow, Rule};
use proptest::prelude::*;
use structure_common::{laplace, message};

fn named(names: &[&str]) -> Query {
    Query::Variables(names.iter().map(|n| n.to_string()).collect())
}

/// Two zones joined by a flow, each balanced by an equality.
fn two_zones() -> Builder {
    let mut m = Builder::new();
    let g = m.variable("g", 3);
    let flow = m.variable("flow", 1);
    m.minimize(g.dot(&[1.0, 2.0, 3.0]));
    let north = m.parameter("north load");
    let south = m.parameter("south load");
    m.equal("north balance", g.at(0) + g.at(1) - flow.at(0), north);
    m.equal("south balance", g.at(2) + flow.at(0), south);
    m.between("flow limit", -5.0, flow.at(0), 5.0);
    for j in 0..3 {
        m.between(&format!("unit {j}"), 0.0, g.at(j), 20.0);
    }
    m
}

fn refusal(m: Builder, query: Query) -> String {
    let map = m.build_map().unwrap();
    let why = message(Plan::new(&map, laplace(query, 1.0)));
    assert!(why.starts_with("refused: noise on the query"), "{why}");
    why
}

#[test]
fn an_identity_query_against_an_equality_names_the_row() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let total = m.parameter("total");
    m.minimize(x.at(0));
    m.equal("budget", x.sum(), total);
    m.between("first", 0.0, x.at(0), 5.0);
    let why = refusal(m, Query::Identity);
    assert!(why.contains("noise on the query `x[1]`"), "{why}");
    assert!(
        why.contains("its value is fixed by `budget`: no decision can carry noise in it"),
        "{why}"
    );
}

#[test]
fn total_generation_is_refused_by_the_combination_of_balances() {
    let why = refusal(two_zones(), Query::Sum(vec!["g".into()]));
    assert!(
        why.contains("fixed by `north balance`, `south balance`:"),
        "{why}"
    );
    // One zone alone is free: the flow carries it.
    let map = two_zones().build_map().unwrap();
    Plan::new(&map, laplace(named(&["g[2]"]), 10.0)).unwrap();
}

#[test]
fn here_and_now_variables_do_not_free_a_balance() {
    // An envelope's corrected load stands in the balance, but is decided before the noise.
    let mut m = Builder::new();
    let g = m.variable("g", 2);
    let corrected = m.here_and_now("corrected", 1);
    let load = m.parameter("load");
    m.minimize(g.dot(&[1.0, 2.0]));
    m.equal("balance", g.sum(), corrected.at(0));
    m.between(
        "near",
        Affine::from(load) - 1.0,
        corrected.at(0),
        Affine::from(load) + 1.0,
    );
    m.between("unit 0", 0.0, g.at(0), 20.0);
    m.between("unit 1", 0.0, g.at(1), 20.0);
    let why = refusal(m, Query::Sum(vec!["g".into()]));
    assert!(why.contains("fixed by `balance`"), "{why}");
}

#[test]
fn a_witness_slack_does_not_free_a_balance_for_its_own_query() {
    let mut m = Builder::new();
    let g = m.variable("g", 2);
    let spill = m.auxiliary("spill", 1);
    let load = m.parameter("load");
    m.minimize(g.dot(&[1.0, 2.0]));
    m.equal("balance", g.sum() - spill.at(0), load);
    m.at_most("spill sign", 0.0, spill.at(0));
    let map = m.build_map().unwrap();
    for query in [
        named(&["spill"]),
        Query::Weighted(vec![("g".into(), 1.0), ("spill".into(), -1.0)]),
    ] {
        let why = message(Plan::new(&map, laplace(query, 1.0)));
        assert!(why.contains("it is declared a witness"), "{why}");
    }
}

#[test]
fn repeated_and_dependent_query_rows_are_refused() {
    let row = |terms: &[(&str, f64)]| {
        terms
            .iter()
            .map(|(n, w)| (n.to_string(), *w))
            .collect::<Vec<_>>()
    };
    for rows in [
        vec![row(&[("g[0]", 1.0)]), row(&[("g[0]", 2.0)])],
        vec![
            row(&[("g[0]", 1.0)]),
            row(&[("g[2]", 1.0)]),
            row(&[("g[0]", 1.0), ("g[2]", -3.0)]),
        ],
    ] {
        let why = refusal(two_zones(), Query::Rows(rows));
        assert!(
            why.contains("it repeats another row of the query, or is"),
            "{why}"
        );
    }
}

#[test]
fn private_equalities_are_tested_at_the_data_and_nowhere_else() {
    // x₀ + θx₁ = 10 and a query on x₀ + 2x₁: impossible at θ = 2 only.
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let theta = m.parameter("θ");
    m.minimize(x.sum());
    m.equal("mix", x.at(0) + theta * x.at(1), 10.0);
    m.between("x0", -100.0, x.at(0), 100.0);
    m.between("x1", -100.0, x.at(1), 100.0);
    let map = m.build_map().unwrap();
    let query = Query::Weighted(vec![("x[0]".into(), 1.0), ("x[1]".into(), 2.0)]);
    let plan = Plan::new(&map, laplace(query, 1.0)).unwrap();
    for theta in [1.0, 1.9, 3.0] {
        plan.released().at(&[theta]).unwrap();
    }
    let why = plan.released().at(&[2.0]).unwrap_err();
    assert!(matches!(why, Error::Refused { .. }));
    assert!(
        why.to_string().contains("its value is fixed by `mix`"),
        "{why}"
    );
}

#[test]
fn private_equalities_bind_the_recourse_at_their_own_coefficients() {
    // x₀ + (1 + θ)x₁ = 10 and a query on x₀: X₁ = −1/(1 + θ), not what the template would say.
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let theta = m.parameter("θ");
    m.minimize(x.sum());
    m.equal("mix", x.sum() + theta * x.at(1), 10.0);
    m.between("x0", -100.0, x.at(0), 100.0);
    m.between("x1", -100.0, x.at(1), 100.0);
    let map = m.build_map().unwrap();
    let plan = Plan::new(&map, laplace(named(&["x[0]"]), 1.0)).unwrap();
    for theta in [0.5, 1.0, 4.0] {
        let decided = plan.released().at(&[theta]).unwrap();
        let moved = decided.recourse.apply(&[1.0]);
        assert!((moved[0] - 1.0).abs() < 1e-9);
        assert!((moved[1] + 1.0 / (1.0 + theta)).abs() < 1e-9, "{moved:?}");
    }
}

#[test]
fn an_at_most_query_whose_two_rows_agree_is_consistent() {
    // t = c'x exactly: the slope row repeats the first, with the same noise, and that is no contradiction.
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let t = m.epigraph("t");
    let load = m.parameter("load");
    m.minimize(t.at(0));
    m.equal("balance", x.sum(), load);
    m.equal("cost is", t.at(0), x.dot(&[1.0, 3.0]));
    m.between("x0", 0.0, x.at(0), 10.0);
    m.between("x1", 0.0, x.at(1), 8.0);
    let map = m.build_map().unwrap();
    let query = |slope: f64| Query::AtMost {
        epigraph: "t".into(),
        slope: vec![("x[0]".into(), 1.0), ("x[1]".into(), slope)],
    };
    Plan::new(&map, laplace(query(3.0), 1.0)).unwrap();
    // Another slope asks the same decision for two different noises.
    let why = message(Plan::new(&map, laplace(query(2.0), 1.0)));
    assert!(why.contains("the slope of the at-most query"), "{why}");
}

/// A program with these equality rows and nothing else.
fn equalities(rows: &[Vec<i32>], columns: usize) -> Program {
    let mut triplets = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let entries = row.iter().enumerate().filter(|(_, v)| **v != 0);
        triplets.extend(entries.map(|(j, v)| (i, j, f64::from(*v))));
    }
    Program::new(
        Sparse::zeros(columns, columns),
        vec![0.0; columns],
        Sparse::from_triplets(rows.len(), columns, &triplets).unwrap(),
        vec![0.0; rows.len()],
        vec![NewVariables {
            name: "x".into(),
            len: columns,
            stage: Stage::Decision,
            entries: Vec::new(),
        }],
        vec![NewConstraint {
            name: "row".into(),
            cone: Cone::Zero(rows.len()),
            holds: Holds::WithNoise,
            rows: Vec::new(),
        }],
    )
    .unwrap()
}

/// Exact rank of small integers: Gauss modulo a prime larger than every minor.
fn exact_rank(rows: &[Vec<i32>]) -> usize {
    const P: i128 = (1 << 61) - 1;
    let power = |base: i128, mut e: i128| {
        let (mut b, mut r) = (base.rem_euclid(P), 1);
        while e > 0 {
            if e & 1 == 1 {
                r = r * b % P;
            }
            b = b * b % P;
            e >>= 1;
        }
        r
    };
    let mut m: Vec<Vec<i128>> = rows
        .iter()
        .map(|r| r.iter().map(|v| i128::from(*v).rem_euclid(P)).collect())
        .collect();
    let columns = m.first().map_or(0, Vec::len);
    let mut rank = 0;
    for j in 0..columns {
        let Some(pivot) = (rank..m.len()).find(|&i| m[i][j] != 0) else {
            continue;
        };
        m.swap(rank, pivot);
        let inverse = power(m[rank][j], P - 2);
        for i in rank + 1..m.len() {
            let factor = m[i][j] * inverse % P;
            for c in j..columns {
                m[i][c] = (m[i][c] - factor * m[rank][c]).rem_euclid(P);
            }
        }
        rank += 1;
    }
    rank
}

fn sparse_rows(
    count: std::ops::Range<usize>,
    columns: usize,
) -> impl Strategy<Value = Vec<Vec<i32>>> {
    let entry = prop_oneof![3 => Just(0), 2 => -3..=3i32];
    prop::collection::vec(prop::collection::vec(entry, columns), count)
}

/// Mostly zeros, with entries of very different sizes: rows that hold a column of their own, and cores of several rows.
fn thin_rows(
    count: std::ops::Range<usize>,
    columns: usize,
) -> impl Strategy<Value = Vec<Vec<i32>>> {
    let entry = prop_oneof![16 => Just(0), 2 => -3..=3i32, 1 => -60..=60i32];
    prop::collection::vec(prop::collection::vec(entry, columns), count)
}

/// A row as it is, or a combination of equations, perhaps with an entry more.
fn combined(equal: &[Vec<i32>], own: &[i32], weights: &[i32], place: Option<usize>) -> Vec<i32> {
    if weights.iter().all(|w| *w == 0) {
        return own.to_vec();
    }
    let mut sum = vec![0; own.len()];
    for (row, weight) in equal.iter().zip(weights) {
        sum.iter_mut().zip(row).for_each(|(s, v)| *s += weight * v);
    }
    if let Some(place) = place {
        sum[place] += 1;
    }
    sum
}

/// The rank test on these rows says what exact arithmetic does, and what a refusal names really fixes the query.
fn agrees_with_exact_arithmetic(
    equal: &[Vec<i32>],
    query: &[Vec<i32>],
) -> Result<(), TestCaseError> {
    let columns = query[0].len();
    let terms = |row: &[i32]| {
        let entries = row.iter().enumerate().filter(|(_, v)| **v != 0);
        entries.map(|(j, v)| (j, f64::from(*v))).collect()
    };
    let rows: Vec<NoiseRow> = query
        .iter()
        .enumerate()
        .map(|(i, row)| NoiseRow {
            label: format!("q{i}"),
            terms: terms(row),
            carries: (0..query.len())
                .map(|j| f64::from(u8::from(i == j)))
                .collect(),
        })
        .collect();
    let program = equalities(equal, columns);
    let rule = Rule::new(&program, &rows, rows.len(), &vec![false; equal.len()]);
    let mut all = equal.to_vec();
    all.extend(query.to_vec());
    let possible = exact_rank(&all) == exact_rank(equal) + query.len();
    prop_assert_eq!(rule.is_ok(), possible);
    let Err(e) = rule else { return Ok(()) };
    // What is named really fixes it: the named rows and the query up to this row are dependent without it.
    let text = e.to_string();
    let which: usize = text.split("query `q").nth(1).unwrap()[..1].parse().unwrap();
    if text.contains(" more: no decision") {
        // Too many are named to be listed.
        return Ok(());
    }
    let is_named = |i: usize| {
        text.contains(&format!("`row[{i}]`")) || (equal.len() == 1 && text.contains("`row`"))
    };
    let named: Vec<Vec<i32>> = (0..equal.len())
        .filter(|i| is_named(*i))
        .map(|i| equal[i].clone())
        .collect();
    let dependent = |rows: &[Vec<i32>]| {
        let mut with = rows.to_vec();
        with.extend(query[..=which].to_vec());
        exact_rank(&with) < exact_rank(rows) + which + 1
    };
    prop_assert!(dependent(&named), "{}", text);
    // Of independent equations each that is named is needed: there is one such combination.
    if exact_rank(equal) == equal.len() && which == 0 {
        for left_out in 0..named.len() {
            let mut fewer = named.clone();
            fewer.remove(left_out);
            prop_assert!(!dependent(&fewer), "{}", text);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, rng_seed: proptest::test_runner::RngSeed::Fixed(4), ..Default::default() })]

    #[test]
    fn the_rank_test_agrees_with_exact_arithmetic(
        equal in sparse_rows(1..6, 7),
        query in sparse_rows(1..4, 7),
    ) {
        agrees_with_exact_arithmetic(&equal, &query)?;
    }

    #[test]
    fn the_rank_test_of_thin_rows_agrees_with_exact_arithmetic(
        equal in thin_rows(1..20, 24),
        own in thin_rows(1..4, 24),
        weights in prop::collection::vec(prop::collection::vec(prop_oneof![2 => Just(0), 1 => -2..=2i32], 20), 4),
        places in prop::collection::vec(prop::option::weighted(0.3, 0..24usize), 4),
        are_combined in 0..3usize,
    ) {
        let each = own.iter().zip(&weights).zip(&places).enumerate();
        let query: Vec<Vec<i32>> = each
            .map(|(i, ((row, weights), place))| match i < are_combined {
                true => combined(&equal, row, weights, *place),
                false => row.clone(),
            })
            .collect();
        agrees_with_exact_arithmetic(&equal, &query)?;
    }
}

/// min 0 subject to rows, asked for noise on x₀: the refusal, if there is one.
fn noise_on_the_first(rows: &[Vec<(usize, f64)>], columns: usize) -> Option<String> {
    let each = rows.iter().enumerate();
    let triplets: Vec<(usize, usize, f64)> = each
        .flat_map(|(i, row)| row.iter().map(move |&(j, v)| (i, j, v)))
        .collect();
    let shape = equalities(&vec![vec![0; columns]; rows.len()], columns);
    let (variables, constraints) = shape.blocks();
    let program = Program::new(
        Sparse::zeros(columns, columns),
        vec![0.0; columns],
        Sparse::from_triplets(rows.len(), columns, &triplets).unwrap(),
        vec![0.0; rows.len()],
        variables,
        constraints,
    )
    .unwrap();
    let query = NoiseRow {
        label: "q".into(),
        terms: vec![(0, 1.0)],
        carries: vec![1.0],
    };
    let rule = Rule::new(&program, &[query], 1, &vec![false; rows.len()]);
    rule.err().map(|e| e.to_string())
}

#[test]
fn rows_that_differ_by_rounding_alone_fix_nothing_and_by_more_they_do() {
    // Two balances of a chain of flows that differ in x₀ alone: their difference fixes it.
    let chain = |share: f64| {
        let mut rows = vec![vec![(1, 1.0), (2, -3.0), (4, 1.0)]];
        rows.push(vec![(0, share), (1, 1.0), (2, -3.0), (4, 1.0)]);
        rows.push(vec![(2, 2.0), (3, 5.0), (4, -1.0)]);
        rows.push(vec![(1, 1.0), (3, -1.0), (4, 7.0)]);
        rows
    };
    for share in [1.0, 1e-3, 1e-7] {
        let why = noise_on_the_first(&chain(share), 5).unwrap();
        assert!(
            why.contains("fixed by `row[0]`, `row[1]`:"),
            "{share}: {why}"
        );
    }
    assert_eq!(noise_on_the_first(&chain(1e-13), 5), None);
}

#[test]
fn a_grid_of_thousands_of_buses_is_tested_in_reasonable_time() {
    let side = 50;
    let buses = side * side;
    let mut m = Builder::new();
    let g = m.variable("g", buses);
    let angle = m.variable("angle", buses);
    m.minimize(g.dot(&(0..buses).map(|i| 1.0 + (i % 5) as f64).collect::<Vec<_>>()));
    let mut balance: Vec<Affine> = g.entries();
    for here in 0..buses {
        let right = (here % side + 1 < side).then_some(here + 1);
        let down = (here + side < buses).then_some(here + side);
        for there in [right, down].into_iter().flatten() {
            let flow = (1.0 + (here % 3) as f64) * (angle.at(here) - angle.at(there));
            balance[here] += -1.0 * flow.clone();
            balance[there] += flow;
        }
    }
    let load = m.parameter("load");
    for (i, row) in balance.into_iter().enumerate() {
        m.equal(
            &format!("bus {i}"),
            row,
            if i == 0 {
                Affine::from(load)
            } else {
                1.0.into()
            },
        );
        m.between(&format!("unit {i}"), 0.0, g.at(i), 5.0);
    }
    m.equal("reference", angle.at(0), 0.0);
    let map = m.build_map().unwrap();
    let start = std::time::Instant::now();
    Plan::new(&map, laplace(Query::Cost, 1.0)).unwrap();
    let why = message(Plan::new(&map, laplace(Query::Sum(vec!["g".into()]), 1.0)));
    assert!(
        why.contains(&format!("and {} more: no decision", buses - 8)),
        "{why}"
    );
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

#[test]
fn a_variable_that_stands_at_the_mean_only_is_refused_with_that_reason() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let t = m.here_and_now("t", 1);
    let d = m.parameter("d");
    m.minimize(t.at(0));
    m.at_most("above", x.at(0) - 1.0 * d, t.at(0)).at_the_mean();
    m.at_most("below", 1.0 * d - x.at(0), t.at(0)).at_the_mean();
    let map = m.build_map().unwrap();
    let query = Query::Variables(vec!["x".into()]);
    let why = message(Plan::new(&map, laplace(query, 1.0)));
    assert!(
        why.contains("in no constraint that holds with noise"),
        "{why}"
    );
}
