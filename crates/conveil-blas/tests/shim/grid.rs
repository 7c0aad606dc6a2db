//! Matrices with a leading dimension, and the naive loops the routines are checked against.

use crate::precision::Precision;

/// What stands between the columns, and must still stand there afterwards.
const PADDING: f32 = 77.0;

/// A column-major matrix whose columns are `padding` numbers apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid<T> {
    pub rows: usize,
    pub cols: usize,
    pub padding: usize,
    pub data: Vec<T>,
}

impl<T: Precision> Grid<T> {
    pub fn from_fn(
        (rows, cols): (usize, usize),
        padding: usize,
        mut entry: impl FnMut(usize, usize) -> f64,
    ) -> Self {
        let mut grid = Grid {
            rows,
            cols,
            padding,
            data: vec![T::from(PADDING); (rows + padding) * cols],
        };
        for j in 0..cols {
            for i in 0..rows {
                grid.data[i + j * (rows + padding)] = T::round(entry(i, j));
            }
        }
        grid
    }

    /// Entries in (-1/2, 1/2).
    pub fn random(shape: (usize, usize), padding: usize, seed: u64) -> Self {
        let mut state = seed;
        Grid::from_fn(shape, padding, |_, _| {
            // Knuth's linear congruential generator; the upper bits are the good ones.
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 40) as f64 / (1u64 << 24) as f64 - 0.5
        })
    }

    /// A A' + I, with random A.
    pub fn random_definite(n: usize, padding: usize, seed: u64) -> Self {
        let a = Grid::<T>::random((n, n), 0, seed);
        let gram = product((n, n, n), |i, k| a.at(i, k), |k, j| a.at(j, k));
        Grid::from_fn((n, n), padding, |i, j| {
            gram[i + j * n] + f64::from(u8::from(i == j))
        })
    }

    /// A + A', with random A.
    pub fn random_symmetric(n: usize, padding: usize, seed: u64) -> Self {
        let a = Grid::<T>::random((n, n), 0, seed);
        Grid::from_fn((n, n), padding, |i, j| a.at(i, j) + a.at(j, i))
    }

    /// The leading dimension.
    pub fn ld(&self) -> i32 {
        (self.rows + self.padding).max(1) as i32
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        assert!(i < self.rows && j < self.cols);
        self.data[i + j * (self.rows + self.padding)].into()
    }

    pub fn set(&mut self, i: usize, j: usize, value: f64) {
        assert!(i < self.rows && j < self.cols);
        self.data[i + j * (self.rows + self.padding)] = T::round(value);
    }

    /// The same with NaN outside the triangle `uplo`, diagonal excepted: a reader would show it.
    pub fn only(&self, uplo: u8) -> Self {
        Grid::from_fn((self.rows, self.cols), self.padding, |i, j| {
            if in_triangle(uplo, i, j) {
                self.at(i, j)
            } else {
                f64::NAN
            }
        })
    }

    /// Checks every entry, and that the padding is untouched.
    pub fn assert_close(&self, context: &str, mut expected: impl FnMut(usize, usize) -> f64) {
        for j in 0..self.cols {
            for i in 0..self.rows {
                let (found, expected) = (self.at(i, j), expected(i, j));
                let close = (found - expected).abs() <= T::TOLERANCE * (1.0 + expected.abs());
                assert!(
                    close || (found.is_nan() && expected.is_nan()),
                    "{context}: entry ({i}, {j}) is {found}, not {expected}"
                );
            }
            let column = &self.data[j * (self.rows + self.padding)..];
            let padding = &column[self.rows..self.rows + self.padding];
            assert!(
                padding.iter().all(|&x| x == T::from(PADDING)),
                "{context}: column {j} was written past its end"
            );
        }
    }
}

/// Whether (i, j) belongs to the triangle `uplo`, diagonal included.
pub fn in_triangle(uplo: u8, i: usize, j: usize) -> bool {
    match uplo {
        b'U' => i <= j,
        b'L' => i >= j,
        other => panic!("no triangle is called {}", other as char),
    }
}

/// The m × n product of two matrices with inner dimension k, column by column.
pub fn product(
    (m, n, k): (usize, usize, usize),
    a: impl Fn(usize, usize) -> f64,
    b: impl Fn(usize, usize) -> f64,
) -> Vec<f64> {
    let mut c = vec![0.0; m * n];
    for j in 0..n {
        for i in 0..m {
            c[i + j * m] = (0..k).map(|l| a(i, l) * b(l, j)).sum();
        }
    }
    c
}
