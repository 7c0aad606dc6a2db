//! The noise as it will be drawn: on a lattice of public step h (M7). Rounding to the lattice adds to the sensitivity,
//! and for (ε, δ) mechanisms the lattice also takes a part of δ.

use super::{Norm, Privacy};
use crate::digits::short;
use crate::error::{Error, Result};
use crate::noise::{LatticeLaw, Law};

/// Without a stated step: this share of the scale, rounded down to a power of two.
const DEFAULT_SHARE: f64 = 1.0 / (1u64 << 20) as f64;

/// A stated step is at least this share of the scale: all counts of steps are then exact in floating point.
const FINEST: f64 = 1e-12;

/// The default step costs a Gaussian at most this share of its δ.
const DEFAULT_DELTA_SHARE: f64 = 1e-3;

impl Privacy {
    /// The law and its lattice for r released numbers.
    ///
    /// # Guarantee
    /// Noise of this law, drawn on its lattice, is (ε, δ)-differentially private for the given
    /// sensitivity of T^{-1}Qx̄: rounding adds r·h to Δ₁ or √r·h to Δ₂; a Gaussian is calibrated to
    /// δ − r(1+e^ε)h²/(25σ²), the distance of the discrete to the rounded continuous law; the bound of truncated noise
    /// is widened until the discrete law's own lost mass is at most δ (M5g, M7).
    pub fn lattice_law(
        &self,
        sensitivity: f64,
        released: usize,
        stated: Option<f64>,
    ) -> Result<LatticeLaw> {
        let scale = self.law(sensitivity)?.scale();
        let r = released as f64;
        let step = match stated {
            Some(step) if step > 0.0 && step < FINEST * scale => {
                return Err(Error::input(format!(
                    "the lattice step must be at least {} for a noise scale of {}, found {step}: a finer lattice is lost in rounding",
                    short(FINEST * scale, 3),
                    short(scale, 6)
                )));
            }
            Some(step) if step.is_finite() && step > 0.0 && step <= scale => step,
            Some(step) => {
                return Err(Error::input(format!(
                    "the lattice step must be positive and at most the noise scale {}, found {step}",
                    short(scale, 6)
                )));
            }
            None => {
                let finest = match self {
                    Privacy::Gaussian { epsilon, delta, .. } => {
                        // The h at which the lattice takes DEFAULT_DELTA_SHARE of δ, if that is finer.
                        let share =
                            25.0 * DEFAULT_DELTA_SHARE * delta / (r * (1.0 + epsilon.exp()));
                        scale * share.sqrt().min(DEFAULT_SHARE)
                    }
                    _ => scale * DEFAULT_SHARE,
                };
                finest.log2().floor().exp2()
            }
        };
        let rounding = match self.norm() {
            Norm::L1 => r * step,
            Norm::L2 => r.sqrt() * step,
        };
        // A few roundings wider, so that none on the way to the scale makes it too small.
        let covered = (sensitivity + rounding) * (1.0 + 8.0 * f64::EPSILON);
        let law = match *self {
            Privacy::Laplace { .. } => self.law(covered)?,
            Privacy::Gaussian {
                epsilon,
                delta,
                calibration,
            } => {
                let taken = r * (1.0 + epsilon.exp()) * (step / scale).powi(2) / 25.0;
                if !(taken <= 0.5 * delta) {
                    return Err(Error::refused(
                        format!("a lattice step of {step} for this Gaussian noise"),
                        format!(
                            "at ε = {epsilon} drawing on so coarse a lattice costs δ = {}, more than half of {delta}",
                            short(taken, 3)
                        ),
                        "a smaller step, or none: the default costs a thousandth of δ",
                    ));
                }
                let rest = Privacy::Gaussian {
                    epsilon,
                    delta: delta - taken,
                    calibration,
                };
                rest.law(covered)?
            }
            Privacy::TruncatedLaplace { delta, .. } => {
                let law = self.law(covered)?;
                let moved = (covered / step).floor();
                let mut reach = (law.support_bound().unwrap_or(scale) / step).ceil();
                while truncated_lattice_delta(step / law.scale(), reach, moved) > delta {
                    reach += 1.0;
                }
                Law::truncated_laplace(law.scale(), reach * step)?
            }
        };
        Ok(LatticeLaw::new(law, step))
    }
}

