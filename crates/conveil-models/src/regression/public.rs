//! The regressors of a spec as a model. The responses are no part of it.

use std::io::BufRead;
use std::sync::Arc;

use conveil::ask::{NoiseShape, Query};
use conveil::program::DataMap;

use super::Regression;
use super::private::Responses;
use super::stated::RegressionSpec;
use crate::failure::Failure;
use crate::files::{Files, Named};
use crate::model::{Datasets, Model};
use crate::records::Records;
use crate::spec::Spec;

/// The regression of a spec.
#[derive(Debug)]
pub(super) struct RegressionModel {
    /// How messages call the file of regressors.
    pub(super) name: String,
    pub(super) spec_name: String,
    pub(super) stated: RegressionSpec,
    pub(super) regression: Arc<Regression>,
}

impl RegressionModel {
    pub(super) fn open(
        stated: &RegressionSpec,
        spec: &Spec,
        files: &Files,
    ) -> Result<Self, Failure> {
        let (name, input) = files.public_records(Named {
            file: &stated.regressors,
            what: "regressors",
            key: "regressors",
        })?;
        let regressors = regressors(&name, input, stated)?;
        let mut builder = Regression::of(regressors, &stated.response.value)
            .ridge(stated.ridge)
            .loss(stated.loss.value);
        if let Some((low, high)) = stated.bounds {
            builder = builder.within(low, high);
        }
        for (column, unit) in &stated.units {
            builder = builder.unit(column, &unit.value);
        }
        for basis in &stated.basis {
            builder = builder.basis(basis.clone());
        }
        for condition in &stated.conditions {
            builder = builder.condition(condition.clone());
        }
        Ok(RegressionModel {
            name,
            spec_name: spec.name.clone(),
            stated: stated.clone(),
            regression: Arc::new(
                builder
                    .build()
                    .map_err(|e| Failure::engine(&spec.name, e))?,
            ),
        })
    }
}

/// The public regressors in a text: the columns that the basis functions need, and no other. A spec without any feature
/// has the constant alone, and then the file only says how many records there are.
fn regressors(
    name: &str,
    input: impl BufRead,
    stated: &RegressionSpec,
) -> Result<Records, Failure> {
    let features = stated.features.iter();
    let columns: Vec<&str> = features.map(|f| f.value.as_str()).collect();
    if columns.is_empty() {
        let ones = vec![1.0; Records::each(name, input, &[], |_| ())?];
        return Records::from_column("constant", &ones)
            .map_err(|why| Failure::Input(format!("{name}: {why}")));
    }
    Ok(Records::read_columns(name, input, &columns)?)
}

impl Model for RegressionModel {
    fn map(&self) -> &dyn DataMap {
        &*self.regression
    }

    fn shared(&self) -> Arc<dyn DataMap> {
        self.regression.clone()
    }

    fn name(&self) -> &str {
        &self.name
    }

    /// All weights, where the spec names none.
    fn query(&self, spec: &Spec) -> Result<Query, Failure> {
        Ok(match &spec.query.query {
            None | Some(Query::Identity) => self.regression.query(),
            Some(query) => query.clone(),
        })
    }

    /// That of the response.
    fn unit(&self) -> Option<&str> {
        let mut units = self.stated.units.iter();
        let unit = units.find(|(column, _)| *column == self.stated.response.value);
        unit.map(|(_, unit)| unit.value.as_str())
    }

    /// Shaped by the curvature where that certifies it.
    fn shape(&self, spec: &Spec) -> NoiseShape {
        match spec.privacy.sensitivity.value.certificate() {
            Some(_) => NoiseShape::Curvature,
            None => NoiseShape::Identity,
        }
    }

    fn how_to_bound(&self) -> &'static str {
        "add `bounds` to [private]: [0.0, 1.0], say"
    }

    fn datasets(&self, files: &Files) -> Result<Box<dyn Datasets + '_>, Failure> {
        Ok(Box::new(Responses::open(self, files)?))
    }
}
