//! One number of a certificate's terms at another value: what a sweep or an explanation varies.

use super::certificate::{Kind, Need, Takes};
use super::certificates;
use crate::ask::{Request, Term};
use crate::error::{Error, Result};

fn need(term: Term, takes: Takes) -> Need {
    match term {
        Term::Price => takes.price,
        Term::Width => takes.width,
        Term::Curvature => takes.curvature,
    }
}

impl Request {
    /// The stated value of a term; none where none is stated.
    pub fn term(&self, term: Term) -> Option<f64> {
        match self {
            Request::Certificate { terms, .. } => *term.place(&mut terms.clone()),
            _ => None,
        }
    }

    /// The same at another value of a term, refused where no certificate is stated with it.
    pub fn with_term(&self, term: Term, value: f64) -> Result<Self> {
        let word = term.word();
        let takes = |kind: &dyn Kind| need(term, kind.takes()) != Need::None;
        if !self.certificate().is_some_and(takes) {
            let kinds = certificates().iter().filter(|kind| takes(**kind));
            let kinds: Vec<String> = kinds.map(|kind| format!("`{}`", kind.word())).collect();
            let found = match self {
                Request::Certificate { word, .. } => format!("this one is by `{word}`"),
                Request::Declared { .. } => "this one is declared".into(),
                Request::Sampled(_) => "this one is sampled".into(),
            };
            return Err(Error::input(format!(
                "a frontier over {word} needs a sensitivity that is stated with a `{word}` ({}); {found}",
                kinds.join(", ")
            )));
        }
        let mut request = self.clone();
        if let Request::Certificate { terms, .. } = &mut request {
            if term == Term::Price && !terms.prices.is_empty() {
                return Err(Error::input(
                    "a frontier over price needs one `price` for all: here single rows have `prices` of their own",
                ));
            }
            *term.place(terms) = Some(value);
        }
        Ok(request)
    }
}
