//! `sensitivity` and `audit`: does the noise hide what it claims to hide? For the curator; neither releases anything.

use std::fmt;
use std::path::Path;

use conveil::audit::{Audit, AuditReport, Witness};
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::Cancel;
use conveil_read::spec::Sensitivity;
use conveil_release::blackbox::{self, BlackBox};
use serde::Serialize;

use crate::arguments::{Audited, Probe};
use crate::failure::Failure;
use crate::inputs::{Inputs, text_of};
use crate::model::Model;
use crate::new_file::{refuse_existing, write_new};
use crate::terminal::Terminal;
use crate::{verbs, wishes};

/// Longer witness files are refused.
const WITNESS_BYTES: u64 = 256 << 20;

/// How far neighbouring datasets move the answer.
pub(crate) fn sensitivity(
    probe: &Probe,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let inputs = Inputs::open(&probe.curating.common.spec)?;
    let model = Model::new(&inputs)?;
    let plan = planned(probe, &inputs, &model, terminal, cancel)?;
    let audit = settings(probe, &inputs, &model)?;
    let report = {
        let progress = terminal.progress("measuring");
        let batch = progress.batch(inputs.spec.solver.threads, cancel);
        terminal.stage("measure", || audit.sensitivity(&plan, &batch))
    };
    let report = report.map_err(|e| Failure::engine(&inputs.spec_name, &e))?;
    terminal.show(&report)?;
    terminal.say_timings();
    match report.released.measured {
        true => Ok(()),
        false => Err(Failure::nothing_tested(&inputs.spec_name)),
    }
}

/// The white-box audit, or one pair of it again. Flagged: exit code 4; no pair with two answers: 6.
pub(crate) fn audit(
    audited: &Audited,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let probe = &audited.probe;
    let inputs = Inputs::open(&probe.curating.common.spec)?;
    let model = Model::new(&inputs)?;
    let recorded = audited.replay.as_deref().map(recorded).transpose()?;
    if let Some(file) = &audited.witness {
        refuse_existing(file, WITNESS)?;
    }
    let plan = planned(probe, &inputs, &model, terminal, cancel)?;
    let engine = |e: conveil::Error| Failure::engine(&inputs.spec_name, &e);
    if let Some(witness) = recorded {
        let replay = terminal.stage("replay", || witness.replay(&plan));
        let replay = replay.map_err(engine)?;
        terminal.show(&replay)?;
        terminal.say_timings();
        if replay.is_flagged() {
            let verdict = "the witness exceeds the claim";
            return Err(Failure::flagged(&inputs.spec_name, verdict));
        }
        return Ok(());
    }
    let settings = settings(probe, &inputs, &model)?;
    let report = {
        let progress = terminal.progress("auditing");
        let batch = progress.batch(inputs.spec.solver.threads, cancel);
        terminal.stage("audit", || settings.run(&plan, &batch))
    };
    let report = report.map_err(engine)?;
    let black_box = match (audited.blackbox, report.witness()) {
        (Some(draws), Some(witness)) => {
            let (a, b) = (&witness.first, &witness.second);
            let settings = blackbox::Settings::new(draws, FALSE_ALARM);
            let _spinner = terminal.progress("drawing");
            let drawn = terminal.stage("black box", || {
                settings.and_then(|settings| blackbox::audit(&plan, a, b, &settings))
            });
            Some(drawn.map_err(|e| Failure::release(&inputs.spec_name, &e))?)
        }
        _ => None,
    };
    let found = Found {
        white_box: report,
        black_box,
    };
    terminal.show(&found)?;
    if let (Some(file), Some(witness)) = (&audited.witness, found.white_box.witness()) {
        save(file, witness)?;
    }
    terminal.say_timings();
    match found.verdict() {
        Some(verdict) => Err(Failure::flagged(&inputs.spec_name, &verdict)),
        None if found.white_box.is_empty_handed() => {
            Err(Failure::nothing_tested(&inputs.spec_name))
        }
        None => Ok(()),
    }
}

/// How rarely a black-box audit may err.
const FALSE_ALARM: f64 = 1e-6;

/// What the audits found: one document, the black box as a part of it where it ran.
#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    white_box: AuditReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    black_box: Option<BlackBox>,
}

impl Found {
    /// What contradicts the claim.
    fn verdict(&self) -> Option<String> {
        if self.white_box.is_flagged() {
            return Some(self.white_box.verdict_text());
        }
        let drawn = self.black_box.as_ref().filter(|b| b.violated)?;
        Some(format!(
            "answers drawn as a release draws them show ε ≥ {:.4}",
            drawn.epsilon_at_least
        ))
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.white_box)?;
        match &self.black_box {
            Some(black_box) => write!(f, "\n{black_box}"),
            None => Ok(()),
        }
    }
}

