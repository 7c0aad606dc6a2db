//! `gemm`, `gemv`, `symv`, `syrk`, `syr2k`.

use crate::grid::{Grid, in_triangle, product};
use crate::precision::{Precision, in_both_precisions};

const SIZES: [usize; 5] = [0, 1, 2, 8, 17];
const PADDINGS: [usize; 2] = [0, 3];
const BETAS: [f64; 3] = [0.0, 1.0, 0.5];
const ALPHA: f64 = 0.75;

in_both_precisions! {
    gemm_multiplies_in_all_four_orientations
    gemv_multiplies_with_any_increment
    symv_reads_one_triangle
    syrk_writes_one_triangle
    syr2k_writes_one_triangle
    a_zero_beta_does_not_read_the_target
    a_zero_alpha_does_not_read_the_factors
    an_illegal_argument_leaves_the_target
}

/// A grid whose op(A) has the given shape.
fn operand<T: Precision>(
    trans: u8,
    (rows, cols): (usize, usize),
    padding: usize,
    seed: u64,
) -> Grid<T> {
    match trans {
        b'N' => Grid::random((rows, cols), padding, seed),
        _ => Grid::random((cols, rows), padding, seed),
    }
}

/// Entry (i, j) of op(A).
fn entry<T: Precision>(trans: u8, a: &Grid<T>) -> impl Fn(usize, usize) -> f64 {
    move |i, j| {
        if trans == b'N' {
            a.at(i, j)
        } else {
            a.at(j, i)
        }
    }
}

fn gemm_multiplies_in_all_four_orientations<T: Precision>() {
    // Lower case letters and 'C' are legal too.
    let letters = [(b'N', b'N'), (b'T', b'n'), (b'N', b't'), (b'C', b'T')];
    for (ta, tb) in letters {
        let (ta_, tb_) = (ta.to_ascii_uppercase(), tb.to_ascii_uppercase());
        for (m, n, k) in shapes() {
            for padding in PADDINGS {
                for beta in BETAS {
                    let a = operand::<T>(ta_, (m, k), padding, 1);
                    let b = operand::<T>(tb_, (k, n), padding, 2);
                    let before = Grid::<T>::random((m, n), padding, 3);
                    let (mut c, ldc) = (before.clone(), before.ld());
                    unsafe {
                        T::GEMM(
                            ta,
                            tb,
                            m as i32,
                            n as i32,
                            k as i32,
                            T::round(ALPHA),
                            &a.data,
                            a.ld(),
                            &b.data,
                            b.ld(),
                            T::round(beta),
                            &mut c.data,
                            ldc,
                        );
                    }
                    let ab = product((m, n, k), entry(ta_, &a), entry(tb_, &b));
                    let context = format!("{ta}{tb} {m}x{n}x{k} padding {padding} beta {beta}");
                    c.assert_close(&context, |i, j| {
                        ALPHA * ab[i + j * m] + beta * before.at(i, j)
                    });
                }
            }
        }
    }
}

/// Every size with itself, and every pair with an odd third.
fn shapes() -> Vec<(usize, usize, usize)> {
    let mut shapes = Vec::new();
    for m in SIZES {
        for n in SIZES {
            shapes.extend([(m, n, 5), (m, 3, n), (4, m, n)]);
        }
        shapes.push((m, m, m));
    }
    shapes
}

/// The numbers a BLAS routine sees in a vector with an increment.
fn strided(data: &[f64], increment: i32, n: usize) -> Vec<f64> {
    let step = increment.unsigned_abs() as usize;
    let mut seen: Vec<f64> = (0..n).map(|i| data[i * step]).collect();
    if increment < 0 {
        seen.reverse();
    }
    seen
}

fn as_f64<T: Precision>(data: &[T]) -> Vec<f64> {
    data.iter().map(|&x| x.into()).collect()
}

