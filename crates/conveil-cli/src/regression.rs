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

/// The private responses: one for each record.
pub(crate) fn dataset(inputs: &Inputs, model: &Regression) -> Result<Vec<f64>, Failure> {
    let Model::Regression(wish) = &inputs.spec.problem.model else {
        return Ok(Vec::new());
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
    Records::each(&name, input, &[column], |record| values.extend(record))?;
    if values.len() != model.records() {
        return Err(Failure::input(format!(
            "{name}: there are {} responses, but {} has {} records",
            values.len(),
            inputs.problem_name,
            model.records()
        )));
    }
    Ok(values)
}

/// What it means that a solve fails, and what to do: responses of any size are let in, unless public bounds clip them.
/// Private.
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
                shown(low),
                shown(high)
            ),
        ),
    })
}

fn shown(value: f64) -> String {
    match value.abs() {
        size if size < 1e6 => value.to_string(),
        _ => format!("{value:e}"),
    }
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
