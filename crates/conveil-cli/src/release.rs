//! `conveil release`: the only verb that lets anything out, and that is the card.
//!
//! The order is that of M7: everything public first (spec, plan, files, ledger), then the charge, and only then the
//! private values. What fails after the charge leaves it spent, and says so. Files of demands and records are read before
//! the charge, because their rows are counted: one that cannot be read is no dataset. A series is one release after the
//! other; one that the spec declares is charged whole before the first. What was drawn but cannot be written is kept (`delivery`): its budget is spent.

use std::path::{Path, PathBuf};

use conveil::plan::Plan;
use conveil::solve::Cancel;
use conveil_read::spec::{Adjacency, Sensitivity, Strategy};
use conveil_release::ledger::{
    self, Budget, Charges, Ledger, Neighbourhood, NotDurable, Part, Settings,
};
use conveil_release::{Charged, Released, Stating, charge_series, charge_stating, not_private};

use crate::arguments::Releasing;
use crate::delivery::{self, Keep};
use crate::failure::Failure;
use crate::grid;
use crate::inputs::Inputs;
use crate::model::{self, Datasets, Model, Report};
use crate::private_file::PrivateFile;
use crate::terminal::Terminal;
use crate::verbs::{note, planned, row_of, warn};
use crate::wishes;

/// Releases, or runs what is not private if that was asked for.
pub(crate) fn run(
    releasing: &Releasing,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let inputs = Inputs::open(&releasing.common.spec)?;
    let model = Model::new(&inputs)?;
    refuse_decision(releasing, &inputs)?;
    if releasing.not_private {
        study(releasing, &inputs, &model, terminal, cancel)
    } else {
        release(releasing, &inputs, &model, terminal, cancel)
    }
}

fn release(
    releasing: &Releasing,
    inputs: &Inputs,
    model: &Model,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    grid::refuse_public_demands(inputs)?;
    refuse_part(inputs)?;
    refuse_row_of_series(releasing, inputs)?;
    let mut book = Book::open(releasing, inputs, cancel)?;
    let plan = terminal.stage("plan", || planned(inputs, model, terminal, cancel))?;
    warn(&plan, terminal);
    let series = Series::new(releasing, inputs, model)?;
    note(inputs, model, &series.datasets, terminal);
    let files = series.files(releasing)?;
    let mut declared = series
        .declared(&plan, &mut book, terminal, cancel)?
        .into_iter();
    for (done, (row, files)) in files.into_iter().enumerate() {
        let charged = declared.next();
        // What is charged already is not charged again: only an interruption stops it.
        let go_on = match &charged {
            None => ready(cancel),
            Some(charged) if cancel.is_raised() => {
                let failure = Failure::engine(&inputs.spec_name, &conveil::Error::Cancelled);
                Err(failure.after(&format!(
                    "the budget stays spent for the whole series (charge {} of dataset {:?})",
                    charged.receipt().id(),
                    charged.receipt().dataset()
                )))
            }
            Some(_) => Ok(()),
        };
        go_on
            .and_then(|()| release_row(row, files, &plan, charged, &mut book, &series, terminal))
            .map_err(|failure| series.failure(done, row, failure))?;
    }
    terminal.say_timings();
    Ok(())
}

/// The last look before a charge: whether anybody still waits for the card.
fn ready(cancel: &Cancel) -> Result<(), Failure> {
    if cancel.is_raised() {
        return Err(Failure::interrupted());
    }
    delivery::require_output()
}

/// Noise on the answer has no decision to write.
fn refuse_decision(releasing: &Releasing, inputs: &Inputs) -> Result<(), Failure> {
    let strategy = &inputs.spec.feasibility.strategy;
    if releasing.decision.is_none() || strategy.value == Strategy::Program {
        return Ok(());
    }
    let error = strategy.error(
        &inputs.spec_name,
        "`--decision` needs strategy `program`: here the noise is on the answer, and no decision carries it",
    );
    Err(error.with_help("the card has the whole answer").into())
}

