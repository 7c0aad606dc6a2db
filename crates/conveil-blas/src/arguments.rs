//! Reading Fortran arguments: letters, sizes, matrices and vectors, each checked at its position.

use std::ffi::c_char;
use std::ops::Range;
use std::ptr::NonNull;

use faer::{ColMut, ColRef, MatMut, MatRef};
use faer_traits::RealField;
use faer_traits::math_utils::is_finite;

/// The two precisions.
pub(crate) trait Real: RealField + Copy {}

impl Real for f64 {}
impl Real for f32 {}

/// Why a routine stopped, in LAPACK's `info` code: `-i` for an illegal argument `i`, positive when
/// the numbers defeat the algorithm.
pub(crate) struct Info(i32);

impl Info {
    pub(crate) fn illegal(position: i32) -> Self {
        Info(-position)
    }

    pub(crate) fn numerical(code: i32) -> Self {
        Info(code)
    }
}

/// What a routine returns before it is put into `info`.
pub(crate) type Outcome<T = ()> = Result<T, Info>;

/// The `info` of a LAPACK routine.
pub(crate) fn info(outcome: Outcome) -> i32 {
    match outcome {
        Ok(()) => 0,
        Err(Info(code)) => code,
    }
}

/// The message of a BLAS routine, which has no `info`: as the library routine `xerbla` words it.
pub(crate) fn report(symbol: &str, outcome: Outcome) {
    if let Err(Info(code)) = outcome {
        let routine = symbol.trim_end_matches('_').to_uppercase();
        eprintln!(
            "** On entry to {routine} parameter number {} had an illegal value",
            -code
        );
    }
}

/// A condition that argument `position` must meet.
pub(crate) fn require(condition: bool, position: i32) -> Outcome {
    if condition {
        Ok(())
    } else {
        Err(Info::illegal(position))
    }
}

/// A letter, in upper case; Fortran takes both.
pub(crate) fn letter(c: c_char) -> u8 {
    // `c_char` is signed on some platforms: the bits are the letter.
    (c as u8).to_ascii_uppercase()
}

/// A dimension.
pub(crate) fn size(n: i32, position: i32) -> Outcome<usize> {
    usize::try_from(n).map_err(|_| Info::illegal(position))
}

/// The transpose argument: op(A) is A or A'.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Plain,
    Transposed,
}

impl Operation {
    pub(crate) fn read(c: c_char, position: i32) -> Outcome<Self> {
        match letter(c) {
            b'N' => Ok(Operation::Plain),
            b'T' | b'C' => Ok(Operation::Transposed),
            _ => Err(Info::illegal(position)),
        }
    }

    /// op(A) of `rows` × `cols`, where A is what is stored.
    ///
    /// # Safety
    /// As [`view`], for the stored shape.
    pub(crate) unsafe fn view<'a, T>(
        self,
        stored: Source<T>,
        rows: usize,
        cols: usize,
        position: i32,
    ) -> Outcome<MatRef<'a, T>> {
        match self {
            Operation::Plain => unsafe { view(stored, rows, cols, position) },
            Operation::Transposed => {
                unsafe { view(stored, cols, rows, position) }.map(MatRef::transpose)
            }
        }
    }
}

/// The triangle argument: the half of a symmetric matrix that is stored.
#[derive(Clone, Copy)]
pub(crate) enum Triangle {
    Upper,
    Lower,
}

impl Triangle {
    pub(crate) fn read(c: c_char, position: i32) -> Outcome<Self> {
        match letter(c) {
            b'U' => Ok(Triangle::Upper),
            b'L' => Ok(Triangle::Lower),
            _ => Err(Info::illegal(position)),
        }
    }

    /// The rows of column `j` that belong to the triangle, of `n`.
    pub(crate) fn rows(self, j: usize, n: usize) -> Range<usize> {
        match self {
            Triangle::Upper => 0..j + 1,
            Triangle::Lower => j..n,
        }
    }

