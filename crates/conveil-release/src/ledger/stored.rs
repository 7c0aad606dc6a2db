//! An entry of a history as the file holds it, read back in the one spelling that is written.

use super::history::Record;
use super::nonce::Nonce;
use super::{Basis, Charge, Claim, Error, Mechanism, Result, terms};

/// What a statement is called where a charge has its mechanism.
pub(super) const STATEMENT: &str = "statement";

/// A charge as the file holds it.
pub(super) struct Stored {
    pub(super) id: i64,
    pub(super) day: String,
    pub(super) mechanism: String,
    pub(super) epsilon: String,
    pub(super) delta: String,
    pub(super) rho: Option<String>,
    pub(super) basis: String,
    pub(super) head: String,
    pub(super) nonce: Option<String>,
    pub(super) terms: Option<String>,
}

impl Stored {
    pub(super) fn record(&self) -> Result<(Option<Nonce>, Record)> {
        let (nonce, terms) = match (&self.nonce, &self.terms) {
            (None, None) => return Ok((None, Record::Charge(self.charge_of_format_1()?))),
            (Some(nonce), Some(terms)) => (nonce.parse::<Nonce>()?, terms),
            _ => return Err(Error::input("nonce and terms come together".into())),
        };
        if self.mechanism == STATEMENT {
            let amounts = (self.epsilon.as_str(), self.delta.as_str(), &self.rho);
            if amounts != ("0e0", "0e0", &None) || self.basis != Basis::Declared.name() {
                return Err(Error::input("a statement has no amounts".into()));
            }
            let adopts = terms::adoption(terms)?;
            return Ok((Some(nonce), Record::Adoption { adopts }));
        }
        let amounts = terms::Amounts {
            mechanism: self.mechanism.parse::<Mechanism>()?,
            epsilon: stored_number(&self.epsilon)?,
            delta: stored_number(&self.delta)?,
            rho: self.rho.as_deref().map(stored_number).transpose()?,
            basis: self.basis.parse::<Basis>()?,
        };
        let charge = terms::charge(&amounts, terms)?;
        Ok((Some(nonce), Record::Charge(charge)))
    }

    fn charge_of_format_1(&self) -> Result<Charge> {
        let rho = self.rho.as_deref().map(stored_number).transpose()?;
        let mechanism = self.mechanism.parse::<Mechanism>()?;
        if mechanism == Mechanism::Series {
            return Err(Error::input("format 1 has no series".into()));
        }
        Charge::new(
            mechanism,
            stored_number(&self.epsilon)?,
            stored_number(&self.delta)?,
            rho,
            Claim::not_stated(self.basis.parse::<Basis>()?),
        )
    }
}

/// Reads an amount as [`super::chain::number`] wrote it, and no other spelling.
pub(super) fn stored_number(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(x) if super::chain::number(x) == text => Ok(x),
        _ => Err(Error::input(format!("{text:?} is not an amount"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_spelling_that_is_written_reads_back() {
        assert_eq!(stored_number("1e-1").unwrap(), 0.1);
        for text in ["0.1", "1.0e-1", "+1e-1", "1E-1", "", "nan"] {
            assert!(stored_number(text).is_err(), "{text}");
        }
    }
}
