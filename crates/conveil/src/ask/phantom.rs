//! Phantom recourse (M2): can the noise of a query vanish into an epigraph or a slack while the decision stays?
//!
//! Two tests on public structure. *Column*: a queried variable that relaxes everything it shares, in the direction its
//! cost resists, while a variable without a cost pulls against it (t ≥ c'x is the pattern), or without a limit.
//! *Direction*: some d moves the answer without limit and leaves a variable that it shares constraints with untouched.
//! Structure cannot tell an epigraph from a purchase; `Builder::decision` is how the user says which it is.

use crate::error::{Error, Result};
use crate::program::{Against, Cone, DataMap, Holds, Program, Rows, Sparse, Stage};
use crate::solve::{self, Outcome, Settings};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};

/// Above these sizes the direction test is left to a warning of the plan.
const DIRECTION_COLUMNS: usize = 5_000;
const DIRECTION_ROWS: usize = 50;

/// Slacks tried behind one variable, at most.
const FOLLOWED: usize = 64;

/// A run of rows that hold together: one linear row, or a whole block of another cone.
struct Part {
    rows: std::ops::Range<usize>,
    cone: Cone,
    holds: Holds,
}

/// What moving one variable without limit would meet.
#[derive(Default)]
struct Way {
    /// A constraint with another moving variable in it was relaxed.
    shared: bool,
    /// In one of those a variable without cost pulls the other way.
    pulled: bool,
    /// In one of those a variable with a cost of its own pulls the other way.
    pulled_by_cost: bool,
    /// A bound of its own ends the way.
    limited: bool,
    /// Slacks that move along.
    followers: Vec<usize>,
    /// One of them is free of cost but has limits, as curtailed wind has: structure alone does not condemn it.
    doubtful: bool,
}

/// The variables being followed, and how many more may be tried.
struct Trail {
    on: Vec<usize>,
    left: usize,
}

impl Trail {
    fn new(j: usize) -> Self {
        let on = vec![j];
        Trail { on, left: FOLLOWED }
    }
}

/// The query's columns against the model's public structure.
pub(crate) struct Suspicion<'a> {
    program: &'a Program,
    rows: Vec<&'a [(usize, f64)]>,
    by_rows: Rows,
    parts: Vec<Part>,
    part_of_row: Vec<usize>,
    private: HashSet<(usize, usize)>,
    /// No cost, no curvature, both public.
    costless: Vec<bool>,
    /// The linear cost, where it is public and there is no curvature.
    cost: Vec<Option<f64>>,
    queried: Vec<bool>,
    /// Has a query row of its own: it carries noise itself.
    carried: Vec<bool>,
    /// The epigraph of an at-most query, whose noise the slope row ties to the decision.
    exempt: Option<usize>,
    /// By part, filled when asked for: its members, and those that pull on either side.
    members: Vec<OnceCell<Vec<usize>>>,
    pulling: [Vec<OnceCell<Vec<usize>>>; 2],
}

