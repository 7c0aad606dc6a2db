//! The hash chain over a dataset's charges.

use super::nonce::Nonce;
use super::{Adoption, Budget, Charge, Error, Result, terms};
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// The head of a dataset's chain after one of its charges: what a release card carries.
///
/// # Guarantee
/// head₀ = H("conveil ledger 2 budget", dataset, ε, δ, composition, terms) and headᵢ = H("conveil ledger 2 charge", headᵢ₋₁,
/// dataset, i, day, mechanism, ε, δ, ρ, basis, nonce, terms), or H("conveil ledger 2 statement", headᵢ₋₁, dataset, i, day,
/// nonce, terms) for a statement about entries of format 1; H = SHA-256 over the fields as UTF-8 text, each after its length
/// in eight big-endian bytes; numbers in their shortest decimal text, a missing ρ empty, a head as 64 hexadecimal digits, a
/// nonce as 32, terms as the JSON text in the file. In entries of format 1 the number is 1, and nonce and terms are missing.
/// Nothing else enters: no data, outcome or duration. Tests: `heads_follow_the_written_recipe`,
/// `heads_of_format_1_still_verify`, `tampered_rows_are_named`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Head([u8; 32]);

impl Head {
    /// The head before the first charge.
    pub(super) fn genesis(dataset: &str, budget: &Budget) -> Head {
        let terms = budget.neighbourhood().map(terms::of_budget);
        let kind = match terms {
            None => "conveil ledger 1 budget",
            Some(_) => "conveil ledger 2 budget",
        };
        let (epsilon, delta) = (number(budget.epsilon()), number(budget.delta()));
        let mut fields = vec![kind, dataset, &epsilon, &delta, budget.composition().name()];
        fields.extend(terms.as_deref());
        Head::hash(&fields)
    }

    /// The head after one more charge; without a nonce, of format 1.
    pub(super) fn after(&self, place: &Link<'_>, charge: &Charge) -> Head {
        let (before, id) = (self.to_string(), place.id.to_string());
        let (epsilon, delta) = (number(charge.epsilon()), number(charge.delta()));
        let rho = charge.rho().map(number).unwrap_or_default();
        let kind = match place.nonce {
            None => "conveil ledger 1 charge",
            Some(_) => "conveil ledger 2 charge",
        };
        let mut fields = vec![kind, &before, place.dataset, &id, place.day];
        fields.extend([charge.mechanism().name(), &epsilon, &delta, &rho]);
        fields.push(charge.basis().name());
        let nonce = place.nonce.map(|nonce| nonce.to_string());
        let terms = nonce.as_ref().and_then(|_| terms::of_charge(charge));
        fields.extend(nonce.as_deref());
        fields.extend(terms.as_deref());
        Head::hash(&fields)
    }

    /// The head after a statement.
    pub(super) fn after_statement(&self, place: &Link<'_>, adoption: &Adoption) -> Head {
        Head::hash(&[
            "conveil ledger 2 statement",
            &self.to_string(),
            place.dataset,
            &place.id.to_string(),
            place.day,
            &place.nonce.map_or(String::new(), |nonce| nonce.to_string()),
            &terms::of_adoption(adoption),
        ])
    }

    fn hash(fields: &[&str]) -> Head {
        let mut hasher = Sha256::new();
        for field in fields {
            hasher.update((field.len() as u64).to_be_bytes());
            hasher.update(field.as_bytes());
        }
        Head(hasher.finalize().into())
    }
}

/// Where an entry stands.
pub(super) struct Link<'l> {
    pub(super) dataset: &'l str,
    pub(super) id: u64,
    pub(super) day: &'l str,
    /// None in entries of format 1.
    pub(super) nonce: Option<&'l Nonce>,
}

/// An amount as the file and the chain write it: the shortest text that reads back as the same f64.
pub(super) fn number(x: f64) -> String {
    format!("{x:e}")
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Head({self})")
    }
}

impl FromStr for Head {
    type Err = Error;

    fn from_str(text: &str) -> Result<Head> {
        let wrong = || Error::input(format!("a head is 64 hexadecimal digits, found {text:?}"));
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * i..2 * i + 2).ok_or_else(wrong)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
        }
        Ok(Head(bytes))
    }
}

impl Serialize for Head {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
