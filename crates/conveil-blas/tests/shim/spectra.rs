//! `syevr`, `gesdd`, `gesvd`.

use std::f64::consts::PI;

use crate::grid::{Grid, product};
use crate::precision::{Precision, in_both_precisions};

/// 150 passes the size at which the iterations divide and conquer.
const SIZES: [usize; 6] = [0, 1, 2, 8, 17, 150];

in_both_precisions! {
    eigenvectors_are_orthonormal_and_multiply_back
    eigenvalues_of_a_known_matrix_ascend
    eigenvalues_of_repeated_and_zero_spectra
    singular_vectors_are_orthonormal_and_multiply_back
    gesvd_honours_each_job_letter
    singular_values_of_rank_deficient_matrices
    workspace_queries_answer_one_and_touch_nothing_else
    illegal_arguments_are_named
    a_matrix_that_is_not_finite_is_refused
}

struct Eigen<T> {
    values: Vec<f64>,
    vectors: Grid<T>,
    found: i32,
    info: i32,
}

/// `syevr` as Clarabel calls it: a query, then the work.
fn syevr<T: Precision>(jobz: u8, uplo: u8, a: &Grid<T>) -> Eigen<T> {
    let n = a.rows;
    let (mut data, zero) = (a.data.clone(), T::round(0.0));
    let mut values = vec![zero; n];
    let mut vectors = match jobz {
        b'V' => Grid::<T>::from_fn((n, n), a.padding, |_, _| f64::NAN),
        // Clarabel passes a single number when it wants no vectors.
        _ => Grid::<T>::from_fn((1, 1), 0, |_, _| 0.0),
    };
    let ldz = if jobz == b'V' { vectors.ld() } else { a.ld() };
    let (mut work, mut iwork, mut support) = (vec![zero], vec![0], vec![0; 2 * n]);
    let (mut lwork, mut liwork, mut found, mut info) = (-1, -1, 99, 99);
    for _ in 0..2 {
        unsafe {
            T::SYEVR(
                jobz,
                b'A',
                uplo,
                n as i32,
                &mut data,
                a.ld(),
                zero,
                zero,
                0,
                0,
                T::round(-1.0),
                &mut found,
                &mut values,
                &mut vectors.data,
                ldz,
                &mut support,
                &mut work,
                lwork,
                &mut iwork,
                liwork,
                &mut info,
            );
        }
        let needed: f64 = work[0].into();
        (lwork, liwork) = (needed as i32, iwork[0]);
        work.resize(lwork as usize, zero);
        iwork.resize(liwork as usize, 0);
    }
    Eigen {
        values: values.iter().map(|&x| x.into()).collect(),
        vectors,
        found,
        info,
    }
}

fn ascending(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] <= pair[1])
}

fn assert_orthonormal<T: Precision>(count: usize, length: usize, at: impl Fn(usize, usize) -> f64) {
    let gram = product((count, count, length), |i, l| at(l, i), &at);
    Grid::<T>::from_fn((count, count), 0, |i, j| gram[i + j * count])
        .assert_close("orthonormal", |i, j| f64::from(u8::from(i == j)));
}

fn eigenvectors_are_orthonormal_and_multiply_back<T: Precision>() {
    for uplo in [b'U', b'L'] {
        for n in SIZES {
            for padding in [0, 3] {
                let a = Grid::<T>::random_symmetric(n, padding, 1);
                let full = syevr(b'V', uplo, &a.only(uplo));
                assert_eq!((full.info, full.found), (0, n as i32));
                assert!(ascending(&full.values));
                let z = &full.vectors;
                let back = product(
                    (n, n, n),
                    |i, k| z.at(i, k) * full.values[k],
                    |k, j| z.at(j, k),
                );
                a.assert_close("Z w Z'", |i, j| back[i + j * n]);
                z.assert_close("padding of Z", |i, j| z.at(i, j));
                assert_orthonormal::<T>(n, n, |i, j| z.at(i, j));

                // Without vectors the values are the same.
                let alone = syevr(b'N', uplo, &a.only(uplo));
                assert_eq!((alone.info, alone.found), (0, n as i32));
                for (x, y) in alone.values.iter().zip(&full.values) {
                    assert!((x - y).abs() <= T::TOLERANCE * (1.0 + y.abs()));
                }
            }
        }
    }
}

