//! The verbs that release nothing: each asks the workbench and shows what it gets.

use std::path::{Path, PathBuf};

use conveil::solve::Cancel;
use conveil_studio::Studio;
use conveil_workbench::starter::{self, Draft, Given};
use conveil_workbench::{Answers, Failure, Judged, Kind, Silent, Workbench, doctor, read_witness};

use crate::arguments::{
    self, Answering, Audited, Carded, Checked, Common, Curating, Depth, Examined, Init, Manual,
    Probe, Reported, Served, Study, Sweep,
};
use crate::lines::Lines;
use crate::new_file::{refuse_existing, write_new};
use crate::terminal::Terminal;

/// What the file of a pair is called.
const WITNESS: &str = "witness";

fn opened(common: &Common, terminal: &Terminal) -> Result<Workbench, Failure> {
    Workbench::open_watched(&common.spec, terminal)
}

/// With the private data, or with the public ones that stand in for them.
fn curated(curating: &Curating, terminal: &Terminal) -> Result<Workbench, Failure> {
    opened(&curating.common, terminal)?.at(curating.about())
}

/// From flags, or from answers on a terminal.
pub(crate) fn init(init: &Init, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    let answers = init.answers();
    let mut draft = match (&init.from, &init.model) {
        (Some(data), _) => Draft::from_data(data, init.of.as_deref())?,
        (None, Some(model)) => Draft::sample(model, init.dir.as_deref().unwrap_or(Path::new("")))?,
        (None, None) if !Lines::are_asked() => return Err(starter::no_model()),
        (None, None) => {
            let given = Given {
                folder: init.dir.clone(),
                answers,
            };
            let draft = starter::converse(&given, &mut Lines::open(terminal, cancel)?)?;
            return terminal.show(&draft.write()?);
        }
    };
    for (key, answer) in &answers {
        draft.fill(key, answer)?;
    }
    draft.verify()?;
    terminal.show(&draft.write()?)
}

/// No timings, so that nothing but public differences shows.
pub(crate) fn check(checked: &Checked, terminal: &Terminal) -> Result<(), Failure> {
    let bench = opened(&checked.common, terminal)?;
    let check = bench.check(terminal)?;
    let check = match checked.details {
        true => check.with_details(),
        false => check.in_short(),
    };
    terminal.show_answer(&check)?;
    match (checked.strict, &check.outlook) {
        (true, Some(outlook)) => bench.refuse_poor(outlook),
        _ => Ok(()),
    }
}

pub(crate) fn solve(answering: &Answering, terminal: &Terminal) -> Result<(), Failure> {
    let bench = curated(&answering.curating, terminal)?;
    let report = bench.solve(answering.curating.row, terminal)?;
    answer(&bench, report, &answering.depth, terminal)
}

/// The document with its answer in front, and how long its stages took.
fn answer<D: Answers>(
    bench: &Workbench,
    document: D,
    depth: &Depth,
    terminal: &Terminal,
) -> Result<(), Failure> {
    terminal.show_answer(&bench.answered(document, depth.details, terminal))?;
    terminal.say_timings();
    Ok(())
}

pub(crate) fn inspect(curating: &Curating, terminal: &Terminal) -> Result<(), Failure> {
    terminal.show(&curated(curating, terminal)?.inspect(curating.row, terminal)?)
}

pub(crate) fn compare(study: &Study, terminal: &Terminal) -> Result<(), Failure> {
    let bench = curated(&study.curating, terminal)?;
    let comparing = conveil_workbench::Comparing {
        row: study.curating.row,
        draws: study.draws,
        seed: study.seed,
    };
    let comparison = bench.compare(&comparing, terminal)?;
    answer(&bench, comparison, &study.depth, terminal)
}

pub(crate) fn explain(answering: &Answering, terminal: &Terminal) -> Result<(), Failure> {
    let bench = curated(&answering.curating, terminal)?;
    let explanation = bench.explain(answering.curating.row, terminal)?;
    answer(&bench, explanation, &answering.depth, terminal)
}

pub(crate) fn frontier(sweep: &Sweep, terminal: &Terminal) -> Result<(), Failure> {
    let bench = curated(&sweep.curating, terminal)?;
    let swept = conveil_workbench::Sweep {
        row: sweep.curating.row,
        over: sweep.over.axis(),
        values: sweep.values.clone(),
    };
    terminal.show_timed(&bench.frontier(&swept, terminal)?)
}

pub(crate) fn sensitivity(probe: &Probe, terminal: &Terminal) -> Result<(), Failure> {
    let bench = curated(&probe.curating, terminal)?;
    let Judged { report, verdict } = bench.sensitivity(&probe.probe(), terminal)?;
    terminal.show_timed(&report)?;
    verdict
}