/// A random maximum misses structured pairs: beside a sampled sensitivity stands what a short search of the public
/// universe finds.
pub(crate) fn beside_sampled(
    plan: &Plan<'_>,
    inputs: &Inputs,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<Option<String>, Failure> {
    if plan.guarantee().basis().name() != "sampled" {
        return Ok(None);
    }
    let progress = terminal.progress("searching");
    let batch = progress.batch(inputs.spec.solver.threads, cancel);
    let report =
        conveil::audit::quick(plan, &batch).map_err(|e| Failure::engine(&inputs.spec_name, &e))?;
    Ok(Some(format!(
        "the sensitivity is sampled; a short search for the worst pair of the universe gives: {} (`conveil audit` searches longer)",
        report.beside()
    )))
}

/// What the flags and the spec's universe say.
fn settings(probe: &Probe, inputs: &Inputs, model: &Model) -> Result<Audit, Failure> {
    let audit = Audit::new()
        .pairs(probe.pairs)
        .seed(probe.seed.unwrap_or(inputs.spec.study.seed))
        .climbs(usize::try_from(probe.climbs).unwrap_or(usize::MAX))
        .solves(usize::try_from(probe.solves).unwrap_or(usize::MAX));
    // A sampled plan brings its own universe, in a study the one around the private data.
    let sampled = matches!(
        inputs.spec.privacy.sensitivity.value,
        Sensitivity::Sampled { .. }
    );
    match wishes::universe(&inputs.spec.private) {
        Some(universe) if !sampled => {
            let universe = universe.map_err(|e| Failure::engine(&inputs.spec_name, &e))?;
            Ok(audit.universe(universe))
        }
        None if !sampled => match open_parameter(model.map()) {
            Some(name) => Err(Failure::input(format!(
                "{}: an audit needs a public set of datasets to draw pairs from, and `{name}` has no public bounds\n  help: {}",
                inputs.spec_name,
                match model {
                    Model::Conic(_) =>
                        "add `[private.universe]`, or `bounds` to every [[private.parameter]]",
                    Model::Regression(_) => "add `bounds` to [private]: [0.0, 1.0], say",
                    Model::Svm(_) => "give every feature `bounds`",
                    Model::Ellipsoid(_) => "add `[private.universe]`",
                    Model::Opf(_) =>
                        "add `bounds` to [private]: { relative = 0.3 }, or { within = 50.0 } in MW",
                }
            ))),
            None => Ok(audit),
        },
        _ => Ok(audit),
    }
}

/// The first parameter without public bounds.
fn open_parameter(map: &dyn DataMap) -> Option<&str> {
    let mut open = map.parameters().iter().filter(|p| p.bounds().is_none());
    open.next().map(|p| p.name())
}

/// The spec's plan, made without data; with `--not-private` the paper's, made around the private data.
fn planned<'m>(
    probe: &Probe,
    inputs: &Inputs,
    model: &'m Model,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<Plan<'m>, Failure> {
    let wish = &inputs.spec.privacy.sensitivity;
    let papers = wishes::is_calibrated_as_in_the_paper(&inputs.spec);
    let plan = match (papers, probe.not_private) {
        (false, false) => {
            terminal.stage("plan", || verbs::planned(inputs, model, terminal, cancel))?
        }
        (true, true) => {
            let theta = verbs::dataset(inputs, model, probe.curating.row, terminal)?;
            let ask = wishes::ask(inputs, model, cancel)?;
            let plan = terminal.stage("plan", || Plan::paper_mode(model.map(), ask, &theta));
            plan.map_err(|e| Failure::engine(&inputs.spec_name, &e))?
        }
        (true, false) => {
            let error = wish.error(
                &inputs.spec_name,
                "noise calibrated to the map without noise can be studied, never released",
            );
            let help = "`--not-private` says that you know; `on = \"released\"` calibrates to the map that is released";
            return Err(Failure::from(error.with_help(help)));
        }
        (false, true) => {
            let error = wish.error(
                &inputs.spec_name,
                "`--not-private` is for a sensitivity sampled `on = \"deterministic\"`",
            );
            return Err(Failure::from(
                error.with_help("leave the flag away to audit this spec as it stands"),
            ));
        }
    };
    verbs::warn(&plan, terminal);
    Ok(plan)
}

fn recorded(file: &Path) -> Result<Witness, Failure> {
    let name = file.display();
    let text = text_of(file, WITNESS_BYTES).map_err(|why| {
        Failure::input(format!(
            "{name}: {why}\n  help: give a file that `conveil audit --witness` has written"
        ))
    })?;
    Witness::from_json(&text).map_err(|e| Failure::engine(&name.to_string(), &e))
}

fn save(file: &Path, witness: &Witness) -> Result<(), Failure> {
    let mut text = witness.to_json();
    text.push('\n');
    write_new(file, WITNESS, text.as_bytes())
}

/// What the file of a pair is called.
const WITNESS: &str = "witness";
