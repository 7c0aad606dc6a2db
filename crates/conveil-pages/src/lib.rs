//! Self-contained HTML documents: the curator's report of a spec, and the public page of a released card.
//!
//! One file each: style and figures stand inside, there is no script, and nothing is fetched. Every text goes through
//! [`html::escaped`], so that names of variables, parameters and specs are shown and never obeyed.
//!
//! - [`report()`] and [`card()`] are whole documents; [`studies()`] is one too, of sections that [`study()`] makes.
//! - [`sections`]: each section of a report by itself, from a value of the workbench to a fragment.
//! - [`figures`]: each figure by itself, from plain values to SVG.
//! - [`html`]: fragments, the style, and the frame of a document.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod card;
pub mod figures;
pub mod html;
mod numbers;
mod report;
pub mod sections;
mod studies;

pub use card::card;
pub use report::report;
pub use studies::{chosen_studies, studies, study};
