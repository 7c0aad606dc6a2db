//! Bounds on the entries of a point of a cone that bounds on its other entries imply.

use crate::program::Cone;

/// An interval, with infinite ends where nothing is known.
pub(super) type Ends = (f64, f64);

/// Computed ends stand this share outside: logarithms and powers are right to a few units of the last digit.
const ROUNDING: f64 = 1e-12;

/// Shortens intervals that hold the entries of s to what s ∈ K leaves of them.
///
/// # Guarantee
/// Every s ∈ K within the given intervals is within the shortened ones. Test: `no_point_of_a_cone_is_left_out`.
pub(super) fn shorten(cone: &Cone, s: &mut [Ends]) {
    match (cone, s) {
        (Cone::Exponential, [x, y, z]) => exponential(x, y, z),
        (Cone::Power(a), [x, y, z]) => {
            let mut sides = [*x, *y];
            power(&mut sides, &[*a, 1.0 - a], std::slice::from_mut(z));
            [*x, *y] = sides;
        }
        (Cone::GeneralizedPower(exponents, _), s) if s.len() > exponents.len() => {
            let (sides, w) = s.split_at_mut(exponents.len());
            power(sides, exponents, w);
        }
        // Linear, second-order and semidefinite cones imply linear rows, which say as much.
        _ => {}
    }
}

fn at_least(ends: &mut Ends, low: f64) {
    if low.is_finite() {
        ends.0 = ends.0.max(low - ROUNDING * low.abs());
    }
}

fn at_most(ends: &mut Ends, high: f64) {
    if high.is_finite() {
        ends.1 = ends.1.min(high + ROUNDING * high.abs());
    }
}

/// The closure of y > 0, y·exp(x/y) ≤ z: there x ≤ 0 where y = 0.
fn exponential(x: &mut Ends, y: &mut Ends, z: &mut Ends) {
    y.0 = y.0.max(0.0);
    z.0 = z.0.max(0.0);
    // An empty interval says nothing.
    if !(y.0 <= y.1 && z.0 <= z.1 && x.0 <= x.1) {
        return;
    }
    if z.1.is_finite() {
        // x ≤ h(y) = y·ln(z/y), which rises in z, is concave in y and largest at y = z/e.
        let best = (z.1 / std::f64::consts::E).max(y.0).min(y.1);
        at_most(x, of_logarithm(best, z.1));
        // From z/e on h falls: past the y with h(y) = low end of x there is none.
        if x.0.is_finite() {
            at_most(y, last_with(x.0, z.1));
        }
    }
    if x.0.is_finite() && y.0 <= y.1 {
        // z ≥ y·exp(x/y), which rises in x, falls in y up to y = x and rises from there.
        let best = x.0.max(y.0).min(y.1);
        if best > 0.0 {
            at_least(z, best * (x.0 / best).exp());
        }
    }
}

/// h(y) = y·ln(z/y), with its limit 0 at y = 0.
fn of_logarithm(y: f64, z: f64) -> f64 {
    match y > 0.0 {
        true => y * (z / y).ln(),
        false => 0.0,
    }
}

/// An end above the last y with h(y) ≥ low; infinite where none is found.
fn last_with(low: f64, z: f64) -> f64 {
    let mut inside = z / std::f64::consts::E;
    if !(inside > 0.0) || of_logarithm(inside, z) < low {
        return f64::INFINITY;
    }
    let mut outside = z;
    for _ in 0..1100 {
        if of_logarithm(outside, z) < low {
            break;
        }
        inside = outside;
        outside *= 2.0;
    }
    if !outside.is_finite() {
        return f64::INFINITY;
    }
    for _ in 0..60 {
        let middle = 0.5 * (inside + outside);
        match of_logarithm(middle, z) < low {
            true => outside = middle,
            false => inside = middle,
        }
    }
    outside
}

