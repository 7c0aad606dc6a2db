//! What one decision costs under the noise: exact, over draws, and as the sampled model sees it.

use conveil::ask::{Adjacency, Ask, Bound, Privacy, Request, SampleSize};
use conveil::chance::{Choice, Feasibility};
use conveil::noise::{Law, Sampler};
use conveil::plan::{Decided, Plan};
use conveil::risk::{Cvar, Risk};
use conveil::solve::Cancel;
use conveil::{Error, Result};
use conveil_models::grid::Opf;

use super::{Row, Settings};
use crate::opf::Method;
use crate::paper;
use crate::tolerance::retry_looser;

/// The stream of the seed behind the drawn columns.
const DRAWS: u64 = 0x51;

/// The tail at which every decision is judged: the worst 5%.
const TAIL: f64 = 0.05;

/// How many seeds are tried until a sampled box misses at most η of the noise.
const BOXES: u64 = 100;

/// The costs of a network, as a lottery of the noise.
pub(super) struct Lottery<'a> {
    pub(super) model: &'a Opf,
    pub(super) settings: &'a Settings,
    pub(super) theta: Vec<f64>,
    pub(super) optimum: f64,
    /// c.
    pub(super) cost: Vec<(usize, f64)>,
    pub(super) cancel: &'a Cancel,
}

/// A decision, as far as its cost goes: mean + slope·ζ.
struct Costs {
    mean: f64,
    slope: f64,
    objective: f64,
}

impl Lottery<'_> {
    pub(super) fn row(&self, alpha: f64, tail_percent: f64) -> Result<Row> {
        let settings = self.settings;
        let q = tail_percent / 100.0;
        let network = self.model.network().name().to_string();
        let printed = match network == "24_ieee_rts" && settings.epsilon == paper::EPSILON {
            true => paper::table_2(alpha, tail_percent),
            false => None,
        };
        let mut row = Row {
            network,
            alpha,
            tail_percent,
            mode: "paper",
            status: "infeasible".into(),
            paper_mean_percent: printed.map(|p| p.0),
            paper_cvar_percent: printed.map(|p| p.1),
            ..Row::default()
        };
        let percent = |cost: f64| 100.0 * (cost - self.optimum) / self.optimum.abs();
        let Some((exact, law, box_seed)) = self.decide(alpha, Cvar::exact(q))? else {
            return Ok(row);
        };
        row.box_seed = box_seed;
        let tail = |costs: &Costs| -> Result<f64> {
            Ok(percent(
                costs.mean + costs.slope.abs() * law.cvar_factor(TAIL)?,
            ))
        };
        let value_at_risk = |costs: &Costs| -> Result<f64> {
            Ok(percent(
                costs.mean + costs.slope.abs() * law.upper_quantile(TAIL)?,
            ))
        };
        row.status = "ok".into();
        row.objective_percent = Some(percent(exact.objective));
        row.mean_loss_percent = Some(percent(exact.mean));
        row.cvar_loss_percent = Some(tail(&exact)?);
        row.var_loss_percent = Some(value_at_risk(&exact)?);
        let (mean, worst, edge) = self.drawn(&exact, &law);
        row.sampled_mean_loss_percent = Some(percent(mean));
        row.sampled_cvar_loss_percent = Some(percent(worst));
        row.sampled_var_loss_percent = Some(percent(edge));
        let cvar = Cvar::sampled(q, settings.samples, settings.seed);
        if let Some((sampled, ..)) = self.decide(alpha, cvar)? {
            row.sampled_model_objective_percent = Some(percent(sampled.objective));
            row.sampled_model_mean_percent = Some(percent(sampled.mean));
            row.sampled_model_cvar_percent = Some(tail(&sampled)?);
            row.sampled_model_var_percent = Some(value_at_risk(&sampled)?);
        }
        Ok(row)
    }

    /// The decision that minimises this CVaR, the noise, and the seed of a sampled box; none where the noise does not fit.
    fn decide(&self, alpha: f64, cvar: Cvar) -> Result<Option<(Costs, Law, Option<u64>)>> {
        let settings = self.settings;
        let query = self
            .model
            .generation_query(std::slice::from_ref(&settings.units))?;
        let ask = Ask::new(query)
            .adjacency(Adjacency::one_entry(alpha))
            .privacy(Privacy::laplace(settings.epsilon))
            .sensitivity(Request::Declared {
                bound: Bound::PerAlpha(1.0),
                reason: "one more MWh of demand moves the units' generation by at most one".into(),
            })
            .risk(Risk::cvar(cvar));
        if settings.method == Method::MassBox {
            let ask = ask.feasible(1.0 - settings.eta);
            return Ok(self
                .decide_for(&ask)?
                .map(|(costs, law)| (costs, law, None)));
        }
        let mut refused = None;
        for seed in (0..BOXES).map(|i| settings.seed.wrapping_add(i)) {
            let sampled = Feasibility::eta(settings.eta)
                .method(Choice::SAMPLED_BOX)
                .sampling(SampleSize::Paper, paper::BETA, seed);
            match self.decide_for(&ask.clone().feasibility(sampled)) {
                Err(error @ Error::Refused { .. }) => refused = Some(error),
                found => return Ok(found?.map(|(costs, law)| (costs, law, Some(seed)))),
            }
        }
        refused.map_or(Ok(None), Err)
    }

    fn decide_for(&self, ask: &Ask) -> Result<Option<(Costs, Law)>> {
        retry_looser(self.cancel, |solver| {
            let ask = ask.clone().settings(solver.clone());
            let plan = match Plan::paper_mode(self.model, ask, &self.theta) {
                Err(Error::NoiseDoesNotFit(_)) => return Ok(None),
                plan => plan?,
            };
            match plan.released().at(&self.theta) {
                Ok(decided) => Ok(Some((self.costs(&decided), *plan.law()))),
                Err(Error::NoiseDoesNotFit(_)) => Ok(None),
                Err(other) => Err(other),
            }
        })
    }

    fn costs(&self, decided: &Decided) -> Costs {
        Costs {
            mean: decided.program.objective(&decided.mean),
            slope: decided
                .recourse
                .of_row(&self.cost)
                .iter()
                .map(|e| e.1)
                .sum(),
            objective: decided.objective,
        }
    }

    /// Mean, CVaR and VaR at 5% over the draws.
    fn drawn(&self, costs: &Costs, law: &Law) -> (f64, f64, f64) {
        let mut sampler = Sampler::new(self.settings.seed, DRAWS);
        let draws = self.settings.samples.max(1);
        let mut values: Vec<f64> = (0..draws)
            .map(|_| costs.mean + costs.slope * sampler.draw(law))
            .collect();
        values.sort_by(|a, b| b.total_cmp(a));
        let worst = ((TAIL * draws as f64).ceil() as usize).clamp(1, draws);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        (mean(&values), mean(&values[..worst]), values[worst - 1])
    }
}
