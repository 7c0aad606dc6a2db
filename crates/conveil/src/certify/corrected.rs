//! θ̃, the data that a program may choose in the place of θ: rows on it, its public bounds, and the way back to the user's
//! own program. What it costs to differ from θ is each certificate's own.

use super::certificate::Site;
use crate::ask::Norm;
use crate::error::{Error, Result};
use crate::program::{
    AffineMap, Cone, DataMap, Holds, Location, NewConstraint, NewVariables, Parameter, Place,
    Program, Sparse, Stage,
};
use crate::proof::Limits;

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
    let width = |q: &Parameter| q.bounds().map_or(0.0, |(low, high)| high - low);
    affine.parameters().iter().map(width).collect()
}

/// The nominal values, or the middle of the bounds.
pub(super) fn nominal_or_middle(map: &dyn DataMap) -> Vec<f64> {
    let middle = |q: &Parameter| q.bounds().map_or(0.0, |(low, high)| 0.5 * (low + high));
    let parameters = map.parameters().iter();
    parameters
        .map(|q| q.nominal_value().unwrap_or_else(|| middle(q)))
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
        AffineMap::new(program, parameters.map(|(q, at)| q.moved_to(at)).collect())
    }
}

/// θ̃ behind the variables of the user's own program, and what it costs to differ from θ.
#[derive(Clone, Debug)]
pub struct Deviation {
    norm: Norm,
    toll: Toll,
    /// Variables of the user's own program.
    users_columns: usize,
    /// Variables of the program with θ̃.
    columns: usize,
    /// Widths of the public bounds.
    widths: Vec<f64>,
}

/// How a correction is paid for.
#[derive(Clone, Debug)]
pub(super) enum Toll {
    /// π per unit in the unit of the answer, which may be a multiple of the value; sizes stand behind θ̃ (M8a).
    InTheAnswer(f64),
    /// In the objective alone (M15a), with the first column of sizes where there is a cap.
    BesideTheAnswer { capped: Option<usize> },
}

impl Deviation {
    pub(super) fn new(affine: &AffineMap, norm: Norm, toll: Toll, columns: usize) -> Self {
        Deviation {
            norm,
            toll,
            users_columns: affine.template().columns(),
            columns,
            widths: widths(affine),
        }
    }

    /// Whether the answer holds the price of a correction. Where it does, the value decides whether a decision for θ
    /// itself may be taken (M8a); where it does not, that decision must have the same answer (M15a).
    pub(crate) fn is_in_the_answer(&self) -> bool {
        matches!(self.toll, Toll::InTheAnswer(_))
    }

    /// What a correction of this size makes the answer worse by: a cost is larger, a profit smaller by it.
    pub(crate) fn paid(&self, size: f64) -> f64 {
        match self.toll {
            Toll::InTheAnswer(price) => price * size,
            Toll::BesideTheAnswer { .. } => 0.0,
        }
    }

    /// The size of the correction from a dataset to θ̃.
    pub(crate) fn size(&self, from: &[f64], corrected: &[f64]) -> f64 {
        let change: Vec<f64> = from.iter().zip(corrected).map(|(a, b)| b - a).collect();
        self.norm.of(&change)
    }

    /// θ̃ in a decision of the program with θ̃.
    pub(crate) fn corrected<'x>(&self, x: &'x [f64]) -> &'x [f64] {
        &x[self.users_columns..self.users_columns + self.widths.len()]
    }

    /// A decision of the user's own program at θ, as one of the program with θ̃ = θ.
    pub(crate) fn at_the_data(&self, x: &[f64], theta: &[f64]) -> Vec<f64> {
        let mut whole = x.to_vec();
        whole.extend_from_slice(theta);
        if let Toll::BesideTheAnswer { capped: Some(_) } = self.toll {
            whole.extend_from_slice(theta);
        }
        whole.resize(self.columns, 0.0);
        whole
    }

    /// What the objective of this program holds beside that of the user's own, up to a constant.
    pub(crate) fn beside(&self, program: &Program, x: &[f64]) -> f64 {
        let mut behind = vec![0.0; x.len()];
        behind[self.users_columns..].copy_from_slice(&x[self.users_columns..]);
        program.objective(&behind) - program.constant()
    }

    /// What is known of an optimal correction.
    pub(super) fn known(&self) -> Vec<Limits> {
        let behind = self.users_columns + self.widths.len();
        let up_to = |column: usize, high: f64| Limits {
            column,
            low: 0.0,
            high,
        };
        let each = |first: usize| {
            let widths = self.widths.iter().enumerate();
            widths.map(|(i, w)| up_to(first + i, *w)).collect()
        };
        match (&self.toll, self.norm) {
            (Toll::InTheAnswer(_), Norm::L1) => each(behind),
            (Toll::InTheAnswer(_), Norm::L2) => {
                vec![up_to(behind, crate::program::norm(&self.widths))]
            }
            // What is paid for at the cap lies between the data and θ̃.
            (Toll::BesideTheAnswer { capped }, _) => capped.map_or(Vec::new(), each),
        }
    }

    /// A point of the lifted program that lies inside every cone for some data, moved to where it does for all.
    pub(crate) fn inside_for_all(&self, mut x: Vec<f64>) -> Vec<f64> {
        if self.is_in_the_answer() {
            for Limits { column, high, .. } in self.known() {
                x[column] = 2.0 * high + 1.0;
            }
        }
        x
    }
}
