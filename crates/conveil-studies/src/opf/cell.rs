//! One cell of the table: a network at one α, all strategies.

use conveil::ask::{Adjacency, Ask, Bound, Privacy, Query, Request};
use conveil::curator::{self, Comparison};
use conveil::plan::Plan;
use conveil::solve::{self, Batch};
use conveil::{Error, Result};
use conveil_models::grid::Opf;

use super::{Method, Price, Row, SampledBoxes, Settings, largest_cost};
use crate::paper;
use crate::tolerance::retry_looser;

/// The strategies of the table.
const STRATEGIES: [&str; 4] = ["input", "output", "shifted output", "program"];

pub(super) fn rows(
    model: &Opf,
    alpha: f64,
    settings: &Settings,
    batch: &Batch<'_>,
) -> Result<Vec<Row>> {
    let cell = |solver: &solve::Settings| Cell {
        model,
        alpha,
        settings,
        theta: model.nominal(),
        solver: solver.clone(),
        batch,
    };
    match retry_looser(batch.cancel_flag(), |solver| cell(solver).rows()) {
        Err(error @ (Error::Cancelled | Error::Input(_) | Error::Refused { .. })) => Err(error),
        // The table goes on without this cell.
        Err(other) => {
            let blank = cell(&solve::Settings::default());
            let row = |strategy| Row {
                status: other.to_string(),
                ..blank.blank(strategy)
            };
            Ok(STRATEGIES.map(row).to_vec())
        }
        done => done,
    }
}

struct Cell<'a> {
    model: &'a Opf,
    alpha: f64,
    settings: &'a Settings,
    theta: Vec<f64>,
    solver: solve::Settings,
    batch: &'a Batch<'a>,
}

impl<'a> Cell<'a> {
    fn rows(&self) -> Result<Vec<Row>> {
        let (boxes, seed) = self.sampled_boxes()?;
        let settings = self.settings;
        let enveloped = match self.plan(seed) {
            // An envelope that no split fits is known to be infeasible without data; the others still have their rows.
            Err(Error::NoiseDoesNotFit(_)) if settings.envelope.is_some() => None,
            other => Some(other?),
        };
        let is_infeasible = enveloped.is_none();
        let plan = match enveloped {
            Some(plan) => plan,
            None => self.declared(self.price(), seed)?,
        };
        let (draws, first) = (settings.draws, settings.seed);
        let comparison = curator::compare(&plan, &self.theta, draws, first, self.batch)?;
        let scale = plan.law().scale();
        let mut rows = Vec::new();
        for strategy in STRATEGIES {
            let Some(found) = comparison.rows.iter().find(|r| r.strategy == strategy) else {
                continue;
            };
            let mut row = Row {
                status: found.status.clone(),
                loss_percent: found.loss_percent,
                sampled_loss_percent: found.sampled_loss_percent,
                infeasible_percent: found.infeasible_percent,
                sampled_infeasible_percent: found.sampled_infeasible_percent,
                draws: found.draws,
                ..self.blank(strategy)
            };
            if strategy == "program" {
                if is_infeasible {
                    row = Row {
                        status: "infeasible".into(),
                        ..self.blank(strategy)
                    };
                } else if settings.envelope.is_some() {
                    row.correction_mwh = self.correction(&plan)?;
                }
                // Below the optimum nothing is feasible for the network's own demands; for corrected ones it may be.
                if !row.is_corrected() {
                    let limit = -scale * (2.0 * settings.eta).ln();
                    let best = self.best_split(&comparison, scale);
                    row.limit_percent = percent(limit, comparison.optimum);
                    row.best_split_percent = best.and_then(|b| percent(b, comparison.optimum));
                }
                row.sampled_boxes = boxes.clone();
            }
            rows.push(row);
        }
        Ok(rows)
    }

    fn blank(&self, strategy: &'static str) -> Row {
        let network = self.model.network().name().to_string();
        let printed = match self.settings.is_the_papers() {
            true => paper::table_1(&network, strategy, self.alpha),
            false => None,
        };
        Row {
            network,
            alpha: self.alpha,
            strategy,
            mode: self.mode(strategy),
            tolerance: self.solver.tolerance(),
            paper_loss_percent: printed.map(|p| p.0),
            paper_infeasible_percent: printed.map(|p| p.1),
            ..Row::default()
        }
    }

