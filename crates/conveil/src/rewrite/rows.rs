//! X by rows: listed, or those of a sum of losses, which follow from the program and one number for each loss.

use super::rooms::carried_noise;
use std::borrow::Cow;
use std::sync::Arc;

/// X, by rows of entries (noise, value).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rows {
    Listed(Vec<Vec<(usize, f64)>>),
    OfLosses(OfLosses),
}

/// The rows of weights are carried, that of a slack is a share of its row's own noise (M9). A million records of ten features
/// would fill ten million entries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OfLosses {
    /// The columns of the weights, rising.
    pub(super) weights: Vec<usize>,
    /// Those of the slacks, rising.
    pub(super) slacks: Arc<[usize]>,
    /// R by columns.
    pub(super) columns: Arc<Vec<f64>>,
    /// Rows of X of the weights.
    pub(super) carried: Arc<[Vec<(usize, f64)>]>,
    /// t of each loss.
    pub(super) shares: Arc<[f64]>,
    pub(super) noises: usize,
}

impl Rows {
    /// The row of variable `j`.
    pub(crate) fn row(&self, j: usize) -> Cow<'_, [(usize, f64)]> {
        match self {
            Rows::Listed(rows) => Cow::Borrowed(&rows[j]),
            Rows::OfLosses(rows) => rows.row(j),
        }
    }

    /// Whether the row of variable `j` has no entry.
    pub(crate) fn is_still(&self, j: usize) -> bool {
        match self {
            Rows::OfLosses(rows) if rows.slacks.binary_search(&j).is_ok() => rows.noises == 0,
            other => other.row(j).is_empty(),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Rows::Listed(rows) => rows.len(),
            Rows::OfLosses(rows) => rows.weights.len() + rows.slacks.len(),
        }
    }

    /// The same as a list.
    pub(crate) fn listed(self) -> Vec<Vec<(usize, f64)>> {
        match self {
            Rows::Listed(rows) => rows,
            other => (0..other.len())
                .map(|j| other.row(j).into_owned())
                .collect(),
        }
    }
}

impl OfLosses {
    fn row(&self, j: usize) -> Cow<'_, [(usize, f64)]> {
        if let Ok(weight) = self.weights.binary_search(&j) {
            return Cow::Borrowed(&self.carried[weight]);
        }
        let Ok(loss) = self.slacks.binary_search(&j) else {
            return Cow::Borrowed(&[]);
        };
        let mut noise = vec![0.0; self.noises];
        carried_noise(&self.columns, &self.carried, loss, &mut noise);
        let share = self.shares[loss];
        noise
            .iter()
            .enumerate()
            .map(|(i, v)| (i, share * v))
            .collect()
    }
}
