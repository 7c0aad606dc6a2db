//! The ball that holds Gaussian noise (M5f).

use std::f64::consts::PI;

use super::binomial::{deviance, stirling_error};
use super::error::{NoiseError, open_probability};
use super::gaussian::unit_tail;

/// Largest dimension of a ball.
const MOST_DIMENSIONS: usize = 10_000_000;

/// The radius ρ = √χ²_k(1−η), in units of σ, rounded up.
///
/// # Guarantee
/// For k independent N(0, σ²) entries, Pr\[‖ζ‖₂ > σρ\] ≤ η, η in (0, 1); ρ is the exact radius up
/// to a relative 1e-9. (M5f)
pub fn ball_radius(k: usize, eta: f64) -> Result<f64, NoiseError> {
    if k == 0 || k > MOST_DIMENSIONS {
        let (what, found) = ("number of noise terms k", k as u64);
        let range = "[1, 1e7]";
        return Err(NoiseError::CountOutOfRange { what, found, range });
    }
    let target = open_probability("tail share η", eta)? * (1.0 - 1e-10);
    let (mut low, mut high) = (0.0, (k as f64).sqrt());
    while chi_tail(k, high) > target {
        low = high;
        high *= 2.0;
    }
    while high - low > 1e-14 * high {
        let radius = 0.5 * (low + high);
        if !(low < radius && radius < high) {
            break;
        }
        if chi_tail(k, radius) > target {
            low = radius;
        } else {
            high = radius;
        }
    }
    Ok(high)
}

/// Pr\[‖Z‖ > r\] for k unit normals: Q(a, y) with y = r²/2 and a = k/2.
///
/// For y ≥ a the sum of positive, falling terms
/// Q(a, y) = Q(a₀, y) + Σ_{i = a₀}^{a−1} y^i e^{−y}/Γ(i+1), a₀ = ½ or 1, Q(½, y) = 2Pr\[Z > r\],
/// Q(1, y) = e^{−y}; below, one minus P(a, y) = Σ_{i = a, a+1, …} y^i e^{−y}/Γ(i+1).
fn chi_tail(k: usize, r: f64) -> f64 {
    let y = 0.5 * r * r;
    let a = 0.5 * k as f64;
    let (mut term, mut sum) = (1.0, 1.0);
    if y < a {
        let mut i = a + 1.0;
        while term > 1e-18 * sum {
            term *= y / i;
            sum += term;
            i += 1.0;
        }
        return 1.0 - poisson_point(a, y) * sum;
    }
    let base = if k % 2 == 1 {
        2.0 * unit_tail(r)
    } else {
        (-y).exp()
    };
    if k <= 2 {
        return base;
    }
    let mut i = a - 1.0;
    while i > 1.0 && term > 1e-18 * sum {
        term *= i / y;
        sum += term;
        i -= 1.0;
    }
    base + poisson_point(a - 1.0, y) * sum
}

/// y^i e^{−y}/Γ(i+1), with Stirling's remainder for Γ.
fn poisson_point(i: f64, y: f64) -> f64 {
    (-deviance(i, y) - stirling_error(i)).exp() / (2.0 * PI * i).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    // k, η, √χ²_k(1−η). mpmath, 40 digits, by bisection of the regularised incomplete gamma.
    const RADII: [(usize, f64, f64); 21] = [
        (1, 0.5, 0.6744897501960817),
        (1, 0.01, 2.575829303548901),
        (1, 1e-09, 6.1094102048693975),
        (2, 0.5, 1.1774100225154747),
        (2, 0.01, 3.034854258770293),
        (2, 1e-09, 6.4378980788680416),
        (3, 0.5, 1.5381722544550522),
        (3, 0.01, 3.3682141752187276),
        (3, 1e-09, 6.696362843407039),
        (10, 0.5, 3.056438739054321),
        (10, 0.01, 4.8175980694693035),
        (10, 1e-09, 7.933817329669153),
        (101, 0.5, 10.016692133584684),
        (101, 0.01, 11.70346119089537),
        (101, 1e-09, 14.516736009972275),
        (1000, 0.5, 31.61223516936727),
        (1000, 0.01, 33.27114356844708),
        (1000, 1e-09, 35.94381541010362),
        (10001, 0.5, 100.00166669228246),
        (10001, 0.01, 101.65111916468149),
        (10001, 1e-09, 104.27229121869367),
    ];

    #[test]
    fn radii_match_forty_digits_from_above() {
        for (k, eta, expected) in RADII {
            let radius = ball_radius(k, eta).unwrap();
            assert!(radius >= expected, "k = {k}, η = {eta}: {radius}");
            assert!(
                radius <= expected * (1.0 + 1e-9),
                "k = {k}, η = {eta}: {radius}"
            );
        }
    }

    #[test]
    fn shares_near_one_and_large_dimensions_have_radii() {
        for k in [1, 2, 5, 10_000, 1_000_000] {
            let radius = ball_radius(k, 1.0 - 1e-9).unwrap();
            assert!(radius > 0.0 && radius < (k as f64).sqrt());
        }
        assert!(ball_radius(0, 0.1).is_err() && ball_radius(usize::MAX, 0.1).is_err());
        assert!(ball_radius(3, 0.0).is_err() && ball_radius(3, f64::NAN).is_err());
    }
}
