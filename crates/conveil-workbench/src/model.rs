//! The spec as the engine's model: the public map θ ↦ program, and apart from it the private datasets.

use std::fmt;

use conveil::curator::CuratorReport;
use conveil::plan::{Decided, Plan};
use conveil::program::{AffineMap, DataMap};
use conveil_models::ellipsoid::Ellipsoid;
use conveil_models::grid::Opf;
use conveil_models::regression::Regression;
use conveil_models::svm::Svm;
use serde::Serialize;

use crate::ellipsoid::EllipsoidReport;
use crate::failure::Failure;
use crate::grid_report::GridReport;
use crate::inputs::{Inputs, Source};
use crate::regression_report::{self, RegressionReport};
use crate::svm::SvmReport;
use crate::{conic, ellipsoid, grid, regression, svm};

/// The public map. No private number is part of it.
#[derive(Debug, Clone)]
pub enum Model {
    /// `model = "conic"`.
    Conic(Box<AffineMap>),
    /// `model = "opf"`.
    Opf(Box<Opf>),
    /// `model = "regression"`.
    Regression(Box<Regression>),
    /// `model = "svm"`.
    Svm(Box<Svm>),
    /// `model = "ellipsoid"`.
    Ellipsoid(Box<Ellipsoid>),
}

impl Model {
    /// The model that the spec describes.
    pub fn new(inputs: &Inputs) -> Result<Self, Failure> {
        Ok(match &inputs.source {
            Source::Saved(saved) => Model::Conic(Box::new(conic::map(inputs, saved)?)),
            Source::Network(network) => Model::Opf(Box::new(grid::opf(inputs, network)?)),
            Source::Regressors(records) => {
                Model::Regression(Box::new(regression::model(inputs, records)?))
            }
            Source::Records => Model::Svm(Box::new(svm::svm(inputs)?)),
            Source::Normals(rows) => {
                Model::Ellipsoid(Box::new(ellipsoid::ellipsoid(inputs, rows)?))
            }
        })
    }

    /// As the engine sees it.
    pub fn map(&self) -> &dyn DataMap {
        match self {
            Model::Conic(map) => &**map,
            Model::Opf(opf) => &**opf,
            Model::Regression(regression) => &**regression,
            Model::Svm(svm) => &**svm,
            Model::Ellipsoid(ellipsoid) => &**ellipsoid,
        }
    }

    /// The power flow, if it is one.
    pub fn opf(&self) -> Option<&Opf> {
        match self {
            Model::Opf(opf) => Some(opf),
            Model::Conic(_) | Model::Svm(_) | Model::Regression(_) | Model::Ellipsoid(_) => None,
        }
    }
}

/// The curator's report in the words of its model.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Report {
    /// The engine's own.
    Plain(Box<CuratorReport>),
    /// Of a regression.
    Regression(Box<RegressionReport>),
    /// Of a power flow.
    Grid(Box<GridReport>),
    /// Of a classifier.
    Svm(Box<SvmReport>),
    /// Of an ellipsoid.
    Ellipsoid(Box<EllipsoidReport>),
}