fn gemv_multiplies_with_any_increment<T: Precision>() {
    for trans in [b'N', b'T'] {
        for m in SIZES {
            for n in SIZES {
                for (incx, incy) in [(1, 1), (2, 1), (1, 3), (-1, 1), (1, -2)] {
                    for beta in BETAS {
                        let (rows, cols) = if trans == b'N' { (m, n) } else { (n, m) };
                        let a = Grid::<T>::random((m, n), 2, 1);
                        let x = Grid::<T>::random((2 * cols, 1), 0, 2);
                        let before = Grid::<T>::random((3 * rows, 1), 0, 3);
                        let mut y = before.clone();
                        unsafe {
                            T::GEMV(
                                trans,
                                m as i32,
                                n as i32,
                                T::round(ALPHA),
                                &a.data,
                                a.ld(),
                                &x.data,
                                incx,
                                T::round(beta),
                                &mut y.data,
                                incy,
                            );
                        }
                        let seen = strided(&as_f64(&x.data), incx, cols);
                        let old = strided(&as_f64(&before.data), incy, rows);
                        let new = strided(&as_f64(&y.data), incy, rows);
                        let ax = product((rows, 1, cols), entry(trans, &a), |l, _| seen[l]);
                        for i in 0..rows {
                            let expected = ALPHA * ax[i] + beta * old[i];
                            assert!(
                                (new[i] - expected).abs() <= T::TOLERANCE,
                                "{trans} {m}x{n} increments {incx} {incy} beta {beta} at {i}"
                            );
                        }
                        for (i, (after, before)) in y.data.iter().zip(&before.data).enumerate() {
                            let step = incy.unsigned_abs() as usize;
                            if i % step != 0 || i / step >= rows {
                                assert_eq!(after, before, "written between the increments");
                            }
                        }
                    }
                }
            }
        }
    }
}

fn symv_reads_one_triangle<T: Precision>() {
    for uplo in [b'U', b'L'] {
        for n in SIZES {
            for padding in PADDINGS {
                for beta in BETAS {
                    let full = Grid::<T>::random_symmetric(n, padding, 1);
                    let a = full.only(uplo);
                    let x = Grid::<T>::random((n, 1), 0, 2);
                    let before = Grid::<T>::random((n, 1), 0, 3);
                    let mut y = before.clone();
                    unsafe {
                        T::SYMV(
                            uplo,
                            n as i32,
                            T::round(ALPHA),
                            &a.data,
                            a.ld(),
                            &x.data,
                            1,
                            T::round(beta),
                            &mut y.data,
                            1,
                        );
                    }
                    let ax = product((n, 1, n), entry(b'N', &full), entry(b'N', &x));
                    y.assert_close(&format!("{uplo} {n} beta {beta}"), |i, _| {
                        ALPHA * ax[i] + beta * before.at(i, 0)
                    });
                }
            }
        }
    }
}

/// Runs a symmetric update in every configuration; `update(uplo, trans, n, k, alpha, beta, c)`
/// answers the full matrix that it added, divided by α.
fn check_symmetric_update<T: Precision>(
    mut update: impl FnMut((u8, u8), (usize, usize), usize, f64, &mut Grid<T>) -> Vec<f64>,
) {
    for uplo in [b'U', b'L'] {
        for trans in [b'N', b'T'] {
            for n in SIZES {
                for k in SIZES {
                    for padding in PADDINGS {
                        for beta in BETAS {
                            let before = Grid::<T>::random((n, n), padding, 3);
                            let mut c = before.clone();
                            let added = update((uplo, trans), (n, k), padding, beta, &mut c);
                            let context = format!("{uplo}{trans} {n}x{k} {padding} beta {beta}");
                            c.assert_close(&context, |i, j| {
                                if in_triangle(uplo, i, j) {
                                    ALPHA * added[i + j * n] + beta * before.at(i, j)
                                } else {
                                    before.at(i, j)
                                }
                            });
                        }
                    }
                }
            }
        }
    }
}

fn syrk_writes_one_triangle<T: Precision>() {
    check_symmetric_update::<T>(|(uplo, trans), (n, k), padding, beta, c| {
        let a = operand::<T>(trans, (n, k), padding, 1);
        let ldc = c.ld();
        unsafe {
            T::SYRK(
                uplo,
                trans,
                n as i32,
                k as i32,
                T::round(ALPHA),
                &a.data,
                a.ld(),
                T::round(beta),
                &mut c.data,
                ldc,
            );
        }
        let a = entry(trans, &a);
        product((n, n, k), &a, |l, j| a(j, l))
    });
}

fn syr2k_writes_one_triangle<T: Precision>() {
    check_symmetric_update::<T>(|(uplo, trans), (n, k), padding, beta, c| {
        let a = operand::<T>(trans, (n, k), padding, 1);
        let b = operand::<T>(trans, (n, k), padding, 2);
        let ldc = c.ld();
        unsafe {
            T::SYR2K(
                uplo,
                trans,
                n as i32,
                k as i32,
                T::round(ALPHA),
                &a.data,
                a.ld(),
                &b.data,
                b.ld(),
                T::round(beta),
                &mut c.data,
                ldc,
            );
        }
        let (a, b) = (entry(trans, &a), entry(trans, &b));
        let ab = product((n, n, k), &a, |l, j| b(j, l));
        (0..n * n)
            .map(|at| ab[at] + ab[at / n + at % n * n])
            .collect()
    });
}

