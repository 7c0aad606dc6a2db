//! Table 2: the risk of a private generation query, as a choice between a lottery and a fixed price.
//!
//! Half of the units of 24_ieee_rts release their joint generation; minimised is the CVaR of the cost at a tail share q.
//! With one noise CVaR has a closed form (M6); the paper's way, over samples, stands beside it. The paper draws its half
//! of the units at random and does not name them: ours is drawn from a seed. Levels differ with the units, and so does
//! how much mean is traded for tail: for some halves nothing is.

use clap::Args;
use conveil::ask::{Adjacency, Ask, Bound, Privacy, Request};
use conveil::noise::{Law, Sampler};
use conveil::plan::{Decided, Plan};
use conveil::risk::{Cvar, Risk};
use conveil::solve::{self, Batch, Cancel};
use conveil::{Error, Result};
use conveil_grid::Network;
use conveil_models::grid::Opf;
use serde::Serialize;

use crate::input;
use crate::paper;
use crate::parts;
use crate::plot::{Axis, Colour, Figure, Panel, Series, Shape};
use crate::settings::{below_half, count, defaults, percent, positive};
use crate::study::{
    self, Column, Failure, Study, apart, each, percent_of, product, right, rounded,
};
use crate::tolerance::retry_looser;

/// The stream of the seed that chooses the units.
const UNITS: u64 = 0x50;

/// The stream of the seed behind the drawn columns.
const DRAWS: u64 = 0x51;

/// The tail at which every decision is judged: the worst 5%.
const TAIL: f64 = 0.05;

/// What to compute.
#[derive(Clone, Debug, Args, Serialize)]
pub struct Settings {
    /// The network: a built-in name, or a MATPOWER file that ends in .m
    #[arg(long, value_name = "NAME|FILE.m", default_value = "24_ieee_rts")]
    #[serde(skip)]
    pub network: String,
    /// How many MWh of one load must stay hidden
    #[arg(long = "alpha", value_name = "V,V,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = positive, default_value = "15,25,35")]
    pub alphas: Vec<f64>,
    /// The tail shares whose CVaR is minimised, in percent
    #[arg(long = "tail", value_name = "Q,Q,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = percent, default_value = "99,90,80,70,60,50,40,30,20,10,1")]
    pub tails_percent: Vec<f64>,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value_t = paper::EPSILON)]
    pub epsilon: f64,
    /// The probability of an infeasible dispatch, below 0.5
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value_t = paper::ETA)]
    pub eta: f64,
    /// The units whose joint generation is released: `generator 7`, or `bus 23` for all that stand there [default: half
    /// of the units, drawn from the seed]
    #[arg(
        long,
        value_name = "UNIT,UNIT,…",
        value_delimiter = ',',
        display_order = 2
    )]
    pub units: Vec<String>,
    /// Samples of the sampled CVaR, and draws of the drawn columns
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = count::<usize>(1..=100_000))]
    pub samples: usize,
    /// The seed of both, and of the units
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        defaults()
    }
}

/// One α and one tail share.
#[derive(Clone, Debug, Default, Serialize)]
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

/// The table: by α, then q; its settings name the units.
pub type Table = study::Table<Settings>;

/// Runs the study on this network, whatever the settings name.
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
    let lottery = Lottery {
        optimum: retry_looser(cancel, |s| solve::solve_checked(&program, s))?.objective,
        cost: program.q().iter().copied().enumerate().collect(),
        theta: model.nominal(),
        model: &model,
        settings: &settings,
        cancel,
    };
    let cells = product(&settings.alphas, &settings.tails_percent);
    let rows = each(&cells, batch, |(alpha, tail), _| {
        lottery.row(**alpha, *tail)
    })?;
    Ok(Table::new(&settings, rows))
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

/// The costs of a network, as a lottery of the noise.
struct Lottery<'a> {
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

