//! The two streams: results to standard output, everything else to standard error.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use conveil::solve::{Batch, Cancel};
use conveil_studies::study::Document;
use conveil_text::naming::{printable, printable_json};
use conveil_workbench::{Failure, Kind, Observer, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::arguments::Output;

/// Lines on standard error are cut after this many characters: they may repeat what stands in a file.
const LONGEST_LINE: usize = 2000;

/// Where results and remarks go.
pub(crate) struct Terminal {
    output: Output,
    cancel: Cancel,
    stages: Mutex<Vec<(&'static str, f64)>>,
    running: Mutex<Option<Running>>,
}

/// The stage of the workbench that runs.
struct Running {
    progress: Progress,
    since: Instant,
}

impl Terminal {
    /// Raising `cancel` stops the work that reports here.
    pub(crate) fn new(output: Output, cancel: &Cancel) -> Self {
        Terminal {
            output,
            cancel: cancel.clone(),
            stages: Mutex::new(Vec::new()),
            running: Mutex::new(None),
        }
    }

    /// The result: JSON or text, on standard output. A reader that has seen enough closes the pipe: that is no failure.
    pub(crate) fn show<R: Serialize + fmt::Display>(&self, report: &R) -> Result<(), Failure> {
        self.print(&self.text(report)?)
    }

    /// A result that opens with the answer: on a terminal the labels of its first lines are bold.
    pub(crate) fn show_answer<R: Serialize + fmt::Display>(
        &self,
        report: &R,
    ) -> Result<(), Failure> {
        let text = self.text(report)?;
        match !self.output.json && is_coloured() {
            true => self.print(&with_bold_labels(&text)),
            false => self.print(&text),
        }
    }

    /// A result whose text and JSON are written already.
    pub(crate) fn show_document(&self, document: &dyn Document) -> Result<(), Failure> {
        let text = match self.output.json {
            true => document.json(),
            false => Ok(document.to_string()),
        };
        self.print(&self.printable(text)?)
    }

    /// Text as it is, on standard output.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = std::io::stdout().lock();
        let written = stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush());
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(not_written(&error)),
            _ => Ok(()),
        }
    }

    /// The result, and how long its stages took.
    pub(crate) fn show_timed<R: Serialize + fmt::Display>(
        &self,
        report: &R,
    ) -> Result<(), Failure> {
        self.show(report)?;
        self.say_timings();
        Ok(())
    }

    /// The result as it is shown.
    pub(crate) fn text<R: Serialize + fmt::Display>(&self, report: &R) -> Result<String, Failure> {
        self.printable(match self.output.json {
            true => serde_json::to_string_pretty(report),
            false => Ok(report.to_string()),
        })
    }

    /// Names were checked; what files and arguments brought in by other ways is shown, not obeyed.
    fn printable(&self, text: serde_json::Result<String>) -> Result<String, Failure> {
        let text = text.map_err(|e| not_written(&e.into()))?;
        let mut text = match self.output.json {
            true => printable_json(&text),
            false => printable(&text, usize::MAX),
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        Ok(text)
    }

    /// How the name of a file ends that has the result as it is shown.
    pub(crate) fn ending(&self) -> &'static str {
        if self.output.json { "json" } else { "txt" }
    }

    /// A remark on standard error; nobody may be listening.
    pub(crate) fn say(&self, text: &str) {
        let _ = writeln!(std::io::stderr(), "{}", printable(text, LONGEST_LINE));
    }

    /// Whether progress, timings and notes are left out.
    pub(crate) fn is_quiet(&self) -> bool {
        self.output.quiet
    }

    /// Runs a stage and remembers how long it took.
    pub(crate) fn stage<T>(&self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let value = work();
        self.took(name, start);
        value
    }

    fn took(&self, name: &'static str, since: Instant) {
        if let Ok(mut stages) = self.stages.lock() {
            stages.push((name, since.elapsed().as_secs_f64()));
        }
    }

    /// The stages' timings, on standard error.
    pub(crate) fn say_timings(&self) {
        if self.output.quiet {
            return;
        }
        if let Ok(stages) = self.stages.lock() {
            // A series has the same stages for each row.
            let mut sums: Vec<(&str, usize, f64)> = Vec::new();
            for (name, seconds) in stages.iter() {
                match sums.iter_mut().find(|(known, ..)| known == name) {
                    Some((_, times, sum)) => (*times, *sum) = (*times + 1, *sum + seconds),
                    None => sums.push((name, 1, *seconds)),
                }
            }
            let shown = |(name, times, seconds): &(&str, usize, f64)| match times {
                1 => format!("{name} {seconds:.2} s"),
                _ => format!("{name} ({times} times) {seconds:.2} s"),
            };
            let times: Vec<String> = sums.iter().map(shown).collect();
            self.say(&times.join(", "));
        }
    }

    /// A progress bar on standard error, hidden when quiet or not on a terminal.
    pub(crate) fn progress(&self, what: impl Into<Cow<'static, str>>) -> Progress {
        let target = if self.output.quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(None, target).with_message(what);
        if let Ok(style) = ProgressStyle::with_template("{msg} {spinner} {elapsed}") {
            bar.set_style(style);
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Progress { bar }
    }
}

