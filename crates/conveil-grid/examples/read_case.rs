//! Reads a MATPOWER case and does nothing else: what the CPU time of a `check` is measured beside.
//!
//! ```text
//! read_case FILE…
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    for path in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::FAILURE;
            }
        };
        match conveil_grid::matpower::read(&path, &text) {
            Ok(network) => println!("{path}: {} buses", network.buses().len()),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
