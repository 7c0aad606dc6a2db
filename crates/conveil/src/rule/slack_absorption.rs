//! The slack-absorption check (M2): declared decisions that look like an epigraph or a slack, which would absorb the noise
//! of a query while the decision stays where it is.
//!
//! Roles are declared, and structure cannot tell an epigraph from a purchase: what is found here is a warning, never a
//! refusal. Every column and every row is looked at a bounded number of times, so the work grows with the non-zeros.

use crate::program::{
    Against, Cone, ConstraintBlock, DataMap, Holds, PrivateCoefficients, Program, Rows, Stage,
};
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

/// A cost below this share of the largest one only breaks ties.
const NEGLIGIBLE: f64 = 1e-3;
/// Semidefinite blocks are followed for variables that touch at most this many of their rows and columns.
const SMALL_MATRIX: usize = 32;

/// What a careful reader should look at among the declared decisions in these rows, which carry noise.
pub(crate) fn slack_absorption(map: &dyn DataMap, rows: &[Vec<(usize, f64)>]) -> Vec<String> {
    let (mut epigraphs, mut slacks) = (BTreeSet::new(), BTreeSet::new());
    let queried: BTreeSet<usize> = rows.iter().flatten().map(|t| t.0).collect();
    if are_held_by_data(map, rows, &queried) {
        return Vec::new();
    }
    let structure = Structure::new(map, rows);
    for j in queried {
        if structure.stage[j] != Stage::Decision {
            continue;
        }
        if structure.only_relaxes(j) {
            epigraphs.insert(structure.program.variable_name(j));
        } else if structure.is_a_slack(j) {
            slacks.insert(structure.program.variable_name(j));
        }
    }
    let list = |names: &BTreeSet<String>| {
        crate::program::list_some(&names.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let mut warnings = Vec::new();
    if !epigraphs.is_empty() {
        warnings.push(format!(
            "declared as decisions, but they look like epigraphs: {} (the constraints that they share with other variables are only relaxed by them, up to their own limits); an epigraph takes up the noise while the decision stays where it is: declare it an epigraph and release it as at-most, or put its terms into the query",
            list(&epigraphs)
        ));
    }
    if !slacks.is_empty() {
        warnings.push(format!(
            "declared as decisions, but they look like slacks: {} (they cost nothing and share at most one constraint with other variables); a slack takes up the noise while the decision stays where it is: leave it out of the query unless somebody carries it out",
            list(&slacks)
        ));
    }
    warnings
}

/// Whether each of these columns has curvature, so that it is no slack, and meets a row with a private coefficient of its own
/// beside a variable that may move, which stops it on its way as [`Structure::is_pulled_on_its_way`] follows it: what the weights of
/// a classifier do. Told without looking at the rows of a million records.
fn are_held_by_data(
    map: &dyn DataMap,
    rows: &[Vec<(usize, f64)>],
    queried: &BTreeSet<usize>,
) -> bool {
    let program = map.template();
    let blocks = program.constraints();
    let is_a_norm = |cone: &Cone| matches!(cone, Cone::SecondOrder(_));
    if blocks.iter().any(|block| is_a_norm(block.cone())) {
        return false;
    }
    let is_curved = |j: &usize| map.private_parts().p || program.p().get(*j, *j) != 0.0;
    if !queried.iter().all(is_curved) {
        return false;
    }
    let private = map.private_coefficients();
    let is_carried = |k: usize| rows.iter().any(|row| matches!(row[..], [(j, _)] if j == k));
    let may_move =
        |k: usize| !is_carried(k) && program.variable_block(k).stage() != Stage::HereAndNow;
    // Columns of one row ask the same of it.
    let mut known: Option<(usize, bool)> = None;
    let mut is_shared = |i: usize| match known {
        Some((row, shared)) if row == i => shared,
        _ => {
            let stands = |k: &usize| program.a().get(i, *k) != 0.0;
            let behind = queried.last().map_or(0, |last| last + 1);
            let shared = (behind..program.columns()).filter(stands).any(may_move);
            known = Some((i, shared));
            shared
        }
    };
    queried.iter().all(|&j| {
        let mut entries = program.a().column(j).map(|e| e.0);
        let Some(i) = entries.find(|&i| private.contains(i, j)) else {
            return false;
        };
        let mut holding = blocks.iter().filter(|block| block.range().contains(&i));
        let holds_with_noise =
            |block: &ConstraintBlock| block.holds() == Holds::WithNoise && block.cone().is_linear();
        holding.all(holds_with_noise) && is_shared(i)
    })
}

/// A run of rows that hold together: one linear row, or a whole block of another cone.
struct Part {
    rows: Range<usize>,
    cone: Cone,
    holds: Holds,
    /// Its variables that carry no noise by themselves: those that may move, and those decided before the noise.
    movers: usize,
    fixed: usize,
    /// All its variables.
    members: usize,
}

/// One variable's entries in one part.
#[derive(Clone, Copy)]
struct Touch<'t> {
    part: usize,
    entries: &'t [(usize, f64)],
    is_private: bool,
}

/// One variable's entries, part by part.
#[derive(Default)]
struct Touches {
    entries: Vec<(usize, f64)>,
    /// Of each part: where its entries end, and whether one of them is private.
    parts: Vec<(usize, usize, bool)>,
}

impl Touches {
    fn add(&mut self, part: usize, entry: (usize, f64), is_private: bool) {
        self.entries.push(entry);
        let end = self.entries.len();
        match self.parts.last_mut() {
            Some(last) if last.0 == part => *last = (part, end, last.2 || is_private),
            _ => self.parts.push((part, end, is_private)),
        }
    }

    fn iter(&self) -> impl Iterator<Item = Touch<'_>> + Clone {
        let starts = std::iter::once(0).chain(self.parts.iter().map(|part| part.1));
        let each = self.parts.iter().zip(starts);
        each.map(|(&(part, end, is_private), start)| Touch {
            part,
            entries: &self.entries[start..end],
            is_private,
        })
    }
}

