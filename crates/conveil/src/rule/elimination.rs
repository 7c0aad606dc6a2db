//! Sparse Gaussian elimination for the rank test: which rows does a query row depend on?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// An entry counts as zero below this share of its row's original size.
const ZERO: f64 = 1e-10;

/// A pivot is at least this share of the largest entry of its row.
const THRESHOLD: f64 = 0.1;

/// A right-hand side counts as zero below this share of what met in it.
const RHS_ZERO: f64 = 1e-9;

struct Row {
    /// Sorted by column.
    terms: Vec<(usize, f64)>,
    rhs: Vec<f64>,
    /// The largest original entry.
    size: f64,
    /// The largest right-hand side that met in this row: what rounding is measured against.
    rhs_size: f64,
    /// The column it was eliminated on, and when.
    pivot: Option<usize>,
    step: usize,
}

/// What became of a row that was reduced by the others.
#[derive(Debug, PartialEq)]
pub(super) enum Reduced {
    /// It is independent of the rows before, or repeats them with the same right-hand side.
    Consistent,
    /// It is a combination of these rows, but its right-hand side is not.
    Contradiction(Vec<usize>),
}

/// Rows in elimination, with the log of operations that names what a row depends on.
pub(super) struct Elimination {
    rows: Vec<Row>,
    /// Rows that held the column at some time; those that lost it are passed over.
    column_rows: Vec<Vec<usize>>,
    /// Number of rows that hold the column now.
    count: Vec<usize>,
    pivot_of_column: Vec<Option<usize>>,
    /// (target, source, factor): target −= factor·source.
    log: Vec<(usize, usize, f64)>,
    noises: usize,
    steps: usize,
}

impl Elimination {
    pub(super) fn new(columns: usize, noises: usize) -> Self {
        Elimination {
            rows: Vec::new(),
            column_rows: vec![Vec::new(); columns],
            count: vec![0; columns],
            pivot_of_column: vec![None; columns],
            log: Vec::new(),
            noises,
            steps: 0,
        }
    }

    pub(super) fn push(&mut self, terms: Vec<(usize, f64)>, rhs: Vec<f64>) -> usize {
        let index = self.rows.len();
        let mut sums = BTreeMap::new();
        for (j, v) in terms {
            *sums.entry(j).or_insert(0.0) += v;
        }
        let terms: Vec<(usize, f64)> = sums.into_iter().filter(|t| t.1 != 0.0).collect();
        for &(j, _) in &terms {
            self.column_rows[j].push(index);
            self.count[j] += 1;
        }
        self.rows.push(Row {
            size: terms.iter().fold(0.0f64, |m, t| m.max(t.1.abs())),
            rhs_size: largest(&rhs),
            terms,
            rhs,
            pivot: None,
            step: 0,
        });
        index
    }

    /// Eliminates all rows, shortest first, each on its sparsest column with a sound pivot.
    pub(super) fn eliminate(&mut self) {
        let mut queue: BinaryHeap<Reverse<(usize, usize)>> = (0..self.rows.len())
            .map(|i| Reverse((self.rows[i].terms.len(), i)))
            .collect();
        while let Some(Reverse((length, index))) = queue.pop() {
            // A row that changed its length since stands in the queue again.
            let row = &self.rows[index];
            if row.pivot.is_some() || row.terms.is_empty() || row.terms.len() != length {
                continue;
            }
            let Some(column) = self.choose_pivot(index) else {
                self.forget(index);
                continue;
            };
            self.make_pivot(index, column);
            for target in std::mem::take(&mut self.column_rows[column]) {
                if target != index && self.rows[target].pivot.is_none() {
                    self.subtract(target, index, column);
                    queue.push(Reverse((self.rows[target].terms.len(), target)));
                }
            }
        }
    }

