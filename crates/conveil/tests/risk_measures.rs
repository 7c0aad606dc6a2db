//! What is minimised is what a simulation of the decision measures: expectation (M3), CVaR (M6), variance (M3).
//!
//! False alarm: sample means are compared at six standard errors, 2e-9 each by the central limit theorem at 10⁶ draws;
//! there are fewer than 100 comparisons.

mod common;

use common::{Noise, ask};
use conveil::ask::Query;
use conveil::chance::{Choice, Feasibility};
use conveil::noise::{Law, Sampler};
use conveil::plan::{Decided, Plan};
use conveil::program::{AffineMap, Builder, Cone, DataMap, Program};
use conveil::risk::{Cvar, Risk, VarianceLimit, VarianceTerm};

const DRAWS: usize = 1_000_000;

/// The mean of a function of ζ over fresh draws, and its standard error.
fn simulate(law: &Law, noises: usize, mut value: impl FnMut(&[f64]) -> f64) -> (f64, f64) {
    let mut sampler = Sampler::new(0x515, noises as u64);
    let mut zeta = vec![0.0; noises];
    let (mut sum, mut square) = (0.0, 0.0);
    for _ in 0..DRAWS {
        sampler.fill(law, &mut zeta);
        let v = value(&zeta);
        sum += v;
        square += v * v;
    }
    let n = DRAWS as f64;
    let mean = sum / n;
    (mean, ((square / n - mean * mean).max(0.0) / n).sqrt())
}

fn assert_near(found: f64, (mean, error): (f64, f64), label: &str) {
    assert!(
        (found - mean).abs() <= 6.0 * error + 1e-7,
        "{label}: claimed {found}, simulated {mean} ± {error}"
    );
}

/// q'x̄ + constant and v = X'q.
fn cost(decided: &Decided) -> (f64, Vec<f64>) {
    let program = &decided.program;
    let mut v = vec![0.0; decided.recourse.noises()];
    let mut mean = program.constant();
    for (j, q) in program.q().iter().enumerate() {
        mean += q * decided.mean[j];
        for &(noise, x) in decided.recourse.row(j).iter() {
            v[noise] += q * x;
        }
    }
    (mean, v)
}

/// CVaR by simulation: γ + E[(cost − γ)₊]/q at the exact quantile γ of one noise, or of a Gaussian sum, is unbiased.
fn simulated_cvar(decided: &Decided, law: &Law, tail: f64) -> (f64, f64) {
    let (mean, v) = cost(decided);
    let size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let gamma = mean + size * law.upper_quantile(tail).unwrap();
    let (excess, error) = simulate(law, v.len(), |zeta| {
        let noise: f64 = v.iter().zip(zeta).map(|(v, z)| v * z).sum();
        (mean + noise - gamma).max(0.0)
    });
    (gamma + excess / tail, error / tail)
}

/// Two units, cheap and dear, meet a private demand: letting the dear one lean against the cheap one lowers the risk
/// of the cost and raises its mean. With `k` = 3 each unit has three parts, all sums released.
fn units(k: usize) -> (AffineMap, Query) {
    let mut m = Builder::new();
    let cheap = m.variable("cheap", k);
    let dear = m.variable("dear", k);
    let demand = m.parameter("demand");
    m.minimize(cheap.sum() + 3.0 * dear.sum() + 7.0);
    let mut rows = Vec::new();
    for j in 0..k {
        let sum = cheap.at(j) + dear.at(j);
        m.at_most(&format!("demand {j}"), 1.0 * demand + 1.0, sum);
        m.between(&format!("cheap {j}"), 0.0, cheap.at(j), 4.0);
        m.between(&format!("dear {j}"), 0.0, dear.at(j), 4.0);
        rows.push(vec![
            (format!("cheap[{j}]"), 1.0),
            (format!("dear[{j}]"), 1.0),
        ]);
    }
    (m.build_map().unwrap(), Query::Rows(rows))
}

fn decide(k: usize, noise: Noise, risk: Risk) -> (Decided, Law) {
    let (map, query) = units(k);
    // The default for truncated noise, its whole support, would cost more than any risk it takes away.
    let method = if k == 1 {
        Choice::MASS_BOX
    } else {
        Choice::AUTO
    };
    let wish = Feasibility::eta(0.1).method(method);
    let plan = Plan::new(&map, ask(query, noise, wish).risk(risk)).unwrap();
    (plan.released().at(&[0.0]).unwrap(), *plan.law())
}