/// Parts are for claims about all pairs, and for neighbours that differ in one part.
fn refuse_part(inputs: &Inputs) -> Result<(), Failure> {
    let (spec, name) = (&inputs.spec, &inputs.spec_name);
    let Some(part) = spec.ledger.as_ref().and_then(|ledger| ledger.part.as_ref()) else {
        return Ok(());
    };
    if matches!(spec.privacy.sensitivity.value, Sensitivity::Sampled { .. }) {
        let error = part.error(
            name,
            "`part` does not go with a sampled sensitivity, whose claim leaves out pairs",
        );
        let help = "remove `part`, or use a certificate or a declared bound";
        return Err(error.with_help(help).into());
    }
    let kind = match spec.private.adjacency.value {
        Adjacency::OneEntry { .. } | Adjacency::OneRecord { .. } => return Ok(()),
        Adjacency::L1 { .. } => "l1",
        Adjacency::L2 { .. } => "l2",
        Adjacency::Universe => "universe",
    };
    let error = part.error(
        name,
        format!(
            "`part` does not go with adjacency `{kind}`, whose neighbours differ in several parts at once"
        ),
    );
    let help = "remove `part`, or use adjacency `one-entry` or `one-record`";
    Err(error.with_help(help).into())
}

/// A declared series is charged and released whole.
fn refuse_row_of_series(releasing: &Releasing, inputs: &Inputs) -> Result<(), Failure> {
    let section = inputs.spec.ledger.as_ref();
    let (Some(series), Some(_)) = (section.and_then(|s| s.series.as_ref()), releasing.row) else {
        return Ok(());
    };
    let error = series.error(
        &inputs.spec_name,
        "`--row` does not go with `series`: a declared series is released in one run, whole",
    );
    let help = "leave out `--row`; or remove `series`, and each release is charged by itself";
    Err(error.with_help(help).into())
}

/// One charge, one answer; of a declared series the charge was made before.
fn release_row<'p, 'm>(
    row: usize,
    files: Files,
    plan: &'p Plan<'m>,
    declared: Option<Charged<'p, 'm>>,
    book: &mut Book,
    series: &Series<'_>,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let spec_name = &series.inputs.spec_name;
    let told = |error| Failure::release(spec_name, &error);
    let charged = match declared {
        Some(charged) => charged,
        None => terminal.stage("charge", || {
            let dataset = book.dataset(plan)?;
            let stating = series.stating(Some(row))?;
            charge_stating(plan, &stating, book.charges(), &dataset).map_err(told)
        })?,
    };
    let charged = if files.report.is_some() {
        charged
    } else {
        charged.without_report()
    };
    let spent = match book {
        Book::File { .. } => format!(
            "the budget stays spent (charge {} of dataset {:?})",
            charged.receipt().id(),
            charged.receipt().dataset()
        ),
        Book::None(_) => "the attempt counts as a release".into(),
    };
    let keep = book.keep(series.inputs, charged.receipt().id());
    let rest = || {
        let theta = series.theta(row, terminal)?;
        let released = {
            let _spinner = terminal.progress("releasing");
            terminal.stage("solve and draw", || charged.release(&theta))
        };
        let released = released.map_err(|error| series.told(&theta, &error))?;
        series.hand_over((row, &theta), files, plan, &released, &keep, terminal)
    };
    rest().map_err(|failure| failure.after(&spent))
}

/// What is not private: paper mode, or noise from a seed. It charges nothing.
fn study(
    releasing: &Releasing,
    inputs: &Inputs,
    model: &Model,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let series = Series::new(releasing, inputs, model)?;
    note(inputs, model, &series.datasets, terminal);
    for (done, (row, files)) in series.files(releasing)?.into_iter().enumerate() {
        // Further rows have noise of their own.
        let seed = releasing.seed.map(|seed| seed.wrapping_add(done as u64));
        study_row(row, files, seed, &series, terminal, cancel)
            .map_err(|failure| series.failure(done, row, failure))?;
    }
    terminal.say_timings();
    Ok(())
}

