//! `inspect`: the private values beside what is public about them, for the curator alone. Wrong units, signs and bounds show
//! here, and nowhere else: no other verb refuses or changes anything because of what well-formed values are.

use std::fmt;

use conveil::program::Parameters;
use conveil_models::is_clipped;
use conveil_text::spelling::counted;
use serde::Serialize;

use crate::data::Opened;
use crate::failure::Failure;
use crate::observer::{Observer, Silent};
use crate::workbench::Workbench;

/// The private values of one dataset, and what is odd about them. Private.
#[derive(Debug, Clone, Serialize)]
pub struct Inspection {
    /// Whether it depends on private data: then it must not be published.
    pub private: bool,
    /// How many values there are.
    pub count: usize,
    /// How many of them lie outside their public bounds, and count as the nearest inside.
    pub clipped: usize,
    /// The middle one of the values over their nominal ones, where these are not 0.
    pub times_nominal: Option<f64>,
    /// What is odd.
    pub remarks: Vec<String>,
    /// The values, one by one.
    pub values: Vec<Value>,
}

/// A private value beside what is public about it.
#[derive(Debug, Clone, Serialize)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// The value.
    pub value: f64,
    /// Its public bounds.
    pub bounds: Option<(f64, f64)>,
    /// Its public nominal value.
    pub nominal: Option<f64>,
}

/// Values so many times their nominal ones, or so many times smaller, are probably in another unit.
const ANOTHER_UNIT: f64 = 30.0;

/// With fewer values it is no wonder that all are on one side.
const FEW: usize = 5;

impl Workbench {
    /// The private values of a row, or of the first, beside their bounds and nominal values. Private.
    pub fn inspect(
        &self,
        row: Option<usize>,
        observer: &dyn Observer,
    ) -> Result<Inspection, Failure> {
        // What is noted elsewhere is part of the document here.
        let Opened { datasets, theta } = Opened::new(self, row, &Silent)?;
        if let Some(note) = datasets.note() {
            observer.note(note);
        }
        let parameters = self.model.map().parameters();
        let mut inspection = Inspection::of(parameters, &theta);
        inspection.private = self.about.is_private();
        // The model's own remarks are in the words of its file.
        let own = datasets.remarks().iter().cloned();
        inspection.remarks = own.chain(inspection.remarks).collect();
        Ok(inspection)
    }
}

impl Inspection {
    fn of(parameters: &Parameters, theta: &[f64]) -> Self {
        let pairs = parameters.iter().zip(theta);
        let values: Vec<Value> = pairs
            .map(|(parameter, &value)| Value {
                name: parameter.name().into(),
                value,
                bounds: parameter.bounds(),
                nominal: parameter.nominal_value(),
            })
            .collect();
        let clipped = values.iter().filter(|v| v.is_clipped()).count();
        let mut ratios: Vec<f64> = values.iter().filter_map(Value::times_nominal).collect();
        ratios.sort_by(f64::total_cmp);
        let times_nominal = ratios.get(ratios.len() / 2).copied();
        Inspection {
            private: true,
            count: values.len(),
            clipped,
            times_nominal,
            remarks: remarks(&values, clipped, times_nominal),
            values,
        }
    }
}

impl Value {
    fn is_clipped(&self) -> bool {
        self.bounds
            .is_some_and(|bounds| is_clipped(self.value, bounds))
    }

    fn times_nominal(&self) -> Option<f64> {
        let nominal = self.nominal.filter(|nominal| *nominal != 0.0)?;
        Some(self.value / nominal)
    }
}

fn remarks(values: &[Value], clipped: usize, times_nominal: Option<f64>) -> Vec<String> {
    let count = values.len();
    let mut remarks = Vec::new();
    if clipped > 0 {
        remarks.push(format!(
            "{clipped} of {} outside the public bounds and count as the nearest value inside",
            match count {
                1 => "1 value lies".into(),
                _ => format!("{count} values lie"),
            }
        ));
    }
    if let Some(times) = times_nominal {
        let size = times.abs();
        if times < 0.0 {
            remarks.push(
                "the values have the other sign than their nominal ones: is the sign of `coef` right?".into(),
            );
        }
        if size >= ANOTHER_UNIT {
            remarks.push(format!(
                "the values are about {size:.0} times their nominal ones: are they in another unit?"
            ));
        } else if size > 0.0 && size <= 1.0 / ANOTHER_UNIT {
            remarks.push(format!(
                "the nominal values are about {:.0} times the values: are they in another unit?",
                1.0 / size
            ));
        }
    }
    let sides = |side: fn(f64, f64) -> bool| {
        let beside = |v: &Value| v.nominal.is_some_and(|nominal| side(v.value, nominal));
        count >= FEW && values.iter().all(beside)
    };
    if sides(|value, nominal| value > nominal) {
        remarks.push(format!("all {count} values lie above their nominal ones"));
    }
    if sides(|value, nominal| value < nominal) {
        remarks.push(format!("all {count} values lie below their nominal ones"));
    }
    remarks
}

/// Values shown in text.
const SHOWN: usize = 20;

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "INSPECTION: {}",
            match self.private {
                true => "PRIVATE, shows the data, not to be published",
                false => "PUBLIC, at public data; no private value was used",
            }
        )?;
        writeln!(f, "{}", counted(self.count, "value", "values"))?;
        for remark in &self.remarks {
            writeln!(f, "odd: {remark}")?;
        }
        if self.remarks.is_empty() {
            writeln!(
                f,
                "nothing is odd beside the public bounds and nominal values"
            )?;
        }
        writeln!(
            f,
            "  {:<28} {:>16} {:>16} {:>28}",
            "name", "value", "nominal", "bounds"
        )?;
        for value in self.values.iter().take(SHOWN) {
            let nominal = value.nominal.map_or("–".into(), |n| n.to_string());
            let bounds = (value.bounds).map_or("–".into(), |(a, b)| format!("[{a}, {b}]"));
            let clipped = if value.is_clipped() { "  outside" } else { "" };
            writeln!(
                f,
                "  {:<28} {:>16} {nominal:>16} {bounds:>28}{clipped}",
                value.name, value.value
            )?;
        }
        if self.count > SHOWN {
            writeln!(f, "  … and {} more (see --json)", self.count - SHOWN)?;
        }
        Ok(())
    }
}
