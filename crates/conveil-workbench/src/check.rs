//! What `check` shows: public facts alone. Two specs that differ in private values only have the same check.

use std::fmt;

use conveil::ask::Strategy;
use conveil::chance::Budget;
use conveil::curator::{self, Fit, Movement};
use conveil::plan::{Basis, Plan};
use conveil::program::{Cone, Holds, Objective, Parameter, Place, Program, Reading, Setting};
use conveil_models::document::{Fields, Value};
use conveil_models::model::KINDS;
use conveil_models::{digits, exact};
use conveil_text::spelling::{counted, quoted};
use serde::Serialize;

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
    pub parameters: Vec<ParameterLine>,
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
    /// `with-noise`, `always` or `at-the-mean`.
    pub holds: &'static str,
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
    pub(crate) fn new(bench: &Workbench, plan: &Plan<'_>) -> Self {
        let (spec, model) = (bench.spec(), &*bench.model);
        let restating = Restating::of(bench);
        let restated = restating.as_ref().and_then(Restating::restated);
        let map = plan.model();
        let program = map.template();
        let guarantee = plan.guarantee();
        let universe = spec.private.universe.as_ref().map(|u| &u.value);
        let facts = model.facts();
        let reads = match model.states_places() {
            true => mapping::of(map),
            false => vec![Vec::new(); map.parameters().len()],
        };
        Check {
            private: false,
            problem: model.name().into(),
            facts: with_nulls(facts.as_ref().map(|facts| facts.fields.clone())),
            line: facts.as_ref().map(|facts| facts.line.clone()),
            private_word: facts.map(|facts| facts.private),
            columns: program.columns(),
            rows: program.rows(),
            quadratic: program.p().nnz() > 0,
            variables: variables(program),
            constraints: constraints(program, guarantee.strategy()),
            parameters: map
                .parameters()
                .iter()
                .zip(reads)
                .map(|(p, reads)| parameter(p, reads, |place| model.place_name(place)))
                .collect(),
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
            movement: curator::movement(plan),
            outlook: None,
            warnings: plan.warnings().to_vec(),
            notes: Vec::new(),
        }
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
                _ if strategy == Strategy::LinearTerm => "always",
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

fn parameter(
    parameter: &Parameter,
    reads: Vec<Enters>,
    shown: impl Fn(&Place) -> String,
) -> ParameterLine {
    ParameterLine {
        name: parameter.name().into(),
        reads,
        enters: parameter
            .locations()
            .iter()
            .map(|location| shown(&location.place))
            .collect(),
        bounds: parameter.bounds(),
        nominal: parameter.nominal_value(),
    }
}

/// Places of a private number that are written out.
const PLACES: usize = 4;

/// Lines shown of a long list.
const SHOWN: usize = 12;

fn list<T>(
    f: &mut fmt::Formatter,
    title: &str,
    items: &[T],
    line: impl Fn(&T) -> String,
) -> fmt::Result {
    writeln!(f, "{title}:")?;
    for item in items.iter().take(SHOWN) {
        writeln!(f, "  {}", line(item))?;
    }
    if items.len() > SHOWN {
        writeln!(f, "  … and {} more (see --json)", items.len() - SHOWN)?;
    }
    Ok(())
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "CHECK: public, no private value was used")?;
        let cost = if self.quadratic {
            "quadratic"
        } else {
            "linear"
        };
        writeln!(
            f,
            "problem: {}: {} and {}, {cost} cost",
            self.problem,
            counted(self.columns, "variable", "variables"),
            counted(self.rows, "constraint row", "constraint rows"),
        )?;
        let names = |names: &mut dyn Iterator<Item = &str>| {
            names.map(|n| n.chars().count()).max().unwrap_or(0).min(28)
        };
        let width = names(
            &mut (self.variables.iter().map(|v| v.name.as_str()))
                .chain(self.constraints.iter().map(|c| c.name.as_str()))
                .chain(self.parameters.iter().map(|p| p.name.as_str())),
        );
        match &self.line {
            None => list(f, "variables", &self.variables, |v| {
                let entries = counted(v.size, "entry", "entries");
                format!("{:<width$}  {entries:<12} {}", v.name, v.stage)
            })?,
            Some(line) => writeln!(f, "{line}")?,
        }
        list(f, "constraints", &self.constraints, |c| {
            let kind = format!("{}, {}", c.cone, counted(c.rows, "row", "rows"));
            let from = match self.line {
                None => String::new(),
                Some(_) => format!("  from `{}`", c.first),
            };
            format!("{:<width$}  {kind:<24} {}{from}", c.name, c.holds)
        })?;
        let private = match self.private_word {
            None => "private".into(),
            Some(word) => {
                let count = counted(self.parameters.len(), word, &format!("{word}s"));
                format!("private, {count}")
            }
        };
        list(f, &private, &self.parameters, |p| {
            let enters = shortened(&p.enters);
            let bounds = p.bounds.map_or(String::new(), |(low, high)| {
                format!(
                    ", clipped to [{}, {}]",
                    exact(rounded(low)),
                    exact(rounded(high))
                )
            });
            let nominal = p
                .nominal
                .map_or(String::new(), |v| format!(", nominal {v}"));
            let reads = p.reads.iter().take(PLACES).map(|place| {
                let row = (place.row.as_ref()).map_or(String::new(), |row| format!(" in `{row}`"));
                let at = match place.at_nominal {
                    true => ", at the nominal values",
                    false => "",
                };
                let coefficient = exact(place.coefficient);
                format!("\n    coefficient {coefficient}{row}: {}{at}", place.reads)
            });
            let reads: String = reads.collect();
            let more = match p.reads.len().checked_sub(PLACES) {
                Some(more) if more > 0 => format!("\n    and in {more} more places (see --json)"),
                _ => String::new(),
            };
            format!(
                "{:<width$}  enters {enters}{bounds}{nominal}{reads}{more}",
                p.name
            )
        })?;
        if let Some(universe) = &self.universe {
            writeln!(f, "universe: {universe}")?;
        }
        if let Some(label) = &self.label {
            writeln!(
                f,
                "labels: the column {} of the private file names its rows; it is public: each card has the label of its row",
                quoted(label)
            )?;
        }
        writeln!(f)?;
        writeln!(f, "{}", self.text)?;
        if let Some(objective) = &self.objective
            && !objective.is_the_cost()
        {
            let released = match self.is_restated {
                true => "; the released number is stated so, with the same noise",
                false => "",
            };
            writeln!(
                f,
                "objective: {objective}, the cost being what the program minimises{released}"
            )?;
        }
        writeln!(f, "fit: {}", self.fit)?;
        writeln!(f, "movement: {}", self.movement)?;
        if let Some(tuning) = &self.tuning {
            writeln!(f, "tuning: λ is chosen {tuning}")?;
            if let (Some(first), Some(last)) = (tuning.grid.first(), tuning.grid.last()) {
                writeln!(
                    f,
                    "  error bar: ± {} at λ = {} to ± {} at λ = {}",
                    digits(first.error_bar),
                    first.lambda,
                    digits(last.error_bar),
                    last.lambda
                )?;
            }
            writeln!(
                f,
                "  of two λ the better one is chosen nine times as often where their mean losses are {} apart",
                digits(tuning.tells_apart)
            )?;
            if let Some(poor) = &tuning.poor {
                writeln!(f, "warning: {poor}")?;
            }
        }
        if let Some(outlook) = &self.outlook {
            if !outlook.is_odd() {
                writeln!(f, "outlook: {outlook}")?;
            }
            for poor in outlook.poor() {
                writeln!(f, "warning: {poor}")?;
            }
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}

/// Without the digits of a rounding.
fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e6).round() / 1e6;
    if (rounded - value).abs() <= 1e-12 * value.abs() {
        rounded
    } else {
        value
    }
}

fn shortened(places: &[String]) -> String {
    let shown = places.iter().take(6).cloned().collect::<Vec<_>>();
    let more = if places.len() > 6 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
