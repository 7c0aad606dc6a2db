//! Fair bits, from the operating system alone, and the integers and coins that they make exactly (M7).
//!
//! No generator of ours stands between the system's and the noise: there is no seed to protect, and no state that could be
//! saved, copied or repeated.

use dashu_int::UBig;
use dashu_int::ops::BitTest;

use crate::error::{Error, Result};

/// Independent fair bits, and what follows from them.
///
/// # Guarantee
/// If the bits are independent and fair, so are integers below n uniform and coins true with the stated probability,
/// exactly, each independent of those before it. Tests: `integers_below_n_are_all_as_likely`,
/// `long_integers_use_every_bit_once`, `coins_are_true_with_the_stated_probability`.
pub(crate) trait Bits {
    /// The next `count` of them, 64 at most, as an integer below 2^count.
    fn next(&mut self, count: usize) -> Result<u64>;

    /// An integer from 0 to n − 1, each with probability 1/n.
    ///
    /// With 2^b the smallest power of two that is at least n, b bits are each of 0, …, 2^b − 1 with probability 2^{−b}. Those
    /// below n are kept, more than half of them, and what is not kept is forgotten: given that, all n are as likely.
    fn below(&mut self, n: &UBig) -> Result<UBig> {
        if n.is_zero() {
            return Err(Error::Noise("no integer lies from 0 to -1".into()));
        }
        let length = (n - UBig::ONE).bit_len();
        loop {
            let mut drawn = UBig::ZERO;
            let mut left = length;
            while left > 0 {
                let count = left.min(64);
                drawn = (drawn << count) + UBig::from(self.next(count)?);
                left -= count;
            }
            if drawn < *n {
                return Ok(drawn);
            }
        }
    }

    /// True with probability a/n, for a ≤ n: that of the a integers below a among the n below n.
    fn coin(&mut self, a: &UBig, n: &UBig) -> Result<bool> {
        Ok(self.below(n)? < *a)
    }
}

/// What the system is asked for at a time. Linux hands out up to 256 bytes without being interrupted.
const BYTES: usize = 128;

/// The operating system's bits for **one** draw: a number of a release, or a private choice.
///
/// # Guarantee
/// No two draws share a byte, in whatever processes they are made: the bytes are asked for during the draw and forgotten
/// with it. A process that is forked off holds none of them in use: it is a copy of the thread that forks, which is in
/// the middle of no draw. Assumes that the system's bytes are independent and uniform. Tests: `bits_are_used_once`;
/// `test_forked_children_draw_noise_of_their_own` in Python.
pub(crate) struct SystemBits {
    bytes: [u8; BYTES],
    unused: usize,
}

impl SystemBits {
    /// For one draw. It stays where it is made, and is neither kept nor copied.
    pub(crate) fn for_one_draw() -> SystemBits {
        SystemBits {
            bytes: [0; BYTES],
            unused: 0,
        }
    }
}

impl Bits for SystemBits {
    /// From whole bytes, each used once.
    fn next(&mut self, count: usize) -> Result<u64> {
        let mut word = [0; 8];
        let wanted = count.div_ceil(8).min(word.len());
        if self.unused < wanted {
            // What a failed call leaves there is never used.
            self.unused = 0;
            getrandom::fill(&mut self.bytes).map_err(|why| {
                Error::Noise(format!(
                    "the operating system gives no random numbers: {why}"
                ))
            })?;
            self.unused = BYTES;
        }
        let start = BYTES - self.unused;
        word[..wanted].copy_from_slice(&self.bytes[start..start + wanted]);
        self.unused -= wanted;
        let above = 64usize.saturating_sub(count) as u32;
        Ok(u64::from_le_bytes(word) & u64::MAX.checked_shr(above).unwrap_or(0))
    }
}

#[cfg(test)]
pub(crate) mod tests;
