//! Power curves of records evenly apart, fitted by the paper's four functions.
#![allow(dead_code)] // each test file uses a part of it

use conveil::ask::{Adjacency, Privacy};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Settings, solve_checked};
use conveil_models::records::Records;
use conveil_models::regression::{Basis, Behaviour, Condition, Regression, RegressionBuilder};

pub fn speeds(count: usize) -> Records {
    let rows: Vec<String> = (0..count)
        .map(|i| format!("{}", 3.0 + 12.0 * i as f64 / (count - 1) as f64))
        .collect();
    Records::read("x.csv", format!("speed\n{}\n", rows.join("\n")).as_bytes()).unwrap()
}

/// A smooth curve from 0 to 1 with a seeded disturbance.
pub fn powers(regressors: &Records, seed: u64) -> Vec<f64> {
    let mut sampler = Sampler::new(seed, 0);
    let curve = |x: f64| 1.0 / (1.0 + (-(x - 8.0)).exp());
    let rows = regressors.rows();
    rows.map(|x| (curve(x[0]) + 0.1 * sampler.unit_normal()).clamp(0.0, 1.0))
        .collect()
}

/// The paper's four functions.
pub fn wind(count: usize) -> RegressionBuilder {
    Regression::of(speeds(count), "power")
        .basis(Basis::radial("speed", &[3.0, 7.0, 11.0, 15.0]))
        .ridge(1e-3)
        .within(0.0, 1.0)
}

pub fn increasing(points: &[f64]) -> Condition {
    Condition::at(Behaviour::Increasing, "speed", points)
}

pub fn solved(model: &Regression, y: &[f64]) -> Vec<f64> {
    let settings = Settings::default().with_tolerance(1e-10).unwrap();
    let x = solve_checked(&model.at(y).unwrap(), &settings).unwrap().x;
    x[..model.weights().len()].to_vec()
}

/// Gauss elimination, for the second road.
pub fn linear_solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs()))
            .unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= f * a[k][j];
            }
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        let rest: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - rest) / a[k][k];
    }
    b
}

pub fn certified(model: &Regression) -> Plan<'_> {
    let ask = model
        .ask()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::gaussian(1.0, 1e-5))
        .feasible(0.97);
    Plan::new(model, ask).unwrap()
}
