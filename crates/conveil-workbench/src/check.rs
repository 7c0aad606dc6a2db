//! What `check` shows: public facts alone. Two specs that differ in private values only have the same check.

mod short;
mod text;

use conveil::ask::Strategy;
use conveil::chance::Budget;
use conveil::curator::{self, Fit, Movement};
use conveil::plan::{Basis, Plan};
use conveil::program::{Cone, DataMap, Holds, Objective, Parameter, Program, Reading, Setting};
use conveil_models::document::{Fields, Value};
use conveil_models::model::{KINDS, Model};
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::answer::Promise;
use crate::effort;
use crate::mapping::{self, Enters};
use crate::objective::Restating;
use crate::outlook::Prospect;
use crate::tuning::Tuning;
use crate::workbench::Workbench;

/// The public facts about a spec: the program's structure, what is private, what would be released, the guarantee.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// Always false: this document tells nothing about the private values.
    pub private: bool,
    /// The problem file, or the network.
    pub problem: String,
    /// What the model consists of, in its own words; null for other models.
    #[serde(flatten)]
    pub facts: Fields,
    /// Columns of the program.
    pub columns: usize,
    /// Rows of the program.
    pub rows: usize,
    /// Whether the cost is quadratic.
    pub quadratic: bool,
    /// The variable blocks.
    pub variables: Vec<VariableLine>,
    /// The constraint blocks.
    pub constraints: Vec<ConstraintLine>,
    /// The private parameters.
    pub parameters: ParameterLines,
    /// Which datasets must be indistinguishable.
    pub adjacency: String,
    /// The public set of datasets, if one is stated.
    pub universe: Option<String>,
    /// What is protected and what is not, in the model's words.
    pub protects: Option<String>,
    /// The column of the private file that names the rows of a series: its words are public.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What is done with the noise.
    pub strategy: Strategy,
    /// What was left to a rule on public numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Setting>,
    /// How λ would be chosen privately, where the spec has a grid: the guarantee is then that of the smallest λ, whose
    /// noise is the largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
    /// The names of the released numbers.
    pub released: Vec<String>,
    /// The modeller's own objective in terms of the cost that the program minimises, where the spec states one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<Objective>,
    /// Whether the released number is that objective.
    #[serde(skip)]
    is_restated: bool,
    /// How the released numbers are used.
    pub reading: Option<Reading>,
    /// The guarantee in numbers.
    pub guarantee: GuaranteeLine,
    /// The guarantee in words.
    pub text: String,
    /// Whether the noise fits the feasible set, where that is public.
    pub fit: Fit,
    /// How the declared decisions carry the noise, on nominal data.
    pub movement: Movement,
    /// What to expect of a release on public data, or why nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outlook: Option<Prospect>,
    /// What a careful reader should know.
    pub warnings: Vec<String>,
    /// What a search found beside the guarantee.
    pub notes: Vec<String>,
    /// What the model says in the place of its variables.
    #[serde(skip)]
    line: Option<String>,
    /// What the model calls a private number.
    #[serde(skip)]
    private_word: Option<&'static str>,
    /// What is released and guaranteed, in short.
    #[serde(skip)]
    promise: Promise,
    /// The norm that the sensitivity is in.
    #[serde(skip)]
    norm: &'static str,
    /// The unit of the private numbers, where one is stated.
    #[serde(skip)]
    unit: Option<String>,
    /// Whether the text has every line of its lists. The document has them always.
    #[serde(skip)]
    is_detailed: bool,
    /// Whether the text is the answer in a few lines.
    #[serde(skip)]
    is_short: bool,
}

/// A variable block.
#[derive(Debug, Clone, Serialize)]
pub struct VariableLine {
    /// Its name.
    pub name: String,
    /// How many columns it takes.
    pub size: usize,
    /// `decision`, `here-and-now`, `witness` or `epigraph`.
    pub stage: &'static str,
}

/// A constraint block.
#[derive(Debug, Clone, Serialize)]
pub struct ConstraintLine {
    /// Its name.
    pub name: String,
    /// The kind of its cone.
    pub cone: &'static str,
    /// How many rows it takes.
    pub rows: usize,
    /// The name of its first row.
    pub first: String,
    /// `with-noise`, `always`, `at-the-mean`, or `at-the-noisy-data` where these are what the program is solved at.
    pub holds: &'static str,
}