impl<'a> Suspicion<'a> {
    pub(crate) fn new(
        map: &'a dyn DataMap,
        rows: &'a [Vec<(usize, f64)>],
        slope: Option<&'a [(usize, f64)]>,
    ) -> Self {
        let program = map.template();
        let n = program.columns();
        let mut parts = Vec::new();
        let mut part_of_row = vec![0; program.rows()];
        for block in program.constraints() {
            let ranges: Vec<std::ops::Range<usize>> = if block.cone().is_linear() {
                block.range().map(|i| i..i + 1).collect()
            } else {
                vec![block.range()]
            };
            for rows in ranges {
                rows.clone().for_each(|i| part_of_row[i] = parts.len());
                parts.push(Part {
                    cone: match (block.holds(), block.cone()) {
                        // A_block X = 0: no direction may move it.
                        (Holds::Always, _) => Cone::Zero(rows.len()),
                        (_, Cone::Zero(_)) => Cone::Zero(1),
                        (_, Cone::Nonnegative(_)) => Cone::Nonnegative(1),
                        (_, other) => other.clone(),
                    },
                    rows,
                    holds: block.holds(),
                });
            }
        }
        let count = parts.len();
        let mut curved = vec![map.private_parts().p; n];
        for (i, j, v) in program.p().entries() {
            curved[i] |= v != 0.0;
            curved[j] |= v != 0.0;
        }
        let private_costs = map.private_costs();
        let cost: Vec<Option<f64>> = (0..n)
            .map(|j| (!private_costs[j] && !curved[j]).then(|| program.q()[j]))
            .collect();
        // At-most: the slope is what makes the decision carry the noise, so the slope is what is tested.
        let exempt = slope.and_then(|_| rows.first()?.first().map(|t| t.0));
        let tested: Vec<&[(usize, f64)]> = match slope {
            Some(slope) => vec![slope],
            None => rows.iter().map(Vec::as_slice).collect(),
        };
        let mut queried = vec![false; n];
        let mut carried = vec![false; n];
        for row in rows.iter().map(Vec::as_slice).chain(slope) {
            row.iter().for_each(|&(j, _)| queried[j] = true);
        }
        for row in &tested {
            if let [(j, _)] = row {
                carried[*j] = true;
            }
        }
        Suspicion {
            program,
            rows: tested,
            by_rows: program.a().by_rows(),
            parts,
            part_of_row,
            private: map.private_coefficients(),
            costless: cost.iter().map(|c| *c == Some(0.0)).collect(),
            cost,
            queried,
            carried,
            exempt,
            members: vec![OnceCell::new(); count],
            pulling: [vec![OnceCell::new(); count], vec![OnceCell::new(); count]],
        }
    }

    /// Refuses a query whose noise a phantom would take.
    pub(crate) fn refuse(&self) -> Result<()> {
        let mut seen = vec![false; self.program.columns()];
        for &(j, _) in self.rows.iter().copied().flatten() {
            if std::mem::replace(&mut seen[j], true) {
                continue;
            }
            if let Some(way) = self.column(j)
                && self.is_phantom(j, &way)
            {
                return Err(self.refusal(j, &way.followers));
            }
        }
        self.direction()
    }

