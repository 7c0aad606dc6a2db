//! MATPOWER case files, version 2: text in, a [`Network`] or one diagnostic out.
//!
//! A case file is a MATLAB function that fills a struct. This reader takes plain assignments of
//! numbers, text and matrices; a file that computes is refused, since half of it would be lost.
//!
//! What is read: `baseMVA`; of `bus` number, type, Pd and Gs; of `gen` bus, status, Pmax and Pmin;
//! of `branch` the ends, r, x, rateA, ratio, angle, status, angmin and angmax; of `gencost` the cost
//! of active power, convex polynomials up to p² and convex piecewise-linear costs. Further columns
//! and other fields are passed over, unless they change what a dispatch is: user-defined
//! constraints and costs (`A`, `N`) and DC lines in service are refused.
//!
//! As in MATPOWER, a ratio of 0 means 1; a limit of 0, or of 1e10 MVA and more, means none; angles
//! are unlimited at ±360° and beyond, and where both limits are 0 or beyond; a status above 0 means
//! in service; a bus of type 4 is isolated and left out with all that is connected to it. The DC
//! power flow has no reactive power, so rateA, in MVA, limits the MW.
//!
//! At least one bus must be of type 3, the reference, and no two that are connected. A reference
//! in every island is not asked for: [`Network::islands`] tells, and the models decide.

mod case;
mod file;
mod matrix;
mod scan;

use crate::{Network, ReadError};

/// Reads a case file; `source_name` is what messages call it.
pub fn read(source_name: &str, text: &str) -> Result<Network, ReadError> {
    let text = scan::Text::new(source_name, text);
    let file = file::File::read(text)?;
    case::network(&file)
}
