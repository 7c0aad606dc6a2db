//! A power network as a drawing: where the power flows, how near lines are to their limits, and where the noise goes.

use std::collections::VecDeque;
use std::f64::consts::TAU;
use std::fmt::Write;

use conveil_studies::plot::{Colour, font};
use conveil_workbench::picture::{Grid, GridBranch};

use super::place::{Point, placed};
use crate::html::escaped;
use crate::numbers::short;

/// Networks of more buses are not drawn.
const LARGEST: usize = 3_000;

/// Buses have their numbers in networks up to this size.
const NUMBERED: usize = 130;

/// Lines and buses are named, for pointers, in networks up to this size.
const NAMED: usize = 400;

/// The drawing without its legend, and what is left free around it.
const WIDTH: f64 = 760.0;
const MARGIN: f64 = 40.0;

/// The legend.
const LEGEND: f64 = 66.0;

/// Standard deviations of a flow that count as its load.
pub(crate) const DEVIATIONS: f64 = 2.0;

/// Shares of a limit, from which colour on, and how the legend calls it.
const LOADINGS: [(f64, Colour, &str); 4] = [
    (0.95, Colour::Vermilion, "95% or more"),
    (0.75, Colour::Orange, "75 to 95%"),
    (0.5, Colour::Blue, "50 to 75%"),
    (0.0, Colour::Green, "below 50%"),
];

/// Half the height of the mark of a bus.
const HALF: f64 = 4.2;

/// Ink of letters and small marks: the page gives it the colour of its own.
const INK: &str = "#222222";

/// The network with flows, limits and where the noise goes; why it is not drawn where it is too large.
pub fn network(grid: &Grid) -> Result<String, String> {
    let buses = grid.buses.len();
    if buses > LARGEST || (grid.branches.is_empty() && grid.units.is_empty()) {
        return Err(format!(
            "a network of {buses} buses is too large to be drawn: drawings end at {LARGEST}"
        ));
    }
    let joined: Vec<(usize, usize)> = (grid.branches.iter())
        .map(|b| (b.from, b.to))
        .filter(|&(a, b)| a < buses && b < buses)
        .collect();
    let at = placed(buses, &joined);
    let mut drawing = Drawing::of(grid, &at);
    drawing.branches();
    drawing.units();
    drawing.buses();
    Ok(drawing.finish())
}

/// The share of its limit that a branch carries, two deviations of its flow included.
pub(crate) fn loading(branch: &GridBranch) -> Option<f64> {
    let limit = branch.limit_mw.filter(|limit| *limit > 0.0)?;
    Some((branch.flow_mw.abs() + DEVIATIONS * branch.deviation_mw) / limit)
}

struct Drawing<'g> {
    grid: &'g Grid,
    /// Where the buses stand, in units of the drawing.
    at: Vec<Point>,
    height: f64,
    /// Marks are this much smaller than in a small network.
    zoom: f64,
    /// How far the marks of each bus reach.
    reach: Vec<f64>,
    body: String,
}

