//! The private forecasts of a portfolio, row by row, and what their curator should know. Private, all of it.

use conveil_text::Labels;

use super::public::PortfolioModel;
use super::{Portfolio, dot};
use crate::document::{Annex, Document, Fields};
use crate::failure::Failure;
use crate::files::{Files, Named};
use crate::model::{Curated, Datasets, nth_row};
use crate::records::Records;

/// One dataset for each line of the file of returns.
#[derive(Debug)]
pub(super) struct Forecasts<'m> {
    of: &'m PortfolioModel,
    rows: Records,
    labels: Option<Labels>,
}

impl<'m> Forecasts<'m> {
    pub(super) fn open(of: &'m PortfolioModel, files: &Files) -> Result<Self, Failure> {
        let Some(file) = &of.stated.returns else {
            let name = files.spec_name();
            return Err(Failure::Input(format!("{name}: [private] needs `returns`")));
        };
        let (name, input) = files.private_records(Named {
            file,
            what: "returns",
            key: "returns",
        })?;
        let assets = of.portfolio.assets().iter();
        let assets: Vec<&str> = assets.map(String::as_str).collect();
        let (rows, labels) = match &of.label {
            None => (Records::read_columns(&name, input, &assets)?, None),
            Some(label) => {
                let (rows, labels) = Records::read_labelled(&name, input, &assets, label)?;
                (rows, Some(labels))
            }
        };
        Ok(Forecasts { of, rows, labels })
    }
}

impl Datasets for Forecasts<'_> {
    fn count(&self) -> usize {
        self.rows.len()
    }

    fn rows_hold(&self) -> &'static str {
        "returns"
    }

    fn labels(&self) -> Option<&Labels> {
        self.labels.as_ref()
    }

    fn row(&self, row: usize) -> Result<Vec<f64>, Failure> {
        nth_row(self.rows.rows(), row)
    }

    fn annex(&self, curated: &Curated<'_>) -> Annex {
        let portfolio = &self.of.portfolio;
        let weights = &curated.decided.mean[..portfolio.assets().len()];
        Annex {
            picture: None,
            report: curated
                .report
                .map(|_| Ok(report_of(portfolio, weights, curated.theta))),
            ..Annex::default()
        }
    }
}

/// What the mean portfolio earns and risks.
fn report_of(portfolio: &Portfolio, weights: &[f64], returns: &[f64]) -> Document {
    let expected = dot(returns, weights);
    let volatility = portfolio.variance(weights).sqrt();
    let cash = 1.0 - weights.iter().sum::<f64>();
    Document {
        fields: Fields::default()
            .with("expected_return", expected)
            .with("volatility", volatility)
            .with("cash", cash),
        text: format!(
            "mean portfolio: expected return {:.4}% above that of cash, volatility {:.4}%, {:.4}% in cash\n",
            100.0 * expected,
            100.0 * volatility,
            100.0 * cash
        ),
        summary: None,
    }
}
