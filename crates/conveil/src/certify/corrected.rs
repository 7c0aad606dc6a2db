//! θ̃, the data that a program may choose in the place of θ: rows on it and its public bounds. What it costs to differ from θ is
//! each certificate's own.

use super::certificate::Site;
use crate::error::{Error, Result};
use crate::program::{
    AffineMap, Cone, DataMap, Holds, Location, NewConstraint, NewVariables, Parameter, Place,
    Program, Sparse, Stage,
};
use std::borrow::Cow;

/// The name of θ̃ in reports.
const CORRECTED: &str = "corrected data";

/// The map of a site, if only right-hand sides within public bounds are private.
pub(super) fn right_hand_sides<'a>(site: &Site<'a>, what: &str) -> Result<&'a AffineMap> {
    let refuse = |why: String, instead: &str| Err(Error::refused(what, why, instead));
    let Some(affine) = site.map.affine() else {
        return refuse(
            "the program depends on the data in a way that cannot be inspected".into(),
            "a map that is affine in the data, or a declared or sampled sensitivity",
        );
    };
    for parameter in affine.parameters() {
        let elsewhere = |l: &&Location| !matches!(l.place, Place::B(_));
        if let Some(location) = parameter.locations().iter().find(elsewhere) {
            return refuse(
                format!(
                    "it covers private right-hand sides only, but `{}` enters at {}",
                    parameter.name(),
                    location.place
                ),
                "a certificate for that part, or a declared or sampled sensitivity",
            );
        }
        if parameter.bounds().is_none() {
            return refuse(
                format!("`{}` has no public bounds", parameter.name()),
                "public bounds on every parameter, wide enough for every admissible value of either sign",
            );
        }
    }
    Ok(affine)
}

/// Widths of the public bounds.
pub(super) fn widths(affine: &AffineMap) -> Vec<f64> {
    let width = |q: Cow<'_, Parameter>| q.bounds().map_or(0.0, |(low, high)| high - low);
    affine.parameters().iter().map(width).collect()
}

/// The nominal values, or the middle of the bounds.
pub(crate) fn nominal_or_middle(map: &dyn DataMap) -> Vec<f64> {
    let middle = |q: &Parameter| q.bounds().map_or(0.0, |(low, high)| 0.5 * (low + high));
    let parameters = map.parameters().iter();
    parameters
        .map(|q| q.nominal_value().unwrap_or_else(|| middle(&q)))
        .collect()
}

/// A program in (x, θ̃) under construction: rows Ax − Eθ̃ in the place of b₀ + Eθ, low ≤ θ̃ ≤ high.
pub(super) struct Corrected<'a> {
    affine: &'a AffineMap,
    triplets: Vec<(usize, usize, f64)>,
    b: Vec<f64>,
    variables: Vec<NewVariables>,
    constraints: Vec<NewConstraint>,
    /// Columns so far.
    columns: usize,
}

impl<'a> Corrected<'a> {
    pub(super) fn new(affine: &'a AffineMap) -> Self {
        let base = affine.template();
        let (m, p) = (base.rows(), affine.len());
        let (variables, constraints) = base.blocks();
        let mut corrected = Corrected {
            affine,
            triplets: base.a().entries().collect(),
            b: base.b().to_vec(),
            variables,
            constraints,
            columns: base.columns(),
        };
        let theta = corrected.here_and_now(CORRECTED, p);
        for (i, parameter) in affine.parameters().iter().enumerate() {
            for location in parameter.locations() {
                if let Place::B(row) = location.place {
                    corrected.triplets.push((row, theta + i, -location.coef));
                }
            }
            // θ̃ ≤ high, −θ̃ ≤ −low.
            corrected.triplets.push((m + i, theta + i, 1.0));
            corrected.triplets.push((m + p + i, theta + i, -1.0));
        }
        let limits = |side: fn((f64, f64)) -> f64| {
            let each = affine.parameters().iter();
            each.map(move |q| q.bounds().map_or(0.0, side))
        };
        let ends: Vec<f64> = limits(|(_, high)| high)
            .chain(limits(|(low, _)| -low))
            .collect();
        let names = corrected.of_each(&["upper bound", "lower bound"]);
        corrected.rows(
            "public bounds of the data",
            Cone::Nonnegative(2 * p),
            names,
            &ends,
        );
        corrected
    }

    /// Variables that are decided before the noise; returns the first column.
    pub(super) fn here_and_now(&mut self, name: &str, len: usize) -> usize {
        self.variables.push(NewVariables {
            name: name.into(),
            len,
            stage: Stage::HereAndNow,
            entries: Vec::new(),
        });
        self.columns += len;
        self.columns - len
    }

    /// Rows with this right-hand side; returns the first.
    pub(super) fn rows(&mut self, name: &str, cone: Cone, rows: Vec<String>, b: &[f64]) -> usize {
        let first = self.b.len();
        self.b.extend_from_slice(b);
        self.constraints.push(NewConstraint {
            name: name.into(),
            cone,
            holds: Holds::WithNoise,
            rows,
        });
        first
    }

    /// Entries of A.
    pub(super) fn entries(&mut self, entries: &[(usize, usize, f64)]) {
        self.triplets.extend_from_slice(entries);
    }

    /// "upper bound of demand 1", …, for each of the words in turn.
    pub(super) fn of_each(&self, what: &[&str]) -> Vec<String> {
        let parameters = self.affine.parameters();
        what.iter()
            .flat_map(|what| {
                parameters
                    .iter()
                    .map(move |q| format!("{what} of {}", q.name()))
            })
            .collect()
    }

    /// The map of the finished program: these are P and q on the new columns, and where the data enter it.
    pub(super) fn map(
        self,
        quadratic: &[(usize, usize, f64)],
        linear: &[(usize, f64)],
        places: Vec<Vec<Location>>,
    ) -> Result<AffineMap> {
        let base = self.affine.template();
        let mut p: Vec<(usize, usize, f64)> = base.p().entries().collect();
        p.extend_from_slice(quadratic);
        let mut q = base.q().to_vec();
        q.resize(self.columns, 0.0);
        linear.iter().for_each(|&(j, v)| q[j] += v);
        let program = Program::new(
            Sparse::assemble(self.columns, self.columns, &p),
            q,
            Sparse::assemble(self.b.len(), self.columns, &self.triplets),
            self.b,
            self.variables,
            self.constraints,
        )?
        .with_constant(base.constant());
        let parameters = self.affine.parameters().iter().zip(places);
        let moved: Vec<Parameter> = parameters.map(|(q, at)| q.moved_to(at)).collect();
        AffineMap::new(program, moved)
    }
}
