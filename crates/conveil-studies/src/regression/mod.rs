//! Section 4.3.1: a private regression with a linear and a cubic function that must increase.
//!
//! *Paper mode*: every record moves in an ellipse around its private place, x and y alike; Gaussian noise with the
//! classic scale for the largest movement of the weights without noise. *Certified mode* stands beside it: x public, one
//! response moves by as much as its ellipse is high, strong convexity, noise shaped by the curvature (M8c). Everything
//! is a distribution over seeds: the paper's figures depend on single draws (M14).

mod cell;
mod synthetic;

use std::f64::consts::TAU;

use clap::Args;
use conveil::solve::Batch;
use conveil::{Error, Result};
use serde::Serialize;

use self::synthetic::{HALF_AXES, LARGEST_X};
use crate::fitting::{CurveFan, Head, Seeds, Way};
pub use crate::fitting::{Fit, Spread};
use crate::paper;
use crate::plot::{Axis, Colour, Figure, Panel, Series, Shape};
use crate::settings::{below_half, check_eta, check_positive, count, defaults, positive};
use crate::study::{self, Column, Failure, Study, apart, each, left, percent_of, right, rounded};

/// What to compute.
#[derive(Clone, Debug, Args, Serialize)]
pub struct Settings {
    /// How many records
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = count::<usize>(2..=100_000))]
    pub records: usize,
    /// The standard deviation of the disturbance
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = positive, default_value = "15")]
    pub disturbance: f64,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value = "1")]
    pub epsilon: f64,
    /// δ of paper mode
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = below_half, default_value = "0.01")]
    pub delta: f64,
    /// δ of the certified mode
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = below_half, default_value = "0.00001")]
    pub certified_delta: f64,
    /// The probability of a model that breaks a condition, below 0.5
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value = "0.03")]
    pub eta: f64,
    /// The ridge λ
    #[arg(long, value_name = "L", allow_hyphen_values = true, value_parser = positive, default_value = "0.001")]
    pub ridge: f64,
    /// How many seeds: records, conditions, sampled pairs and noise change with each
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = count::<u64>(1..=10_000))]
    pub seeds: u64,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many draws of the noise for each seed
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = count::<u64>(1..=1_000_000))]
    pub draws: u64,
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
        check_positive("the disturbance", self.disturbance)?;
        check_eta(self.eta)?;
        if self.records < 2 || self.seeds == 0 || self.draws == 0 {
            return Err(Error::Input(
                "at least two records, one seed and one draw are needed".into(),
            ));
        }
        Ok(())
    }
}

/// One way, over all seeds.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What it is, and what it costs.
    #[serde(flatten)]
    pub fit: Fit,
    /// Δ over seeds.
    pub sensitivity: Option<Spread>,
    /// Draws for each seed.
    pub draws: u64,
    /// ε as claimed.
    pub claimed_epsilon: f64,
    /// The ε that an audit of the released map found, over seeds; only where one is run.
    pub audited_epsilon: Option<Spread>,
    /// By how much the mean loss exceeds output perturbation's in the same mode, in percent.
    pub loss_over_output_percent: Option<f64>,
    /// The same in the paper.
    pub paper_loss_over_output_percent: Option<f64>,
    /// The paper's Δ.
    pub paper_sensitivity: Option<f64>,
    /// The paper's infeasibility.
    pub paper_infeasible_percent: Option<f64>,
}

/// The table: paper mode, then certified mode.
pub type Table = study::Table<Settings>;

impl Table {
    /// The row of a mode, strategy and method.
    pub fn row(&self, mode: &str, strategy: &str, method: Option<&str>) -> Option<&Row> {
        let is_it = |f: &Fit| f.mode == mode && f.strategy == strategy && f.method == method;
        self.rows.iter().find(|row| is_it(&row.fit))
    }
}

