//! Membership of cones and dual cones by independent formulas, and the residuals that are built from them.

use conveil::program::{Against, Cone, Holds, NewConstraint, NewVariables, Program, Sparse, Stage};
use conveil::solve::Residuals;
use proptest::prelude::*;

const KINDS: usize = 7;

fn kind(index: usize) -> Cone {
    match index {
        0 => Cone::Zero(3),
        1 => Cone::Nonnegative(3),
        2 => Cone::SecondOrder(4),
        3 => Cone::Exponential,
        4 => Cone::Power(0.3),
        5 => Cone::GeneralizedPower(vec![0.25, 0.25, 0.5], 2),
        _ => Cone::PsdTriangle(3),
    }
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// How far inside (positive) or outside (negative) by the textbook inequality; none where it does not apply.
fn margin(cone: &Cone, side: Against, s: &[f64]) -> f64 {
    let power = |alpha: &[f64], s: &[f64]| {
        let (x, w) = s.split_at(alpha.len());
        let least = x.iter().copied().fold(f64::INFINITY, f64::min);
        let product: f64 = alpha
            .iter()
            .zip(x)
            .map(|(a, v)| match side {
                Against::Primal => v.max(0.0).powf(*a),
                Against::Dual => (v.max(0.0) / a).powf(*a),
            })
            .product();
        least.min(product - norm(w))
    };
    match cone {
        Cone::Zero(_) => match side {
            Against::Primal => -norm(s),
            Against::Dual => 1.0,
        },
        Cone::Nonnegative(_) => s.iter().copied().fold(f64::INFINITY, f64::min),
        Cone::SecondOrder(_) => s[0] - norm(&s[1..]),
        // K: y·exp(x/y) ≤ z, y > 0.  K*: −u·exp(v/u) ≤ e·w, u < 0.
        Cone::Exponential => match side {
            Against::Primal if s[1] > 0.0 => s[2] - s[1] * (s[0] / s[1]).exp(),
            Against::Dual if s[0] < 0.0 => 1f64.exp() * s[2] + s[0] * (s[1] / s[0]).exp(),
            _ => -1.0,
        },
        Cone::Power(a) => power(&[*a, 1.0 - a], s),
        Cone::GeneralizedPower(alpha, _) => power(alpha, s),
        Cone::PsdTriangle(_) => least_eigenvalue(s),
    }
}

/// λ_min of a 3×3 scaled triangle by the trigonometric formula, not by an eigensolver.
fn least_eigenvalue(s: &[f64]) -> f64 {
    let h = std::f64::consts::FRAC_1_SQRT_2;
    let (a, b, c) = (s[0], s[2], s[5]);
    let (d, e, f) = (s[1] * h, s[4] * h, s[3] * h);
    let mean = (a + b + c) / 3.0;
    let spread = ((a - mean).powi(2)
        + (b - mean).powi(2)
        + (c - mean).powi(2)
        + 2.0 * (d * d + e * e + f * f))
        / 6.0;
    let p = spread.sqrt();
    if p == 0.0 {
        return mean;
    }
    let (a, b, c, d, e, f) = (
        (a - mean) / p,
        (b - mean) / p,
        (c - mean) / p,
        d / p,
        e / p,
        f / p,
    );
    let half_det = 0.5 * (a * (b * c - e * e) - d * (d * c - e * f) + f * (d * e - b * f));
    let angle = half_det.clamp(-1.0, 1.0).acos() / 3.0;
    mean + 2.0 * p * (angle + 2.0 * std::f64::consts::PI / 3.0).cos()
}

/// A point of K (or K*), from numbers in [−1, 1].
fn member(cone: &Cone, side: Against, u: &[f64]) -> Vec<f64> {
    let positive = |v: f64| 0.05 + v.abs() * 2.0;
    let power = |alpha: &[f64], w: usize| {
        let x: Vec<f64> = alpha
            .iter()
            .enumerate()
            .map(|(i, _)| positive(u[i]))
            .collect();
        let size: f64 = alpha
            .iter()
            .zip(&x)
            .map(|(a, v)| {
                if side == Against::Dual {
                    (v / a).powf(*a)
                } else {
                    v.powf(*a)
                }
            })
            .product();
        let direction: Vec<f64> = (0..w).map(|i| u[alpha.len() + i]).collect();
        let scale = size * u[9].abs() / norm(&direction).max(1e-9);
        x.into_iter()
            .chain(direction.into_iter().map(|d| d * scale))
            .collect::<Vec<f64>>()
    };
    match cone {
        Cone::Zero(m) => match side {
            Against::Primal => vec![0.0; *m],
            Against::Dual => u[..*m].to_vec(),
        },
        Cone::Nonnegative(m) => u[..*m].iter().map(|v| v.abs()).collect(),
        Cone::SecondOrder(m) => {
            let mut s = u[..*m].to_vec();
            s[0] = norm(&s[1..]) * (1.0 + u[9].abs());
            s
        }
        Cone::Exponential => match side {
            Against::Primal => {
                let (x, y) = (u[0], positive(u[1]));
                vec![x, y, y * (x / y).exp() * (1.0 + u[9].abs())]
            }
            Against::Dual => {
                let (minus, v) = (positive(u[0]), u[1]);
                let w = minus * (v / -minus).exp() / 1f64.exp();
                vec![-minus, v, w * (1.0 + u[9].abs())]
            }
        },
        Cone::Power(a) => power(&[*a, 1.0 - a], 1),
        Cone::GeneralizedPower(alpha, w) => power(alpha, *w),
        Cone::PsdTriangle(n) => {
            // GG' with G from the numbers.
            let g = |i: usize, k: usize| u[(3 * i + k) % u.len()] + 0.1 * (i as f64 - k as f64);
            let mut s = Vec::new();
            for j in 0..*n {
                for i in 0..=j {
                    let v: f64 = (0..*n).map(|k| g(i, k) * g(j, k)).sum();
                    s.push(if i == j {
                        v
                    } else {
                        v * std::f64::consts::SQRT_2
                    });
                }
            }
            s
        }
    }
}

/// Where bisection and direct formulas move a point back into the cone.
fn inward(cone: &Cone, side: Against) -> Vec<f64> {
    match (cone, side) {
        (Cone::Exponential, Against::Dual) => vec![-1.0, 0.0, 1.0],
        _ => cone.interior().0,
    }
}

fn numbers() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0..1.0f64, 10)
}

