//! Numbers that are known to lie between two others: whatever is rounded is rounded outwards.

use dashu_int::UBig;
use dashu_int::ops::UnsignedAbs;
use dashu_ratio::RBig;

/// Both ends are in units of 2⁻⁹⁶.
const DIGITS: usize = 96;

/// A number from 0 on that lies between two others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Between {
    low: UBig,
    high: UBig,
}

impl Between {
    pub(super) const ZERO: Between = Between {
        low: UBig::ZERO,
        high: UBig::ZERO,
    };

    pub(super) fn one() -> Between {
        Between::of(UBig::ONE, &UBig::ONE)
    }

    /// a/b.
    pub(super) fn of(a: UBig, b: &UBig) -> Between {
        let a = a << DIGITS;
        Between {
            low: &a / b,
            high: (&a + b - UBig::ONE) / b,
        }
    }

    /// Between 0 and this.
    pub(super) fn up_to(&self) -> Between {
        Between {
            low: UBig::ZERO,
            high: self.high.clone(),
        }
    }

    /// e^{−a/b}.
    pub(super) fn exponential(a: &UBig, b: &UBig) -> Between {
        let (whole, rest) = (a / b, a % b);
        let unit = Between::exponential_up_to_one(&UBig::ONE, &UBig::ONE);
        let first = Between::exponential_up_to_one(&rest, b);
        (0..u32::try_from(whole).unwrap()).fold(first, |product, _| product.times(&unit))
    }

    /// Between two sums of the alternating series, whose terms shrink; fractions throughout.
    fn exponential_up_to_one(a: &UBig, b: &UBig) -> Between {
        let x = RBig::from_parts(a.clone().into(), b.clone());
        let (mut sum, mut term) = (RBig::ZERO, RBig::ONE);
        let mut sums = [RBig::ZERO, RBig::ZERO];
        for k in 1..=28u32 {
            sum += &term;
            sums = [sums[1].clone(), sum.clone()];
            term *= -(&x / RBig::from(k));
        }
        sums.sort();
        let [low, high] = sums.map(|sum| {
            let (a, b) = sum.into_parts();
            Between::of(a.unsigned_abs(), &b)
        });
        low.or(&high)
    }

    pub(super) fn times(&self, other: &Between) -> Between {
        let up = |x: UBig| (x + (UBig::ONE << DIGITS) - UBig::ONE) >> DIGITS;
        Between {
            low: (&self.low * &other.low) >> DIGITS,
            high: up(&self.high * &other.high),
        }
    }

    pub(super) fn plus(&self, other: &Between) -> Between {
        Between {
            low: &self.low + &other.low,
            high: &self.high + &other.high,
        }
    }

    pub(super) fn over(&self, other: &Between) -> Between {
        Between {
            low: (&self.low << DIGITS) / &other.high,
            high: ((&self.high << DIGITS) + &other.low - UBig::ONE) / &other.low,
        }
    }

    /// 1 less this, which is at most 1.
    pub(super) fn rest(&self) -> Between {
        let one = UBig::ONE << DIGITS;
        Between {
            low: &one - self.high.clone().min(one.clone()),
            high: &one - &self.low,
        }
    }

    /// From the lower end of this to the upper one of the other.
    pub(super) fn or(&self, other: &Between) -> Between {
        Between {
            low: self.low.clone(),
            high: other.high.clone(),
        }
    }

    /// Whether one number can be both.
    pub(super) fn overlaps(&self, other: &Between) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Both ends, as floats.
    pub(super) fn ends(&self) -> [f64; 2] {
        let unit = 0.5f64.powi(DIGITS as i32);
        [&self.low, &self.high].map(|end| end.to_f64().value() * unit)
    }

    pub(super) fn high(&self) -> f64 {
        self.ends()[1]
    }
}
