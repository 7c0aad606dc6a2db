//! The curator's report in the words of its model.

use std::fmt;

use conveil::curator::CuratorReport;
use conveil_models::document::{Annex, Document};
use serde::Serialize;

use crate::failure::Failure;
use crate::objective::Restating;
use crate::workbench::Workbench;

/// The engine's report, and what the model says of the same decision. Private.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    #[serde(flatten)]
    engine: Box<CuratorReport>,
    #[serde(flatten)]
    model: Option<Document>,
}

impl Report {
    pub(crate) fn new(
        engine: &CuratorReport,
        annex: Annex,
        bench: &Workbench,
    ) -> Result<Self, Failure> {
        let mut engine = Box::new(engine.clone().about(bench.about));
        if let Some(clipped) = annex.clipped {
            engine.clipped = clipped;
        }
        if let Some(restating) = Restating::of(bench) {
            restating.report(&mut engine);
        }
        Ok(Report {
            engine,
            model: annex.report.transpose()?,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.model {
            None => self.engine.fmt(f),
            Some(model) => write!(f, "{}\n{model}", self.engine),
        }
    }
}
