//! Exact samplers (M7; Canonne, Kamath and Steinke 2020): fair bits in, integers of the law out.
//!
//! Everything is an integer of any size, and nothing is rounded. Each function says why its law is the one that it claims.
//! Where a try is refused, the next one starts from fresh bits: what is kept has the law of one try, given that it is kept.
//! How many bits a draw takes depends on what is drawn: time is not protected.

use dashu_int::ops::{DivRem, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use crate::error::{Error, Result};
use crate::randomness::{Bits, SystemBits};

/// The laws of the noise, from fair bits.
pub(crate) trait Sample: Bits {
    /// True with probability e^{−a/b}, for b > 0.
    fn exponential_coin(&mut self, a: &UBig, b: &UBig) -> Result<bool> {
        exponential_coin(a, b, self)
    }

    /// An integer j with probability ∝ e^{−|j|/scale}; 0 where the scale is.
    fn discrete_laplace(&mut self, scale: &RBig) -> Result<IBig> {
        discrete_laplace(scale, self)
    }

    /// An integer j with probability ∝ e^{−j²/(2σ²)}, σ the scale; 0 where it is.
    fn discrete_gaussian(&mut self, scale: &RBig) -> Result<IBig> {
        discrete_gaussian(scale, self)
    }
}

impl Sample for SystemBits {}

/// True with probability e^{−a/b}, for b > 0.
///
/// # Guarantee
/// With a = wb + r and r < b, w coins of e^{−1} and one of e^{−r/b} are all true with probability e^{−w}·e^{−r/b}. The first false
/// one settles it, so that a large w costs nothing. Test: `coins_have_the_probability_of_the_exponential`.
fn exponential_coin(a: &UBig, b: &UBig, bits: &mut (impl Bits + ?Sized)) -> Result<bool> {
    if b.is_zero() {
        return Err(Error::Noise("nothing is divided by 0".into()));
    }
    let (mut whole, rest) = a.div_rem(b);
    while !whole.is_zero() {
        if !coin_up_to_one(&UBig::ONE, &UBig::ONE, bits)? {
            return Ok(false);
        }
        whole -= UBig::ONE;
    }
    coin_up_to_one(&rest, b, bits)
}

/// True with probability e^{−γ} for γ = a/b, 0 ≤ γ ≤ 1.
///
/// Coins of probability γ/1, γ/2, γ/3, … are flipped up to the first false one, the K-th. Pr[K > k] = γ^k/k!, so that
/// Pr[K is odd] = Σ_{k even} (Pr[K > k] − Pr[K > k + 1]) = 1 − γ + γ²/2! − γ³/3! + … = e^{−γ}.
fn coin_up_to_one(a: &UBig, b: &UBig, bits: &mut (impl Bits + ?Sized)) -> Result<bool> {
    let mut is_odd = true;
    let mut k_times_b = b.clone();
    while bits.coin(a, &k_times_b)? {
        is_odd = !is_odd;
        k_times_b += b;
    }
    Ok(is_odd)
}

/// An integer j with probability ∝ e^{−|j|/scale}; 0 where the scale is.
///
/// # Guarantee
/// [`laplace_try`] has this law, given that it keeps an integer. Tests: `laplace_integers_have_the_exact_law`,
/// `integers_follow_the_exact_discrete_law`.
fn discrete_laplace(scale: &RBig, bits: &mut (impl Sample + ?Sized)) -> Result<IBig> {
    let (t, s) = fraction(scale)?;
    if t.is_zero() {
        return Ok(IBig::ZERO);
    }
    loop {
        if let Some(j) = laplace_try(&t, s, bits)? {
            return Ok(j);
        }
    }
}

/// An integer j, if one is kept: then with probability ∝ e^{−|j|s/t}.
///
/// An integer 0 ≤ u < t, kept with probability e^{−u/t}, and v ≥ 0 with probability ∝ e^{−v} make every x = u + tv ≥ 0 in one
/// way, with probability ∝ e^{−u/t}·e^{−v} = e^{−x/t}. The s integers x with ⌊x/s⌋ = y have together a probability ∝ e^{−ys/t}. A
/// fair sign gives one half of it to y, the other to −y. These are one integer if y = 0, of which one half is refused.
fn laplace_try(t: &UBig, s: &UBig, bits: &mut (impl Sample + ?Sized)) -> Result<Option<IBig>> {
    let u = bits.below(t)?;
    if !bits.exponential_coin(&u, t)? {
        return Ok(None);
    }
    // v coins of e^{−1} are true, and the next one is not: with probability e^{−v}(1 − e^{−1}).
    let mut v = UBig::ZERO;
    while bits.exponential_coin(&UBig::ONE, &UBig::ONE)? {
        v += UBig::ONE;
    }
    let y = IBig::from((u + t * v) / s);
    let is_negative = bits.coin(&UBig::ONE, &UBig::from(2u8))?;
    Ok(match is_negative {
        false => Some(y),
        true if y.is_zero() => None,
        true => Some(-y),
    })
}

/// An integer j with probability ∝ e^{−j²/(2σ²)}, σ the scale; 0 where it is.
///
/// # Guarantee
/// [`gaussian_try`] has this law, given that it keeps an integer. Tests: `gaussian_integers_have_the_exact_law`,
/// `integers_follow_the_exact_discrete_law`.
fn discrete_gaussian(scale: &RBig, bits: &mut (impl Sample + ?Sized)) -> Result<IBig> {
    let (p, q) = fraction(scale)?;
    if p.is_zero() {
        return Ok(IBig::ZERO);
    }
    loop {
        if let Some(j) = gaussian_try(&p, q, bits)? {
            return Ok(j);
        }
    }
}

/// An integer j, if one is kept: then with probability ∝ e^{−j²/(2σ²)}, for σ = p/q.
///
/// An integer y of the discrete Laplace law of scale t is kept with probability e^{−(|y| − σ²/t)²/(2σ²)}. The exponents
/// −|y|/t − (|y| − σ²/t)²/(2σ²) = −y²/(2σ²) − σ²/(2t²) have the same last term for every y: Pr[y] ∝ e^{−y²/(2σ²)}. That holds
/// for every t > 0; t = ⌊σ⌋ + 1 is near the best.
fn gaussian_try(p: &UBig, q: &UBig, bits: &mut (impl Sample + ?Sized)) -> Result<Option<IBig>> {
    let t = p / q + UBig::ONE;
    let y = bits.discrete_laplace(&RBig::from(t.clone()))?;
    // (|y| − σ²/t)²/(2σ²) = (|y|q²t − p²)²/(2(pqt)²).
    let off = IBig::from((&y).unsigned_abs() * q * q * &t) - IBig::from(p * p);
    let off = off.unsigned_abs();
    let pqt = p * q * t;
    let is_kept = bits.exponential_coin(&(&off * &off), &(UBig::from(2u8) * &pqt * &pqt))?;
    Ok(is_kept.then_some(y))
}

/// A scale as a quotient of integers, the lower one positive.
fn fraction(scale: &RBig) -> Result<(UBig, &UBig)> {
    let above = UBig::try_from(scale.numerator().clone());
    let above = above.map_err(|_| Error::Noise(format!("a scale of {scale} is below 0")))?;
    Ok((above, scale.denominator()))
}

#[cfg(test)]
mod tests;
