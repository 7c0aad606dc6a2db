//! General square systems: `gesv`.

use faer::linalg::triangular_solve::{
    solve_unit_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::reborrow::ReborrowMut;
use faer::{MatMut, Par};
use faer_traits::math_utils::{abs, zero};

use crate::arguments::{Info, Outcome, Real, Target, info, size, view_mut};

/// B ← A⁻¹ B by P A = L U, the factors in place of A; B stays as it was when A is singular.
unsafe fn gesv<T: Real>(
    (n, nrhs): (i32, i32),
    a: Target<T>,
    ipiv: *mut i32,
    b: Target<T>,
) -> Outcome {
    let (n, nrhs) = (size(n, 1)?, size(nrhs, 2)?);
    let mut a = unsafe { view_mut(a, n, n, 4) }?;
    let mut b = unsafe { view_mut(b, n, nrhs, 7) }?;

    let mut singular = None;
    let mut pivots = Vec::with_capacity(n);
    for k in 0..n {
        let pivot = largest_below(&a, k);
        swap_rows(a.rb_mut(), k, pivot);
        pivots.push(pivot);
        // Rows count from 1 in Fortran.
        unsafe { *ipiv.add(k) = pivot as i32 + 1 };
        if a[(k, k)] == zero() {
            singular = singular.or(Some(k));
        } else {
            eliminate(a.rb_mut(), k);
        }
    }
    if let Some(k) = singular {
        return Err(Info::numerical(k as i32 + 1));
    }

    for (k, &pivot) in pivots.iter().enumerate() {
        swap_rows(b.rb_mut(), k, pivot);
    }
    solve_unit_lower_triangular_in_place(a.as_ref(), b.rb_mut(), Par::Seq);
    solve_upper_triangular_in_place(a.as_ref(), b, Par::Seq);
    Ok(())
}

/// The row of the largest entry of column `k`, on the diagonal or below.
fn largest_below<T: Real>(a: &MatMut<'_, T>, k: usize) -> usize {
    let mut row = k;
    for i in k + 1..a.nrows() {
        if abs(&a[(i, k)]) > abs(&a[(row, k)]) {
            row = i;
        }
    }
    row
}

fn swap_rows<T: Real>(mut a: MatMut<'_, T>, i: usize, k: usize) {
    for j in 0..a.ncols() {
        let held = a[(i, j)];
        a[(i, j)] = a[(k, j)];
        a[(k, j)] = held;
    }
}

/// Column `k` of L below the diagonal, and what it takes away from the rest of A.
fn eliminate<T: Real>(mut a: MatMut<'_, T>, k: usize) {
    let n = a.nrows();
    for i in k + 1..n {
        a[(i, k)] = a[(i, k)] / a[(k, k)];
    }
    for j in k + 1..n {
        for i in k + 1..n {
            a[(i, j)] = a[(i, j)] - a[(i, k)] * a[(k, j)];
        }
    }
}

macro_rules! symbols {
    ($T:ty: $gesv:ident) => {
        hidden!($gesv);

        /// B ← A⁻¹ B, with the factors of P A = L U left in A and the row exchanges in `ipiv`.
        /// `info` = i > 0: the i-th pivot is zero, and B stays as it was.
        ///
        /// # Safety
        /// All pointers are valid; A and B hold the columns that their sizes and leading dimensions
        /// say, `ipiv` n numbers; no output overlaps another argument.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $gesv(
            n: *const i32,
            nrhs: *const i32,
            a: *mut $T,
            lda: *const i32,
            ipiv: *mut i32,
            b: *mut $T,
            ldb: *const i32,
            info_: *mut i32,
        ) {
            unsafe { *info_ = info(gesv((*n, *nrhs), (a, *lda), ipiv, (b, *ldb))) }
        }
    };
}

symbols!(f64: dgesv_);
symbols!(f32: sgesv_);