    /// The matrix turned so that the stored half is the lower one, the only one faer reads.
    pub(crate) fn as_lower<T>(self, a: MatRef<'_, T>) -> MatRef<'_, T> {
        match self {
            Triangle::Upper => a.transpose(),
            Triangle::Lower => a,
        }
    }
}

/// A matrix to read: its address and leading dimension (or a vector: its address and increment).
pub(crate) type Source<T> = (*const T, i32);

/// A matrix to write: its address and leading dimension (or a vector: its address and increment).
pub(crate) type Target<T> = (*mut T, i32);

/// A `rows` × `cols` matrix; `position` is that of its leading dimension.
///
/// # Safety
/// `cols` columns of `rows` readable numbers stand at multiples of the leading dimension, unwritten
/// by others during `'a`.
pub(crate) unsafe fn view<'a, T>(
    (address, leading): Source<T>,
    rows: usize,
    cols: usize,
    position: i32,
) -> Outcome<MatRef<'a, T>> {
    require(size(leading, position)? >= rows.max(1), position)?;
    let address = address_of(address.cast_mut(), rows * cols);
    Ok(unsafe { MatRef::from_raw_parts(address, rows, cols, 1, leading as isize) })
}

/// A `rows` × `cols` matrix to write; `position` is that of its leading dimension.
///
/// # Safety
/// As [`view`], and writable, with no other reader during `'a`.
pub(crate) unsafe fn view_mut<'a, T>(
    (address, leading): Target<T>,
    rows: usize,
    cols: usize,
    position: i32,
) -> Outcome<MatMut<'a, T>> {
    require(size(leading, position)? >= rows.max(1), position)?;
    let address = address_of(address, rows * cols);
    Ok(unsafe { MatMut::from_raw_parts_mut(address, rows, cols, 1, leading as isize) })
}

/// A vector of `n` numbers; `position` is that of its increment.
///
/// # Safety
/// `n` readable numbers stand `|increment|` apart, unwritten by others during `'a`.
pub(crate) unsafe fn vector<'a, T>(
    (address, increment): Source<T>,
    n: usize,
    position: i32,
) -> Outcome<ColRef<'a, T>> {
    require(increment != 0, position)?;
    let first = unsafe { first_of(address.cast_mut(), increment, n) };
    Ok(unsafe { ColRef::from_raw_parts(first, n, increment as isize) })
}

/// A vector of `n` numbers to write; `position` is that of its increment.
///
/// # Safety
/// As [`vector`], and writable, with no other reader during `'a`.
pub(crate) unsafe fn vector_mut<'a, T>(
    (address, increment): Target<T>,
    n: usize,
    position: i32,
) -> Outcome<ColMut<'a, T>> {
    require(increment != 0, position)?;
    let first = unsafe { first_of(address, increment, n) };
    Ok(unsafe { ColMut::from_raw_parts_mut(first, n, increment as isize) })
}

/// The address of `count` numbers; no numbers may come with any address, null included.
fn address_of<T>(address: *mut T, count: usize) -> *mut T {
    match count {
        0 => NonNull::dangling().as_ptr(),
        _ => address,
    }
}

/// The first of `n` numbers; a negative increment walks the storage from its end.
unsafe fn first_of<T>(address: *mut T, increment: i32, n: usize) -> *mut T {
    if increment > 0 || n == 0 {
        address_of(address, n)
    } else {
        unsafe { address.offset(-(increment as isize) * (n as isize - 1)) }
    }
}

/// Refuses a NaN or an infinity among the given rows of each column; `position` is the matrix's.
pub(crate) fn require_finite<T: Real>(
    a: MatRef<'_, T>,
    rows: impl Fn(usize) -> Range<usize>,
    position: i32,
) -> Outcome {
    for j in 0..a.ncols() {
        for i in rows(j) {
            require(is_finite(&a[(i, j)]), position)?;
        }
    }
    Ok(())
}
