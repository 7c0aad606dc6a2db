//! Products: `gemm`, `gemv`, `symv`, `syrk`, `syr2k`.
//!
//! Each adds α times a product to β times its target. As in BLAS, a target with β = 0 and factors
//! with α = 0 are not read, so that a NaN in them does no harm.

use std::ffi::c_char;
use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::reborrow::ReborrowMut;
use faer::{Accum, MatMut, MatRef, Par};
use faer_traits::math_utils::{one, zero};

use crate::arguments::{
    Operation, Outcome, Real, Source, Target, Triangle, report, size, vector, vector_mut, view,
    view_mut,
};

/// C ← α op(A) op(B) + β C.
unsafe fn gemm<T: Real>(
    transa: c_char,
    transb: c_char,
    (m, n, k): (i32, i32, i32),
    alpha: T,
    a: Source<T>,
    b: Source<T>,
    beta: T,
    c: Target<T>,
) -> Outcome {
    let op_a = Operation::read(transa, 1)?;
    let op_b = Operation::read(transb, 2)?;
    let (m, n, k) = (size(m, 3)?, size(n, 4)?, size(k, 5)?);
    let a = unsafe { op_a.view(a, m, k, 8) }?;
    let b = unsafe { op_b.view(b, k, n, 10) }?;
    let mut c = unsafe { view_mut(c, m, n, 13) }?;

    scale(c.rb_mut(), |_| 0..m, beta);
    if alpha != zero() {
        matmul(c, Accum::Add, a, b, alpha, Par::Seq);
    }
    Ok(())
}

/// y ← α op(A) x + β y, with A of m × n.
unsafe fn gemv<T: Real>(
    trans: c_char,
    (m, n): (i32, i32),
    alpha: T,
    a: Source<T>,
    x: Source<T>,
    beta: T,
    y: Target<T>,
) -> Outcome {
    let op = Operation::read(trans, 1)?;
    let (m, n) = (size(m, 2)?, size(n, 3)?);
    // The shape of op(A).
    let (rows, cols) = match op {
        Operation::Plain => (m, n),
        Operation::Transposed => (n, m),
    };
    let a = unsafe { op.view(a, rows, cols, 6) }?;
    let x = unsafe { vector(x, cols, 8) }?;
    let mut y = unsafe { vector_mut(y, rows, 11) }?;

    scale(y.rb_mut().as_mat_mut(), |_| 0..rows, beta);
    if alpha != zero() {
        matmul(y.as_mat_mut(), Accum::Add, a, x.as_mat(), alpha, Par::Seq);
    }
    Ok(())
}

/// y ← α A x + β y, with A symmetric.
unsafe fn symv<T: Real>(
    uplo: c_char,
    n: i32,
    alpha: T,
    a: Source<T>,
    x: Source<T>,
    beta: T,
    y: Target<T>,
) -> Outcome {
    let triangle = Triangle::read(uplo, 1)?;
    let n = size(n, 2)?;
    let lower = triangle.as_lower(unsafe { view(a, n, n, 5) }?);
    let x = unsafe { vector(x, n, 7) }?.as_mat();
    let mut y = unsafe { vector_mut(y, n, 10) }?.as_mat_mut();

    scale(y.rb_mut(), |_| 0..n, beta);
    if alpha != zero() {
        // A = L + (strict L)'.
        for (half, structure) in [
            (lower, BlockStructure::TriangularLower),
            (lower.transpose(), BlockStructure::StrictTriangularUpper),
        ] {
            triangular::matmul(
                y.rb_mut(),
                BlockStructure::Rectangular,
                Accum::Add,
                half,
                structure,
                x,
                BlockStructure::Rectangular,
                alpha,
                Par::Seq,
            );
        }
    }
    Ok(())
}

/// C ← α op(A) op(A)' + β C on one triangle of C, with op(A) of n × k.
unsafe fn syrk<T: Real>(
    uplo: c_char,
    trans: c_char,
    (n, k): (i32, i32),
    alpha: T,
    a: Source<T>,
    beta: T,
    c: Target<T>,
) -> Outcome {
    let triangle = Triangle::read(uplo, 1)?;
    let op = Operation::read(trans, 2)?;
    let (n, k) = (size(n, 3)?, size(k, 4)?);
    let a = unsafe { op.view(a, n, k, 7) }?;
    let mut c = unsafe { view_mut(c, n, n, 10) }?;

    scale(c.rb_mut(), |j| triangle.rows(j, n), beta);
    add_on_triangle(triangle, c, alpha, a, a.transpose());
    Ok(())
}

/// C ← α (op(A) op(B)' + op(B) op(A)') + β C on one triangle of C, with op(A), op(B) of n × k.
unsafe fn syr2k<T: Real>(
    uplo: c_char,
    trans: c_char,
    (n, k): (i32, i32),
    alpha: T,
    a: Source<T>,
    b: Source<T>,
    beta: T,
    c: Target<T>,
) -> Outcome {
    let triangle = Triangle::read(uplo, 1)?;
    let op = Operation::read(trans, 2)?;
    let (n, k) = (size(n, 3)?, size(k, 4)?);
    let a = unsafe { op.view(a, n, k, 7) }?;
    let b = unsafe { op.view(b, n, k, 9) }?;
    let mut c = unsafe { view_mut(c, n, n, 12) }?;

    scale(c.rb_mut(), |j| triangle.rows(j, n), beta);
    add_on_triangle(triangle, c.rb_mut(), alpha, a, b.transpose());
    add_on_triangle(triangle, c, alpha, b, a.transpose());
    Ok(())
}

