//! The column test: one queried variable, followed in the direction that its cost resists.

use super::Suspicion;
use crate::program::{Cone, Stage};

/// Slacks tried behind one variable, at most.
const FOLLOWED: usize = 64;
/// A cost below this share of what a row charges for a variable only breaks ties.
const NEGLIGIBLE: f64 = 1e-3;

/// What moving one variable without limit would meet.
#[derive(Default)]
pub(super) struct Way {
    /// A constraint with another moving variable in it was relaxed.
    pub(super) shared: bool,
    /// In one of those a variable without a cost to speak of pulls the other way, or one that is decided before.
    pub(super) pulled: bool,
    /// In one of those a variable with a cost of its own pulls the other way.
    pub(super) pulled_by_cost: bool,
    /// A bound of its own ends the way.
    pub(super) limited: bool,
    /// Slacks that move along.
    pub(super) followers: Vec<usize>,
    /// One of them is free of cost but has limits, as curtailed wind has: structure alone does not condemn it.
    pub(super) doubtful: bool,
}

/// The variables being followed, what moving the last of them costs by way of the first, and how many more may be tried.
struct Trail {
    on: Vec<usize>,
    price: f64,
    left: usize,
}

impl Trail {
    fn new(j: usize, cost: Option<f64>) -> Self {
        Trail {
            on: vec![j],
            price: cost.unwrap_or(0.0).abs(),
            left: FOLLOWED,
        }
    }
}

impl Suspicion<'_> {
    pub(super) fn is_phantom(&self, j: usize, way: &Way) -> bool {
        way.shared
            && !way.doubtful
            && (way.pulled
                || self.is_whole_objective(j)
                || (!way.limited && self.cost[j].is_some()))
    }

    pub(super) fn is_whole_objective(&self, j: usize) -> bool {
        let mut costs = self.cost.iter().enumerate();
        self.cost[j].is_some() && costs.all(|(k, c)| k == j || *c == Some(0.0))
    }

    /// Whether `k` costs nothing, or next to nothing beside what the part charges for it at this price of an entry.
    fn is_nearly_free(&self, part: usize, k: usize, charge: f64) -> bool {
        self.cost[k].is_some_and(|c| {
            let below = |size: f64| c.abs() <= NEGLIGIBLE * charge * size;
            c == 0.0 || (below(self.largest[k]) && self.size(part, k).is_some_and(below))
        })
    }

    /// The largest of the entries of `k` in the part, where all are public.
    fn size(&self, part: usize, k: usize) -> Option<f64> {
        let (_, column) = self.touched(k).find(|t| t.0 == part)?;
        let known = column.iter().all(|&(i, _)| !self.private.contains(&(i, k)));
        known.then(|| column.iter().fold(0.0f64, |m, t| m.max(t.1.abs())))
    }

    /// The column test: the ways that the objective resists.
    pub(super) fn column(&self, j: usize) -> Option<Way> {
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
            .filter_map(|&sign| self.way(j, sign, None, &mut Trail::new(j, self.cost[j])))
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
            if !relaxes && self.alone(part, j) {
                way.limited = true;
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
            let charge = self.size(part, j).map_or(0.0, |a| trail.price / a);
            let nearly_free = |k: usize| self.is_nearly_free(part, k, charge);
            let pulling = || self.pulling(part, side).iter().filter(stays);
            let mut if_free = self.pulling_if_free(part, side).iter().filter(stays);
            way.pulled |= pulling().any(|&k| self.is_fixed(k)) || if_free.any(|&k| nearly_free(k));
            way.pulled_by_cost |= pulling().any(|&k| !nearly_free(k));
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
            let price = trail.price;
            trail.left -= 1;
            trail.on.push(k);
            trail.price = price * (a / change).abs();
            let found = self.way(k, -(change / a).signum(), Some(part), trail);
            trail.price = price;
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
    pub(super) fn covers_too(&self, part: usize, k: usize, side: f64, cost: Option<f64>) -> bool {
        let Some((_, column)) = self.touched(k).find(|t| t.0 == part) else {
            return true;
        };
        let Some(cost) = cost else {
            return false;
        };
        // Decisions before the noise are made together: what two of them share is no bound of one.
        let own = |other: usize| {
            self.alone(other, k)
                && (!self.is_fixed(k) || self.members(other).iter().all(|&m| m == k))
        };
        [1.0, -1.0].into_iter().any(|sign| {
            let column: Vec<(usize, f64)> = column.iter().map(|&(i, a)| (i, side * a)).collect();
            let inequality =
                matches!(self.parts[part].cone, Cone::Zero(_)).then_some(Cone::Nonnegative(1));
            self.relaxes_as(part, k, sign, &column, inequality.as_ref())
                && (cost * sign > 0.0
                    || (cost == 0.0
                        && self.touched(k).all(|(other, column)| {
                            other == part || own(other) || self.relaxes(other, k, sign, &column)
                        })))
        })
    }
}
