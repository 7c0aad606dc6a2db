//! Sparse Gaussian elimination for the rank test: which rows does a query row depend on?
//!
//! Rows that hold a column of their own come first: they are pivots as they stand. In balances of networks and in
//! staircases these are nearly all, and the work is in the non-zeros. The core that is left is eliminated where a query
//! row cannot be told apart without it, with little fill.

use crate::error::{Error, Result};
use crate::solve::Cancel;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An entry counts as zero below this share of its row's original size.
const ZERO: f64 = 1e-10;

/// A pivot is at least this share of the largest entry of its row.
const THRESHOLD: f64 = 0.1;

/// At first this is enough of an entry that is alone in its column, as units are beside susceptances: it changes no other
/// row, but may let a query row grow.
const ALONE: f64 = 1e-6;

/// With such pivots a verdict is clear where what is left is above this share of what met in the row.
const CLEAR: f64 = 1e-5;

/// A right-hand side, or an entry before the core is eliminated, counts as zero below this share of what met in it.
const ROUNDING: f64 = 1e-9;

/// Of a matrix without a column.
const NONE: usize = usize::MAX;

/// Entries (place, value), by place.
type Entries = Vec<(usize, f64)>;

#[derive(Default)]
struct Row {
    terms: Entries,
    /// What it must carry, by noise; nothing for a row that binds.
    rhs: Entries,
    /// The largest original entry.
    size: f64,
    is_pivot: bool,
}

/// What became of a row that was reduced by the others.
#[derive(Debug, PartialEq)]
pub(super) enum Reduced {
    /// It is independent of the rows before, or repeats them with the same right-hand side.
    Consistent,
    /// It is a combination of these rows that bind, but its right-hand side is not.
    Contradiction(Vec<usize>),
    /// Rounding could decide: sound pivots alone tell.
    Unclear,
}

/// Which entries that are alone in their columns make pivots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pivots {
    /// Nearly all: quick, and where a verdict is not clear beyond rounding, there is none.
    Forced,
    /// Those that are large in their row as well.
    Sound,
}

/// Rows in elimination, with the log of operations that names what a row depends on.
pub(super) struct Elimination<'c> {
    rows: Vec<Row>,
    /// How many of them bind: they come first.
    binding: usize,
    /// Rows that held the column at some time; those that lost it are passed over.
    column_rows: Vec<Vec<usize>>,
    /// Number of rows without a pivot that hold the column now.
    count: Vec<usize>,
    /// Columns whose count has come down to one.
    alone: Vec<usize>,
    /// By column: the row that is its pivot, and when it became so. Each holds columns of later pivots only.
    pivot: Vec<(usize, usize)>,
    steps: usize,
    is_eliminated: bool,
    pivots: Pivots,
    /// The last row, where it is independent but no pivot yet: its terms and its right-hand side.
    deferred: Option<(Entries, Entries)>,
    /// target −= factor·source.
    log: Vec<Operation>,
    /// A row of zeros, for the one that is reduced.
    dense: Vec<f64>,
    cancel: &'c Cancel,
}

struct Operation {
    target: usize,
    source: usize,
    factor: f64,
}

impl<'c> Elimination<'c> {
    /// Of rows over so many columns, by rows that bind: their right-hand sides are 0.
    pub(super) fn new(
        columns: usize,
        rows: Vec<Entries>,
        pivots: Pivots,
        cancel: &'c Cancel,
    ) -> Result<Self> {
        let mut elimination = Elimination {
            binding: rows.len(),
            rows: Vec::with_capacity(rows.len()),
            column_rows: vec![Vec::new(); columns],
            count: vec![0; columns],
            alone: Vec::new(),
            pivot: vec![(NONE, 0); columns],
            steps: 0,
            is_eliminated: false,
            pivots,
            deferred: None,
            log: Vec::new(),
            dense: vec![0.0; columns],
            cancel,
        };
        for (index, mut terms) in rows.into_iter().enumerate() {
            gather(&mut terms);
            for &(j, _) in &terms {
                elimination.column_rows[j].push(index);
                elimination.count[j] += 1;
            }
            elimination.rows.push(Row {
                size: largest(&terms),
                terms,
                ..Row::default()
            });
        }
        elimination.alone = (0..columns)
            .rev()
            .filter(|&j| elimination.count[j] == 1)
            .collect();
        elimination.peel()?;
        Ok(elimination)
    }

