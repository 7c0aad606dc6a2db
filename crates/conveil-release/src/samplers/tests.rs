//! The law of each sampler, summed over all the paths that a draw can take, between exact bounds; only what hardly any draw
//! does is left out, and counted as unfinished.

mod between;
mod paths;

use super::*;
use crate::randomness::tests::{Outcomes, Tape};
use between::Between;
use paths::{Found, Paths, Shown};

impl Sample for Tape<'_> {}

/// Pr[|j|] ∝ e^{−a(j)/b} from 0 on, as far as it is above 2⁻⁶⁰. The ratio of two weights never grows with j, so that those
/// beyond are below a geometric sum.
fn law(a: impl Fn(u64) -> u64, b: u64) -> Vec<Between> {
    let weight = |j: u64| Between::exponential(&a(j).into(), &b.into());
    let least = 0.5f64.powi(60);
    let weights: Vec<Between> = (0..).map(weight).take_while(|w| w.high() > least).collect();
    let beyond = weight(weights.len() as u64);
    let ratio = beyond.over(&weights[weights.len() - 1]);
    let tail = beyond.over(&ratio.rest());
    let half = weights[1..]
        .iter()
        .fold(tail.up_to(), |sum, weight| sum.plus(weight));
    let whole = weights[0].plus(&half).plus(&half);
    weights.iter().map(|weight| weight.over(&whole)).collect()
}

fn ratio(above: u64, below: u64) -> RBig {
    RBig::from(above) / RBig::from(below)
}

/// The bounds are as good as the law: beside (1 − q)/(1 + q)·q^j with q = e^{−2/3}, in floats.
#[test]
fn bounds_on_a_law_are_tight() {
    let q = (-2.0f64 / 3.0).exp();
    let bounds = law(|j| 2 * j, 3);
    assert!(bounds.len() > 60);
    for (j, bound) in bounds.iter().enumerate().take(20) {
        let closed = (1.0 - q) / (1.0 + q) * q.powi(j as i32);
        for end in bound.ends() {
            assert!((end / closed - 1.0).abs() < 1e-12, "{j}: {end} {closed}");
        }
    }
}

#[test]
fn coins_have_the_probability_of_the_exponential() {
    for (a, b) in [
        (0, 1),
        (1, 1),
        (1, 2),
        (2, 3),
        (5, 8),
        (7, 5),
        (5, 2),
        (3, 1),
        (40, 13),
    ] {
        let (a, b) = (UBig::from(a as u8), UBig::from(b as u8));
        let found = Found::by(Shown::Bits, |paths| paths.exponential_coin(&a, &b));
        let p = Between::exponential(&a, &b);
        for (outcome, p) in [(true, &p), (false, &p.rest())] {
            let found = found.probability(&outcome);
            assert!(found.overlaps(p), "e^-{a}/{b}, {outcome}: {found:?} {p:?}");
        }
        assert!(found.unfinished.high() < 1e-5, "{a}/{b}");
    }
}

#[test]
fn laplace_integers_have_the_exact_law() {
    for (t, s) in [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 3),
        (3, 2),
        (1, 3),
        (7, 4),
        (20, 7),
    ] {
        let law = law(|j| j * s, t);
        let (above, below) = (UBig::from(t), UBig::from(s));
        let a_try = |paths: &mut Paths| laplace_try(&above, &below, paths);
        assert_law(&format!("Laplace, {t}/{s}"), &law, a_try);
    }
}

#[test]
fn gaussian_integers_have_the_exact_law() {
    for (p, q) in [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 3),
        (3, 2),
        (1, 3),
        (7, 4),
        (20, 7),
    ] {
        let law = law(|j| j * j * q * q, 2 * p * p);
        let (above, below) = (UBig::from(p), UBig::from(q));
        let a_try = |paths: &mut Paths| gaussian_try(&above, &below, paths);
        assert_law(&format!("Gaussian, {p}/{q}"), &law, a_try);
    }
}

