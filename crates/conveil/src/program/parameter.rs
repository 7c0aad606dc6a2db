//! A private parameter: its name, its public bounds and nominal value, and the entries of the program that it enters.

use std::fmt;

/// An entry of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// b at this row.
    B(usize),
    /// q at this column.
    Q(usize),
    /// A at (row, column).
    A(usize, usize),
    /// P at (row, column), row ≤ column: the upper triangle, which stands for both.
    P(usize, usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::B(i) => write!(f, "b[{i}]"),
            Place::Q(j) => write!(f, "q[{j}]"),
            Place::A(i, j) => write!(f, "A[{i}, {j}]"),
            Place::P(i, j) => write!(f, "P[{i}, {j}]"),
        }
    }
}

/// Where a parameter enters, and with which coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// The entry.
    pub place: Place,
    /// Its coefficient.
    pub coef: f64,
}

impl Location {
    /// `coef`·θ is added at `place`.
    pub fn new(place: Place, coef: f64) -> Self {
        Location { place, coef }
    }
}

/// Places of a parameter. Records have millions of parameters with one place each, which then needs no list of its own.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Places {
    One(Location),
    Listed(Box<[Location]>),
}

impl From<Vec<Location>> for Places {
    fn from(places: Vec<Location>) -> Self {
        match places[..] {
            [only] => Places::One(only),
            _ => Places::Listed(places.into()),
        }
    }
}

impl std::ops::Deref for Places {
    type Target = [Location];

    fn deref(&self) -> &[Location] {
        match self {
            Places::One(only) => std::slice::from_ref(only),
            Places::Listed(places) => places,
        }
    }
}

/// A named entry of θ.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub(super) name: Box<str>,
    pub(super) at: Places,
    pub(super) bounds: Option<(f64, f64)>,
    pub(super) nominal: Option<f64>,
    pub(super) two_valued: bool,
}

impl Parameter {
    /// A parameter that enters nowhere yet.
    pub fn new(name: impl Into<String>) -> Self {
        Parameter {
            name: name.into().into(),
            at: Vec::new().into(),
            bounds: None,
            nominal: None,
            two_valued: false,
        }
    }

    /// Enters at these places.
    pub fn at_all(mut self, places: Vec<Location>) -> Self {
        self.at = places.into();
        self
    }

    /// Public bounds to which the value is clipped before anything else (safe entry by entry, M1).
    pub fn clipped(mut self, low: f64, high: f64) -> Self {
        self.bounds = Some((low, high));
        self
    }

    /// One of two public values, such as a label: nothing between them is drawn or searched.
    pub fn either(mut self, low: f64, high: f64) -> Self {
        self.two_valued = true;
        self.clipped(low, high)
    }

    /// A public value that the private one is expected to be near: a forecast, last year's figure, a case file's number.
    pub fn nominal(mut self, value: f64) -> Self {
        self.nominal = Some(value);
        self
    }

    /// The same parameter at other places.
    pub(crate) fn moved_to(&self, places: Vec<Location>) -> Self {
        Parameter {
            at: places.into(),
            ..self.clone()
        }
    }

    /// Its public nominal value.
    pub fn nominal_value(&self) -> Option<f64> {
        self.nominal
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it enters.
    pub fn locations(&self) -> &[Location] {
        &self.at
    }

    /// Its public bounds.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        self.bounds
    }

    /// Whether its bounds are the only values that it takes.
    pub(crate) fn is_two_valued(&self) -> bool {
        self.two_valued
    }
}
