//! Section 4.3.1's data: y = x + ½(x − 5)³ + z at uniform x, and the map whose records move in ellipses.

use conveil::noise::Sampler;
use conveil::program::{DataMap, GeneralMap, Parameter, PrivateParts};
use conveil::{Error, Result};
use conveil_models::records::Records;
use conveil_models::regression::{Basis, Behaviour, Condition, Regression};

use super::Settings;

/// x lies between 0 and this.
pub(super) const LARGEST_X: f64 = 10.0;

/// Where the function must increase.
pub(super) const POINTS: [f64; 2] = [1.0, 9.0];

/// The half axes of a record's ellipse, along x and y.
pub(super) const HALF_AXES: (f64, f64) = (0.35, 8.0);

/// The records of a seed.
#[derive(Clone, Debug)]
pub(super) struct Synthetic {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
}

impl Synthetic {
    pub(super) fn new(settings: &Settings, seed: u64) -> Self {
        let mut sampler = Sampler::new(seed, 0);
        let count = settings.records;
        let x: Vec<f64> = (0..count).map(|_| LARGEST_X * sampler.uniform()).collect();
        let y = x
            .iter()
            .map(|x| x + 0.5 * (x - 5.0).powi(3) + settings.disturbance * sampler.unit_normal())
            .collect();
        Synthetic { x, y }
    }

    pub(super) fn model(&self, ridge: f64) -> Result<Regression> {
        model(&self.x, ridge)
    }

    /// The records as θ, each in units of its half axes: ellipses become discs of radius 1.
    pub(super) fn theta(&self) -> Vec<f64> {
        let pairs = self.x.iter().zip(&self.y);
        pairs
            .flat_map(|(x, y)| [x / HALF_AXES.0, y / HALF_AXES.1])
            .collect()
    }

    /// θ ↦ program with x and y private: the quadratic cost is private too.
    pub(super) fn map(&self, ridge: f64) -> Result<GeneralMap> {
        let template = self.model(ridge)?.at(&vec![0.0; self.y.len()])?;
        let parameters = (0..self.x.len())
            .flat_map(|i| ["x", "y"].map(|name| Parameter::new(format!("{name} {}", i + 1))));
        let parts = PrivateParts {
            p: true,
            q: true,
            a: false,
            b: false,
        };
        let program = move |theta: &[f64]| {
            let x: Vec<f64> = theta.chunks(2).map(|r| r[0] * HALF_AXES.0).collect();
            let y: Vec<f64> = theta.chunks(2).map(|r| r[1] * HALF_AXES.1).collect();
            model(&x, ridge)?.at(&y)
        };
        Ok(GeneralMap::new(
            template,
            parameters.collect::<Vec<_>>(),
            parts,
            program,
        ))
    }
}

fn model(x: &[f64], ridge: f64) -> Result<Regression> {
    let records = Records::from_column("x", x).map_err(Error::Input)?;
    Regression::of(records, "y")
        .basis(Basis::linear("x"))
        .basis(Basis::Power {
            feature: "x".into(),
            degree: 3,
            centre: 5.0,
            scale: 0.5,
        })
        .condition(Condition::at(Behaviour::Increasing, "x", &POINTS))
        .ridge(ridge)
        .build()
}
