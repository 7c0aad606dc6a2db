//! Sparse matrices in compressed columns, and the same entries seen by rows.
//! Explicit zeros are kept: the pattern is public, the values may not be.

use crate::error::{Error, Result};
use std::sync::Arc;

/// A sparse matrix in compressed-column form, rows sorted within each column.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    rows: usize,
    columns: usize,
    /// The pattern is shared by all programs of a map.
    colptr: Arc<Vec<usize>>,
    rowval: Arc<Vec<usize>>,
    nzval: Vec<f64>,
}

impl Sparse {
    /// The matrix without entries.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Sparse {
            rows,
            columns,
            colptr: Arc::new(vec![0; columns + 1]),
            rowval: Arc::default(),
            nzval: Vec::new(),
        }
    }

    /// Builds the matrix from (row, column, value); entries at the same place are added.
    pub fn from_triplets(
        rows: usize,
        columns: usize,
        triplets: &[(usize, usize, f64)],
    ) -> Result<Self> {
        if let Some(&(i, j, _)) = triplets.iter().find(|t| t.0 >= rows || t.1 >= columns) {
            return Err(Error::input(format!(
                "entry ({i}, {j}) lies outside a matrix of {rows} rows and {columns} columns"
            )));
        }
        Ok(Self::assemble(rows, columns, triplets))
    }

    /// Builds the matrix column by column, of about so many entries (row, value), whose rows rise: nothing is sorted, and
    /// nothing held beside it.
    pub fn by_columns<C: IntoIterator<Item = (usize, f64)>>(
        rows: usize,
        entries: usize,
        columns: impl IntoIterator<Item = C>,
    ) -> Result<Self> {
        let mut colptr = vec![0];
        let (mut rowval, mut nzval) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        for column in columns {
            for (i, value) in column {
                rowval.push(i);
                nzval.push(value);
            }
            colptr.push(rowval.len());
        }
        Self::from_columns(rows, colptr.len() - 1, colptr, rowval, nzval)
    }

    /// `from_triplets` for indices that are known to be in range.
    pub(crate) fn assemble(rows: usize, columns: usize, triplets: &[(usize, usize, f64)]) -> Self {
        // Two stable counting passes: by row, then by column, leave rows sorted in each column.
        let mut by_row = vec![0usize; rows + 1];
        for t in triplets {
            by_row[t.0 + 1] += 1;
        }
        for i in 0..rows {
            by_row[i + 1] += by_row[i];
        }
        let mut order = vec![0usize; triplets.len()];
        for (index, t) in triplets.iter().enumerate() {
            order[by_row[t.0]] = index;
            by_row[t.0] += 1;
        }
        let mut counts = vec![0usize; columns + 1];
        for t in triplets {
            counts[t.1 + 1] += 1;
        }
        for j in 0..columns {
            counts[j + 1] += counts[j];
        }
        let mut next = counts.clone();
        let mut sorted = vec![(0usize, 0.0f64); triplets.len()];
        for &index in &order {
            let (i, j, value) = triplets[index];
            sorted[next[j]] = (i, value);
            next[j] += 1;
        }
        let mut colptr = vec![0; columns + 1];
        let mut rowval: Vec<usize> = Vec::with_capacity(sorted.len());
        let mut nzval: Vec<f64> = Vec::with_capacity(sorted.len());
        for j in 0..columns {
            let start = rowval.len();
            for &(i, value) in &sorted[counts[j]..counts[j + 1]] {
                if rowval.len() > start && rowval.last() == Some(&i) {
                    if let Some(last) = nzval.last_mut() {
                        *last += value;
                    }
                } else {
                    rowval.push(i);
                    nzval.push(value);
                }
            }
            colptr[j + 1] = rowval.len();
        }
        Sparse {
            rows,
            columns,
            colptr: Arc::new(colptr),
            rowval: Arc::new(rowval),
            nzval,
        }
    }

    /// Builds the matrix from its compressed columns, checking that they are well formed.
    pub(crate) fn from_columns(
        rows: usize,
        columns: usize,
        colptr: Vec<usize>,
        rowval: Vec<usize>,
        nzval: Vec<f64>,
    ) -> Result<Self> {
        let well_formed = colptr.len() == columns + 1
            && colptr[0] == 0
            && colptr.windows(2).all(|w| w[0] <= w[1])
            && colptr[columns] == rowval.len()
            && rowval.len() == nzval.len()
            && colptr
                .windows(2)
                .all(|w| rowval[w[0]..w[1]].windows(2).all(|r| r[0] < r[1]))
            && rowval.iter().all(|&i| i < rows);
        if !well_formed {
            return Err(Error::input(
                "the compressed columns are not well formed: column pointers must rise from 0 to the number of entries, and rows must rise within each column",
            ));
        }
        Ok(Sparse {
            rows,
            columns,
            colptr: Arc::new(colptr),
            rowval: Arc::new(rowval),
            nzval,
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of stored entries, explicit zeros included.
    pub fn nnz(&self) -> usize {
        self.nzval.len()
    }

    /// Column pointers.
    pub fn colptr(&self) -> &[usize] {
        &self.colptr
    }

    /// Row indices, column by column.
    pub fn rowval(&self) -> &[usize] {
        &self.rowval
    }

    /// Values, column by column.
    pub fn nzval(&self) -> &[f64] {
        &self.nzval
    }

    /// The entries (row, value) of column `j`.
    pub fn column(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.colptr[j]..self.colptr[j + 1];
        range.map(|e| (self.rowval[e], self.nzval[e]))
    }

    /// All entries (row, column, value), column by column.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.columns).flat_map(move |j| self.column(j).map(move |(i, v)| (i, j, v)))
    }

    /// The position of (i, j) among the stored entries, if it is in the pattern.
    pub fn position(&self, i: usize, j: usize) -> Option<usize> {
        if j >= self.columns {
            return None;
        }
        let start = self.colptr[j];
        self.rowval[start..self.colptr[j + 1]]
            .binary_search(&i)
            .ok()
            .map(|offset| start + offset)
    }

    /// The value at (i, j), zero outside the pattern.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.position(i, j).map_or(0.0, |e| self.nzval[e])
    }

    pub(crate) fn nzval_mut(&mut self) -> &mut [f64] {
        &mut self.nzval
    }

    /// y = Mx.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.rows];
        for j in 0..self.columns {
            if x[j] != 0.0 {
                for (i, v) in self.column(j) {
                    y[i] += v * x[j];
                }
            }
        }
        y
    }

    /// x = M'y.
    pub fn transpose_times(&self, y: &[f64]) -> Vec<f64> {
        (0..self.columns)
            .map(|j| self.column(j).map(|(i, v)| v * y[i]).sum())
            .collect()
    }

    /// y = Px for a symmetric P of which this is the upper triangle.
    pub fn symmetric_times(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.rows];
        for (i, j, v) in self.entries() {
            y[i] += v * x[j];
            if i != j {
                y[j] += v * x[i];
            }
        }
        y
    }

    /// The same entries row by row.
    pub fn by_rows(&self) -> Rows {
        let mut start = vec![0usize; self.rows + 1];
        for &i in self.rowval.iter() {
            start[i + 1] += 1;
        }
        for i in 0..self.rows {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut entries = vec![(0usize, 0.0f64); self.nnz()];
        for (i, j, v) in self.entries() {
            entries[next[i]] = (j, v);
            next[i] += 1;
        }
        Rows { start, entries }
    }
}

