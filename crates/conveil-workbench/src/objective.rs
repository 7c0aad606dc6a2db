//! The documents of all verbs in the terms of the modeller's own objective, where the spec states one: constant + cost, or
//! constant − cost where it is maximised.
//!
//! The engine minimises a cost and counts the constant in where it reports an optimum or an objective, up to the sign
//! ([`DataMap::objective_constant`](conveil::program::DataMap::objective_constant)); an answer that is a cost has no
//! constant. A loss is how much worse a decision is, in either sense, and stays as it is.

use conveil::ask::{Query, Strategy};
use conveil::curator::{Comparison, CuratorReport, Frontier};
use conveil::program::{Objective, Sense};
use conveil_release::{Released, Restated};

use crate::workbench::Workbench;

/// The modeller's own objective.
#[derive(Debug, Clone)]
pub(crate) struct Restating {
    objective: Objective,
    /// The answer in its terms, where what is released is the cost.
    answer: Option<Restated>,
}

impl Restating {
    /// None where the spec states no objective.
    pub(crate) fn of(bench: &Workbench) -> Option<Self> {
        let objective = bench.model.objective()?;
        let spec = bench.spec();
        let query = bench.model.query(spec).ok();
        let name = match (&query, spec.feasibility.strategy.value, objective.sense) {
            (Some(Query::AtMost { .. }), Strategy::Program, Sense::Minimize) => {
                "objective (at most this)"
            }
            // What bounds the cost from above bounds its negative from below.
            (Some(Query::AtMost { .. }), Strategy::Program, Sense::Maximize) => {
                "objective (at least this)"
            }
            (Some(Query::AtMost { .. } | Query::Cost | Query::Value), ..) => "objective",
            _ => "",
        };
        Some(Restating {
            objective,
            answer: (!name.is_empty()).then(|| Restated::new(name, objective)),
        })
    }

    pub(crate) fn restated(&self) -> Option<&Restated> {
        self.answer.as_ref()
    }

    pub(crate) fn objective(&self) -> Objective {
        self.objective
    }

    pub(crate) fn report(&self, report: &mut CuratorReport) {
        for number in [&mut report.optimum, &mut report.objective] {
            *number = self.objective.signed(*number);
        }
        if let Some(optimum) = &mut report.optimum_at_the_data {
            *optimum = self.objective.signed(*optimum);
        }
        if let Some(costs) = &mut report.costs {
            for level in [&mut costs.optimum, &mut costs.without_noise] {
                *level = level.map(|level| self.objective.signed(level));
            }
        }
        if let Some(restated) = &self.answer {
            for (name, value) in &mut report.answer {
                *name = restated.name().into();
                *value = restated.objective().at(*value);
            }
        }
    }

    pub(crate) fn comparison(&self, comparison: &mut Comparison) {
        comparison.optimum = self.objective.signed(comparison.optimum);
        if let (Some(restated), Some((low, high))) = (&self.answer, comparison.feasible_answers) {
            let (a, b) = (restated.objective().at(low), restated.objective().at(high));
            comparison.feasible_answers = Some((a.min(b), a.max(b)));
        }
    }

    pub(crate) fn frontier(&self, frontier: &mut Frontier) {
        frontier.optimum = self.objective.signed(frontier.optimum);
        for row in &mut frontier.rows {
            row.objective = row.objective.map(|cost| self.objective.signed(cost));
        }
    }

    pub(crate) fn released(&self, released: Released) -> Released {
        match &self.answer {
            None => released,
            Some(restated) => released.restated(restated),
        }
    }
}
