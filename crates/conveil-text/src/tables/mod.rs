//! TOML, read key by key: every value knows its place, unknown keys are refused with the one that was probably meant.

mod document;
mod item;
mod names;
mod table;

pub use document::{BLANK, Document};
pub use item::{Item, MAX_COUNT};
pub use names::Names;
pub use table::Table;
