//! Random models, one kind for each certificate.

use crate::common::between;
use conveil::noise::Sampler;
use conveil::program::{Affine, AffineMap, Builder};

/// A linear program, the size of its private data and of all right-hand sides, and a price for its envelope.
pub struct LinearProgram {
    pub map: AffineMap,
    pub size: f64,
    pub largest: f64,
    pub price: f64,
}

/// Bounded variables, limits near the data or a thousand times as far, private demands in equations and inequalities,
/// costs that may tie with each other and with the price.
pub fn linear_program(sampler: &mut Sampler) -> LinearProgram {
    let n = 2 + (4.0 * sampler.uniform()) as usize;
    let p = 1 + (3.0 * sampler.uniform()) as usize;
    let size = 10f64.powf(between(sampler, -3.0, 5.0));
    let unit = 10f64.powf(between(sampler, -2.0, 3.0));
    let ties = sampler.uniform() < 0.3;
    let mut m = Builder::new();
    let x = m.variable("x", n);
    let costs: Vec<f64> = (0..n)
        .map(|_| match ties {
            true => unit * (1.0 + (2.0 * sampler.uniform()).round()),
            false => unit * between(sampler, 0.5, 5.0),
        })
        .collect();
    m.minimize(x.dot(&costs));
    let far = [1.0, 1.0, 1.0, 1e3][(4.0 * sampler.uniform()) as usize % 4];
    for j in 0..n {
        let limit = far * size * between(sampler, 2.0, 8.0);
        m.between(&format!("limits {j}"), 0.0, x.at(j), limit);
    }
    for i in 0..p {
        let d = m.parameter_within(&format!("d{i}"), 0.0, size);
        let mut row = Affine::default();
        for j in 0..n {
            if j == i % n || sampler.uniform() < 0.5 {
                let weight = if ties {
                    1.0
                } else {
                    between(sampler, 0.5, 1.5)
                };
                row += weight * x.at(j);
            }
        }
        match i == 0 && sampler.uniform() < 0.4 {
            true => m.equal(&format!("balance {i}"), row, d),
            false => m.at_most(&format!("need {i}"), d, row),
        };
    }
    let price = match ties {
        true => unit * (1.0 + (3.0 * sampler.uniform()).round()),
        false => unit * between(sampler, 0.5, 10.0),
    };
    LinearProgram {
        map: m.build_map().unwrap(),
        size,
        largest: far * size,
        price,
    }
}

/// A public polytope of this size with private prices of this size.
pub fn priced(sampler: &mut Sampler, size: f64, price: f64) -> AffineMap {
    let n = 2 + (3.0 * sampler.uniform()) as usize;
    let mut m = Builder::new();
    let x = m.variable("x", n);
    let mut cost = Affine::default();
    for j in 0..n {
        let own = m.parameter_within(&format!("price {j}"), 0.2 * price, price);
        cost += own * x.at(j);
    }
    m.minimize(cost);
    for j in 0..n {
        let limit = size * between(sampler, 1.0, 4.0);
        m.between(&format!("limits {j}"), 0.0, x.at(j), limit);
    }
    let weights: Vec<f64> = (0..n).map(|_| between(sampler, 0.5, 1.5)).collect();
    m.at_most("need", 0.4 * size, x.dot(&weights));
    m.build_map().unwrap()
}

/// A quadratic cost of full rank over a public polytope, its linear part private.
pub fn curved(sampler: &mut Sampler, size: f64) -> AffineMap {
    let n = 2 + (3.0 * sampler.uniform()) as usize;
    let mut m = Builder::new();
    let x = m.variable("x", n);
    let factor: Vec<f64> = (0..n * n).map(|_| between(sampler, -1.0, 1.0)).collect();
    let ridge = 10f64.powf(between(sampler, -2.0, 0.0));
    let mut linear = Affine::default();
    for a in 0..n {
        let own = m.parameter_within(&format!("slope {a}"), -size, size);
        linear += own * x.at(a);
        for b in a..n {
            let product: f64 = (0..n).map(|k| factor[k * n + a] * factor[k * n + b]).sum();
            m.quadratic(a, b, product + if a == b { ridge } else { 0.0 });
        }
        let reach = size / ridge;
        m.between(&format!("range {a}"), -8.0 * reach, x.at(a), 8.0 * reach);
    }
    m.minimize(linear);
    let weights: Vec<f64> = (0..n).map(|_| between(sampler, -1.0, 1.0)).collect();
    m.at_most("limit", x.dot(&weights), size / ridge);
    m.build_map().unwrap()
}
