//! A case of a golden file: the files that it needs, its commands, and what they said.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::text::tidied;

/// What one command said.
#[derive(Debug, Clone, Default)]
pub struct Said {
    /// `exit` and the code; nothing before the first run.
    pub exit: String,
    pub stdout: Vec<String>,
    pub stderr: Vec<String>,
}

impl Said {
    /// Never run so far.
    pub fn is_new(&self) -> bool {
        self.exit.is_empty()
    }

    /// All lines as the file has them.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.exit.clone()];
        lines.extend(self.stderr.iter().map(|line| format!("! {line}")));
        lines.extend(self.stdout.iter().map(|line| format!("| {line}")));
        lines.retain(|line| !line.is_empty());
        lines.iter().map(|line| line.trim_end().into()).collect()
    }
}

/// A command line, without `conveil`; `cat FILE` shows a file instead.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// What is done before it: `copy PATH [NAME]`, `write NAME TEXT`, `replace NAME PIECE OTHER`.
    pub steps: Vec<String>,
    pub line: String,
    pub said: Said,
}

/// A case.
#[derive(Debug, Clone, Default)]
pub struct Case {
    pub name: String,
    /// Runs only with `CONVEIL_FULL=1`.
    pub slow: bool,
    pub commands: Vec<Run>,
}

/// What stands before the first case, and the cases.
pub fn cases_of(file: &Path) -> (String, Vec<Case>) {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let (mut head, mut cases) = (String::new(), Vec::<Case>::new());
    let mut steps = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let bad = || -> ! { panic!("{}:{}: {line}", file.display(), number + 1) };
        if let Some(name) = line.strip_prefix("=== ") {
            let name = name.into();
            cases.push(Case {
                name,
                ..Case::default()
            });
            continue;
        }
        let Some(case) = cases.last_mut() else {
            head += &format!("{line}\n");
            continue;
        };
        let (kind, rest) = line.split_at(line.len().min(2));
        match (kind, case.commands.last_mut()) {
            ("@ ", _) if rest == "slow" => case.slow = true,
            ("@ ", _) => steps.push(rest.into()),
            ("$ ", _) => case.commands.push(Run {
                steps: std::mem::take(&mut steps),
                line: rest.into(),
                said: Said::default(),
            }),
            ("ex", Some(run)) => run.said.exit = line.into(),
            ("| " | "|", Some(run)) => run.said.stdout.push(rest.into()),
            ("! " | "!", Some(run)) => run.said.stderr.push(rest.into()),
            ("", _) => (),
            _ => bad(),
        }
    }
    (head, cases)
}

/// The case as it stands in its file, with what its commands said.
pub fn written(case: &Case, said: &[Said]) -> String {
    let mut text = format!("=== {}\n", case.name);
    if case.slow {
        text += "@ slow\n";
    }
    for (command, said) in case.commands.iter().zip(said) {
        for step in &command.steps {
            text += &format!("@ {step}\n");
        }
        text += &format!("$ {}\n", command.line);
        for line in said.lines() {
            text += &format!("{line}\n");
        }
    }
    text + "\n"
}

/// Words between blanks; a word in quotes is a JSON string.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let end = match rest.starts_with('"') {
            true => {
                let mut escaped = false;
                let closes = |(_, c): &(usize, char)| match (escaped, c) {
                    (true, _) => {
                        escaped = false;
                        false
                    }
                    (false, '\\') => {
                        escaped = true;
                        false
                    }
                    (false, c) => *c == '"',
                };
                let end = rest.char_indices().skip(1).find(closes);
                end.unwrap_or_else(|| panic!("{line}: a quote is not closed"))
                    .0
                    + 1
            }
            false => rest.find(' ').unwrap_or(rest.len()),
        };
        let (word, more) = rest.split_at(end);
        words.push(match word.starts_with('"') {
            true => serde_json::from_str(word).unwrap_or_else(|e| panic!("{word}: {e}")),
            false => word.into(),
        });
        rest = more.trim_start();
    }
    words
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

impl Case {
    /// What its commands said when it was written.
    pub fn said(&self) -> Vec<Said> {
        self.commands
            .iter()
            .map(|command| command.said.clone())
            .collect()
    }

    /// Prepares the files in a new directory and runs the commands there.
    pub fn run(&self, directory: &str) -> Vec<Said> {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(directory);
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place).unwrap_or_else(|e| panic!("{}: {e}", place.display()));
        let said_by = |run: &Run| {
            for step in &run.steps {
                self.prepare(&place, step);
            }
            run.said_in(&place)
        };
        let said = self.commands.iter().map(said_by).collect();
        let _ = std::fs::remove_dir_all(&place);
        said
    }

    fn prepare(&self, place: &Path, step: &str) {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let words = words(step);
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["copy", path] => {
                let name = PathBuf::from(path);
                let name = name.file_name().unwrap_or_default();
                write(&place.join(name), &text(&repository.join(path)));
            }
            ["copy", path, name] => write(&place.join(name), &text(&repository.join(path))),
            ["write", name, text] => write(&place.join(name), text),
            ["replace", name, piece, other] => {
                let before = text(&place.join(name));
                assert!(
                    before.contains(piece),
                    "{}: no {piece} in {name}",
                    self.name
                );
                write(&place.join(name), &before.replacen(piece, other, 1));
            }
            _ => panic!("{}: unknown step {step}", self.name),
        }
    }
}

impl Run {
    fn said_in(&self, place: &Path) -> Said {
        let words = words(&self.line);
        if let ["cat", name] = words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            return match std::fs::read_to_string(place.join(name)) {
                Err(_) => Said {
                    exit: "exit 1".into(),
                    stderr: vec![format!("there is no {name}")],
                    ..Said::default()
                },
                Ok(text) => Said {
                    exit: "exit 0".into(),
                    stdout: tidied(&text, place),
                    ..Said::default()
                },
            };
        }
        let output = Command::new(env!("CARGO_BIN_EXE_conveil"))
            .args(words)
            .current_dir(place)
            .env("RAYON_NUM_THREADS", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|e| panic!("{e}"));
        Said {
            exit: format!("exit {}", output.status.code().unwrap_or(-1)),
            stdout: tidied(&String::from_utf8_lossy(&output.stdout), place),
            stderr: tidied(&String::from_utf8_lossy(&output.stderr), place),
        }
    }
}
