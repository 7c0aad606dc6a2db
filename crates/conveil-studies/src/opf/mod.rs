//! Table 1: the cost of the optimal power flow, released under every strategy.
//!
//! Networks × α × {input, output, shifted output, program}: exact loss and infeasibility where they are known, seeded
//! draws beside them, and for program perturbation what the best split (M5a) and any method at all could reach.

mod cell;
mod figure;

use clap::{Args, ValueEnum};
use conveil::chance::{Choice, Feasibility, Split};
use conveil::solve::Batch;
use conveil::{Error, Result};
use conveil_grid::{Cost, Network};
use conveil_models::grid::{Costs, LoadBounds, Opf};
use serde::Serialize;

use crate::input;
use crate::paper;
use crate::parts;
use crate::plot::Figure;
use crate::settings::{below_half, check_eta, check_positive, count, defaults, positive};
use crate::study::{
    self, Column, Failure, Study, apart, each, left, percent_of, product, right, rounded,
};

/// The public bounds of the loads under an envelope: this share around the network's own demand.
const BOUNDS: f64 = 0.5;

/// How the box of noise values is found that the decision must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// From the noise law itself
    MassBox,
    /// The hull of seeded samples, as in the paper
    SampledBox,
}

/// Where the mass outside a mass box lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum BoxSplit {
    /// Half below, half above
    Symmetric,
    /// The best of a fixed grid
    Optimise,
}

/// The price at which an envelope lets the demands deviate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Price {
    /// So much per MWh.
    PerMwh(f64),
    /// The largest cost of a unit of the network.
    LargestCost,
}

fn price(text: &str) -> std::result::Result<Price, String> {
    match text.trim() {
        "cmax" => Ok(Price::LargestCost),
        number => match positive(number) {
            Ok(price) => Ok(Price::PerMwh(price)),
            Err(_) => Err("must be a positive price, or `cmax`".into()),
        },
    }
}

/// What to compute.
#[derive(Clone, Debug, Args, Serialize)]
pub struct Settings {
    /// Networks: built-in names and MATPOWER files that end in .m [default: the paper's five]
    #[arg(long, value_name = "NAME,FILE.m,…", value_delimiter = ',')]
    #[serde(skip)]
    pub networks: Option<Vec<String>>,
    /// How many MWh of one load must stay hidden
    #[arg(long = "alpha", value_name = "V,V,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = positive, default_value = "1,3,10")]
    pub alphas: Vec<f64>,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value_t = paper::EPSILON)]
    pub epsilon: f64,
    /// The probability of an infeasible answer, below 0.5
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value_t = paper::ETA)]
    pub eta: f64,
    /// The box of noise values that the dispatch must survive
    #[arg(long, value_enum, default_value = "mass-box")]
    pub method: Method,
    /// Where the noise outside a mass box lies
    #[arg(long, value_enum, default_value = "symmetric")]
    pub split: BoxSplit,
    /// How many draws of the noise; input perturbation solves a program for each of at most 1000
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = count::<u64>(1..=10_000_000))]
    pub draws: u64,
    /// The seed of the draws, and of the first sampled box
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many sampled boxes stand behind their mean and standard deviation
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = count::<u64>(1..=100_000))]
    pub vertex_draws: u64,
    /// Quadratic and piecewise-linear costs as they are, not the linear coefficients alone
    #[arg(long)]
    pub full_costs: bool,
    /// Let limits on angle differences count
    #[arg(long)]
    pub angle_limits: bool,
    /// Certify the sensitivity by an envelope at this price per MWh, or at the largest cost of a unit; loads within
    /// ±50% of the network's
    #[arg(long, value_name = "PRICE|cmax", allow_hyphen_values = true, value_parser = price)]
    pub envelope: Option<Price>,
}

impl Default for Settings {
    fn default() -> Self {
        defaults()
    }
}