/// Every integer that is kept, found or not, on both sides of 0.
fn assert_law(of: &str, law: &[Between], a_try: impl Fn(&mut Paths) -> Result<Option<IBig>>) {
    let found = Found::by(Shown::Exponentials, a_try);
    let unfinished = found.unfinished.high();
    println!("{of}: {unfinished:.1e} unfinished");
    assert!(unfinished < 1e-5, "{of}: {unfinished}");
    for (j, law) in law.iter().enumerate() {
        for j in [IBig::from(j), -IBig::from(j)] {
            let kept = found.probability_without(&Some(j.clone()), &None);
            assert!(kept.overlaps(law), "{of}, {j}: {kept:?} {law:?}");
        }
    }
    let within = |j: &IBig| j.clone().unsigned_abs() < UBig::from(law.len());
    assert!(found.outcomes().flatten().all(within), "{of}");
}

/// From the bits to the integer in one piece: all strings of 22 bits.
#[test]
fn strings_of_bits_make_the_exact_law() {
    let one = RBig::ONE;
    let cases = [
        (
            Outcomes::of(22, |tape| tape.discrete_laplace(&one)),
            law(|j| j, 1),
            0.05,
        ),
        (
            Outcomes::of(22, |tape| tape.discrete_gaussian(&one)),
            law(|j| j * j, 2),
            0.5,
        ),
    ];
    for (outcomes, law, most) in cases {
        let share = |strings: u64| Between::of(strings.into(), &(UBig::ONE << 22));
        assert!(share(outcomes.unfinished).high() < most);
        for (j, law) in law.iter().enumerate() {
            let strings = outcomes.made.get(&j.into()).copied().unwrap_or(0);
            let found = share(strings).or(&share(strings + outcomes.unfinished));
            assert!(found.overlaps(law), "{j}: {found:?} {law:?}");
        }
    }
}

/// Scales that no float holds, and those of the smallest and largest floats.
#[test]
fn scales_of_any_size_are_drawn_from() {
    let exact = |x: f64| RBig::try_from(x).unwrap();
    let bits = &mut SystemBits::for_one_draw();
    for tiny in [exact(5e-324), exact(1e-300) / exact(1e300)] {
        for _ in 0..100 {
            assert_eq!(bits.discrete_laplace(&tiny).unwrap(), IBig::ZERO);
            assert_eq!(bits.discrete_gaussian(&tiny).unwrap(), IBig::ZERO);
        }
    }
    for huge in [exact(f64::MAX), exact(1e300) / exact(1e-300)] {
        for draw in [bits.discrete_laplace(&huge), bits.discrete_gaussian(&huge)] {
            // Outside with probability below 10⁻⁸.
            let size = RBig::from(draw.unwrap().unsigned_abs());
            assert!(size < &huge * exact(1e9) && size > &huge / exact(1e9));
        }
    }
    assert_eq!(bits.discrete_laplace(&RBig::ZERO).unwrap(), IBig::ZERO);
    assert_eq!(bits.discrete_gaussian(&RBig::ZERO).unwrap(), IBig::ZERO);
}

/// What the operating system does not give is an error wherever the draw has come to, and never a number.
#[test]
fn a_source_that_fails_is_an_error() {
    for scale in [ratio(1, 2), ratio(7, 3), ratio(1 << 20, 3)] {
        assert!(Tape::of(&[]).discrete_laplace(&scale).is_err());
        assert!(Tape::of(&[]).discrete_gaussian(&scale).is_err());
        // Zeros make every coin true: it never ends but by the error.
        for length in 1..200 {
            let zeros = vec![false; length];
            assert!(Tape::of(&zeros).discrete_laplace(&scale).is_err());
            assert!(Tape::of(&zeros).discrete_gaussian(&scale).is_err());
        }
    }
}

#[test]
fn what_has_no_law_is_refused() {
    let bits = &mut SystemBits::for_one_draw();
    assert!(bits.discrete_laplace(&-ratio(1, 2)).is_err());
    assert!(bits.discrete_gaussian(&-ratio(1, 2)).is_err());
    assert!(bits.below(&UBig::ZERO).is_err());
    assert!(bits.exponential_coin(&UBig::ONE, &UBig::ZERO).is_err());
}
