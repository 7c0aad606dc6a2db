//! What can go wrong between a spec and a model.

use conveil::Error;
use conveil_text::{Located, ReadError};

/// Why a model, or its data, cannot be had. May depend on private data: it is the curator's.
#[derive(Debug, Clone)]
pub enum Failure {
    /// A mistake in a text, with its place.
    Read(ReadError),
    /// A bad file as a whole; the message names it.
    Input(String),
    /// What the engine says about a value of a text.
    Located {
        /// The same as a mistake in the text.
        read: Box<ReadError>,
        /// The engine's own.
        error: Error,
    },
    /// What the engine says about a file.
    Engine {
        /// The name of the file.
        name: String,
        /// What it says.
        error: Error,
    },
}

impl Failure {
    /// What the engine says about the file `name`.
    pub fn engine(name: &str, error: Error) -> Self {
        Failure::Engine {
            name: name.into(),
            error,
        }
    }

    /// What the engine says about a value of the spec `name`.
    pub fn located<T>(name: &str, place: &Located<T>, error: Error) -> Self {
        Failure::Located {
            read: Box::new(place.error(name, error.to_string())),
            error,
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Failure::Read(error)
    }
}
