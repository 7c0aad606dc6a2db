//! `potrf`, `potrs`.

use crate::grid::{Grid, in_triangle, product};
use crate::precision::{Precision, in_both_precisions};

/// 150 passes the size at which the factorization goes by blocks.
const SIZES: [usize; 6] = [0, 1, 2, 8, 17, 150];

in_both_precisions! {
    the_factor_multiplies_back_and_solves
    the_first_bad_pivot_is_named
    illegal_arguments_are_named
}

fn potrf<T: Precision>(uplo: u8, a: &mut Grid<T>) -> i32 {
    let (n, ld, mut info) = (a.rows as i32, a.ld(), 99);
    unsafe { T::POTRF(uplo, n, &mut a.data, ld, &mut info) };
    info
}

fn potrs<T: Precision>(uplo: u8, factor: &Grid<T>, b: &mut Grid<T>) -> i32 {
    let (n, nrhs, ldb, mut info) = (b.rows as i32, b.cols as i32, b.ld(), 99);
    unsafe {
        T::POTRS(
            uplo,
            n,
            nrhs,
            &factor.data,
            factor.ld(),
            &mut b.data,
            ldb,
            &mut info,
        )
    };
    info
}

fn the_factor_multiplies_back_and_solves<T: Precision>() {
    for uplo in [b'U', b'L'] {
        for n in SIZES {
            for padding in [0, 3] {
                let a = Grid::<T>::random_definite(n, padding, 1);
                let mut factor = a.only(uplo);
                assert_eq!(potrf(uplo, &mut factor), 0);

                // L, from either triangle.
                let lower = |i: usize, k: usize| match (i >= k, uplo) {
                    (false, _) => 0.0,
                    (true, b'L') => factor.at(i, k),
                    (true, _) => factor.at(k, i),
                };
                let back = product((n, n, n), lower, |k, j| lower(j, k));
                a.assert_close("L L'", |i, j| back[i + j * n]);
                // The other triangle still holds the NaN, the padding its number.
                factor.assert_close("other triangle", |i, j| {
                    if in_triangle(uplo, i, j) {
                        factor.at(i, j)
                    } else {
                        f64::NAN
                    }
                });

                let b = Grid::<T>::random((n, 3), padding, 2);
                let mut x = b.clone();
                assert_eq!(potrs(uplo, &factor, &mut x), 0);
                let ax = product((n, 3, n), |i, k| a.at(i, k), |k, j| x.at(k, j));
                b.assert_close("A x", |i, j| ax[i + j * n]);
                x.assert_close("padding of x", |i, j| x.at(i, j));
            }
        }
    }
}

fn the_first_bad_pivot_is_named<T: Precision>() {
    for uplo in [b'U', b'L'] {
        for (n, bad) in [(1, 0), (8, 0), (8, 5), (150, 70), (150, 140)] {
            for pivot in [-1.0, 0.0, f64::NAN] {
                let mut a = Grid::<T>::from_fn((n, n), 2, |i, j| f64::from(u8::from(i == j)));
                a.set(bad, bad, pivot);
                let before = format!("{a:?}");
                assert_eq!(potrf(uplo, &mut a), bad as i32 + 1, "{n} {bad} {pivot}");
                assert_eq!(format!("{a:?}"), before, "a refused matrix stays");
            }
        }
    }
}

fn illegal_arguments_are_named<T: Precision>() {
    let mut a = Grid::<T>::random_definite(4, 0, 1);
    let mut b = Grid::<T>::random((4, 2), 0, 2);
    let mut info = 0;
    for (uplo, n, lda, expected) in [(b'X', 4, 4, -1), (b'L', -1, 4, -2), (b'L', 4, 3, -4)] {
        unsafe { T::POTRF(uplo, n, &mut a.data, lda, &mut info) };
        assert_eq!(info, expected);
    }
    for (uplo, n, nrhs, lda, ldb, expected) in [
        (b'X', 4, 2, 4, 4, -1),
        (b'L', -1, 2, 4, 4, -2),
        (b'L', 4, -1, 4, 4, -3),
        (b'L', 4, 2, 3, 4, -5),
        (b'L', 4, 2, 4, 3, -7),
    ] {
        unsafe { T::POTRS(uplo, n, nrhs, &a.data, lda, &mut b.data, ldb, &mut info) };
        assert_eq!(info, expected);
    }
}
