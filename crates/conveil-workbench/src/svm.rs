//! Model `svm`: the spec's features as a classifier, its records as a dataset, and what its curator should know.

use std::fmt;
use std::path::Path;

use conveil::ask::Privacy;
use conveil::curator::{Clipped, CuratorReport};
use conveil::noise::Sampler;
use conveil::plan::{Decided, Plan};
use conveil_models::records::{Code, Coded, Records};
use conveil_models::svm::{Accuracy, Classes, Feature, Intercept, Score, Svm, noise_ratio};
use conveil_read::spec::{Model, Svm as Wish, SvmIntercept, SvmLabel};
use conveil_text::Located;
use conveil_text::spelling::quoted;
use serde::Serialize;

use crate::failure::Failure;
use crate::inputs::{Inputs, records_of};
use crate::outside::Outside;
use crate::regression_report::{set_by_hand, written};

/// The classifier. Everything about it is public: features, bounds, how many records there are.
pub(crate) fn svm(inputs: &Inputs) -> Result<Svm, Failure> {
    let wish = wish(inputs)?;
    let features = wish.features.iter().map(|feature| {
        let (low, high) = feature.value.bounds;
        Feature::within(&feature.value.name, low, high)
    });
    Svm::of(wish.records.value, features.collect())
        .lambda(wish.lambda)
        .intercept(match wish.intercept {
            SvmIntercept::Regularised => Intercept::Regularised,
            SvmIntercept::None => Intercept::None,
        })
        .classes(Classes {
            label: wish.label.column.value.clone(),
            positive: wish.label.positive.to_string(),
            negative: wish.label.negative.to_string(),
        })
        .build()
        .map_err(|e| Failure::engine(&inputs.spec_name, &e))
}

fn wish(inputs: &Inputs) -> Result<&Wish, Failure> {
    match &inputs.spec.problem.model {
        Model::Svm(wish) => Ok(wish),
        _ => Err(Failure::input(format!(
            "{}: records need model `svm`",
            inputs.spec_name
        ))),
    }
}

/// Records of a file: features, and labels, true for the positive one.
pub(crate) struct Labelled {
    pub(crate) name: String,
    /// The line of the first record; the others follow.
    first_line: usize,
    features: Vec<Vec<f64>>,
    labels: Vec<bool>,
}

impl Labelled {
    pub(crate) fn open(
        inputs: &Inputs,
        file: &Located<String>,
        key: &str,
    ) -> Result<Self, Failure> {
        let wish = wish(inputs)?;
        let path = inputs.folder.join(Path::new(&file.value));
        let name = path.display().to_string();
        let input = records_of(&path).map_err(|why| {
            file.error(
                &inputs.spec_name,
                format!("cannot read the records {name}: {why}"),
            )
            .with_help(format!(
                "`{key}` is a path relative to the spec's directory"
            ))
        })?;
        let mut columns: Vec<&str> = (wish.features.iter())
            .map(|feature| feature.value.name.as_str())
            .collect();
        columns.push(&wish.label.column.value);
        let code = Code {
            column: &wish.label.column.value,
            number: &|field| coded(&wish.label, field),
        };
        let n = wish.features.len();
        let (mut features, mut labels) = (Vec::new(), Vec::new());
        let mut first_line = None;
        Records::each_coded(&name, input, &columns, &code, |line, row| {
            first_line.get_or_insert(line);
            features.push(row[..n].to_vec());
            labels.push(row[n] > 0.0);
        })?;
        Ok(Labelled {
            name,
            first_line: first_line.unwrap_or(1),
            features,
            labels,
        })
    }

    /// What lies outside the public bounds, feature by feature.
    fn outside(&self, svm: &Svm) -> Vec<Outside> {
        let mut found: Vec<Option<Outside>> = svm.features().iter().map(|_| None).collect();
        for (i, record) in self.features.iter().enumerate() {
            for (j, feature) in svm.features().iter().enumerate() {
                let (Some(bounds), Some(_)) = (feature.bounds(), feature.clipped(record[j])) else {
                    continue;
                };
                let line = self.first_line + i;
                found[j]
                    .get_or_insert_with(|| Outside::first(feature.name(), bounds, record[j], line))
                    .count(record[j]);
            }
        }
        found.into_iter().flatten().collect()
    }

    /// The same one by one, by the engine's names.
    fn clipped(&self, svm: &Svm) -> Vec<Clipped> {
        let mut clipped = Vec::new();
        for (i, record) in self.features.iter().enumerate() {
            for (feature, &datum) in svm.features().iter().zip(record) {
                clipped.extend(feature.clipped(datum).map(|counted_as| Clipped {
                    name: format!("record {} {}", i + 1, feature.name()),
                    datum,
                    counted_as,
                }));
            }
        }
        clipped
    }

