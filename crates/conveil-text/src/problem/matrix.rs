//! Sparse matrices in compressed columns.

use super::json::Json;
use crate::ReadError;
use crate::spelling::counted;

/// A sparse matrix in compressed sparse columns.
///
/// Column j holds the entries `colptr[j]..colptr[j + 1]` of `rowval` and `nzval`, its rows
/// strictly increasing.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Where each column begins, and at the end the number of entries.
    pub colptr: Vec<usize>,
    /// The row of each entry.
    pub rowval: Vec<usize>,
    /// The value of each entry.
    pub nzval: Vec<f64>,
}

impl SavedMatrix {
    /// The stored entries as (row, column, value), column by column.
    ///
    /// Of a matrix that was not read but put together badly, what is out of range is left out.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        self.colptr
            .windows(2)
            .enumerate()
            .flat_map(move |(column, ends)| {
                let rows = self.rowval.get(ends[0]..ends[1]).unwrap_or(&[]);
                let values = self.nzval.get(ends[0]..ends[1]).unwrap_or(&[]);
                rows.iter()
                    .zip(values)
                    .map(move |(&row, &value)| (row, column, value))
            })
    }
}

const KEYS: &[&str] = &["m", "n", "colptr", "rowval", "nzval"];

/// Reads the matrix `name` and checks that it is well formed.
pub(super) fn read(json: Json, name: &str) -> Result<SavedMatrix, ReadError> {
    let mut object = json.object(&format!("`{name}`"), KEYS)?;
    let rows = object.required("m")?.whole(&format!("`{name}.m`"))?;
    let columns = object.required("n")?.whole(&format!("`{name}.n`"))?;
    let colptr_json = object.required("colptr")?;
    let rowval_json = object.required("rowval")?;
    let nzval_json = object.required("nzval")?;
    let colptr = colptr_json.wholes(&format!("{name}.colptr"))?;
    let rowval = rowval_json.wholes(&format!("{name}.rowval"))?;
    let nzval = nzval_json.numbers(&format!("{name}.nzval"))?;

    if nzval.len() != rowval.len() {
        return Err(nzval_json.error(format!(
            "`{name}.nzval` has {}, but `{name}.rowval` has {}",
            counted(nzval.len(), "entry", "entries"),
            rowval.len()
        )));
    }
    check_colptr(colptr_json, name, &colptr, columns, rowval.len())?;
    for column in 0..columns {
        let (start, end) = (colptr[column], colptr[column + 1]);
        for k in start..end {
            let row = rowval[k];
            if row >= rows {
                return Err(rowval_json.error_at(
                    k,
                    format!(
                        "`{name}.rowval[{k}]` must be less than `{name}.m`, {rows}, found {row}"
                    ),
                ));
            }
            if k > start && rowval[k - 1] >= row {
                let fault = if rowval[k - 1] == row {
                    format!("names row {row} twice")
                } else {
                    format!("has row {row} after row {}", rowval[k - 1])
                };
                return Err(rowval_json
                    .error_at(k, format!("column {column} of `{name}` {fault}"))
                    .with_help("the rows of each column must increase"));
            }
        }
    }
    Ok(SavedMatrix {
        rows,
        columns,
        colptr,
        rowval,
        nzval,
    })
}

/// Checks that `colptr` climbs from 0 to the number of entries in one step per column.
fn check_colptr(
    json: Json,
    name: &str,
    colptr: &[usize],
    columns: usize,
    entries: usize,
) -> Result<(), ReadError> {
    if columns.checked_add(1) != Some(colptr.len()) {
        return Err(json.error(format!(
            "`{name}.colptr` must have one entry more than the {columns} of `{name}.n`, found {}",
            colptr.len()
        )));
    }
    if colptr[0] != 0 {
        return Err(json.error_at(
            0,
            format!("`{name}.colptr` must start at 0, found {}", colptr[0]),
        ));
    }
    if let Some(k) = colptr.windows(2).position(|pair| pair[1] < pair[0]) {
        return Err(json.error_at(
            k + 1,
            format!(
                "`{name}.colptr` must not decrease, but {} follows {}",
                colptr[k + 1],
                colptr[k]
            ),
        ));
    }
    if colptr[columns] != entries {
        return Err(json.error_at(
            columns,
            format!(
                "`{name}.colptr` must end at the number of entries, {entries}, found {}",
                colptr[columns]
            ),
        ));
    }
    Ok(())
}
