//! The fans of hyperplanes: a row of panels for each mode, output perturbation, program perturbation, the best output.

use conveil::noise::Law;

use super::{BEST_OUTPUT, Mode, Row, Settings, Table, points};
use crate::learning::Nominal;
use crate::plot::{Axis, Colour, Figure, Panel, Series, Shape};

/// Hyperplanes in a fan, as in the paper's figure.
const FAN: u64 = 100;

/// Fans of released hyperplanes over the training records, at each mode's λ that serves program perturbation best.
pub(super) fn figure(table: &Table) -> Figure {
    let settings = &table.settings;
    let epsilon = settings.epsilon;
    let figure = Figure::new(format!(
        "Private support vector machines, ε = {epsilon}: {FAN} released hyperplanes"
    ))
    .columns(3)
    .panel_size(250.0, 250.0);
    let rows = settings.modes.iter().flat_map(|mode| shown(table, *mode));
    rows.map(|row| panel(row, settings))
        .fold(figure, Figure::panel)
}

/// Output, program and the best output of a mode; nothing where one of them is missing.
fn shown(table: &Table, mode: Mode) -> Vec<&Row> {
    let accuracy = |row: &&Row| row.accuracy_mean.unwrap_or(f64::NEG_INFINITY);
    let lambdas = table.settings.lambdas.iter();
    let program = lambdas
        .filter_map(|lambda| table.row(mode, *lambda, "program"))
        .max_by(|a, b| accuracy(a).total_cmp(&accuracy(b)));
    let output = program.and_then(|p| table.row(mode, p.lambda, "output"));
    match (output, program, table.best_output(mode)) {
        (Some(output), Some(program), Some(best)) => vec![output, program, best],
        _ => Vec::new(),
    }
}

fn panel(row: &Row, settings: &Settings) -> Panel {
    let strategy = match row.strategy {
        BEST_OUTPUT => "output, best λ",
        other => other,
    };
    let accuracy = row.accuracy_mean.zip(row.accuracy_std);
    let accuracy = accuracy.map_or(row.status.clone(), |(m, s)| format!("{m:.1} ± {s:.1}%"));
    let (mode, lambda) = (row.mode.name(), row.lambda);
    let title = format!("{mode}, λ = {lambda:.0e}, {strategy}: {accuracy}");
    // The middle and half the width of what is shown.
    let (middle, half) = match row.mode {
        Mode::Paper => (0.5, 0.6),
        _ => (0.0, 1.0),
    };
    let axis = |name: &str| Axis::linear(name).range(middle - half, middle + half);
    let mut panel = Panel::new(title, axis("x1"), axis("x2"));
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
    let class = |label, colour, name: &str| {
        let points = training(settings, row.mode, label);
        Series::points(colour, Shape::Ring, points).label(name)
    };
    panel
        .with(class(true, Colour::Green, "class +1"))
        .with(class(false, Colour::Vermilion, "class −1"))
}

/// The training records of a class in the units of a mode.
fn training(settings: &Settings, mode: Mode, label: bool) -> Vec<(f64, f64)> {
    let training = points::training(settings, 0);
    let (ranges, scale, shift) = match mode {
        Mode::Paper => (training.ranges(), 1.0, 0.0),
        _ => (vec![points::bounds(settings); 2], 2.0, -1.0),
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