    /// What about these training records makes a classifier of them worth little. Private.
    fn remarks(&self, svm: &Svm) -> Vec<String> {
        let mut remarks = Vec::new();
        let classes = svm.classes();
        if let Some(only) = self.labels.first()
            && self.labels.iter().all(|label| label == only)
        {
            remarks.push(format!(
                "the label {} is {} in every record of {}: there is nothing to tell apart",
                quoted(&classes.label),
                quoted(if *only {
                    &classes.positive
                } else {
                    &classes.negative
                }),
                self.name
            ));
        }
        for (j, feature) in svm.features().iter().enumerate() {
            let clipped = |record: &Vec<f64>| match feature.bounds() {
                Some((low, high)) => record[j].clamp(low, high),
                None => record[j],
            };
            let Some(first) = self.features.first().map(clipped) else {
                continue;
            };
            if self.features.iter().all(|record| clipped(record) == first) {
                let clipped = match self.features.iter().all(|record| record[j] == first) {
                    true => "",
                    false => " once clipped to its bounds",
                };
                remarks.push(format!(
                    "`{}` is {first} in every record of {}{clipped}: it tells nothing apart, and its weight costs noise",
                    feature.name(),
                    self.name
                ));
            }
        }
        remarks
    }
}

/// 1 for the positive label, 0 for the negative one; or which labels there are.
fn coded(label: &SvmLabel, field: &str) -> Coded {
    let column = &label.column.value;
    if let Some(is_positive) = label.of(field) {
        return Ok(f64::from(is_positive));
    }
    let found = match field {
        "" => String::from("nothing"),
        field => quoted(field),
    };
    Err((
        format!(
            "the label {} must be `positive` ({}) or `negative` ({}), found {found}",
            quoted(column),
            label.positive,
            label.negative
        ),
        format!(
            "[problem] says what the two labels are, in numbers or in words: label = {{ column = {column:?}, positive = \"yes\", negative = \"no\" }}"
        ),
    ))
}

/// The private records as one dataset, and what the curator should know about them.
pub(crate) fn dataset(inputs: &Inputs, svm: &Svm) -> Result<(Vec<f64>, Vec<String>), Failure> {
    let Some(files) = &inputs.spec.private.records else {
        return Err(Failure::input(format!(
            "{}: [private] names no `data`",
            inputs.spec_name
        )));
    };
    let records = Labelled::open(inputs, &files.data, "data")?;
    let (found, stated) = (records.labels.len(), svm.records());
    if found != stated {
        // How many records there are is part of the noise, so it is public and stated, not counted.
        return Err(wish(inputs)?
            .records
            .error(
                &inputs.spec_name,
                format!(
                    "`records` is {stated}, but {} has {found} records",
                    records.name
                ),
            )
            .with_help("the number of records is public, and the noise follows from it")
            .into());
    }
    let theta = svm
        .dataset(&records.features, &records.labels)
        .map_err(|e| Failure::engine(&records.name, &e))?;
    let outside = records.outside(svm).into_iter();
    let mut remarks: Vec<String> = outside
        .map(|o| format!("{o} of {}", records.name))
        .collect();
    remarks.extend(records.remarks(svm));
    Ok((theta, remarks))
}

/// The curator report of a classifier: the engine's, how much of the hyperplane is noise, and how it scores.
#[derive(Debug, Clone, Serialize)]
pub struct SvmReport {
    #[serde(flatten)]
    report: CuratorReport,
    /// What lies outside the public bounds, by feature.
    outside_bounds: Vec<Outside>,
    /// The expected length of the noise over that of the hyperplane; none where every weight is 0.
    noise_over_weights: Option<f64>,
    /// What would bring it below 1, where it is above.
    advice: Option<String>,
    /// What about the training records makes a classifier of them worth little.
    remarks: Vec<String>,
    /// By file.
    scores: Vec<FileScore>,
}

/// A score as documents hold it: in percent, like everything that is called accuracy or majority there.
#[derive(Debug, Clone, Serialize)]
struct Percent {
    records: usize,
    accuracy: f64,
    majority: f64,
}

impl From<Score> for Percent {
    fn from(score: Score) -> Self {
        Percent {
            records: score.records,
            accuracy: 100.0 * score.accuracy,
            majority: 100.0 * score.majority,
        }
    }
}

/// How hyperplanes score on one file.
#[derive(Debug, Clone, Serialize)]
struct FileScore {
    file: String,
    /// Of the mean hyperplane, before noise.
    before_noise: Percent,
    /// Mean accuracy over seeded draws of the noise, in percent.
    accuracy_mean: f64,
    /// Its standard deviation from draw to draw, in percent.
    accuracy_std: f64,
    draws: usize,
}

/// Draws behind an accuracy under noise.
const DRAWS: usize = 500;

/// Their seed: any number serves.
const SEED: u64 = 0x5C0E;

/// Records scored in each draw, at most.
const SCORED: usize = 2_000;