impl Settings {
    /// Whether the paper's numbers are about the same thing.
    fn is_the_papers(&self) -> bool {
        self.epsilon == paper::EPSILON
            && self.eta == paper::ETA
            && !self.full_costs
            && !self.angle_limits
            // At c_max an envelope's noise is as wide as the paper's; at another price it is not.
            && !matches!(self.envelope, Some(Price::PerMwh(_)))
    }

    fn validate(&self) -> Result<()> {
        self.alphas
            .iter()
            .try_for_each(|a| check_positive("α", *a))?;
        check_positive("ε", self.epsilon)?;
        if let Some(Price::PerMwh(price)) = self.envelope {
            check_positive("the envelope's price", price)?;
        }
        check_eta(self.eta)?;
        if self.method == Method::SampledBox && self.split == BoxSplit::Optimise {
            return Err(Error::Input(
                "a sampled box has no split to optimise: use the mass box".into(),
            ));
        }
        if self.method == Method::SampledBox && self.vertex_draws == 0 {
            return Err(Error::Input(
                "a sampled box needs at least one vertex draw".into(),
            ));
        }
        Ok(())
    }

    /// The chance constraint; a sampled box is drawn from this seed.
    fn feasibility(&self, seed: u64) -> Feasibility {
        let feasibility = Feasibility::eta(self.eta);
        match self.method {
            Method::MassBox => feasibility
                .method(Choice::MASS_BOX)
                .split(match self.split {
                    BoxSplit::Symmetric => Split::Symmetric,
                    BoxSplit::Optimise => Split::Optimise,
                }),
            Method::SampledBox => feasibility.method(Choice::SAMPLED_BOX).sampling(
                conveil::ask::SampleSize::Paper,
                paper::BETA,
                seed,
            ),
        }
    }
}

/// One network, one α, one strategy.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// The network.
    pub network: String,
    /// α, in MWh.
    pub alpha: f64,
    /// input, output, shifted output, program.
    pub strategy: &'static str,
    /// What the noise is calibrated to. `paper`: as published, α·c_max (or α times the envelope's price) declared for
    /// the optimum, α itself for the data. `certified`: the envelope's proven bound on what is released.
    pub mode: &'static str,
    /// ok, infeasible, or why there is no number.
    pub status: String,
    /// 100(Qx̄ − v*)/v*, exact.
    pub loss_percent: Option<f64>,
    /// The same over the draws; input draws without a solution leave the mean.
    pub sampled_loss_percent: Option<f64>,
    /// 100·Pr(infeasible), exact.
    pub infeasible_percent: Option<f64>,
    /// The same over the draws.
    pub sampled_infeasible_percent: Option<f64>,
    /// The draws.
    pub draws: u64,
    /// With an envelope, how far the demands that program perturbation's promise is for are from the network's own, in
    /// MWh over all loads; zero where they are the same.
    pub correction_mwh: Option<f64>,
    /// The solver's relative tolerance at which the cell was accepted.
    pub tolerance: f64,
    /// s·ln(1/(2η)) in percent of the optimum: what no decision for the network's own demands can beat; none where an
    /// envelope corrected them.
    pub limit_percent: Option<f64>,
    /// L* of M5a in percent of the optimum: the best split; none where no split is feasible, or where an envelope
    /// corrected the demands.
    pub best_split_percent: Option<f64>,
    /// The loss over sampled boxes of several seeds.
    pub sampled_boxes: Option<SampledBoxes>,
    /// The paper's loss.
    pub paper_loss_percent: Option<f64>,
    /// The paper's infeasibility.
    pub paper_infeasible_percent: Option<f64>,
}

impl Row {
    /// Whether the promise is for other demands than the network's own.
    pub fn is_corrected(&self) -> bool {
        self.correction_mwh.is_some_and(|distance| distance > 0.0)
    }
}