    /// Makes pivots of rows that alone hold a column: nothing has to be subtracted from the others.
    fn peel(&mut self) -> Result<()> {
        let enough = match self.pivots {
            Pivots::Forced => ALONE,
            Pivots::Sound => THRESHOLD,
        };
        while let Some(column) = self.alone.pop() {
            if self.count[column] != 1 {
                continue;
            }
            let found = self.column_rows[column].iter().find_map(|&index| {
                let row = &self.rows[index];
                let entry = row.at(column).filter(|_| !row.is_pivot)?;
                (entry.abs() >= enough * largest(&row.terms)).then_some(index)
            });
            if let Some(index) = found {
                self.make_pivot(index, column)?;
            }
        }
        Ok(())
    }

    /// Eliminates the rows that are left, shortest first, each on its sparsest column with a sound pivot.
    fn eliminate(&mut self) -> Result<()> {
        self.is_eliminated = true;
        let left = (0..self.binding).filter(|&i| !self.rows[i].is_pivot);
        let mut queue: BinaryHeap<Reverse<(usize, usize)>> = left
            .map(|i| Reverse((self.rows[i].terms.len(), i)))
            .collect();
        while let Some(Reverse((length, index))) = queue.pop() {
            // A row that changed its length since stands in the queue again.
            let row = &self.rows[index];
            if row.is_pivot || row.terms.is_empty() || row.terms.len() != length {
                continue;
            }
            let Some(column) = self.sparsest(index) else {
                self.forget(index);
                continue;
            };
            self.make_pivot(index, column)?;
            for target in std::mem::take(&mut self.column_rows[column]) {
                if !self.rows[target].is_pivot && self.subtract(target, index, column) {
                    queue.push(Reverse((self.rows[target].terms.len(), target)));
                }
            }
            self.peel()?;
        }
        Ok(())
    }

    /// Reduces a new row by all pivots; an independent one becomes a pivot itself.
    pub(super) fn reduce_and_add(&mut self, terms: Entries, rhs: Entries) -> Result<Reduced> {
        if let Some((terms, rhs)) = self.deferred.take() {
            self.eliminate()?;
            if self.add(terms, rhs)? == Reduced::Unclear {
                return Ok(Reduced::Unclear);
            }
        }
        self.add(terms, rhs)
    }

    fn add(&mut self, mut terms: Entries, rhs: Entries) -> Result<Reduced> {
        gather(&mut terms);
        let mut row = Reduction::new(self.rows.len(), &terms, &rhs);
        terms.iter().for_each(|&(j, v)| self.dense[j] = v);
        let operations = self.log.len();
        self.reduce(&mut row);
        // A column that no row without a pivot holds stays as it is, whatever the core is.
        let is_settled = |j: usize| self.count[j] == 0;
        let mut pivot = self.largest_entry(&row, is_settled);
        if pivot.is_none() && !self.is_eliminated {
            let rounding = match self.pivots {
                Pivots::Forced => CLEAR,
                Pivots::Sound => ROUNDING,
            };
            let is_kept = |j: usize| is_settled(j) && self.dense[j].abs() > rounding * row.met;
            if row.columns.iter().any(|&j| is_kept(j)) {
                // Independent, but with no sound pivot before the core has some: that matters to the next row only.
                self.log.truncate(operations);
                row.columns.iter().for_each(|&j| self.dense[j] = 0.0);
                self.deferred = Some((terms, rhs));
                return Ok(Reduced::Consistent);
            }
            self.eliminate()?;
            self.reduce(&mut row);
            pivot = self.largest_entry(&row, |_| true);
        }
        let (index, is_left_over) = (row.index, largest(&row.rhs) > ROUNDING * row.rhs_size);
        let left = self.collect(&row);
        self.rows.push(Row {
            terms: left,
            rhs: row.rhs,
            size: largest(&terms),
            is_pivot: false,
        });
        if let Some(column) = pivot {
            self.make_pivot(index, column)?;
            return Ok(Reduced::Consistent);
        }
        if self.pivots == Pivots::Forced {
            return Ok(Reduced::Unclear);
        }
        Ok(match is_left_over {
            true => Reduced::Contradiction(self.combination(index)),
            false => Reduced::Consistent,
        })
    }

