//! Seeded noise for studies: fast, repeatable, and **not private**.

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Law, TruncatedLaplace};

/// A seeded source of noise for studies: simulations, sampled boxes, statistical tests.
///
/// **What it makes is not private.** The seed is known, and floating-point noise by inverse CDF
/// leaves traces of the answer in its last digits (Mironov 2012). A release draws lattice noise
/// from the operating system instead (M7).
///
/// The same seed and stream give the same numbers on every platform up to the last digit of `ln`
/// and `sqrt`; different streams of one seed are independent, for work in parallel.
#[derive(Debug, Clone)]
pub struct Sampler {
    bits: ChaCha8Rng,
    /// The polar method makes normals in pairs; this is the second, if not yet used.
    spare_normal: Option<f64>,
}

impl Sampler {
    /// The sampler of a seed and one of its 2⁶⁴ independent streams.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut bits = ChaCha8Rng::seed_from_u64(seed);
        bits.set_stream(stream);
        Sampler {
            bits,
            spare_normal: None,
        }
    }

    /// A uniform number in (0, 1\], a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        uniform_of(self.bits.next_u64())
    }

    /// A unit normal number (Marsaglia's polar method).
    pub fn unit_normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if 0.0 < square && square < 1.0 {
                let radius = (-2.0 * square.ln() / square).sqrt();
                self.spare_normal = Some(y * radius);
                return x * radius;
            }
        }
    }

    /// One draw of ζ.
    pub fn draw(&mut self, law: &Law) -> f64 {
        match law {
            Law::Laplace(law) => {
                let (uniform, sign) = self.uniform_and_sign();
                -sign * law.scale() * uniform.ln()
            }
            Law::Gaussian(law) => law.sigma() * self.unit_normal(),
            Law::TruncatedLaplace(law) => {
                let (uniform, sign) = self.uniform_and_sign();
                sign * truncated_size(law, uniform)
            }
        }
    }

    /// Fills `out` with independent draws of ζ.
    pub fn fill(&mut self, law: &Law, out: &mut [f64]) {
        for zeta in out {
            *zeta = self.draw(law);
        }
    }

    /// A uniform number from the top 53 of 64 random bits, and a sign from the lowest.
    fn uniform_and_sign(&mut self) -> (f64, f64) {
        let bits = self.bits.next_u64();
        (uniform_of(bits), if bits & 1 == 0 { 1.0 } else { -1.0 })
    }
}

fn uniform_of(bits: u64) -> f64 {
    ((bits >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// |ζ| with Pr\[|ζ| ≤ x\] = (1 − e^{−x/s})/D = u.
fn truncated_size(law: &TruncatedLaplace, u: f64) -> f64 {
    let kept = law.kept();
    if kept == 0.0 {
        // B/s underflows: uniform on [−B, B].
        return u * law.bound();
    }
    (-law.scale() * (-kept * u).ln_1p()).min(law.bound())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_stream_fix_the_numbers() {
        let law = Law::laplace(1.0).unwrap();
        let mut first = [0.0; 8];
        Sampler::new(7, 0).fill(&law, &mut first);
        let mut again = Sampler::new(7, 0);
        assert!(first.iter().all(|x| *x == again.draw(&law)));
        let mut other = Sampler::new(7, 1);
        assert!(first.iter().all(|x| *x != other.draw(&law)));
    }

    #[test]
    fn uniform_covers_the_half_open_interval() {
        assert_eq!(uniform_of(u64::MAX), 1.0);
        assert_eq!(uniform_of(0), 2.0_f64.powi(-53));
    }
}
