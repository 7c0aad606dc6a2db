//! The paper's tables and figures, as functions that return data, and one small module that plots them.
//!
//! - [`opf`]: Table 1, private cost queries of the optimal power flow under every strategy.
//! - [`cvar`]: Table 2, the risk of a private generation query.
//! - [`density`]: Figure 3, what an observer of the released cost sees of adjacent demands.
//! - [`regression`]: Section 4.3.1, a private regression that must increase.
//! - [`wind`]: Table 4, private power curves of wind turbines.
//! - [`ellipsoid`]: Section 4.4, ellipsoids that stay inside a polytope.
//! - [`svm`]: Section 4.2.1, the hyperplane of a support vector machine on synthetic classes.
//! - [`classifier`]: Table 3, which demands a network can meet, told by a private classifier.
//! - [`paper`]: the numbers that the paper prints.
//! - [`plot`]: figures as SVG and PNG, with letters of its own.
//!
//! # Scope
//!
//! Studies draw seeded noise and look at the data as they please: nothing that they print is private, and nothing here
//! can make a release.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod classifier;
pub mod cvar;
pub mod density;
pub mod ellipsoid;
mod hyperplane;
mod machine;
pub mod opf;
pub mod paper;
mod patience;
pub mod plot;
pub mod regression;
mod sense;
pub mod svm;
pub mod wind;

/// What stands below the first line of a table.
const SEEDED: &str = "seeded noise: nothing here is private, nothing is released";

/// The same where the records are the user's own.
const SEEDED_OWN: &str = "seeded noise: nothing is released, but the table depends on your records and has no guarantee: it is not to be published";

/// With so many digits; a dash where there is none.
fn rounded(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".into(), |v| format!("{v:.digits$}"))
}

/// A share in percent, without the rounding errors of 100·0.07.
fn percent_of(share: f64) -> f64 {
    (share * 1e12).round() / 1e10
}
