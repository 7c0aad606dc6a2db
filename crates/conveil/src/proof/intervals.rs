//! Bounds on every variable that the rows imply: a row whose other terms are bounded bounds its last one.

use crate::program::{Cone, Program};

/// Limits on one variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    pub(crate) column: usize,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// An interval for each variable; infinite ends where no row bounds it.
#[derive(Clone, Debug)]
pub(crate) struct Intervals {
    low: Vec<f64>,
    high: Vec<f64>,
}

/// Rounds of tightening after every end that can be finite is.
const ROUNDS: usize = 3;

impl Intervals {
    /// Nothing known.
    pub(crate) fn unbounded(columns: usize) -> Self {
        Intervals {
            low: vec![f64::NEG_INFINITY; columns],
            high: vec![f64::INFINITY; columns],
        }
    }

    /// What else is known of a variable.
    pub(crate) fn restrict(&mut self, limits: &Limits) {
        let j = limits.column;
        self.low[j] = self.low[j].max(limits.low);
        self.high[j] = self.high[j].min(limits.high);
    }

    /// The same with unknown variables behind.
    pub(crate) fn widened(mut self, columns: usize) -> Self {
        self.low.resize(columns, f64::NEG_INFINITY);
        self.high.resize(columns, f64::INFINITY);
        self
    }

    /// Whether both ends are finite.
    pub(crate) fn is_bounded(&self, j: usize) -> bool {
        self.low[j].is_finite() && self.high[j].is_finite()
    }

    /// The largest |x_j|.
    pub(crate) fn size(&self, j: usize) -> f64 {
        self.low[j].abs().max(self.high[j].abs())
    }

    /// The largest r·(x − x_j) over the interval, for an r that is known up to `rounding`.
    pub(crate) fn largest_gain(&self, j: usize, x: f64, r: f64, rounding: f64) -> f64 {
        let down = (r + rounding) * (x - self.low[j]).max(0.0);
        let up = (rounding - r) * (self.high[j] - x).max(0.0);
        down.max(up).max(0.0)
    }

    /// The smallest r·x_j.
    pub(crate) fn least(&self, j: usize, r: f64) -> f64 {
        if r == 0.0 {
            0.0
        } else if r > 0.0 {
            r * self.low[j]
        } else {
            r * self.high[j]
        }
    }

    /// Follows the linear rows of the program, those that its cones imply, and `more` of the form a'x ≤ b.
    pub(crate) fn propagate(&mut self, program: &Program, more: Vec<Row>) {
        let mut rows = linear_rows(program);
        rows.extend(more);
        let mut of_column: Vec<Vec<usize>> = vec![Vec::new(); program.columns()];
        for (index, (terms, _)) in rows.iter().enumerate() {
            for &(j, v) in terms {
                if v != 0.0 {
                    of_column[j].push(index);
                }
            }
        }
        let mut queue: std::collections::VecDeque<usize> = (0..rows.len()).collect();
        let mut waits = vec![true; rows.len()];
        while let Some(index) = queue.pop_front() {
            waits[index] = false;
            let (terms, b) = &rows[index];
            for j in self.tighten(terms, *b) {
                for &other in &of_column[j] {
                    if !waits[other] {
                        waits[other] = true;
                        queue.push_back(other);
                    }
                }
            }
        }
        for _ in 0..ROUNDS {
            for (terms, b) in &rows {
                self.tighten(terms, *b);
            }
        }
    }

    /// One row a'x ≤ b. Returns the variables of which an end became finite.
    fn tighten(&mut self, terms: &[(usize, f64)], b: f64) -> Vec<usize> {
        let mut sum = 0.0;
        let mut size = b.abs();
        let mut open = None;
        let mut count = 0;
        for &(j, v) in terms {
            let least = self.least(j, v);
            if least.is_finite() {
                sum += least;
                size += least.abs();
            } else {
                open = Some(j);
                count += 1;
            }
        }
        if count > 1 {
            return Vec::new();
        }
        // Rounding never makes an interval too short.
        let slip = 1e-12 * size;
        let mut found = Vec::new();
        for &(j, a) in terms {
            if a == 0.0 || (count == 1 && open != Some(j)) {
                continue;
            }
            let others = if count == 1 {
                sum
            } else {
                sum - self.least(j, a)
            };
            let end = (b - others + slip) / a;
            if a > 0.0 && end < self.high[j] {
                if self.high[j].is_infinite() {
                    found.push(j);
                }
                self.high[j] = end.max(self.low[j]);
            } else if a < 0.0 && end > self.low[j] {
                if self.low[j].is_infinite() {
                    found.push(j);
                }
                self.low[j] = end.min(self.high[j]);
            }
        }
        found
    }
}

