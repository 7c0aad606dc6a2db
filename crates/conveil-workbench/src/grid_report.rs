//! The curator report of a power flow: the engine's, with prices, and the released cost in its parts.

use std::fmt;

use conveil::ask::Query;
use conveil::curator::CuratorReport;
use conveil::plan::Decided;
use conveil_grid::Unit;
use conveil_models::grid::Opf;
use conveil_read::spec::{Model, Release};
use serde::Serialize;

use crate::inputs::Inputs;

/// The curator report of a power flow: the engine's, the prices at the loads, and what the epigraph adds to the cost.
#[derive(Debug, Clone, Serialize)]
pub struct GridReport {
    #[serde(flatten)]
    report: CuratorReport,
    /// The price of one more MWh at each private load.
    load_prices: Vec<(String, f64)>,
    /// Where the cost is released as "at most".
    cost_gap: Option<CostGap>,
    /// What the curvature adds to the objective at the mean decision, where there is one.
    curvature_cost: Option<f64>,
}

/// The released cost before noise, in its parts: at most = cost + epigraph gap + correction price.
#[derive(Debug, Clone, Serialize)]
struct CostGap {
    at_most: f64,
    cost_of_the_mean_decision: f64,
    /// What the epigraph lies above that cost: room for the noise along a slope that is not that of the cost.
    epigraph_gap: f64,
    /// π‖θ − θ̃‖, what the envelope's correction costs; 0 without one.
    correction_price: f64,
}

impl GridReport {
    pub fn new(inputs: &Inputs, opf: &Opf, decided: &Decided, report: &CuratorReport) -> Self {
        let is_cost = inputs.spec.query.release == Release::Cost;
        GridReport {
            report: report.clone(),
            load_prices: opf.load_prices(decided),
            cost_gap: CostGap::new(opf, decided, report).filter(|_| is_cost),
            curvature_cost: curvature_cost(inputs, opf, decided),
        }
    }
}

impl CostGap {
    fn new(opf: &Opf, decided: &Decided, report: &CuratorReport) -> Option<Self> {
        let Query::AtMost { .. } = opf.cost_query() else {
            return None;
        };
        let at_most = report.answer.first()?.1;
        let cost: f64 = mean_outputs(opf, decided)
            .map(|(unit, p)| unit.cost.at(p))
            .sum();
        let correction_price = decided.correction.as_ref().map_or(0.0, |c| c.paid);
        Some(CostGap {
            at_most,
            cost_of_the_mean_decision: cost,
            epigraph_gap: at_most - correction_price - cost,
            correction_price,
        })
    }
}

/// The units, which are the first variables, and their mean output.
fn mean_outputs<'a>(opf: &'a Opf, decided: &'a Decided) -> impl Iterator<Item = (&'a Unit, f64)> {
    opf.network()
        .units()
        .iter()
        .zip(decided.mean.iter().copied())
}

/// ½κΣp².
fn curvature_cost(inputs: &Inputs, opf: &Opf, decided: &Decided) -> Option<f64> {
    let Model::Opf(grid) = &inputs.spec.problem.model else {
        return None;
    };
    let kappa = grid.curvature.as_ref()?.value;
    let squares = mean_outputs(opf, decided).map(|(_, p)| p * p);
    Some(0.5 * kappa * squares.sum::<f64>())
}

/// Prices shown of a long list.
const SHOWN: usize = 20;

impl fmt::Display for GridReport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "{}", self.report)?;
        if let Some(gap) = &self.cost_gap {
            writeln!(
                f,
                "cost: at most {:.6} before noise: the mean decision costs {:.6}, the epigraph lies {:.6} above, the envelope's correction costs {:.6}",
                gap.at_most, gap.cost_of_the_mean_decision, gap.epigraph_gap, gap.correction_price
            )?;
        }
        if let Some(cost) = self.curvature_cost {
            writeln!(
                f,
                "curvature: adds {cost:.6} to the objective at the mean decision"
            )?;
        }
        writeln!(f, "price of one more MWh at the private loads:")?;
        for (name, price) in self.load_prices.iter().take(SHOWN) {
            writeln!(f, "  {name:<28} {price:>16.6}")?;
        }
        if self.load_prices.len() > SHOWN {
            let more = self.load_prices.len() - SHOWN;
            writeln!(f, "  … and {more} more (see --json)")?;
        }
        Ok(())
    }
}
