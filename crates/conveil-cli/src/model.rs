//! The spec as the engine's model: the public map θ ↦ program, and apart from it the private datasets.

use conveil::program::{AffineMap, DataMap};
use conveil_models::grid::Opf;

use crate::failure::Failure;
use crate::inputs::{Inputs, Source};
use crate::{conic, grid};

/// The public map. No private number is part of it.
#[derive(Debug, Clone)]
pub enum Model {
    /// `model = "conic"`.
    Conic(Box<AffineMap>),
    /// `model = "opf"`.
    Opf(Box<Opf>),
}

impl Model {
    /// The model that the spec describes.
    pub fn new(inputs: &Inputs) -> Result<Self, Failure> {
        Ok(match &inputs.source {
            Source::Saved(saved) => Model::Conic(Box::new(conic::map(inputs, saved)?)),
            Source::Network(network) => Model::Opf(Box::new(grid::opf(inputs, network)?)),
        })
    }

    /// As the engine sees it.
    pub fn map(&self) -> &dyn DataMap {
        match self {
            Model::Conic(map) => &**map,
            Model::Opf(opf) => &**opf,
        }
    }

    /// The power flow, if it is one.
    pub fn opf(&self) -> Option<&Opf> {
        match self {
            Model::Conic(_) => None,
            Model::Opf(opf) => Some(opf),
        }
    }
}

/// The private datasets: one, or a series of them.
#[derive(Debug)]
pub enum Datasets<'i> {
    /// The numbers in the spec and its problem file, not yet looked up.
    Saved(&'i Inputs),
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
        })
    }

    /// What the curator should know about how the data were listed.
    pub fn note(&self) -> Option<&String> {
        match self {
            Datasets::Saved(_) => None,
            Datasets::Demands { note, .. } => note.as_ref(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Datasets::Saved(_) => 1,
            Datasets::Demands { rows, .. } => rows.len(),
        }
    }

    /// θ of a dataset, counted from 1.
    pub fn row(&self, row: usize) -> Result<Vec<f64>, Failure> {
        let found = match self {
            Datasets::Demands { rows, .. } => row.checked_sub(1).and_then(|k| rows.get(k)).cloned(),
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
