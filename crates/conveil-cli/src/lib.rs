//! The `conveil` command line: a spec file in, a report out.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod arguments;
mod audit;
mod delivery;
mod ledger;
mod new_file;
mod private_file;
mod release;
mod signals;
mod study;
mod study_learning;
mod study_records;
mod study_regression;
mod terminal;
mod verbs;

use std::process::ExitCode;

use arguments::Command;
use conveil::solve::Cancel;
use conveil_workbench::{check, failure, grid, inputs, model, outside, svm_compare, wishes};
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
