//! Spec files (TOML): what is solved, what is private, what is released, what is promised.
//!
//! [`read`] turns a text into a [`Spec`], one module per section, or into the first mistake found:
//! a key that is not known (with the one that was probably meant), a value of the wrong type or
//! out of range, or settings that contradict each other. Every struct and enum here is plain data;
//! fields are filled with the documented defaults where the text is silent.

mod cross_checks;
mod ellipsoid;
mod feasibility;
mod grid;
mod operation;
mod privacy;
mod private;
mod problem;
mod query;
mod reference;
mod regression;
mod risk;
mod svm;

use conveil_text::ReadError;
use conveil_text::tables::{Document, Table};

pub use ellipsoid::{Ellipsoid, EllipsoidDeterminant, NormalsSource, OffsetsSource};
pub use feasibility::{
    BlockEta, Factor, Feasibility, FeasibilityBlock, Method, SampleSize, Split, Strategy,
};
pub use grid::{
    DemandBounds, Demands, Grid, GridCosts, GridForm, GridSusceptance, NetworkSource, PrivateLoads,
};
pub use operation::{Lattice, Ledger, Series, Solver, Study};
pub use privacy::{Calibration, Mechanism, Privacy, SampledMap, Sensitivity};
pub use private::{Adjacency, Entry, Parameter, Place, Private, Universe};
pub use problem::{ConstraintBlock, Holds, Model, Problem, Stage, VariableBlock};
pub use query::{Query, Release, Shape, UnitGroup};
pub use reference::{VariableRef, Weight};
pub use regression::{Basis, Behaviour, Condition, Regression, RegressionLoss, Responses};
pub use risk::{Objective, Risk, RiskForm, RiskLimit, VarianceControl, VarianceTerm};
pub use svm::{Svm, SvmClass, SvmFeature, SvmIntercept, SvmLabel, SvmRecords};

/// A spec that is consistent in itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// `[problem]`: the program and the names of its blocks.
    pub problem: Problem,
    /// `[private]`: which numbers are private, and how datasets may differ.
    pub private: Private,
    /// `[query]`: what is released.
    pub query: Query,
    /// `[privacy]`: the noise and the sensitivity it covers.
    pub privacy: Privacy,
    /// `[feasibility]`: the promise about the constraints.
    pub feasibility: Feasibility,
    /// `[risk]`: the objective under noise; the expectation if the section is absent.
    pub risk: Risk,
    /// `[lattice]`: the grid of released numbers.
    pub lattice: Lattice,
    /// `[solver]`.
    pub solver: Solver,
    /// `[study]`: simulated draws.
    pub study: Study,
    /// `[ledger]`: where a release is charged, if it is to be.
    pub ledger: Option<Ledger>,
}

/// The only version of the format.
const VERSION: u64 = 1;

const SECTIONS: &[&str] = &[
    "version",
    "problem",
    "private",
    "query",
    "privacy",
    "feasibility",
    "risk",
    "lattice",
    "solver",
    "study",
    "ledger",
];

/// Reads a spec from `text`; `name` is how messages call it.
pub fn read(name: &str, text: &str) -> Result<Spec, ReadError> {
    let document = Document::read(name, text)?;
    let mut top = document.top("the spec");
    top.known(SECTIONS)?;
    if let Some(item) = top.optional("version") {
        match item.whole()? {
            VERSION => {}
            other => {
                return Err(item.error(format!(
                    "version {other} is not known; this program reads version {VERSION}"
                )));
            }
        }
    }

    let problem = problem::read(required(
        &mut top,
        "problem",
        "model = \"conic\", file = \"problem.json\"",
    )?)?;
    let spec = Spec {
        private: private::read(
            required(
                &mut top,
                "private",
                "adjacency = { kind = \"one-entry\", alpha = 10.0 }",
            )?,
            &problem.model,
        )?,
        query: query::read(
            required(&mut top, "query", "release = \"cost\"")?,
            &problem.model,
        )?,
        privacy: privacy::read(
            required(
                &mut top,
                "privacy",
                "mechanism = \"laplace\", epsilon = 1.0",
            )?,
            &problem.model,
        )?,
        feasibility: feasibility::read(required(
            &mut top,
            "feasibility",
            feasibility::example(&problem.model),
        )?)?,
        risk: risk::read(optional(&mut top, "risk")?)?,
        lattice: operation::read_lattice(optional(&mut top, "lattice")?)?,
        solver: operation::read_solver(optional(&mut top, "solver")?)?,
        study: operation::read_study(optional(&mut top, "study")?)?,
        ledger: operation::read_ledger(optional(&mut top, "ledger")?)?,
        problem,
    };
    cross_checks::check(&spec, name)?;
    Ok(spec)
}

fn optional<'d>(
    top: &mut Table<'d>,
    section: &'static str,
) -> Result<Option<Table<'d>>, ReadError> {
    match top.optional(section) {
        None => Ok(None),
        Some(item) => item.table(format!("[{section}]")).map(Some),
    }
}

fn required<'d>(
    top: &mut Table<'d>,
    section: &'static str,
    example: &str,
) -> Result<Table<'d>, ReadError> {
    optional(top, section)?.ok_or_else(|| {
        top.error(format!("the section [{section}] is missing"))
            .with_help(format!("for example: [{section}] with {example}"))
    })
}
