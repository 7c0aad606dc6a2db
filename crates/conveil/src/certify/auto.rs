//! `auto`: one of the certificates that apply, chosen in public. What is tried here, and with which of the stated numbers; the
//! plan chooses among what is proven.

use super::certificate::{Certificate, Kind, Need, Site, Takes};
use super::certificates;
use crate::ask::{Request, Terms};
use crate::error::{Error, Result};

/// Its word.
pub(crate) const AUTO: &str = "auto";

impl Request {
    /// Certified by whichever certificate applies under these public terms and serves best; no price is made up.
    pub fn auto(terms: Terms) -> Self {
        Request::Certificate { word: AUTO, terms }
    }
}

/// The kind. A plan never asks it for a proof: it asks the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct AutoKind;

impl Kind for AutoKind {
    fn word(&self) -> &'static str {
        AUTO
    }

    fn covers(&self) -> &'static str {
        "whatever one of the other certificates covers at the stated prices, bounds and curvature: the one with the least noise"
    }

    fn takes(&self) -> Takes {
        Takes {
            price: Need::Optional,
            prices: Need::Optional,
            width: Need::Optional,
            offset: Need::Optional,
            curvature: Need::Optional,
        }
    }

    fn stands_for_others(&self) -> bool {
        true
    }

    fn covers_scaled_records(&self) -> bool {
        true
    }

    fn covers_the_objective(&self) -> bool {
        true
    }

    fn prove(&self, _site: &Site<'_>) -> Result<Box<dyn Certificate>> {
        Err(Error::input(
            "`auto` stands for one of the other certificates, and proves nothing itself",
        ))
    }
}

/// A certificate to try, with the stated numbers that it takes; or the number that it lacks.
pub(crate) struct Candidate {
    pub(crate) word: &'static str,
    /// One after the other, until one applies: with a width and without one, where it may have one.
    pub(crate) terms: std::result::Result<Vec<Terms>, &'static str>,
}

/// What `auto` tries.
pub(crate) fn candidates(stated: &Terms) -> Vec<Candidate> {
    let kinds = certificates()
        .iter()
        .filter(|kind| !kind.stands_for_others());
    kinds.map(|kind| candidate(*kind, stated)).collect()
}

fn candidate(kind: &dyn Kind, stated: &Terms) -> Candidate {
    let takes = kind.takes();
    let required = [
        ("price", takes.price, stated.price.is_some()),
        ("prices", takes.prices, !stated.prices.is_empty()),
        ("width", takes.width, stated.width.is_some()),
        ("curvature", takes.curvature, stated.curvature.is_some()),
    ];
    let mut lacking = required
        .iter()
        .filter(|(_, need, has)| *need == Need::Required && !has);
    if let Some((key, ..)) = lacking.next() {
        return Candidate {
            word: kind.word(),
            terms: Err(key),
        };
    }
    let takes_it = |need: Need| need != Need::None;
    let full = Terms {
        price: stated.price.filter(|_| takes_it(takes.price)),
        prices: match takes_it(takes.prices) {
            true => stated.prices.clone(),
            false => Vec::new(),
        },
        width: stated.width.filter(|_| takes_it(takes.width)),
        offset: match takes_it(takes.offset) {
            true => stated.offset.clone(),
            false => Terms::default().offset,
        },
        curvature: stated.curvature.filter(|_| takes_it(takes.curvature)),
        around: match takes_it(takes.curvature) {
            true => stated.around,
            false => Terms::default().around,
        },
    };
    let mut terms = vec![full.clone()];
    if takes.width == Need::Optional && full.width.is_some() {
        terms.push(Terms {
            width: None,
            curvature: None,
            around: Terms::default().around,
            ..full
        });
    }
    Candidate {
        word: kind.word(),
        terms: Ok(terms),
    }
}