/// The public structure around the columns that carry noise.
struct Structure<'a> {
    program: &'a Program,
    by_rows: Rows,
    parts: Vec<Part>,
    part_of_row: Vec<usize>,
    private: PrivateCoefficients,
    stage: Vec<Stage>,
    /// The linear cost, where it is public and there is no curvature; 0 where it only breaks ties.
    cost: Vec<Option<f64>>,
    /// Has a quadratic cost, or may have one.
    curved: Vec<bool>,
    queried: Vec<bool>,
    /// Has a row of the query by itself: it carries noise of its own.
    carried: Vec<bool>,
    /// Whether moving (down, up) only relaxes what is shared.
    one_way: Vec<[bool; 2]>,
    /// How many parts it shares with others.
    shared: Vec<usize>,
    /// By part, filled when asked for: how many members pull against whoever relaxes it by moving (down, up); for an
    /// equality, by side.
    pulling: Vec<[OnceCell<usize>; 2]>,
    /// By equality, filled when asked for: a slack that lets its other members move down or up.
    slack: Vec<[OnceCell<Option<usize>>; 2]>,
    /// Steps left for following a variable through an equality.
    left: Cell<usize>,
}

impl<'a> Structure<'a> {
    fn new(map: &'a dyn DataMap, rows: &[Vec<(usize, f64)>]) -> Self {
        let program = map.template();
        let n = program.columns();
        let mut stage = Vec::with_capacity(n);
        for block in program.variables() {
            stage.extend(block.range().map(|_| block.stage()));
        }
        let (mut queried, mut carried) = (vec![false; n], vec![false; n]);
        for row in rows {
            row.iter().for_each(|&(j, _)| queried[j] = true);
            if let [(j, _)] = row[..] {
                carried[j] = true;
            }
        }
        let (parts, part_of_row) = parts_of(program);
        let mut curved = vec![map.private_parts().p; n];
        for (i, j, v) in program.p().entries() {
            curved[i] |= v != 0.0;
            curved[j] |= v != 0.0;
        }
        let mut structure = Structure {
            program,
            by_rows: program.a().by_rows(),
            pulling: vec![Default::default(); parts.len()],
            slack: vec![Default::default(); parts.len()],
            parts,
            part_of_row,
            private: map.private_coefficients(),
            stage,
            cost: costs_of(map, &curved),
            curved,
            queried,
            carried,
            one_way: vec![[false; 2]; n],
            shared: vec![0; n],
            left: Cell::new(4 * program.a().nnz() + 1000),
        };
        structure.count_members();
        for j in 0..n {
            let touched = structure.touched(j);
            let shared = || touched.iter().filter(|t| structure.is_shared(t.part, j));
            let relaxes = |sign: f64| shared().all(|t| structure.relaxes(&t, sign));
            let one_way = [relaxes(-1.0), relaxes(1.0)];
            let count = shared().count();
            structure.one_way[j] = one_way;
            structure.shared[j] = count;
        }
        structure
    }