    /// Reduces a new row by all pivots; an independent one becomes a pivot itself.
    pub(super) fn reduce_and_add(&mut self, terms: Vec<(usize, f64)>, rhs: Vec<f64>) -> Reduced {
        let index = self.push(terms, rhs);
        // In the order in which the pivots were made: a pivot row holds later pivot columns only, so each is used once.
        let mut waiting: BTreeSet<(usize, usize)> = BTreeSet::new();
        self.await_pivots(index, index, &mut waiting);
        while let Some((_, column)) = waiting.pop_first() {
            if let Some(source) = self.pivot_of_column[column] {
                self.subtract(index, source, column);
                self.await_pivots(index, source, &mut waiting);
            }
        }
        if let Some(column) = self.choose_pivot(index) {
            self.make_pivot(index, column);
            return Reduced::Consistent;
        }
        self.forget(index);
        if self.is_left_over(index) {
            return Reduced::Contradiction(self.combination(index));
        }
        Reduced::Consistent
    }

    fn choose_pivot(&self, index: usize) -> Option<usize> {
        let row = &self.rows[index];
        let largest = row.terms.iter().fold(0.0f64, |m, t| m.max(t.1.abs()));
        if largest <= ZERO * row.size {
            return None;
        }
        row.terms
            .iter()
            .filter(|t| t.1.abs() >= THRESHOLD * largest)
            .min_by_key(|t| self.count[t.0])
            .map(|t| t.0)
    }

    fn make_pivot(&mut self, index: usize, column: usize) {
        self.rows[index].pivot = Some(column);
        self.rows[index].step = self.steps;
        self.steps += 1;
        self.pivot_of_column[column] = Some(index);
    }

    fn forget(&mut self, index: usize) {
        for (j, _) in std::mem::take(&mut self.rows[index].terms) {
            self.count[j] -= 1;
        }
    }

    /// Whether a row without a pivot still has a right-hand side, beyond rounding.
    fn is_left_over(&self, index: usize) -> bool {
        let row = &self.rows[index];
        largest(&row.rhs) > RHS_ZERO * row.rhs_size
    }

    /// target −= factor·source so that target loses `column`: one merge of two sorted rows.
    fn subtract(&mut self, target: usize, source: usize, column: usize) {
        let at = |row: &Row| {
            let place = row.terms.binary_search_by_key(&column, |t| t.0);
            place.map(|e| row.terms[e].1)
        };
        let (Ok(value), Ok(pivot)) = (at(&self.rows[target]), at(&self.rows[source])) else {
            return;
        };
        let factor = value / pivot;
        self.log.push((target, source, factor));
        let old = std::mem::take(&mut self.rows[target].terms);
        let zero = ZERO * self.rows[target].size;
        let mut merged = Vec::with_capacity(old.len() + self.rows[source].terms.len());
        let mut mine = old.into_iter().peekable();
        for &(j, v) in &self.rows[source].terms {
            while let Some(term) = mine.next_if(|t| t.0 < j) {
                merged.push(term);
            }
            let entry_here = mine.next_if(|t| t.0 == j);
            let entry = entry_here.map_or(0.0, |t| t.1) - factor * v;
            if j == column || entry.abs() <= zero {
                self.count[j] -= usize::from(entry_here.is_some());
                continue;
            }
            merged.push((j, entry));
            if entry_here.is_none() {
                self.count[j] += 1;
                self.column_rows[j].push(target);
            }
        }
        merged.extend(mine);
        self.rows[target].terms = merged;
        for noise in 0..self.noises {
            let change = factor * self.rows[source].rhs[noise];
            let row = &mut self.rows[target];
            row.rhs[noise] -= change;
            row.rhs_size = row.rhs_size.max(change.abs());
        }
    }

    /// Queues the pivot columns, by the step at which they were made, that the row `index` now shares with `source`.
    fn await_pivots(&self, index: usize, source: usize, waiting: &mut BTreeSet<(usize, usize)>) {
        let terms = &self.rows[index].terms;
        for &(j, _) in &self.rows[source].terms {
            if let Some(pivot) = self.pivot_of_column[j]
                && terms.binary_search_by_key(&j, |t| t.0).is_ok()
            {
                waiting.insert((self.rows[pivot].step, j));
            }
        }
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
            .filter(|(i, w)| *i != index && w.abs() > RHS_ZERO * largest)
            .map(|(i, _)| i)
            .collect()
    }
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, x| m.max(x.abs()))
}
