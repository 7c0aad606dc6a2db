//! From panels to strokes: margins, axes, grid, marks, legend.

use super::svg::{Anchor, Drawing, FAINT, INK};
use super::ticks::Ruler;
use super::{Colour, Figure, Mark, Panel, Scale, Series, Shape};
use crate::plot::font;

/// Capital heights.
const TITLE: f64 = 11.0;
const PANEL_TITLE: f64 = 9.5;
const LABEL: f64 = 8.5;
const TICK: f64 = 8.0;

/// Space around a plotting area; less below where no axis has a label, and above where no panel has a title.
const LEFT: f64 = 66.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 52.0;
const NO_TITLE: f64 = 14.0;
const NO_LABEL: f64 = 30.0;

/// Around all.
const EDGE: f64 = 12.0;

/// A line of the legend.
const LEGEND: f64 = 22.0;

/// From a sample in the legend to its text, and from entry to entry.
const SAMPLE: f64 = 26.0;
const BETWEEN: f64 = 26.0;

pub(super) fn draw(figure: &Figure) -> String {
    let (w, h) = figure.panel_size;
    let columns = figure.columns.min(figure.panels.len().max(1));
    let rows = figure.panels.len().div_ceil(columns);
    let width = (2.0 * EDGE + columns as f64 * (LEFT + w + RIGHT))
        .max(font::width(&figure.title) * TITLE / font::CAPITAL + 4.0 * EDGE);
    let entries = legend(figure);
    let lines = legend_lines(&entries, width - 4.0 * EDGE);
    let head = EDGE + 2.0 * TITLE + lines.len() as f64 * LEGEND;
    let bottom = match figure.panels.iter().all(|p| p.x.label.is_empty()) {
        true => NO_LABEL,
        false => BOTTOM,
    };
    // The space above each row of panels.
    let tops: Vec<f64> = (0..rows)
        .map(|row| {
            let panels = figure.panels.iter().skip(row * columns).take(columns);
            match panels.clone().all(|p| p.title.is_empty()) {
                true => NO_TITLE,
                false => TOP,
            }
        })
        .collect();
    let height = head + tops.iter().map(|top| top + h + bottom).sum::<f64>() + EDGE;
    let mut drawing = Drawing::default();
    let title = (0.5 * width, EDGE + 1.4 * TITLE);
    drawing.text(title, Anchor::Middle, TITLE, true, &figure.title);
    for (i, line) in lines.iter().enumerate() {
        let long: f64 = line.iter().map(|e| entry_width(e)).sum::<f64>() - BETWEEN;
        let mut x = 0.5 * (width - long);
        let y = EDGE + 2.2 * TITLE + (i as f64 + 0.6) * LEGEND;
        for entry in line {
            for series in entry.series.iter() {
                sample(&mut drawing, series, (x, y));
            }
            let at = (x + SAMPLE, y + 0.5 * TICK);
            drawing.text(at, Anchor::Start, TICK, true, entry.label);
            x += entry_width(entry);
        }
    }
    for (i, panel) in figure.panels.iter().enumerate() {
        let (row, column) = (i / columns, i % columns);
        let place = (
            EDGE + column as f64 * (LEFT + w + RIGHT) + LEFT,
            head + tops[..=row].iter().sum::<f64>() + row as f64 * (h + bottom),
        );
        Frame::new(panel, place, (w, h)).draw(&mut drawing);
    }
    drawing.finish(width, height, &figure.title)
}

struct Entry<'f> {
    label: &'f str,
    colour: Colour,
    series: Vec<&'f Series>,
}

/// One entry for each label and colour, with one sample for each kind of mark.
fn legend(figure: &Figure) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for series in figure.panels.iter().flat_map(|p| &p.series) {
        let Some(label) = &series.label else { continue };
        let known = entries
            .iter_mut()
            .find(|e| e.label == label && e.colour == series.colour);
        let Some(entry) = known else {
            entries.push(Entry {
                label,
                colour: series.colour,
                series: vec![series],
            });
            continue;
        };
        let kind = |series: &Series| std::mem::discriminant(&series.mark);
        if entry.series.iter().all(|s| kind(s) != kind(series)) {
            entry.series.push(series);
        }
    }
    entries
}

fn entry_width(entry: &Entry<'_>) -> f64 {
    SAMPLE + font::width(entry.label) * TICK / font::CAPITAL + BETWEEN
}

