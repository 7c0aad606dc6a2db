//! How somebody starts with a model: a spec of version 2 with sample data beside it, and a spec with blanks for a file of
//! their own. Every [`Kind`] has a [`Starter`].

use conveil_text::naming::fault_of_text;
use conveil_text::spelling::{listed, nearest, quoted};
use conveil_text::tables::BLANK;

use crate::failure::Failure;
use crate::files::Text;
use crate::model::{KINDS, Kind};

/// What a model gives those who begin.
#[derive(Debug)]
pub struct Starter {
    /// What the model is for, on one line.
    pub about: &'static str,
    /// A spec of version 2 and the files that it names, all made up; the spec is the first.
    pub files: &'static [Text<'static>],
    /// The public data that the spec has to explore on, as `--at` calls them.
    pub at: &'static str,
    /// ε and δ of a budget for releases of the spec.
    pub budget: (f64, f64),
    /// How a spec is written for a file of private data, where its first line tells enough.
    pub from: Option<FromData>,
}

/// How a spec with blanks is written for a file of private data.
#[derive(Debug)]
pub struct FromData {
    /// What such a file holds, for those who choose a model.
    pub holds: &'static str,
    /// Whether the spec names the columns. Where it does not, the first line is not looked at.
    pub names_columns: bool,
    /// Whether a file with these columns can be no other model's.
    pub recognises: fn(&[String]) -> bool,
    /// The spec.
    pub spec: fn(&DataFile) -> String,
}

/// What is known of a file of private data: its name and the names of its columns.
///
/// # Guarantee
/// A spec that is written from it does not depend on any value in the file: there is none here. Test:
/// `a_proposed_spec_is_the_same_whatever_the_values`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    file: String,
    columns: Vec<String>,
}

/// At most this many columns are listed in a sentence.
const LISTED_COLUMNS: usize = 12;

impl DataFile {
    /// A file, by its name as the spec will write it, with these columns. Names that no spec can have are refused.
    pub fn new(file: &str, columns: Vec<String>) -> Result<Self, Failure> {
        if let Some(fault) = fault_of_text(file) {
            let message = format!("the name of the file, {}, {fault}", quoted(file));
            return Err(Failure::Input(format!(
                "{message}\n  help: {}",
                fault.help()
            )));
        }
        for name in &columns {
            if let Some(fault) = conveil_text::naming::fault(name) {
                let message = format!("{file}: column {} {fault}", quoted(name));
                return Err(Failure::Input(format!(
                    "{message}\n  help: {}",
                    fault.help()
                )));
            }
        }
        Ok(DataFile {
            file: file.into(),
            columns,
        })
    }

    /// Its name, as a string of TOML.
    pub fn file(&self) -> String {
        text(&self.file)
    }

    /// The names of its columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The names of its columns, as a sentence lists alternatives; of many the first.
    pub fn alternatives(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        match names.len().checked_sub(LISTED_COLUMNS) {
            None | Some(0) => listed(&names),
            Some(more) => {
                let first: Vec<String> =
                    names[..LISTED_COLUMNS].iter().map(|n| quoted(n)).collect();
                format!("{} or one of {more} more", first.join(", "))
            }
        }
    }
}

/// A string of TOML.
pub fn text(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

/// A place that the user fills in, as a string of TOML: the reader of specs refuses it with these words.
pub fn blank(what: &str) -> String {
    text(&format!("{BLANK}: {what}"))
}

/// The lines that stand above every spec that is written for a file.
pub fn heading(what: &str, data: &DataFile) -> String {
    format!(
        "# {what}, from {}.\n\
         # Written from the first line of the file alone, as names of columns. If it is a record, delete this spec.\n\
         # Every \"{BLANK}\" is yours to write, without looking at the values; `conveil check` names the next one.\n\
         version = 2\n",
        data.file()
    )
}

/// ε, and with `delta` also δ.
pub fn privacy(mechanism: &str, delta: bool) -> String {
    let epsilon = blank(
        "a number above 0, such as 1.0; a smaller one hides more and needs more noise (docs/choosing.md)",
    );
    let mut section = format!("[privacy]\nmechanism = \"{mechanism}\"\nepsilon = {epsilon}\n");
    if delta {
        let what = "a number far below one over the number of records, such as 1e-5";
        section += &format!("delta = {}\n", blank(what));
    }
    section
}

/// `[feasibility]`, where the strategy is left to the rule, and `[ledger]`.
pub fn promises() -> String {
    format!(
        "[feasibility]                       # the strategy is chosen by a public rule\n\
         eta = {}\n\n\
         [ledger]                            # conveil ledger init makes it\n\
         file = \"budget.sqlite\"\n\
         dataset = {}\n",
        blank("how often a decision may break a limit at most, such as 0.05"),
        blank("a public name of these data, such as loads-2026"),
    )
}

/// A comment that shows where labels of a series go.
pub const LABEL: &str = "# label = \"hour\"                  # a column that names the rows of a series; public: each card has its label\n";

/// A comment that shows where public data go.
pub const TWIN: &str = "# twin = \"twin.csv\"                # a public file of the same form, made up or out of date; for --at twin\n";

/// The kind of this word, or which words there are.
pub fn kind(word: &str) -> Result<&'static Kind, Failure> {
    if let Some(kind) = KINDS.iter().find(|kind| kind.word == word) {
        return Ok(kind);
    }
    let words: Vec<&str> = KINDS.iter().map(|kind| kind.word).collect();
    let help = match nearest(word, words.iter().copied()) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("it is {}", listed(&words)),
    };
    let message = format!("there is no model {}", quoted(word));
    Err(Failure::Input(format!("{message}\n  help: {help}")))
}

/// The one kind that such a file can be of, where the names of its columns tell.
pub fn recognised(columns: &[String]) -> Option<&'static Kind> {
    let of_file = |kind: &&&'static Kind| {
        let from = kind.starter.from.as_ref();
        from.is_some_and(|from| (from.recognises)(columns))
    };
    let mut kinds = KINDS.iter().filter(of_file);
    match (kinds.next(), kinds.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}
