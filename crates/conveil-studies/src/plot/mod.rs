//! Figures, all in one look: SVG with float coordinates, and PNG from it. Letters are drawn as strokes of a small font
//! of our own ([`font`]), so that a figure looks the same everywhere and no font file is needed.
//!
//! ```
//! use conveil_studies::plot::{Axis, Colour, Figure, Panel, Series};
//!
//! let points = (1..=10).map(|e| (f64::from(e), 1.0 / f64::from(e))).collect();
//! let line = Series::line(Colour::Blue, points).label("loss");
//! let panel = Panel::new("", Axis::linear("ε"), Axis::log("loss in %")).with(line);
//! let svg = Figure::new("Loss against ε").panel(panel).to_svg();
//! assert!(svg.starts_with("<svg"));
//! ```

pub mod font;
mod layout;
mod png;
mod svg;
mod ticks;

pub use png::PlotError;

/// A colour of the palette, told apart by colour-blind readers too (after Okabe and Ito).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Blue.
    Blue,
    /// Vermilion.
    Vermilion,
    /// Bluish green.
    Green,
    /// Reddish purple.
    Purple,
    /// Orange.
    Orange,
    /// Sky blue.
    Sky,
    /// Dark grey.
    Grey,
}

impl Colour {
    /// As SVG writes it.
    pub fn hex(self) -> &'static str {
        match self {
            Colour::Blue => "#0072b2",
            Colour::Vermilion => "#d55e00",
            Colour::Green => "#009e73",
            Colour::Purple => "#cc79a7",
            Colour::Orange => "#e69f00",
            Colour::Sky => "#56b4e9",
            Colour::Grey => "#555555",
        }
    }
}

/// How values become places on an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm; values that are not positive are left out.
    Log,
    /// Category number i stands at i.
    Categories(Vec<String>),
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    label: String,
    scale: Scale,
    range: Option<(f64, f64)>,
}

impl Axis {
    /// A linear axis that covers the data.
    pub fn linear(label: impl Into<String>) -> Self {
        Axis {
            label: label.into(),
            scale: Scale::Linear,
            range: None,
        }
    }

    /// A logarithmic axis that covers the positive data.
    pub fn log(label: impl Into<String>) -> Self {
        Axis {
            scale: Scale::Log,
            ..Axis::linear(label)
        }
    }

    /// One place for each name.
    pub fn categories(label: impl Into<String>, names: Vec<String>) -> Self {
        Axis {
            scale: Scale::Categories(names),
            ..Axis::linear(label)
        }
    }

    /// From here to there, whatever the data.
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }
}

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A filled disc.
    Disc,
    /// A ring.
    Ring,
    /// A short horizontal stroke.
    Dash,
    /// A cross.
    Cross,
}

/// What is drawn; (x, y) or (x, low, high).
#[derive(Clone, Debug, PartialEq)]
enum Mark {
    Line {
        points: Vec<(f64, f64)>,
        dashed: bool,
    },
    Curves(Vec<(f64, f64)>),
    Band(Vec<(f64, f64, f64)>),
    Points(Vec<(f64, f64)>, Shape),
    Intervals(Vec<(f64, f64, f64)>),
    Bars {
        points: Vec<(f64, f64)>,
        width: f64,
    },
}

/// A mark in a colour; marks with one label and colour share a line of the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    label: Option<String>,
    colour: Colour,
    mark: Mark,
}

impl Series {
    fn new(colour: Colour, mark: Mark) -> Self {
        Series {
            label: None,
            colour,
            mark,
        }
    }

    /// A line through points (x, y), broken where one is not finite.
    pub fn line(colour: Colour, points: Vec<(f64, f64)>) -> Self {
        let dashed = false;
        Series::new(colour, Mark::Line { points, dashed })
    }

    /// The same, dashed.
    pub fn dashed(colour: Colour, points: Vec<(f64, f64)>) -> Self {
        let dashed = true;
        Series::new(colour, Mark::Line { points, dashed })
    }

    /// Thin lines, many over one another, broken where a point (x, y) is not finite.
    pub fn curves(colour: Colour, points: Vec<(f64, f64)>) -> Self {
        Series::new(colour, Mark::Curves(points))
    }

    /// The area between two lines: (x, low, high).
    pub fn band(colour: Colour, points: Vec<(f64, f64, f64)>) -> Self {
        Series::new(colour, Mark::Band(points))
    }

    /// Single points (x, y).
    pub fn points(colour: Colour, shape: Shape, points: Vec<(f64, f64)>) -> Self {
        Series::new(colour, Mark::Points(points, shape))
    }

    /// Vertical intervals (x, low, high).
    pub fn intervals(colour: Colour, points: Vec<(f64, f64, f64)>) -> Self {
        Series::new(colour, Mark::Intervals(points))
    }

    /// Bars from zero, or from the foot of a logarithmic axis, to (x, y); their width is in units of x.
    pub fn bars(colour: Colour, width: f64, points: Vec<(f64, f64)>) -> Self {
        Series::new(colour, Mark::Bars { points, width })
    }

    /// Named in the legend.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
}

/// One pair of axes with its marks.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
}

impl Panel {
    /// An empty panel.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Panel {
            title: title.into(),
            x,
            y,
            series: Vec::new(),
        }
    }

    /// With one more mark, drawn over the earlier ones.
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }
}

/// Panels in a grid under one title, with one legend for all.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    title: String,
    columns: usize,
    panel_size: (f64, f64),
    panels: Vec<Panel>,
}

impl Figure {
    /// An empty figure.
    pub fn new(title: impl Into<String>) -> Self {
        Figure {
            title: title.into(),
            columns: 1,
            panel_size: (560.0, 260.0),
            panels: Vec::new(),
        }
    }

    /// So many panels side by side.
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns.max(1);
        self
    }

    /// The size of a panel's plotting area.
    pub fn panel_size(mut self, width: f64, height: f64) -> Self {
        self.panel_size = (width, height);
        self
    }

    /// With one more panel.
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// As SVG.
    pub fn to_svg(&self) -> String {
        layout::draw(self)
    }

    /// As PNG, with so many pixels for each unit of the SVG.
    pub fn to_png(&self, pixels_per_unit: f32) -> Result<Vec<u8>, PlotError> {
        png::render(&self.to_svg(), pixels_per_unit)
    }
}

/// What differs, in the order of its first place.
pub(crate) fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut found, next| {
        if !found.contains(&next) {
            found.push(next);
        }
        found
    })
}

/// `24_ieee_rts` as `24_ieee`: a column is narrow.
pub(crate) fn short(network: &str) -> String {
    let parts: Vec<&str> = network.split('_').take(2).collect();
    parts.join("_")
}