impl Observer for Terminal {
    fn note(&self, text: &str) {
        if !self.output.quiet {
            self.say(&format!("note: {text}"));
        }
    }

    fn hears_notes(&self) -> bool {
        !self.output.quiet
    }

    fn warning(&self, text: &str) {
        self.say(&format!("warning: {text}"));
    }

    fn begin(&self, stage: Stage) {
        if let Ok(mut running) = self.running.lock() {
            *running = Some(Running {
                progress: self.progress(doing(stage)),
                since: Instant::now(),
            });
        }
    }

    fn progress(&self, done: usize, total: usize) {
        if is_shown(done, total)
            && let Ok(running) = self.running.lock()
            && let Some(running) = running.as_ref()
        {
            running.progress.moved(done, total);
        }
    }

    fn end(&self, stage: Stage) {
        let running = self.running.lock().ok().and_then(|mut r| r.take());
        // The search is part of what is noted, not of what was asked for.
        if let Some(running) = running.filter(|_| stage != Stage::Search) {
            self.took(stage.name(), running.since);
        }
    }

    fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }
}

/// Whether standard output shows colours: a terminal that can, and nobody who wants none (NO_COLOR, TERM=dumb).
fn is_coloured() -> bool {
    let is_terminal = std::io::stdout().is_terminal();
    wants_colour(is_terminal, |name| std::env::var_os(name))
}

/// The same, for a terminal or none and an environment.
fn wants_colour(is_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    // An empty NO_COLOR is none, by its convention.
    let is_unwanted = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
    is_terminal && !is_unwanted && !is_dumb
}

/// The labels of the lines before the first empty one, in bold. A text without an empty line near its start has none.
fn with_bold_labels(text: &str) -> String {
    let Some((opening, rest)) = text.split_once("\n\n") else {
        return text.into();
    };
    let bold = |line: &str| match line.split_once(": ") {
        Some((label, said)) if !label.contains(' ') => format!("\u{1b}[1m{label}:\u{1b}[0m {said}"),
        _ => line.to_owned(),
    };
    let lines: Vec<String> = opening.lines().map(bold).collect();
    format!("{}\n\n{rest}", lines.join("\n"))
}

/// What a bar says while a stage runs.
fn doing(stage: Stage) -> &'static str {
    match stage {
        Stage::Plan => "planning",
        Stage::Search => "searching",
        Stage::Charge => "charging",
        Stage::Solve => "solving",
        Stage::SolveAndDraw => "releasing",
        Stage::Compare => "comparing",
        Stage::Explain => "explaining",
        Stage::Measure => "measuring",
        Stage::Audit => "auditing",
        Stage::BlackBox => "drawing",
        other => other.name(),
    }
}

fn not_written(why: &std::io::Error) -> Failure {
    let message = format!("cannot write the report to standard output: {why}");
    Failure::new(Kind::NotWritten, message)
}

/// A hundred steps are as smooth as millions.
fn is_shown(done: usize, total: usize) -> bool {
    done.is_multiple_of((total / 100).max(1)) || done == total
}

/// A bar that a batch of solves moves; gone when dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A batch that moves this bar and watches the flag.
    pub(crate) fn batch(&self, threads: Option<usize>, cancel: &Cancel) -> Batch<'_> {
        let batch = Batch::new().cancel(cancel.clone()).progress(|done, total| {
            if is_shown(done, total) {
                self.moved(done, total);
            }
        });
        match threads {
            None => batch,
            Some(threads) => batch.threads(threads),
        }
    }

    fn moved(&self, done: usize, total: usize) {
        if self.bar.length().is_none()
            && let Ok(style) = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len} {elapsed}")
        {
            self.bar.set_style(style);
        }
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{wants_colour, with_bold_labels};

    #[test]
    fn colours_are_for_terminals_that_can_and_for_people_who_want_them() {
        let with = |is_terminal: bool, set: &[(&str, &str)]| {
            wants_colour(is_terminal, |name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.into())
            })
        };
        assert!(with(true, &[]));
        assert!(with(true, &[("TERM", "xterm"), ("NO_COLOR", "")]));
        assert!(!with(true, &[("NO_COLOR", "1")]));
        assert!(!with(true, &[("TERM", "dumb")]));
        // Piped, or written to a file.
        assert!(!with(false, &[]));
        assert!(!with(false, &[("TERM", "xterm")]));
    }

    #[test]
    fn only_labels_of_the_opening_are_bold() {
        let text = "released: `a`\n  b: c\n\nnoise: d\n";
        let bold = "\u{1b}[1mreleased:\u{1b}[0m `a`\n  b: c\n\nnoise: d\n";
        assert_eq!(with_bold_labels(text), bold);
        assert_eq!(with_bold_labels("noise: d\n"), "noise: d\n");
    }
}