    fn count_members(&mut self) {
        let mut seen = vec![usize::MAX; self.program.columns()];
        for p in 0..self.parts.len() {
            let (mut movers, mut fixed, mut members) = (0, 0, 0);
            for i in self.parts[p].rows.clone() {
                for &(k, v) in self.by_rows.row(i) {
                    let stands = v != 0.0 || self.private.contains(i, k);
                    if !stands || std::mem::replace(&mut seen[k], p) == p {
                        continue;
                    }
                    members += 1;
                    match (self.carried[k], self.is_fixed(k)) {
                        (true, _) => {}
                        (false, true) => fixed += 1,
                        (false, false) => movers += 1,
                    }
                }
            }
            let part = &mut self.parts[p];
            (part.movers, part.fixed, part.members) = (movers, fixed, members);
        }
    }

    fn is_fixed(&self, j: usize) -> bool {
        self.stage[j] == Stage::HereAndNow
    }

    /// Whether no other member moves by its own will: what the part asks of `j` is then a limit of its own.
    fn is_alone(&self, part: usize, j: usize) -> bool {
        let itself = usize::from(!self.carried[j] && !self.is_fixed(j));
        self.parts[part].movers <= itself
    }

    /// Whether another member stands in the part that carries no noise by itself.
    fn is_shared(&self, part: usize, j: usize) -> bool {
        let Part { movers, fixed, .. } = self.parts[part];
        movers + fixed > usize::from(!self.carried[j])
    }

    /// The parts that `j` stands in.
    fn touched(&self, j: usize) -> Touches {
        let mut all = Touches::default();
        for (i, v) in self.program.a().column(j) {
            let is_private = self.private.contains(i, j);
            if v != 0.0 || is_private {
                all.add(self.part_of_row[i], (i, v), is_private);
            }
        }
        all
    }

    /// The entries of `j` in one part.
    fn touch(&self, part: usize, j: usize) -> Touches {
        let a = self.program.a();
        let rows = &self.parts[part].rows;
        let column = a.colptr()[j]..a.colptr()[j + 1];
        let (at, values) = (&a.rowval()[column.clone()], &a.nzval()[column]);
        let first = at.partition_point(|&i| i < rows.start);
        let stored = at[first..].iter().zip(&values[first..]);
        let mut touch = Touches::default();
        for (&i, &v) in stored.take_while(|(i, _)| **i < rows.end) {
            touch.add(part, (i, v), self.private.contains(i, j));
        }
        touch
    }

    /// Whether moving by `sign` keeps the part satisfied for ever.
    fn relaxes(&self, touch: &Touch<'_>, sign: f64) -> bool {
        let Part {
            rows, cone, holds, ..
        } = &self.parts[touch.part];
        if *holds == Holds::AtTheMean {
            return true;
        }
        let moved = touch
            .entries
            .iter()
            .map(|&(i, a)| (i - rows.start, -sign * a));
        !touch.is_private && is_in_cone(cone, moved)
    }

    /// Whether some direction that the cost resists only relaxes what `j` shares, while another member pulls against it.
    fn only_relaxes(&self, j: usize) -> bool {
        let signs: &[f64] = match self.cost[j] {
            Some(c) if c > 0.0 => &[1.0],
            Some(c) if c < 0.0 => &[-1.0],
            _ => &[1.0, -1.0],
        };
        signs.iter().any(|&sign| {
            self.is_pulled_on_its_way(j, sign, None) == Some(true) || self.bounds_a_norm(j, sign)
        })
    }

    /// Whether `j` alone is the bound of a norm that it relaxes: whatever else limits it, that is what an epigraph is.
    fn bounds_a_norm(&self, j: usize, sign: f64) -> bool {
        self.touched(j).iter().any(|touch| {
            let Part { rows, cone, .. } = &self.parts[touch.part];
            let head = self.by_rows.row(rows.start);
            matches!(cone, Cone::SecondOrder(_))
                && matches!(*touch.entries, [(i, _)] if i == rows.start)
                && head.iter().filter(|t| t.1 != 0.0).count() == 1
                && self.relaxes(&touch, sign)
                && self.pulled_by_others(touch.part, j, usize::from(sign > 0.0))
        })
    }

    /// Follows `j` through its constraints: none where one of them stops it, else whether a member of one pulls against
    /// it. `from` is the equality that sent it on its way.
    fn is_pulled_on_its_way(&self, j: usize, sign: f64, from: Option<usize>) -> Option<bool> {
        let mut is_pulled = false;
        for touch in self.touched(j).iter() {
            let part = touch.part;
            if Some(part) == from {
                continue;
            }
            if self.relaxes(&touch, sign) {
                is_pulled |= self.pulled_by_others(part, j, usize::from(sign > 0.0));
            } else if !self.is_alone(part, j) {
                is_pulled |= self.through_an_equality(j, sign, &touch, from.is_some())?;
            }
        }
        Some(is_pulled)
    }