/// A row a'x ≤ b.
pub(crate) type Row = (Vec<(usize, f64)>, f64);

/// Linear rows, equalities as two; of a second-order cone |tail| ≤ head entry by entry; of a semidefinite matrix its
/// diagonal.
fn linear_rows(program: &Program) -> Vec<Row> {
    let by_rows = program.a().by_rows();
    let row = |i: usize| -> Row { (by_rows.row(i).to_vec(), program.b()[i]) };
    let mut rows = Vec::new();
    for block in program.constraints() {
        match block.cone() {
            Cone::Nonnegative(_) => rows.extend(block.range().map(row)),
            Cone::Zero(_) => {
                for i in block.range() {
                    rows.push(row(i));
                    rows.push(scaled(row(i), -1.0));
                }
            }
            Cone::SecondOrder(_) => {
                // b₀ − a₀x ≥ ±(b_k − a_k x), and so b₀ − a₀x ≥ 0.
                let head = block.range().start;
                rows.push(row(head));
                for k in block.range().skip(1) {
                    for sign in [1.0, -1.0] {
                        rows.push(sum(row(head), scaled(row(k), sign)));
                    }
                }
            }
            Cone::PsdTriangle(n) => {
                let start = block.range().start;
                rows.extend((0..*n).map(|j| row(start + j * (j + 3) / 2)));
            }
            _ => {}
        }
    }
    rows
}

fn scaled((terms, b): Row, factor: f64) -> Row {
    let terms = terms.into_iter().map(|(j, v)| (j, factor * v)).collect();
    (terms, factor * b)
}

fn sum(a: Row, b: Row) -> Row {
    let mut terms = std::collections::BTreeMap::new();
    for (j, v) in a.0.into_iter().chain(b.0) {
        *terms.entry(j).or_insert(0.0) += v;
    }
    (terms.into_iter().collect(), a.1 + b.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Builder;

    #[test]
    fn bounds_travel_along_rows() {
        let mut m = Builder::new();
        let x = m.variable("x", 3);
        m.minimize(x.sum());
        m.between("first", 1.0, x.at(0), 2.0);
        m.equal("second", x.at(1) + 2.0 * x.at(0), 10.0);
        m.at_most("third", x.at(2) - x.at(1), 1.0);
        let program = m.build().unwrap();
        let mut intervals = Intervals::unbounded(3);
        intervals.propagate(&program, Vec::new());
        assert!((intervals.low[1] - 6.0).abs() < 1e-9 && (intervals.high[1] - 8.0).abs() < 1e-9);
        assert!(intervals.is_bounded(1) && !intervals.is_bounded(2));
        assert!((intervals.high[2] - 9.0).abs() < 1e-9);
        assert!(intervals.low[2].is_infinite());
        assert_eq!(intervals.least(2, 1.0), f64::NEG_INFINITY);
        assert_eq!(intervals.least(2, 0.0), 0.0);
        let gain = |r: f64, rounding: f64| intervals.largest_gain(1, 6.5, r, rounding);
        assert!((gain(1.0, 0.0).max(gain(-1.0, 0.0)) - 1.5).abs() < 1e-9);
        assert!(gain(1.0, 0.0) != gain(-1.0, 0.0) && gain(0.0, 0.0) == 0.0);
        assert!(gain(0.0, 1.0) >= gain(1.0, 0.0).max(gain(-1.0, 0.0)));
        assert!((intervals.size(1) - 8.0).abs() < 1e-9);
    }
}
