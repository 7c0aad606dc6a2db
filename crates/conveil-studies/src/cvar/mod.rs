//! Table 2: the risk of a private generation query, as a choice between a lottery and a fixed price.
//!
//! Half of the units of 24_ieee_rts release their joint generation; minimised is the CVaR of the cost at a tail share q.
//! With one noise CVaR has a closed form (M6); the paper's way, over samples, stands beside it. The paper draws its half
//! of the units at random and does not name them: ours is drawn from a seed. How much mean is traded for tail differs with
//! the units: for some halves nothing is. The level differs with the box: the paper's is drawn ([`Method::SampledBox`]).

mod lottery;

use clap::Args;
use conveil::noise::Sampler;
use conveil::solve::{self, Batch};
use conveil::{Error, Result};
use conveil_grid::Network;
use conveil_models::grid::Opf;
use serde::Serialize;

use self::lottery::Lottery;
use crate::input;
use crate::opf::Method;
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
    /// The box of noise values that the dispatch must survive
    #[arg(long, value_enum, default_value = "mass-box")]
    pub method: Method,
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
    /// The seed of both, of the units, and of the first sampled box
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
    /// VaR of the loss at 5%, exact: the loss that the worst 5% exceed.
    pub var_loss_percent: Option<f64>,
    /// Expected loss of the same decision over the draws.
    pub sampled_mean_loss_percent: Option<f64>,
    /// CVaR of the loss at 5% of the same decision over the draws.
    pub sampled_cvar_loss_percent: Option<f64>,
    /// VaR of the loss at 5% of the same decision over the draws.
    pub sampled_var_loss_percent: Option<f64>,
    /// The CVaR at q that the sampled model believes to reach.
    pub sampled_model_objective_percent: Option<f64>,
    /// Expected loss of the sampled model's decision, exact.
    pub sampled_model_mean_percent: Option<f64>,
    /// CVaR of the loss at 5% of the sampled model's decision, exact.
    pub sampled_model_cvar_percent: Option<f64>,
    /// VaR of the loss at 5% of the sampled model's decision, exact.
    pub sampled_model_var_percent: Option<f64>,
    /// Of a sampled box: its seed, the first whose box misses at most η of the noise.
    pub box_seed: Option<u64>,
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

impl Study for Settings {
    const NAME: &'static str = "cvar";
    const ABOUT: &'static str =
        "Table 2: the risk of a private generation query, exact beside sampled";
    const EXAMPLES: &'static str = "Examples:\n  conveil study cvar --alpha 15 --tail 99,50,1\n  conveil study cvar --method sampled-box --seed 11";
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
            "the joint generation of {} units, CVaR of the cost at q; ε = {}, η = {}%{}, sensitivity declared as α",
            settings.units.len(),
            settings.epsilon,
            percent_of(settings.eta),
            match settings.method {
                Method::MassBox => "",
                Method::SampledBox => " by a sampled box",
            }
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
            right("VaR", 8, |r| rounded(r.var_loss_percent, 2)),
            right("drawn", 14, |r| {
                let drawn = [r.sampled_mean_loss_percent, r.sampled_cvar_loss_percent];
                drawn.map(|d| format!("{:>6}", rounded(d, 2))).join(" ")
            }),
            apart("status", 0, |r| r.status.clone()),
        ]
    }

    fn legend(table: &Table) -> String {
        format!(
            "exact: CVaR in closed form; sampled: CVaR over {} samples, as in the paper; VaR: the loss that the worst 5% exceed,\nexact; drawn: mean and CVaR of the exact decision over as many draws. The paper's units and its box are not known.\n",
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
