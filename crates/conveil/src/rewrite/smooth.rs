//! Logistic losses of a program that is solved at the mean: a smooth function of the weights alone. The answer is mapped back
//! to all variables and rows and checked against the cone program; how far the weights are from the optimum follows from
//! the gradient (M7).

use super::local::{Solved, noise_cost};
use super::rows::Rows;
use crate::chance::Design;
use crate::error::{Error, Result};
use crate::noise::LatticeLaw;
use crate::program::{DataMap, Place, Program};
use crate::risk::Risk;
use crate::rule::{RowRule, Rule};
use crate::solve::{LogisticForm, Settings};

/// A program of logistic losses, by public structure.
#[derive(Clone, Debug)]
pub(crate) struct SmoothLosses {
    form: LogisticForm,
    /// Rows of X of the weights, by entries (noise, value).
    carried: Vec<Vec<(usize, f64)>>,
}

impl SmoothLosses {
    /// Looks at public structure alone; `None` where the program is no sum of logistic losses at the mean.
    pub(crate) fn new(
        map: &dyn DataMap,
        rule: &Rule,
        design: &Design,
        risk: &Risk,
    ) -> Option<Self> {
        if !design.is_at_the_mean() || !risk.is_expectation() || map.private_parts().p {
            return None;
        }
        let form = LogisticForm::of(map.template())?;
        if !is_public(map, &form) {
            return None;
        }
        let carried = (form.weights.iter())
            .map(|&j| match rule.row(j) {
                RowRule::Fixed(entries) => Some(entries.clone()),
                RowRule::Free(_) => None,
            })
            .collect::<Option<_>>()?;
        Some(SmoothLosses { form, carried })
    }

    /// The columns of the losses.
    pub(crate) fn auxiliaries(&self) -> impl Iterator<Item = usize> + '_ {
        self.form.auxiliaries()
    }

    /// The weights at a program, checked; an error where the check fails.
    pub(crate) fn decide(
        &self,
        program: &Program,
        noise: &LatticeLaw,
        settings: &Settings,
    ) -> Result<Solved> {
        let problem = self.form.problem(program);
        let found = problem.solve(settings.cancel());
        if settings.cancel().is_raised() {
            return Err(Error::Cancelled);
        }
        let Some(found) = found else {
            return Err(Error::Numerical(
                "the logistic losses have no answer".into(),
            ));
        };
        let solution = self.form.back(program, &problem, &found);
        if !solution.residuals.pass(settings.tolerance()) {
            return Err(Error::Inaccurate {
                residuals: solution.residuals,
                tolerance: settings.tolerance(),
            });
        }
        let mut recourse = vec![Vec::new(); program.columns()];
        for (&j, carried) in self.form.weights.iter().zip(&self.carried) {
            recourse[j] = carried.clone();
        }
        let recourse = Rows::Listed(recourse);
        let constant = noise_cost(program, &recourse, noise.law().variance());
        Ok(Solved {
            objective: solution.objective + constant,
            mean: solution.x,
            recourse,
            prices: solution.z,
            residuals: solution.residuals,
            error: Some(found.distance),
            size: (program.columns(), program.rows()),
        })
    }
}

/// Whether what makes the form is public: all but the coefficients of the weights and the right-hand sides beside them.
fn is_public(map: &dyn DataMap, form: &LogisticForm) -> bool {
    let mut is_auxiliary = vec![false; map.template().columns()];
    form.auxiliaries().for_each(|j| is_auxiliary[j] = true);
    let mut may_be_private = vec![false; map.template().rows()];
    form.data_rows().for_each(|i| may_be_private[i] = true);
    let Some(affine) = map.affine() else {
        return false;
    };
    let mut places = affine.parameters().places().map(|(_, at)| at);
    places.all(|location| match location.place {
        Place::A(i, j) => may_be_private[i] && !is_auxiliary[j],
        Place::B(i) => may_be_private[i],
        Place::Q(j) => !is_auxiliary[j],
        Place::P(..) => false,
    })
}
