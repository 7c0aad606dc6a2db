//! `conveil release`: the only verb that lets anything out, and that is the card.
//!
//! The order is that of M7: everything public first (spec, plan, files, ledger), then the charge, and only then the
//! private values. What fails after the charge leaves it spent, and says so.

use std::path::Path;

use conveil::plan::Plan;
use conveil::program::AffineMap;
use conveil::solve::Cancel;
use conveil_read::spec::{SampledMap, Sensitivity};
use conveil_release::ledger::{self, Budget, Charges, Ledger, NotDurable};
use conveil_release::{Released, charge, not_private};

use crate::arguments::Releasing;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::private_file::PrivateFile;
use crate::terminal::Terminal;
use crate::verbs::{dataset, planned, warn};
use crate::{model, wishes};

/// Releases, or runs what is not private if that was asked for.
pub(crate) fn run(
    releasing: &Releasing,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let inputs = Inputs::open(&releasing.common.spec)?;
    let map = model::map(&inputs)?;
    if releasing.not_private {
        study(releasing, &inputs, &map, terminal, cancel)
    } else {
        release(releasing, &inputs, &map, terminal, cancel)
    }
}

fn release(
    releasing: &Releasing,
    inputs: &Inputs,
    map: &AffineMap,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let mut book = Book::open(releasing, inputs)?;
    let plan = terminal.stage("plan", || planned(inputs, map, terminal, cancel))?;
    warn(&plan, terminal);
    let files = Files::new(releasing)?;
    let told = |error| Failure::release(&inputs.spec_name, &error);
    let charged = terminal.stage("charge", || {
        let dataset = book.dataset(&plan)?;
        charge(&plan, book.charges(), &dataset).map_err(told)
    })?;
    let charged = if files.report.is_some() {
        charged
    } else {
        charged.without_report()
    };
    let spent = match &book {
        Book::File { .. } => format!(
            "the budget stays spent (charge {} of dataset {:?})",
            charged.receipt().id(),
            charged.receipt().dataset()
        ),
        Book::None(_) => "the attempt counts as a release".into(),
    };
    let rest = || {
        let theta = dataset(inputs, map, terminal)?;
        let released = {
            let _spinner = terminal.progress("releasing");
            terminal.stage("solve and draw", || charged.release(&theta))
        };
        files.write(&released.map_err(told)?, terminal)
    };
    rest().map_err(|failure| failure.after(&spent))?;
    terminal.say_timings();
    Ok(())
}

/// What is not private: paper mode, or noise from a seed. It charges nothing.
fn study(
    releasing: &Releasing,
    inputs: &Inputs,
    map: &AffineMap,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let theta = dataset(inputs, map, terminal)?;
    let plan = terminal.stage("plan", || {
        if !on_the_deterministic_map(inputs) {
            return planned(inputs, map, terminal, cancel);
        }
        let _spinner = terminal.progress("planning");
        let ask = wishes::ask(inputs, map, cancel)?;
        Plan::paper_mode(map, ask, &theta).map_err(|e| Failure::engine(&inputs.spec_name, &e))
    })?;
    warn(&plan, terminal);
    let files = Files::new(releasing)?;
    let released = {
        let _spinner = terminal.progress("solving");
        terminal.stage("solve and draw", || {
            not_private(&plan, &theta, releasing.seed)
        })
    };
    let released = released.map_err(|e| Failure::release(&inputs.spec_name, &e))?;
    files.write(&released, terminal)?;
    terminal.say_timings();
    Ok(())
}

/// Whether the spec asks for the paper's calibration.
fn on_the_deterministic_map(inputs: &Inputs) -> bool {
    matches!(
        inputs.spec.privacy.sensitivity.value,
        Sensitivity::Sampled {
            on: SampledMap::Deterministic,
            ..
        }
    )
}

/// Where the release is charged.
enum Book {
    /// The spec's `[ledger]`.
    File { ledger: Ledger, dataset: String },
    /// `--no-ledger`.
    None(NotDurable),
}

impl Book {
    fn open(releasing: &Releasing, inputs: &Inputs) -> Result<Book, Failure> {
        let name = &inputs.spec_name;
        let Some(section) = &inputs.spec.ledger else {
            if releasing.no_ledger {
                return Ok(Book::None(NotDurable::default()));
            }
            return Err(Failure::input(format!(
                "{name}: a release is charged to a ledger, and the spec has none\n  help: `conveil ledger init ledger.db --dataset NAME --epsilon E` makes one; then add\n    [ledger]\n    file = \"ledger.db\"\n    dataset = \"NAME\"\n  or state `--no-ledger`, and the card will say that nothing keeps count"
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
        let ledger = Ledger::open(folder.join(section.file.value.as_str())).map_err(told)?;
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
                let privacy = plan.guarantee().privacy();
                let budget = Budget::new(privacy.epsilon(), privacy.delta());
                budget
                    .and_then(|budget| memory.init(NAMELESS, &budget))
                    .map_err(|error| Failure::ledger(&error))?;
                Ok(NAMELESS.into())
            }
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
        "`conveil ledger init {file} --dataset {dataset} --epsilon E` gives the dataset its budget, once"
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
    fn new(releasing: &Releasing) -> Result<Files, Failure> {
        let file = |path: &Option<_>| {
            path.as_ref()
                .map(|p: &std::path::PathBuf| PrivateFile::new(p))
        };
        Ok(Files {
            decision: file(&releasing.decision).transpose()?,
            report: file(&releasing.report).transpose()?,
        })
    }

    /// The private documents first: an answer without its decision helps nobody.
    fn write(self, released: &Released, terminal: &Terminal) -> Result<(), Failure> {
        if let Some(file) = self.decision {
            file.write(released.decision())?;
        }
        match (self.report, released.report()) {
            (Some(file), Some(report)) => file.write(report)?,
            (Some(_), None) => terminal.say("warning: no curator report could be made of it"),
            _ => {}
        }
        terminal.show(released.card())
    }
}
