//! `init`: a first spec, with sample data or for a file of the user's own.

mod dialogue;
mod places;

use std::fmt;
use std::fs::OpenOptions;
use std::io::{BufRead, ErrorKind, Write};
use std::path::{Path, PathBuf};

use conveil_models::KINDS;
use conveil_models::files::records_of;
use conveil_models::model::Kind;
use conveil_models::records::Records;
use conveil_models::spec;
use conveil_models::starter::{self, DataFile, FromData};
use serde::Serialize;

pub use dialogue::{Asker, Given, converse};
use places::{Place, filled, named, places, without};

use crate::failure::{self, Failure};

/// Files that are not written yet, and what to do with them.
#[derive(Debug, Clone)]
pub struct Draft {
    kind: &'static Kind,
    /// The directory, as the caller named it.
    folder: PathBuf,
    /// Names and texts; the spec is the first.
    files: Vec<(String, String)>,
    about: About,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// Sample data come along.
    Sample,
    /// The data are the user's, and the spec has blanks.
    OwnData,
}

/// What was written, and the commands that go on from there. Public: it depends on no private value.
#[derive(Debug, Serialize)]
pub struct Begun {
    private: bool,
    /// The word of the model.
    pub model: &'static str,
    /// The files that were written; the spec is the first.
    pub files: Vec<String>,
    /// What is to be known about them.
    pub note: &'static str,
    /// The commands that go on from there.
    pub next: Vec<Step>,
}

/// A command, and what for.
#[derive(Debug, Serialize)]
pub struct Step {
    /// The command, as a shell takes it.
    pub command: String,
    /// What it does.
    pub what: &'static str,
}

const SAMPLE: &str = "the data are made up: put yours in their place, then the numbers of the spec";
const FILLED: &str = "only the first line of the file was read, as names of columns; if it is a record, delete the spec";
const OWN_DATA: &str = "only the first line of the file was read, as names of columns; if it is a record, delete the spec; fill in its blanks from what is known without the data";

/// The models that [`Draft::sample`] knows, a line for each.
pub fn models() -> String {
    let width = KINDS.iter().map(|kind| kind.word.len()).max().unwrap_or(0);
    let line = |kind: &&Kind| format!("  {:width$}  {}", kind.word, kind.starter.about);
    KINDS.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The words of these models.
pub fn words() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.word).collect()
}

/// What to say to somebody who names no model.
pub fn no_model() -> Failure {
    Failure::input(format!(
        "say which model:\n{}\n  help: `conveil init {}` writes a spec and sample data; `conveil init --from data.csv` a spec for a file of yours",
        models(),
        KINDS[0].word
    ))
}

impl Draft {
    /// A commented spec of this model with sample data, for this directory.
    pub fn sample(model: &str, folder: &Path) -> Result<Self, Failure> {
        let kind = starter::kind(model)?;
        let files = kind.starter.files.iter();
        Ok(Draft {
            kind,
            folder: folder.into(),
            files: files.map(|f| (f.name.into(), f.text.into())).collect(),
            about: About::Sample,
        })
    }

    /// A spec with blanks for a file of private data, which will stand beside it. Of the file the first line is looked at:
    /// the names of its columns, and nothing else.
    ///
    /// # Guarantee
    /// The draft depends on no value in the file. Test: `a_proposed_spec_is_the_same_whatever_the_values`.
    pub fn from_data(data: &Path, model: Option<&str>) -> Result<Self, Failure> {
        let shown = data.display();
        let (Some(file), Some(stem)) = (data.file_name(), data.file_stem()) else {
            return Err(Failure::input(format!("{shown} is not the name of a file")));
        };
        let (Some(file), Some(stem)) = (file.to_str(), stem.to_str()) else {
            return Err(Failure::input(format!(
                "{shown}: a spec can only name files whose names are UTF-8"
            )));
        };
        let input = records_of(data);
        let input = input.map_err(|why| Failure::input(format!("cannot read {shown}: {why}")))?;
        let stated = model.map(starter::kind).transpose()?;
        let columns = match stated.map(|kind| (kind, &kind.starter.from)) {
            Some((kind, None)) => return Err(nothing_to_propose(kind)),
            Some((_, Some(from))) if !from.names_columns => Vec::new(),
            // Numbers may be a record, or those of buses: only the user knows.
            _ => columns(&shown.to_string(), input).map_err(|failure| {
                let demands =
                    "where they are the numbers of buses, and the file holds demands: --model opf";
                failure.with_help(stated.is_none().then(|| demands.into()))
            })?,
        };
        let kind = stated.or_else(|| starter::recognised(&columns));
        let kind = kind.ok_or_else(|| not_recognised(data, &columns))?;
        let from: &FromData = match &kind.starter.from {
            Some(from) => from,
            None => return Err(nothing_to_propose(kind)),
        };
        let text = (from.spec)(&DataFile::new(file, columns)?);
        Ok(Draft {
            kind,
            folder: data.parent().unwrap_or(Path::new("")).into(),
            files: vec![(format!("{stem}.toml"), text)],
            about: About::OwnData,
        })
    }

