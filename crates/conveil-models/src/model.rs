//! What a ready-made model is, in the order in which it becomes known: [`Kind`], a line of the registry; [`Stated`], what a
//! spec says of it; [`Model`], the public map, with the public files read too; [`Datasets`], the private numbers, and what
//! their curator should know. What a spec or its public file holds of private numbers is used by the last alone.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use conveil::ask::{NoiseShape, Privacy, Query, Request};
use conveil::curator::{About, CuratorReport, Size};
use conveil::plan::{Choice, Decided, Plan};
use conveil::program::{DataMap, Objective, Place};
use conveil_text::tables::Table;
use conveil_text::{Labels, Located, ReadError};

use crate::document::{Annex, Document, Facts, Help};
use crate::failure::Failure;
use crate::files::Files;
pub use crate::outlook::{Alternative, Outlook};
use crate::spec::{QuerySection, Spec, VariableRef};
use crate::starter::Starter;

/// The registry: one line for each kind of model.
pub static KINDS: &[&Kind] = &[
    &crate::conic::KIND,
    &crate::grid::KIND,
    &crate::svm::KIND,
    &crate::logistic::KIND,
    &crate::regression::KIND,
    &crate::ellipsoid::KIND,
    &crate::portfolio::KIND,
];

/// A kind of model: its words in a spec, and how it is read.
pub struct Kind {
    /// `model` in `[problem]`.
    pub word: &'static str,
    /// Its keys of `[problem]` beside `model`.
    pub problem: &'static [&'static str],
    /// Its keys of `[private]` beside `adjacency`; with `universe` it has a `[private.universe]`.
    pub private: &'static [&'static str],
    /// Its keys of `[query]`, for words of `release` that are its own.
    pub query: &'static [&'static str],
    /// All words that `release` may have.
    pub releases: &'static [&'static str],
    /// What it releases, for those who asked for something else.
    pub releases_help: &'static str,
    /// Words that it has for `per_alpha` of a declared sensitivity.
    pub per_alpha: &'static [&'static str],
    /// Its keys in the document of `check`, null for other models.
    pub facts: &'static [&'static str],
    /// What a missing `[feasibility]` may say.
    pub eta: &'static str,
    /// Reads its keys of `[problem]`.
    pub read: fn(&mut Table<'_>) -> Result<Box<dyn Stated>, ReadError>,
    /// What it gives those who begin.
    pub starter: &'static Starter,
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({})", self.word)
    }
}

/// What a spec says of a model; no file was opened.
pub trait Stated: Any + fmt::Debug + Send + Sync {
    /// Its kind.
    fn kind(&self) -> &'static Kind;

    /// How many private numbers make a record, where the model knows.
    fn record_len(&self) -> Option<usize> {
        None
    }

    /// Whether its constraints are the losses of single records: from version 2 on, η is then for each of them by itself.
    fn has_records(&self) -> bool {
        false
    }

    /// Reads its keys of `[private]`.
    fn read_private(&mut self, table: &mut Table<'_>) -> Result<(), ReadError>;

    /// Reads what goes with a word of `release` that is its own.
    fn read_query(&mut self, _release: &str, _table: &mut Table<'_>) -> Result<(), ReadError> {
        Ok(())
    }

    /// The entry of a variable block that has this name of its own.
    fn entry(&self, _name: &str) -> Option<VariableRef> {
        None
    }

    /// The sensitivity where a spec states none.
    fn default_sensitivity(&self) -> Option<Request> {
        None
    }

    /// How many numbers are released, if the spec alone tells.
    fn answer_len(&self, query: &QuerySection) -> Option<usize> {
        query.answer_len()
    }

    /// Refuses common sections that contradict what it is: an adjacency that has no limit without bounds or a universe, a
    /// sampled sensitivity without a set to sample from, a certificate that is proven for other models.
    fn check(&self, spec: &Spec) -> Result<(), ReadError>;

    /// The private files that it names, as written: none of them can be a public twin.
    fn private_files(&self) -> Vec<&Located<String>>;

    /// The same with public data in place of the private ones; or which are missing, and how a spec gives them.
    fn with_public(&self, spec: &Spec, data: StandIn<'_>) -> Result<Arc<dyn Stated>, Missing>;

    /// Reads the public files and builds the model. What the spec says of private numbers may be carried to
    /// [`Model::datasets`]; no other method of the model looks at it.
    fn open(&self, spec: &Spec, files: &Files) -> Result<Box<dyn Model>, Failure>;
}

/// Public data that stand in for private ones, where settings are explored.
#[derive(Debug, Clone, Copy)]
pub enum StandIn<'s> {
    /// The nominal values that the model or the spec states.
    Nominal,
    /// A public dataset, in a file of the same form as the private one; its path as written.
    Twin(&'s Located<String>),
}

/// Why there are no public data to explore, and what would give them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What is missing.
    pub what: String,
    /// How a spec gives it.
    pub help: String,
}

impl Missing {
    /// Of a model that has no nominal values.
    pub fn nominal(what: &str) -> Self {
        Missing {
            what: format!("{what} have no nominal values"),
            help: "in [private]: twin = \"twin.csv\", a public file of the same form as the private one (an older or a synthetic dataset), and `--at twin`".into(),
        }
    }
}

impl dyn Stated {
    /// The same as this type, if it is one.
    pub fn is<T: Stated>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// A model as a spec describes it: the public map θ ↦ program, and what is asked of it by default.
pub trait Model: fmt::Debug + Send + Sync {
    /// As the engine sees it.
    fn map(&self) -> &dyn DataMap;

