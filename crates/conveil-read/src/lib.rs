//! Spec files: a text in, a [`spec::Spec`] or one diagnostic out. No file is opened.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod spec;
