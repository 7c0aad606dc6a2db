//! The paper's tables and figures, as functions that return data, and one small module that plots them.
//!
//! - [`opf`]: Table 1, private cost queries of the optimal power flow under every strategy.
//!
//! # Scope
//!
//! Studies draw seeded noise and look at the data as they please: nothing that they print is private, and nothing here
//! can make a release.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod opf;
pub mod paper;
