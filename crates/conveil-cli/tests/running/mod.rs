//! The real binary, run in a directory of its own.
#![allow(dead_code)] // each test file uses a part of it

pub mod charged;
pub mod grid;
pub mod regression;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The example specs of saved problems, by name: the problem is in a JSON beside them.
pub const EXAMPLES: &[&str] = &[
    "scalar-lp",
    "two-generators",
    "least-squares",
    "portfolio",
    "small-sdp",
    "sampled-dispatch",
    "envelope-dispatch",
    "least-squares-certified",
    "hospital-staffing",
    "bike-sharing",
    "blending",
    "transport",
    "bus-charging",
];

/// The example specs of power grids, by name: their private values are in a CSV beside them.
pub const GRID_EXAMPLES: &[&str] = &["opf-24", "opf-generation", "group-generation"];

/// The example specs of regressions, by name: regressors and private responses are in a CSV beside them.
pub const RECORD_EXAMPLES: &[&str] = &["wind-curve", "heat-demand"];

/// The example specs of classifiers: `classifier.rs` runs them.
pub const CLASSIFIER_EXAMPLES: &[&str] = &["svm-machines", "readmissions", "readmission-odds"];

/// The example specs for which the rule of version 2 chooses another strategy than program perturbation, which `explain` and
/// `frontier` are about.
pub const RULED_EXAMPLES: &[&str] = &["dose-response", "plant-profit", "private-covariance"];

/// The example specs of ellipsoids, by name: their private offsets are in a CSV beside them.
pub const ELLIPSOID_EXAMPLES: &[&str] = &["ellipsoid"];

/// The example specs of portfolios, by name: their private returns are in a CSV beside them.
pub const PORTFOLIO_EXAMPLES: &[&str] = &["mean-variance"];

/// Where the example specs stand.
pub fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/specs")
}

/// An example spec without its public nominal values: for tests in which nothing is known before the data.
pub fn without_nominal(name: &str) -> String {
    let spec = text(&examples().join(format!("{name}.toml")));
    let lines = spec.lines().filter(|line| !line.starts_with("nominal = "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// A file's text.
pub fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A new empty directory.
pub fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    path
}

/// Writes a file.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    std::fs::write(path, bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

/// `conveil` with these words, started in `directory`.
pub fn command(directory: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conveil"));
    command
        .args(words)
        .current_dir(directory)
        .stdin(Stdio::null());
    command
}

/// What it printed and how it ended.
pub fn run(directory: &Path, words: &[&str]) -> Output {
    command(directory, words)
        .output()
        .unwrap_or_else(|e| panic!("{e}"))
}

/// Its exit code, standard output and standard error.
pub fn ended(directory: &Path, words: &[&str]) -> (i32, String, String) {
    let output = run(directory, words);
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}
