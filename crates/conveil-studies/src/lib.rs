//! The paper's tables and figures, as functions that return data, and one small module that plots them.
//!
//! - [`leakage`]: Figure 1, how exact answers give a datum away.
//! - [`example`]: Figure 2, a private lower limit by output and by program perturbation.
//! - [`opf`]: Table 1, private cost queries of the optimal power flow under every strategy.
//! - [`cvar`]: Table 2, the risk of a private generation query.
//! - [`density`]: Figure 3, what an observer of the released cost sees of adjacent demands.
//! - [`regression`]: Section 4.3.1, a private regression that must increase.
//! - [`wind`]: Table 4, private power curves of wind turbines.
//! - [`ellipsoid`]: Section 4.4, ellipsoids that stay inside a polytope.
//! - [`svm`]: Section 4.2.1, the hyperplane of a support vector machine on synthetic classes.
//! - [`classifier`]: Table 3, which demands a network can meet, told by a private classifier.
//! - [`study`]: what all of them are, and the list of them.
//! - [`parts`]: a study in parts that different machines may run.
//! - [`paper`]: the numbers that the paper prints.
//! - [`plot`]: figures as SVG and PNG, with a built-in font.
//!
//! # Scope
//!
//! Studies draw seeded noise and use the data without protection: nothing that they print is private, and nothing here
//! can make a release.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod classifier;
pub mod cvar;
pub mod density;
pub mod ellipsoid;
pub mod example;
mod fitting;
mod input;
pub mod leakage;
mod learning;
pub mod opf;
pub mod paper;
pub mod parts;
pub mod plot;
pub mod regression;
mod settings;
pub mod study;
pub mod svm;
mod tolerance;
pub mod wind;
