//! M5a on random linear programs: with one box on all rows c'x̄ = c'x* − l exactly, feasible iff u − l ≤ R.

mod structure_common;

use conveil::ask::{Adjacency, Ask, Privacy};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder, DataMap, Program};
use conveil::solve::{Settings, solve_checked};
use conveil::{Error, Result};
use structure_common::uniform;

/// A random LP with 3 to 7 variables in a box, inequalities around a feasible point, and sometimes equalities.
fn random_lp(index: u64, cost_sign: f64) -> (AffineMap, Vec<f64>) {
    let mut s = Sampler::new(2024, index);
    let n = 3 + (s.uniform() * 5.0) as usize;
    let inequalities = 1 + (s.uniform() * 5.0) as usize;
    let equalities = index as usize % 3;
    let inside: Vec<f64> = (0..n).map(|_| uniform(&mut s, 1.0, 9.0)).collect();
    let dot = |a: &[f64]| a.iter().zip(&inside).map(|(a, x)| a * x).sum::<f64>();
    let mut m = Builder::new();
    // Random columns may look like anything: these are decisions.
    let x = m.variable("x", n);
    let shift = m.parameter("shift");
    let cost: Vec<f64> = (0..n).map(|_| uniform(&mut s, -2.0, 3.0)).collect();
    m.minimize(cost_sign * x.dot(&cost));
    for i in 0..inequalities + equalities {
        let row: Vec<f64> = (0..n)
            .map(|_| {
                if s.uniform() < 0.7 {
                    uniform(&mut s, -1.0, 1.0)
                } else {
                    0.0
                }
            })
            .collect();
        if i < inequalities {
            let slack = uniform(&mut s, 0.1, 2.0);
            m.at_most(
                &format!("row {i}"),
                x.dot(&row),
                1.0 * shift + (dot(&row) + slack),
            );
        } else {
            m.equal(&format!("row {i}"), x.dot(&row), 1.0 * shift + dot(&row));
        }
    }
    for (j, at) in inside.iter().enumerate() {
        m.between(
            &format!("x{j}"),
            at - uniform(&mut s, 0.0, 2.0),
            x.at(j),
            at + uniform(&mut s, 0.0, 2.0),
        );
    }
    (m.build_map().unwrap(), cost)
}

fn tight() -> Settings {
    Settings::default().with_tolerance(1e-9).unwrap()
}

fn optimum(program: &Program) -> f64 {
    solve_checked(program, &tight()).unwrap().objective
}

/// The plan whose symmetric 99% box has the given length, up to the lattice.
fn plan_with_box(map: &AffineMap, length: f64) -> Plan<'_> {
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(length / (2.0 * 100f64.ln()), "chosen for the box's length")
        .feasible(0.99)
        .settings(tight());
    Plan::new(map, ask).unwrap()
}

#[test]
fn the_cost_rises_by_the_lower_half_of_the_box_iff_the_box_fits() -> Result<()> {
    let theta = [0.0];
    let (mut fit, mut misfit) = (0, 0);
    for index in 0..100 {
        let (map, _) = random_lp(index, 1.0);
        let (mirror, _) = random_lp(index, -1.0);
        let low = optimum(&map.at(&theta)?);
        let range = -optimum(&mirror.at(&theta)?) - low;
        assert!(range > 1e-3, "LP {index} has a cost interval");
        for share in [0.05, 0.6, 0.999, 1.001, 1.6] {
            let plan = plan_with_box(&map, share * range);
            let set = plan.released().design().boxes()[0];
            let fits = set.upper - set.lower <= range;
            assert_eq!(fits, share < 1.0, "the lattice is far below a thousandth");
            match plan.released().at(&theta) {
                Ok(decided) => {
                    assert!(fits, "LP {index} at {share}: too wide a box passed");
                    let expected = low - set.lower;
                    assert!(
                        (decided.answer[0] - expected).abs() < 1e-6 * (1.0 + expected.abs()),
                        "LP {index} at {share}"
                    );
                    fit += 1;
                }
                Err(Error::NoiseDoesNotFit(why)) => {
                    assert!(!fits, "LP {index} at {share}: a box that fits was refused");
                    assert!(!why.rows.is_empty());
                    misfit += 1;
                }
                Err(other) => panic!("LP {index} at {share}: {other}"),
            }
        }
    }
    assert_eq!((fit, misfit), (300, 200));
    Ok(())
}

#[test]
fn a_program_that_is_infeasible_without_noise_is_said_to_be_so() {
    for index in 0..20 {
        let (map, _) = random_lp(index, 1.0);
        let plan = plan_with_box(&map, 0.1);
        // Far outside the box of the variables.
        let error = plan.released().at(&[-1e3]).unwrap_err();
        assert!(matches!(error, Error::Infeasible(_)), "LP {index}: {error}");
    }
}
