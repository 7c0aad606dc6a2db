//! Power curves of wind turbines, and records made from them: power against wind speed, disturbed.
//!
//! ```
//! use conveil_models::wind::PowerCurve;
//!
//! let curve = PowerCurve::builtin("N100/2500")?;
//! assert_eq!(curve.at(3.0), 3.0 / 2500.0);
//! assert_eq!(curve.at(25.0), 1.0);
//! let records = curve.records(1)?;
//! assert_eq!(records.speeds.len(), 1201); // 3 m/s to 15 m/s by 0.01 m/s
//! # Ok::<(), String>(())
//! ```

mod builtin;

pub use builtin::TURBINES;

use conveil::noise::Sampler;

use crate::records::Records;
use crate::regression::{Basis, Behaviour, Condition, Regression, RegressionBuilder};

/// The column of wind speeds, in m/s.
pub const SPEED: &str = "speed";

/// The column of power, as a share of the largest.
pub const POWER: &str = "power";

/// Records end at this speed, in m/s.
const LAST_SPEED: f64 = 15.0;

/// Records stand this far apart, in m/s.
const STEP: f64 = 0.01;

/// The standard deviation of the disturbance.
pub const DISTURBANCE: f64 = 0.1;

/// The centres of the paper's radial functions, in m/s.
pub const CENTRES: [f64; 4] = [3.0, 7.0, 11.0, 15.0];

/// A power curve: straight lines between its points, flat beyond.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerCurve {
    name: String,
    /// Speed in m/s, power as a share of the largest.
    points: Vec<(f64, f64)>,
}

impl PowerCurve {
    /// From points of rising speed; powers in any unit.
    pub fn new(name: &str, points: Vec<(f64, f64)>) -> Result<Self, String> {
        if points.len() < 2 {
            return Err(format!(
                "{name}: a curve needs at least two points, found {}",
                points.len()
            ));
        }
        let numbers = points.iter().flat_map(|p| [p.0, p.1]);
        if let Some(odd) = numbers.into_iter().find(|v| !(v.is_finite() && *v >= 0.0)) {
            return Err(format!(
                "{name}: speeds and powers must be finite and not negative, found {odd}"
            ));
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[1].0 <= pair[0].0) {
            return Err(format!(
                "{name}: speeds must rise, found {} after {}",
                pair[1].0, pair[0].0
            ));
        }
        let largest = points.iter().fold(0.0, |m: f64, p| m.max(p.1));
        if !(largest > 0.0) {
            return Err(format!("{name}: there is no power at any speed"));
        }
        let curve = PowerCurve {
            name: name.into(),
            points: points.into_iter().map(|(x, y)| (x, y / largest)).collect(),
        };
        match curve.cut_in() < LAST_SPEED {
            true => Ok(curve),
            false => Err(format!("{name}: there is no power below {LAST_SPEED} m/s")),
        }
    }

    /// A built-in curve by the name of its turbine.
    pub fn builtin(name: &str) -> Result<Self, String> {
        builtin::curve(name)
    }

    /// Whether it is one of them, figures and all: a curve of the same name need not be.
    pub fn is_builtin(&self) -> bool {
        Self::builtin(&self.name).as_ref() == Ok(self)
    }

    /// From the columns `speed` and `power` of a file.
    pub fn from_records(name: &str, records: &Records) -> Result<Self, String> {
        let column = |column: &str| {
            let found = records.column(column);
            found.ok_or_else(|| format!("{name}: there is no column `{column}`"))
        };
        let points = column(SPEED)?.into_iter().zip(column(POWER)?);
        Self::new(name, points.collect())
    }

    /// The turbine.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The power at a speed, as a share of the largest.
    pub fn at(&self, speed: f64) -> f64 {
        let after = self.points.partition_point(|p| p.0 < speed);
        match (
            after.checked_sub(1).map(|i| self.points[i]),
            self.points.get(after),
        ) {
            (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (speed - a.0) / (b.0 - a.0),
            (Some(last), None) => last.1,
            (None, first) => first.map_or(0.0, |p| p.1),
        }
    }

    /// The speed at which power sets in: the last one without, or the first of the curve.
    pub fn cut_in(&self) -> f64 {
        let first = self.points.iter().position(|p| p.1 > 0.0).unwrap_or(0);
        self.points[first.saturating_sub(1)].0
    }

    /// Records from the cut-in speed to 15 m/s, their power disturbed by N(0, 0.1²) and kept within 0 and 1, as the
    /// paper makes them.
    pub fn records(&self, seed: u64) -> Result<WindRecords, String> {
        let start = (self.cut_in() / STEP).round() as i64;
        let end = (LAST_SPEED / STEP).round() as i64;
        // Divided, not multiplied: 3.07 is 307/100.
        let speeds: Vec<f64> = (start..=end).map(|i| i as f64 / STEP.recip()).collect();
        let mut sampler = Sampler::new(seed, 0);
        let disturbed = |x: &f64| {
            let power = self.at(*x) + DISTURBANCE * sampler.unit_normal();
            power.clamp(0.0, 1.0)
        };
        let powers = speeds.iter().map(disturbed).collect();
        Ok(WindRecords {
            regressors: Records::from_column(SPEED, &speeds)?,
            speeds,
            powers,
        })
    }
}

/// Disturbed records of a turbine.
#[derive(Clone, Debug)]
pub struct WindRecords {
    /// The speeds as public regressors.
    pub regressors: Records,
    /// The speeds, in m/s.
    pub speeds: Vec<f64>,
    /// The powers, as shares of the largest: the private responses.
    pub powers: Vec<f64>,
}

impl WindRecords {
    /// The paper's model: four radial functions, increasing at these speeds; responses between 0 and 1.
    pub fn regression(&self, increasing_at: &[f64], ridge: f64) -> RegressionBuilder {
        Regression::of(self.regressors.clone(), POWER)
            .basis(Basis::radial(SPEED, &CENTRES))
            .condition(Condition::at(Behaviour::Increasing, SPEED, increasing_at))
            .ridge(ridge)
            .within(0.0, 1.0)
    }
}
