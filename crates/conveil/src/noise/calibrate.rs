//! From a sensitivity and (ε, δ) to a noise scale (M7, M5g).

use std::f64::consts::PI;

use super::error::{NoiseError, finite, length, open_probability, strictly_between};
use super::gaussian::{mills, unit_density, unit_tail};

/// The Laplace scale s = Δ₁/ε, rounded up.
///
/// # Guarantee
/// Adding independent Laplace(s) noise to a query with ℓ₁ sensitivity at most Δ₁ is ε-DP. Assumes
/// exact real-valued noise; a lattice adds its rounding to Δ₁ first. (M7)
pub(crate) fn laplace_scale(delta1: f64, eps: f64) -> Result<f64, NoiseError> {
    let delta1 = length("ℓ₁ sensitivity Δ₁", delta1)?;
    let eps = privacy_loss(eps)?;
    finite("Laplace scale", (delta1 / eps).next_up())
}

/// The smallest σ of the analytic Gaussian mechanism (Balle and Wang 2018), rounded up.
///
/// # Guarantee
/// Adding N(0, σ²) noise to each entry of a query with ℓ₂ sensitivity at most Δ₂ is (ε, δ)-DP, for
/// every ε > 0 and δ in (0, 1); σ exceeds the smallest such by a relative 1e-10 at most. Assumes
/// exact real-valued noise; the discrete Gaussian adds to δ as M7 says. (M7)
pub fn gaussian_sigma_analytic(delta2: f64, eps: f64, delta: f64) -> Result<f64, NoiseError> {
    let delta2 = length("ℓ₂ sensitivity Δ₂", delta2)?;
    let eps = privacy_loss(eps)?;
    let target = open_probability("δ", delta)?.ln() + 2.0 * KEPT.ln();
    // a = Δ₂/σ; δ(ε) increases in a.
    let private = |a: f64| ln_delta(a, eps) <= target;
    let (mut low, mut high) = (1.0, 1.0);
    while private(high) && high < 1e200 {
        low = high;
        high *= 2.0;
    }
    while !private(low) && low > 1e-300 {
        high = low;
        low *= 0.5;
    }
    if !private(low) {
        let what = "Gaussian standard deviation";
        return Err(NoiseError::Overflow { what });
    }
    while high - low > 1e-14 * high {
        let a = 0.5 * (low + high);
        if !(low < a && a < high) {
            break;
        }
        if private(a) {
            low = a;
        } else {
            high = a;
        }
    }
    // The computed curve is smooth to about 1e-13 and not exactly monotone: check the result.
    let mut sigma = delta2 / low;
    while ln_delta(delta2 / sigma, eps) > target {
        sigma *= 1.0 + 1e-13;
    }
    finite("Gaussian standard deviation", sigma)
}

/// The classic σ = √(2 ln(1.25/δ))·Δ₂/ε, kept for comparison with the literature.
///
/// # Guarantee
/// (ε, δ)-DP for ℓ₂ sensitivity at most Δ₂ **only if ε < 1**; no claim otherwise (at ε = 10,
/// δ = 0.01 the true δ is 0.041). [`gaussian_sigma_analytic`] is smaller and holds always. (M7)
pub fn gaussian_sigma_classic(delta2: f64, eps: f64, delta: f64) -> Result<f64, NoiseError> {
    let delta2 = length("ℓ₂ sensitivity Δ₂", delta2)?;
    let eps = privacy_loss(eps)?;
    let delta = open_probability("δ", delta)?;
    let sigma = (2.0 * (1.25 / delta).ln()).sqrt() * delta2 / eps;
    finite("Gaussian standard deviation", sigma * (1.0 + 1e-15))
}

/// The curve δ(ε) of Gaussian noise: Φ(Δ₂/(2σ) − εσ/Δ₂) − e^ε Φ(−Δ₂/(2σ) − εσ/Δ₂), rounded up.
///
/// # Guarantee
/// Two normal laws with common standard deviation σ and means Δ₂ apart are (ε, δ)-close with this
/// δ and no smaller one, up to a relative 1e-11; ε ≥ 0. (M7, M10)
pub fn gaussian_delta(delta2: f64, sigma: f64, eps: f64) -> Result<f64, NoiseError> {
    let delta2 = length("ℓ₂ distance Δ₂", delta2)?;
    let sigma = length("Gaussian standard deviation", sigma)?;
    if !(0.0..f64::INFINITY).contains(&eps) {
        let (what, range) = ("privacy loss ε", "[0, ∞)");
        return Err(NoiseError::OutOfRange {
            what,
            found: eps,
            range,
        });
    }
    let delta = ln_delta(delta2 / sigma, eps).exp() / KEPT;
    Ok(delta.clamp(f64::MIN_POSITIVE, 1.0))
}

