//! The datasets of a release, one after the other, and how each answer reaches its recipient.

use std::cell::OnceCell;

use conveil::plan::Plan;
use conveil_models::document::Annex;
use conveil_models::model::{Curated, Datasets};
use conveil_release::Released;

use super::road::Road;
use super::{Releasing, Unreleased};
use crate::data;
use crate::failure::Failure;
use crate::observer::Observer;
use crate::recipient::{Delivery, Recipient, Row, Spent};
use crate::report::Report;
use crate::workbench::Workbench;

/// The datasets to release, one after the other: all rows of a series, or the one that was asked for.
pub(super) struct Series<'s> {
    bench: &'s Workbench,
    releasing: &'s Releasing,
    observer: &'s dyn Observer,
    datasets: Box<dyn Datasets + 's>,
    pub(super) rows: Vec<Row>,
}

/// One row whose noise is drawn. Private.
pub(super) struct Drawn<'d> {
    pub(super) row: &'d Row,
    pub(super) plan: &'d Plan<'d>,
    pub(super) theta: &'d [f64],
    pub(super) released: &'d Released,
    pub(super) spent: Spent,
}

impl<'s> Series<'s> {
    pub(super) fn open(road: &Road<'s>) -> Result<Self, Failure> {
        let Road {
            bench,
            releasing,
            observer,
        } = *road;
        let datasets = bench.model.datasets(&bench.inputs.files)?;
        let rows = match releasing.row {
            None => 1..=datasets.count(),
            Some(row) => {
                data::require(&*datasets, row)?;
                row..=row
            }
        };
        let rows = rows.map(|row| data::row_called(&*datasets, row)).collect();
        data::note(&*bench.model, &*datasets, observer);
        Ok(Series {
            bench,
            releasing,
            observer,
            datasets,
            rows,
        })
    }

    pub(super) fn is_long(&self) -> bool {
        self.rows.len() > 1
    }

    pub(super) fn theta(&self, row: usize) -> Result<Vec<f64>, Failure> {
        data::row_of(self.bench, &*self.datasets, row, self.observer)
    }

    pub(super) fn hand_over(
        &self,
        drawn: &Drawn<'_>,
        recipient: &mut dyn Recipient,
    ) -> Result<(), Unreleased> {
        let delivery = Delivery {
            row: drawn.row,
            spent: drawn.spent.clone(),
            released: drawn.released,
            with_decision: self.releasing.decision,
            make_report: &|| {
                let strategy = drawn.plan.guarantee().strategy();
                let words = data::in_own_words(&*self.datasets, strategy).map(|datasets| {
                    datasets.annex(&Curated {
                        plan: drawn.plan,
                        theta: drawn.theta,
                        decided: drawn.released.decided(),
                        report: drawn.released.report().filter(|_| self.releasing.report),
                        about: self.bench.about,
                    })
                });
                let mut annex = words.unwrap_or_default();
                let warning = annex.warning.take();
                let report = self.report(drawn, annex);
                self.warn(drawn.row, warning);
                report
            },
            report: OnceCell::new(),
        };
        match recipient.deliver(&delivery) {
            Ok(()) => {
                // The curator is warned whether or not the recipient has taken the report.
                delivery.report();
                Ok(())
            }
            Err(failure) => Err(Unreleased {
                failure: match drawn.spent {
                    Spent::Nothing => failure,
                    Spent::Charge { .. } | Spent::WithoutLedger => failure.undelivered(),
                },
                answer: Some(Box::new(delivery.into_answer())),
            }),
        }
    }

    /// The curator's report where it is wanted. Whether there is a card must not hang on it.
    fn report(&self, drawn: &Drawn<'_>, annex: Annex) -> Option<Report> {
        if !self.releasing.report {
            return None;
        }
        let engine = drawn.released.report();
        let warning = match engine.map(|engine| Report::new(engine, annex, self.bench)) {
            Some(Ok(report)) => return Some(report),
            Some(Err(failure)) => format!("no curator report could be made of it: {failure}"),
            None => "no curator report could be made of it".into(),
        };
        self.observer.warning(&warning);
        None
    }

    /// What the curator should be warned of.
    fn warn(&self, row: &Row, warning: Option<String>) {
        if let Some(warning) = warning {
            self.observer.warning(&match self.is_long() {
                true => format!("{row}: {warning}"),
                false => warning,
            });
        }
    }

    /// What a release says about these data, for the curator.
    pub(super) fn failure(&self, theta: &[f64], error: &conveil_release::Error) -> Failure {
        match error {
            conveil_release::Error::Engine(error) => {
                self.bench.engine_on(&*self.datasets, theta, error)
            }
            other => Failure::release(self.bench.name(), other),
        }
    }

    /// In a series, a failure says how far it came.
    pub(super) fn unreleased(&self, done: usize, row: &Row, unreleased: Unreleased) -> Unreleased {
        if !self.is_long() {
            return unreleased;
        }
        let before = match done {
            0 => "nothing was released".into(),
            1 => "1 answer was released before it".into(),
            _ => format!("{done} answers were released before it"),
        };
        unreleased.told(|failure| failure.of_row(row, &before))
    }
}
