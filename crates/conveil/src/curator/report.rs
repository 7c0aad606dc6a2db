//! The curator report: everything that depends on the private data. It says that it is private.

use super::comparison::in_percent;
use super::{About, Empirical};
use crate::ask::Strategy;
use crate::chance::Budget;
use crate::digits::{counted, decimals};
use crate::plan::{Correction, Decided, Plan};
use serde::Serialize;
use std::fmt;

/// What the curator sees.
#[derive(Clone, Debug, Serialize)]
pub struct CuratorReport {
    /// Whether it depends on private data: then it must not be published.
    pub private: bool,
    /// Which data it is about, where they are public.
    #[serde(rename = "at", skip_serializing_if = "About::is_private")]
    pub about: About,
    /// What is done with the noise.
    pub strategy: Strategy,
    /// What was minimised.
    pub objective_kind: String,
    /// The optimum without noise.
    pub optimum: f64,
    /// The minimised objective with noise.
    pub objective: f64,
    /// Whether a decision answers to the noise, so that objective and loss are those under it. Not so where the noise is
    /// on an answer that is not the whole decision.
    pub carried: bool,
    /// Whether losses absorb the noise.
    #[serde(skip)]
    has_elastic_losses: bool,
    /// Whether data outside a universe count as its nearest member.
    #[serde(skip)]
    has_universe: bool,
    /// objective − optimum.
    pub loss: f64,
    /// 100·loss/|optimum|, unless the optimum is 0 beside the loss.
    pub loss_percent: Option<f64>,
    /// The released numbers before noise: names and values.
    pub answer: Vec<(String, f64)>,
    /// The noise scale.
    pub scale: f64,
    /// x̄ by name.
    pub mean: Vec<(String, f64)>,
    /// Standard deviation of each variable under the rule, by name.
    pub deviation: Vec<(String, f64)>,
    /// Prices of the constraints that bind: the multiplier of a linear row, the norm of a cone's multipliers otherwise.
    pub prices: Vec<(String, f64)>,
    /// The η table.
    pub budget: Budget,
    /// The certified probability of infeasibility.
    pub certified: f64,
    /// The measured one.
    pub empirical: Empirical,
    /// How the envelope deviated from the data, where there is one.
    pub correction: Option<Correction>,
    /// Data outside their public bounds or the claim's universe, and what they count as.
    pub clipped: Vec<super::Clipped>,
    /// The probability of infeasibility for the data themselves, where they were clipped or corrected.
    pub infeasible_at_the_data: Option<Empirical>,
    /// The optimum without noise for the data themselves, where they were clipped or corrected and there is one.
    pub optimum_at_the_data: Option<f64>,
    /// What the decision costs by cause, where the data count as others or a certificate adds terms to the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<super::Costs>,
    /// How far the solve is proven to be from the optimum, where a certificate counts on it.
    pub proven_error: Option<f64>,
    /// Whether the mean meets the equalities to rounding, and not only to the solver's tolerance.
    pub is_on_equalities: bool,
    /// Our check of the solve.
    pub check: crate::solve::Residuals,
    /// Variables and rows of the lifted program.
    pub lifted_size: (usize, usize),
    /// Seconds: lift, solve, optimum without noise, empirical check.
    pub seconds: [f64; 4],
    /// The guarantee's text.
    pub guarantee: String,
    /// Warnings.
    pub warnings: Vec<String>,
}

/// What is measured of a decision beside what is decided.
pub(super) struct Measurements {
    pub(super) objective: f64,
    /// The optimum without noise.
    pub(super) optimum: f64,
    pub(super) empirical: Empirical,
    pub(super) optimum_seconds: f64,
    pub(super) measuring_seconds: f64,
}

impl CuratorReport {
    /// The same about these data.
    #[must_use]
    pub fn about(mut self, about: About) -> Self {
        (self.private, self.about) = (about.is_private(), about);
        self
    }

