//! The assets of a spec as a portfolio. The forecasts are no part of it.

use std::sync::Arc;

use conveil::ask::{NoiseShape, Query};
use conveil::program::{DataMap, Objective, Sense};

use super::Portfolio;
use super::private::Forecasts;
use super::stated::{CovarianceSource, PortfolioSpec, is_value};
use crate::failure::Failure;
use crate::files::{Files, Named};
use crate::model::{Datasets, Model};
use crate::records::Records;
use crate::spec::Spec;
use crate::spec::private::{check_label, label_of};

/// The portfolio of a spec.
#[derive(Debug)]
pub(super) struct PortfolioModel {
    /// How messages call the covariance.
    name: String,
    pub(super) stated: PortfolioSpec,
    /// The column that names the rows of a series.
    pub(super) label: Option<String>,
    pub(super) portfolio: Arc<Portfolio>,
    is_value: bool,
}

impl PortfolioModel {
    pub(super) fn open(
        stated: &PortfolioSpec,
        spec: &Spec,
        files: &Files,
    ) -> Result<Self, Failure> {
        let (name, assets, covariance) = match &stated.covariance {
            CovarianceSource::Rows(rows) => {
                let (assets, rows) = rows.value.iter().cloned().unzip();
                ("portfolio".into(), assets, rows)
            }
            CovarianceSource::File(file) => {
                let (name, input) = files.public_records(Named {
                    file,
                    what: "covariance",
                    key: "file",
                })?;
                let records = Records::read(&name, input)?;
                let rows = records.rows().map(<[f64]>::to_vec).collect();
                (name, records.names().to_vec(), rows)
            }
        };
        let mut builder = Portfolio::of(assets, covariance)
            .aversion(stated.aversion)
            .cap(stated.cap);
        if let Some((low, high)) = stated.bounds {
            builder = builder.within(low, high);
        }
        let portfolio = builder.build().map_err(|e| match &stated.covariance {
            CovarianceSource::Rows(rows) => Failure::located(&spec.name, rows, e),
            CovarianceSource::File(_) => Failure::engine(&name, e),
        })?;
        let assets = portfolio.assets();
        check_label(spec, stated.returns.as_ref(), "returns", |label| {
            assets.iter().any(|asset| asset == label)
        })?;
        Ok(PortfolioModel {
            label: label_of(spec),
            is_value: is_value(spec),
            name,
            stated: stated.clone(),
            portfolio: Arc::new(portfolio),
        })
    }
}

impl Model for PortfolioModel {
    fn map(&self) -> &dyn DataMap {
        &*self.portfolio
    }

    fn shared(&self) -> Arc<dyn DataMap> {
        self.portfolio.clone()
    }

    fn name(&self) -> &str {
        &self.name
    }

    /// All weights, where the spec names none.
    fn query(&self, spec: &Spec) -> Result<Query, Failure> {
        Ok(match &spec.query.query {
            None | Some(Query::Identity) => self.portfolio.query(),
            Some(query) => query.clone(),
        })
    }

    /// Shaped by the curvature where that certifies it.
    fn shape(&self, spec: &Spec) -> NoiseShape {
        match spec.privacy.sensitivity.value.certificate() {
            Some(_) if !self.is_value => NoiseShape::Curvature,
            _ => NoiseShape::Identity,
        }
    }

    /// The program minimises the negative of the return less the price of the risk.
    fn objective(&self) -> Option<Objective> {
        self.is_value.then_some(Objective {
            sense: Sense::Maximize,
            constant: 0.0,
        })
    }

    fn how_to_bound(&self) -> &'static str {
        "add `bounds` to [private]: [-0.1, 0.2], say"
    }

    fn datasets(&self, files: &Files) -> Result<Box<dyn Datasets + '_>, Failure> {
        Ok(Box::new(Forecasts::open(self, files)?))
    }
}