/// Program perturbation with the sampled boxes of several seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampledBoxes {
    /// Seeds.
    pub draws: u64,
    /// Seeds whose box fits.
    pub feasible: u64,
    /// Seeds whose box is refused: it misses more than η of the noise, as the law tells.
    pub refused: u64,
    /// Mean loss over the boxes that fit.
    pub mean_loss_percent: Option<f64>,
    /// Its standard deviation.
    pub std_loss_percent: Option<f64>,
}

/// The table: networks, then α, then strategies.
pub type Table = study::Table<Settings>;

impl Table {
    /// The row of a cell.
    pub fn row(&self, network: &str, alpha: f64, strategy: &str) -> Option<&Row> {
        self.rows
            .iter()
            .find(|r| r.network == network && r.alpha == alpha && r.strategy == strategy)
    }
}

/// Runs the study on these networks, whatever the settings name.
pub fn run(networks: &[Network], settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    settings.validate()?;
    let models = networks.iter().map(|network| model(network, settings));
    let models = models.collect::<Result<Vec<Opf>>>()?;
    let cells = product(&models, &settings.alphas);
    // The big networks first, so that no core waits for one at the end.
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(cells[i].0.network().buses().len()));
    let mut found = each(&order, batch, |&i, inner| {
        let (model, alpha) = cells[i];
        Ok((i, cell::rows(model, alpha, settings, inner)?))
    })?;
    found.sort_by_key(|(i, _)| *i);
    let rows = found.into_iter().flat_map(|(_, rows)| rows);
    Ok(Table::new(settings, rows.collect()))
}

fn model(network: &Network, settings: &Settings) -> Result<Opf> {
    let builder = Opf::of(network.clone())
        .angle_limits(settings.angle_limits)
        .costs(match settings.full_costs {
            true => Costs::Full,
            false => Costs::Linear,
        });
    match settings.envelope {
        None => builder.build(),
        Some(_) => builder.bounds(LoadBounds::Relative(BOUNDS)).build(),
    }
}

/// c_max: the largest linear coefficient, or with full costs the largest marginal cost within the units' limits.
fn largest_cost(model: &Opf, settings: &Settings) -> f64 {
    if !settings.full_costs {
        return model.largest_cost();
    }
    let units = model.network().units().iter();
    units
        .map(|unit| match &unit.cost {
            Cost::Linear { c1, .. } => *c1,
            Cost::Quadratic { c2, c1, .. } => c1 + 2.0 * c2 * unit.pmax_mw,
            Cost::Piecewise { points } => points
                .windows(2)
                .map(|ends| (ends[1].1 - ends[0].1) / (ends[1].0 - ends[0].0))
                .fold(f64::NEG_INFINITY, f64::max),
        })
        .fold(f64::NEG_INFINITY, f64::max)
}

impl Study for Settings {
    const NAME: &'static str = "opf";
    const ABOUT: &'static str = "Table 1: the cost of the optimal power flow under every strategy";
    const EXAMPLES: &'static str =
        "Example:\n  conveil study opf --networks 5_pjm,14_ieee --alpha 1,3";
    type Row = Row;
    type Pictures = ();

    fn run(&self, batch: &Batch<'_>) -> std::result::Result<Table, Failure> {
        let networks = input::networks(self.networks.as_deref(), &paper::TABLE_1_NETWORKS)?;
        Ok(run(&networks, self, batch)?)
    }

    fn parts(&self) -> Vec<Self> {
        let networks = parts::named(self.networks.as_deref(), &paper::TABLE_1_NETWORKS);
        parts::one_by_one(networks, |network| Settings {
            networks: Some(network),
            ..self.clone()
        })
    }

    fn files(&self) -> Vec<String> {
        parts::case_files(self.networks.iter().flatten())
    }

