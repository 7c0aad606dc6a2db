//! Bounds on every variable that the rows imply: a row whose other terms are bounded bounds its last one. So does a cone
//! whose other entries are bounded.

use super::cone_bounds::{Ends, shorten};
use crate::program::{Cone, Program, Rows};

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

/// Rounds of cones and rows in turn, at most: each finds a finite end more.
const CONE_ROUNDS: usize = 64;

/// Attempts at variables that bound each other, and terms of the sum that shows that they do.
const CIRCLES: usize = 200;

/// Rows of towers are short.
const LONGEST_CIRCLE: usize = 64;

/// Weights above this are taken for a sum that does not end.
const LARGEST_WEIGHT: f64 = 1e6;

/// xᵢ ≤ constant + Σ mⱼxⱼ.
#[derive(Clone)]
struct Circle {
    constant: f64,
    others: Vec<(usize, f64)>,
}

impl Circle {
    fn weight(&self) -> f64 {
        self.others.iter().map(|other| other.1).sum()
    }
}

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
        let by_rows = program.a().by_rows();
        for _ in 0..CONE_ROUNDS {
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
            let mut found = self.tighten_by_cones(program, &by_rows);
            if found.is_empty() {
                found = self.close_circles(&rows);
            }
            if found.is_empty() {
                break;
            }
            for &other in found.iter().flat_map(|&j| &of_column[j]) {
                if !waits[other] {
                    waits[other] = true;
                    queue.push_back(other);
                }
            }
        }
        for _ in 0..ROUNDS {
            for (terms, b) in &rows {
                self.tighten(terms, *b);
            }
        }
    }

    /// Upper ends of variables that bound each other in a circle, as in the towers of cones that a geometric mean is written
    /// with: t ≤ (a + b)/2, b ≤ (x + t)/2. Rows xᵢ ≤ cᵢ + Σ mᵢⱼxⱼ with m ≥ 0 over the open variables say x ≤ c + Mx at every
    /// feasible point. If some w > 0 has Mw < w, then x ≤ κw for every κ with κ(w − Mw) ≥ c: else take the entry where x/w is largest,
    /// above κ; there x ≤ c + Mx ≤ κ(w − Mw) + (x/w)·Mw < x. Returns the variables that got an end.
    fn close_circles(&mut self, rows: &[Row]) -> Vec<usize> {
        let columns = self.high.len();
        let mut is_open: Vec<bool> = self.high.iter().map(|high| high.is_infinite()).collect();
        for _ in 0..CIRCLES {
            // For each open variable the row in which the others weigh least.
            let mut best: Vec<Option<Circle>> = vec![None; columns];
            for (terms, b) in rows.iter().filter(|row| row.0.len() <= LONGEST_CIRCLE) {
                for &(i, a) in terms.iter().filter(|t| is_open[t.0] && t.1 > 0.0) {
                    let Some(circle) = self.circle(terms, *b, i, a, &is_open) else {
                        continue;
                    };
                    if best[i]
                        .as_ref()
                        .is_none_or(|best| circle.weight() < best.weight())
                    {
                        best[i] = Some(circle);
                    }
                }
            }
            let open: Vec<usize> = (0..columns).filter(|&i| is_open[i]).collect();
            if open.is_empty() {
                return Vec::new();
            }
            let without: Vec<usize> = (open.iter().copied())
                .filter(|&i| best[i].is_none())
                .collect();
            if !without.is_empty() {
                without.iter().for_each(|&i| is_open[i] = false);
                continue;
            }
            // w = 1 + M + M² + …, as far as it goes.
            let times = |w: &[f64], i: usize| -> f64 {
                let others = best[i].iter().flat_map(|circle| &circle.others);
                others.map(|&(j, m)| m * w[j]).sum()
            };
            let mut w = vec![1.0; columns];
            for _ in 0..CIRCLES {
                let next: Vec<(usize, f64)> =
                    open.iter().map(|&i| (i, 1.0 + times(&w, i))).collect();
                next.into_iter().for_each(|(i, v)| w[i] = v);
            }
            // A clear margin: rounding is far below it.
            let margin = |i: usize| w[i] - times(&w, i);
            let loose: Vec<usize> = (open.iter().copied())
                .filter(|&i| !(margin(i) > 0.5 && w[i] < LARGEST_WEIGHT))
                .collect();
            if !loose.is_empty() {
                loose.iter().for_each(|&i| is_open[i] = false);
                continue;
            }
            let needed = open.iter().map(|&i| {
                let constant = best[i].as_ref().map_or(0.0, |circle| circle.constant);
                constant.max(0.0) / margin(i)
            });
            let factor = needed.fold(0.0, f64::max) * (1.0 + 1e-9);
            for &i in &open {
                self.high[i] = (factor * w[i]).max(self.low[i]);
            }
            return open;
        }
        Vec::new()
    }

    /// xᵢ ≤ constant + Σ mⱼxⱼ, m ≥ 0 over open variables, if the row a'x ≤ b says so.
    fn circle(
        &self,
        terms: &[(usize, f64)],
        b: f64,
        i: usize,
        a: f64,
        is_open: &[bool],
    ) -> Option<Circle> {
        let (mut rest, mut size, mut others) = (b, b.abs(), Vec::new());
        for &(j, v) in terms.iter().filter(|t| t.0 != i && t.1 != 0.0) {
            let least = self.least(j, v);
            if least.is_finite() {
                rest -= least;
                size += least.abs();
            } else if v < 0.0 && is_open[j] {
                // Rounded up: coefficients are sums of a few terms.
                others.push((j, -v / a * (1.0 + 1e-9)));
            } else {
                return None;
            }
        }
        Some(Circle {
            constant: (rest + 1e-12 * size) / a,
            others,
        })
    }

    /// What the cones that imply no linear rows say of their entries. Returns the variables of which an end became finite.
    fn tighten_by_cones(&mut self, program: &Program, by_rows: &Rows) -> Vec<usize> {
        let mut found = Vec::new();
        for block in program.constraints() {
            if !matches!(
                block.cone(),
                Cone::Exponential | Cone::Power(_) | Cone::GeneralizedPower(..)
            ) {
                continue;
            }
            let mut ends: Vec<Ends> = (block.range())
                .map(|i| self.of_slack(by_rows.row(i), program.b()[i]))
                .collect();
            shorten(block.cone(), &mut ends);
            for (i, (low, high)) in block.range().zip(ends) {
                let (terms, b) = (by_rows.row(i), program.b()[i]);
                // low ≤ b − a'x ≤ high, with room for the rounding of b − low.
                if low.is_finite() {
                    let slip = 1e-12 * (b.abs() + low.abs());
                    found.extend(self.tighten(terms, b - low + slip));
                }
                if high.is_finite() {
                    let slip = 1e-12 * (b.abs() + high.abs());
                    let negative: Vec<(usize, f64)> = terms.iter().map(|&(j, v)| (j, -v)).collect();
                    found.extend(self.tighten(&negative, high - b + slip));
                }
            }
        }
        found
    }

    /// An interval for b − a'x, a little longer for rounding.
    fn of_slack(&self, terms: &[(usize, f64)], b: f64) -> Ends {
        let mut size = b.abs();
        let mut end = |sign: f64| {
            let each = terms.iter().map(|&(j, v)| self.least(j, sign * v));
            each.fold(0.0, |sum, least| {
                size += if least.is_finite() { least.abs() } else { 0.0 };
                sum + least
            })
        };
        // The largest a'x is minus the smallest of −a'x.
        let (least, most) = (end(1.0), -end(-1.0));
        let slip = 1e-12 * size;
        (b - most - slip, b - least + slip)
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
/// diagonal, and 2|Mᵢⱼ| ≤ Mᵢᵢ + Mⱼⱼ (from v'Mv ≥ 0 with v = eᵢ ± eⱼ).
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
                let diagonal = |j: usize| start + j * (j + 3) / 2;
                rows.extend((0..*n).map(|j| row(diagonal(j))));
                for j in 1..*n {
                    for i in 0..j {
                        let both = sum(row(diagonal(i)), row(diagonal(j)));
                        let off = row(start + j * (j + 1) / 2 + i);
                        rows.extend(off_diagonal(&both, &off, 1.0));
                        rows.extend(off_diagonal(&both, &off, -1.0));
                    }
                }
            }
            _ => {}
        }
    }
    rows
}

