//! Regression with private responses and public regressors: h(x) = w'φ(x), with conditions on its shape.
//!
//! Least squares: P = Φ'Φ + λI and q = −Φ'y, so that strong convexity certifies the weights with noise shaped by P and
//! the leverages of the records (M8c). The paper's norm loss ‖y − Φw‖ + λ‖w‖ has no certificate: for studies.
//!
//! ```
//! use conveil::ask::{Adjacency, Privacy};
//! use conveil::plan::Plan;
//! use conveil_models::records::Records;
//! use conveil_models::regression::{Basis, Behaviour, Condition, Regression};
//!
//! let csv = "speed,power\n3,0.02\n5,0.2\n7,0.5\n9,0.8\n11,0.97\n";
//! let public = Records::read_columns("curve.csv", csv.as_bytes(), &["speed"]).unwrap();
//! let private = Records::read_columns("curve.csv", csv.as_bytes(), &["power"]).unwrap();
//! let model = Regression::of(public, "power")
//!     .basis(Basis::Constant)
//!     .basis(Basis::linear("speed"))
//!     .condition(Condition::at(Behaviour::Increasing, "speed", &[3.0, 11.0]))
//!     .ridge(0.1)
//!     .within(0.0, 1.0)
//!     .build()?;
//! let plan = Plan::new(
//!     &model,
//!     model.ask().adjacency(Adjacency::one_entry(0.1)).privacy(Privacy::gaussian(1.0, 1e-5)),
//! )?; // no response yet
//! let curated = plan.curate(&private.column("power").unwrap())?;
//! assert!(curated.report().empirical.probability() <= 0.01);
//! # Ok::<(), conveil::Error>(())
//! ```

mod assembly;
mod basis;
mod condition;
mod design;
mod picture;
mod private;
mod public;
mod reading;
mod residuals;
mod starter;
mod stated;

pub use basis::Basis;
pub use condition::{Behaviour, Condition};
pub use residuals::RootMeanSquares;
pub use stated::RegressionSpec;

use conveil::ask::{Ask, Query, Request};
use conveil::program::{
    AffineMap, DataMap, Location, Meaning, Parameter, Parameters, Program, Reading,
};
use conveil::{Error, Result};

use crate::model::Kind;
use crate::records::Records;
use assembly::{comparable, gram, has_one_answer, norm_loss, squared};
use basis::Function;
use condition::Row;
use design::{Design, phi};
use reading::meaning;
use std::sync::Arc;

/// `model = "regression"`.
pub(crate) static KIND: Kind = Kind {
    word: "regression",
    problem: &[
        "regressors",
        "response",
        "basis",
        "condition",
        "ridge",
        "loss",
        "units",
    ],
    private: &["data", "bounds"],
    query: &[],
    releases: &["identity", "sum", "weighted", "rows", "weights"],
    releases_help: "a regression releases its `weights`; or predictions: `weighted` and `rows`",
    per_alpha: &[],
    facts: &[],
    eta: "eta = 0.01",
    read: |table| Ok(Box::new(RegressionSpec::read(table)?)),
    starter: &starter::STARTER,
};

/// Larger numbers are refused, as bounds of responses and as values of basis functions: their squares must add up.
const LARGEST: f64 = 1e100;

/// What is minimised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loss {
    /// ½‖y − Φw‖² + ½λ‖w‖²: its weights have a certificate.
    #[default]
    Squared,
    /// ‖y − Φw‖ + λ‖w‖, as the paper prints it: sampled or declared sensitivities only.
    Norm,
}

/// What a regression is made of. All of it public.
#[derive(Clone, Debug)]
pub struct RegressionBuilder {
    regressors: Records,
    response: String,
    basis: Vec<Basis>,
    conditions: Vec<Condition>,
    ridge: f64,
    loss: Loss,
    bounds: Option<(f64, f64)>,
    units: Vec<(String, String)>,
}

impl RegressionBuilder {
    /// One more group of basis functions.
    pub fn basis(mut self, basis: Basis) -> Self {
        self.basis.push(basis);
        self
    }

    /// One more condition.
    pub fn condition(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// λ.
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.ridge = ridge;
        self
    }

    /// The loss.
    pub fn loss(mut self, loss: Loss) -> Self {
        self.loss = loss;
        self
    }

    /// Public bounds, to which every response is clipped.
    pub fn within(mut self, low: f64, high: f64) -> Self {
        self.bounds = Some((low, high));
        self
    }

    /// The unit of a column, for those who read the released weights.
    pub fn unit(mut self, column: &str, unit: &str) -> Self {
        self.units.push((column.into(), unit.into()));
        self
    }

