//! A release on large networks, from the charge to the card, against the deterministic solve by the same solver, in one
//! run.
//!
//! The case files come from the directory in `CONVEIL_PGLIB`; names may be given as arguments.

use conveil::ask::{Adjacency, Ask, Bound, Privacy, Request};
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Settings, solve_checked};
use conveil_grid::matpower;
use conveil_models::grid::Opf;
use conveil_release::ledger::{Budget, NotDurable};
use std::time::Instant;

/// A release may take this many times the deterministic solve.
const RATIO: f64 = 4.0;

/// And the whole run this much memory.
const GIB: f64 = 4.0;

const CASES: [&str; 4] = ["2869_pegase", "9241_pegase", "13659_pegase", "30000_goc"];

fn main() {
    let Some(directory) = std::env::var_os("CONVEIL_PGLIB") else {
        println!("scale: skipped, CONVEIL_PGLIB names no directory of case files");
        return;
    };
    let named: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let cases: Vec<&str> = if named.is_empty() {
        CASES.to_vec()
    } else {
        named.iter().map(String::as_str).collect()
    };
    println!(
        "network           buses  lines  read s  deterministic s  release s  ratio  loss %  peak GiB  at most {RATIO} times and {GIB} GiB"
    );
    for case in cases {
        let path = std::path::Path::new(&directory).join(format!("pglib_opf_case{case}.m"));
        match run(&path, case) {
            Ok(line) => println!("{line}"),
            Err(why) => println!("{case:<16}  {why}"),
        }
    }
}

fn run(path: &std::path::Path, case: &str) -> Result<String, String> {
    let start = Instant::now();
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let network = matpower::read(case, &text).map_err(|e| e.to_string())?;
    let opf = Opf::of(network).build().map_err(|e| e.to_string())?;
    let read = start.elapsed().as_secs_f64();
    let theta = opf.nominal();
    let program = opf.at(&theta).map_err(|e| e.to_string())?;
    let start = Instant::now();
    let optimum = solve_checked(&program, &Settings::default()).map_err(|e| e.to_string())?;
    let deterministic = start.elapsed().as_secs_f64();
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::Declared {
            bound: Bound::PerAlpha(opf.largest_cost()),
            reason: "the largest cost of a unit".into(),
        })
        .feasible(0.99);
    let plan = Plan::new(&opf, ask).map_err(|e| e.to_string())?;
    let mut ledger = NotDurable::default();
    let budget = conveil_release::ledger::Neighbourhood::of(&plan)
        .and_then(|between| Budget::new(1.0, 0.0, &between))
        .map_err(|e| e.to_string())?;
    ledger.init(case, &budget).map_err(|e| e.to_string())?;
    let start = Instant::now();
    // Charge, solve and check, draw, write the documents; the curator's report is no part of it.
    let released = conveil_release::charge(&plan, &mut ledger, case)
        .and_then(|charged| charged.without_report().release(&theta));
    let taken = start.elapsed().as_secs_f64();
    let released = released
        .map_err(|e| format!("deterministic {deterministic:.1} s; after {taken:.1} s: {e}"))?;
    let (ratio, peak) = (taken / deterministic, peak_gib());
    Ok(format!(
        "{case:<16} {:>6} {:>6} {read:>7.2} {deterministic:>16.2} {taken:>10.2} {ratio:>6.2} {:>7.3} {:>9.2}  {}",
        opf.network().buses().len(),
        opf.network().branches().len(),
        100.0 * (released.decided().objective / optimum.objective - 1.0),
        peak.unwrap_or(f64::NAN),
        verdict(ratio, peak),
    ))
}

fn verdict(ratio: f64, peak: Option<f64>) -> &'static str {
    match (ratio <= RATIO, peak) {
        (false, Some(peak)) if peak > GIB => "over in both",
        (false, _) => "over in time",
        (true, Some(peak)) if peak > GIB => "over in memory",
        (true, Some(_)) => "PASS",
        (true, None) => "PASS in time, memory unknown",
    }
}

/// The process's largest resident memory so far, where the system tells.
fn peak_gib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / (1024.0 * 1024.0))
}