    /// The entries of a row that was reduced. The dense row is one of zeros again.
    fn collect(&mut self, row: &Reduction) -> Entries {
        let each = row.columns.iter();
        let left = each.map(|&j| (j, std::mem::take(&mut self.dense[j])));
        // A column that was held twice is taken once.
        let mut left: Entries = left.filter(|t| t.1 != 0.0).collect();
        left.sort_unstable_by_key(|t| t.0);
        left
    }

    /// Subtracts pivots from a row in the order in which they were made, so that each is used once.
    fn reduce(&mut self, row: &mut Reduction) {
        let is_there = |j: &&usize| self.dense[**j] != 0.0 && self.pivot[**j].0 != NONE;
        let waiting = row.columns.iter().filter(is_there);
        row.waiting = waiting.map(|&j| Reverse((self.pivot[j].1, j))).collect();
        while let Some(Reverse((_, column))) = row.waiting.pop() {
            if self.dense[column] == 0.0 {
                continue;
            }
            let index = self.pivot[column].0;
            let source = &self.rows[index];
            let Some(entry) = source.at(column) else {
                continue;
            };
            let factor = self.dense[column] / entry;
            for &(j, v) in &source.terms {
                let old = self.dense[j];
                let new = old - factor * v;
                let is_zero = j == column || new.abs() <= row.zero;
                row.met = row.met.max(new.abs());
                self.dense[j] = if is_zero { 0.0 } else { new };
                if old == 0.0 && !is_zero {
                    row.columns.push(j);
                    if self.pivot[j].0 != NONE {
                        row.waiting.push(Reverse((self.pivot[j].1, j)));
                    }
                }
            }
            row.carry(source, factor);
            self.log.push(Operation {
                target: row.index,
                source: index,
                factor,
            });
        }
    }

    /// The column of the largest entry among those that are wanted; none where that is too small to be a pivot.
    fn largest_entry(&self, row: &Reduction, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let size = |j: usize| self.dense[j].abs();
        let largest = row.columns.iter().fold(0.0f64, |m, &j| m.max(size(j)));
        let wanted = row.columns.iter().filter(|j| wanted(**j));
        let best = wanted.max_by(|a, b| size(**a).total_cmp(&size(**b)))?;
        (size(*best) > self.zero(row) && size(*best) >= THRESHOLD * largest).then_some(*best)
    }

    /// What counts as zero in a row that is reduced.
    fn zero(&self, row: &Reduction) -> f64 {
        match self.pivots {
            Pivots::Forced => row.zero.max(CLEAR * row.met),
            Pivots::Sound => row.zero,
        }
    }

    fn sparsest(&self, index: usize) -> Option<usize> {
        let row = &self.rows[index];
        let largest = largest(&row.terms);
        if largest <= ZERO * row.size {
            return None;
        }
        let sound = row.terms.iter();
        let sound = sound.filter(|t| t.1.abs() >= THRESHOLD * largest);
        sound.min_by_key(|t| self.count[t.0]).map(|t| t.0)
    }

    fn make_pivot(&mut self, index: usize, column: usize) -> Result<()> {
        if self.cancel.is_raised() {
            return Err(Error::Cancelled);
        }
        self.rows[index].is_pivot = true;
        self.pivot[column] = (index, self.steps);
        self.steps += 1;
        // A query row is counted nowhere.
        if index < self.binding {
            for place in 0..self.rows[index].terms.len() {
                self.lose(self.rows[index].terms[place].0);
            }
        }
        Ok(())
    }

