//! Problems saved by Clarabel's `save_to_file` (JSON): minimise ½x'Px + q'x subject to
//! Ax + s = b, s in a product of cones.
//!
//! The format is that of Clarabel 0.11: `P`, `q`, `A`, `b`, `cones` and, ignored here, `settings`.
//! `P` is its upper triangle. Matrices are in compressed sparse columns.

mod cone;
mod json;
mod matrix;
mod write;

use crate::ReadError;
use crate::spelling::counted;
use json::{File, Json};

pub use cone::SavedCone;
pub use matrix::SavedMatrix;
pub use write::to_json;

/// A conic problem, as read from or about to be written to a file.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedProblem {
    /// The upper triangle of the quadratic cost P, n×n.
    pub p: SavedMatrix,
    /// The linear cost q, of length n.
    pub q: Vec<f64>,
    /// The constraint matrix A, m×n.
    pub a: SavedMatrix,
    /// The right-hand side b, of length m.
    pub b: Vec<f64>,
    /// The cones of the slack, in the order of the rows; their sizes add up to m.
    pub cones: Vec<SavedCone>,
}

/// Clarabel reads a bound of this size as "no bound".
const NO_BOUND: f64 = 1e20;
/// A bound that Clarabel scaled and scaled back may come out a few roundings short.
const ROUNDING: f64 = 1e-12;

const KEYS: &[&str] = &["P", "q", "A", "b", "cones", "settings"];

/// Reads a saved problem from `text`; `name` is how messages call it.
pub fn read(name: &str, text: &str) -> Result<SavedProblem, ReadError> {
    let file = File { name, text };
    let root = file.root()?;
    let mut object = root.object("the problem", KEYS)?;

    let p_json = object.required("P")?;
    let q_json = object.required("q")?;
    let a_json = object.required("A")?;
    let b_json = object.required("b")?;
    let cones_json = object.required("cones")?;

    let p = matrix::read(p_json, "P")?;
    let q = q_json.numbers("q")?;
    let a = matrix::read(a_json, "A")?;
    let b = b_json.numbers("b")?;
    let cones = cone::read_all(cones_json)?;

    let n = q.len();
    if n == 0 {
        return Err(q_json.error("`q` is empty: the problem has no variables"));
    }
    if p.rows != n || p.columns != n {
        return Err(p_json.error(format!(
            "`P` is {}×{}, but `q` has {}: `P` must be {n}×{n}",
            p.rows,
            p.columns,
            entries(n)
        )));
    }
    refuse_below_diagonal(&p, p_json)?;
    if a.columns != n {
        return Err(a_json.error(format!(
            "`A` has {}, but `q` has {}",
            counted(a.columns, "column", "columns"),
            entries(n)
        )));
    }
    if b.len() != a.rows {
        return Err(b_json.error(format!(
            "`b` has {}, but `A` has {}",
            entries(b.len()),
            counted(a.rows, "row", "rows")
        )));
    }
    refuse_missing_bounds(&b, b_json)?;
    let covered = cones
        .iter()
        .try_fold(0_usize, |sum, cone| sum.checked_add(cone.rows()?));
    if covered != Some(a.rows) {
        let covered = match covered {
            Some(rows) => counted(rows, "row", "rows"),
            None => String::from("more rows than a machine can count"),
        };
        return Err(cones_json.error(format!("the cones cover {covered}, but `A` has {}", a.rows)));
    }
    Ok(SavedProblem { p, q, a, b, cones })
}

fn entries(count: usize) -> String {
    counted(count, "entry", "entries")
}

fn refuse_below_diagonal(p: &SavedMatrix, json: Json) -> Result<(), ReadError> {
    match p.entries().find(|&(row, column, _)| row > column) {
        None => Ok(()),
        Some((row, column, _)) => Err(json
            .error(format!(
                "`P` has an entry below the diagonal, at row {row}, column {column}"
            ))
            .with_help("Clarabel saves the upper triangle of P; leave the lower one out")),
    }
}

fn refuse_missing_bounds(b: &[f64], json: Json) -> Result<(), ReadError> {
    let limit = NO_BOUND * (1.0 - ROUNDING);
    match b.iter().position(|bound| bound.abs() >= limit) {
        None => Ok(()),
        Some(row) => Err(json
            .error_at(row, format!("`b[{row}]` is {:e}", b[row]))
            .with_help("1e20 stands for 'no bound' in Clarabel; leave the row out")),
    }
}
