//! The private responses of a regression, and what their curator should know: how far the fit is from them. Private, all
//! of it.

use conveil::ask::{Privacy, Strategy};
use conveil::curator::{self, About};
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Batch, solve_checked};

use super::picture;
use super::public::RegressionModel;
use super::{Regression, RootMeanSquares};
use crate::document::{Annex, Document, Fields, Help};
use crate::failure::Failure;
use crate::files::{Files, Named};
use crate::model::{Compared, Curated, Datasets};
use crate::outlook::{Alternative, Outlook, by_strategy};
use crate::outside::{Outside, is_clipped};
use crate::picture::Picture;
use crate::records::Records;
use crate::words::{advice_without_certificate, choosing, digits, exact, written};

/// One response for each record.
#[derive(Debug)]
pub(super) struct Responses<'m> {
    of: &'m RegressionModel,
    values: Vec<f64>,
    remarks: Vec<String>,
}

impl<'m> Responses<'m> {
    pub(super) fn open(of: &'m RegressionModel, files: &Files) -> Result<Self, Failure> {
        let model = &of.regression;
        let (file, key) = match &of.stated.data {
            Some(file) => (file, "data"),
            None => (&of.stated.regressors, "regressors"),
        };
        let what = "responses";
        let (name, input) = files.private_records(Named { file, what, key })?;
        let column = of.stated.response.value.as_str();
        let mut values = Vec::with_capacity(model.records());
        let mut outside = None;
        Records::each_with_line(&name, input, &[column], |line, record| {
            for &value in record {
                if let Some(bounds) = model.bounds().filter(|b| is_clipped(value, *b)) {
                    outside
                        .get_or_insert_with(|| Outside::first(column, bounds, value, line))
                        .count(value);
                }
            }
            values.extend(record);
        })?;
        if values.len() != model.records() {
            return Err(Failure::Input(format!(
                "{name}: there are {} responses, but {} has {} records",
                values.len(),
                of.name,
                model.records()
            )));
        }
        let remarks = outside.map(|o| format!("{o} of {name}"));
        Ok(Responses {
            of,
            values,
            remarks: remarks.into_iter().collect(),
        })
    }
}

impl Datasets for Responses<'_> {
    fn row(&self, _row: usize) -> Result<Vec<f64>, Failure> {
        Ok(self.values.clone())
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn counts_outside(&self) -> bool {
        true
    }

    /// What cannot be measured has no warning.
    fn annex(&self, curated: &Curated<'_>) -> Annex {
        let (model, plan) = (&self.of.regression, curated.plan);
        let rmse = RootMeanSquares::new(model, plan, curated.decided, curated.theta);
        let measured = rmse.as_ref().ok();
        let advice = measured.and_then(|r| advice(model, plan, r, curated.about));
        Annex {
            picture: (curated.report)
                .and_then(|_| picture::of(model, curated))
                .map(Picture::Curves),
            warning: advice.clone(),
            report: curated.report.map(|_| match rmse {
                Ok(rmse) => Ok(report_of(model, &rmse, advice, plan.guarantee().strategy())),
                Err(error) => Err(Failure::engine(&self.of.spec_name, error)),
            }),
            clipped: None,
        }
    }

    /// Root mean squares of the residuals; the trivial answer is a constant.
    fn outlook(&self, case: &Compared<'_>) -> Option<Result<Outlook, Failure>> {
        let model = &self.of.regression;
        let batch = Batch::new();
        let (draws, seed) = (case.draws as u64, case.seed);
        let responses = model.clipped(case.theta).ok()?;
        let square = model.mean_square_of(&responses).ok()?;
        let plain = model.at(case.theta).and_then(|program| {
            let settings = case.plan.released().settings();
            solve_checked(&program, settings)
        });
        let compared = plain.and_then(|plain| {
            let (plan, theta) = (case.plan, case.theta);
            let compared = curator::compare_by(Some(&square), plan, theta, draws, seed, &batch)?;
            Ok((square(&plain.x), compared))
        });
        let (least, compared) = match compared {
            Ok(found) => found,
            Err(error) => return Some(Err(Failure::engine(&self.of.spec_name, error))),
        };
        let rows = by_strategy(&compared, case.plan.guarantee().strategy())?;
        let records = model.records() as f64;
        let root = |loss: f64| (least + loss).max(0.0).sqrt();
        let mean = responses.iter().sum::<f64>() / records;
        let squares: f64 = responses.iter().map(|y| (y - mean).powi(2)).sum();
        let others = rows.others.into_iter().map(|other| Alternative {
            error: root(other.error),
            ..other
        });
        Some(Ok(Outlook {
            without_noise: Some(least.sqrt()),
            measure: "the root mean square of the residuals".into(),
            chosen: root(rows.chosen),
            others: others.collect(),
            trivial: Some(Alternative::new("a constant", (squares / records).sqrt())),
        }))
    }

    fn help(&self, theta: &[f64], error: &conveil::Error) -> Option<Help> {
        out_of_size(&self.of.regression, theta, error)
    }
}

