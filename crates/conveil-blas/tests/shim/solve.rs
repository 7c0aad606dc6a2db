//! `gesv`.

use crate::grid::{Grid, product};
use crate::precision::{Precision, in_both_precisions};

in_both_precisions! {
    the_solution_and_the_factors_multiply_back
    a_singular_matrix_is_refused_at_its_first_zero_pivot
    illegal_arguments_are_named
}

fn the_solution_and_the_factors_multiply_back<T: Precision>() {
    for n in [0, 1, 2, 8, 17] {
        for nrhs in [0, 1, 3] {
            for padding in [0, 3] {
                // Rotated so that the large entries lie off the diagonal and rows must move.
                let a = Grid::<T>::from_fn((n, n), padding, {
                    let noise = Grid::<T>::random((n, n), 0, 1);
                    move |i, j| noise.at(i, j) + if (i + 1) % n == j { 8.0 } else { 0.0 }
                });
                let b = Grid::<T>::random((n, nrhs), padding, 2);
                let (mut lu, mut x) = (a.clone(), b.clone());
                let (ld, ldx) = (a.ld(), b.ld());
                let (mut pivots, mut info) = (vec![0; n], 99);
                unsafe {
                    T::GESV(
                        n as i32,
                        nrhs as i32,
                        &mut lu.data,
                        ld,
                        &mut pivots,
                        &mut x.data,
                        ldx,
                        &mut info,
                    );
                }
                assert_eq!(info, 0);

                let ax = product((n, nrhs, n), |i, k| a.at(i, k), |k, j| x.at(k, j));
                b.assert_close("A x", |i, j| ax[i + j * n]);
                x.assert_close("padding of x", |i, j| x.at(i, j));

                let lower = |i: usize, k: usize| match i.cmp(&k) {
                    std::cmp::Ordering::Less => 0.0,
                    std::cmp::Ordering::Equal => 1.0,
                    std::cmp::Ordering::Greater => lu.at(i, k),
                };
                let upper = |k: usize, j: usize| if k <= j { lu.at(k, j) } else { 0.0 };
                let product_lu = product((n, n, n), lower, upper);
                let mut rows: Vec<usize> = (0..n).collect();
                for (k, &pivot) in pivots.iter().enumerate() {
                    rows.swap(k, pivot as usize - 1);
                }
                Grid::<T>::from_fn((n, n), 0, |i, j| a.at(rows[i], j))
                    .assert_close("P A = L U", |i, j| product_lu[i + j * n]);
            }
        }
    }
}

fn a_singular_matrix_is_refused_at_its_first_zero_pivot<T: Precision>() {
    // Column 2 (from 0) is zero.
    let mut a = Grid::<T>::from_fn((4, 4), 0, |i, j| f64::from(u8::from(i == j && j != 2)));
    let b = Grid::<T>::random((4, 1), 0, 1);
    let (mut x, mut pivots, mut info) = (b.clone(), [0; 4], 0);
    unsafe { T::GESV(4, 1, &mut a.data, 4, &mut pivots, &mut x.data, 4, &mut info) };
    assert_eq!(info, 3);
    assert_eq!(x, b);
}

fn illegal_arguments_are_named<T: Precision>() {
    let mut a = Grid::<T>::random((4, 4), 0, 1);
    let mut b = Grid::<T>::random((4, 2), 0, 2);
    let (mut pivots, mut info) = ([0; 4], 0);
    for (n, nrhs, lda, ldb, expected) in [
        (-1, 2, 4, 4, -1),
        (4, -1, 4, 4, -2),
        (4, 2, 3, 4, -4),
        (4, 2, 4, 3, -7),
    ] {
        unsafe {
            T::GESV(
                n,
                nrhs,
                &mut a.data,
                lda,
                &mut pivots,
                &mut b.data,
                ldb,
                &mut info,
            )
        };
        assert_eq!(info, expected);
    }
}
