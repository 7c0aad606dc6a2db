//! The one diagnostic that both readers return.

use thiserror::Error;

/// A mistake in a text, with the place to look at and, where there is one, the way out.
///
/// Shown as `spec.toml:12:3: message`, followed by an indented `help:` line when there is help.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{source_name}:{line}:{column}: {message}{}", help_line(.help))]
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
        Some(help) => format!("\n  help: {help}"),
        None => String::new(),
    }
}
