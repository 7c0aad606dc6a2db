//! The features of a spec as a classifier. Everything about it is public: features, bounds, how many records there are.

use std::sync::Arc;

use conveil::ask::Query;
use conveil::plan::Choice;
use conveil::program::{DataMap, Place};
use conveil_text::ReadError;

use super::defaults::{self, LAMBDA_OF_VERSION_1};
use super::private::Training;
use super::stated::SvmSpec;
use super::{Classes, Svm};
use crate::failure::Failure;
use crate::files::Files;
use crate::model::{Datasets, Model};
use crate::spec::{Spec, Version};

/// The classifier of a spec.
#[derive(Debug)]
pub(super) struct SvmModel {
    pub(super) spec_name: String,
    pub(super) stated: SvmSpec,
    pub(super) svm: Arc<Svm>,
}

impl SvmModel {
    pub(super) fn open(stated: &SvmSpec, spec: &Spec) -> Result<Self, Failure> {
        let features = stated.features.iter().map(|feature| feature.value.clone());
        let svm = Svm::of(stated.records.value, features.collect())
            .intercept(stated.intercept)
            .classes(Classes {
                label: stated.label.column.value.clone(),
                positive: stated.label.positive.to_string(),
                negative: stated.label.negative.to_string(),
            });
        let svm = match (stated.lambda, spec.version) {
            (Some(lambda), _) => svm.lambda(lambda),
            (None, Version::One) => svm.lambda(LAMBDA_OF_VERSION_1),
            (None, Version::Two) => svm.lambda_by_rule(&spec.privacy.mechanism),
        };
        let svm = svm.build().map_err(|e| Failure::engine(&spec.name, e))?;
        Ok(SvmModel {
            spec_name: spec.name.clone(),
            stated: stated.clone(),
            svm: Arc::new(svm),
        })
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

impl Model for SvmModel {
    fn map(&self) -> &dyn DataMap {
        &*self.svm
    }

    fn shared(&self) -> Arc<dyn DataMap> {
        self.svm.clone()
    }

    fn name(&self) -> &str {
        "support vector machine"
    }

    fn query(&self, _spec: &Spec) -> Result<Query, Failure> {
        Ok(self.svm.query())
    }

    fn strategy(&self, _spec: &Spec) -> Option<Choice> {
        Some(defaults::strategy())
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
