//! Model `regression`: the spec's regressors as a public model, and apart from them the private responses.

use std::io::BufRead;
use std::path::Path;

use conveil::ask::Query;
use conveil_models::records::Records;
use conveil_models::regression::{
    Basis, Behaviour, Condition, Loss, Regression, RegressionBuilder,
};
use conveil_read::spec::{self, Model, Release, Sensitivity, Spec};

use crate::failure::Failure;
use crate::inputs::{Inputs, records_of};
use crate::outside::{Outside, exact, is_clipped};

/// The name of the file of regressors, and the public regressors in it.
pub(crate) fn open(
    spec_name: &str,
    folder: &Path,
    wish: &spec::Regression,
) -> Result<(String, Records), Failure> {
    let file = &wish.regressors;
    let path = folder.join(file.value.as_str());
    let name = path.display().to_string();
    let input = records_of(&path).map_err(|why| {
        let message = format!("cannot read the regressors {name}: {why}");
        file.error(spec_name, message)
            .with_help("`regressors` is a path relative to the spec's directory")
    })?;
    let records = regressors(&name, input, wish)?;
    Ok((name, records))
}

/// The public regressors in a text: the columns that the basis functions need, and no other. A spec without any feature
/// has the constant alone, and then the file only says how many records there are.
pub(crate) fn regressors(
    name: &str,
    input: impl BufRead,
    regression: &spec::Regression,
) -> Result<Records, Failure> {
    let features = regression.features();
    let columns: Vec<&str> = features.iter().map(|f| f.value.as_str()).collect();
    if columns.is_empty() {
        let ones = vec![1.0; Records::each(name, input, &[], |_| ())?];
        return Records::from_column("constant", &ones)
            .map_err(|why| Failure::input(format!("{name}: {why}")));
    }
    Ok(Records::read_columns(name, input, &columns)?)
}

/// The model. The responses are no part of it.
pub(crate) fn model(inputs: &Inputs, regressors: &Records) -> Result<Regression, Failure> {
    let (Model::Regression(wish), Some(responses)) =
        (&inputs.spec.problem.model, &inputs.spec.private.responses)
    else {
        return Err(Failure::input(format!(
            "{}: records need model `regression`",
            inputs.spec_name
        )));
    };
    let mut builder = Regression::of(regressors.clone(), &wish.response.value)
        .ridge(wish.ridge)
        .loss(match wish.loss.value {
            spec::RegressionLoss::Squared => Loss::Squared,
            spec::RegressionLoss::Norm => Loss::Norm,
        });
    if let Some((low, high)) = responses.bounds {
        builder = builder.within(low, high);
    }
    for (column, unit) in &wish.units {
        builder = builder.unit(column, &unit.value);
    }
    for basis in &wish.basis {
        builder = with_basis(builder, &basis.value);
    }
    for condition in &wish.conditions {
        builder = builder.condition(match &condition.value {
            spec::Condition::Weights { nonnegative } => Condition::Weights {
                nonnegative: *nonnegative,
            },
            spec::Condition::At {
                behaviour,
                feature,
                points,
            } => Condition::at(behaviour_of(*behaviour), &feature.value, points),
        });
    }
    builder
        .build()
        .map_err(|e| Failure::engine(&inputs.spec_name, &e))
}

fn with_basis(builder: RegressionBuilder, basis: &spec::Basis) -> RegressionBuilder {
    match basis {
        spec::Basis::Constant => builder.basis(Basis::Constant),
        spec::Basis::Linear { features } => features
            .iter()
            .fold(builder, |b, f| b.basis(Basis::linear(&f.value))),
        spec::Basis::Polynomial {
            feature,
            degree,
            center,
        } => builder.basis(Basis::Polynomial {
            feature: feature.value.clone(),
            degree: *degree,
            centre: *center,
        }),
        spec::Basis::Power {
            feature,
            degree,
            center,
            scale,
        } => builder.basis(Basis::Power {
            feature: feature.value.clone(),
            degree: *degree,
            centre: *center,
            scale: *scale,
        }),
        spec::Basis::Radial {
            feature,
            centers,
            width,
        } => builder.basis(Basis::Radial {
            feature: feature.value.clone(),
            centres: centers.clone(),
            width: *width,
        }),
    }
}

