//! The `conveil` command line: a spec file in, a report out.
//!
//! One straight road: [`inputs`] reads the spec and its problem or network, [`model`] turns them into the public map θ ↦ program
//! and, separately, the private datasets, [`wishes`] into what is asked of the engine; `verbs` does what the user wants with
//! them. `check` takes the public half of that road only.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod arguments;
mod audit;
pub mod check;
mod conic;
mod delivery;
mod ellipsoid;
pub mod failure;
mod grid;
mod grid_report;
pub mod inputs;
mod ledger;
pub mod model;
mod new_file;
mod outside;
mod private_file;
mod regression;
mod regression_report;
mod release;
mod signals;
mod study;
mod study_learning;
mod study_records;
mod study_regression;
mod svm;
mod svm_compare;
mod terminal;
mod verbs;
pub mod wishes;

use std::process::ExitCode;

use arguments::Command;
use conveil::solve::Cancel;
use terminal::Terminal;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let command = match arguments::read() {
        Ok(command) => command,
        Err(ended) => return ended,
    };
    let cancel = Cancel::default();
    signals::watch(cancel.clone());
    let terminal = Terminal::new(command.output());
    match run(&command, &terminal, &cancel) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            terminal.say(&format!("error: {failure}"));
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(command: &Command, terminal: &Terminal, cancel: &Cancel) -> Result<(), failure::Failure> {
    match command {
        Command::Check(common) => verbs::check(common, terminal, cancel),
        Command::Solve(curating) => verbs::solve(curating, terminal, cancel),
        Command::Compare(study) => verbs::compare(study, terminal, cancel),
        Command::Explain(curating) => verbs::explain(curating, terminal, cancel),
        Command::Frontier(sweep) => verbs::frontier(sweep, terminal, cancel),
        Command::Release(releasing) => release::run(releasing, terminal, cancel),
        Command::Sensitivity(probe) => audit::sensitivity(probe, terminal, cancel),
        Command::Audit(audited) => audit::audit(audited, terminal, cancel),
        Command::Ledger(book) => ledger::run(book, terminal, cancel),
        Command::Study(study) => study::run(study, terminal, cancel),
    }
}