/// Entries broken into lines of at most this width.
fn legend_lines<'e, 'f>(entries: &'e [Entry<'f>], width: f64) -> Vec<Vec<&'e Entry<'f>>> {
    let mut lines: Vec<Vec<&Entry<'_>>> = Vec::new();
    let mut used = f64::INFINITY;
    for entry in entries {
        let long = entry_width(entry);
        if used + long > width + BETWEEN {
            lines.push(Vec::new());
            used = 0.0;
        }
        used += long;
        if let Some(line) = lines.last_mut() {
            line.push(entry);
        }
    }
    lines
}

/// A small mark of the same kind, drawn as in a panel.
fn sample(drawing: &mut Drawing, series: &Series, (x, y): (f64, f64)) {
    let ends = || vec![(x, y), (x + 20.0, y)];
    let mark = match &series.mark {
        Mark::Line { dashed, .. } => Mark::Line {
            points: ends(),
            dashed: *dashed,
        },
        Mark::Curves(_) => Mark::Curves(ends()),
        Mark::Band(_) => Mark::Band([x, x + 20.0].map(|x| (x, y - 5.0, y + 5.0)).to_vec()),
        Mark::Bars { .. } => Mark::Bars {
            points: vec![(x + 10.0, y - 5.0)],
            width: 12.0,
        },
        Mark::Points(_, shape) => Mark::Points(vec![(x + 10.0, y)], *shape),
        Mark::Intervals(_) => Mark::Intervals(vec![(x + 10.0, y + 7.0, y - 7.0)]),
    };
    paint(drawing, series.colour.hex(), &mark, y + 5.0, Some);
}

/// Draws a mark; `at` is where a point of it lies in the drawing, `foot` where bars stand.
fn paint(
    drawing: &mut Drawing,
    colour: &str,
    mark: &Mark,
    foot: f64,
    at: impl Fn((f64, f64)) -> Option<(f64, f64)>,
) {
    match mark {
        Mark::Line { points, dashed } => {
            let dash = match dashed {
                true => " stroke-dasharray=\"5 4\"",
                false => "",
            };
            let style = format!("stroke=\"{colour}\" stroke-width=\"1.8\"{dash}");
            drawing.polyline(points.iter().map(|p| at(*p)), &style);
        }
        Mark::Curves(points) => {
            let style = format!("stroke=\"{colour}\" stroke-width=\"0.8\" stroke-opacity=\"0.6\"");
            drawing.polyline(points.iter().map(|p| at(*p)), &style);
        }
        Mark::Band(points) => {
            let there = points.iter().filter_map(|p| at((p.0, p.1)));
            let back = points.iter().rev().filter_map(|p| at((p.0, p.2)));
            let outline: Vec<(f64, f64)> = there.chain(back).collect();
            let style = format!("fill=\"{colour}\" fill-opacity=\"0.16\"");
            drawing.polygon(&outline, &style);
        }
        Mark::Points(points, shape) => {
            for at in points.iter().filter_map(|p| at(*p)) {
                point(drawing, *shape, at, colour);
            }
        }
        Mark::Intervals(points) => {
            let style = format!("stroke=\"{colour}\" stroke-width=\"1.4\"");
            for (x, low, high) in points {
                if let (Some((x, top)), Some((_, bottom))) = (at((*x, *high)), at((*x, *low))) {
                    drawing.line((x, top), (x, bottom), &style);
                    drawing.line((x - 4.0, top), (x + 4.0, top), &style);
                    drawing.line((x - 4.0, bottom), (x + 4.0, bottom), &style);
                }
            }
        }
        Mark::Bars { points, width } => {
            let style = format!("fill=\"{colour}\" fill-opacity=\"0.85\"");
            for (x, y) in points {
                let ends = (at((x - 0.5 * width, *y)), at((x + 0.5 * width, foot)));
                if let (Some((a, top)), Some((b, bottom))) = ends {
                    let corners = [(a, top), (b, top), (b, bottom), (a, bottom)];
                    drawing.polygon(&corners, &style);
                }
            }
        }
    }
}

/// One panel in its place.
struct Frame<'p> {
    panel: &'p Panel,
    place: (f64, f64),
    size: (f64, f64),
    x: Ruler,
    y: Ruler,
}

