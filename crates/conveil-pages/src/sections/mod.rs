//! The sections of a report, each a function from a value of the workbench to a fragment of HTML without its heading.
//!
//! A fragment is as private as the value that it is made of. Text from specs and files is escaped; nothing is computed here
//! but what is drawn. Where there is nothing to show, the fragment says why.

mod choices;
mod decision;
mod question;
mod trust;

pub use choices::{comparison, explanation, frontier, neighbours};
pub use decision::{budget, cost, decision, model, picture, prices};
pub use question::{glance, guarantee, question};
pub use trust::{audit, ledger, no_ledger};

use crate::html::Fragment;
use conveil_workbench::Failure;

/// What the curator must know, a paragraph each.
pub fn warnings(warnings: &[String]) -> String {
    let paragraphs = warnings.iter();
    paragraphs
        .fold(Fragment::new(), |page, warning| {
            page.say(&format!("Warning: {warning}"))
        })
        .html()
}

/// Why a section is empty.
pub fn failed(failure: &Failure) -> String {
    Fragment::new().why_not(&failure.to_string()).html()
}