    /// The texts that would be written, by name; the spec is the first.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter();
        files.map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Writes an answer at a place of the spec: the first blank of this key, or the value that has it. A key is a name such
    /// as `epsilon`, or a path such as `privacy.epsilon`. An answer is a value of TOML, or a word; `-` deletes a line that
    /// may be left out. The column of the labels is no feature: its line goes.
    pub fn fill(&mut self, key: &str, answer: &str) -> Result<(), Failure> {
        let place = named(key, self.spec())?;
        let mut text = filled(self.spec(), &place, answer)?;
        if place.path == "problem.label.column" {
            let path = format!("problem.features.{}", answer.trim().trim_matches('"'));
            let feature = places(&text)?.into_iter().find(|place| place.path == path);
            if let Some(feature) = feature.filter(Place::may_go) {
                text = without(&text, &feature)?;
            }
        }
        if let Some((_, spec)) = self.files.first_mut() {
            *spec = text;
        }
        Ok(())
    }

    /// Whether the reader of specs takes the draft, or what it says about it. What is still blank is no fault.
    pub fn verify(&self) -> Result<(), Failure> {
        match self.next_blank()? {
            Some(_) => Ok(()),
            None => self.read().map_err(|(_, failure)| failure),
        }
    }

    /// The same, with the line at fault.
    fn read(&self) -> Result<(), (Option<usize>, Failure)> {
        let name = self.files.first().map_or("", |(name, _)| name);
        let read = spec::read(name, self.spec());
        read.map(drop)
            .map_err(|error| (Some(error.line), error.into()))
    }

    /// The text of the spec.
    fn spec(&self) -> &str {
        self.files.first().map_or("", |(_, text)| text)
    }

    /// The name of the spec, without its ending.
    fn stem(&self) -> Option<String> {
        let (name, _) = self.files.first()?;
        Some(name.strip_suffix(".toml")?.to_string())
    }

    fn next_blank(&self) -> Result<Option<Place>, Failure> {
        let mut all = places(self.spec())?.into_iter();
        Ok(all.find(|place| place.blank.is_some()))
    }

    /// Refuses to write over a file.
    fn refuse_existing(&self) -> Result<(), Failure> {
        let paths = self.files().map(|(name, _)| self.folder.join(name));
        let there: Vec<String> = paths
            .filter(|path| path.symlink_metadata().is_ok())
            .map(|path| path.display().to_string())
            .collect();
        match there.is_empty() {
            true => Ok(()),
            false => Err(exists(&there.join(", "), self.about)),
        }
    }

    /// Writes all files or none of them. One that is there already is never overwritten.
    pub fn write(&self) -> Result<Begun, Failure> {
        let paths: Vec<PathBuf> = self.files().map(|(n, _)| self.folder.join(n)).collect();
        self.refuse_existing()?;
        let new_folder = !self.folder.as_os_str().is_empty() && !self.folder.exists();
        if new_folder {
            std::fs::create_dir_all(&self.folder).map_err(|why| not_written(&self.folder, &why))?;
        }
        for (k, (path, (_, text))) in paths.iter().zip(self.files()).enumerate() {
            if let Err(failure) = write_new(path, text, self.about) {
                // The one that failed is not ours unless it was made and could not be filled, which `write_new` undoes.
                for written in &paths[..k] {
                    let _ = std::fs::remove_file(written);
                }
                if new_folder {
                    let _ = std::fs::remove_dir(&self.folder);
                }
                return Err(failure);
            }
        }
        let files: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
        let is_filled = self.next_blank()?.is_none();
        Ok(Begun {
            private: false,
            model: self.kind.word,
            next: self.next(is_filled)?,
            note: match (self.about, is_filled) {
                (About::Sample, _) => SAMPLE,
                (About::OwnData, true) => FILLED,
                (About::OwnData, false) => OWN_DATA,
            },
            files,
        })
    }

    /// A number of the spec, where it has it.
    fn number(&self, path: &str) -> Result<Option<f64>, Failure> {
        let all = places(self.spec())?;
        let place = all.iter().find(|place| place.path == path);
        Ok(place.and_then(|place| place.value(self.spec()).parse().ok()))
    }

