//! Φ: the basis functions at the records. Its rows are made from the regressors whenever they are asked for.

use conveil::program::CostRows;
use conveil::{Error, Result};

use super::LARGEST;
use super::basis::{Form, Function};
use crate::records::Records;

/// Φ by records.
#[derive(Clone, Debug)]
pub(super) struct Design {
    pub(super) regressors: Records,
    pub(super) functions: Vec<Function>,
}

/// φ(x).
pub(super) fn phi(functions: &[Function], x: &[f64], row: &mut [f64]) {
    for (value, f) in row.iter_mut().zip(functions) {
        *value = match f.form {
            Form::Constant => 1.0,
            form => form.value(x[f.column]),
        };
    }
}

impl Design {
    /// Refuses what is too large for sums of squares, and records that do not count; `names` are those of the functions.
    pub(super) fn new(
        regressors: Records,
        functions: Vec<Function>,
        names: &[String],
    ) -> Result<Self> {
        let design = Design {
            regressors,
            functions,
        };
        let mut row = vec![0.0; names.len()];
        for record in 0..design.records() {
            design.phi(record, &mut row);
            if let Some(j) = row.iter().position(|v| !(v.abs() <= LARGEST)) {
                return Err(Error::Input(format!(
                    "record {}: the basis function `{}` is beyond {LARGEST:e} there: take other units",
                    record + 1,
                    names[j]
                )));
            }
            if row.iter().all(|v| *v == 0.0) {
                return Err(Error::Input(format!(
                    "record {}: every basis function is 0 there, so that its response does not count",
                    record + 1
                )));
            }
        }
        Ok(design)
    }

    pub(super) fn records(&self) -> usize {
        self.regressors.len()
    }

    /// Writes φ at a record.
    pub(super) fn phi(&self, record: usize, row: &mut [f64]) {
        phi(&self.functions, self.regressors.record(record), row);
    }

    /// φ at each record.
    pub(super) fn rows(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        (0..self.records()).map(|record| {
            let mut row = vec![0.0; self.functions.len()];
            self.phi(record, &mut row);
            row
        })
    }
}

/// How responses enter q = −Φ'y.
impl CostRows for Design {
    fn len(&self) -> usize {
        self.records()
    }

    fn width(&self) -> usize {
        self.functions.len()
    }

    fn row(&self, index: usize, coefficients: &mut [f64]) {
        self.phi(index, coefficients);
        coefficients.iter_mut().for_each(|c| *c = -*c);
    }
}