/// Runs the study: seeds in parallel.
pub fn run(settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    settings.validate()?;
    let seeds: Vec<u64> = (0..settings.seeds).collect();
    let seeds = each(&seeds, batch, |k, inner| {
        cell::Cell::new(settings, settings.seed.wrapping_add(*k), inner)?.entries()
    })?;
    let heads = cell::heads().into_iter().enumerate();
    let rows = heads.map(|(i, head)| {
        let seeds = Seeds(seeds.iter().map(|seed| &seed[i]).collect());
        row(&head, &seeds, settings)
    });
    let mut rows: Vec<Row> = rows.collect();
    compare_with_output(&mut rows);
    let inner = Batch::new().cancel(batch.cancel_flag().clone());
    let first = cell::Cell::new(settings, settings.seed, &inner)?;
    Ok(Table {
        pictures: Pictures {
            records: first.records(),
            fans: first.fans()?,
        },
        ..Table::new(settings, rows)
    })
}

/// Says how far each loss is above output perturbation's of the same mode.
fn compare_with_output(rows: &mut [Row]) {
    let mean = |row: &Row| row.fit.loss.map(|loss| loss.mean);
    let outputs = rows.iter().filter(|row| row.fit.strategy == "output");
    let outputs: Vec<_> = outputs.map(|row| (row.fit.mode, mean(row))).collect();
    for row in rows.iter_mut().filter(|row| row.fit.strategy != "output") {
        let output = outputs.iter().find(|(mode, _)| *mode == row.fit.mode);
        let both = mean(row).zip(output.and_then(|o| o.1));
        row.loss_over_output_percent = both.map(|(loss, output)| 100.0 * (loss / output - 1.0));
    }
}

fn row(head: &Head, seeds: &Seeds<'_>, settings: &Settings) -> Row {
    let all = || seeds.0.iter();
    let is_paper = head.mode == "paper";
    Row {
        fit: seeds.fit(head),
        sensitivity: Spread::of(all().map(|e| e.sensitivity).collect()),
        draws: settings.draws,
        claimed_epsilon: settings.epsilon,
        audited_epsilon: Spread::of(all().filter_map(|e| e.audited_epsilon).collect()),
        loss_over_output_percent: None,
        paper_loss_over_output_percent: (is_paper && head.way == Way::TwoVertices)
            .then_some(paper::SECTION_431_OVER_OUTPUT),
        paper_sensitivity: is_paper.then_some(paper::SECTION_431_SENSITIVITY),
        paper_infeasible_percent: match head.way {
            Way::Output if is_paper => Some(paper::SECTION_431_INFEASIBLE.0),
            Way::TwoVertices if is_paper => Some(paper::SECTION_431_INFEASIBLE.1),
            _ => None,
        },
    }
}

/// The first seed.
#[derive(Clone, Debug, Default)]
pub struct Pictures {
    records: Vec<(f64, f64)>,
    fans: Vec<CurveFan>,
}

/// Points of an ellipse.
const OUTLINE: usize = 60;

/// The universe of a record: the outline of its ellipse.
fn ellipse((x, y): (f64, f64)) -> Vec<(f64, f64)> {
    let angles = (0..=OUTLINE).map(|i| TAU * i as f64 / OUTLINE as f64);
    let (across, up) = HALF_AXES;
    angles
        .map(|t| (x + across * t.cos(), y + up * t.sin()))
        .collect()
}

/// The record whose neighbours are farthest, in units of the half axes: its ellipse can be seen.
fn lone(records: &[(f64, f64)]) -> Option<(f64, f64)> {
    let square = |a: f64| a * a;
    let apart = |a: &(f64, f64), b: &(f64, f64)| {
        square((a.0 - b.0) / HALF_AXES.0) + square((a.1 - b.1) / HALF_AXES.1)
    };
    // Away from the ends, where the axes would cut the ellipse.
    let inner = |r: &&(f64, f64)| r.0 > HALF_AXES.0 && r.0 < LARGEST_X - HALF_AXES.0;
    let nearest = |a: &(f64, f64)| {
        let others = records.iter().filter(|b| *b != a).map(|b| apart(a, b));
        others.fold(f64::INFINITY, f64::min)
    };
    let found = records.iter().filter(inner);
    found
        .max_by(|a, b| nearest(a).total_cmp(&nearest(b)))
        .copied()
}

