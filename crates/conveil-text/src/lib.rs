//! Texts that a user hands to Conveil: a text in, a typed value or one diagnostic out. No solver, no engine.
//!
//! - [`tables`] reads TOML key by key, with the place of every value.
//! - [`numbers`] reads plain tables of numbers (CSV).
//! - [`problem`] reads and writes problems in the JSON format of Clarabel's `save_to_file`.
//! - [`naming`] is the one check of every name that a card or a message can show.
//! - [`Source`] and [`spelling`] are what messages are made with; readers in other crates use them too.
//!
//! The readers take the text and a name to show in messages; they open no files. Whatever the text, they return: the first
//! mistake found becomes a [`ReadError`] with its line and column, and no size declared in the text makes them allocate
//! more than a multiple of the text itself.
//!
//! # Scope
//!
//! The readers check all that the text alone decides. What needs more than one text is for the caller, who finds the place of
//! every name it may have to complain about in a [`Located`].
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod diagnostic;
mod label;
pub mod naming;
pub mod numbers;
mod position;
pub mod problem;
pub mod spelling;
pub mod tables;

pub use diagnostic::ReadError;
pub use label::{Label, Labels, Mislabelled};
pub use position::{Located, Source};