impl Report {
    /// The report of this decision.
    pub fn new(
        inputs: &Inputs,
        (model, theta): (&Model, &[f64]),
        plan: &Plan<'_>,
        decided: &Decided,
        report: &CuratorReport,
    ) -> Result<Self, Failure> {
        Ok(match model {
            Model::Conic(_) => Report::Plain(Box::new(report.clone())),
            Model::Regression(model) => {
                let report = RegressionReport::new(inputs, (model, theta), plan, decided, report)?;
                Report::Regression(Box::new(report))
            }
            Model::Opf(opf) => {
                Report::Grid(Box::new(GridReport::new(inputs, opf, decided, report)))
            }
            Model::Svm(svm) => {
                let report = SvmReport::new(inputs, svm, plan, decided, report)?;
                Report::Svm(Box::new(report))
            }
            Model::Ellipsoid(ellipsoid) => {
                let report = EllipsoidReport::new(ellipsoid, decided, report)
                    .map_err(|e| Failure::engine(&inputs.spec_name, &e))?;
                Report::Ellipsoid(Box::new(report))
            }
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Report::Plain(report) => report.fmt(f),
            Report::Regression(report) => report.fmt(f),
            Report::Grid(report) => report.fmt(f),
            Report::Svm(report) => report.fmt(f),
            Report::Ellipsoid(report) => report.fmt(f),
        }
    }
}

/// What the curator should know about a decision, whether or not a report is asked for.
pub fn warning(
    inputs: &Inputs,
    (model, theta): (&Model, &[f64]),
    plan: &Plan<'_>,
    decided: &Decided,
) -> Option<String> {
    match model {
        Model::Conic(_) | Model::Ellipsoid(_) => None,
        Model::Regression(model) => {
            regression_report::noise_dominates((model, theta), plan, decided)
        }
        Model::Opf(opf) => grid::broken_bound(inputs, opf, decided),
        Model::Svm(svm) => svm::noise_decides(svm, plan, decided),
    }
}

/// Where the engine fails on these data: what it says, in the words of the model, and what may help. Private; the exit
/// code is the engine's.
pub fn failure(inputs: &Inputs, model: &Model, theta: &[f64], error: &conveil::Error) -> Failure {
    let name = &inputs.spec_name;
    match regression::out_of_size(model, theta, error) {
        Some((what, help)) => Failure::engine_on(name, &what, error).with_help(Some(help)),
        None => Failure::engine(name, error).with_help(grid::shortage(model, theta, error)),
    }
}

/// The private datasets: one, or a series of them.
#[derive(Debug)]
pub enum Datasets<'i> {
    /// The numbers in the spec and its problem file, not yet looked up.
    Saved(&'i Inputs),
    /// Records or offsets: one dataset.
    Records {
        /// θ.
        theta: Vec<f64>,
        /// What the curator should know about them.
        remarks: Vec<String>,
    },
    /// Demands.
    Demands {
        /// One dataset for each row.
        rows: Vec<Vec<f64>>,
        /// Which private loads the file leaves at the network's own demand.
        note: Option<String>,
    },
}

impl<'i> Datasets<'i> {
    /// Opens the file that holds them, where there is one of their own.
    pub fn open(inputs: &'i Inputs, model: &Model) -> Result<Self, Failure> {
        Ok(match model {
            Model::Conic(_) => Datasets::Saved(inputs),
            Model::Opf(opf) => {
                let (rows, note) = grid::datasets(inputs, opf)?;
                Datasets::Demands { rows, note }
            }
            Model::Regression(model) => {
                let (theta, remarks) = regression::dataset(inputs, model)?;
                Datasets::Records { theta, remarks }
            }
            Model::Svm(svm) => {
                let (theta, remarks) = svm::dataset(inputs, svm)?;
                Datasets::Records { theta, remarks }
            }
            Model::Ellipsoid(model) => Datasets::one(ellipsoid::dataset(inputs, model)?),
        })
    }

    fn one(theta: Vec<f64>) -> Self {
        Datasets::Records {
            theta,
            remarks: Vec::new(),
        }
    }

    /// What the curator should know about the data themselves. Private.
    pub fn remarks(&self) -> &[String] {
        match self {
            Datasets::Records { remarks, .. } => remarks,
            Datasets::Saved(_) | Datasets::Demands { .. } => &[],
        }
    }

    /// What the curator should know about how the data were listed.
    pub fn note(&self) -> Option<&String> {
        match self {
            Datasets::Saved(_) | Datasets::Records { .. } => None,
            Datasets::Demands { note, .. } => note.as_ref(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Datasets::Saved(_) | Datasets::Records { .. } => 1,
            Datasets::Demands { rows, .. } => rows.len(),
        }
    }

    /// θ of a dataset, counted from 1.
    pub fn row(&self, row: usize) -> Result<Vec<f64>, Failure> {
        let found = match self {
            Datasets::Demands { rows, .. } => row.checked_sub(1).and_then(|k| rows.get(k)).cloned(),
            Datasets::Records { theta, .. } => (row == 1).then(|| theta.clone()),
            Datasets::Saved(inputs) => match &inputs.source {
                Source::Saved(saved) if row == 1 => Some(conic::dataset(inputs, saved)?),
                _ => None,
            },
        };
        found.ok_or_else(|| self.no_row(row))
    }

    /// Refuses a row that there is not.
    pub fn require(&self, row: usize) -> Result<(), Failure> {
        if (1..=self.count()).contains(&row) {
            return Ok(());
        }
        Err(self.no_row(row))
    }

    fn no_row(&self, row: usize) -> Failure {
        let there = match self.count() {
            1 => "there is one dataset".into(),
            count => format!("there are {count} rows of demands"),
        };
        Failure::input(format!("there is no row {row}: {there}"))
    }
}
