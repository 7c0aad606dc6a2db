//! What a spec says of the largest ellipsoid inside a polytope.

use std::sync::Arc;

use conveil::ask::Adjacency;
use conveil_text::spelling::counted;
use conveil_text::tables::{Item, Table};
use conveil_text::{Located, ReadError};

use super::public::EllipsoidModel;
use super::{Determinant, KIND};
use crate::failure::Failure;
use crate::files::Files;
use crate::model::{Kind, Missing, Model, StandIn, Stated};
use crate::spec::Spec;
use crate::spec::private::check_universe;

/// The largest ellipsoid inside {x : aᵢ'x ≤ bᵢ}.
#[derive(Debug, Clone, PartialEq)]
pub struct EllipsoidSpec {
    /// `normals` or `file`.
    pub normals: NormalsSource,
    /// `determinant` (`at-the-mean`).
    pub determinant: Determinant,
    /// The private offsets, once `[private]` is read.
    pub offsets: Option<OffsetsSource>,
}

/// Where the public normals aᵢ come from.
#[derive(Debug, Clone, PartialEq)]
pub enum NormalsSource {
    /// `normals`: a row for each facet, all of one length; at least one.
    Rows(Located<Vec<Vec<f64>>>),
    /// `file`: a CSV file with a line for each facet, its path as written.
    File(Located<String>),
}

/// Where the private offsets bᵢ come from.
#[derive(Debug, Clone, PartialEq)]
pub enum OffsetsSource {
    /// Numbers, one for each facet; at least one.
    Numbers(Located<Vec<f64>>),
    /// A CSV file with a line for each facet, its path as written.
    File(Located<String>),
}

impl EllipsoidSpec {
    /// Reads the keys of `[problem]` beside `model`.
    pub(super) fn read(table: &mut Table) -> Result<Self, ReadError> {
        let normals = match (table.optional("normals"), table.optional("file")) {
            (Some(rows), None) => NormalsSource::Rows(rows.locate(read_rows(&rows)?)),
            (None, Some(file)) => NormalsSource::File(file.words()?),
            (Some(_), Some(file)) => return Err(file.error("give `normals` or `file`, not both")),
            (None, None) => {
                return Err(table
                    .error("[problem] needs `normals` or `file`")
                    .with_help("for example: normals = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], or file = \"normals.csv\""));
            }
        };
        Ok(EllipsoidSpec {
            normals,
            determinant: match table.optional("determinant") {
                None => Determinant::default(),
                Some(item) => item.choice(&[
                    ("at-the-mean", Determinant::AtTheMean),
                    ("with-noise", Determinant::WithNoise),
                ])?,
            },
            offsets: None,
        })
    }

    /// How many facets there are, if the spec alone tells.
    fn facets(&self) -> Option<usize> {
        match &self.normals {
            NormalsSource::Rows(rows) => Some(rows.value.len()),
            NormalsSource::File(_) => None,
        }
    }
}

impl Stated for EllipsoidSpec {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn read_private(&mut self, table: &mut Table<'_>) -> Result<(), ReadError> {
        self.offsets = Some(read_offsets(table)?);
        Ok(())
    }

    /// Offsets, universe and records must fit the facets, as far as the spec alone tells.
    fn check(&self, spec: &Spec) -> Result<(), ReadError> {
        let facets = self.facets();
        if let (Some(facets), Some(OffsetsSource::Numbers(offsets))) = (facets, &self.offsets)
            && offsets.value.len() != facets
        {
            let found = counted(offsets.value.len(), "offset", "offsets");
            return Err(offsets.error(
                &spec.name,
                format!("{found} for {facets} facets: give one for each"),
            ));
        }
        check_universe(spec, facets, "facets")?;
        match spec.private.adjacency.value {
            Adjacency::OneRecord { len } if facets.is_some_and(|f| !f.is_multiple_of(len)) => {
                let message = format!("the facets cannot be split into records of {len}");
                Err(spec.private.adjacency.error(&spec.name, message))
            }
            _ => Ok(()),
        }
    }

    fn private_files(&self) -> Vec<&Located<String>> {
        match &self.offsets {
            Some(OffsetsSource::File(file)) => vec![file],
            _ => Vec::new(),
        }
    }

    /// The centre of the universe is a public dataset.
    fn with_public(&self, spec: &Spec, data: StandIn<'_>) -> Result<Arc<dyn Stated>, Missing> {
        let offsets = match (data, &spec.private.universe) {
            (StandIn::Twin(file), _) => OffsetsSource::File(file.clone()),
            (StandIn::Nominal, Some(universe)) => OffsetsSource::Numbers(Located {
                value: universe.value.centre().to_vec(),
                line: universe.line,
                column: universe.column,
            }),
            (StandIn::Nominal, None) => {
                return Err(Missing {
                    what: "offsets without a universe have no nominal values".into(),
                    help: "the `center` of a [private.universe] is public; or name a public dataset: twin = \"twin.csv\" in [private], and `--at twin`".into(),
                });
            }
        };
        let offsets = Some(offsets);
        Ok(Arc::new(EllipsoidSpec {
            offsets,
            ..self.clone()
        }))
    }

    fn open(&self, spec: &Spec, files: &Files) -> Result<Box<dyn Model>, Failure> {
        Ok(Box::new(EllipsoidModel::open(self, spec, files)?))
    }
}

fn read_rows(item: &Item) -> Result<Vec<Vec<f64>>, ReadError> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (index, entry) in item.filled_array()?.iter().enumerate() {
        let row = entry.numbers()?;
        if let Some(first) = rows.first()
            && first.len() != row.len()
        {
            return Err(entry.error(format!(
                "the normal of facet {index} has {}, that of facet 0 has {}",
                counted(row.len(), "number", "numbers"),
                first.len()
            )));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn read_offsets(table: &mut Table) -> Result<OffsetsSource, ReadError> {
    let item = table.required(
        "offsets",
        "offsets = [1.0, 1.0, 2.0, 2.0], or \"offsets.csv\"",
    )?;
    if item.is_text() {
        return Ok(OffsetsSource::File(item.words()?));
    }
    if !item.is_array() {
        return Err(item
            .must("be numbers, one for each facet, or the name of a file")
            .with_help("for example: offsets = [1.0, 1.0, 2.0, 2.0], or \"offsets.csv\""));
    }
    item.filled_array()?;
    Ok(OffsetsSource::Numbers(item.locate(item.numbers()?)))
}