    /// The model, or what is wrong with it.
    pub fn build(self) -> Result<Regression> {
        if !(self.ridge.is_finite() && self.ridge >= 0.0) {
            return Err(Error::Input(format!(
                "the ridge must be finite and not negative, found {}",
                self.ridge
            )));
        }
        if let Some((low, high)) = self.bounds
            && !(low < high && low.abs().max(high.abs()) <= LARGEST)
        {
            return Err(Error::Input(format!(
                "the bounds of the response `{}` must be in order and at most {LARGEST:e} in size, found [{low:?}, {high:?}]: state what is known about it, in a unit in which it is neither huge nor tiny",
                self.response
            )));
        }
        let stands =
            |column: &String| *column == self.response || self.regressors.names().contains(column);
        if let Some((column, _)) = self.units.iter().find(|(column, _)| !stands(column)) {
            return Err(Error::Input(format!(
                "a unit is stated for `{column}`, which is neither the response nor a regressor"
            )));
        }
        let (functions, names) = self.functions()?;
        refuse_beyond_memory(self.regressors.len(), functions.len(), self.loss)?;
        let design = Arc::new(Design::new(
            self.regressors.clone(),
            functions.clone(),
            &names,
        )?);
        let mut conditions: Vec<(String, Vec<Row>)> = Vec::new();
        for condition in &self.conditions {
            let (name, rows) = condition.rows(&functions, self.regressors.names(), &names)?;
            // Conditions of one kind along one feature are one block.
            match conditions.iter_mut().find(|c| c.0 == name) {
                Some(known) => known.1.extend(rows),
                None => conditions.push((name, rows)),
            }
        }
        let gram = gram(&design, names.len());
        let map = match self.loss {
            Loss::Squared => {
                if !has_one_answer(&gram, self.ridge) {
                    let records = match design.records() {
                        1 => "this one record".into(),
                        many => format!("these {many} records"),
                    };
                    let instead = match self.ridge {
                        0.0 => "use fewer functions, or a ridge above 0".into(),
                        ridge => format!("use fewer functions, or a ridge above {ridge:e}"),
                    };
                    return Err(Error::Input(format!(
                        "the basis functions depend on each other on {records}, so that the weights are no function of the data: {instead}"
                    )));
                }
                comparable(&gram, self.ridge, &names)?;
                squared(&self, &names, &design, &gram, &conditions)?
            }
            Loss::Norm => {
                // A variable that stands at the mean only cannot carry noise (M2).
                let rows = || conditions.iter().flat_map(|c| &c.1);
                let alone = (0..names.len()).find(|&j| rows().all(|r| r.weights[j] == 0.0));
                if let Some(j) = alone {
                    return Err(Error::Input(format!(
                        "with the norm loss every weight must stand in a condition, and that of `{}` stands in none: the squared loss has no such limit",
                        names[j]
                    )));
                }
                norm_loss(&self, &names, &design, &conditions)?
            }
        };
        Ok(Regression {
            reading: self.reading(&functions, &names),
            weights: names,
            design,
            gram,
            rows: conditions.into_iter().flat_map(|c| c.1).collect(),
            ridge: self.ridge,
            loss: self.loss,
            bounds: self.bounds,
            map,
        })
    }

    fn functions(&self) -> Result<(Vec<Function>, Vec<String>)> {
        let features = self.regressors.names();
        let (mut functions, mut names) = (Vec::new(), Vec::new());
        for basis in &self.basis {
            let column = match basis.feature() {
                None => 0,
                Some(feature) => {
                    let found = features.iter().position(|f| f == feature);
                    found.ok_or_else(|| {
                        Error::Input(format!(
                            "a basis function needs the feature `{feature}`, which is not among {}",
                            features.join(", ")
                        ))
                    })?
                }
            };
            for function in basis.functions(column)? {
                // Brackets are for indices: `speed [m/s]` becomes `speed (m/s)`.
                let feature = basis.feature().unwrap_or_default();
                let feature = feature.replace('[', "(").replace(']', ")");
                let name = function.form.name(&feature);
                if names.contains(&name) {
                    return Err(Error::Input(format!(
                        "the basis function `{name}` is there twice"
                    )));
                }
                names.push(name);
                functions.push(function);
            }
        }
        match functions.is_empty() {
            true => Err(Error::Input(
                "a regression needs at least one basis function".into(),
            )),
            false => Ok((functions, names)),
        }
    }

    fn parameter(&self, record: usize, at: Vec<Location>) -> Parameter {
        self.bounded(Parameter::new(format!("{} {}", self.response, record + 1)).at_all(at))
    }

    fn bounded(&self, parameter: Parameter) -> Parameter {
        match self.bounds {
            None => parameter,
            Some((low, high)) => parameter.clipped(low, high),
        }
    }
}

