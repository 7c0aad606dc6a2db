//! What Conveil lets out, and the account it keeps of it.
//!
//! A release begins with a charge: [`ledger`] keeps, per dataset, a budget that is fixed once and a history of charges
//! that is only ever appended to.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod ledger;
