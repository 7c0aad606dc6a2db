//! Reads a spec as TOML and a saved problem, and does nothing else: what the CPU time of a `check` is measured beside.
//!
//! ```text
//! read_problem SPEC PROBLEM
//! ```

use std::process::ExitCode;

use conveil_text::problem;
use conveil_text::tables::Document;

fn main() -> ExitCode {
    match read() {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn read() -> Result<String, Box<dyn std::error::Error>> {
    let mut paths = std::env::args().skip(1);
    let (Some(spec), Some(file)) = (paths.next(), paths.next()) else {
        return Err("read_problem SPEC PROBLEM".into());
    };
    let text = std::fs::read_to_string(&spec)?;
    Document::read(&spec, &text)?;
    let saved = problem::read(&file, &std::fs::read_to_string(&file)?)?;
    Ok(format!(
        "{} rows, {} variables",
        saved.b.len(),
        saved.q.len()
    ))
}