fn eigenvalues_of_a_known_matrix_ascend<T: Precision>() {
    for n in [1, 2, 8, 17, 150] {
        // The second difference: 2 - 2 cos(k π / (n + 1)).
        let a = Grid::<T>::from_fn((n, n), 0, |i, j| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        });
        for (k, value) in syevr(b'N', b'U', &a).values.iter().enumerate() {
            let expected = 2.0 - 2.0 * (PI * (k + 1) as f64 / (n + 1) as f64).cos();
            assert!((value - expected).abs() <= T::TOLERANCE, "{n} {k}");
        }
    }
}

fn eigenvalues_of_repeated_and_zero_spectra<T: Precision>() {
    for n in [4, 17, 150] {
        for (diagonal, rest) in [(0.0, 0.0), (3.0, 0.0), (1.0, 1.0)] {
            // Eigenvalues: diagonal - rest, n - 1 times, and diagonal + (n - 1) rest.
            let a = Grid::<T>::from_fn((n, n), 0, |i, j| if i == j { diagonal } else { rest });
            let eigen = syevr(b'V', b'U', &a);
            assert_eq!(eigen.info, 0);
            for (k, value) in eigen.values.iter().enumerate() {
                let repeated = diagonal - rest;
                let expected = repeated + if k + 1 == n { n as f64 * rest } else { 0.0 };
                let allowed = T::TOLERANCE * (1.0 + n as f64);
                assert!((value - expected).abs() <= allowed, "{n} {k}: {value}");
            }
            assert_orthonormal::<T>(n, n, |i, j| eigen.vectors.at(i, j));
        }
    }
}

struct Singular<T> {
    values: Vec<f64>,
    left: Grid<T>,
    right_t: Grid<T>,
    info: i32,
}

/// Which routine, with its job letters.
#[derive(Clone, Copy, Debug)]
enum Job {
    Gesdd(u8),
    Gesvd(u8, u8),
}

/// The singular values as Clarabel asks for them: a query, then the work.
fn svd<T: Precision>(job: Job, a: &Grid<T>) -> Singular<T> {
    let (m, n) = (a.rows, a.cols);
    let rank = m.min(n);
    let (left, right) = match job {
        Job::Gesdd(both) => (both, both),
        Job::Gesvd(left, right) => (left, right),
    };
    let count = |letter: u8, all: usize| match letter {
        b'A' => all,
        b'S' => rank,
        _ => 0,
    };
    let nan = |rows, cols| Grid::<T>::from_fn((rows, cols), a.padding, |_, _| f64::NAN);
    let (mut u, mut vt) = (nan(m, count(left, m)), nan(count(right, n), n));
    let (mut data, zero) = (a.data.clone(), T::round(0.0));
    let (ldu, ldvt) = (u.ld(), vt.ld());
    let mut values = vec![zero; rank];
    let (mut work, mut iwork, mut lwork, mut info) = (vec![zero], vec![0; 8 * rank], -1, 99);
    for _ in 0..2 {
        let (rows, cols, lda) = (m as i32, n as i32, a.ld());
        unsafe {
            match job {
                Job::Gesdd(both) => T::GESDD(
                    both,
                    rows,
                    cols,
                    &mut data,
                    lda,
                    &mut values,
                    &mut u.data,
                    ldu,
                    &mut vt.data,
                    ldvt,
                    &mut work,
                    lwork,
                    &mut iwork,
                    &mut info,
                ),
                Job::Gesvd(left, right) => T::GESVD(
                    left,
                    right,
                    rows,
                    cols,
                    &mut data,
                    lda,
                    &mut values,
                    &mut u.data,
                    ldu,
                    &mut vt.data,
                    ldvt,
                    &mut work,
                    lwork,
                    &mut info,
                ),
            }
        }
        let needed: f64 = work[0].into();
        lwork = needed as i32;
        work.resize(lwork as usize, zero);
    }
    Singular {
        values: values.iter().map(|&x| x.into()).collect(),
        left: u,
        right_t: vt,
        info,
    }
}

