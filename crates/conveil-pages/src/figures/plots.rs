//! Figures with axes: frontiers, error bars, curves, scores, bodies.

use conveil_studies::plot::{Axis, Colour, Figure, Panel, Series, Shape};
use conveil_workbench::picture::{Body, Curves, Scores};

/// A quantity against a parameter over a logarithmic axis; the chosen point is marked.
///
/// `points` are (parameter, quantity), `chosen` is the parameter that the spec has.
pub fn against(
    title: &str,
    (x, y): (&str, &str),
    points: &[(f64, f64)],
    chosen: Option<f64>,
) -> String {
    let mut panel = Panel::new("", Axis::log(x), Axis::linear(y))
        .with(Series::line(Colour::Blue, points.to_vec()))
        .with(Series::points(Colour::Blue, Shape::Ring, points.to_vec()));
    let near = |at: f64, of: f64| (at - of).abs() <= 1e-9 * of.abs();
    let marked: Vec<(f64, f64)> = points
        .iter()
        .filter(|p| chosen.is_some_and(|chosen| near(p.0, chosen)))
        .copied()
        .collect();
    if !marked.is_empty() {
        panel = panel
            .with(Series::points(Colour::Vermilion, Shape::Disc, marked).label("as the spec asks"));
    }
    Figure::new(title)
        .panel_size(620.0, 220.0)
        .panel(panel)
        .to_svg()
}

/// A number with what lies around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// The number.
    pub value: f64,
    /// The interval reaches so far to each side; 0 for none.
    pub half_width: f64,
}

/// Numbers with intervals around them, by their place in a table that starts with `first`.
pub fn bars(title: &str, y: &str, first: usize, bars: &[Bar]) -> String {
    let place = |i: usize| (i + 1) as f64;
    let numbered = bars.iter().enumerate();
    let means = numbered.clone().map(|(i, b)| (place(i), b.value)).collect();
    let intervals = numbered
        .filter(|(_, b)| b.half_width > 0.0)
        .map(|(i, b)| (place(i), b.value - b.half_width, b.value + b.half_width));
    // Numbers of many digits would touch each other.
    let every = bars.len().div_ceil(25).max(1);
    let names = (0..=bars.len() + 1).map(|i| match i {
        0 => String::new(),
        i if i > bars.len() || (i - 1) % every != 0 => String::new(),
        i => (first + i - 1).to_string(),
    });
    // A point at the end of the axis would be cut.
    let ends = bars.iter().fold((f64::MAX, f64::MIN), |(low, high), bar| {
        let around = bar.half_width.max(0.0);
        (low.min(bar.value - around), high.max(bar.value + around))
    });
    let (low, high) = ends;
    let room = 0.05 * (high - low).max(1e-9 * low.abs().max(high.abs()));
    let mut axis = Axis::linear(y);
    if (high - low).is_finite() && room > 0.0 {
        axis = axis.range(low - room, high + room);
    }
    let panel = Panel::new(
        "",
        Axis::categories("number in the table", names.collect()),
        axis,
    )
    .with(Series::intervals(Colour::Vermilion, intervals.collect()))
    .with(Series::points(Colour::Blue, Shape::Disc, means));
    Figure::new(title)
        .panel_size(640.0, 240.0)
        .panel(panel)
        .to_svg()
}

/// The fan of curves of a fit: the curve without noise, the mean one, and what noise makes of it, beside the records.
pub fn curves(picture: &Curves) -> String {
    let x = Axis::linear(&*picture.x);
    let mut panel = Panel::new("", x, Axis::linear(&*picture.y));
    // One series of thin lines: a point that is not finite breaks it.
    let noisy = picture.noisy.iter().flat_map(|curve| {
        let points = picture.at.iter().copied().zip(curve.iter().copied());
        points.chain([(f64::NAN, f64::NAN)])
    });
    let curve = |values: &[f64]| -> Vec<(f64, f64)> {
        let places = picture.at.iter().copied();
        places.zip(values.iter().copied()).collect()
    };
    let (shown, all) = (picture.records.len(), picture.records_in_all);
    let records = match shown == all {
        true => "records".to_string(),
        false => format!("{shown} of {all} records"),
    };
    if shown > 0 {
        let points = Series::points(Colour::Grey, Shape::Ring, picture.records.clone());
        panel = panel.with(points.label(records));
    }
    if !picture.noisy.is_empty() {
        let noisy = Series::curves(Colour::Sky, noisy.collect());
        panel = panel.with(noisy.label("with noise, draw by draw"));
    }
    panel = panel
        .with(Series::line(Colour::Blue, curve(&picture.mean)).label("mean, with room for noise"));
    if let Some(plain) = &picture.without_noise {
        let plain = Series::dashed(Colour::Vermilion, curve(plain));
        panel = panel.with(plain.label("fit without privacy"));
    }
    Figure::new("The fan of curves")
        .panel_size(620.0, 320.0)
        .panel(panel)
        .to_svg()
}

