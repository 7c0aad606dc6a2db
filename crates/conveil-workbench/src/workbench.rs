//! The workbench: a spec, opened, and the verbs that release nothing.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use conveil::ask::{Ask, Strategy};
use conveil::curator::{self, About, Axis, Explanation, Following, Frontier};
use conveil::plan::Plan;
use conveil_models::document::Document;
use conveil_models::files::Text;
use conveil_models::model::{Compared, Curated, Datasets, Missing, Model, StandIn};
use conveil_models::spec::{self, Sensitivity, Spec, StrategyChoice};
use serde::Serialize;

use crate::ask::{ask_from_spec, choose_strategy};
use crate::audit;
use crate::check::Check;
use crate::data::{Opened, in_own_words};
use crate::failure::{Failure, Kind};
use crate::inputs::Inputs;
use crate::objective::Restating;
use crate::observer::{Observer, Silent, Stage, batch, staged};
use crate::report::Report;
use crate::rule::DecidedRule;

/// A spec with its problem or network, read and consistent: the public model, what is asked of it, and where its private
/// data are. Every verb reads the data anew, and none changes what the next one does: it can be shared between threads. The
/// plan is made once and kept, also for clones: it is public, and the same for all private data.
#[derive(Debug, Clone)]
pub struct Workbench {
    pub(crate) inputs: Inputs,
    pub(crate) model: Arc<dyn Model>,
    /// Whose numbers its data are.
    pub(crate) about: About,
    plans: Arc<Plans>,
    /// Settings that were moved after the private data were looked at.
    pub(crate) moved: Arc<[String]>,
}

/// The plans that were made of a spec, by their strategy: a comparison plans for program perturbation, whichever the spec
/// has chosen. What was interrupted or refused is not kept.
#[derive(Debug, Default)]
struct Plans(Mutex<Vec<(Strategy, Arc<Plan<'static>>)>>);

impl Plans {
    fn of(&self, strategy: Strategy) -> Option<Arc<Plan<'static>>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = kept.iter();
        kept.find(|(of, _)| *of == strategy)
            .map(|(_, plan)| plan.clone())
    }

    fn keep(&self, strategy: Strategy, plan: Arc<Plan<'static>>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Two calls that plan at once make the same plan.
        kept.retain(|(of, _)| *of != strategy);
        kept.push((strategy, plan));
    }
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
    /// By a measure of the model's own.
    Model(Document),
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Comparison::Cost(comparison) => comparison.fmt(f),
            Comparison::Model(comparison) => comparison.fmt(f),
        }
    }
}

/// Factors of the default values of a frontier: powers of two, so that they are round where the spec's is.
const FACTORS: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

/// Longer specs are not read.
const SPEC_BYTES: u64 = 16 << 20;

/// η must stay below one half.
const ETA_END: f64 = 0.5;

