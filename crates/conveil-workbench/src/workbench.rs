//! The workbench: a spec, opened, and the verbs that release nothing.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use conveil::ask::Ask;
use conveil::curator::{self, Axis, Explanation, Frontier};
use conveil::plan::Plan;
use conveil_read::spec::{Spec, Strategy};
use serde::Serialize;

use crate::audit;
use crate::check::Check;
use crate::data;
use crate::failure::Failure;
use crate::grid;
use crate::inputs::Inputs;
use crate::model::{self, Model, Report};
use crate::observer::{Observer, Stage, batch, staged};
use crate::svm_compare::SvmComparison;
use crate::wishes;

/// A spec with its problem or network, read and consistent: the public model, what is asked of it, and where its private
/// data are. Every verb reads the data anew, and none changes the workbench: it can be shared between threads.
#[derive(Debug, Clone)]
pub struct Workbench {
    pub(crate) inputs: Inputs,
    pub(crate) model: Model,
}

/// A text, and how messages call it.
#[derive(Debug, Clone, Copy)]
pub struct Text<'t> {
    /// The name.
    pub name: &'t str,
    /// The text.
    pub text: &'t str,
}

/// What [`Workbench::compare`] does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Comparing {
    /// The dataset, counted from 1; the first where none is named.
    pub row: Option<usize>,
    /// Draws of the noise; the spec's where none are named.
    pub draws: Option<u64>,
    /// The seed of the draws; the spec's where none is named.
    pub seed: Option<u64>,
}

/// What [`Workbench::frontier`] does.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// The dataset, counted from 1; the first where none is named.
    pub row: Option<usize>,
    /// What varies.
    pub over: Axis,
    /// Its values; 1/8 to 8 times the spec's where none are named.
    pub values: Option<Vec<f64>>,
}

/// Strategies side by side. Private.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Comparison {
    /// In cost.
    Cost(Box<curator::Comparison>),
    /// A classifier, in accuracy.
    Accuracy(Box<SvmComparison>),
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Comparison::Cost(comparison) => comparison.fmt(f),
            Comparison::Accuracy(comparison) => comparison.fmt(f),
        }
    }
}

/// Factors of the default values of a frontier: powers of two, so that they are round where the spec's is.
const FACTORS: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

/// η must stay below one half.
const ETA_END: f64 = 0.5;

