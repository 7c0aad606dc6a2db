//! Figure 2: one variable between two limits of which the lower is private, by output and by program perturbation.
//!
//! Above stands the geometry, the cost of every feasible decision with the optimum and the decision before noise; below
//! the densities of what is released for a lower limit ℓ and its neighbour ℓ′.

use clap::Args;
use conveil::ask::{Adjacency, Ask, Privacy};
use conveil::noise::Law;
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder};
use conveil::solve::{self, Batch};
use conveil::{Error, Result};
use serde::Serialize;

use crate::density::laplace;
use crate::plot::{Axis, Colour, Figure, Panel, Series, Shape};
use crate::settings::{below_half, check_eta, check_positive, defaults, positive};
use crate::study::{self, Column, Failure, Study, left, percent_of, right};

/// The lower limit ℓ.
const LOWER: f64 = 5.0;

/// The upper limit.
const UPPER: f64 = 12.0;

/// What the figure shows.
const SHOWN: (f64, f64) = (0.0, 14.0);

/// Points of a density.
const POINTS: usize = 281;

/// What to compute.
#[derive(Clone, Debug, Args, Serialize)]
pub struct Settings {
    /// How far the neighbouring limit ℓ′ lies above ℓ = 5
    #[arg(long, value_name = "V", allow_hyphen_values = true, value_parser = positive, default_value = "1")]
    pub alpha: f64,
    /// The privacy parameter ε
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = positive, default_value = "1")]
    pub epsilon: f64,
    /// The probability of an infeasible decision, below 0.5
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = below_half, default_value = "0.05")]
    pub eta: f64,
}

impl Default for Settings {
    fn default() -> Self {
        defaults()
    }
}

/// One strategy at one lower limit.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// output or program.
    pub strategy: &'static str,
    /// The lower limit.
    pub limit: f64,
    /// The optimum without noise.
    pub optimum: f64,
    /// The decision before noise: the centre of the density.
    pub mean: f64,
    /// The scale of the noise.
    pub scale: f64,
    /// The probability that the released decision is outside the limits, in percent, exact.
    pub infeasible_percent: f64,
    /// The largest |ln| of the ratio between the densities of ℓ and ℓ′: at most ε.
    pub privacy_loss: f64,
}

/// The table: by strategy, then limit.
pub type Table = study::Table<Settings>;

/// min x, limit ≤ x ≤ 12.
fn map() -> Result<AffineMap> {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let limit = m.parameter("limit");
    m.minimize(x.at(0));
    m.between("limits", limit, x.at(0), UPPER);
    m.build_map()
}

/// Runs the study.
pub fn run(settings: &Settings, batch: &Batch<'_>) -> Result<Table> {
    check_positive("α", settings.alpha)?;
    check_positive("ε", settings.epsilon)?;
    check_eta(settings.eta)?;
    if LOWER + settings.alpha >= UPPER {
        return Err(Error::Input(format!(
            "α must be below {}: ℓ′ lies below the upper limit",
            UPPER - LOWER
        )));
    }
    let model = map()?;
    let solver = solve::Settings::default().with_cancel(batch.cancel_flag().clone());
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(settings.alpha))
        .privacy(Privacy::laplace(settings.epsilon))
        .declared(settings.alpha, "the cost moves as much as the limit does")
        .feasible(1.0 - settings.eta)
        .settings(solver);
    let plan = Plan::new(&model, ask)?;
    let limits = [LOWER, LOWER + settings.alpha];
    let mut decided = Vec::new();
    for limit in limits {
        let curated = plan.curate(&[limit])?;
        decided.push((limit, curated.report().optimum, curated.decided().mean[0]));
    }
    let mut rows = Vec::new();
    for strategy in ["output", "program"] {
        let mean = |(_, optimum, mean): &(f64, f64, f64)| match strategy {
            "output" => *optimum,
            _ => *mean,
        };
        let centres: Vec<f64> = decided.iter().map(mean).collect();
        let apart = centres[1] - centres[0];
        for (one, centre) in decided.iter().zip(&centres) {
            rows.push(row(strategy, one, *centre, apart, plan.law()));
        }
    }
    Ok(Table::new(settings, rows))
}

fn row(
    strategy: &'static str,
    (limit, optimum, _): &(f64, f64, f64),
    mean: f64,
    apart: f64,
    law: &Law,
) -> Row {
    Row {
        strategy,
        limit: *limit,
        optimum: *optimum,
        mean,
        scale: law.scale(),
        infeasible_percent: 100.0 * law.outside(limit - mean, UPPER - mean),
        privacy_loss: apart.abs() / law.scale(),
    }
}

impl Study for Settings {
    const NAME: &'static str = "example";
    const ABOUT: &'static str =
        "Figure 2: a private lower limit, by output and by program perturbation";
    const EXAMPLES: &'static str = "Example:\n  conveil study example --figure example.svg";
    type Row = Row;
    type Pictures = ();

    fn run(&self, batch: &Batch<'_>) -> std::result::Result<Table, Failure> {
        Ok(run(self, batch)?)
    }