/// Root mean squares of the residuals, and what would help, where the noise more than doubles them.
fn report_of(
    model: &Regression,
    rmse: &RootMeanSquares,
    advice: Option<String>,
    strategy: Strategy,
) -> Document {
    let of = match model.response() {
        (name, None) => name.into(),
        (name, Some(unit)) => format!("{name} in {unit}"),
    };
    let under = match (rmse.under_noise, strategy) {
        (None, _) => "  under the noise             no weight carries it".into(),
        (Some(under), _) => format!(
            "  expected under the noise    {:>16}{}",
            digits(under),
            (strategy.noise_is()).map_or(String::new(), |place| format!("  {place}"))
        ),
    };
    Document {
        fields: Fields::default()
            .with(
                "rmse",
                Fields::default()
                    .with("without_noise", rmse.without_noise)
                    .with("of_the_mean", rmse.of_the_mean)
                    .with("under_noise", rmse.under_noise),
            )
            .with("advice", advice),
        text: format!(
            "root mean square of the residuals of {of}:\n  fit without noise           {:>16}\n  mean weights, before noise  {:>16}\n{under}\n",
            digits(rmse.without_noise),
            digits(rmse.of_the_mean)
        ),
        summary: None,
    }
}

/// What happened, and what would mend it.
fn advice(
    model: &Regression,
    plan: &Plan<'_>,
    rmse: &RootMeanSquares,
    about: About,
) -> Option<String> {
    let under = rmse.under_noise.filter(|_| rmse.is_doubled())?;
    let before = plan.guarantee().strategy().noise_is();
    let before = before.map_or(String::new(), |place| format!(" {place}"));
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
        if plan.labels() == model.weights() {
            said += ", and strategy = \"projected\" in [feasibility] needs none";
        }
    }
    if let Some(other) = advice_without_certificate(plan, about) {
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
        ". More records, a larger ε, fewer basis functions or a stronger ridge (now {ridge}) lower the noise{}",
        choosing("them", about)
    );
    Some(said)
}

/// Responses up to this size do no harm to a solve.
const HARMLESS: f64 = 1e8;

/// What it means that a solve fails, and what to do. Responses of any size are let in, unless public bounds clip them;
/// below that, basis functions that are nearly sums of each other are what makes a regression hard. Private.
fn out_of_size(regression: &Regression, theta: &[f64], error: &conveil::Error) -> Option<Help> {
    use conveil::Error::{Inaccurate, Numerical, Unbounded};
    if !matches!(error, Inaccurate { .. } | Numerical(_) | Unbounded(_)) {
        return None;
    }
    let bounds = regression.bounds();
    let clipped = theta.iter().map(|y| match bounds {
        Some((low, high)) => y.clamp(low, high),
        None => *y,
    });
    let sizes = clipped.map(f64::abs).enumerate();
    let (record, size) = sizes.max_by(|a, b| a.1.total_cmp(&b.1))?;
    if size <= HARMLESS {
        return Some(Help {
            meaning: Some("the weights could not be solved for as closely as needed".into()),
            help: format!(
                "basis functions that nearly depend on each other, such as high powers far from their `center`, are hard to solve so closely: take lower degrees, a `center` amid the records, a `scale` that keeps powers near 1, or a stronger `ridge` (now {})",
                regression.ridge()
            ),
        });
    }
    let largest = format!(
        "the largest response is that of record {}, {size:e} in size",
        record + 1
    );
    let what = "the responses are beyond what can be solved";
    Some(match bounds {
        None => Help {
            meaning: Some(format!("{what}, and they have no public bounds")),
            help: format!(
                "{largest}, and nothing bounds it: `bounds = [low, high]` in [private], from what is known about the response, clips every one to them"
            ),
        },
        Some((low, high)) => Help {
            meaning: Some(format!("{what}, though their public bounds let them in")),
            help: format!(
                "{largest}, which the public bounds [{}, {}] let in: they may be too wide",
                exact(low),
                exact(high)
            ),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Records;
    use crate::regression::Basis;

    /// Ten responses of this size, clipped to these bounds; a solve of them fails.
    fn blamed(size: f64, bounds: Option<(f64, f64)>) -> (String, String) {
        let speeds: Vec<f64> = (0..10).map(f64::from).collect();
        let regressors = Records::from_column("speed", &speeds).unwrap();
        let mut builder = Regression::of(regressors, "power")
            .basis(Basis::linear("speed"))
            .basis(Basis::Constant)
            .ridge(0.25);
        if let Some((low, high)) = bounds {
            builder = builder.within(low, high);
        }
        let model = builder.build().unwrap();
        let error = conveil::Error::Numerical("for the test".into());
        let help = out_of_size(&model, &[size; 10], &error).unwrap();
        (help.meaning.unwrap(), help.help)
    }

    #[test]
    fn responses_are_blamed_for_a_failure_only_where_they_are_huge() {
        let basis = (
            "the weights could not be solved for as closely as needed".to_string(),
            "basis functions that nearly depend on each other, such as high powers far from their `center`, are hard to solve so closely: take lower degrees, a `center` amid the records, a `scale` that keeps powers near 1, or a stronger `ridge` (now 0.25)".to_string(),
        );
        assert_eq!(blamed(1e8, None), basis);
        // Clipped, the largest does no harm either.
        assert_eq!(blamed(1e15, Some((0.0, 120.0))), basis);
        let (what, help) = blamed(-1.5e8, None);
        assert_eq!(
            what,
            "the responses are beyond what can be solved, and they have no public bounds"
        );
        assert!(
            help.contains("1.5e8 in size, and nothing bounds it"),
            "{help}"
        );
        let (_, help) = blamed(1e15, Some((0.0, 1e99)));
        assert!(
            help.ends_with("which the public bounds [0, 1e99] let in: they may be too wide"),
            "{help}"
        );
    }
}
