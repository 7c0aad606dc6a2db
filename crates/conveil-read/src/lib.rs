//! Readers of what a user hands to Conveil: text in, a typed value or one diagnostic out.
//!
//! - [`spec`] reads spec files (TOML): what is private, what is released, which promises hold.
//! - [`numbers`] reads plain tables of numbers (CSV).
//! - [`problem`] reads and writes problems in the JSON format of Clarabel's `save_to_file`.
//!
//! Both readers take the text and a name to show in messages; they open no files. Whatever the
//! text, they return: the first mistake found becomes a [`ReadError`] with its line and column,
//! and no size declared in the text makes them allocate more than a multiple of the text itself.
//!
//! # Scope
//!
//! The readers check all that the text alone decides. What needs both files (does the spec name as
//! many constraint blocks as the problem has cones?) is for the caller, who finds the place of
//! every name it may have to complain about in a [`Located`].
//!
//! [`naming`] is the one check of every name that a card or a message can show.
//!
//! [`Source`] and [`spelling`] are what the readers make their messages with; readers in other
//! crates speak the same language through them.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod diagnostic;
pub mod naming;
pub mod numbers;
mod position;
pub mod problem;
pub mod spec;
pub mod spelling;

pub use diagnostic::ReadError;
pub use position::{Located, Source};
