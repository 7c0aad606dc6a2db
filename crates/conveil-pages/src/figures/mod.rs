//! Figures as SVG, each a function of plain values. They are for [`Fragment::figure`](crate::html::Fragment::figure) under
//! [`STYLE`](crate::html::STYLE), which gives them the colours of the page, and stand alone too.

mod density;
mod ledger;
mod network;
mod place;
mod plots;

pub use density::density;
pub use ledger::{Charged, spent};
pub use network::network;
pub(crate) use network::{DEVIATIONS, loading};
pub use plots::{Bar, against, bars, body, curves, scores};
