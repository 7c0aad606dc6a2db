//! The private records of a classifier, and what their curator should know: how much of the hyperplane is noise, and how
//! it scores. Private, all of it.

use conveil::ask::Privacy;
use conveil::curator::About;
use conveil::noise::Sampler;
use conveil::plan::{Decided, Plan};

use conveil_text::spelling::counted;

use super::compare;
use super::labelled::Labelled;
use super::outlook;
use super::public::ClassifierModel;
use super::{Accuracy, Classifier, Score, noise_ratio};
use crate::document::{Annex, Document, Fields};
use crate::failure::Failure;
use crate::files::Files;
use crate::model::{AnswerMeasure, Compared, Curated, Datasets, Outlook};
use crate::picture::{Picture, Scores};
use crate::words::{advice_without_certificate, choosing, written};

/// The training records as one dataset.
#[derive(Debug)]
pub(super) struct Training<'m> {
    of: &'m ClassifierModel,
    files: Files,
    records: Labelled,
    remarks: Vec<String>,
}

impl<'m> Training<'m> {
    pub(super) fn open(of: &'m ClassifierModel, files: &Files) -> Result<Self, Failure> {
        let (classifier, stated) = (&of.classifier, &of.stated);
        let Some(file) = &stated.data else {
            return Err(Failure::Input(format!(
                "{}: [private] names no `data`",
                of.spec_name
            )));
        };
        let mut records = Labelled::open(stated, files, file, "data")?;
        if stated.at_twin {
            records.repeat(classifier.records());
        }
        if records.labels.len() != classifier.records() {
            return Err(of.miscounted(&records.name, records.labels.len()).into());
        }
        let outside = records.outside(classifier).into_iter();
        let mut remarks: Vec<String> = outside
            .map(|o| format!("{o} of {}", records.name))
            .collect();
        remarks.extend(scaled_text(classifier, &records));
        remarks.extend(records.remarks(classifier));
        Ok(Training {
            of,
            files: files.clone(),
            records,
            remarks,
        })
    }

    /// Records to score hyperplanes on, where the spec names some.
    fn test(&self) -> Result<Option<Labelled>, Failure> {
        let stated = &self.of.stated;
        let test = stated.test.as_ref();
        test.map(|file| Labelled::open(stated, &self.files, file, "test"))
            .transpose()
    }

    fn report(&self, curated: &Curated<'_>) -> Result<Document, Failure> {
        let Curated { plan, decided, .. } = *curated;
        let classifier = self.of.behind(plan);
        let ratio = noise_ratio(plan, decided);
        let advice = noise_decides(classifier, plan, decided, curated.about);
        let remarks = self.records.remarks(classifier);
        let mut scores = vec![FileScore::new(classifier, plan, decided, &self.records)?];
        if let Some(test) = self.test()? {
            scores.push(FileScore::new(classifier, plan, decided, &test)?);
        }
        let mut text = match (ratio.is_finite(), &advice) {
            (false, _) => "noise over weights     the weights are 0: noise alone\n".into(),
            (true, None) => format!("noise over weights     {ratio:>16.4}\n"),
            (true, Some(_)) => {
                format!("noise over weights     {ratio:>16.4}  (above 1: the noise decides)\n")
            }
        };
        for remark in &remarks {
            text += &format!("warning: {remark}\n");
        }
        for score in &scores {
            text += &score.line();
        }
        if let Some(scaled) = scaled_text(classifier, &self.records) {
            text += &format!("{scaled}\n");
        }
        let outside = self.records.outside(classifier);
        let mut fields = Fields::default().with(
            "outside_bounds",
            outside.iter().map(|o| o.fields()).collect::<Vec<_>>(),
        );
        if classifier.norm().is_some() {
            fields = fields.with("scaled_to_norm", self.records.scaled(classifier));
        }
        Ok(Document {
            fields: fields
                .with("noise_over_weights", ratio.is_finite().then_some(ratio))
                .with("advice", advice)
                .with("remarks", remarks)
                .with(
                    "scores",
                    scores.iter().map(FileScore::fields).collect::<Vec<_>>(),
                ),
            text,
            summary: None,
        })
    }
}