    /// The same map, for a plan that is kept.
    fn shared(&self) -> Arc<dyn DataMap>;

    /// How messages call the problem: its file, its network.
    fn name(&self) -> &str;

    /// The query of the spec.
    fn query(&self, spec: &Spec) -> Result<Query, Failure>;

    /// The modeller's own objective, where the spec states one.
    fn objective(&self) -> Option<Objective> {
        None
    }

    /// The maps of which one is chosen privately and released, where the spec asks for that; [`Model::map`] is then the first
    /// of them, which stands for their common structure, and there is no plan of it alone.
    fn candidates(&self) -> Option<&Candidates> {
        None
    }

    /// The strategy that suits it, where it has a rule of its own for specs that leave the choice open.
    fn strategy(&self, _spec: &Spec) -> Option<Choice> {
        None
    }

    /// The unit of the private numbers, where the spec states none.
    fn unit(&self) -> Option<&str> {
        None
    }

    /// The shape of the noise, where the spec states none.
    fn shape(&self, _spec: &Spec) -> NoiseShape {
        NoiseShape::Identity
    }

    /// The declared bound behind a word for `per_alpha`.
    fn per_alpha(&self, spec: &Spec, word: &str) -> Result<Request, Failure> {
        let message = format!("`{word}` is no word of model `{}`", spec.model.kind().word);
        let sensitivity = &spec.privacy.sensitivity;
        Err(sensitivity.error(&spec.name, message).into())
    }

    /// How `check` calls an entry of the program that depends on θ.
    fn place_name(&self, place: &Place) -> String {
        place.to_string()
    }

    /// Whether the spec states the places of the private numbers: then `check` says them in words.
    fn states_places(&self) -> bool {
        false
    }

    /// Numbers that the solves of a `check` may go through in all where a cost is released, where that is less than for
    /// other models: reading its public files takes so little that a few solves would be many times that.
    fn solves_worth(&self) -> Option<f64> {
        None
    }

    /// What `check` shows of it beside its program.
    fn facts(&self) -> Option<Facts> {
        None
    }

    /// The same map under another privacy, where a rule makes it follow the privacy of the spec.
    fn map_under(&self, _privacy: &Privacy) -> Option<conveil::Result<Arc<dyn DataMap>>> {
        None
    }

    /// What a reader of the spec should know. Public: a note of `check`, and of every other verb.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Refuses a release where nothing is private.
    fn refuse_release(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// How a spec gives public bounds to private numbers that have none.
    fn how_to_bound(&self) -> &'static str;

    /// Opens the private files.
    fn datasets(&self, files: &Files) -> Result<Box<dyn Datasets + '_>, Failure>;
}

/// Maps that differ in a regulariser alone, of which one is chosen privately before it is released. All of it is public.
#[derive(Debug, Clone)]
pub struct Candidates {
    /// The maps, by increasing λ.
    pub maps: Vec<Arc<dyn DataMap>>,
    /// Their λ.
    pub lambdas: Vec<f64>,
    /// What of ε is for the choice, where the spec says so.
    pub share: Located<f64>,
    /// ε of the choice.
    pub choice: f64,
    /// The privacy of the noise: with the choice it makes up that of the spec.
    pub noise: Privacy,
    /// A record's loss counts at most this much.
    pub clip: f64,
}

/// The private datasets of a model: one, or a series of them. All that it tells is the curator's.
pub trait Datasets: fmt::Debug {
    /// How many there are.
    fn count(&self) -> usize {
        1
    }