    /// An equality gives way where it only names `j` again, or has a slack in it.
    fn through_an_equality(
        &self,
        j: usize,
        sign: f64,
        touch: &Touch<'_>,
        is_second: bool,
    ) -> Option<bool> {
        let part = &self.parts[touch.part];
        let &[(i, a)] = touch.entries else {
            return None;
        };
        if !matches!(part.cone, Cone::Zero(_)) || touch.is_private || part.rows.len() != 1 {
            return None;
        }
        let others = self.by_rows.row(i).iter().filter(|t| t.0 != j);
        let change = sign * a;
        if part.members == 2 && !is_second {
            let &(k, v) = others.clone().find(|t| t.1 != 0.0)?;
            let steps = self.program.a().column(k).count();
            self.left.set(self.left.get().checked_sub(steps)?);
            let follows = !self.carried[k] && !self.is_fixed(k) && !self.private.contains(i, k);
            return match follows {
                true => self.is_pulled_on_its_way(k, -(change / v).signum(), Some(touch.part)),
                false => None,
            };
        }
        let side = usize::from(change > 0.0);
        let slack = self.slack[touch.part][side].get_or_init(|| self.slack_of(i, change));
        slack.map(|_| self.pulled_by_others(touch.part, j, side))
    }

    /// A member of the equality that costs nothing, stands in no other constraint with others, and can take up a change
    /// of this sign: without a limit, or where it is no decision.
    fn slack_of(&self, i: usize, change: f64) -> Option<usize> {
        let members = self.by_rows.row(i).iter();
        let mut free = members.filter(|&&(k, v)| {
            v != 0.0
                && self.cost[k] == Some(0.0)
                && self.shared[k] == 1
                && !self.queried[k]
                && !self.is_fixed(k)
                && !self.private.contains(i, k)
        });
        let found = free.find(|&&(k, v)| {
            let touched = self.touched(k);
            let is_limited = |sign: f64| {
                let mut others = touched.iter().filter(|t| t.part != self.part_of_row[i]);
                others.any(|t| !self.relaxes(&t, sign))
            };
            let sign = -(change / v).signum();
            !is_limited(sign) || (self.stage[k] != Stage::Decision && is_limited(-sign))
        });
        found.map(|t| t.0)
    }

    /// Whether a member other than `j` pulls against whoever relaxes the part on this side.
    fn pulled_by_others(&self, part: usize, j: usize, side: usize) -> bool {
        let pulls = |k: usize| !self.carried[k] && self.pulls(part, k, side);
        let all = *self.pulling[part][side].get_or_init(|| {
            let mut seen = HashSet::new();
            let rows = self.parts[part].rows.clone();
            let members = rows.flat_map(|i| self.by_rows.row(i).iter().map(move |t| (i, t)));
            members
                .filter(|&(i, &(k, v))| v != 0.0 || self.private.contains(i, k))
                .filter(|&(_, &(k, _))| seen.insert(k) && pulls(k))
                .count()
        });
        all > usize::from(pulls(j))
    }

    /// A variable does not pull if it relaxes the part where its own cost rises, as all variables of a covering row do;
    /// or for nothing and everywhere, so that it stands at its limit anyway. Curved ones that are queried carry noise too;
    /// of a private cost it is supposed that it rises where that of the others does.
    fn pulls(&self, part: usize, k: usize, side: usize) -> bool {
        let upwards = if side == 1 { 1.0 } else { -1.0 };
        let cost = match self.cost[k] {
            Some(0.0) => return self.one_way[k] == [false, false],
            Some(cost) => cost,
            None if !self.queried[k] => return true,
            None if self.curved[k] => return false,
            None => upwards,
        };
        let touches = self.touch(part, k);
        let Some(touch) = touches.iter().next() else {
            return false;
        };
        match (&self.parts[part].cone, touch.entries) {
            // With a slack in it, the equality is an inequality with this side open.
            (Cone::Zero(_), &[(_, a)]) => cost.signum() * a.signum() != upwards,
            _ => !self.relaxes(&touch, cost.signum()),
        }
    }

    /// Whether `j` costs nothing and shares at most one constraint with others.
    fn is_a_slack(&self, j: usize) -> bool {
        if self.cost[j] != Some(0.0) || self.program.q()[j] != 0.0 {
            return false;
        }
        // With others of any kind: those that carry noise of their own count here.
        let touched = self.touched(j);
        let shared = touched.iter().filter(|t| self.parts[t.part].members > 1);
        shared.count() <= 1
    }
}

