//! The writer of Clarabel's JSON format.

use serde::Serialize;

use super::{SavedCone, SavedMatrix, SavedProblem};

/// The problem as text that Clarabel's `load_from_file` and [`read`](super::read) accept.
///
/// Numbers are written with the fewest digits that determine them, so that reading the text gives
/// the same problem to the last bit. `settings` is written empty: Clarabel fills in its defaults.
/// A number that is not finite has no JSON form and becomes `null`, which readers refuse.
pub fn to_json(problem: &SavedProblem) -> String {
    let file = ProblemFile {
        p: (&problem.p).into(),
        q: &problem.q,
        a: (&problem.a).into(),
        b: &problem.b,
        cones: problem.cones.iter().map(ConeFile::from).collect(),
        settings: Settings {},
    };
    // Structures with text keys and numbers always have a JSON form.
    serde_json::to_string(&file).unwrap_or_default()
}

#[derive(Serialize)]
struct ProblemFile<'p> {
    #[serde(rename = "P")]
    p: MatrixFile<'p>,
    q: &'p [f64],
    #[serde(rename = "A")]
    a: MatrixFile<'p>,
    b: &'p [f64],
    cones: Vec<ConeFile<'p>>,
    settings: Settings,
}

#[derive(Serialize)]
struct Settings {}

#[derive(Serialize)]
struct MatrixFile<'p> {
    m: usize,
    n: usize,
    colptr: &'p [usize],
    rowval: &'p [usize],
    nzval: &'p [f64],
}

impl<'p> From<&'p SavedMatrix> for MatrixFile<'p> {
    fn from(matrix: &'p SavedMatrix) -> Self {
        MatrixFile {
            m: matrix.rows,
            n: matrix.columns,
            colptr: &matrix.colptr,
            rowval: &matrix.rowval,
            nzval: &matrix.nzval,
        }
    }
}

/// Clarabel's names and shapes; the exponential cone is a variant with an empty list.
#[derive(Serialize)]
#[allow(clippy::enum_variant_names)]
enum ConeFile<'p> {
    ZeroConeT(usize),
    NonnegativeConeT(usize),
    SecondOrderConeT(usize),
    ExponentialConeT(),
    PowerConeT(f64),
    GenPowerConeT(&'p [f64], usize),
    PSDTriangleConeT(usize),
}

impl<'p> From<&'p SavedCone> for ConeFile<'p> {
    fn from(cone: &'p SavedCone) -> Self {
        match cone {
            SavedCone::Zero(dimension) => ConeFile::ZeroConeT(*dimension),
            SavedCone::Nonnegative(dimension) => ConeFile::NonnegativeConeT(*dimension),
            SavedCone::SecondOrder(dimension) => ConeFile::SecondOrderConeT(*dimension),
            SavedCone::Exponential => ConeFile::ExponentialConeT(),
            SavedCone::Power(exponent) => ConeFile::PowerConeT(*exponent),
            SavedCone::GeneralisedPower {
                exponents,
                dimension,
            } => ConeFile::GenPowerConeT(exponents, *dimension),
            SavedCone::PsdTriangle(order) => ConeFile::PSDTriangleConeT(*order),
        }
    }
}
