//! What golden files are made of.

pub mod case;
pub mod text;
