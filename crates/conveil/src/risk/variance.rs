//! M3, variance control: Σ_j σ²‖D X_j‖² as a weight or a bound.

use super::{VarianceLimit, VarianceTerm};
use crate::error::{Error, Result};
use crate::noise::Law;
use crate::program::{Cone, Program};
use crate::rule::{Lift, RowRule};

pub(super) fn validate(term: &VarianceTerm, program: &Program) -> Result<()> {
    for name in &term.variables {
        program.find_variables(name)?;
    }
    let (VarianceLimit::Weight(value) | VarianceLimit::AtMost(value)) = term.limit;
    if !(value.is_finite() && value > 0.0) {
        return Err(Error::input(format!(
            "a variance weight or bound must be positive, found {value}"
        )));
    }
    Ok(())
}

pub(super) fn add(term: &VarianceTerm, lift: &mut Lift<'_>, law: &Law) -> Result<()> {
    let mut columns = Vec::new();
    for name in &term.variables {
        columns.extend(lift.program().find_variables(name)?);
    }
    match term.limit {
        VarianceLimit::Weight(weight) => weigh(&columns, weight * law.variance(), lift),
        VarianceLimit::AtMost(bound) => limit(&columns, bound, law.std_dev(), lift),
    }
    Ok(())
}

fn weigh(columns: &[usize], weight: f64, lift: &mut Lift<'_>) {
    for &column in columns {
        match lift.rule().row(column) {
            RowRule::Fixed(entries) => {
                lift.add_constant(weight * entries.iter().map(|e| e.1 * e.1).sum::<f64>());
            }
            RowRule::Free(f) => {
                for noise in 0..lift.noises() {
                    let x = lift.recourse(*f, noise);
                    lift.add_quadratic(x, x, 2.0 * weight);
                }
            }
        }
    }
}

/// ‖σ D X‖_F ≤ √bound, as one second-order cone.
fn limit(columns: &[usize], bound: f64, std_dev: f64, lift: &mut Lift<'_>) {
    let mut rows = vec![(Vec::new(), bound.sqrt())];
    for &column in columns {
        match lift.rule().row(column) {
            RowRule::Fixed(entries) => {
                rows.extend(entries.iter().map(|e| (Vec::new(), std_dev * e.1)));
            }
            RowRule::Free(f) => {
                for noise in 0..lift.noises() {
                    rows.push((vec![(lift.recourse(*f, noise), -std_dev)], 0.0));
                }
            }
        }
    }
    let dim = rows.len();
    lift.cone(&Cone::SecondOrder(dim), rows, &vec![None; dim]);
}
