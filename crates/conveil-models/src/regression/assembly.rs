//! The program of a regression: the quadratic one of the squared loss, and the conic one of the norm loss.

use conveil::program::{
    AffineMap, Cone, Holds, Location, NewConstraint, NewVariables, Parameter, Parameters, Place,
    Program, Sparse, Stage,
};
use conveil::{Error, Result};

use super::RegressionBuilder;
use super::condition::Row;
use super::design::Design;
use std::sync::Arc;

/// Φ'Φ.
pub(super) fn gram(design: &Design, weights: usize) -> Vec<Vec<f64>> {
    let mut gram = vec![vec![0.0; weights]; weights];
    let mut row = vec![0.0; weights];
    for record in 0..design.records() {
        design.phi(record, &mut row);
        for (i, a) in row.iter().enumerate() {
            for (j, b) in row.iter().enumerate() {
                gram[i][j] += a * b;
            }
        }
    }
    gram
}

/// A pivot of the Cholesky factor below this share of its diagonal entry is rounding.
const DEPENDENT: f64 = 1e-12;

/// Whether P = Φ'Φ + λI is positive definite in floating point.
pub(super) fn has_one_answer(gram: &[Vec<f64>], ridge: f64) -> bool {
    let n = gram.len();
    let mut l = vec![vec![0.0; n]; n];
    for j in 0..n {
        for i in j..n {
            let dot: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            let own = gram[i][j] + if i == j { ridge } else { 0.0 };
            let rest = own - dot;
            if i > j {
                l[i][j] = rest / l[j][j];
            } else if rest > DEPENDENT * own {
                l[j][j] = rest.sqrt();
            } else {
                return false;
            }
        }
    }
    true
}

/// Sizes of two basis functions that are this far apart: P is beyond what floating point inverts.
const APART: f64 = 1e12;

/// Whether the functions are of comparable size on the records: noise is shaped by P^{-1/2}, and solved with P.
pub(super) fn comparable(gram: &[Vec<f64>], ridge: f64, names: &[String]) -> Result<()> {
    let sizes = (0..gram.len()).map(|j| (gram[j][j] + ridge).sqrt());
    let by_size = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
    let small = sizes.clone().enumerate().min_by(by_size);
    let large = sizes.enumerate().max_by(by_size);
    match (small, large) {
        (Some((i, small)), Some((j, large))) if large > APART * small => {
            Err(Error::Input(format!(
                "the basis functions differ too much in size: over all records `{}` has length {large:.1e} and `{}` {small:.1e}, {APART:e} times apart or more: take other units, centers or scales",
                names[j], names[i]
            )))
        }
        _ => Ok(()),
    }
}

/// The program piece by piece: weights first, then what the loss adds.
struct Pieces {
    variables: Vec<NewVariables>,
    p: Vec<(usize, usize, f64)>,
    q: Vec<f64>,
    a: Vec<(usize, usize, f64)>,
    rows: usize,
    blocks: Vec<NewConstraint>,
}

impl Pieces {
    fn new(names: &[String]) -> Self {
        let weight = |name: &String| NewVariables {
            name: name.clone(),
            len: 1,
            stage: Stage::Decision,
            entries: Vec::new(),
        };
        Pieces {
            variables: names.iter().map(weight).collect(),
            p: Vec::new(),
            q: vec![0.0; names.len()],
            a: Vec::new(),
            rows: 0,
            blocks: Vec::new(),
        }
    }

    /// A norm's epigraph: of the mean weights, so decided before the noise, and never released.
    fn norm(&mut self, name: &str, price: f64, rows: impl Iterator<Item = Vec<f64>>) {
        let column = self.q.len();
        self.variables.push(NewVariables {
            name: format!("norm of the {name}"),
            len: 1,
            stage: Stage::HereAndNow,
            entries: Vec::new(),
        });
        self.q.push(price);
        let start = self.rows;
        self.a.push((start, column, -1.0));
        self.rows += 1;
        for row in rows {
            self.row(&row, 1.0);
        }
        self.blocks.push(NewConstraint {
            name: name.into(),
            cone: Cone::SecondOrder(self.rows - start),
            holds: Holds::AtTheMean,
            rows: Vec::new(),
        });
    }

    /// a'w ≥ 0, block by block.
    fn conditions(&mut self, conditions: &[(String, Vec<Row>)]) {
        for (name, rows) in conditions {
            for row in rows {
                self.row(&row.weights, -1.0);
            }
            self.blocks.push(NewConstraint {
                name: name.clone(),
                cone: Cone::Nonnegative(rows.len()),
                holds: Holds::WithNoise,
                rows: rows.iter().map(|row| row.name.clone()).collect(),
            });
        }
    }

    fn row(&mut self, weights: &[f64], sign: f64) {
        let row = self.rows;
        let entries = weights.iter().enumerate().filter(|(_, v)| **v != 0.0);
        self.a.extend(entries.map(|(j, v)| (row, j, sign * v)));
        self.rows += 1;
    }

    fn program(self) -> Result<Program> {
        let n = self.q.len();
        let p = Sparse::from_triplets(n, n, &self.p)?;
        let a = Sparse::from_triplets(self.rows, n, &self.a)?;
        let b = vec![0.0; self.rows];
        Program::new(p, self.q, a, b, self.variables, self.blocks)
    }
}

/// ½w'(Φ'Φ + λI)w − (Φ'y)'w: the squared loss up to a constant of the data.
pub(super) fn squared(
    builder: &RegressionBuilder,
    names: &[String],
    design: &Arc<Design>,
    gram: &[Vec<f64>],
    conditions: &[(String, Vec<Row>)],
) -> Result<AffineMap> {
    let mut pieces = Pieces::new(names);
    for i in 0..names.len() {
        for j in i..names.len() {
            let ridge = if i == j { builder.ridge } else { 0.0 };
            pieces.p.push((i, j, gram[i][j] + ridge));
        }
    }
    pieces.conditions(conditions);
    // q = −Φ'y.
    let model = builder.bounded(Parameter::new(builder.response.as_str()));
    let parameters = Parameters::of_costs(&builder.response, model, design.clone())?;
    AffineMap::new(pieces.program()?, parameters)
}

/// ‖y − Φw‖ + λ‖w‖ through the epigraphs of both norms.
pub(super) fn norm_loss(
    builder: &RegressionBuilder,
    names: &[String],
    design: &Design,
    conditions: &[(String, Vec<Row>)],
) -> Result<AffineMap> {
    let mut pieces = Pieces::new(names);
    pieces.norm("residuals", 1.0, design.rows());
    if builder.ridge > 0.0 {
        let unit = |j| {
            (0..names.len())
                .map(|i| f64::from(u8::from(i == j)))
                .collect()
        };
        pieces.norm("weights", builder.ridge, (0..names.len()).map(unit));
    }
    pieces.conditions(conditions);
    // ‖y − Φw‖ ≤ t: the head is row 0.
    let parameters = (0..design.records()).map(|record| {
        let place = Location::new(Place::B(1 + record), 1.0);
        builder.parameter(record, vec![place])
    });
    AffineMap::new(pieces.program()?, parameters.collect::<Vec<_>>())
}
