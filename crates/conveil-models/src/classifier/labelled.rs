//! Labelled records of a file, as they stand in it. Private.

use conveil::curator::Clipped;
use conveil_text::Located;
use conveil_text::spelling::quoted;

use super::Classifier;
use super::stated::{ClassifierSpec, Label};
use crate::failure::Failure;
use crate::files::{Files, Named};
use crate::outside::Outside;
use crate::records::{Code, Coded, Records};

/// Records of a file: features, and labels, true for the positive one.
#[derive(Debug)]
pub(super) struct Labelled {
    pub(super) name: String,
    /// The line of the first record; the others follow.
    first_line: usize,
    /// Numbers of a record.
    width: usize,
    /// Record by record.
    features: Vec<f64>,
    pub(super) labels: Vec<bool>,
}

impl Labelled {
    /// The records of a file that the spec names under this key.
    pub(super) fn open(
        stated: &ClassifierSpec,
        files: &Files,
        file: &Located<String>,
        key: &str,
    ) -> Result<Self, Failure> {
        let what = "records";
        let (name, input) = files.private_records(Named { file, what, key })?;
        let mut columns: Vec<&str> = (stated.features.iter())
            .map(|feature| feature.value.name())
            .collect();
        columns.push(&stated.label.column.value);
        let code = Code {
            column: &stated.label.column.value,
            number: &|field| coded(&stated.label, field),
        };
        let n = stated.features.len();
        let (mut features, mut labels) = (Vec::new(), Vec::new());
        let mut first_line = None;
        Records::each_coded(&name, input, &columns, &code, |line, row| {
            first_line.get_or_insert(line);
            features.extend_from_slice(&row[..n]);
            labels.push(row[n] > 0.0);
        })?;
        Ok(Labelled {
            name,
            first_line: first_line.unwrap_or(1),
            width: n,
            features,
            labels,
        })
    }

    /// The features of all records, in order.
    pub(super) fn records(&self) -> impl ExactSizeIterator<Item = &[f64]> + Clone {
        self.features.chunks_exact(self.width)
    }

    /// The features of one record.
    pub(super) fn record(&self, i: usize) -> &[f64] {
        &self.features[self.width * i..self.width * (i + 1)]
    }

    /// Takes the records in turn until there are so many.
    pub(super) fn repeat(&mut self, count: usize) {
        let found = self.labels.len();
        if found == 0 {
            return;
        }
        self.features.truncate(count * self.width);
        self.labels.truncate(count);
        for i in found..count {
            let start = self.width * (i - found);
            self.features.extend_from_within(start..start + self.width);
            self.labels.push(self.labels[i - found]);
        }
    }

    /// What lies outside the public bounds, feature by feature.
    pub(super) fn outside(&self, classifier: &Classifier) -> Vec<Outside> {
        let mut found: Vec<Option<Outside>> = classifier.features().iter().map(|_| None).collect();
        for (i, record) in self.records().enumerate() {
            for (j, feature) in classifier.features().iter().enumerate() {
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
    pub(super) fn clipped(&self, classifier: &Classifier) -> Vec<Clipped> {
        let mut clipped = Vec::new();
        for (i, record) in self.records().enumerate() {
            for (feature, &datum) in classifier.features().iter().zip(record) {
                clipped.extend(feature.clipped(datum).map(|counted_as| Clipped {
                    name: format!("record {} {}", i + 1, feature.name()),
                    datum,
                    counted_as,
                }));
            }
        }
        clipped
    }

    /// How many records are longer than the public norm, and are scaled to it.
    pub(super) fn scaled(&self, classifier: &Classifier) -> usize {
        if classifier.norm().is_none() {
            return 0;
        }
        let is_scaled = |record: &&[f64]| classifier.is_scaled(record);
        self.records().filter(is_scaled).count()
    }

    /// What about these training records makes a classifier of them worth little. Private.
    pub(super) fn remarks(&self, classifier: &Classifier) -> Vec<String> {
        let mut remarks = Vec::new();
        let classes = classifier.classes();
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
        for (j, feature) in classifier.features().iter().enumerate() {
            let clipped = |record: &[f64]| match feature.bounds() {
                Some((low, high)) => record[j].clamp(low, high),
                None => record[j],
            };
            let Some(first) = self.records().next().map(clipped) else {
                continue;
            };
            if self.records().all(|record| clipped(record) == first) {
                let clipped = match self.records().all(|record| record[j] == first) {
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
fn coded(label: &Label, field: &str) -> Coded {
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