/// The bound B = s·ln(1 + (e^ε − 1)/(2δ)) of truncated Laplace noise, rounded up.
///
/// # Guarantee
/// With s = Δ₁/ε and independent truncated Laplace(s, B) noise on every entry, a query with ℓ₁
/// sensitivity at most Δ₁ is (ε, δ)-DP, δ in (0, ½]; not for an ℓ₂ sensitivity. (M5g)
pub(crate) fn truncated_bound(scale: f64, eps: f64, delta: f64) -> Result<f64, NoiseError> {
    let scale = length("truncated Laplace scale", scale)?;
    let eps = privacy_loss(eps)?;
    if !(0.0 < delta && delta <= 0.5) {
        let (what, range) = ("δ of truncated Laplace noise", "(0, 1/2]");
        return Err(NoiseError::OutOfRange {
            what,
            found: delta,
            range,
        });
    }
    let ratio = if eps < 30.0 {
        (eps.exp_m1() / (2.0 * delta)).ln_1p()
    } else {
        // 1 + (e^ε−1)/(2δ) = e^ε/(2δ)·(1 − (1−2δ)e^{−ε}).
        eps - (2.0 * delta).ln() + (-(1.0 - 2.0 * delta) * (-eps).exp()).ln_1p()
    };
    finite("truncation bound", scale * ratio * (1.0 + 1e-14))
}

/// ε > 0 and finite.
fn privacy_loss(eps: f64) -> Result<f64, NoiseError> {
    strictly_between("privacy loss ε", eps, 0.0..f64::INFINITY, "(0, ∞)")
}

/// The share of δ that is left when room is made for the rounding of the curve (measured 2e-13).
const KEPT: f64 = 1.0 - 4e-12;

/// ln δ(ε) for a = Δ₂/σ.
///
/// With y₁ = ε/a − a/2, y₂ = ε/a + a/2 and the Mills ratio R: e^ε φ(y₂) = φ(y₁), so
/// δ = φ(y₁)(R(y₁) − R(y₂)). Where a is small the difference cancels; there
/// R(y₁) − R(y₂) = ∫₀^∞ e^{−y₁t − t²/2}(1 − e^{−at}) dt has a positive integrand.
fn ln_delta(a: f64, eps: f64) -> f64 {
    let (y1, y2) = (eps / a - 0.5 * a, eps / a + 0.5 * a);
    if y1 > 1e100 {
        return f64::NEG_INFINITY;
    }
    let ln_density = -0.5 * y1 * y1 - 0.5 * (2.0 * PI).ln();
    if a <= 1.0 + y1.abs() {
        ln_density + mills_difference(y1, a).ln()
    } else if y1 >= 0.0 {
        ln_density + (mills(y1) - mills(y2)).ln()
    } else {
        (-(unit_tail(-y1) + unit_density(y1) * mills(y2))).ln_1p()
    }
}

