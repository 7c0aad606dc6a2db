//! Table 2: the risk of a private generation query, as a choice between a lottery and a fixed price.
//!
//! Half of the units of 24_ieee_rts release their joint generation; minimised is the CVaR of the cost at a tail share q.
//! With one noise CVaR has a closed form (M6); the paper's way, over samples, stands beside it. The paper draws its half
//! of the units at random and does not name them: ours is drawn from a seed. Levels differ with the units, and so does
//! how much mean is traded for tail: for some halves nothing is.

use std::fmt;

use conveil::ask::{Adjacency, Ask, Bound, Privacy, Request};
use conveil::noise::{Law, Sampler};
use conveil::plan::{Decided, Plan};
use conveil::risk::{Cvar, Risk};
use conveil::solve::{self, Batch, Cancel};
use conveil::{Error, Result};
use conveil_grid::Network;
use conveil_models::grid::Opf;
use serde::Serialize;

use crate::paper;
use crate::patience::settle;
use crate::plot::{Axis, Colour, Figure, Mark, Panel, Series, Shape};
use crate::{SEEDED, percent_of, rounded};

/// The stream of the seed that chooses the units.
const UNITS: u64 = 0x50;

/// The stream of the seed behind the drawn columns.
const DRAWS: u64 = 0x51;

/// The tail at which every decision is judged: the worst 5%.
const TAIL: f64 = 0.05;

/// What to compute.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// α, in MWh.
    pub alphas: Vec<f64>,
    /// The tail shares q, in percent.
    pub tails_percent: Vec<f64>,
    /// ε.
    pub epsilon: f64,
    /// η.
    pub eta: f64,
    /// Units whose joint generation is released; empty: half of them, drawn from the seed.
    pub units: Vec<String>,
    /// Samples of the sampled CVaR, and draws of the drawn columns.
    pub samples: usize,
    /// The seed of both, and of the units.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            alphas: paper::TABLE_2_ALPHAS.to_vec(),
            tails_percent: paper::TABLE_2_TAILS.to_vec(),
            epsilon: paper::EPSILON,
            eta: paper::ETA,
            units: Vec::new(),
            samples: 1000,
            seed: 1,
        }
    }
}

/// One α and one tail share.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The network.
    pub network: String,
    /// α, in MWh.
    pub alpha: f64,
    /// The tail share q whose CVaR is minimised, in percent.
    pub tail_percent: f64,
    /// `paper`: the sensitivity α is declared.
    pub mode: &'static str,
    /// ok, or infeasible.
    pub status: String,
    /// The minimised CVaR of the loss at q, exact.
    pub objective_percent: Option<f64>,
    /// Expected loss, exact.
    pub mean_loss_percent: Option<f64>,
    /// CVaR of the loss at 5%, exact.
    pub cvar_loss_percent: Option<f64>,
    /// Expected loss of the same decision over the draws.
    pub sampled_mean_loss_percent: Option<f64>,
    /// CVaR of the loss at 5% of the same decision over the draws.
    pub sampled_cvar_loss_percent: Option<f64>,
    /// The CVaR at q that the sampled model believes to reach.
    pub sampled_model_objective_percent: Option<f64>,
    /// Expected loss of the sampled model's decision, exact.
    pub sampled_model_mean_percent: Option<f64>,
    /// CVaR of the loss at 5% of the sampled model's decision, exact.
    pub sampled_model_cvar_percent: Option<f64>,
    /// The paper's mean, for other units.
    pub paper_mean_percent: Option<f64>,
    /// The paper's CVaR at 5%, for other units.
    pub paper_cvar_percent: Option<f64>,
}

/// The table.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// `cvar`.
    pub study: &'static str,
    /// What was computed; the units are named.
    pub settings: Settings,
    /// By α, then q.
    pub rows: Vec<Row>,
}

