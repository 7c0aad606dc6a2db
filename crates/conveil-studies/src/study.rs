//! What every study is: settings that are flags too, a runner, and one table for people, programs and figures.
//!
//! A study is one [`Study`] on its settings and one line in [`STUDIES`]. The command line takes its subcommand, its flags with
//! their help and defaults, its text, its JSON document and its files from here.

use std::fmt;

use clap::{ArgMatches, Command};
use conveil::Result;
use conveil::solve::Batch;
use conveil_text::ReadError;
use serde::Serialize;

use crate::parts::{self, Parts};
use crate::plot::Figure;
use crate::{classifier, cvar, density, ellipsoid, example, leakage, opf, regression, svm, wind};

/// The studies, in the order of the help.
pub const STUDIES: &[Entry] = &[
    Entry::of::<leakage::Settings>(),
    Entry::of::<example::Settings>(),
    Entry::of::<opf::Settings>(),
    Entry::of::<cvar::Settings>(),
    Entry::of::<density::Settings>(),
    Entry::of::<regression::Settings>(),
    Entry::of::<wind::Settings>(),
    Entry::of::<ellipsoid::Settings>(),
    Entry::of::<svm::Settings>(),
    Entry::of::<classifier::Settings>(),
];

/// A study. It is implemented by its settings, whose fields are the flags of the command line: a default stands there alone.
pub trait Study: clap::Args + Clone + fmt::Debug + Serialize {
    /// The word behind `conveil study`.
    const NAME: &'static str;
    /// What it is, in one line of help.
    const ABOUT: &'static str;
    /// What stands below the help of its flags.
    const EXAMPLES: &'static str;
    /// Whether its result is a file of curves too.
    const HAS_CSV: bool = false;
    /// One line of the table.
    type Row: Clone + fmt::Debug + Serialize;
    /// What the figure shows beside the rows.
    type Pictures: Clone + fmt::Debug + Default;

    /// Reads what the settings name, and computes the table; the batch's progress counts its cells.
    fn run(&self, batch: &Batch<'_>) -> std::result::Result<Table<Self>, Failure>;

    /// The settings of its parts, whose tables one after the other are its own. All parts serialise to the same settings.
    fn parts(&self) -> Vec<Self> {
        vec![self.clone()]
    }

    /// Files of the user's that the settings name.
    fn files(&self) -> Vec<String> {
        Vec::new()
    }

    /// The first line of the text, behind the name.
    fn headline(table: &Table<Self>) -> String;

    /// A line above the table, with its end.
    fn remark(_table: &Table<Self>) -> String {
        String::new()
    }

    /// A line above the heads of the columns, with its end.
    fn groups() -> String {
        String::new()
    }

    /// The columns of the text.
    fn columns() -> Vec<Column<Self::Row>>;

    /// The parts of the text, each with a heading.
    fn sections(table: &Table<Self>) -> Vec<(&'static str, Vec<&Self::Row>)> {
        vec![("", table.rows.iter().collect())]
    }

    /// Lines before a row; `last` is the row above.
    fn before(_row: &Self::Row, _last: Option<&Self::Row>) -> String {
        String::new()
    }

    /// Lines after a row.
    fn after(_row: &Self::Row) -> String {
        String::new()
    }

    /// What stands below the table.
    fn legend(table: &Table<Self>) -> String;

    /// The table as a figure.
    fn figure(table: &Table<Self>) -> Figure;

    /// The curves as CSV, where there are any.
    fn csv(_table: &Table<Self>) -> String {
        String::new()
    }
}

/// What a study found.
#[derive(Clone, Debug, Serialize)]
#[serde(bound = "")]
pub struct Table<S: Study> {
    /// The study's name.
    pub study: &'static str,
    /// What was computed.
    pub settings: S,
    /// Of power curves: whether some are the user's, so that the table depends on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_own_curves: Option<bool>,
    /// The rows, in the order of the settings.
    pub rows: Vec<S::Row>,
    /// Of records: what the rows do not say; the user's records have at least one note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
    #[serde(skip)]
    pub(crate) pictures: S::Pictures,
}

impl<S: Study> Table<S> {
    pub(crate) fn new(settings: &S, rows: Vec<S::Row>) -> Self {
        Table {
            study: S::NAME,
            settings: settings.clone(),
            has_own_curves: None,
            rows,
            notes: None,
            pictures: S::Pictures::default(),
        }
    }