fn behaviour_of(behaviour: spec::Behaviour) -> Behaviour {
    match behaviour {
        spec::Behaviour::Nonnegative => Behaviour::Nonnegative,
        spec::Behaviour::Nonpositive => Behaviour::Nonpositive,
        spec::Behaviour::Increasing => Behaviour::Increasing,
        spec::Behaviour::Decreasing => Behaviour::Decreasing,
        spec::Behaviour::Convex => Behaviour::Convex,
        spec::Behaviour::Concave => Behaviour::Concave,
    }
}

/// The private responses, one for each record, and what the curator should know about them.
pub(crate) fn dataset(
    inputs: &Inputs,
    model: &Regression,
) -> Result<(Vec<f64>, Vec<String>), Failure> {
    let Model::Regression(wish) = &inputs.spec.problem.model else {
        return Ok((Vec::new(), Vec::new()));
    };
    let responses = inputs.spec.private.responses.as_ref();
    let own = responses.and_then(|r| r.file.as_ref());
    let (file, key) = match own {
        Some(file) => (file, "data"),
        None => (&wish.regressors, "regressors"),
    };
    let path = inputs.folder.join(file.value.as_str());
    let name = path.display().to_string();
    let input = records_of(&path).map_err(|why| {
        file.error(
            &inputs.spec_name,
            format!("cannot read the responses {name}: {why}"),
        )
        .with_help(format!(
            "`{key}` is a path relative to the spec's directory"
        ))
    })?;
    let column = wish.response.value.as_str();
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
        return Err(Failure::input(format!(
            "{name}: there are {} responses, but {} has {} records",
            values.len(),
            inputs.problem_name,
            model.records()
        )));
    }
    let remarks = outside.map(|o| format!("{o} of {name}"));
    Ok((values, remarks.into_iter().collect()))
}

/// Responses up to this size do no harm to a solve.
const HARMLESS: f64 = 1e8;

/// What it means that a solve fails, and what to do. Responses of any size are let in, unless public bounds clip them;
/// below that, basis functions that are nearly sums of each other are what makes a regression hard. Private.
pub(crate) fn out_of_size(
    model: &crate::model::Model,
    theta: &[f64],
    error: &conveil::Error,
) -> Option<(String, String)> {
    use conveil::Error::{Inaccurate, Numerical, Unbounded};
    let crate::model::Model::Regression(regression) = model else {
        return None;
    };
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
        return Some((
            "the weights could not be solved for as closely as needed".into(),
            format!(
                "basis functions that nearly depend on each other, such as high powers far from their `center`, are hard to solve so closely: take lower degrees, a `center` amid the records, a `scale` that keeps powers near 1, or a stronger `ridge` (now {})",
                regression.ridge()
            ),
        ));
    }
    let largest = format!(
        "the largest response is that of record {}, {size:e} in size",
        record + 1
    );
    let what = "the responses are beyond what can be solved";
    Some(match bounds {
        None => (
            format!("{what}, and they have no public bounds"),
            format!(
                "{largest}, and nothing bounds it: `bounds = [low, high]` in [private], from what is known about the response, clips every one to them"
            ),
        ),
        Some((low, high)) => (
            format!("{what}, though their public bounds let them in"),
            format!(
                "{largest}, which the public bounds [{}, {}] let in: they may be too wide",
                exact(low),
                exact(high)
            ),
        ),
    })
}

/// All weights, where the spec names none.
pub(crate) fn query(spec: &Spec, model: &Regression) -> Option<Query> {
    match &spec.query.release {
        Release::Weights | Release::Identity { variables: None } => Some(model.query()),
        _ => None,
    }
}

/// Whether the noise is shaped by the curvature unless the spec says otherwise.
pub(crate) fn is_shaped_by_default(spec: &Spec) -> bool {
    matches!(spec.problem.model, Model::Regression(_))
        && spec.privacy.sensitivity.value == Sensitivity::StrongConvexity
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let model = crate::model::Model::Regression(Box::new(builder.build().unwrap()));
        let error = conveil::Error::Numerical("for the test".into());
        out_of_size(&model, &[size; 10], &error).unwrap()
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