/// Checks everything that the job letters promise.
fn check_svd<T: Precision>(job: Job, a: &Grid<T>) -> Vec<f64> {
    let (m, n) = (a.rows, a.cols);
    let rank = m.min(n);
    let Singular {
        values,
        left: u,
        right_t: vt,
        info,
    } = svd(job, a);
    assert_eq!(info, 0, "{job:?} {m}x{n}");
    let descending = values.iter().rev().is_sorted();
    assert!(
        descending && values.iter().all(|&s| s >= 0.0),
        "{job:?} {m}x{n}: {values:?}"
    );
    if rank > 0 {
        assert_orthonormal::<T>(u.cols, m, |i, j| u.at(i, j));
        assert_orthonormal::<T>(vt.rows, n, |i, j| vt.at(j, i));
        u.assert_close("padding of U", |i, j| u.at(i, j));
        vt.assert_close("padding of V'", |i, j| vt.at(i, j));
    }
    // With one set of vectors missing, the other still diagonalizes A A' or A' A.
    if u.cols >= rank && vt.rows >= rank {
        let back = product(
            (m, n, rank),
            |i, k| u.at(i, k) * values[k],
            |k, j| vt.at(k, j),
        );
        a.assert_close("U s V'", |i, j| back[i + j * m]);
    } else if u.cols >= rank {
        let ua = product((rank, n, m), |k, i| u.at(i, k), |i, j| a.at(i, j));
        for k in 0..rank {
            let norm = (0..n).map(|j| ua[k + j * rank].powi(2)).sum::<f64>().sqrt();
            assert!((norm - values[k]).abs() <= T::TOLERANCE * (1.0 + values[k]));
        }
    } else if vt.rows >= rank {
        let av = product((m, rank, n), |i, j| a.at(i, j), |j, k| vt.at(k, j));
        for k in 0..rank {
            let norm = (0..m).map(|i| av[i + k * m].powi(2)).sum::<f64>().sqrt();
            assert!((norm - values[k]).abs() <= T::TOLERANCE * (1.0 + values[k]));
        }
    }
    values
}

/// Square, tall and wide, little and much.
fn shapes() -> Vec<(usize, usize)> {
    let mut shapes: Vec<_> = SIZES.iter().map(|&n| (n, n)).collect();
    for (long, short) in [(3, 0), (4, 1), (9, 8), (17, 2), (60, 7)] {
        shapes.extend([(long, short), (short, long)]);
    }
    shapes
}

fn singular_vectors_are_orthonormal_and_multiply_back<T: Precision>() {
    for shape in shapes() {
        for padding in [0, 3] {
            let a = Grid::<T>::random(shape, padding, 1);
            let thin = check_svd(Job::Gesdd(b'S'), &a);
            for job in [Job::Gesdd(b'A'), Job::Gesdd(b'N'), Job::Gesvd(b'S', b'S')] {
                for (x, y) in check_svd(job, &a).iter().zip(&thin) {
                    assert!((x - y).abs() <= T::TOLERANCE * (1.0 + y));
                }
            }
        }
    }
}

fn gesvd_honours_each_job_letter<T: Precision>() {
    for shape in [(8, 8), (9, 5), (5, 9), (17, 2), (2, 17)] {
        let a = Grid::<T>::random(shape, 1, 1);
        for left in [b'N', b'S', b'A'] {
            for right in [b'N', b'S', b'A'] {
                check_svd(Job::Gesvd(left, right), &a);
            }
        }
    }
}

fn singular_values_of_rank_deficient_matrices<T: Precision>() {
    for (m, n) in [(4, 4), (17, 17), (20, 6), (6, 20), (150, 150)] {
        let zero = Grid::<T>::from_fn((m, n), 0, |_, _| 0.0);
        assert!(check_svd(Job::Gesdd(b'S'), &zero).iter().all(|&s| s == 0.0));

        // All ones: √(mn), then zeros.
        let ones = Grid::<T>::from_fn((m, n), 0, |_, _| 1.0);
        let values = check_svd(Job::Gesdd(b'S'), &ones);
        let largest = ((m * n) as f64).sqrt();
        assert!((values[0] - largest).abs() <= T::TOLERANCE * largest);
        assert!(values[1..].iter().all(|&s| s <= T::TOLERANCE * largest));
    }
}

#[rustfmt::skip] // The argument lists are Fortran's.
fn workspace_queries_answer_one_and_touch_nothing_else<T: Precision>() {
    let (one, zero) = (T::round(1.0), T::round(0.0));
    let mut a = vec![one; 16];
    let (mut w, mut z, mut vt) = (vec![zero; 4], vec![zero; 16], vec![zero; 16]);
    let (mut support, mut found, mut info) = ([0; 8], 7, 99);
    for (lwork, liwork) in [(-1, -1), (-1, 1), (1, -1)] {
        let (mut work, mut iwork) = ([zero], [0]);
        unsafe {
            T::SYEVR(
                b'V', b'A', b'U', 4, &mut a, 4, zero, zero, 0, 0, zero, &mut found, &mut w,
                &mut z, 4, &mut support, &mut work, lwork, &mut iwork, liwork, &mut info,
            );
        }
        assert_eq!((work[0], iwork[0], info), (one, 1, 0));
    }
    let mut work = [zero];
    unsafe {
        T::GESDD(
            b'S', 4, 4, &mut a, 4, &mut w, &mut z, 4, &mut vt, 4, &mut work, -1, &mut [0; 32],
            &mut info,
        );
    }
    assert_eq!((work[0], info), (one, 0));
    let mut work = [zero];
    unsafe {
        T::GESVD(
            b'S', b'S', 4, 4, &mut a, 4, &mut w, &mut z, 4, &mut vt, 4, &mut work, -1, &mut info,
        );
    }
    assert_eq!((work[0], info), (one, 0));

    assert!(a.iter().all(|&x| x == one));
    assert!(w.iter().chain(&z).chain(&vt).all(|&x| x == zero));
    assert_eq!((found, support), (7, [0; 8]));
}