    /// As a figure.
    pub fn figure(&self) -> Figure {
        S::figure(self)
    }

    /// The curves as CSV; empty where there are none.
    pub fn to_csv(&self) -> String {
        S::csv(self)
    }
}

/// Runs all cells in parallel. Each gets an inner batch for its solves; the outer batch's progress counts cells.
pub(crate) fn each<C: Sync, T: Send>(
    cells: &[C],
    batch: &Batch<'_>,
    work: impl Fn(&C, &Batch<'_>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let inner = Batch::new().cancel(batch.cancel_flag().clone());
    let found = batch.run(cells.len(), |i| work(&cells[i], &inner))?;
    found.into_iter().collect()
}

/// All pairs, the second varying first.
pub(crate) fn product<'a, A, B: Copy>(first: &'a [A], second: &'a [B]) -> Vec<(&'a A, B)> {
    let pairs = first
        .iter()
        .flat_map(|a| second.iter().map(move |b| (a, *b)));
    pairs.collect()
}

/// A column of the text.
pub struct Column<R> {
    head: &'static str,
    width: usize,
    is_left: bool,
    gap: usize,
    cell: fn(&R) -> String,
}

/// A column with its text on the left.
pub(crate) fn left<R>(head: &'static str, width: usize, cell: fn(&R) -> String) -> Column<R> {
    Column {
        head,
        width,
        is_left: true,
        gap: 1,
        cell,
    }
}

/// A column with its text on the right.
pub(crate) fn right<R>(head: &'static str, width: usize, cell: fn(&R) -> String) -> Column<R> {
    Column {
        is_left: false,
        ..left(head, width, cell)
    }
}

/// A column with its text on the left, two spaces behind the one before.
pub(crate) fn apart<R>(head: &'static str, width: usize, cell: fn(&R) -> String) -> Column<R> {
    Column {
        gap: 2,
        ..left(head, width, cell)
    }
}

impl<R> Column<R> {
    fn line(columns: &[Column<R>], text: impl Fn(&Column<R>) -> String) -> String {
        let mut line = String::from(" ");
        for column in columns {
            let (text, gap, width) = (text(column), column.gap, column.width);
            line += &match column.is_left {
                true => format!("{:gap$}{text:<width$}", ""),
                false => format!("{:gap$}{text:>width$}", ""),
            };
        }
        line
    }
}

/// What stands below the first line of a table.
const SEEDED: &str = "seeded noise: nothing here is private, nothing is released";

/// The same where the records are the user's.
const SEEDED_OWN: &str = "seeded noise: nothing is released, but the table depends on your records and has no guarantee: it is not to be published";

impl<S: Study> fmt::Display for Table<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_notes = self.notes.as_ref().is_some_and(|notes| !notes.is_empty());
        let seeded = match has_notes || self.has_own_curves == Some(true) {
            true => SEEDED_OWN,
            false => SEEDED,
        };
        writeln!(f, "STUDY {}: {}", S::NAME, S::headline(self))?;
        write!(f, "{seeded}\n{}", S::remark(self))?;
        let columns = S::columns();
        for (heading, rows) in S::sections(self) {
            write!(
                f,
                "\n{heading}{}",
                if heading.is_empty() { "" } else { "\n" }
            )?;
            writeln!(
                f,
                "{}{}",
                S::groups(),
                Column::line(&columns, |c| c.head.into())
            )?;
            let mut last = None;
            for row in rows {
                let line = Column::line(&columns, |c| (c.cell)(row));
                write!(f, "{}{line}\n{}", S::before(row, last), S::after(row))?;
                last = Some(row);
            }
        }
        write!(f, "\n{}", S::legend(self))
    }
}

