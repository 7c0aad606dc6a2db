//! Exact decimal sums of privacy amounts.

use serde::{Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;

/// Decimals per limb.
const WIDTH: usize = 9;
/// One more than the largest limb.
const BASE: u32 = 1_000_000_000;
/// Limbs behind the decimal point: 333 decimals, where the shortest text of an f64 needs at most 324.
const FRACTION: usize = 37;
/// All limbs: 342 digits before the point leave room for 10³³ addends of the largest f64.
const LIMBS: usize = FRACTION + 38;

/// A non-negative decimal number, added and compared without rounding.
///
/// # Guarantee
/// `Amount::new(x)` is the decimal that a person reads and writes for `x`: the shortest text that reads back as the same
/// f64. Sums are exact, so ten charges of 0.1 are 1 and fit a budget of 1, in any order, and no sum is ever below the
/// true one. (The f64 nearest to 0.1 is 5.6e-18 larger than 0.1: the ledger accounts for the number that was stated, and
/// a mechanism rounds its own scale up.) Test: `ten_charges_of_a_tenth_fit_a_budget_of_one_and_not_one_more`.
#[derive(Clone, PartialEq, Eq)]
pub struct Amount {
    /// Little-endian, base 10⁹; the point stands before limb `FRACTION`.
    limbs: [u32; LIMBS],
}

impl Amount {
    /// Nothing.
    pub const ZERO: Amount = Amount { limbs: [0; LIMBS] };
    /// More than can be represented: what a sum that overflows becomes, so that it fits no budget.
    pub(super) const MOST: Amount = Amount {
        limbs: [BASE - 1; LIMBS],
    };

    /// The decimal of a finite, non-negative f64.
    pub fn new(x: f64) -> Option<Amount> {
        if !x.is_finite() || x < 0.0 {
            return None;
        }
        let text = format!("{x:e}"); // the shortest digits that read back as x: 1.25e-7
        let (digits, exponent) = text.split_once('e')?;
        let mut place = exponent.parse::<i32>().ok()? + (FRACTION * WIDTH) as i32;
        let mut amount = Amount::ZERO;
        for digit in digits.chars().filter_map(|c| c.to_digit(10)) {
            let position = usize::try_from(place).ok()?;
            let unit = 10u32.pow((position % WIDTH) as u32);
            *amount.limbs.get_mut(position / WIDTH)? += digit * unit;
            place -= 1;
        }
        Some(amount)
    }

    /// A decimal no smaller than a non-negative f64, whichever way its shortest text was rounded.
    pub(super) fn at_least(x: f64) -> Option<Amount> {
        Amount::new(x.next_up())
    }

    /// Whether this is nothing.
    pub fn is_zero(&self) -> bool {
        *self == Amount::ZERO
    }

    /// The exact sum.
    #[must_use]
    pub fn plus(&self, other: &Amount) -> Amount {
        let mut sum = Amount::ZERO;
        let mut carry = 0;
        for i in 0..LIMBS {
            let limb = self.limbs[i] + other.limbs[i] + carry;
            sum.limbs[i] = limb % BASE;
            carry = limb / BASE;
        }
        if carry == 0 { sum } else { Amount::MOST }
    }

    /// The exact product with a whole number; more than anything where it overflows.
    #[must_use]
    pub fn times(&self, count: u64) -> Amount {
        let mut product = Amount::ZERO;
        let mut carry = 0u128;
        for i in 0..LIMBS {
            let limb = u128::from(self.limbs[i]) * u128::from(count) + carry;
            // A remainder of 10⁹ always fits.
            product.limbs[i] = (limb % u128::from(BASE)) as u32;
            carry = limb / u128::from(BASE);
        }
        if carry == 0 { product } else { Amount::MOST }
    }

    /// The exact difference, or nothing where `other` is larger.
    #[must_use]
    pub fn minus(&self, other: &Amount) -> Amount {
        if self <= other {
            return Amount::ZERO;
        }
        let mut difference = Amount::ZERO;
        let mut borrow = 0;
        for i in 0..LIMBS {
            let limb = BASE + self.limbs[i] - other.limbs[i] - borrow;
            difference.limbs[i] = limb % BASE;
            borrow = 1 - limb / BASE;
        }
        difference
    }

    /// The smallest f64 whose decimal is no smaller than this.
    pub fn up(&self) -> f64 {
        let near = self.nearest();
        match Amount::new(near) {
            Some(decimal) if decimal < *self => near.next_up(),
            _ => near,
        }
    }

    /// The largest f64 whose decimal is no larger than this.
    pub fn down(&self) -> f64 {
        let near = self.nearest();
        match Amount::new(near) {
            Some(decimal) if decimal <= *self => near,
            _ => near.next_down(),
        }
    }

    fn nearest(&self) -> f64 {
        let (digits, exponent) = self.digits();
        // Always a well-formed number; infinity, past the range of f64, fits no budget.
        format!("0.{digits}e{exponent}")
            .parse()
            .unwrap_or(f64::INFINITY)
    }

    /// Digits without leading or trailing zeros, and the exponent that makes this 0.DIGITS · 10^exponent.
    fn digits(&self) -> (String, i64) {
        let limbs = self.limbs.iter().rev();
        let all: String = limbs.map(|limb| format!("{limb:09}")).collect();
        let significant = all.trim_start_matches('0');
        let zeros = all.len() - significant.len();
        let exponent = ((LIMBS - FRACTION) * WIDTH) as i64 - zeros as i64;
        match significant.trim_end_matches('0') {
            "" => ("0".into(), 1),
            digits => (digits.into(), exponent),
        }
    }
}

impl PartialOrd for Amount {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Amount {
    fn cmp(&self, other: &Self) -> Ordering {
        self.limbs.iter().rev().cmp(other.limbs.iter().rev())
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PLAIN: std::ops::RangeInclusive<i64> = -3..=15;
        let (digits, exponent) = self.digits();
        let text = if !PLAIN.contains(&exponent) {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            format!("{first}{point}{rest}e{}", exponent - 1)
        } else if exponent <= 0 {
            format!("0.{}{digits}", "0".repeat(-exponent as usize))
        } else if digits.len() <= exponent as usize {
            format!("{digits:0<width$}", width = exponent as usize)
        } else {
            let (whole, rest) = digits.split_at(exponent as usize);
            format!("{whole}.{rest}")
        };
        f.pad(&text)
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Amount({self})")
    }
}

/// A number for machines, rounded up where f64 cannot hold it.
impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.up())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_of_the_f64_range_survives() {
        for x in [
            0.0,
            5e-324,
            1.5e-323,
            f64::MIN_POSITIVE,
            2.225073858507201e-308,
            1.2345678901234567e-300,
            0.1,
            1.0,
            123456789.000000001,
            f64::MAX,
        ] {
            let amount = Amount::new(x).unwrap();
            assert_eq!(amount.up(), x, "{x:e}");
            assert_eq!(amount.down(), x, "{x:e}");
            assert_eq!(amount.to_string().parse::<f64>().unwrap(), x);
        }
        assert!(Amount::new(-1e-300).is_none());
        assert!(Amount::new(f64::NAN).is_none());
        assert!(Amount::new(f64::INFINITY).is_none());
    }

    #[test]
    fn sums_and_differences_carry_over_limbs() {
        let a = Amount::new(0.999999999).unwrap();
        let b = Amount::new(1e-9).unwrap();
        assert_eq!(a.plus(&b), Amount::new(1.0).unwrap());
        assert_eq!(Amount::new(1.0).unwrap().minus(&b), a);
        assert_eq!(b.minus(&a), Amount::ZERO);
        let wide = Amount::new(1e17).unwrap().plus(&b);
        assert_eq!(wide.to_string(), "1.00000000000000000000000001e17");
        assert!(wide.up() > 1e17 && wide.down() == 1e17);
    }

    #[test]
    fn products_are_exact_and_overflow_to_the_most() {
        let tenth = Amount::new(0.1).unwrap();
        assert_eq!(tenth.times(3), Amount::new(0.3).unwrap());
        assert_eq!(tenth.times(0), Amount::ZERO);
        let mut sum = Amount::ZERO;
        for _ in 0..24 {
            sum = sum.plus(&tenth);
        }
        assert_eq!(tenth.times(24), sum);
        let large = Amount::new(123456789.125).unwrap();
        assert_eq!(large.times(1_000_000_000).to_string(), "1.23456789125e17");
        let most = Amount::new(f64::MAX).unwrap();
        let grown = (0..4).fold(most, |amount, _| amount.times(u64::MAX));
        assert_eq!(grown, Amount::MOST);
    }

    #[test]
    fn amounts_print_as_people_write_them() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (10.0, "10"),
            (0.5, "0.5"),
            (0.00025, "0.00025"),
            (1e-5, "1e-5"),
            (1.25e-9, "1.25e-9"),
            (12.5, "12.5"),
        ] {
            assert_eq!(Amount::new(x).unwrap().to_string(), text);
        }
    }
}
