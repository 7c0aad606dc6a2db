//! A private parameter: its name, its public bounds and nominal value, and the entries of the program that it enters.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

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

impl Place {
    /// Row and column, where it is in A.
    pub(crate) fn in_a(self) -> Option<(usize, usize)> {
        match self {
            Place::A(i, j) => Some((i, j)),
            _ => None,
        }
    }
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

/// A name, or what a name is made of: that of a record's number is written when it is asked for.
#[derive(Clone, Debug)]
enum Name {
    Written(Box<str>),
    /// `record r field`, r from 1.
    OfRecord {
        record: usize,
        field: Arc<str>,
    },
    /// `of n`, n from 1.
    Numbered {
        of: Arc<str>,
        index: usize,
    },
}

/// A named entry of θ.
#[derive(Clone, Debug)]
pub struct Parameter {
    name: Name,
    pub(super) at: Places,
    pub(super) bounds: Option<(f64, f64)>,
    pub(super) nominal: Option<f64>,
    pub(super) two_valued: bool,
}

impl PartialEq for Parameter {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
            && self.at == other.at
            && self.bounds == other.bounds
            && self.nominal == other.nominal
            && self.two_valued == other.two_valued
    }
}

impl Parameter {
    /// A parameter that enters nowhere yet.
    pub fn new(name: impl Into<String>) -> Self {
        Parameter {
            name: Name::Written(name.into().into()),
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

    /// The same parameter as the one of this number, counted from 0, which enters nowhere yet.
    pub(super) fn numbered(&self, of: &Arc<str>, index: usize) -> Self {
        let of = of.clone();
        Parameter {
            name: Name::Numbered { of, index },
            at: Vec::new().into(),
            ..*self
        }
    }

    /// The same parameter of a record, counted from 0, at this place alone.
    pub(super) fn of_record(&self, record: usize, field: &Arc<str>, place: Location) -> Self {
        let field = field.clone();
        Parameter {
            name: Name::OfRecord { record, field },
            at: Places::One(place),
            ..*self
        }
    }

    /// Its name.
    pub fn name(&self) -> Cow<'_, str> {
        match &self.name {
            Name::Written(name) => Cow::Borrowed(name),
            Name::Numbered { of, index } => Cow::Owned(format!("{of} {}", index + 1)),
            Name::OfRecord { record, field } => {
                Cow::Owned(format!("record {} {field}", record + 1))
            }
        }
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
