//! The one diagnostic that both readers return.

use thiserror::Error;

use crate::naming::printable;

/// A mistake in a text, with the place to look at and, where there is one, the way out.
///
/// Shown as `spec.toml:12:3: message`, followed by an indented `help:` line when there is help. What does not show is
/// written by its number, and long lines are cut: the message may repeat what stands in the text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}:{line}:{column}: {}{}", shown(source_name), shown(message), help_line(.help))]
pub struct ReadError {
    /// The name of the text, as the caller gave it.
    pub source_name: String,
    /// Line of the mistake, counted from 1.
    pub line: usize,
    /// Column of the mistake in characters, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl ReadError {
    /// The same error with a way out.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

fn help_line(help: &Option<String>) -> String {
    match help {
        Some(help) => format!("\n  help: {}", shown(help)),
        None => String::new(),
    }
}

/// Lines of messages are cut after this many characters.
const LONGEST_LINE: usize = 2000;

fn shown(text: &str) -> String {
    printable(text, LONGEST_LINE)
}