/// The rows that hold together, and which of them each row belongs to.
fn parts_of(program: &Program) -> (Vec<Part>, Vec<usize>) {
    let mut parts = Vec::new();
    let mut part_of_row = vec![0; program.rows()];
    for block in program.constraints() {
        let ranges: Vec<Range<usize>> = match block.cone().is_linear() {
            true => block.range().map(|i| i..i + 1).collect(),
            false => vec![block.range()],
        };
        for rows in ranges {
            rows.clone().for_each(|i| part_of_row[i] = parts.len());
            parts.push(Part {
                cone: match (block.holds(), block.cone()) {
                    // A_block X = 0: nothing may move it.
                    (Holds::Always, _) => Cone::Zero(rows.len()),
                    (_, Cone::Zero(_)) => Cone::Zero(1),
                    (_, Cone::Nonnegative(_)) => Cone::Nonnegative(1),
                    (_, other) => other.clone(),
                },
                rows,
                holds: block.holds(),
                movers: 0,
                fixed: 0,
                members: 0,
            });
        }
    }
    (parts, part_of_row)
}

/// The linear costs that are public and have no curvature beside them.
fn costs_of(map: &dyn DataMap, curved: &[bool]) -> Vec<Option<f64>> {
    let program = map.template();
    let largest = program.q().iter().fold(0.0f64, |m, c| m.max(c.abs()));
    let costs = program.q().iter().zip(map.private_costs()).zip(curved);
    costs
        .map(|((&c, is_private), curved)| {
            let counts = c.abs() > NEGLIGIBLE * largest;
            (!is_private && !curved).then_some(if counts { c } else { 0.0 })
        })
        .collect()
}

/// Whether a direction with these entries, and zeros elsewhere, lies in the cone.
fn is_in_cone(cone: &Cone, entries: impl Iterator<Item = (usize, f64)>) -> bool {
    let entries: Vec<(usize, f64)> = entries.filter(|t| t.1 != 0.0).collect();
    let dense = |cone: &Cone, size: usize, entries: &[(usize, f64)]| {
        let mut direction = vec![0.0; size];
        entries.iter().for_each(|&(i, v)| direction[i] = v);
        let largest = entries.iter().fold(0.0f64, |m, t| m.max(t.1.abs()));
        cone.violation(&direction, Against::Primal) <= 1e-12 * largest
    };
    match cone {
        Cone::Zero(_) => entries.is_empty(),
        Cone::Nonnegative(_) => entries.iter().all(|t| t.1 >= 0.0),
        Cone::SecondOrder(_) => {
            let head: f64 = entries.iter().filter(|t| t.0 == 0).map(|t| t.1).sum();
            let tail: Vec<f64> = entries.iter().filter(|t| t.0 > 0).map(|t| t.1).collect();
            let tail = crate::program::norm(&tail);
            head >= tail - 1e-12 * head.abs().max(tail)
        }
        Cone::GeneralizedPower(exponents, _) => {
            let heads = entries.iter().filter(|t| t.0 < exponents.len()).count();
            match heads < exponents.len() {
                // The product of the heads is 0.
                true => heads == entries.len() && entries.iter().all(|t| t.1 >= 0.0),
                false => dense(cone, cone.dim(), &entries),
            }
        }
        Cone::PsdTriangle(_) => {
            let places: Vec<(usize, usize)> = entries.iter().map(|t| in_triangle(t.0)).collect();
            if places.iter().all(|(i, j)| i == j) {
                return entries.iter().all(|t| t.1 >= 0.0);
            }
            let named = places.iter().flat_map(|&(i, j)| [i, j]);
            let named: Vec<usize> = named.collect::<BTreeSet<_>>().into_iter().collect();
            if named.len() > SMALL_MATRIX {
                return false;
            }
            let place = |i: usize| named.binary_search(&i).unwrap_or(0);
            let small: Vec<(usize, f64)> = places
                .iter()
                .zip(&entries)
                .map(|(&(i, j), t)| (place(j) * (place(j) + 1) / 2 + place(i), t.1))
                .collect();
            let minor = Cone::PsdTriangle(named.len());
            dense(&minor, minor.dim(), &small)
        }
        Cone::Exponential | Cone::Power(_) => dense(cone, cone.dim(), &entries),
    }
}

/// The row and column of an entry of an upper triangle by columns.
fn in_triangle(index: usize) -> (usize, usize) {
    let mut j = ((((8 * index + 1) as f64).sqrt() - 1.0) / 2.0) as usize;
    while j * (j + 1) / 2 > index {
        j -= 1;
    }
    while (j + 1) * (j + 2) / 2 <= index {
        j += 1;
    }
    (index - j * (j + 1) / 2, j)
}