/// C ← β C on the given rows of each column.
fn scale<T: Real>(mut c: MatMut<'_, T>, rows: impl Fn(usize) -> Range<usize>, beta: T) {
    if beta == one() {
        return;
    }
    for j in 0..c.ncols() {
        for i in rows(j) {
            c[(i, j)] = if beta == zero() {
                zero()
            } else {
                beta * c[(i, j)]
            };
        }
    }
}

/// C ← C + α A B on one triangle of C.
fn add_on_triangle<T: Real>(
    triangle: Triangle,
    c: MatMut<'_, T>,
    alpha: T,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
) {
    if alpha == zero() {
        return;
    }
    let structure = match triangle {
        Triangle::Upper => BlockStructure::TriangularUpper,
        Triangle::Lower => BlockStructure::TriangularLower,
    };
    triangular::matmul(
        c,
        structure,
        Accum::Add,
        a,
        BlockStructure::Rectangular,
        b,
        BlockStructure::Rectangular,
        alpha,
        Par::Seq,
    );
}

macro_rules! symbols {
    ($T:ty: $gemm:ident, $gemv:ident, $symv:ident, $syrk:ident, $syr2k:ident) => {
        hidden!($gemm, $gemv, $symv, $syrk, $syr2k);

        /// C ← α op(A) op(B) + β C, with op(A) of m × k and op(B) of k × n.
        ///
        /// # Safety
        /// All pointers are valid; A, B and C hold the columns that their sizes and leading
        /// dimensions say; C overlaps neither A nor B.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $gemm(
            transa: *const c_char,
            transb: *const c_char,
            m: *const i32,
            n: *const i32,
            k: *const i32,
            alpha: *const $T,
            a: *const $T,
            lda: *const i32,
            b: *const $T,
            ldb: *const i32,
            beta: *const $T,
            c: *mut $T,
            ldc: *const i32,
        ) {
            let outcome = unsafe {
                let sizes = (*m, *n, *k);
                let (a, b, c) = ((a, *lda), (b, *ldb), (c, *ldc));
                gemm(*transa, *transb, sizes, *alpha, a, b, *beta, c)
            };
            report(stringify!($gemm), outcome);
        }

        /// y ← α op(A) x + β y, with A of m × n.
        ///
        /// # Safety
        /// All pointers are valid; A holds the columns that its sizes and leading dimension say, x
        /// and y the numbers that theirs and their increments say; y overlaps neither A nor x.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $gemv(
            trans: *const c_char,
            m: *const i32,
            n: *const i32,
            alpha: *const $T,
            a: *const $T,
            lda: *const i32,
            x: *const $T,
            incx: *const i32,
            beta: *const $T,
            y: *mut $T,
            incy: *const i32,
        ) {
            let outcome = unsafe {
                let (a, x, y) = ((a, *lda), (x, *incx), (y, *incy));
                gemv(*trans, (*m, *n), *alpha, a, x, *beta, y)
            };
            report(stringify!($gemv), outcome);
        }

        /// y ← α A x + β y, with A symmetric of n × n, stored in one triangle.
        ///
        /// # Safety
        /// All pointers are valid; A holds the columns that its size and leading dimension say, x
        /// and y the numbers that theirs and their increments say; y overlaps neither A nor x.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symv(
            uplo: *const c_char,
            n: *const i32,
            alpha: *const $T,
            a: *const $T,
            lda: *const i32,
            x: *const $T,
            incx: *const i32,
            beta: *const $T,
            y: *mut $T,
            incy: *const i32,
        ) {
            let outcome = unsafe {
                let (a, x, y) = ((a, *lda), (x, *incx), (y, *incy));
                symv(*uplo, *n, *alpha, a, x, *beta, y)
            };
            report(stringify!($symv), outcome);
        }

        /// C ← α op(A) op(A)' + β C on one triangle of C, with op(A) of n × k.
        ///
        /// # Safety
        /// All pointers are valid; A and C hold the columns that their sizes and leading dimensions
        /// say; C does not overlap A.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $syrk(
            uplo: *const c_char,
            trans: *const c_char,
            n: *const i32,
            k: *const i32,
            alpha: *const $T,
            a: *const $T,
            lda: *const i32,
            beta: *const $T,
            c: *mut $T,
            ldc: *const i32,
        ) {
            let outcome = unsafe {
                let (a, c) = ((a, *lda), (c, *ldc));
                syrk(*uplo, *trans, (*n, *k), *alpha, a, *beta, c)
            };
            report(stringify!($syrk), outcome);
        }

        /// C ← α (op(A) op(B)' + op(B) op(A)') + β C on one triangle of C, with op(A) and op(B) of
        /// n × k.
        ///
        /// # Safety
        /// All pointers are valid; A, B and C hold the columns that their sizes and leading
        /// dimensions say; C overlaps neither A nor B.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $syr2k(
            uplo: *const c_char,
            trans: *const c_char,
            n: *const i32,
            k: *const i32,
            alpha: *const $T,
            a: *const $T,
            lda: *const i32,
            b: *const $T,
            ldb: *const i32,
            beta: *const $T,
            c: *mut $T,
            ldc: *const i32,
        ) {
            let outcome = unsafe {
                let (a, b, c) = ((a, *lda), (b, *ldb), (c, *ldc));
                syr2k(*uplo, *trans, (*n, *k), *alpha, a, b, *beta, c)
            };
            report(stringify!($syr2k), outcome);
        }
    };
}

symbols!(f64: dgemm_, dgemv_, dsymv_, dsyrk_, dsyr2k_);
symbols!(f32: sgemm_, sgemv_, ssymv_, ssyrk_, ssyr2k_);