    pub(super) fn new(plan: &Plan<'_>, decided: &Decided, measured: Measurements) -> Self {
        let Measurements {
            objective,
            optimum,
            empirical,
            optimum_seconds,
            measuring_seconds,
        } = measured;
        let program = &decided.program;
        let named = |values: &[f64]| -> Vec<(String, f64)> {
            values
                .iter()
                .enumerate()
                .map(|(j, v)| (program.variable_name(j), *v))
                .collect()
        };
        let std_dev = plan.law().std_dev();
        let deviation: Vec<f64> = (0..program.columns())
            .map(|j| {
                let row: Vec<f64> = decided.recourse.row(j).iter().map(|e| e.1).collect();
                std_dev * crate::program::norm(&row)
            })
            .collect();
        let loss = objective - optimum;
        let carried =
            plan.ask().strategy == Strategy::Program || deviation.iter().any(|d| *d > 0.0);
        let room = plan.shift().map_or(0.0, |shift| shift.amount);
        let budget = plan.guarantee().budget().clone();
        CuratorReport {
            private: true,
            about: About::Private,
            strategy: plan.ask().strategy,
            objective_kind: plan.ask().risk.describe(),
            optimum,
            objective,
            loss,
            carried,
            has_elastic_losses: plan.released().has_local_recourse(),
            has_universe: plan.guarantee().universe().is_some(),
            loss_percent: in_percent(loss, optimum).filter(|_| carried),
            answer: plan
                .labels()
                .iter()
                .cloned()
                .zip(decided.answer.iter().map(|answer| answer + room))
                .collect(),
            scale: plan.law().scale(),
            mean: named(&decided.mean),
            deviation: named(&deviation),
            prices: decided.named_prices(),
            certified: budget.certified(),
            budget,
            empirical,
            correction: decided.correction.clone(),
            clipped: Vec::new(),
            infeasible_at_the_data: None,
            optimum_at_the_data: None,
            costs: None,
            proven_error: decided.proven_error,
            is_on_equalities: decided.is_on_equalities,
            check: decided.residuals,
            lifted_size: decided.lifted_size,
            seconds: [
                decided.lift_seconds,
                decided.solve_seconds,
                optimum_seconds,
                measuring_seconds,
            ],
            guarantee: plan.guarantee().to_string(),
            warnings: plan.warnings().to_vec(),
        }
    }
}

/// Rows shown of a long list.
const SHOWN: usize = 20;

/// Values below this share of the largest in a list are rounding.
const ROUNDING: f64 = 1e-7;

fn list(f: &mut fmt::Formatter<'_>, title: &str, values: &[(String, f64)]) -> fmt::Result {
    writeln!(f, "{title}:")?;
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.1.abs()));
    for (name, value) in values.iter().take(SHOWN) {
        let shown = decimals(*value, ROUNDING * largest);
        writeln!(f, "  {name:<28} {shown:>16}")?;
    }
    if values.len() > SHOWN {
        writeln!(f, "  … and {} more (see --json)", values.len() - SHOWN)?;
    }
    Ok(())
}

impl CuratorReport {
    /// How often the constraints fail: what is promised, and what is measured.
    fn write_infeasible(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.strategy {
            Strategy::Program => writeln!(
                f,
                "{} at most {:.4}% certified; measured {}{}",
                match self.budget.is_for_each_row() {
                    true => "infeasible, each row  ",
                    false => "infeasible            ",
                },
                100.0 * self.certified,
                self.empirical,
                self.empirical.beside(self.certified)
            ),
            Strategy::Output if self.carried => writeln!(
                f,
                "infeasible             nothing is promised; the noisy answer as a decision: {}",
                self.empirical
            ),
            Strategy::Output if self.has_elastic_losses => writeln!(
                f,
                "infeasible             nothing is promised: losses give way, and every answer is admissible"
            ),
            Strategy::Shifted => writeln!(
                f,
                "infeasible             no decision carries the noise; how often there is one with the released number, `compare` shows"
            ),
            Strategy::Input => writeln!(
                f,
                "infeasible             nothing is promised for the data themselves; how often the answer at noisy data is feasible for them, `compare` shows"
            ),
            Strategy::Truncated => writeln!(
                f,
                "infeasible             never: what is feasible at the noisy data, as they are moved, is feasible for the data; what that costs, `compare` shows"
            ),
            Strategy::Output => writeln!(
                f,
                "infeasible             nothing is promised: no decision carries the noise; `compare` shows how often there is one"
            ),
            Strategy::LinearTerm => writeln!(
                f,
                "infeasible             never: the program is solved after the noise; without its constraints: {}. What they save of the cost, `compare` shows",
                self.empirical
            ),
            Strategy::Projected => writeln!(
                f,
                "infeasible             never, once projected; before: {}. What the projection saves of the cost, `compare` shows",
                self.empirical
            ),
        }
    }