impl Workbench {
    /// Reads the spec at `path`; paths in it are relative to its directory. Nothing private is read.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        Self::open_watched(path, &Silent)
    }

    /// The same, stopped by its observer: where a rule chooses the strategy, the public program may have to be solved.
    pub fn open_watched(path: &Path, observer: &dyn Observer) -> Result<Self, Failure> {
        Self::of(Inputs::open(path)?, observer)
    }

    /// The same with this text in place of what the file at `path` says, such as one whose settings were moved. No file
    /// outside of the folder `within` is opened, whatever the spec names, its ledger included.
    pub fn open_text(
        path: &Path,
        text: &str,
        within: &Path,
        observer: &dyn Observer,
    ) -> Result<Self, Failure> {
        Self::of(Inputs::of_text_within(path, text, within)?, observer)
    }

    /// The same from texts: the spec, and the public files that it names, by their names as it writes them. Nothing is read
    /// from disk then, whatever the spec names; [`Workbench::with_private`] hands over the private files. Only a
    /// `[ledger]` is a path on disk, relative to the directory of the process.
    pub fn from_files(spec: Text<'_>, files: &[Text<'_>]) -> Result<Self, Failure> {
        Self::from_files_watched(spec, files, &Silent)
    }

    /// The same, stopped by its observer.
    pub fn from_files_watched(
        spec: Text<'_>,
        files: &[Text<'_>],
        observer: &dyn Observer,
    ) -> Result<Self, Failure> {
        Self::of(Inputs::from_files(spec, files)?, observer)
    }

    /// The same workbench for private files that are these texts and no others, by their names as the spec writes them: one
    /// call, `bench.with_private(&files)?.solve(…)`, or several. The model is shared, not made again.
    pub fn with_private(&self, files: &[Text<'_>]) -> Result<Self, Failure> {
        let mut bench = self.clone();
        bench.inputs.files = self.inputs.files.with_private(files)?;
        Ok(bench)
    }

    /// The same workbench with releases charged to this ledger: a text of a `[ledger]` section, as a spec has it.
    pub fn with_ledger(&self, section: Text<'_>) -> Result<Self, Failure> {
        if let Some(ledger) = &self.inputs.spec.ledger {
            let message = "there is a ledger already";
            let error = ledger.file.error(&ledger.source, message);
            return Err(error.with_help("leave out one of the two").into());
        }
        let mut bench = self.clone();
        bench.inputs.spec.ledger = Some(spec::read_ledger(section.name, section.text)?);
        Ok(bench)
    }

    fn of(mut inputs: Inputs, observer: &dyn Observer) -> Result<Self, Failure> {
        let model = inputs.spec.model.open(&inputs.spec, &inputs.files)?;
        choose_strategy(&mut inputs.spec, &*model, &observer.cancel())?;
        Ok(Workbench {
            inputs,
            model: model.into(),
            about: About::Private,
            plans: Arc::default(),
            moved: Arc::from([]),
        })
    }

    /// The same workbench after somebody looked at the private data and moved these settings then. What it releases is
    /// stamped: the guarantee is for settings that do not depend on the data.
    ///
    /// # Guarantee
    /// The stamp is on every card that it releases from then on. Test:
    /// `settings_moved_after_a_look_are_stamped_on_the_card`.
    pub fn moved_after_looking(&self, settings: &[String]) -> Self {
        Workbench {
            moved: settings.into(),
            ..self.clone()
        }
    }

    /// The same workbench with public data in place of the private ones: the nominal values, or the spec's `twin`. What its
    /// verbs return is public, and says so; nothing private is read, and there is nothing to release.
    ///
    /// # Guarantee
    /// The documents of such a workbench, its failures among them, do not depend on the private data. Test:
    /// `public_exploration_is_the_same_whatever_the_private_data`.
    pub fn at(&self, about: About) -> Result<Self, Failure> {
        let spec = &self.inputs.spec;
        let data = match (about, &spec.private.twin) {
            (About::Private, _) => return Ok(self.clone()),
            (About::Nominal, _) => StandIn::Nominal,
            (About::Twin, Some(file)) => StandIn::Twin(file),
            (About::Twin, None) => {
                return Err(Failure::input(format!(
                    "{}: the spec names no `twin`\n  help: in [private]: twin = \"twin.csv\", a public file of the same form as the private one, such as an older or a synthetic dataset",
                    self.name()
                )));
            }
        };
        if let StandIn::Twin(_) = data {
            self.refuse_private_twin()?;
        }
        let stated = spec.model.with_public(spec, data);
        let stated = stated.map_err(|Missing { what, help }| {
            Failure::input(format!("{}: {what}\n  help: {help}", self.name()))
        })?;
        let mut inputs = self.inputs.clone();
        inputs.spec.model = stated;
        inputs.files = inputs.files.without_private();
        // Its strategy is chosen: nothing is left to stop.
        let bench = Self::of(inputs, &Silent)?;
        Ok(Workbench {
            about,
            moved: self.moved.clone(),
            ..bench
        })
    }

    /// A private file as its own twin would be explored as if it were public.
    pub(crate) fn refuse_private_twin(&self) -> Result<(), Failure> {
        // In the place of the private data stands the twin already, which was looked at then.
        if self.about == About::Twin {
            return Ok(());
        }
        let spec = &self.inputs.spec;
        // At public data, the twin stands where the private file did; it was compared when it was put there.
        if self.about != About::Private {
            return Ok(());
        }
        let Some(twin) = &spec.private.twin else {
            return Ok(());
        };
        let is_private = |file: &&conveil_text::Located<String>| {
            self.inputs.files.is_same(&file.value, &twin.value)
        };
        if !spec.model.private_files().iter().any(is_private) {
            return Ok(());
        }
        let message = "the `twin` is the private file itself, and a twin is public";
        let error = twin.error(self.name(), message);
        let help = "a public file of the same form, such as an older or a synthetic dataset";
        Err(error.with_help(help).into())
    }

    /// The settings that were moved after the private data were looked at, by name.
    pub fn moved(&self) -> &[String] {
        &self.moved
    }

    /// The file of the spec's ledger; none where it names none.
    pub fn ledger_file(&self) -> Result<Option<std::path::PathBuf>, Failure> {
        let ledger = self.inputs.spec.ledger.as_ref();
        ledger
            .map(|section| crate::book::file(&self.inputs, section))
            .transpose()
    }

    /// The files that hold the private numbers and that are there: those that the spec names as private. Where it names none, the
    /// numbers stand in the spec itself or in the files of its `[problem]`, and it is these. No private file is read.
    pub fn private_files(&self) -> Vec<std::path::PathBuf> {
        let folder = self.inputs.files.folder();
        let named = self.inputs.spec.model.private_files();
        let mut found: Vec<_> = named.iter().map(|file| folder.join(&file.value)).collect();
        // Of texts in memory no path is opened.
        if found.is_empty() && folder != Path::new("") {
            let spec = std::path::PathBuf::from(self.name());
            let text = conveil_models::files::text_of(&spec, SPEC_BYTES).unwrap_or_default();
            let document: toml_edit::DocumentMut = text.parse().unwrap_or_default();
            let problem = document
                .get("problem")
                .and_then(|item| item.as_table_like());
            let words = problem.into_iter().flat_map(|problem| problem.iter());
            let words = words.filter_map(|(_, item)| item.as_str());
            found.extend(words.map(|file| folder.join(file)));
            found.push(spec);
        }
        let found = found.into_iter().filter(|file| file.is_file());
        found.filter_map(|file| file.canonicalize().ok()).collect()
    }

    /// How messages call the spec.
    pub fn name(&self) -> &str {
        &self.inputs.spec.name
    }

    /// What the spec says.
    pub fn spec(&self) -> &Spec {
        &self.inputs.spec
    }

    /// The plan: what would be released, with which noise and guarantee. Public. Refused where λ is chosen privately from a
    /// grid: there is none before the choice.
    pub fn plan(&self, observer: &dyn Observer) -> Result<Plan<'static>, Failure> {
        self.plan_for(self.inputs.spec.feasibility.strategy.value, observer)
    }

    /// The plan of the spec with this strategy: the one that is kept, or a new one. The observer of each call stops it.
    fn plan_for(
        &self,
        strategy: Strategy,
        observer: &dyn Observer,
    ) -> Result<Plan<'static>, Failure> {
        staged(observer, Stage::Plan, || {
            let cancel = observer.cancel();
            if let Some(plan) = self.plans.of(strategy) {
                return Ok(plan.watching(&cancel));
            }
            let mut spec = Cow::Borrowed(&self.inputs.spec);
            if spec.feasibility.strategy.value != strategy {
                let feasibility = &mut spec.to_mut().feasibility;
                feasibility.strategy.value = strategy;
                feasibility.choice = StrategyChoice::Stated;
            }
            let ask = ask_from_spec(&spec, &*self.model, &cancel)?;
            let batch = batch(observer, spec.solver.threads);
            let plan = Plan::shared(self.model.shared(), ask, &batch);
            let plan = plan.map_err(|e| self.engine_of_plan(&e))?;
            self.plans.keep(strategy, Arc::new(plan.clone()));
            Ok(plan)
        })
    }

    /// The plan, its warnings said.
    pub(crate) fn planned(&self, observer: &dyn Observer) -> Result<Plan<'static>, Failure> {
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
        ask_from_spec(&self.inputs.spec, &*self.model, &observer.cancel())
    }

    /// What the engine says of the spec.
    pub(crate) fn engine(&self, error: &conveil::Error) -> Failure {
        Failure::engine_about(&self.inputs.spec.name, self.about, error)
    }

    /// The same where no data were used: the way out is to explore public ones, where there are any.
    fn engine_of_plan(&self, error: &conveil::Error) -> Failure {
        let about = match (self.about, &self.inputs.spec.private.twin) {
            (About::Private, Some(_)) => About::Twin,
            (About::Private, None) if self.at(About::Nominal).is_ok() => About::Nominal,
            (about, _) => about,
        };
        Failure::engine_about(&self.inputs.spec.name, about, error)
    }

    /// What the engine says of these private data, in the words of the model. Private; the kind is the engine's.
    pub(crate) fn engine_on(
        &self,
        datasets: &dyn Datasets,
        theta: &[f64],
        error: &conveil::Error,
    ) -> Failure {
        let Some(found) = datasets.help(theta, error) else {
            return self.engine(error);
        };
        let failure = match &found.meaning {
            Some(meaning) => Failure::engine_on(self.name(), meaning, error),
            None => self.engine(error),
        };
        failure.with_help(Some(found.help))
    }

    /// Public facts only: the private values are not even looked up.
    pub fn check(&self, observer: &dyn Observer) -> Result<Check, Failure> {
        self.refuse_part()?;
        if let Some(grid) = self.grid(observer)? {
            let plan = grid.undecided().map_err(|e| self.engine(&e))?;
            let mut check = Check::new(self, &plan);
            check.settings.clear();
            check.tuning = Some(grid.tuning());
            check.notes.extend(self.model.notes());
            return Ok(check);
        }
        let plan = self.plan(observer)?;
        let mut check = Check::new(self, &plan);
        check.outlook = Some(self.outlook(observer)?);
        let searched = audit::beside_sampled(&plan, self, observer)?;
        check.notes.extend(searched);
        check.notes.extend(self.model.notes());
        Ok(check)
    }

    /// Solves on the private data and reports to the curator. Nothing is released.
    pub fn solve(&self, row: Option<usize>, observer: &dyn Observer) -> Result<Report, Failure> {
        self.refuse_grid("`solve`")?;
        let Opened { datasets, theta } = Opened::new(self, row, observer)?;
        let plan = self.planned(observer)?;
        if observer.hears_notes()
            && let Some(note) = audit::beside_sampled(&plan, self, observer)?
        {
            observer.note(&note);
        }
        let curated = staged(observer, Stage::Solve, || plan.curate(&theta));
        let curated = curated.map_err(|e| self.engine_on(&*datasets, &theta, &e))?;
        let words = in_own_words(&*datasets, plan.guarantee().strategy()).map(|datasets| {
            datasets.annex(&Curated {
                plan: &plan,
                theta: &theta,
                decided: curated.decided(),
                report: Some(curated.report()),
                about: self.about,
            })
        });
        let annex = words.unwrap_or_default();
        if let Some(warning) = &annex.warning {
            observer.warning(warning);
        }
        Report::new(curated.report(), annex, self)
    }

    /// The linear rule x(ζ) = x̄ + Xζ that the plan decides on the private data. Private; nothing is released.
    pub fn rule(
        &self,
        row: Option<usize>,
        observer: &dyn Observer,
    ) -> Result<DecidedRule, Failure> {
        self.refuse_grid("a rule")?;
        let Opened { datasets, theta } = Opened::new(self, row, observer)?;
        let plan = self.planned(observer)?;
        if plan.guarantee().strategy().is_on_the_data() {
            return Err(Failure::input(
                "there is no rule: the noise is on the private numbers, and the program is solved after it",
            ));
        }
        let decided = staged(observer, Stage::Solve, || plan.released().at(&theta));
        let decided = decided.map_err(|e| self.engine_on(&*datasets, &theta, &e))?;
        Ok(DecidedRule::new(&plan, &decided))
    }

    /// All strategies on the same noise. Private; nothing is released.
    pub fn compare(
        &self,
        comparing: &Comparing,
        observer: &dyn Observer,
    ) -> Result<Comparison, Failure> {
        self.refuse_grid("`compare`")?;
        let Opened { datasets, theta } = Opened::new(self, comparing.row, observer)?;
        // Every strategy is compared, whichever the spec has chosen.
        let spec = &self.inputs.spec;
        let plan = self.plan_to_compare(observer)?;
        warn(&plan, observer);
        let draws = comparing.draws.unwrap_or(spec.study.draws as u64);
        let seed = comparing.seed.unwrap_or(spec.study.seed);
        if draws == 0 {
            return Err(Failure::input("a comparison needs at least one draw"));
        }
        staged(observer, Stage::Compare, || {
            let case = Compared {
                plan: &plan,
                theta: &theta,
                draws: draws as usize,
                seed,
                about: self.about,
            };
            let own = in_own_words(&*datasets, plan.guarantee().strategy());
            if let Some(found) = own.and_then(|datasets| datasets.compare(&case)) {
                return Ok(Comparison::Model(found?));
            }
            let batch = batch(observer, spec.solver.threads);
            let found = curator::compare(&plan, &theta, draws, seed, &batch);
            let mut found = found.map_err(|e| self.engine_on(&*datasets, &theta, &e))?;
            if let Some(restating) = Restating::of(self) {
                restating.comparison(&mut found);
            }
            let sizes = own.and_then(|datasets| datasets.sizes(&case));
            found.sizes = sizes.transpose()?.unwrap_or_default();
            Ok(Comparison::Cost(Box::new(found.about(self.about))))
        })
    }

    /// The plan that a comparison starts from: program perturbation, or noise on the answer where the spec has chosen
    /// another strategy and program perturbation is not to be had.
    fn plan_to_compare(&self, observer: &dyn Observer) -> Result<Plan<'static>, Failure> {
        let feasibility = &self.inputs.spec.feasibility;
        let strategy = feasibility.strategy.value;
        let is_program = strategy == Strategy::Program;
        if feasibility.eta.is_some() {
            match self.plan_for(Strategy::Program, observer) {
                Err(failure)
                    if !is_program
                        && matches!(failure.kind(), Kind::Input | Kind::NotWithThisNoise) => {}
                other => return other,
            }
        }
        match strategy {
            Strategy::Shifted | Strategy::Input | Strategy::Truncated => {
                self.plan_for(strategy, observer)
            }
            _ => self.plan_for(Strategy::Output, observer),
        }
    }

    /// What holds the program back, and how far ε, α and η can go. Private.
    pub fn explain(
        &self,
        row: Option<usize>,
        observer: &dyn Observer,
    ) -> Result<Explanation, Failure> {
        self.refuse_grid("`explain`")?;
        let Opened { datasets, theta } = Opened::new(self, row, observer)?;
        let ask = self.ask(observer)?;
        staged(observer, Stage::Explain, || {
            curator::explain(self.model.map(), &ask, &theta)
        })
        .map(|explanation| explanation.about(self.about))
        .map_err(|e| self.engine_on(&*datasets, &theta, &e))
    }

    /// The loss against ε, α or η. Private.
    pub fn frontier(&self, sweep: &Sweep, observer: &dyn Observer) -> Result<Frontier, Failure> {
        let mut frontier = self.swept(sweep, observer)?;
        if let Some(restating) = Restating::of(self) {
            restating.frontier(&mut frontier);
        }
        Ok(frontier.about(self.about))
    }

    /// The values of a frontier: those named, or 1/8 to 8 times the spec's.
    pub fn frontier_values(&self, sweep: &Sweep) -> Result<Vec<f64>, Failure> {
        match &sweep.values {
            Some(values) => Ok(values.clone()),
            None => self.values_around_the_spec(sweep.over),
        }
    }

    /// The frontier in terms of the engine's cost.
    pub(crate) fn swept(
        &self,
        sweep: &Sweep,
        observer: &dyn Observer,
    ) -> Result<Frontier, Failure> {
        self.refuse_grid("`frontier`")?;
        let Opened { datasets, theta } = Opened::new(self, sweep.row, observer)?;
        let values = self.frontier_values(sweep)?;
        let ask = self.ask(observer)?;
        // As if somebody wrote each ε into the spec: a rule that follows it does so here.
        let privacy = self.inputs.spec.privacy.mechanism;
        let follows = sweep.over == Axis::Epsilon && self.model.map_under(&privacy).is_some();
        let map_at = |epsilon: f64| {
            let map = self.model.map_under(&privacy.with_epsilon(epsilon));
            map.unwrap_or_else(|| Ok(self.model.shared()))
        };
        let own = in_own_words(&*datasets, self.inputs.spec.feasibility.strategy.value);
        let measure = own.and_then(|datasets| datasets.measure()).transpose()?;
        let following = Following {
            map: follows.then_some(&map_at as _),
            measure: measure.as_ref().map(|measure| curator::AnswerMeasure {
                name: measure.name,
                of: &*measure.of,
            }),
        };
        staged(observer, Stage::Frontier, || {
            let batch = batch(observer, self.inputs.spec.solver.threads);
            let (map, over) = (self.model.map(), sweep.over);
            curator::frontier_following(&following, map, &ask, &theta, over, &values, &batch)
        })
        .map_err(|e| self.engine_on(&*datasets, &theta, &e))
    }

    /// The private θ of this row, or of the first, with remarks on it for the curator.
    pub fn dataset(
        &self,
        row: Option<usize>,
        observer: &dyn Observer,
    ) -> Result<Vec<f64>, Failure> {
        Ok(Opened::new(self, row, observer)?.theta)
    }

    /// η, which a spec for noise on the answer may leave out.
    fn require_eta(&self, what: &str) -> Result<f64, Failure> {
        let feasibility = &self.inputs.spec.feasibility;
        feasibility.eta.ok_or_else(|| {
            let message = format!("{what} needs `eta`");
            let error = (feasibility.strategy).error(&self.inputs.spec.name, message);
            let help = "add it to [feasibility]: the release leaves it alone";
            error.with_help(help).into()
        })
    }

    /// The value of a certificate's number, which is what a frontier over it goes around.
    fn stated_term(&self, over: Axis) -> Result<f64, Failure> {
        let sensitivity = &self.inputs.spec.privacy.sensitivity;
        let word = over.word();
        let found = match (over.term(), &sensitivity.value) {
            (Some(term), Sensitivity::By(request)) => {
                // Refused where the certificate does not take it at all.
                if let Err(error) = request.with_term(term, 1.0) {
                    let message = error.to_string();
                    return Err(sensitivity.error(&self.inputs.spec.name, message).into());
                }
                request.term(term)
            }
            _ => None,
        };
        found.ok_or_else(|| {
            let message = format!("a frontier over {word} needs `{word}` in the sensitivity");
            let error = sensitivity.error(&self.inputs.spec.name, message);
            let help = format!("a certificate that is stated with a `{word}`; or name the values");
            error.with_help(help).into()
        })
    }

    /// What the spec has chosen for this axis of a frontier; refused where it has no such number.
    pub fn chosen(&self, over: Axis) -> Result<f64, Failure> {
        let spec = &self.inputs.spec;
        Ok(match over {
            Axis::Epsilon => spec.privacy.mechanism.epsilon(),
            Axis::Eta => self.require_eta("a frontier over eta")?,
            Axis::Alpha => {
                let adjacency = &spec.private.adjacency;
                adjacency.value.alpha().ok_or_else(|| {
                    let message = "a frontier over alpha needs an adjacency with an alpha";
                    adjacency
                        .error(&self.inputs.spec.name, message)
                        .with_help("one-entry, l1 and l2 have one")
                })?
            }
            Axis::Width | Axis::Curvature | Axis::Price => self.stated_term(over)?,
        })
    }

    /// Values in steps of two, around that of the spec.
    fn values_around_the_spec(&self, over: Axis) -> Result<Vec<f64>, Failure> {
        let centre = self.chosen(over)?;
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
