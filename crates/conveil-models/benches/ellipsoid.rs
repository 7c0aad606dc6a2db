//! The largest ellipsoid with noise against the deterministic solve by the same solver, in one run.
//!
//! The octagon has 8 facets and 5 noises, so a box has 32 vertices; six dimensions have 27 noises and take the safe box.

use conveil::ask::{Adjacency, Ask, Privacy};
use conveil::chance::{Choice, Feasibility};
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Settings, solve_checked};
use conveil_models::ellipsoid::{Determinant, Ellipsoid, builtin};
use std::time::Instant;

/// Solves behind each figure; the quickest counts.
const RUNS: usize = 15;

fn main() {
    println!(
        "polytope  n  facets  noises  method    determinant  deterministic s  program s  ratio"
    );
    let octagon = builtin().swap_remove(0);
    let offsets = octagon.offsets.clone();
    for method in [Choice::MASS_BOX, Choice::SAFE_BOX] {
        for determinant in [Determinant::AtTheMean, Determinant::WithNoise] {
            let model = Ellipsoid::inside(octagon.normals.clone()).determinant(determinant);
            line(
                "octagon",
                model.build(),
                &offsets,
                0.05,
                method,
                determinant,
            );
        }
    }
    for n in [3, 6] {
        let (normals, offsets) = cube(n);
        let model = Ellipsoid::inside(normals).build();
        line(
            "cube",
            model,
            &offsets,
            0.02,
            Choice::SAFE_BOX,
            Determinant::AtTheMean,
        );
    }
}

fn cube(n: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut normals = Vec::new();
    for j in 0..n {
        for sign in [1.0, -1.0] {
            let mut a = vec![0.0; n];
            a[j] = sign;
            normals.push(a);
        }
    }
    normals.push(vec![1.0; n]);
    let mut offsets = vec![1.0; 2 * n];
    offsets.push(0.9 * n as f64);
    (normals, offsets)
}

fn line(
    name: &str,
    model: conveil::Result<Ellipsoid>,
    offsets: &[f64],
    sensitivity: f64,
    method: Choice,
    determinant: Determinant,
) {
    let row = model.and_then(|model| {
        let program = model.at(offsets)?;
        let deterministic = quickest(|| solve_checked(&program, &Settings::default()).map(|_| ()))?;
        let ask = Ask::new(model.query())
            .adjacency(Adjacency::Universe)
            .privacy(Privacy::gaussian(1.0, 0.1))
            .declared(sensitivity, "a bench")
            .feasibility(Feasibility::eta(0.1).method(method));
        let plan = Plan::new(&model, ask)?;
        let noisy = quickest(|| plan.released().at(offsets).map(|_| ()))?;
        Ok(format!(
            "{name:<8}  {}  {:>6}  {:>6}  {:<8}  {:<11}  {deterministic:>15.5}  {noisy:>9.5}  {:>5.1}",
            model.dimension(),
            offsets.len(),
            model.answer_len(),
            method.name(),
            format!("{determinant:?}"),
            noisy / deterministic
        ))
    });
    match row {
        Ok(row) => println!("{row}"),
        Err(why) => println!("{name}: {why}"),
    }
}

fn quickest(work: impl Fn() -> conveil::Result<()>) -> conveil::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
