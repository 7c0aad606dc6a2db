//! The sensitivity of the released map (M8): certificates, declared bounds, sampled pairs.

// One file for each kind of certificate.
mod auto;
mod envelope;
mod erm;
mod moreau;
mod radius;
mod range;
mod saddle;
mod strong_convexity;

// What they share.
mod certificate;
mod corrected;
mod deviation;
mod elastic;
mod floor;
mod metric;
mod reach;
mod saddle_point;
mod saddle_value;
mod term;

// Without a certificate: what the user states, and what sampled pairs show.
mod calibrate;
mod declared;
mod sampled;

pub(crate) use auto::{AUTO, Candidate, candidates};
pub(crate) use calibrate::{Answer, calibrate, pair_count};
pub use calibrate::{Attempted, Calibrated};
pub(crate) use certificate::{Certificate, DISTINCT, SYNTHETIC_SEED, Site, Tolerance};
pub use certificate::{Kind, Need, Takes};
pub(crate) use corrected::nominal_or_middle;
pub use declared::Declared;
pub(crate) use deviation::{Deviation, Found, is_moved};
pub(crate) use floor::floor;
pub(crate) use metric::shape_of_curvature;
pub use sampled::{Estimate, Pairs, estimate};

use crate::ask::Request;
use crate::error::{Error, Result};

/// The kinds of certificates, in the order of their words: one line each.
static CERTIFICATES: [&dyn Kind; 8] = [
    &envelope::EnvelopeKind,
    &moreau::MoreauKind,
    &radius::RadiusKind,
    &saddle::SaddleKind,
    &strong_convexity::StrongConvexityKind,
    &erm::RegularisedErmKind,
    &range::RangeKind,
    &auto::AutoKind,
];

/// Every kind of certificate there is.
pub fn certificates() -> &'static [&'static dyn Kind] {
    &CERTIFICATES
}

impl Request {
    /// The kind of certificate that is asked for.
    pub fn certificate(&self) -> Option<&'static dyn Kind> {
        match self {
            Request::Certificate { word, .. } => named(word).ok(),
            Request::Declared { .. } | Request::Sampled(_) => None,
        }
    }
}

/// The kind that a request calls so.
pub(crate) fn named(word: &str) -> Result<&'static dyn Kind> {
    let mut kinds = certificates().iter().copied();
    kinds.find(|kind| kind.word() == word).ok_or_else(|| {
        let known: Vec<&str> = certificates().iter().map(|kind| kind.word()).collect();
        Error::input(format!(
            "there is no certificate `{word}`; there are: {}",
            crate::program::list_some(&known)
        ))
    })
}
