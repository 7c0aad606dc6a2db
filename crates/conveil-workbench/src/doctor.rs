//! Whether this machine, a spec and its ledger are in order, before anything is charged.
//!
//! No private value is read: of private files it looks at whether they are there and who may read them.

use std::fmt;
use std::path::{Path, PathBuf};

use conveil_models::files::Text;
use serde::Serialize;

use crate::audit::Judged;
use crate::failure::Failure;
use crate::ledger::LedgerFile;
use crate::observer::Observer;
use crate::recipient::Answer;
use crate::release::{Account, Releasing};
use crate::workbench::Workbench;

/// How a part of the installation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// In order.
    Sound,
    /// It works, and somebody should look at it.
    Warning,
    /// It does not work.
    Broken,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Sound => "ok",
            State::Warning => "warning",
            State::Broken => "broken",
        }
    }
}

/// What was found of one part.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The part.
    pub part: &'static str,
    /// How it is.
    pub state: State,
    /// In words.
    pub found: String,
    /// What mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Finding {
    fn new(part: &'static str, state: State, found: impl Into<String>) -> Self {
        Finding {
            part,
            state,
            found: found.into(),
            help: None,
        }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// A failure has its help in its message.
    fn broken(part: &'static str, failure: &Failure) -> Self {
        Finding::new(part, State::Broken, failure.to_string())
    }
}

/// What [`examine`] found. For the curator.
#[derive(Debug, Serialize)]
pub struct Examination {
    /// The version.
    pub conveil: &'static str,
    /// The parts, in the order in which they are needed.
    pub findings: Vec<Finding>,
}

impl Examination {
    fn count(&self, state: State) -> usize {
        self.findings.iter().filter(|f| f.state == state).count()
    }
}

impl fmt::Display for Examination {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (broken, warnings) = (self.count(State::Broken), self.count(State::Warning));
        match (broken, warnings) {
            (0, 0) => writeln!(
                f,
                "in order: nothing was charged, no private value was read"
            )?,
            (0, n) => writeln!(f, "it works; look at {}", counted(n, "warning"))?,
            (n, _) => writeln!(f, "not in order: {}", counted(n, "broken part"))?,
        }
        for finding in &self.findings {
            let (state, part) = (finding.state.word(), finding.part);
            writeln!(f, "  {state:<8} {part:<14} {}", finding.found)?;
            if let Some(help) = &finding.help {
                writeln!(f, "  {:<8} {:<14} help: {help}", "", "")?;
            }
        }
        Ok(())
    }
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Looks at the machine; with a spec also at what it names; with a ledger at that.
pub fn examine(
    spec: Option<&Path>,
    ledger: Option<&Path>,
    observer: &dyn Observer,
) -> Judged<Examination> {
    let mut findings = vec![machine(), road(observer)];
    if let Some(path) = spec {
        examine_spec(path, observer, &mut findings);
    }
    if let Some(file) = ledger {
        findings.extend(examine_ledger(file, None));
    }
    let report = Examination {
        conveil: env!("CARGO_PKG_VERSION"),
        findings,
    };
    let verdict = match report.count(State::Broken) {
        0 => Ok(()),
        n => Err(Failure::input(format!(
            "{} found",
            counted(n, "broken part")
        ))),
    };
    Judged { report, verdict }
}

fn machine() -> Finding {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (version, os, arch) = (
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH,
    );
    let found = format!(
        "conveil {version} on {os} {arch}, {}",
        counted(threads, "thread")
    );
    Finding::new("machine", State::Sound, found)
}

/// min 1.5 x s.t. l ≤ x ≤ 160, with l = 100: made up, and the answer is thrown away.
const PROBLEM: &str = r#"{"P": {"m": 1, "n": 1, "colptr": [0, 0], "rowval": [], "nzval": []}, "q": [1.5],
"A": {"m": 2, "n": 1, "colptr": [0, 2], "rowval": [0, 1], "nzval": [-1.0, 1.0]}, "b": [-100.0, 160.0],
"cones": [{"NonnegativeConeT": 2}]}"#;

const SPEC: &str = r#"version = 1
[problem]
model = "conic"
file = "doctor.json"
[[problem.variable]]
name = "x"
stage = "decision"
[private]
adjacency = { kind = "one-entry", alpha = 1.0 }
[[private.parameter]]
name = "l"
at = [{ in = "b", row = 0, coef = -1.0 }]
[query]
release = "cost"
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = { by = "declared", per_alpha = 1.5, reason = "x follows l, and the cost is 1.5 x" }
[feasibility]
eta = 0.01
"#;