impl SvmReport {
    pub(crate) fn new(
        inputs: &Inputs,
        svm: &Svm,
        plan: &Plan<'_>,
        decided: &Decided,
        report: &CuratorReport,
    ) -> Result<Self, Failure> {
        let ratio = noise_ratio(plan, decided);
        let (mut scores, mut remarks, mut outside_bounds) = (Vec::new(), Vec::new(), Vec::new());
        let mut report = report.clone();
        if let Some(files) = &inputs.spec.private.records {
            let training = Labelled::open(inputs, &files.data, "data")?;
            remarks = training.remarks(svm);
            outside_bounds = training.outside(svm);
            if !report.clipped.is_empty() {
                // The engine knows scaled features times labels; the curator, the file.
                report.clipped = training.clipped(svm);
            }
            scores.push(score(svm, plan, decided, training)?);
            if let Some(test) = &files.test {
                let test = Labelled::open(inputs, test, "test")?;
                scores.push(score(svm, plan, decided, test)?);
            }
        }
        Ok(SvmReport {
            report,
            outside_bounds,
            noise_over_weights: ratio.is_finite().then_some(ratio),
            advice: noise_decides(svm, plan, decided),
            remarks,
            scores,
        })
    }
}

/// A warning where the noise is longer than the hyperplane.
pub(crate) fn noise_decides(svm: &Svm, plan: &Plan<'_>, decided: &Decided) -> Option<String> {
    let ratio = noise_ratio(plan, decided);
    (ratio > 1.0).then(|| advice(svm, plan, ratio))
}

/// How many records would do, and what cannot.
fn advice(svm: &Svm, plan: &Plan<'_>, ratio: f64) -> String {
    if !ratio.is_finite() {
        return format!(
            "the hyperplane is 0 before noise, and its release is noise alone: the features do not tell these classes apart, or λ = {} and the noise leave nothing of it",
            svm.lambda()
        );
    }
    let longer = format!(
        "the noise is {} times as long as the hyperplane: it decides, not the data",
        written(ratio, 2)
    );
    if let Some(other) = set_by_hand(plan) {
        return format!("{longer}. {other}");
    }
    let records = written((svm.records() as f64 * ratio).ceil(), 0);
    let epsilon = match plan.guarantee().privacy() {
        Privacy::Laplace { epsilon } => format!(", or ε of about {}", written(epsilon * ratio, 3)),
        _ => String::new(),
    };
    format!(
        "{longer}. About {records} records of the same kind{epsilon} would bring it to 1; a larger λ (now {}) lowers the noise in proportion, and the weights too, but less while they are long. Choosing λ by looking at these data is not covered by the guarantee",
        svm.lambda()
    )
}

fn score(
    svm: &Svm,
    plan: &Plan<'_>,
    decided: &Decided,
    records: Labelled,
) -> Result<FileScore, Failure> {
    let (before, under) = accuracies(svm, plan, &decided.answer, &records, DRAWS, SEED)?;
    Ok(FileScore {
        before_noise: before.into(),
        file: records.name,
        accuracy_mean: under.mean,
        accuracy_std: under.std,
        draws: DRAWS,
    })
}

/// The score of weights before noise, and their accuracy over seeded draws of the plan's noise on them.
pub(crate) fn accuracies(
    svm: &Svm,
    plan: &Plan<'_>,
    weights: &[f64],
    records: &Labelled,
    draws: usize,
    seed: u64,
) -> Result<(Score, Accuracy), Failure> {
    let scored = |weights: &[f64], most: usize| {
        let most = most.min(records.labels.len());
        svm.score(weights, &records.features[..most], &records.labels[..most])
            .map_err(|e| Failure::engine(&records.name, &e))
    };
    let shape = plan.released().shape();
    let mut sampler = Sampler::new(seed, 0);
    let mut zeta = vec![0.0; shape.noises()];
    let mut found = Vec::with_capacity(draws);
    for _ in 0..draws {
        sampler.fill(plan.law(), &mut zeta);
        let noise = |i: usize| shape.row(i).iter().zip(&zeta).map(|(t, z)| t * z);
        let noisy: Vec<f64> = (weights.iter().enumerate())
            .map(|(i, w)| w + noise(i).sum::<f64>())
            .collect();
        found.push(scored(&noisy, SCORED)?.accuracy);
    }
    Ok((scored(weights, usize::MAX)?, Accuracy::over(&found)))
}

impl fmt::Display for SvmReport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "{}", self.report)?;
        match (self.noise_over_weights, &self.advice) {
            (None, _) => writeln!(f, "noise over weights     the weights are 0: noise alone"),
            (Some(ratio), None) => writeln!(f, "noise over weights     {ratio:>16.4}"),
            (Some(ratio), Some(_)) => writeln!(
                f,
                "noise over weights     {ratio:>16.4}  (above 1: the noise decides)"
            ),
        }?;
        for remark in &self.remarks {
            writeln!(f, "warning: {remark}")?;
        }
        for score in &self.scores {
            writeln!(
                f,
                "accuracy on {}: {:.2}% before noise, {:.2}% ± {:.2} over {} draws of it; always the larger class: {:.2}%",
                score.file,
                score.before_noise.accuracy,
                score.accuracy_mean,
                score.accuracy_std,
                score.draws,
                score.before_noise.majority
            )?;
        }
        Ok(())
    }
}
