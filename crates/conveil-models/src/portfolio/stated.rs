//! What a spec says of a portfolio: its assets and their covariance, its limits, and where its forecasts are.

use std::sync::Arc;

use conveil::ask::{Adjacency, Query, Request};
use conveil_text::naming::fault;
use conveil_text::spelling::{counted, quoted};
use conveil_text::tables::{Item, Table};
use conveil_text::{Located, ReadError};

use super::KIND;
use super::public::PortfolioModel;
use crate::failure::Failure;
use crate::files::Files;
use crate::model::{Kind, Missing, Model, StandIn, Stated};
use crate::spec::{Sensitivity, Spec};

/// A mean-variance portfolio. All of it is public but the returns.
#[derive(Debug, Clone, PartialEq)]
pub struct PortfolioSpec {
    /// `covariance` or `file`.
    pub covariance: CovarianceSource,
    /// `aversion`: γ > 0.
    pub aversion: f64,
    /// `cap` (1): the largest weight of an asset, in (0, 1].
    pub cap: f64,
    /// `returns` of `[private]`: the path of a CSV file with a column for each asset and a line for each dataset, as written.
    pub returns: Option<Located<String>>,
    /// `bounds`: public bounds lo < hi that every expected return is clipped to.
    pub bounds: Option<(f64, f64)>,
}

/// Where the assets and their public covariance come from.
#[derive(Debug, Clone, PartialEq)]
pub enum CovarianceSource {
    /// `covariance`: a row for each asset, by name; as many numbers as assets.
    Rows(Located<Vec<(String, Vec<f64>)>>),
    /// `file`: a CSV file whose header names the assets, with a line for each in the same order; its path as written.
    File(Located<String>),
}

impl PortfolioSpec {
    /// Reads the keys of `[problem]` beside `model`.
    pub(super) fn read(table: &mut Table) -> Result<Self, ReadError> {
        let covariance = match (table.optional("covariance"), table.optional("file")) {
            (Some(rows), None) => CovarianceSource::Rows(rows.locate(read_rows(&rows)?)),
            (None, Some(file)) => CovarianceSource::File(file.words()?),
            (Some(_), Some(file)) => {
                return Err(file.error("give `covariance` or `file`, not both"));
            }
            (None, None) => {
                return Err(table
                    .error("[problem] needs `covariance` or `file`")
                    .with_help("for example: covariance = { stocks = [0.04, 0.006], bonds = [0.006, 0.01] }, or file = \"covariance.csv\""));
            }
        };
        Ok(PortfolioSpec {
            covariance,
            aversion: table.required("aversion", "aversion = 4.0")?.positive()?,
            cap: match table.optional("cap") {
                None => 1.0,
                Some(cap) => cap.number_that("lie above 0 and be at most 1", |cap| {
                    cap > 0.0 && cap <= 1.0
                })?,
            },
            returns: None,
            bounds: None,
        })
    }
}

/// Whether the optimal value is released, and not weights.
pub(super) fn is_value(spec: &Spec) -> bool {
    spec.query.query == Some(Query::Value)
}

fn read_rows(item: &Item) -> Result<Vec<(String, Vec<f64>)>, ReadError> {
    let table = item.table("`covariance`")?;
    let entries = table.entries();
    let mut rows = Vec::new();
    for (name, _, row) in &entries {
        row.readable("the name of the asset", name, fault(name))?;
        if name.contains(['[', ']']) {
            return Err(row.error(format!(
                "the name of the asset {} must not contain brackets",
                quoted(name)
            )));
        }
        let numbers = row.numbers()?;
        if numbers.len() != entries.len() {
            return Err(row.error(format!(
                "the covariance is square: there are {}, and {} has {}",
                counted(entries.len(), "asset", "assets"),
                quoted(name),
                counted(numbers.len(), "number", "numbers")
            )));
        }
        rows.push((String::from(*name), numbers));
    }
    match rows.is_empty() {
        true => Err(item.error("`covariance` must not be empty")),
        false => Ok(rows),
    }
}

impl Stated for PortfolioSpec {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    /// An asset is a record of one number, its expected return.
    fn record_len(&self) -> Option<usize> {
        Some(1)
    }

    fn read_private(&mut self, table: &mut Table<'_>) -> Result<(), ReadError> {
        let returns = table.required("returns", "returns = \"returns.csv\"")?;
        self.returns = Some(returns.words()?);
        if let Some(item) = table.optional("bounds") {
            self.bounds = match item.numbers()?[..] {
                [low, high] if low < high => Some((low, high)),
                _ => {
                    return Err(item
                        .error(format!("{item} must be two numbers that increase"))
                        .with_help("for example: bounds = [-0.1, 0.2]"));
                }
            };
        }
        Ok(())
    }

    /// The certificate asks for nothing that could be stated.
    fn default_sensitivity(&self) -> Option<Request> {
        Some(Request::strong_convexity())
    }

    /// What is asked about forecasts must make sense for forecasts.
    fn check(&self, spec: &Spec) -> Result<(), ReadError> {
        let (name, sensitivity) = (&spec.name, &spec.privacy.sensitivity);
        let (proven, help) = match is_value(spec) {
            true => (
                Request::radius(),
                "for its value: sensitivity = { by = \"radius\" } in [privacy]",
            ),
            false => (
                Request::strong_convexity(),
                "`strong-convexity` is proven for it, and the default",
            ),
        };
        if let Some(kind) = sensitivity.value.certificate()
            && !kind.stands_for_others()
            && sensitivity.value != Sensitivity::By(proven)
        {
            let what = match is_value(spec) {
                true => "the value of a portfolio",
                false => "a portfolio",
            };
            let message = format!("sensitivity by `{}` makes no sense for {what}", kind.word());
            return Err(sensitivity.error(name, message).with_help(help));
        }
        let bounds = "in [private]: bounds = [-0.1, 0.2], which every return is clipped to";
        if sensitivity.value.is_sampled() && self.bounds.is_none() {
            let message = "sensitivity by `sampled` needs public `bounds` on the returns";
            return Err(sensitivity.error(name, message).with_help(bounds));
        }
        let adjacency = &spec.private.adjacency;
        let has_limit = adjacency.value.alpha().is_some() || self.bounds.is_some();
        match adjacency.value {
            Adjacency::OneRecord { .. } | Adjacency::Universe if !has_limit => Err(adjacency
                .error(
                    name,
                    "without public `bounds` on the returns, this adjacency sets no limit to a change",
                )
                .with_help(bounds)),
            _ => Ok(()),
        }
    }

    fn private_files(&self) -> Vec<&Located<String>> {
        self.returns.iter().collect()
    }

    fn with_public(&self, _spec: &Spec, data: StandIn<'_>) -> Result<Arc<dyn Stated>, Missing> {
        let StandIn::Twin(file) = data else {
            return Err(Missing::nominal("returns"));
        };
        Ok(Arc::new(PortfolioSpec {
            returns: Some(file.clone()),
            ..self.clone()
        }))
    }

    fn open(&self, spec: &Spec, files: &Files) -> Result<Box<dyn Model>, Failure> {
        Ok(Box::new(PortfolioModel::open(self, spec, files)?))
    }
}