/// Runs the study: all rows in parallel.
pub fn run(network: &Network, settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    for tail in &settings.tails_percent {
        if !(*tail > 0.0 && *tail < 100.0) {
            return Err(Error::Input(format!(
                "a tail share must lie strictly between 0 and 100 percent, found {tail}"
            )));
        }
    }
    let model = Opf::of(network.clone()).build()?;
    let mut settings = settings.clone();
    if settings.units.is_empty() {
        settings.units = half_of_the_units(network, settings.seed);
    }
    let program = conveil::program::DataMap::at(&model, &model.nominal())?;
    let cancel = batch.cancel_flag();
    let study = Study {
        optimum: settle(cancel, |s| solve::solve_checked(&program, s))?.objective,
        cost: program.q().iter().copied().enumerate().collect(),
        theta: model.nominal(),
        model: &model,
        settings: &settings,
        cancel,
    };
    let cells: Vec<(f64, f64)> = settings
        .alphas
        .iter()
        .flat_map(|a| settings.tails_percent.iter().map(move |q| (*a, *q)))
        .collect();
    let rows = batch.run(cells.len(), |i| study.row(cells[i]))?;
    let rows = rows.into_iter().collect::<Result<Vec<Row>>>()?;
    Ok(Table {
        study: "cvar",
        rows,
        settings,
    })
}

/// Half of the units, drawn from a seed.
fn half_of_the_units(network: &Network, seed: u64) -> Vec<String> {
    let mut sampler = Sampler::new(seed, UNITS);
    let count = network.units().len();
    let mut keys: Vec<(f64, usize)> = (0..count).map(|u| (sampler.uniform(), u)).collect();
    keys.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut chosen: Vec<usize> = keys.into_iter().take(count / 2).map(|k| k.1).collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|u| network.unit_name(u)).collect()
}

struct Study<'a> {
    model: &'a Opf,
    settings: &'a Settings,
    theta: Vec<f64>,
    optimum: f64,
    /// c.
    cost: Vec<(usize, f64)>,
    cancel: &'a Cancel,
}

/// A decision, as far as its cost goes: mean + slope·ζ.
struct Costs {
    mean: f64,
    slope: f64,
    objective: f64,
}

