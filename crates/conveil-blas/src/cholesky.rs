//! Positive definite systems: `potrf` factors, `potrs` solves.

use std::ffi::c_char;

use faer::Par;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::reborrow::ReborrowMut;

use crate::arguments::{Info, Outcome, Real, Source, Target, Triangle, info, size, view, view_mut};

/// A = L L' (lower) or U' U (upper), the factor in place of the triangle of A.
unsafe fn potrf<T: Real>(uplo: c_char, n: i32, a: Target<T>) -> Outcome {
    let triangle = Triangle::read(uplo, 1)?;
    let n = size(n, 2)?;
    let mut a = unsafe { view_mut(a, n, n, 4) }?;

    // faer scribbles on the other triangle, which the caller may use (Clarabel reads L as a full
    // square with zeros above): the work happens on a copy.
    let mut factor = triangle.as_lower(a.as_ref()).to_owned();
    let scratch = cholesky_in_place_scratch::<T>(n, Par::Seq, Default::default());
    let result = cholesky_in_place(
        factor.as_mut(),
        Default::default(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    );
    if let Err(LltError::NonPositivePivot { index }) = result {
        return Err(Info::numerical(index as i32 + 1));
    }

    let factor = triangle.as_lower(factor.as_ref());
    for j in 0..n {
        for i in triangle.rows(j, n) {
            a[(i, j)] = factor[(i, j)];
        }
    }
    Ok(())
}

/// B ← A⁻¹ B, with the factor of A that `potrf` left.
unsafe fn potrs<T: Real>(
    uplo: c_char,
    (n, nrhs): (i32, i32),
    a: Source<T>,
    b: Target<T>,
) -> Outcome {
    let triangle = Triangle::read(uplo, 1)?;
    let (n, nrhs) = (size(n, 2)?, size(nrhs, 3)?);
    let lower = triangle.as_lower(unsafe { view(a, n, n, 5) }?);
    let mut b = unsafe { view_mut(b, n, nrhs, 7) }?;

    solve_lower_triangular_in_place(lower, b.rb_mut(), Par::Seq);
    solve_upper_triangular_in_place(lower.transpose(), b, Par::Seq);
    Ok(())
}

macro_rules! symbols {
    ($T:ty: $potrf:ident, $potrs:ident) => {
        hidden!($potrf, $potrs);

        /// Cholesky factor of a positive definite matrix, in place of its triangle; the other
        /// triangle is neither read nor written. `info` = i > 0: the leading minor of order i is
        /// not positive.
        ///
        /// # Safety
        /// All pointers are valid; A holds the columns that its size and leading dimension say.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $potrf(
            uplo: *const c_char,
            n: *const i32,
            a: *mut $T,
            lda: *const i32,
            info_: *mut i32,
        ) {
            unsafe { *info_ = info(potrf(*uplo, *n, (a, *lda))) }
        }

        /// B ← A⁻¹ B, with the Cholesky factor of A.
        ///
        /// # Safety
        /// All pointers are valid; A and B hold the columns that their sizes and leading dimensions
        /// say; B does not overlap A.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $potrs(
            uplo: *const c_char,
            n: *const i32,
            nrhs: *const i32,
            a: *const $T,
            lda: *const i32,
            b: *mut $T,
            ldb: *const i32,
            info_: *mut i32,
        ) {
            unsafe { *info_ = info(potrs(*uplo, (*n, *nrhs), (a, *lda), (b, *ldb))) }
        }
    };
}

symbols!(f64: dpotrf_, dpotrs_);
symbols!(f32: spotrf_, spotrs_);