    /// What a reader should look at: limited variables that may be epigraphs, limited slacks that may take the noise.
    pub(crate) fn doubtful(&self) -> Vec<String> {
        let mut epigraphs = BTreeSet::new();
        let mut slacks = BTreeSet::new();
        for &(j, _) in self.rows.iter().copied().flatten() {
            let Some(way) = self.column(j) else {
                continue;
            };
            if way.doubtful {
                slacks.extend(way.followers.iter().map(|&k| self.program.variable_name(k)));
            } else if self.cost[j].is_some() && way.pulled_by_cost && !self.is_phantom(j, &way) {
                epigraphs.insert(self.program.variable_name(j));
            }
        }
        let list = |names: &BTreeSet<String>| {
            crate::program::list_some(&names.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let mut doubts = Vec::new();
        if !epigraphs.is_empty() {
            doubts.push(format!(
                "{} only relax the constraints that they share with other variables, up to their own limits: an epigraph or a slack among them would swallow the noise and should be substituted out",
                list(&epigraphs)
            ));
        }
        if !slacks.is_empty() {
            doubts.push(format!(
                "{} cost nothing and can take up the noise within their own limits while other variables stay: a mere slack among them should be substituted out",
                list(&slacks)
            ));
        }
        doubts
    }

    fn is_phantom(&self, j: usize, way: &Way) -> bool {
        let whole_objective = self.cost[j].is_some()
            && self
                .cost
                .iter()
                .enumerate()
                .all(|(k, c)| k == j || *c == Some(0.0));
        way.shared
            && !way.doubtful
            && (way.pulled || whole_objective || (!way.limited && self.cost[j].is_some()))
    }

    /// The column test: the ways that the objective resists.
    fn column(&self, j: usize) -> Option<Way> {
        if !self.may_swallow(j)
            || self.program.variable_block(j).stage() != Stage::Recourse
            || Some(j) == self.exempt
        {
            return None;
        }
        let signs: &[f64] = match self.cost[j] {
            Some(c) if c > 0.0 => &[1.0],
            Some(c) if c < 0.0 => &[-1.0],
            // Without a cost nothing holds it: only the direction test applies.
            Some(_) => &[],
            None => &[1.0, -1.0],
        };
        signs
            .iter()
            .filter_map(|&sign| self.way(j, sign, None, &mut Trail::new(j)))
            .find(|way| way.shared)
    }

    /// Follows `j` in direction `sign` through its constraints; none when one of them stops it. `from` is the
    /// constraint that sent it on its way.
    fn way(&self, j: usize, sign: f64, from: Option<usize>, trail: &mut Trail) -> Option<Way> {
        let mut way = Way::default();
        for (part, column) in self.touched(j) {
            if Some(part) == from {
                continue;
            }
            let relaxes = self.relaxes(part, j, sign, &column);
            if self.alone(part, j) {
                way.limited |= !relaxes;
                continue;
            }
            let mut side = 1.0;
            if !relaxes {
                let change = sign * column.first()?.1;
                let slack = self.follow(part, j, change, trail)?;
                way.limited |= slack.limited;
                way.pulled |= slack.pulled;
                way.pulled_by_cost |= slack.pulled_by_cost;
                way.shared |= slack.shared;
                way.doubtful |= slack.doubtful;
                way.followers.extend(slack.followers);
                // With a slack behind it, an equality is the inequality that `sign` relaxes.
                side = -change.signum();
            }
            let stays = |k: &&usize| **k != j && !way.followers.contains(k);
            way.shared |= self.members(part).iter().any(|k| stays(&k));
            let pulling = || self.pulling(part, side).iter().filter(stays);
            let (free, costly) = (
                pulling().any(|&k| self.costless[k]),
                pulling().any(|&k| !self.costless[k]),
            );
            way.pulled |= free;
            way.pulled_by_cost |= costly;
        }
        Some(way)
    }

    /// A slack without cost that lets `change` happen in a linear row: it meets nothing else, or relaxes it.
    fn follow(&self, part: usize, j: usize, change: f64, trail: &mut Trail) -> Option<Way> {
        let row = self.parts[part].rows.clone();
        if row.len() != 1 || self.private.contains(&(row.start, j)) {
            return None;
        }
        let mut limited = None;
        let members = self.members(part);
        for &k in members {
            let a = self.program.a().get(row.start, k);
            let known = !self.private.contains(&(row.start, k));
            let is_slack = known && self.costless[k] && !self.queried[k] && self.may_swallow(k);
            if !is_slack || trail.on.contains(&k) || trail.left == 0 {
                continue;
            }
            trail.left -= 1;
            trail.on.push(k);
            let found = self.way(k, -(change / a).signum(), Some(part), trail);
            trail.on.pop();
            let Some(mut way) = found else {
                continue;
            };
            way.followers.push(k);
            // Two variables in an equality are one under two names: the limit of one is the limit of the other.
            if !way.limited || members.iter().all(|&m| m == j || m == k) {
                return Some(way);
            }
            if !way.shared && limited.is_none() {
                way.doubtful = true;
                limited = Some(way);
            }
        }
        limited
    }

    /// Whether `k` relaxes the part where its own cost rises, as all variables of a covering row do; or for nothing,
    /// and then everywhere, so that it stands at its limit anyway.
    fn covers_too(&self, part: usize, k: usize, side: f64) -> bool {
        let Some((_, column)) = self.touched(k).find(|t| t.0 == part) else {
            return true;
        };
        let Some(cost) = self.cost[k] else {
            return false;
        };
        [1.0, -1.0].into_iter().any(|sign| {
            let column: Vec<(usize, f64)> = column.iter().map(|&(i, a)| (i, side * a)).collect();
            let inequality =
                matches!(self.parts[part].cone, Cone::Zero(_)).then_some(Cone::Nonnegative(1));
            self.relaxes_as(part, k, sign, &column, inequality.as_ref())
                && (cost * sign > 0.0
                    || (cost == 0.0
                        && self.touched(k).all(|(other, column)| {
                            other == part
                                || self.alone(other, k)
                                || self.relaxes(other, k, sign, &column)
                        })))
        })
    }

    fn may_swallow(&self, j: usize) -> bool {
        let block = self.program.variable_block(j);
        !block.is_decision() && block.stage() != Stage::HereAndNow
    }

    /// The parts that variable `j` stands in, with its entries there.
    fn touched(&self, j: usize) -> impl Iterator<Item = (usize, Vec<(usize, f64)>)> + '_ {
        let mut entries = self
            .program
            .a()
            .column(j)
            .filter(move |&(i, v)| v != 0.0 || self.private.contains(&(i, j)))
            .peekable();
        std::iter::from_fn(move || {
            let (i, v) = entries.next()?;
            let part = self.part_of_row[i];
            let mut column = vec![(i, v)];
            while let Some(next) = entries.next_if(|&(i, _)| self.part_of_row[i] == part) {
                column.push(next);
            }
            Some((part, column))
        })
    }

    /// Variables of the part that may move and carry no noise of their own.
    fn members(&self, part: usize) -> &[usize] {
        self.members[part].get_or_init(|| {
            let stands = |i: usize, k: usize, v: f64| {
                (v != 0.0 || self.private.contains(&(i, k)))
                    && !self.carried[k]
                    && self.program.variable_block(k).stage() != Stage::HereAndNow
            };
            let rows = self.parts[part].rows.clone();
            let mut members: Vec<usize> = rows
                .flat_map(|i| self.by_rows.row(i).iter().map(move |&(k, v)| (i, k, v)))
                .filter(|&(i, k, v)| stands(i, k, v))
                .map(|(_, k, _)| k)
                .collect();
            members.sort_unstable();
            members.dedup();
            members
        })
    }

    fn alone(&self, part: usize, j: usize) -> bool {
        self.members(part).iter().all(|&k| k == j)
    }

    /// Members that pull against whoever relaxes the part (an equality: on this side).
    fn pulling(&self, part: usize, side: f64) -> &[usize] {
        self.pulling[usize::from(side > 0.0)][part].get_or_init(|| {
            let members = self.members(part).iter().copied();
            members
                .filter(|&k| !self.covers_too(part, k, side))
                .collect()
        })
    }

    fn relaxes(&self, part: usize, j: usize, sign: f64, column: &[(usize, f64)]) -> bool {
        self.relaxes_as(part, j, sign, column, None)
    }

    /// Whether moving `j` by `sign` keeps the part satisfied for ever.
    fn relaxes_as(
        &self,
        part: usize,
        j: usize,
        sign: f64,
        column: &[(usize, f64)],
        cone: Option<&Cone>,
    ) -> bool {
        let Part {
            rows,
            cone: own,
            holds,
        } = &self.parts[part];
        if *holds == Holds::AtTheMean {
            return true;
        }
        if column.iter().any(|&(i, _)| self.private.contains(&(i, j))) {
            return false;
        }
        let mut moved = vec![0.0; rows.len()];
        column
            .iter()
            .for_each(|&(i, a)| moved[i - rows.start] = -sign * a);
        let size = moved.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        cone.unwrap_or(own).violation(&moved, Against::Primal) <= 1e-12 * size
    }

    /// The direction test, where all of A is public.
    fn direction(&self) -> Result<()> {
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

    fn refusal(&self, j: usize, along: &[usize]) -> Error {
        let name = self.program.variable_name(j);
        let mut names: Vec<String> = along
            .iter()
            .map(|&k| self.program.variable_name(k))
            .collect();
        names.sort();
        names.dedup();
        let with = if names.is_empty() {
            String::new()
        } else {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!(" together with {}", crate::program::list_some(&names))
        };
        Error::refused(
            format!("a query on `{name}`"),
            format!(
                "`{name}`{with} only relaxes the constraints that it shares with other variables and is held down by its cost alone: it looks like an epigraph or a slack, which would swallow the noise while the decision stays where it is"
            ),
            format!(
                "query the cost as a row over the decision variables; or release `{name}` as `at-most` with a public slope; or, if it is a real quantity that somebody carries out, declare it a decision"
            ),
        )
    }
}