impl Study<'_> {
    fn row(&self, (alpha, tail_percent): (f64, f64)) -> Result<Row> {
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
            objective_percent: None,
            mean_loss_percent: None,
            cvar_loss_percent: None,
            sampled_mean_loss_percent: None,
            sampled_cvar_loss_percent: None,
            sampled_model_objective_percent: None,
            sampled_model_mean_percent: None,
            sampled_model_cvar_percent: None,
            paper_mean_percent: printed.map(|p| p.0),
            paper_cvar_percent: printed.map(|p| p.1),
        };
        let percent = |cost: f64| 100.0 * (cost - self.optimum) / self.optimum.abs();
        let Some((exact, law)) = self.decide(alpha, Cvar::exact(q))? else {
            return Ok(row);
        };
        let tail = |costs: &Costs| -> Result<f64> {
            Ok(percent(
                costs.mean + costs.slope.abs() * law.cvar_factor(TAIL)?,
            ))
        };
        row.status = "ok".into();
        row.objective_percent = Some(percent(exact.objective));
        row.mean_loss_percent = Some(percent(exact.mean));
        row.cvar_loss_percent = Some(tail(&exact)?);
        let (mean, worst) = self.drawn(&exact, &law);
        row.sampled_mean_loss_percent = Some(percent(mean));
        row.sampled_cvar_loss_percent = Some(percent(worst));
        let cvar = Cvar::sampled(q, settings.samples, settings.seed);
        if let Some((sampled, _)) = self.decide(alpha, cvar)? {
            row.sampled_model_objective_percent = Some(percent(sampled.objective));
            row.sampled_model_mean_percent = Some(percent(sampled.mean));
            row.sampled_model_cvar_percent = Some(tail(&sampled)?);
        }
        Ok(row)
    }

    /// The decision that minimises this CVaR, and the noise; none where the noise does not fit.
    fn decide(&self, alpha: f64, cvar: Cvar) -> Result<Option<(Costs, Law)>> {
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
            .feasible(1.0 - settings.eta)
            .risk(Risk::cvar(cvar));
        settle(self.cancel, |solver| {
            let ask = ask.clone().settings(solver.clone());
            let plan = Plan::paper_mode(self.model, ask, &self.theta)?;
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

    /// Mean and CVaR at 5% over the draws.
    fn drawn(&self, costs: &Costs, law: &Law) -> (f64, f64) {
        let mut sampler = Sampler::new(self.settings.seed, DRAWS);
        let draws = self.settings.samples.max(1);
        let mut values: Vec<f64> = (0..draws)
            .map(|_| costs.mean + costs.slope * sampler.draw(law))
            .collect();
        values.sort_by(|a, b| b.total_cmp(a));
        let worst = ((TAIL * draws as f64).ceil() as usize).clamp(1, draws);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        (mean(&values), mean(&values[..worst]))
    }
}

impl Table {
    /// Mean and tail of the loss against q, one panel for each α.
    pub fn figure(&self) -> Figure {
        let mut figure =
            Figure::new("The cost of a private generation query: a lottery or a fixed price")
                .columns(self.settings.alphas.len())
                .panel_size(250.0, 260.0);
        let tails = self.rows.iter().filter_map(|r| r.cvar_loss_percent);
        let top = 1.1 * tails.fold(0.0, f64::max).max(1.0);
        for alpha in &self.settings.alphas {
            let rows = || self.rows.iter().filter(|r| r.alpha == *alpha);
            let line = |value: fn(&Row) -> Option<f64>| -> Vec<(f64, f64)> {
                rows()
                    .map(|r| (r.tail_percent, value(r).unwrap_or(f64::NAN)))
                    .collect()
            };
            let solid = |points| Mark::Line {
                points,
                dashed: false,
            };
            let dots = |points| Mark::Points {
                points,
                shape: Shape::Ring,
            };
            let panel = Panel::new(
                format!("α = {alpha} MWh"),
                Axis::linear("minimised tail q in %").range(-3.0, 103.0),
                Axis::linear("loss in %").range(0.0, top),
            )
            .with(
                Series::new(Colour::Vermilion, solid(line(|r| r.cvar_loss_percent)))
                    .label("CVaR at 5%, exact"),
            )
            .with(
                Series::new(Colour::Blue, solid(line(|r| r.mean_loss_percent)))
                    .label("mean, exact"),
            )
            .with(
                Series::new(Colour::Orange, dots(line(|r| r.sampled_model_cvar_percent)))
                    .label("CVaR at 5%, sampled model"),
            )
            .with(
                Series::new(Colour::Sky, dots(line(|r| r.sampled_model_mean_percent)))
                    .label("mean, sampled model"),
            );
            figure = figure.panel(panel);
        }
        figure
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &self.settings;
        writeln!(
            f,
            "STUDY cvar: the joint generation of {} units, CVaR of the cost at q; ε = {}, η = {}%, sensitivity declared as α",
            settings.units.len(),
            settings.epsilon,
            percent_of(settings.eta)
        )?;
        writeln!(f, "{SEEDED}\nunits: {}\n", settings.units.join(", "))?;
        writeln!(
            f,
            "  {:>4} {:>5}  {:^26}  {:^26}",
            "", "", "mean loss in %", "CVaR of the worst 5% in %"
        )?;
        writeln!(
            f,
            "  {:>4} {:>5}  {:>8} {:>8} {:>8}  {:>8} {:>8} {:>8}  {:>13}  status",
            "α", "q %", "exact", "sampled", "paper", "exact", "sampled", "paper", "drawn"
        )?;
        let show = |value| rounded(value, 2);
        for row in &self.rows {
            writeln!(
                f,
                "  {:>4} {:>5}  {:>8} {:>8} {:>8}  {:>8} {:>8} {:>8}  {:>6} {:>6}  {}",
                row.alpha,
                row.tail_percent,
                show(row.mean_loss_percent),
                show(row.sampled_model_mean_percent),
                show(row.paper_mean_percent),
                show(row.cvar_loss_percent),
                show(row.sampled_model_cvar_percent),
                show(row.paper_cvar_percent),
                show(row.sampled_mean_loss_percent),
                show(row.sampled_cvar_loss_percent),
                row.status
            )?;
        }
        writeln!(
            f,
            "\nexact: CVaR in closed form; sampled: CVaR over {} samples, as in the paper; drawn: mean and CVaR of the exact decision\nover as many draws. The paper's units are not known: its levels are those of another half.",
            settings.samples
        )
    }
}