/// With so many digits; a dash where there is none.
pub(crate) fn rounded(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".into(), |v| format!("{v:.digits$}"))
}

/// A share in percent, without the rounding errors of 100·0.07.
pub(crate) fn percent_of(share: f64) -> f64 {
    (share * 1e12).round() / 1e10
}

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The engine's error.
    #[error(transparent)]
    Engine(#[from] conveil::Error),
    /// What is wrong with a name or a file of the settings.
    #[error("{0}")]
    Input(String),
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Failure::Input(error.to_string())
    }
}

/// Reads a study's flags and runs it.
type Runner = fn(&ArgMatches, &Batch<'_>) -> std::result::Result<Box<dyn Document>, Failure>;

/// A study, whatever its settings.
pub struct Entry {
    /// The word behind `conveil study`.
    pub name: &'static str,
    /// What it is, in one line of help.
    pub about: &'static str,
    /// Whether its result is a file of curves too.
    pub has_csv: bool,
    command: fn() -> Command,
    run: Runner,
    parts: Parts,
}

impl Entry {
    const fn of<S: Study + 'static>() -> Self {
        Entry {
            name: S::NAME,
            about: S::ABOUT,
            has_csv: S::HAS_CSV,
            command: || S::augment_args(Command::new(S::NAME)).after_help(S::EXAMPLES),
            run: |flags, batch| Ok(Box::new(parts::read::<S>(flags)?.run(batch)?)),
            parts: Parts::of::<S>(),
        }
    }

    /// Its flags, with help.
    pub fn command(&self) -> Command {
        (self.command)()
    }

    /// Runs it with flags that its command has read.
    pub fn run(
        &self,
        flags: &ArgMatches,
        batch: &Batch<'_>,
    ) -> std::result::Result<Box<dyn Document>, Failure> {
        (self.run)(flags, batch)
    }

    /// How many parts it has with these flags: see [`parts::joined`].
    pub fn parts(&self, flags: &ArgMatches) -> std::result::Result<usize, Failure> {
        self.parts.count(flags)
    }

    /// Runs one of its parts, counted from 0.
    pub fn run_part(
        &self,
        flags: &ArgMatches,
        index: usize,
        batch: &Batch<'_>,
    ) -> std::result::Result<Box<dyn Document>, Failure> {
        self.parts.run(flags, index, batch)
    }

    /// Files of the user's that it would read with these flags.
    pub fn files(&self, flags: &ArgMatches) -> std::result::Result<Vec<String>, Failure> {
        self.parts.files(flags)
    }
}

/// A table, whatever its rows: its text is what it displays.
pub trait Document: fmt::Display {
    /// As JSON: study, settings, rows.
    fn json(&self) -> serde_json::Result<String>;
    /// As a figure.
    fn figure(&self) -> Figure;
    /// The curves as CSV; empty where there are none.
    fn csv(&self) -> String;
}

impl<S: Study> Document for Table<S> {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    fn figure(&self) -> Figure {
        S::figure(self)
    }

    fn csv(&self) -> String {
        S::csv(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_of_every_study_take_their_defaults() {
        for study in STUDIES {
            let command = study.command().no_binary_name(true);
            command.clone().debug_assert();
            let read = command.try_get_matches_from([""; 0]);
            assert!(read.is_ok(), "{}: {read:?}", study.name);
        }
        let defaults = (opf::Settings::default(), cvar::Settings::default());
        assert_eq!(defaults.0.alphas, crate::paper::TABLE_1_ALPHAS);
        assert_eq!(defaults.1.alphas, crate::paper::TABLE_2_ALPHAS);
        assert_eq!(defaults.1.tails_percent, crate::paper::TABLE_2_TAILS);
        let wind = wind::Settings::default();
        assert_eq!(wind.variations_percent, crate::paper::TABLE_4_VARIATIONS);
    }
}
