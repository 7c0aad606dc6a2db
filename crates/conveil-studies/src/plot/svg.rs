//! SVG, written as text.

use std::fmt::Write;

use super::font;

/// Ink of axes and letters.
pub(super) const INK: &str = "#222222";

/// Grid lines.
pub(super) const FAINT: &str = "#e4e4e4";

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing that grows.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    body: String,
    clips: usize,
}

impl Drawing {
    /// The whole document.
    pub(super) fn finish(self, width: f64, height: f64, title: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.1}\" height=\"{height:.1}\" viewBox=\"0 0 {width:.1} {height:.1}\" fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n<title>{}</title>\n<rect width=\"{width:.1}\" height=\"{height:.1}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escaped(title),
            self.body
        )
    }

    pub(super) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), style: &str) {
        let _ = writeln!(
            self.body,
            "<path d=\"M{x1:.3} {y1:.3}L{x2:.3} {y2:.3}\" {style}/>"
        );
    }

    /// A line through points, broken at `None`.
    pub(super) fn polyline(
        &mut self,
        points: impl Iterator<Item = Option<(f64, f64)>>,
        style: &str,
    ) {
        let mut path = String::new();
        let mut is_down = false;
        for point in points {
            if let Some((x, y)) = point {
                let _ = write!(path, "{}{x:.3} {y:.3}", if is_down { 'L' } else { 'M' });
            }
            is_down = point.is_some();
        }
        if !path.is_empty() {
            let _ = writeln!(self.body, "<path d=\"{path}\" {style}/>");
        }
    }

    pub(super) fn polygon(&mut self, points: &[(f64, f64)], style: &str) {
        let mut path = String::new();
        for (i, (x, y)) in points.iter().enumerate() {
            let _ = write!(path, "{}{x:.3} {y:.3}", if i > 0 { 'L' } else { 'M' });
        }
        if !path.is_empty() {
            let _ = writeln!(self.body, "<path d=\"{path}Z\" {style}/>");
        }
    }

    pub(super) fn circle(&mut self, (x, y): (f64, f64), radius: f64, style: &str) {
        let _ = writeln!(
            self.body,
            "<circle cx=\"{x:.3}\" cy=\"{y:.3}\" r=\"{radius:.2}\" {style}/>"
        );
    }

    /// What `inside` draws is cut off at a rectangle.
    pub(super) fn clipped(
        &mut self,
        (x, y, width, height): (f64, f64, f64, f64),
        inside: impl FnOnce(&mut Self),
    ) {
        self.clips += 1;
        let name = format!("clip{}", self.clips);
        let _ = writeln!(
            self.body,
            "<clipPath id=\"{name}\"><rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\"/></clipPath>\n<g clip-path=\"url(#{name})\">"
        );
        inside(self);
        self.body.push_str("</g>\n");
    }

    /// A text with its baseline at y; `size` is the height of a capital letter.
    pub(super) fn text(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        size: f64,
        is_upright: bool,
        text: &str,
    ) {
        if text.is_empty() {
            return;
        }
        let zoom = size / font::CAPITAL;
        let width = font::width(text) * zoom;
        let back = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5 * width,
            Anchor::End => width,
        };
        let turn = if is_upright { "" } else { " rotate(-90)" };
        let _ = writeln!(
            self.body,
            "<g role=\"img\" aria-label=\"{}\" stroke=\"{INK}\" stroke-width=\"{:.2}\" transform=\"translate({x:.3} {y:.3}){turn} translate({:.3} 0) scale({zoom:.5} -{zoom:.5})\">",
            escaped(text),
            font::PEN,
            -back
        );
        for (at, path) in font::strokes(text) {
            let _ = writeln!(
                self.body,
                "<path transform=\"translate({at:.2} 0)\" d=\"{path}\"/>"
            );
        }
        self.body.push_str("</g>\n");
    }
}

/// Text inside markup.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}