impl Training<'_> {
    /// The scores of the records by class, and how far the noise moves one. A score is linear in the weights.
    fn picture(&self, curated: &Curated<'_>) -> Option<Picture> {
        let classifier = self.of.behind(curated.plan);
        let (shape, weights) = (curated.plan.released().shape(), &curated.decided.answer);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let mut deviations = 0.0;
        for i in spread(self.records.labels.len(), PICTURED) {
            let values = self.records.record(i);
            let score = classifier.decision_value(weights, values).ok()?;
            match self.records.labels[i] {
                false => first.push(score),
                true => second.push(score),
            }
            let mut square = 0.0;
            for noise in 0..shape.noises() {
                let column: Vec<f64> = (0..weights.len()).map(|w| shape.row(w)[noise]).collect();
                square += classifier.decision_value(&column, values).ok()?.powi(2);
            }
            deviations += square.sqrt();
        }
        let count = (first.len() + second.len()).max(1) as f64;
        let classes = classifier.classes();
        Some(Picture::Scores(Scores {
            first_name: format!("{} is {}", classes.label, classes.negative),
            first,
            second_name: format!("{} is {}", classes.label, classes.positive),
            second,
            deviation: curated.plan.law().std_dev() * deviations / count,
        }))
    }
}

/// Records in a picture, at most.
const PICTURED: usize = 5_000;

impl Datasets for Training<'_> {
    /// Made when it is asked for: of a million records one copy is enough.
    fn row(&self, _row: usize) -> Result<Vec<f64>, Failure> {
        let (classifier, records) = (&self.of.classifier, &self.records);
        let theta = classifier.theta_of(records.records(), &records.labels);
        theta.map_err(|e| Failure::engine(&records.name, e))
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn counts_outside(&self) -> bool {
        true
    }

    fn annex(&self, curated: &Curated<'_>) -> Annex {
        let (plan, decided) = (curated.plan, curated.decided);
        let classifier = self.of.behind(plan);
        let is_clipped = curated.report.is_some_and(|r| !r.clipped.is_empty());
        Annex {
            picture: curated.report.and_then(|_| self.picture(curated)),
            warning: noise_decides(classifier, plan, decided, curated.about),
            report: curated.report.map(|_| self.report(curated)),
            // The engine knows scaled features times labels; the curator, the file.
            clipped: is_clipped.then(|| self.records.clipped(classifier)),
        }
    }

    /// In accuracy: every hyperplane is feasible, since each loss has a slack.
    fn compare(&self, case: &Compared<'_>) -> Option<Result<Document, Failure>> {
        Some(self.test().and_then(|test| {
            let records = test.as_ref().unwrap_or(&self.records);
            compare::document(&self.of.spec_name, &self.of.classifier, records, case)
        }))
    }

    /// The objective is a regularised loss, and each λ has another.
    fn measure(&self) -> Option<Result<AnswerMeasure<'_>, Failure>> {
        Some(self.test().map(|test| AnswerMeasure {
            name: outlook::MEASURE,
            of: Box::new(move |plan, decided| {
                let records = test.as_ref().unwrap_or(&self.records);
                let (classifier, weights) = (&self.of.classifier, &decided.answer);
                let (_, under) = scored(classifier, plan, weights, records, DRAWS, SEED)?;
                Ok(1.0 - under.mean / 100.0)
            }),
        }))
    }

    fn outlook(&self, case: &Compared<'_>) -> Option<Result<Outlook, Failure>> {
        Some(self.test().and_then(|test| {
            let records = test.as_ref().unwrap_or(&self.records);
            outlook::of(&self.of.spec_name, &self.of.classifier, records, case)
        }))
    }
}

/// How hyperplanes score on one file; accuracies and majorities in percent, as everywhere in documents.
struct FileScore {
    file: String,
    before_noise: Score,
    under_noise: Accuracy,
}

/// Draws behind an accuracy under noise.
const DRAWS: usize = 500;

/// Their seed: any number serves.
const SEED: u64 = 0x5C0E;

/// Records scored in each draw, at most: spread over the file, which may be sorted.
const SCORED: usize = 20_000;

impl FileScore {
    fn new(
        classifier: &Classifier,
        plan: &Plan<'_>,
        decided: &Decided,
        records: &Labelled,
    ) -> Result<Self, Failure> {
        let (before_noise, under_noise) =
            accuracies(classifier, plan, &decided.answer, records, DRAWS, SEED)?;
        Ok(FileScore {
            file: records.name.clone(),
            before_noise,
            under_noise,
        })
    }

