//! Draws `docs/figures/example1.svg`: min x s.t. 5 ≤ x ≤ 12 with a private lower limit, released by output perturbation
//! and by program perturbation. Every number in it comes from the engine.
//!
//! `cargo run --package conveil --example two_densities > docs/figures/example1.svg`

use conveil::ask::{Adjacency, Ask, Privacy};
use conveil::noise::Law;
use conveil::plan::Plan;
use conveil::program::Builder;
use std::fmt::Write;

const LOWER: f64 = 5.0;
const UPPER: f64 = 12.0;

/// The horizontal axis.
const AXIS: (f64, f64) = (1.0, 14.0);

// Sizes in pixels.
const PANEL: (f64, f64) = (400.0, 200.0);
const LEFT: [f64; 2] = [30.0, 470.0];
const TOP: f64 = 64.0;

const INSIDE: &str = "#2f6f9f";
const OUTSIDE: &str = "#c2452d";
const INK: &str = "#222222";
const QUIET: &str = "#6a6a6a";

/// One panel: the density of centre + ζ, its feasible part, and what falls outside.
struct Panel {
    left: f64,
    title: &'static str,
    centre: f64,
    law: Law,
}

impl Panel {
    fn x(&self, value: f64) -> f64 {
        self.left + PANEL.0 * (value - AXIS.0) / (AXIS.1 - AXIS.0)
    }

    /// The density, by differences of the law's own distribution function.
    fn density(&self, value: f64) -> f64 {
        const STEP: f64 = 1e-4;
        let at = value - self.centre;
        self.law.mass(at - STEP, at + STEP) / (2.0 * STEP)
    }

    fn y(&self, value: f64) -> f64 {
        // The peak of a Laplace density is 1/(2s).
        let peak = 0.5 / self.law.scale();
        TOP + PANEL.1 * (1.0 - self.density(value) / (1.08 * peak))
    }

    /// The area under the density between two values.
    fn area(&self, from: f64, to: f64, colour: &str) -> String {
        const POINTS: usize = 120;
        let mut at: Vec<f64> = (0..=POINTS)
            .map(|i| from + (to - from) * i as f64 / POINTS as f64)
            .collect();
        if from < self.centre && self.centre < to {
            at.push(self.centre);
            at.sort_by(f64::total_cmp);
        }
        let base = TOP + PANEL.1;
        let mut path = format!("M{:.1} {base:.1}", self.x(from));
        for value in at {
            let _ = write!(path, "L{:.1} {:.1}", self.x(value), self.y(value));
        }
        let _ = write!(path, "L{:.1} {base:.1}Z", self.x(to));
        format!("<path d=\"{path}\" fill=\"{colour}\" fill-opacity=\"0.75\"/>\n")
    }

    fn draw(&self) -> String {
        let base = TOP + PANEL.1;
        let outside = self.law.outside(LOWER - self.centre, UPPER - self.centre);
        let mut svg = text(self.left, 24.0, self.title, "17", INK, "start");
        let share = format!("Pr[infeasible] = {:.1}%", 100.0 * outside);
        svg += &text(self.left, 46.0, &share, "14", OUTSIDE, "start");
        svg += &self.area(AXIS.0, LOWER, OUTSIDE);
        svg += &self.area(LOWER, UPPER, INSIDE);
        svg += &self.area(UPPER, AXIS.1, OUTSIDE);
        for (limit, label) in [(LOWER, "lower limit"), (UPPER, "upper limit")] {
            let x = self.x(limit);
            svg += &line((x, TOP), (x, base), QUIET, "4 3");
            svg += &text(x, base + 36.0, label, "12", QUIET, "middle");
            svg += &text(x, base + 19.0, &format!("{limit}"), "13", INK, "middle");
        }
        // Where the mean is the limit itself, the limit's label says it.
        if self.centre > LOWER + 0.5 {
            let x = self.x(self.centre);
            let label = format!("{:.2}", self.centre);
            svg += &line((x, base), (x, base + 6.0), INK, "none");
            svg += &text(x, base + 19.0, &label, "13", INK, "middle");
            svg += &text(x, base + 36.0, "mean decision", "12", QUIET, "middle");
        }
        svg + &line((self.left, base), (self.left + PANEL.0, base), INK, "none")
    }
}

fn text(x: f64, y: f64, words: &str, size: &str, colour: &str, anchor: &str) -> String {
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{colour}\" text-anchor=\"{anchor}\">{words}</text>\n"
    )
}

fn line(from: (f64, f64), to: (f64, f64), colour: &str, dashes: &str) -> String {
    format!(
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-dasharray=\"{dashes}\"/>\n",
        from.0, from.1, to.0, to.1
    )
}

/// Draws the figure on standard output.
pub fn main() -> conveil::Result<()> {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let limit = m.parameter("limit");
    m.minimize(x.at(0));
    m.between("limits", limit, x.at(0), UPPER);
    let model = m.build_map()?;
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(1.0, "the cost moves as much as the limit does")
        .feasible(0.95);
    let plan = Plan::new(&model, ask)?;
    let curated = plan.curate(&[LOWER])?;
    let panel = |left, title, centre| Panel {
        left,
        title,
        centre,
        law: *plan.law(),
    };
    let optimum = curated.report().optimum;
    let output = panel(LEFT[0], "Output perturbation", optimum);
    let program = panel(LEFT[1], "Program perturbation", curated.decided().mean[0]);
    let size = (LEFT[1] + PANEL.0 + 30.0, TOP + PANEL.1 + 50.0);
    println!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"Helvetica, Arial, sans-serif\">\n\
         <title>The density of the released decision, with and without program perturbation</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}{}</svg>",
        size.0,
        size.1,
        output.draw(),
        program.draw()
    );
    Ok(())
}