    fn next(&self, is_filled: bool) -> Result<Vec<Step>, Failure> {
        let ledger = shell(&self.folder.join("budget.sqlite"));
        let (name, _) = self.files().next().unwrap_or_default();
        let spec = shell(&self.folder.join(name));
        let step = |command: String, what| Step { command, what };
        let check = format!("conveil check {spec}");
        let release = step(
            format!("conveil release {spec}"),
            "charges the budget, draws the noise once, prints the card to publish",
        );
        let report = step(
            format!("conveil report {spec}"),
            "a page with figures on the private data, for you alone; prints the file to open",
        );
        let starter = self.kind.starter;
        let epsilon = self.number("privacy.epsilon")?.unwrap_or(1.0);
        Ok(match (self.about, is_filled) {
            (About::Sample, _) => {
                // The budgets of the starters are for ε = 1.
                let (budget, delta) = starter.budget;
                let epsilon = budget * epsilon;
                let delta = match delta {
                    0.0 => String::new(),
                    delta => format!(" --delta {delta}"),
                };
                vec![
                    step(
                        check,
                        "what would be released, and the guarantee; no private value is used",
                    ),
                    step(
                        format!("conveil compare {spec} --at {}", starter.at),
                        "the strategies side by side, on public data",
                    ),
                    report,
                    step(
                        format!(
                            "conveil ledger init {ledger} --dataset sample --epsilon {epsilon}{delta} --spec {spec}"
                        ),
                        "a budget for the data, fixed once",
                    ),
                    release,
                ]
            }
            (About::OwnData, true) => {
                let all = places(self.spec())?;
                let dataset = all.iter().find(|place| place.path == "ledger.dataset");
                let dataset = dataset.map_or("", |place| place.value(self.spec()));
                let dataset = shell(Path::new(dataset.trim_matches('"')));
                // Three releases, and room for the δ of composing them.
                let epsilon = 3.0 * epsilon;
                let delta = match self.number("privacy.delta")? {
                    None => String::new(),
                    Some(delta) => format!(" --delta {}", 10.0 * delta),
                };
                vec![
                    step(
                        check,
                        "what would be released, and the guarantee; no private value is used",
                    ),
                    report,
                    step(
                        format!(
                            "conveil ledger init {ledger} --dataset {dataset} --epsilon {epsilon}{delta} --spec {spec}"
                        ),
                        "a budget for the data, fixed once",
                    ),
                    release,
                ]
            }
            (About::OwnData, false) => vec![
                step(
                    check,
                    "names the next blank; once all are filled in, what would be released",
                ),
                step(
                    format!(
                        "conveil ledger init {ledger} --dataset NAME --epsilon E --spec {spec}"
                    ),
                    "a budget, once; NAME as in the spec, --delta D where the spec has a delta",
                ),
                release,
            ],
        })
    }
}

impl fmt::Display for Begun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "wrote {}", self.files.join(", "))?;
        writeln!(f, "{}", self.note)?;
        writeln!(f, "next:")?;
        for Step { command, what } in &self.next {
            writeln!(f, "  {command}\n      {what}")?;
        }
        Ok(())
    }
}

fn columns(name: &str, input: impl BufRead) -> Result<Vec<String>, Failure> {
    Ok(Records::header(name, input)?)
}

fn not_recognised(data: &Path, columns: &[String]) -> Failure {
    let shown = data.display();
    let with = |kind: &&&'static Kind| kind.starter.from.is_some();
    let width = KINDS.iter().map(|kind| kind.word.len()).max().unwrap_or(0);
    let lines: Vec<String> = KINDS
        .iter()
        .filter(with)
        .filter_map(|kind| {
            let holds = kind.starter.from.as_ref()?.holds;
            Some(format!("  {:width$}  {holds}", kind.word))
        })
        .collect();
    Failure::input(format!(
        "the names of the {} columns of {shown} fit several models; say which one:\n{}\n  help: for example: conveil init --from {} --model svm",
        columns.len(),
        lines.join("\n"),
        shell(data)
    ))
}

fn nothing_to_propose(kind: &Kind) -> Failure {
    let word = kind.word;
    Failure::input(format!(
        "model `{word}` has no columns with names, so that there is nothing to propose from a file\n  help: `conveil init {word}` writes a spec and sample data to begin with"
    ))
}

fn exists(files: &str, about: About) -> Failure {
    let help = match about {
        About::Sample => "name another directory with --dir",
        About::OwnData => "move it away, or go on with it",
    };
    Failure::input(format!(
        "{files}: there already; nothing was written, and nothing is overwritten\n  help: {help}"
    ))
}

fn not_written(path: &Path, why: &std::io::Error) -> Failure {
    let message = format!(
        "cannot write {}: {why}; nothing was written",
        path.display()
    );
    Failure::new(failure::Kind::NotWritten, message)
}

/// Writes a new file, or leaves none.
fn write_new(path: &Path, text: &str, about: About) -> Result<(), Failure> {
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = made.map_err(|why| match why.kind() {
        ErrorKind::AlreadyExists => exists(&path.display().to_string(), about),
        _ => not_written(path, &why),
    })?;
    file.write_all(text.as_bytes()).map_err(|why| {
        let _ = std::fs::remove_file(path);
        not_written(path, &why)
    })
}

/// A path as a shell takes it.
fn shell(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./+@%:,".contains(c);
    match text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
