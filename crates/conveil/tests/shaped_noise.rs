//! A shape T ≠ I (M2): the rule carries exactly T, the sensitivity is measured in T⁻¹, and the guarantee says so.

use conveil::ask::{
    Adjacency, Ask, MapKind, Privacy, Query, Request, SampleSize, Sampled, Universe,
};
use conveil::certify::Pairs;
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder, DataMap};
use conveil::{Error, solve};

/// min ½‖x‖² − a'x over wide limits, plus a free third variable tied to the first two; a is private.
fn model() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let y = m.variable("y", 1);
    let a = [m.parameter("a0"), m.parameter("a1")];
    m.minimize_half_square(1.0, &x.entries());
    m.minimize_half_square(1.0, &y.entries());
    for (i, parameter) in a.into_iter().enumerate() {
        m.minimize(-(parameter * x.at(i)));
        m.between(&format!("limit {i}"), -60.0, x.at(i), 60.0);
    }
    m.equal("tie", y.at(0), x.at(0) - x.at(1));
    m.build_map().unwrap()
}

const T: [[f64; 2]; 2] = [[2.0, 0.5], [-1.0, 0.25]];

fn ask() -> Ask {
    Ask::new(Query::Variables(vec!["x".into()]))
        .shape(T.iter().map(|row| row.to_vec()).collect())
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(1.0, "stated for T⁻¹ times the answer")
        .feasible(0.95)
}

#[test]
fn the_rule_carries_t_and_follows_the_ties() {
    let map = model();
    let plan = Plan::new(&map, ask()).unwrap();
    let decided = plan.released().at(&[1.0, 2.0]).unwrap();
    for (j, row) in T.iter().enumerate() {
        let found: Vec<f64> = decided.recourse.row(j).iter().map(|e| e.1).collect();
        assert_eq!(found, row.to_vec());
    }
    // y = x0 − x1 moves with row 0 minus row 1 of T.
    let tied: Vec<f64> = decided.recourse.row(2).iter().map(|e| e.1).collect();
    assert_eq!(tied, vec![T[0][0] - T[1][0], T[0][1] - T[1][1]]);
}

/// 2·10⁵ draws of Qx(ζ): the sample covariance is TT'·Var ζ within 6 standard errors (false alarm below 1e-8 each).
#[test]
fn the_answer_has_the_covariance_of_t() {
    let map = model();
    let plan = Plan::new(&map, ask()).unwrap();
    let decided = plan.released().at(&[1.0, 2.0]).unwrap();
    let mut sampler = Sampler::new(11, 0);
    let draws = 200_000;
    let mut sums = [[0.0; 2]; 2];
    for _ in 0..draws {
        let mut zeta = [0.0; 2];
        sampler.fill(plan.law(), &mut zeta);
        let moved = decided.recourse.apply(&zeta);
        let answer = plan.released().query().apply(&moved);
        for i in 0..2 {
            for j in 0..2 {
                sums[i][j] += answer[i] * answer[j] / f64::from(draws);
            }
        }
    }
    let variance = plan.law().variance();
    for i in 0..2 {
        for j in 0..2 {
            let right: f64 = variance * (0..2).map(|k| T[i][k] * T[j][k]).sum::<f64>();
            let spread = variance
                * ((0..2).map(|k| T[i][k].powi(2)).sum::<f64>()
                    * (0..2).map(|k| T[j][k].powi(2)).sum::<f64>())
                .sqrt();
            // Laplace: the fourth moment is 6 times the squared variance, so a product has at most √6 times the spread.
            let error = 6.0 * (6.0 / f64::from(draws)).sqrt() * spread;
            assert!(
                (sums[i][j] - right).abs() < error,
                "{i} {j}: {} {right}",
                sums[i][j]
            );
            // A swapped or transposed T would be noticed.
            let transposed: f64 = variance * (0..2).map(|k| T[k][i] * T[k][j]).sum::<f64>();
            assert!(i != j || (sums[i][j] - transposed).abs() > error);
        }
    }
}

#[test]
fn sampled_sensitivity_is_measured_in_the_inverse_shape() {
    let map = model();
    let universe = Universe::around(vec![0.0, 0.0], vec![1.0, 1.0]).unwrap();
    let sampled = Sampled {
        universe: universe.clone(),
        gamma: 0.1,
        beta: 0.1,
        seed: 5,
        size: SampleSize::Exact,
        on: MapKind::Deterministic,
    };
    let asked = ask().sensitivity(Request::Sampled(sampled));
    // Paper mode around the centre: the deterministic map on the very pairs of the universe.
    let plan = Plan::paper_mode(&map, asked, &[0.0, 0.0]).unwrap();
    let pairs = Pairs::new(universe, Adjacency::one_entry(1.0), 5);
    let determinant = T[0][0] * T[1][1] - T[0][1] * T[1][0];
    let answer = |theta: &[f64]| {
        let program = map.at(theta).unwrap();
        let x = solve::solve_checked(&program, &Default::default())
            .unwrap()
            .x;
        // T⁻¹ by the formula for two rows.
        [
            (T[1][1] * x[0] - T[0][1] * x[1]) / determinant,
            (-T[1][0] * x[0] + T[0][0] * x[1]) / determinant,
        ]
    };
    let largest = (0..22)
        .map(|i| {
            let (a, b) = pairs.pair(i);
            let (p, q) = (answer(&a), answer(&b));
            (p[0] - q[0]).abs() + (p[1] - q[1]).abs()
        })
        .fold(0.0, f64::max);
    let found = plan.guarantee().sensitivity();
    assert!((found - largest).abs() < 1e-6, "{found} {largest}");
}

#[test]
fn the_guarantee_speaks_of_the_inverse_shape() {
    let map = model();
    let plan = Plan::new(&map, ask()).unwrap();
    let text = plan.guarantee().to_string();
    assert!(text.contains("the noise is shaped by T; the user states that adjacent datasets move T⁻¹ times the answer by at most 1"));
    // √2·‖(2, 0.5)‖ and √2·‖(−1, 0.25)‖ at scale 1.
    assert!(
        text.contains("standard deviation on each number: 2.91548, 1.45774"),
        "{text}"
    );
}

#[test]
fn the_guarantee_names_what_holds_at_the_mean_only() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let l = m.parameter("l");
    m.minimize(x.at(0));
    m.at_most("lower", l, x.at(0)).at_the_mean();
    m.at_most("upper", x.at(0), 12.0);
    let map = m.build_map().unwrap();
    let asked = Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(1.0, "x follows l");
    let plan = Plan::new(&map, asked).unwrap();
    assert_eq!(
        plan.guarantee().feasibility_text(),
        "the decision meets all constraints but `lower` with probability at least 0.99; those hold for the mean decision only, and nothing is claimed about them under noise"
    );
}

#[test]
fn a_query_that_no_private_coefficient_can_free_is_refused_in_the_plan() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let a = m.parameter("a");
    m.minimize_half_square(1.0, &x.entries());
    m.equal("balance", a * x.at(0) + x.at(1), 10.0);
    let map = m.build_map().unwrap();
    let asked = Ask::new(Query::Identity)
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(1.0, "a test");
    let refused = Plan::new(&map, asked).unwrap_err();
    assert!(
        matches!(&refused, Error::Refused { why, .. } if why.contains("`balance`")),
        "{refused}"
    );
}