/// The private parameters, a line each, made when asked for: of records there may be millions.
#[derive(Clone)]
pub struct ParameterLines {
    model: Arc<dyn Model>,
    /// The plan's map.
    map: Arc<dyn DataMap>,
    /// By parameter, where the spec states the places; else empty. The short text has none of them.
    reads: OnceLock<Vec<Vec<Enters>>>,
}

/// A private parameter: where it enters, never its value.
#[derive(Debug, Clone, Serialize)]
pub struct ParameterLine {
    /// Its name.
    pub name: String,
    /// The numbers of the program that depend on it.
    pub enters: Vec<String>,
    /// The same in words, with coefficients and signs, where the spec states the places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<Enters>,
    /// The public bounds that its value is clipped to.
    pub bounds: Option<(f64, f64)>,
    /// Its public nominal value.
    pub nominal: Option<f64>,
}

/// The guarantee in numbers.
#[derive(Debug, Clone, Serialize)]
pub struct GuaranteeLine {
    /// The law of the noise.
    pub mechanism: &'static str,
    /// ε.
    pub epsilon: f64,
    /// δ, 0 for pure differential privacy.
    pub delta: f64,
    /// What the claim rests on.
    pub basis: Basis,
    /// Δ.
    pub sensitivity: f64,
    /// The scale of the noise.
    pub scale: f64,
    /// The step of the lattice of released numbers.
    pub step: f64,
    /// The certified probability of an infeasible decision, at most η.
    pub certified: f64,
    /// How η is divided.
    pub budget: Budget,
}

impl Check {
    /// Collects the facts.
    pub(crate) fn new(bench: &Workbench, plan: &Plan<'static>) -> Self {
        let (spec, model) = (bench.spec(), &*bench.model);
        let restating = Restating::of(bench);
        let restated = restating.as_ref().and_then(Restating::restated);
        let map = plan.model();
        let program = map.template();
        let guarantee = plan.guarantee();
        let universe = spec.private.universe.as_ref().map(|u| &u.value);
        let facts = model.facts();
        Check {
            private: false,
            problem: model.name().into(),
            facts: with_nulls(facts.as_ref().map(|facts| facts.fields.clone())),
            line: facts.as_ref().map(|facts| facts.line.clone()),
            private_word: facts.map(|facts| facts.private),
            promise: Promise::of(bench, plan),
            norm: guarantee.privacy().norm().symbol(),
            unit: (spec.private.unit.as_ref())
                .map(|unit| unit.value.as_str())
                .or(plan.ask().stated_unit())
                .map(String::from),
            is_detailed: false,
            is_short: false,
            columns: program.columns(),
            rows: program.rows(),
            quadratic: program.p().nnz() > 0,
            variables: variables(program),
            constraints: constraints(program, guarantee.strategy()),
            parameters: ParameterLines {
                model: bench.model.clone(),
                map: plan.shared_model(),
                reads: OnceLock::new(),
            },
            adjacency: plan.guarantee().adjacency().to_string(),
            universe: (guarantee.universe().or(universe)).map(|universe| universe.members()),
            protects: guarantee.protection(),
            reading: guarantee.reading().cloned(),
            label: spec.private.label.as_ref().map(|label| label.value.clone()),
            strategy: guarantee.strategy(),
            settings: guarantee.settings().to_vec(),
            tuning: None,
            released: match restated {
                None => plan.labels().to_vec(),
                Some(restated) => vec![restated.name().into()],
            },
            is_restated: restated.is_some(),
            objective: restating.map(|restating| restating.objective()),
            guarantee: GuaranteeLine {
                mechanism: guarantee.privacy().mechanism(),
                epsilon: guarantee.privacy().epsilon(),
                delta: guarantee.privacy().delta(),
                basis: guarantee.basis().clone(),
                sensitivity: guarantee.sensitivity(),
                scale: guarantee.scale(),
                step: guarantee.step(),
                certified: guarantee.budget().certified(),
                budget: guarantee.budget().clone(),
            },
            text: guarantee.to_string(),
            fit: curator::fit(plan).unwrap_or_else(|e| Fit::Undecided { why: e.to_string() }),
            movement: curator::movement_unless(plan, |solved| effort::is_dear(model, solved)),
            outlook: None,
            warnings: plan.warnings().to_vec(),
            notes: Vec::new(),
        }
    }