    fn headline(table: &Table) -> String {
        let settings = &table.settings;
        let set = match (settings.method, settings.split) {
            (Method::MassBox, BoxSplit::Symmetric) => "symmetric mass box",
            (Method::MassBox, BoxSplit::Optimise) => "mass box with the best split",
            (Method::SampledBox, _) => "sampled box",
        };
        let basis = match settings.envelope {
            None => "sensitivity declared as α·c_max".to_string(),
            Some(Price::LargestCost) => "envelope at the price c_max".into(),
            Some(Price::PerMwh(price)) => format!("envelope at the price {price}"),
        };
        let (epsilon, eta) = (settings.epsilon, percent_of(settings.eta));
        format!("private cost of the optimal power flow; ε = {epsilon}, η = {eta}%, {set}, {basis}")
    }

    fn groups() -> String {
        let (loss, infeasible) = ("loss in %", "infeasible in %");
        format!(
            "{:46}{loss:^26} {infeasible:^26} {:>15}\n",
            "", "program: in %"
        )
    }

    fn columns() -> Vec<Column<Row>> {
        vec![
            left("network", 12, |r| r.network.clone()),
            right("α", 4, |r| r.alpha.to_string()),
            left("strategy", 15, |r| r.strategy.into()),
            left("mode", 9, |r| r.mode.into()),
            right("exact", 8, |r| rounded(r.loss_percent, 2)),
            right("drawn", 8, |r| rounded(r.sampled_loss_percent, 2)),
            right("paper", 8, |r| rounded(r.paper_loss_percent, 2)),
            right("exact", 8, |r| rounded(r.infeasible_percent, 2)),
            right("drawn", 8, |r| rounded(r.sampled_infeasible_percent, 2)),
            right("paper", 8, |r| rounded(r.paper_infeasible_percent, 2)),
            right("limit", 7, |r| rounded(r.limit_percent, 2)),
            right("best", 7, |r| rounded(r.best_split_percent, 2)),
            apart("status", 0, |r| {
                r.status.clone() + if r.is_corrected() { "*" } else { "" }
            }),
        ]
    }

    fn before(row: &Row, last: Option<&Row>) -> String {
        let is_next = last.is_some_and(|last| last.network != row.network);
        String::from(if is_next { "\n" } else { "" })
    }

    fn after(row: &Row) -> String {
        let Some(boxes) = &row.sampled_boxes else {
            return String::new();
        };
        let spread = match (boxes.mean_loss_percent, boxes.std_loss_percent) {
            (Some(mean), Some(std)) => format!("loss {mean:.2} ± {std:.2}"),
            _ => "no loss".into(),
        };
        format!(
            "{:22}over {} boxes: {spread}; {} fit, {} miss more than η\n",
            "", boxes.draws, boxes.feasible, boxes.refused
        )
    }

    fn legend(table: &Table) -> String {
        let mut text = String::from(
            "mode: what the noise is calibrated to; paper: a declared bound on the cost, or α itself on the data; certified: the envelope's bound\nlimit: s·ln(1/(2η)), which no decision for the network's own demands can beat; best: the best split of the mass box (M5a)\ndrawn: all cells share one sample of the noise, scaled to each; their deviations from the exact numbers are not independent\n",
        );
        // What stands behind each status with a star: whose demands the promise is for.
        for row in table.rows.iter().filter(|row| row.is_corrected()) {
            text += &format!(
                "* {} at α = {}: the envelope corrected the demands by {:.2} MWh in all; that at most {}% is infeasible is promised for the corrected demands, for the network's own it is {}\n",
                row.network,
                row.alpha,
                row.correction_mwh.unwrap_or(0.0),
                percent_of(table.settings.eta),
                row.infeasible_percent
                    .map_or("unknown".into(), |p| format!("{p:.2}%")),
            );
            if row.loss_percent.is_some_and(|loss| loss < 0.0) {
                text += "  the cost that is released is below the optimum: the envelope's price is below what the demands cost, and caps it; the limit does not apply\n";
            }
        }
        text
    }

    fn figure(table: &Table) -> Figure {
        figure::figure(table)
    }
}
