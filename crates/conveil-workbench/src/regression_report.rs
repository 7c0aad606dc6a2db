//! The curator report of a regression: the engine's, and how far the fit is from the responses.

use std::fmt;

use conveil::ask::{Privacy, Strategy};
use conveil::curator::CuratorReport;
use conveil::plan::{Decided, Plan};
use conveil_models::regression::{Regression, RootMeanSquares};
use serde::Serialize;

use crate::failure::Failure;
use crate::inputs::Inputs;

/// Private, all of it.
#[derive(Debug, Clone, Serialize)]
pub struct RegressionReport {
    #[serde(flatten)]
    report: CuratorReport,
    /// Root mean squares of the residuals.
    rmse: RootMeanSquares,
    /// What would help, where the noise more than doubles them.
    advice: Option<String>,
    /// What they are measured in.
    #[serde(skip)]
    of: String,
}

impl RegressionReport {
    pub fn new(
        inputs: &Inputs,
        (model, theta): (&Regression, &[f64]),
        plan: &Plan<'_>,
        decided: &Decided,
        report: &CuratorReport,
    ) -> Result<Self, Failure> {
        let rmse = RootMeanSquares::new(model, plan, decided, theta)
            .map_err(|e| Failure::engine(&inputs.spec_name, &e))?;
        Ok(RegressionReport {
            report: report.clone(),
            rmse,
            advice: advice(model, plan, &rmse),
            of: match model.response() {
                (name, None) => name.into(),
                (name, Some(unit)) => format!("{name} in {unit}"),
            },
        })
    }
}

/// A warning where the noise dominates. What cannot be measured has none.
pub fn noise_dominates(
    (model, theta): (&Regression, &[f64]),
    plan: &Plan<'_>,
    decided: &Decided,
) -> Option<String> {
    let rmse = RootMeanSquares::new(model, plan, decided, theta).ok()?;
    advice(model, plan, &rmse)
}

/// What happened, and what would mend it.
fn advice(model: &Regression, plan: &Plan<'_>, rmse: &RootMeanSquares) -> Option<String> {
    let under = rmse.under_noise.filter(|_| rmse.is_doubled())?;
    let before = match plan.guarantee().strategy() {
        Strategy::Projected => " before the projection",
        Strategy::Program | Strategy::Output => "",
    };
    let mut said = format!(
        "privacy brings the root mean square of the residuals from {} to {}{before}, more than the double",
        digits(rmse.without_noise),
        digits(under)
    );
    if rmse.is_lost_to_the_room() {
        said += &format!(
            "; most of it is lost by the mean weights ({}), which leave room for the noise between them and the conditions: fewer conditions or a larger eta narrow it",
            digits(rmse.of_the_mean)
        );
        if plan.released().query().labels() == model.weights() {
            said += ", and strategy = \"projected\" in [feasibility] needs none";
        }
    }
    if let Some(other) = set_by_hand(plan) {
        return Some(format!("{said}. {other}"));
    }
    if let Some(factor) = rmse.factor_to_the_double() {
        let records = (model.records() as f64 * factor).ceil();
        said += &format!(". About {} records of the same kind", written(records, 0));
        if let Privacy::Laplace { epsilon } = plan.guarantee().privacy() {
            said += &format!(", or ε of about {},", written(epsilon * factor, 3));
        }
        said += " would bring it to the double";
    }
    let ridge = model.ridge();
    said += &format!(
        ". More records, a larger ε, fewer basis functions or a stronger ridge (now {ridge}) lower the noise. Choosing them by looking at these data is not covered by the guarantee"
    );
    Some(said)
}

/// What sets the noise where no certificate does: then it does not follow from the number of records.
pub fn set_by_hand(plan: &Plan<'_>) -> Option<&'static str> {
    match plan.guarantee().basis().name() {
        "certificate" => None,
        "declared" => Some(
            "The declared sensitivity sets the noise, whatever the number of records: a smaller one needs a reason of its own, and a larger ε lowers the noise. Choosing either by looking at these data is not covered by the guarantee",
        ),
        _ => Some(
            "The sampled sensitivity sets the noise: what more records would make of it, only sampling again can tell, and a larger ε lowers the noise. Choosing them by looking at these data is not covered by the guarantee",
        ),
    }
}

/// A number with this many decimals; in powers of ten where nobody counts the places.
pub fn written(value: f64, places: usize) -> String {
    match value.abs() < 1e9 {
        true => format!("{value:.places$}"),
        false => format!("{value:.2e}"),
    }
}

/// Four significant digits or so, never in powers of ten while a person can count the places.
fn digits(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if (1e-4..1e7).contains(&value) => {
            let places = (3 - value.log10().floor() as i32).clamp(0, 8) as usize;
            format!("{value:.places$}")
        }
        value => format!("{value:.3e}"),
    }
}

impl fmt::Display for RegressionReport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "{}", self.report)?;
        let RootMeanSquares {
            without_noise,
            of_the_mean,
            under_noise,
        } = self.rmse;
        writeln!(f, "root mean square of the residuals of {}:", self.of)?;
        writeln!(
            f,
            "  fit without noise           {:>16}",
            digits(without_noise)
        )?;
        writeln!(
            f,
            "  mean weights, before noise  {:>16}",
            digits(of_the_mean)
        )?;
        match (under_noise, self.report.strategy) {
            (None, _) => writeln!(f, "  under the noise             no weight carries it"),
            (Some(under), Strategy::Projected) => writeln!(
                f,
                "  expected under the noise    {:>16}  before the projection",
                digits(under)
            ),
            (Some(under), _) => {
                writeln!(f, "  expected under the noise    {:>16}", digits(under))
            }
        }
    }
}
