//! A row of panels for each mode: the machine without noise with its margin and where a record may lie, then the fans of
//! hyperplanes of output perturbation, program perturbation and the best output.

use std::f64::consts::TAU;

use conveil::noise::Law;

use super::{BEST_OUTPUT, Mode, Row, Settings, Table, points};
use crate::learning::Nominal;
use crate::plot::{Axis, Colour, Figure, Panel, Series, Shape};

/// Points of a disc's outline.
const OUTLINE: usize = 60;

/// Hyperplanes in a fan, as in the paper's figure.
const FAN: u64 = 100;

/// Fans of released hyperplanes over the training records, at each mode's λ that serves program perturbation best.
pub(super) fn figure(table: &Table) -> Figure {
    let settings = &table.settings;
    let epsilon = settings.epsilon;
    let figure = Figure::new(format!(
        "Private support vector machines, ε = {epsilon}: {FAN} released hyperplanes"
    ))
    .columns(4)
    .panel_size(250.0, 250.0);
    let rows = settings.modes.iter().flat_map(|mode| shown(table, *mode));
    rows.map(|row| match row.strategy {
        "non-private" => machine(row, settings),
        _ => fan(row, settings),
    })
    .fold(figure, Figure::panel)
}

/// The machine without noise, output, program and the best output of a mode; nothing where one of them is missing.
fn shown(table: &Table, mode: Mode) -> Vec<&Row> {
    let accuracy = |row: &&Row| row.accuracy_mean.unwrap_or(f64::NEG_INFINITY);
    let lambdas = table.settings.lambdas.iter();
    let program = lambdas
        .filter_map(|lambda| table.row(mode, *lambda, "program"))
        .max_by(|a, b| accuracy(a).total_cmp(&accuracy(b)));
    let output = program.and_then(|p| table.row(mode, p.lambda, "output"));
    let exact = program.and_then(|p| table.row(mode, p.lambda, "non-private"));
    match (exact, output, program, table.best_output(mode)) {
        (Some(exact), Some(output), Some(program), Some(best)) => {
            vec![exact, output, program, best]
        }
        _ => Vec::new(),
    }
}

/// What a mode's panels show: the middle and half the width of either axis.
fn window(mode: Mode) -> (f64, f64) {
    match mode {
        Mode::Paper => (0.5, 0.6),
        _ => (0.0, 1.0),
    }
}

/// The hyperplane without noise, its margin, and where one record may lie: a disc, or anywhere.
fn machine(row: &Row, settings: &Settings) -> Panel {
    let mut panel = empty(row, "without noise");
    let (middle, half) = window(row.mode);
    if let Some(&[w1, w2, b]) = row.weights.as_deref() {
        let at = |level: f64| line(&[w1, w2, b + level], middle, half).to_vec();
        panel = panel.with(Series::line(Colour::Grey, at(0.0)).label("before noise"));
        for level in [-1.0, 1.0] {
            panel = panel.with(Series::dashed(Colour::Grey, at(level)).label("margin"));
        }
    }
    panel = with_classes(panel, row, settings);
    // One record of a certified release may be anywhere; the others have a disc each.
    let record = training(settings, row.mode, true).first().copied();
    if let Some((x, y)) = record.filter(|_| row.mode != Mode::Certified) {
        let radius = settings.radius * scale_of(row.mode).0;
        let disc = (0..=OUTLINE).map(|i| {
            let angle = TAU * i as f64 / OUTLINE as f64;
            (x + radius * angle.cos(), y + radius * angle.sin())
        });
        panel = panel
            .with(Series::line(Colour::Purple, disc.collect()).label("where it may lie"))
            .with(Series::points(Colour::Purple, Shape::Disc, vec![(x, y)]).label("a record"));
    }
    panel
}

/// A panel with its title and axes.
fn empty(row: &Row, strategy: &str) -> Panel {
    let accuracy = match (row.accuracy_mean, row.accuracy_std) {
        (Some(mean), Some(std)) => format!("{mean:.1} ± {std:.1}%"),
        (Some(mean), None) => format!("{mean:.1}%"),
        _ => row.status.clone(),
    };
    let (mode, lambda) = (row.mode.name(), row.lambda);
    let title = format!("{mode}, λ = {lambda:.0e}, {strategy}: {accuracy}");
    let (middle, half) = window(row.mode);
    let axis = |name: &str| Axis::linear(name).range(middle - half, middle + half);
    Panel::new(title, axis("x1"), axis("x2"))
}

/// Released hyperplanes around the one before noise.
fn fan(row: &Row, settings: &Settings) -> Panel {
    let mut panel = empty(
        row,
        match row.strategy {
            BEST_OUTPUT => "output, best λ",
            other => other,
        },
    );
    let (middle, half) = window(row.mode);
    if let Some((weights, scale)) = row.weights.clone().zip(row.scale)
        && let Ok(law) = Law::laplace(scale)
    {
        let nominal = Nominal { weights, law };
        // One broken line for the whole fan.
        let fan = (0..FAN).flat_map(|i| {
            let [a, b] = line(&nominal.draw(settings.seed, i), middle, half);
            [a, b, (f64::NAN, f64::NAN)]
        });
        let before = line(&nominal.weights, middle, half).to_vec();
        panel = panel
            .with(Series::line(Colour::Sky, fan.collect()).label("released"))
            .with(Series::line(Colour::Grey, before).label("before noise"));
    }
    with_classes(panel, row, settings)
}

/// The records of both classes over what is there.
fn with_classes(panel: Panel, row: &Row, settings: &Settings) -> Panel {
    let class = |label, colour, name: &str| {
        let points = training(settings, row.mode, label);
        Series::points(colour, Shape::Ring, points).label(name)
    };
    panel
        .with(class(true, Colour::Green, "class +1"))
        .with(class(false, Colour::Vermilion, "class −1"))
}

/// A mode's units: features are `scale`·share + `shift`, for the share of their range.
fn scale_of(mode: Mode) -> (f64, f64) {
    match mode {
        Mode::Paper => (1.0, 0.0),
        _ => (2.0, -1.0),
    }
}

/// The training records of a class in the units of a mode.
fn training(settings: &Settings, mode: Mode, label: bool) -> Vec<(f64, f64)> {
    let training = points::training(settings, 0);
    let (scale, shift) = scale_of(mode);
    let ranges = match mode {
        Mode::Paper => training.ranges(),
        _ => vec![points::bounds(settings); 2],
    };
    let scaled = training.normalised(&ranges);
    let records = scaled.features.iter().zip(&scaled.labels);
    records
        .filter(|(_, l)| **l == label)
        .map(|(x, _)| (scale * x[0] + shift, scale * x[1] + shift))
        .collect()
}

/// Two far points of w₁x + w₂y = b.
fn line(weights: &[f64], middle: f64, half: f64) -> [(f64, f64); 2] {
    let (w1, w2, b) = (weights[0], weights[1], weights[2]);
    let square = (w1 * w1 + w2 * w2).max(f64::MIN_POSITIVE);
    let step = (b - middle * (w1 + w2)) / square;
    let (x, y) = (middle + step * w1, middle + step * w2);
    let far = 4.0 * half / square.sqrt();
    [(x - far * w2, y + far * w1), (x + far * w2, y - far * w1)]
}