fn study_row(
    row: usize,
    files: Files,
    seed: Option<u64>,
    series: &Series<'_>,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let (inputs, model) = (series.inputs, series.model);
    let theta = series.theta(row, terminal)?;
    let plan = terminal.stage("plan", || {
        if !wishes::is_calibrated_as_in_the_paper(&inputs.spec) {
            return planned(inputs, model, terminal, cancel);
        }
        let _spinner = terminal.progress("planning");
        let ask = wishes::ask(inputs, model, cancel)?;
        Plan::paper_mode(model.map(), ask, &theta)
            .map_err(|e| Failure::engine(&inputs.spec_name, &e))
    })?;
    warn(&plan, terminal);
    let released = {
        let _spinner = terminal.progress("solving");
        terminal.stage("solve and draw", || not_private(&plan, &theta, seed))
    };
    let released = released.map_err(|e| series.told(&theta, &e))?;
    if let (Some(file), Some(decision)) = (files.decision, released.decision()) {
        file.write(decision)?;
    }
    series.report((row, &theta), files.report, &plan, &released, terminal)?;
    terminal.show(released.card())
}

/// The datasets to release, one after the other: all rows of a series, or the one that was asked for.
struct Series<'i> {
    inputs: &'i Inputs,
    model: &'i Model,
    datasets: Datasets<'i>,
    rows: Vec<usize>,
}

impl<'i> Series<'i> {
    fn new(releasing: &Releasing, inputs: &'i Inputs, model: &'i Model) -> Result<Self, Failure> {
        let datasets = Datasets::open(inputs, model)?;
        let rows = match releasing.row {
            None => (1..=datasets.count()).collect(),
            Some(row) => {
                datasets.require(row)?;
                vec![row]
            }
        };
        Ok(Series {
            inputs,
            model,
            datasets,
            rows,
        })
    }

    /// What the spec states beside the plan; `{row}` in the part is this row, or is left for the series to fill.
    fn stating(&self, row: Option<usize>) -> Result<Stating, Failure> {
        let Some(section) = &self.inputs.spec.ledger else {
            return Ok(Stating::default());
        };
        let part = section.part.as_ref().map(|part| {
            let name = match row {
                Some(row) => part.value.replace("{row}", &row.to_string()),
                None => part.value.clone(),
            };
            let made = match section.part_moves {
                true => Part::that_records_may_leave(&name),
                false => Part::fixed(&name),
            };
            made.map_err(|error| {
                Failure::from(part.error(&self.inputs.spec_name, error.to_string()))
            })
        });
        Ok(Stating {
            part: part.transpose()?,
            planned: section.planned,
        })
    }

    /// The releases of a series that the spec declares, charged whole; none where it declares none.
    fn declared<'p, 'm>(
        &self,
        plan: &'p Plan<'m>,
        book: &mut Book,
        terminal: &Terminal,
        cancel: &Cancel,
    ) -> Result<Vec<Charged<'p, 'm>>, Failure> {
        let section = self.inputs.spec.ledger.as_ref();
        let Some(series) = section.and_then(|section| section.series.as_ref()) else {
            return Ok(Vec::new());
        };
        let (name, rows) = (&self.inputs.spec_name, self.rows.len());
        if series.value.count != rows {
            let declared = series.value.count;
            let error = series.error(
                name,
                format!("a series of {declared} releases is declared, and this run has {rows}"),
            );
            let help = "a declared series is released in one run, whole; without `series`, each release is charged by itself";
            return Err(error.with_help(help).into());
        }
        ready(cancel)?;
        terminal.stage("charge", || {
            let dataset = book.dataset(plan)?;
            let stating = self.stating(None)?;
            let plans = vec![plan; rows];
            charge_series(
                &plans,
                series.value.delta,
                &stating,
                book.charges(),
                &dataset,
            )
            .map_err(|error| Failure::release(name, &error))
        })
    }

    fn is_long(&self) -> bool {
        self.rows.len() > 1
    }

