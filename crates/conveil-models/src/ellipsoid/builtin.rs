//! Two small polytopes for studies and examples: an octagon, and a box in three dimensions with three corners cut off.

/// A polytope {x : aᵢ'x ≤ bᵢ} of this crate. Its offsets are public; studies treat them as private.
#[derive(Clone, Debug, PartialEq)]
pub struct Polytope {
    /// Its name.
    pub name: &'static str,
    /// aᵢ by rows.
    pub normals: Vec<Vec<f64>>,
    /// bᵢ.
    pub offsets: Vec<f64>,
}

/// Facets (aᵢ, bᵢ).
type Facets<const N: usize> = &'static [([f64; N], f64)];

const OCTAGON: Facets<2> = &[
    ([1.0, 0.0], 2.0),
    ([-1.0, 0.0], 2.2),
    ([0.0, 1.0], 1.5),
    ([0.0, -1.0], 1.6),
    ([1.0, 1.0], 2.5),
    ([-1.0, 1.0], 2.8),
    ([1.0, -2.0], 3.6),
    ([-1.0, -1.0], 2.9),
];

const CUT_BOX: Facets<3> = &[
    ([1.0, 0.0, 0.0], 2.0),
    ([-1.0, 0.0, 0.0], 2.0),
    ([0.0, 1.0, 0.0], 1.8),
    ([0.0, -1.0, 0.0], 1.8),
    ([0.0, 0.0, 1.0], 1.6),
    ([0.0, 0.0, -1.0], 1.6),
    ([1.0, 1.0, 1.0], 3.2),
    ([-1.0, 1.0, -1.0], 3.3),
    ([1.0, -1.0, 0.5], 2.9),
];

/// All built-in polytopes: `octagon` in two dimensions, `cut-box` in three.
pub fn builtin() -> Vec<Polytope> {
    vec![polytope("octagon", OCTAGON), polytope("cut-box", CUT_BOX)]
}

fn polytope<const N: usize>(name: &'static str, facets: Facets<N>) -> Polytope {
    Polytope {
        name,
        normals: facets.iter().map(|facet| facet.0.to_vec()).collect(),
        offsets: facets.iter().map(|facet| facet.1).collect(),
    }
}
