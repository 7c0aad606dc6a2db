//! Problems saved by Clarabel as JSON, in and out.

use super::{Cone, Holds, NewConstraint, NewVariables, Program, Sparse, Stage};
use crate::error::{Error, Result};
use conveil_text::problem::{self, SavedCone, SavedMatrix, SavedProblem};

impl Program {
    /// Reads a problem saved by Clarabel. `variables` and `constraints` name its columns and cones in order; empty lists
    /// give one block `x` of decisions and blocks `c0`, `c1`, ….
    pub fn from_saved(
        saved: SavedProblem,
        variables: Vec<NewVariables>,
        constraints: Vec<SavedConstraint>,
    ) -> Result<Self> {
        let variables = if variables.is_empty() {
            vec![NewVariables {
                name: "x".into(),
                len: saved.q.len(),
                stage: Stage::Decision,
                entries: Vec::new(),
            }]
        } else {
            variables
        };
        let named = variables
            .iter()
            .fold(0usize, |sum, v| sum.saturating_add(v.len));
        if named != saved.q.len() {
            return Err(Error::input(format!(
                "the named variables have {named} entries in all, but the problem has {} columns",
                saved.q.len()
            )));
        }
        let constraints = if constraints.is_empty() {
            (0..saved.cones.len())
                .map(|i| SavedConstraint {
                    name: format!("c{i}"),
                    holds: Holds::WithNoise,
                    rows: Vec::new(),
                })
                .collect()
        } else {
            constraints
        };
        if constraints.len() != saved.cones.len() {
            return Err(Error::input(format!(
                "{} constraint blocks are named, but the problem has {} cones",
                constraints.len(),
                saved.cones.len()
            )));
        }
        let blocks = constraints
            .into_iter()
            .zip(&saved.cones)
            .map(|(c, cone)| NewConstraint {
                name: c.name,
                cone: from_cone(cone),
                holds: c.holds,
                rows: c.rows,
            })
            .collect();
        Program::new(
            from_matrix(saved.p)?,
            saved.q,
            from_matrix(saved.a)?,
            saved.b,
            variables,
            blocks,
        )
    }

    /// Reads the JSON text itself as one block `x` of decisions; `name` stands in messages.
    pub fn from_json(name: &str, text: &str) -> Result<Self> {
        let saved = problem::read(name, text).map_err(|e| Error::input(e.to_string()))?;
        Self::from_saved(saved, Vec::new(), Vec::new())
    }

    /// The problem in Clarabel's own JSON. Names and stages are not part of that format.
    pub fn to_json(&self) -> String {
        problem::to_json(&SavedProblem {
            p: to_matrix(self.p()),
            q: self.q().to_vec(),
            a: to_matrix(self.a()),
            b: self.b().to_vec(),
            cones: self
                .constraints()
                .iter()
                .map(|c| to_cone(c.cone()))
                .collect(),
        })
    }
}

/// The name and timing of a saved cone.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedConstraint {
    /// Name.
    pub name: String,
    /// When it holds.
    pub holds: Holds,
    /// Names of its rows; empty for `name[i]`.
    pub rows: Vec<String>,
}

fn from_matrix(m: SavedMatrix) -> Result<Sparse> {
    Sparse::from_columns(m.rows, m.columns, m.colptr, m.rowval, m.nzval)
}

fn to_matrix(m: &Sparse) -> SavedMatrix {
    SavedMatrix {
        rows: m.rows(),
        columns: m.columns(),
        colptr: m.colptr().to_vec(),
        rowval: m.rowval().to_vec(),
        nzval: m.nzval().to_vec(),
    }
}

fn from_cone(cone: &SavedCone) -> Cone {
    match cone {
        SavedCone::Zero(m) => Cone::Zero(*m),
        SavedCone::Nonnegative(m) => Cone::Nonnegative(*m),
        SavedCone::SecondOrder(m) => Cone::SecondOrder(*m),
        SavedCone::Exponential => Cone::Exponential,
        SavedCone::Power(a) => Cone::Power(*a),
        SavedCone::GeneralisedPower {
            exponents,
            dimension,
        } => Cone::GeneralizedPower(exponents.clone(), *dimension),
        SavedCone::PsdTriangle(n) => Cone::PsdTriangle(*n),
    }
}

fn to_cone(cone: &Cone) -> SavedCone {
    match cone {
        Cone::Zero(m) => SavedCone::Zero(*m),
        Cone::Nonnegative(m) => SavedCone::Nonnegative(*m),
        Cone::SecondOrder(m) => SavedCone::SecondOrder(*m),
        Cone::Exponential => SavedCone::Exponential,
        Cone::Power(a) => SavedCone::Power(*a),
        Cone::GeneralizedPower(exponents, dimension) => SavedCone::GeneralisedPower {
            exponents: exponents.clone(),
            dimension: *dimension,
        },
        Cone::PsdTriangle(n) => SavedCone::PsdTriangle(*n),
    }
}
