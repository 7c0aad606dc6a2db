//! The study as a figure: the polygon, the non-private and the mean ellipse, and drawn ones: green inside, red not.

use std::f64::consts::TAU;

use conveil_models::ellipsoid::{Inscribed, Polytope};

use super::{Picture, Row, Table};
use crate::plot::{Axis, Colour, Figure, Panel, Series};
use crate::study::percent_of;

/// Points of an ellipse.
const POINTS: usize = 90;

/// The size of a panel.
const PANEL: (f64, f64) = (330.0, 250.0);

/// The window is this much larger than the polygon.
const ROOM: f64 = 1.35;

/// A panel for every row in two dimensions: universes and modes down, strategies across.
pub(super) fn figure(table: &Table) -> Figure {
    let settings = &table.settings;
    let figure = Figure::new(format!(
        "Largest ellipse inside a polygon with private offsets, ε = {}, δ = {}, η = {}%",
        settings.epsilon,
        settings.delta,
        percent_of(settings.eta)
    ))
    .columns(2)
    .panel_size(PANEL.0, PANEL.1);
    let rows = table.rows.iter().zip(&table.pictures);
    let planes = rows.filter(|(row, _)| row.dimension == 2);
    let panels = planes.filter_map(|(row, picture)| Some(panel(row, picture.as_ref()?)));
    panels.fold(figure, Figure::panel)
}

fn panel(row: &Row, picture: &Picture) -> Panel {
    let share = match row.kept_percent {
        Some(kept) => format!("{kept:.1}% inside"),
        None => row.status.clone(),
    };
    let title = format!(
        "{}, {}, ±{}%: {share}",
        row.strategy, row.mode, row.universe_percent
    );
    let corners = edges(&picture.polytope);
    let (x, y) = window(&corners);
    let across = Axis::linear("").range(x.0, x.1);
    let mut panel = Panel::new(title, across, Axis::linear("").range(y.0, y.1));
    for (is_inside, colour, label) in [
        (false, Colour::Vermilion, "drawn, not inside"),
        (true, Colour::Green, "drawn, inside"),
    ] {
        let some = picture.drawn.iter().filter(|d| d.1 == is_inside);
        let points: Vec<(f64, f64)> = some.flat_map(|d| outline(&d.0)).collect();
        if !points.is_empty() {
            panel = panel.with(Series::curves(colour, points).label(label));
        }
    }
    let best = Series::dashed(Colour::Blue, outline(&picture.best));
    let panel = panel
        .with(Series::line(Colour::Grey, corners).label("polygon"))
        .with(best.label("non-private"));
    match &picture.mean {
        None => panel,
        Some(mean) => panel.with(Series::line(Colour::Blue, outline(mean)).label("mean")),
    }
}

/// Ranges of x and y around the polygon, as long as the panel has room for at one scale.
fn window(corners: &[(f64, f64)]) -> ((f64, f64), (f64, f64)) {
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let values = corners.iter().map(of);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        })
    };
    let (x, y) = (ends(|p| p.0), ends(|p| p.1));
    let unit = ((x.1 - x.0) / PANEL.0).max((y.1 - y.0) / PANEL.1) * ROOM;
    let around = |(low, high): (f64, f64), pixels: f64| {
        let middle = 0.5 * (low + high);
        (middle - 0.5 * unit * pixels, middle + 0.5 * unit * pixels)
    };
    (around(x, PANEL.0), around(y, PANEL.1))
}

/// Its boundary, closed, with a break behind it.
fn outline(ellipse: &Inscribed) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = (0..=POINTS)
        .map(|i| {
            let angle = TAU * i as f64 / POINTS as f64;
            let at = ellipse.point(&[angle.cos(), angle.sin()]);
            (at[0], at[1])
        })
        .collect();
    points.push((f64::NAN, f64::NAN));
    points
}

/// The vertices of a polygon in order, closed: where two facets meet inside all others.
fn edges(polytope: &Polytope) -> Vec<(f64, f64)> {
    let facets: Vec<(&Vec<f64>, f64)> = polytope
        .normals
        .iter()
        .zip(polytope.offsets.iter().copied())
        .collect();
    let mut vertices = Vec::new();
    for (i, (a, b)) in facets.iter().enumerate() {
        for (c, d) in &facets[i + 1..] {
            let determinant = a[0] * c[1] - a[1] * c[0];
            if determinant.abs() < 1e-12 {
                continue;
            }
            let x = (b * c[1] - a[1] * d) / determinant;
            let y = (a[0] * d - b * c[0]) / determinant;
            let slack = facets.iter().map(|(n, o)| o - n[0] * x - n[1] * y);
            if slack.fold(f64::INFINITY, f64::min) > -1e-9 {
                vertices.push((x, y));
            }
        }
    }
    let count = vertices.len().max(1) as f64;
    let middle = vertices
        .iter()
        .fold((0.0, 0.0), |m, v| (m.0 + v.0 / count, m.1 + v.1 / count));
    let angle = |v: &(f64, f64)| (v.1 - middle.1).atan2(v.0 - middle.0);
    vertices.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    vertices.extend(vertices.first().copied());
    vertices
}