/// Π xᵢ^aᵢ ≥ ‖w‖, x ≥ 0.
fn power(x: &mut [Ends], exponents: &[f64], w: &mut [Ends]) {
    x.iter_mut().for_each(|x| x.0 = x.0.max(0.0));
    if x.iter().chain(w.iter()).any(|ends| !(ends.0 <= ends.1)) {
        return;
    }
    // |w_k| ≤ Π highᵢ^aᵢ.
    if x.iter().all(|x| x.1.is_finite()) {
        let sides = x.iter().zip(exponents);
        let most: f64 = sides.map(|(x, a)| x.1.powf(*a)).product();
        for w in w.iter_mut() {
            at_most(w, most);
            at_least(w, -most);
        }
    }
    // xᵢ ≥ (‖w‖/Π over others of highⱼ^aⱼ)^{1/aᵢ}, with the shortest w there is.
    let shortest = |w: &Ends| w.0.max(-w.1).max(0.0);
    let least = w.iter().map(|w| shortest(w).powi(2)).sum::<f64>().sqrt();
    if !(least > 0.0) {
        return;
    }
    for i in 0..x.len() {
        let others = (0..x.len()).filter(|j| *j != i);
        let most: f64 = others.map(|j| x[j].1.powf(exponents[j])).product();
        if most.is_finite() && most > 0.0 {
            let low = (least / most).powf(1.0 / exponents[i]);
            // A small exponent makes much of a rounding.
            let slip = 16.0 * f64::EPSILON / exponents[i];
            at_least(&mut x[i], low * (1.0 - slip).max(0.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Sampler;
    use crate::program::Against;

    /// A random point of the cone: any, moved inside along the cone's own direction, onto its edge or past it.
    fn point(cone: &Cone, sampler: &mut Sampler) -> Vec<f64> {
        let size = 10f64.powf(4.0 * sampler.uniform() - 2.0);
        let mut s: Vec<f64> = (0..cone.dim())
            .map(|_| size * sampler.unit_normal())
            .collect();
        let (inner, _) = cone.interior();
        let slip = cone.violation(&s, Against::Primal);
        let more = match sampler.uniform() < 0.5 {
            true => 1e-9 * (1.0 + slip),
            false => size * sampler.uniform(),
        };
        for (s, e) in s.iter_mut().zip(&inner) {
            *s += (slip * (1.0 + 1e-9) + more) * e;
        }
        s
    }

    #[test]
    fn no_point_of_a_cone_is_left_out() {
        let mut sampler = Sampler::new(0xC0DE, 0);
        let cones = [
            Cone::Exponential,
            Cone::Power(0.3),
            Cone::Power(0.02),
            Cone::GeneralizedPower(vec![0.25, 0.25, 0.5], 2),
        ];
        for cone in &cones {
            let mut shortened = 0;
            for _ in 0..20_000 {
                let s = point(cone, &mut sampler);
                assert!(cone.violation(&s, Against::Primal) <= 0.0);
                let mut end = |value: f64, sign: f64| match sampler.uniform() {
                    u if u < 0.3 => sign * f64::INFINITY,
                    u if u < 0.6 => value,
                    u => value + sign * u * (1.0 + value.abs()),
                };
                let known: Vec<Ends> = (s.iter()).map(|v| (end(*v, -1.0), end(*v, 1.0))).collect();
                let mut short = known.clone();
                // What was found once helps to find more.
                shorten(cone, &mut short);
                shorten(cone, &mut short);
                for (v, (low, high)) in s.iter().zip(&short) {
                    assert!(low <= v && v <= high, "{cone:?}: {s:?} not in {short:?}");
                }
                let finite = |ends: &[Ends]| -> usize {
                    let each = ends.iter().flat_map(|e| [e.0, e.1]);
                    each.filter(|v| v.is_finite()).count()
                };
                shortened += usize::from(finite(&short) > finite(&known));
            }
            println!("{cone:?}: {shortened} of 20 000 got a finite end more");
            assert!(shortened > 4_000);
        }
    }

    /// t ≤ log u with 2 ≤ u ≤ 5, and back: u ≥ e^t. Entropies: t ≤ −x·log x is at most 1/e.
    #[test]
    fn logarithms_are_bounded_as_they_are() {
        let open = (f64::NEG_INFINITY, f64::INFINITY);
        let mut log = [open, (1.0, 1.0), (2.0, 5.0)];
        shorten(&Cone::Exponential, &mut log);
        assert!((log[0].1 - 5f64.ln()).abs() < 1e-11 && log[0].0.is_infinite());
        let mut exp = [(-1.0, 3.0), (1.0, 1.0), open];
        shorten(&Cone::Exponential, &mut exp);
        assert!((exp[2].0 - (-1f64).exp()).abs() < 1e-11 && exp[2].1.is_infinite());
        let mut entropy = [open, (0.0, 10.0), (1.0, 1.0)];
        shorten(&Cone::Exponential, &mut entropy);
        assert!((entropy[0].1 - (-1f64).exp()).abs() < 1e-11);
        let mut from_below = [(-2.0, open.1), open, (1.0, 1.0)];
        shorten(&Cone::Exponential, &mut from_below);
        let last = from_below[1].1;
        assert!((last * last.ln() - 2.0).abs() < 1e-9, "{last}");
    }
}
