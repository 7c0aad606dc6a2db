//! The Python package: its tests and its wheel, in a virtual environment below target/.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the build and the tests need, beside the package itself.
const REQUIREMENTS: &str = "python/requirements-test.txt";

/// The oldest CVXPY and pandapower, with what the tests of the bridge and of the models need.
const OLDEST: &str = "python/requirements-oldest.txt";

/// What shows that an installed package works.
const TRIAL: &str = "python/trial.py";

/// A virtual environment.
pub struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// Makes it, with pip, unless it is there.
    pub fn at(folder: PathBuf) -> Result<Self, String> {
        let made = Environment { folder };
        let pip = Command::new(made.python())
            .args(["-m", "pip", "--version"])
            .output();
        if pip.is_ok_and(|output| output.status.success()) {
            return Ok(made);
        }
        let python = |words: &[&str], last: &[&str]| {
            let mut command = Command::new("python3");
            command.args(words).arg(&made.folder).args(last);
            run(&mut command)
        };
        if python(&["-m", "venv", "--clear"], &[]).is_ok() {
            return Ok(made);
        }
        // Without ensurepip (on Debian that of python3-venv), the pip of python3 itself installs one there.
        python(&["-m", "venv", "--clear", "--without-pip"], &[])
            .and_then(|()| python(&["-m", "pip", "--quiet", "--python"], &["install", "pip"]))
            .map_err(|why| {
                format!("{why}\n  help: python3 needs venv and pip: on Debian, python3-venv")
            })?;
        Ok(made)
    }

    /// Its Python.
    pub fn python(&self) -> PathBuf {
        self.programs().join("python")
    }

    fn programs(&self) -> PathBuf {
        let programs = if cfg!(windows) { "Scripts" } else { "bin" };
        self.folder.join(programs)
    }

    /// `python -m …` in this folder; programs of the environment are found before others.
    pub fn module(&self, folder: &Path, words: &[&str]) -> Result<Command, String> {
        let mut paths = vec![self.programs()];
        let others = env::var_os("PATH").unwrap_or_default();
        paths.extend(env::split_paths(&others));
        let paths: OsString = env::join_paths(paths).map_err(|error| error.to_string())?;
        let mut command = Command::new(self.python());
        command
            .arg("-m")
            .args(words)
            .env("PATH", paths)
            .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
            .current_dir(folder);
        Ok(command)
    }

    /// `pip install …` in this folder.
    pub fn install(&self, folder: &Path, words: &[&str]) -> Result<(), String> {
        let words = [&["pip", "install", "--quiet"], words].concat();
        run(&mut self.module(folder, &words)?)
    }
}

/// The environment with what the tests and the build need.
fn prepared(root: &Path) -> Result<Environment, String> {
    environment_with(root, "python", REQUIREMENTS)
}

/// The environment of this name below target/ with a list of requirements, installed once for each state of the list.
pub fn environment_with(root: &Path, name: &str, list: &str) -> Result<Environment, String> {
    let environment = Environment::at(root.join("target").join(name))?;
    let wanted = fs::read_to_string(root.join(list)).map_err(|error| format!("{list}: {error}"))?;
    let installed = environment.folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|found| found == wanted) {
        return Ok(environment);
    }
    environment.install(root, &["--requirement", list])?;
    fs::write(&installed, wanted).map_err(|error| error.to_string())?;
    Ok(environment)
}

/// `pip install .`, the tests, and the wheel.
pub fn test(root: &Path) -> Result<(), String> {
    let environment = prepared(root)?;
    // The dependencies and maturin are there: nothing is asked of a registry, and maturin is found in the environment.
    environment.install(root, &["--no-build-isolation", "--no-deps", "."])?;
    let tests = [
        "pytest",
        "--quiet",
        "--doctest-modules",
        "--pyargs",
        "conveil",
        "python/tests",
    ];
    run(&mut environment.module(root, &tests)?)?;
    let wheel = try_wheel(root, &environment)?;
    test_oldest(root, &wheel)
}

/// The tests of the bridge with the oldest CVXPY, and of the models with pandapower, on the wheel.
fn test_oldest(root: &Path, wheel: &str) -> Result<(), String> {
    let environment = environment_with(root, "python-oldest", OLDEST)?;
    environment.install(root, &["--no-deps", "--force-reinstall", wheel])?;
    let tests = [
        "pytest",
        "--quiet",
        "python/tests/test_bridge_suite.py",
        "python/tests/test_bridge_rules.py",
        "python/tests/test_bridge_by_hand.py",
        "python/tests/test_bridge_public.py",
        "python/tests/test_models.py",
    ];
    run(&mut environment.module(root, &tests)?)
}

/// Makes the wheel, and tries it.
pub fn wheel(root: &Path) -> Result<(), String> {
    try_wheel(root, &prepared(root)?).map(drop)
}

/// Builds the wheel and runs the trial on it, where neither this package's sources nor a compiler are found; its path.
fn try_wheel(root: &Path, environment: &Environment) -> Result<String, String> {
    let wheels = root.join("target").join("wheels");
    // A wheel of another version would be taken for this one.
    let _ = fs::remove_dir_all(&wheels);
    run(&mut environment.module(root, &["maturin", "build", "--out", "target/wheels"])?)?;
    let found = fs::read_dir(&wheels).map_err(|error| error.to_string())?;
    let names = found.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let Some(name) = names.into_iter().find(|name| name.ends_with(".whl")) else {
        return Err("maturin has made no wheel".into());
    };
    let trial = environment.folder.join("trial");
    let _ = fs::remove_dir_all(&trial);
    let (wheel, place) = (wheels.join(&name), trial.display().to_string());
    let wheel = wheel.display().to_string();
    environment.install(root, &["--no-deps", "--target", &place, &wheel])?;
    // A script's own folder is looked into first: this one has no package of ours.
    let script = environment.folder.join("trial.py");
    fs::copy(root.join(TRIAL), &script).map_err(|error| format!("{TRIAL}: {error}"))?;
    run(Command::new(environment.python())
        .arg(script)
        .arg(&trial)
        .env("PYTHONPATH", &trial)
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&environment.folder))?;
    println!("target/wheels/{name}");
    Ok(wheel)
}

/// Runs a command that must succeed.
pub fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown}: {status}")),
        Err(error) => Err(format!("{shown}: cannot start: {error}")),
    }
}