    /// The unit of the private numbers, where the spec or the model states one.
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// The same with nothing shortened in its text: every block, every private number, every place that it enters and
    /// every term of the rows there, every decision that moves.
    #[must_use]
    pub fn with_details(mut self) -> Self {
        self.is_detailed = true;
        self.is_short = false;
        self
    }

    /// The same with a text of a few lines: what is released, what is guaranteed, what it costs and what comes next, then
    /// the numbers behind it. Every warning stays.
    #[must_use]
    pub fn in_short(mut self) -> Self {
        self.is_short = true;
        self
    }
}

fn variables(program: &Program) -> Vec<VariableLine> {
    let blocks = program.variables().iter();
    blocks
        .map(|block| VariableLine {
            name: block.name().into(),
            size: block.range().len(),
            stage: block.stage().word(),
        })
        .collect()
}

fn constraints(program: &Program, strategy: Strategy) -> Vec<ConstraintLine> {
    let blocks = program.constraints().iter();
    blocks
        .map(|block| ConstraintLine {
            name: block.name().into(),
            cone: block.cone().kind(),
            rows: block.range().len(),
            first: program.row_name(block.range().start),
            holds: match block.holds() {
                // The program is solved after the noise.
                _ if matches!(strategy, Strategy::LinearTerm | Strategy::Truncated) => "always",
                _ if strategy == Strategy::Input => "at-the-noisy-data",
                // Noise on the answer: the program knows nothing of it.
                _ if strategy != Strategy::Program => "at-the-mean",
                // AX = 0: an equality holds for every noise (M4).
                _ if matches!(block.cone(), Cone::Zero(_)) => "always",
                Holds::WithNoise => "with-noise",
                Holds::Always => "always",
                Holds::AtTheMean => "at-the-mean",
            },
        })
        .collect()
}

/// The fields of the model, and null under the keys that other kinds of models have.
fn with_nulls(facts: Option<Fields>) -> Fields {
    let mut fields = facts.unwrap_or_default();
    for key in KINDS.iter().flat_map(|kind| kind.facts) {
        if !fields.contains(key) {
            fields = fields.with(key, Value::Absent(()));
        }
    }
    fields
}

impl ParameterLines {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.model.map().len()
    }

    /// Whether nothing is private.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lines, in order.
    pub fn iter(&self) -> impl Iterator<Item = ParameterLine> + '_ {
        let each = self.model.map().parameters().iter().enumerate();
        each.map(|(i, parameter)| ParameterLine {
            name: parameter.name().into_owned(),
            reads: self.reads().get(i).cloned().unwrap_or_default(),
            enters: (parameter.locations().iter())
                .map(|location| self.model.place_name(&location.place))
                .collect(),
            bounds: parameter.bounds(),
            nominal: parameter.nominal_value(),
        })
    }

    /// Their names, in order.
    fn names(&self) -> impl Iterator<Item = String> + '_ {
        let each = self.model.map().parameters().iter();
        each.map(|parameter| parameter.name().into_owned())
    }

    fn reads(&self) -> &[Vec<Enters>] {
        self.reads.get_or_init(|| match self.model.states_places() {
            true => mapping::of(&*self.map),
            false => Vec::new(),
        })
    }

    /// What stands for all of them where bounds and nominal values are asked for.
    fn kinds(&self) -> impl Iterator<Item = &Parameter> {
        self.model.map().parameters().kinds()
    }

    /// Characters of the longest name.
    fn longest_name(&self) -> usize {
        self.model.map().parameters().longest_name()
    }
}

impl fmt::Debug for ParameterLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ParameterLines").field(&self.len()).finish()
    }
}

impl Serialize for ParameterLines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