#[rustfmt::skip] // The argument lists are Fortran's.
fn illegal_arguments_are_named<T: Precision>() {
    let zero = T::round(0.0);
    let mut a = vec![T::round(1.0); 16];
    let (mut w, mut z, mut vt) = (vec![zero; 4], vec![zero; 16], vec![zero; 16]);
    let (mut work, mut iwork, mut support) = ([zero], [0], [0; 8]);
    let (mut found, mut info) = (0, 0);

    // jobz, range, uplo, n, lda, ldz, lwork, liwork, info
    for (jobz, range, uplo, n, lda, ldz, lwork, liwork, expected) in [
        (b'X', b'A', b'U', 4, 4, 4, 1, 1, -1),
        (b'V', b'I', b'U', 4, 4, 4, 1, 1, -2),
        (b'V', b'A', b'X', 4, 4, 4, 1, 1, -3),
        (b'V', b'A', b'U', -1, 4, 4, 1, 1, -4),
        (b'V', b'A', b'U', 4, 3, 4, 1, 1, -6),
        (b'V', b'A', b'U', 4, 4, 3, 1, 1, -15),
        (b'N', b'A', b'U', 4, 4, 0, 1, 1, -15),
        (b'V', b'A', b'U', 4, 4, 4, 0, 1, -18),
        (b'V', b'A', b'U', 4, 4, 4, 1, 0, -20),
    ] {
        unsafe {
            T::SYEVR(
                jobz, range, uplo, n, &mut a, lda, zero, zero, 0, 0, zero, &mut found, &mut w,
                &mut z, ldz, &mut support, &mut work, lwork, &mut iwork, liwork, &mut info,
            );
        }
        assert_eq!(info, expected);
    }

    // job, m, n, lda, ldu, ldvt, lwork, info of gesdd
    for (job, m, n, lda, ldu, ldvt, lwork, expected) in [
        (b'O', 4, 4, 4, 4, 4, 1, -1),
        (b'S', -1, 4, 4, 4, 4, 1, -2),
        (b'S', 4, -1, 4, 4, 4, 1, -3),
        (b'S', 4, 4, 3, 4, 4, 1, -5),
        (b'S', 4, 4, 4, 3, 4, 1, -8),
        (b'N', 4, 4, 4, 0, 4, 1, -8),
        (b'S', 4, 4, 4, 4, 3, 1, -10),
        (b'A', 2, 4, 4, 4, 3, 1, -10),
        (b'N', 4, 4, 4, 1, 0, 1, -10),
        (b'S', 4, 4, 4, 4, 4, 0, -12),
    ] {
        unsafe {
            T::GESDD(
                job, m, n, &mut a, lda, &mut w, &mut z, ldu, &mut vt, ldvt, &mut work, lwork,
                &mut iwork, &mut info,
            );
            assert_eq!(info, expected);
            T::GESVD(
                job, job, m, n, &mut a, lda, &mut w, &mut z, ldu, &mut vt, ldvt, &mut work, lwork,
                &mut info,
            );
        }
        // The second letter moves every later position by one.
        assert_eq!(info, if expected == -1 { -1 } else { expected - 1 });
    }
    unsafe {
        T::GESVD(
            b'S', b'O', 4, 4, &mut a, 4, &mut w, &mut z, 4, &mut vt, 4, &mut work, 1, &mut info,
        );
    }
    assert_eq!(info, -2);
}

fn a_matrix_that_is_not_finite_is_refused<T: Precision>() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut a = Grid::<T>::random_symmetric(5, 0, 1);
        a.set(1, 3, bad);
        a.set(3, 1, bad);
        assert_eq!(syevr(b'N', b'U', &a).info, -5);
        assert_eq!(svd(Job::Gesdd(b'S'), &a).info, -4);
        assert_eq!(svd(Job::Gesvd(b'S', b'S'), &a).info, -5);
    }
}
