//! What the noise is said to hide, by a second road: the Gaussian curve by integration, the shaped Laplace bound by
//! exact projections, the lattice by counting.

use std::collections::HashSet;
use std::f64::consts::PI;

use conveil::noise::{Sampler, gaussian_delta, gaussian_sigma_analytic, gaussian_sigma_classic};
use conveil::program::{Builder, DataMap};
use conveil::solve::{Settings, solve_checked};

// ---- The Gaussian curve (M7) ----

const EPSILONS: [f64; 14] = [
    0.01, 0.03, 0.1, 0.3, 0.7, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 13.0, 16.0, 20.0,
];
const DELTAS: [f64; 7] = [1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 0.3];
const DISTANCES: [f64; 6] = [0.02, 0.1, 0.5, 1.0, 3.0, 8.0];

/// Nodes and weights of the Gauss–Legendre rule with 20 points: roots of the Legendre polynomial by Newton's method.
fn gauss_legendre() -> Vec<(f64, f64)> {
    const N: i32 = 20;
    let legendre = |x: f64| {
        let (mut before, mut value) = (1.0, x);
        for n in 2..=N {
            let n = f64::from(n);
            (before, value) = (
                value,
                ((2.0 * n - 1.0) * x * value - (n - 1.0) * before) / n,
            );
        }
        let slope = f64::from(N) * (x * value - before) / (x * x - 1.0);
        (value, slope)
    };
    (0..N)
        .map(|i| {
            let mut x = (PI * (f64::from(i) + 0.75) / (f64::from(N) + 0.5)).cos();
            for _ in 0..10 {
                let (value, slope) = legendre(x);
                x -= value / slope;
            }
            let (_, slope) = legendre(x);
            (x, 2.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}

/// ∫ max(0, p − e^ε q) for unit normals p around `a` and q around 0, as it is written.
fn hockey_stick(rule: &[(f64, f64)], a: f64, eps: f64) -> f64 {
    let excess = |x: f64| {
        let p = (-0.5 * (x - a) * (x - a)).exp();
        let q = (eps - 0.5 * x * x).exp();
        (p - q).max(0.0) / (2.0 * PI).sqrt()
    };
    // p exceeds e^ε q beyond ε/a + a/2 only. 14 deviations further on nothing is left of p.
    let (from, panels) = (eps / a + 0.5 * a, 100);
    let width = (from.max(a) + 14.0 - from) / f64::from(panels);
    (0..panels)
        .map(|panel| {
            let middle = from + width * (f64::from(panel) + 0.5);
            let values = rule
                .iter()
                .map(|&(x, w)| w * excess(middle + 0.5 * width * x));
            0.5 * width * values.sum::<f64>()
        })
        .sum()
}

/// The relative accuracy to which the definition itself can be integrated: near its edge p − e^ε q cancels.
const RELATIVE: f64 = 1e-9;

#[test]
fn the_gaussian_curve_is_the_hockey_stick_divergence() {
    let rule = gauss_legendre();
    let total: f64 = rule.iter().map(|node| node.1).sum();
    assert!((total - 2.0).abs() < 1e-13);
    let (mut absolute, mut relative) = (0.0f64, 0.0f64);
    let mut compare = |a: f64, eps: f64| {
        let formula = gaussian_delta(a, 1.0, eps).unwrap();
        let integral = hockey_stick(&rule, a, eps);
        let error = (formula - integral).abs();
        assert!(
            error <= 1e-9,
            "a = {a}, ε = {eps}: {formula:e} {integral:e}"
        );
        absolute = absolute.max(error);
        if integral > 0.9e-12 {
            assert!(
                error <= RELATIVE * integral,
                "a = {a}, ε = {eps}: {formula:e} {integral:e}"
            );
            relative = relative.max(error / integral);
        }
    };
    for eps in EPSILONS {
        for a in DISTANCES {
            compare(a, eps);
        }
        for delta in DELTAS {
            compare(1.0 / gaussian_sigma_analytic(1.0, eps, delta).unwrap(), eps);
        }
    }
    println!("δ(ε): worst error {absolute:.1e}, relative {relative:.1e}");
}

#[test]
fn the_analytic_sigma_is_the_smallest_by_the_definition_itself() {
    let rule = gauss_legendre();
    for eps in EPSILONS {
        for delta in DELTAS {
            let sigma = gaussian_sigma_analytic(1.0, eps, delta).unwrap();
            let less = sigma * (1.0 - 1e-6);
            assert!(gaussian_delta(1.0, sigma, eps).unwrap() <= delta);
            assert!(gaussian_delta(1.0, less, eps).unwrap() > delta);
            assert!(hockey_stick(&rule, 1.0 / sigma, eps) <= delta * (1.0 + RELATIVE));
            assert!(
                hockey_stick(&rule, 1.0 / less, eps) > delta,
                "ε = {eps}, δ = {delta}"
            );
        }
    }
}

/// M7: at ε = 10 the classic scale for δ = 0.01 gives 0.041.
#[test]
fn the_classic_sigma_truly_fails_at_epsilon_10() {
    let rule = gauss_legendre();
    let sigma = gaussian_sigma_classic(1.0, 10.0, 0.01).unwrap();
    let truth = hockey_stick(&rule, 1.0 / sigma, 10.0);
    assert_eq!(format!("{truth:.3}"), "0.041");
    println!("classic σ = {sigma:.4} at ε = 10, δ = 0.01: truly δ = {truth:.4}");
    // Where it is a theorem it holds.
    for eps in [0.01, 0.1, 0.5, 0.99] {
        for delta in DELTAS {
            let sigma = gaussian_sigma_classic(1.0, eps, delta).unwrap();
            assert!(hockey_stick(&rule, 1.0 / sigma, eps) < delta);
        }
    }
}

// ---- Laplace noise shaped by the curvature (M8c) ----

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn l1(v: &[f64]) -> f64 {
    v.iter().map(|x| x.abs()).sum()
}

/// ½(‖g‖₁ + √r‖g‖₂): firm non-expansiveness puts Δx into the ball around g/2 of radius ‖g‖₂/2.
fn certified(g: &[f64]) -> f64 {
    0.5 * (l1(g) + (g.len() as f64).sqrt() * dot(g, g).sqrt())
}

/// x without its part along the rows; the rows must be independent (Gram–Schmidt).
fn without(rows: &[&Vec<f64>], x: &[f64]) -> Option<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let reduce = |v: &[f64], basis: &[Vec<f64>]| {
        let mut rest = v.to_vec();
        // Twice is enough for orthogonality to the last digits.
        for b in basis.iter().chain(basis) {
            let along = dot(b, &rest);
            rest.iter_mut().zip(b).for_each(|(r, b)| *r -= along * b);
        }
        rest
    };
    for row in rows {
        let rest = reduce(row, &basis);
        let length = dot(&rest, &rest).sqrt();
        if length < 1e-3 {
            return None;
        }
        basis.push(rest.iter().map(|r| r / length).collect());
    }
    Some(reduce(x, &basis))
}

/// The exact projection onto the polyhedral cone {x : n'x ≤ 0 for every normal n}: the nearest of the feasible
/// projections onto its faces.
fn project(normals: &[Vec<f64>], x: &[f64]) -> Option<Vec<f64>> {
    let mut best: Option<(f64, Vec<f64>)> = None;
    for face in 0..1usize << normals.len() {
        let active: Vec<&Vec<f64>> = (0..normals.len())
            .filter(|i| face >> i & 1 == 1)
            .map(|i| &normals[i])
            .collect();
        if active.len() > x.len() {
            continue;
        }
        let point = without(&active, x)?;
        if normals.iter().any(|n| dot(n, &point) > 1e-12) {
            continue;
        }
        let far: Vec<f64> = x.iter().zip(&point).map(|(a, b)| a - b).collect();
        let distance = dot(&far, &far);
        if best.as_ref().is_none_or(|(least, _)| distance < *least) {
            best = Some((distance, point));
        }
    }
    best.map(|(_, point)| point)
}

#[test]
fn the_shaped_laplace_bound_holds_and_the_l1_norm_alone_does_not() {
    let mut sampler = Sampler::new(20260801, 0);
    for r in [2usize, 3] {
        let sharp = 0.5 * (1.0 + (r as f64).sqrt());
        let (mut alone, mut bound, mut counted) = (0.0f64, 0.0f64, 0);
        while counted < 300_000 {
            let unit = |sampler: &mut Sampler| {
                let v: Vec<f64> = (0..r).map(|_| sampler.unit_normal()).collect();
                let length = dot(&v, &v).sqrt();
                v.iter().map(|x| x / length).collect::<Vec<f64>>()
            };
            let normals: Vec<Vec<f64>> = (0..1 + counted % r).map(|_| unit(&mut sampler)).collect();
            let x: Vec<f64> = (0..r).map(|_| 2.0 * sampler.unit_normal()).collect();
            // One response or one entry moves g along few coordinates: try these as often as any direction.
            let mut g = unit(&mut sampler);
            if sampler.uniform() < 0.5 {
                g[1..].iter_mut().for_each(|e| *e *= 0.02);
            }
            let moved: Vec<f64> = x.iter().zip(&g).map(|(x, g)| x + g).collect();
            let (Some(from), Some(to)) = (project(&normals, &x), project(&normals, &moved)) else {
                continue; // normals that are parallel to three digits
            };
            let step: Vec<f64> = to.iter().zip(&from).map(|(a, b)| a - b).collect();
            // What the bound rests on.
            assert!(dot(&step, &step) <= dot(&step, &g) + 1e-9);
            alone = alone.max(l1(&step) / l1(&g));
            bound = bound.max(l1(&step) / certified(&g));
            counted += 1;
        }
        println!("r = {r}: ‖Δx‖₁ up to {alone:.4}·‖g‖₁, {bound:.4} of the bound");
        assert!(bound <= 1.0 + 1e-9, "{bound}");
        // ‖g‖₁ alone is false; its worst factor is ½(1 + √r), for g along one axis.
        assert!(alone > 0.97 * sharp && alone <= sharp + 1e-9, "{alone}");
    }
}

/// The bound is attained: with Δx = (I − nn')e₁ and n at the angle that makes −cos 2φ + √(r−1) sin 2φ largest,
/// ‖Δx‖₁ = ½(1 + √r).
#[test]
fn the_shaped_laplace_bound_is_attained_on_a_half_space() {
    for r in [2usize, 3, 6] {
        let wide = (r as f64 - 1.0).sqrt();
        let angle = 0.5 * (PI - wide.atan());
        let mut normal = vec![angle.sin() / wide; r];
        normal[0] = angle.cos();
        let mut g = vec![0.0; r];
        g[0] = 1.0;
        let x: Vec<f64> = normal.iter().map(|n| 5.0 * n).collect();
        let moved: Vec<f64> = x.iter().zip(&g).map(|(x, g)| x + g).collect();
        let normals = [normal];
        let (from, to) = (
            project(&normals, &x).unwrap(),
            project(&normals, &moved).unwrap(),
        );
        let step: Vec<f64> = to.iter().zip(&from).map(|(a, b)| a - b).collect();
        assert!((l1(&step) - 0.5 * (1.0 + (r as f64).sqrt())).abs() < 1e-12);
        assert!((l1(&step) / certified(&g) - 1.0).abs() < 1e-12);
    }
}

/// With T = (QP⁻¹Q')^½ the shaped answer is Wz for z = P^½x and some W with WW' = I: the first r of n coordinates, up
/// to a rotation. It lies in the ball around Wg/2 of radius ‖g‖₂/2, with the whole of g: one that W does not see still
/// moves the answer.
#[test]
fn an_answer_with_fewer_numbers_than_variables_needs_the_whole_of_g() {
    // g = e₂ pushed along a half-plane at 45°: the first coordinate moves by ½, though Wg = 0.
    let diagonal = [vec![0.5f64.sqrt(), 0.5f64.sqrt()]];
    let (from, to) = (
        project(&diagonal, &[2.0, 2.0]).unwrap(),
        project(&diagonal, &[2.0, 3.0]).unwrap(),
    );
    assert!(((to[0] - from[0]).abs() - 0.5).abs() < 1e-12);

    let mut sampler = Sampler::new(20260801, 1);
    for r in [1usize, 2] {
        let (mut worst1, mut worst2, mut seen) = (0.0f64, 0.0f64, 0.0f64);
        for case in 0..100_000 {
            let mut draw = || -> Vec<f64> { (0..3).map(|_| sampler.unit_normal()).collect() };
            let normals: Vec<Vec<f64>> = (0..1 + case % 3)
                .map(|_| {
                    let v = draw();
                    let length = dot(&v, &v).sqrt();
                    v.iter().map(|x| x / length).collect()
                })
                .collect();
            let (x, g) = (draw(), draw());
            let moved: Vec<f64> = x.iter().zip(&g).map(|(x, g)| x + g).collect();
            let (Some(from), Some(to)) = (project(&normals, &x), project(&normals, &moved)) else {
                continue;
            };
            let step: Vec<f64> = to.iter().zip(&from).map(|(a, b)| a - b).take(r).collect();
            let (part, whole) = (&g[..r], dot(&g, &g).sqrt());
            worst1 = worst1.max(l1(&step) / (0.5 * (l1(part) + (r as f64).sqrt() * whole)));
            let euclidean = dot(&step, &step).sqrt();
            worst2 = worst2.max(euclidean / (0.5 * (dot(part, part).sqrt() + whole)));
            seen = seen.max(l1(&step) / certified(part));
        }
        println!(
            "{r} of 3 numbers: {worst1:.4} of the ℓ₁ bound, {worst2:.4} of the ℓ₂ one; with Wg for g: {seen:.1}"
        );
        assert!(worst1 <= 1.0 + 1e-9 && worst2 <= 1.0 + 1e-9);
        assert!(seen > 10.0);
    }
}

/// min ½x'Px − θ'x, P = diag(4, 9), over a half-plane: the same counterexample as a program, T = P^{-½}.
#[test]
fn a_solved_quadratic_program_moves_further_than_the_l1_norm_says() {
    let angle = 0.375 * PI; // 67.5°
    let (n1, n2) = (angle.cos(), angle.sin());
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let (first, second) = (m.parameter("first"), m.parameter("second"));
    m.quadratic(0, 0, 4.0);
    m.quadratic(1, 1, 9.0);
    m.minimize(-1.0 * (first * x.at(0)));
    m.minimize(-1.0 * (second * x.at(1)));
    // n'P^½x ≤ 0.
    m.at_most("half-plane", x.dot(&[2.0 * n1, 3.0 * n2]), 0.0);
    let map = m.build_map().unwrap();
    let settings = Settings::default().with_tolerance(1e-10).unwrap();
    let shaped = |theta: [f64; 2]| {
        let solution = solve_checked(&map.at(&theta).unwrap(), &settings).unwrap();
        [2.0 * solution.x[0], 3.0 * solution.x[1]]
    };
    // θ = P^½·5n, and one entry moved so that g = P^{-½}Δθ = (1, 0).
    let (from, to) = (
        shaped([10.0 * n1, 15.0 * n2]),
        shaped([10.0 * n1 + 2.0, 15.0 * n2]),
    );
    let moved = l1(&[to[0] - from[0], to[1] - from[1]]);
    println!(
        "‖P^½Δx‖₁ = {moved:.4} for ‖g‖₁ = 1; certified {:.4}",
        certified(&[1.0, 0.0])
    );
    assert!(moved > 1.207 && moved <= certified(&[1.0, 0.0]) + 1e-6);
}

// ---- The lattice of shaped noise (M7) ----

/// T = [[1, 0], [½, 2]] and h = 1, everything times 2 so that it is whole: rounding T⁻¹Qx puts the answers of all
/// datasets on one lattice; rounding Qx gives neighbours answers that they never share, so one release tells them apart.
#[test]
fn rounding_before_the_shape_is_undone_separates_neighbours() {
    let shape = |k: [i64; 2]| [2 * k[0], k[0] + 4 * k[1]]; // 2T
    let window = 60i64;
    // The answers of a dataset, in halves, for noise up to ±60 steps.
    let support = |start: [i64; 2]| -> HashSet<[i64; 2]> {
        (-window..=window)
            .flat_map(|i| (-window..=window).map(move |j| [i, j]))
            .map(shape)
            .map(|noise| [start[0] + noise[0], start[1] + noise[1]])
            .collect()
    };
    let undone = |x: [f64; 2]| {
        let y = [x[0], (x[1] - 0.5 * x[0]) / 2.0]; // T⁻¹
        shape([y[0].round() as i64, y[1].round() as i64])
    };
    let early = |x: [f64; 2]| [2 * x[0].round() as i64, 2 * x[1].round() as i64];
    let points = |support: &HashSet<[i64; 2]>, other: &HashSet<[i64; 2]>| {
        support.intersection(other).count()
    };
    // Neighbours a tenth of a step apart, on either side of where Qx and T⁻¹Qx round differently.
    for (x, near) in [([0.2, 0.45], [0.2, 0.55]), ([0.2, 1.05], [0.2, 1.15])] {
        let all = support(undone(x));
        let shared = points(&all, &support(undone(near)));
        assert!(shared * 10 > all.len() * 9, "{shared} of {}", all.len());
    }
    let (x, near) = ([0.2, 0.45], [0.2, 0.55]);
    assert_eq!(points(&support(early(x)), &support(early(near))), 0);
    // Not a matter of the window: the starts differ by T·(0, ½), and ½ is no whole number of steps.
    let apart = [early(near)[0] - early(x)[0], early(near)[1] - early(x)[1]];
    assert_eq!(apart, [0, 2]);
    assert_ne!(apart[1] % 4, 0);
}
