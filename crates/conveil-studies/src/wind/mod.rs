//! Table 4: private power curves of wind turbines that must increase.
//!
//! Turbines × variations × ways, each as a distribution over seeds: the disturbance of the records, the points of the
//! conditions, the sampled pairs and the noise all change with the seed. *Paper mode* is the paper's: Laplace noise for the
//! movement of the weights without noise when all powers shift together around the private ones (M14). *Certified mode*
//! stands beside it: one record of range 1, strong convexity, noise shaped by the curvature (M8c).

mod cell;

use clap::{Args, ValueEnum};
use conveil::solve::Batch;
use conveil::{Error, Result};
use conveil_models::wind::{PowerCurve, TURBINES};
use serde::Serialize;

use crate::fitting::{CurveFan, Head, Seeds, Spread};
pub use crate::fitting::{Fit, Way};
use crate::plot::{Axis, Figure, Panel};
use crate::settings::{below_half, check_eta, check_positive, count, defaults, percent, positive};
use crate::study::{self, Column, Failure, Study, apart, each, left, percent_of, right, rounded};
use crate::{input, paper, parts};

/// How the powers of a turbine vary within a universe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Variation {
    /// All powers by one factor
    Together,
    /// Each power for itself
    Apart,
}

/// What to compute.
#[derive(Clone, Debug, Args, Serialize)]
pub struct Settings {
    /// Built-in turbines [default: all six, unless a curve is given]
    #[arg(long, value_name = "NAME,NAME,…", value_delimiter = ',')]
    #[serde(skip)]
    pub turbines: Option<Vec<String>>,
    /// Power curves of other turbines: files with the columns `speed` (m/s) and `power` (any unit)
    #[arg(long, value_name = "FILE.csv,…", value_delimiter = ',')]
    #[serde(skip)]
    pub curve: Vec<String>,
    /// How far the powers of a universe vary, in percent of themselves
    #[arg(long = "variation", value_name = "V,V,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = percent, default_value = "1,1.75,2.5")]
    pub variations_percent: Vec<f64>,
    /// Whether all powers vary by one factor, as in the paper's code, or each for itself, as in its text
    #[arg(
        long = "universe",
        value_name = "UNIVERSE",
        value_enum,
        default_value = "together"
    )]
    pub variation: Variation,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value_t = paper::EPSILON)]
    pub epsilon: f64,
    /// δ of the certified mode
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = below_half, default_value = "0.00001")]
    pub delta: f64,
    /// The probability of a curve that breaks a condition, below 0.5
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value_t = paper::TABLE_4_ETA)]
    pub eta: f64,
    /// The ridge λ
    #[arg(long, value_name = "L", allow_hyphen_values = true, value_parser = positive, default_value = "0.0001")]
    pub ridge: f64,
    /// How many speeds between 3 and 10 m/s the curve must increase at
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = count::<usize>(1..=1000))]
    pub conditions: usize,
    /// How many seeds: records, conditions, sampled pairs and noise change with each
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = count::<u64>(1..=10_000))]
    pub seeds: u64,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many draws of the noise for each seed
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = count::<u64>(1..=1_000_000))]
    pub draws: u64,
    /// Minimise the norm of the residuals instead of its square, as the paper prints it; slow
    #[arg(long, display_order = 8)]
    pub norm_loss: bool,
}

impl Default for Settings {
    fn default() -> Self {
        defaults()
    }
}

impl Settings {
    fn validate(&self) -> Result<()> {
        check_positive("ε", self.epsilon)?;
        check_positive("the ridge", self.ridge)?;
        for percent in &self.variations_percent {
            check_positive("a variation", *percent)?;
            if *percent >= 100.0 {
                return Err(Error::Input(format!(
                    "a variation must lie below 100 percent, found {percent}"
                )));
            }
        }
        check_eta(self.eta)?;
        if self.seeds == 0 || self.draws == 0 || self.conditions == 0 {
            return Err(Error::Input(
                "at least one seed, one draw and one condition are needed".into(),
            ));
        }
        Ok(())
    }
}

