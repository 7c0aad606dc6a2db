//! The curator's report in the words of its model.

use std::fmt;

use conveil::curator::CuratorReport;
use conveil_models::document::{Annex, Document};
use conveil_models::picture::Picture;
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
    #[serde(skip)]
    picture: Option<Picture>,
}

impl Report {
    /// What the engine reports.
    pub fn engine(&self) -> &CuratorReport {
        &self.engine
    }

    /// What the model says of the same decision, where it has words of its own.
    pub fn model(&self) -> Option<&Document> {
        self.model.as_ref()
    }

    /// The decision as a picture, where its model has one.
    pub fn picture(&self) -> Option<&Picture> {
        self.picture.as_ref()
    }

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
            picture: annex.picture,
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
