//! Spec files (TOML): what is solved, what is private, what is released, what is promised.
//!
//! [`read`] turns a text into a [`Spec`], one module per section, or into the first mistake found: a key that is not known
//! (with the one that was probably meant), a value of the wrong type or out of range, or settings that contradict each
//! other. Sections hold the engine's own types, filled with the documented defaults where the text is silent, and beside
//! them the places of names that only a file can confirm. What belongs to one model alone, that model reads.

pub(crate) mod agreement;
mod feasibility;
mod operation;
mod privacy;
pub(crate) mod private;
mod protects;
mod query;
mod reference;
mod risk;
mod terms;

use std::sync::Arc;

use conveil_text::ReadError;
use conveil_text::tables::{Document, Table};

use crate::model::{KINDS, Kind, Stated};

pub use feasibility::{Block, FeasibilitySection, StrategyChoice};
pub use operation::{Lattice, Ledger, Series, Solver, Study};
pub use privacy::{PrivacySection, Sensitivity};
pub use private::PrivateSection;
pub use protects::{Protects, Reach};
pub use query::QuerySection;
pub use reference::VariableRef;
pub use risk::RiskSection;

/// A spec that is consistent in itself. All of it is public but the values that a model may find in its own keys.
#[derive(Debug, Clone)]
pub struct Spec {
    /// How messages call it.
    pub name: String,
    /// `version`: which defaults fill what the text leaves out.
    pub version: Version,
    /// `[problem]`, and what is the model's own in `[private]` and `[query]`.
    pub model: Arc<dyn Stated>,
    /// `[private]`: how datasets may differ.
    pub private: PrivateSection,
    /// `[query]`: what is released.
    pub query: QuerySection,
    /// `[privacy]`: the noise and the sensitivity it covers.
    pub privacy: PrivacySection,
    /// `[feasibility]`: the promise about the constraints.
    pub feasibility: FeasibilitySection,
    /// `[risk]`: the objective under noise; the expectation if the section is absent.
    pub risk: RiskSection,
    /// `[lattice]`: the grid of released numbers.
    pub lattice: Lattice,
    /// `[solver]`.
    pub solver: Solver,
    /// `[study]`: simulated draws.
    pub study: Study,
    /// `[ledger]`: where a release is charged, if it is to be.
    pub ledger: Option<Ledger>,
}

/// A version of the format: the same keys, and the defaults of what a text leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Program perturbation unless another strategy is stated. Also where a text states no version.
    One,
    /// Strategy, λ and rows are chosen by public rules (docs/defaults.md).
    Two,
}

impl Version {
    fn read(top: &mut Table) -> Result<Self, ReadError> {
        let Some(item) = top.optional("version") else {
            return Ok(Version::One);
        };
        match item.whole()? {
            1 => Ok(Version::One),
            2 => Ok(Version::Two),
            other => Err(item.error(format!(
                "version {other} is not known; this program reads versions 1 and 2"
            ))),
        }
    }
}

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
    document.refuse_blanks()?;
    let mut top = document.top("the spec");
    top.known(SECTIONS)?;
    let version = Version::read(&mut top)?;
    let mut model = read_problem(required(
        &mut top,
        "problem",
        "model = \"conic\", file = \"problem.json\"",
    )?)?;
    let example = "adjacency = { kind = \"one-entry\", alpha = 10.0 }";
    let mut private = private::read(required(&mut top, "private", example)?, &mut *model)?;
    let query = query::read(
        required(&mut top, "query", "release = \"cost\"")?,
        &mut *model,
    )?;
    let example = "mechanism = \"laplace\", epsilon = 1.0";
    let privacy = privacy::read(required(&mut top, "privacy", example)?, &*model)?;
    private.protecting(&privacy.mechanism, model.record_len(), name)?;
    let example = model.kind().eta;
    let feasibility = match (optional(&mut top, "feasibility")?, version) {
        (None, Version::Two) => feasibility::by_rules(&top),
        (None, Version::One) => return Err(missing(&top, "feasibility", example)),
        (Some(table), _) => {
            let rows_each = version >= Version::Two && model.has_records();
            feasibility::read(table, &privacy.mechanism, version, rows_each)?
        }
    };
    let spec = Spec {
        name: name.into(),
        version,
        private,
        query,
        feasibility,
        privacy,
        risk: risk::read(optional(&mut top, "risk")?, &*model)?,
        lattice: operation::read_lattice(optional(&mut top, "lattice")?)?,
        solver: operation::read_solver(optional(&mut top, "solver")?)?,
        study: operation::read_study(optional(&mut top, "study")?)?,
        ledger: optional(&mut top, "ledger")?
            .map(|table| operation::read_ledger(name, table))
            .transpose()?,
        model: model.into(),
    };
    spec.model.check(&spec)?;
    agreement::check(&spec)?;
    Ok(spec)
}

/// Reads a `[ledger]` section from a text that has nothing else; `name` is how messages call it.
pub fn read_ledger(name: &str, text: &str) -> Result<Ledger, ReadError> {
    let document = Document::read(name, text)?;
    let mut top = document.top("the text");
    top.known(&["ledger"])?;
    let example = "file = \"budget.sqlite\", dataset = \"loads-2026\"";
    operation::read_ledger(name, required(&mut top, "ledger", example)?)
}

/// Reads `[problem]`: the word of a model, and its own keys.
fn read_problem(mut table: Table) -> Result<Box<dyn Stated>, ReadError> {
    table.known(&keys_of(&["model"], |kind| kind.problem, &[]))?;
    let word = table.required("model", "model = \"conic\"")?;
    let kinds: Vec<(&str, &Kind)> = KINDS.iter().map(|&kind| (kind.word, kind)).collect();
    let kind = word.choice(&kinds)?;
    let model = (kind.read)(&mut table)?;
    table.finish(format!("with model `{}`", kind.word))?;
    Ok(model)
}

/// The keys of a section: common ones first and last, those of all models between them, each once.
fn keys_of(
    first: &[&'static str],
    of_model: impl Fn(&Kind) -> &'static [&'static str],
    last: &[&'static str],
) -> Vec<&'static str> {
    let mut keys = first.to_vec();
    let of_models = KINDS.iter().flat_map(|kind| of_model(kind));
    for key in of_models.chain(last) {
        if !keys.contains(key) {
            keys.push(key);
        }
    }
    keys
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
    optional(top, section)?.ok_or_else(|| missing(top, section, example))
}

fn missing(top: &Table, section: &str, example: &str) -> ReadError {
    top.error(format!("the section [{section}] is missing"))
        .with_help(format!("for example: [{section}] with {example}"))
}