    /// The rows, each with its files; all of them are made before anything is charged.
    fn files(&self, releasing: &Releasing) -> Result<Vec<(usize, Files)>, Failure> {
        let rows = self.rows.iter();
        rows.map(|&row| {
            let number = self.is_long().then_some(row);
            Ok((row, Files::new(releasing, number)?))
        })
        .collect()
    }

    fn theta(&self, row: usize, terminal: &Terminal) -> Result<Vec<f64>, Failure> {
        row_of(&self.datasets, row, self.inputs, self.model, terminal)
    }

    /// The private documents first: an answer without its decision helps nobody. The budget is spent, so what cannot be
    /// written to its place is kept elsewhere.
    fn hand_over(
        &self,
        (row, theta): (usize, &[f64]),
        files: Files,
        plan: &Plan<'_>,
        released: &Released,
        keep: &Keep,
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        let decision = files.decision.zip(released.decision());
        let misplaced = decision.and_then(|(file, decision)| {
            let failure = file.write(decision).err()?;
            Some((failure, keep.document("decision", "json", decision)))
        });
        if let Some((failure, None)) = misplaced {
            return Err(keep.undelivered(released.card(), &failure.to_string(), terminal));
        }
        // Whether there is a card must not hang on the report.
        let report = self.report((row, theta), files.report, plan, released, terminal);
        keep.deliver(released.card(), terminal)?;
        match misplaced {
            Some((failure, Some(path))) => Err(Failure::undelivered(format!(
                "{failure}\n  help: the card is printed, and its decision is kept in {}, which only you may read",
                path.display()
            ))),
            _ => report,
        }
    }

    /// The curator report where one was asked for, and what the curator should be warned of.
    fn report(
        &self,
        (row, theta): (usize, &[f64]),
        file: Option<PrivateFile>,
        plan: &Plan<'_>,
        released: &Released,
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        let (inputs, model, decided) = (self.inputs, self.model, released.decided());
        let mut written = Ok(());
        if let Some(file) = file {
            let report = released.report();
            let report = report.map(|r| Report::new(inputs, (model, theta), plan, decided, r));
            match report {
                Some(Ok(report)) => written = file.write(&report),
                Some(Err(failure)) => terminal.say(&format!(
                    "warning: no curator report could be made of it: {failure}"
                )),
                None => terminal.say("warning: no curator report could be made of it"),
            }
        }
        if let Some(warning) = model::warning(inputs, (model, theta), plan, decided) {
            let place = match self.is_long() {
                true => format!("row {row}: "),
                false => String::new(),
            };
            terminal.say(&format!("warning: {place}{warning}"));
        }
        written
    }

    /// What a release says about these data, for the curator.
    fn told(&self, theta: &[f64], error: &conveil_release::Error) -> Failure {
        match error {
            conveil_release::Error::Engine(error) => {
                model::failure(self.inputs, self.model, theta, error)
            }
            other => Failure::release(&self.inputs.spec_name, other),
        }
    }

    /// In a series, a failure says how far it came.
    fn failure(&self, done: usize, row: usize, failure: Failure) -> Failure {
        match (self.is_long(), done) {
            (false, _) => failure,
            (true, 0) => failure.of_row(row, "nothing was released"),
            (true, 1) => failure.of_row(row, "1 answer was released before it"),
            (true, _) => failure.of_row(row, &format!("{done} answers were released before it")),
        }
    }
}

/// Where the release is charged.
enum Book {
    /// The spec's `[ledger]`.
    File { ledger: Ledger, dataset: String },
    /// `--no-ledger`.
    None(NotDurable),
}