impl Workbench {
    /// Reads the spec at `path`; paths in it are relative to its directory. Nothing private is read.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        Self::of(Inputs::open(path)?)
    }

    /// The same from the texts of the spec and of its problem or network; the second is empty where the spec names none.
    pub fn from_texts(spec: Text<'_>, problem: Text<'_>) -> Result<Self, Failure> {
        let inputs = Inputs::from_texts((spec.name, spec.text), (problem.name, problem.text))?;
        Self::of(inputs)
    }

    fn of(inputs: Inputs) -> Result<Self, Failure> {
        let model = Model::new(&inputs)?;
        Ok(Workbench { inputs, model })
    }

    /// How messages call the spec.
    pub fn name(&self) -> &str {
        &self.inputs.spec_name
    }

    /// What the spec says.
    pub fn spec(&self) -> &Spec {
        &self.inputs.spec
    }

    /// The plan: what would be released, with which noise and guarantee. Public.
    pub fn plan(&self, observer: &dyn Observer) -> Result<Plan<'_>, Failure> {
        self.plan_for(&self.inputs, observer)
    }

    fn plan_for(&self, inputs: &Inputs, observer: &dyn Observer) -> Result<Plan<'_>, Failure> {
        staged(observer, Stage::Plan, || {
            let ask = wishes::ask(inputs, &self.model, &observer.cancel())?;
            let batch = batch(observer, inputs.spec.solver.threads);
            Plan::with_batch(self.model.map(), ask, &batch).map_err(|e| self.engine(&e))
        })
    }

    /// The plan, its warnings said.
    pub(crate) fn planned(&self, observer: &dyn Observer) -> Result<Plan<'_>, Failure> {
        let plan = self.plan(observer)?;
        warn(&plan, observer);
        Ok(plan)
    }

    /// The paper's plan, calibrated around this private dataset: not private.
    pub(crate) fn paper_mode(
        &self,
        theta: &[f64],
        observer: &dyn Observer,
    ) -> Result<Plan<'_>, Failure> {
        let plan = staged(observer, Stage::Plan, || {
            Plan::paper_mode(self.model.map(), self.ask(observer)?, theta)
                .map_err(|e| self.engine(&e))
        })?;
        warn(&plan, observer);
        Ok(plan)
    }

    fn ask(&self, observer: &dyn Observer) -> Result<Ask, Failure> {
        wishes::ask(&self.inputs, &self.model, &observer.cancel())
    }

    /// What the engine says of the spec.
    pub(crate) fn engine(&self, error: &conveil::Error) -> Failure {
        Failure::engine(&self.inputs.spec_name, error)
    }

    /// What the engine says of these private data, in the words of the model.
    pub(crate) fn engine_on(&self, theta: &[f64], error: &conveil::Error) -> Failure {
        model::failure(&self.inputs, &self.model, theta, error)
    }

    /// Public facts only: the private values are not even looked up.
    pub fn check(&self, observer: &dyn Observer) -> Result<Check, Failure> {
        let plan = self.plan(observer)?;
        let mut check = Check::new(&self.inputs, &plan);
        let searched = audit::beside_sampled(&plan, &self.inputs, observer)?;
        check.notes.extend(searched);
        check.notes.extend(grid::notes(&self.inputs, &self.model));
        Ok(check)
    }

    /// Solves on the private data and reports to the curator. Nothing is released.
    pub fn solve(&self, row: Option<usize>, observer: &dyn Observer) -> Result<Report, Failure> {
        let theta = self.dataset(row, observer)?;
        let plan = self.planned(observer)?;
        if observer.hears_notes()
            && let Some(note) = audit::beside_sampled(&plan, &self.inputs, observer)?
        {
            observer.note(&note);
        }
        let curated = staged(observer, Stage::Solve, || plan.curate(&theta));
        let curated = curated.map_err(|e| self.engine_on(&theta, &e))?;
        let (decided, report) = (curated.decided(), curated.report());
        let of = (&self.model, theta.as_slice());
        if let Some(warning) = model::warning(&self.inputs, of, &plan, decided) {
            observer.warning(&warning);
        }
        Report::new(&self.inputs, of, &plan, decided, report)
    }

    /// All strategies on the same noise. Private; nothing is released.
    pub fn compare(
        &self,
        comparing: &Comparing,
        observer: &dyn Observer,
    ) -> Result<Comparison, Failure> {
        let theta = self.dataset(comparing.row, observer)?;
        self.require_eta("a comparison with program perturbation")?;
        // Every strategy is compared, whichever the spec has chosen.
        let mut inputs = Cow::Borrowed(&self.inputs);
        if inputs.spec.feasibility.strategy.value != Strategy::Program {
            inputs.to_mut().spec.feasibility.strategy.value = Strategy::Program;
        }
        let plan = self.plan_for(&inputs, observer).map_err(|failure| {
            let is_chosen = matches!(inputs, Cow::Borrowed(_));
            failure.with_help((!is_chosen).then(|| {
                "a comparison is with program perturbation, which is not to be had here; `solve` measures the strategy of the spec".into()
            }))
        })?;
        warn(&plan, observer);
        let draws = comparing.draws.unwrap_or(inputs.spec.study.draws as u64);
        let seed = comparing.seed.unwrap_or(inputs.spec.study.seed);
        if draws == 0 {
            return Err(Failure::input("a comparison needs at least one draw"));
        }
        staged(observer, Stage::Compare, || {
            if let Model::Svm(svm) = &self.model {
                let drawn = (draws as usize, seed);
                let cancel = &observer.cancel();
                let found = SvmComparison::new(&inputs, svm, &plan, &theta, drawn, cancel)?;
                return Ok(Comparison::Accuracy(Box::new(found)));
            }
            let batch = batch(observer, inputs.spec.solver.threads);
            let found = curator::compare(&plan, &theta, draws, seed, &batch);
            let found = found.map_err(|e| self.engine_on(&theta, &e))?;
            Ok(Comparison::Cost(Box::new(found)))
        })
    }

    /// What holds the program back, and how far ε, α and η can go. Private.
    pub fn explain(
        &self,
        row: Option<usize>,
        observer: &dyn Observer,
    ) -> Result<Explanation, Failure> {
        let theta = self.dataset(row, observer)?;
        let ask = self.ask(observer)?;
        staged(observer, Stage::Explain, || {
            curator::explain(self.model.map(), &ask, &theta)
        })
        .map_err(|e| self.engine_on(&theta, &e))
    }

    /// The loss against ε, α or η. Private.
    pub fn frontier(&self, sweep: &Sweep, observer: &dyn Observer) -> Result<Frontier, Failure> {
        let theta = self.dataset(sweep.row, observer)?;
        let values = match &sweep.values {
            Some(values) => values.clone(),
            None => self.values_around_the_spec(sweep.over)?,
        };
        let ask = self.ask(observer)?;
        staged(observer, Stage::Frontier, || {
            let batch = batch(observer, self.inputs.spec.solver.threads);
            curator::frontier(self.model.map(), &ask, &theta, sweep.over, &values, &batch)
        })
        .map_err(|e| self.engine_on(&theta, &e))
    }

    /// The private θ of this row, or of the first, with remarks on it for the curator.
    pub fn dataset(
        &self,
        row: Option<usize>,
        observer: &dyn Observer,
    ) -> Result<Vec<f64>, Failure> {
        data::dataset(&self.inputs, &self.model, row, observer)
    }

    /// η, which a spec for noise on the answer may leave out.
    fn require_eta(&self, what: &str) -> Result<f64, Failure> {
        let feasibility = &self.inputs.spec.feasibility;
        feasibility.eta.ok_or_else(|| {
            let message = format!("{what} needs `eta`");
            let error = (feasibility.strategy).error(&self.inputs.spec_name, message);
            let help = "add it to [feasibility]: the release leaves it alone";
            error.with_help(help).into()
        })
    }

    /// Values in steps of two, around that of the spec.
    fn values_around_the_spec(&self, over: Axis) -> Result<Vec<f64>, Failure> {
        let spec = &self.inputs.spec;
        let centre = match over {
            Axis::Epsilon => spec.privacy.epsilon,
            Axis::Eta => self.require_eta("a frontier over eta")?,
            Axis::Alpha => {
                let adjacency = &spec.private.adjacency;
                adjacency.value.alpha().ok_or_else(|| {
                    let message = "a frontier over alpha needs an adjacency with an alpha";
                    adjacency
                        .error(&self.inputs.spec_name, message)
                        .with_help("one-entry, l1 and l2 have one")
                })?
            }
        };
        let end = match over {
            Axis::Eta => ETA_END,
            _ => f64::MAX,
        };
        let values = FACTORS.iter().map(|factor| factor * centre);
        Ok(values.filter(|v| *v > 0.0 && *v < end).collect())
    }
}

fn warn(plan: &Plan<'_>, observer: &dyn Observer) {
    for warning in plan.warnings() {
        observer.warning(warning);
    }
}