/// ∫₀^∞ e^{−yt − t²/2}(1 − e^{−at}) dt for y ≥ −1, by the double-exponential rule
/// t = L·exp(x − e^{−x}).
fn mills_difference(y: f64, a: f64) -> f64 {
    const STEP: f64 = 1.0 / 24.0;
    let length = 1.0 / (1.0 + y.max(0.0));
    let node = |i: i32| -> f64 {
        let x = STEP * f64::from(i);
        let t = length * (x - (-x).exp()).exp();
        let weight = t * (1.0 + (-x).exp());
        weight * (-y * t - 0.5 * t * t).exp() * -(-a * t).exp_m1()
    };
    // Below x = −4.5 the weight is under e^{−94}; above x = 5 the exponent is, too.
    STEP * (-108..=120).map(node).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    // ε, δ, σ for Δ₂ = 1. mpmath, 120 digits, by bisection of Balle and Wang's inequality.
    const ANALYTIC: [(f64, f64, f64); 20] = [
        (0.001, 1e-15, 6486.490638320443),
        (0.001, 1e-06, 2436.5524937485807),
        (0.001, 0.01, 38.039005484469236),
        (0.001, 0.5, 0.7408691851956264),
        (0.1, 1e-15, 71.30059507636501),
        (0.1, 1e-06, 36.30469042619578),
        (0.1, 0.01, 9.541823088828854),
        (0.1, 0.5, 0.7016745806207029),
        (1.0, 1e-15, 7.487009467986596),
        (1.0, 1e-06, 4.224678889326835),
        (1.0, 0.01, 1.877875560907386),
        (1.0, 0.5, 0.5070650314763313),
        (10.0, 1e-15, 0.8289598747219692),
        (10.0, 1e-06, 0.541086831818366),
        (10.0, 0.01, 0.3500966862482321),
        (10.0, 0.5, 0.21333239257353),
        (50.0, 1e-15, 0.20514271101905668),
        (50.0, 1e-06, 0.15659287039176195),
        (50.0, 0.01, 0.12460112363122812),
        (50.0, 0.5, 0.09901784387823793),
    ];

    // Δ₂, σ, ε, δ. mpmath, 80 digits.
    const CURVE: [(f64, f64, f64, f64); 10] = [
        (1.0, 1.0, 1.0, 0.12693673750664394),
        (1.0, 1.0, 0.0, 0.3829249225480262),
        (1.0, 100.0, 0.1, 7.857692771036754e-27),
        (1.0, 10000.0, 0.001, 7.478298460019527e-29),
        (1.0, 0.1, 1.0, 0.9999990591797802),
        (3.0, 1.0, 10.0, 0.018589514315857807),
        (1.0, 10.0, 2.0, 3.7194507268046406e-91),
        (1.0, 3.0, 10.0, 7.962349358643654e-198),
        (1.0, 0.001, 5.0, 1.0),
        (1.0, 1000000.0, 1e-09, 3.9844248007176085e-07),
    ];

    #[test]
    fn analytic_sigma_is_the_smallest_that_keeps_delta() {
        for (eps, delta, expected) in ANALYTIC {
            let sigma = gaussian_sigma_analytic(1.0, eps, delta).unwrap();
            assert!(sigma >= expected, "ε = {eps}, δ = {delta}: {sigma}");
            assert!(
                sigma <= expected * (1.0 + 1e-10),
                "ε = {eps}, δ = {delta}: {sigma}"
            );
            assert!(gaussian_delta(1.0, sigma, eps).unwrap() <= delta);
            assert!(gaussian_delta(1.0, 0.5 * sigma, eps).unwrap() > 1.5 * delta);
            let scaled = gaussian_sigma_analytic(3e-7, eps, delta).unwrap();
            assert!((scaled / (3e-7 * sigma) - 1.0).abs() < 1e-11);
        }
    }

    #[test]
    fn delta_curve_matches_eighty_digits() {
        for (delta2, sigma, eps, expected) in CURVE {
            let found = gaussian_delta(delta2, sigma, eps).unwrap();
            assert!(found >= expected, "{delta2} {sigma} {eps}: {found:e}");
            assert!(
                found <= expected * (1.0 + 1e-11),
                "{delta2} {sigma} {eps}: {found:e}"
            );
        }
        assert_eq!(gaussian_delta(1e-150, 1e150, 1e100), Ok(f64::MIN_POSITIVE));
    }

    #[test]
    fn classic_sigma_holds_below_one_and_fails_at_ten() {
        for eps in [0.01, 0.3, 0.999] {
            for delta in [1e-12, 1e-3, 0.1, 0.9] {
                let classic = gaussian_sigma_classic(2.0, eps, delta).unwrap();
                assert!(classic > gaussian_sigma_analytic(2.0, eps, delta).unwrap());
            }
        }
        let sigma = gaussian_sigma_classic(1.0, 10.0, 0.01).unwrap();
        let truth = gaussian_delta(1.0, sigma, 10.0).unwrap();
        assert_eq!(format!("{truth:.3}"), "0.041");
    }

    #[test]
    fn truncation_loses_exactly_delta_to_a_shift_by_the_sensitivity() {
        // (1, 0.01): B = 4.46Δ (M5g).
        assert_eq!(
            format!("{:.2}", truncated_bound(1.0, 1.0, 0.01).unwrap()),
            "4.46"
        );
        for (eps, delta) in [
            (1.0, 0.01),
            (0.1, 1e-9),
            (29.9, 0.5),
            (30.1, 1e-6),
            (800.0, 1e-3),
        ] {
            let scale = laplace_scale(2.5, eps).unwrap();
            let bound = truncated_bound(scale, eps, delta).unwrap();
            let law = crate::noise::Law::truncated_laplace(scale, bound).unwrap();
            let lost = law.tail(bound - 2.5);
            assert!(
                lost <= delta && lost > delta * (1.0 - 1e-9),
                "ε = {eps}: {lost}"
            );
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(laplace_scale(1.0, bad).is_err() && laplace_scale(bad, 1.0).is_err());
            assert!(gaussian_sigma_analytic(1.0, bad, 0.1).is_err());
            assert!(gaussian_sigma_analytic(bad, 1.0, 0.1).is_err());
            assert!(gaussian_sigma_analytic(1.0, 1.0, bad).is_err());
            assert!(gaussian_sigma_classic(1.0, bad, 0.1).is_err());
            assert!(truncated_bound(1.0, bad, 0.1).is_err());
            assert!(truncated_bound(1.0, 1.0, bad).is_err());
            assert!(gaussian_delta(1.0, bad, 1.0).is_err());
        }
        assert!(truncated_bound(1.0, 1.0, 0.51).is_err());
        assert!(gaussian_sigma_analytic(1.0, 1.0, 1.0).is_err());
        assert!(gaussian_delta(1.0, 1.0, -1.0).is_err());
        assert!(gaussian_sigma_analytic(1.0, 1e-320, 5e-324).is_err());
        assert!(gaussian_sigma_analytic(1e-10, 1e300, 0.1).is_ok());
    }
}
