//! Phantom recourse (M2): can the noise of a query vanish into an epigraph or a slack while the decision stays?
//!
//! Two tests on public structure. *Column*: a queried variable that relaxes everything it shares, in the direction its
//! cost resists, while a variable without a cost pulls against it (t ≥ c'x is the pattern), or without a limit.
//! *Direction*: some d moves the answer without limit and leaves a variable that it shares constraints with untouched.
//! Structure cannot tell an epigraph from a purchase; `Builder::decision` is how the user says which it is.

mod column;
mod direction;

use crate::error::{Error, Result};
use crate::program::{Against, Cone, DataMap, Holds, Program, Rows, Stage};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};

/// A run of rows that hold together: one linear row, or a whole block of another cone.
struct Part {
    rows: std::ops::Range<usize>,
    cone: Cone,
    holds: Holds,
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
    /// By column, the largest entry of A.
    largest: Vec<f64>,
    queried: Vec<bool>,
    /// Has a query row of its own: it carries noise itself.
    carried: Vec<bool>,
    /// The epigraph of an at-most query, whose noise the slope row ties to the decision.
    exempt: Option<usize>,
    /// By part, filled when asked for: its members, those that pull on either side, and those that would at no cost.
    members: Vec<OnceCell<Vec<usize>>>,
    pulling: [Vec<OnceCell<Vec<usize>>>; 2],
    pulling_if_free: [Vec<OnceCell<Vec<usize>>>; 2],
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
            largest: (0..n)
                .map(|j| program.a().column(j).fold(0.0f64, |m, t| m.max(t.1.abs())))
                .collect(),
            queried,
            carried,
            exempt,
            members: vec![OnceCell::new(); count],
            pulling: [vec![OnceCell::new(); count], vec![OnceCell::new(); count]],
            pulling_if_free: [vec![OnceCell::new(); count], vec![OnceCell::new(); count]],
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
                let opposed = way.pulled || way.pulled_by_cost;
                let a_limit_helps = !way.limited && !self.is_whole_objective(j);
                return Err(match (opposed, a_limit_helps) {
                    (false, true) => self.unopposed(j, &way.followers),
                    _ => self.refusal(j, &way.followers),
                });
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

    fn may_swallow(&self, j: usize) -> bool {
        let block = self.program.variable_block(j);
        !block.is_decision() && !self.is_fixed(j)
    }

    /// Decided before the noise.
    fn is_fixed(&self, j: usize) -> bool {
        self.program.variable_block(j).stage() == Stage::HereAndNow
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

    /// Variables of the part that carry no noise of their own.
    fn members(&self, part: usize) -> &[usize] {
        self.members[part].get_or_init(|| {
            let stands = |i: usize, k: usize, v: f64| {
                (v != 0.0 || self.private.contains(&(i, k))) && !self.carried[k]
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

    /// Whether no other member may move: what the part then asks of `j` is a bound of its own.
    fn alone(&self, part: usize, j: usize) -> bool {
        let members = self.members(part);
        members.iter().all(|&k| k == j || self.is_fixed(k))
    }

    /// Members that pull against whoever relaxes the part (an equality: on this side).
    fn pulling(&self, part: usize, side: f64) -> &[usize] {
        self.pulling[usize::from(side > 0.0)][part].get_or_init(|| {
            let members = self.members(part).iter().copied();
            members
                .filter(|&k| !self.covers_too(part, k, side, self.cost[k]))
                .collect()
        })
    }

    /// Members that would pull if they cost nothing.
    fn pulling_if_free(&self, part: usize, side: f64) -> &[usize] {
        self.pulling_if_free[usize::from(side > 0.0)][part].get_or_init(|| {
            let members = self.members(part).iter().copied();
            members
                .filter(|&k| !self.covers_too(part, k, side, Some(0.0)))
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

    fn refusal(&self, j: usize, along: &[usize]) -> Error {
        let name = self.program.variable_name(j);
        self.refused(
            j,
            along,
            format!(
                "query the cost as a row over the decision variables; or release `{name}` as `at-most` with a public slope; or, if it is a real quantity that somebody carries out, declare it a decision"
            ),
        )
    }

    /// Nothing pulls against `j`: more likely a purchase without a limit than an epigraph.
    fn unopposed(&self, j: usize, along: &[usize]) -> Error {
        let name = self.program.variable_name(j);
        let limit = match self.cost[j] {
            Some(c) if c < 0.0 => "a lower bound",
            _ => "an upper bound",
        };
        self.refused(
            j,
            along,
            format!(
                "declare it a decision if it is a real quantity that somebody carries out (`stage = \"decision\"` in a spec, `Builder::decision` in Rust), or give it {limit}; if it is an epigraph or a slack, query the cost as a row over the decision variables, or release `{name}` as `at-most` with a public slope"
            ),
        )
    }

    fn refused(&self, j: usize, along: &[usize], instead: String) -> Error {
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
            instead,
        )
    }
}