    /// An envelope bounds the value that program perturbation releases. The others perturb the demands or the plain
    /// optimum, which it does not bound: for them its price is declared, like c_max.
    fn mode(&self, strategy: &str) -> &'static str {
        match (self.settings.envelope, strategy) {
            (Some(_), "program") => "certified",
            _ => "paper",
        }
    }

    /// ‖θ − θ̃‖ of an enveloped decision (M8a), zero where it is for the network's own demands.
    fn correction(&self, plan: &Plan<'_>) -> Result<Option<f64>> {
        let correction = plan.released().at(&self.theta)?.correction;
        Ok(correction.map(|c| if c.at_the_data { 0.0 } else { c.distance }))
    }

    /// What one MWh may move the cost by: the envelope's price, or c_max.
    fn price(&self) -> f64 {
        match self.settings.envelope {
            Some(Price::PerMwh(price)) => price,
            Some(Price::LargestCost) | None => largest_cost(self.model, self.settings),
        }
    }

    fn ask(&self, seed: u64) -> Ask {
        Ask::new(self.model.cost_query())
            .adjacency(Adjacency::one_entry(self.alpha))
            .privacy(Privacy::laplace(self.settings.epsilon))
            .feasibility(self.settings.feasibility(seed))
            .settings(self.solver.clone())
    }

    fn plan(&self, seed: u64) -> Result<Plan<'a>> {
        let price = self.price();
        if self.settings.envelope.is_none() {
            return self.declared(price, seed);
        }
        let ask = self.ask(seed).sensitivity(Request::envelope(price));
        Plan::with_batch(self.model, ask, self.batch)
    }

    /// The paper's sensitivity. A study may optimise the split here too: it releases nothing.
    fn declared(&self, price: f64, seed: u64) -> Result<Plan<'a>> {
        let ask = self.ask(seed).sensitivity(Request::Declared {
            bound: Bound::PerAlpha(price),
            reason: "one more MWh costs at most as much as at the most expensive unit".into(),
        });
        Plan::paper_mode(self.model, ask, &self.theta)
    }

    /// M5a: L* = −s·ln(η + √(η² − e^{−R/s})), for R ≥ 2s·ln(1/η) and a linear cost.
    fn best_split(&self, comparison: &Comparison, scale: f64) -> Option<f64> {
        if self.model.cost_query() != Query::Cost {
            return None;
        }
        let (low, high) = comparison.feasible_answers?;
        let eta = self.settings.eta;
        let square = eta * eta - (-(high - low) / scale).exp();
        (square >= 0.0).then(|| -scale * (eta + square.sqrt()).ln())
    }

    /// The spread over the seeds of sampled boxes, and the first seed whose box is not refused.
    fn sampled_boxes(&self) -> Result<(Option<SampledBoxes>, u64)> {
        let first = self.settings.seed;
        if self.settings.method == Method::MassBox {
            return Ok((None, first));
        }
        let draws = self.settings.vertex_draws;
        let program = conveil::program::DataMap::at(self.model, &self.theta)?;
        let optimum = solve::solve_checked(&program, &self.solver)?.objective;
        let found = self.batch.run(draws as usize, |i| {
            let plan = match self.plan(first.wrapping_add(i as u64)) {
                Ok(plan) => plan,
                Err(Error::Refused { .. }) => return Ok(Drawn::Refused),
                Err(Error::NoiseDoesNotFit(_)) => return Ok(Drawn::Infeasible),
                Err(other) => return Err(other),
            };
            match plan.released().at(&self.theta) {
                Ok(decided) => Ok(Drawn::Loss(
                    100.0 * (decided.objective - optimum) / optimum.abs(),
                )),
                Err(Error::NoiseDoesNotFit(_)) => Ok(Drawn::Infeasible),
                Err(other) => Err(other),
            }
        })?;
        let found = found.into_iter().collect::<Result<Vec<Drawn>>>()?;
        let losses: Vec<f64> = found
            .iter()
            .filter_map(|d| match d {
                Drawn::Loss(loss) => Some(*loss),
                _ => None,
            })
            .collect();
        let refused = found.iter().filter(|d| **d == Drawn::Refused).count() as u64;
        let usable = found.iter().position(|d| *d != Drawn::Refused).unwrap_or(0);
        let moments = moments(&losses);
        let boxes = SampledBoxes {
            draws,
            feasible: losses.len() as u64,
            refused,
            mean_loss_percent: moments.map(|m| m.0),
            std_loss_percent: moments.map(|m| m.1),
        };
        Ok((Some(boxes), first.wrapping_add(usable as u64)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Drawn {
    Loss(f64),
    Infeasible,
    Refused,
}

/// A loss in percent of the optimum, where that has a size.
fn percent(loss: f64, optimum: f64) -> Option<f64> {
    (optimum.abs() > 1e-9).then(|| 100.0 * loss / optimum.abs())
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> Option<(f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    Some((mean, (squares / (count - 1.0).max(1.0)).sqrt()))
}