/// The closed form of M6 at a decided rule.
fn exact_cvar(decided: &Decided, law: &Law, tail: f64) -> f64 {
    let (mean, v) = cost(decided);
    let size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let s = law.scale();
    let kappa = match law {
        Law::Laplace(_) if tail <= 0.5 => s * (1.0 + (1.0 / (2.0 * tail)).ln()),
        Law::Laplace(_) => (1.0 - tail) / tail * s * (1.0 + (1.0 / (2.0 * (1.0 - tail))).ln()),
        _ => law.cvar_factor(tail).unwrap(),
    };
    mean + kappa * size
}

/// k = 1 under every law on both branches of the formula, and three Gaussian noises.
#[test]
fn exact_cvar_is_what_a_simulation_of_the_decision_measures() {
    let mut cases: Vec<(usize, Noise)> = Noise::ALL.map(|noise| (1, noise)).to_vec();
    cases.push((3, Noise::Gaussian));
    for (k, noise) in cases {
        for tail in [0.01, 0.1, 0.8] {
            let label = format!("{noise:?}, k = {k}, tail {tail}");
            let (decided, law) = decide(k, noise, Risk::cvar(Cvar::exact(tail)));
            let simulated = simulated_cvar(&decided, &law, tail);
            assert_near(decided.objective, simulated, &label);
            let closed = exact_cvar(&decided, &law, tail);
            assert!((decided.objective - closed).abs() < 1e-6, "{label}");
            // Minimising it pays: no more than the CVaR of the decision that minimises the mean.
            let (plain, _) = decide(k, noise, Risk::expectation());
            let (before, after) = (cost(&plain), cost(&decided));
            assert!(closed <= exact_cvar(&plain, &law, tail) + 1e-6, "{label}");
            assert!(after.0 >= before.0 - 1e-6, "{label}");
            if tail == 0.01 {
                assert!(closed < exact_cvar(&plain, &law, tail) - 1e-3, "{label}");
            }
        }
    }
}

#[test]
fn a_mix_is_the_weighted_sum_of_expectation_and_cvar() {
    for (k, noise) in [
        (1, Noise::Laplace),
        (1, Noise::Truncated),
        (3, Noise::Gaussian),
    ] {
        for weight in [0.25, 0.9] {
            let risk = Risk::mix(weight, Cvar::exact(0.05));
            let (decided, law) = decide(k, noise, risk);
            let (mean, _) = cost(&decided);
            let (cvar, error) = simulated_cvar(&decided, &law, 0.05);
            let mixed = ((1.0 - weight) * mean + weight * cvar, weight * error);
            assert_near(decided.objective, mixed, &format!("{noise:?}, {weight}"));
        }
    }
}

#[test]
fn a_bound_on_cvar_binds_and_holds() {
    for (k, noise) in [
        (1, Noise::Laplace),
        (1, Noise::Truncated),
        (3, Noise::Gaussian),
    ] {
        let tail = 0.002;
        let (plain, law) = decide(k, noise, Risk::expectation());
        let (careful, _) = decide(k, noise, Risk::cvar(Cvar::exact(tail)));
        let (high, low) = (exact_cvar(&plain, &law, tail), careful.objective);
        let bound = 0.5 * (high + low);
        let limited = Risk::expectation().with_cvar_at_most(Cvar::exact(tail), bound);
        let (decided, _) = decide(k, noise, limited);
        assert!(
            (exact_cvar(&decided, &law, tail) - bound).abs() < 1e-6,
            "{noise:?}"
        );
        assert_near(bound, simulated_cvar(&decided, &law, tail), "bound");
        assert!(cost(&plain).0 + 1e-5 < decided.objective);
        assert!(decided.objective + 1e-5 < cost(&careful).0);
        // A bound that is met anyway changes nothing.
        let idle = Risk::expectation().with_cvar_at_most(Cvar::exact(tail), high + 1.0);
        let (same, _) = decide(k, noise, idle);
        assert!((same.objective - plain.objective).abs() < 1e-6);
    }
}