impl Study for Settings {
    const NAME: &'static str = "regression";
    const ABOUT: &'static str =
        "Section 4.3.1: a private regression that must increase, over seeds";
    const EXAMPLES: &'static str =
        "Example:\n  conveil study regression --seeds 5 --figure regression.png";
    type Row = Row;
    type Pictures = Pictures;

    fn run(&self, batch: &Batch<'_>) -> std::result::Result<Table, Failure> {
        Ok(run(self, batch)?)
    }

    fn headline(table: &Table) -> String {
        let settings = &table.settings;
        format!(
            "y = x + ½(x − 5)³ on {} records, increasing at 1 and 9; ε = {}, η = {}%, {} seeds of {} draws",
            settings.records,
            settings.epsilon,
            percent_of(settings.eta),
            settings.seeds,
            settings.draws
        )
    }

    fn groups() -> String {
        let (loss, infeasible) = ("loss", "infeasible in %");
        let over = "over output in %";
        format!(
            "{:52}{loss:^16} {over:^17} {infeasible:^26} {:17} {:>8}\n",
            "", "", "ε"
        )
    }

    fn columns() -> Vec<Column<Row>> {
        vec![
            left("mode", 10, |r| r.fit.mode.into()),
            left("way", 38, |r| r.fit.name()),
            right("mean", 8, |r| rounded(r.fit.loss.map(|s| s.mean), 2)),
            right("std", 7, |r| rounded(r.fit.loss.map(|s| s.std), 2)),
            right("ours", 8, |r| rounded(r.loss_over_output_percent, 1)),
            right("paper", 8, |r| rounded(r.paper_loss_over_output_percent, 1)),
            right("median", 8, |r| {
                rounded(r.fit.infeasible_percent.map(|s| s.median), 2)
            }),
            right("most", 8, |r| {
                rounded(r.fit.infeasible_percent.map(|s| s.max), 2)
            }),
            right("paper", 8, |r| rounded(r.paper_infeasible_percent, 2)),
            right("Δ", 8, |r| rounded(r.sensitivity.map(|s| s.mean), 2)),
            right("paper", 8, |r| rounded(r.paper_sensitivity, 2)),
            right("audited", 8, |r| {
                rounded(r.audited_epsilon.map(|s| s.mean), 2)
            }),
            apart("status", 0, |r| r.fit.status.clone()),
        ]
    }

    fn before(row: &Row, last: Option<&Row>) -> String {
        match last {
            None => format!(
                "{:13}{:<38} {:>8.2}\n",
                "", "without noise", row.fit.non_private_loss
            ),
            Some(_) => String::new(),
        }
    }

    fn legend(table: &Table) -> String {
        let settings = &table.settings;
        format!(
            "loss: ‖y − Φw‖ + λ‖w‖. Paper mode: δ = {}, noise for the weights without noise while x and y of all records move\naround the private ones; the audited ε is what the released map loses there. Certified mode: x is public, one y\nmoves by 16 at δ = {}, by strong convexity (M8c).\n",
            settings.delta, settings.certified_delta
        )
    }

    /// The records with the model without noise and the ellipse of one, then noisy models: valid ones green, others red.
    fn figure(table: &Table) -> Figure {
        let Pictures { records, fans } = &table.pictures;
        let title = format!(
            "Private regression that must increase, ε = {}, η = {}%",
            table.settings.epsilon,
            percent_of(table.settings.eta)
        );
        let panel = |title: &str| {
            let x = Axis::linear("x").range(0.0, 10.0);
            Panel::new(title, x, Axis::linear("y").range(-120.0, 120.0))
        };
        let points = Series::points(Colour::Sky, Shape::Disc, records.clone());
        let mut first = panel("records and the model without noise").with(points.label("records"));
        if let Some(record) = lone(records) {
            first = first
                .with(Series::line(Colour::Purple, ellipse(record)).label("where it may lie"))
                .with(Series::points(Colour::Purple, Shape::Disc, vec![record]).label("a record"));
        }
        if let Some(fan) = fans.first() {
            first = fan.baseline_in(first);
        }
        let figure = Figure::new(title).columns(2).panel_size(360.0, 230.0);
        let panels = fans.iter().map(|fan| fan.drawn_in(panel(&fan.title)));
        panels.fold(figure.panel(first), Figure::panel)
    }
}