/// One turbine, one variation, one way: over all seeds.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The turbine.
    pub turbine: String,
    /// How far the powers vary, in percent; none in certified mode.
    pub variation_percent: Option<f64>,
    /// What it is, and what it costs.
    #[serde(flatten)]
    pub fit: Fit,
    /// How many conditions are active at the weights, mean over seeds.
    pub active_conditions: Option<f64>,
    /// Δ, mean over seeds.
    pub sensitivity: Option<f64>,
    /// Draws for each seed.
    pub draws: u64,
    /// ε as claimed.
    pub claimed_epsilon: f64,
    /// The ε that an audit of the released map found at the first seed; only where one is run.
    pub audited_epsilon: Option<f64>,
    /// The paper's turbine of the same or a neighbouring type.
    pub paper_turbine: Option<&'static str>,
    /// Its loss.
    pub paper_loss: Option<f64>,
    /// Its infeasibility.
    pub paper_infeasible_percent: Option<f64>,
}

/// The table: turbines, then variations, then ways.
pub type Table = study::Table<Settings>;

impl Table {
    /// The row of a cell: `variation_percent` is none in certified mode; `name` is as in [`Way::name`].
    pub fn row(&self, turbine: &str, variation_percent: Option<f64>, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| {
            let cell = (row.turbine.as_str(), row.variation_percent);
            cell == (turbine, variation_percent) && row.fit.name() == name
        })
    }
}

/// Runs the study on these curves, whatever the settings name: turbines and seeds in parallel.
pub fn run(curves: &[PowerCurve], settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    settings.validate()?;
    let seeds: Vec<u64> = (0..settings.seeds).collect();
    let cells = study::product(curves, &seeds);
    let found = each(&cells, batch, |&(curve, k), inner| {
        let seed = settings.seed.wrapping_add(k);
        cell::Cell::new(curve, settings, seed, k == 0, inner)?.entries()
    })?;
    let heads = cell::heads(settings);
    let rows = curves.iter().zip(found.chunks(seeds.len()));
    let rows = rows.flat_map(|(curve, seeds)| {
        heads.iter().enumerate().map(move |(i, (variation, head))| {
            let seeds = Seeds(seeds.iter().map(|seed| &seed[i]).collect());
            row(curve, *variation, head, &seeds, settings)
        })
    });
    let inner = Batch::new().cancel(batch.cancel_flag().clone());
    let fans = match curves.first() {
        None => Vec::new(),
        Some(curve) => cell::Cell::new(curve, settings, settings.seed, false, &inner)?.fans()?,
    };
    Ok(Table {
        has_own_curves: Some(!curves.iter().all(PowerCurve::is_builtin)),
        pictures: fans,
        ..Table::new(settings, rows.collect())
    })
}

fn row(
    curve: &PowerCurve,
    variation: Option<f64>,
    head: &Head,
    seeds: &Seeds<'_>,
    settings: &Settings,
) -> Row {
    let is_the_papers = settings.epsilon == paper::EPSILON
        && settings.eta == paper::TABLE_4_ETA
        && settings.variation == Variation::Together;
    let paper_turbine = paper::relative(curve.name()).filter(|_| is_the_papers);
    let printed = match (paper_turbine, variation, head.way) {
        (Some(turbine), Some(percent), Way::Output | Way::TwoVertices) => {
            paper::table_4(turbine, head.way.strategy(), percent)
        }
        _ => None,
    };
    let mean = |spread: Option<Spread>| spread.map(|s| s.mean);
    Row {
        turbine: curve.name().into(),
        variation_percent: variation,
        fit: seeds.fit(head),
        active_conditions: variation.and(mean(seeds.spread(|_, f| f.active as f64))),
        sensitivity: mean(seeds.spread(|e, _| e.sensitivity)),
        draws: settings.draws,
        claimed_epsilon: settings.epsilon,
        audited_epsilon: seeds.0.iter().find_map(|e| e.audited_epsilon),
        paper_turbine: printed.and(paper_turbine),
        paper_loss: printed.map(|p| p.0),
        paper_infeasible_percent: printed.map(|p| p.1),
    }
}

impl Study for Settings {
    const NAME: &'static str = "wind";
    const ABOUT: &'static str = "Table 4: private power curves of wind turbines, over seeds";
    const EXAMPLES: &'static str = "Example:\n  conveil study wind --turbines GE103/2750 --variation 2.5 --seeds 5 --figure wind.png";
    type Row = Row;
    /// The first turbine at the largest variation and the first seed.
    type Pictures = Vec<CurveFan>;

