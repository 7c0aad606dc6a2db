//! Stages: named steps, run in order until one fails, each with its time.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Instant;

/// The exit code of a failure that has none of its own.
const FAILED: u8 = 1;

/// A named step.
pub struct Stage {
    name: &'static str,
    work: Work,
}

enum Work {
    Cargo {
        arguments: Vec<String>,
        environment: Vec<(&'static str, OsString)>,
    },
    /// A check of the workspace at the given path; the error says what is wrong.
    Check(Box<Check>),
}

type Check = dyn Fn(&Path) -> Result<(), String>;

/// A stage that failed: what to tell, and the exit code to leave with.
#[derive(Debug)]
pub struct Failure {
    pub message: String,
    pub code: u8,
}

impl Stage {
    /// A cargo command.
    pub fn cargo<'a>(name: &'static str, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        let arguments = arguments.into_iter().map(String::from).collect();
        let environment = Vec::new();
        Stage {
            name,
            work: Work::Cargo {
                arguments,
                environment,
            },
        }
    }

    /// A check inside this program.
    pub fn check(
        name: &'static str,
        check: impl Fn(&Path) -> Result<(), String> + 'static,
    ) -> Self {
        let work = Work::Check(Box::new(check));
        Stage { name, work }
    }

    /// An environment variable for the command.
    pub fn with_env(mut self, variable: &'static str, value: impl Into<OsString>) -> Self {
        if let Work::Cargo { environment, .. } = &mut self.work {
            environment.push((variable, value.into()));
        }
        self
    }

    /// What the stage is called.
    #[cfg(test)]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the command gets this environment variable.
    #[cfg(test)]
    pub fn sets(&self, variable: &str) -> bool {
        match &self.work {
            Work::Cargo { environment, .. } => environment.iter().any(|(v, _)| *v == variable),
            Work::Check(_) => false,
        }
    }

    /// What a reader could type to run the stage alone.
    fn command_line(&self) -> String {
        match &self.work {
            Work::Cargo {
                arguments,
                environment,
            } => {
                let variables = environment
                    .iter()
                    .map(|(v, value)| format!("{v}={value:?} "));
                format!(
                    "{}cargo {}",
                    variables.collect::<String>(),
                    arguments.join(" ")
                )
            }
            Work::Check(_) => format!("cargo xtask {}", self.name),
        }
    }

    fn run(&self, root: &Path) -> Result<(), Failure> {
        match &self.work {
            Work::Cargo {
                arguments,
                environment,
            } => {
                // The cargo that runs this program, when there is one.
                let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
                let status = Command::new(cargo)
                    .args(arguments)
                    .envs(environment.iter().map(|(v, value)| (v, value)))
                    .current_dir(root)
                    .status();
                match status {
                    Ok(status) if status.success() => Ok(()),
                    Ok(status) => Err(self.failure(&status.to_string(), exit_code(status))),
                    Err(error) => Err(self.failure(&format!("cannot start: {error}"), FAILED)),
                }
            }
            Work::Check(check) => check(root).map_err(|found| self.failure(&found, FAILED)),
        }
    }

    fn failure(&self, reason: &str, code: u8) -> Failure {
        Failure {
            message: format!(
                "stage `{}` failed: {reason}\nxtask: to run it alone: {}",
                self.name,
                self.command_line()
            ),
            code,
        }
    }
}

/// The exit code, in the range that every platform passes on; a process ended by a signal has none.
fn exit_code(status: ExitStatus) -> u8 {
    match status.code().map(u8::try_from) {
        Some(Ok(code)) if code != 0 => code,
        _ => FAILED,
    }
}

/// Runs the stages until one fails; answers the line that sums up their times.
pub fn run_all(stages: &[Stage], root: &Path) -> Result<String, Failure> {
    let start = Instant::now();
    let mut times = Vec::new();
    for stage in stages {
        println!("== {}: {}", stage.name, stage.command_line());
        let stage_start = Instant::now();
        let outcome = stage.run(root);
        let seconds = stage_start.elapsed().as_secs_f64();
        println!("== {}: {seconds:.1} s", stage.name);
        outcome?;
        times.push(format!("{} {seconds:.1}", stage.name));
    }
    let total = start.elapsed().as_secs_f64();
    Ok(format!("all passed in {total:.1} s ({})", times.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_ends_the_run_and_is_named() {
        let stages = [
            Stage::check("good", |_| Ok(())),
            Stage::check("bad", |_| Err("out of order".to_string())),
            Stage::check("later", |_| panic!("a stage ran after a failure")),
        ];
        let failure = run_all(&stages, Path::new(".")).unwrap_err();
        assert!(failure.message.contains("`bad` failed: out of order"));
        assert_eq!(failure.code, FAILED);
    }

    #[cfg(unix)]
    #[test]
    fn an_exit_code_is_passed_on_and_a_signal_is_a_failure() {
        use std::os::unix::process::ExitStatusExt;
        // The wait status of Unix: the code in the second byte, or the signal in the first.
        assert_eq!(exit_code(ExitStatus::from_raw(101 << 8)), 101);
        assert_eq!(exit_code(ExitStatus::from_raw(9)), FAILED);
    }

    #[test]
    fn the_summary_names_every_stage() {
        let stages = [
            Stage::check("one", |_| Ok(())),
            Stage::check("two", |_| Ok(())),
        ];
        let summary = run_all(&stages, Path::new(".")).unwrap();
        assert!(summary.contains("one 0.0") && summary.contains("two 0.0"));
    }
}
