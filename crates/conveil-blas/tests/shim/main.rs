//! The shim against naive loops, and Clarabel on top of it.

mod cholesky;
mod grid;
mod precision;
mod products;
mod sdp;
mod solve;
mod spectra;

// The symbols under test: they reach the `blas` and `lapack` wrappers through the linker.
use conveil_blas as _;