impl Lottery<'_> {
    fn row(&self, alpha: f64, tail_percent: f64) -> Result<Row> {
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
        retry_looser(self.cancel, |solver| {
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

impl Study for Settings {
    const NAME: &'static str = "cvar";
    const ABOUT: &'static str =
        "Table 2: the risk of a private generation query, exact beside sampled";
    const EXAMPLES: &'static str = "Example:\n  conveil study cvar --alpha 15 --tail 99,50,1";
    type Row = Row;
    type Pictures = ();

    fn run(&self, batch: &Batch<'_>) -> std::result::Result<Table, Failure> {
        let mut settings = self.clone();
        for unit in &mut settings.units {
            *unit = unit.trim().into();
        }
        Ok(run(&input::network(&self.network)?, &settings, batch)?)
    }

    fn files(&self) -> Vec<String> {
        parts::case_files([&self.network])
    }

    fn headline(table: &Table) -> String {
        let settings = &table.settings;
        format!(
            "the joint generation of {} units, CVaR of the cost at q; ε = {}, η = {}%, sensitivity declared as α",
            settings.units.len(),
            settings.epsilon,
            percent_of(settings.eta)
        )
    }

    fn remark(table: &Table) -> String {
        format!("units: {}\n", table.settings.units.join(", "))
    }

    fn groups() -> String {
        let (mean, tail) = ("mean loss in %", "CVaR of the worst 5% in %");
        format!("{:14}{mean:^26}  {tail:^26}\n", "")
    }

    fn columns() -> Vec<Column<Row>> {
        vec![
            right("α", 4, |r| r.alpha.to_string()),
            right("q %", 5, |r| r.tail_percent.to_string()),
            right("exact", 9, |r| rounded(r.mean_loss_percent, 2)),
            right("sampled", 8, |r| rounded(r.sampled_model_mean_percent, 2)),
            right("paper", 8, |r| rounded(r.paper_mean_percent, 2)),
            right("exact", 9, |r| rounded(r.cvar_loss_percent, 2)),
            right("sampled", 8, |r| rounded(r.sampled_model_cvar_percent, 2)),
            right("paper", 8, |r| rounded(r.paper_cvar_percent, 2)),
            right("drawn", 14, |r| {
                let drawn = [r.sampled_mean_loss_percent, r.sampled_cvar_loss_percent];
                drawn.map(|d| format!("{:>6}", rounded(d, 2))).join(" ")
            }),
            apart("status", 0, |r| r.status.clone()),
        ]
    }

    fn legend(table: &Table) -> String {
        format!(
            "exact: CVaR in closed form; sampled: CVaR over {} samples, as in the paper; drawn: mean and CVaR of the exact decision\nover as many draws. The paper's units are not known: its levels are those of another half.\n",
            table.settings.samples
        )
    }

    /// Mean and tail of the loss against q, one panel for each α.
    fn figure(table: &Table) -> Figure {
        let alphas = &table.settings.alphas;
        let title = "The cost of a private generation query: a lottery or a fixed price";
        let figure = Figure::new(title)
            .columns(alphas.len())
            .panel_size(250.0, 260.0);
        let tails = table.rows.iter().filter_map(|r| r.cvar_loss_percent);
        let top = 1.1 * tails.fold(0.0, f64::max).max(1.0);
        let panels = alphas.iter().map(|alpha| {
            let points = |value: fn(&Row) -> Option<f64>| -> Vec<(f64, f64)> {
                let rows = table.rows.iter().filter(|r| r.alpha == *alpha);
                rows.map(|r| (r.tail_percent, value(r).unwrap_or(f64::NAN)))
                    .collect()
            };
            let line = |colour, value| Series::line(colour, points(value));
            let rings = |colour, value| Series::points(colour, Shape::Ring, points(value));
            Panel::new(
                format!("α = {alpha} MWh"),
                Axis::linear("minimised tail q in %").range(-3.0, 103.0),
                Axis::linear("loss in %").range(0.0, top),
            )
            .with(line(Colour::Vermilion, |r| r.cvar_loss_percent).label("CVaR at 5%, exact"))
            .with(line(Colour::Blue, |r| r.mean_loss_percent).label("mean, exact"))
            .with(
                rings(Colour::Orange, |r| r.sampled_model_cvar_percent)
                    .label("CVaR at 5%, sampled model"),
            )
            .with(rings(Colour::Sky, |r| r.sampled_model_mean_percent).label("mean, sampled model"))
        });
        panels.fold(figure, Figure::panel)
    }
}