/// A sparse matrix seen by rows.
#[derive(Clone, Debug)]
pub struct Rows {
    start: Vec<usize>,
    entries: Vec<(usize, f64)>,
}

impl Rows {
    /// The entries (column, value) of row `i`.
    pub fn row(&self, i: usize) -> &[(usize, f64)] {
        &self.entries[self.start[i]..self.start[i + 1]]
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triplets_are_sorted_and_added() {
        let triplets = [(2, 0, 1.0), (0, 1, 3.0), (2, 0, 0.5), (1, 0, 0.0)];
        let m = Sparse::from_triplets(3, 2, &triplets).unwrap();
        assert_eq!(m.rowval(), &[1, 2, 0]);
        assert_eq!(m.nzval(), &[0.0, 1.5, 3.0]);
        assert_eq!(m.get(2, 0), 1.5);
        assert_eq!(m.by_rows().row(2), &[(0, 1.5)]);
        assert_eq!(m.times(&[2.0, 1.0]), vec![3.0, 0.0, 3.0]);
        assert_eq!(m.transpose_times(&[1.0, 0.0, 2.0]), vec![3.0, 3.0]);
    }

    #[test]
    fn columns_are_what_their_entries_would_be_sorted() {
        let triplets = [(2, 0, 1.0), (0, 2, 3.0), (1, 2, 0.0)];
        let sorted = Sparse::from_triplets(3, 3, &triplets).unwrap();
        let columns = [vec![(2, 1.0)], vec![], vec![(0, 3.0), (1, 0.0)]];
        assert_eq!(Sparse::by_columns(3, 0, columns.clone()).unwrap(), sorted);
        assert!(Sparse::by_columns(2, 0, columns).is_err());
        assert!(Sparse::by_columns(3, 0, [[(1, 1.0), (0, 1.0)]]).is_err());
    }

    #[test]
    fn an_entry_outside_is_refused() {
        let message = Sparse::from_triplets(1, 1, &[(1, 0, 1.0)])
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "entry (1, 0) lies outside a matrix of 1 rows and 1 columns"
        );
    }
}