/// The white-box audit, or one pair of it again.
pub(crate) fn audit(audited: &Audited, terminal: &Terminal) -> Result<(), Failure> {
    let bench = curated(&audited.probe.curating, terminal)?;
    let probe = audited.probe.probe();
    if let Some(file) = &audited.replay {
        let witness = read_witness(file)?;
        let Judged { report, verdict } = bench.replay(&probe, &witness, terminal)?;
        terminal.show_timed(&report)?;
        return verdict;
    }
    if let Some(file) = &audited.witness {
        refuse_existing(file, WITNESS)?;
    }
    let Judged { report, verdict } = bench.audit(&probe, audited.blackbox, terminal)?;
    terminal.show(&report)?;
    if let (Some(file), Some(witness)) = (&audited.witness, report.white_box.witness()) {
        let text = witness.to_json() + "\n";
        write_new(file, WITNESS, text.as_bytes())?;
    }
    terminal.say_timings();
    verdict
}

/// Whether the machine, a spec and its ledger are in order.
pub(crate) fn doctor(examined: &Examined, terminal: &Terminal) -> Result<(), Failure> {
    let (spec, ledger) = (examined.spec.as_deref(), examined.ledger.as_deref());
    let Judged { report, verdict } = doctor::examine(spec, ledger, terminal);
    terminal.show(&report)?;
    verdict
}

/// The manual page.
pub(crate) fn manual(wanted: &Manual, terminal: &Terminal) -> Result<(), Failure> {
    let page = arguments::manual(wanted.verb.as_deref())
        .map_err(|error| Failure::new(Kind::NotWritten, error.to_string()))?;
    match (page, &wanted.verb) {
        (Some(page), _) => terminal.print(&page),
        (None, verb) => Err(Failure::input(format!(
            "there is no verb {:?}\n  help: `conveil --help` lists them",
            verb.as_deref().unwrap_or_default()
        ))),
    }
}

/// The curator's report as a page: a new file, for its owner's eyes. Or the studies, which need no spec.
pub(crate) fn report(
    reported: &Reported,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let Some(spec) = &reported.spec else {
        return studies(reported, terminal, cancel);
    };
    let file = reported.out.clone().unwrap_or_else(|| {
        let mut name = spec.file_stem().unwrap_or_default().to_owned();
        name.push("-report.html");
        PathBuf::from(name)
    });
    refuse_existing(&file, "report")?;
    let bench = Workbench::open_watched(spec, terminal)?;
    let about = arguments::about(reported.at);
    let page = conveil_pages::report(&bench, about, reported.row, terminal)?;
    write_new(&file, "report", page.as_bytes())?;
    // The page has said what there is to say about the solve; a spec without an answer has a page that says why.
    let bench = bench.at(about)?;
    if let (Ok(report), false) = (bench.solve(reported.row, &Silent), reported.output.json) {
        let answered = bench.answered(report, false, &Silent);
        terminal.print(&answered.opening())?;
    }
    terminal.print(&format!("open {}\n", file.display()))
}

/// The paper's tables and figures beside ours, study by study.
fn studies(reported: &Reported, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    let file = reported.out.clone();
    let file = file.unwrap_or_else(|| PathBuf::from("studies.html"));
    refuse_existing(&file, "report")?;
    let mut sections = Vec::new();
    for study in conveil_pages::chosen_studies(&reported.only)? {
        let progress = terminal.progress(format!("study {}", study.name));
        let batch = progress.batch(None, cancel);
        sections.push(conveil_pages::study(study, &batch)?);
    }
    write_new(
        &file,
        "report",
        conveil_pages::studies(&sections).as_bytes(),
    )?;
    terminal.print(&format!("open {}\n", file.display()))
}

/// A released card as a page.
pub(crate) fn card(carded: &Carded, terminal: &Terminal) -> Result<(), Failure> {
    refuse_existing(&carded.out, "page")?;
    let name = carded.card.display().to_string();
    let json = std::fs::read_to_string(&carded.card)
        .map_err(|why| Failure::input(format!("cannot read {name}: {why}")))?;
    let page = conveil_pages::card(&name, &json)?;
    write_new(&carded.out, "page", page.as_bytes())?;
    terminal.print(&format!("open {}\n", carded.out.display()))
}

/// The local page, until it is stopped.
pub(crate) fn studio(served: &Served, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    let beside = served.spec.as_ref().and_then(|spec| spec.parent());
    let folder = served.folder.as_deref().or(beside);
    let studio = Studio {
        folder: folder.unwrap_or(Path::new("")).into(),
        spec: served.spec.clone(),
        port: served.port,
    };
    studio.serve(cancel, |address| {
        terminal.print(&format!("open {address}\n"))?;
        terminal.say("Ctrl-C stops it");
        Ok(())
    })
}
