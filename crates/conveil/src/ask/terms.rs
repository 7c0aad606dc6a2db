//! The public numbers that a certificate is stated with.

/// What a certificate is asked to hold under: policy of the user, fixed without the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Terms {
    /// What one unit beside the data costs: the value of lost load, a price cap.
    pub price: Option<f64>,
    /// Prices of single rows, by their names, in the place of `price`.
    pub prices: Vec<(String, f64)>,
    /// ν: by how much the data may be corrected for a price that is one unit from the public one.
    pub width: Option<f64>,
    /// p₀: the public prices at which no correction is made.
    pub offset: Offset,
    /// κ: a quadratic cost ½κx² that is added on the released variables, and on those that have one.
    pub curvature: Option<f64>,
    /// The point around which that cost is: it costs nothing there.
    pub around: Around,
}

/// The point around which a quadratic cost is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Around {
    /// ½κx².
    #[default]
    Zero,
    /// ½κ(x − x₀)², x₀ the optimum without noise at the nominal data, or at the middle of their bounds: a public point.
    Nominal,
}

/// The public prices at which no correction is made.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Offset {
    /// What the data cost at their nominal values, or at the middle of their bounds: marginal prices of the program without
    /// noise.
    #[default]
    Nominal,
    /// This price for each.
    Each(f64),
    /// By the names of the data; 0 for those that are not named.
    Named(Vec<(String, f64)>),
}

impl Terms {
    /// A price alone.
    pub fn priced(price: f64) -> Self {
        Terms {
            price: Some(price),
            ..Terms::default()
        }
    }
}

/// One of the numbers that a sweep may vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// `price`.
    Price,
    /// `width`.
    Width,
    /// `curvature`.
    Curvature,
}

impl Term {
    /// All of them.
    pub const ALL: [Term; 3] = [Term::Width, Term::Curvature, Term::Price];

    /// Its key in a spec.
    pub fn word(self) -> &'static str {
        match self {
            Term::Price => "price",
            Term::Width => "width",
            Term::Curvature => "curvature",
        }
    }

    pub(crate) fn place(self, terms: &mut Terms) -> &mut Option<f64> {
        match self {
            Term::Price => &mut terms.price,
            Term::Width => &mut terms.width,
            Term::Curvature => &mut terms.curvature,
        }
    }
}