/// min q'x, x ∈ K.
fn program_in(cone: &Cone, q: &[f64]) -> Program {
    let m = cone.dim();
    let minus: Vec<(usize, usize, f64)> = (0..m).map(|i| (i, i, -1.0)).collect();
    Program::new(
        Sparse::zeros(m, m),
        q.to_vec(),
        Sparse::from_triplets(m, m, &minus).unwrap(),
        vec![0.0; m],
        vec![NewVariables {
            name: "x".into(),
            len: m,
            stage: Stage::Decision,
            entries: Vec::new(),
        }],
        vec![NewConstraint {
            name: "in".into(),
            cone: cone.clone(),
            holds: Holds::WithNoise,
            rows: vec![],
        }],
    )
    .unwrap()
}

const SIDES: [Against; 2] = [Against::Primal, Against::Dual];

fn fixed(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: proptest::test_runner::RngSeed::Fixed(17),
        failure_persistence: None,
        ..Default::default()
    }
}

proptest! {
    #![proptest_config(fixed(1500))]

    #[test]
    fn members_have_no_violation_and_pair_nonnegatively(index in 0..KINDS, u in numbers(), v in numbers()) {
        let cone = kind(index);
        let s = member(&cone, Against::Primal, &u);
        let z = member(&cone, Against::Dual, &v);
        prop_assert!(cone.violation(&s, Against::Primal) <= 1e-12, "{:?} {:?}", cone, s);
        prop_assert!(cone.violation(&z, Against::Dual) <= 1e-12, "{:?} {:?}", cone, z);
        let pairing: f64 = s.iter().zip(&z).map(|(s, z)| s * z).sum();
        prop_assert!(pairing >= -1e-12, "{:?}: ⟨{:?}, {:?}⟩ = {}", cone, s, z, pairing);
    }

    #[test]
    fn violation_is_the_step_that_leads_back_into_the_cone(index in 1..KINDS, u in numbers(), dual in any::<bool>()) {
        let cone = kind(index);
        let side = SIDES[usize::from(dual)];
        let s: Vec<f64> = u[..cone.dim()].iter().map(|v| 2.0 * v).collect();
        let violation = cone.violation(&s, side);
        let e = inward(&cone, side);
        let moved = |t: f64| s.iter().zip(&e).map(|(s, e)| s + t * e).collect::<Vec<f64>>();
        let inside = margin(&cone, side, &s);
        prop_assert_eq!(violation == 0.0, inside >= 0.0, "{:?} {:?}: {} {}", cone, s, violation, inside);
        if violation > 1e-6 {
            prop_assert!(margin(&cone, side, &moved(violation * (1.0 + 1e-9) + 1e-9)) >= -1e-9, "{:?} {:?}", cone, s);
            prop_assert!(margin(&cone, side, &moved(violation * 0.99)) < 0.0, "{:?} {:?}", cone, s);
        }
    }

    #[test]
    fn the_interior_point_has_room_on_all_sides(index in 1..KINDS, u in numbers()) {
        let cone = kind(index);
        let (e, c) = cone.interior();
        let size: f64 = u[..cone.dim()].iter().map(|v| v.abs()).sum();
        let near: Vec<f64> = e.iter().zip(&u).map(|(e, u)| e + u / (c * size)).collect();
        prop_assert!(cone.violation(&near, Against::Primal) <= 1e-12, "{:?} {:?}", cone, near);
    }

    /// min z̄'x, x ∈ K: at (x, z) = (s, z̄) only complementarity is missing; each perturbation shows in its own residual.
    #[test]
    fn residuals_show_what_is_wrong(index in 1..KINDS, u in numbers(), v in numbers(), shift in 0.01..1.0f64) {
        let cone = kind(index);
        let s = member(&cone, Against::Primal, &u);
        let z = member(&cone, Against::Dual, &v);
        let program = program_in(&cone, &z);
        let gap: f64 = s.iter().zip(&z).map(|(s, z)| s * z).sum();
        // A multiplier that is stationary but outside K*: only its membership is wrong.
        let dual_out = inward(&cone, Against::Dual);
        let outside: Vec<f64> = z.iter().zip(&dual_out).map(|(z, e)| z - shift * e).collect();
        let stationary = program_in(&cone, &outside);
        let found = Residuals::of(&stationary, &s, &outside).dual;
        prop_assert!((found - cone.violation(&outside, Against::Dual)).abs() <= 1e-12);
        let good = Residuals::of(&program, &s, &z);
        prop_assert!(good.primal <= 1e-12 && good.dual <= 1e-12, "{:?}", good);
        prop_assert!((good.gap - gap.abs()).abs() <= 1e-12);
        // Push s out along −e and z off by one entry.
        let e = cone.interior().0;
        let out: Vec<f64> = s.iter().zip(&e).map(|(s, e)| s - shift * e).collect();
        let expected = cone.violation(&out, Against::Primal);
        prop_assert!((Residuals::of(&program, &out, &z).primal - expected).abs() <= 1e-12);
        prop_assert!(expected <= shift + 1e-9);
        let mut other = z.clone();
        other[0] += shift;
        let dual = Residuals::of(&program, &s, &other).dual;
        prop_assert!(dual >= shift - 1e-12, "{} {}", dual, shift);
        prop_assert!((dual - shift.max(cone.violation(&other, Against::Dual))).abs() <= 1e-9);
    }
}

#[test]
fn a_zero_cone_tells_its_rows_apart_from_its_multipliers() {
    let zero = Cone::Zero(2);
    assert_eq!(zero.violation(&[0.5, -2.0], Against::Primal), 2.0);
    assert_eq!(zero.violation(&[0.5, -2.0], Against::Dual), 0.0);
}

#[test]
fn not_a_number_is_an_infinite_violation_in_every_cone() {
    for cone in (0..KINDS).map(kind) {
        let mut s = vec![1.0; cone.dim()];
        s[0] = f64::NAN;
        for side in SIDES {
            assert_eq!(cone.violation(&s, side), f64::INFINITY, "{cone:?}");
        }
    }
}
