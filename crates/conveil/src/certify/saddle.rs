//! M15b, M15c. Saddle: private numbers anywhere in the program, its value or any linear query of its solution.
//!
//! Rows with private numbers may be exceeded at a public price, so that their multipliers lie in a public set; public rows
//! bound the variables that meet private numbers. Without a width the value is covered (`saddle_value.rs`), with one the
//! solution (`saddle_point.rs`).

use super::certificate::{Certificate, Kind, Need, Site, Takes};
use super::saddle_point::SaddlePoint;
use super::saddle_value::SaddleValue;
use crate::ask::{Request, Terms};
use crate::error::Result;

impl Request {
    /// Certified for private numbers anywhere in the program, under these public terms (M15b, M15c): prices of the rows that
    /// hold private numbers; for a query of the solution also a width, and curvature.
    pub fn saddle(terms: Terms) -> Self {
        Request::Certificate {
            word: SaddleKind.word(),
            terms,
        }
    }
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct SaddleKind;

impl Kind for SaddleKind {
    fn word(&self) -> &'static str {
        "saddle"
    }

    fn covers(&self) -> &'static str {
        "private numbers anywhere (P, q, A, b): the optimal value, or any linear query of a curved program; rows with private numbers may be exceeded at a public price"
    }

    fn takes(&self) -> Takes {
        Takes {
            price: Need::Optional,
            prices: Need::Optional,
            width: Need::Optional,
            curvature: Need::Optional,
            ..Takes::default()
        }
    }

    fn follows_alpha(&self) -> bool {
        true
    }

    fn covers_the_objective(&self) -> bool {
        true
    }

    fn curves_private_columns(&self) -> bool {
        true
    }

    fn prove(&self, site: &Site<'_>) -> Result<Box<dyn Certificate>> {
        Ok(match site.terms.width {
            None => Box::new(SaddleValue::new(site)?),
            Some(width) => Box::new(SaddlePoint::new(site, width)?),
        })
    }
}