/// Scores of a classifier by class: how many records have each, before the noise.
pub fn scores(picture: &Scores) -> String {
    let all = picture.first.iter().chain(&picture.second);
    let largest = all.fold(0.0f64, |m, score| m.max(score.abs())).max(1e-9);
    let bins = 30;
    let width = 2.0 * largest / bins as f64;
    let counted = |scores: &[f64]| -> Vec<(f64, f64)> {
        let mut counts = vec![0.0; bins];
        for score in scores {
            let bin = ((score + largest) / width).floor().max(0.0) as usize;
            counts[bin.min(bins - 1)] += 1.0;
        }
        let middle = |bin: usize| -largest + (bin as f64 + 0.5) * width;
        counts
            .into_iter()
            .enumerate()
            .map(|(i, n)| (middle(i), n))
            .collect()
    };
    let (first, second) = (counted(&picture.first), counted(&picture.second));
    let shifted = |points: Vec<(f64, f64)>, by: f64| -> Vec<(f64, f64)> {
        let points = points.into_iter();
        points
            .map(|(x, y)| (x + by, y))
            .filter(|p| p.1 > 0.0)
            .collect()
    };
    let top = first.iter().chain(&second).fold(1.0f64, |m, p| m.max(p.1));
    let edge = Series::dashed(Colour::Grey, vec![(0.0, 0.0), (0.0, top)]);
    let spread = (-picture.deviation, picture.deviation);
    let band = vec![(spread.0, 0.0, top), (spread.1, 0.0, top)];
    let panel = Panel::new(
        "",
        Axis::linear("score: below 0 is the one class, above 0 the other"),
        Axis::linear("records"),
    )
    .with(Series::band(Colour::Grey, band).label("one standard deviation of a score under noise"))
    .with(
        Series::bars(
            Colour::Vermilion,
            0.45 * width,
            shifted(first, -0.23 * width),
        )
        .label(&*picture.first_name),
    )
    .with(
        Series::bars(Colour::Blue, 0.45 * width, shifted(second, 0.23 * width))
            .label(&*picture.second_name),
    )
    .with(edge.label("the border between the classes"));
    Figure::new("Scores of the records")
        .panel_size(620.0, 260.0)
        .panel(panel)
        .to_svg()
}

/// A body in two dimensions: the polytope, the ellipsoid without noise, the mean one, and what noise makes of it.
pub fn body(picture: &Body) -> String {
    let closed = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        let again = points.first().copied();
        points.iter().copied().chain(again).collect()
    };
    let noisy = picture.noisy.iter().flat_map(|outline| {
        let outline = closed(outline).into_iter();
        outline.chain([(f64::NAN, f64::NAN)])
    });
    let (x, y) = (Axis::linear(&*picture.x), Axis::linear(&*picture.y));
    let mut panel = Panel::new("", x, y)
        .with(Series::curves(Colour::Sky, noisy.collect()).label("with noise, draw by draw"))
        .with(Series::line(Colour::Grey, closed(&picture.limits)).label("the limits"))
        .with(Series::line(Colour::Blue, closed(&picture.mean)).label("mean, with room for noise"));
    if let Some(plain) = &picture.without_noise {
        let plain = Series::dashed(Colour::Vermilion, closed(plain));
        panel = panel.with(plain.label("the largest, without privacy"));
    }
    Figure::new("The body")
        .panel_size(520.0, 420.0)
        .panel(panel)
        .to_svg()
}
