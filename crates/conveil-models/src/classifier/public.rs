//! The features of a spec as a classifier. Everything about it is public: features, bounds, how many records there are.

use std::sync::Arc;

use conveil::ask::{Privacy, Query};
use conveil::plan::{Choice, Plan};
use conveil::program::{DataMap, Place};
use conveil_text::{Located, ReadError};

use super::defaults::{self, LAMBDA_OF_VERSION_1};
use super::private::Training;
use super::stated::ClassifierSpec;
use super::{Classes, Classifier, ClassifierBuilder};
use crate::failure::Failure;
use crate::files::Files;
use crate::model::{Candidates, Datasets, Model};
use crate::spec::{Spec, Version};

/// The classifier of a spec.
#[derive(Debug)]
pub(super) struct ClassifierModel {
    pub(super) spec_name: String,
    pub(super) stated: ClassifierSpec,
    /// With `tune`, that of the smallest λ: all of the grid have its structure.
    pub(super) classifier: Arc<Classifier>,
    candidates: Option<Candidates>,
    /// The classifiers of the grid.
    grid: Vec<Arc<Classifier>>,
    /// The classifier before the rule has chosen its λ, where it does.
    by_rule: Option<ClassifierBuilder>,
}

impl ClassifierModel {
    pub(super) fn open(stated: &ClassifierSpec, spec: &Spec) -> Result<Self, Failure> {
        let features = stated.features.iter().map(|feature| feature.value.clone());
        let mut classifier =
            Classifier::with_loss(stated.loss, stated.records.value, features.collect())
                .intercept(stated.intercept)
                .classes(Classes {
                    label: stated.label.column.value.clone(),
                    positive: stated.label.positive.to_string(),
                    negative: stated.label.negative.to_string(),
                });
        if let Some(norm) = stated.norm {
            classifier = classifier.norm(norm);
        }
        let engine = |e: conveil::Error| Failure::engine(&spec.name, e);
        let (mut grid, mut candidates) = (Vec::new(), None);
        if let Some(tune) = &stated.tune {
            classifier
                .refuse_beyond_memory(tune.value.grid.len())
                .map_err(engine)?;
            for lambda in &tune.value.grid {
                let built = classifier.clone().lambda(*lambda).build();
                grid.push(Arc::new(built.map_err(engine)?));
            }
            let maps = grid
                .iter()
                .map(|classifier| classifier.clone() as Arc<dyn DataMap>);
            let split = tune.value.split(&spec.privacy.mechanism);
            candidates = split.map(|(choice, noise)| Candidates {
                maps: maps.collect(),
                lambdas: tune.value.grid.clone(),
                share: Located {
                    value: tune.value.share,
                    line: tune.line,
                    column: tune.column,
                },
                choice,
                noise,
                clip: tune.value.clip,
            });
        }
        let mut by_rule = None;
        let classifier = match grid.first() {
            Some(smallest) => smallest.clone(),
            None => {
                let classifier = match (stated.lambda, spec.version) {
                    (Some(lambda), _) => classifier.lambda(lambda),
                    (None, Version::One) => classifier.lambda(LAMBDA_OF_VERSION_1),
                    (None, Version::Two) => {
                        by_rule = Some(classifier.clone());
                        classifier.lambda_by_rule(&spec.privacy.mechanism)
                    }
                };
                Arc::new(classifier.build().map_err(engine)?)
            }
        };
        Ok(ClassifierModel {
            spec_name: spec.name.clone(),
            stated: stated.clone(),
            classifier,
            candidates,
            grid,
            by_rule,
        })
    }

    /// The classifier behind a plan: of a grid, the one whose λ was chosen.
    pub(super) fn behind(&self, plan: &Plan<'_>) -> &Classifier {
        let mut settings = plan.guarantee().settings().iter();
        let chosen = settings.find(|setting| setting.name == "lambda");
        let of_grid = chosen.and_then(|chosen| {
            let mut grid = self.grid.iter();
            grid.find(|classifier| classifier.lambda() == chosen.value)
        });
        of_grid.unwrap_or(&self.classifier)
    }

    /// A complaint about the number of records.
    pub(super) fn miscounted(&self, file: &str, found: usize) -> ReadError {
        // How many records there are is part of the noise, so it is public and stated, not counted.
        let stated = &self.stated.records;
        let message = format!(
            "`records` is {}, but {file} has {found} records",
            stated.value
        );
        stated
            .error(&self.spec_name, message)
            .with_help("the number of records is public, and the noise follows from it")
    }
}

impl Model for ClassifierModel {
    fn map(&self) -> &dyn DataMap {
        &*self.classifier
    }

    fn shared(&self) -> Arc<dyn DataMap> {
        self.classifier.clone()
    }

    fn name(&self) -> &str {
        self.stated.loss.name
    }

    fn query(&self, _spec: &Spec) -> Result<Query, Failure> {
        Ok(self.classifier.query())
    }

    fn candidates(&self) -> Option<&Candidates> {
        self.candidates.as_ref()
    }

    fn map_under(&self, privacy: &Privacy) -> Option<conveil::Result<Arc<dyn DataMap>>> {
        let built = self.by_rule.clone()?.lambda_by_rule(privacy).build();
        Some(built.map(|classifier| Arc::new(classifier) as Arc<dyn DataMap>))
    }

    fn strategy(&self, _spec: &Spec) -> Option<Choice> {
        Some(defaults::strategy(self.stated.loss))
    }

    /// Where a record enters: the row of its loss and the weight it stands before.
    fn place_name(&self, place: &Place) -> String {
        let program = self.map().template();
        match place {
            Place::A(i, j) if *i < program.rows() && *j < program.columns() => format!(
                "`{}` of `{}`",
                program.row_name(*i),
                program.variable_name(*j)
            ),
            other => other.to_string(),
        }
    }

    fn how_to_bound(&self) -> &'static str {
        "give every feature `bounds`"
    }

    fn datasets(&self, files: &Files) -> Result<Box<dyn Datasets + '_>, Failure> {
        Ok(Box::new(Training::open(self, files)?))
    }
}
