//! The benchmark beside other solvers: its virtual environment below target/, and its arguments.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::pglib;
use crate::python::{environment_with, run};

/// The solvers that Conveil is measured beside.
const REQUIREMENTS: &str = "python/requirements-peers.txt";

/// The harness.
const HARNESS: &str = "python/benchmarks/peers";

/// The word that asks for this benchmark in place of `cargo bench`.
pub const FLAG: &str = "--against-peers";

/// How the programs are built that only read a case or a problem.
pub const READERS: [&str; 9] = [
    "build",
    "--package",
    "conveil-text",
    "--package",
    "conveil-grid",
    "--example",
    "read_problem",
    "--example",
    "read_case",
];

/// What is measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    only: Option<String>,
    full: bool,
    json: Option<PathBuf>,
    binary: Option<PathBuf>,
}

impl Options {
    /// Reads the words after `bench`, [`FLAG`] among them.
    pub fn read(words: &[&str]) -> Result<Self, String> {
        let mut options = Options::default();
        let mut words = words.iter().filter(|&&word| word != FLAG);
        while let Some(&word) = words.next() {
            let mut value = |what: &str| match words.next() {
                Some(value) if !value.starts_with("--") => Ok(value.to_string()),
                _ => Err(format!("{word} needs {what}")),
            };
            match word {
                "--full" => options.full = true,
                "--only" => options.only = Some(value("names of problems")?),
                "--json" => options.json = Some(absolute(&value("a file")?)),
                "--binary" => options.binary = Some(absolute(&value("a file")?)),
                other => return Err(format!("unexpected: {other}")),
            }
        }
        Ok(options)
    }

    /// Whether `conveil` has to be built.
    pub fn builds(&self) -> bool {
        self.binary.is_none()
    }

    /// Runs the harness on the binary of the workspace's one profile, or on the one that was named.
    pub fn run(&self, root: &Path) -> Result<(), String> {
        let environment = environment_with(root, "python-peers", REQUIREMENTS)?;
        let target = root.join("target");
        let built = || {
            let name = format!("conveil{}", std::env::consts::EXE_SUFFIX);
            target.join("debug").join(name)
        };
        let mut command = Command::new(environment.python());
        command
            .arg(HARNESS)
            .arg("--conveil")
            .arg(self.binary.clone().unwrap_or_else(built))
            .arg("--out")
            .arg(target.join("peers"))
            .arg("--cases")
            .arg(pglib::cases(root))
            .current_dir(root);
        let readers = target.join("debug").join("examples");
        if self.builds() && readers.is_dir() {
            command.arg("--readers").arg(readers);
        }
        if let Some(names) = &self.only {
            command.args(["--only", names]);
        }
        if self.full {
            command.arg("--full");
        }
        if let Some(file) = &self.json {
            command.arg("--json").arg(file);
        }
        run(&mut command)
    }
}

/// Stages run at the root of the workspace, the user may be elsewhere.
fn absolute(path: &str) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        Options::read(&line.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn every_word_is_read_wherever_the_flag_stands() {
        assert_eq!(read("--against-peers"), Ok(Options::default()));
        let found = read("--full --only grid,sdp --against-peers --json /a/b").unwrap();
        let wanted = Options {
            only: Some("grid,sdp".into()),
            full: true,
            json: Some(PathBuf::from("/a/b")),
            binary: None,
        };
        assert_eq!(found, wanted);
        assert!(found.builds());
        assert!(!read("--against-peers --binary conveil").unwrap().builds());
    }

    #[test]
    fn a_word_without_its_value_and_an_unknown_one_are_refused() {
        assert!(
            read("--against-peers --only")
                .unwrap_err()
                .contains("names")
        );
        assert!(
            read("--against-peers --json --full")
                .unwrap_err()
                .contains("file")
        );
        assert!(read("--against-peers --ful").unwrap_err().contains("--ful"));
    }

    #[test]
    fn the_harness_and_its_list_are_there() {
        let root = crate::workspace_root();
        assert!(root.join(HARNESS).join("__main__.py").is_file());
        assert!(root.join(REQUIREMENTS).is_file());
    }
}
