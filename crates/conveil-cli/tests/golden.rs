//! What the binary says, kept in files: every `*.golden` below `tests/golden` is a list of cases.
//!
//! A case names the files that it needs, the commands that it runs and all that they say: standard output (`|`),
//! standard error (`!`) and the exit code. `CONVEIL_GOLDEN=write` runs all cases and writes what they say now;
//! a number that changes from run to run is written as `<any>`.

mod pinned;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pinned::case::{Case, Said, cases_of, written};
use pinned::text::{compared, masked};

/// How many failing cases are shown in full.
const SHOWN: usize = 10;

/// The golden files, in order.
fn files() -> Vec<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = std::fs::read_dir(&place).unwrap_or_else(|e| panic!("{}: {e}", place.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap_or_else(|e| panic!("{e}")).path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "golden"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no golden files in {}", place.display());
    files
}

/// The file and the case.
fn full_name(file: &Path, case: &Case) -> String {
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    format!("{file}: {}", case.name)
}

/// What the commands of each case say now, cases side by side on all cores.
fn run_all(cases: &[(String, Case)], again: &str) -> Vec<Vec<Said>> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Vec<Said>>> = cases.iter().map(|_| Mutex::default()).collect();
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    let Some((_, case)) = cases.get(k) else {
                        break;
                    };
                    let said = case.run(&format!("golden{again}-{k}"));
                    *results[k].lock().unwrap_or_else(|e| panic!("{e}")) = said;
                }
            });
        }
    });
    let inner = |said: Mutex<Vec<Said>>| said.into_inner().unwrap_or_else(|e| panic!("{e}"));
    results.into_iter().map(inner).collect()
}

/// What is said now against what is kept: the first differing lines of a case.
fn difference(case: &Case, now: &[Said]) -> Option<String> {
    let commands = case.commands.iter().zip(now);
    commands.into_iter().find_map(|(command, now)| {
        let line = match compared(&command.said.lines(), &now.lines()) {
            Ok(()) => return None,
            Err(line) => line,
        };
        Some(format!("  $ {}\n{line}", command.line))
    })
}

#[test]
fn the_binary_says_what_the_golden_files_keep() {
    let full = std::env::var_os("CONVEIL_FULL").is_some();
    let write = std::env::var_os("CONVEIL_GOLDEN").is_some_and(|word| word == "write");
    let files = files();
    let heads_and_cases: Vec<(String, Vec<Case>)> = files.iter().map(|f| cases_of(f)).collect();
    let mut all = Vec::new();
    for (file, (_, cases)) in files.iter().zip(&heads_and_cases) {
        for case in cases.iter().filter(|case| full || write || !case.slow) {
            all.push((full_name(file, case), case.clone()));
        }
    }
    let now = run_all(&all, "");
    if !write {
        let failed: Vec<String> = all
            .iter()
            .zip(&now)
            .filter_map(|((name, case), now)| {
                difference(case, now).map(|shown| format!("{name}\n{shown}"))
            })
            .collect();
        let shown = failed[..failed.len().min(SHOWN)].join("\n");
        let count = format!("{} of {} cases differ", failed.len(), all.len());
        let help =
            "where that is intended: CONVEIL_GOLDEN=write cargo test --workspace --test golden";
        assert!(failed.is_empty(), "{count}\n{shown}\n{help}");
        return;
    }
    // What says the same as before, to the digits that are compared, stays as it is.
    let changed = |(k, now): (usize, &Vec<Said>)| {
        let case = &all[k].1;
        let new = case.commands.iter().any(|command| command.said.is_new());
        (new || difference(case, now).is_some()).then(|| all[k].clone())
    };
    let cases: Vec<(String, Case)> = now.iter().enumerate().filter_map(changed).collect();
    let runs = ["", "-2", "-3"].map(|again| run_all(&cases, again));
    let (mut said_now, mut unsteady) = (HashMap::new(), Vec::new());
    for (k, (name, case)) in cases.into_iter().enumerate() {
        let said = |c: usize| masked(&runs.each_ref().map(|run| &run[k][c]));
        match (0..case.commands.len())
            .map(said)
            .collect::<Result<Vec<Said>, String>>()
        {
            Ok(said) => drop(said_now.insert(name, (case, said))),
            Err(why) => unsteady.push(format!("{name}: {why}")),
        }
    }
    for (file, (head, cases)) in files.iter().zip(heads_and_cases) {
        let mut text = head;
        for case in cases {
            text += &match said_now.remove(&full_name(file, &case)) {
                Some((case, said)) => written(&case, &said),
                None => written(&case, &case.said()),
            };
        }
        std::fs::write(file, text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    }
    let shown = unsteady.join("\n");
    assert!(
        unsteady.is_empty(),
        "not the same in every run, and not written:\n{shown}"
    );
}