impl<'g> Drawing<'g> {
    fn of(grid: &'g Grid, at: &[Point]) -> Self {
        let ends = |of: fn(&Point) -> f64| {
            let values = at.iter().map(of);
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            })
        };
        let (x, y) = (ends(|p| p.0), ends(|p| p.1));
        let wide = (x.1 - x.0).max(1e-9);
        // Not higher than wide, so that it fits a page.
        let scale = ((WIDTH - 2.0 * MARGIN) / wide)
            .min((WIDTH - 2.0 * MARGIN) / (y.1 - y.0).max(1e-9))
            .min(150.0);
        let inner = scale * (y.1 - y.0).max(0.0);
        let left = 0.5 * (WIDTH - scale * wide);
        let place = |p: &Point| (left + scale * (p.0 - x.0), MARGIN + scale * (p.1 - y.0));
        let zoom = (60.0 / grid.buses.len().max(1) as f64).sqrt();
        Drawing {
            grid,
            at: at.iter().map(place).collect(),
            height: inner + 2.0 * MARGIN,
            zoom: zoom.clamp(0.22, 1.0),
            reach: vec![1.25 * zoom.clamp(0.3, 1.0) * HALF; grid.buses.len()],
            body: String::new(),
        }
    }

    /// An element with a name for whoever points at it.
    fn mark(&mut self, element: &str, name: impl FnOnce() -> String) {
        let _ = match self.grid.buses.len() <= NAMED {
            true => writeln!(
                self.body,
                "<{element}><title>{}</title></{}>",
                escaped(&name()),
                element.split(' ').next().unwrap_or_default()
            ),
            false => writeln!(self.body, "<{element}/>"),
        };
    }

    fn branches(&mut self) {
        let grid = self.grid;
        let flows = grid.branches.iter().map(|b| b.flow_mw.abs());
        let most = flows.fold(1e-9f64, f64::max);
        // The most loaded ones are on top.
        let mut order: Vec<usize> = (0..grid.branches.len()).collect();
        let load = |i: &usize| loading(&grid.branches[*i]).unwrap_or(-1.0);
        order.sort_by(|a, b| load(a).total_cmp(&load(b)).then(a.cmp(b)));
        let sides = sides(&grid.branches);
        for i in order {
            let branch = &grid.branches[i];
            let (Some(&from), Some(&to)) = (self.at.get(branch.from), self.at.get(branch.to))
            else {
                continue;
            };
            let width = self.zoom.max(0.45) * (1.0 + 6.0 * branch.flow_mw.abs() / most);
            let aside = sides[i] * (7.0 * self.zoom + 1.5);
            let ((x1, y1), (x2, y2)) = beside(from, to, aside);
            let share = loading(branch);
            let colour = colour_of(share);
            let dashes = if share.is_none() {
                " stroke-dasharray=\"5 4\""
            } else {
                ""
            };
            let path = format!(
                "path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"{}\" stroke-width=\"{width:.2}\"{dashes}",
                colour.hex()
            );
            self.mark(&path, || {
                let limit = match (branch.limit_mw, share) {
                    (Some(limit), Some(share)) => {
                        format!("limit {} MW, loading {:.0}%", short(limit), 100.0 * share)
                    }
                    _ => "no limit".into(),
                };
                format!(
                    "{}: {} ± {} MW, {limit}",
                    branch.name,
                    short(branch.flow_mw),
                    short(DEVIATIONS * branch.deviation_mw)
                )
            });
            // An arrow in the middle of what is long enough shows the direction.
            if branch.flow_mw.abs() > 0.01 * most && self.grid.buses.len() <= NUMBERED {
                self.arrow((x1, y1), (x2, y2), branch.flow_mw, width);
            }
        }
    }

    fn arrow(&mut self, a: Point, b: Point, flow: f64, width: f64) {
        let (a, b) = if flow > 0.0 { (a, b) } else { (b, a) };
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length = dx.hypot(dy);
        let size = self.zoom.max(0.5) * 2.6 + 0.6 * width;
        if length < 4.0 * size + 14.0 * self.zoom {
            return;
        }
        let (ux, uy) = (dx / length, dy / length);
        let (x, y) = (0.5 * (a.0 + b.0), 0.5 * (a.1 + b.1));
        let _ = writeln!(
            self.body,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{INK}\" stroke-width=\"{:.2}\"/>",
            x - size * ux - size * uy,
            y - size * uy + size * ux,
            x + size * ux,
            y + size * uy,
            x - size * ux + size * uy,
            y - size * uy - size * ux,
            0.5 + 0.8 * self.zoom,
        );
    }

    /// A disc for what is generated at a bus, and a ring around it for the deviation.
    fn units(&mut self) {
        let buses = self.grid.buses.len();
        let (mut mean, mut deviation) = (vec![0.0; buses], vec![0.0; buses]);
        for unit in self.grid.units.iter().filter(|unit| unit.bus < buses) {
            mean[unit.bus] += unit.mean_mw;
            deviation[unit.bus] += unit.deviation_mw;
        }
        let most = mean.iter().fold(1e-9f64, |m: f64, v| m.max(v.abs()));
        let widest = deviation.iter().fold(1e-9f64, |m: f64, v| m.max(*v));
        let zoom = self.zoom.max(0.35);
        for bus in 0..buses {
            if mean[bus] == 0.0 && deviation[bus] == 0.0 {
                continue;
            }
            let (x, y) = self.at[bus];
            let radius = zoom * (6.0 + 10.0 * (mean[bus].abs() / most).sqrt());
            let ring = zoom * 7.0 * deviation[bus] / widest;
            self.reach[bus] = radius + ring;
            if ring > 0.1 * zoom {
                let around = format!(
                    "circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.2}\" stroke=\"{}\" stroke-width=\"{ring:.2}\" stroke-opacity=\"0.85\"",
                    radius + 0.5 * ring,
                    Colour::Purple.hex()
                );
                let _ = writeln!(self.body, "<{around}/>");
            }
            let disc = format!(
                "circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.2}\" fill=\"{}\"",
                Colour::Sky.hex()
            );
            let number = self.grid.buses[bus].number;
            let (mean, deviation) = (mean[bus], DEVIATIONS * deviation[bus]);
            self.mark(&disc, || {
                format!(
                    "bus {number} generates {} ± {} MW",
                    short(mean),
                    short(deviation)
                )
            });
        }
    }

    fn buses(&mut self) {
        let grid = self.grid;
        let numbered = grid.buses.len() <= NUMBERED;
        let free = free(&self.at, &grid.branches);
        for (i, bus) in grid.buses.iter().enumerate() {
            let (x, y) = self.at[i];
            let half = self.zoom.max(0.3) * HALF;
            let colour = if bus.is_private {
                Colour::Vermilion.hex()
            } else {
                INK
            };
            let shape = mark_of(bus.is_private, (x, y), half, colour);
            self.mark(&shape, || {
                let whose = if bus.is_private { "private" } else { "public" };
                format!("bus {}: {whose} load {} MW", bus.number, short(bus.load_mw))
            });
            if numbered {
                let size = (9.0 * self.zoom).max(5.6);
                let (dx, dy) = free[i];
                let number = bus.number.to_string();
                // A long number stands further off to a side than a short one.
                let wide = 0.5 * size / font::CAPITAL * font::width(&number);
                let off = self.reach[i] + 2.5 + (wide * dx).hypot(0.5 * size * dy);
                let place = (x + off * dx, y + off * dy + 0.5 * size);
                letters(&mut self.body, place, 0.5, size, &number);
            }
        }
    }

    fn finish(mut self) -> String {
        let top = self.height + 4.0;
        let body = &mut self.body;
        let (mut x, y) = (14.0, top + 14.0);
        letters(body, (x, y), 0.0, 8.0, "load of a line:");
        x += 92.0;
        let lines = LOADINGS.iter().map(|l| (l.1, l.2, ""));
        let none = (Colour::Grey, "no limit", " stroke-dasharray=\"5 4\"");
        for (colour, name, dashes) in lines.chain([none]) {
            let _ = writeln!(
                body,
                "<path d=\"M{x:.1} {:.1}h22\" stroke=\"{}\" stroke-width=\"4\"{dashes}/>",
                y - 4.0,
                colour.hex()
            );
            letters(body, (x + 28.0, y), 0.0, 8.0, name);
            x += 34.0 + 8.0 / font::CAPITAL * font::width(name) + 18.0;
        }
        let (mut x, y) = (14.0, top + 40.0);
        let marks = [
            (
                mark_of(true, (0.0, 0.0), HALF, Colour::Vermilion.hex()),
                "private load",
            ),
            (
                mark_of(false, (0.0, 0.0), HALF, INK),
                "public load, or none",
            ),
            (
                format!("circle r=\"7\" fill=\"{}\"", Colour::Sky.hex()),
                "generation",
            ),
            (
                format!(
                    "circle r=\"6.5\" stroke=\"{}\" stroke-width=\"4\"",
                    Colour::Purple.hex()
                ),
                "its deviation under the noise",
            ),
        ];
        for (mark, name) in marks {
            let _ = writeln!(
                body,
                "<g transform=\"translate({:.1} {:.1})\"><{mark}/></g>",
                x + 9.0,
                y - 4.0
            );
            letters(body, (x + 24.0, y), 0.0, 8.0, name);
            x += 30.0 + 8.0 / font::CAPITAL * font::width(name) + 22.0;
        }
        let height = self.height + LEGEND;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n<title>The network</title>\n<rect width=\"{WIDTH:.0}\" height=\"{height:.0}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// The colour of a share of a limit.
fn colour_of(share: Option<f64>) -> Colour {
    let found = share.and_then(|share| LOADINGS.iter().find(|l| share >= l.0));
    found.map_or(Colour::Grey, |l| l.1)
}

/// A bus: a diamond where its load is private, else a dot.
fn mark_of(is_private: bool, (x, y): Point, half: f64, colour: &str) -> String {
    let r = 1.25 * half;
    match is_private {
        true => format!(
            "path d=\"M{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}Z\" fill=\"{colour}\"",
            x - r,
            y - r,
            x + r,
            y + r
        ),
        false => format!(
            "circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.2}\" stroke=\"{colour}\" stroke-width=\"{:.2}\"",
            0.6 * half,
            0.45 * half
        ),
    }
}

/// Letters as strokes; `back` is the share of their width before x.
fn letters(body: &mut String, (x, y): Point, back: f64, size: f64, text: &str) {
    let zoom = size / font::CAPITAL;
    let x = x - back * zoom * font::width(text);
    let _ = write!(
        body,
        "<g role=\"img\" aria-label=\"{}\" stroke=\"{INK}\" stroke-width=\"{:.2}\" transform=\"translate({x:.1} {y:.1}) scale({zoom:.4} -{zoom:.4})\">",
        escaped(text),
        font::PEN
    );
    for (at, path) in font::strokes(text) {
        let _ = write!(
            body,
            "<path transform=\"translate({at:.1} 0)\" d=\"{path}\"/>"
        );
    }
    body.push_str("</g>\n");
}

/// Branches between the same buses lie beside each other: the place of each, around 0.
fn sides(branches: &[GridBranch]) -> Vec<f64> {
    let pair = |b: &GridBranch| (b.from.min(b.to), b.from.max(b.to));
    let mut order: Vec<usize> = (0..branches.len()).collect();
    order.sort_by_key(|&i| (pair(&branches[i]), i));
    let mut sides = vec![0.0; branches.len()];
    for group in order.chunk_by(|&i, &j| pair(&branches[i]) == pair(&branches[j])) {
        let middle = 0.5 * (group.len() - 1) as f64;
        for (k, &i) in group.iter().enumerate() {
            let turn = if branches[i].from <= branches[i].to {
                1.0
            } else {
                -1.0
            };
            sides[i] = turn * (k as f64 - middle);
        }
    }
    sides
}

/// For each bus, the direction in which no branch leaves it: the middle of the widest gap, down where there is no branch.
fn free(at: &[Point], branches: &[GridBranch]) -> Vec<Point> {
    let mut angles: Vec<Vec<f64>> = vec![Vec::new(); at.len()];
    for branch in branches {
        for (here, there) in [(branch.from, branch.to), (branch.to, branch.from)] {
            if let (Some(a), Some(b)) = (at.get(here), at.get(there)) {
                angles[here].push((b.1 - a.1).atan2(b.0 - a.0));
            }
        }
    }
    let widest = |mut angles: Vec<f64>| {
        angles.sort_by(f64::total_cmp);
        let Some(&first) = angles.first() else {
            return (0.0, 1.0);
        };
        let next = angles.iter().skip(1).copied().chain([first + TAU]);
        let gaps = angles.iter().copied().zip(next);
        let gap = gaps.max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
        let middle = gap.map_or(0.0, |(a, b)| 0.5 * (a + b));
        (middle.cos(), middle.sin())
    };
    angles.into_iter().map(widest).collect()
}

/// A line moved to its left.
fn beside(a: Point, b: Point, by: f64) -> (Point, Point) {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx.hypot(dy);
    if length <= 0.0 || by == 0.0 {
        return (a, b);
    }
    let (x, y) = (by * dy / length, -by * dx / length);
    ((a.0 + x, a.1 + y), (b.0 + x, b.1 + y))
}

/// Distances from a node along branches; none where there is no way.
pub(super) fn hops(near: &[Vec<usize>], from: usize) -> Vec<Option<u32>> {
    let mut far = vec![None; near.len()];
    far[from] = Some(0);
    let mut queue = VecDeque::from([(from, 0)]);
    while let Some((node, distance)) = queue.pop_front() {
        for &next in &near[node] {
            if far[next].is_none() {
                far[next] = Some(distance + 1);
                queue.push_back((next, distance + 1));
            }
        }
    }
    far
}
