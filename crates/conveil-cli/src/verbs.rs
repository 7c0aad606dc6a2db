//! The verbs that release nothing: each asks the workbench and shows what it gets.

use std::path::Path;

use conveil_workbench::starter::{self, Draft};
use conveil_workbench::{Failure, Judged, Workbench, read_witness};

use crate::arguments::{Audited, Checked, Common, Curating, Init, Probe, Study, Sweep};
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

pub(crate) fn init(init: &Init, terminal: &Terminal) -> Result<(), Failure> {
    let draft = match (&init.from, &init.model) {
        (Some(data), _) => Draft::from_data(data, init.of.as_deref())?,
        (None, Some(model)) => Draft::sample(model, init.dir.as_deref().unwrap_or(Path::new("")))?,
        (None, None) => return Err(starter::no_model()),
    };
    terminal.show(&draft.write()?)
}

/// No timings, so that nothing but public differences shows.
pub(crate) fn check(checked: &Checked, terminal: &Terminal) -> Result<(), Failure> {
    let bench = opened(&checked.common, terminal)?;
    let mut check = bench.check(terminal)?;
    if checked.details {
        check = check.with_details();
    }
    terminal.show(&check)?;
    match (checked.strict, &check.outlook) {
        (true, Some(outlook)) => bench.refuse_poor(outlook),
        _ => Ok(()),
    }
}

pub(crate) fn solve(curating: &Curating, terminal: &Terminal) -> Result<(), Failure> {
    let bench = curated(curating, terminal)?;
    terminal.show_timed(&bench.solve(curating.row, terminal)?)
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
    terminal.show_timed(&bench.compare(&comparing, terminal)?)
}

pub(crate) fn explain(curating: &Curating, terminal: &Terminal) -> Result<(), Failure> {
    let bench = curated(curating, terminal)?;
    terminal.show_timed(&bench.explain(curating.row, terminal)?)
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