    /// What the decision was made for, where that is not the data themselves.
    fn write_deviation(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.clipped.is_empty() {
            writeln!(
                f,
                "clipped                {} outside {}:",
                counted(self.clipped.len(), "value"),
                match (self.has_universe, self.clipped.len()) {
                    (true, _) => "the universe or public bounds",
                    (false, 1) => "its public bounds",
                    (false, _) => "their public bounds",
                }
            )?;
            for clipped in self.clipped.iter().take(SHOWN) {
                writeln!(
                    f,
                    "  {:<28} {:>16} counts as {}",
                    clipped.name,
                    decimals(clipped.datum, 0.0),
                    decimals(clipped.counted_as, 0.0)
                )?;
            }
            if let Some(more) = self.clipped.len().checked_sub(SHOWN).filter(|m| *m > 0) {
                writeln!(f, "  … and {more} more (see --json)")?;
            }
        }
        match &self.correction {
            Some(correction) if correction.at_the_data && correction.relaxes => writeln!(
                f,
                "rows with private data none is exceeded: the decision is for the data as they are"
            )?,
            Some(correction) if correction.at_the_data => writeln!(
                f,
                "envelope               no correction: the decision is for the data as they are"
            )?,
            Some(correction) if correction.relaxes => {
                writeln!(
                    f,
                    "rows with private data exceeded by {:.6} in all{}",
                    correction.distance,
                    match self.clipped.is_empty() {
                        true => "",
                        false => "; some data were clipped",
                    }
                )?;
                if correction.paid > 0.0 {
                    writeln!(
                        f,
                        "  the answer holds the price of it, {:.6}, beside what the decision costs",
                        correction.paid
                    )?;
                }
                for (name, limit, met) in correction.moved.iter().take(SHOWN) {
                    writeln!(f, "  {name:<28} {limit:>16.6} to {met:.6}")?;
                }
            }
            Some(correction) => {
                writeln!(
                    f,
                    "envelope               the decision is for data {:.6} away in all{}",
                    correction.distance,
                    match self.clipped.is_empty() {
                        true if correction.paid > 0.0 => ": the price caps what they cost",
                        true => ": their price differs from the public one",
                        false => ", the clipping included",
                    }
                )?;
                if correction.paid > 0.0 {
                    writeln!(
                        f,
                        "  the answer holds the price of it, {:.6}, beside what the decision costs",
                        correction.paid
                    )?;
                }
                for (name, datum, corrected) in correction.moved.iter().take(SHOWN) {
                    writeln!(f, "  {name:<28} {datum:>16.6} to {corrected:.6}")?;
                }
            }
            None => {}
        }
        let Some(measured) = &self.infeasible_at_the_data else {
            let promises = self.strategy == Strategy::Program && !self.has_elastic_losses;
            return match promises && !self.clipped.is_empty() {
                false => Ok(()),
                true => writeln!(
                    f,
                    "infeasible at the data not measured: the values as they are make no valid program"
                ),
            };
        };
        writeln!(f, "infeasible at the data {measured}")?;
        match self.optimum_at_the_data {
            Some(optimum) => writeln!(f, "optimum at the data    {optimum:>16.6}"),
            None => writeln!(f, "optimum at the data    none was found"),
        }
    }
}

/// Without the warnings: a caller shows them where warnings go.
impl fmt::Display for CuratorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "CURATOR REPORT: {}", self.about.stamp())?;
        writeln!(f, "{}", self.guarantee)?;
        writeln!(f)?;
        let rounding = ROUNDING * self.optimum.abs().max(self.objective.abs());
        let shown = |value: f64| decimals(value, rounding);
        writeln!(f, "optimum without noise  {:>16}", shown(self.optimum))?;
        if self.carried {
            writeln!(
                f,
                "{:<22} {:>16}",
                self.objective_kind,
                shown(self.objective)
            )?;
            let percent = (self.loss_percent).map_or(String::new(), |p| format!("  ({p:.2}%)"));
            let before = (self.strategy.noise_is()).map_or(String::new(), |p| format!(", {p}"));
            writeln!(
                f,
                "cost of privacy        {:>16}{percent}{before}",
                shown(self.loss)
            )?;
        } else {
            writeln!(
                f,
                "cost of privacy        not measured: no decision carries the noise"
            )?;
        }
        if let Some(costs) = &self.costs {
            let relaxes = self.correction.as_ref().is_some_and(|c| c.relaxes);
            costs.write(f, rounding, relaxes)?;
        }
        self.write_infeasible(f)?;
        self.write_deviation(f)?;
        list(f, "answer before noise", &self.answer)?;
        list(f, "mean decision", &self.mean)?;
        list(f, "standard deviation of the decision", &self.deviation)?;
        if !self.prices.is_empty() {
            list(f, "prices of binding constraints", &self.prices)?;
        }
        writeln!(f, "check: {}", self.check)?;
        if !self.is_on_equalities {
            writeln!(
                f,
                "  the mean decision misses an equality by more than rounding, within the solver's tolerance"
            )?;
        }
        if let Some(error) = self.proven_error {
            writeln!(f, "proven distance from the optimum: {error:.1e}")?;
        }
        write!(
            f,
            "lifted to {} and {}; seconds: lift {:.3}, solve {:.3}, optimum {:.3}, measuring {:.3}",
            counted(self.lifted_size.0, "variable"),
            counted(self.lifted_size.1, "row"),
            self.seconds[0],
            self.seconds[1],
            self.seconds[2],
            self.seconds[3]
        )
    }
}
