//! Semidefinite programs with known answers, solved by Clarabel through the shim.

use std::f64::consts::{PI, SQRT_2};

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSettingsBuilder, DefaultSolution, DefaultSolver, IPSolver,
    SolverStatus, SupportedConeT,
};

/// Clarabel's default accuracy is 1e-8 relative; the answers here are below 100.
const ACCURACY: f64 = 1e-6;

/// The upper triangle by columns, off-diagonal entries times √2: Clarabel's order, in which inner
/// products are those of the matrices.
fn svec(n: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut v = Vec::with_capacity(n * (n + 1) / 2);
    for j in 0..n {
        for i in 0..=j {
            v.push(entry(i, j) * if i == j { 1.0 } else { SQRT_2 });
        }
    }
    v
}

/// The matrix of an `svec`, column by column.
fn smat(n: usize, v: &[f64]) -> Vec<f64> {
    let mut m = vec![0.0; n * n];
    let mut at = 0;
    for j in 0..n {
        for i in 0..=j {
            let entry = v[at] / if i == j { 1.0 } else { SQRT_2 };
            (m[i + j * n], m[j + i * n]) = (entry, entry);
            at += 1;
        }
    }
    m
}

fn solve(
    q: &[f64],
    a: &CscMatrix<f64>,
    b: &[f64],
    cones: &[SupportedConeT<f64>],
    settings: DefaultSettings<f64>,
) -> DefaultSolution<f64> {
    let p = CscMatrix::zeros((q.len(), q.len()));
    let mut solver = DefaultSolver::new(&p, q, a, b, cones, settings).unwrap();
    solver.solve();
    assert_eq!(solver.solution.status, SolverStatus::Solved);
    solver.solution
}

fn settings(chordal: bool) -> DefaultSettings<f64> {
    DefaultSettingsBuilder::default()
        .verbose(false)
        .chordal_decomposition_enable(chordal)
        .chordal_decomposition_merge_method("none".to_string())
        .build()
        .unwrap()
}

fn identity(i: usize, j: usize) -> f64 {
    f64::from(u8::from(i == j))
}

/// The largest eigenvalue of M: min t with t I - M ⪰ 0; its dual is max ⟨M, Z⟩ with tr Z = 1, Z ⪰ 0.
/// Answers t and Z.
fn largest_eigenvalue(
    n: usize,
    m: impl Fn(usize, usize) -> f64,
    settings: DefaultSettings<f64>,
) -> (f64, Vec<f64>) {
    let minus_identity = svec(n, |i, j| -identity(i, j));
    let rows: Vec<[f64; 1]> = minus_identity.iter().map(|&x| [x]).collect();
    let a = CscMatrix::from(rows.iter());
    let b = svec(n, |i, j| -m(i, j));
    let solution = solve(
        &[1.0],
        &a,
        &b,
        &[SupportedConeT::PSDTriangleConeT(n)],
        settings,
    );
    (solution.x[0], smat(n, &solution.z))
}

#[test]
fn largest_eigenvalue_of_the_second_difference() {
    for n in [4, 6, 30] {
        let difference = |i: usize, j: usize| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        let expected = 2.0 + 2.0 * (PI / (n + 1) as f64).cos();
        for chordal in [false, true] {
            let (t, _) = largest_eigenvalue(n, difference, settings(chordal));
            assert!((t - expected).abs() < ACCURACY, "{n} {chordal}: {t}");
        }
    }
}

/// (I + T/2)⁵ with T the neighbours' adjacency: five bands on each side, so that the cliques have
/// six nodes and overlap in five, enough for the factorizations of the completion to go through
/// LAPACK. Its largest eigenvalue is (1 + cos(π/(n+1)))⁵.
#[test]
fn chordal_decomposition_agrees_and_completes_the_dual() {
    let n = 14;
    let base = |i: usize, j: usize| match i.abs_diff(j) {
        0 => 1.0,
        1 => 0.5,
        _ => 0.0,
    };
    let mut power: Vec<f64> = (0..n * n).map(|at| base(at % n, at / n)).collect();
    for _ in 1..5 {
        power = (0..n * n)
            .map(|at| {
                (0..n)
                    .map(|k| power[at % n + k * n] * base(k, at / n))
                    .sum()
            })
            .collect();
    }
    let expected = (1.0 + (PI / (n + 1) as f64).cos()).powi(5);

    for chordal in [false, true] {
        let (t, z) = largest_eigenvalue(n, |i, j| power[i + j * n], settings(chordal));
        assert!((t - expected).abs() < ACCURACY, "{chordal}: {t}");

        let trace: f64 = (0..n).map(|i| z[i + i * n]).sum();
        let inner: f64 = power.iter().zip(&z).map(|(m, z)| m * z).sum();
        assert!((trace - 1.0).abs() < ACCURACY, "{chordal}: {trace}");
        assert!(
            (inner - expected).abs() < 10.0 * ACCURACY,
            "{chordal}: {inner}"
        );
        assert!(is_definite(n, &z, ACCURACY), "{chordal}: Z is not ⪰ 0");
    }
}

/// Whether Z + shift I has a Cholesky factor; by plain elimination, not through the shim.
fn is_definite(n: usize, z: &[f64], shift: f64) -> bool {
    let mut z = z.to_vec();
    for k in 0..n {
        z[k + k * n] += shift;
    }
    for k in 0..n {
        if z[k + k * n] <= 0.0 {
            return false;
        }
        for j in k + 1..n {
            for i in k + 1..n {
                z[i + j * n] -= z[i + k * n] * z[k + j * n] / z[k + k * n];
            }
        }
    }
    true
}

/// min tr X with X ⪰ B and X ⪰ 0 is the sum of the positive eigenvalues of B.
#[test]
fn least_trace_above_a_matrix_is_its_positive_spectrum() {
    let n = 5;
    let size = n * (n + 1) / 2;
    let b_matrix = svec(n, |i, j| f64::from(u8::from(i.abs_diff(j) == 1)));
    let q = svec(n, identity);
    // X - B ∈ S⁺ and X ∈ S⁺, in the coordinates of svec.
    let a = CscMatrix::new(
        2 * size,
        size,
        (0..=size).map(|k| 2 * k).collect(),
        (0..size).flat_map(|k| [k, size + k]).collect(),
        vec![-1.0; 2 * size],
    );
    let b: Vec<f64> = b_matrix
        .iter()
        .map(|x| -x)
        .chain(std::iter::repeat_n(0.0, size))
        .collect();
    let cones = [
        SupportedConeT::PSDTriangleConeT(n),
        SupportedConeT::PSDTriangleConeT(n),
    ];
    let expected: f64 = (1..=n)
        .map(|k| (2.0 * (PI * k as f64 / (n + 1) as f64).cos()).max(0.0))
        .sum();
    for chordal in [false, true] {
        let solution = solve(&q, &a, &b, &cones, settings(chordal));
        let (primal, dual) = (solution.obj_val, solution.obj_val_dual);
        assert!((primal - expected).abs() < ACCURACY, "{chordal}: {primal}");
        assert!((dual - expected).abs() < ACCURACY, "{chordal}: {dual}");
    }
}