    fn fields(&self) -> Fields {
        let before = Fields::default()
            .with("records", self.before_noise.records)
            .with("accuracy", 100.0 * self.before_noise.accuracy)
            .with("majority", 100.0 * self.before_noise.majority);
        Fields::default()
            .with("file", self.file.as_str())
            .with("before_noise", before)
            .with("accuracy_mean", self.under_noise.mean)
            .with("accuracy_std", self.under_noise.std)
            .with("draws", DRAWS)
    }

    fn line(&self) -> String {
        format!(
            "accuracy on {}: {:.2}% before noise, {:.2}% ± {:.2} over {DRAWS} draws of it; always the larger class: {:.2}%\n",
            self.file,
            100.0 * self.before_noise.accuracy,
            self.under_noise.mean,
            self.under_noise.std,
            100.0 * self.before_noise.majority
        )
    }
}

/// How many records are scaled to the public norm, where some are. Private.
fn scaled_text(classifier: &Classifier, records: &Labelled) -> Option<String> {
    let norm = classifier.norm()?;
    let scaled = records.scaled(classifier);
    (scaled > 0).then(|| {
        format!(
            "{scaled} of {} of {} longer than the public norm {norm}, scaled to it",
            counted(records.labels.len(), "record", "records"),
            records.name
        )
    })
}

/// A warning where the noise is longer than the hyperplane.
fn noise_decides(
    classifier: &Classifier,
    plan: &Plan<'_>,
    decided: &Decided,
    about: About,
) -> Option<String> {
    let ratio = noise_ratio(plan, decided);
    (ratio > 1.0).then(|| advice(classifier, plan, ratio, about))
}

/// How many records would do, and what cannot.
fn advice(classifier: &Classifier, plan: &Plan<'_>, ratio: f64, about: About) -> String {
    if !ratio.is_finite() {
        return format!(
            "the hyperplane is 0 before noise, and its release is noise alone: the features do not tell these classes apart, or λ = {} and the noise leave nothing of it",
            classifier.lambda()
        );
    }
    let longer = format!(
        "the noise is {} times as long as the hyperplane: it decides, not the data",
        written(ratio, 2)
    );
    if let Some(other) = advice_without_certificate(plan, about) {
        return format!("{longer}. {other}");
    }
    let records = written((classifier.records() as f64 * ratio).ceil(), 0);
    let epsilon = match plan.guarantee().privacy() {
        Privacy::Laplace { epsilon } => format!(", or ε of about {}", written(epsilon * ratio, 3)),
        _ => String::new(),
    };
    format!(
        "{longer}. About {records} records of the same kind{epsilon} would bring it to 1; a larger λ (now {}) lowers the noise in proportion, and the weights too, but less while they are long{}",
        classifier.lambda(),
        choosing("λ", about)
    )
}

/// The score of weights before noise, and their accuracy over seeded draws of the plan's noise on them.
pub(super) fn accuracies(
    classifier: &Classifier,
    plan: &Plan<'_>,
    weights: &[f64],
    records: &Labelled,
    draws: usize,
    seed: u64,
) -> Result<(Score, Accuracy), Failure> {
    let scored = scored(classifier, plan, weights, records, draws, seed);
    scored.map_err(|e| Failure::engine(&records.name, e))
}

/// The same in the engine's terms.
fn scored(
    classifier: &Classifier,
    plan: &Plan<'_>,
    weights: &[f64],
    records: &Labelled,
    draws: usize,
    seed: u64,
) -> conveil::Result<(Score, Accuracy)> {
    let places = spread(records.labels.len(), SCORED);
    let features: Vec<Vec<f64>> = places.clone().map(|i| records.record(i).to_vec()).collect();
    let labels: Vec<bool> = places.map(|i| records.labels[i]).collect();
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
        found.push(classifier.score(&noisy, &features, &labels)?.accuracy);
    }
    // Both on the same records, so that they can be compared.
    let before = classifier.score(weights, &features, &labels)?;
    Ok((before, Accuracy::over(&found)))
}

/// At most `most` places of a list, evenly apart.
fn spread(len: usize, most: usize) -> impl Iterator<Item = usize> + Clone {
    let count = len.min(most);
    (0..count).map(move |k| k * len / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first half of a sorted file is one class: half of the places must lie in it.
    #[test]
    fn records_that_are_scored_are_spread_over_the_file() {
        let places: Vec<usize> = spread(90_000, SCORED).collect();
        assert_eq!(places.len(), SCORED);
        assert_eq!(places.iter().filter(|i| **i < 45_000).count(), SCORED / 2);
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]) && places[SCORED - 1] < 90_000);
        assert_eq!(spread(3, SCORED).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
