//! How far a regression is from its responses: without noise, before the noise and under it. Private.

use conveil::Result;
use conveil::ask::Strategy;
use conveil::plan::{Decided, Plan};
use conveil::program::DataMap;
use conveil::solve::solve_checked;

use super::{Regression, dot};

/// Root mean squares of residuals over the records, in the unit of the response; responses count as clipped.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RootMeanSquares {
    /// Of the fit that is made without noise.
    pub without_noise: f64,
    /// Of the mean weights x̄, which leave room for the noise.
    pub of_the_mean: f64,
    /// The root of the expected mean square under the noise: exact. None where no weight carries the noise.
    pub under_noise: Option<f64>,
}

impl RootMeanSquares {
    /// Of what a plan has decided on these responses.
    pub fn new(
        model: &Regression,
        plan: &Plan<'_>,
        decided: &Decided,
        responses: &[f64],
    ) -> Result<Self> {
        let responses = model.clipped(responses)?;
        let columns = model.columns()?;
        let weights = |x: &[f64]| columns.iter().map(|&j| x[j]).collect::<Vec<f64>>();
        let plain = solve_checked(&decided.program, plan.released().settings())?;
        let mean = model.mean_square(&weights(&decided.mean), &responses);
        let by_noise: Vec<Vec<f64>> = (0..decided.recourse.noises())
            .map(|noise| {
                let entry = |&j: &usize| {
                    let row = decided.recourse.row(j);
                    row.iter().filter(|e| e.0 == noise).map(|e| e.1).sum()
                };
                columns.iter().map(entry).collect()
            })
            .collect();
        let is_carried = by_noise.iter().flatten().any(|v| *v != 0.0);
        let has_decision = plan.guarantee().strategy() == Strategy::Program;
        Ok(RootMeanSquares {
            without_noise: model.mean_square(&weights(&plain.x), &responses).sqrt(),
            of_the_mean: mean.sqrt(),
            // E‖y − Φ(x̄ + Xζ)‖² = ‖y − Φx̄‖² + σ²·tr(X'Φ'ΦX), as ζ has mean 0 and independent entries (M3).
            under_noise: (is_carried || has_decision).then(|| {
                let spread = by_noise.iter().map(|column| model.square_of(column));
                let spread = plan.law().variance() * spread.sum::<f64>();
                (mean + spread / model.records() as f64).sqrt()
            }),
        })
    }

    /// Whether the noise, and the room that is left for it, more than double what there is without it.
    pub fn is_doubled(&self) -> bool {
        self.under_noise
            .is_some_and(|under| under > 2.0 * self.without_noise)
    }

    /// How many times as many records, about, or as large an ε, would bring it down to the double. The noise on a fitted
    /// value falls with the leverage of a record: its square with the square of their number. What is lost to the room
    /// follows no such rule: none where that is most of it, nor where the fit without noise is exact.
    pub fn factor_to_the_double(&self) -> Option<f64> {
        if self.is_lost_to_the_room() {
            return None;
        }
        let added = self.under_noise?.powi(2) - self.without_noise.powi(2);
        let factor = (added / (3.0 * self.without_noise.powi(2))).sqrt();
        factor.is_finite().then_some(factor)
    }

    /// Whether more is lost by leaving room for the noise than by the noise itself.
    pub fn is_lost_to_the_room(&self) -> bool {
        let room = self.of_the_mean.powi(2) - self.without_noise.powi(2);
        let noise = |under: f64| under.powi(2) - self.of_the_mean.powi(2);
        self.under_noise.is_some_and(|under| room > noise(under))
    }
}

impl Regression {
    /// The column of each weight.
    pub(super) fn columns(&self) -> Result<Vec<usize>> {
        let template = self.template();
        let each = self.weights.iter();
        each.map(|name| Ok(template.find_variables(name)?.start))
            .collect()
    }

    /// The mean square of the residuals of these responses, as a function of a decision on all columns.
    pub(super) fn mean_square_of<'r>(
        &'r self,
        responses: &'r [f64],
    ) -> Result<impl Fn(&[f64]) -> f64 + Sync + 'r> {
        let columns = self.columns()?;
        Ok(move |x: &[f64]| {
            let weights: Vec<f64> = columns.iter().map(|&j| x[j]).collect();
            self.mean_square(&weights, responses)
        })
    }

    /// (1/N)‖y − Φw‖².
    fn mean_square(&self, weights: &[f64], responses: &[f64]) -> f64 {
        self.squares(weights, responses) / self.records() as f64
    }

    /// w'Φ'Φw.
    fn square_of(&self, weights: &[f64]) -> f64 {
        let each = self.gram.iter().zip(weights);
        each.map(|(row, w)| w * dot(row, weights)).sum()
    }
}
