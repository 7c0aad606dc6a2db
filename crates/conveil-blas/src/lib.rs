//! The BLAS and LAPACK routines that Clarabel's PSD cones call, over [`faer`].
//!
//! Clarabel reaches dense linear algebra through Fortran symbols (`dgemm_`, `dpotrf_`, ...), which
//! usually come from a system library. This crate defines those symbols in Rust, so that the whole
//! solver builds with `cargo` alone: `use conveil_blas as _;` links them, and `blas-src` and
//! `lapack-src`, on which Clarabel depends, stay empty.
//!
//! | file       | routines                                       |
//! |------------|------------------------------------------------|
//! | `products` | `gemm`, `gemv`, `symv`, `syrk`, `syr2k`        |
//! | `cholesky` | `potrf`, `potrs`                               |
//! | `spectra`  | `syevr`, `gesdd`, `gesvd`                      |
//! | `solve`    | `gesv`                                         |
//!
//! Each exists in double (`d...`) and single (`s...`) precision, for column-major matrices with a
//! leading dimension, and runs on the calling thread: solves run in parallel with one another, not
//! inside.
//!
//! # What differs from the reference library
//!
//! - Workspace is allocated inside: a query (`lwork = -1`) answers 1.
//! - `syevr` computes whole spectra (`range = 'A'`); the singular value routines do not overwrite
//!   their matrix with vectors (`'O'`). Both answer such a request with the `info` of an illegal
//!   argument.
//! - A spectrum of a matrix with a NaN or an infinity is refused, with the `info` of an illegal
//!   matrix.
//! - `potrf` leaves a matrix that is not positive definite as it was.
//! - An illegal argument of a product, which has no `info`, is reported on standard error, and the
//!   target stays as it was.
//!
//! A panic at the boundary would end the process, so every dimension is checked before faer, which
//! asserts on them, sees it.

#![deny(missing_docs)]
// The argument lists are Fortran's.
#![allow(clippy::too_many_arguments)]

/// Keeps symbols inside the program or library into which they are linked.
///
/// A `cdylib` exports every `no_mangle` function of its dependencies, and under ELF the first library
/// of a process that exports a name serves all calls of it: another BLAS would serve our calls, or
/// ours its callers. Mach-O and PE bind the calls of a library to its own functions.
macro_rules! hidden {
    ($($symbol:ident),*) => {$(
        #[cfg(all(unix, not(target_vendor = "apple")))]
        std::arch::global_asm!(concat!(".hidden ", stringify!($symbol)));
    )*};
}

mod arguments;
mod cholesky;
mod products;
mod solve;
mod spectra;

pub use cholesky::{dpotrf_, dpotrs_, spotrf_, spotrs_};
pub use products::{
    dgemm_, dgemv_, dsymv_, dsyr2k_, dsyrk_, sgemm_, sgemv_, ssymv_, ssyr2k_, ssyrk_,
};
pub use solve::{dgesv_, sgesv_};
pub use spectra::{dgesdd_, dgesvd_, dsyevr_, sgesdd_, sgesvd_, ssyevr_};