/// The mass that the discrete Laplace law q^{|j|} on |j| ≤ reach loses when it is moved by `moved` steps, q = e^{−rate}:
/// Σ_{j = reach−moved+1}^{reach} q^j / Σ_{|j| ≤ reach} q^{|j|}.
fn truncated_lattice_delta(rate: f64, reach: f64, moved: f64) -> f64 {
    // (1−q)·Σ_{|j| ≤ M} q^{|j|} = 1 + q − 2q^{M+1}
    let whole = 1.0 + (-rate).exp() - 2.0 * (-rate * (reach + 1.0)).exp();
    let lost = (-rate * (reach - moved + 1.0)).exp() * -(-rate * moved).exp_m1();
    lost / whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gaussian_pays_for_its_lattice_out_of_delta() {
        let privacy = Privacy::gaussian(1.0, 1e-5);
        let fine = privacy.lattice_law(1.0, 2, None).unwrap();
        let (fine, step) = (fine.law(), fine.step());
        let (plain, coarse) = (privacy.law(1.0).unwrap(), fine.scale() / 1000.0);
        assert!(fine.scale() > plain.scale() && fine.scale() < 1.001 * plain.scale());
        assert!(2.0 * (1.0 + 1f64.exp()) * (step / plain.scale()).powi(2) / 25.0 <= 1e-8);
        let wider = *privacy.lattice_law(1.0, 2, Some(coarse)).unwrap().law();
        assert!(wider.scale() > fine.scale());
        // At ε = 20 the default step follows e^ε: it must not take more than its thousandth.
        let noise = Privacy::gaussian(20.0, 1e-6)
            .lattice_law(1.0, 1, None)
            .unwrap();
        let (law, step) = (noise.law(), noise.step());
        assert!((1.0 + 20f64.exp()) * (step / law.scale()).powi(2) / 25.0 <= 1.1e-9);
        let refused = privacy.lattice_law(1.0, 2, Some(plain.scale() / 2.0));
        assert!(refused.unwrap_err().to_string().contains("costs δ = "));
    }

    #[test]
    fn a_step_that_rounding_would_swallow_is_refused() {
        for privacy in [Privacy::laplace(1.0), Privacy::truncated_laplace(1.0, 0.01)] {
            let refused = privacy.lattice_law(1.0, 1, Some(1e-300)).unwrap_err();
            let right = "the lattice step must be at least 1e-12 for a noise scale of 1";
            assert!(refused.to_string().starts_with(right), "{refused}");
            assert!(privacy.lattice_law(1.0, 1, Some(1e-11)).is_ok());
        }
    }

    #[test]
    fn truncated_lattice_noise_loses_at_most_delta_by_direct_summation() {
        for (epsilon, delta, share) in [(1.0, 0.01, 0.3), (0.5, 1e-4, 0.9), (3.0, 0.2, 0.05)] {
            let privacy = Privacy::truncated_laplace(epsilon, delta);
            let scale = privacy.law(1.0).unwrap().scale();
            let noise = privacy.lattice_law(1.0, 1, Some(share * scale)).unwrap();
            let (law, step) = (noise.law(), noise.step());
            let reach = (law.support_bound().unwrap() / step).round() as i64;
            let weight = |j: i64| (-(j.abs() as f64) * step / law.scale()).exp();
            let whole: f64 = (-reach..=reach).map(weight).sum();
            // Adjacent answers are at most 1 + h apart on the lattice, a whole number of steps.
            for moved in 1..=((1.0 + step) / step).floor() as i64 {
                let ratio = (moved as f64 * step / law.scale()).exp();
                assert!(ratio <= epsilon.exp() * (1.0 + 1e-12));
                let excess: f64 = (-reach..=reach)
                    .map(|j| {
                        let other = if (j - moved).abs() <= reach {
                            weight(j - moved)
                        } else {
                            0.0
                        };
                        (weight(j) - epsilon.exp() * other).max(0.0)
                    })
                    .sum();
                assert!(
                    excess / whole <= delta * (1.0 + 1e-12),
                    "{epsilon} {delta} {moved}"
                );
            }
        }
    }
}