    /// One row less holds the column.
    fn lose(&mut self, column: usize) {
        self.count[column] -= 1;
        if self.count[column] == 1 {
            self.alone.push(column);
        }
    }

    fn forget(&mut self, index: usize) {
        for (j, _) in std::mem::take(&mut self.rows[index].terms) {
            self.lose(j);
        }
    }

    /// target −= factor·source so that target loses `column`: one merge of two sorted rows. Whether it held it.
    fn subtract(&mut self, target: usize, source: usize, column: usize) -> bool {
        let entries = (self.rows[target].at(column), self.rows[source].at(column));
        let (Some(value), Some(pivot)) = entries else {
            return false;
        };
        let factor = value / pivot;
        self.log.push(Operation {
            target,
            source,
            factor,
        });
        let old = std::mem::take(&mut self.rows[target].terms);
        let zero = ZERO * self.rows[target].size;
        let mut merged = Vec::with_capacity(old.len() + self.rows[source].terms.len());
        let mut mine = old.into_iter().peekable();
        for place in 0..self.rows[source].terms.len() {
            let (j, v) = self.rows[source].terms[place];
            while let Some(term) = mine.next_if(|t| t.0 < j) {
                merged.push(term);
            }
            let entry_here = mine.next_if(|t| t.0 == j);
            let entry = entry_here.map_or(0.0, |t| t.1) - factor * v;
            if j == column || entry.abs() <= zero {
                if entry_here.is_some() {
                    self.lose(j);
                }
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
        true
    }

    /// The binding rows whose combination the row was.
    fn combination(&self, index: usize) -> Vec<usize> {
        let mut weights = vec![0.0; self.rows.len()];
        weights[index] = 1.0;
        for operation in self.log.iter().rev() {
            weights[operation.source] -= operation.factor * weights[operation.target];
        }
        let largest = weights.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        (0..self.binding)
            .filter(|&i| weights[i].abs() > ROUNDING * largest)
            .collect()
    }
}

impl Row {
    fn at(&self, column: usize) -> Option<f64> {
        let place = self.terms.binary_search_by_key(&column, |t| t.0);
        place.ok().map(|place| self.terms[place].1)
    }
}

/// A row that is being reduced; its entries stand in the dense row.
struct Reduction {
    index: usize,
    zero: f64,
    /// The largest entry that it ever had.
    met: f64,
    rhs: Entries,
    /// The largest right-hand side that met in it: what rounding is measured against.
    rhs_size: f64,
    /// Columns that it held at some time.
    columns: Vec<usize>,
    /// Pivots that it still needs, the earliest first.
    waiting: BinaryHeap<Reverse<(usize, usize)>>,
}

impl Reduction {
    fn new(index: usize, terms: &Entries, rhs: &Entries) -> Self {
        Reduction {
            index,
            zero: ZERO * largest(terms),
            met: largest(terms),
            rhs: rhs.clone(),
            rhs_size: largest(rhs),
            columns: terms.iter().map(|t| t.0).collect(),
            waiting: BinaryHeap::new(),
        }
    }

    /// The right-hand side of what is subtracted.
    fn carry(&mut self, source: &Row, factor: f64) {
        for &(noise, v) in &source.rhs {
            let change = factor * v;
            self.rhs_size = self.rhs_size.max(change.abs());
            match self.rhs.binary_search_by_key(&noise, |t| t.0) {
                Ok(place) => self.rhs[place].1 -= change,
                Err(place) => self.rhs.insert(place, (noise, -change)),
            }
        }
    }
}

/// Sorts terms by column, and adds up those of one column.
fn gather(terms: &mut Entries) {
    if !terms.is_sorted_by(|a, b| a.0 < b.0) {
        terms.sort_by_key(|t| t.0);
        terms.dedup_by(|next, sum| {
            let is_same = next.0 == sum.0;
            if is_same {
                sum.1 += next.1;
            }
            is_same
        });
    }
    terms.retain(|t| t.1 != 0.0);
}

fn largest(entries: &[(usize, f64)]) -> f64 {
    entries.iter().fold(0.0, |m, t| m.max(t.1.abs()))
}
