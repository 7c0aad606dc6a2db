//! A number that is used once: what keeps a restored copy of the file from growing the same head again (M16).

use super::{Error, Result};
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// 128 bits from the operating system, drawn for one entry before anything private is read.
///
/// # Guarantee
/// Two entries have the same one with probability 2⁻¹²⁸ for each pair of them, whatever file they are written to. It
/// depends on nothing. Test: `a_restored_copy_never_grows_the_same_head`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nonce([u8; 16]);

impl Nonce {
    /// A fresh one.
    pub(super) fn draw() -> Result<Nonce> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|why| Error::Random {
            why: why.to_string(),
        })?;
        Ok(Nonce(bytes))
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Nonce {
    type Err = Error;

    fn from_str(text: &str) -> Result<Nonce> {
        let wrong = || Error::input(format!("a nonce is 32 hexadecimal digits, found {text:?}"));
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if text.len() != 32 || !text.bytes().all(is_digit) {
            return Err(wrong());
        }
        let bytes = u128::from_str_radix(text, 16).map_err(|_| wrong())?;
        Ok(Nonce(bytes.to_be_bytes()))
    }
}

impl Serialize for Nonce {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
