//! The routines of both precisions under one name each, so that one test covers both.

use std::fmt::Debug;

/// A precision, and the wrappers through which Clarabel calls its routines.
pub trait Precision: Copy + Debug + PartialEq + From<f32> + Into<f64> {
    /// Relative error allowed to sums of a few hundred products.
    const TOLERANCE: f64;

    /// The nearest number of this precision.
    fn round(x: f64) -> Self;

    const GEMM: Gemm<Self>;
    const GEMV: Gemv<Self>;
    const SYMV: Symv<Self>;
    const SYRK: Syrk<Self>;
    const SYR2K: Syr2k<Self>;
    const POTRF: Potrf<Self>;
    const POTRS: Potrs<Self>;
    const SYEVR: Syevr<Self>;
    const GESDD: Gesdd<Self>;
    const GESVD: Gesvd<Self>;
    const GESV: Gesv<Self>;
}

pub type Gemm<T> = unsafe fn(u8, u8, i32, i32, i32, T, &[T], i32, &[T], i32, T, &mut [T], i32);
pub type Gemv<T> = unsafe fn(u8, i32, i32, T, &[T], i32, &[T], i32, T, &mut [T], i32);
pub type Symv<T> = unsafe fn(u8, i32, T, &[T], i32, &[T], i32, T, &mut [T], i32);
pub type Syrk<T> = unsafe fn(u8, u8, i32, i32, T, &[T], i32, T, &mut [T], i32);
pub type Syr2k<T> = unsafe fn(u8, u8, i32, i32, T, &[T], i32, &[T], i32, T, &mut [T], i32);
pub type Potrf<T> = unsafe fn(u8, i32, &mut [T], i32, &mut i32);
pub type Potrs<T> = unsafe fn(u8, i32, i32, &[T], i32, &mut [T], i32, &mut i32);
#[rustfmt::skip]
pub type Syevr<T> = unsafe fn(
    u8, u8, u8, i32, &mut [T], i32, T, T, i32, i32, T, &mut i32, &mut [T], &mut [T], i32,
    &mut [i32], &mut [T], i32, &mut [i32], i32, &mut i32,
);
#[rustfmt::skip]
pub type Gesdd<T> = unsafe fn(
    u8, i32, i32, &mut [T], i32, &mut [T], &mut [T], i32, &mut [T], i32, &mut [T], i32,
    &mut [i32], &mut i32,
);
#[rustfmt::skip]
pub type Gesvd<T> = unsafe fn(
    u8, u8, i32, i32, &mut [T], i32, &mut [T], &mut [T], i32, &mut [T], i32, &mut [T], i32,
    &mut i32,
);
pub type Gesv<T> = unsafe fn(i32, i32, &mut [T], i32, &mut [i32], &mut [T], i32, &mut i32);

impl Precision for f64 {
    const TOLERANCE: f64 = 1e-11;

    fn round(x: f64) -> Self {
        x
    }

    const GEMM: Gemm<Self> = blas::dgemm;
    const GEMV: Gemv<Self> = blas::dgemv;
    const SYMV: Symv<Self> = blas::dsymv;
    const SYRK: Syrk<Self> = blas::dsyrk;
    const SYR2K: Syr2k<Self> = blas::dsyr2k;
    const POTRF: Potrf<Self> = lapack::dpotrf;
    const POTRS: Potrs<Self> = lapack::dpotrs;
    const SYEVR: Syevr<Self> = lapack::dsyevr;
    const GESDD: Gesdd<Self> = lapack::dgesdd;
    const GESVD: Gesvd<Self> = lapack::dgesvd;
    const GESV: Gesv<Self> = lapack::dgesv;
}

impl Precision for f32 {
    const TOLERANCE: f64 = 1e-3;

    fn round(x: f64) -> Self {
        x as f32
    }

    const GEMM: Gemm<Self> = blas::sgemm;
    const GEMV: Gemv<Self> = blas::sgemv;
    const SYMV: Symv<Self> = blas::ssymv;
    const SYRK: Syrk<Self> = blas::ssyrk;
    const SYR2K: Syr2k<Self> = blas::ssyr2k;
    const POTRF: Potrf<Self> = lapack::spotrf;
    const POTRS: Potrs<Self> = lapack::spotrs;
    const SYEVR: Syevr<Self> = lapack::ssyevr;
    const GESDD: Gesdd<Self> = lapack::sgesdd;
    const GESVD: Gesvd<Self> = lapack::sgesvd;
    const GESV: Gesv<Self> = lapack::sgesv;
}

/// One test per precision of a generic check.
macro_rules! in_both_precisions {
    ($($name:ident)*) => {
        mod double {
            $(#[test] fn $name() { super::$name::<f64>() })*
        }
        mod single {
            $(#[test] fn $name() { super::$name::<f32>() })*
        }
    };
}
pub(crate) use in_both_precisions;
