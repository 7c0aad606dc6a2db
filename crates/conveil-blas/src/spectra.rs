//! Spectra: `syevr` for eigenvalues, `gesdd` and `gesvd` for singular values.

use std::ffi::c_char;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::perm::swap_cols_idx;
use faer::reborrow::ReborrowMut;
use faer::{ColMut, MatMut, Par};
use faer_traits::math_utils::{one, zero};

use crate::arguments::{
    Info, Outcome, Real, Source, Target, Triangle, info, letter, require, require_finite, size,
    vector_mut, view, view_mut,
};

/// The `info` of an iteration that did not converge.
const NO_CONVERGENCE: i32 = 1;

/// The workspace length that asks how long the workspace should be.
const QUERY: i32 = -1;

/// A = Z diag(w) Z' with w ascending; Z on request.
unsafe fn syevr<T: Real>(
    (jobz, range, uplo): (c_char, c_char, c_char),
    n: i32,
    a: Source<T>,
    (found, w): (*mut i32, *mut T),
    (z, isuppz): (Target<T>, *mut i32),
    (work, lwork): (*mut T, i32),
    (iwork, liwork): (*mut i32, i32),
) -> Outcome {
    let compute = match letter(jobz) {
        b'N' => ComputeEigenvectors::No,
        b'V' => ComputeEigenvectors::Yes,
        _ => return Err(Info::illegal(1)),
    };
    require(letter(range) == b'A', 2)?;
    let triangle = Triangle::read(uplo, 3)?;
    let order = size(n, 4)?;
    let a = unsafe { view(a, order, order, 6) }?;
    let columns = (compute == ComputeEigenvectors::Yes).then_some(order);
    let z = unsafe { requested(z, order, columns, 15) }?;
    let query = lwork == QUERY || liwork == QUERY;
    require(query || lwork >= 1, 18)?;
    require(query || liwork >= 1, 20)?;
    unsafe {
        *work = one();
        *iwork = 1;
    }
    if query {
        return Ok(());
    }
    unsafe { *found = n };
    if order == 0 {
        return Ok(());
    }
    require_finite(a, |j| triangle.rows(j, order), 5)?;

    if z.is_some() {
        for j in 0..order {
            // Each vector may be nonzero in rows 1 to n.
            unsafe {
                *isuppz.add(2 * j) = 1;
                *isuppz.add(2 * j + 1) = n;
            }
        }
    }
    let mut w = unsafe { vector_mut((w, 1), order, 13) }?;
    let mut z = z;
    let scratch = self_adjoint_evd_scratch::<T>(order, compute, Par::Seq, Default::default());
    self_adjoint_evd(
        triangle.as_lower(a),
        w.rb_mut().as_diagonal_mut(),
        z.rb_mut(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|_| Info::numerical(NO_CONVERGENCE))?;
    sort(w, |x, y| x < y, [z]);
    Ok(())
}

/// A = U diag(s) V' with s descending; U and V' on request. The arguments from `m` on stand at the
/// positions of `gesdd`, moved by `shift`.
unsafe fn singular_values<T: Real>(
    (compute_u, compute_v): (ComputeSvdVectors, ComputeSvdVectors),
    (m, n): (i32, i32),
    a: Source<T>,
    s: *mut T,
    u: Target<T>,
    vt: Target<T>,
    (work, lwork): (*mut T, i32),
    shift: i32,
) -> Outcome {
    let (m, n) = (size(m, 2 + shift)?, size(n, 3 + shift)?);
    let rank = m.min(n);
    let a = unsafe { view(a, m, n, 5 + shift) }?;
    let u = unsafe { requested(u, m, vector_count(compute_u, rank, m), 8 + shift) }?;
    let vt = match vector_count(compute_v, rank, n) {
        Some(rows) => Some(unsafe { view_mut(vt, rows, n, 10 + shift) }?),
        None => unsafe { requested(vt, n, None, 10 + shift) }?,
    };
    require(lwork == QUERY || lwork >= 1, 12 + shift)?;
    unsafe { *work = one() };
    if lwork == QUERY || rank == 0 {
        return Ok(());
    }
    require_finite(a, |_| 0..m, 4 + shift)?;

    // faer counts on zeros in the corner of a full set of vectors.
    let mut u = u.map(zeroed);
    let mut v = vt.map(zeroed).map(MatMut::transpose_mut);
    let mut s = unsafe { vector_mut((s, 1), rank, 6 + shift) }?;
    let scratch = svd_scratch::<T>(m, n, compute_u, compute_v, Par::Seq, Default::default());
    svd(
        a,
        s.rb_mut().as_diagonal_mut(),
        u.rb_mut(),
        v.rb_mut(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|_| Info::numerical(NO_CONVERGENCE))?;
    sort(s, |x, y| x > y, [u, v]);
    Ok(())
}

/// Puts the values in order, and the columns of their vectors with them; faer may leave values of
/// the size of rounding errors out of order.
fn sort<T: Real, const N: usize>(
    mut values: ColMut<'_, T>,
    precedes: impl Fn(T, T) -> bool,
    mut vectors: [Option<MatMut<'_, T>>; N],
) {
    for k in 0..values.nrows() {
        let mut first = k;
        for candidate in k + 1..values.nrows() {
            if precedes(values[candidate], values[first]) {
                first = candidate;
            }
        }
        if first != k {
            (values[k], values[first]) = (values[first], values[k]);
            for columns in vectors.iter_mut().flatten() {
                swap_cols_idx(columns.rb_mut(), k, first);
            }
        }
    }
}

/// The job letter of a set of singular vectors.
fn read_job(c: c_char, position: i32) -> Outcome<ComputeSvdVectors> {
    match letter(c) {
        b'N' => Ok(ComputeSvdVectors::No),
        b'S' => Ok(ComputeSvdVectors::Thin),
        b'A' => Ok(ComputeSvdVectors::Full),
        _ => Err(Info::illegal(position)),
    }
}

/// How many singular vectors a job asks for.
fn vector_count(compute: ComputeSvdVectors, thin: usize, full: usize) -> Option<usize> {
    match compute {
        ComputeSvdVectors::No => None,
        ComputeSvdVectors::Thin => Some(thin),
        ComputeSvdVectors::Full => Some(full),
    }
}

/// The target of vectors that may not be asked for; its leading dimension, at `position`, is
/// checked all the same.
///
/// # Safety
/// As [`view_mut`], when there are columns.
unsafe fn requested<'a, T>(
    target: Target<T>,
    rows: usize,
    columns: Option<usize>,
    position: i32,
) -> Outcome<Option<MatMut<'a, T>>> {
    match columns {
        Some(columns) => unsafe { view_mut(target, rows, columns, position) }.map(Some),
        None => require(target.1 >= 1, position).map(|()| None),
    }
}

fn zeroed<T: Real>(mut a: MatMut<'_, T>) -> MatMut<'_, T> {
    a.fill(zero());
    a
}

macro_rules! symbols {
    ($T:ty: $syevr:ident, $gesdd:ident, $gesvd:ident) => {
        hidden!($syevr, $gesdd, $gesvd);

        /// All eigenvalues, ascending, and on request (`jobz = 'V'`) the eigenvectors of a
        /// symmetric matrix stored in one triangle. `info` > 0: no convergence.
        ///
        /// # Safety
        /// All pointers but those of the unused bounds are valid; A, and Z if requested, hold the
        /// columns that their sizes and leading dimensions say, `w` n numbers and, if Z is
        /// requested, `isuppz` 2n; no output overlaps another argument.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $syevr(
            jobz: *const c_char,
            range: *const c_char,
            uplo: *const c_char,
            n: *const i32,
            a: *mut $T,
            lda: *const i32,
            _vl: *const $T,
            _vu: *const $T,
            _il: *const i32,
            _iu: *const i32,
            _abstol: *const $T,
            m: *mut i32,
            w: *mut $T,
            z: *mut $T,
            ldz: *const i32,
            isuppz: *mut i32,
            work: *mut $T,
            lwork: *const i32,
            iwork: *mut i32,
            liwork: *const i32,
            info_: *mut i32,
        ) {
            unsafe {
                let jobs = (*jobz, *range, *uplo);
                let a = (a.cast_const(), *lda);
                let z = ((z, *ldz), isuppz);
                let (work, iwork) = ((work, *lwork), (iwork, *liwork));
                *info_ = info(syevr(jobs, *n, a, (m, w), z, work, iwork));
            }
        }

        /// Singular values, descending, and vectors: none (`jobz = 'N'`), the first min(m, n)
        /// (`'S'`) or all (`'A'`). `info` > 0: no convergence.
        ///
        /// # Safety
        /// All pointers but `iwork` are valid; A, and U and V' if requested, hold the columns that
        /// their sizes and leading dimensions say, `s` min(m, n) numbers; no output overlaps
        /// another argument.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $gesdd(
            jobz: *const c_char,
            m: *const i32,
            n: *const i32,
            a: *mut $T,
            lda: *const i32,
            s: *mut $T,
            u: *mut $T,
            ldu: *const i32,
            vt: *mut $T,
            ldvt: *const i32,
            work: *mut $T,
            lwork: *const i32,
            _iwork: *mut i32,
            info_: *mut i32,
        ) {
            unsafe {
                let a = (a.cast_const(), *lda);
                let (u, vt, work) = ((u, *ldu), (vt, *ldvt), (work, *lwork));
                let outcome = read_job(*jobz, 1)
                    .and_then(|job| singular_values((job, job), (*m, *n), a, s, u, vt, work, 0));
                *info_ = info(outcome);
            }
        }

        /// Singular values, descending, and left (`jobu`) and right (`jobvt`) vectors: none
        /// (`'N'`), the first min(m, n) (`'S'`) or all (`'A'`). `info` > 0: no convergence.
        ///
        /// # Safety
        /// All pointers are valid; A, and U and V' if requested, hold the columns that their sizes
        /// and leading dimensions say, `s` min(m, n) numbers; no output overlaps another argument.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $gesvd(
            jobu: *const c_char,
            jobvt: *const c_char,
            m: *const i32,
            n: *const i32,
            a: *mut $T,
            lda: *const i32,
            s: *mut $T,
            u: *mut $T,
            ldu: *const i32,
            vt: *mut $T,
            ldvt: *const i32,
            work: *mut $T,
            lwork: *const i32,
            info_: *mut i32,
        ) {
            unsafe {
                let a = (a.cast_const(), *lda);
                let (u, vt, work) = ((u, *ldu), (vt, *ldvt), (work, *lwork));
                let outcome = read_job(*jobu, 1).and_then(|left| {
                    let right = read_job(*jobvt, 2)?;
                    singular_values((left, right), (*m, *n), a, s, u, vt, work, 1)
                });
                *info_ = info(outcome);
            }
        }
    };
}

symbols!(f64: dsyevr_, dgesdd_, dgesvd_);
symbols!(f32: ssyevr_, sgesdd_, sgesvd_);
