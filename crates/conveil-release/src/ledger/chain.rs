//! The hash chain over a dataset's charges.

use super::{Budget, Charge, Error, Result};
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// The head of a dataset's chain after one of its charges: what a release card carries.
///
/// # Guarantee
/// head₀ = H("conveil ledger 1 budget", dataset, ε, δ, composition) and headᵢ = H("conveil ledger 1 charge", headᵢ₋₁,
/// dataset, i, day, mechanism, ε, δ, ρ, basis), H = SHA-256 over the fields as UTF-8 text, each after its length in eight
/// big-endian bytes; numbers in their shortest decimal text, a missing ρ empty, a head as 64 hexadecimal digits. Nothing
/// else enters: no data, outcome or duration. Tests: `heads_follow_the_written_recipe`, `tampered_rows_are_named`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Head([u8; 32]);

impl Head {
    /// The head before the first charge.
    pub(super) fn genesis(dataset: &str, budget: &Budget) -> Head {
        Head::hash(&[
            "conveil ledger 1 budget",
            dataset,
            &number(budget.epsilon()),
            &number(budget.delta()),
            budget.composition().name(),
        ])
    }

    /// The head after one more charge.
    pub(super) fn after(&self, dataset: &str, id: u64, day: &str, charge: &Charge) -> Head {
        Head::hash(&[
            "conveil ledger 1 charge",
            &self.to_string(),
            dataset,
            &id.to_string(),
            day,
            charge.mechanism().name(),
            &number(charge.epsilon()),
            &number(charge.delta()),
            &charge.rho().map(number).unwrap_or_default(),
            charge.basis().name(),
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