#[test]
fn sampled_cvar_is_close_to_the_exact_one_and_has_the_rows_of_m6() {
    let (tail, samples, seed) = (0.1, 4000, 9);
    let (exact, law) = decide(1, Noise::Laplace, Risk::cvar(Cvar::exact(tail)));
    let (sampled, _) = decide(
        1,
        Noise::Laplace,
        Risk::cvar(Cvar::sampled(tail, samples, seed)),
    );
    let (_, error) = simulated_cvar(&exact, &law, tail);
    let error = error * (DRAWS as f64 / samples as f64).sqrt();
    let gap = sampled.objective - exact.objective;
    // The risk-averse rule leaves the cost without noise here: then only the verified gaps of the solves are left.
    let solver = exact.residuals.gap + sampled.residuals.gap;
    assert!(gap.abs() <= 6.0 * error + solver, "{gap} ± {error}");
    // Its decision is nearly as good as the exact one's.
    let truth = exact_cvar(&sampled, &law, tail);
    assert!(truth >= exact.objective - 1e-6 && truth <= exact.objective + 6.0 * error + solver);

    let (map, query) = units(1);
    let program = map.at(&[0.0]).unwrap();
    let build = |risk: Risk| -> Program {
        let wish = Feasibility::eta(0.1);
        let plan = Plan::new(&map, ask(query.clone(), Noise::Laplace, wish).risk(risk)).unwrap();
        plan.released()
            .lifted(&program, 0)
            .unwrap()
            .program()
            .clone()
    };
    let plain = build(Risk::expectation());
    let lifted = build(Risk::cvar(Cvar::sampled(tail, 50, seed)));
    let (n, m) = (plain.columns(), plain.rows());
    assert_eq!((lifted.columns(), lifted.rows()), (n + 53, m + 102));
    // Mean and slope of the cost, then γ + (1/(qS))Σ z_s, and nothing else.
    let (mean, slope, gamma) = (n, n + 1, n + 2);
    assert_eq!(lifted.q()[gamma], 1.0);
    assert!(
        lifted.q()[gamma + 1..]
            .iter()
            .all(|w| (w - 0.2).abs() < 1e-15)
    );
    assert!(lifted.q()[..gamma].iter().all(|w| *w == 0.0));
    // mean = cheap̄ + 3 dear̄ and slope = X₀ + 3X₁, as the last equalities.
    let equalities: usize = lifted
        .constraints()
        .iter()
        .filter(|block| matches!(block.cone(), Cone::Zero(_)))
        .map(|block| block.range().len())
        .sum();
    for (row, expected) in [
        (equalities - 2, [(0, 1.0), (1, 3.0), (mean, -1.0)]),
        (equalities - 1, [(2, 1.0), (3, 3.0), (slope, -1.0)]),
    ] {
        for (column, value) in expected {
            assert_eq!(lifted.a().get(row, column), value);
        }
        assert_eq!(lifted.b()[row], 0.0);
    }
    // mean + slope·ζ_s − γ − z_s ≤ 0 with the draws of the public seed, and z_s ≥ 0.
    let mut sampler = Sampler::new(seed, 0xCA);
    for s in 0..50 {
        let zeta = sampler.draw(&law);
        let row = m + 2 + 2 * s;
        let z = gamma + 1 + s;
        let expected = [(mean, 1.0), (slope, zeta), (gamma, -1.0), (z, -1.0)];
        for (column, value) in expected {
            assert!((lifted.a().get(row, column) - value).abs() < 1e-15);
        }
        assert_eq!(lifted.a().get(row + 1, z), -1.0);
        assert_eq!((lifted.b()[row], lifted.b()[row + 1]), (0.0, 0.0));
    }
}

/// x ∈ R⁴ with a full P, the first two queried, the others free: every pair of fixed and free rows of X meets in P.
fn quadratic() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 4);
    let theta = m.parameter("theta");
    let rows = [
        [2.0, -1.0, 0.5, 0.0],
        [0.0, 1.5, 1.0, -0.5],
        [0.3, 0.0, 1.2, 0.8],
        [0.1, 0.2, -0.4, 1.0],
    ];
    let squares: Vec<_> = rows.iter().map(|r| x.dot(r)).collect();
    m.minimize_half_square(1.0, &squares);
    m.minimize(x.dot(&[-1.0, 2.0, -3.0, 0.5]) + 4.0);
    m.at_most("row", x.sum(), 1.0 * theta + 0.2);
    m.between("range", -1.0, x.at(2) - x.at(3), 0.5);
    m.build_map().unwrap()
}

fn quadratic_decision(noise: Noise, risk: Risk) -> (Decided, Law) {
    let map = quadratic();
    let query = Query::Variables(vec!["x[0]".into(), "x[1]".into()]);
    let plan = Plan::new(&map, ask(query, noise, Feasibility::eta(0.1)).risk(risk)).unwrap();
    (plan.released().at(&[0.0]).unwrap(), *plan.law())
}