impl Book {
    fn open(releasing: &Releasing, inputs: &Inputs, cancel: &Cancel) -> Result<Book, Failure> {
        let name = &inputs.spec_name;
        let Some(section) = &inputs.spec.ledger else {
            if releasing.no_ledger {
                return Ok(Book::None(NotDurable::default()));
            }
            return Err(Failure::input(format!(
                "{name}: a release is charged to a ledger, and the spec has none\n  help: `conveil ledger init ledger.db --dataset NAME --epsilon E --spec {name}` makes one; then add\n    [ledger]\n    file = \"ledger.db\"\n    dataset = \"NAME\"\n  or state `--no-ledger`, and the card will say that nothing keeps count"
            )));
        };
        let told = |error: ledger::Error| section_failure(inputs, &error);
        if releasing.no_ledger {
            let error = section.file.error(
                name,
                "the spec has a ledger, and `--no-ledger` passes it by",
            );
            return Err(error.with_help("leave out one of the two").into());
        }
        let folder = releasing.common.spec.parent().unwrap_or(Path::new(""));
        let file = folder.join(section.file.value.as_str());
        let cancel = cancel.clone();
        let settings = Settings {
            cancel,
            ..Settings::default()
        };
        let ledger = Ledger::open_with(file, &settings).map_err(told)?;
        let dataset = section.dataset.value.to_string();
        // Said before the plan is made, which may take long.
        ledger.account(&dataset).map_err(told)?;
        Ok(Book::File { ledger, dataset })
    }

    /// The dataset to charge; without a ledger, one with just this budget.
    fn dataset(&mut self, plan: &Plan<'_>) -> Result<String, Failure> {
        const NAMELESS: &str = "without a ledger";
        match self {
            Book::File { dataset, .. } => Ok(dataset.clone()),
            Book::None(memory) => {
                *memory = NotDurable::default();
                let privacy = plan.guarantee().privacy();
                let (epsilon, delta) = (privacy.epsilon(), privacy.delta());
                Neighbourhood::of(plan)
                    .and_then(|between| Budget::new(epsilon, delta, &between))
                    .and_then(|budget| memory.init(NAMELESS, &budget))
                    .map_err(|error| Failure::ledger(&error))?;
                Ok(NAMELESS.into())
            }
        }
    }

    /// Where a card of this charge is kept if it cannot be delivered.
    fn keep(&self, inputs: &Inputs, charge: u64) -> Keep {
        match self {
            Book::File { ledger, .. } => {
                let folder = ledger.file().parent().unwrap_or(&inputs.folder);
                Keep::new(folder, Some(charge))
            }
            Book::None(_) => Keep::new(&inputs.folder, None),
        }
    }

    fn charges(&mut self) -> &mut dyn Charges {
        match self {
            Book::File { ledger, .. } => ledger,
            Book::None(memory) => memory,
        }
    }
}

/// What the ledger of the spec says, and the way out.
fn section_failure(inputs: &Inputs, error: &ledger::Error) -> Failure {
    let Some(section) = &inputs.spec.ledger else {
        return Failure::ledger(error);
    };
    let (file, dataset) = (&section.file.value, &section.dataset.value);
    let init = format!(
        "`conveil ledger init {file} --dataset {dataset} --epsilon E --spec {}` gives the dataset its budget, once",
        inputs.spec_name
    );
    match error {
        ledger::Error::Missing { .. } => section
            .file
            .error(&inputs.spec_name, error.to_string())
            .with_help(init)
            .into(),
        ledger::Error::UnknownDataset { .. } => section
            .dataset
            .error(&inputs.spec_name, error.to_string())
            .with_help(init)
            .into(),
        _ => Failure::ledger(error),
    }
}

/// The private documents that were asked for; the files are made before anything is charged.
struct Files {
    decision: Option<PrivateFile>,
    report: Option<PrivateFile>,
}

impl Files {
    fn new(releasing: &Releasing, row: Option<usize>) -> Result<Files, Failure> {
        let file = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| match row {
                None => PrivateFile::new(path),
                Some(row) => PrivateFile::new(&numbered(path, row)),
            })
        };
        Ok(Files {
            decision: file(&releasing.decision).transpose()?,
            report: file(&releasing.report).transpose()?,
        })
    }
}

/// `dispatch.json` of row 2 is `dispatch-2.json`.
fn numbered(path: &Path, row: usize) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push(format!("-{row}"));
    if let Some(end) = path.extension() {
        name.push(".");
        name.push(end);
    }
    path.with_file_name(name)
}