    /// What a row of a series holds.
    fn rows_hold(&self) -> &'static str {
        "numbers"
    }

    /// What the rows are called, where the spec says which column has it. Public: it stands on the cards.
    fn labels(&self) -> Option<&Labels> {
        None
    }

    /// θ of a dataset, counted from 1 to [`Datasets::count`].
    fn row(&self, row: usize) -> Result<Vec<f64>, Failure>;

    /// How the data were listed. Private: a note to the curator.
    fn note(&self) -> Option<&str> {
        None
    }

    /// What the curator should know about the data themselves. Private: warnings, before a plan's own.
    fn remarks(&self) -> &[String] {
        &[]
    }

    /// Whether the remarks name values outside the public bounds, in the words of the file. Where they do not, the workbench
    /// names them by parameter.
    fn counts_outside(&self) -> bool {
        false
    }

    /// What a decision about these data means in the model's words.
    fn annex(&self, _curated: &Curated<'_>) -> Annex {
        Annex::default()
    }

    /// What it means that the engine fails on θ, and what may help.
    fn help(&self, _theta: &[f64], _error: &conveil::Error) -> Option<Help> {
        None
    }

    /// Strategies side by side, where the model has a measure of its own.
    fn compare(&self, _case: &Compared<'_>) -> Option<Result<Document, Failure>> {
        None
    }

    /// How large what each strategy releases is under the noise, beside the engine's comparison. As private as the data.
    fn sizes(&self, _case: &Compared<'_>) -> Option<Result<Vec<Size>, Failure>> {
        None
    }

    /// A measure of the model's own for noisy answers, where its objective says little of them.
    fn measure(&self) -> Option<Result<AnswerMeasure<'_>, Failure>> {
        None
    }

    /// How the plan would do beside its alternatives on these data, where the model has a measure of its own.
    fn outlook(&self, _case: &Compared<'_>) -> Option<Result<Outlook, Failure>> {
        None
    }
}

/// A row of a series, counted from 1.
pub(crate) fn nth_row<R: AsRef<[f64]>>(
    mut rows: impl Iterator<Item = R>,
    row: usize,
) -> Result<Vec<f64>, Failure> {
    let found = row.checked_sub(1).and_then(|k| rows.nth(k));
    let missing = || Failure::Input(format!("there is no row {row}"));
    found.map(|row| row.as_ref().to_vec()).ok_or_else(missing)
}

/// A decision about a dataset.
#[derive(Clone, Copy)]
pub struct Curated<'c> {
    /// The plan.
    pub plan: &'c Plan<'c>,
    /// The dataset.
    pub theta: &'c [f64],
    /// What was decided.
    pub decided: &'c Decided,
    /// The engine's report, where one is asked for.
    pub report: Option<&'c CuratorReport>,
    /// Whose numbers the dataset holds.
    pub about: About,
}

/// How far off the noisy answer of a plan is on a dataset, on average. As private as the dataset.
pub struct AnswerMeasure<'m> {
    /// In words: `the share of records on the wrong side`.
    pub name: &'static str,
    /// For a plan and what it decided on the dataset.
    pub of: Box<ErrorOf<'m>>,
}

/// The error of a plan's noisy answer, from what it decided.
pub type ErrorOf<'m> = dyn Fn(&Plan<'_>, &Decided) -> conveil::Result<f64> + Sync + 'm;

/// What a comparison is made of.
#[derive(Clone, Copy)]
pub struct Compared<'c> {
    /// The plan: that of program perturbation in a comparison, the spec's own in an outlook.
    pub plan: &'c Plan<'c>,
    /// The dataset.
    pub theta: &'c [f64],
    /// Simulated draws of the noise.
    pub draws: usize,
    /// Their seed.
    pub seed: u64,
    /// Whose numbers the dataset holds.
    pub about: About,
}
