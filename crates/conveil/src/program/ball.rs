//! A public bound on the length of each record: after entries are clipped, the first of every record are scaled onto a ball.

use crate::error::{Error, Result};

/// Records whose first entries are scaled, record by record, to a Euclidean length of at most a public radius.
///
/// What becomes of a record depends on that record and on public numbers alone, so datasets that differ in one record still
/// differ in that one.
///
/// # Guarantee
/// After [`RecordBall::scale`] the first `members` entries of every record have a true length of at most
/// [`RecordBall::reach`], whatever finite numbers they were, with every rounding counted: for m members the computed length
/// is below the true one by at most (m/2 + 2)·ε/2 of it, the factor and the products add two roundings, and reach counts
/// m + 8 of twice that size (M8d). Test: `scaled_records_are_within_reach_in_exact_arithmetic`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordBall {
    len: usize,
    members: usize,
    radius: f64,
}

/// Radii beyond these lose digits when they are squared.
const RADII: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// Roundings beside those of the sum of squares.
const BESIDE_THE_SUM: f64 = 8.0;

impl RecordBall {
    /// Of records of `len` entries, the first `members` of which have a length of at most `radius`.
    pub fn new(len: usize, members: usize, radius: f64) -> Result<Self> {
        if members == 0 || members > len {
            return Err(Error::input(format!(
                "the first {members} of {len} entries of a record cannot be scaled: at least one, and no more than there are"
            )));
        }
        if !RADII.contains(&radius) {
            return Err(Error::input(format!(
                "records cannot be scaled to a length of {radius}: it must lie between {:e} and {:e}",
                RADII.start(),
                RADII.end()
            )));
        }
        Ok(RecordBall {
            len,
            members,
            radius,
        })
    }

    /// Entries of a record.
    pub fn record_len(&self) -> usize {
        self.len
    }

    /// Whether an entry of θ is one of those that are scaled.
    pub fn holds(&self, entry: usize) -> bool {
        entry % self.len < self.members
    }

    /// The stated radius.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// What the length of a scaled record is proven to be at most: the radius and its roundings.
    pub fn reach(&self) -> f64 {
        self.radius * (1.0 + (self.members as f64 + BESIDE_THE_SUM) * f64::EPSILON)
    }

    /// Scales each record of θ that is too long.
    pub fn scale(&self, theta: &mut [f64]) {
        for record in theta.chunks_exact_mut(self.len) {
            let members = &mut record[..self.members];
            let length = members.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length > self.radius {
                // Squares without end make the factor 0.
                let factor = self.radius / length;
                members.iter_mut().for_each(|x| *x *= factor);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Sampler;

    /// Whether Σx² ≤ reach², in integers: every number is a multiple of 2⁻⁸⁰ below 2²⁰ here.
    fn is_within(members: &[f64], reach: f64) -> bool {
        // Products of two 100-bit numbers in limbs of 32 bits.
        let square = |x: f64| {
            let scaled = (x.abs() * 2f64.powi(40)).floor();
            let rest = (x.abs() * 2f64.powi(40) - scaled) * 2f64.powi(40);
            assert_eq!(rest, rest.floor(), "{x:e} is no multiple of 2⁻⁸⁰");
            let (high, low) = (scaled as u128, rest as u128);
            // (high·2⁴⁰ + low)², as (a, b, c) for a·2⁸⁰ + b·2⁴⁰ + c.
            (high * high, 2 * high * low, low * low)
        };
        let add = |sum: (u128, u128, u128), term: (u128, u128, u128)| {
            (sum.0 + term.0, sum.1 + term.1, sum.2 + term.2)
        };
        let carried = |(a, b, c): (u128, u128, u128)| {
            let (b, c) = (b + (c >> 40), c & ((1 << 40) - 1));
            (a + (b >> 40), b & ((1 << 40) - 1), c)
        };
        let sum = members.iter().map(|x| square(*x)).fold((0, 0, 0), add);
        carried(sum) <= carried(square(reach))
    }

    /// x rounded toward zero to a multiple of 2⁻⁸⁰.
    fn cut(x: f64) -> f64 {
        let unit = 2f64.powi(-80);
        (x / unit).trunc() * unit
    }

    #[test]
    fn scaled_records_are_within_reach_in_exact_arithmetic() {
        let mut sampler = Sampler::new(31, 0);
        let (mut longer, mut unscaled, mut tightest) = (0, 0, 0.0f64);
        for case in 0..40_000 {
            let members = 1 + case % 12;
            let radius = [0.3, 1.0, 1.7320508075688772, 2.5][case % 4];
            let ball = RecordBall::new(members + 1, members, radius).unwrap();
            let mut record: Vec<f64> = (0..=members)
                .map(|_| {
                    let size = 10f64.powf(-3.0 * sampler.uniform());
                    size * (2.0 * sampler.uniform() - 1.0)
                })
                .collect();
            if case % 3 == 0 {
                // Close to the edge from either side.
                let length = record[..members].iter().map(|x| x * x).sum::<f64>().sqrt();
                let near = radius / length * (1.0 + (sampler.uniform() - 0.5) * 1e-15);
                record[..members].iter_mut().for_each(|x| *x *= near);
            }
            if case % 5 == 0 {
                record[..members].iter_mut().for_each(|x| *x *= 100.0);
            }
            let beside = record[members];
            let before = record.clone();
            ball.scale(&mut record);
            assert_eq!(record[members], beside, "what is no member stays");
            let cut_members: Vec<f64> = record[..members].iter().map(|x| cut(*x)).collect();
            // What was cut off is less than 2⁻⁸⁰ of each; reach has more room than that in its second half.
            assert!(is_within(&cut_members, cut(ball.reach())), "{record:?}");
            let exact = record[..members].iter().map(|x| x * x).sum::<f64>().sqrt();
            tightest = tightest.max(exact / ball.reach());
            unscaled += usize::from(before == record);
            longer += usize::from(!is_within(&cut_members, cut(radius)));
        }
        println!(
            "{unscaled} of 40000 as they were; {longer} longer than the radius by a rounding; tightness {tightest:.15}"
        );
        // Without the margin the claim would be false.
        assert!(longer > 100, "the test has no teeth: {longer}");
        assert!(unscaled > 1_000 && tightest > 1.0 - 1e-14);
    }

    #[test]
    fn any_finite_numbers_are_scaled() {
        let ball = RecordBall::new(2, 2, 1.0).unwrap();
        let mut theta = vec![f64::MAX, -f64::MAX, 1e200, 0.0, 1e-320, 3.0, 0.6, 0.8];
        ball.scale(&mut theta);
        assert_eq!(theta[..4], [0.0, 0.0, 0.0, 0.0].map(f64::abs)[..4]);
        assert!(theta[5] <= 1.0 && theta[5] > 1.0 - 1e-15);
        // On the edge: as it was, or off by a rounding.
        assert!((theta[6] - 0.6).abs() < 1e-15 && (theta[7] - 0.8).abs() < 1e-15);
    }

    #[test]
    fn a_ball_that_is_none_is_refused() {
        for (len, members, radius) in [
            (2, 0, 1.0),
            (2, 3, 1.0),
            (2, 1, 0.0),
            (2, 1, -1.0),
            (2, 1, f64::NAN),
            (2, 1, f64::INFINITY),
        ] {
            assert!(RecordBall::new(len, members, radius).is_err());
        }
    }
}
