//! The whole of PGLib: every case is read, and the built-in networks are what it has.
//!
//! `CONVEIL_PGLIB` is a folder of PGLib's cases with those below it; `cargo xtask test --full`
//! installs one. Without it these tests have nothing to read, which only `CONVEIL_FULL` forbids.

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs};

use conveil_grid::{Network, builtin, matpower};

/// PGLib's folder of cases, if there is one.
fn pglib() -> Option<PathBuf> {
    let folder = env::var_os("CONVEIL_PGLIB").map(PathBuf::from);
    if folder.is_none() {
        let full = env::var("CONVEIL_FULL").is_ok_and(|value| value == "1");
        assert!(!full, "CONVEIL_PGLIB must name the folder of PGLib's cases");
        println!("without CONVEIL_PGLIB there is nothing to read");
    }
    folder
}

/// The case files of a folder, by name.
fn cases(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "m"))
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "{} has no case", folder.display());
    cases
}

fn read(path: &Path) -> Result<Network, conveil_grid::ReadError> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let name = path.file_name().unwrap().to_string_lossy();
    matpower::read(&name, &text)
}

#[test]
fn every_case_is_read_but_one_with_lines_of_no_reactance() {
    let Some(pglib) = pglib() else { return };
    let (mut accepted, mut refused) = (0, Vec::new());
    for folder in [pglib.clone(), pglib.join("api"), pglib.join("sad")] {
        for path in cases(&folder) {
            match read(&path) {
                Ok(network) => {
                    accepted += 1;
                    summarise(&network);
                }
                Err(error) => refused.push(error.to_string()),
            }
        }
    }
    println!("{accepted} cases accepted; refused: {refused:#?}");
    assert_eq!(refused.len(), 3);
    for message in refused {
        assert!(message.contains("case1803_snem"), "{message}");
        let reason = "branch 2499 (line 101-10008) has no reactance";
        assert!(message.contains(reason), "{message}");
    }
}

/// One line for each case, with what is unusual about it.
fn summarise(network: &Network) {
    let count = |what: &str, count: usize| match count {
        0 => String::new(),
        count => format!(", {count} {what}"),
    };
    let (buses, units, branches) = (network.buses(), network.units(), network.branches());
    let free = units.iter().filter(|unit| {
        use conveil_grid::Cost::Linear;
        matches!(unit.cost, Linear { c1: 0.0, .. }) && unit.pmax_mw > 0.0
    });
    let loose = network.islands().iter().filter(|i| i.reference.is_none());
    println!(
        "{}: {} buses, {} units, {} branches{}{}{}{}{}{}{}",
        network.name(),
        buses.len(),
        units.len(),
        branches.len(),
        count(
            "negative demands",
            buses.iter().filter(|b| b.demand_mw < 0.0).count()
        ),
        count("free units", free.count()),
        count(
            "negative reactances",
            branches.iter().filter(|b| b.x < 0.0).count()
        ),
        count(
            "unlimited branches",
            branches.iter().filter(|b| b.rate_mw.is_none()).count()
        ),
        count(
            "phase shifts",
            branches.iter().filter(|b| b.shift != 0.0).count()
        ),
        count("islands besides the first", network.islands().len() - 1),
        count("islands without a reference", loose.count()),
    );
}

#[test]
fn built_in_networks_are_their_originals() {
    let Some(pglib) = pglib() else { return };
    for name in builtin::names() {
        let original = read(&pglib.join(format!("pglib_opf_case{name}.m"))).unwrap();
        assert_eq!(Network::builtin(name).unwrap(), original);
    }
}

#[test]
fn time_of_a_large_case() {
    let Some(pglib) = pglib() else { return };
    let path = pglib.join("pglib_opf_case13659_pegase.m");
    let text = fs::read_to_string(&path).unwrap();
    let start = Instant::now();
    let network = matpower::read("case13659_pegase.m", &text).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    println!("{} buses in {seconds:.3} s", network.buses().len());
    assert_eq!(network.buses().len(), 13659);
}