    fn headline(table: &Table) -> String {
        let settings = &table.settings;
        format!(
            "min x, ℓ ≤ x ≤ {UPPER}, with ℓ = {LOWER} private; α = {}, ε = {}, η = {}%",
            settings.alpha,
            settings.epsilon,
            percent_of(settings.eta)
        )
    }

    fn columns() -> Vec<Column<Row>> {
        vec![
            left("strategy", 9, |r| r.strategy.into()),
            right("limit", 7, |r| format!("{}", r.limit)),
            right("optimum", 8, |r| format!("{:.2}", r.optimum)),
            right("mean", 8, |r| format!("{:.2}", r.mean)),
            right("scale", 7, |r| format!("{:.2}", r.scale)),
            right("infeasible %", 13, |r| {
                format!("{:.2}", r.infeasible_percent)
            }),
            right("privacy loss", 13, |r| format!("{:.4}", r.privacy_loss)),
        ]
    }

    fn legend(_: &Table) -> String {
        "mean: the decision before noise; privacy loss: the largest |ln| of the ratio between the two densities, at most ε\n".into()
    }

    /// The geometry above, the densities below; output perturbation left, program perturbation right.
    fn figure(table: &Table) -> Figure {
        let figure = Figure::new("A private lower limit and its neighbour")
            .columns(2)
            .panel_size(380.0, 190.0);
        let strategies: Vec<&[Row]> = table.rows.chunks(2).collect();
        let above = strategies.iter().map(|rows| geometry(rows));
        let below = strategies.iter().map(|rows| densities(rows));
        above.chain(below).fold(figure, Figure::panel)
    }
}

const COLOURS: [Colour; 2] = [Colour::Blue, Colour::Vermilion];
const NAMES: [&str; 2] = ["lower limit", "its neighbour"];

fn axis() -> Axis {
    Axis::linear("x").range(SHOWN.0, SHOWN.1)
}

/// The cost over the feasible decisions, the optimum and the decision before noise.
fn geometry(rows: &[Row]) -> Panel {
    let strategy = rows.first().map_or("", |row| row.strategy);
    let title = format!("{strategy} perturbation: the program");
    let cost = Axis::linear("cost").range(SHOWN.0, SHOWN.1);
    let line = vec![(SHOWN.0, SHOWN.0), (SHOWN.1, SHOWN.1)];
    let feasible = vec![(LOWER, SHOWN.0, SHOWN.1), (UPPER, SHOWN.0, SHOWN.1)];
    let mut panel = Panel::new(title, axis(), cost)
        .with(Series::band(Colour::Green, feasible).label("feasible"))
        .with(Series::line(Colour::Grey, line).label("cost"));
    for ((row, colour), name) in rows.iter().zip(COLOURS).zip(NAMES) {
        let wall = vec![(row.limit, SHOWN.0), (row.limit, SHOWN.1)];
        let (optimum, mean) = (vec![(row.optimum, row.optimum)], vec![(row.mean, row.mean)]);
        panel = panel
            .with(Series::dashed(colour, wall).label(name))
            .with(Series::points(colour, Shape::Ring, optimum).label("optimum"))
            .with(Series::points(colour, Shape::Disc, mean).label("before noise"));
    }
    panel
}

/// What is released for both limits.
fn densities(rows: &[Row]) -> Panel {
    let share = rows.first().map_or(0.0, |row| row.infeasible_percent);
    let peak = rows.iter().map(|row| 0.5 / row.scale).fold(0.0, f64::max);
    let title = format!("what is released: {share:.1}% is infeasible");
    let mut panel = Panel::new(
        title,
        axis(),
        Axis::linear("density").range(0.0, 1.1 * peak),
    );
    for ((row, colour), name) in rows.iter().zip(COLOURS).zip(NAMES) {
        let step = (SHOWN.1 - SHOWN.0) / (POINTS - 1) as f64;
        let mut places: Vec<f64> = (0..POINTS).map(|i| SHOWN.0 + step * i as f64).collect();
        // The peak is sharp: a grid would miss it.
        places.extend([row.mean, row.limit, UPPER]);
        places.sort_by(f64::total_cmp);
        let density = |x: f64| (x, laplace(x, row.mean, row.scale));
        let curve: Vec<(f64, f64)> = places.into_iter().map(density).collect();
        let part = |is_in: &dyn Fn(f64) -> bool| {
            let points = curve.iter().filter(|p| is_in(p.0));
            Series::band(colour, points.map(|(x, d)| (*x, 0.0, *d)).collect())
        };
        let (below, beyond) = (part(&|x| x <= row.limit), part(&|x| x >= UPPER));
        let wall = vec![(row.limit, 0.0), (row.limit, 1.1 * peak)];
        panel = panel
            .with(below.label("infeasible"))
            .with(beyond.label("infeasible"))
            .with(Series::line(colour, curve).label(name))
            .with(Series::dashed(colour, wall).label(name));
    }
    panel
}
