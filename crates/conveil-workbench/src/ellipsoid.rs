//! Model `ellipsoid`: the spec's polytope as a model, its offsets as the dataset, and what its curator should know.

use std::fmt;

use conveil::curator::CuratorReport;
use conveil::plan::Decided;
use conveil_models::ellipsoid::{Determinant, Ellipsoid};
use conveil_read::spec::{EllipsoidDeterminant, Model, NormalsSource, OffsetsSource, Universe};
use conveil_text::numbers;
use serde::Serialize;

use crate::failure::Failure;
use crate::inputs::{Inputs, text_of};

/// Longer files of offsets are refused.
const OFFSET_BYTES: u64 = 1 << 26;

/// The model. The universe, where there is one, is public: offsets are clipped to it, so that every dataset is a member.
pub fn ellipsoid(inputs: &Inputs, normals: &[Vec<f64>]) -> Result<Ellipsoid, Failure> {
    let Model::Ellipsoid(spec) = &inputs.spec.problem.model else {
        return Err(Failure::input(format!(
            "{}: a polytope needs model `ellipsoid`",
            inputs.spec_name
        )));
    };
    let mut builder = Ellipsoid::inside(normals.to_vec()).determinant(match spec.determinant {
        EllipsoidDeterminant::AtTheMean => Determinant::AtTheMean,
        EllipsoidDeterminant::WithNoise => Determinant::WithNoise,
    });
    if let Some(universe) = &inputs.spec.private.universe {
        let Universe::Box { center, half_width } = &universe.value else {
            return Err(universe
                .error(&inputs.spec_name, "the universe of offsets is a `box`")
                .into());
        };
        if center.len() != normals.len() {
            let message = format!(
                "`center` has {} numbers, but the polytope has {} facets",
                center.len(),
                normals.len()
            );
            return Err(universe.error(&inputs.spec_name, message).into());
        }
        if let Some(facet) = half_width.iter().position(|w| *w <= 0.0) {
            let message = format!(
                "the universe leaves no room for the offset of facet {facet}: its half-width must be positive"
            );
            return Err(universe.error(&inputs.spec_name, message).into());
        }
        let pairs = center.iter().zip(half_width);
        builder = builder
            .bounds(pairs.map(|(c, w)| (c - w, c + w)).collect())
            .nominal(center.clone());
    }
    let built = builder.build();
    built.map_err(|e| match &spec.normals {
        NormalsSource::Rows(rows) => Failure::located(&inputs.spec_name, rows, &e),
        NormalsSource::File(_) => Failure::engine(&inputs.problem_name, &e),
    })
}

/// The private offsets, one for each facet.
pub fn dataset(inputs: &Inputs, ellipsoid: &Ellipsoid) -> Result<Vec<f64>, Failure> {
    let facets = ellipsoid.normals().facets();
    let (name, offsets) = match &inputs.spec.private.offsets {
        Some(OffsetsSource::Numbers(offsets)) => (inputs.spec_name.clone(), offsets.value.clone()),
        Some(OffsetsSource::File(file)) => {
            let path = inputs.folder.join(file.value.as_str());
            let name = path.display().to_string();
            let text = text_of(&path, OFFSET_BYTES).map_err(|why| {
                file.error(
                    &inputs.spec_name,
                    format!("cannot read the offsets {name}: {why}"),
                )
                .with_help("`offsets` is a path relative to the spec's directory")
            })?;
            let rows = numbers::read(&name, &text)?;
            if rows.iter().any(|row| row.len() != 1) {
                return Err(Failure::input(format!(
                    "{name}: a line has {} numbers; offsets stand one in a line, a line for each facet",
                    rows[0].len()
                )));
            }
            (name, rows.concat())
        }
        None => {
            return Err(Failure::input(format!(
                "{}: [private] needs `offsets`",
                inputs.spec_name
            )));
        }
    };
    if offsets.len() != facets {
        return Err(Failure::input(format!(
            "{name}: {} offsets for {facets} facets: give one for each",
            offsets.len()
        )));
    }
    Ok(offsets)
}

/// The curator report of an ellipsoid: the engine's, and the volume of the mean ellipsoid.
#[derive(Debug, Clone, Serialize)]
pub struct EllipsoidReport {
    #[serde(flatten)]
    report: CuratorReport,
    /// The volume of the mean ellipsoid.
    mean_volume: f64,
    /// How far it stays inside the nearest facet.
    mean_clearance: f64,
}

impl EllipsoidReport {
    pub fn new(
        ellipsoid: &Ellipsoid,
        decided: &Decided,
        report: &CuratorReport,
    ) -> conveil::Result<Self> {
        let mean = ellipsoid.inscribed(&decided.mean)?;
        let offsets = ellipsoid.offsets(&decided.program);
        Ok(EllipsoidReport {
            report: report.clone(),
            mean_volume: mean.volume(),
            mean_clearance: mean.clearance(ellipsoid.normals(), &offsets),
        })
    }
}

impl fmt::Display for EllipsoidReport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "{}", self.report)?;
        writeln!(
            f,
            "mean ellipsoid: volume {}, {} inside the nearest facet",
            significant(self.mean_volume),
            significant(self.mean_clearance)
        )
    }
}

/// Six significant digits, whatever the size.
fn significant(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    match rounded.abs() {
        size if size != 0.0 && !(1e-4..1e9).contains(&size) => format!("{rounded:e}"),
        _ => rounded.to_string(),
    }
}
