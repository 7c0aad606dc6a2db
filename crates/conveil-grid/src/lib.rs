//! Power networks: buses, generating units and branches, as the DC power flow sees them.
//!
//! - [`Network`] is the checked data of a network; [`Network::builtin`] offers some of PGLib's.
//! - [`matpower`] reads MATPOWER case files, version 2.
//! - [`demand`] reads demands by bus from CSV, one dataset or a series of them.
//! - [`bounds`] reads public bounds on demands from CSV.
//! - [`compact`] reads and writes the short text format in which the built-in networks are kept.
//!
//! The readers take the text and a name to show in messages; they open no files. Whatever the text,
//! they return: the first mistake found becomes a [`ReadError`] with its line and column.
//!
//! ```
//! use conveil_grid::{Network, Susceptance};
//!
//! let network = Network::builtin("24_ieee_rts")?;
//! assert_eq!(network.buses().len(), 24);
//! assert_eq!(network.branch_name(0), "line 1-2");
//! let b = network.branches()[0].susceptance(Susceptance::Standard);
//! assert!((b - 1.0 / 0.0139).abs() < 1e-12);
//! # Ok::<(), conveil_grid::builtin::UnknownNetwork>(())
//! ```
//!
//! # Scope
//!
//! Data only: no model of the power flow, no solver, nothing about voltages and reactive power.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod bounds;
pub mod builtin;
pub mod compact;
mod csv;
pub mod demand;
pub mod matpower;
mod network;

pub use conveil_text::ReadError;
pub use network::{
    Branch, Bus, Cost, Element, Field, Island, Network, NetworkError, Omitted, Susceptance, Unit,
};
