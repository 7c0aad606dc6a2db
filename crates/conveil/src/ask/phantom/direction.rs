//! The direction test: does some d move the answer without limit and leave the decision where it is?

use super::Suspicion;
use crate::error::Result;
use crate::program::{Cone, Holds, Program, Sparse};
use crate::solve::{self, Outcome, Settings};
use std::collections::HashSet;

/// Above these sizes the direction test is left to a warning of the plan.
const DIRECTION_COLUMNS: usize = 5_000;
const DIRECTION_ROWS: usize = 50;

impl Suspicion<'_> {
    /// The direction test, where all of A is public.
    pub(super) fn direction(&self) -> Result<()> {
        let n = self.program.columns();
        if !self.private.is_empty() || n > DIRECTION_COLUMNS || self.rows.len() > DIRECTION_ROWS {
            return Ok(());
        }
        let limits: Vec<(bool, bool)> = (0..n).map(|j| self.own_limits(j)).collect();
        for &row in &self.rows {
            let costly = row
                .iter()
                .any(|&(j, _)| self.cost[j].is_some_and(|c| c != 0.0));
            let asked: HashSet<usize> = row.iter().map(|t| t.0).collect();
            let moves: Vec<usize> = (0..n)
                .filter(|&j| {
                    self.may_swallow(j)
                        && Some(j) != self.exempt
                        && limits[j] != (true, true)
                        && (costly || asked.contains(&j) || self.costless[j])
                })
                .collect();
            if !moves.iter().any(|j| asked.contains(j)) {
                continue;
            }
            for sign in [1.0, -1.0] {
                let Some(d) = self.shortest_direction(&moves, row, sign) else {
                    continue;
                };
                let largest = d.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                let moving = |j: usize| d[j].abs() > 1e-6 * largest;
                let still = |j: usize| {
                    self.touched(j)
                        .any(|(part, _)| self.members(part).iter().any(|&k| !moving(k)))
                };
                let carriers: Vec<usize> = (0..n).filter(|&j| moving(j)).collect();
                if carriers.iter().any(|&j| still(j)) {
                    let Some(&first) = carriers.iter().find(|j| asked.contains(j)) else {
                        continue;
                    };
                    let along: Vec<usize> = carriers.into_iter().filter(|&j| j != first).collect();
                    return Err(self.refusal(first, &along));
                }
            }
        }
        Ok(())
    }

    /// Whether rows of its own hold `j` from (above, below).
    fn own_limits(&self, j: usize) -> (bool, bool) {
        let mut limits = (false, false);
        for (part, column) in self.touched(j) {
            if self.alone(part, j) {
                limits.0 |= !self.relaxes(part, j, 1.0, &column);
                limits.1 |= !self.relaxes(part, j, -1.0, &column);
            }
        }
        limits
    }

    /// A direction d with −Ad ∈ K, Pd = 0, row·d = sign and few entries: the smallest weighted ℓ₁ norm, with weights
    /// that leave no ties.
    fn shortest_direction(
        &self,
        moves: &[usize],
        row: &[(usize, f64)],
        sign: f64,
    ) -> Option<Vec<f64>> {
        let (n, w) = (self.program.columns(), moves.len());
        let mut place = vec![usize::MAX; n];
        moves.iter().enumerate().for_each(|(at, &j)| place[j] = at);
        let mut triplets = Vec::new();
        let mut both = |i: usize, j: usize, v: f64| {
            if place[j] != usize::MAX && v != 0.0 {
                triplets.push((i, place[j], v));
                triplets.push((i, w + place[j], -v));
            }
        };
        row.iter().for_each(|&(j, v)| both(0, j, v));
        let mut next = 1;
        let mut cones = vec![Cone::Zero(1)];
        if self.program.p().nnz() > 0 {
            for (i, j, v) in self.program.p().entries() {
                both(1 + i, j, v);
                if i != j {
                    both(1 + j, i, v);
                }
            }
            next += n;
            cones.push(Cone::Zero(n));
        }
        for part in self.parts.iter().filter(|p| p.holds != Holds::AtTheMean) {
            for (offset, i) in part.rows.clone().enumerate() {
                self.by_rows
                    .row(i)
                    .iter()
                    .for_each(|&(j, v)| both(next + offset, j, v));
            }
            next += part.rows.len();
            cones.push(part.cone.clone());
        }
        for at in 0..2 * w {
            triplets.push((next + at, at, -1.0));
        }
        cones.push(Cone::Nonnegative(2 * w));
        let mut b = vec![0.0; next + 2 * w];
        b[0] = sign;
        let golden = 0.618_033_988_749_894_9;
        let q = (0..2 * w).map(|at| 1.0 + 0.1 * ((at % w) as f64 * golden).fract());
        let a = Sparse::assemble(b.len(), 2 * w, &triplets);
        let shortest =
            Program::assembled(Sparse::zeros(2 * w, 2 * w), q.collect(), a, b, 0.0, cones);
        let Outcome::Optimal(solution) = solve::solve(&shortest, &Settings::default()) else {
            return None;
        };
        let mut d = vec![0.0; n];
        for (at, &j) in moves.iter().enumerate() {
            d[j] = solution.x[at] - solution.x[w + at];
        }
        Some(d)
    }
}