fn a_zero_beta_does_not_read_the_target<T: Precision>() {
    let (a, n) = (Grid::<T>::random((4, 4), 0, 1), 4);
    let (one, zero) = (T::round(1.0), T::round(0.0));
    let nan = || vec![T::round(f64::NAN); 16];

    let mut c = nan();
    unsafe {
        T::GEMM(
            b'N', b'N', n, n, n, one, &a.data, n, &a.data, n, zero, &mut c, n,
        )
    };
    assert!(as_f64(&c).iter().all(|x| x.is_finite()));

    let mut y = nan();
    unsafe { T::GEMV(b'N', n, n, one, &a.data, n, &a.data, 1, zero, &mut y, 1) };
    assert!(as_f64(&y[..4]).iter().all(|x| x.is_finite()));

    let mut y = nan();
    unsafe { T::SYMV(b'U', n, one, &a.data, n, &a.data, 1, zero, &mut y, 1) };
    assert!(as_f64(&y[..4]).iter().all(|x| x.is_finite()));

    let mut c = Grid::<T>::from_fn((4, 4), 0, |_, _| f64::NAN);
    unsafe { T::SYRK(b'U', b'N', n, n, one, &a.data, n, zero, &mut c.data, n) };
    assert!((0..4).all(|j| (0..4).all(|i| c.at(i, j).is_finite() == (i <= j))));
}

fn a_zero_alpha_does_not_read_the_factors<T: Precision>() {
    let (nan, n) = (vec![T::round(f64::NAN); 16], 4);
    let (zero, half) = (T::round(0.0), T::round(0.5));
    let before = Grid::<T>::random((4, 4), 0, 1);

    let mut c = before.clone();
    unsafe {
        T::GEMM(
            b'N',
            b'N',
            n,
            n,
            n,
            zero,
            &nan,
            n,
            &nan,
            n,
            half,
            &mut c.data,
            n,
        )
    };
    c.assert_close("gemm", |i, j| 0.5 * before.at(i, j));

    let mut c = before.clone();
    unsafe {
        T::SYR2K(
            b'U',
            b'N',
            n,
            n,
            zero,
            &nan,
            n,
            &nan,
            n,
            half,
            &mut c.data,
            n,
        )
    };
    c.assert_close("syr2k", |i, j| {
        before.at(i, j) * if i <= j { 0.5 } else { 1.0 }
    });

    let mut y = before.clone();
    unsafe { T::GEMV(b'T', n, n, zero, &nan, n, &nan, 1, half, &mut y.data, 1) };
    y.assert_close("gemv", |i, j| {
        before.at(i, j) * if j == 0 { 0.5 } else { 1.0 }
    });
}

fn an_illegal_argument_leaves_the_target<T: Precision>() {
    let (a, n) = (Grid::<T>::random((4, 4), 0, 1), 4);
    let one = T::round(1.0);
    let mut c = a.clone();
    // A letter that is none, a negative size, a leading dimension below the rows.
    for (letter, size, ld) in [(b'X', n, n), (b'N', -1, n), (b'N', n, n - 1)] {
        unsafe {
            T::GEMM(
                letter,
                b'N',
                size,
                n,
                n,
                one,
                &a.data,
                ld,
                &a.data,
                n,
                one,
                &mut c.data,
                n,
            );
            T::SYRK(b'U', letter, size, n, one, &a.data, ld, one, &mut c.data, n);
            T::SYR2K(
                b'U',
                letter,
                size,
                n,
                one,
                &a.data,
                ld,
                &a.data,
                n,
                one,
                &mut c.data,
                n,
            );
            T::GEMV(
                letter,
                size,
                n,
                one,
                &a.data,
                ld,
                &a.data,
                1,
                one,
                &mut c.data,
                1,
            );
        }
    }
    // An increment of zero.
    unsafe {
        T::GEMV(b'N', n, n, one, &a.data, n, &a.data, 0, one, &mut c.data, 1);
        T::SYMV(b'U', n, one, &a.data, n, &a.data, 1, one, &mut c.data, 0);
        T::SYMV(b'X', n, one, &a.data, n, &a.data, 1, one, &mut c.data, 1);
    }
    assert_eq!(c, a);
}