/// Refuses more records than this machine can hold: the regressors, and of the norm loss a row of the program each.
fn refuse_beyond_memory(records: usize, functions: usize, loss: Loss) -> Result<()> {
    let of_each = match loss {
        Loss::Squared => 24.0,
        Loss::Norm => {
            functions as f64 * (8 + 2 * size_of::<Location>()) as f64
                + 60.0
                + size_of::<Parameter>() as f64
        }
    };
    conveil::memory::refuse_beyond_memory(
        &format!("{records} records with {functions} basis functions"),
        records as f64 * of_each,
        "fewer basis functions",
    )
}

/// A regression whose responses are private.
#[derive(Clone, Debug)]
pub struct Regression {
    weights: Vec<String>,
    design: Arc<Design>,
    gram: Vec<Vec<f64>>,
    rows: Vec<Row>,
    ridge: f64,
    loss: Loss,
    bounds: Option<(f64, f64)>,
    reading: Reading,
    map: AffineMap,
}

impl Regression {
    /// Squared loss without ridge or conditions, on these public regressors; `response` is what the private column is
    /// called.
    pub fn of(regressors: Records, response: &str) -> RegressionBuilder {
        RegressionBuilder {
            regressors,
            response: response.into(),
            basis: Vec::new(),
            conditions: Vec::new(),
            ridge: 0.0,
            loss: Loss::default(),
            bounds: None,
            units: Vec::new(),
        }
    }

    /// The ask for the weights: with squared loss certified by strong convexity, the noise shaped by the curvature
    /// (M8c). Privacy and adjacency are for the caller to add; with the norm loss, the sensitivity too.
    pub fn ask(&self) -> Ask {
        let ask = Ask::new(self.query());
        match self.loss {
            Loss::Norm => ask,
            Loss::Squared => ask
                .sensitivity(Request::strong_convexity())
                .shaped_by_curvature(),
        }
    }

    /// The query of the weights.
    pub fn query(&self) -> Query {
        Query::Variables(self.weights.clone())
    }

    /// The names of the weights, one for each basis function.
    pub fn weights(&self) -> &[String] {
        &self.weights
    }

    /// How many records there are.
    pub fn records(&self) -> usize {
        self.design.records()
    }

    /// The loss.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// The public bounds of the responses.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        self.bounds
    }

    /// How many responses lie outside the public bounds, and are clipped. Private.
    pub fn outside(&self, responses: &[f64]) -> usize {
        let Some((low, high)) = self.bounds else {
            return 0;
        };
        let outside = |y: &&f64| !(low..=high).contains(*y);
        responses.iter().filter(outside).count()
    }

    /// h(x) at a point with one number for each feature.
    pub fn fitted(&self, weights: &[f64], x: &[f64]) -> f64 {
        let mut row = vec![0.0; weights.len()];
        phi(&self.design.functions, x, &mut row);
        dot(&row, weights)
    }

    /// ‖y − Φw‖ + λ‖w‖: the paper's loss of any weights, whatever was minimised.
    pub fn norm_loss(&self, weights: &[f64], responses: &[f64]) -> f64 {
        self.squares(weights, responses).sqrt() + self.ridge * dot(weights, weights).sqrt()
    }

    /// The least a'w over the conditions a'w ≥ 0: below 0 where one is violated; infinite without conditions.
    pub fn least_condition(&self, weights: &[f64]) -> f64 {
        let each = self.rows.iter().map(|row| dot(&row.weights, weights));
        each.fold(f64::INFINITY, f64::min)
    }

    /// The conditions as rows a with a'w ≥ 0.
    pub fn condition_rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.rows.iter().map(|row| row.weights.as_slice())
    }

    /// Φ'Φ.
    pub fn gram(&self) -> &[Vec<f64>] {
        &self.gram
    }

    /// Φ by records.
    pub fn design(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        self.design.rows()
    }

    /// ‖y − Φw‖².
    fn squares(&self, weights: &[f64], responses: &[f64]) -> f64 {
        let mut row = vec![0.0; weights.len()];
        let squares = responses.iter().enumerate().map(|(record, y)| {
            self.design.phi(record, &mut row);
            let residual = y - dot(&row, weights);
            residual * residual
        });
        squares.sum()
    }

    /// λ.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// The affine map itself.
    pub fn map(&self) -> &AffineMap {
        &self.map
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl DataMap for Regression {
    fn parameters(&self) -> &Parameters {
        self.map.parameters()
    }

    fn template(&self) -> &Program {
        self.map.template()
    }

    fn affine(&self) -> Option<&AffineMap> {
        Some(&self.map)
    }

    fn meaning(&self) -> Meaning {
        meaning(&self.reading)
    }

    /// ½‖y‖²: with it the objective is half the sum of squared residuals, plus the ridge's part.
    fn objective_constant(&self, theta: &[f64]) -> f64 {
        match self.loss {
            Loss::Squared => 0.5 * theta.iter().map(|y| y * y).sum::<f64>(),
            Loss::Norm => 0.0,
        }
    }
}