#[test]
fn the_expected_quadratic_objective_is_what_a_simulation_measures() {
    for noise in Noise::ALL {
        let (decided, law) = quadratic_decision(noise, Risk::expectation());
        let free: f64 = (2..4)
            .flat_map(|j| decided.recourse.row(j).into_owned())
            .map(|e| e.1.abs())
            .sum();
        assert!(free > 0.1, "the free rows of X move: {free}");
        let simulated = simulate(&law, 2, |zeta| {
            let moved = decided.recourse.apply(zeta);
            let x: Vec<f64> = decided.mean.iter().zip(moved).map(|(x, d)| x + d).collect();
            decided.program.objective(&x)
        });
        assert_near(decided.objective, simulated, &format!("{noise:?}"));
        // The second road: ½x̄'Px̄ + q'x̄ + ½σ²Σ X_j'PX_j; the last part is larger than the simulation's error.
        let column = |noise: usize| -> Vec<f64> {
            let entry = |j: usize| {
                decided
                    .recourse
                    .row(j)
                    .iter()
                    .find(|e| e.0 == noise)
                    .map_or(0.0, |e| e.1)
            };
            (0..4).map(entry).collect()
        };
        let curved: f64 = (0..2)
            .map(|noise| {
                let c = column(noise);
                let pc = decided.program.p().symmetric_times(&c);
                c.iter().zip(pc).map(|(a, b)| a * b).sum::<f64>()
            })
            .sum();
        let extra = 0.5 * law.variance() * curved;
        let direct = decided.program.objective(&decided.mean) + extra;
        assert!((decided.objective - direct).abs() < 1e-7);
        assert!(extra > 10.0 * simulated.1);
    }
}

fn variance_of(decided: &Decided, law: &Law, columns: &[usize]) -> f64 {
    let rows = columns
        .iter()
        .flat_map(|j| decided.recourse.row(*j).into_owned());
    law.variance() * rows.map(|e| e.1 * e.1).sum::<f64>()
}

fn variance(limit: VarianceLimit) -> Risk {
    Risk::expectation().with_variance(VarianceTerm {
        variables: vec!["x[2]".into(), "x[3]".into()],
        limit,
    })
}

#[test]
fn a_variance_weight_shrinks_the_variance_and_a_bound_holds_exactly() {
    for noise in Noise::ALL {
        let (plain, law) = quadratic_decision(noise, Risk::expectation());
        let free = variance_of(&plain, &law, &[2, 3]);
        let mut last = free;
        for weight in [0.1, 1.0, 10.0] {
            let (decided, _) = quadratic_decision(noise, variance(VarianceLimit::Weight(weight)));
            let now = variance_of(&decided, &law, &[2, 3]);
            assert!(
                now < 0.99 * last,
                "{noise:?}, weight {weight}: {now} after {last}"
            );
            // The objective holds the weighted variance, and pays for what it gains.
            let before = plain.objective + weight * free;
            assert!(decided.objective < before);
            last = now;
        }
        for share in [0.7, 0.2] {
            let bound = share * free;
            let (decided, _) = quadratic_decision(noise, variance(VarianceLimit::AtMost(bound)));
            let found = variance_of(&decided, &law, &[2, 3]);
            // It holds to the solve's public tolerance (the cone is in √variance), and it binds.
            let room = 1e-7 * decided.residuals.primal_scale;
            assert!(
                found.sqrt() <= bound.sqrt() + room,
                "{noise:?}: {found} of {bound}"
            );
            assert!(found >= 0.999 * bound, "{noise:?}: {found} of {bound}");
            assert!(decided.objective > plain.objective);
            let measured = simulate(&law, 2, |zeta| {
                let moved = decided.recourse.apply(zeta);
                moved[2] * moved[2] + moved[3] * moved[3]
            });
            assert_near(bound, measured, "variance");
        }
        let idle = quadratic_decision(noise, variance(VarianceLimit::AtMost(2.0 * free))).0;
        assert!((idle.objective - plain.objective).abs() < 1e-7);
    }
}

/// Rows of X that the query fixes enter the terms as constants: a bound below them does not fit, one above is idle.
#[test]
fn fixed_rows_count_in_a_variance_bound() {
    let bounded = |bound: f64| {
        let map = quadratic();
        let query = Query::Variables(vec!["x[0]".into(), "x[1]".into()]);
        let risk = Risk::expectation().with_variance(VarianceTerm {
            variables: vec!["x[0]".into(), "x[1]".into()],
            limit: VarianceLimit::AtMost(bound),
        });
        let plan = Plan::new(
            &map,
            ask(query, Noise::Laplace, Feasibility::eta(0.1)).risk(risk),
        );
        let plan = plan.unwrap();
        let found = plan.released().at(&[0.0]);
        (found.is_ok(), 2.0 * plan.law().variance())
    };
    let (_, needed) = bounded(1.0);
    assert!(bounded(1.001 * needed).0 && !bounded(0.999 * needed).0);
}