    fn run(&self, batch: &Batch<'_>) -> std::result::Result<Table, Failure> {
        let builtin = match &self.turbines {
            Some(names) => names.iter().map(|name| input::turbine(name)).collect(),
            None if !self.curve.is_empty() => Ok(Vec::new()),
            None => TURBINES.iter().map(|name| input::turbine(name)).collect(),
        };
        let mut curves: Vec<PowerCurve> = builtin?;
        for file in &self.curve {
            curves.push(input::power_curve(file)?);
        }
        Ok(run(&curves, self, batch)?)
    }

    fn parts(&self) -> Vec<Self> {
        let usual: &[&str] = match self.curve.is_empty() {
            true => &TURBINES,
            false => &[],
        };
        let turbines = parts::named(self.turbines.as_deref(), usual);
        let builtin = parts::one_by_one(turbines, |turbine| Settings {
            turbines: Some(turbine),
            curve: Vec::new(),
            ..self.clone()
        });
        let own = parts::one_by_one(self.curve.clone(), |curve| Settings {
            turbines: None,
            curve,
            ..self.clone()
        });
        builtin.into_iter().chain(own).collect()
    }

    fn files(&self) -> Vec<String> {
        self.curve.clone()
    }

    fn headline(table: &Table) -> String {
        let settings = &table.settings;
        format!(
            "private power curves that must increase at {} speeds; ε = {}, η = {}%, {} seeds of {} draws",
            settings.conditions,
            settings.epsilon,
            percent_of(settings.eta),
            settings.seeds,
            settings.draws
        )
    }

    fn groups() -> String {
        let (loss, infeasible) = ("loss", "infeasible in %");
        format!("{:61}{loss:^24} {infeasible:^26} {:>6}\n", "", "ε")
    }

    fn columns() -> Vec<Column<Row>> {
        vec![
            left("turbine", 12, |_| String::new()),
            right("± in %", 6, |r| {
                r.variation_percent
                    .map_or("cert.".into(), |p| p.to_string())
            }),
            left("way", 38, |r| r.fit.name()),
            right("mean", 7, |r| rounded(r.fit.loss.map(|s| s.mean), 2)),
            right("std", 6, |r| rounded(r.fit.loss.map(|s| s.std), 2)),
            right("paper", 8, |r| rounded(r.paper_loss, 2)),
            right("median", 8, |r| {
                rounded(r.fit.infeasible_percent.map(|s| s.median), 2)
            }),
            right("most", 8, |r| {
                rounded(r.fit.infeasible_percent.map(|s| s.max), 2)
            }),
            right("paper", 8, |r| rounded(r.paper_infeasible_percent, 2)),
            right("audited", 7, |r| rounded(r.audited_epsilon, 2)),
            apart("status", 0, |r| r.fit.status.clone()),
        ]
    }

    fn before(row: &Row, last: Option<&Row>) -> String {
        match last {
            Some(last) if last.turbine == row.turbine => String::new(),
            _ => format!(
                "  {:<12} {:6} {:<38} {:>7.2}\n",
                row.turbine, "", "without noise", row.fit.non_private_loss
            ),
        }
    }

    fn legend(table: &Table) -> String {
        format!(
            "loss: ‖y − Φw‖ + λ‖w‖; ± in %: paper mode, noise for the weights without noise around the private powers; the\naudited ε is what the released map loses there. cert.: one record of range 1 at δ = {}, by strong convexity (M8c).\n",
            table.settings.delta
        )
    }

    /// Noisy curves of the first turbine at the largest variation, a panel for each way: valid ones green, others red.
    fn figure(table: &Table) -> Figure {
        let turbine = table.rows.first().map_or("", |row| &row.turbine);
        let epsilon = table.settings.epsilon;
        let figure = Figure::new(format!("Private power curves of {turbine}, ε = {epsilon}"))
            .columns(2)
            .panel_size(360.0, 210.0);
        let panels = table.pictures.iter().map(|fan| {
            let y = Axis::linear("power").range(-0.4, 1.6);
            fan.drawn_in(Panel::new(&fan.title, Axis::linear("wind speed in m/s"), y))
        });
        panels.fold(figure, Figure::panel)
    }
}