/// A coefficient that is a smaller share of what is added up to it may be rounding: nothing is concluded from its row.
const CANCELLED: f64 = 1e-3;

/// Mᵢᵢ + Mⱼⱼ ± 2Mᵢⱼ ≥ 0, where √2·Mᵢⱼ is what is stored. √2 is rounded, so a coefficient that nearly vanishes is not known, and
/// the right-hand side is a little larger.
fn off_diagonal(both: &Row, off: &Row, sign: f64) -> Option<Row> {
    let off = scaled(off.clone(), sign * std::f64::consts::SQRT_2);
    let slip = 1e-12 * (both.1.abs() + off.1.abs());
    let (terms, b) = sum(both.clone(), off.clone());
    let is_known = |&(j, part): &(usize, f64)| {
        let found = terms.iter().find(|term| term.0 == j);
        found.is_some_and(|term| term.1.abs() >= CANCELLED * part.abs())
    };
    (off.0.iter().all(is_known)).then_some((terms, b + slip))
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
    use crate::program::{Affine, Against, Builder};

    /// Columns of a program in which every variable but those of `open` must get an interval that holds a feasible point.
    fn bounded(m: Builder, feasible: &[f64], open: &[usize]) {
        let program = m.build().unwrap();
        let slack = program.slack(feasible);
        for block in program.constraints() {
            let violation = (block.cone()).violation(&slack[block.range()], Against::Primal);
            assert!(violation < 1e-12, "the point is feasible: {}", block.name());
        }
        let mut intervals = Intervals::unbounded(program.columns());
        intervals.propagate(&program, Vec::new());
        for (j, x) in feasible.iter().enumerate() {
            let (low, high) = (intervals.low[j], intervals.high[j]);
            assert!(low <= *x && *x <= high, "{j}: {x} not in {low}..{high}");
            assert_eq!(
                intervals.is_bounded(j),
                !open.contains(&j),
                "{j}: {low}..{high}"
            );
        }
    }

    #[test]
    fn bounds_travel_through_cones() {
        // t ≤ log u: bounded above; a row from below closes it.
        let mut m = Builder::new();
        let (u, t) = (m.variable("u", 1), m.auxiliary("t", 1));
        m.minimize(-1.0 * t.at(0));
        m.between("u", 1.0, u.at(0), 4.0);
        m.cone(
            "log",
            Cone::Exponential,
            vec![t.at(0), Affine::from(1.0), u.at(0)],
        );
        m.at_most("floor", -1.0 * t.at(0), 5.0);
        bounded(m, &[2.0, 0.5], &[]);
        // w ≤ x^0.3·y^0.7, and v ≤ the geometric mean of w and y: a tower.
        let mut m = Builder::new();
        let (x, w) = (m.variable("x", 2), m.auxiliary("w", 2));
        m.minimize(-1.0 * w.at(1));
        m.between("x", 0.0, x.at(0), 4.0);
        m.between("y", 0.0, x.at(1), 2.0);
        m.cone("first", Cone::Power(0.3), vec![x.at(0), x.at(1), w.at(0)]);
        let exponents = Cone::GeneralizedPower(vec![0.5, 0.5], 1);
        m.cone("second", exponents, vec![w.at(0), x.at(1), w.at(1)]);
        bounded(m, &[1.0, 1.0, 1.0, 0.9], &[]);
        // [d z; z a] ⪰ 0 with z = d, as the logarithm of a determinant is written: d ≤ a.
        let mut m = Builder::new();
        let (a, d) = (m.variable("a", 1), m.auxiliary("d", 1));
        m.minimize(-1.0 * d.at(0));
        m.between("a", 0.0, a.at(0), 3.0);
        m.semidefinite("det", 2, vec![d.at(0), d.at(0), a.at(0)]);
        bounded(m, &[2.0, 1.5], &[]);
        // A geometric mean of three by squares: t² ≤ ab, a² ≤ xy, b² ≤ zt: t and b bound each other.
        let mut m = Builder::new();
        let (x, t) = (m.variable("x", 3), m.auxiliary("t", 3));
        m.minimize(-1.0 * t.at(0));
        for j in 0..3 {
            m.between(&format!("x {j}"), 0.0, x.at(j), 4.0);
        }
        for (name, root, left, right) in [
            ("t", t.at(0), t.at(1), t.at(2)),
            ("a", t.at(1), x.at(0), x.at(1)),
            ("b", t.at(2), x.at(2), t.at(0)),
        ] {
            let difference = left.clone() - right.clone();
            m.norm_at_most(name, vec![difference, 2.0 * root], left + right);
        }
        bounded(m, &[4.0, 4.0, 4.0, 4.0, 4.0, 4.0], &[]);
        // x ≤ y and y ≤ x bound nothing, nor does x ≤ y/2 with an open y.
        let mut m = Builder::new();
        let x = m.variable("x", 4);
        m.minimize(x.sum());
        for j in 0..4 {
            m.at_most(&format!("sign {j}"), 0.0, x.at(j));
        }
        m.at_most("up", x.at(0), x.at(1));
        m.at_most("back", x.at(1), x.at(0));
        m.at_most("half", x.at(2), 0.5 * x.at(3));
        bounded(m, &[7.0, 7.0, 3.0, 9.0], &[0, 1, 2, 3]);
        // [d d; d d] ⪰ 0 for every d ≥ 0: √2·√2 is not 2, and nothing may be made of the difference.
        let mut m = Builder::new();
        let d = m.variable("d", 1);
        m.minimize(d.at(0));
        m.semidefinite("flat", 2, vec![d.at(0), d.at(0), d.at(0)]);
        bounded(m, &[7.0], &[0]);
    }

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