impl<'p> Frame<'p> {
    fn new(panel: &'p Panel, place: (f64, f64), size: (f64, f64)) -> Self {
        let points = || panel.series.iter().flat_map(|s| extent(&s.mark));
        let has_bars = panel
            .series
            .iter()
            .any(|s| matches!(s.mark, Mark::Bars { .. }));
        let foot = (has_bars && panel.y.scale == Scale::Linear).then_some(0.0);
        let heights = points().map(|p| p.1).chain(foot);
        Frame {
            x: Ruler::new(&panel.x, points().map(|p| p.0)),
            y: Ruler::new(&panel.y, heights),
            panel,
            place,
            size,
        }
    }

    fn across(&self, x: f64) -> Option<f64> {
        Some(self.place.0 + self.size.0 * self.x.place(x)?)
    }

    fn down(&self, y: f64) -> Option<f64> {
        Some(self.place.1 + self.size.1 * (1.0 - self.y.place(y)?))
    }

    fn at(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.across(x)?, self.down(y)?))
    }

    fn draw(&self, drawing: &mut Drawing) {
        let ((left, top), (width, height)) = (self.place, self.size);
        let (right, bottom) = (left + width, top + height);
        let faint = format!("stroke=\"{FAINT}\" stroke-width=\"0.8\"");
        let ink = format!("stroke=\"{INK}\" stroke-width=\"1\"");
        let has_names = matches!(self.panel.x.scale, Scale::Categories(_));
        for (value, _) in &self.y.ticks {
            if let Some(y) = self.down(*value) {
                drawing.line((left, y), (right, y), &faint);
            }
        }
        for (value, _) in self.x.ticks.iter().filter(|_| !has_names) {
            if let Some(x) = self.across(*value) {
                drawing.line((x, top), (x, bottom), &faint);
            }
        }
        drawing.clipped((left, top - 1.0, width, height + 2.0), |drawing| {
            for series in &self.panel.series {
                let (colour, foot) = (series.colour.hex(), self.y.foot());
                paint(drawing, colour, &series.mark, foot, |p| self.at(p));
            }
        });
        drawing.line((left, top), (left, bottom), &ink);
        drawing.line((left, bottom), (right, bottom), &ink);
        for (value, text) in &self.y.ticks {
            if let Some(y) = self.down(*value) {
                drawing.line((left - 4.0, y), (left, y), &ink);
                let at = (left - 8.0, y + 0.5 * TICK);
                drawing.text(at, Anchor::End, TICK, true, text);
            }
        }
        for (value, text) in &self.x.ticks {
            if let Some(x) = self.across(*value) {
                if !has_names {
                    drawing.line((x, bottom), (x, bottom + 4.0), &ink);
                }
                let at = (x, bottom + 8.0 + TICK);
                drawing.text(at, Anchor::Middle, TICK, true, text);
            }
        }
        let middle = left + 0.5 * width;
        let below = (middle, bottom + 24.0 + TICK + LABEL);
        drawing.text(below, Anchor::Middle, LABEL, true, &self.panel.x.label);
        let widest = self.y.ticks.iter().map(|t| font::width(&t.1));
        let widest = widest.fold(0.0, f64::max) * TICK / font::CAPITAL;
        let beside = (left - 20.0 - widest, top + 0.5 * height);
        drawing.text(beside, Anchor::Middle, LABEL, false, &self.panel.y.label);
        let above = (middle, top - 11.0);
        drawing.text(above, Anchor::Middle, PANEL_TITLE, true, &self.panel.title);
    }
}

/// The points that an axis must cover.
fn extent(mark: &Mark) -> Vec<(f64, f64)> {
    match mark {
        Mark::Line { points, .. }
        | Mark::Curves(points)
        | Mark::Points(points, _)
        | Mark::Bars { points, .. } => points.clone(),
        Mark::Band(points) | Mark::Intervals(points) => points
            .iter()
            .flat_map(|(x, low, high)| [(*x, *low), (*x, *high)])
            .collect(),
    }
}

fn point(drawing: &mut Drawing, shape: Shape, (x, y): (f64, f64), colour: &str) {
    let filled = format!("fill=\"{colour}\"");
    let stroked = format!("stroke=\"{colour}\" stroke-width=\"1.8\"");
    match shape {
        Shape::Disc => drawing.circle((x, y), 4.0, &filled),
        Shape::Ring => drawing.circle((x, y), 4.2, &stroked),
        Shape::Dash => drawing.line((x - 8.0, y), (x + 8.0, y), &stroked),
        Shape::Cross => {
            drawing.line((x - 4.0, y - 4.0), (x + 4.0, y + 4.0), &stroked);
            drawing.line((x - 4.0, y + 4.0), (x + 4.0, y - 4.0), &stroked);
        }
    }
}
