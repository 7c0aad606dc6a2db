//! The values of a column outside its public bounds, counted for the curator: they are clipped. Private.

use std::fmt;

use conveil_text::spelling::{counted, quoted};

use crate::document::Fields;
use crate::words::exact;

/// How many there are, and the first of them, in the column's own units.
#[derive(Debug)]
pub(crate) struct Outside {
    column: String,
    bounds: (f64, f64),
    below: usize,
    above: usize,
    first: f64,
    line: usize,
}

impl Outside {
    /// With the first of them, which is still to be counted.
    pub(crate) fn first(column: &str, bounds: (f64, f64), first: f64, line: usize) -> Self {
        Outside {
            column: column.into(),
            bounds,
            below: 0,
            above: 0,
            first,
            line,
        }
    }

    /// Counts a value that lies outside.
    pub(crate) fn count(&mut self, value: f64) {
        match value < self.bounds.0 {
            true => self.below += 1,
            false => self.above += 1,
        }
    }

    /// For a report.
    pub(crate) fn fields(&self) -> Fields {
        Fields::default()
            .with("feature", self.column.as_str())
            .with("bounds", self.bounds)
            .with("below", self.below)
            .with("above", self.above)
            .with("first", self.first)
            .with("line", self.line)
    }
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (low, high) = self.bounds;
        let values = |count| counted(count, "value", "values");
        let count = match (self.below, self.above) {
            (below, 0) => format!("{} below", values(below)),
            (0, above) => format!("{} above", values(above)),
            (below, above) => format!("{} below and {above} above", values(below)),
        };
        write!(
            f,
            "{}: {count} the public bounds [{}, {}], clipped to them; the first is {} in line {}",
            quoted(&self.column),
            exact(low),
            exact(high),
            exact(self.first),
            self.line
        )
    }
}

/// Whether a value lies outside by more than rounding.
pub fn is_clipped(value: f64, (low, high): (f64, f64)) -> bool {
    const ROUNDING: f64 = 1e-9;
    (value - value.clamp(low, high)).abs() > ROUNDING * (1.0 + value.abs())
}
