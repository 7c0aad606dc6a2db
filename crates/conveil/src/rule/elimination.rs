//! Sparse Gaussian elimination for the rank test: which rows does a query row depend on?

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// An entry counts as zero below this share of its row's original size.
const ZERO: f64 = 1e-10;

/// A pivot is at least this share of the largest entry of its row.
const THRESHOLD: f64 = 0.1;

struct Row {
    terms: BTreeMap<usize, f64>,
    rhs: Vec<f64>,
    size: f64,
    pivot: Option<usize>,
}

/// What became of a row that was reduced by the others.
pub(super) enum Reduced {
    /// It is independent of the rows before, or repeats them with the same right-hand side.
    Consistent,
    /// It is a combination of these rows, but its right-hand side is not.
    Contradiction(Vec<usize>),
}

/// Rows in elimination, with the log of operations that names what a row depends on.
pub(super) struct Elimination {
    rows: Vec<Row>,
    column_rows: Vec<BTreeSet<usize>>,
    pivot_of_column: Vec<Option<usize>>,
    /// (target, source, factor): target −= factor·source.
    log: Vec<(usize, usize, f64)>,
    noises: usize,
}

impl Elimination {
    pub(super) fn new(columns: usize, noises: usize) -> Self {
        Elimination {
            rows: Vec::new(),
            column_rows: vec![BTreeSet::new(); columns],
            pivot_of_column: vec![None; columns],
            log: Vec::new(),
            noises,
        }
    }

    pub(super) fn push(&mut self, terms: Vec<(usize, f64)>, rhs: Vec<f64>) -> usize {
        let index = self.rows.len();
        let mut map = BTreeMap::new();
        for (j, v) in terms {
            *map.entry(j).or_insert(0.0) += v;
        }
        map.retain(|_, v| *v != 0.0);
        let size = map.values().fold(0.0f64, |m, v: &f64| m.max(v.abs()));
        map.keys().for_each(|&j| {
            self.column_rows[j].insert(index);
        });
        self.rows.push(Row {
            terms: map,
            rhs,
            size,
            pivot: None,
        });
        index
    }

    /// Eliminates all rows, shortest first, each on its sparsest column with a sound pivot.
    pub(super) fn eliminate(&mut self) {
        let mut queue: BinaryHeap<std::cmp::Reverse<(usize, usize)>> = (0..self.rows.len())
            .map(|i| std::cmp::Reverse((self.rows[i].terms.len(), i)))
            .collect();
        while let Some(std::cmp::Reverse((length, index))) = queue.pop() {
            if self.rows[index].pivot.is_some() || self.rows[index].terms.is_empty() {
                continue;
            }
            if self.rows[index].terms.len() != length {
                queue.push(std::cmp::Reverse((self.rows[index].terms.len(), index)));
                continue;
            }
            let Some(column) = self.choose_pivot(index) else {
                self.forget(index);
                continue;
            };
            self.rows[index].pivot = Some(column);
            self.pivot_of_column[column] = Some(index);
            let others: Vec<usize> = self.column_rows[column]
                .iter()
                .copied()
                .filter(|&r| r != index && self.rows[r].pivot.is_none())
                .collect();
            for target in others {
                self.subtract(target, index, column);
                queue.push(std::cmp::Reverse((self.rows[target].terms.len(), target)));
            }
        }
    }

    fn choose_pivot(&self, index: usize) -> Option<usize> {
        let row = &self.rows[index];
        let largest = row.terms.values().fold(0.0f64, |m, v| m.max(v.abs()));
        if largest <= ZERO * row.size {
            return None;
        }
        row.terms
            .iter()
            .filter(|(_, v)| v.abs() >= THRESHOLD * largest)
            .min_by_key(|(j, _)| self.column_rows[**j].len())
            .map(|(j, _)| *j)
    }

    fn forget(&mut self, index: usize) {
        let columns: Vec<usize> = self.rows[index].terms.keys().copied().collect();
        for j in columns {
            self.column_rows[j].remove(&index);
        }
        self.rows[index].terms.clear();
    }

    /// target −= factor·source so that target loses `column`.
    fn subtract(&mut self, target: usize, source: usize, column: usize) {
        let pivot = self.rows[source].terms[&column];
        let Some(value) = self.rows[target].terms.get(&column).copied() else {
            return;
        };
        let factor = value / pivot;
        self.log.push((target, source, factor));
        let terms: Vec<(usize, f64)> = self.rows[source]
            .terms
            .iter()
            .map(|(j, v)| (*j, *v))
            .collect();
        let zero = ZERO * self.rows[target].size;
        for (j, v) in terms {
            let entry = self.rows[target].terms.entry(j).or_insert(0.0);
            *entry -= factor * v;
            if j == column || entry.abs() <= zero {
                self.rows[target].terms.remove(&j);
                self.column_rows[j].remove(&target);
            } else {
                self.column_rows[j].insert(target);
            }
        }
        for noise in 0..self.noises {
            let change = factor * self.rows[source].rhs[noise];
            self.rows[target].rhs[noise] -= change;
        }
    }

    /// Reduces a new row by all pivots; an independent one becomes a pivot itself.
    pub(super) fn reduce_and_add(&mut self, terms: Vec<(usize, f64)>, rhs: Vec<f64>) -> Reduced {
        let index = self.push(terms, rhs);
        let scale = self.rows[index]
            .rhs
            .iter()
            .fold(0.0f64, |m, v| m.max(v.abs()));
        // A pivot row may bring back columns whose pivots were used before: go on until none is left.
        while let Some(column) = self.rows[index]
            .terms
            .keys()
            .copied()
            .find(|&j| self.pivot_of_column[j].is_some())
        {
            let Some(source) = self.pivot_of_column[column] else {
                break;
            };
            self.subtract(index, source, column);
        }
        if let Some(column) = self.choose_pivot(index) {
            self.rows[index].pivot = Some(column);
            self.pivot_of_column[column] = Some(index);
            return Reduced::Consistent;
        }
        self.forget(index);
        let left = self.rows[index]
            .rhs
            .iter()
            .fold(0.0f64, |m, v| m.max(v.abs()));
        if left <= 1e-9 * scale.max(f64::MIN_POSITIVE) {
            return Reduced::Consistent;
        }
        Reduced::Contradiction(self.combination(index))
    }

    /// The original rows (this one aside) whose combination the row was.
    fn combination(&self, index: usize) -> Vec<usize> {
        let mut weights: BTreeMap<usize, f64> = BTreeMap::from([(index, 1.0)]);
        for &(target, source, factor) in self.log.iter().rev() {
            if let Some(w) = weights.get(&target).copied() {
                *weights.entry(source).or_insert(0.0) -= factor * w;
            }
        }
        let largest = weights.values().fold(0.0f64, |m, v| m.max(v.abs()));
        weights
            .into_iter()
            .filter(|(i, w)| *i != index && w.abs() > 1e-9 * largest)
            .map(|(i, _)| i)
            .collect()
    }
}