/// The whole road on made-up data: plan, solve, check, and noise from the operating system.
fn road(observer: &dyn Observer) -> Finding {
    let (name, file) = ("doctor.toml", "doctor.json");
    let run = || -> Result<(), Failure> {
        let problem = Text {
            name: file,
            text: PROBLEM,
        };
        let bench = Workbench::from_files(Text { name, text: SPEC }, &[problem])?;
        let releasing = Releasing {
            account: Account::WithoutLedger,
            ..Releasing::default()
        };
        let mut answers: Vec<Answer> = Vec::new();
        bench.release(&releasing, &mut answers, observer)?;
        Ok(())
    };
    match run() {
        Ok(()) => Finding::new(
            "solver, noise",
            State::Sound,
            "a made-up program was solved, checked and drawn for; the answer was thrown away",
        ),
        Err(failure) => Finding::broken("solver, noise", &failure),
    }
}

fn examine_spec(path: &Path, observer: &dyn Observer, findings: &mut Vec<Finding>) {
    let bench = match Workbench::open_watched(path, observer) {
        Ok(bench) => bench,
        Err(failure) => return findings.push(Finding::broken("spec", &failure)),
    };
    findings.push(match bench.plan(observer) {
        Ok(_) => Finding::new("spec", State::Sound, "it is read, and its plan can be made"),
        Err(failure) => Finding::broken("spec", &failure),
    });
    let spec = bench.spec();
    let folder = path.parent().unwrap_or(Path::new(""));
    let named = spec.model.private_files();
    let mut files: Vec<PathBuf> = named.iter().map(|file| folder.join(&file.value)).collect();
    if files.is_empty() {
        // Its private numbers stand in the spec, or in the saved problem beside it.
        files.push(path.to_path_buf());
    }
    findings.extend(files.iter().map(|file| readers("private data", file)));
    findings.extend(match &spec.ledger {
        None => vec![Finding::new("ledger", State::Warning, "the spec names none: a release is refused").help(
            format!("`conveil ledger init ledger.db --dataset NAME --epsilon E --spec {}` makes one; name it in [ledger]", path.display()),
        )],
        Some(section) => {
            let file = folder.join(section.file.value.as_str());
            let dataset = section.dataset.value.to_string();
            match file.exists() {
                true => examine_ledger(&file, Some(&dataset)),
                // What is not made yet is not broken.
                false => vec![
                    Finding::new(
                        "ledger",
                        State::Warning,
                        format!("{} is not made yet: a release is refused", file.display()),
                    )
                    .help(format!(
                        "`conveil ledger init {} --dataset {dataset} --epsilon E --spec {}` makes it, with a budget of E",
                        file.display(),
                        path.display()
                    )),
                ],
            }
        }
    });
}

fn examine_ledger(file: &Path, dataset: Option<&str>) -> Vec<Finding> {
    let sound = match LedgerFile::at(file).verify(None, None) {
        Ok(sound) => sound,
        Err(failure) => return vec![Finding::broken("ledger", &failure)],
    };
    let has = |name: &str| sound.accounts.iter().any(|account| account.dataset == name);
    let found = match dataset {
        Some(name) if !has(name) => Finding::new(
            "ledger",
            State::Broken,
            format!(
                "{} is sound, and has no budget for {name:?}",
                file.display()
            ),
        )
        .help("`conveil ledger init` gives a dataset its budget"),
        _ => Finding::new(
            "ledger",
            State::Sound,
            format!(
                "{}: every chain holds, {}",
                file.display(),
                counted(sound.accounts.len(), "dataset")
            ),
        ),
    };
    vec![found, readers("ledger file", file)]
}

/// Who else may read or change a file.
fn readers(part: &'static str, file: &Path) -> Finding {
    let name = file.display();
    match std::fs::metadata(file) {
        Err(error) => Finding::new(part, State::Broken, format!("{name}: {error}")),
        Ok(found) if !found.is_file() => {
            Finding::new(part, State::Broken, format!("{name} is not a file"))
        }
        Ok(found) => match open_to_others(&found) {
            Some(mode) => Finding::new(
                part,
                State::Warning,
                format!("{name}: other users may read or change it (mode {mode:03o})"),
            )
            .help(format!("chmod 600 {name}")),
            None => Finding::new(part, State::Sound, format!("{name}: for its owner alone")),
        },
    }
}

#[cfg(unix)]
fn open_to_others(found: &std::fs::Metadata) -> Option<u32> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

#[cfg(not(unix))]
fn open_to_others(_found: &std::fs::Metadata) -> Option<u32> {
    None
}
