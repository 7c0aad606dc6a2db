//! The `conveil` command line: a spec file in, a report out.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod arguments;
mod delivery;
mod ledger;
mod lines;
mod new_file;
mod private_file;
mod release;
mod signals;
mod study;
mod terminal;
mod verbs;

use std::process::ExitCode;

use arguments::Command;
use conveil::solve::Cancel;
use conveil_workbench::{Failure, Kind};
use terminal::Terminal;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let command = match arguments::read() {
        Ok(command) => command,
        Err(ended) => return ended,
    };
    let cancel = Cancel::default();
    signals::watch(cancel.clone());
    let terminal = Terminal::new(command.output(), &cancel);
    match run(&command, &terminal, &cancel) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            terminal.say(&format!("error: {failure}"));
            ExitCode::from(exit_code(failure.kind()))
        }
    }
}

/// As `--help` lists them.
fn exit_code(kind: Kind) -> u8 {
    match kind {
        Kind::Input => arguments::USAGE,
        Kind::NoSolution => 3,
        Kind::NotWithThisNoise | Kind::NotWithTheseData | Kind::Flagged => 4,
        Kind::OverBudget => 5,
        Kind::Undelivered => 7,
        // The solver failed, or was interrupted, or what was found could not be written; so for kinds to come.
        _ => 6,
    }
}

fn run(command: &Command, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    match command {
        Command::Init(init) => verbs::init(init, terminal, cancel),
        Command::Check(checked) => verbs::check(checked, terminal),
        Command::Solve(answering) => verbs::solve(answering, terminal),
        Command::Inspect(curating) => verbs::inspect(curating, terminal),
        Command::Compare(study) => verbs::compare(study, terminal),
        Command::Explain(answering) => verbs::explain(answering, terminal),
        Command::Frontier(sweep) => verbs::frontier(sweep, terminal),
        Command::Release(releasing) => release::run(releasing, terminal),
        Command::Sensitivity(probe) => verbs::sensitivity(probe, terminal),
        Command::Audit(audited) => verbs::audit(audited, terminal),
        Command::Report(reported) => verbs::report(reported, terminal, cancel),
        Command::Card(carded) => verbs::card(carded, terminal),
        Command::Studio(served) => verbs::studio(served, terminal, cancel),
        Command::Ledger(book) => ledger::run(book, terminal),
        Command::Study(study) => study::run(study, terminal, cancel),
        Command::Doctor(examined) => verbs::doctor(examined, terminal),
        Command::Completions(wanted) => terminal.print(&arguments::completions(wanted.shell)),
        Command::Man(wanted) => verbs::manual(wanted, terminal),
    }
}
